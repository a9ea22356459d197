#!/usr/bin/env python3
"""Existing databases become those of first nodes: `adopt.py MUSTER`. One is laid out as Debian does
it, with its settings elsewhere. Others cannot be adopted, each for its own reason. The last is what
one node still has of a lost cluster."""

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import cluster
from cases import MUSTER
from cluster import IDS, said
from machines import PROGRAMS
from skipping import run_cases

AS_POSTGRES = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}


def sure(*words, **more):
    ran = said(*words, **more)
    if ran.returncode != 0:
        raise AssertionError(f"{words}: {ran.stderr}")
    return ran.stdout


class Old:
    """A database from before Muster: segments of 16 MB, no checksums, and data in it."""

    def __init__(self, path):
        self.data = path / "old/15/main"
        self.settings = path / "etc/15/main"
        for directory in (self.data, self.settings):
            directory.mkdir(parents=True)
        if AS_POSTGRES:
            for directory in (path / "old", self.data.parent, self.data):
                shutil.chown(directory, "postgres", "postgres")
        self.postgres("initdb", "-D", self.data, "--auth", "trust", "--username", "postgres",
                      "--locale", "C.UTF-8")

    def postgres(self, program, *words):
        return sure(PROGRAMS / program, *words, cwd=self.data, **AS_POSTGRES)

    def do(self, *statements, user="postgres"):
        """Runs statements on a server that runs only for them."""
        self.start()
        for statement in statements:
            self.postgres("psql", "-X", "-q", "-h", self.data.parent, "-U", user, "-d",
                          "postgres", "-c", statement)
        self.stop()

    def start(self, data=None):
        """Starts a server on this database, or on the data of a node."""
        data = data or self.data
        self.postgres("pg_ctl", "-D", data, "-s", "-w", "-l", data / "log", "-o",
                      f"-c listen_addresses= -c unix_socket_directories={data.parent}", "start")

    def stop(self, mode="fast", data=None):
        self.postgres("pg_ctl", "-D", data or self.data, "-s", "-w", "-m", mode, "stop")

    def as_debian_has_it(self):
        """Moves all of its settings out of the data directory."""
        for name in ("postgresql.conf", "pg_hba.conf", "pg_ident.conf"):
            shutil.move(self.data / name, self.settings / name)
        (self.settings / "conf.d").mkdir()
        (self.settings / "conf.d/own.conf").write_text("work_mem = '7MB'\nport = 1\n")
        with open(self.settings / "postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"data_directory = '{self.data}'\n"
                       f"hba_file = '{self.settings}/pg_hba.conf'\n"
                       f"external_pid_file = '{self.data.parent}/its.pid'\n"
                       "cluster_name = '15/main'\nmax_wal_size = '2GB'\nssl = on\n"
                       "include_dir = 'conf.d'\nrecovery_target = 'immediate'\n")


class Cluster(cluster.Cluster):
    def __init__(self):
        super().__init__(MUSTER, "1s", "3s")

    def adopt(self, data, *more, node=1):
        return self.say("create", node, "--adopt", data, *more)

    def set_up_others(self, first):
        self.start(first)
        for node in IDS:
            if node != first:
                self.join(node)
                self.start(node)


class Test(unittest.TestCase):
    def setUp(self):
        self.cluster = self.made_cluster()
        self.old = Old(self.cluster.path)

    def made_cluster(self):
        cluster = Cluster()
        self.addCleanup(cluster.end, keep=False)
        return cluster

    def refused(self, ran, *whys):
        self.assertEqual(ran.returncode, 64, ran.stdout + ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        for why in whys:
            self.assertIn(why, ran.stderr)
        self.assertTrue((self.old.data / "PG_VERSION").exists())


class Adopted(Test):
    def test_what_was_there_is_on_all_and_goes_on(self):
        old, cluster = self.old, self.cluster
        old.do("create table t (n int primary key)", "insert into t select generate_series(1, 999)",
               "create role app login password 'secret'", "create database shop owner app")
        old.as_debian_has_it()
        ran = cluster.adopt(old.settings)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for each in ("not copied", "16 MB", "no checksums", "C.UTF-8", "pg_hba.conf"):
            self.assertIn(each, ran.stdout)
        self.assertFalse(old.data.exists())
        self.check_settings()
        cluster.set_up_others(1)
        before = cluster.await_calm()
        cluster.answer("insert into t values (1000) returning n", before)
        for node in IDS:
            cluster.until(lambda each=node: cluster.ask(each, "select count(*) from t") == "1000",
                          f"node {node} has all")
            self.assertEqual(cluster.ask(node, "select count(*) from pg_roles, pg_database"
                                               " where rolname = 'app' and datname = 'shop'"), "1")
        cluster.kill_to_the_last(before)
        cluster.until(lambda: cluster.primary() not in (None, before), "another is the primary")
        after = cluster.primary()
        cluster.answer("insert into t values (1001) returning n", after)
        self.assertEqual(cluster.ask(after, "select count(*) from t"), "1001")
        self.assertEqual(cluster.ask(after, "show work_mem"), "7MB")
        cluster.start(before)
        cluster.await_calm()

    def check_settings(self):
        text = (self.cluster.database(1) / "data/postgresql.conf").read_text()
        for line in ("work_mem = '7MB'", "max_wal_size = '2GB'"):
            self.assertRegex(text, f"(?m)^{re.escape(line)}")
        for name in ("data_directory", "hba_file", "external_pid_file", "port", "cluster_name",
                     "ssl", "recovery_target"):
            self.assertRegex(text, f"(?m)^# left out by muster: {name} =")
            self.assertNotRegex(text, f"(?m)^{name} *=")
        self.assertEqual(text.splitlines()[-1], "include_if_exists '../muster.conf'")

    def test_an_adoption_that_failed_goes_on(self):
        old, cluster = self.old, self.cluster
        old.do("create table t as select 1 as n")
        old.as_debian_has_it()
        self.assertEqual(cluster.adopt(old.settings).returncode, 0)
        # Makes the state that is left if the command fails right after it has moved the database.
        now = cluster.database(1) / "data"
        half = now.with_name("data.adopted")
        now.rename(half)
        (half / "postgresql.conf").unlink()
        for word, more in (("create", ()), ("join", ())):
            self.assertIn(f"is at {half}", cluster.say(word, 1, *more).stderr)
        own = old.settings / "conf.d/own.conf"
        usual = own.read_text()
        own.write_text(usual + "shared_preload_libraries = 'not_there'\n")
        ran = cluster.adopt(old.settings)
        self.assertEqual(ran.returncode, 76, ran.stderr)
        self.assertIn('could not access file "not_there"', ran.stderr)
        self.assertIn(f"the database is now at {half}: run the same command again", ran.stderr)
        own.write_text(usual)
        ran = cluster.adopt(old.settings)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn(f"continues the adoption of {half}", ran.stdout)
        self.check_settings()
        cluster.set_up_others(1)
        self.assertEqual(cluster.answer("select n from t", cluster.await_calm()), "1")


class Refused(Test):
    """Attempts to adopt one after the other, on a database that stays in its place."""

    def adopt(self, *more):
        return self.cluster.adopt(self.old.data, *more)

    def write(self, name, text=""):
        path = self.old.data / name
        self.addCleanup(path.unlink, missing_ok=True)
        path.write_text(text)
        return path

    def test_what_is_no_database_of_this_version_and_owner(self):
        self.assertIn("there is no database here, because there is no PG_VERSION",
                      self.cluster.adopt(self.cluster.path).stderr)
        version = self.old.data / "PG_VERSION"
        version.write_text("14\n")
        self.refused(self.adopt(), "is of PostgreSQL 14, but", "are of 15.", "pg_upgrade")
        version.write_text("15\n")
        if AS_POSTGRES:
            shutil.chown(self.old.data, "nobody")
            self.refused(self.adopt(), "belongs to nobody", "--user nobody")
            shutil.chown(self.old.data, "postgres")

    def test_what_runs_or_was_not_shut_down_or_is_a_standby(self):
        old = self.old
        old.start()
        try:
            self.refused(self.adopt(), "PostgreSQL runs on this database, as process ",
                         f"stop -D {old.data}")
        finally:
            old.stop("immediate")
        self.refused(self.adopt(), 'its state is "in production"', "start it where it is")
        old.do()
        signal_file = self.write("standby.signal")
        self.refused(self.adopt(), "is the database of a standby", "pg_ctl promote")
        signal_file.unlink()

    def test_what_cannot_be_where_it_goes(self):
        old = self.old
        space = self.cluster.path / "space"
        space.mkdir()
        if AS_POSTGRES:
            shutil.chown(space, "postgres", "postgres")
        old.do(f"create tablespace far location '{space}'")
        self.refused(self.adopt(), f"has a tablespace at {space}", "DROP TABLESPACE")
        old.do("drop tablespace far")
        logs = old.data / "pg_wal"
        logs.rename(old.data.parent / "logs")
        logs.symlink_to("../logs")
        self.refused(self.adopt(), "pg_wal is a link to ../logs")
        logs.unlink()
        (old.data.parent / "logs").rename(logs)

    @unittest.skipUnless(os.access("/dev/shm", os.W_OK), "one file system alone")
    def test_another_file_system(self):
        if os.stat("/dev/shm").st_dev == os.stat(self.cluster.path).st_dev:
            self.skipTest("one file system alone")
        there = Path(tempfile.mkdtemp(dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, there)
        there.chmod(0o755)
        shutil.copytree(self.old.data, there / "data")
        if AS_POSTGRES:
            sure("chown", "-R", "postgres:postgres", there / "data")
        self.refused(self.cluster.adopt(there / "data"), "is not on the file system of", "--data")
        self.assertTrue((there / "data/PG_VERSION").exists())

    def test_settings_that_stand_against_it(self):
        old = self.old
        for name, value in (("primary_conninfo", "host=x"), ("hba_file", "/etc/x"),
                            ("recovery_end_command", "x"), ("default_transaction_read_only",
                                                               "on")):
            auto = self.write("postgresql.auto.conf", f"{name} = '{value}'\n")
            self.refused(self.adopt(), f"postgresql.auto.conf: {name} is set by ALTER SYSTEM",
                         f"ALTER SYSTEM RESET {name}")
            auto.write_text("")
        conf = old.data / "postgresql.conf"
        usual = conf.read_text()
        for lines, why in (("wal_level = minimal\nmax_wal_senders = 0\n", "wal_level is minimal"),
                           ("max_wal_senders = 3\n", "max_wal_senders is 3, but 3 nodes"),
                           ("max_replication_slots = 2\n", "max_replication_slots is 2"),
                           ("nonsense = on\n", "contains errors: correct that")):
            conf.write_text(usual + lines)
            self.refused(self.adopt(), why)
        conf.unlink()
        self.refused(self.adopt(), "postgresql.conf")
        conf.write_text(usual)

    def test_a_superuser_is_needed_and_no_history(self):
        self.old.do("create role boss superuser login")
        self.old.do("alter role postgres rename to other", user="boss")
        self.refused(self.adopt(), "has no superuser postgres", "SUPERUSER LOGIN")

    def test_a_table_of_that_name(self):
        self.old.do("create schema muster", "create table muster.term (n int)")
        self.refused(self.adopt(), "has a table muster.term", "DROP SCHEMA muster CASCADE")
        self.refused(self.adopt("--force"), "is not a database that Muster has run")


class Disaster(Test):
    """Two of three nodes are lost for ever. The third becomes the first of another cluster."""

    def setUp(self):
        super().setUp()
        self.lost = self.cluster
        self.lost.begin()
        primary = self.lost.await_calm()
        self.lost.answer("create table if not exists t (n int primary key)", primary)
        self.lost.answer("insert into t values (1) returning n", primary)
        self.lost.until(lambda: all(self.lost.ask(node, "select n from t") for node in IDS),
                        "all have it")
        self.primary = primary

    def burn(self, survivor):
        """The other cluster, whose nodes use the addresses of this one's."""
        self.survivor = survivor
        for node in list(self.lost.running):
            self.lost.kill_to_the_last(node)
        fresh = self.made_cluster()
        fresh.databases = self.lost.databases
        for node in IDS:
            text = (self.lost.path / self.lost.config(node)).read_text()
            (fresh.path / fresh.config(node)).write_text(text.replace('"pg"', '"pg2"'))
        return fresh

    def go_on(self, fresh):
        data = self.lost.database(self.survivor) / "data"
        self.assertIn("start a new cluster from it with --force only if",
                      fresh.adopt(data, node=self.survivor).stderr)
        ran = fresh.adopt(data, "--force", node=self.survivor)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stdout, r"the database has group \d+\.\d, WAL until \d/[0-9A-F]+: "
                                     "commits that the lost nodes acknowledged after that position")
        fresh.set_up_others(self.survivor)
        primary = fresh.await_calm()
        self.assertEqual(fresh.answer("select n from t order by n", primary), "1")
        fresh.answer("insert into t values (2) returning n", primary)
        return ran.stdout

    def test_a_standby_goes_on_and_who_comes_back_is_refused(self):
        back, *_ = (node for node in IDS if node != self.primary)
        fresh = self.burn(next(node for node in IDS if node not in (self.primary, back)))
        note = self.lost.database(self.survivor) / "muster.note"
        self.assertNotIn("had not finished", self.go_on(fresh))
        self.assertFalse(note.exists())
        # The only row with counter 0 is the new cluster's first one. Rows of the lost cluster are
        # gone.
        self.assertEqual(fresh.answer("select count(*) from muster.term where counter = 0"),
                         "1")
        fresh.kill_to_the_last(back)
        self.check_that_its_node_is_refused(fresh, back)
        self.check_that_its_database_cannot_follow(fresh, back)
        fresh.start(back)
        fresh.await_calm()

    def check_that_its_node_is_refused(self, fresh, back):
        self.lost.start(back)
        self.lost.until(lambda: "differ" in self.lost.log(back),
                        "it is told that the clusters differ")
        fresh.answer("insert into t values (3) returning n")
        self.assertIsNone(self.lost.primary())
        self.lost.kill_to_the_last(back)

    def check_that_its_database_cannot_follow(self, fresh, back):
        """It is refused although it uses the name of the node in its place, and asks for its
        slot."""
        data, primary = self.lost.database(back) / "data", fresh.primary()
        slots = f"select slot_name from pg_replication_slots where slot_name like '%_n{back}'"
        slot = fresh.until(lambda: fresh.ask(primary, slots), "it has a slot")
        (data.parent / "muster.conf").write_text(
            f"primary_conninfo = '{fresh.connection(primary)} application_name=n{back}'\n"
            f"primary_slot_name = '{slot}'\n")
        (data / "standby.signal").touch()
        self.old.start(data)
        try:
            fresh.until(lambda: "system identifier differs" in (data / "log").read_text(),
                        "it is refused")
        finally:
            self.old.stop("immediate", data)

    def test_a_primary_that_was_killed_and_one_that_was_being_rewound(self):
        fresh = self.burn(self.primary)
        note = self.lost.database(self.survivor) / "muster.note"
        note.write_text(NOTE)
        self.assertIn("had not finished; before it, the database held group 77.3, WAL until 0/FF:",
                      self.go_on(fresh))

    def test_a_beginning_that_failed_goes_on(self):
        fresh = self.burn(self.primary)
        data = self.lost.database(self.survivor) / "data"
        self.assertEqual(fresh.adopt(data, "--force", node=self.survivor).returncode, 0)
        now = fresh.database(self.survivor) / "data"
        half = now.with_name("data.lost")
        now.rename(half)
        self.assertIn("the same muster postgres create --adopt --force again",
                      fresh.adopt(data, node=self.survivor).stderr)
        # Repeats the last steps twice: first from the state after the recovery, and then as if the
        # control file had the new identity and the log the old one.
        for mark in ("", "data.lost.identity"):
            (half.parent / mark).touch()
            before = self.identity(half)
            ran = fresh.adopt(data, "--force", node=self.survivor)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual("the database has group" in ran.stdout, not mark)
            self.assertNotEqual(self.identity(now), before)
            now.rename(half)
        half.rename(now)
        fresh.set_up_others(self.survivor)
        self.assertEqual(fresh.answer("select n from t", fresh.await_calm()), "1")

    @staticmethod
    def identity(data):
        said_of_it = sure(PROGRAMS / "pg_controldata", data, env={**os.environ, "LC_ALL": "C"})
        return re.search(r"system identifier: +(\d+)", said_of_it)[1]


NOTE = ('{"system":1,"term":{"group":[77,3],"node":1,"timeline":1,"lsn":{"value":1}},'
        '"lsn":{"value":255}}')

if __name__ == "__main__":
    run_cases(verbosity=2)
