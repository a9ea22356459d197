#!/usr/bin/env python3
"""The module muster against a node that the test plays.

The test uses the module that this Python finds: PYTHONPATH=apps/python, or the installed package.
"""

import base64
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

PROGRAM = """
import asyncio, sys, threading, warnings
import muster

class Plain:
    def __init__(self, node):
        self.node = node
        print("node", node.id, "of", node.nodes, flush=True)

    def stop(self, told):
        if told["reason"] == "hang":
            threading.Event().wait()
        if told["reason"] == "cancel":
            told.cancelled.wait()
            return "was cancelled"
        return bytes([0, 255]) if told["group"] else "held"

    def reorganize(self, told):
        if not told["members"]:
            raise ValueError("nobody is there")
        report = told["members"][0]["report"]
        if report == "old name":
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                same = told["freshest"] == told.get("freshest") == told["last_assigned"]
                there = "freshest" in told
            return "warned" if there and same and len(warned) == 3 else "not warned"
        if report == b"\\xff":
            return self.node.ask(3, b"\\xfe")
        self.node.progress(told, "half")
        if told["members"][0]["report"] == "wishes":
            self.node.elect("the disk is new")
            self.node.step_down(1.5)
            self.node.show("open", primary=True, replica=False)
            self.node.note("invoice 1-1")
            self.node.broken("invoice 1-1 twice")
        return report, {3: "part"}

    def start(self, told):
        assert told["group"] == (17, 5)

class Async:
    def __init__(self, node):
        self.node = node

    async def stop(self, told):
        await asyncio.sleep(3600)

    async def reorganize(self, told):
        try:
            return await self.node.ask(1, "all")
        except muster.AskFailed as failed:
            return f"no answer: {failed}"

muster.run({"plain": Plain, "async": Async}[sys.argv[1]])
"""


class Node:
    """The node's side of the socket, and a program that is connected to it."""

    def __init__(self, kind, registered=True):
        self.directory = tempfile.TemporaryDirectory()
        path = Path(self.directory.name, "application.sock")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        self.program = subprocess.Popen(
            [sys.executable, "-B", "-c", PROGRAM, kind],
            env={**os.environ, "MUSTER_SOCKET": str(path)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.connection, _ = listener.accept()
        self.connection.settimeout(60)
        listener.close()
        self.lines = self.connection.makefile("r")
        assert self.hear() == {"register": 2}
        if registered:
            self.say(registered=2, node=3, nodes=[1, 2, 3])

    def say(self, **message):
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def hear(self):
        return json.loads(self.lines.readline())

    def hook(self, name, ticket, **more):
        self.say(hook=name, ticket=ticket, node=3, **more)

    def gone(self):
        self.lines.close()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def end(self):
        """The output of the program, and its exit code."""
        out, err = self.program.communicate(timeout=60)
        self.directory.cleanup()
        return out, err, self.program.returncode


class AProgramOfFunctions(unittest.TestCase):
    def setUp(self):
        self.node = Node("plain")
        self.addCleanup(self.node.program.kill)

    def tearDown(self):
        self.node.gone()
        self.node.end()

    def test_reports_text_as_text_and_other_bytes_as_they_are(self):
        self.node.hook("stop", 1, group=None, reason="begin")
        self.assertEqual(self.node.hear(), {"done": 1, "report": "held"})
        self.node.hook("stop", 2, group=[17, 5], reason="halted")
        report = {"base64": base64.b64encode(b"\0\xff").decode()}
        self.assertEqual(self.node.hear(), {"done": 2, "report": report})

    def test_gives_a_definition_with_parts_and_tells_how_far_it_is(self):
        self.node.hook("reorganize", 3, group=[17, 5], members=[{"node": 3, "report": "7"}])
        self.assertEqual(self.node.hear(), {"progress": 3, "text": "half"})
        self.assertEqual(self.node.hear(), {"done": 3, "definition": "7", "parts": {"3": "part"}})

    def test_is_still_told_an_old_name(self):
        self.node.hook("reorganize", 3, group=[17, 5], last_assigned=2,
                       members=[{"node": 3, "report": "old name"}])
        self.assertEqual(self.node.hear(), {"done": 3, "definition": "warned"})

    def test_tells_what_it_wants_of_the_node_and_what_it_is(self):
        self.node.hook("reorganize", 9, group=[17, 5], members=[{"node": 3, "report": "wishes"}])
        self.assertEqual(self.node.hear(), {"progress": 9, "text": "half"})
        self.assertEqual(self.node.hear(), {"elect": "the disk is new"})
        self.assertEqual(self.node.hear(), {"step_down_ns": 1_500_000_000})
        self.assertEqual(self.node.hear(),
                         {"show": {"primary": True, "replica": False}, "text": "open"})
        self.assertEqual(self.node.hear(), {"note": "invoice 1-1"})
        self.assertEqual(self.node.hear(), {"broken": "invoice 1-1 twice"})
        self.assertEqual(self.node.hear()["done"], 9)

    def test_starts_with_the_group_as_a_pair(self):
        self.node.hook("start", 4, group=[17, 5], definition="7", part="")
        self.assertEqual(self.node.hear(), {"done": 4})

    def test_asks_from_the_thread_of_its_hook_and_waits(self):
        self.node.hook("reorganize", 5, group=[17, 5], members=[{"report": {"base64": "/w=="}}])
        self.assertEqual(self.node.hear(), {"ask": 1, "member": 3, "question": {"base64": "/g=="}})
        self.node.say(answered=1, answer="here")
        self.assertEqual(self.node.hear(), {"done": 5, "definition": "here"})

    def test_fails_a_hook_with_what_it_raises_or_lacks(self):
        self.node.hook("reorganize", 6, group=[17, 5], members=[])
        self.assertEqual(self.node.hear(), {"failed": 6, "why": "ValueError: nobody is there"})
        self.node.hook("answer", 7, group=[17, 5], question="")
        self.assertEqual(
            self.node.hear(),
            {"failed": 7, "why": "NotImplementedError: the program has no hook answer"})

    def test_is_told_that_nobody_waits_any_more(self):
        self.node.hook("stop", 8, group=None, reason="cancel")
        self.node.say(cancel=8)
        self.assertEqual(self.node.hear(), {"done": 8, "report": "was cancelled"})


class AProgramOfCoroutines(unittest.TestCase):
    def setUp(self):
        self.node = Node("async")
        self.addCleanup(self.node.program.kill)

    def tearDown(self):
        self.node.gone()
        self.node.end()

    def test_is_cancelled(self):
        self.node.hook("stop", 1, group=None, reason="begin")
        self.node.say(cancel=1)
        self.assertEqual(self.node.hear(), {"failed": 1, "why": "cancelled"})

    def test_awaits_an_answer_or_that_there_is_none(self):
        for number, answer, gave in (
                (1, {"answer": "42"}, "42"),
                (2, {"failed": "node 1 is gone"}, "no answer: node 1 is gone")):
            self.node.hook("reorganize", number, group=[17, 5], members=[])
            self.assertEqual(self.node.hear(), {"ask": number, "member": 1, "question": "all"})
            self.node.say(answered=number, **answer)
            self.assertEqual(self.node.hear(), {"done": number, "definition": gave})


class AProgramWhoseNode(unittest.TestCase):
    def test_is_gone_ceases_at_once_whatever_its_hook_does(self):
        node = Node("plain")
        node.hook("stop", 1, group=None, reason="hang")
        node.gone()
        out, err, code = node.end()
        self.assertEqual(out, "node 3 of [1, 2, 3]\n")
        self.assertIn("NodeGone: the node is gone, so nothing can tell this program to stop", err)
        self.assertEqual(code, 1)

    def test_does_not_take_it_says_why(self):
        node = Node("plain", registered=False)
        node.say(refused="another program is registered")
        self.addCleanup(node.gone)
        _, err, code = node.end()
        self.assertIn("Refused: another program is registered", err)
        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
