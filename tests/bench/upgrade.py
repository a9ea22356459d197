#!/usr/bin/env python3
"""Upgrades from older commits to this build, node by node: `upgrade.py MUSTER [COMMIT...]`.

It runs three real nodes of each older commit, built in build/upgrade. Instead of a commit, the path
of an older command may be given. One node after the other leaves in order and comes back on its
store as this build, the coordinator last. Then one node goes back to the older version. For each
step it prints the time in which no two nodes were Normal in one group, and the numbers of elections
and of new groups.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/apps/watching"))
from nodes import free_ports  # noqa: E402

# The first commit whose frames and cluster text this build understands.
OLDEST = "442a07c"
# The last commit of wire version 2. In that version nodes do not name a group when they ask a
# coordinator.
LAST_OF_WIRE_2 = "3ac5b97"
NODES = (1, 2, 3)


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                          **more)  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def demand(*words, **more):
    code, said = run(*words, **more)
    if code != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit code {code}\n{said[-3000:]}")
    return said.strip()


def built(commit, *more):
    """The command of that commit, with `more` targets built beside it. Its source is a separate
    copy, so git knows of no other work tree."""
    if Path(commit).is_file():
        return commit, Path(commit).resolve()
    name = demand("git", "-C", ROOT, "rev-parse", "--short", "--verify", commit + "^{commit}")
    source = ROOT / "build/upgrade" / name
    if not source.is_dir():
        source.mkdir(parents=True)
        archive = subprocess.run(["git", "-C", ROOT, "archive", name], capture_output=True,
                                 check=True)  # fmt: skip
        subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
    print(f"building {name} in {source}", flush=True)
    demand("cmake", "--preset", "release", "--log-level=WARNING", cwd=source)
    demand("cmake", "--build", "build/release", "--target", "muster", *more, "-j", os.cpu_count(),
           cwd=source)  # fmt: skip
    return name, source / "build/release/bin/muster"


class Cluster:
    def __init__(self, directory, older, newer):
        self.directory, self.older, self.newer = directory, older, newer
        self.running = {}
        self.faults = directory / "faults.jsonl"
        ports = zip(NODES, free_ports(len(NODES)))
        addresses = "".join(f'{node} = "127.0.0.1:{port}"\n' for node, port in ports)
        for node in NODES:
            self.config(node).write_text(
                f'[node]\nid = {node}\ndata = "n{node}"\n[cluster]\nname = "upgrade"\n'
                f'[cluster.nodes]\n{addresses}[journal]\nfile = "n{node}.jsonl"\n',
                encoding="utf-8")  # fmt: skip

    def config(self, node):
        return self.directory / f"n{node}.toml"

    def log(self, node):
        return self.directory / f"n{node}.log"

    def start(self, node, muster):
        with self.log(node).open("w", encoding="utf-8") as log:
            command = [muster, "node", "--config", self.config(node)]
            self.running[node] = subprocess.Popen(command, stdout=log, stderr=log)

    def leave(self, node):
        with self.faults.open("a", encoding="utf-8") as faults:
            fault = {"t_ns": time.monotonic_ns(), "fault": "terminated", "node": node}
            faults.write(json.dumps(fault) + "\n")
        process = self.running.pop(node)
        process.send_signal(signal.SIGTERM)
        if code := process.wait():
            sys.exit(f"node {node} ended with {code}:\n{self.log(node).read_text()}")

    def members(self, muster):
        return run(muster, "members", "--config", self.config(1))

    def settle(self):
        """Waits until all running nodes are Normal in one group, or one has ended. Returns which
        one."""
        while True:
            for node, process in self.running.items():
                if process.poll() is not None:
                    del self.running[node]
                    return node
            _, said = run(self.newer, "members", "--json", "--config", self.config(1))
            lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
            normal = [line for line in lines if line.get("status") == "Normal"]
            together = {tuple(line["group"]) for line in normal}
            if len(normal) == len(self.running) and len(together) == 1:
                return None

    def states(self):
        """(t_ns, node, status, group, begins an election) of all steps, in their order."""
        found = []
        for node in NODES:
            electing = False
            for line in (self.directory / f"n{node}.jsonl").read_text().splitlines():
                one = json.loads(line)
                state = one.get("state")
                if "ended" in one:
                    found.append((one["t_ns"], node, "Down", None, False))
                elif "event" in one and state:
                    elects = state["status"] == "Election" and state["halted_by"] == node
                    group = tuple(state["group"]) if state["group"] else None
                    found.append((one["t_ns"], node, state["status"], group,
                                  elects and not electing))  # fmt: skip
                    electing = elects
        return sorted(found, key=lambda step: step[0])


def told(states, begin, end):
    """For that time: how long no two nodes were Normal in one group, elections, groups."""
    now, without, elections, last = {}, 0, 0, begin
    before, groups = set(), set()
    for t_ns, node, status, group, elects in [*states, (end + 1, 0, "", None, False)]:
        normal = [of for state, of in now.values() if state == "Normal"]
        if len(normal) == len(set(normal)):
            without += max(0, min(t_ns, end) - max(last, begin))
        if t_ns > end:
            break
        last = t_ns
        now[node] = (status, group)
        if status == "Normal":
            (before if t_ns <= begin else groups).add(group)
        elections += elects and t_ns > begin
    return f"{without / 1e6:8.1f} ms {elections:10} {len(groups - before):7}"


def upgrade(newer, commit):
    name, older = built(commit)
    rows = []
    with tempfile.TemporaryDirectory(prefix="muster-upgrade-") as directory:
        cluster = Cluster(Path(directory), older, newer)

        def step(what, node, muster):
            began = time.monotonic_ns()
            if node in cluster.running:
                cluster.leave(node)
                cluster.settle()
            for each in [node] if node else NODES:
                cluster.start(each, muster)
            ended = cluster.settle()
            last = cluster.log(ended).read_text().splitlines()[-1] if ended else ""
            codes = [cluster.members(of)[0] for of in (newer, older)]
            rows.append((what, began, time.monotonic_ns(), codes, last))

        try:
            step(f"three nodes of {name} begin", None, older)
            for node in NODES:
                step(f"node {node} becomes this build", node, newer)
            step(f"node 1 goes back to {name}", 1, older)
            step("node 1 becomes this build again", 1, newer)
            for node in list(cluster.running):
                cluster.leave(node)
        finally:
            for process in cluster.running.values():
                process.kill()
                process.wait()
        states = cluster.states()
        print(f"{'':36}  no group   elections  groups  members, newer and older: exit codes")
        for what, began, ended, codes, last in rows:
            print(f"{what:34} {told(states, began, ended)}  {codes[0]} {codes[1]}")
            if last:
                print("  " + re.sub(r"^\S+ ", "", last))
        code, said = run(newer, "verify", cluster.faults, *Path(directory).glob("n*.jsonl"))
        print(said.strip())
    return code


def main():
    newer = Path(sys.argv[1]).resolve()
    codes = [upgrade(newer, commit) for commit in sys.argv[2:] or [OLDEST, LAST_OF_WIRE_2]]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
