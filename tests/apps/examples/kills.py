#!/usr/bin/env python3
"""Kills nodes of examples 3 and 4 again and again: `kills.py KV JOBS (--cycles N | --seconds S)`.

A cycle is a kill -9 and a new start. Nothing acknowledged is lost, and no job is done twice or left
out.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jobs_test
import kv_test
from nodes import NODES

# A node may be killed at this age, in seconds. At this age most nodes have joined the others.
LIFE = 0.3


class Limit:
    """Ends the test after a number of cycles or seconds."""

    def __init__(self, cycles, seconds):
        self.left, self.seconds, self.began = cycles, seconds, time.monotonic()

    def reached(self):
        if self.seconds:
            return time.monotonic() - self.began > self.seconds
        return self.left <= 0

    def cycle(self):
        self.left -= 1


class Killer:
    """Kills only nodes that have lived for a while."""

    def __init__(self, nodes):
        self.nodes, self.begun, self.kills = nodes, {}, 0

    def start(self, node):
        self.nodes.start(node)
        self.begun[node] = time.monotonic()

    def ripe(self):
        old = time.monotonic() - LIFE
        return [node for node in self.nodes.processes if self.begun[node] < old]

    def kill(self, node):
        self.nodes.kill(node)
        self.kills += 1


def kill_stores(program, limit, chance):
    """Any of the nodes may be killed."""
    with tempfile.TemporaryDirectory() as directory:
        store = kv_test.Store(program, directory)
        killer = Killer(store)
        try:
            for node in NODES:
                killer.start(node)
            while not limit.reached():
                store.await_all()
                store.check()
                for _ in range(chance.randint(2, 8)):
                    if ripe := killer.ripe():
                        node = chance.choice(ripe)
                        killer.kill(node)
                        limit.cycle()
                        if chance.random() < 0.7:
                            store.write(f"k{chance.randrange(10)}")
                        killer.start(node)
                    store.write(f"k{chance.randrange(10)}")
            store.await_all()
            store.check()
        finally:
            store.end()
        print(f"kv: {killer.kills} kills, {store.number} writes acknowledged, none lost")


def kill_workers(program, limit, chance):
    """Mostly kills the coordinator, since only the coordinator does jobs."""
    jobs = 10_000 + 300 * limit.left  # more jobs than the workers can do in the time of the test
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([program, "fill", str(jobs), "queue"], cwd=directory, check=True)
        workers = jobs_test.Workers(program, directory)
        workers.says_all = False
        killer = Killer(workers)
        told = []
        try:
            for node in NODES:
                killer.start(node)
            while not limit.reached():
                node, job = jobs_test.next_job(workers)
                if job is None:
                    continue
                told.append(job)
                ripe = killer.ripe()
                if ripe and chance.random() < 0.2:
                    victim = node if node in ripe and chance.random() < 0.8 else chance.choice(ripe)
                    killer.kill(victim)
                    limit.cycle()
                    killer.start(victim)
        finally:
            workers.end()
        jobs_test.judge(told, killer.kills, max(told), directory)
        print(f"jobs: {killer.kills} kills, {max(told)} jobs done, each once")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kv")
    parser.add_argument("jobs")
    parser.add_argument("--cycles", type=int, default=0, help="in all, half for each example")
    parser.add_argument("--seconds", type=float, default=0, help="in all, half for each example")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    chosen = parser.parse_args()
    if bool(chosen.cycles) == bool(chosen.seconds):
        parser.error("give either --cycles or --seconds")
    print(f"seed {chosen.seed}")
    chance = random.Random(chosen.seed)
    for run, program in ((kill_stores, chosen.kv), (kill_workers, chosen.jobs)):
        limit = Limit((chosen.cycles + 1) // 2, chosen.seconds / 2)
        run(str(Path(program).resolve()), limit, chance)


if __name__ == "__main__":
    main()
