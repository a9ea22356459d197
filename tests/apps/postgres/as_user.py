#!/usr/bin/env python3
"""The commands that root runs for the user of a database: `as_user.py MUSTER`. That user plants
links, and files outside of the user's directory have to stay as they are. Only root can run
this."""

import contextlib
import fcntl
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import unittest

from bundles import Bundled
from cases import MUSTER
from cluster import said
from nodes import until
from skipping import SKIPPED, run_cases

USER = "postgres"
STRACE = shutil.which("strace")
SECRET = "a secret of root's"

# The files that `muster postgres` writes in a node's directory, as strace shows them. A test checks
# that this list is complete. The tests replace all files of BESIDE, or all of WRITTEN_ANEW, by
# links at once: the node keeps running with such links. Files of ALONE are replaced one by one.
BESIDE = tuple(f"database/{name}.tmp" for name in (
    "muster.conf", "muster.note", "muster.held", "muster.copies", "pg_ident.conf",
    "data/standby.signal", "data/postgresql.conf"))
WRITTEN_ANEW = tuple(f"database/{name}" for name in (
    "muster.conf", "muster.note", "muster.held", "muster.copies", "pg_ident.conf", "postgres.log",
    "data/standby.signal"))
ALONE = ("muster.toml", "pg_hba.conf", "tls/tls.key", "client/tls.key", "data/lock",
         "data/safe.sqlite", "data/safe.sqlite.new", "data/safe.sqlite-wal", "data/admin.sock",
         "database/data/postmaster.pid", "database/data/postgresql.conf", "database/muster.sock")
GROUPS = (BESIDE, WRITTEN_ANEW, *((name,) for name in ALONE))
DIRECTORIES = (("tls",), ("data",), ("database",), ("database/data",),
               tuple(f"database/data.{name}" for name in ("part", "clone", "old", "rubbish")))
PROBE = """#!/usr/bin/python3
import fcntl, os, subprocess, termios
with open("{to}", "w") as told:
    for line in open("/proc/self/status"):
        if line.split(":")[0] in ("Uid", "Gid", "Groups", "CapEff", "CapPrm", "CapAmb"):
            told.write(line)
    told.write(f"environment {{sorted(os.environ.items())}}\\n")
    told.write(f"descriptors {{sorted(os.listdir('/proc/self/fd'), key=int)}}\\n")
    for number in (0, 1, 2):
        try:
            fcntl.ioctl(number, termios.TIOCSTI, b"#")
            told.write("typed at the terminal\\n")
        except OSError:
            pass
    try:
        told.write("of the parent " + open(f"/proc/{{os.getppid()}}/environ").read() + "\\n")
    except OSError:
        pass
raise SystemExit(1)
"""


def facts(directory):
    """All that can be seen of a directory tree."""
    seen = {}
    for path in (directory, *sorted(directory.rglob("*"))):
        about = path.lstat()
        text = path.read_bytes() if path.is_file() else sorted(os.listdir(path))
        seen[path] = (about.st_mode, about.st_uid, about.st_gid, about.st_ino, text)
    return seen


def status_of(pid, key):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        return next(line.split()[1:] for line in status if line.startswith(key + ":"))


def give(path):
    shutil.chown(path, USER, USER)


class Test(unittest.TestCase):
    def setUp(self):
        self.cluster = Bundled()
        self.addCleanup(self.cluster.end, keep=False)
        self.own = self.cluster.path / "n1"
        self.outside = self.cluster.path / "outside"
        (self.outside / "directory").mkdir(parents=True)
        (self.outside / "file").write_text("of root\n")
        (self.outside / "secret").write_text(SECRET)
        (self.outside / "secret").chmod(0o600)
        self.before = facts(self.outside)

    def nothing_changed_outside(self, what):
        self.assertEqual(facts(self.outside), self.before, what)

    def words(self, word, *more):
        return [MUSTER, "postgres", word, "--config", self.own / "muster.toml", "--user", USER,
                *more]

    def created(self):
        ran = self.cluster.put("create", 1)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def refused(self, ran, *whys, code=64):
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        for why in whys:
            self.assertIn(why, ran.stderr)
        self.assertNotIn(SECRET, ran.stdout + ran.stderr)

    @contextlib.contextmanager
    def running(self, *more):
        """Waits until it works as a node, or has ended."""
        log = self.cluster.path / "n1.log"
        log.write_text("")
        with open(log, "a", encoding="utf-8") as to:
            node = subprocess.Popen([*map(str, self.words("run", *more))], stdout=to, stderr=to,
                                    cwd=self.cluster.path)
        self.cluster.running[1] = node
        try:
            until(lambda: node.poll() is not None or "is up on" in log.read_text(),
                  "the node is up, or has ended")
            yield node
        finally:
            self.cluster.kill_to_the_last(1)


class Planted(Test):
    """Links that the user plants in place of files in the node's directory."""

    @contextlib.contextmanager
    def planted(self, names, plant):
        kept = self.cluster.path / "kept"
        kept.mkdir()
        there = [name for name in names if os.path.lexists(self.own / name)]
        for name in there:
            (self.own / name).rename(kept / name.replace("/", "-"))
        try:
            for name in names:
                plant(self.own / name)
            yield
        finally:
            for name in names:
                path = self.own / name
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
            for name in there:
                (kept / name.replace("/", "-")).rename(self.own / name)
            kept.rmdir()

    def try_all_words(self, what):
        with self.running():
            self.nothing_changed_outside(what)
        for word, *more in (("rejoin",), ("switch-over", "--to", 2)):
            said(*self.words(word, *more), cwd=self.cluster.path)
        self.cluster.put("create", 1)
        self.nothing_changed_outside(what)

    def test_links_in_place_of_files(self):
        self.created()
        with self.running():
            pass  # the node has now written the files of its first life
        for names in GROUPS:
            for to in (self.outside / "file", self.outside / "new"):
                with self.planted(names, lambda path, to=to: path.symlink_to(to)):
                    self.try_all_words(f"{names} -> {to.name}")

    def test_other_names_of_files(self):
        self.created()
        file = self.outside / "file"
        for names in GROUPS[:2]:
            with self.planted(names, lambda path: path.hardlink_to(file)), self.running():
                self.assertEqual(file.stat().st_uid, 0, names)
            self.nothing_changed_outside(names)

    def test_links_in_place_of_directories(self):
        self.created()
        for names in DIRECTORIES:
            with self.planted(names, lambda path: path.symlink_to(self.outside / "directory")):
                self.try_all_words(f"{names} -> directory")

    def test_a_directory_that_is_a_link_when_the_bundle_is_put_there(self):
        theirs = self.cluster.path / "theirs"
        theirs.mkdir()
        give(theirs)
        (theirs / "link").symlink_to(self.outside / "directory")
        (theirs / "deep").symlink_to(self.outside)
        for to in (theirs / "link", theirs / "link/n1", theirs / "deep/n1/n2"):
            for word in ("create", "join"):
                ran = self.cluster.postgres(word, "made/n1", "--data", to, *self.cluster.user)
                self.refused(ran, "choose a place that belongs to postgres")
                self.nothing_changed_outside(to)
        ran = self.cluster.postgres("create", "made/n1", "--data", theirs / "n1",
                                    *self.cluster.user)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_what_a_configuration_of_the_user_names_is_not_roots_to_read_or_write(self):
        self.created()
        config = self.own / "muster.toml"
        usual = config.read_text()
        secret = self.outside / "secret"
        for text in (usual + f'[journal]\nfile = "{self.outside}/journal"\n',
                     usual + f'[journal]\nfile = "{self.outside}/file"\n',
                     usual.replace('data = "data"', f'data = "{self.outside}/data"'),
                     usual.replace('database = "', f'database = "{self.outside}/'),
                     usual.replace('ca = "tls/ca.crt"', f'ca = "{secret}"'),
                     usual.replace('key = "tls/tls.key"', f'key = "{secret}"'),
                     usual.replace('hba = "pg_hba.conf"', f'hba = "{secret}"')):
            self.assertNotEqual(text, usual)
            config.write_text(text)
            with self.running():
                pass
            self.assertNotIn(SECRET, self.cluster.log(1))
            for word in ("status", "check"):
                ran = self.cluster.postgres(word, "--config", config)
                self.assertNotIn(SECRET, ran.stdout + ran.stderr)
            self.nothing_changed_outside(text)

    @unittest.skipUnless(STRACE, "strace not found")
    def test_before_it_is_the_user_it_opens_nothing_of_the_user_and_writes_what_is_listed(self):
        self.created()
        known = {name for names in (*GROUPS, *DIRECTORIES) for name in names}
        for word, *more in (("run",), ("run", "--initialise"), ("rejoin",),
                            ("switch-over", "--to", 2)):
            trace = self.cluster.path / "trace"
            words = ["timeout", "-s", "KILL", "8", STRACE, "-f", "-z", "-s", "0", "-e",
                     "trace=%file,setresuid", "-o", trace, *self.words(word, *more)]
            said(*words, cwd=self.cluster.path)
            until(lambda: not self.cluster.postmaster(1), "nothing of its server is left")
            lines = trace.read_text(errors="replace").splitlines()
            become = next(i for i, line in enumerate(lines) if "setresuid(" in line)
            for line in lines[:become]:
                self.assertNotRegex(line, "O_CREAT|O_TRUNC|mkdir|rename|unlink|chown|chmod|symlink")
                if str(self.own) in line:
                    self.assertRegex(line, r"execve\(|O_PATH|newfstatat|readlink|access", line)
            for line in lines[become:]:
                found = re.search(r'"' + re.escape(str(self.own)) + r'/([^"]*)"', line)
                if not found or not re.search("O_WRONLY|O_RDWR|rename|unlink|mkdir|symlink", line):
                    continue
                name = found[1]
                inside = re.match(r"database/data[^/]*/(?!standby|postm|postgresql.conf)", name)
                if not inside and not name.startswith("database/.s.PGSQL"):
                    self.assertIn(re.sub("(safe.sqlite)-.*", r"\1-wal", name), known, line)


class Becoming(Test):
    def test_a_node_is_the_users_for_good(self):
        self.created()
        with self.running() as node:
            user = shutil._get_uid(USER)  # pylint: disable=protected-access
            for task in os.listdir(f"/proc/{node.pid}/task"):
                self.assertEqual(status_of(f"{node.pid}/task/{task}", "Uid"), [str(user)] * 4)
                for key in ("CapEff", "CapPrm", "CapAmb"):
                    self.assertEqual(int(status_of(f"{node.pid}/task/{task}", key)[0], 16), 0)
            self.assertNotIn("0", status_of(node.pid, "Groups"))
            for path in (self.own / "data", self.own / "data/admin.sock", self.own / "database"):
                self.assertEqual(path.owner(), USER)
                self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0)

    def probe(self):
        """The environment of a program that the user's configuration names, at a terminal of
        root's."""
        programs, told = self.own / "programs", self.own / "told"
        programs.mkdir()
        for name in ("postgres", "initdb", "pg_ctl"):
            (programs / name).write_text(PROBE.format(to=told))
            (programs / name).chmod(0o755)
        config = self.own / "muster.toml"
        config.write_text(re.sub('programs = ".*"', f'programs = "{programs}"',
                                 config.read_text()))
        for path in (self.own, programs, *programs.iterdir()):
            give(path)
        secret = os.open(self.outside / "secret", os.O_RDONLY)
        self.addCleanup(os.close, secret)
        pid, terminal = pty.fork()
        if pid == 0:
            os.dup2(secret, 9, inheritable=True)
            words = [*map(str, self.words("run"))]
            os.umask(0)
            os.execve(words[0], words, {"PATH": "/usr/bin:/bin", "HOME": "/root",
                                        "LC_ALL": "C.UTF-8", "TOKEN": SECRET})
        flags = fcntl.fcntl(terminal, fcntl.F_GETFL)
        fcntl.fcntl(terminal, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        try:
            until(lambda: told.exists() and "descriptors" in told.read_text(), "it was run")
            held = [os.readlink(f"/proc/{pid}/fd/{each}") for each in os.listdir(f"/proc/{pid}/fd")]
            self.assertNotIn(str(self.outside / "secret"), held)
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(terminal)
        return told.read_text()

    def test_its_programs_have_nothing_of_roots(self):
        self.created()
        told = self.probe()
        self.assertNotIn(SECRET, told)
        self.assertNotIn("typed", told)
        self.assertNotIn("/root", told)
        self.assertIn("('HOME', '/var/lib/postgresql')", told)
        self.assertIn("('LC_ALL', 'C.UTF-8')", told)
        self.assertIn("descriptors ['0', '1', '2', '3', '4']", told)  # the program opens two itself
        for key in ("Uid", "Gid"):
            self.assertNotRegex(told, rf"{key}:.*\b0\b")
        for key in ("CapEff", "CapPrm", "CapAmb"):
            self.assertRegex(told, rf"{key}:\s0+\n")

    def test_users_that_cannot_be_it(self):
        self.created()
        postgres, config = self.cluster.postgres, ("--config", self.own / "muster.toml")
        for word, *more in (("run",), ("create",), ("join",), ("rejoin",),
                            ("switch-over", "--to", 2)):
            self.refused(postgres(word, *config, *more, "--user", "no_such"),
                         "there is no user no_such")
            self.refused(postgres(word, *config, *more, "--user", "root"),
                         "PostgreSQL does not run as root")
            self.refused(said("setpriv", "--reuid", "nobody", "--regid", "nogroup",
                              "--clear-groups", *self.words(word, *more)),
                         "only root can become postgres", "runuser -u postgres")
        ran = said("setpriv", "--reuid", USER, "--regid", USER, "--init-groups",
                   *self.words("create"))
        self.refused(ran, "there is a database already")
        for word in ("run", "create"):
            self.refused(postgres(word, *config),
                         "root uses no configuration that another user can change",
                         "runuser -u postgres")

    def test_the_words_that_ask_are_the_owners_of_the_configuration(self):
        self.created()
        config = self.own / "muster.toml"
        give(config)
        secret = self.cluster.path / "roots.toml"
        secret.write_text(config.read_text())
        secret.chmod(0o600)
        config.unlink()
        config.symlink_to(secret)
        for word in ("status", "check"):
            self.refused(self.cluster.postgres(word, "--config", config), "Permission denied")

    def test_it_begins_where_the_user_may_not_be(self):
        closed = self.cluster.path / "closed"
        closed.mkdir(mode=0o700)
        shutil.copytree(self.cluster.path / "made/n1", closed / "n1")
        ran = said(MUSTER, "postgres", "create", "n1", "--data", self.own, "--user", USER,
                   cwd=closed)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotIn("Permission denied", ran.stderr)


class Bundle(Test):
    """Root reads the bundle, and writes nothing."""

    def put(self, bundle):
        return self.cluster.postgres("create", bundle, "--data", "n1", "--user", USER)

    def test_links_in_a_bundle_are_not_followed(self):
        tls = self.cluster.path / "made/n1/tls/extra"
        for plant in (tls.symlink_to, tls.hardlink_to):
            plant(self.outside / "secret")
            self.put("made/n1")
            self.assertFalse(self.own.joinpath("tls/extra").is_symlink())
            if plant == tls.symlink_to:  # a hard link in root's own bundle is root's decision
                self.assertFalse(self.own.joinpath("tls/extra").exists())
            tls.unlink()
            shutil.rmtree(self.own, ignore_errors=True)

    def test_a_bundle_of_another_user_has_that_users_files_alone(self):
        theirs = self.cluster.path / "theirs"
        shutil.copytree(self.cluster.path / "made/n1", theirs / "n1")
        for path in (theirs, *theirs.rglob("*")):
            shutil.chown(path, "nobody", "nogroup")
        secret = theirs / "n1/tls/extra"
        secret.hardlink_to(self.outside / "secret")
        self.refused(self.put("theirs/n1"), "belongs to another user than its bundle")
        self.assertFalse(self.own.exists())
        secret.unlink()
        secret.symlink_to(self.outside / "secret")
        os.mkfifo(theirs / "n1/tls/pipe")
        shutil.chown(theirs / "n1/tls/pipe", "nobody", "nogroup")
        ran = self.put("theirs/n1")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertFalse((self.own / "tls/extra").is_symlink())
        self.assertFalse((self.own / "tls/pipe").exists())

    def test_the_way_to_a_bundle_may_not_be_another_users(self):
        theirs = self.cluster.path / "theirs"
        theirs.mkdir()
        give(theirs)
        (theirs / "n1").symlink_to(self.cluster.path / "made/n1")
        self.refused(self.put("theirs/n1"), "postgres may not read the bundle")
        self.assertFalse(any(self.own.iterdir()) if self.own.exists() else False)


class Obeying(Test):
    """`muster node` and `muster run` have no --user, so root obeys no file of another user
    there."""

    def test_root_runs_no_node_by_a_file_that_another_user_can_change(self):
        made = self.cluster.path / "plain"
        ran = said(MUSTER, "init", "--nodes", "localhost", "--dir", made)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        config = made / "n1/muster.toml"
        made.chmod(0o755)
        words = ([MUSTER, "node", "--config", config],
                 [MUSTER, "run", "--config", config, "--", "true"])
        for path in (config, config.parent, made):
            give(path)
            for each in words:
                self.refused(said(*each), "root uses no configuration that another user can change",
                             "runuser -u postgres")
            os.chown(path, 0, 0)
            path.chmod(path.stat().st_mode | stat.S_IWOTH)
            for each in words:
                self.refused(said(*each), "users other than root can write to", "chmod go-w")
            path.chmod(path.stat().st_mode & ~stat.S_IWOTH)

    def test_root_obeys_nothing_that_may_become_another_users(self):
        """In a directory for everybody a file may appear, and root's link may be moved."""
        common = self.cluster.path / "common"
        common.mkdir()
        common.chmod(0o1777)
        (common / "link").symlink_to(self.cluster.path)
        words = [MUSTER, "node", "--config"]
        self.refused(said(*words, common / "muster.toml"), "No such file or directory")
        self.refused(said(*words, common / "link/n1/muster.toml"),
                     "users other than root can write to")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: only root can become another user", file=sys.stderr)
        sys.exit(SKIPPED)
    run_cases(verbosity=2)
