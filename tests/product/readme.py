#!/usr/bin/env python3
"""The commands of README.md and the application of docs/tutorials/lamp.md, which it quotes.

`readme.py project DIRECTORY` writes the project of the application.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def blocks(language, page="README.md"):
    """The contents of the page's fenced blocks of that language."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def project():
    """The files of the application, by their names."""
    page = "docs/tutorials/lamp.md"
    [code], [cmake], [quoted] = blocks("cpp", page), blocks("cmake", page), blocks("cpp")
    if quoted not in code:
        sys.exit(f"README.md: its code is not in {page}")
    return {"lamp.cpp": code, "CMakeLists.txt": cmake}


if __name__ == "__main__":
    directory = Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in project().items():
        (directory / name).write_text(text, encoding="utf-8")
