#!/usr/bin/env python3
"""Keep short what is short: limits for lines, functions and files, and a ratchet (cmake/sizes.txt) for what is longer already.

What the ratchet lists may shrink, never grow. `check_sizes.py --update` writes the list anew: run it when something became shorter.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATCHET = ROOT / "cmake/sizes.txt"
LINE_LIMIT = 160
FILE_LIMIT = {".cc": 600, ".h": 300}
FUNCTION_LIMIT = 70
# A definition opens at the left margin (or inside a class) and ends with the brace in the same column.
OPENING = re.compile(r"^(\s*)[\w:~<>,*&\[\] ()\"=.|+-]*\([^;]*\)[^;]*\{\s*$")


def functions(lines):
    """(first line, name, length) of each function; good enough for a limit, not a parser."""
    index = 0
    while index < len(lines):
        match = OPENING.match(lines[index])
        if match and len(match.group(1)) <= 2 and not re.match(r"\s*(if|for|while|switch|namespace|class|struct|enum|else|do|catch)\b", lines[index]):
            end = index + 1
            while end < len(lines) and not lines[end].startswith(match.group(1) + "}"):
                end += 1
            name = re.search(r"([\w:~]+)\s*\(", lines[index])
            yield index + 1, name.group(1) if name else "?", end - index + 1
            index = end
        index += 1


def tracked_files():
    names = subprocess.run(["git", "ls-files", "*.h", "*.cc"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [name for name in names if (ROOT / name).exists()]


def measure():
    """Key → size of all that is above a limit."""
    found = {}
    for name in tracked_files():
        path = ROOT / name
        lines = path.read_text().splitlines()
        if len(lines) > FILE_LIMIT[path.suffix]:
            found[f"file {name}"] = len(lines)
        longest = max((len(line) for line in lines), default=0)
        if longest > LINE_LIMIT:
            found[f"line {name}"] = longest
        if not name.endswith(("_test.cc", "_fuzzer.cc")):
            for _, function, length in functions(lines):
                if length > FUNCTION_LIMIT:
                    found[f"function {name}:{function}"] = max(length, found.get(f"function {name}:{function}", 0))
    return found


def read_ratchet():
    entries = {}
    if RATCHET.exists():
        for line in RATCHET.read_text().splitlines():
            if line and not line.startswith("#"):
                key, size = line.rsplit(" ", 1)
                entries[key] = int(size)
    return entries


def main(arguments):
    found = measure()
    if arguments == ["--update"]:
        header = "# What was longer than cmake/check_sizes.py allows when it was written. May shrink, must not grow.\n"
        RATCHET.write_text(header + "".join(f"{key} {size}\n" for key, size in sorted(found.items())))
        return 0
    ratchet = read_ratchet()
    complaints = []
    for key, size in sorted(found.items()):
        if key not in ratchet:
            complaints.append(f"{key}: {size} is too long; divide it")
        elif size > ratchet[key]:
            complaints.append(f"{key}: grew from {ratchet[key]} to {size}; divide it")
    for key in sorted(set(ratchet) - set(found)):
        print(f"{key}: short enough now (check_sizes.py --update takes it out of the list)")
    for complaint in complaints:
        print(complaint)
    print(f"{len(tracked_files())} files, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
