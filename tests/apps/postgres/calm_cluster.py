"""A cluster that the tests of a class share."""

import sys
import unittest

from cases import MUSTER
from cluster import IDS, Cluster

LAST_LINES = 40  # of each node's log, if a test fails


class CalmCluster(unittest.TestCase):
    """The tests run in one order. Each starts in the calm cluster that the one before has left."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(MUSTER, "500ms", "3s")
        cls.addClassCleanup(cls.cluster.end, keep=False)
        cls.prepare()
        cls.cluster.begin()
        cls.cluster.await_calm()

    def tearDown(self):
        result = self._outcome.result
        if any(test is self for test, _ in result.failures + result.errors):
            for node in IDS:
                last = self.cluster.log(node).splitlines()[-LAST_LINES:]
                print(f"--- the log of node {node} ends with", *last, sep="\n", file=sys.stderr)

    @classmethod
    def prepare(cls):
        """Changes the configurations before the nodes begin."""
