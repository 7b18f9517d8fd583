"""The keyed window count of the Yahoo benchmark, without its join, on Tidemill. The same commands and output as ../spark/keyed.py.

Every pass is a process of its own, start-up included; everything that the checkpoint promises is synced to disk unless --no-sync is given.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

JOB = """
CREATE TABLE events (user_id STRING, page_id STRING, ad_id STRING, ad_type STRING, event_type STRING, event_time STRING, ip_address STRING)
  USING json OPTIONS (path '{folder}', maxFilesPerTrigger {files});
CREATE STREAMING TABLE counts USING noop TBLPROPERTIES ('outputMode' = 'update') AS
  SELECT ad_id, window.start AS start, count(*) AS count
  FROM STREAM events WATERMARK timestamp_millis(CAST(event_time AS BIGINT)) AS time DELAY OF INTERVAL 10 SECONDS
  WHERE event_type = 'view'
  GROUP BY ad_id, window(time, '10 seconds');
"""


def command(args, work, partitions):
    job = work / "job.sql"
    job.write_text(JOB.format(folder=args.input, files=args.files_per_batch))
    settings = {"spark.sql.shuffle.partitions": partitions, "spark.sql.session.timeZone": "UTC"}
    if args.no_sync:
        settings["tidemill.checkpoint.sync"] = "false"
    flags = [flag for key, value in settings.items() for flag in ("--set", f"{key}={value}")]
    return [args.program, "run", str(job), "--checkpoint", args.checkpoint or str(work / "checkpoint"), "--trigger", "available-now", "--progress", "json",
            "--threads", "2", *flags]


def run(args, partitions=2):
    """One process from start to end: its progress objects and its resources."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=args.scratch))
    errors = work / "stderr"
    begin = time.time()
    with open(errors, "w") as file:
        process = subprocess.Popen(command(args, work, partitions), stdout=subprocess.DEVNULL, stderr=file)
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.time() - begin
    lines = errors.read_text().splitlines()
    if status != 0:
        raise SystemExit("\n".join(lines[-5:]))
    shutil.rmtree(work)
    updates = [json.loads(line) for line in lines if line.startswith("{")]
    return [p for p in updates if "addBatch" in p["durationMs"]], wall, usage


def engine(args):
    version = subprocess.run([args.program, "--version"], capture_output=True, text=True, check=True).stdout.split()
    return {"engine": "tidemill-" + version[-1], "config": "no-sync" if args.no_sync else "durable"}


def throughput(args):
    for number in range(args.passes):
        updates, wall, usage = run(args)
        result = engine(args) | {"pass": number, "wall_s": round(wall, 3), "cpu_s": round(usage.ru_utime + usage.ru_stime, 2)}
        result |= {"peak_rss_mb": usage.ru_maxrss // 1024, "batches": len(updates), "input_rows": sum(p["numInputRows"] for p in updates)}
        print(json.dumps(result), flush=True)


def latency(args):
    args.files_per_batch = 1
    updates, _, _ = run(args, args.partitions or 2)
    times = sorted(p["durationMs"]["triggerExecution"] for p in updates[args.warm:][:args.batches])
    pick = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    result = engine(args) | {"partitions": args.partitions, "batches": len(times)}
    print(json.dumps(result | {"p50_ms": pick(0.5), "p99_ms": pick(0.99), "max_ms": times[-1]}), flush=True)


def startup(args):
    args.files_per_batch = 1
    work = pathlib.Path(tempfile.mkdtemp(prefix="bench-", dir=args.scratch))
    commit = work / "checkpoint/counts/counts/commits/0"
    begin = time.time()
    process = subprocess.Popen(command(args, work, 2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not commit.exists():
        if process.poll() not in (None, 0):
            raise SystemExit("the program ended before its first commit")
        time.sleep(0.0005)
    seconds = time.time() - begin
    process.kill()
    process.wait()
    shutil.rmtree(work, ignore_errors=True)
    print(json.dumps(engine(args) | {"first_commit_s": round(seconds, 3)}), flush=True)


def main():
    root = pathlib.Path(__file__).resolve().parents[3]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["throughput", "latency", "startup"])
    parser.add_argument("--input", required=True)
    parser.add_argument("--program", default=str(root / "build/release/bin/tidemill"))
    parser.add_argument("--files-per-batch", type=int, default=4)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--batches", type=int, default=10**6)
    parser.add_argument("--warm", type=int, default=0)
    parser.add_argument("--checkpoint", help="latency: continue what lies here")
    parser.add_argument("--no-sync", action="store_true")
    parser.add_argument("--scratch", help="folder for checkpoints (the system's temporary folder)")
    args = parser.parse_args()
    args.input = str(pathlib.Path(args.input).resolve())
    {"throughput": throughput, "latency": latency, "startup": startup}[args.what](args)


if __name__ == "__main__":
    main()
