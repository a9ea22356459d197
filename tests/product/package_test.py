#!/usr/bin/env python3
"""Packages for Debian are installed, used and removed: `package_test.py DIRECTORY-OF-PACKAGES`.

This happens in a copy of this system that is thrown away: an overlay over / in a mount namespace,
which needs root. It also happens under a systemd that is process 1 in namespaces of its own, with
that copy.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import readme

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from skipping import SKIPPED, code_of  # noqa: E402

packages = []
root = None  # directory of the copy
THRESHOLD = 20  # exposure by systemd-analyze security, in tenths; 1.5 was measured


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL, **more)  # fmt: skip


def inside(*words, user="root", **more):
    return run("chroot", "--userspec", user, root, *words, **more)


def make_root(where):
    """A copy of this whole system. Everything written to it stays in memory."""
    for words in (
        ["mount", "-t", "tmpfs", "muster-test", where],
        ["mkdir", f"{where}/upper", f"{where}/work", f"{where}/root"],
        ["mount", "-t", "overlay", "overlay", "-o",
         f"lowerdir=/,upperdir={where}/upper,workdir={where}/work", f"{where}/root"],
        *(["mount", "--rbind", each, f"{where}/root{each}"] for each in ("/dev", "/proc")),
        ["mkdir", "-p", f"{where}/root{readme.ROOT}"],
        ["mount", "--bind", readme.ROOT, f"{where}/root{readme.ROOT}"],
    ):  # fmt: skip
        subprocess.run([str(word) for word in words], check=True)
    return Path(where, "root")


BOOT = """set -e
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs dev
for each in null zero full random urandom tty; do
  touch dev/$each
  mount --bind /dev/$each dev/$each
done
mkdir dev/pts dev/shm
mkdir -p old
ln -s pts/ptmx dev/ptmx
ip link set lo up
pivot_root . old
umount -l /old
exec env -i PATH="$PATH" container=other \\
  /lib/systemd/systemd --system --unit=basic.target --show-status=no"""


class Systemd:
    """A systemd that runs until `end`."""

    def __init__(self):
        self.outer = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--cgroup", "--net", "--ipc", "--uts",
             "sh", "-c", BOOT, "sh", root],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)  # fmt: skip
        self.pid = None

    def begins(self):
        """False if systemd cannot run here."""
        children = Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children")
        until = time.monotonic() + 60
        while self.outer.poll() is None and time.monotonic() < until:
            self.pid = self.pid or (children.read_text(encoding="utf-8").split() or [None])[0]
            if self.pid and self.run("systemctl", "is-active", "basic.target").returncode == 0:
                return True
        return False

    def run(self, *words):
        return run("nsenter", "--target", self.pid, "--all", *words)

    def end(self):
        if self.pid and self.outer.poll() is None:
            os.kill(int(self.pid), signal.SIGKILL)
        self.outer.kill()
        self.outer.communicate()


class Package(unittest.TestCase):
    def setUp(self):
        if root is None and "lintian" not in self.id():
            self.skipTest("skipped: no copy of this system can be mounted here")

    def done(self, ran):
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def begin_systemd(self):
        systemd = Systemd()
        self.addCleanup(systemd.end)
        if not systemd.begins():
            self.skipTest("skipped: systemd does not run in namespaces here")
        return systemd

    def test_1_lintian_finds_no_error(self):
        self.done(run("lintian", "--allow-root", "--fail-on", "error", *packages))

    def test_2_they_are_installed(self):
        self.done(inside("dpkg", "-i", *packages, env={**os.environ, "LC_ALL": "C"}))
        self.assertIn("/var/lib/muster", self.done(inside("getent", "passwd", "muster")))
        self.assertEqual((root / "var/lib/muster").stat().st_uid, 0)

    def test_3_the_command_is_there_with_its_manual_and_its_completion(self):
        self.assertRegex(self.done(inside("muster", "--version")), r"^muster \d")
        self.assertNotIn("not stripped", self.done(run("file", root / "usr/bin/muster")))
        self.assertIn("Search every", self.done(inside("muster", "check", "--help")))
        self.assertNotIn("not installed", self.done(inside("muster", "--help")))
        self.assertIn("muster-bench", self.done(inside("muster-bench", "--help")))
        codec = inside("muster-bench", "codec")
        self.assertEqual((codec.returncode, codec.stdout), (2, ""))
        self.assertIn("./dev bench codec", codec.stderr)
        for file in ("usr/share/man/man1/muster-init.1.gz",
                     "usr/share/man/man1/muster-check.1.gz",
                     "usr/share/doc/muster/how-to/README.md",
                     "usr/share/bash-completion/completions/muster",
                     "usr/share/fish/vendor_completions.d/muster.fish",
                     "usr/share/zsh/vendor-completions/_muster"):  # fmt: skip
            self.assertTrue((root / file).is_file(), file)

    def test_4_the_units_are_right_and_leave_little_open(self):
        for unit in ("muster", "muster-postgres"):
            text = (root / f"lib/systemd/system/{unit}@.service").read_text(encoding="utf-8")
            with tempfile.TemporaryDirectory(dir=root / "tmp") as own:
                instance = Path(own, f"{unit}@n1.service")
                instance.write_text(text, encoding="utf-8")
                its = "/" + str(instance.relative_to(root))
                checked = inside("systemd-analyze", "verify", "--man=no", its)
                self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
                self.done(inside("systemd-analyze", "security", "--offline=true", "--no-pager",
                                 f"--threshold={THRESHOLD}", its))  # fmt: skip

    def test_5_a_node_of_init_runs_as_its_user(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            host = f"localhost:{free.getsockname()[1]}"
        self.done(inside("muster", "init", "--nodes", host, "--dir", "/tmp/cluster"))
        self.done(inside("mv", "/tmp/cluster/n1", "/var/lib/muster/n1"))
        self.done(inside("chown", "-R", "muster:muster", "/var/lib/muster/n1"))
        config = "/var/lib/muster/n1/muster.toml"
        node = subprocess.Popen(["chroot", "--userspec", "muster:muster", root,
                                 "muster", "node", "--config", config])  # fmt: skip
        try:
            self.done(inside("muster", "wait", "--config", config, user="muster:muster"))
            self.done(inside("muster", "members", "--config", config, user="muster:muster"))
        finally:
            node.terminate()
            self.assertEqual(node.wait(), 0)

    def test_6_nodes_are_run_by_systemd(self):
        systemd = self.begin_systemd()

        def done(*words):
            return self.done(systemd.run(*words))

        def wait(node, *words):
            done("runuser", "-u", "muster", "--", "muster", "wait",
                 "--config", f"/var/lib/muster/{node}/muster.toml", *words)  # fmt: skip

        def await_shown(node, line):
            while line not in done("systemctl", "show", f"muster@{node}"):
                pass

        done("muster", "init", "--nodes", "localhost,localhost,localhost", "--dir", "/tmp/three")
        nodes = ("n1", "n2", "n3")
        for node in nodes:
            done("mv", f"/tmp/three/{node}", f"/var/lib/muster/three-{node}")
        n1, n2, n3 = (f"three-{node}" for node in nodes)
        dropped = root / f"etc/systemd/system/muster@{n1}.service.d/soon.conf"
        dropped.parent.mkdir(parents=True)
        dropped.write_text("[Service]\nWatchdogSec=2\n", encoding="utf-8")
        done("systemctl", "daemon-reload")
        done("systemctl", "start", *(f"muster@{node}" for node in (n1, n2, n3)))
        wait(n1, "--coordinator", "3")
        await_shown(n3, "StatusText=node 3 is Normal in group ")
        # The node is killed and comes back. Then it is frozen, and the watchdog kills it.
        done("systemctl", "kill", "--signal=KILL", "--kill-who=main", f"muster@{n3}")
        await_shown(n3, "NRestarts=1\n")
        done("systemctl", "kill", "--signal=STOP", "--kill-who=main", f"muster@{n1}")
        await_shown(n1, "NRestarts=1\n")
        wait(n1, "--coordinator", "3")
        # After an error that a restart cannot repair, systemd does not restart the node, and the
        # journal has the error.
        file = root / f"var/lib/muster/{n2}/muster.toml"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("check_every", "check_evry"), encoding="utf-8")
        self.assertNotEqual(systemd.run("systemctl", "restart", f"muster@{n2}").returncode, 0)
        for line in ("ActiveState=failed\n", "ExecMainStatus=64\n", "NRestarts=0\n"):
            self.assertIn(line, done("systemctl", "show", f"muster@{n2}"))
        errors = done("journalctl", "--no-pager", "-p", "err", "-o", "cat", "-u", f"muster@{n2}")
        self.assertRegex(errors, "^muster: /var/lib/muster/three-n2/muster.toml:.*check_evry")
        done("systemctl", "stop", f"muster@{n1}", f"muster@{n3}")
        for node in (n1, n3):
            self.assertIn("Result=success\n", done("systemctl", "show", f"muster@{node}"))

    def test_6_postgresql_is_run_by_systemd(self):
        systemd = self.begin_systemd()

        def done(*words):
            return self.done(systemd.run(*words))

        done("muster", "postgres", "init", "--nodes", "localhost,localhost,localhost",
             "--port", "5532", "--to", "/tmp/pg")  # fmt: skip
        for node, word in (("n1", "create"), ("n2", "join"), ("n3", "join")):
            where = f"/var/lib/muster-postgres/{node}"
            done("muster", "postgres", word, f"/tmp/pg/{node}", "--data", where,
                 "--user", "postgres")  # fmt: skip
            done("systemctl", "start", f"muster-postgres@{node}")

        def asked(node):
            where = f"host=/var/lib/muster-postgres/n{node}/database port={5531 + node}"
            return systemd.run("psql", "-X", "-A", "-t", "-U", "postgres", "-c",
                               "create table if not exists t () ; select 'written'",
                               where + " dbname=postgres").stdout  # fmt: skip

        until = time.monotonic() + 120
        while not any("written" in asked(node) for node in (1, 2, 3)):
            self.assertLess(time.monotonic(), until, done("journalctl", "--no-pager", "-n", "50"))
        for node in ("n1", "n2", "n3"):
            self.assertEqual(done("systemctl", "show", "-P", "User", f"muster-postgres@{node}"),
                             "postgres\n")
            done("systemctl", "stop", f"muster-postgres@{node}")
            self.assertIn("Result=success\n", done("systemctl", "show", f"muster-postgres@{node}"))

    def test_7_an_application_is_built_with_it(self):
        project = root / "tmp/lamp"
        subprocess.run([sys.executable, readme.__file__, "project", project], check=True)
        self.done(inside("cmake", "-S", "/tmp/lamp", "-B", "/tmp/lamp/build", "-G", "Ninja"))
        self.done(inside("cmake", "--build", "/tmp/lamp/build"))
        self.assertTrue((project / "build/lamp").is_file())

    def test_8_they_are_removed_and_what_nodes_have_stored_stays(self):
        databases = sorted(path.name for path in (root / "var/lib").glob("muster-postgres/*"))
        self.done(inside("dpkg", "-P", "muster", "libmuster-dev", "muster-bench",
                         "muster-lab", "muster-postgres"))
        for file in ("usr/bin/muster", "lib/systemd/system/muster@.service", "usr/share/doc/muster",
                     "usr/bin/muster-postgres",
                     "usr/include/muster"):  # fmt: skip
            self.assertFalse((root / file).exists(), file)
        self.assertTrue((root / "var/lib/muster/n1/muster.toml").is_file())
        for node in databases:
            self.assertTrue((root / "var/lib/muster-postgres" / node / "database").is_dir())


def main():
    global packages, root
    if os.geteuid() != 0:
        print("skipped: it mounts a copy of this system, and so has to be run by root")
        sys.exit(SKIPPED)
    if os.environ.get("MUSTER_IN_NAMESPACE") is None:
        os.execvpe("unshare", ["unshare", "--mount", sys.executable, "-B", *sys.argv],
                   {**os.environ, "MUSTER_IN_NAMESPACE": "1"})  # fmt: skip
    packages = sorted(Path(sys.argv.pop(1)).resolve().glob("*.deb"))
    if not packages:
        sys.exit("package_test.py: there are no packages: first cpack -G DEB")
    with tempfile.TemporaryDirectory() as where:
        try:
            root = make_root(where)
        except subprocess.CalledProcessError as error:
            print(f"package_test.py: {error}")
        try:
            result = unittest.main(verbosity=2, exit=False).result
        finally:
            subprocess.run(["umount", "--lazy", "--recursive", where], check=False)
    sys.exit(code_of(result))


if __name__ == "__main__":
    main()
