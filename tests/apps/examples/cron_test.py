#!/usr/bin/env python3
"""Examples 5 and 7 on three real nodes: `cron_test.py CRON` and `cron_test.py 7-cron.py MUSTER`.

One node is killed again and again. Each job runs exactly once at each of its due times.
"""

import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from nodes import NODES, Nodes

EVERY = {"backup": 50, "mail": 70, "report": 110}  # milliseconds, as in the examples
KILLED_AFTER = (15, 30, 45, 60, 75, 90)  # numbers of reported runs
RUNS = 120

CONFIGURATION = """
[node]
id = {node}
data = "cron-{node}"
[cluster]
name = "cron"
T = "1s"
coordinator_timeout = "2s"
[cluster.nodes]
1 = "127.0.0.1:{first}"
2 = "127.0.0.1:{second}"
3 = "127.0.0.1:{third}"
[application]
kind = "socket"
program = ["{program}", "store"]
"""


class OfCpp(Nodes):
    def start(self, node):
        self.launch(node, [self.program, str(node), str(self.port), "store"])

    def launch(self, node, command):
        process = subprocess.Popen(command, cwd=self.directory, stdout=subprocess.PIPE, text=True)
        self.adopt(node, process)

    def ran(self):
        """Job and due time of each run in the store."""
        rows = self.rows("SELECT CAST(key AS TEXT) FROM cells")
        return [tuple(key.split("/")[1:]) for [key] in rows if key.startswith("ran/")]

    def rows(self, query):
        store = sqlite3.connect(Path(self.directory, "store"))
        rows = store.execute(query).fetchall()
        store.close()
        return rows


class OfPython(OfCpp):
    muster = None
    configuration = CONFIGURATION

    def start(self, node):
        file = Path(self.directory, f"n{node}.toml")
        ports = [self.port + other for other in NODES]
        file.write_text(self.configuration.format(
            node=node, first=ports[0], second=ports[1], third=ports[2], program=self.program),
            encoding="utf-8")  # fmt: skip
        self.launch(node, [self.muster, "node", "--config", str(file)])

    def ran(self):
        return self.rows("SELECT job, due FROM ran")


def work(nodes):
    """The reported runs. The node that reported the last run is killed now and then."""
    told = []
    kills = list(KILLED_AFTER)
    while len(told) < RUNS:
        node, line = nodes.next_line()
        if run := re.fullmatch(r"(\w+) of (\d+)", line):
            told.append((run[1], int(run[2])))
        if kills and len(told) >= kills[0] and node in nodes.processes and line != "ended":
            kills.pop(0)
            nodes.kill(node)
            nodes.start(node)
    return told


def main(program, muster=None):
    with tempfile.TemporaryDirectory() as directory:
        nodes = (OfPython if muster else OfCpp)(str(Path(program).resolve()), directory)
        nodes.muster = muster
        try:
            for node in NODES:
                nodes.start(node)
            told = work(nodes)
            nodes.leave()
        finally:
            nodes.end()
        twice = sorted({run for run in told if told.count(run) > 1})
        if twice:
            sys.exit(f"run twice: {twice}")
        ran = {(job, int(due)) for job, due in nodes.ran()}
        if not ran.issuperset(told):
            sys.exit(f"told of and not run: {sorted(set(told) - ran)}")
        for job, every in EVERY.items():
            due = sorted(due for name, due in ran if name == job)
            left_out = set(range(due[0], due[-1], every)) - set(due)
            if left_out or len(due) < 3 or any((time - due[0]) % every for time in due):
                sys.exit(f"{job} was run at {due}, and not at {sorted(left_out)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
