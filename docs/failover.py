#!/usr/bin/env python3
"""`./dev picture`: README's picture of a fail-over and its lines, anew, from five real nodes.

`failover.py MUSTER` plays docs/failover.script in build/failover, draws what came of the kill to
docs/failover.svg, and puts what one sees into README.md.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
README = DOCS.parent / "README.md"
RUN = "build/failover"
AROUND = 1_000_000  # time shown before the kill and after the recovery, in ns


def play(muster):
    """The last ten lines of what `muster demo` prints, to the end of the fail-over."""
    shutil.rmtree(DOCS.parent / RUN, ignore_errors=True)
    ran = subprocess.run([muster, "demo", "--script", "docs/failover.script", "--dir", RUN],
                         cwd=DOCS.parent, text=True, capture_output=True, check=True)  # fmt: skip
    lines = ran.stdout.splitlines()
    killed = next(n for n, line in enumerate(lines) if "kill -9" in line)
    normal = next(n for n, line in enumerate(lines) if n > killed and "Normal" in line)
    return lines[: normal + 1][-10:]


def read(files):
    """The lines of journals, in the order of their times."""
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return sorted(lines, key=lambda line: line["t_ns"])


def draw(muster, files, picture):
    """From the kill until all work again."""
    lines = read(files)
    begun = lines[0]["t_ns"]
    killed = next(line["t_ns"] for line in lines if line.get("fault") == "killed")
    started = [line["t_ns"] for line in lines
               if line.get("hook") == "start" and line["edge"] == "end"]  # fmt: skip
    window = [f"{(t - begun) // 1000}us" for t in (killed - AROUND, started[-1] + AROUND)]
    subprocess.run([muster, "draw", *files, "--from", window[0], "--until", window[1],
                    "-o", picture], check=True)  # fmt: skip


def main():
    muster = Path(sys.argv[1]).resolve()
    seen = "\n".join(play(muster))
    directory = DOCS.parent / RUN
    draw(muster, [*sorted(directory.glob("n*/journal.jsonl")), directory / "faults.jsonl"],
         DOCS / "failover.svg")  # fmt: skip
    text = README.read_text(encoding="utf-8")
    block = re.compile(r"(?<=\n```text\n).*?(?=```\n)", re.S)
    text, times = block.subn(lambda _: seen + "\n", text, count=1)
    if times != 1:
        sys.exit("README.md: there is no block of text to put the lines in")
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
