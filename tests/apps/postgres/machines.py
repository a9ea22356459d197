"""Three machines simulated on this one: network namespaces on one bridge, each with all its
processes."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "watching"))
from nodes import until  # noqa: E402

NUMBERS = (1, 2, 3)
CLIENTS = 254  # the last byte of the clients' IP address; machines have 1 to 3
PORT = 7200  # PostgreSQL's port; the distribution's own PostgreSQL may use 5432
PROGRAMS = Path("/usr/lib/postgresql/15/bin")
PYTHON = "/usr/bin/python3"  # Debian's, which has psycopg2
HBA = ["local all all trust", "host all all 10.99.0.0/24 trust",
       "host replication all 10.99.0.0/24 trust"]  # lines of pg_hba.conf
HERE = "MUSTER_MACHINES_DIRECTORY"
# Programs that are needed to cut networks and to have separate disks.
NETWORKS = {"iproute2": "/usr/sbin/ip", "nftables": "/usr/sbin/nft", "mount": "/usr/bin/mount"}


def unshared(*words):
    """A command that runs these words in new namespaces of network, pids and mounts."""
    own = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    return ["unshare", *own, "--net", "--pid", "--mount-proc", "--fork", "--kill-child", *words]


def why_not():
    """The reason why this process cannot make machines. None: it can."""
    if absent := missing(NETWORKS):
        return f"{', '.join(absent)} not found"
    trial = subprocess.run(unshared("mount", "-t", "tmpfs", "trial", "/tmp"), capture_output=True,
                           text=True, check=False)
    return f"namespaces are not allowed here: {trial.stderr.strip()}" if trial.returncode else None


def enter():
    """Continues this process in its own namespaces of network and pids. However it ends, none of
    its children is left. Returns the directory of the run, which is kept if the run fails."""
    if HERE in os.environ:
        return Path(os.environ[HERE])
    path = Path(tempfile.mkdtemp(prefix="muster-machines-"))
    path.chmod(0o755)
    # The first process of a pid namespace inherits the orphans. So bash, which waits for them, is
    # the first.
    command = ["setpriv", "--pdeathsig", "KILL",
               *unshared("bash", "-c", '"$@"; exit $?', "bash", PYTHON, "-B", *sys.argv)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with subprocess.Popen(command, env={**os.environ, HERE: str(path)}) as inside:
        try:
            ended = inside.wait()
        finally:
            inside.kill()
    if ended:
        sys.exit(f"it failed ({ended}); see {path}")
    shutil.rmtree(path)
    sys.exit(0)


def missing(packages):
    """The packages of which the given file does not exist."""
    return [package for package, file in packages.items() if not Path(file).exists()]


def need(packages):
    """Ends the program with a sentence if a package is missing."""
    if absent := missing(packages):
        sys.exit(f"missing: {', '.join(absent)}; as root: apt-get install -y "
                 f"--no-install-recommends {' '.join(absent)}, and stop what it starts")


def wait(seconds):
    threading.Event().wait(seconds)


def ip(words):
    subprocess.run(["ip", *words.split()], check=True)


def address(number):
    return f"10.99.0.{number}"


def as_postgres():
    """A prefix for commands of PostgreSQL, which does not run as root."""
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"] \
        if os.geteuid() == 0 else []


def make_bridge():
    for words in ("link set lo up", "link add bridge0 type bridge",
                  f"addr add {address(CLIENTS)}/24 dev bridge0", "link set bridge0 up"):
        ip(words)


class Network:
    """The network of this process, which clients use. Machines have their own."""

    def inside(self, words):
        return [*map(str, words)]

    def deafen(self, *numbers, port=None):
        """Drops packets that arrive from these machines, or only those from or to that port.
        Packets to the machines still leave."""
        ports = [""] if port is None else [f"tcp sport {port}", f"tcp dport {port}"]
        self.filter("add chain ip cuts heard { type filter hook input priority 0; }", *(
            f"add rule ip cuts heard ip saddr {address(number)} {of} drop"
            for number in numbers for of in ports))

    def hear(self):
        """Receives packets of all machines again."""
        self.filter("delete table ip cuts")

    def filter(self, *lines):
        subprocess.run(self.inside(["nft", "-f", "-"]), check=True, text=True,
                       input="\n".join(("add table ip cuts", *lines, "")))


class Machine(Network):
    """A simulated machine. Its processes are services: one that ends by itself is started again, as
    systemd does."""

    def __init__(self, number):
        self.number, self.spared = number, set()
        self.services = {}  # by name: the running process, its command and its log
        self.holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        path = f"/proc/{self.holder.pid}/ns/net"
        until(lambda: os.readlink(path) != os.readlink("/proc/self/ns/net"), "a network")
        self.network = os.readlink(path)
        self.cable = f"cable{number}"
        ip(f"link add {self.cable} type veth peer name eth0 netns {self.holder.pid}")
        ip(f"link set {self.cable} master bridge0 up")
        for words in ("link set lo up", f"addr add {address(number)}/24 dev eth0",
                      "link set eth0 up"):
            subprocess.run(self.inside(["ip", *words.split()]), check=True)

    def inside(self, words):
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", *map(str, words)]

    def run(self, words, **options):
        return subprocess.run(self.inside(words), check=True, **options)

    def serve(self, name, words, log):
        with open(log, "a", encoding="utf-8") as output:
            process = subprocess.Popen(self.inside(words), stdout=output, stderr=output,
                                       cwd=log.parent)
        self.services[name] = (process, words, log)

    def supervise(self):
        for name, (process, words, log) in list(self.services.items()):
            if process.poll() is not None:
                self.serve(name, words, log)

    def pids(self):
        """The processes of the machine, except the one that holds its network and those that are
        spared."""
        found = set()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(entry / "ns/net") == self.network:
                    found.add(int(entry.name))
        return found - {self.holder.pid} - self.spared

    def signal_all(self, number):
        """Signals all of them, also those that are forked meanwhile."""
        told = set()
        while new := self.pids() - told:
            told |= new
            for pid in new:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def kill(self):
        """Kills everything on the machine with kill -9."""
        services, self.services = self.services, {}
        self.signal_all(signal.SIGKILL)
        for process, _, _ in services.values():
            process.wait()

    def freeze(self):
        self.signal_all(signal.SIGSTOP)

    def thaw(self):
        self.signal_all(signal.SIGCONT)

    def cut(self):
        """Takes the cable out of the bridge. Both of its ends stay up, so no process is
        notified."""
        ip(f"link set {self.cable} nomaster")

    def heal(self):
        ip(f"link set {self.cable} master bridge0")

    def end(self, bound=30):
        """Asks all services to end, the last one first. Kills a service that does not end."""
        services, self.services = self.services, {}
        for process, _, _ in reversed(services.values()):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(bound)
        self.signal_all(signal.SIGKILL)
        for process, _, _ in services.values():
            process.wait()


class Disk:
    """A directory with limited space, in memory, mounted for this process and its children."""

    SIZE = 1 << 30  # bytes

    def __init__(self, path):
        self.path = path
        path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=755,size={self.SIZE}", "muster", path],
                       check=True)

    def resize(self, size):
        return subprocess.run(["mount", "-o", f"remount,size={size}", self.path],
                              capture_output=True, check=False).returncode == 0

    def fill(self):
        """Shrinks the disk to its contents, as if a file took the rest."""
        def shrinks():
            now = os.statvfs(self.path)
            return self.resize((now.f_blocks - now.f_bfree) * now.f_frsize)
        until(shrinks, f"{self.path} is full")

    def free(self):
        until(lambda: self.resize(self.SIZE), f"{self.path} has room")

    def end(self, keep):
        """Unmounts the disk. Files to be kept are copied first."""
        if keep:
            kept = f"{self.path}.kept"
            subprocess.run(["cp", "-a", self.path, kept], check=True)
        subprocess.run(["umount", self.path], check=True)
        self.path.rmdir()
        if keep:
            os.rename(kept, self.path)


def make():
    make_bridge()
    return {number: Machine(number) for number in NUMBERS}
