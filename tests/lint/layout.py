"""Rules about files: their lengths, their places, and what must not be left in them."""

import re
from pathlib import Path

from tree import CODE, CPP, TEXT

TOP_LEVEL = {
    "core", "storage", "net", "apps", "tests", "docs", "CMakeLists.txt", "CMakePresets.json",
    "README.md", "LICENSE", "CONTRIBUTING.md", "CHANGELOG.md", "dev", ".ci", ".clang-format",
    ".clang-tidy", ".gitignore", ".gitattributes", ".editorconfig",
}  # fmt: skip
SLEEP = re.compile(
    r"sleep_for|sleep_until|\busleep\(|\bnanosleep\(|time\.sleep|(?<![a-z_])sleep [0-9]"
)
MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NOLINT")
COLUMNS = 100
LINES = 450
PAGE_LINES = 300
PAGE_LIMITS = {Path("README.md"): 150}
# Pages that a program writes from a table in code, so they are as long as that table.
GENERATED = {
    Path("docs/reference") / name
    for name in ("command-line.md", "configuration.md", "events.md", "exit-codes.md", "metrics.md",
                 "status.md")
}  # fmt: skip
# A line may be long because of a link's target, which cannot be wrapped. The link's text can.
TARGET = re.compile(r"\]\([^)\s]*\)|<?https?://\S+|^\[[^\]]+\]: \S+")


def marks(tree):
    """No work is left over."""
    for path, number, line in tree.lines(*TEXT, without=["tests/lint"]):
        if found := MARKS.search(line):
            yield path, number, f"left-over {found[0]}"


def sleeps(tree):
    """A test waits for an event and never for a time. Benches of nodes let time pass."""
    apart = ("tests/lint", "tests/bench/nodes")
    for path, number, line in tree.lines(*CODE, within=["tests"], without=apart):
        if found := SLEEP.search(line):
            yield path, number, f"{found[0]} in a test"


def conditional_statements(tree):
    """A conditional operator is not used as a statement: write an if."""
    statement = re.compile(r"\s+(?!.*return\b)[A-Za-z_!][^=<?]* \? .* : .*;$")
    before = ""
    for path, number, line in tree.lines(*CPP):
        code = line.split("//", 1)[0].rstrip()
        plain, inner = (code, "") if " ? " in code else ("", "")
        while plain != inner:
            inner, plain = plain, re.sub(r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}", "", plain)
        if re.search(r"[;}:)]$|(?<!= ){$|\belse$", before) and statement.match(plain):
            yield path, number, "a conditional operator as a statement: write if and else"
        before = code or before


def columns(tree):
    """At most 100 columns. In pages, tables, code blocks and the targets of links may be wider."""
    for path, number, line in tree.lines(*CODE):
        if len(line) > COLUMNS:
            yield path, number, f"{len(line)} columns"
    for path in tree.paths(".md"):
        in_block = False
        for number, line in enumerate(tree.lines_of(path), 1):
            is_fence = line.lstrip().startswith("```")
            in_block = in_block != is_fence
            is_apart = in_block or is_fence or line.lstrip().startswith("|")
            if not is_apart and len(TARGET.sub("", line)) > COLUMNS:
                yield path, number, f"{len(line)} columns"


def lengths(tree):
    """Code has at most 450 lines in a file. A page has at most 300 lines, and the README 150."""
    for path in tree.paths(*CODE):
        if (number := len(tree.lines_of(path))) > LINES:
            yield path, number, f"{number} lines in one file"
    for path in tree.paths(".md"):
        number = len(tree.lines_of(path))
        if path not in GENERATED and number > PAGE_LIMITS.get(path, PAGE_LINES):
            yield path, number, f"{number} lines in one page"


def headers(tree):
    """Each header has its guard, and a public one is in its component's list."""
    for path in tree.paths(".hpp"):
        if "#pragma once" not in tree.text(path):
            yield path, 1, "no #pragma once"
        if "include" in path.parts[1:3]:
            room = Path(*path.parts[: path.parts.index("include")])
            if str(path.relative_to(room)) not in tree.text(room / "CMakeLists.txt"):
                yield path, 1, f"not in the FILE_SET of {room}/CMakeLists.txt"


def sorted_sources(tree):
    """The lists of sources in a CMakeLists.txt, one file a line, are sorted by path."""
    before = None
    for path, number, line in tree.lines(".txt"):
        file = re.match(r"\s+([\w/-]+\.[ch]pp)\)?$", line)
        here = (path, number - 1)
        if file and before and before[0] == here and file[1] < before[1]:
            yield path, number, f"{file[1]} stands behind {before[1]}"
        before = ((path, number), file[1]) if file else None


def built(tree):
    """Each source is in a CMakeLists.txt, since a source that is not built never fails."""
    lists = {p.parent: tree.text(p) for p in tree.files if p.name == "CMakeLists.txt"}
    for path in tree.paths(".cpp", without=["tests/lint"]):
        above = [lists[d] for d in path.parents if d in lists]
        if not any(path.stem in text for text in above) and not any(
            f"/{path.name}" in text for text in lists.values()
        ):
            yield path, 1, "in no CMakeLists.txt"


def top_level(tree):
    """The top level contains the components, and otherwise only files that a repository needs."""
    for name in sorted({p.parts[0] for p in tree.files} - TOP_LEVEL):
        yield Path(name), 1, "does not belong at the top level"


RULES = (marks, sleeps, conditional_statements, columns, lengths, headers, sorted_sources, built,
         top_level)  # fmt: skip
