#!/usr/bin/env python3
"""A standby was away for longer than its primary keeps its log. It is cloned by itself."""

from calm_cluster import CalmCluster
from cluster import IDS
from skipping import run_cases

KEPT = 16  # MB


class LogGone(CalmCluster):
    @classmethod
    def prepare(cls):
        cls.cluster.set_application("wal_keep", KEPT)

    def test_a_standby_that_was_away_for_too_long_is_cloned(self):
        primary = self.cluster.await_calm()
        self.assertEqual(self.cluster.answer("show wal_keep_size", primary), f"{KEPT}MB")
        away = next(node for node in IDS if node != primary)
        self.cluster.kill_to_the_last(away)
        self.cluster.await_calm([node for node in IDS if node != away])
        self.ask(primary, "create table t (n text)")
        # A checkpoint removes the log that the one before it did not need.
        for _ in range(4):
            self.ask(primary, "insert into t select repeat('x', 1000)"
                              " from generate_series(1, 15000)")
            self.ask(primary, "checkpoint")
        self.cluster.start(away)
        self.assertEqual(self.cluster.await_calm(), primary)
        log = self.cluster.log(away)
        self.assertIn(f"node {primary} has removed WAL that this node needs next", log)
        self.assertIn(f"the database of this node is cloned from node {primary}", log)
        self.cluster.until(lambda: self.ask(away, "select count(*) from t") == "60000",
                           "it has all")

    def ask(self, node, statement):
        """Its bound is one that a slow machine keeps, as a statement must not be tried twice."""
        return self.cluster.ask(node, statement, bound=self.cluster.patience)


if __name__ == "__main__":
    run_cases()
