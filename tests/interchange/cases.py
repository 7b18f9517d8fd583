"""The golden cases that the engine continues: the query in SQL, and two more input files for each."""
import datetime


def at(second):
    moment = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=second)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


class Case:
    """`query` reads `input`; `extra`: rows of the file that Tidemill reads, and of the one that Spark reads after it."""

    def __init__(self, schema, query, mode, extra, folder="in"):
        self.schema, self.query, self.mode, self.extra, self.folder = schema, query, mode, extra, folder


EVENTS = "k string, ts timestamp, v bigint"
LATER = [[{"k": "a", "ts": at(100), "v": 10}, {"k": "d", "ts": at(61), "v": 1}, {"k": "e", "ts": at(30), "v": 99}],
         [{"k": "a", "ts": at(101), "v": 11}, {"k": "f", "ts": at(200), "v": 12}, {"k": "e", "ts": at(70), "v": 98}]]
KEYS = [[{"k": "k0"}, {"k": "new"}], [{"k": "k3"}, {"k": "new"}, {"k": None}]]
COUNTED = ("k string", "SELECT k, count(*) AS count FROM STREAM input GROUP BY k", "update", KEYS)
TUMBLING = (EVENTS, "SELECT window, k, count(*) AS n, sum(v) AS s FROM STREAM input WATERMARK ts DELAY OF INTERVAL 5 SECONDS "
            "GROUP BY window(ts, '10 seconds'), k", "append", LATER)
UNITED = ("k string, v int", "SELECT k, count(*) AS count FROM (SELECT * FROM STREAM one UNION ALL SELECT * FROM STREAM two "
          "UNION ALL SELECT * FROM STREAM three) GROUP BY k", "update", [[{"k": "a", "v": 7}, {"k": "new", "v": -1}], [{"k": "b", "v": 3}, {"k": "new", "v": 2}]])
BASIC = [[{"k": "apple", "v": 7}, {"k": "new", "v": -1}, {"k": None, "v": None}], [{"k": "pear", "v": 3}, {"k": "new", "v": 2}]]
DECIMALS = [[{"d": "1.23", "e": "0.00001"}, {"d": "5.00", "e": "7"}], [{"d": None, "e": "0"}, {"d": "1.23", "e": "12345678901234567890.12345"}]]
NARROW = [[{"k": "x", "a": "0.01", "c": "1.00", "e": "3.3"}, {"k": "w", "a": None, "c": "2.50", "e": None}],
          [{"k": "y", "a": "-7.75", "c": "0.05", "e": "1.5"}, {"k": "x", "a": "1.00", "c": None, "e": "0.1"}]]
MOMENTS = [[{"ts": at(0), "day": "2026-01-01", "ok": True, "x": -0.0, "y": 1.5, "bin": "AAEC"},
            {"ts": at(7.5), "day": "2020-02-29", "ok": None, "x": 0.1, "y": 0.1, "bin": "AA=="}],
           [{"ts": None, "day": None, "ok": None, "x": None, "y": None, "bin": None},
            {"ts": "1969-12-31T23:59:59.999Z", "day": "1969-12-31", "ok": False, "x": "NaN", "y": "NaN", "bin": ""}]]
STRUCTS = [[{"a": 1, "b": "x", "arr": [1, 2]}, {"a": 9, "b": "q", "arr": None}], [{"a": -1, "b": "yy", "arr": []}, {"a": None, "b": None, "arr": None}]]

CASES = {
    "agg_basic": Case("k string, v int", "SELECT k, count(*) AS n, sum(v) AS s, avg(v) AS a, min(v) AS lo, max(v) AS hi FROM STREAM input GROUP BY k",
                      "update", BASIC),
    "agg_format1": Case("k string, v int", "SELECT k, count(*) AS n, sum(v) AS s FROM STREAM input GROUP BY k", "update", BASIC),
    "agg_no_key": Case("k string, v int", "SELECT count(*) AS n, sum(v) AS s, max(k) AS hi FROM STREAM input", "complete", BASIC),
    "agg_decimal_key": Case("d decimal(10,2), e decimal(30,5)", "SELECT d, e, sum(e) AS se, avg(d) AS ad, sum(d) AS sd FROM STREAM input GROUP BY d, e",
                            "update", DECIMALS),
    "agg_decimal_narrow": Case("k string, a decimal(8,2), c decimal(9,2), e decimal(11,1)",
                               "SELECT k, sum(a) AS sa, avg(a) AS aa, sum(c) AS sc, avg(c) AS ac, avg(e) AS ae, sum(e) AS se FROM STREAM input GROUP BY k",
                               "update", NARROW),
    "agg_ts_key": Case("ts timestamp, day date, ok boolean, x double, y float, bin binary",
                       "SELECT ts, day, ok, x, y, bin, count(*) AS count FROM STREAM input GROUP BY ts, day, ok, x, y, bin", "update", MOMENTS),
    "agg_struct_key": Case("a int, b string, arr array<int>", "SELECT struct(a, b) AS s, arr, count(*) AS count FROM STREAM input GROUP BY struct(a, b), arr",
                           "update", STRUCTS),
    "big_value": Case("k string, t string", "SELECT k, max(t) AS t FROM STREAM input GROUP BY k", "update",
                      [[{"k": "long", "t": "y" * 100000}, {"k": "empty", "t": "a"}], [{"k": "mixed", "t": "z"}, {"k": "long", "t": "x"}]]),
    "codec_lzf": Case(*COUNTED), "codec_snappy": Case(*COUNTED), "codec_zstd": Case(*COUNTED), "maintained": Case(*COUNTED),
    "killed_after": Case(*COUNTED), "killed_before": Case(*COUNTED), "killed_mid": Case(*COUNTED),
    "union_three": Case(*UNITED, folder="one"), "offset_log2": Case(*UNITED, folder="one"),
    "window_tumbling": Case(*TUMBLING), "row_checksum": Case(*TUMBLING),
    "window_sliding": Case(EVENTS, "SELECT window, count(*) AS n FROM STREAM input WATERMARK ts DELAY OF INTERVAL 5 SECONDS "
                           "GROUP BY window(ts, '10 seconds', '5 seconds')", "update", LATER),
    "file_sink": Case("k string, v int", "SELECT k, v + 1 AS w FROM STREAM input WHERE k <> 'k5'", "append",
                      [[{"k": "late", "v": 41}, {"k": "k5", "v": 1}], [{"k": "last", "v": 99}]]),
}
# Written from nothing by Tidemill, then continued by Spark.
FRESH = ["agg_basic", "agg_decimal_key", "window_tumbling", "window_sliding"]
# Tidemill is killed in the batch that it adds, then Spark goes on.
KILLED = ["agg_basic", "window_tumbling"]
