#!/usr/bin/env python3
"""Every condition of ours that the code raises stands in docs/errors.md, and no other."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONDITION = re.compile(r'"(TIDEMILL_[A-Z_]+(?:\.[A-Z_]+)*)"')


def main():
    raised = {}
    for file in sorted((ROOT / "src").rglob("*")):
        if file.suffix in (".h", ".cc") and not file.name.endswith("_test.cc") and "testing" not in file.parts:
            for condition in CONDITION.findall(file.read_text()):
                raised.setdefault(condition, file.relative_to(ROOT))
            # A condition inside a message that does not go through an error value.
            for condition in re.findall(r'"\[(TIDEMILL_[A-Z_]+)\]', file.read_text()):
                raised.setdefault(condition, file.relative_to(ROOT))
    listed = set(re.findall(r"`(TIDEMILL_[A-Z_]+(?:\.[A-Z_]+)*)`", (ROOT / "docs/errors.md").read_text()))
    complaints = [f"{file}: {condition} is missing in docs/errors.md" for condition, file in raised.items() if condition not in listed]
    complaints += [f"docs/errors.md: nothing raises {condition}" for condition in sorted(listed - set(raised))]
    for complaint in complaints:
        print(complaint)
    print(f"{len(raised)} conditions, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
