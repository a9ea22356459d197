#!/usr/bin/env python3
"""Two databases and a witness: which node goes on alone, and which does not write with the
witness."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

from bundles import Bundled
from cases import MUSTER
from cluster import said
from skipping import run_cases

WITNESS = 3


class Witness(unittest.TestCase):
    """The tests run in one order. Each starts in the state that the one before has left, with both
    nodes following."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Bundled(witness=True)
        cls.addClassCleanup(cls.cluster.end, keep=False)
        cls.cluster.begin()
        cls.numbers = 0
        cls.cluster.answer("create table if not exists t (n bigint primary key)",
                           cls.cluster.await_calm())

    def write(self, node):
        type(self).numbers += 1
        self.cluster.answer(
            f"insert into t values ({self.numbers}) on conflict do nothing returning n", node)

    def acknowledges_alone(self, node):
        return self.cluster.answer("select count(*) from pg_stat_replication"
                                   " where application_name = 'muster_alone'", node) == "1"

    def says(self, node, sentence):
        self.cluster.until(lambda: sentence in json.dumps(self.cluster.status(node)),
                           f"node {node} says: {sentence}")

    def roles(self, node):
        _, status = self.cluster.seen(node)
        return {each["node"]: each["role"] for each in status["nodes"]}

    def become_whole(self):
        primary = self.cluster.await_calm()
        self.assertFalse(self.acknowledges_alone(primary))
        counted = f"select count(*) = {self.numbers} from t"
        self.cluster.until(lambda: self.cluster.ask(3 - primary, counted) == "t", "it has all")
        return primary

    def test_1_a_primary_whose_standby_is_lost_goes_on_alone_until_it_is_back(self):
        primary = self.become_whole()
        self.assertFalse(self.acknowledges_alone(primary))
        self.cluster.kill(3 - primary)
        self.write(primary)
        self.assertTrue(self.acknowledges_alone(primary))
        roles = {primary: "primary", 3 - primary: "unreachable", WITNESS: "witness"}
        self.cluster.until(lambda: self.roles(primary) == roles, f"the roles are {roles}")
        _, status = self.cluster.seen(primary)
        self.assertIn(f"node {primary} alone has each commit", status["counts_on"])
        ran = self.cluster.say("switch-over", primary, "--to", 3 - primary)
        self.assertEqual(ran.returncode, 75, ran.stderr)
        self.cluster.start(3 - primary)
        self.become_whole()

    def test_2_the_other_goes_on_and_who_was_away_does_not_write_with_the_witness(self):
        before = self.become_whole()
        self.cluster.kill(before)
        other = 3 - before
        self.cluster.until(lambda: self.cluster.primary() == other, "the other is primary")
        self.write(other)
        self.cluster.kill(other)
        self.cluster.start(before)
        self.says(before, f"each commit is only on node {other}, and its data is not here: start")
        self.assertIsNone(self.cluster.primary())
        self.cluster.start(other)
        self.assertEqual(self.become_whole(), other)

    def test_3_a_witness_that_is_lost_costs_nothing(self):
        primary = self.become_whole()
        self.cluster.kill(WITNESS)
        self.write(primary)
        self.assertFalse(self.acknowledges_alone(primary))
        self.cluster.start(WITNESS)
        self.become_whole()

    def test_4_a_witness_that_starts_again_lets_nobody_go_on_before_both_were_there(self):
        primary = self.become_whole()
        self.cluster.kill(3 - primary)
        self.write(primary)
        self.cluster.kill(WITNESS)
        self.cluster.start(WITNESS, "--initialise")
        self.says(primary, "1 of the 2 nodes that are needed here know which node has each commit")
        self.assertIsNone(self.cluster.primary())
        self.cluster.start(3 - primary)
        self.assertEqual(self.become_whole(), primary)
        self.cluster.kill(3 - primary)
        self.write(primary)
        self.cluster.start(3 - primary)
        self.become_whole()

    def test_5_of_the_words_it_has_no_database_for_it_says_so(self):
        says = {word: self.cluster.say(word, WITNESS) for word in ("join", "create", "rejoin")}
        config = self.cluster.config(WITNESS)
        says |= {word: self.cluster.postgres(word, "--config", config)
                 for word in ("check", "status")}
        for word, ran in says.items():
            self.assertEqual(ran.returncode, 0 if word == "join" else 64, word)
            self.assertIn("a witness", ran.stdout + ran.stderr, word)


class Bundles(unittest.TestCase):
    def test_the_witness_gets_a_bundle_without_proofs_for_postgresql(self):
        path = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, path)
        beside = (MUSTER, "postgres", "init", "--witness", "127.0.0.3")
        ran = said(*beside, "--nodes", "127.0.0.1,127.0.0.2", "--to", "made", cwd=path)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for node in (1, 2, WITNESS):
            self.assertEqual((path / f"made/n{node}/client").exists(), node != WITNESS)
        for nodes in ("127.0.0.1", "127.0.0.1,127.0.0.2,127.0.0.4"):
            ran = said(*beside, "--nodes", nodes, "--to", "other", cwd=path)
            self.assertEqual(ran.returncode, 2, ran.stderr)
            self.assertIn("--witness HOST: expected one host, and exactly two", ran.stderr)


if __name__ == "__main__":
    run_cases(verbosity=2)
