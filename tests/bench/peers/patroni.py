#!/usr/bin/env python3
"""Muster and Patroni under the same faults: time without an acknowledgement, and lost commits.

./dev bench patroni [--rounds 3] [--seed 1] [--results FILE]: in each round each system runs alone.
The machine of its primary is killed, frozen, cut off, and relieved in order. The same writers write
to both systems. One writer runs on each machine and knows that database only. Two further ones know
all three (target_session_attrs=read-write). Prints Markdown. With FILE it prints all results in
that file.
"""

import argparse
import collections
import json
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "apps/postgres"))
import machines  # noqa: E402
from machines import NUMBERS, PORT, PROGRAMS, address, until  # noqa: E402
from writers import NEEDED as NEEDED_TO_WRITE  # noqa: E402
from writers import Writer  # noqa: E402

NEEDED = {"patroni": "/usr/bin/patroni", "etcd-server": "/usr/bin/etcd",
          "postgresql-15": PROGRAMS / "postgres", "iproute2": "/usr/sbin/ip",
          "python3-etcd": "/usr/lib/python3/dist-packages/etcd", **NEEDED_TO_WRITE}
TIMELINE = "substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)"
STRICT = {"loop_wait": 1, "retry_timeout": 2, "synchronous_mode": True,
          "synchronous_mode_strict": True}
DEFAULTS = {"ttl": 30, "loop_wait": 10, "retry_timeout": 10}
QUICK = {"wal_retrieve_retry_interval": "20ms"}  # as Muster has it
FAULTS = ("kill -9", "SIGSTOP", "cut", "planned")
EVERYBODY = ",".join(map(address, NUMBERS))
AFTER = 3  # s: a cut or freeze ends this long after another node's first acknowledgement

class Run:
    """One run of a system, with writers of its own."""

    def __init__(self, system, number, seed):
        self.system, self.random = system, random.Random(f"{system.name} {number} {seed}")
        if number == 1:
            primary = system.begin()
            until(lambda: system.ask(primary, "create table t (n bigint primary key)") is not None,
                  "a table")
        else:
            system.start()
            system.await_calm()
        base = 10**12 * number
        connection = f"port={PORT} user=postgres dbname=postgres connect_timeout=2 host="
        self.writers = [Writer("client", f"{connection}{EVERYBODY} target_session_attrs=read-write",
                               base + 10**10 * each, TIMELINE) for each in (8, 9)]
        self.writers += [Writer("local", connection + address(each), base + 10**10 * each, TIMELINE,
                                machine=machine) for each, machine in system.machines.items()]
        self.acknowledged, self.lost = set(), set()  # numbers of commits, over all rounds

    def new(self):
        return [commit for writer in self.writers for commit in writer.new()]

    def next_of(self, old, began, name=None):
        """The time of the first acknowledgement by another primary, to any writer or to writers of
        that kind."""
        return min((commit.acknowledged for commit in self.new()
                    if commit.host != address(old) and commit.acknowledged > began
                    and name in (None, commit.writer)), default=None)

    def last_of(self, old, before, name):
        return max((commit.acknowledged for commit in self.new()
                    if commit.host == address(old) and commit.acknowledged < before
                    and name in (None, commit.writer)), default=before)

    def until(self, so, what):
        """Waits. Meanwhile it restarts the parts of the system that have ended by themselves."""
        return until(lambda: (self.system.supervise(), so())[1], f"{self.system.name}: {what}",
                     self.system.calm_within)

    def calm(self):
        primary = self.system.await_calm()
        began = time.monotonic()
        self.until(lambda: any(commit.sent > began for commit in self.new()), "it is written")
        return primary

    def fault(self, fault, old):
        """Does the fault. Returns a function that ends it."""
        machine = self.system.machines[old]
        if fault == "kill -9":
            machine.kill()
            return lambda: self.system.start_node(old)
        if fault == "SIGSTOP":
            machine.freeze()
            return machine.thaw
        if fault == "cut":
            machine.cut()
            return machine.heal
        self.system.hand_over(old)
        return lambda: None

    def round(self, fault):
        self.calm()
        machines.wait(self.random.uniform(0, self.system.phase))
        old = self.calm()
        began = time.monotonic()
        heal = self.fault(fault, old)

        def took(name):
            at = self.until(lambda: self.next_of(old, began, name),
                            f"another acknowledges after {fault}")
            # In a planned change the old primary writes until the new primary takes over. That time
            # is no outage.
            return 1000 * (at - (self.last_of(old, at, name) if fault == "planned" else began))

        row = {"system": self.system.name, "fault": fault, "ms": took(None),
               "client": took("client")}
        if fault in ("SIGSTOP", "cut"):
            machines.wait(AFTER)
        heal()
        return {**row, **self.judge(self.calm(), began)}

    def judge(self, primary, began):
        commits = [commit for writer in self.writers for commit in writer.take()]
        self.acknowledged.update(commit.number for commit in commits)
        there = {row[0] for row in self.until(
            lambda: self.system.ask(primary, "select n from t"), "its table is read")}
        before, self.lost = self.lost, self.acknowledged - there
        first = {}  # the time of each primary's first acknowledgement, by host and timeline
        for commit in commits:
            whose = commit.host, commit.reign
            first[whose] = min(first.get(whose, commit.acknowledged), commit.acknowledged)
        by_two = 0
        for commit in commits:
            own = first[commit.host, commit.reign]
            by_two += any(own < other < commit.sent for other in first.values())
        return {"acknowledged": len(commits), "lost": len(self.lost - before), "by_two": by_two,
                "story": self.story(commits, began)}

    def story(self, commits, began):
        """For each primary and timeline: when it acknowledged commits (in ms after the fault), how
        many, and how many of these are lost."""
        groups = collections.defaultdict(list)
        for commit in commits:
            groups[commit.host, commit.reign].append(commit)
        return [(host, timeline, *(round(1000 * (of(commit.acknowledged for commit in group)
                                                 - began)) for of in (min, max)),
                 len(group), sum(commit.number in self.lost for commit in group))
                for (host, timeline), group in groups.items()]

    def end(self):
        for writer in self.writers:
            writer.end()
        self.system.end()


def systems(said, path):
    """The requested systems, each with a directory of its own."""
    from systems import Muster, Patroni  # needs psycopg2

    hosts = machines.make()
    found = {
        "muster": lambda at: Muster(hosts, at, said),
        "defaults": lambda at: Patroni(hosts, at, "Patroni, defaults", DEFAULTS, {}),
        "ttl5": lambda at: Patroni(hosts, at, "Patroni, strict synchronous, ttl 5",
                                   {"ttl": 5, **STRICT}, QUICK),
        "ttl5-v3": lambda at: Patroni(hosts, at, "Patroni, strict, ttl 5, by etcd's API v3",
                                      {"ttl": 5, **STRICT}, QUICK, "etcd3"),
        "ttl20": lambda at: Patroni(hosts, at, "Patroni, strict synchronous, ttl 20",
                                    {"ttl": 20, **STRICT}, QUICK),
    }
    return [found[name](path / name) for name in said.systems.split(",")]


def print_table(rows):
    print("| | fault | times | median | shortest | longest | a client: median | longest "
          "| acknowledged | lost | by two |\n" + "|---" * 11 + "|")
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["system"], row["fault"]].append(row)
    for (system, fault), group in sorted(groups.items(), key=lambda each: FAULTS.index(each[0][1])):
        times = [row["ms"] for row in group]
        clients = [row["client"] for row in group]
        figures = (statistics.median(times), min(times), max(times), statistics.median(clients),
                   max(clients), *(sum(row[what] for row in group)
                                   for what in ("acknowledged", "lost", "by_two")))
        print(f"| {system} | {fault} | {len(group)} | "
              + " | ".join(f"{figure:,.0f}" for figure in figures) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("muster")
    parser.add_argument("--T", default="100ms", help="Muster's T")
    parser.add_argument("--stop-deadline", default="500ms", help="Muster's stop_deadline")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--systems", default="muster,defaults,ttl5,ttl20")
    parser.add_argument("--faults", default=",".join(FAULTS))
    parser.add_argument("--results", help="append the rows to this file, and print all of it")
    said = parser.parse_args()
    said.faults = said.faults.split(",")
    if not set(said.faults) <= set(FAULTS):
        parser.error(f"--faults: expected names of {', '.join(FAULTS)}")
    machines.need(NEEDED)
    path = machines.enter()
    results = Path(said.results or path / "results.jsonl")
    compared = systems(said, path)
    for number in range(1, said.rounds + 1):
        for system in compared:
            run = Run(system, number, said.seed)
            for fault in said.faults:
                row = run.round(fault)
                print(row, file=sys.stderr)
                with open(results, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            run.end()
    print_table(map(json.loads, results.read_text(encoding="utf-8").splitlines()))


if __name__ == "__main__":
    main()
