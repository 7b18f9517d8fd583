#!/usr/bin/env python3
"""Kill the shipped program with signal 9, again and again, and compare what it wrote with a plain recount.

    kill_test.py --program build/release/bin/tidemill [--kills 200] [--least 20] [--seed N] [--work DIR]

Numbered records lie in JSON files; a job counts them in tumbling windows under a watermark and writes closed windows through the file
sink. It is killed at random times and, with the help of strace, on its way into chosen system calls on chosen files. After each kill the
files on disk tell how far the batch had come (see Phase). A round ends when the job has read everything; then the rows that the sink's
manifest shows must equal the recount as a multiset: nothing lost, nothing twice. Prints how often each phase was hit and how
long a restart took to its first commit; fails when a phase was hit less than --least times.
"""
import argparse
import collections
import datetime
import enum
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

EPOCH = 1767225600          # 2026-01-01T00:00:00Z: time of the first record and of the first input file
FILES, ROWS = 40, 60        # of a round: one file is one batch
WINDOW, DELAY = 10, 5       # seconds
PARTITIONS = 3

JOB = """
SET spark.sql.shuffle.partitions = %d;
SET spark.sql.session.timeZone = UTC;
CREATE TABLE records (n BIGINT, k STRING, ts TIMESTAMP, v BIGINT) USING json OPTIONS (path 'in', maxFilesPerTrigger 1);
CREATE STREAMING TABLE totals USING json OPTIONS (path 'out', outputMode 'append') AS
SELECT window.start AS start, k, count(*) AS n, sum(v) AS total, min(n) AS low, max(n) AS high
FROM STREAM records WATERMARK ts DELAY OF INTERVAL %d SECONDS
GROUP BY window(ts, '%d seconds'), k;
""" % (PARTITIONS, DELAY, WINDOW)


class Phase(enum.Enum):
    """How far the batch had come when the process died, judged by the files it left."""
    NOTHING_NEW = "between batches: nothing of the next one"
    BEFORE_OFFSETS = "temporary files of N, no offsets/N"
    OFFSETS = "offsets/N, no work of N on disk"
    STAGED = "offsets/N, state or output of N staged"
    STATE_FINAL = "some or all state of N has its final name, the sink has not N"
    SINK = "the sink has N, commits/N is missing"


# ---------------------------------------------------------------- input and the right answer

def make_records(rng):
    """Records of a round by file. Times run ahead with a jitter below the delay, so that no record is ever late."""
    records = []
    for number in range(FILES * ROWS):
        second = number * 0.05 + rng.uniform(0, DELAY * 0.8)
        records.append({"n": number, "k": rng.choice("abcdefg"), "ts": stamp(second), "v": rng.randrange(-1000, 1000), "second": second})
    files = [records[i * ROWS:(i + 1) * ROWS] for i in range(FILES)]
    # Two records far ahead, each in a batch of its own, close every window before them.
    for step in (1, 2):
        second = FILES * ROWS + 1000.0 * step
        files.append([{"n": -step, "k": "end", "ts": stamp(second), "v": 0, "second": second}])
    return files


def stamp(second):
    moment = datetime.datetime.fromtimestamp(EPOCH, datetime.timezone.utc) + datetime.timedelta(milliseconds=int(second * 1000))
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def write_file(home, number, records):
    path, hidden = f"{home}/in/{number:04d}.json", f"{home}/in/.{number:04d}.tmp"
    with open(hidden, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({k: v for k, v in record.items() if k != "second"}) + "\n" for record in records)
    os.utime(hidden, (EPOCH + number, EPOCH + number))
    os.rename(hidden, path)


def recount(files):
    """The closed windows as plain Python counts them."""
    groups = collections.defaultdict(list)
    for records in files:
        for record in records:
            if record["n"] >= 0:
                milliseconds = int(record["second"] * 1000)
                groups[milliseconds // (WINDOW * 1000) * WINDOW, record["k"]].append(record)
    return collections.Counter(
        (stamp(start), key, len(rows), sum(r["v"] for r in rows), min(r["n"] for r in rows), max(r["n"] for r in rows))
        for (start, key), rows in groups.items())


def manifest(out):
    """Data files that the sink's log shows."""
    ids = {}
    for name in os.listdir(out + "/_spark_metadata"):
        if name.split(".")[0].isdigit():
            ids[int(name.split(".")[0])] = name
    compact = max((i for i, name in ids.items() if name.endswith(".compact")), default=-1)
    for i in sorted(i for i in ids if i >= compact):
        with open(f"{out}/_spark_metadata/{ids[i]}", encoding="utf-8") as file:
            for line in file.read().split("\n")[1:]:
                if line:
                    entry = json.loads(line)
                    yield entry["path"].removeprefix("file://"), entry["size"]


def visible(out):
    rows = collections.Counter()
    for path, size in manifest(out):
        if os.path.getsize(path) != size:
            raise SystemExit(f"{path} has {os.path.getsize(path)} bytes, the manifest says {size}")
        with open(path, encoding="utf-8") as file:
            for row in map(json.loads, file):
                rows[row["start"], row["k"], row["n"], row["total"], row["low"], row["high"]] += 1
    return rows


# ---------------------------------------------------------------- the state on disk

def ids_in(folder):
    return {int(name) for name in os.listdir(folder) if name.isdigit()} if os.path.isdir(folder) else set()


def sink_ids(out):
    folder = out + "/_spark_metadata"
    return {int(n.split(".")[0]) for n in os.listdir(folder) if n.split(".")[0].isdigit()} if os.path.isdir(folder) else set()


def everything(home):
    found = set()
    for top in ("ckpt", "out"):
        for folder, _, names in os.walk(f"{home}/{top}"):
            found.update(f"{folder}/{name}" for name in names)
    return found


class Disk:
    """What the checkpoint and the sink say."""

    def __init__(self, home, ckpt, before):
        offsets, commits, sink = ids_in(ckpt + "/offsets"), ids_in(ckpt + "/commits"), sink_ids(home + "/out")
        self.last_offset, self.last_commit = max(offsets, default=-1), max(commits, default=-1)
        self.check(offsets, commits, sink)
        new = everything(home) - before
        batch = self.last_offset
        in_flight = self.last_commit < self.last_offset
        finals = [p for p in new if "/state/" in p and os.path.basename(p) == f"{batch + 1}.delta"] if in_flight else []
        listed = {path for path, _ in manifest(home + "/out")} if sink else set()
        loose = [p for p in new if os.path.basename(p).startswith(".") or ("/part-" in p and p not in listed)]
        if not in_flight:
            self.phase = Phase.BEFORE_OFFSETS if loose else Phase.NOTHING_NEW
        elif batch in sink:
            self.phase = Phase.SINK
        elif finals:
            self.phase = Phase.STATE_FINAL
        else:
            self.phase = Phase.STAGED if loose else Phase.OFFSETS

    def check(self, offsets, commits, sink):
        if not commits <= offsets or self.last_offset - self.last_commit > 1:
            raise SystemExit(f"commits are no prefix of offsets, at most one behind: {sorted(offsets)}, {sorted(commits)}")
        if max(sink, default=-1) > self.last_offset:
            raise SystemExit(f"the sink has batch {max(sink)}, but the last offset entry is {self.last_offset}")


# ---------------------------------------------------------------- killing

class Victim:
    """One start of the program that is going to be killed, or runs to its end."""

    def __init__(self, program, home):
        self.command = [program, "run", home + "/job.sql", "--checkpoint", home + "/ckpt", "--trigger", "available-now", "--progress", "none",
                        "--threads", "2"]
        self.home = home

    def run(self, prefix=(), kill_after=None):
        """Returns the exit code, negative when killed, and what it said."""
        with open(self.home + "/log", "w+", encoding="utf-8") as log:
            process = subprocess.Popen([*prefix, *self.command], stdout=log, stderr=log, cwd=self.home, start_new_session=True)
            try:
                process.wait(timeout=kill_after if kill_after is not None else 120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if kill_after is None:
                    raise SystemExit(f"the job hangs; see {self.home}")
            log.seek(0)
            return process.returncode, log.read()


def traced(calls, path, when):
    """strace that kills on the way into one of `calls` (on `path`), before the call takes effect."""
    where = ["-P", path] if path else []
    return ["strace", "-f", "-qq", "-o", "/dev/null", *where, "-e", "trace=" + calls, "-e", f"inject={calls}:signal=KILL:when={when}"]


LINKS = "link,linkat,rename,renameat,renameat2"
SYNCS = "fsync,fdatasync,syncfs"


class Assassin:
    """Chooses when to strike: the phase that was hit least, or any moment."""

    def __init__(self, rng, home, ckpt, histogram):
        self.rng, self.home, self.ckpt, self.histogram = rng, home, ckpt, histogram
        self.strace = shutil.which("strace")

    def strike(self, next_batch):
        """Arguments for Victim.run()."""
        if not self.strace or self.rng.random() < 0.35:
            return self.anywhere()
        return self.aim(min(Phase, key=lambda phase: (self.histogram[phase], self.rng.random())), next_batch + self.rng.randrange(1, 3))

    def aim(self, phase, batch):
        if phase == Phase.NOTHING_NEW:      # the folder is synced after the entry has its name
            return {"prefix": traced(SYNCS, self.ckpt + "/commits", self.rng.randrange(1, 4))}
        if phase == Phase.BEFORE_OFFSETS:
            return {"prefix": traced(LINKS, f"{self.ckpt}/offsets/{batch}", 1)}
        if phase == Phase.OFFSETS:
            return {"prefix": traced(SYNCS, f"{self.ckpt}/offsets", self.rng.randrange(1, 4))}
        if phase == Phase.STAGED:           # state files of a batch are renamed by one thread: the first of them
            return {"prefix": traced("rename", None, PARTITIONS * self.rng.randrange(2) + 1)}
        if phase == Phase.STATE_FINAL:      # a later one, or the sink's own log
            later = PARTITIONS * self.rng.randrange(2) + self.rng.randrange(2, PARTITIONS + 1)
            sink = traced(LINKS, f"{self.home}/out/_spark_metadata/{batch}", 1)
            return {"prefix": self.rng.choice([sink, traced("rename", None, later)])}
        return {"prefix": traced(LINKS, f"{self.ckpt}/commits/{batch}", 1)}

    def anywhere(self):
        """Any moment: by the clock, or on the way into some call that touches files."""
        if not self.strace or self.rng.random() < 0.6:
            return {"kill_after": self.rng.uniform(0.01, 0.6)}
        return {"prefix": traced(self.rng.choice(["write,pwrite64", SYNCS, LINKS, "openat,unlink,unlinkat"]), None, self.rng.randrange(1, 60))}


# ---------------------------------------------------------------- rounds

class Tally:
    def __init__(self):
        self.phases = collections.Counter({phase: 0 for phase in Phase})
        self.kills, self.rounds, self.recovery_ms = 0, 0, []

    def report(self):
        print(f"{self.kills} kills in {self.rounds} rounds of {FILES} batches; every result exact")
        for phase in Phase:
            print(f"  {self.phases[phase]:5d}  {phase.value}")
        times = sorted(self.recovery_ms)
        if times:
            middle, high = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
            print(f"restart to first commit: p50 {middle:.0f} ms, p99 {high:.0f} ms of {len(times)} restarts")


def first_commit_ms(ckpt, last_commit, started):
    """From the start of a process to its first new commit, by the file's own time."""
    later = [i for i in ids_in(ckpt + "/commits") if i > last_commit]
    return (os.stat(f"{ckpt}/commits/{min(later)}").st_mtime - started) * 1000 if later else None


def play_round(program, home, rng, tally, kills):
    files = make_records(rng)
    os.makedirs(home + "/in")
    with open(home + "/job.sql", "w", encoding="utf-8") as file:
        file.write(JOB)
    for number, records in enumerate(files):
        write_file(home, number, records)
    ckpt = home + "/ckpt/totals/totals"
    assassin, victim = Assassin(rng, home, ckpt, tally.phases), Victim(program, home)
    last_commit, finished = -1, False
    while not finished:
        before, started = everything(home), time.time()
        strike = assassin.strike(last_commit) if tally.kills < kills else {}
        code, said = victim.run(**strike)
        if "prefix" not in strike:
            took = first_commit_ms(ckpt, last_commit, started)
            if took is not None and last_commit >= 0:
                tally.recovery_ms.append(took)
        if code not in (0, -signal.SIGKILL, 128 + signal.SIGKILL):
            raise SystemExit(f"the job ended with {code}:\n{said}")
        disk = Disk(home, ckpt, before)
        last_commit, finished = disk.last_commit, code == 0
        if not finished:
            tally.kills += 1
            tally.phases[disk.phase] += 1
    compare(visible(home + "/out"), recount(files), home)
    tally.rounds += 1


def compare(found, wanted, home):
    end = {row: n for row, n in found.items() if row[1] == "end"}
    found = found - collections.Counter(end)
    if found == wanted:
        return
    print(f"{len(wanted)} rows expected; lost: {list((wanted - found).elements())[:5]}, too many: {list((found - wanted).elements())[:5]}")
    raise SystemExit(f"the result is not exact; see {home}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--least", type=int, default=20, help="kills that each phase must have seen")
    parser.add_argument("--seed", type=int, default=random.randrange(2 ** 32))
    parser.add_argument("--work", help="keep the files of the rounds here")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    rng, tally = random.Random(arguments.seed), Tally()
    work = os.path.abspath(arguments.work or tempfile.mkdtemp(prefix="tidemill-kill-"))
    while tally.kills < arguments.kills:
        home = f"{work}/round{tally.rounds}"
        shutil.rmtree(home, ignore_errors=True)
        play_round(os.path.abspath(arguments.program), home, rng, tally, arguments.kills)
        if not arguments.work:
            shutil.rmtree(home)
    tally.report()
    rare = [phase.name for phase in Phase if tally.phases[phase] < arguments.least]
    if rare and shutil.which("strace"):
        raise SystemExit(f"fewer than {arguments.least} kills in {', '.join(rare)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
