#!/usr/bin/env python3
"""The rules of the house, checked with every build. Prints each breach as file:line: what, and exits 1 if there is any.

Arrows of ARCHITECTURE.md, sizes, leftover markers, dead files, paths of machines, white space."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = {".h", ".cc"}
TEXT = CODE | {".sql", ".py", ".cmake", ".txt", ".md", ".sh", ".toml", ".json"}

LINE_MAX = {".h": 100, ".cc": 100, ".sql": 120, ".py": 120, ".cmake": 120, ".txt": 120}
FILE_MAX = 500
PUBLIC_HEADER_MAX = 250
FUNCTION_MAX = 70

# Which rooms a room may include from, besides itself. cli may include everything.
ARROWS = {
    "include/outrider": ["outrider/"],
    "src/core": ["core/", "outrider/"],
    "src/relay": ["relay/", "core/", "outrider/"],
    "src/config": ["config/", "core/", "outrider/"],
    "src/admin": ["admin/", "core/", "outrider/"],
    "src/testing": ["relay/", "core/", "outrider/"],
}
DRIVER_ARROWS = ["core/", "outrider/"]

# A room that is a second layout of another's database, and builds on its connection.
BUILDS_ON = {"src/stores/table": ["stores/postgres/"]}

# Foreign headers: who may include them, and in how many files, where the header is slow to compile.
FOREIGN = {
    "CLI/": ("src/cli", 1),
    "toml++/": ("src/config", 1),
    "spdlog/": ("src/cli", 1),
    "nlohmann/": ("src", 8),
    "sqlite3.h": ("src/stores/sqlite", 99),
}

MARKERS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")
MACHINE_PATH = re.compile(r"(?<![\w.-])/(work|farm|root|home)/")
DEAD_CODE = re.compile(r"^\s*// ?([\w:<>*&.\->]+(\(.*\)| =.*);|(if|for|while|return)\b.*[;{])$")
FUNCTION = re.compile(r"^( {0,4})[A-Za-z_\[].*\)[^;]*\{$|^( {0,4})\) .*\{$")


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = listed.stdout.split("\n") if listed.returncode == 0 else []
    if not any(names):  # a source package without git
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file()]
    return [name for name in names if name and (ROOT / name).is_file() and not name.startswith("build/")]


def room_of(name):
    parts = name.split("/")
    if parts[0] == "src" and len(parts) > 3 and parts[1] in ("stores", "brokers"):
        return "/".join(parts[:3])
    return "/".join(parts[:2])


def allowed_includes(room):
    if room.startswith(("src/stores/", "src/brokers/")):
        shared = ["stores/shared/"] if room.startswith("src/stores/") else ["brokers/wire/"]
        return DRIVER_ARROWS + shared + BUILDS_ON.get(room, []) + [room.removeprefix("src/") + "/"]
    return ARROWS.get(room)


def check_includes(name, lines):
    room = room_of(name)
    allowed = allowed_includes(room)
    for number, line in enumerate(lines, 1):
        quoted = re.match(r'#include "([^"]+)"', line)
        if quoted and allowed is not None and not quoted.group(1).startswith(tuple(allowed)):
            yield number, f"{room} must not include {quoted.group(1)} (see ARCHITECTURE.md)"
        angled = re.match(r"#include <([^>]+)>", line)
        for prefix, (home, _) in FOREIGN.items():
            if angled and angled.group(1).startswith(prefix) and name.startswith("src/"):
                if not name.startswith(home):
                    yield number, f"{prefix} belongs in {home} only"


def check_functions(lines):
    start = None
    for number, line in enumerate(lines, 1):
        match = FUNCTION.match(line)
        if match and start is None and not line.lstrip().startswith(("if", "for", "while", "switch", "namespace")):
            start, indent = number, len(match.group(1) or match.group(2) or "")
        if start is not None and re.match(rf"^ {{{indent}}}\}}", line):
            if number - start > FUNCTION_MAX:
                yield start, f"a function of {number - start} lines, the wall is {FUNCTION_MAX}"
            start = None


def check_text(name, lines):
    limit = None if name.endswith("expected.txt") else LINE_MAX.get(pathlib.PurePath(name).suffix)
    for number, line in enumerate(lines, 1):
        if limit and len(line) > limit:
            yield number, f"{len(line)} columns, the wall is {limit}"
        if line != line.rstrip():
            yield number, "trailing white space"
        if MARKERS.search(line) and name != "tools/house.py":
            yield number, "a leftover marker without an issue number"
        if MACHINE_PATH.search(line) and name != "tools/house.py":
            yield number, "a path of some machine"
    if name.endswith(tuple(CODE)):
        wall = PUBLIC_HEADER_MAX if name.startswith("include/") else FILE_MAX
        if len(lines) > wall:
            yield 1, f"a file of {len(lines)} lines, the wall is {wall}"
        for number, line in enumerate(lines, 1):
            if DEAD_CODE.match(line):
                yield number, "code in a comment"


def check_registered(names):
    build_files = "".join((ROOT / n).read_text() for n in names if n.endswith(("CMakeLists.txt", ".cmake")))
    for name in names:
        file = pathlib.PurePath(name).name
        if name.startswith(("src/", "tests/", "examples/", "bench/")) and name.endswith(".cc"):
            if not re.search(rf"\b{re.escape(file)}\b", build_files) and f"{file[:-3]}\n" not in build_files:
                yield name, 1, "no target names this file"
        if re.match(r"tests/.*_test\.py$", name) and file[:-3] not in build_files:
            yield name, 1, "no test names this file"


def check_heavy(names):
    for prefix, (home, most) in FOREIGN.items():
        users = [n for n in names if n.startswith("src/") and f"#include <{prefix}" in (ROOT / n).read_text()]
        if len(users) > most:
            yield users[-1], 1, f"{prefix} is included in {len(users)} files, at most {most}: {', '.join(users)}"


def breaches():
    names = [name for name in tracked() if pathlib.PurePath(name).suffix in TEXT]
    for name in names:
        text = (ROOT / name).read_text(encoding="utf-8")
        if text and not text.endswith("\n"):
            yield name, text.count("\n") + 1, "no newline at the end"
        lines = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
        for number, what in check_text(name, lines):
            yield name, number, what
        if name.endswith(tuple(CODE)):
            for number, what in list(check_includes(name, lines)) + list(check_functions(lines)):
                yield name, number, what
    code = [name for name in names if name.endswith((".h", ".cc", ".txt", ".cmake", ".py"))]
    yield from check_registered(code)
    yield from check_heavy([name for name in code if name.endswith(tuple(CODE))])


def main():
    found = list(breaches())
    for name, number, what in found:
        print(f"{name}:{number}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
