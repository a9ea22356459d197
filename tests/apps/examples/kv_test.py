#!/usr/bin/env python3
"""Example 3 on three real nodes: `kv_test.py KV`. Each of them is killed and comes back."""

import queue
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nodes import NODES, Nodes

AGAIN = 0.3  # seconds without an answer until the client repeats a line: the group may have changed
PATIENCE = 60


class Store(Nodes):
    """The three nodes, and a client that sends each line to all of them."""

    def __init__(self, program, directory):
        super().__init__(program, directory)
        self.acknowledged = {}
        self.number = 0

    def start(self, node):
        process = subprocess.Popen(
            [self.program, str(node), str(self.port)], cwd=self.directory,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.adopt(node, process)

    def say(self, line, answer):
        """Repeats a line until an answer matches. Returns the node that answered, and the match."""
        gives_up = time.monotonic() + PATIENCE
        pattern = re.compile(answer)
        while time.monotonic() < gives_up:
            for process in self.processes.values():
                try:
                    process.stdin.write(line + "\n")
                    process.stdin.flush()
                except BrokenPipeError:
                    pass
            until = time.monotonic() + AGAIN
            while (left := until - time.monotonic()) > 0:
                try:
                    node, process, said = self.lines.get(timeout=left)
                except queue.Empty:
                    break
                if said == "ended" and self.processes.get(node) is process:
                    sys.exit(f"node {node} has ended by itself, exit code {process.wait()}")
                if match := pattern.fullmatch(said):
                    return node, match
        sys.exit(f"nobody answers '{line}'")

    def write(self, key):
        """Writes until the write is acknowledged. Returns the number of copies, and the primary."""
        self.number += 1
        node, match = self.say(f"{key} = {self.number}", rf"{key} = {self.number} at (\d)")
        self.acknowledged[key] = self.number
        return int(match[1]), node

    def await_all(self):
        """Waits until all nodes are members."""
        while True:
            members, primary = self.write("all")
            if members == len(NODES):
                return primary

    def check(self):
        # By the time that this write is acknowledged, all earlier lines of the primary have been
        # read.
        _, primary = self.write("check")
        for key, value in list(self.acknowledged.items()):
            node = None
            while node != primary:
                node, match = self.say(f"{key} ?", rf"{key}: (\d*)")
            if not match[1] or int(match[1]) < value:
                sys.exit(f"{key} = {value} was acknowledged, and is '{match[1]}'")


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        store = Store(str(Path(program).resolve()), directory)
        try:
            for node in NODES:
                store.start(node)
            store.await_all()
            store.write("kept")
            store.kill(3)
            store.write("missed-by-3")
            store.kill(2)
            store.kill(1)
            store.start(3)
            store.start(2)
            store.check()
            store.kill(2)
            store.start(1)
            store.check()
            store.start(2)
            store.await_all()
            store.check()
            store.leave()
        finally:
            store.end()


if __name__ == "__main__":
    main(sys.argv[1])
