"""A cluster that clients write to while faults happen, and the verdict."""

import random
import time

from writers import Writer

# A primary has slots named after its group. While it is sealed it has none, and a commit that was
# sent then is of no known group.
GROUP = ("coalesce((select split_part(slot_name, '_', 2) || '.' || split_part(slot_name, '_', 3)"
         " from pg_replication_slots where slot_name like 'muster\\_%%' limit 1), '-')")
PATIENT = 30  # s: how long a client waits for one primary, which may be sealed during this time


class Wrong(Exception):
    """A violated claim."""


def group_number(text):
    """A key that sorts groups in their order."""
    return tuple(map(int, text.split(".")))


class Run:
    """`writers` clients know all three nodes. In addition, one client on each machine knows only
    its node."""

    def __init__(self, cluster, seed, writers):
        self.cluster, self.random = cluster, random.Random(seed)
        self.until, self.await_calm = cluster.until, cluster.await_calm
        self.clients, self.writers = writers, []
        self.counts = {}

    def begin(self):
        self.cluster.begin()
        self.until(lambda: self.cluster.ask(
            self.await_calm(), "create table if not exists t (n bigint primary key)") is not None,
            "a table")
        for client in range(self.clients):
            self.write("client", self.cluster.connection(*self.cluster.data))
        for node in self.cluster.data:
            self.write("local", self.cluster.connection(node), PATIENT,
                       self.cluster.machines.get(node))

    def write(self, name, connection, *more):
        first = 10**10 * (1 + len(self.writers))
        self.writers.append(Writer(name, connection, first, GROUP, *more))

    def written_since(self, moment):
        """The time of the first acknowledgement of a commit that was sent after `moment`."""
        found = []
        for writer in self.writers:
            for commit in reversed(writer.commits):
                if commit.sent <= moment:
                    break
                found.append(commit.acknowledged)
        return min(found, default=None)

    def longest_pause(self, began, ended):
        """The longest time without an acknowledgement, in s."""
        moments = [began, *sorted(commit.acknowledged for writer in self.writers
                                  for commit in list(writer.commits)
                                  if began < commit.acknowledged < ended), ended]
        return max(later - earlier for earlier, later in zip(moments, moments[1:]))

    def wait(self, seconds):
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end, "time passes", seconds + 60)

    # --- The verdict

    def stop_writing(self):
        for writer in self.writers:
            writer.end()

    def judge(self):
        self.stop_writing()
        primary = self.await_calm()
        there = set(map(int, self.cluster.ask(primary, "select n from t", 60).split()))
        commits = [commit for writer in self.writers for commit in writer.commits]
        lost = {commit.number for commit in commits} - there
        late = self.late(commits)
        self.counts.update(acknowledged=len(commits), lost=len(lost), late=len(late), groups=len(
            self.cluster.ask(primary, "select counter from muster.term").split()))
        if lost:
            raise Wrong(f"{len(lost)} acknowledged commits are lost: {sorted(lost)[:10]}")
        if late:
            raise Wrong(f"{len(late)} were sent after a later group's first acknowledgement: "
                        f"{late[:3]}")
        for node in self.cluster.data:
            self.until(lambda each=node: self.cluster.ask(each, "select count(*) from t", 10)
                       == str(len(there)), f"node {node} has all that is there")
        return len(commits)

    @staticmethod
    def late(commits):
        """Commits that were sent after a later group's first acknowledgement."""
        first = {}
        commits = [commit for commit in commits if commit.reign != "-"]
        for commit in commits:
            first[commit.reign] = min(first.get(commit.reign, commit.acknowledged),
                                      commit.acknowledged)
        bound, soonest = {}, float("inf")
        for reign in sorted(first, key=group_number, reverse=True):
            bound[reign] = soonest
            soonest = min(soonest, first[reign])
        return [commit for commit in commits if commit.sent > bound[commit.reign]]
