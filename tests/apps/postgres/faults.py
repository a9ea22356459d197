#!/usr/bin/env python3
"""Three nodes and their PostgreSQL, writers, and random faults: is an acknowledged commit lost?

./dev bench postgres [--faults 100] [--seed 1] [--only NAME,NAME] [--results FILE]

The exit code is 1, and the directory is kept, in these cases:
- a commit is lost;
- the primary of an earlier group acknowledges a commit that was sent after a later group's first
  acknowledgement;
- nothing can be written 10 s after a fault and 10 s after its end.

Each part has a cluster of its own, every second one on disks of its own. FILE gets a line for each
part, and another call goes on where the one before has ended. Faults of networks and disks need
namespaces.
"""

import argparse
import contextlib
import itertools
import random
import shutil
import signal
import subprocess
import sys
import time

import machines
from cluster import IDS, Cluster, OnMachines
from machines import CLIENTS, PORT, PROGRAMS
from parts import Parts
from run import Run, Wrong
from skipping import SKIPPED
from writers import NEEDED

CALM = 10  # s: writing must work again within this time after a fault, and after its end
SAMPLE = "/usr/share/postgresql/15/postgresql.conf.sample"
WRONGS = (Wrong, AssertionError, subprocess.SubprocessError)
LONGEST = 6  # s: the longest time that a fault lasts once writing works again


class Faults(Run):
    """A fault is a generator. It makes the fault, yields the role of the affected node if that is
    not the victim's, and then repairs everything."""

    def __init__(self, cluster, seed, writers, only):
        super().__init__(cluster, seed, writers)
        self.faults = [fault for fault in self.possible() if not only or fault.__name__ in only]
        self.gaps = []  # tuples: the fault, ms until the next commit, ms of the longest pause
        self.now = None

    def possible(self):
        return [*self.EVERYWHERE, *self.OF_OWNERS,
                *(self.OF_NETWORKS if self.cluster.machines else ()),
                *(self.OF_DISKS if self.cluster.disks else ())]

    def another(self, node, of=IDS):
        return self.random.choice([each for each in of if each != node])

    def role(self, node):
        if node not in self.cluster.data:
            return "witness"
        return "primary" if node == self.primary else "standby"

    # --- Faults of processes

    def kill_all_of_it(self, node):
        self.cluster.kill_all(node)
        yield
        self.cluster.start(node)

    def kill_node(self, node):
        self.cluster.kill(node)
        yield
        self.cluster.start(node)

    def kill_postmaster(self, node):
        self.cluster.kill_postmaster(node)
        yield

    def kill_two(self, node):
        pair = node, self.another(node)
        for each in pair:
            self.cluster.kill_all(each)
        for each in pair:
            self.cluster.start(each)
        yield

    def kill_the_next_too(self, node):
        self.cluster.kill_all(node)
        next_one = self.until(self.cluster.primary, "there is a next primary")
        self.cluster.kill_all(next_one)
        for each in (node, next_one):
            self.cluster.start(each)
        yield

    def stop_for_a_while(self, node):
        self.cluster.signal_all(node, signal.SIGSTOP)
        yield
        self.cluster.signal_all(node, signal.SIGCONT)

    def step_down(self, node):
        subprocess.run([self.cluster.muster, "step-down", "--dir", self.cluster.store(node),
                        "--for", "1s"], capture_output=True, check=False)
        yield

    def leave(self, node):
        self.cluster.leave(node)
        yield
        self.cluster.start(node)

    def switch_over(self, node):
        self.cluster.say("switch-over", node, "--to", self.another(node, self.cluster.data))
        yield

    EVERYWHERE = (kill_all_of_it, kill_node, kill_postmaster, kill_two, kill_the_next_too,
                  stop_for_a_while, step_down, leave, switch_over)

    # --- Faults of networks

    def cut_off(self, node):
        self.cluster.machines[node].cut()
        yield
        self.cluster.machines[node].heal()

    def cut_between(self, node):
        other = self.another(node)
        self.cluster.machines[node].deafen(other)
        self.cluster.machines[other].deafen(node)
        yield " and ".join(sorted((self.role(node), self.role(other))))
        self.cluster.machines[node].hear()
        self.cluster.machines[other].hear()

    def cut_databases(self, node):
        """Cuts two databases from each other, while their nodes hear each other."""
        pair = node, self.another(node, self.cluster.data)
        for one, other in (pair, reversed(pair)):
            self.cluster.machines[one].deafen(other, port=PORT)
        yield " and ".join(sorted(map(self.role, pair)))
        for each in pair:
            self.cluster.machines[each].hear()

    def cut_database_off(self, node):
        """Cuts a database from all others, while its node hears the others."""
        others = [each for each in self.cluster.data if each != node]
        self.cluster.machines[node].deafen(*others, port=PORT)
        for each in others:
            self.cluster.machines[each].deafen(node, port=PORT)
        yield
        for each in self.cluster.data:
            self.cluster.machines[each].hear()

    def cut_one_way(self, node):
        other = self.another(node)
        self.cluster.machines[other].deafen(node)
        yield f"{self.role(node)} to {self.role(other)}"
        self.cluster.machines[other].hear()

    def heard_by_nobody(self, node):
        others = [machines.Network(),
                  *(self.cluster.machines[each] for each in IDS if each != node)]
        for other in others:
            other.deafen(node)
        yield
        for other in others:
            other.hear()

    def hears_nobody(self, node):
        self.cluster.machines[node].deafen(CLIENTS, *(each for each in IDS if each != node))
        yield
        self.cluster.machines[node].hear()

    def flap(self, node):
        for _ in range(self.random.randint(2, 5)):
            self.cluster.machines[node].cut()
            self.wait(self.random.uniform(0.02, 1.5))
            self.cluster.machines[node].heal()
            self.wait(self.random.uniform(0.02, 1.5))
        yield

    OF_NETWORKS = (cut_off, cut_between, cut_databases, cut_database_off, cut_one_way,
                   heard_by_nobody, hears_nobody, flap)

    # --- Faults of disks

    def full_disk(self, node):
        """Its node reports the full disk, and does not take the database for broken."""
        before = len(self.cluster.log(node))

        def said(what):
            return what in self.cluster.log(node)[before:]

        def fill():
            """Fills the disk again, since a file may have been removed meanwhile."""
            self.cluster.disks[node].fill()
            return said("is full")

        fill()
        yield
        self.until(fill, "a node says that its disk is full", CALM)
        self.cluster.disks[node].free()
        self.until(lambda: said("has room again"), "a node says that its disk has room", CALM)
        self.await_calm()
        # The disk may become full while PostgreSQL writes a record that continues in the next
        # segment. If another node is promoted at that point, PostgreSQL 15 cannot read its own log
        # any further, and may PANIC.
        if said("is cloned from") and "contrecord" not in self.cluster.postgres_log(node):
            raise Wrong(f"node {node} had a full disk, and was cloned")

    OF_DISKS = (full_disk,)

    # --- Faults of owners, and then of a node

    def sql(self, node, *statements):
        """Runs statements in a session that stays open after them. Returns its process."""
        # pylint: disable-next=consider-using-with
        session = subprocess.Popen(
            [PROGRAMS / "psql", "-X", "-q", "-A", "-t", self.cluster.connection(node)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        session.stdin.write(";\n".join([*statements, "select 'done'"]) + ";\n")
        session.stdin.flush()
        while session.stdout.readline() not in ("done\n", ""):
            pass
        return session

    def sql_once(self, node, *statements):
        self.sql(node, *statements).communicate()

    def make_setting(self, node):
        """The standby names are taken away, and a limit of the primary grows."""
        self.sql_once(self.primary, "alter system set synchronous_standby_names = ''",
                      f"alter system set max_connections = {self.random.randint(90, 150)}",
                      "select pg_reload_conf()",
                      "alter database postgres set default_transaction_isolation = serializable")
        self.cluster.kill_all(node)
        yield
        self.cluster.start(node)
        self.sql_once(self.await_calm(),
                      "alter database postgres reset default_transaction_isolation")

    def restore_dump(self, node):
        """The schema of Muster is replaced by an old dump of it."""
        dump = self.cluster.path / "dump"
        to = self.cluster.connection(self.primary)
        if not dump.exists():
            subprocess.run([PROGRAMS / "pg_dump", "-Fc", "-n", "muster", "-f", dump, to],
                           check=True)
        subprocess.run([PROGRAMS / "pg_restore", "--clean", "--if-exists", "-d", to, dump],
                       capture_output=True, check=False)
        self.cluster.kill_all(node)
        yield
        self.cluster.start(node)

    def replace_file(self, node):
        shutil.copy(SAMPLE, self.cluster.database(self.primary) / "data/postgresql.conf")
        self.sql_once(self.primary, "select pg_reload_conf()")
        self.cluster.kill_all(node)
        yield
        self.cluster.start(node)

    def hold_lock(self, node):
        table = self.random.choice(("muster.term", "pg_catalog.pg_database", "t"))
        session = self.sql(node, "begin", f"lock table {table} in access exclusive mode",
                           "select txid_current()")
        self.cluster.kill_all(node)
        session.kill()
        yield
        self.cluster.start(node)

    def open_subtransactions(self, node):
        session = self.sql(self.primary, "begin", *(
            f"savepoint s{number}; insert into t values ({-number})" for number in range(1, 90)))
        for each in self.cluster.data:
            self.sql_once(each, "checkpoint")
        self.cluster.kill_all(node)
        yield
        self.cluster.start(node)
        self.await_calm()
        session.kill()

    def pause_server(self, node):
        """All processes of PostgreSQL are paused, and its node is not."""
        self.cluster.signal_server(node, signal.SIGSTOP)
        yield
        self.cluster.signal_server(node, signal.SIGCONT)

    def kill_on_new_timeline(self, node):
        """A standby is killed while it moves to the timeline of the next primary."""
        third = self.another(node, self.cluster.data)

        def timelines():
            return {path.name[:8] for path in
                    (self.cluster.database(third) / "data/pg_wal").glob("[0-9A-F]*")}

        before = timelines()
        self.cluster.kill_all(node)
        self.until(lambda: timelines() != before, "there is a new timeline")
        self.cluster.kill_all(third)
        for each in (node, third):
            self.cluster.start(each)
        yield

    OF_OWNERS = (make_setting, restore_dump, replace_file, hold_lock, open_subtransactions,
                 pause_server, kill_on_new_timeline)
    OF_DATABASES = (*OF_DISKS, *OF_OWNERS, cut_databases, cut_database_off)
    OF_PRIMARY = (kill_the_next_too, switch_over, hold_lock, kill_on_new_timeline)
    ALL = (*EVERYWHERE, *OF_OWNERS, *OF_NETWORKS, *OF_DISKS)
    LASTING = (make_setting, restore_dump, replace_file, hold_lock, open_subtransactions,
               pause_server, kill_all_of_it, kill_node, stop_for_a_while, leave, cut_off,
               cut_between, cut_databases, cut_database_off, cut_one_way, heard_by_nobody,
               hears_nobody, full_disk)

    # --- A round

    def round(self):
        self.primary = self.await_calm()
        fault = self.random.choice(self.faults)
        of_primary = fault in self.OF_PRIMARY or self.random.random() < 0.6
        of = self.cluster.data if fault in self.OF_DATABASES else IDS
        victim = self.primary if of_primary else self.another(self.primary, of)
        self.now = f"{fault.__name__} of node {victim}, {self.role(victim)}"
        print(f"{time.strftime('%T')} {self.now}", file=sys.stderr)
        began = time.monotonic()
        steps = fault(self, victim)
        self.now = f"{fault.__name__} ({next(steps) or self.role(victim)})"
        self.until(lambda: self.written_since(began), f"written again after {self.now}",
                   self.bound(fault))
        until_next = self.written_since(began) - began
        if fault in self.LASTING:
            self.wait(self.random.uniform(0, LONGEST))
            self.await_writing("late in", self.bound(fault))
        next(steps, None)
        self.await_writing("after the end of")
        pause = self.longest_pause(began, time.monotonic())
        self.gaps.append((self.now, round(1000 * until_next, 1), round(1000 * pause, 1)))

    @staticmethod
    def bound(fault):
        """A primary that no standby reaches waits for as long as a PostgreSQL may take to start. A
        standby that admits no session is first asked in vain."""
        return 2 * CALM if fault in (Faults.cut_database_off, Faults.hold_lock) else CALM

    def await_writing(self, when, bound=CALM):
        moment = time.monotonic()
        self.until(lambda: self.written_since(moment), f"written again {when} {self.now}", bound)


def run_part(cluster, seed, said, faults, until_moment):
    """Runs one part and returns its line. The cluster is ended, and kept if something went
    wrong."""
    cluster.set_application("marker_deadline", '"3s"')
    run = Faults(cluster, seed, said.writers, said.only)
    began, wrong = time.monotonic(), None
    try:
        run.begin()
        while len(run.gaps) < faults and time.monotonic() < until_moment:
            run.round()
        run.now = None
        run.judge()
    except WRONGS as error:
        wrong = f"{error}, after {len(run.gaps)} faults, the last: {run.now}; see {cluster.path}"
        with contextlib.suppress(*WRONGS):
            run.judge()  # if possible, checks the commits that were acknowledged until the failure
    except BaseException:
        cluster.end(keep=True)
        raise
    run.stop_writing()
    logs = "".join(map(cluster.log, IDS))
    cluster.end(keep=wrong)
    return {"seed": seed, "T": said.T, "stop_deadline": said.stop_deadline,
            "faults": len(run.gaps) + bool(run.now), "wrong": wrong,
            "seconds": round(time.monotonic() - began), **run.counts,
            "rewinds": logs.count("is rewound to node"),
            "clones": logs.count("is cloned from node"),
            "ended": dict(cluster.ended), "gaps": run.gaps}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("muster")
    parser.add_argument("--faults", type=int, default=100, help="number of faults in all parts")
    parser.add_argument("--part", type=int, default=40, help="number of faults for each cluster")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="start no fault after that")
    parser.add_argument("--writers", type=int, default=2, help="besides one on each machine")
    parser.add_argument("--T", default="100ms")
    parser.add_argument("--stop-deadline", default="500ms")
    parser.add_argument("--witness", action="store_true", help="two databases and a witness")
    parser.add_argument("--only", help="faults to make, by the names of their functions")
    parser.add_argument("--results", help="add the parts to this file, and sum all of it")
    said = parser.parse_args()
    said.only = set(said.only.split(",")) if said.only else None
    known = {fault.__name__ for fault in Faults.ALL}
    if said.only and not said.only <= known:
        parser.error(f"--only: expected names of {', '.join(sorted(known))}")
    return said


def main():
    said = arguments()
    if absent := machines.missing({"postgresql-15": PROGRAMS / "postgres", **NEEDED}):
        print(f"skipped: {', '.join(absent)} not found", file=sys.stderr)
        sys.exit(SKIPPED)
    hosts, path = {}, None
    if why := machines.why_not():
        print(f"skipped: cuts of the network, full disks: {why}", file=sys.stderr)
        if said.only and not said.only & {fault.__name__ for fault in Faults.EVERYWHERE}:
            sys.exit(SKIPPED)
    else:
        path = machines.enter()
        hosts = machines.make()
    parts = Parts(said.results)
    end = time.monotonic() + said.seconds
    for number in itertools.count(len(parts.lines)):
        left = said.faults - parts.sum("faults")
        if left <= 0 or time.monotonic() > end:
            break
        if hosts:
            own_disks = number % 2 == 0 or "full_disk" in (said.only or ())
            cluster = OnMachines(said.muster, said.T, said.stop_deadline, path / f"part{number}",
                                 hosts, own_disks, said.witness)
        else:
            cluster = Cluster(said.muster, said.T, said.stop_deadline, said.witness)
        seed = f"{said.seed}/{number}"
        parts.add(run_part(cluster, seed, said, min(left, said.part), end))
        if parts.lines[-1]["wrong"]:
            break
    print("\n".join(parts.summary()))
    sys.exit(1 if parts.wrong() else 0 if hosts else SKIPPED)


if __name__ == "__main__":
    main()
