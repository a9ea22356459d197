#!/usr/bin/env python3
"""A large database on three machines: clones and rewinds that are interrupted at random.

./dev bench postgres_large [--gigabytes 5] [--cuts 20] [--seed 1]

The exit code is 1 if one of them does not end in a replica that has all data. Prints how long
each took, the largest memory of a node's process (VmHWM), and the largest disk space of a node
that was cloned.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import machines
import writers
from cluster import IDS, OnMachines
from machines import PROGRAMS
from run import Run, Wrong

NEEDED = {"postgresql-15": PROGRAMS / "postgres", **machines.NETWORKS, **writers.NEEDED}
FILL = 10  # percent of each page that is filled: a small value makes a large database of few rows
BYTES_OF_A_SCALE = 135e6  # size of pgbench's tables at scale 1 with FILL, in bytes
PATIENCE = 900  # s
COPIES = 3 + 2  # of the data: on 3 nodes, in a clone, and where the clone replaces older data


class Large(Run):
    def __init__(self, cluster, seed):
        super().__init__(cluster, seed, writers=1)
        self.took = {"clone": [], "rewind": []}
        self.space = []
        self.progress = 0

    def fill(self, gigabytes):
        """Fills the database. A machine at its limits may change the primary meanwhile, so this is
        tried again."""
        scale = max(1, round(gigabytes * 1e9 / BYTES_OF_A_SCALE))

        def filled():
            with subprocess.Popen([PROGRAMS / "pgbench", "-i", "-q", "-s", str(scale), "-F",
                                   str(FILL), self.cluster.connection(self.await_calm())]) as fill:
                self.until(lambda: fill.poll() is not None, "it ends", PATIENCE)
                return fill.returncode == 0
        self.until(filled, "it is filled", PATIENCE)
        return int(self.cluster.ask(self.await_calm(), "select pg_database_size('postgres')", 60))

    def doing(self, node):
        status = self.cluster.status(node)
        return status["shown"]["text"] if status else ""

    def how_far(self, node):
        """The size of the clone so far in bytes, by `muster postgres status`."""
        try:
            _, seen = self.cluster.seen(node)
        except ValueError:
            return 0
        return next((line.get("cloned") or 0 for line in seen["nodes"] if line["node"] == node), 0)

    def occupied(self, node):
        """The size of all files in the node's directory in bytes, while files come and go."""
        ran = subprocess.run(["du", "-s", "-B1", self.cluster.path / f"n{node}"],
                             capture_output=True, text=True, check=False)
        return int(ran.stdout.split()[0])

    # --- Interruptions: each returns a function that repairs everything

    def kill_it(self, node, _):
        self.cluster.kill_all(node)
        return lambda: self.cluster.start(node)

    def cut_it_off(self, node, _):
        machine = self.cluster.machines[node]
        machine.cut()
        return machine.heal

    def kill_its_source(self, _, primary):
        return self.kill_it(primary, None)

    def cut_off_its_source(self, _, primary):
        return self.cut_it_off(primary, None)

    def end_in_the_middle(self, node, primary, after):
        """Interrupts it at a random moment. Returns the name of the interruption, or None if it had
        ended."""
        def goes_on():
            self.progress = max(self.progress, self.how_far(node))
            doing = self.doing(node)
            return any(word in doing for word in ("cloned", "rewound"))
        began = time.monotonic()
        self.until(lambda: time.monotonic() - began > after or not goes_on(), "a moment", PATIENCE)
        going_on = goes_on()
        cut = self.random.choice(
            (self.kill_it, self.cut_it_off, self.kill_its_source, self.cut_off_its_source))
        heal = cut(node, primary)
        self.wait(self.random.uniform(0, 10))
        heal()
        return cut.__name__ if going_on else None

    # --- Rounds

    def clone(self, cut):
        primary = self.await_calm()
        node = self.random.choice([each for each in IDS if each != primary])
        began = time.monotonic()
        asked = self.cluster.say("rejoin", node)
        if asked.returncode:
            raise Wrong(f"rejoin: {asked.stderr}")
        self.until(lambda: self.doing(node) == "is cloned", "it is cloned")
        return self.see_to_its_end("clone", node, primary, began, cut)

    def rewind(self, cut):
        """The former primary writes something that no other node gets, so it has to be rewound."""
        node = self.await_calm()
        machine = self.cluster.machines[node]
        rows = self.random.randrange(1, 200) * 1000
        machine.cut()
        with subprocess.Popen(machine.inside([
                PROGRAMS / "psql", "-X", "-q", "-c",
                f"update pgbench_accounts set filler = 'x' where aid <= {rows}",
                self.cluster.connection(node)]), stderr=subprocess.DEVNULL) as session:
            self.until(lambda: self.cluster.primary() not in (None, node), "another is primary")
            session.kill()
        primary = self.cluster.primary()
        began = time.monotonic()
        machine.heal()
        self.until(lambda: self.doing(node) == "is rewound" or node in self.cluster.replicas(),
                   "it is rewound")
        return self.see_to_its_end("rewind", node, primary, began, cut)

    def see_to_its_end(self, what, node, primary, began, cut):
        usual = statistics.median(self.took[what]) if self.took[what] else 10
        ended_by = None
        if cut:
            ended_by = self.end_in_the_middle(node, primary, self.random.uniform(0, usual / 2))
        most = 0

        def is_whole():
            nonlocal most
            most = max(most, self.occupied(node))
            self.progress = max(self.progress, self.how_far(node))
            return len(self.cluster.replicas()) == len(IDS) - 1
        self.until(is_whole, f"node {node} follows", PATIENCE)
        took = time.monotonic() - began
        if not cut:
            self.took[what].append(took)
        self.space.append(most)
        print(f"{what} of node {node}, cut by {ended_by}: {took:.0f} s", file=sys.stderr)
        return ended_by

    def memory(self):
        """VmHWM of each node's process, in MB."""
        found = []
        for node in self.cluster.running:
            for pid in self.cluster.whole_tree(node):
                text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
                if "Name:\tmuster-postgres" in text:
                    found.append(int(text.split("VmHWM:")[1].split()[0]) / 1024)
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("muster")
    parser.add_argument("--gigabytes", type=float, default=5)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    machines.need(NEEDED)
    path = machines.enter()
    wanted, free = COPIES * said.gigabytes * 1e9, shutil.disk_usage(path).free
    if free < wanted:
        sys.exit(f"{path} has {free / 1e9:.0f} GB, and it takes {wanted / 1e9:.0f}: choose less "
                 "with --gigabytes, or a directory of more room with TMPDIR")
    cluster = OnMachines(said.muster, "200ms", "1s", path / "cluster", machines.make(), False)
    cluster.patience = PATIENCE
    large = Large(cluster, said.seed)
    try:
        large.begin()
        size = large.fill(said.gigabytes)
        rounds = [(what, cut) for cut in (False, True) for what in (large.clone, large.rewind)
                  for _ in range(said.cuts // 2 if cut else 2)]
        ended_by = [what(cut) for what, cut in rounds]
        held = large.memory()
        large.judge()
    except (Wrong, AssertionError) as wrong:
        cluster.end(keep=True)
        sys.exit(f"WRONG, seed {said.seed}: {wrong}; see {path}")
    cluster.end(keep=False)
    cut = [each for each in ended_by if each]
    usual = {what: statistics.median(took) for what, took in large.took.items()}
    print(f"a database of {size / 1e9:.1f} GB: {len(rounds)} clones and rewinds ended as replicas, "
          f"{len(cut)} of them cut in the middle; a clone took {usual['clone']:.0f} s, a rewind "
          f"{usual['rewind']:.0f} s (median of those that were not cut); on the disk of who is "
          f"cloned at most {max(large.space) / 1e9:.1f} GB; a node's process held "
          f"{max(held):.1f} MB at most; a clone was seen as far as {large.progress / 1e9:.1f} GB")


if __name__ == "__main__":
    main()
