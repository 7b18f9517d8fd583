#!/usr/bin/env python3
"""Run the program as a user does. Usage: cli_test.py PROGRAM [unittest arguments]"""
import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

PROGRAM = None
TABLE = "CREATE TABLE e (at TIMESTAMP, k STRING, v INT) USING json OPTIONS (path 'in', maxFilesPerTrigger 1);\n"
COPY = TABLE + "CREATE STREAMING TABLE c USING json OPTIONS (path 'out') AS SELECT k, v FROM STREAM e;\n"
COUNT = TABLE + """CREATE STREAMING TABLE n USING json OPTIONS (path 'out') AS
SELECT k, window.start AS w, count(*) AS n, sum(v) AS total FROM STREAM e WATERMARK at DELAY OF INTERVAL 0 SECONDS
GROUP BY k, window(at, '10 seconds');
"""


class Case(unittest.TestCase):
    """A temporary folder with a folder `in`."""

    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="tidemill-cli-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        (self.home / "in").mkdir()

    def put(self, name, rows, number=0):
        path = self.home / "in" / name
        path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
        os.utime(path, (1_767_225_600 + number,) * 2)

    def job(self, text, name="job.sql"):
        (self.home / name).write_text(text)
        return name

    def run_program(self, *arguments, code=0, text=None, timeout=60):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.home, input=text, capture_output=True, text=True, timeout=timeout)
        self.assertEqual(done.returncode, code, f"{arguments}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def rows(self, folder="out"):
        """What a reader of the table sees."""
        log, rows = self.home / folder / "_spark_metadata", collections.Counter()
        for entry in sorted(log.glob("[0-9]*")):
            self.assertTrue(entry.name.isdigit(), "these tests make fewer batches than a compaction needs")
            for line in entry.read_text().splitlines()[1:]:
                path = urllib.parse.unquote(urllib.parse.urlparse(json.loads(line)["path"]).path)
                rows.update(pathlib.Path(path).read_text().splitlines())
        return rows

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


class Commands(Case):
    def test_version_and_help(self):
        self.assertRegex(self.run_program("--version").stdout, r"^tidemill \d+\.\d+\.\d+$")
        self.assertIn("Examples:", self.run_program("run", "--help").stdout)
        self.assertIn("operatorId", self.run_program("checkpoint", "rows", "--help").stdout)

    def test_usage(self):
        self.run_program(code=2)
        self.run_program("run", code=2)
        self.run_program("run", "missing.sql", code=2)
        self.run_program("run", "-e", "SELECT 1", "--trigger", "now and then", code=2)
        self.run_program("run", "-e", "SELECT 1", "--set", "spark.sql.shuffle.partitions=some", code=2)

    def test_a_folder_is_no_job(self):
        self.assertIn("TIDEMILL_JOB_NOT_READABLE", self.run_program("run", ".", code=2).stderr)

    def test_a_function_that_is_missing_is_called_missing(self):
        refused = self.run_program("run", self.job(TABLE + "SELECT regr_slope(v, v) FROM STREAM e;"), code=3)
        self.assertIn("TIDEMILL_UNSUPPORTED_FUNCTION", refused.stderr)

    def test_mistakes_in_the_sql_are_shown_at_their_place(self):
        report = self.run_program("run", self.job(TABLE + "SELEC k FROM STREAM e;\n"), code=3).stderr
        self.assertIn("job.sql", report)
        self.assertIn("SELEC k FROM STREAM e", report)
        self.assertIn("^", report)
        report = self.run_program("run", self.job(TABLE + "SELECT kk FROM STREAM e;\n"), code=3).stderr
        self.assertIn("UNRESOLVED_COLUMN", report)
        self.assertIn("`k`", report)
        report = self.run_program("run", "-e", "CREATE TABLE t (a INT) USING jsn OPTIONS (path 'x')", code=3).stderr
        self.assertIn("json", report)

    def test_a_mistake_in_the_last_line_starts_nothing(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        self.run_program("run", self.job(COPY + "SELECT nothing FROM STREAM e;"), code=3)
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), ["in", "job.sql"])

    def test_an_unknown_key_of_ours_is_refused(self):
        refused = self.run_program("run", self.job(COPY), "--set", "tidemill.checkpoint.snyc=false", code=2)
        self.assertIn("tidemill.checkpoint.sync", refused.stderr)
        refused = self.run_program("run", self.job("SET tidemill.checkpoint.snyc = false;\n" + COPY), code=3)
        self.assertIn("TIDEMILL_UNKNOWN_KEY", refused.stderr)

    def test_settings_are_shown(self):
        done = self.run_program("run", "-e", "SET spark.sql.shuffle.partitions", "--set", "spark.sql.shuffle.partitions=3")
        self.assertEqual(done.stdout, "spark.sql.shuffle.partitions\t3\n")

    def test_an_unknown_key_is_named_with_its_neighbour(self):
        done = self.run_program("run", "-e", "SET spark.sql.shuffle.partition = 3")
        self.assertIn("spark.sql.shuffle.partitions", done.stderr)
        done = self.run_program("run", "-e", "SET spark.sql.shuffle.partitions", "--set", "spark.sql.shuffle.partition=3")
        self.assertIn("Did you mean spark.sql.shuffle.partitions?", done.stderr)


class Jobs(Case):
    def test_rows_go_to_standard_output_and_nothing_else(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        done = self.run_program("run", self.job(TABLE + "SELECT k, v + 1 AS next FROM STREAM e"), "--progress", "json")
        self.assertIn("|  a|   2|", done.stdout)
        progress = [json.loads(line) for line in done.stderr.splitlines()]
        self.assertEqual([object["numInputRows"] for object in progress], [1])
        self.assertEqual(sorted(path.name for path in self.home.iterdir()), ["in", "job.sql"])

    def test_standard_input(self):
        self.put("1.json", [{"k": "b", "v": 1}])
        self.assertIn("|  b|", self.run_program("run", "-", text=TABLE + "SELECT k FROM STREAM e").stdout)

    def test_the_second_run_goes_on_where_the_first_stopped(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        job = self.job(COPY)
        self.run_program("run", job)
        self.assertTrue((self.home / "job.checkpoint/c/c/commits/0").exists())
        self.put("2.json", [{"k": "b", "v": 2}], 1)
        self.run_program("run", job)
        self.run_program("run", job)
        self.assertEqual(self.rows(), {'{"k":"a","v":1}': 1, '{"k":"b","v":2}': 1})

    def test_checkpoint_flag(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        job = self.job(COPY)
        self.run_program("run", job, "--checkpoint", "ck")
        self.assertTrue((self.home / "ck/c/c/offsets/0").exists())
        self.put("2.json", [{"k": "b", "v": 2}], 1)
        # The checkpoint itself, as one would name a folder that Spark wrote.
        self.run_program("run", job, "--checkpoint", "ck/c/c")
        self.assertTrue((self.home / "ck/c/c/offsets/1").exists())
        self.assertEqual(sum(self.rows().values()), 2)

    def test_windows_are_written_once_closed_and_state_can_be_read(self):
        self.put("1.json", [{"at": f"2026-01-01T00:00:{second:02}Z", "k": "a", "v": second} for second in range(12)])
        self.put("2.json", [{"at": "2026-01-01T00:00:25Z", "k": "b", "v": 1}], 1)
        self.run_program("run", self.job(COUNT), "--set", "spark.sql.session.timeZone=UTC", "--set", "spark.sql.shuffle.partitions=3")
        rows = [json.loads(row) for row in self.rows()]
        self.assertEqual(sorted((row["k"], row["w"], row["n"], row["total"]) for row in rows),
                         [("a", "2026-01-01T00:00:00.000Z", 10, 45), ("a", "2026-01-01T00:00:10.000Z", 2, 21)])
        state = self.run_program("checkpoint", "rows", "job.checkpoint/n/n", "--option", "operatorId=0", "--json").stdout.splitlines()
        state = [json.loads(line) for line in state]
        self.assertEqual(len(state), 1)
        self.assertEqual(set(state[0]), {"key", "value", "partition_id"})
        self.assertIn("b", json.dumps(state[0]["key"]))

    def test_a_later_table_reads_an_earlier_one(self):
        self.put("1.json", [{"k": "a", "v": 1}, {"k": "b", "v": 2}])
        self.run_program("run", self.job(COPY + "CREATE STREAMING TABLE d USING json OPTIONS (path 'more') AS SELECT v * 10 AS v FROM STREAM c WHERE k = 'b'"))
        self.assertEqual(self.rows("more"), {'{"v":20}': 1})

    def test_plain_progress(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        done = self.run_program("run", self.job(COPY), "--progress", "plain")
        self.assertRegex(done.stderr, r"c  batch 0: 1 rows in \d+ ms")


class Signals(Case):
    def wait_for(self, path):
        for _ in range(6000):
            if path.exists():
                return
            time.sleep(0.005)
        self.fail(f"{path} did not appear")

    def start_service(self):
        for folder in ("job.checkpoint", "out"):
            shutil.rmtree(self.home / folder, ignore_errors=True)
        self.put("1.json", [{"k": "a", "v": 1}])
        process = self.start("run", self.job(COPY), "--trigger", "100 milliseconds")
        self.wait_for(self.home / "job.checkpoint/c/c/commits/0")
        return process

    def test_the_first_signal_stops_in_order(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start_service()
                process.send_signal(number)
                self.assertEqual(process.wait(30), 0)

    def test_the_second_signal_stops_at_once(self):
        self.put("1.json", [f'{{"at":"2026-01-01T00:00:00Z","k":"key-{number}","v":1}}' for number in range(600_000)])
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                for folder in ("job.checkpoint", "out"):
                    shutil.rmtree(self.home / folder, ignore_errors=True)
                process = self.start("run", self.job(COUNT), "--trigger", "10 minutes", "--threads", "1")
                self.wait_for(self.home / "job.checkpoint/n/n/offsets")
                while process.poll() is None:
                    process.send_signal(number)
                    time.sleep(0.002)
                self.assertEqual(process.returncode, 128 + number)
        # Nothing is lost by it.
        self.run_program("run", "job.sql")
        self.put("2.json", [{"at": "2026-01-01T00:01:00Z", "k": "z", "v": 1}], 1)
        self.run_program("run", "job.sql")
        self.assertEqual(sum(self.rows().values()), 600_000)

    def test_a_second_process_is_refused(self):
        process = self.start_service()
        refused = self.run_program("run", "job.sql", code=4)
        self.assertIn("TIDEMILL_CHECKPOINT_LOCKED", refused.stderr)
        self.assertIn(str(process.pid), refused.stderr)

    def test_a_kill_frees_the_checkpoint(self):
        process = self.start_service()
        process.kill()
        process.wait()
        self.run_program("run", "job.sql")
        self.assertEqual(self.rows(), {'{"k":"a","v":1}': 1})


class BadInput(Case):
    def test_malformed_lines(self):
        self.put("1.json", ['{"k": "a", "v": 1}', '{"k": "b", "v":', '{"k": "c", "v": 3}'])
        select = "CREATE STREAMING TABLE c USING json OPTIONS (path 'out') AS SELECT k, v FROM STREAM e"
        for mode, expected in (("PERMISSIVE", 3), ("DROPMALFORMED", 2)):
            with self.subTest(mode):
                shutil.rmtree(self.home / "out", ignore_errors=True)
                self.run_program("run", self.job(TABLE.replace("path 'in'", f"path 'in', mode '{mode}'") + select), "--checkpoint", mode)
                self.assertEqual(sum(self.rows().values()), expected)
        shutil.rmtree(self.home / "out", ignore_errors=True)
        failed = self.run_program("run", self.job(TABLE.replace("path 'in'", "path 'in', mode 'FAILFAST'") + select), "--checkpoint", "ff", code=1)
        self.assertIn("MALFORMED_RECORD_IN_PARSING", failed.stderr)

    def test_the_text_of_a_bad_record(self):
        self.put("1.json", ['{"k": "a", "v": 1}', "nonsense"])
        table = "CREATE TABLE e (k STRING, v INT, _corrupt_record STRING) USING json OPTIONS (path 'in');\n"
        self.run_program("run", self.job(table + "CREATE STREAMING TABLE c USING json OPTIONS (path 'out') AS SELECT k, _corrupt_record AS bad FROM STREAM e"))
        self.assertEqual(self.rows(), {'{"k":"a"}': 1, '{"bad":"nonsense"}': 1})

    def test_a_missing_folder(self):
        failed = self.run_program("run", self.job(COPY.replace("path 'in'", "path 'elsewhere'")), code=1)
        self.assertIn("elsewhere", failed.stderr)

    def test_an_unreadable_folder(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        job = self.job(COPY)
        os.chmod(self.home / "in", 0)
        self.addCleanup(os.chmod, self.home / "in", 0o755)
        self.check_denied(self.run_without_rights("run", job), self.home / "in")
        os.chmod(self.home / "in", 0o755)
        self.run_program("run", job)
        self.assertEqual(self.rows(), {'{"k":"a","v":1}': 1})

    def test_an_unreadable_file(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        job = self.job(COPY)
        self.run_program("run", job)
        self.put("2.json", [{"k": "b", "v": 2}], 1)
        os.chmod(self.home / "in/2.json", 0)
        self.check_denied(self.run_without_rights("run", job), self.home / "in/2.json")
        self.assertEqual(self.rows(), {'{"k":"a","v":1}': 1})
        os.chmod(self.home / "in/2.json", 0o644)
        self.run_program("run", job)
        self.assertEqual(self.rows(), {'{"k":"a","v":1}': 1, '{"k":"b","v":2}': 1})

    def test_a_checkpoint_that_may_not_be_written(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        job = self.job(COPY)
        (self.home / "ck").mkdir(mode=0o500)
        self.check_denied(self.run_without_rights("run", job, "--checkpoint", "ck"), self.home / "ck")
        self.assertFalse((self.home / "out/_spark_metadata/0").exists())
        os.chmod(self.home / "ck", 0o700)
        self.run_program("run", job, "--checkpoint", "ck")
        self.assertEqual(self.rows(), {'{"k":"a","v":1}': 1})

    def check_denied(self, failed, path):
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn(str(path), failed.stderr)
        self.assertIn("permission denied", failed.stderr.lower())

    def run_without_rights(self, *arguments):
        """Run the program as a user to whom permission bits apply. Root keeps its id, since the program may lie where no other may run it, and drops its rights."""
        drop = []
        if os.geteuid() == 0:
            rights = "-dac_override,-dac_read_search"
            drop = ["setpriv", "--inh-caps=" + rights, "--bounding-set=" + rights]
        return subprocess.run([*drop, PROGRAM, *arguments], cwd=self.home, capture_output=True, text=True, timeout=60)

    def test_a_disk_that_fills_up_in_the_middle_of_a_delta(self):
        self.put("1.json", [{"at": "2026-01-01T00:00:00Z", "k": f"key-{os.urandom(16).hex()}", "v": 1} for _ in range(60_000)])
        disk = self.home / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest("needs to mount a small disk: " + mounted.stderr)
        self.addCleanup(subprocess.run, ["umount", disk])
        arguments = ["run", self.job(COUNT), "--checkpoint", "disk/ck", "--set", "spark.sql.shuffle.partitions=1"]
        failed = self.run_program(*arguments, code=1)
        self.assertIn("No space left on device", failed.stderr)
        self.assertIn(".delta", failed.stderr)
        self.assertFalse((disk / "ck/n/n/commits/0").exists())
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        self.run_program(*arguments)
        self.put("2.json", [{"at": "2026-01-01T00:01:00Z", "k": "z", "v": 1}], 1)
        self.run_program(*arguments)
        self.assertEqual(sum(self.rows().values()), 60_000)

    def test_a_file_that_vanishes_between_listing_and_reading(self):
        for number in (1, 2):
            self.put(f"{number}.json", [{"k": f"k{number}", "v": 1}], number)
        job = self.job(COPY.replace("maxFilesPerTrigger 1", "maxFilesPerTrigger 2"))
        self.run_program("run", job)
        # As after a crash in the batch: its files are chosen, it has to be repeated.
        checkpoint = self.home / "job.checkpoint/c/c"
        (checkpoint / "commits/0").unlink()
        shutil.rmtree(self.home / "out/_spark_metadata")
        gone = self.home / "in/1.json"
        gone.rename(self.home / "kept.json")
        failed = self.run_program("run", job, code=1)
        self.assertIn("FAILED_READ_FILE.FILE_NOT_EXIST", failed.stderr)
        self.assertIn(str(gone), failed.stderr)
        self.assertFalse((checkpoint / "commits/0").exists())
        self.run_program("run", job, "--set", "spark.sql.files.ignoreMissingFiles=true")
        self.assertEqual(self.rows(), {'{"k":"k2","v":1}': 1})

    def test_an_output_folder_of_another_query_is_refused(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        self.run_program("run", self.job(COPY))
        shutil.rmtree(self.home / "job.checkpoint")
        failed = self.run_program("run", "job.sql", code=1)
        self.assertIn("TIDEMILL_SINK_AHEAD", failed.stderr)
        self.assertEqual(self.rows(), {'{"k":"a","v":1}': 1})

    def test_two_queries_may_not_share_a_checkpoint(self):
        second = "CREATE STREAMING TABLE d USING json OPTIONS (path 'other', checkpointLocation 'ck') AS SELECT k FROM STREAM e;\n"
        refused = self.run_program("run", self.job(COPY.replace("path 'out'", "path 'out', checkpointLocation 'ck'") + second), code=3)
        self.assertIn("TIDEMILL_CHECKPOINT_SHARED", refused.stderr)
        self.assertFalse((self.home / "ck").exists())

    def test_state_files_of_two_partitions_mixed_up(self):
        self.put("1.json", [{"at": "2026-01-01T00:00:00Z", "k": f"k{number}", "v": 1} for number in range(100)])
        job = self.job(COUNT)
        self.run_program("run", job, "--set", "spark.sql.shuffle.partitions=2")
        state = self.home / "job.checkpoint/n/n/state/0"
        (state / "0").rename(state / "x")
        (state / "1").rename(state / "0")
        (state / "x").rename(state / "1")
        self.put("2.json", [{"at": "2026-01-01T00:01:00Z", "k": "z", "v": 1}], 1)
        failed = self.run_program("run", job, "--set", "spark.sql.shuffle.partitions=2", code=1)
        self.assertIn("TIDEMILL_STATE_OF_ANOTHER_PARTITION", failed.stderr)

    def test_a_view_that_doubles_at_every_use(self):
        views = "".join(f"CREATE TEMPORARY VIEW v{i + 1} AS SELECT * FROM v{i} UNION ALL SELECT * FROM v{i};\n" for i in range(40))
        refused = self.run_program("run", self.job(TABLE + "CREATE TEMPORARY VIEW v0 AS SELECT k FROM STREAM e;\n" + views + "SELECT * FROM v40;"), code=3)
        self.assertIn("TIDEMILL_QUERY_TOO_DEEP", refused.stderr)

    def test_a_read_only_checkpoint(self):
        self.put("1.json", [{"k": "a", "v": 1}])
        (self.home / "ck").write_text("a file where a folder should be")
        failed = self.run_program("run", self.job(COPY), "--checkpoint", "ck", code=1)
        self.assertIn(str(self.home / "ck"), failed.stderr)
        self.assertFalse((self.home / "out/_spark_metadata/0").exists())

    def test_an_unknown_option(self):
        refused = self.run_program("run", self.job(COPY.replace("maxFilesPerTrigger", "maxFilePerTrigger")), code=3)
        self.assertIn("TIDEMILL_UNKNOWN_OPTION", refused.stderr)
        self.assertIn("maxfilespertrigger", refused.stderr.lower())
        refused = self.run_program("run", self.job(COPY.replace("path 'out'", "path 'out', ignoreNullField 'true'")), code=3)
        self.assertIn("TIDEMILL_UNKNOWN_OPTION", refused.stderr)
        self.assertIn("ignorenullfields", refused.stderr.lower())

    def test_a_change_of_the_grouping_between_restarts(self):
        self.put("1.json", [{"at": "2026-01-01T00:00:00Z", "k": "a", "v": 1}])
        self.run_program("run", self.job(COUNT))
        self.put("2.json", [{"at": "2026-01-01T00:01:00Z", "k": "a", "v": 1}], 1)
        changed = COUNT.replace("SELECT k, window", "SELECT v, window").replace("GROUP BY k,", "GROUP BY v,")
        failed = self.run_program("run", self.job(changed), code=1)
        self.assertIn("SCHEMA_NOT_COMPATIBLE", failed.stderr)
        # Nothing is lost: the right job goes on.
        self.run_program("run", self.job(COUNT))

    def test_a_run_over_the_memory_budget_ends_with_an_error(self):
        rows = 3_000_000
        with open(self.home / "in" / "1.json", "w") as file:
            for number in range(rows):
                file.write('{"at":"2026-01-01T00:00:00Z","k":"key-%d","v":1}\n' % number)
        failed = self.run_program("run", self.job(COUNT), "--memory", "64m", code=1, timeout=120)
        self.assertIn("TIDEMILL_MEMORY_EXCEEDED", failed.stderr)


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
