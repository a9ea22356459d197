#!/usr/bin/env python3
"""Upgrades a PostgreSQL cluster node by node: `upgrade_postgres.py MUSTER [COMMIT | OLDER]`.

Three real nodes of an older commit (or of the command OLDER) begin, and a client writes. One node
after the other comes back as this build, goes back, and gets the marker key. The primary is killed
after each step. For each step it prints the longest time without an acknowledged commit. In the end
every acknowledged row has to be there.
"""

import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for room in ("tests", "tests/apps/postgres", "tests/apps/watching", "tests/bench"):
    sys.path.insert(0, str(ROOT / room))
from cluster import IDS, Cluster  # noqa: E402
from upgrade import built  # noqa: E402

# The last commit without markers in the log.
WITHOUT_MARKERS = "d65e221e"


class Writer:
    def __init__(self, cluster):
        self.cluster, self.moments, self.numbers, self.over = cluster, [], [], False
        self.thread = threading.Thread(target=self.write)
        self.thread.start()

    def write(self):
        number = 0
        while not self.over:
            number += 1
            for node in IDS:
                said = self.cluster.ask(node, f"insert into t values ({number}) returning n", 2)
                if said == str(number):
                    self.numbers.append(number)
                    self.moments.append(time.monotonic())
                    break
            threading.Event().wait(0.02)

    def pause_since(self, began):
        """The longest time without an acknowledgement, in ms."""
        times = [began, *(moment for moment in self.moments if moment > began), time.monotonic()]
        return 1000 * max(later - earlier for earlier, later in zip(times, times[1:]))

    def end(self):
        self.over = True
        self.thread.join()


class Upgrade:
    def __init__(self, older, newer):
        self.programs = dict.fromkeys(IDS, older)
        self.older, self.newer = older, newer
        self.cluster = Cluster(older, "500ms", "3s")

    def start(self, node):
        self.cluster.muster = self.programs[node]
        self.cluster.start(node)

    def step(self, what, node, program):
        self.programs[node] = program
        self.tell(what, lambda: (self.cluster.leave(node), self.start(node)))
        primary = self.cluster.await_calm()
        self.tell(f"  node {primary}, the primary, is killed",
                  lambda: (self.cluster.kill_all(primary), self.start(primary)))

    def tell(self, what, act):
        began = time.monotonic()
        act()
        self.cluster.await_calm()
        print(f"{what:40} {self.writer.pause_since(began):8.0f} ms", flush=True)

    def run(self):
        cluster = self.cluster
        cluster.begin()
        cluster.answer("create table t (n bigint primary key)", cluster.await_calm())
        self.writer = Writer(cluster)
        try:
            print(f"{'':40} longest pause")
            for node in IDS:
                self.step(f"node {node} becomes this build", node, self.newer)
            self.step("node 2 goes back", 2, self.older)
            self.step("node 2 becomes this build again", 2, self.newer)
            cluster.muster = self.newer
            cluster.say("key", 1)
            for node in IDS:
                if node != 1:
                    cluster.copy_key(node, of=1)
                self.step(f"node {node} has the marker key", node, self.newer)
            if self.older != self.newer:
                cluster.until(lambda: any("all nodes read markers" in cluster.log(node)
                                          for node in IDS), "rows of muster.term end")
                print("rows of the table muster.term decide nothing any more")
        finally:
            self.writer.end()
        primary = cluster.await_calm()
        there = set(map(int, cluster.answer("select n from t", primary).split()))
        lost = set(self.writer.numbers) - there
        print(f"{len(self.writer.numbers)} acknowledged rows, {len(lost)} lost")
        return 1 if lost else 0


def main():
    newer = Path(sys.argv[1]).resolve()
    _, older = built(sys.argv[2] if len(sys.argv) > 2 else WITHOUT_MARKERS, "muster-postgres")
    upgrade = Upgrade(older, newer)
    try:
        return upgrade.run()
    finally:
        upgrade.cluster.end(keep=False)


if __name__ == "__main__":
    sys.exit(main())
