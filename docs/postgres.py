#!/usr/bin/env python3
"""`./dev picture`: docs/postgres.svg anew, from three real nodes and their PostgreSQL.

`postgres.py MUSTER` follows docs/how-to/postgres/one-machine.md, with journals on, kills all that
runs of the primary, and draws what came of it.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from failover import DOCS, draw

IDS = (1, 2, 3)
PATIENCE = 60  # seconds


class Nodes:
    def __init__(self, muster, directory):
        self.muster, self.directory = muster, directory
        self.user = ["--user", "postgres"] if os.geteuid() == 0 else []
        self.running = {}
        page = (DOCS / "how-to/postgres/one-machine.md").read_text(encoding="utf-8")
        one = re.search(r"^```toml\n(.*?)^```$", page, re.M | re.S)[1]
        for node in IDS:
            text = one.replace("id = 1", f"id = {node}")
            text = text.replace('"n1"', f'"n{node}"').replace('"pg1"', f'"pg{node}"')
            (directory / f"pg{node}.toml").write_text(
                text + f'[journal]\nfile = "n{node}/journal.jsonl"\n', encoding="utf-8")

    def command(self, word, node):
        return [self.muster, "postgres", word, "--config", f"pg{node}.toml", *self.user]

    def once(self, word, node):
        subprocess.run(self.command(word, node), cwd=self.directory, check=True)

    def run(self, node):
        with open(self.directory / f"{node}.log", "wb") as log:
            self.running[node] = subprocess.Popen(self.command("run", node), cwd=self.directory,
                                                  stdout=log, stderr=log)

    def roles(self, node):
        """Those that it has, and whose group it is in."""
        ran = subprocess.run([self.muster, "status", "--json", "--dir", f"n{node}"], text=True,
                             cwd=self.directory, capture_output=True, check=False)
        status = json.loads(ran.stdout) if ran.returncode == 0 else {"shown": {"roles": []}}
        return [role for role, has in status["shown"]["roles"] if has]

    def await_one_primary(self):
        """All that run show a role, and one that it is the primary: that one."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            roles = {node: self.roles(node) for node in self.running}
            if sorted(roles.values()) == [["primary"]] + [["replica"]] * (len(roles) - 1):
                return next(node for node, has in roles.items() if has == ["primary"])
            time.sleep(0.05)
        sys.exit(f"postgres.py: no primary, or not all follow it, after {PATIENCE} s: {roles}")

    def kill(self, node):
        """All that runs of it, at once; the time is its last moment."""
        process = self.running.pop(node)
        pids = [process.pid]
        for pid in pids:  # which grows meanwhile
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                pids += map(int, task.read_text(encoding="utf-8").split())
        moment = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        process.wait()
        return moment


def main():
    directory = Path(tempfile.mkdtemp(prefix="muster-picture-"))
    directory.chmod(0o755)  # as root, another user owns the databases and enters here
    nodes = Nodes(Path(sys.argv[1]).resolve(), directory)
    try:
        nodes.once("create", 1)
        nodes.run(1)
        for node in IDS[1:]:
            nodes.once("join", node)
        for node in IDS[1:]:
            nodes.run(node)
        primary = nodes.await_one_primary()
        fault = {"t_ns": nodes.kill(primary), "fault": "killed", "node": primary}
        (directory / "faults.jsonl").write_text(json.dumps(fault) + "\n", encoding="utf-8")
        nodes.await_one_primary()
    finally:
        for node in list(nodes.running):
            nodes.kill(node)
    draw(nodes.muster, [*sorted(directory.glob("n*/journal.jsonl")), directory / "faults.jsonl"],
         DOCS / "postgres.svg")  # fmt: skip
    shutil.rmtree(directory)


if __name__ == "__main__":
    main()
