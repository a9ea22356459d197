"""A cluster that the tests of a class share."""

import unittest

from cases import MUSTER
from cluster import Cluster


class CalmCluster(unittest.TestCase):
    """The tests run in one order. Each starts in the calm cluster that the one before has left."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(MUSTER, "500ms", "3s")
        cls.addClassCleanup(cls.cluster.end, keep=False)
        cls.prepare()
        cls.cluster.begin()
        cls.cluster.await_calm()

    @classmethod
    def prepare(cls):
        """Changes the configurations before the nodes begin."""
