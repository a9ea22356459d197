#!/usr/bin/env python3
"""All processes of the primary's PostgreSQL are paused, and its node is not."""

import os
import signal
import time
from pathlib import Path

from calm_cluster import CalmCluster
from cluster import IDS
from skipping import run_cases

DEADLINE = 3  # s


class Frozen(CalmCluster):
    @classmethod
    def prepare(cls):
        cls.cluster.set_application("marker_deadline", f'"{DEADLINE}s"')

    def test_another_node_takes_over(self):
        primary = self.cluster.await_calm()
        self.cluster.answer("create table if not exists t (n int primary key)", primary)
        self.cluster.answer("insert into t values (1) on conflict do nothing", primary)
        self.assertGreater(len(self.cluster.server(primary)), 3)
        self.cluster.signal_server(primary, signal.SIGSTOP)
        began = time.monotonic()
        others = [node for node in IDS if node != primary]
        insert = "insert into t values (2) on conflict do nothing"  # it may be slow to answer
        self.cluster.until(lambda: any(self.cluster.ask(node, insert) is not None
                                       for node in others), "another node writes")
        self.assertGreater(time.monotonic() - began, DEADLINE - 1)
        self.assertIn(f"has written nothing to its disk for {DEADLINE} s",
                      "".join(map(self.cluster.log, IDS)))
        self.assertNotEqual(self.cluster.await_calm(), primary)
        self.cluster.until(lambda: self.cluster.ask(primary, "select count(*) from t") == "2",
                           "the former primary follows, with all rows")

    def test_status_tells_which_node_does_not_follow(self):
        primary = self.cluster.await_calm()
        self.assertEqual(self.cluster.seen(primary)[0], 0)
        standby = next(node for node in IDS if node != primary)
        postmaster = self.cluster.postmaster(standby)
        os.kill(postmaster, signal.SIGSTOP)  # it starts no process any more
        for pid in self.cluster.whole_tree(standby):
            if b"walreceiver" in self.command_line(pid):
                os.kill(pid, signal.SIGKILL)
        code, seen = self.cluster.until(
            lambda: next((said for said in [self.cluster.seen(primary)] if said[0] == 6), None),
            "status exits with 6")
        self.assertEqual((code, seen["not_following"], seen["writable"]), (6, [standby], True))
        os.kill(postmaster, signal.SIGCONT)
        self.cluster.until(lambda: self.cluster.seen(primary)[0] == 0, "all follow again")

    @staticmethod
    def command_line(pid):
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return b""


if __name__ == "__main__":
    run_cases()
