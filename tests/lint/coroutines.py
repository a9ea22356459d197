#!/usr/bin/env python3
"""Finds expressions with co_await that g++ 12 miscompiles: `coroutines.py BUILD`, made by clang.

It must find exactly the expressions of samples/coroutines.cpp that are marked `bad`, and none in
net, apps and tests. clang-query reads one file at a time, so one runs on each processor.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
QUERY = HERE / "gcc12-coroutines.query"
SAMPLES = HERE / "samples/coroutines.cpp"
ROOMS = ("net", "apps", "tests")


def query(file, *compilation):
    """The `path:line` of every expression found in `file`."""
    ran = subprocess.run(["clang-query-19", "-f", str(QUERY), str(file), *compilation],
                         capture_output=True, text=True, check=False)  # fmt: skip
    if ran.returncode or "error:" in ran.stdout + ran.stderr:
        sys.exit(f"clang-query-19 does not compile {file}:\n{ran.stdout}{ran.stderr}")
    return set(re.findall(r'^([^\s:]+:\d+):\d+: note: "root" binds here', ran.stdout, re.M))


def check_samples():
    lines = SAMPLES.read_text(encoding="utf-8").splitlines()
    expected = {f"{SAMPLES}:{n}" for n, line in enumerate(lines, 1) if line.endswith("// bad")}
    found = query(SAMPLES, "--", "-std=c++20")
    for where in sorted(expected - found):
        print(f"{where}: is bad and was not found")
    for where in sorted(found - expected):
        print(f"{where}: was found and is not bad")
    return found == expected


def to_compile(build):
    """The sources that contain a coroutine, or include a header that does."""
    database = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    files = sorted({Path(entry["file"]) for entry in database})
    ours = [f for f in files if any(f.is_relative_to(ROOT / room) for room in ROOMS)]
    headers = [h for room in ROOMS for h in (ROOT / room).rglob("*.hpp")]
    coroutine_headers = {h.name for h in headers if "co_await" in h.read_text(encoding="utf-8")}
    for file in ours:
        text = file.read_text(encoding="utf-8")
        included = {Path(name).name for name in re.findall(r'#include [<"]([^">]+)', text)}
        if "co_await" in text or included & coroutine_headers:
            coroutine_headers -= included  # once is enough
            yield file
    if coroutine_headers:
        sys.exit(f"included by no source, so not read: {', '.join(sorted(coroutine_headers))}")


def main(build):
    held = check_samples()
    files = list(to_compile(build))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = set().union(*pool.map(lambda file: query(file, "-p", str(build)), files))
    for where in sorted(found):
        print(f"{where}: g++ 12 miscompiles this co_await; give its temporary a name first")
    print(f"coroutines: {len(files)} sources read, {len(found)} found")
    return 0 if held and not found else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
