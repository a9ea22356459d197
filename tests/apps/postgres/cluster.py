"""Three nodes and their PostgreSQL, in a directory of their own. They run on this machine's
loopback interface, or each on a machine of its own (machines.py)."""

import collections
import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import machines
from machines import HBA, PORT, PROGRAMS
from nodes import free_ports, until

IDS = machines.NUMBERS

CONFIGURATION = """
[node]
id = {node}
data = "n{node}/node"
[cluster]
name = "pg"
T = "{T}"
quorum = "majority"
stop_deadline = "{stop}"
start_deadline = "10s"
hold_down = "0s"
calm = "0s"
insecure = true
[cluster.nodes]
{nodes}
[cluster.postgres]
{databases}
[application]
kind = "postgres"
{has}
[journal]
file = "n{node}/node/journal.jsonl"
"""


def said(*words, **more):
    """Runs a command. Returns the completed process."""
    return subprocess.run([*map(str, words)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=120, **more)


class Cluster:
    """A cluster on loopback."""

    patience = 60  # s
    environment = {}  # more variables of the nodes
    machines = {}
    disks = {}

    def __init__(self, muster, T, stop, witness=False):
        self.muster, self.T, self.stop = os.path.abspath(muster), T, stop
        self.data = IDS[:2] if witness else IDS  # all nodes except these are witnesses
        self.running = {}
        self.ended = collections.Counter()  # by exit code
        self.user = ["--user", "postgres"] if os.geteuid() == 0 else []
        self.place()
        self.configure()

    def configure(self):
        for node in IDS:
            (self.path / f"n{node}.toml").write_text(CONFIGURATION.format(
                node=node, T=self.T, stop=self.stop, nodes=self.lines(self.addresses),
                has=f'database = "n{node}/database"' if node in self.data else 'role = "witness"',
                databases=self.lines(self.databases)))

    def set_application(self, key, value):
        """Adds a key to [application] of each node that has a database."""
        for node in self.data:
            config = self.path / self.config(node)
            config.write_text(config.read_text().replace(
                'kind = "postgres"\n', f'kind = "postgres"\n{key} = {value}\n'))

    def make_directory(self):
        self.path = Path(tempfile.mkdtemp(prefix="muster-postgres-"))
        self.path.chmod(0o755)

    def place(self):
        self.make_directory()
        for node in IDS:
            (self.path / f"n{node}").mkdir()
        ports = free_ports(2 * len(IDS))
        self.addresses = {node: ("127.0.0.1", ports.pop()) for node in IDS}
        self.databases = {node: ("127.0.0.1", ports.pop()) for node in self.data}

    @staticmethod
    def lines(places):
        return "\n".join(f'{node} = "{host}:{port}"' for node, (host, port) in places.items())

    # --- Places

    def config(self, node):
        return f"n{node}.toml"

    def store(self, node):
        return self.path / f"n{node}/node"

    def database(self, node):
        return self.path / f"n{node}/database"

    def connection(self, *nodes):
        """The connection string of a client that knows these nodes."""
        hosts, ports = zip(*(self.databases[node] for node in nodes))
        return (f"host={','.join(hosts)} port={','.join(map(str, ports))} user=postgres "
                "dbname=postgres connect_timeout=2"
                + (" target_session_attrs=read-write" if len(nodes) > 1 else ""))

    def log(self, node):
        return (self.path / f"n{node}.log").read_text(encoding="utf-8", errors="replace")

    def postgres_log(self, node):
        return (self.database(node) / "postgres.log").read_text(encoding="utf-8", errors="replace")

    def command(self, word, node, *more):
        words = [self.muster, "postgres", word, "--config", self.config(node), *self.user,
                 *map(str, more)]
        return self.machines[node].inside(words) if self.machines else words

    def once(self, word, node):
        subprocess.run(self.command(word, node), check=True, cwd=self.path, stdout=sys.stderr)

    def join(self, node):
        self.copy_key(node)
        self.once("join", node)

    def copy_key(self, node, of=None):
        """Copies the marker key of a node, by default of one that has it, to another. A cluster of
        an older program has none."""
        has_it = of or next((each for each in self.data if self.marker_key(each).exists()), None)
        if has_it is None:
            return
        own, its = self.marker_key(has_it), self.marker_key(node)
        for directory in reversed([its.parent, *its.parent.parents]):
            if not directory.exists():
                directory.mkdir()
                shutil.chown(directory, own.owner(), own.group())
        shutil.copy2(own, its)
        shutil.chown(its, own.owner(), own.group())

    def marker_key(self, node):
        return self.database(node) / "marker.key"

    def say(self, word, node, *more):
        """Runs a command of the operator. Returns the completed process."""
        return said(*self.command(word, node, *more), cwd=self.path)

    def postgres(self, *words):
        return said(self.muster, "postgres", *words, cwd=self.path)

    def start(self, node, *more):
        with open(self.path / f"n{node}.log", "a", encoding="utf-8") as log:
            self.running[node] = subprocess.Popen(
                self.command("run", node, *more), cwd=self.path, stdout=log, stderr=log,
                env=os.environ | self.environment)

    def begin_first(self):
        self.once("create", 1)
        with open(self.database(1) / "data/pg_hba.conf", "a", encoding="utf-8") as hba:
            hba.write("\n".join(HBA) + "\n")
        self.start(1)

    def begin(self):
        self.begin_first()
        for node in IDS[1:]:
            if node in self.data:
                self.join(node)
            self.start(node)

    # --- Actions

    def postmaster(self, node):
        """Its process id. None: no postmaster runs."""
        try:
            pid = int((self.database(node) / "data/postmaster.pid").read_text().split()[0])
            return pid if Path(f"/proc/{pid}").exists() else None
        except (OSError, ValueError, IndexError):
            return None

    def kill_postmaster(self, node):
        if pid := self.postmaster(node):
            os.kill(pid, signal.SIGKILL)

    def supervise(self):
        """Restarts nodes that have ended by themselves, as systemd does."""
        for node, process in self.running.items():
            if process.poll() is not None:
                self.ended[process.returncode] += 1
                self.start(node)
                return

    def kill(self, node):
        process = self.running.pop(node)
        process.kill()
        process.wait()

    def kill_all(self, node):
        """Kills the node and all processes that it has started."""
        self.signal_all(node, signal.SIGKILL)
        self.running.pop(node).wait()

    def kill_to_the_last(self, node):
        """Kills them and waits until they are gone. The process that inherits its server may take a
        while to wait for it."""
        self.kill_all(node)
        until(lambda: not self.postmaster(node), "nothing of its server is left")

    def leave(self, node):
        """Ends the node in order. Returns its exit code."""
        process = self.running.pop(node)
        process.terminate()
        return process.wait(60)

    def whole_tree(self, node):
        """The process ids of the node, and of all processes that it has started."""
        pids, found = [self.running[node].pid], []
        while pids:
            pid = pids.pop()
            found.append(pid)
            for children in glob.glob(f"/proc/{pid}/task/*/children"):
                try:
                    pids += map(int, Path(children).read_text().split())
                except OSError:
                    pass  # it has ended
        return found

    @staticmethod
    def signal(pids, number):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def signal_all(self, node, number):
        self.signal(self.whole_tree(node), number)

    def server(self, node):
        """The processes of the node's PostgreSQL."""
        found = []
        for pid in self.whole_tree(node):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text() == "postgres\n":
                    found.append(pid)
        return found

    def signal_server(self, node, number):
        self.signal(self.server(node), number)

    # --- Observations

    def until(self, so, what, bound=None):
        return until(lambda: (self.supervise(), so())[1], what, bound or self.patience)

    def await_calm(self, nodes=()):
        """Waits until all other nodes with data follow the primary. Returns the primary."""
        primary = self.until(self.primary, "there is a primary")
        others = len(nodes or self.data) - 1
        self.until(lambda: len(self.replicas()) == others, "all others follow it")
        if self.data != IDS:
            primary = self.until(self.primary_of_two, "another has all commits")
        return primary

    def status(self, node):
        ran = subprocess.run([self.muster, "status", "--json", "--dir", self.store(node)],
                             cwd=self.path, capture_output=True, text=True, check=False,
                             timeout=60)
        try:
            return json.loads(ran.stdout)
        except ValueError:
            return None

    def seen(self, node):
        """The exit code and the JSON object of `muster postgres status`."""
        ran = self.postgres("status", "--config", self.config(node), "--json")
        return ran.returncode, json.loads(ran.stdout)

    def roles(self, node):
        status = self.status(node)
        return dict(status["shown"]["roles"]) if status else {}

    def primary(self):
        return next((node for node in self.running if self.roles(node).get("primary")), None)

    def primary_of_two(self):
        """With a witness: the primary, once the other node has all that it acknowledges."""
        for node in self.running:
            shown = (self.status(node) or {}).get("shown", {})
            if dict(shown.get("roles", [])).get("primary") and "alone" not in shown["text"]:
                return node
        return None

    def replicas(self):
        return [node for node in self.running if self.roles(node).get("replica")]

    def ask(self, node, statement, bound=1):
        """The output of psql for a statement. None: it failed, was acknowledged with a warning, or
        took more than `bound` seconds, as when PostgreSQL is paused."""
        try:
            ran = subprocess.run(
                [PROGRAMS / "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c",
                 statement, self.connection(node)],
                capture_output=True, text=True, check=False, timeout=bound,
                env=os.environ | {"PGOPTIONS": "-c client_min_messages=warning"})
        except subprocess.TimeoutExpired:
            return None
        return ran.stdout.strip() if ran.returncode == 0 and not ran.stderr else None

    def answer(self, statement, node=None):
        """Waits for an answer of the primary, or of that node. The answer may be empty. The
        statement may run several times: a slow one may have been carried out."""
        def answered():
            asked = node or self.primary()
            answer = self.ask(asked, statement) if asked else None
            return None if answer is None else [answer]
        return self.until(answered, statement)[0]

    def end(self, keep=True):
        """Ends all nodes. Keeps the files to be examined, or removes them."""
        for node, process in self.running.items():
            self.signal_all(node, signal.SIGCONT)
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        if not keep:
            shutil.rmtree(self.path)


class OnMachines(Cluster):
    """A cluster with each node's files on a disk of its machine, or on this system's."""

    def __init__(self, muster, T, stop, path, hosts, own_disks, witness=False):
        self.path, self.machines, self.own_disks = path, hosts, own_disks
        super().__init__(muster, T, stop, witness)

    def place(self):
        self.path.mkdir()
        self.path.chmod(0o755)
        homes = {node: self.path / f"n{node}" for node in IDS}
        if self.own_disks:
            self.disks = {node: machines.Disk(home) for node, home in homes.items()}
        else:
            for home in homes.values():
                home.mkdir()
        self.addresses = {node: (machines.address(node), 7100) for node in IDS}
        self.databases = {node: (machines.address(node), PORT) for node in self.data}

    def end(self, keep=True):
        super().end(keep=True)
        for disk in self.disks.values():
            disk.end(keep)
        if not keep:
            shutil.rmtree(self.path)
