#!/usr/bin/env python3
"""Data that a node has lost, and data that its operator does not want. A node with less data than
it had does not count, and is cloned."""

import json
import shutil
import subprocess
import unittest

from calm_cluster import CalmCluster
from cases import MUSTER
from cluster import IDS, Cluster
from machines import PROGRAMS, as_postgres
from nodes import until
from skipping import run_cases


class LostData(CalmCluster):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ask("create table if not exists t (n bigint primary key)")
        cls.numbers = 0

    @classmethod
    def ask(cls, statement):
        """Asks the primary of the calm cluster."""
        cls.cluster.await_calm()
        return cls.cluster.answer(statement)

    def write(self):
        type(self).numbers += 1
        self.ask(f"insert into t values ({self.numbers}) on conflict do nothing returning n")

    def standby(self):
        primary = self.cluster.await_calm()
        return next(node for node in IDS if node != primary)

    def logged(self, node, sentence):
        return self.cluster.log(node).count(sentence)

    def become_whole(self, node):
        self.cluster.await_calm()
        self.assertEqual(until(lambda: self.cluster.ask(node, "select count(*) from t"),
                               "it answers"), str(self.numbers))

    def remembered(self, node):
        try:
            held = json.loads((self.cluster.database(node) / "muster.held").read_text())
            return held["lsn"]["value"]
        except OSError:
            return 0

    def only_it_and(self, node, other):
        """The third node is down, and nobody writes: this node does not count."""
        third = next(each for each in IDS if each not in (node, other))
        self.cluster.kill_to_the_last(third)
        self.cluster.start(node)
        counted = "1 of the 2 nodes that are needed have data here"
        until(lambda: all(counted in json.dumps(self.cluster.status(each))
                          for each in (node, other)), "both say that nobody writes")
        self.assertIsNone(self.cluster.primary())
        self.cluster.start(third)

    def test_1_a_backup_that_was_restored_does_not_count_and_is_cloned(self):
        node = self.standby()
        self.write()
        self.cluster.kill_to_the_last(node)
        data, backup = self.cluster.database(node) / "data", self.cluster.path / "backup"
        subprocess.run(["cp", "-a", data, backup], check=True)
        self.cluster.start(node)
        self.cluster.await_calm()
        before = int(self.ask("select pg_current_wal_lsn() - '0/0'"))
        self.ask("create table if not exists more as select generate_series(1, 10000) n")
        self.cluster.until(lambda: (self.write(), self.remembered(node) > before)[1],
                           "what it holds is remembered")
        self.cluster.kill_to_the_last(node)
        shutil.rmtree(data)
        backup.rename(data)
        self.only_it_and(node, self.cluster.until(self.cluster.primary, "there is a primary"))
        self.become_whole(node)
        self.assertEqual(self.logged(node, "has less data than it once had"), 1)

    def test_2_who_has_lost_its_database_joins_again_and_does_not_count(self):
        node = self.standby()
        self.cluster.kill_to_the_last(node)
        shutil.rmtree(self.cluster.database(node))
        ran = self.cluster.say("run", node)
        self.assertEqual(ran.returncode, 64)
        self.assertIn("muster postgres join", ran.stderr)
        self.cluster.join(node)
        self.only_it_and(node, self.cluster.until(self.cluster.primary, "there is a primary"))
        self.become_whole(node)
        self.assertEqual(self.logged(node, "is ignored until its database has been cloned from"), 1)

    def test_4_another_database_in_its_place_is_refused(self):
        node = self.standby()
        self.cluster.until(lambda: self.remembered(node), "what it holds is remembered")
        self.cluster.kill_to_the_last(node)
        data = self.cluster.database(node) / "data"
        data.rename(self.cluster.path / "own")
        subprocess.run([*as_postgres(), PROGRAMS / "initdb", "-D", data, "-U", "postgres", "-A",
                        "trust"], check=True, stdout=subprocess.DEVNULL)
        ran = self.cluster.say("run", node)
        self.assertEqual(ran.returncode, 64)
        self.assertIn("is not the one that this node had", ran.stderr)
        shutil.rmtree(data)
        (self.cluster.path / "own").rename(data)
        self.cluster.start(node)
        self.become_whole(node)

    def directory(self, node):
        """The identity of the data directory. None: it is just being replaced."""
        try:
            return (self.cluster.database(node) / "data").stat().st_ino
        except FileNotFoundError:
            return None

    def test_3_a_replica_is_cloned_anew_at_its_owners_word_and_a_primary_is_not(self):
        primary = self.cluster.await_calm()
        ran = self.cluster.say("rejoin", primary)
        self.assertEqual(ran.returncode, 75)
        self.assertIn("make another node the primary first, with switch-over", ran.stderr)
        node = self.standby()
        of_before = self.directory(node)
        ran = self.cluster.say("rejoin", node)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        until(lambda: self.directory(node) not in (None, of_before),
              "another directory is there")
        self.become_whole(node)
        self.assertEqual(self.cluster.await_calm(), primary)
        self.cluster.kill_to_the_last(node)
        ran = self.cluster.say("rejoin", node)
        self.assertEqual(ran.returncode, 5)
        self.assertIn("let it join again", ran.stderr)
        self.cluster.start(node)
        self.become_whole(node)



class BeforeJoin(unittest.TestCase):
    def test_a_node_that_is_run_before_it_has_joined_leaves_no_trace(self):
        cluster = Cluster(MUSTER, "500ms", "3s")
        self.addCleanup(cluster.end, keep=False)
        cluster.begin_first()
        for node in IDS[1:]:
            ran = cluster.say("run", node)
            self.assertEqual(ran.returncode, 64, ran.stderr)
            self.assertIn("muster postgres join", ran.stderr)
            self.assertFalse((cluster.store(node) / "safe.sqlite").exists())
            cluster.join(node)
            cluster.start(node)
        cluster.await_calm()


if __name__ == "__main__":
    run_cases(verbosity=2)
