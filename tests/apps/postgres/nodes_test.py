#!/usr/bin/env python3
"""Real nodes and their PostgreSQL, as their operator asks them, and behind HAProxy: `nodes_test.py
MUSTER`."""

import contextlib
import json
import re
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from cases import MUSTER
from cluster import IDS, Cluster
from machines import PYTHON
from nodes import REPOSITORY, free_ports, program, running, until, wanted
from skipping import run_cases
from writers import NEEDED

haproxy = program("haproxy")


class Nodes(Cluster):
    """Three nodes with HTTP, which are ended with the test. Their directory is removed if all is
    well."""

    def __init__(self):
        super().__init__(MUSTER, "500ms", "3s")
        self.http = dict(zip(IDS, free_ports(3)))
        for node in IDS:
            with open(self.path / f"n{node}.toml", "a", encoding="utf-8") as file:
                file.write(f'[http]\nlisten = "127.0.0.1:{self.http[node]}"\n')

    def __enter__(self):
        self.begin()
        self.await_calm()
        return self

    def __exit__(self, kind, *_):
        self.end(keep=kind is not None)
        if kind is not None:
            print(f"see {self.path}", file=sys.stderr)

    def await_calm(self):
        primary = until(self.primary, "there is a primary")
        until(lambda: len(self.replicas()) == len(self.running) - 1, "all others follow it")
        return primary

    def tell(self, *words):
        """Returns (exit code, output, standard error)."""
        ran = self.postgres(*words)
        return ran.returncode, ran.stdout, ran.stderr

    def check(self, node):
        return self.tell("check", "--config", f"n{node}.toml")


class Asked(unittest.TestCase):
    def test_check_finds_what_breaks_the_promise_and_running_nodes_say_it(self):
        with Nodes() as nodes:
            primary = nodes.await_calm()
            for node in IDS:
                code, said, error = nodes.check(node)
                self.assertEqual((code, error), (0, ""), said)
                self.assertRegex(said, rf"^PostgreSQL 15\.\d+ of node {node} has no findings: ")
            sentence = ("role backup may replicate: a client of this role could follow under the "
                        "name of a node and count as that node's copy; run ALTER ROLE backup "
                        "NOREPLICATION")
            self.assertEqual(nodes.ask(primary, "create role backup login replication"), "")
            for node in IDS:
                until(lambda each=node: nodes.check(each)[0] == 1, f"node {node} has the role, too")
                code, said, error = nodes.check(node)
                self.assertEqual((code, said), (1, sentence + "\n"))
                self.assertIn("1 finding, each with its cure (exit code 1)", error)
            code, said, _ = nodes.tell("check", "--config", f"n{primary}.toml", "--json")
            said = json.loads(said)
            self.assertEqual(code, 1)
            self.assertEqual(said["findings"], [{"about": "roles", "sentence": sentence}])
            self.assertEqual((said["node"], said["standby"]), (primary, False))
            # Nodes check their settings after each start.
            subprocess.run([nodes.muster, "elect", "--dir", nodes.store(3),
                           "--reason", "a new start"], cwd=nodes.path, check=True,
                           capture_output=True)
            for node in IDS:
                until(lambda each=node: sentence in nodes.log(each), f"node {node} says it")
            self.assertEqual(nodes.ask(nodes.await_calm(), "drop role backup"), "")
            for node in IDS:
                until(lambda each=node: nodes.check(each)[0] == 0, f"node {node} has it no more")
            nodes.kill_all(2)
            code, said, error = nodes.check(2)
            self.assertEqual((code, said), (5, ""))
            self.assertIn("cannot read the settings of node 2's PostgreSQL: ", error)

    @unittest.skipUnless(Path(NEEDED["python3-psycopg2"]).exists(), "python3-psycopg2 not found")
    def test_where_clients_hold_all_connections_there_is_another_primary(self):
        with Nodes() as nodes, contextlib.ExitStack() as crowds:
            primary = nodes.await_calm()
            nodes.ask(primary, "create table t (n bigint); create role anybody login", 10)
            for node in IDS:
                until(lambda each=node: nodes.ask(each, "select from pg_roles where rolname ="
                                                  " 'anybody'") == "", "the role is there")
                crowd = crowds.enter_context(subprocess.Popen(
                    [PYTHON, "-B", Path(__file__).with_name("crowd.py"),
                     nodes.connection(node).replace("user=postgres", "user=anybody")],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
                self.assertGreater(int(crowd.stdout.readline()), 80)
            heir = next(node for node in IDS if node != primary)

            def is_handed_over():
                if nodes.await_calm() == heir:
                    return True
                ran = nodes.say("switch-over", heir, "--to", heir)
                # 1: with so many clients a node may be paused for a while, and then begin another
                # group.
                self.assertIn(ran.returncode, (0, 1), ran.stderr)
                return ran.returncode == 0

            until(is_handed_over, "the heir is primary")
            nodes.await_calm()
            nodes.kill_all(heir)
            until(lambda: nodes.primary() not in (None, heir), "another is primary")
            until(lambda: nodes.ask(nodes.primary(), "insert into t values (1)") is not None,
                  "it is written to")

    def test_status_says_who_writes_who_follows_and_why_not(self):
        with Nodes() as nodes:
            primary = nodes.await_calm()
            others = [node for node in IDS if node != primary]
            nodes.ask(primary, "create table t (n bigint)")

            def caught_up():
                code, seen = nodes.seen(1)
                return code == 0 and all(each["behind"] == each["to_replay"] == 0
                                         for each in seen["nodes"] if each["role"] == "replica")

            until(caught_up, "all have all")
            code, seen = nodes.seen(1)
            self.assertEqual((code, seen["primary"], seen["writable"]), (0, primary, True))
            self.assertRegex(seen["since"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertEqual(seen["group"], nodes.status(primary)["group"])
            self.assertEqual({each["node"]: each["role"] for each in seen["nodes"]},
                             {primary: "primary", **dict.fromkeys(others, "replica")})
            held = "2 of 3 nodes hold each commit before it is acknowledged; "
            self.assertEqual(seen["counts_on"], held + "2 other nodes follow, and 1 is needed")
            self.assertRegex(seen["why"], rf"^node {primary} has the newest data of \d nodes?$")
            code, said, error = nodes.tell("status", "--config", "n2.toml")
            self.assertEqual((code, error), (0, ""))
            self.assertIn(f"primary  node {primary} since {seen['since']}, group ", said)
            # The node stays primary in later groups, so `since` does not change.
            nodes.kill_all(others[0])
            until(lambda: nodes.replicas() == [others[1]], "one follows")
            until(lambda: nodes.seen(1)[1]["writable"], "it is written")
            code, seen_then = nodes.seen(1)
            self.assertEqual((code, seen_then["primary"], seen_then["since"]),
                             (5, primary, seen["since"]))
            self.assertGreater(seen_then["group"], seen["group"])
            self.assertEqual(seen_then["counts_on"], held + "1 other node follows, and 1 is needed")
            [lost] = [each for each in seen_then["nodes"] if each["node"] == others[0]]
            self.assertEqual((lost["role"], lost["behind"]), ("unreachable", None))
            nodes.kill_all(others[1])
            until(lambda: nodes.primary() is None, "nobody writes")
            code, seen = nodes.seen(1)
            self.assertEqual((code, seen["primary"], seen["writable"]), (3, None, False))
            self.assertEqual(seen["why"],
                             "only 1 of 3 nodes answers here, but more than half are needed")

    def test_status_says_how_far_a_clone_is(self):
        with Nodes() as nodes:
            primary = nodes.await_calm()
            nodes.ask(primary, "create table filling as select repeat('x', 1000) from"
                               " generate_series(1, 60000)")
            node = next(each for each in IDS if each != primary)
            nodes.kill_all(node)
            shutil.rmtree(nodes.database(node))
            until(lambda: nodes.seen(1)[1]["writable"], "it is written without it")
            nodes.join(node)
            nodes.start(node)

            # The process that reads the clone is paused repeatedly, so that the clone is not
            # finished before `status` has shown it.
            def clone():
                for pid in nodes.whole_tree(node):
                    if program_of(pid) == "pg_basebackup":
                        for number in (signal.SIGCONT, signal.SIGSTOP):
                            subprocess.run(["kill", f"-{int(number)}", str(pid)], check=False)
                [line] = [each for each in nodes.seen(1)[1]["nodes"] if each["node"] == node]
                return line if line["cloned"] else None

            line = until(clone, "a clone is seen")
            for pid in nodes.whole_tree(node):
                subprocess.run(["kill", "-CONT", str(pid)], check=False)
            self.assertLess(line["cloned"], line["clone_of"])
            self.assertGreater(line["clone_of"], 60_000_000)
            nodes.await_calm()


def program_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None


@unittest.skipUnless(wanted(haproxy, "haproxy"), "haproxy not found")
class Balanced(unittest.TestCase):
    def test_haproxy_leads_writes_to_the_primary(self):
        [port] = free_ports(1)
        manual = (REPOSITORY / "docs/how-to/postgres/clients.md").read_text()
        [text] = re.findall(r"```haproxy\n(.*?)```", manual, re.S)
        with Nodes() as nodes:
            servers = "".join(f"  server n{node} 127.0.0.1:{nodes.databases[node][1]} check port "
                              f"{nodes.http[node]}\n" for node in IDS)
            text = re.sub(r"(  server .*\n)+", servers, text)
            text = text.replace("bind :5000", f"bind 127.0.0.1:{port}")
            text = text.replace("inter 1s", "inter 200ms")
            nodes.path.joinpath("haproxy.cfg").write_text(
                "defaults\n  timeout connect 5s\n  timeout client 1min\n  timeout server 1min\n"
                + text)
            with running(nodes.path, haproxy, "-db", "-f", "haproxy.cfg") as process:
                nodes.databases["haproxy"] = ("127.0.0.1", port)

                def written(number):
                    """Returns the node whose primary has answered."""
                    self.assertIsNone(process.poll(), "haproxy has ended")
                    said = nodes.ask("haproxy", f"insert into t values ({number})"
                                     " returning current_setting('port')")
                    return {str(nodes.databases[node][1]): node for node in IDS}.get(said)

                first = nodes.await_calm()
                until(lambda: nodes.ask("haproxy", "create table t (n bigint)") is not None,
                      "a table is made")
                self.assertEqual(until(lambda: written(1), "it is written"), first)
                nodes.kill(first)
                second = until(lambda: written(2), "it is written again")
                self.assertNotEqual(second, first)
                self.assertEqual(nodes.primary(), second)
                there = nodes.ask("haproxy", "select string_agg(distinct n::text, ' ') from t")
                self.assertEqual(there, "1 2")


run_cases(verbosity=2)
