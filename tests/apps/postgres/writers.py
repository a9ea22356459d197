"""Processes that write, and the commits that were acknowledged to them."""

import collections
import subprocess
import threading
from pathlib import Path

from machines import PYTHON

NEEDED = {"python3-psycopg2": "/usr/lib/python3/dist-packages/psycopg2"}

Commit = collections.namedtuple("Commit", "writer number sent acknowledged host reign")


class Writer(threading.Thread):
    """A process that writes (writer.py), here or on a machine, and its output."""

    def __init__(self, name, connection, first, reign, patience=1, machine=None):
        super().__init__(daemon=True)
        self.name, self.commits, self.taken = name, [], 0
        words = [PYTHON, "-B", Path(__file__).with_name("writer.py"), connection, first, reign,
                 patience]
        words = machine.inside(words) if machine else [*map(str, words)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        if machine:
            machine.spared.add(self.process.pid)
        self.start()

    def run(self):
        for line in self.process.stdout:
            number, sent, acknowledged, host, reign = line.split()
            self.commits.append(Commit(self.name, int(number), float(sent), float(acknowledged),
                                       host, reign))

    def new(self):
        return self.commits[self.taken:]

    def take(self):
        new = self.new()
        self.taken += len(new)
        return new

    def end(self):
        self.process.kill()
        self.process.wait()
        self.join()
