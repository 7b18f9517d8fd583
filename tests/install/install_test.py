#!/usr/bin/env python3
"""Install a build into a temporary folder and run the program from there. Usage: install_test.py --build DIR --cmake PROGRAM"""
import argparse
import json
import pathlib
import subprocess
import tempfile

JOB = """CREATE TABLE e (k STRING) USING json OPTIONS (path 'in');
CREATE STREAMING TABLE c USING json OPTIONS (path 'out') AS SELECT upper(k) AS k FROM STREAM e;
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cmake", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidemill-install-") as folder:
        home = pathlib.Path(folder)
        subprocess.run([arguments.cmake, "--install", arguments.build, "--prefix", home / "first"], check=True, stdout=subprocess.DEVNULL)
        (home / "first").rename(home / "prefix")    # it may not remember where it was put
        program = home / "prefix/bin/tidemill"
        libraries = subprocess.run(["ldd", program], check=True, capture_output=True, text=True, env={}).stdout
        arrow = [line for line in libraries.splitlines() if "libarrow" in line]
        assert len(arrow) == 2 and all(str(home / "prefix") in line for line in arrow), libraries
        (home / "in").mkdir()
        (home / "in/1.json").write_text('{"k": "a"}\n')
        (home / "job.sql").write_text(JOB)
        subprocess.run([program, "run", "job.sql"], check=True, cwd=home, env={}, timeout=60)
        rows = [json.loads(line) for path in (home / "out").glob("part-*") for line in path.read_text().splitlines()]
        assert rows == [{"k": "A"}], rows
    print("installed, moved, run")


if __name__ == "__main__":
    main()
