#!/usr/bin/env python3
"""Standbys that are whole and admit no session: the cluster writes on, and they follow."""

import subprocess

from calm_cluster import CalmCluster
from cluster import IDS, PROGRAMS
from skipping import run_cases

MANY = ("create or replace function many(n int) returns void language plpgsql as $$ begin for i in"
        " 1..n loop begin insert into t values (i); exception when others then null; end; end loop;"
        " end $$")


class Refused(CalmCluster):
    @classmethod
    def prepare(cls):
        cls.sessions = []
        cls.addClassCleanup(lambda: [session.kill() for session in cls.sessions])

    def hold(self, node, *statements):
        """Runs statements in a session that stays open after them."""
        # pylint: disable-next=consider-using-with
        session = subprocess.Popen(
            [PROGRAMS / "psql", "-X", "-q", "-A", "-t", self.cluster.connection(node)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.sessions.append(session)
        session.stdin.write(";\n".join(statements) + ";\nselect 'held';\n")
        session.stdin.flush()
        while session.stdout.readline() != "held\n":
            self.assertIsNone(session.poll())
        return session

    def admits(self, node):
        return self.cluster.ask(node, "select 1") == "1"

    def writes(self, row, bound=20):
        self.cluster.until(lambda: any(
            self.cluster.ask(node, f"insert into t values ({row})") is not None for node in IDS),
            f"somebody writes {row}", bound)

    def test_1_many_subtransactions(self):
        cluster, primary = self.cluster, self.cluster.await_calm()
        cluster.answer("create table if not exists t (n int)", primary)
        cluster.answer(MANY, primary)
        standby = next(node for node in IDS if node != primary)
        session = self.hold(primary, "begin", "select many(300)")
        cluster.answer("checkpoint", primary)
        cluster.answer("checkpoint", standby)
        cluster.kill_to_the_last(standby)
        cluster.start(standby)
        cluster.until(lambda: standby in cluster.replicas(), "it follows")
        self.assertFalse(self.admits(standby))
        self.assertIn("PostgreSQL admits no session here: it is not yet accepting connections",
                      cluster.status(standby)["shown"]["text"])
        self.assertEqual(cluster.seen(primary)[0], 0)
        self.writes(1000)
        cluster.kill_all(primary)
        session.kill()
        self.writes(1001)
        cluster.start(primary)
        self.assertNotEqual(cluster.await_calm(), primary)

    def test_2_many_subtransactions_and_all_nodes_are_killed(self):
        cluster, primary = self.cluster, self.cluster.await_calm()
        self.hold(primary, "begin", "select many(300)")
        for node in IDS:
            cluster.answer("checkpoint", node)
        for node in IDS:
            cluster.kill_to_the_last(node)
        for node in IDS:
            cluster.start(node)
        self.writes(1002)
        cluster.await_calm()

    def test_3_a_lock_on_the_table_of_terms(self):
        self.lock("muster.term")

    def test_4_a_lock_on_a_catalog(self):
        self.lock("pg_catalog.pg_database")

    def lock(self, table):
        cluster, primary = self.cluster, self.cluster.await_calm()
        cluster.answer("insert into t values (0)", primary)
        self.hold(primary, "begin", f"lock table {table} in access exclusive mode",
                  "insert into t values (0)", "select pg_switch_wal()")
        cluster.kill_all(primary)
        self.writes(1003)
        cluster.start(primary)
        cluster.await_calm()

    def test_5_a_standby_has_smaller_settings_than_the_primary(self):
        cluster, primary = self.cluster, self.cluster.await_calm()
        cluster.answer("alter system set max_connections = 300", primary)
        heir = next(node for node in IDS if node != primary)
        self.assertEqual(cluster.say("switch-over", primary, "--to", heir).returncode, 0)
        cluster.until(lambda: cluster.primary() == heir, "another is the primary")
        cluster.await_calm()
        cluster.leave(primary)
        cluster.start(primary)
        cluster.await_calm()
        self.assertEqual(cluster.say("switch-over", heir, "--to", primary).returncode, 0)
        cluster.until(lambda: cluster.primary() == primary, "the first one is the primary again")
        for node in IDS:
            cluster.until(lambda node=node: cluster.ask(node, "show max_connections") == "300",
                          f"node {node} has the greater value")
        cluster.await_calm()
        cluster.kill_all(primary)
        self.writes(1004)
        cluster.start(primary)
        cluster.await_calm()

    def test_6_the_database_of_the_sessions_admits_none(self):
        cluster, primary = self.cluster, self.cluster.await_calm()
        subprocess.run([PROGRAMS / "psql", "-X", "-q", "-c",
                        "alter database postgres allow_connections false",
                        cluster.connection(primary).replace("dbname=postgres", "dbname=template1")],
                       check=True)
        standby = next(node for node in IDS if node != primary)
        cluster.leave(standby)
        cluster.start(standby)
        self.assertEqual(cluster.await_calm(), primary)
        cluster.kill_all(primary)
        cluster.until(lambda: cluster.primary() not in (None, primary), "another is the primary")
        cluster.start(primary)
        cluster.await_calm()


if __name__ == "__main__":
    run_cases()
