#!/usr/bin/env python3
"""The cron of example 5 in Python: runs each due time of each job exactly once, despite failures.

    [application]
    kind = "socket"
    program = ["./7-cron.py", "cron.sqlite"]    # the file is shared by all nodes

The effect of a run and the note that it was done are one transaction. The database is fenced: it
refuses a group once a newer group has used it. This program has one thread, so no run is under way
when it answers a stop.
"""
import json
import os
import select
import socket
import sqlite3
import sys
import time

JOBS = {"backup": 50, "mail": 70, "report": 110}  # the interval of each job, in milliseconds


class Store:
    def __init__(self, file):
        self.db = sqlite3.connect(file, timeout=10, isolation_level=None)
        self.db.execute("PRAGMA journal_mode = TRUNCATE")
        self.db.execute("PRAGMA synchronous = EXTRA")  # a commit returns when it is on disk
        self.db.execute("BEGIN IMMEDIATE")
        self.db.execute("CREATE TABLE IF NOT EXISTS fence (one PRIMARY KEY, counter, coordinator)")
        self.db.execute("INSERT OR IGNORE INTO fence VALUES (1, 0, 0)")
        self.db.execute("CREATE TABLE IF NOT EXISTS next (job PRIMARY KEY, due)")
        self.db.execute("CREATE TABLE IF NOT EXISTS ran (job, due, node, PRIMARY KEY (job, due))")
        self.db.execute("COMMIT")

    def apply(self, group, work):
        """Runs `work` in one transaction of that group. False if a newer group was here before."""
        self.db.execute("BEGIN IMMEDIATE")
        fence = self.db.execute(
            "UPDATE fence SET counter = ?, coordinator = ? WHERE (counter, coordinator) <= (?, ?)",
            (*group, *group))
        if fence.rowcount:
            work(self.db)
        self.db.execute("COMMIT")
        return fence.rowcount == 1


class Cron:
    def __init__(self, store):
        self.store, self.group, self.due = store, None, {}  # due: of this member's jobs

    def stop(self, told):
        self.due = {}

    # Runs on the coordinator. Deals the jobs to the members. The part of each member is the list of
    # its jobs.
    def reorganize(self, told):
        shares = {str(member["node"]): [] for member in told["members"]}
        for turn, job in enumerate(JOBS):
            list(shares.values())[turn % len(shares)].append(job)
        return {"parts": {node: json.dumps(share) for node, share in shares.items()}}

    def start(self, told):
        self.group = told["group"]

        def begin(db):
            for job in json.loads(told["part"]):
                first = (now() // JOBS[job] + 1) * JOBS[job]
                db.execute("INSERT OR IGNORE INTO next VALUES (?, ?)", (job, first))
                [due] = db.execute("SELECT due FROM next WHERE job = ?", (job,)).fetchone()
                self.due[job] = due

        if not self.store.apply(self.group, begin):
            self.due = {}  # a newer group has begun

    def work(self, node):
        """Runs the job that is due first."""
        job, due = min(self.due.items(), key=lambda item: item[1])

        def run(db):
            db.execute("INSERT INTO ran VALUES (?, ?, ?)", (job, due, node))  # the run's effect
            db.execute("UPDATE next SET due = ? WHERE job = ?", (due + JOBS[job], job))

        if self.store.apply(self.group, run):
            self.due[job] += JOBS[job]
            print(job, "of", due, flush=True)
        else:
            self.due = {}


def now():
    return time.time_ns() // 1_000_000


def main():
    node = socket.socket(socket.AF_UNIX)
    node.connect(os.environ["MUSTER_SOCKET"])
    node.sendall(b'{"register":2}\n')
    heard, cron = b"", Cron(Store(sys.argv[1]))
    while True:
        wait = max(0, min(cron.due.values()) - now()) / 1000 if cron.due else None
        if not select.select([node], [], [], wait)[0]:
            cron.work(os.environ["MUSTER_NODE"])
            continue
        more = node.recv(65536)
        if not more:
            sys.exit("the node is gone, so nothing can tell this program to stop any more")
        *lines, heard = (heard + more).split(b"\n")
        for told in map(json.loads, lines):
            # Other messages need no action. They are the answer to the registration, and requests
            # to cancel a hook. Hooks of this program end soon anyway.
            if "hook" in told:
                gave = getattr(cron, told["hook"])(told) or {}
                answer = {"done": told["ticket"], **gave}
                node.sendall(json.dumps(answer).encode() + b"\n")


main()
