#!/usr/bin/env python3
"""An administrator sets for the role and the database of Muster what breaks or changes a session,
and nodes are started from a shell with variables of libpq. The nodes' own sessions use neither."""

from calm_cluster import CalmCluster
from cluster import IDS
from skipping import run_cases

SETTINGS = (
    "create role plain",
    "alter database postgres set default_transaction_isolation to serializable",
    "alter database postgres set role = plain",
    "alter database postgres set local_preload_libraries = absent",
    "alter role postgres set session_preload_libraries = absent",
)
VARIABLES = {"PGTARGETSESSIONATTRS": "read-write", "PGHOSTADDR": "192.0.2.1",
             "PGSERVICE": "absent", "PGOPTIONS": "-c role=absent"}


class OwnSessions(CalmCluster):
    def test_1_variables_of_libpq_reach_no_session(self):
        primary = self.cluster.await_calm()
        self.cluster.environment = VARIABLES
        for node in IDS:
            if node != primary:
                self.cluster.leave(node)
                self.cluster.start(node)
        self.assertEqual(self.cluster.await_calm(), primary)

    def test_2_settings_of_role_and_database_keep_no_node_from_starting(self):
        primary = self.cluster.await_calm()
        self.cluster.answer("; ".join(SETTINGS), primary)  # no second session would begin
        standby = next(node for node in IDS if node != primary)
        self.cluster.leave(standby)
        self.cluster.start(standby)
        self.assertEqual(self.cluster.await_calm(), primary)

    def test_3_nor_from_writing_after_a_fail_over(self):
        primary = self.cluster.await_calm()
        self.cluster.kill(primary)
        self.cluster.until(lambda: self.cluster.primary() not in (None, primary),
                           "another node is the primary")
        self.cluster.start(primary)
        self.cluster.await_calm()


if __name__ == "__main__":
    run_cases()
