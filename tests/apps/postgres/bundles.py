#!/usr/bin/env python3
"""Three nodes from the bundles of `muster postgres init`: which clients may connect, and a
fail-over."""

import os
import re
import shutil
import signal
import stat
import unittest

from cases import MUSTER
from cluster import IDS, Cluster, said
from machines import PROGRAMS
from nodes import free_ports
from skipping import run_cases

HOSTS = ("127.0.0.1", "127.0.0.2", "localhost")
PSQL = [PROGRAMS / "psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1"]


class Bundled(Cluster):
    """The bundles are in `made`, and the nodes' directories are beside it."""

    def __init__(self, witness=False):
        super().__init__(MUSTER, "1s", "3s", witness)

    def place(self):
        self.make_directory()
        *node_ports, port = free_ports(4)
        self.ports = {node: port + node - 1 for node in IDS}
        addresses = [f"{host}:{each}" for host, each in zip(HOSTS, node_ports)]
        self.nodes = ["--nodes", ",".join(addresses[:len(self.data)])]
        if self.data != IDS:
            self.nodes += ["--witness", addresses[-1]]

    def configure(self):
        self.init("made", self.ports[1])
        for node in IDS:
            self.slow_down(self.path / f"made/n{node}/muster.toml")

    def init(self, to, port):
        ran = self.postgres("init", *self.nodes, "--port", port, "--to", to)
        if ran.returncode != 0:
            raise AssertionError(ran.stderr)

    def slow_down(self, config):
        """Sets long timeouts, for programs with sanitizers on a busy machine."""
        text = config.read_text()
        for key, value in {"T": self.T, "check_every": "500ms", "coordinator_timeout": "1500ms",
                           "stop_deadline": self.stop, "hold_down": "0s", "calm": "0s"}.items():
            text, count = re.subn(f'^{key} = ".*"$', f'{key} = "{value}"', text, flags=re.M)
            assert count == 1, key
        config.write_text(text)

    def config(self, node):
        return self.path / f"n{node}/muster.toml"

    def store(self, node):
        return self.path / f"n{node}/data"

    def connection(self, node):
        return f"host={self.database(node)} port={self.ports[node]} user=postgres dbname=postgres"

    def over_network(self, node, *more):
        return " ".join([f"host={HOSTS[node - 1]} port={self.ports[node]} dbname=postgres", *more])

    def proofs(self, bundles="made", node=1):
        """The connection parameters by which a node proves its identity to the others."""
        its = self.path / bundles / f"n{node}/client"
        return (f"user=postgres sslmode=verify-full sslrootcert={self.path}/made/ca/ca.crt "
                f"sslcert={its}/tls.crt sslkey={its}/tls.key")

    def put(self, word, node):
        return self.postgres(word, f"made/n{node}", "--data", f"n{node}", *self.user)

    def begin(self):
        for node in IDS:
            ran = self.put("create" if node == 1 else "join", node)
            if ran.returncode != 0:
                raise AssertionError(ran.stderr)
            self.start(node)


def files_of(directory):
    return [path for path in directory.rglob("*") if path.is_file()]


class Files(unittest.TestCase):
    def setUp(self):
        self.cluster = Bundled()
        self.addCleanup(self.cluster.end, keep=False)
        self.made = self.cluster.path / "made"

    def test_the_authoritys_key_is_in_none_and_keys_are_their_owners_alone(self):
        key = (self.made / "ca/ca.key").read_text()
        self.assertIn("PRIVATE KEY", key)
        secret = 0
        for path in files_of(self.made):
            text = path.read_text()
            if path.parent.name != "ca":
                self.assertNotIn(key, text, path)
            if "PRIVATE KEY" in text or path.name in ("pg_hba.conf", "marker.key"):
                secret += 1
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
        self.assertEqual(secret, 2 + 3 * 5)
        for directory in (self.made, *self.made.iterdir()):
            self.assertEqual(stat.S_IMODE(directory.stat().st_mode), 0o700, directory)

    def verify(self, file, *words):
        return said("openssl", "verify", "-CAfile", self.made / "ca/ca.crt", "-crl_check",
                    "-CRLfile", self.made / "ca/crl.pem", "-x509_strict", *words, file)

    def test_certificates_are_what_openssl_takes_them_for(self):
        for node, host in zip(IDS, HOSTS):
            its = self.made / f"n{node}"
            where = "-verify_hostname" if host == "localhost" else "-verify_ip"
            server, client = its / "server/tls.crt", its / "client/tls.crt"
            for words in ((server, "-purpose", "sslserver", where, host),
                          (client, "-purpose", "sslclient")):
                ran = self.verify(*words)
                self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertIn("CN = postgres\n", said("openssl", "x509", "-noout", "-subject", "-in",
                                                  client).stdout)
            for words in ((server, "-purpose", "sslclient"), (client, "-purpose", "sslserver"),
                          (server, "-verify_ip", "127.0.0.9")):
                self.assertNotEqual(self.verify(*words).returncode, 0, words)

    def test_renewed_certificates_are_for_whom_they_were(self):
        def text(name, what):
            return said("openssl", "x509", "-noout", "-in", self.made / "n1" / name / "tls.crt",
                        *what).stdout

        names = ("-subject", "-ext", "subjectAltName,extendedKeyUsage")
        for name in ("tls", "server", "client"):
            before, number = text(name, names), text(name, ["-serial"])
            ran = said(MUSTER, "cert", "renew", "--ca", self.made / "ca", self.made / "n1" / name)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(text(name, names), before)
            self.assertNotEqual(text(name, ["-serial"]), number)

    def refused(self, ran, *whys, code=64):
        self.assertEqual(ran.returncode, code, ran.stderr)
        for each in whys:
            self.assertIn(each, ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)

    def test_what_cannot_be_is_a_sentence(self):
        postgres, user = self.cluster.postgres, self.cluster.user
        self.refused(postgres("init", "--nodes", "a,b,c", "--to", "made"), "already exists")
        self.refused(postgres("init", "--nodes", "a,b", "--to", "two"), "at least three",
                     code=2)
        self.refused(postgres("init", "--nodes", "a:5432,b,c"), "a:5432 would be", code=2)
        another = ("init", "--nodes", "a,b,c,d", "--generation", 2)
        self.refused(postgres(*another), "go together", code=2)
        self.refused(postgres(*another, "--ca", "made/ca", "--cluster", "other"),
                     "the authority of the cluster pg")
        self.refused(postgres(*another, "--ca", "made"), "cannot read made/ca.crt")
        self.refused(postgres("create", *user), "a bundle and --data DIR", code=2)
        self.refused(postgres("create", "made/n1", *user), "with --data DIR", code=2)
        self.refused(postgres("create", "made", "--data", "x", *user), "is not a bundle", "made/n1")
        if os.geteuid() == 0:
            closed = self.cluster.path / "closed"
            closed.mkdir(mode=0o700)
            self.refused(postgres("create", "made/n1", "--data", "closed/n1", *user),
                         f"PostgreSQL's user may not enter {closed}")
        self.assertEqual(self.cluster.put("create", 1).returncode, 0)
        self.refused(self.cluster.put("create", 1), "there is a database already")
        self.refused(postgres("join", "made/n2", "--data", "n1", *user),
                     "does not come from this bundle")
        own = self.cluster.path / "n1"
        for of in (2, 1):
            for file in ("server/tls.crt", "server/tls.key"):
                shutil.copyfile(self.cluster.path / f"made/n{of}" / file, own / file)
            if of == 2:
                self.refused(self.cluster.say("run", 1),
                             f"is not for {HOSTS[0]}", "would not follow it")
        key = own / "client/tls.key"
        key.chmod(0o640)
        self.refused(self.cluster.say("run", 1), f"chmod 0600 {key}")
        key.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(key, 0, 0)
            self.refused(self.cluster.say("run", 1), f"chown -h postgres {key}")
        for file, named in (("server/tls.key", "key = "), ("pg_hba.conf", "hba = ")):
            (own / file).unlink()
            self.refused(self.cluster.say("run", 1), named,
                         "an existing file")
        self.assertFalse((self.cluster.path / "x").exists())


class Running(unittest.TestCase):
    def setUp(self):
        self.cluster = Bundled()
        self.addCleanup(self.cluster.end, keep=False)
        self.cluster.begin()
        self.primary = self.cluster.await_calm()
        self.until, self.ask = self.cluster.until, self.cluster.answer

    def by_network(self, *parameters, statement="IDENTIFY_SYSTEM"):
        where = self.cluster.over_network(self.primary, *parameters)
        return said(*PSQL, "-c", statement, where, env={**os.environ, "PGPASSWORD": "secret"})

    def refused(self, why, *parameters):
        ran = self.by_network(*parameters)
        self.assertNotEqual(ran.returncode, 0, parameters)
        self.assertIn(why, ran.stderr)

    def check_that_the_log_goes_to_who_has_proven_itself(self):
        self.until(lambda: self.cluster.ask(
            self.cluster.primary(), "select count(*) from pg_stat_replication"
            " where state = 'streaming'") == "2", "two standbys")
        self.assertEqual(
            self.ask("select distinct ssl, version, client_dn from pg_stat_replication"
                     " join pg_stat_ssl using (pid)"), "t|TLSv1.3|/CN=postgres")

    def check_who_may_connect(self):
        other, proofs = "sslmode=require user=postgres", self.cluster.proofs
        ran = self.by_network("replication=true", proofs())
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for kind in ("replication=true", "replication=database", ""):
            self.refused("requires a valid client certificate", other, kind)
            self.refused("rejects", "sslmode=disable user=postgres", kind)
        unknown = proofs("other").replace("verify-full", "require")
        self.refused("unknown ca", "replication=true", unknown)
        ran = self.by_network(proofs().replace("made/ca", "other/ca"), statement="select 1")
        self.assertIn("certificate verify failed", ran.stderr)
        # The certificate that a node uses with other nodes of Muster does not make it a superuser.
        tls = proofs().replace("/client/", "/tls/")
        self.refused("certificate authentication failed", "replication=true", tls)
        # A client that may replicate could call itself n2. So replication needs a certificate, and
        # a password is not enough.
        self.ask("create role app login replication password 'secret'")
        ca = f"sslmode=verify-full sslrootcert={self.cluster.path}/made/ca/ca.crt user=app"
        self.refused("rejects replication", "replication=true", ca)
        ran = self.by_network(ca, statement="select current_user")
        self.assertEqual(ran.stdout, "app\n", ran.stderr)
        self.refused("no pg_hba.conf entry", "sslmode=disable user=app")

    def write_what_only_the_primary_has(self):
        """Ends the test with all three nodes down."""
        os.kill(self.cluster.running[self.primary].pid, signal.SIGSTOP)
        for node in IDS:
            if node != self.primary:
                self.cluster.kill_all(node)
        self.assertIsNone(self.cluster.ask(self.primary, "insert into t values (2)"))
        self.cluster.kill_all(self.primary)

    def test_nodes_prove_themselves_and_a_fail_over_is_as_ever(self):
        self.cluster.init("other", self.cluster.ports[1])
        self.check_that_the_log_goes_to_who_has_proven_itself()
        self.check_who_may_connect()
        self.ask("create table if not exists t (n int primary key)")
        self.ask("insert into t values (1) on conflict do nothing")
        before = self.primary
        self.cluster.kill_all(before)
        self.until(lambda: self.cluster.primary() not in (None, before), "another is the primary")
        self.assertEqual(self.ask("select n from t"), "1")
        self.cluster.start(before)
        self.primary = self.cluster.await_calm()
        self.write_what_only_the_primary_has()
        others = [node for node in IDS if node != self.primary]
        for node in others:
            self.cluster.start(node)
        self.until(lambda: self.cluster.primary() in others, "one of two is the primary")
        self.ask("insert into t values (3) on conflict do nothing")
        self.cluster.start(self.primary)
        former = self.primary
        self.primary = self.cluster.await_calm()
        self.check_that_the_log_goes_to_who_has_proven_itself()
        self.until(lambda: self.cluster.ask(former, "select string_agg(n::text, ' ' order by n)"
                                            " from t") == "1 3", "what was never acknowledged")


if __name__ == "__main__":
    run_cases(verbosity=2)
