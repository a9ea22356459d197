#!/usr/bin/env python3
"""Another number of nodes: one is added and one is removed while a client writes."""

import re
import threading
import unittest

from bundles import Bundled
from cluster import IDS
from nodes import free_ports
from skipping import run_cases

FOURTH = 4


class Lists(Bundled):
    """A cluster of three nodes. The bundles for four are in `next`."""

    def init_next(self):
        node_port, = free_ports(1)
        self.ports[FOURTH] = self.ports[1] + FOURTH - 1
        nodes = f"{self.nodes[1]},127.0.0.3:{node_port}"
        return self.postgres("init", "--nodes", nodes, "--port", self.ports[1], "--ca", "made/ca",
                             "--generation", 2, "--to", "next")

    def change(self, node, text):
        """Restarts the node with that configuration."""
        self.leave(node)
        self.config(node).write_text(text)
        self.start(node)

    def refusal(self, node, text):
        """The message and the exit code of the node with that configuration."""
        before = self.config(node).read_text()
        self.config(node).write_text(text)
        ran = self.say("run", node)
        self.config(node).write_text(before)
        return ran.returncode, ran.stderr


class Writer:
    """Writes to the primary, wherever it is, and keeps what was acknowledged."""

    def __init__(self, cluster):
        self.cluster, self.acknowledged, self.number = cluster, [], 0
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.write)

    def write(self):
        while not self.ends.is_set():
            for node in list(self.cluster.running):
                self.number += 1
                if self.cluster.ask(node, f"insert into t values ({self.number}) returning n"):
                    self.acknowledged.append(self.number)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()


def without(node, text):
    return re.sub(f'^{node} = ".*"\n', "", text, flags=re.M)


def with_keys(text, **keys):
    for key, value in keys.items():
        text, count = re.subn(f"^{key} = .*$", f"{key} = {value}", text, flags=re.M)
        assert count == 1, key
    return text


class AnotherList(unittest.TestCase):
    def setUp(self):
        self.cluster = Lists()
        self.addCleanup(self.cluster.end, keep=False)
        self.cluster.begin()
        self.cluster.await_calm()
        self.cluster.answer("create table if not exists t (n int)")

    def await_more(self, writer):
        before = len(writer.acknowledged)
        self.cluster.until(lambda: len(writer.acknowledged) > before + 3,
                           "commits are acknowledged")

    def await_acknowledged(self, writer):
        acknowledged = list(writer.acknowledged)  # more are added meanwhile
        rows = self.cluster.answer("select array_agg(n order by n) from t")
        there = set(map(int, rows.strip("{}").split(",")))
        self.assertEqual([n for n in acknowledged if n not in there], [])

    def refuse(self, node, text, *said):
        code, error = self.cluster.refusal(node, text)
        self.assertEqual(code, 64, error)
        for each in said:
            self.assertIn(each, error)

    def test_a_node_comes_and_another_goes_and_nothing_is_lost(self):
        cluster = self.cluster
        ran = cluster.init_next()
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for node in (*IDS, FOURTH):
            cluster.slow_down(cluster.path / f"next/n{node}/muster.toml")
        of_four = {node: (cluster.path / f"next/n{node}/muster.toml").read_text()
                   for node in (*IDS, FOURTH)}
        of_three = cluster.config(1).read_text()
        with Writer(cluster) as writer:
            self.await_more(writer)
            self.come(of_four)
            cluster.await_calm((*IDS, FOURTH))
            self.await_more(writer)
            self.await_acknowledged(writer)
            self.assertEqual(cluster.answer("show synchronous_standby_names"),
                             "ANY 2 (n1, n2, n3, n4)")
            self.go(of_three, of_four)
            cluster.await_calm()
            self.await_more(writer)
            self.await_acknowledged(writer)
            self.assertEqual(cluster.answer("show synchronous_standby_names"),
                             "ANY 1 (n2, n3, n4)")

    def come(self, of_four):
        cluster = self.cluster
        ran = cluster.postgres("join", f"next/n{FOURTH}", "--data", f"n{FOURTH}", *cluster.user)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        cluster.config(FOURTH).write_text(of_four[FOURTH])
        cluster.start(FOURTH)
        primary = cluster.primary()
        standbys = [node for node in IDS if node != primary]
        cluster.leave(standbys[0])
        self.refuse(standbys[0], with_keys(of_four[standbys[0]], generation=1),
                    "this list is generation 1, nodes 1, 2, 3, 4 with copies = 3",
                    "as generation 2")
        cluster.start(standbys[0])
        for node in (*standbys, primary):
            cluster.change(node, of_four[node])

    def go(self, of_three, of_four):
        cluster = self.cluster
        cluster.leave(1)
        self.refuse(1, of_three, "has taken part with generation 2, nodes 1, 2, 3, 4")
        primary = cluster.until(cluster.primary, "there is a primary")
        for node in sorted(cluster.running, key=lambda node: node == primary):
            cluster.change(node, with_keys(without(1, of_four[node]), generation=3, copies=2))


if __name__ == "__main__":
    run_cases(verbosity=2)
