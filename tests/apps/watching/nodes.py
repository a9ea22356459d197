"""Real nodes that report their state by HTTP, and clients of them."""

import contextlib
import os
import random
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tests"))


def wanted(found, what):
    """True if it was found. Otherwise the test is skipped, or fails if MUSTER_DEMAND_WATCHERS=1."""
    if not found and os.environ.get("MUSTER_DEMAND_WATCHERS") == "1":
        sys.exit(f"{what} not found, and MUSTER_DEMAND_WATCHERS=1: apt-get install {what}")
    if not found:
        print(f"skipped: {what} not found", file=sys.stderr)
    return found


def program(name):
    """The path of a program. Debian installs some in /usr/sbin, which only root has in PATH."""
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")


RESERVED = []  # sockets whose names reserve ports for this process, as in apps/cluster/ports.hpp


def free_ports(count):
    """Free ports below the range from which the system takes ports."""
    ports = []
    while len(ports) < count:
        port = random.randrange(10000, 32768)
        name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with contextlib.suppress(OSError), socket.socket() as trial:
            name.bind(f"\0muster-port-{port}")
            trial.bind(("127.0.0.1", port))
            ports.append(port)
        RESERVED.append(name)
    return ports


def until(so, what, bound=60):
    """Calls `so` again and again, and returns its first true result."""
    end = time.monotonic() + bound
    while time.monotonic() < end:
        said = so()
        if said:
            return said
        select.select([], [], [], 0.02)
    raise AssertionError(f"not within {bound} s: {what}")


PROVEN = """
[tls]
ca = "tls{0}/ca.crt"
cert = "tls{0}/tls.crt"
key = "tls{0}/tls.key"
"""


class Nodes:
    """The nodes 1 to `count` of a cluster. With `proven` they have certificates, and the client
    "me" has an observer's. At 0.0.0.0 they also listen beyond loopback."""

    def __init__(self, muster, count, proven=False, host="127.0.0.1"):
        self.muster = os.path.abspath(muster)
        self.own = tempfile.TemporaryDirectory()
        self.path = Path(self.own.name)
        ports = free_ports(2 * count)
        self.ids = range(1, count + 1)
        self.ports = dict(zip(self.ids, ports))
        self.http = dict(zip(self.ids, ports[count:]))
        self.running = {}
        for node in self.ids:
            self.file(node).write_text(
                f'[node]\nid = {node}\ndata = "n{node}"\n[cluster]\nname = "watched"\nT = "2s"\n'
                'coordinator_timeout = "3s"\nhold_down = "0s"\n[cluster.nodes]\n'
                + "".join(f'{each} = "127.0.0.1:{port}"\n' for each, port in self.ports.items())
                + f'[http]\nlisten = "{host}:{self.http[node]}"\n'
                + f'[journal]\nfile = "n{node}/journal.jsonl"\n'
                + (PROVEN.format(node) if proven else ""))
        if proven:
            self.cert("init", "--cluster", "watched")
            self.cert("issue", "--observer", "--out", "me")
            for node in self.ids:
                self.cert("issue", "--node", str(node), "--out", f"tls{node}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in list(self.running):
            self.kill(node)
        self.own.cleanup()

    def file(self, node):
        return self.path / f"n{node}.toml"

    def run(self, *words):
        return subprocess.run([self.muster, *words], cwd=self.path, capture_output=True, text=True,
                              timeout=120, check=False)

    def cert(self, *words):
        ran = self.run("cert", *words)
        if ran.returncode != 0:
            raise AssertionError(ran.stderr)

    def start(self, *nodes):
        for node in nodes:
            with open(self.path / f"n{node}.log", "w", encoding="utf-8") as log:
                self.running[node] = subprocess.Popen(
                    [self.muster, "node", "--config", self.file(node)], cwd=self.path, stdout=log,
                    stderr=log)
        for node in nodes:
            until(lambda each=node: " is up on " in self.log(each), f"node {node} is up")

    def start_all(self):
        self.start(*self.ids)
        highest = str(max(self.ids))
        for node in self.ids:
            ran = self.run("wait", "--dir", f"n{node}", "--coordinator", highest,
                           "--timeout", "1min")
            if ran.returncode != 0:
                raise AssertionError(ran.stderr)

    def log(self, node):
        process = self.running[node]
        text = (self.path / f"n{node}.log").read_text()
        if process.poll() is not None:
            raise AssertionError(f"node {node} has ended with {process.returncode}: {text}")
        return text

    def kill(self, node):
        process = self.running.pop(node)
        process.kill()
        process.wait()

    def leave(self, node):
        """The node leaves in order. Returns its exit code."""
        process = self.running.pop(node)
        process.send_signal(signal.SIGTERM)
        return process.wait(60)

    def context(self, observer=None):
        """The context for HTTPS to a node with certificates, by the client certificate in that
        directory."""
        context = ssl.create_default_context(cafile=self.path / "tls1/ca.crt")
        context.check_hostname = False  # a node's certificate has its name as a URI
        if observer:
            context.load_cert_chain(self.path / observer / "tls.crt",
                                    self.path / observer / "tls.key")
        return context

    def get(self, node, path, method="GET", headers=None):
        """(status, headers, body)"""
        return get(f"http://127.0.0.1:{self.http[node]}{path}", method, headers)

    def raw(self, node, request):
        """The whole answer to these bytes, until the end of the connection."""
        with socket.create_connection(("127.0.0.1", self.http[node]), 30) as connection:
            connection.sendall(request)
            return read_all(connection)


def get(url, method="GET", headers=None, context=None):
    request = urllib.request.Request(url, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.headers, answer.read().decode()


def read_all(connection):
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts).decode()


@contextlib.contextmanager
def running(directory, *words):
    """A program beside the nodes. Its output goes to a file, which is shown if the test fails."""
    log = Path(directory, Path(words[0]).name + ".log")
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen(words, cwd=directory, stdout=out, stderr=out)
    try:
        yield process
    except BaseException:
        print(log.read_text()[-4000:], file=sys.stderr)
        raise
    finally:
        process.terminate()
        process.wait(30)
