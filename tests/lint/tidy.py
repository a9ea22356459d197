#!/usr/bin/env python3
"""clang-tidy over core, storage, net and apps: `tidy.py BUILD`.

Most of its time goes to the headers of Boost, so it reads few large files: each includes all
sources of some rooms. For that reason no two sources of these rooms may use one name for different
things, even if each source keeps the name to itself.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The first row that matches the path of a source applies to it.
ROOMS = {
    "lab": r"core/lab/",
    "core": r"core/",
    "net": r"(net|storage)/",
    "c": r"apps/c/",
    "postgres": r"apps/postgres/(?!lab/)",
    "commands": r"apps/(lab|muster|journals|draw|election|command_line|postgres/lab)/",
    "hosts": r"apps/",
}


def room_of(source):
    return next((room for room, path in ROOMS.items() if re.match(path, source)), None)


def rooms_of(build):
    """{room: (its sources, the flags that they need)}, from the compile commands of BUILD."""
    rooms = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        unit = Path(entry["file"])
        sources = [unit]
        if unit.name.startswith("unity_"):
            sources = [Path(p) for p in re.findall(r'#include "(.+)"', unit.read_text("utf-8"))]
        for source in sources:
            if not source.is_relative_to(ROOT) or source.is_relative_to(build):
                continue
            room = room_of(source.relative_to(ROOT).as_posix())
            if room is None:
                continue
            found, flags = rooms.setdefault(room, ([], []))
            found.append(source)
            for flag, value in zip(words, words[1:]):
                wanted = [flag, value] if flag == "-isystem" else [flag]
                if flag.startswith(("-I", "-D", "-isystem")) and wanted not in flags:
                    flags.append(wanted)
    return rooms


def tidy(build, room, sources, flags):
    """Whether clang-tidy finds nothing; prints what it finds."""
    lines = []
    for number, source in enumerate(sorted(set(sources))):
        lines += [f"#define main main_{number}", f'#include "{source}"', "#undef main"]
    file = build / "tidy" / f"{room}.cpp"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    names_of_c = ["--checks=-readability-identifier-naming"] if room == "c" else []
    ran = subprocess.run(
        ["clang-tidy-19", "--quiet", "--warnings-as-errors=*", f"--config-file={ROOT}/.clang-tidy",
         *names_of_c, file, "--", "-std=c++20", "-w", *(word for flag in flags for word in flag)],
        capture_output=True, text=True, check=False)  # fmt: skip
    if ran.returncode:
        print(ran.stdout, ran.stderr, sep="", end="")
    return ran.returncode == 0


def main(build):
    rooms = rooms_of(build)
    if rooms.keys() != ROOMS.keys():
        sys.exit(f"tidy: {build} compiles no source of {', '.join(ROOMS.keys() - rooms.keys())}")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        held = list(pool.map(lambda room: tidy(build, room, *rooms[room]), rooms))
    print(f"tidy: {sum(len(set(sources)) for sources, _ in rooms.values())} sources read")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
