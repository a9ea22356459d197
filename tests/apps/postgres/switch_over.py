#!/usr/bin/env python3
"""Three nodes and their PostgreSQL, writers, and primaries that hand over or leave in order.

Exits with 1 unless, each time, nothing acknowledged is lost, the intended node is primary, and
the former primary follows without being rewound or cloned. --times 20 measures for how long
nothing could be written.
"""

import argparse
import contextlib
import os
import re
import signal
import statistics
import subprocess
import sys
import time

from cluster import IDS, Cluster
from machines import PROGRAMS, missing
from run import Run, Wrong
from skipping import SKIPPED
from writers import NEEDED

COORDINATOR = max(IDS)


class Planned(Run):
    def __init__(self, cluster, seed, writers):
        super().__init__(cluster, seed, writers)
        self.said = []  # for how many ms writing stopped, as each command printed it

    def asked(self, node, heir):
        return self.cluster.say("switch-over", node, "--to", heir)

    def told(self, node, what):
        """How often a text is in the log of a node or of its PostgreSQL."""
        logs = (self.cluster.path / f"n{node}.log", self.cluster.database(node) / "postgres.log")
        return sum(len(re.findall(what, log.read_text(errors="replace"))) for log in logs)

    def journal_has(self, what):
        """How often a text is in the coordinator's journal."""
        journal = self.cluster.store(COORDINATOR) / "journal.jsonl"
        return journal.read_text(errors="replace").count(what)

    def follows_as_it_is(self, node, does):
        """Does it, and checks that the former primary was shut down in order, and was not rewound
        or cloned."""
        repaired, at_once = "is rewound|is cloned", "immediate shutdown request"
        before = self.told(node, at_once), self.told(node, repaired)
        does()
        self.await_calm()
        now = self.told(node, at_once), self.told(node, repaired)
        if now[0] == before[0] and now[1] != before[1]:
            raise Wrong(f"node {node} went down in order, and was rewound or cloned")
        return now[0] == before[0]

    def hand_over(self):
        """Asks any node for a switch-over. Returns true if the primary was shut down in order. If
        the machine is paused for a while, another node may become primary, so this is tried
        again."""
        for _ in range(5):
            primary = self.await_calm()
            heir = self.random.choice([node for node in IDS if node != primary])
            asker = self.random.choice(IDS)
            asks = f"node {primary} asks for it: this node hands over"
            before = self.journal_has(asks)
            ran = None

            def does(asker=asker, heir=heir):
                nonlocal ran
                began = time.monotonic()
                ran = self.asked(asker, heir)
                self.until(lambda: self.written_since(began), "written again")

            in_order = self.follows_as_it_is(primary, does)
            if ran.returncode == 0:
                # A node that makes an election itself goes through Recovery. If it does so often,
                # it is suspended (calm).
                if primary != COORDINATOR and self.journal_has(asks) == before:
                    raise Wrong(f"node {primary} made the election for its hand-over itself")
                self.said.append(float(re.search(r"for ([\d.]+) ms", ran.stdout).group(1)))
                return in_order
            print(ran.stderr, file=sys.stderr)
        raise Wrong(f"five times in vain: {ran.stderr}")

    def leave_as_primary(self):
        primary = self.await_calm()

        def does():
            if code := self.cluster.leave(primary):
                raise Wrong(f"node {primary} left with {code}")
            left = time.monotonic()
            self.until(lambda: self.written_since(left), "written without it")
            self.cluster.start(primary)

        return self.follows_as_it_is(primary, does)

    @contextlib.contextmanager
    def paused(self, node, which):
        """Pauses these processes of its PostgreSQL. A process that is taken out of the list goes
        on."""
        pids = self.cluster.ask(node, f"select pid from pg_stat_activity where {which}", 10).split()
        stopped = list(map(int, pids))
        try:
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            yield stopped
        finally:
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):  # its server may be gone
                    os.kill(pid, signal.SIGCONT)

    def waits_for_what_gets_on(self):
        """Sessions that end one after the other are waited for, although that takes more than twice
        the longest pause without progress. A standby that does not answer is not waited for."""
        primary = self.await_calm()
        heir, other = (node for node in IDS if node != primary)
        at_once = "immediate shutdown request"
        before = self.told(primary, at_once)
        sleeps = [PROGRAMS / "psql", "-X", "-c", "SELECT pg_sleep(600)",
                  self.cluster.connection(primary)]
        with contextlib.ExitStack() as sessions:
            for _ in range(8):
                sessions.enter_context(subprocess.Popen(sleeps, stderr=subprocess.DEVNULL))
            which = "query = 'SELECT pg_sleep(600)'"
            self.until(lambda: self.cluster.ask(primary, "select count(*) from pg_stat_activity "
                                                f"where {which}", 10) == "8", "they sleep")
            with self.paused(primary, which) as slow:
                command = self.cluster.command("switch-over", primary, "--to", str(heir))
                with subprocess.Popen(command, cwd=self.cluster.path) as asks:
                    while slow:
                        with contextlib.suppress(subprocess.TimeoutExpired):
                            asks.wait(0.3)
                        os.kill(slow.pop(), signal.SIGCONT)
        if asks.returncode or self.told(primary, at_once) != before:
            raise Wrong(f"sessions of node {primary} that ended slowly were not waited for")
        self.await_calm()
        before = self.told(heir, at_once)
        with self.paused(other, "backend_type = 'walreceiver'"):
            began = time.monotonic()
            self.asked(heir, primary)
            self.until(lambda: self.written_since(began), "written again")
        if self.told(heir, at_once) == before:
            raise Wrong(f"the standby of node {other}, which did not answer, was waited for")

    def notify_as_anybody(self, primary, heir):
        """Any role may NOTIFY, but only a superuser is obeyed."""
        self.cluster.ask(primary, "CREATE ROLE anybody LOGIN", 10)
        says = [PROGRAMS / "psql", "-X", "-c", f"NOTIFY muster_hand_over, '{heir}'",
                "-c", "SELECT pg_sleep(60)",
                self.cluster.connection(primary).replace("user=postgres", "user=anybody")]
        with subprocess.Popen(says, stdout=subprocess.DEVNULL) as anybody:
            self.until(lambda: self.told(primary, "role anybody asks for another primary"), "told")
            anybody.kill()
        if self.await_calm() != primary:
            raise Wrong("a role that is no superuser was obeyed")

    def run_twice(self, node):
        """A second process does not change the files of the first one."""
        conf = self.cluster.database(node) / "muster.conf"
        before = conf.read_bytes()
        ran = self.cluster.say("run", node)
        if ran.returncode != 75 or "is in use by process" not in ran.stderr:
            raise Wrong(f"node {node} ran twice: {ran.returncode}, {ran.stderr}")
        if conf.read_bytes() != before or not conf.with_name("muster.sock").exists():
            raise Wrong(f"a second process of node {node} touched what is the first one's")

    def refused(self):
        """A request that is not allowed is refused with a sentence, and nothing changes."""
        primary = self.await_calm()
        other = next(node for node in IDS if node != primary)
        for node, heir, why in ((primary, primary, f"node {primary} is the primary already"),
                                (other, primary, f"node {primary} is the primary already"),
                                (primary, 9, "expected a node of")):
            ran = self.asked(node, heir)
            if ran.returncode == 0 or why not in ran.stderr:
                raise Wrong(f"--to {heir} at node {node}: {ran.returncode}, {ran.stderr}")
        self.notify_as_anybody(primary, other)
        self.run_twice(primary)
        self.cluster.kill(other)
        killed = time.monotonic()
        self.until(lambda: self.written_since(killed), "written without it")
        self.until(lambda: f"node {other} does not follow"
                   in self.asked(self.cluster.primary() or primary, other).stderr,
                   "who is not there is refused")
        self.cluster.start(other)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("muster")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--T", default="500ms")
    parser.add_argument("--stop-deadline", default="3s")
    said = parser.parse_args()
    if absent := missing({"postgresql-15": PROGRAMS / "postgres", **NEEDED}):
        print(f"skipped: {', '.join(absent)} not found", file=sys.stderr)
        sys.exit(SKIPPED)
    cluster = Cluster(said.muster, said.T, said.stop_deadline)
    run = Planned(cluster, said.seed, said.writers)
    try:
        run.begin()
        if any(run.told(node, "is cloned") for node in IDS):
            raise Wrong("who joined before the first group was cloned again")
        in_order = sum(run.hand_over() for _ in range(said.times))
        left_in_order = sum(run.leave_as_primary() for _ in range(said.times))
        run.waits_for_what_gets_on()
        run.refused()
        count = run.judge()
    except Exception as wrong:
        run.stop_writing()
        cluster.end(keep=True)
        if not isinstance(wrong, (Wrong, AssertionError)):
            raise
        sys.exit(f"WRONG, seed {said.seed}: {wrong}; see {cluster.path}")
    cluster.end(keep=False)
    print(f"{count} acknowledged commits, none lost; {in_order} of {said.times} switch-overs and "
          f"{left_in_order} of {said.times} leaves shut down in order, none of these was rewound "
          "or cloned")
    print(f"nothing was written for {statistics.median(run.said):.0f} ms (median), "
          f"{min(run.said):.0f} to {max(run.said):.0f}")


if __name__ == "__main__":
    main()
