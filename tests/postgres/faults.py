#!/usr/bin/env python3
"""Three nodes and their PostgreSQL, writers, and faults at random: is an acknowledged commit lost?

./dev bench postgres [--faults 100] [--seed 1]: exit 1 where one is, where a commit that was sent
after a later group's first acknowledgement is acknowledged by an earlier one's primary, or where
nothing can be written 10 s after the last fault. The run's directory is kept then.
"""

import argparse
import collections
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "apps/watching"))
from nodes import free_ports, until  # noqa: E402

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
CALM = 10  # seconds after a fault within which it is written again
IDS = (1, 2, 3)

CONFIGURATION = """
[node]
id = {node}
data = "n{node}"
[cluster]
name = "pg"
T = "{T}"
quorum = "majority"
stop_deadline = "{stop}"
start_deadline = "10s"
hold_down = "0s"
calm = "0s"
[cluster.nodes]
{nodes}
[cluster.postgres]
{databases}
[application]
kind = "postgres"
database = "pg{node}"
[journal]
file = "n{node}/journal.jsonl"
"""


class Wrong(Exception):
    """What must never be."""


class Cluster:
    """Its nodes, in a directory of their own."""

    def __init__(self, muster, T, stop):
        self.muster = os.path.abspath(muster)
        self.path = Path(tempfile.mkdtemp(prefix="muster-postgres-"))
        self.path.chmod(0o755)
        ports = free_ports(6)
        self.ports = dict(zip(IDS, ports[3:]))

        def lines(of):
            return "\n".join(f'{node} = "127.0.0.1:{port}"' for node, port in zip(IDS, of))

        for node in IDS:
            (self.path / f"n{node}.toml").write_text(CONFIGURATION.format(
                node=node, T=T, stop=stop, nodes=lines(ports), databases=lines(ports[3:])))
        self.running = {}
        self.ended = collections.Counter()  # by exit code
        self.user = ["--user", "postgres"] if os.geteuid() == 0 else []

    # --- Where things are

    def config(self, node):
        return f"n{node}.toml"

    def store(self, node):
        return self.path / f"n{node}"

    def database(self, node):
        return self.path / f"pg{node}"

    def connection(self, node):
        return f"host=127.0.0.1 port={self.ports[node]} user=postgres dbname=postgres"

    def command(self, word, node):
        return [self.muster, "postgres", word, "--config", self.config(node), *self.user]

    def once(self, word, node):
        subprocess.run(self.command(word, node), check=True, cwd=self.path, stdout=sys.stderr)

    def start(self, node):
        with open(self.path / f"n{node}.log", "a", encoding="utf-8") as log:
            self.running[node] = subprocess.Popen(self.command("run", node), cwd=self.path,
                                                  stdout=log, stderr=log)

    def begin(self):
        self.once("create", 1)
        self.start(1)
        for node in IDS[1:]:
            self.once("join", node)
            self.start(node)

    # --- What is done to it

    def postmaster(self, node):
        """Its pid; None where none runs."""
        try:
            pid = int((self.database(node) / "data/postmaster.pid").read_text().split()[0])
            return pid if Path(f"/proc/{pid}").exists() else None
        except (OSError, ValueError, IndexError):
            return None

    def kill_postmaster(self, node):
        if pid := self.postmaster(node):
            os.kill(pid, signal.SIGKILL)

    def supervise(self):
        """A node that has ended itself begins anew, as under systemd."""
        for node, process in self.running.items():
            if process.poll() is not None:
                self.ended[process.returncode] += 1
                self.start(node)
                return

    def kill(self, node):
        process = self.running.pop(node)
        process.kill()
        process.wait()

    def whole_tree(self, node):
        """Of the node's process, and of all that it has begun."""
        pids, found = [self.running[node].pid], []
        while pids:
            pid = pids.pop()
            found.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                try:
                    pids += map(int, task.read_text().split())
                except OSError:
                    pass  # it has ended
        return found

    def signal_all(self, node, number):
        for pid in self.whole_tree(node):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    # --- What it says

    def status(self, node):
        ran = subprocess.run([self.muster, "status", "--json", "--dir", self.store(node)],
                             cwd=self.path, capture_output=True, text=True, check=False,
                             timeout=60)
        try:
            return json.loads(ran.stdout)
        except ValueError:
            return None

    def roles(self, node):
        status = self.status(node)
        return dict(status["shown"]["roles"]) if status else {}

    def primary(self):
        return next((node for node in self.running if self.roles(node).get("primary")), None)

    def replicas(self):
        return [node for node in self.running if self.roles(node).get("replica")]

    def ask(self, node, statement):
        """What psql says of it; None where it fails, was acknowledged with a warning, or takes
        long: one that is stopped answers nothing."""
        try:
            ran = subprocess.run(
                [PROGRAMS / "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c",
                 statement, self.connection(node)],
                capture_output=True, text=True, check=False, timeout=1)
        except subprocess.TimeoutExpired:
            return None
        return ran.stdout.strip() if ran.returncode == 0 and not ran.stderr else None

    def end(self):
        for node, process in self.running.items():
            self.signal_all(node, signal.SIGCONT)
            process.terminate()
        for process in self.running.values():
            process.wait(60)


Commit = collections.namedtuple("Commit", "number sent acknowledged group")


class Writer(threading.Thread):
    """Inserts numbers wherever that is possible, and keeps what was acknowledged, and by whose
    primary."""

    def __init__(self, cluster, name):
        super().__init__(daemon=True)
        self.cluster, self.number, self.commits = cluster, 10_000_000 * name, []
        self.over = threading.Event()
        self.random = random.Random(name)

    def run(self):
        last = 1
        while not self.over.is_set():
            self.number += 1
            for node in (last, *self.random.sample(IDS, 3)):
                sent = time.monotonic()
                group = self.cluster.ask(
                    node, f"insert into t values ({self.number}) "
                          "returning (select max(counter) from muster.term)")
                if group:
                    self.commits.append(
                        Commit(self.number, sent, time.monotonic(), int(group.split()[0])))
                    last = node
                    break

    def end(self):
        self.over.set()
        self.join(60)


class Run:
    def __init__(self, cluster, seed, writers):
        self.cluster, self.random = cluster, random.Random(seed)
        self.writers = [Writer(cluster, name + 1) for name in range(writers)]
        self.gaps = collections.defaultdict(list)

    def written_since(self, moment):
        """When the first commit was acknowledged that was sent after that."""
        found = [commit.acknowledged for writer in self.writers
                 for commit in writer.commits[-200:] if commit.sent > moment]
        return min(found, default=None)

    def until(self, so, what, bound=60):
        return until(lambda: (self.cluster.supervise(), so())[1], what, bound)

    def await_calm(self):
        primary = self.until(self.cluster.primary, "there is a primary")
        self.until(lambda: len(self.cluster.replicas()) == len(IDS) - 1, "all others follow it")
        return primary

    # --- Faults: each does it, and gives what brings all back

    def kill_all_of_it(self, node):
        self.cluster.signal_all(node, signal.SIGKILL)
        self.cluster.running.pop(node).wait()
        return lambda: self.cluster.start(node)

    def kill_node(self, node):
        self.cluster.kill(node)
        return lambda: self.cluster.start(node)

    def kill_postmaster(self, node):
        self.cluster.kill_postmaster(node)
        return lambda: None

    def kill_two(self, node):
        other = self.random.choice([each for each in IDS if each != node])
        for each in (node, other):
            self.cluster.signal_all(each, signal.SIGKILL)
            self.cluster.running.pop(each).wait()
        for each in (node, other):
            self.cluster.start(each)
        return lambda: None

    def kill_the_next_too(self, node):
        self.kill_all_of_it(node)
        next_one = self.until(self.cluster.primary, "there is a next primary")
        self.kill_all_of_it(next_one)
        for each in (node, next_one):
            self.cluster.start(each)
        return lambda: None

    def stop_for_a_while(self, node):
        self.cluster.signal_all(node, signal.SIGSTOP)
        return lambda: self.cluster.signal_all(node, signal.SIGCONT)

    def step_down(self, node):
        subprocess.run([self.cluster.muster, "step-down", "--dir", f"n{node}", "--for", "1s"],
                       cwd=self.cluster.path, capture_output=True, check=False)
        return lambda: None

    def leave(self, node):
        process = self.cluster.running.pop(node)
        process.terminate()
        process.wait(60)
        return lambda: self.cluster.start(node)

    def switch_over(self, node):
        heir = self.random.choice([each for each in IDS if each != node])
        subprocess.run([*self.cluster.command("switch-over", node), "--to", str(heir)],
                       cwd=self.cluster.path, capture_output=True, check=False, timeout=120)
        return lambda: None

    def fault(self):
        primary = self.await_calm()
        faults = (self.kill_all_of_it, self.kill_node, self.kill_postmaster, self.kill_two,
                  self.kill_the_next_too, self.stop_for_a_while, self.step_down, self.leave,
                  self.switch_over)
        fault = self.random.choice(faults)
        of_primary = (fault in (self.kill_the_next_too, self.switch_over)
                      or self.random.random() < 0.7)
        others = [node for node in IDS if node != primary]
        victim = primary if of_primary else self.random.choice(others)
        began = time.monotonic()
        heal = fault(victim)
        written = self.written_since
        name = fault.__name__ + (" (primary)" if of_primary else " (standby)")
        needs_healing = fault == self.stop_for_a_while
        if not needs_healing or of_primary:
            self.until(lambda: written(began + 0.01), f"written again after {name}", CALM)
            self.gaps[name].append(written(began + 0.01) - began)
        heal()
        healed = time.monotonic()
        self.until(lambda: written(healed), f"written again after {name} and its end", CALM)

    # --- The verdict

    def judge(self):
        for writer in self.writers:
            writer.end()
        primary = self.await_calm()
        there = set(map(int, self.cluster.ask(primary, "select n from t").split()))
        commits = [commit for writer in self.writers for commit in writer.commits]
        if lost := {commit.number for commit in commits} - there:
            raise Wrong(f"{len(lost)} acknowledged commits are lost: {sorted(lost)[:10]}")
        first = {}
        for commit in commits:
            first[commit.group] = min(first.get(commit.group, commit.acknowledged),
                                      commit.acknowledged)
        for commit in commits:
            later = [at for group, at in first.items() if group > commit.group]
            if later and commit.sent > min(later):
                raise Wrong(f"{commit} was sent after a later group's first acknowledgement")
        for node in IDS:
            self.until(lambda each=node: self.cluster.ask(each, "select count(*) from t")
                  == str(len(there)), f"node {node} has all that is there")
        return len(commits)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("muster")
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="no fault begins after that")
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--T", default="100ms")
    parser.add_argument("--stop-deadline", default="500ms")
    said = parser.parse_args()
    if not (PROGRAMS / "postgres").exists():
        print("skipped: PostgreSQL 15 not found", file=sys.stderr)
        return
    cluster = Cluster(said.muster, said.T, said.stop_deadline)
    run = Run(cluster, said.seed, said.writers)
    done, began = 0, time.monotonic()
    try:
        cluster.begin()
        until(lambda: cluster.ask(run.await_calm(), "create table t (n bigint primary key)")
              is not None, "a table")
        for writer in run.writers:
            writer.start()
        while done < said.faults and time.monotonic() - began < said.seconds:
            run.fault()
            done += 1
        count = run.judge()
    except Exception as wrong:
        cluster.end()
        if not isinstance(wrong, (Wrong, AssertionError)):
            raise
        sys.exit(f"WRONG after {done} faults, seed {said.seed}: {wrong}; see {cluster.path}")
    cluster.end()
    shutil.rmtree(cluster.path)
    print(f"{done} faults, seed {said.seed}: {count} acknowledged commits, none lost; nodes that "
          f"ended themselves, by exit code: {dict(cluster.ended)}")
    print(f"{'fault':32}{'times':>6}{'median':>9}{'longest':>9}  ms until the next commit")
    for name, gaps in sorted(run.gaps.items()):
        print(f"{name:32}{len(gaps):6}{1000 * statistics.median(gaps):9.0f}{1000 * max(gaps):9.0f}")


if __name__ == "__main__":
    main()
