#!/usr/bin/env python3
"""The rules of the tree that no compiler checks: `lint.py ROOT [RULE...]` prints each violation.

Each rule is a function of a Tree that yields (path, line, what). Without a RULE all are run. The
rules are in layers.py, layout.py, documents.py, english.py and pages.py.
"""

import sys

import documents
import english
import layers
import layout
import pages
from tree import Tree

RULES = {
    rule.__name__: rule
    for room in (layers, layout, documents, english, pages)
    for rule in room.RULES
}  # fmt: skip


def main(root, names):
    tree = Tree(root)
    counts = {}
    for name in names or RULES:
        for path, line, what in RULES[name](tree):
            print(f"{path}:{line}: {what} [{name}]")
            counts[name] = counts.get(name, 0) + 1
    for name, count in counts.items():
        print(f"{name}: {count}. {RULES[name].__doc__.splitlines()[0]}")
    if "blocks" in (names or RULES):
        print(pages.summary(tree))
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
