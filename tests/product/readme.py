#!/usr/bin/env python3
"""The code and the commands of README.md; `readme.py project DIRECTORY` writes its project."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def blocks(language):
    """What stands in the fenced blocks of that language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def project():
    """The files of the application, by their names."""
    [code], [cmake] = blocks("cpp"), blocks("cmake")
    return {"lamp.cpp": code, "CMakeLists.txt": cmake}


def commands():
    """Every command of the shell blocks, without its comment."""
    lines = "".join(blocks("sh")).splitlines()
    return [line.split("#")[0].split() for line in lines if line.split("#")[0].strip()]


if __name__ == "__main__":
    directory = Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in project().items():
        (directory / name).write_text(text, encoding="utf-8")
