#!/usr/bin/env python3
"""Example 2 on three real nodes: `shards_test.py SHARDS`.

The nodes are killed one after the other and come back. All nodes that are up work on the shards,
one node on each, and no record is written twice.
"""

import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from nodes import NODES, Nodes

SHARDS = set(range(12))
KILLED = (3, 1, 2, 3)


class Book:
    """The output of the nodes: for each group, the node that works on each shard."""

    def __init__(self, nodes):
        self.nodes = nodes
        self.records = set()
        self.workers = defaultdict(dict)

    def read(self):
        node, line = self.nodes.next_line()
        if line == "ended":
            return
        record = re.fullmatch(r"shard (\d+): (\d+) in group (\d+)\.(\d+)", line)
        if not record:
            sys.exit(f"node {node} was not to say '{line}'")
        shard, number, counter, coordinator = map(int, record.groups())
        group = counter, coordinator
        if (shard, group, number) in self.records:
            sys.exit(f"written twice: {line}")
        self.records.add((shard, group, number))
        if self.workers[group].setdefault(shard, node) != node:
            sys.exit(f"shard {shard} has two members in group {counter}.{coordinator}")

    def await_all_work(self, members):
        """Waits until these members work on all shards, each on as equal a share as possible."""
        group = max(self.workers, default=(0, 0))
        while set(self.workers[group].values()) != members or set(self.workers[group]) != SHARDS:
            self.read()
            group = max(self.workers)
        shares = [list(self.workers[group].values()).count(member) for member in members]
        if max(shares) - min(shares) > 1:
            sys.exit(f"dealt unevenly: {self.workers[group]}")


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        nodes = Nodes(str(Path(program).resolve()), directory)
        nodes.says_all = False
        book = Book(nodes)
        try:
            for node in NODES:
                nodes.start(node)
            book.await_all_work(set(NODES))
            for node in KILLED:
                nodes.kill(node)
                book.await_all_work(set(NODES) - {node})
                nodes.start(node)
                book.await_all_work(set(NODES))
            nodes.leave()
        finally:
            nodes.end()
        print(f"{len(book.records)} records in {len(book.workers)} groups")


if __name__ == "__main__":
    main(sys.argv[1])
