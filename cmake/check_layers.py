#!/usr/bin/env python3
"""Compare the includes of src/ with the folder table of docs/architecture.md, and look for files that no target builds.

An include of another folder must be one that the table allows; `base/` and the own folder always are. A file x_test.cc, x_benchmark.cc or below
src/testing/ may include any folder, and so may a header that only such files include.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def allowed_edges():
    """Folder → folders that it may include, from the table's rows `| level | `src/x/` | one line | a, b |`."""
    edges = {}
    for line in (ROOT / "docs/architecture.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 4 or not cells[1].startswith("`src/"):
            continue
        names = cells[3].replace("–", "")
        for folder in re.findall(r"src/([a-z_/]+?)/?`", cells[1]):
            edges[folder] = {name.strip() for name in names.split(",") if name.strip()}
    return edges


def folder_of(path, edges):
    """The longest folder of the table that holds `path` ("connector/file/x.h" → "connector/file")."""
    parts = pathlib.PurePosixPath(path).parts[:-1]
    for length in range(len(parts), 0, -1):
        if "/".join(parts[:length]) in edges:
            return "/".join(parts[:length])
    return None


def sources():
    return [file for file in sorted(SOURCE.rglob("*")) if file.suffix in (".h", ".cc")]


def test_files():
    """Names of the files that serve tests alone: testing/, what a CMakeLists.txt has under TESTS, headers that none but such files include."""
    names = {file.relative_to(SOURCE).as_posix(): file for file in sources()}
    tests = {name for name in names if name.startswith("testing/") or name.endswith("_benchmark.cc")}
    for lists in SOURCE.rglob("CMakeLists.txt"):
        for block in re.findall(r"\bTESTS((?:\s+[\w./-]+\.cc)+)", lists.read_text()):
            tests |= {(lists.parent / name).relative_to(SOURCE).as_posix() for name in block.split()}
    includers = {}
    for name, file in names.items():
        for included in INCLUDE.findall(file.read_text()):
            includers.setdefault(included, set()).add(name)
    # A header of the product may have no user yet but its test: only what itself needs testing/ is taken for a test's header.
    return tests | {name for name, users in includers.items() if users <= tests and name in names and '#include "testing/' in names[name].read_text()}


def wrong_includes(edges):
    tests = test_files()
    for file in sources():
        name = file.relative_to(SOURCE).as_posix()
        folder = folder_of(name, edges)
        if folder is None:
            yield f"src/{name}: this folder is not in the table of docs/architecture.md"
            continue
        is_test = name in tests
        for included in INCLUDE.findall(file.read_text()):
            target = folder_of(included, edges)
            if target is None:
                yield f"src/{name}: includes \"{included}\", which is no folder of the table; third-party headers go in <>"
            elif not is_test and target != folder and target != "base" and target not in edges[folder]:
                yield f"src/{name}: {folder}/ may not include {target}/ (\"{included}\")"
            elif target == "testing" and not is_test:
                yield f"src/{name}: only tests include testing/ (\"{included}\")"


def cycles(edges):
    """The table itself must go one way."""
    for folder in edges:
        reached, todo = set(), list(edges[folder])
        while todo:
            name = todo.pop()
            if name not in reached:
                reached.add(name)
                todo += edges.get(name, ())
        if folder in reached:
            yield f"docs/architecture.md: {folder}/ includes itself through other folders"


def dead_files():
    for file in sources():
        lists = file.parent / "CMakeLists.txt"
        listed = lists.exists() and re.search(rf"(?<![\w/.-]){re.escape(file.name)}(?![\w.-])", lists.read_text())
        # Headers inside a folder need no mention as long as somebody includes them.
        if not listed and file.suffix == ".h":
            name = file.relative_to(SOURCE).as_posix()
            listed = any(f'"{name}"' in other.read_text() for other in SOURCE.rglob("*.cc")) or any(
                f'"{name}"' in other.read_text() for other in SOURCE.rglob("*.h"))
        if not listed:
            yield f"src/{file.relative_to(SOURCE).as_posix()}: no target builds this file"


def main():
    edges = allowed_edges()
    if len(edges) < 10:
        sys.exit("docs/architecture.md: its folder table was not found")
    complaints = [*cycles(edges), *wrong_includes(edges), *dead_files()]
    for complaint in complaints:
        print(complaint)
    print(f"{len(edges)} folders, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
