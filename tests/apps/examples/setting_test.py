#!/usr/bin/env python3
"""Example 8 on three real nodes: `setting_test.py 8-setting.py MUSTER`.

Node 3 misses a change and is the first to start again. The example keeps the change. The same
program, if it chooses by `last_assigned`, rolls the change back.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from cron_test import CONFIGURATION, OfPython
from nodes import NODES

BY_VERSION = 'newest = max(reports, key=lambda report: report["version"])'
BY_LAST_ASSIGNED = (
    'last = told["last_assigned"]; newest = next((json.loads(member["report"]) for member in'
    ' told["members"] if member["node"] == last), {"version": [0, 0], "value": ""})')


class Settings(OfPython):
    """Three nodes and their program, in one directory."""

    says_all = False
    configuration = (CONFIGURATION.replace(', "store"', "").replace("cron", "setting")
                     .replace('T = "1s"', 'T = "1s"\nhold_down = "0s"'))  # lives are short

    def want(self, node, value):
        Path(self.directory, f"wanted-{node}").write_text(value, encoding="utf-8")

    def await_line(self, pattern):
        while not re.fullmatch(pattern, self.next_line()[1]):
            pass

    def held(self, node):
        file = Path(self.directory, f"setting-{node}.json")
        return json.loads(file.read_text(encoding="utf-8"))["value"]

    def stop(self, node):
        process = self.processes.pop(node)
        process.terminate()
        if process.wait() != 0:
            sys.exit(f"node {node} has ended with {process.returncode}")

    def await_group(self, *members):
        """Waits until these nodes work as one group under the last of them."""
        command = [self.muster, "status", "--json", "--dir", f"setting-{members[-1]}"]
        said = {}
        while said.get("status") != "Normal" or {*said["up"], members[-1]} != {*members}:
            asked = subprocess.run(command, cwd=self.directory, check=False, capture_output=True,
                                   text=True)  # fmt: skip
            said = json.loads(asked.stdout) if asked.returncode in (0, 3) else {}


def world_12(nodes):
    """The setting that all nodes hold in the end."""
    for node in NODES:
        nodes.start(node)
    nodes.await_group(1, 2, 3)
    nodes.want(1, "v0")
    nodes.await_line("set: v0")
    nodes.stop(3)
    nodes.want(1, "v1")
    nodes.await_line("set: v1")
    nodes.stop(2)
    nodes.stop(1)
    nodes.start(3)
    nodes.await_group(3)
    nodes.want(3, "alone")  # node 3 alone is no majority, so this has no effect
    if nodes.held(3) != "v0":
        sys.exit(f"node 3, alone, holds {nodes.held(3)}")
    Path(nodes.directory, "wanted-3").unlink()
    nodes.start(1)
    nodes.start(2)
    nodes.await_group(1, 2, 3)
    while len(held := {nodes.held(node) for node in NODES}) != 1:
        pass
    nodes.leave()
    return held.pop()


def main(program, muster):
    text = Path(program).read_text(encoding="utf-8")
    for source, expected in ((text, "v1"), (text.replace(BY_VERSION, BY_LAST_ASSIGNED), "v0")):
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory, "8-setting.py")
            copy.write_text(source, encoding="utf-8")
            copy.chmod(0o755)
            nodes = Settings(str(copy), directory)
            nodes.muster = str(Path(muster).resolve())
            try:
                held = world_12(nodes)
            finally:
                nodes.end()
            if held != expected:
                sys.exit(f"all hold {held} in the end, and not {expected}")


if __name__ == "__main__":
    main(*sys.argv[1:])
