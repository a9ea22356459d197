#!/usr/bin/env python3
"""What an owner does to postgresql.conf, by ALTER SYSTEM, by a promotion, and as a client that
bears the name of a node. None of it loses a commit."""

import os
import shutil
import subprocess
import time
from pathlib import Path

from calm_cluster import CalmCluster
from cluster import IDS
from machines import PROGRAMS
from nodes import until
from skipping import run_cases

SAMPLE = Path(subprocess.run([PROGRAMS / "pg_config", "--sharedir"], capture_output=True, text=True,
                             check=True).stdout.strip()) / "postgresql.conf.sample"


class OwnersFiles(CalmCluster):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.answer("create table if not exists t (n bigint)")

    def replace_settings(self, node):
        """As configuration management does it."""
        to = self.cluster.database(node) / "data/postgresql.conf"
        shutil.copyfile(SAMPLE, to)
        self.reload(node)
        return to

    def reload(self, node):
        """Waits until new sessions have the new settings."""
        when = "select pg_conf_load_time()"
        before = self.cluster.answer(when, node)
        self.cluster.answer("select pg_reload_conf()", node)
        until(lambda: self.cluster.answer(when, node) != before, "it is reloaded")

    def standbys(self, primary):
        return [node for node in IDS if node != primary]

    def signal_receivers(self, nodes, number):
        """The walreceivers stop or go on. Their nodes notice nothing."""
        for node in nodes:
            subprocess.run(["pkill", f"-{number}", "-P", str(self.cluster.postmaster(node)), "-f",
                            "walreceiver"], check=True)

    def assert_waits_for_a_copy(self, primary):
        """No commit is acknowledged while no standby answers."""
        self.assertEqual(self.cluster.answer("show synchronous_standby_names", primary),
                         "ANY 1 (n1, n2, n3)")
        self.assertIsNotNone(self.cluster.ask(primary, "insert into t values (1)", 5))
        standbys = self.standbys(primary)
        self.signal_receivers(standbys, "STOP")
        try:
            self.assertIsNone(self.cluster.ask(primary, "insert into t values (2)", 2))
            self.assertEqual(self.cluster.primary(), primary)
        finally:
            self.signal_receivers(standbys, "CONT")

    def test_1_a_stock_file_changes_nothing_at_a_primary(self):
        primary = self.cluster.await_calm()
        self.replace_settings(primary)
        self.assert_waits_for_a_copy(primary)

    def test_2_nor_does_alter_system(self):
        primary = self.cluster.await_calm()
        self.cluster.answer("alter system set synchronous_standby_names = ''", primary)
        self.reload(primary)
        self.assert_waits_for_a_copy(primary)
        self.cluster.await_calm()

    def test_3_stock_files_on_all_nodes_are_repaired(self):
        primary = self.cluster.await_calm()
        files = [self.replace_settings(node) for node in (primary, *self.standbys(primary))]
        for node in IDS:
            self.cluster.kill_to_the_last(node)
        for node in IDS:
            self.cluster.start(node)
        primary = self.cluster.await_calm()
        self.assert_waits_for_a_copy(primary)
        for node, file in zip(IDS, files):
            self.assertIn("include_if_exists '../muster.conf'", file.read_text())
            self.assertIn("is its last line again", self.cluster.log(node))

    def test_4_a_client_with_the_name_of_a_node_is_named_at_once(self):
        primary = self.cluster.await_calm()
        name = f"n{self.standbys(primary)[0]}"
        kept = self.cluster.path / "received"
        kept.mkdir()
        process = subprocess.Popen(
            [PROGRAMS / "pg_receivewal", "--synchronous", "--no-loop", "-D", kept, "-d",
             self.cluster.connection(primary)], env=os.environ | {"PGAPPNAME": name},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            said = f"that calls itself {name} and is not that node"
            began = time.monotonic()
            until(lambda: said in self.cluster.log(primary), "the log names it", 20)
            self.assertLess(time.monotonic() - began, 5)
            code, status = self.cluster.seen(primary)
            self.assertIn(said, " ".join(status["warnings"]))
            self.assertEqual(code, 1)
            checked = self.cluster.postgres("check", "--config", self.cluster.config(primary))
            self.assertEqual(checked.returncode, 1, checked.stderr)
            self.assertIn(said, checked.stdout)
        finally:
            process.terminate()
            process.wait()
        until(lambda: not self.cluster.seen(primary)[1]["warnings"], "it is gone", 20)

    def test_5_a_standby_that_is_promoted_by_hand_loses_nothing(self):
        primary = self.cluster.await_calm()
        promoted, third = self.standbys(primary)
        self.cluster.answer("create table if not exists p (n bigint primary key)", primary)
        self.assertEqual(self.cluster.answer("select pg_promote()", promoted), "t")
        for _ in range(3):  # its log becomes longer than that of the primary
            self.cluster.answer("select pg_switch_wal()", promoted)
            self.cluster.answer("checkpoint", promoted)
        for number in range(20):
            self.cluster.answer(f"insert into p values ({number}) on conflict do nothing", primary)
        self.cluster.kill(third)
        self.cluster.until(lambda: self.cluster.primary() and self.cluster.replicas(),
                           "two nodes write")
        self.assertEqual(self.cluster.answer("select count(*) from p"), "20")
        self.cluster.start(third)
        self.cluster.await_calm()
        self.assertEqual(self.cluster.answer("select count(*) from p"), "20")
        self.assertRegex(self.cluster.log(promoted),
                         "somebody else has promoted|although Muster did not promote it")


if __name__ == "__main__":
    run_cases()
