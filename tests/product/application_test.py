#!/usr/bin/env python3
"""The application of the README on three real nodes: `application_test.py LAMP`.

It shines on one node. When that node is killed, it shines on another, in a later group. When that
node is started again, it shines there, in a still later group. On SIGTERM all nodes leave in order.
No step is timed: each waits for the lines that the nodes print, and CTest bounds the whole.
"""

import queue
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

NODES = (1, 2, 3)


def free_ports():
    """A port that is free, and after which the ports of all nodes are free, below the ephemeral
    range."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        end = int(file.read().split()[0])
    while True:
        base = random.randrange(10000, end - len(NODES))
        try:
            for node in NODES:
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", base + node))
            return base
        except OSError:
            continue


class Cluster:
    """The processes of the nodes, and the last line that each printed in its life."""

    def __init__(self, program, directory):
        self.program, self.directory, self.port = program, directory, free_ports()
        self.lines = queue.Queue()
        self.processes = {}
        self.last = {}

    def start(self, node):
        process = subprocess.Popen(
            [self.program, str(node), str(self.port)],
            cwd=self.directory, stdout=subprocess.PIPE, text=True)  # fmt: skip
        self.adopt(node, process)

    def adopt(self, node, process):
        self.processes[node] = process
        threading.Thread(target=self.read, args=(node, process), daemon=True).start()

    def read(self, node, process):
        for line in process.stdout:
            self.lines.put((node, process, line.strip()))
        self.lines.put((node, process, "ended"))

    def kill(self, node):
        process = self.processes.pop(node)
        process.kill()
        process.wait()
        self.last.pop(node)

    def await_shining(self, on, after):
        """Waits until all running nodes are in a group later than `after` and only `on` shines."""
        while True:
            node, process, line = self.lines.get()
            if self.processes.get(node) is not process:
                continue
            print(f"node {node}: {line}", flush=True)
            said = re.fullmatch(r"(shining|dark) in group (\d+)", line)
            if not said:
                sys.exit(f"node {node} was not to say '{line}'")
            self.last[node] = (said[1], int(said[2]))
            groups = {group for _, group in self.last.values()}
            shining = [n for n, (what, _) in self.last.items() if what == "shining"]
            if self.last.keys() == self.processes.keys() and len(groups) == 1 and shining == [on]:
                if (group := groups.pop()) > after:
                    return group


def refuses_a_port_in_use(cluster, directory):
    """A second process of node 1, in another directory, prints one sentence and ends with 75."""
    elsewhere = Path(directory) / "elsewhere"
    elsewhere.mkdir()
    other = subprocess.run([cluster.program, "1", str(cluster.port)], cwd=elsewhere, check=False,
                           stderr=subprocess.PIPE, text=True)  # fmt: skip
    address = f"127.0.0.1:{cluster.port + 1}"
    said = rf"(muster|lamp): cannot listen at {address}: the address is in use; .*\n"
    if other.returncode != 75 or not re.fullmatch(said, other.stderr):
        sys.exit(f"exit code {other.returncode}, and it says: {other.stderr}")


def hears_of_its_end(cluster, directory):
    """Node 1 has lost its store. It tells its own program, and no other, and ends with 65."""
    cluster.kill(1)
    shutil.rmtree(Path(directory) / "lamp-1")
    command = [cluster.program, "1", str(cluster.port)]
    ended = subprocess.run(command, cwd=directory, check=False, capture_output=True, text=True)
    *log, last = ended.stderr.splitlines()
    heard = r"lamp 1 heard (info|warning|error): \w"
    told = log and all(re.match(heard, line) for line in log)
    ends = last.startswith("lamp 1 ends with 65: node 1")
    if ended.returncode != 65 or not told or not ends:
        sys.exit(f"exit code {ended.returncode}, and it says: {ended.stderr}")


def main(program):
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(str(Path(program).resolve()), directory)
        try:
            for node in NODES:
                cluster.start(node)
            formed = cluster.await_shining(on=1, after=0)
            cluster.kill(1)
            survived = cluster.await_shining(on=2, after=formed)
            cluster.start(1)
            cluster.await_shining(on=1, after=survived)
            refuses_a_port_in_use(cluster, directory)
            if program.endswith("_in_c"):
                hears_of_its_end(cluster, directory)
            for process in cluster.processes.values():
                process.send_signal(signal.SIGTERM)
            codes = {node: process.wait() for node, process in cluster.processes.items()}
            return 0 if set(codes.values()) == {0} else f"exit codes {codes}"
        finally:
            for process in cluster.processes.values():
                process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
