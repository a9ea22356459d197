"""A rule about the commands of pages.

Each block of commands is on a page that a test runs, or its first line is `# not run here: WHY`.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "product"))

import blocks as runner  # noqa: E402

# Each call of page() in this file runs the pages that it names.
LIST = Path("tests/product/CMakeLists.txt")
LESSONS = "docs/tutorials/lessons/[0-9][0-9]-*.md"
# The pages that are run by another file, and that file.
OTHERS = {
    Path("README.md"): Path("tests/product/dev_test.py"),
    Path("apps/python/README.md"): Path("tests/product/wheel_test.py"),
}


def run_by(tree):
    """page: the file that runs it."""
    text = tree.text(LIST) if LIST in tree.files else ""
    found = {page: test for page, test in OTHERS.items() if test in tree.files}
    for call in re.findall(r"^ *page\(([^)]*)\)", text, re.M):
        found |= {Path(page): LIST for page in re.findall(r"[\w./-]+\.md\b", call)}
        if "${lesson}" in call:
            found |= {page: LIST for page in tree.files if page.match(LESSONS)}
    return found


def of_shell(tree):
    """(page, block) of every block of commands."""
    for path in tree.files:
        if path.suffix == ".md":
            for block in runner.blocks(tree.text(path)):
                if block.is_shell:
                    yield path, block


def blocks(tree):
    """Each block of commands is run by a test, or says why not."""
    runs = run_by(tree)
    for path, block in of_shell(tree):
        if not block.not_run and path not in runs:
            yield path, block.line, f"no test runs this block: add the page to {LIST}, " \
                "or begin the block with '# not run here: WHY'"
    for page, test in runs.items():
        if page not in tree.files:
            yield test, 1, f"{page} is not there"


def summary(tree):
    """How many blocks are not run."""
    every = [block for _, block in of_shell(tree)]
    skipped = sum(1 for block in every if block.not_run)
    return f"{skipped} of {len(every)} blocks of commands are not run"


RULES = (blocks,)
