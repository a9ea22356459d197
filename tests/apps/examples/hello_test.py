#!/usr/bin/env python3
"""Example 1 on three real nodes: `hello_test.py HELLO`. One is killed and comes back."""

import re
import sys
import tempfile
from pathlib import Path

from nodes import NODES, Nodes


def await_greeting(nodes, members, after):
    """Waits until all nodes greet each other in a group later than `after`, and returns it."""
    said = {}
    while True:
        node, line = nodes.next_line()
        if greeting := re.fullmatch(r"hello,((?: \d)+) in group (\d+)", line):
            said[node] = ([int(name) for name in greeting[1].split()], int(greeting[2]))
        elif line != "ended":
            sys.exit(f"node {node} was not to say '{line}'")
        greetings = [said.get(member) for member in members]
        if greetings[0] and greetings.count(greetings[0]) == len(greetings):
            names, group = greetings[0]
            if names == list(members) and group > after:
                return group


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        nodes = Nodes(str(Path(program).resolve()), directory)
        try:
            for node in NODES:
                nodes.start(node)
            formed = await_greeting(nodes, (1, 2, 3), after=0)
            nodes.kill(3)
            survived = await_greeting(nodes, (1, 2), after=formed)
            nodes.start(3)
            await_greeting(nodes, (1, 2, 3), after=survived)
            nodes.leave()
        finally:
            nodes.end()


if __name__ == "__main__":
    main(sys.argv[1])
