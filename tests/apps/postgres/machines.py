"""Three machines of this one: network namespaces on one bridge, each with all that runs on it."""

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
CLIENTS = 254  # the last number of their address, as of machines
PORT = 7200  # of PostgreSQL: 5432 may be that of the distribution's own
PROGRAMS = Path("/usr/lib/postgresql/15/bin")
PYTHON = "/usr/bin/python3"  # that of Debian, which has psycopg2
HBA = ["local all all trust", "host all all 10.99.0.0/24 trust",
       "host replication all 10.99.0.0/24 trust"]  # of pg_hba.conf
HERE = "MUSTER_MACHINES_DIRECTORY"
# What there has to be for cuts between two, and for disks of their own.
NETWORKS = {"iproute2": "/usr/sbin/ip", "nftables": "/usr/sbin/nft", "mount": "/usr/bin/mount"}


def unshared(*words):
    """The words in namespaces of their own, of network, pids and mounts."""
    own = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    return ["unshare", *own, "--net", "--pid", "--mount-proc", "--fork", "--kill-child", *words]


def why_not():
    """A sentence, where this process cannot make machines; else None."""
    if absent := missing(NETWORKS):
        return f"{', '.join(absent)} not found"
    trial = subprocess.run(unshared("mount", "-t", "tmpfs", "trial", "/tmp"), capture_output=True,
                           text=True, check=False)
    return f"namespaces are not allowed here: {trial.stderr.strip()}" if trial.returncode else None


def enter():
    """Goes on in namespaces of this process's own, of network and pids: whatever ends it, nothing
    of what it began is left. Gives the run's directory, which is kept where the run fails."""
    if HERE in os.environ:
        return Path(os.environ[HERE])
    path = Path(tempfile.mkdtemp(prefix="muster-machines-"))
    path.chmod(0o755)
    # The first process of a pid namespace inherits the orphans: bash waits for them.
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
    """Those of which a file, by package, is not there."""
    return [package for package, file in packages.items() if not Path(file).exists()]


def need(packages):
    """Ends with a sentence where one is missing."""
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
    """PostgreSQL does not run as root."""
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"] \
        if os.geteuid() == 0 else []


def make_bridge():
    for words in ("link set lo up", "link add bridge0 type bridge",
                  f"addr add {address(CLIENTS)}/24 dev bridge0", "link set bridge0 up"):
        ip(words)


class Network:
    """This process's own, of clients; and that of each machine."""

    def inside(self, words):
        return [*map(str, words)]

    def deafen(self, *numbers, port=None):
        """What comes from those is dropped when it arrives, or what comes from or to that port;
        what goes to them is not."""
        ports = [""] if port is None else [f"tcp sport {port}", f"tcp dport {port}"]
        self.filter("add chain ip cuts heard { type filter hook input priority 0; }", *(
            f"add rule ip cuts heard ip saddr {address(number)} {of} drop"
            for number in numbers for of in ports))

    def hear(self):
        """All of them again."""
        self.filter("delete table ip cuts")

    def filter(self, *lines):
        subprocess.run(self.inside(["nft", "-f", "-"]), check=True, text=True,
                       input="\n".join(("add table ip cuts", *lines, "")))


class Machine(Network):
    """What runs there are its services: each begins anew where it ends by itself, as under
    systemd."""

    def __init__(self, number):
        self.number, self.spared = number, set()
        self.services = {}  # the running process and its words, by name
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
        """Of all that runs there, but for what holds it and who is spared."""
        found = set()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(entry / "ns/net") == self.network:
                    found.add(int(entry.name))
        return found - {self.holder.pid} - self.spared

    def signal_all(self, number):
        """Also those that are forked meanwhile."""
        told = set()
        while new := self.pids() - told:
            told |= new
            for pid in new:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def kill(self):
        """kill -9 of everything there."""
        services, self.services = self.services, {}
        self.signal_all(signal.SIGKILL)
        for process, _, _ in services.values():
            process.wait()

    def freeze(self):
        self.signal_all(signal.SIGSTOP)

    def thaw(self):
        self.signal_all(signal.SIGCONT)

    def cut(self):
        """The cable leaves the bridge: both its ends stay up, so that nobody is told."""
        ip(f"link set {self.cable} nomaster")

    def heal(self):
        ip(f"link set {self.cable} master bridge0")

    def end(self, bound=30):
        """Asks all services to end, the last first; who does not is killed."""
        services, self.services = self.services, {}
        for process, _, _ in reversed(services.values()):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(bound)
        self.signal_all(signal.SIGKILL)
        for process, _, _ in services.values():
            process.wait()


class Disk:
    """A directory with room of its own, in memory: mounted for this process and its children."""

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
        """It shrinks to what is on it: as full as by a file that takes the rest."""
        def shrinks():
            now = os.statvfs(self.path)
            return self.resize((now.f_blocks - now.f_bfree) * now.f_frsize)
        until(shrinks, f"{self.path} is full")

    def free(self):
        until(lambda: self.resize(self.SIZE), f"{self.path} has room")

    def end(self, keep):
        """What is kept outlives the mount."""
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
