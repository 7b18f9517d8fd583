"""The keyed window count of the Yahoo benchmark, without its join, on Spark: throughput, latency of small batches, start-up.

keyed.py throughput --input DIR --files-per-batch N [--memory 4g] [--passes 3]      one JSON line a pass, after one warm pass
keyed.py latency --input DIR --batches N [--partitions P] [--warm W]                 one JSON line: quantiles of the batch in ms
keyed.py startup --input DIR                                                         one JSON line: seconds from the start of the process to commits/0
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pyspark
from pyspark.sql import functions as F

import queries
import session as bench


def counts(session, folder, files_per_batch):
    reader = session.readStream.schema(queries.YSB_SCHEMA).option("maxFilesPerTrigger", files_per_batch)
    time_of = F.timestamp_millis(F.col("event_time").cast("bigint")).alias("time")
    views = reader.json(folder).where("event_type = 'view'").select("ad_id", time_of).withWatermark("time", "10 seconds")
    return views.groupBy("ad_id", F.window("time", "10 seconds")).count().select("ad_id", F.col("window.start").alias("start"), "count")


def run(session, folder, files_per_batch, checkpoint):
    writer = counts(session, folder, files_per_batch).writeStream.format("noop").outputMode("update").trigger(availableNow=True)
    query = writer.option("checkpointLocation", checkpoint).start()
    query.awaitTermination()
    return [p for p in bench.progress_of(query) if "addBatch" in p["durationMs"]]


def throughput(args):
    session = bench.open_session(args.config, memory=args.memory)
    pid = bench.jvm_pid(session)
    for number in range(-1, args.passes):
        work = tempfile.mkdtemp(prefix="bench-")
        bench.reset_peak(pid)
        cpu, begin = bench.cpu_seconds(pid), time.time()
        updates = run(session, args.input, args.files_per_batch, work + "/checkpoint")
        wall, cpu = time.time() - begin, bench.cpu_seconds(pid) - cpu
        shutil.rmtree(work)
        result = {"engine": "spark-" + pyspark.__version__, "config": args.config, "memory": args.memory, "pass": number, "wall_s": round(wall, 3)}
        result |= {"cpu_s": round(cpu, 2), "peak_rss_mb": bench.memory_mb(pid, "VmHWM"), "batches": len(updates)}
        if number >= 0:
            print(json.dumps(result), flush=True)
    session.stop()


def latency(args):
    extra = {"spark.sql.shuffle.partitions": str(args.partitions)} if args.partitions else {}
    session = bench.open_session(args.config, memory="2g", extra=extra)
    work = tempfile.mkdtemp(prefix="bench-")
    updates = run(session, args.input, 1, args.checkpoint or work + "/checkpoint")[args.warm:][:args.batches]
    shutil.rmtree(work)
    times = sorted(p["durationMs"]["triggerExecution"] for p in updates)
    pick = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    result = {"engine": "spark-" + pyspark.__version__, "config": args.config, "partitions": args.partitions, "batches": len(times)}
    print(json.dumps(result | {"p50_ms": pick(0.5), "p99_ms": pick(0.99), "max_ms": times[-1]}), flush=True)
    session.stop()


def startup(args):
    if args.checkpoint:
        session = bench.open_session(args.config, memory="1g")
        run(session, args.input, 1, args.checkpoint)
        return
    work = pathlib.Path(tempfile.mkdtemp(prefix="bench-"))
    command = [sys.executable, __file__, "startup", "--input", args.input, "--config", args.config, "--checkpoint", str(work / "c")]
    begin = time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (work / "c/commits/0").exists():
        if process.poll() is not None:
            raise SystemExit("the child ended before its first commit")
        time.sleep(0.001)
    seconds = time.time() - begin
    process.kill()
    process.wait()
    shutil.rmtree(work, ignore_errors=True)
    print(json.dumps({"engine": "spark-" + pyspark.__version__, "config": args.config, "first_commit_s": round(seconds, 3)}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["throughput", "latency", "startup"])
    parser.add_argument("--input", required=True)
    parser.add_argument("--config", default="tuned-hdfs", choices=bench.CONFIGS)
    parser.add_argument("--files-per-batch", type=int, default=4)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--partitions", type=int)
    parser.add_argument("--batches", type=int, default=10**6)
    parser.add_argument("--warm", type=int, default=0)
    parser.add_argument("--checkpoint", help="latency: keep the checkpoint here")
    args = parser.parse_args()
    {"throughput": throughput, "latency": latency, "startup": startup}[args.what](args)


if __name__ == "__main__":
    main()
