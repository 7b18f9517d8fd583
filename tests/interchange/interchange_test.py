#!/usr/bin/env python3
"""One checkpoint, two engines: what Spark wrote Tidemill reads and continues, what Tidemill wrote real Spark continues.

    interchange_test.py --program build/release/bin/tidemill --golden tests/golden [--only REGEX] [--decode-only] [--no-spark]

For each golden checkpoint in scope (cases.py), in steps; the first that fails ends the case:
  decode    its state, through `tidemill checkpoint rows`, equals what Spark says is in it, partition by partition
  continue  Tidemill reads one more input file: each batch equals the batch of an undisturbed run of Spark 4.3
  return    Spark 3.5 and Spark 4.3 each read another file from what Tidemill left, with the same comparison
Besides: checkpoints that Tidemill began (fresh), and those of a Tidemill that was killed in its batch (killed).

Where a Spark release cannot even continue the golden checkpoint itself, that is printed and does not count. One JVM a Spark version.
"""
import argparse
import fcntl
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile

from cases import CASES, FRESH, KILLED

ROOT = "/tmp/tidemill-golden"       # the golden checkpoints hold this path
MTIME = 1767225600                  # modification time of input file n: this plus n seconds
HERE = os.path.dirname(os.path.abspath(__file__))
NEWEST, VERSIONS = "4.3.0", ["3.5.9", "4.3.0"]


class Failure(Exception):
    pass


# ---------------------------------------------------------------- the engines

class Spark:
    """A worker with one JVM; runs a case's query over what lies in its folder."""

    def __init__(self, version, golden):
        installer = os.path.join(HERE, "..", "..", "scripts", "install-spark")
        python = subprocess.run([installer, version], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        self.version = version
        self.process = subprocess.Popen([python, f"{HERE}/spark_worker.py", golden + "/make_golden.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        hello = self.process.stdout.readline()
        if not hello:
            raise SystemExit(f"Spark {version} does not start")

    def run(self, name, provider, staged):
        """Batch id → table. Raises Failure with Spark's error."""
        self.process.stdin.write(json.dumps({"case": name, "provider": provider, "staged": staged}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise Failure(f"Spark {self.version}: {answer['error'].splitlines()[0][:500]}")
        return {int(batch): sorted(table.rstrip("\n").split("\n")) for batch, table in answer["batches"].items()}

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


class Tidemill:
    def __init__(self, program):
        self.program = os.path.abspath(program)

    def rows(self, checkpoint, options):
        command = [self.program, "checkpoint", "rows", checkpoint, "--json"]
        for key, value in options.items():
            command += ["--option", f"{key}={value}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        if done.returncode != 0:
            raise Failure(f"checkpoint rows: {done.stderr.strip()[:500]}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def run(self, folder, prefix=(), check=True):
        """Batch id → table, from the console sink."""
        command = [*prefix, self.program, "run", folder.job, "--trigger", "available-now", "--progress", "none"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, cwd=folder.home)
        if check and done.returncode != 0:
            raise Failure(f"tidemill run: {done.stderr.strip()[-700:]}")
        if not check and done.returncode not in (-signal.SIGKILL, 128 + signal.SIGKILL):
            raise Failure(f"tidemill was to be killed, but ended with {done.returncode}: {done.stderr.strip()[-700:]}")
        return console_tables(done.stdout)


def console_tables(text):
    tables = {}
    parts = re.split(r"^-+\nBatch: (\d+)\n-+\n", text, flags=re.M)
    for batch, table in zip(parts[1::2], parts[2::2]):
        tables[int(batch)] = sorted(line for line in table.split("\n") if line)
    return tables


# ---------------------------------------------------------------- a case on disk

class Folder:
    """The files of one case at the path that its checkpoint names."""

    def __init__(self, name, provider, conf):
        self.name, self.provider, self.conf, self.case = name, provider, conf, CASES[name]
        self.home = f"{ROOT}/{name}_{provider}"
        self.checkpoint, self.job = self.home + "/checkpoint", self.home + "/job.sql"

    def clear(self):
        shutil.rmtree(self.home, ignore_errors=True)
        os.makedirs(self.home)

    def place(self, golden):
        self.clear()
        for entry in ("input", "checkpoint", "output"):
            if os.path.isdir(f"{golden}/{entry}"):
                shutil.copytree(f"{golden}/{entry}", f"{self.home}/{entry}")
        self.set_times()

    def place_input(self, golden):
        self.clear()
        shutil.copytree(golden + "/input", self.home + "/input")
        self.set_times()

    def set_times(self):
        for folder in glob.glob(self.home + "/input/*"):
            for index, path in enumerate(sorted(glob.glob(folder + "/*.json"))):
                os.utime(path, (MTIME + index, MTIME + index))

    def add_file(self, number):
        """The case's extra file `number` (0: for Tidemill, 1: for the Spark after it), later than all others."""
        folder = f"{self.home}/input/{self.case.folder}"
        path = f"{folder}/9{number:02d}.json"
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in self.case.extra[number])
        os.utime(path, (MTIME + 900 + number, MTIME + 900 + number))

    def save(self, name):
        target = f"{ROOT}/.saved-{name}"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.home, target)
        return target

    def restore(self, saved):
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(saved, self.home)     # copy2 keeps the times

    def write_job(self):
        lines = [f"SET {key} = {value};" for key, value in {"spark.sql.session.timeZone": "UTC", **self.conf}.items()]
        for folder in sorted(os.listdir(self.home + "/input")):
            table = "input" if folder == "in" else folder
            lines.append(f"CREATE TABLE {table} ({self.case.schema}) USING json OPTIONS (path 'input/{folder}', maxFilesPerTrigger 1);")
        sink = "json" if self.name == "file_sink" else "console"
        options = {"checkpointLocation": "checkpoint", "outputMode": self.case.mode}
        options.update({"path": "output"} if sink == "json" else {"numRows": "1000000", "truncate": "false"})
        text = ", ".join(f"{key} '{value}'" for key, value in options.items())
        lines.append(f"CREATE STREAMING TABLE result USING {sink} OPTIONS ({text}) AS {self.case.query};")
        with open(self.job, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def visible_rows(output):
    """Rows that the file sink's log shows."""
    log = output + "/_spark_metadata"
    ids = {int(n.split(".")[0]): n for n in os.listdir(log) if n.split(".")[0].isdigit()}
    compact = max((i for i, n in ids.items() if n.endswith(".compact")), default=-1)
    rows = []
    for i in sorted(i for i in ids if i >= compact):
        with open(f"{log}/{ids[i]}", encoding="utf-8") as file:
            for entry in [json.loads(line) for line in file.read().split("\n")[1:] if line]:
                with open(entry["path"].removeprefix("file://").removeprefix("file:"), encoding="utf-8") as data:
                    rows += [json.loads(line) for line in data]
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))


# ---------------------------------------------------------------- steps

def canonical(value):
    """Values of state rows in one spelling: whole numbers without a fraction."""
    if isinstance(value, dict):
        return {key: canonical(item) for key, item in value.items()}
    if isinstance(value, list):
        return [canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def sorted_rows(rows):
    return sorted((json.dumps(canonical(row), sort_keys=True, ensure_ascii=False) for row in rows))


def decode(tidemill, golden, expected):
    for store in expected.get("state", []):
        found, wanted = sorted_rows(tidemill.rows(golden + "/checkpoint", store["options"])), sorted_rows(store["rows"])
        if found != wanted:
            raise Failure(f"state differs: lost {[r for r in wanted if r not in found][:3]}, too many {[r for r in found if r not in wanted][:3]}")


def same_batches(who, found, wanted):
    for batch, table in found.items():
        if batch not in wanted:
            raise Failure(f"{who} ran batch {batch}, which an undisturbed run has not")
        if table != wanted[batch]:
            raise Failure(f"{who}, batch {batch}:\n" + "\n".join(table) + "\nundisturbed:\n" + "\n".join(wanted[batch]))


class Crossing:
    """All steps of one golden checkpoint."""

    def __init__(self, tidemill, sparks, golden, expected):
        self.tidemill, self.sparks, self.golden, self.expected = tidemill, sparks, golden, expected
        self.name, self.provider = expected["case"], expected["provider"]
        self.folder = Folder(self.name, self.provider, expected["conf"])
        self.is_file_sink = self.name == "file_sink"
        self.notes = []

    def undisturbed(self, together=False):
        """Batches (or visible rows) of Spark 4.3 over the same files in the same runs, from nothing; `together`: both extra files lie there in one run."""
        spark, batches = self.sparks[NEWEST], {}
        self.folder.clear()
        runs = self.expected["runs"] or [10 ** 6]
        for staged in runs:
            batches.update(spark.run(self.name, self.provider, staged))
        for extra in (0, 1):
            self.folder.add_file(extra)
            if extra == 1 or not together:
                batches.update(spark.run(self.name, self.provider, runs[-1]))
        return visible_rows(self.folder.home + "/output") if self.is_file_sink else batches

    def check(self, who, batches, wanted, whole):
        if not self.is_file_sink:
            same_batches(who, batches, wanted)
            if whole and max(batches, default=-1) != max(wanted):
                raise Failure(f"{who} ended with batch {max(batches, default=None)}, an undisturbed run with {max(wanted)}")
        elif whole:
            found = visible_rows(self.folder.home + "/output")
            if found != wanted:
                raise Failure(f"{who}: visible rows differ: {len(found)} instead of {len(wanted)}")

    def give_back(self, wanted):
        """Each Spark goes on from what lies in the folder."""
        saved = self.folder.save(self.name)
        for version, spark in self.sparks.items():
            self.folder.restore(saved)
            self.folder.add_file(1)
            try:
                batches = spark.run(self.name, self.provider, 10 ** 6)
            except Failure as failure:
                if self.spark_alone_fails(spark):
                    self.notes.append(f"Spark {version} does not continue the golden checkpoint either")
                    continue
                raise failure
            self.check(f"Spark {version} after Tidemill", batches, wanted, True)

    def spark_alone_fails(self, spark):
        if self.golden is None or self.expected["sparkVersion"] == spark.version:
            return False
        self.folder.place(self.golden)
        self.folder.add_file(0)
        try:
            spark.run(self.name, self.provider, 10 ** 6)
            return False
        except Failure:
            return True

    def cross(self):
        decode(self.tidemill, self.golden, self.expected)
        if not self.sparks:
            return
        wanted = self.undisturbed()
        self.folder.place(self.golden)
        self.folder.add_file(0)
        self.folder.write_job()
        batches = self.tidemill.run(self.folder)
        if not batches and not self.is_file_sink:
            raise Failure("Tidemill ran no batch")
        self.check("Tidemill", batches, wanted, False)
        self.give_back(wanted)

    def fresh(self):
        """Tidemill begins, in the runs of the golden case; then Spark."""
        wanted = self.undisturbed()
        self.folder.clear()
        batches = {}
        for staged in [*(self.expected["runs"] or [10 ** 6]), None]:
            self.stage(staged)
            self.folder.write_job()
            batches.update(self.tidemill.run(self.folder))
        self.check("Tidemill from nothing", batches, wanted, False)
        self.give_back(wanted)

    def stage(self, staged):
        """The first `staged` input files of the golden case; None: all and the extra one."""
        folder = f"{self.folder.home}/input/{self.folder.case.folder}"
        os.makedirs(folder, exist_ok=True)
        for path in sorted(glob.glob(f"{self.golden}/input/{self.folder.case.folder}/*.json"))[:staged]:
            if not os.path.exists(f"{folder}/{os.path.basename(path)}"):
                shutil.copy(path, folder)
        if staged is None:
            self.folder.add_file(0)
        for index, path in enumerate(sorted(glob.glob(folder + "/[0-8]*.json"))):
            os.utime(path, (MTIME + index, MTIME + index))

    def killed(self, calls, path, when):
        """Tidemill is killed on its way into the `when`-th of `calls` (on `path`) of a thread; Spark repeats the batch.

        The next file follows that batch at once, without an empty batch between them: Spark judges lateness by the watermark of the batch before.
        """
        wanted = self.undisturbed(together=True)
        self.folder.place(self.golden)
        self.folder.add_file(0)
        self.folder.write_job()
        where = ["-P", f"{self.folder.checkpoint}/{path}"] if path else []
        self.tidemill.run(self.folder, check=False, prefix=["strace", "-f", "-qq", "-o", "/dev/null", *where, "-e", "trace=" + calls,
                                                            "-e", f"inject={calls}:signal=KILL:when={when}"])
        self.give_back(wanted)


# ---------------------------------------------------------------- all cases

def unpack(golden, work):
    """Folders `<version>_<case>_<provider>` of all archives."""
    for archive in sorted(glob.glob(golden + "/*.tar.xz")):
        name = os.path.basename(archive).removesuffix(".tar.xz")
        with tarfile.open(archive) as tar:
            tar.extractall(f"{work}/{name}")
        yield name, os.path.dirname(glob.glob(f"{work}/{name}/**/expected.json", recursive=True)[0])


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0

    def step(self, name, act, notes=()):
        try:
            act()
            self.passed += 1
            print(f"PASS {name}" + "".join(f" ({note})" for note in notes), flush=True)
        except Failure as failure:
            self.failed += 1
            print(f"FAIL {name}: {failure}", flush=True)


def cross_all(only, tidemill, sparks, folders, tally):
    for name, golden in folders.items():
        with open(golden + "/expected.json", encoding="utf-8") as file:
            expected = json.load(file)
        if expected["case"] not in CASES or expected["provider"] not in ("hdfs", "none") or not re.search(only, name):
            continue
        crossing = Crossing(tidemill, sparks, golden, expected)
        tally.step(name, crossing.cross, crossing.notes)
        if not sparks or not expected["sparkVersion"] in VERSIONS:
            continue
        if expected["case"] in FRESH:
            crossing = Crossing(tidemill, sparks, golden, expected)
            tally.step(name + " fresh", crossing.fresh)
        if expected["case"] in KILLED and shutil.which("strace"):
            last = max(int(n) for n in os.listdir(golden + "/checkpoint/commits") if n.isdigit())
            for moment, arguments in {"some of its state has its name": ("rename", None, 2), "all but its commit is done": ("link", f"commits/{last + 1}", 1)}.items():
                crossing = Crossing(tidemill, sparks, golden, expected)
                tally.step(f"{name} killed when {moment}", lambda: crossing.killed(*arguments))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--golden", default=os.path.join(HERE, "..", "golden"))
    parser.add_argument("--only", default=".", help="regular expression over version_case_provider")
    parser.add_argument("--decode-only", action="store_true", help="read the checkpoints, start no Spark")
    arguments = parser.parse_args()
    arguments.golden = os.path.abspath(arguments.golden)
    os.makedirs(ROOT, exist_ok=True)
    lock = open(ROOT + "/.lock", "w", encoding="utf-8")     # held to the end: two runs would share the folders
    fcntl.flock(lock, fcntl.LOCK_EX)
    work = f"{ROOT}/.unpacked"
    shutil.rmtree(work, ignore_errors=True)
    folders = dict(unpack(arguments.golden, work))
    if not folders:
        raise SystemExit(f"no archives in {arguments.golden}")
    sparks = {} if arguments.decode_only else {version: Spark(version, arguments.golden) for version in VERSIONS}
    tally = Tally()
    try:
        cross_all(arguments.only, Tidemill(arguments.program), sparks, folders, tally)
    finally:
        for spark in sparks.values():
            spark.close()
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 0 if tally.failed == 0 and tally.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
