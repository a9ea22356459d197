#!/usr/bin/env python3
"""Data that a node has not any more, and data that its owner does not want: who has less than it
had counts for nothing, and is cloned anew."""

import json
import shutil
import subprocess
import unittest

from cases import MUSTER
from cluster import IDS, Cluster
from machines import PROGRAMS, as_postgres
from nodes import until
from skipping import run_cases


class LostData(unittest.TestCase):
    """In one order: each begins where the one before it ended, in calm."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(MUSTER, "500ms", "3s")
        cls.addClassCleanup(cls.cluster.end, keep=False)
        cls.cluster.begin()
        cls.ask("create table t (n bigint primary key)")
        cls.numbers = 0

    @classmethod
    def ask(cls, statement):
        """Of the primary, in calm."""
        cls.cluster.await_calm()
        return cls.cluster.answer(statement)

    def write(self):
        type(self).numbers += 1
        self.ask(f"insert into t values ({self.numbers}) returning n")

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
        """The third is down, and nobody writes: the node counts for nothing."""
        third = next(each for each in IDS if each not in (node, other))
        self.cluster.kill_to_the_last(third)
        self.cluster.start(node)
        counted = "1 of the 2 nodes that it takes have data here"
        until(lambda: all(counted in json.dumps(self.cluster.status(each))
                          for each in (node, other)), "both say that nobody writes")
        self.assertIsNone(self.cluster.primary())
        self.cluster.start(third)

    def test_1_a_backup_that_was_put_back_counts_for_nothing_and_is_cloned(self):
        node = self.standby()
        self.write()
        self.cluster.kill_to_the_last(node)
        data, backup = self.cluster.database(node) / "data", self.cluster.path / "backup"
        subprocess.run(["cp", "-a", data, backup], check=True)
        self.cluster.start(node)
        self.cluster.await_calm()
        before = int(self.ask("select pg_current_wal_lsn() - '0/0'"))
        self.ask("create table more as select generate_series(1, 10000) n")
        self.cluster.until(lambda: (self.write(), self.remembered(node) > before)[1],
                           "what it holds is remembered")
        self.cluster.kill_to_the_last(node)
        shutil.rmtree(data)
        backup.rename(data)
        self.only_it_and(node, self.cluster.until(self.cluster.primary, "there is a primary"))
        self.become_whole(node)
        self.assertEqual(self.logged(node, "has less than it had"), 1)

    def test_2_who_has_lost_its_database_joins_again_and_counts_for_nothing(self):
        node = self.standby()
        self.cluster.kill_to_the_last(node)
        shutil.rmtree(self.cluster.database(node))
        ran = self.cluster.say("run", node)
        self.assertEqual(ran.returncode, 64)
        self.assertIn("muster postgres join", ran.stderr)
        self.cluster.once("join", node)
        self.only_it_and(node, self.cluster.until(self.cluster.primary, "there is a primary"))
        self.become_whole(node)
        self.assertEqual(self.logged(node, "counts for nothing until it is cloned from"), 1)

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
        self.assertIn("is another (system", ran.stderr)
        shutil.rmtree(data)
        (self.cluster.path / "own").rename(data)
        self.cluster.start(node)
        self.become_whole(node)

    def directory(self, node):
        """Which one it is; none while another takes its place."""
        try:
            return (self.cluster.database(node) / "data").stat().st_ino
        except FileNotFoundError:
            return None

    def test_3_a_replica_is_cloned_anew_at_its_owners_word_and_a_primary_is_not(self):
        primary = self.cluster.await_calm()
        ran = self.cluster.say("rejoin", primary)
        self.assertEqual(ran.returncode, 75)
        self.assertIn("let another be it first, with switch-over", ran.stderr)
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


if __name__ == "__main__":
    run_cases(verbosity=2)
