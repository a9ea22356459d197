#!/usr/bin/env python3
"""Example 4 on three real nodes: `jobs_test.py JOBS`.

The coordinator is killed again and again, and each job is done exactly once.
"""

import re
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from nodes import NODES, Nodes

JOBS = 120
KILLED_AFTER = (15, 30, 45, 60, 75, 90)  # numbers of reported jobs


class Workers(Nodes):
    def start(self, node):
        # The queue is the third argument.
        process = subprocess.Popen(
            [self.program, str(node), str(self.port), "queue"],
            cwd=self.directory, stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.adopt(node, process)


def done_by(directory):
    """For each job in the queue, the node that did it."""
    queue = sqlite3.connect(Path(directory, "queue"))
    rows = queue.execute("SELECT CAST(key AS TEXT), CAST(value AS TEXT) FROM cells").fetchall()
    queue.close()
    return {key: value for key, value in rows if key.startswith("job/")}


def next_job(nodes):
    """The node of the next line, and the job that the line reports; None for other lines."""
    node, line = nodes.next_line()
    job = re.fullmatch(r"job (\d+) in group \d+", line)
    return node, int(job[1]) if job else None


def judge(told, kills, last, directory):
    """Checks that each job up to the last was done once."""
    twice = sorted(job for job, count in Counter(told).items() if count > 1)
    if twice:
        sys.exit(f"done twice: {twice}")
    # Each killed process may have done one job that it did not report.
    untold = set(range(1, last + 1)) - set(told)
    if len(untold) > kills:
        sys.exit(f"never told of: {sorted(untold)}")
    done = done_by(directory)
    not_done = [job for job in range(1, last + 1) if not done[f"job/{job}"].startswith("done by")]
    if not_done:
        sys.exit(f"not done: {not_done}")


def work(nodes):
    """The numbers of the reported jobs, in the order of their lines."""
    told = []
    kills = list(KILLED_AFTER)
    while not told or max(told) < JOBS:
        node, job = next_job(nodes)
        if job is None:
            continue
        told.append(job)
        if kills and len(told) >= kills[0] and node in nodes.processes:
            kills.pop(0)
            nodes.kill(node)  # this node is the coordinator, and only the coordinator does jobs
            nodes.start(node)
    return told


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        program = str(Path(program).resolve())
        subprocess.run([program, "fill", str(JOBS), "queue"], cwd=directory, check=True)
        nodes = Workers(program, directory)
        try:
            for node in NODES:
                nodes.start(node)
            told = work(nodes)
            nodes.leave()
        finally:
            nodes.end()
        judge(told, len(KILLED_AFTER), JOBS, directory)


if __name__ == "__main__":
    main(sys.argv[1])
