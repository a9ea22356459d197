#!/usr/bin/env python3
"""The answers of a node by HTTP, and the clients that get one: `http_test.py MUSTER`."""

import contextlib
import json
import os
import resource
import select
import socket
import subprocess
import sys
import time
import unittest

from nodes import Nodes, get, read_all, until
from skipping import run_cases

MUSTER = sys.argv.pop()


class Pages(unittest.TestCase):
    """Pages of a node whose only peer is not there."""

    @classmethod
    def setUpClass(cls):
        cls.nodes = cls.enterClassContext(Nodes(MUSTER, 2))
        cls.nodes.start(1)
        until(lambda: cls.nodes.get(1, "/readyz")[0] == 200, "it may work")

    def test_each_says_what_its_name_says(self):
        for path, status, text in (
                ("/livez", 200, "ok\n"), ("/readyz", 200, "ok\n"), ("/coordinator", 200, "ok\n"),
                ("/", 200, "/coordinator  200 on the coordinator"),
                ("/metrics", 200, '\nmuster_status{status="Normal"} 1\n'),
                ("/metrics", 200, '\nmuster_elections_total{cause="recovered"} 1\n'),
                ("/metrics", 200, "\nmuster_reorganization_seconds_count 1\n"),
                ("/metrics", 200, '\nmuster_hook_seconds_count{hook="start"} 1\n'),
                ("/metrics", 200, "\nmuster_sessions 0\n"),
                ("/metrik", 404, "/metrics  the metrics, for Prometheus")):
            with self.subTest(path):
                answered, _, body = self.nodes.get(1, path)
                self.assertEqual(answered, status)
                self.assertIn(text, body)

    def test_status_history_and_why_are_what_the_command_says(self):
        said = self.nodes.run("history", "--dir", "n1", "--json").stdout
        self.assertEqual(self.nodes.get(1, "/history")[2], said)
        self.assertEqual(self.nodes.get(1, "/history?limit=1")[2], said.splitlines(True)[-1])
        self.assertEqual(self.nodes.get(1, "/history?limit=9&before=1")[2], "")
        self.assertEqual(self.nodes.get(1, "/history?before=1")[2], "")
        for wrong in ("limit=all", "limit=-1", "before=1%202"):
            status, _, body = self.nodes.get(1, f"/history?{wrong}")
            self.assertEqual(status, 400, wrong)
            self.assertIn("have to be numbers", body)
        self.assertEqual(self.nodes.get(1, "/why")[2], said.splitlines(True)[-1])
        status = json.loads(self.nodes.get(1, "/status")[2])
        self.assertEqual((status["node"], status["status"]), (1, "Normal"))

    def test_methods(self):
        for method, status in (("HEAD", 200), ("OPTIONS", 200), ("POST", 405), ("DELETE", 405)):
            with self.subTest(method):
                said = self.nodes.raw(1, f"{method} /livez HTTP/1.0\r\n\r\n".encode())
                head, _, body = said.partition("\r\n\r\n")
                self.assertEqual(head.split()[1], str(status))
                self.assertEqual(body == "", method == "HEAD")
                self.assertEqual("\r\nAllow: GET, HEAD, OPTIONS" in head, method != "HEAD")

    def test_what_a_load_balancer_asks_by_default(self):
        for path in ("/", "*"):
            self.assertIn(" 200 OK", self.nodes.raw(1, f"OPTIONS {path} HTTP/1.0\r\n\r\n".encode()))

    def test_what_is_said_of_the_host(self):
        for version, host, status in (
                ("1.0", "", 200), ("1.1", "", 400), ("1.1", "Host: localhost\r\n", 200),
                ("1.1", "Host: [::1]:9100\r\n", 200), ("1.1", "Host: 10.0.0.1\r\n", 200),
                ("1.1", "Host: evil.example\r\n", 421), ("1.0", "Host: evil.example\r\n", 421),
                ("1.1", "Host: localhost.evil.example:9100\r\n", 421),
                ("1.1", "Host: localhost\r\nHost: localhost\r\n", 400),
                ("1.0", "Host: localhost\r\nHost: evil.example\r\n", 400)):
            with self.subTest(host):
                request = f"GET /livez HTTP/{version}\r\n{host}\r\n"
                answer = self.nodes.raw(1, request.encode())
                self.assertEqual(answer.split()[1], str(status), answer)

    def test_what_is_no_request_or_too_long(self):
        for request, status in (
                (b"GET / HTTP/1.1\r\nX: " + b"x" * 9000, "431"), (b"hello\r\n\r\n", "400"),
                (b"GET / HTTP/3.0\r\n\r\n", "400"), (b"\x00\xff\r\n\r\n", "400"),
                (b"POST / HTTP/1.0\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100000, "405")):
            with self.subTest(request[:20]):
                answer = self.nodes.raw(1, request)
                self.assertEqual(answer.split()[1], status, answer)

    def test_who_says_too_little_is_sent_away(self):
        self.assertEqual(self.nodes.raw(1, b"GET / HTTP/1.0\r\nHost: loc"), "")

    def test_who_is_answered_and_stays_is_sent_away(self):
        def gone():
            try:
                guest.sendall(b"x")
            except OSError:
                return True
            return False

        with socket.create_connection(("127.0.0.1", self.nodes.http[1]), 30) as guest:
            guest.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
            self.assertIn("200 OK", read_all(guest))
            until(gone, "who has been answered is sent away")

    def test_who_sends_on_and_on_is_sent_away(self):
        with socket.create_connection(("127.0.0.1", self.nodes.http[1]), 30) as guest:
            guest.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
            with self.assertRaises(OSError):
                guest.sendall(b"x" * (64 << 20))  # more than the node accepts

    def test_the_oldest_make_room(self):
        def crowd():
            # waits, so that the limit on the number of connections does not close the next one
            select.select([], [], [], 0.15)
            began = time.monotonic()
            with contextlib.ExitStack() as held:
                address = ("127.0.0.1", self.nodes.http[1])
                guests = [held.enter_context(socket.create_connection(address, 30))
                          for _ in range(34)]
                guests[-1].sendall(b"GET /livez HTTP/1.0\r\n\r\n")
                if "200 OK" not in read_all(guests[-1]):
                    return False
                guests[0].setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    gone = guests[0].recv(1) == b""
                    return gone and time.monotonic() < began + 2  # before its time was over
                return False

        until(crowd, "the last is answered, and the first sent away")
        self.assertEqual(self.nodes.get(1, "/livez")[0], 200)

    def test_where_no_descriptor_is_left_they_do_too(self):
        process = self.nodes.running[1].pid
        few = len(os.listdir(f"/proc/{process}/fd")) + 4
        before = resource.prlimit(process, resource.RLIMIT_NOFILE)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (few, before[1]))
        try:
            self.test_the_oldest_make_room()
        finally:
            resource.prlimit(process, resource.RLIMIT_NOFILE, before)


SHOWS = """
import muster

class Database:
    def __init__(self, node):
        self.node = node
        node.show("not open yet", primary=False, replica=False)

    def stop(self, told): ...
    def reorganize(self, told): ...
    def start(self, told):
        self.node.show(primary=True, replica=False)

muster.run(Database)
"""


class Roles(unittest.TestCase):
    """The roles of an application, for load balancers."""

    def test_are_paths_that_are_answered_while_the_node_may_work(self):
        with Nodes(MUSTER, 1) as nodes:
            (nodes.path / "database.py").write_text(SHOWS)
            with open(nodes.file(1), "a", encoding="utf-8") as file:
                file.write(f'[application]\nkind = "socket"\ninherit = true\n'
                           f'program = ["{sys.executable}", "-B", "database.py"]\n')
            nodes.start(1)
            until(lambda: nodes.get(1, "/primary")[0] == 200, "it is the primary")
            status, _, body = nodes.get(1, "/replica")
            self.assertEqual((status, body), (503, "node 1 is not replica\n"))
            self.assertIn("/replica  200 while the application has that role", nodes.get(1, "/")[2])
            self.assertEqual(nodes.get(1, "/secondary")[0], 404)
            self.assertEqual(nodes.run("drain", "--dir", "n1").returncode, 0)
            status, _, body = nodes.get(1, "/primary")
            self.assertEqual((status, body), (503, "node 1 is out: drained\n"))


class Ends(unittest.TestCase):
    def test_a_node_that_is_out_is_alive_and_not_ready_and_its_numbers_do_not_fall(self):
        def value(name):
            lines = nodes.get(1, "/metrics")[2].splitlines()
            return float(next(line.split()[1] for line in lines if line.startswith(name + " ")))

        with Nodes(MUSTER, 1) as nodes:
            nodes.start_all()
            group, commits = value("muster_group_number"), value("muster_commit_seconds_count")
            self.assertEqual(value("muster_without_work_seconds"), 0)
            self.assertEqual(nodes.run("drain", "--dir", "n1").returncode, 0)
            for path, status in (("/livez", 200), ("/readyz", 503), ("/coordinator", 503)):
                self.assertEqual(nodes.get(1, path)[0], status)
            self.assertIn("is out: drained", nodes.get(1, "/readyz")[2])
            self.assertIn('\nmuster_out{why="drained"} 1\n', nodes.get(1, "/metrics")[2])
            self.assertGreater(value("muster_without_work_seconds"), 0)
            self.assertEqual(nodes.run("drain", "--undo", "--dir", "n1").returncode, 0)
            until(lambda: nodes.get(1, "/readyz")[0] == 200, "it works again")
            self.assertGreater(value("muster_group_number"), group)
            self.assertGreater(value("muster_commit_seconds_count"), commits)
            self.assertEqual(value("muster_work_gap_seconds_count"), 2)
            self.assertEqual(nodes.leave(1), 0)

    def test_who_may_not_work_says_so_until_it_may(self):
        with Nodes(MUSTER, 1) as nodes:
            gate = nodes.path / "gate"
            os.mkfifo(gate)
            with open(nodes.file(1), "a", encoding="utf-8") as config:
                config.write('[hooks]\nreorganize = ["sh", "-c", "read line <gate"]\n')
            nodes.start(1)
            until(lambda: '\nmuster_status{status="Reorganization"} 1\n'
                  in nodes.get(1, "/metrics")[2], "it reorganizes")
            for path in ("/readyz", "/coordinator"):
                answered, _, body = nodes.get(1, path)
                self.assertEqual(answered, 503)
                self.assertIn("its status is Reorganization\n", body)
            gate.write_text("on\n", encoding="utf-8")
            until(lambda: nodes.get(1, "/readyz")[0] == 200, "it may work")
            self.assertEqual(nodes.get(1, "/coordinator")[0], 200)

    def test_a_member_names_its_coordinator(self):
        with Nodes(MUSTER, 2) as nodes:
            nodes.start_all()
            self.assertEqual(nodes.get(2, "/coordinator")[0], 200)
            status, headers, _ = nodes.get(1, "/coordinator")
            self.assertEqual((status, headers["Muster-Coordinator"]),
                             (503, f"127.0.0.1:{nodes.ports[2]}"))
            self.assertEqual(nodes.get(1, "/readyz")[0], 200)

    def test_where_it_may_not_listen(self):
        with Nodes(MUSTER, 1, host="0.0.0.0") as nodes:
            ran = nodes.run("node", "--config", "n1.toml")
            self.assertEqual(ran.returncode, 64, ran.stderr)
            self.assertIn("insecure = true in [http]", ran.stderr)
        with Nodes(MUSTER, 1) as nodes, socket.socket() as other:
            other.bind(("127.0.0.1", nodes.http[1]))
            other.listen()
            ran = nodes.run("node", "--config", "n1.toml")
            self.assertEqual(ran.returncode, 75, ran.stderr)
            self.assertIn("the address is in use", ran.stderr)


def read_or_end(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the process at the other end has closed the terminal
        return b""


class Top(unittest.TestCase):
    def test_shows_all_nodes_again_and_again(self):
        with Nodes(MUSTER, 2) as nodes:
            ran = nodes.run("top", "--config", "n1.toml", "--times", "1")
            self.assertEqual(ran.returncode, 5, ran.stderr)
            nodes.start_all()
            ran = nodes.run("top", "--config", "n1.toml", "--times", "2")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            rows = r"(\S+Z [12] +Normal +2 .*\n){2}"  # once, since nothing changes
            self.assertRegex(ran.stdout, f"^{rows}$")
            ran = nodes.run("top", "--config", "n1.toml", "--times", "2", "--json")
            said = [json.loads(line)["node"] for line in ran.stdout.splitlines()]
            self.assertEqual(said, [1, 2, 1, 2])
            terminal, inside = os.openpty()
            with subprocess.Popen([nodes.muster, "top", "--config", nodes.file(1), "--times", "2"],
                                  stdout=inside) as process:
                self.assertEqual(process.wait(60), 0)
            os.close(inside)
            shown = b"".join(iter(lambda: read_or_end(terminal), b"")).decode()
            shown = shown.split("\x1b[H\x1b[J")
            self.assertEqual(len(shown), 3)
            self.assertIn("all agree", shown[2])


class Proven(unittest.TestCase):
    """Pages beyond loopback. A node that listens at 0.0.0.0 listens at every address of the
    machine."""

    def test_who_has_a_certificate_is_answered_and_nobody_else(self):
        def ask(path, observer=None):
            return get(f"https://127.0.0.1:{nodes.http[1]}{path}", headers={"Host": "any.example"},
                       context=nodes.context(observer))

        def some_are_closed_unread():
            began = time.monotonic()
            with contextlib.ExitStack() as held:
                address = ("127.0.0.1", nodes.http[1])
                guests = [held.enter_context(socket.create_connection(address, 30))
                          for _ in range(30)]
                closed = select.select(guests, [], [], 1)[0]
                return closed and time.monotonic() < began + 2  # before their time was over

        with Nodes(MUSTER, 1, proven=True, host="0.0.0.0") as nodes:
            nodes.cert("init", "--cluster", "watched", "--ca", "other")
            nodes.cert("issue", "--observer", "--out", "stranger", "--ca", "other")
            nodes.start_all()
            self.assertEqual(ask("/readyz", "me")[0], 200)
            self.assertEqual(ask("/livez", "tls1")[0], 200)
            self.assertRegex(ask("/metrics", "me")[2],
                             r"\nmuster_certificate_expiry_timestamp_seconds \d{10}")
            for observer in (None, "stranger"):
                with self.assertRaises(OSError):
                    ask("/livez", observer)
            self.assertIn("this is HTTPS", nodes.raw(1, b"GET / HTTP/1.0\r\n\r\n"))
            until(some_are_closed_unread, "16 handshakes are begun at a time")


run_cases(verbosity=2)
