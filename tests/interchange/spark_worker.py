"""Runs queries of the golden cases on a real Spark, on request: one JSON command a line on standard input, one answer a line on standard output.

    {"case": "agg_basic", "provider": "hdfs", "staged": 4}   →   {"batches": {"0": "+---+…"}}   or   {"error": "…"}

`staged`: how many of the case's own input files there are; more files may lie in the folder. Rows of a batch come as the table that Dataset.show() prints.
"""
import importlib.util
import json
import os
import sys


def load_golden(path):
    spec = importlib.util.spec_from_file_location("make_golden", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(golden, spark, command):
    one, provider = golden.CASES[command["case"]], command["provider"]
    home = f"{golden.ROOT}/{command['case']}_{provider}"
    conf = {"spark.sql.shuffle.partitions": str(one.partitions), **golden.PROVIDERS.get(provider, {}), **one.conf}
    for key, value in conf.items():
        spark.conf.set(key, value)
    tables = {}

    def show(frame, batch):
        rows = frame.collect()
        tables[batch] = spark.createDataFrame(rows, frame.schema)._jdf.showString(1000000, 0, False)

    try:
        frame, mode = one.build(golden.Bench(spark, home, command["staged"]))
        writer = frame.writeStream.outputMode(mode).option("checkpointLocation", home + "/checkpoint").trigger(availableNow=True)
        writer = writer.foreachBatch(show) if one.sink == "rows" else writer.format(one.sink).option("path", home + "/output")
        query = writer.start()
        if not query.awaitTermination(150):
            query.stop()
            return {"error": "timed out"}
        return {"batches": tables}
    except Exception as error:
        return {"error": str(error)[:2000]}
    finally:
        for key in conf:
            spark.conf.unset(key)


def main():
    # Spark and Python print on standard output: answers have a channel of their own.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    golden = load_golden(sys.argv[1])
    spark = golden.session()
    spark.sparkContext.setLogLevel("OFF")
    print(json.dumps({"version": spark.version}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(run(golden, spark, json.loads(line))), file=answers, flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
