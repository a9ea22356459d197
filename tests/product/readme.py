#!/usr/bin/env python3
"""The code and the commands of README.md; `readme.py application FILE` writes the application."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def blocks(language):
    """What stands in the fenced blocks of that language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def application():
    [code] = blocks("cpp")
    return code


def commands():
    """Every command of the shell blocks, without its comment."""
    lines = "".join(blocks("sh")).splitlines()
    return [line.split("#")[0].split() for line in lines if line.split("#")[0].strip()]


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(application(), encoding="utf-8")
