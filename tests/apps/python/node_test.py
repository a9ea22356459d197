#!/usr/bin/env python3
"""Programs of the module muster at a real node: `node_test.py MUSTER`.

The test uses the module that this Python finds: PYTHONPATH=apps/python, or the installed package.
"""

import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIGURATION = """
[node]
id = 1
data = "n1"
[cluster]
name = "python"
T = "2s"
[cluster.nodes]
1 = "127.0.0.1:{port}"
[application]
kind = "socket"
program = ["{python}", "-B", "lamp.py"]
inherit = true
"""

OF_COROUTINES = """
import asyncio
import muster

class Lamp:
    def __init__(self, node):
        self.node, self.work = node, None

    async def stop(self, told):
        if self.work:
            self.work.cancel()
            print("dark", flush=True)

    async def reorganize(self, told):
        return str(told["members"][0]["node"])

    async def start(self, told):
        if told["definition"] == str(self.node.id):
            self.work = asyncio.create_task(self.shine(told["group"]))

    async def shine(self, group):
        while True:
            print("shining in group", group[1], flush=True)
            await asyncio.sleep(0.1)

muster.run(Lamp)
"""

OF_FUNCTIONS = """
import threading
import muster

class Lamp:
    def __init__(self, node):
        self.node, self.work, self.over = node, None, threading.Event()

    def stop(self, told):
        if self.work:
            self.over.set()
            self.work.join()
            print("dark", flush=True)

    def reorganize(self, told):
        return str(told["members"][0]["node"])

    def start(self, told):
        if told["definition"] == str(self.node.id):
            self.work = threading.Thread(target=self.shine, args=(told["group"],))
            self.work.start()

    def shine(self, group):
        while not self.over.is_set():
            print("shining in group", group[1], flush=True)
            self.over.wait(0.1)

muster.run(Lamp)
"""


def main(program, lamp):
    directory = tempfile.TemporaryDirectory()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    Path(directory.name, "lamp.py").write_text(lamp)
    configuration = CONFIGURATION.format(port=port, python=sys.executable)
    Path(directory.name, "n1.toml").write_text(configuration)
    node = subprocess.Popen([program, "node", "--config", "n1.toml"], cwd=directory.name,
                            stdout=subprocess.PIPE, text=True)
    try:
        said = []
        for line in node.stdout:
            said.append(line)
            if line.startswith("shining") and len(said) == 4:  # the third line, after "is up"
                node.send_signal(signal.SIGTERM)
        code = node.wait()
        if code != 0 or said[-1] != "dark\n":
            sys.exit(f"the node ended with {code}, and was heard to say: {''.join(said)}")
    finally:
        node.kill()
        node.wait()
        directory.cleanup()


for each in (OF_COROUTINES, OF_FUNCTIONS):
    main(sys.argv[1], each)
