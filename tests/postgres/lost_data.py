#!/usr/bin/env python3
"""Data that a node has not any more, and data that its owner does not want: who has less than it
had counts for nothing, and is cloned anew."""

import json
import shutil
import signal
import subprocess
import sys
import unittest

from cluster import IDS, Cluster
from machines import PROGRAMS
from run import Run, until

muster = None


class LostData(unittest.TestCase):
    """In one order: each begins where the one before it ended, in calm."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(muster, "500ms", "3s")
        cls.addClassCleanup(shutil.rmtree, cls.cluster.path)
        cls.addClassCleanup(cls.cluster.end)
        cls.cluster.begin()
        cls.run_ = Run(cls.cluster, 1, 1)
        cls.run_.await_calm()
        cls.ask("create table t (n bigint primary key)")
        cls.numbers = 0

    @classmethod
    def ask(cls, statement):
        """Of the primary, until it answers."""
        def said():
            answer = cls.cluster.ask(cls.run_.await_calm(), statement)
            return None if answer is None else [answer]
        return cls.run_.until(said, statement)[0]

    def write(self):
        type(self).numbers += 1
        self.ask(f"insert into t values ({self.numbers}) returning n")

    def standby(self):
        primary = self.run_.await_calm()
        return next(node for node in IDS if node != primary)

    def logged(self, node, sentence):
        return self.cluster.log(node).count(sentence)

    def become_whole(self, node):
        self.run_.await_calm()
        self.assertEqual(until(lambda: self.cluster.ask(node, "select count(*) from t"),
                               "it answers"), str(self.numbers))

    def stop_where_it_is(self, node):
        """All of it, at once."""
        self.cluster.signal_all(node, signal.SIGKILL)
        self.cluster.running.pop(node).wait()
        until(lambda: self.cluster.postmaster(node) is None, "no postmaster is left")

    def remembered(self, node):
        try:
            held = json.loads((self.cluster.database(node) / "muster.held").read_text())
            return held["lsn"]["value"]
        except OSError:
            return 0

    def only_it_and(self, node, other):
        """The third is down, and nobody writes: the node counts for nothing."""
        third = next(each for each in IDS if each not in (node, other))
        self.stop_where_it_is(third)
        self.cluster.start(node)
        counted = "1 of the 2 nodes that it takes have data here"
        until(lambda: all(counted in json.dumps(self.cluster.status(each))
                          for each in (node, other)), "both say that nobody writes")
        self.assertIsNone(self.cluster.primary())
        self.cluster.start(third)

    def test_1_a_backup_that_was_put_back_counts_for_nothing_and_is_cloned(self):
        node = self.standby()
        self.write()
        self.stop_where_it_is(node)
        data, backup = self.cluster.database(node) / "data", self.cluster.path / "backup"
        subprocess.run(["cp", "-a", data, backup], check=True)
        self.cluster.start(node)
        self.run_.await_calm()
        before = int(self.ask("select pg_current_wal_lsn() - '0/0'"))
        self.ask("create table more as select generate_series(1, 10000) n")
        self.run_.until(lambda: (self.write(), self.remembered(node) > before)[1],
                        "what it holds is remembered")
        self.stop_where_it_is(node)
        shutil.rmtree(data)
        backup.rename(data)
        self.only_it_and(node, self.run_.until(self.cluster.primary, "there is a primary"))
        self.become_whole(node)
        self.assertEqual(self.logged(node, "has less than it had"), 1)

    def test_2_who_has_lost_its_database_joins_again_and_counts_for_nothing(self):
        node = self.standby()
        self.stop_where_it_is(node)
        shutil.rmtree(self.cluster.database(node))
        ran = subprocess.run(self.cluster.command("run", node), cwd=self.cluster.path,
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 64)
        self.assertIn("muster postgres join", ran.stderr)
        self.cluster.once("join", node)
        self.only_it_and(node, self.run_.until(self.cluster.primary, "there is a primary"))
        self.become_whole(node)
        self.assertEqual(self.logged(node, "counts for nothing until it is cloned from"), 1)

    def test_4_another_database_in_its_place_is_refused(self):
        node = self.standby()
        self.run_.until(lambda: self.remembered(node), "what it holds is remembered")
        self.stop_where_it_is(node)
        data = self.cluster.database(node) / "data"
        data.rename(self.cluster.path / "own")
        user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]
        subprocess.run([*(user if self.cluster.user else []), PROGRAMS / "initdb", "-D",
                        data, "-U", "postgres", "-A", "trust"], check=True,
                       stdout=subprocess.DEVNULL)
        ran = subprocess.run(self.cluster.command("run", node), cwd=self.cluster.path,
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 64)
        self.assertIn("is another (system", ran.stderr)
        shutil.rmtree(data)
        (self.cluster.path / "own").rename(data)
        self.cluster.start(node)
        self.become_whole(node)

    def rejoin(self, node):
        return subprocess.run(self.cluster.command("rejoin", node), cwd=self.cluster.path,
                              capture_output=True, text=True, check=False, timeout=60)

    def directory(self, node):
        """Which one it is; none while another takes its place."""
        try:
            return (self.cluster.database(node) / "data").stat().st_ino
        except FileNotFoundError:
            return None

    def test_3_a_replica_is_cloned_anew_at_its_owners_word_and_a_primary_is_not(self):
        primary = self.run_.await_calm()
        ran = self.rejoin(primary)
        self.assertEqual(ran.returncode, 75)
        self.assertIn("let another be it first, with switch-over", ran.stderr)
        node = self.standby()
        of_before = self.directory(node)
        ran = self.rejoin(node)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        until(lambda: self.directory(node) not in (None, of_before),
              "another directory is there")
        self.become_whole(node)
        self.assertEqual(self.run_.await_calm(), primary)
        self.stop_where_it_is(node)
        ran = self.rejoin(node)
        self.assertEqual(ran.returncode, 5)
        self.assertIn("let it join again", ran.stderr)
        self.cluster.start(node)
        self.become_whole(node)


if __name__ == "__main__":
    muster = sys.argv.pop(1)
    if not (PROGRAMS / "postgres").exists():
        print("skipped: PostgreSQL 15 not found", file=sys.stderr)
        sys.exit(0)
    unittest.main(verbosity=2)
