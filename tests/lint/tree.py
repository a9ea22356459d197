"""The files that the rules read. Each file is read once, however many rules there are."""

import re
import subprocess
from pathlib import Path

CPP = (".hpp", ".cpp")
CODE = (*CPP, ".py", ".sh")
TEXT = (*CODE, ".md", ".txt", ".cmake", ".in", ".json", ".toml")


def is_in(path, rooms):
    """Is the file in one of these directories? A file name stands for itself."""
    name = str(path)
    return any(name == room or name.startswith(f"{room}/") for room in rooms)


def code_of(line):
    """A line of C++ without its comment."""
    return line.split("//", 1)[0]


def included(line, opening='<"'):
    """The header that a line of C++ includes, or None."""
    include = re.match(rf'\s*#\s*include\s*[{opening}]([^>"]+)', line) if "#" in line else None
    return include and include[1]


class Tree:
    """The files of the project: those that git tracks or would add. Without git, all files."""

    def __init__(self, root):
        self.root = Path(root)
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=False)  # fmt: skip
        if listed.returncode == 0 and (self.root / ".git").exists():
            names = listed.stdout.decode().split("\0")
        else:
            names = [str(p.relative_to(root)) for p in self.root.rglob("*")]
        paths = (Path(n) for n in sorted(names) if n and not n.startswith((".git/", "build/")))
        self.files = [p for p in paths if (self.root / p).is_file()]
        self._texts = {}
        self._lines = {}

    def text(self, path):
        if path not in self._texts:
            self._texts[path] = (self.root / path).read_text(encoding="utf-8")
        return self._texts[path]

    def lines_of(self, path):
        if path not in self._lines:
            self._lines[path] = self.text(path).splitlines()
        return self._lines[path]

    def paths(self, *suffixes, within=(), without=()):
        """The files with one of these suffixes. Scripts include `dev` and .ci."""
        for path in self.files:
            script = (path.name == "dev" or path.parent.name == ".ci") and ".sh" in suffixes
            if path.suffix in suffixes or script:
                if (not within or is_in(path, within)) and not is_in(path, without):
                    yield path

    def lines(self, *suffixes, within=(), without=()):
        """(path, number, line) of each line of these files."""
        for path in self.paths(*suffixes, within=within, without=without):
            for number, line in enumerate(self.lines_of(path), 1):
                yield path, number, line
