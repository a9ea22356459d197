#!/usr/bin/env python3
"""A setting that all nodes share, and that a node with an old value does not roll back.

    [application]
    kind = "socket"
    program = ["./8-setting.py"]

Each node keeps the setting in setting-NODE.json, in the directory of its configuration file. To
change the setting, write the new value into the file wanted-NODE there, of any one node. When the
coordinator prints the new value, more than half of the nodes have it.

The newest value wins. Its version is the number of the group that changed it. Only a group of more
than half of the nodes changes the setting. Two such groups share a node, so the later one knows
the value that the earlier one set, and has the higher number. `last_assigned` would be wrong here:
a node that was alone has the highest group number, but may have missed a change.
"""
import json
import os
import select
import socket
import sys


class Setting:
    def __init__(self, node):
        self.say = lambda **message: node.sendall(json.dumps(message).encode() + b"\n")
        self.file = f"setting-{os.environ['MUSTER_NODE']}.json"
        self.wanted = f"wanted-{os.environ['MUSTER_NODE']}"
        self.nodes, self.may_change, self.asked = [], False, {}
        self.say(register=2)

    def registered(self, told):
        self.nodes = told["nodes"]

    def stop(self, told):
        self.may_change, self.asked = False, {}
        report = read(self.file) or {"version": [0, 0], "value": ""}
        return {"report": json.dumps(report | {"wanted": text_of(self.wanted)})}

    def reorganize(self, told):
        reports = [json.loads(member["report"]) for member in told["members"]]
        newest = max(reports, key=lambda report: report["version"])
        wanted = [report["wanted"] for report in reports if report["wanted"]]
        if wanted and self.is_majority(reports):
            newest = {"version": told["group"], "value": wanted[0]}
        return {"definition": json.dumps(newest)}

    def start(self, told):
        setting = json.loads(told["definition"])
        write(self.file, {"version": setting["version"], "value": setting["value"]})
        if setting["value"] and text_of(self.wanted) == setting["value"]:
            os.remove(self.wanted)
        self.may_change = self.is_majority(told["members"])
        if self.may_change and told["node"] == told["coordinator"]:
            # A member answers only after its `start` has ended. So when all members have answered,
            # all have the new value of the setting.
            self.asked = {member: setting["value"] for member in told["members"]}
            for member in told["members"]:
                self.say(ask=member, member=member, question="")

    def answer(self, told):
        return {"answer": ""}

    def answered(self, told):
        value = self.asked.pop(told["answered"], None)
        if "failed" in told:
            self.asked = {}
        elif value is not None and not self.asked:
            print("set:", value, flush=True)

    def is_majority(self, members):
        return 2 * len(members) > len(self.nodes)

    def look(self):
        """Called between messages: asks for a new group when somebody wants another value."""
        if self.may_change and text_of(self.wanted):
            self.may_change = False
            self.say(elect="another value is wanted")

    def take(self, told):
        if "hook" in told:
            gave = getattr(self, told["hook"])(told) or {}
            self.say(done=told["ticket"], **gave)
        for what in ("registered", "answered"):
            if what in told:
                getattr(self, what)(told)


def text_of(file):
    try:
        with open(file, encoding="utf-8") as text:
            return text.read().strip()
    except FileNotFoundError:
        return ""


def read(file):
    text = text_of(file)
    return json.loads(text) if text else None


def write(file, value):
    """Replaces the file. It is durable after the call, and never half written."""
    with open(file + ".new", "w", encoding="utf-8") as new:
        json.dump(value, new)
        new.flush()
        os.fsync(new.fileno())
    os.replace(file + ".new", file)
    directory = os.open(".", os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def main():
    node = socket.socket(socket.AF_UNIX)
    node.connect(os.environ["MUSTER_SOCKET"])
    setting, heard = Setting(node), b""
    while True:
        if not select.select([node], [], [], 0.1)[0]:
            setting.look()
            continue
        more = node.recv(65536)
        if not more:
            sys.exit("the node is gone, so nothing can tell this program to stop any more")
        *lines, heard = (heard + more).split(b"\n")
        for line in lines:
            setting.take(json.loads(line))


main()
