#!/usr/bin/env python3
"""The example of docs/lab.md, the library installed: `lab_example_test.py MUSTER`; with
`lab_example_test.py files DIRECTORY` its files are written there."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lessons"))

import run  # noqa: E402

HEADING = "## An application of your own\n"


def section():
    """From that heading to the next one."""
    text = (ROOT / "docs/lab.md").read_text(encoding="utf-8")
    return text.split(HEADING)[1].split("\n## ")[0]


def main(muster):
    run.PATIENCE = 800  # seconds: it compiles, perhaps with sanitizers on a busy machine
    found = list(run.faults(section(), muster))
    for fault in found:
        print(f"docs/lab.md: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1] != "files":
        sys.exit(main(sys.argv[1]))
    Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
    for name, content in run.files(section()).items():
        (Path(sys.argv[2]) / name).write_text(content, encoding="utf-8")
