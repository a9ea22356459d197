#!/usr/bin/env python3
"""A dump is restored over the schema muster: an older one of this cluster, or one of another."""

import subprocess

from calm_cluster import CalmCluster
from cluster import IDS
from machines import PROGRAMS
from skipping import run_cases

# The statements of `pg_restore --clean` of another cluster on the table.
FOREIGN = ("set client_min_messages = warning; begin; drop schema muster cascade;"
           " create schema muster; create table muster.term (counter bigint, coordinator bigint,"
           " node bigint, timeline bigint, lsn pg_lsn, at timestamptz default now(), copies jsonb,"
           " primary key (counter, coordinator)); insert into muster.term"
           " values ({group}, 3, 2, {timeline}, '0/5000060'); commit")


class RestoredDump(CalmCluster):
    def primary(self):
        return self.cluster.await_calm()

    def after_loss_of(self, primary):
        """Kills it, and has it come back. The new primary has all rows, and so does the old one."""
        self.cluster.kill_all(primary)
        new = self.cluster.await_calm([node for node in IDS if node != primary])
        self.assertEqual(self.cluster.answer("select count(*) from t", new), str(self.rows))
        self.write(new)
        self.cluster.start(primary)
        self.cluster.await_calm()
        for node in IDS:
            self.cluster.until(lambda node=node: self.cluster.ask(
                node, "select count(*) from t") == str(self.rows), f"node {node} has all")
        return new

    rows = 0

    def write(self, primary):
        self.cluster.answer(f"insert into t values ({self.rows + 1}) on conflict do nothing",
                            primary)
        type(self).rows += 1

    def test_1_an_older_dump_of_this_cluster(self):
        primary = self.primary()
        self.cluster.answer("create table if not exists t (n int primary key)", primary)
        self.write(primary)
        dump = subprocess.run([PROGRAMS / "pg_dump", "-n", "muster", "--clean", "--if-exists",
                               self.cluster.connection(primary)],
                              capture_output=True, check=True).stdout
        new = self.after_loss_of(primary)
        ran = subprocess.run([PROGRAMS / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1",
                              self.cluster.connection(new)],
                             input=dump, capture_output=True, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.write(new)
        self.after_loss_of(new)

    def test_2_a_dump_of_another_cluster(self):
        for group, timeline in ((2, 1), (99999, 1)):
            primary = self.primary()
            self.cluster.answer(FOREIGN.format(group=group, timeline=timeline), primary)
            self.write(primary)
            self.after_loss_of(primary)
            self.assertNotIn("is cloned", "".join(map(self.cluster.log, IDS)))

    def test_3_the_table_shows_the_truth_again(self):
        primary = self.primary()
        self.cluster.answer(FOREIGN.format(group=7, timeline=9), primary)
        group = self.cluster.seen(primary)[1]["group"]
        self.cluster.until(
            lambda: self.cluster.ask(primary, "select counter from muster.term order by counter"
                                              " desc limit 1") == str(group[0]),
            "the table is made again")
        self.assertIn("the table muster.term does not show what this node knows",
                      self.cluster.log(primary))

    def test_4_a_lock_on_the_table_holds_nobody_up(self):
        primary = self.primary()
        with subprocess.Popen([PROGRAMS / "psql", "-X", "-q", self.cluster.connection(primary),
                               "-c", "begin; lock table muster.term in access exclusive mode;"
                                     " select pg_sleep(60)"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as locks:
            self.cluster.until(lambda: self.cluster.ask(
                primary, "select count(*) from pg_locks where mode = 'AccessExclusiveLock' and"
                         " granted and relation = 'muster.term'::regclass") == "1", "it is locked")
            self.after_loss_of(primary)
            locks.kill()

    def test_5_forged_markers_do_not_count(self):
        primary = self.primary()
        self.cluster.answer("create role plain login", primary)
        text = ("0" * 64 + '\\n{"marker":{"term":{"group":{"counter":999999,"coordinator":3}}}}')
        self.cluster.answer("set role plain; select pg_logical_emit_message(true, 'muster',"
                            f" E'{text}') is null", primary)
        self.after_loss_of(primary)


if __name__ == "__main__":
    run_cases()
