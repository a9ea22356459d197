"""Three machines of this one: network namespaces on one bridge, each with all that runs on it."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

NUMBERS = (1, 2, 3)
PORT = 7200  # of PostgreSQL: 5432 may be that of the distribution's own
PROGRAMS = Path("/usr/lib/postgresql/15/bin")
PYTHON = "/usr/bin/python3"  # that of Debian, which has psycopg2
HERE = "MUSTER_PEERS_DIRECTORY"


def enter():
    """Goes on in namespaces of this process's own, of network and pids: whatever ends it, nothing
    of what it began is left. Gives the run's directory, which is kept where the run fails."""
    if HERE in os.environ:
        return Path(os.environ[HERE])
    path = Path(tempfile.mkdtemp(prefix="muster-peers-"))
    path.chmod(0o755)
    own = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    # The first process of a pid namespace inherits the orphans: bash waits for them.
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", *own, "--net", "--pid", "--mount-proc",
               "--fork", "--kill-child", "bash", "-c", '"$@"; exit $?', "bash", PYTHON,
               "-B", *sys.argv]
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


def need(packages):
    """Ends with a sentence where a file of one, by package, is missing."""
    if missing := [package for package, file in packages.items() if not Path(file).exists()]:
        sys.exit(f"missing: {', '.join(missing)}; as root: apt-get install -y "
                 f"--no-install-recommends {' '.join(missing)}, and stop what it starts")


def wait(seconds):
    threading.Event().wait(seconds)


def until(so, what, bound=60):
    """Asks again and again; gives what it says when that is true."""
    end = time.monotonic() + bound
    while time.monotonic() < end:
        if said := so():
            return said
        wait(0.01)
    raise TimeoutError(f"not within {bound} s: {what}")


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
                  "addr add 10.99.0.254/24 dev bridge0", "link set bridge0 up"):
        ip(words)


class Machine:
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


def make():
    make_bridge()
    return {number: Machine(number) for number in NUMBERS}
