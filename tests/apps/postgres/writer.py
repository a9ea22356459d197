"""Writes numbers, one commit after the other, to a server that it can reach. For each acknowledged
number it prints: the number, when it was sent and acknowledged (s, monotonic clock), the host, and
the reign.

    writer.py CONNECTION FIRST REIGN PATIENCE

REIGN is an expression that the primary evaluates in the same statement. It tells one primary's
time from the next. A session that fails, or does not answer for PATIENCE seconds, is given up,
and a new one is opened 20 ms later. A writer that knows only one host keeps its session on a
read-only server, and tries again.
"""

import os
import socket
import sys
import threading
import time

import psycopg2
import psycopg2.errors

PAUSE = 0.005
PAUSE_IN_VAIN = 0.02
wait = threading.Event().wait


class Writer:
    def __init__(self, text, number, reign, patience):
        self.text, self.number, self.patience = text, number, patience
        self.statement = f"insert into t values (%s) returning {reign}"
        self.stays = "," not in text
        self.session, self.asked = None, None

    def guard(self):
        while True:
            wait(0.02)
            session, asked = self.session, self.asked
            if asked is None or time.monotonic() - asked < self.patience:
                continue
            try:
                with socket.socket(fileno=os.dup(session.fileno())) as shared:
                    shared.shutdown(socket.SHUT_RDWR)
            except (OSError, psycopg2.Error):
                pass  # it has ended by itself

    def write(self, cursor):
        self.number += 1
        self.session.notices.clear()
        sent = self.asked = time.monotonic()
        try:
            cursor.execute(self.statement, (self.number,))
        finally:
            self.asked = None
        # A cancelled wait for copies is no acknowledgement. It comes with a warning.
        if not self.session.notices:
            print(self.number, sent, time.monotonic(), self.session.info.host,
                  cursor.fetchone()[0], flush=True)

    def session_long(self):
        self.session = psycopg2.connect(self.text)
        self.session.autocommit = True
        cursor = self.session.cursor()
        while True:
            try:
                self.write(cursor)
            except psycopg2.errors.ReadOnlySqlTransaction:
                if not self.stays:
                    raise
                wait(PAUSE_IN_VAIN)
            wait(PAUSE)

    def run(self):
        threading.Thread(target=self.guard, daemon=True).start()
        while True:
            try:
                self.session_long()
            except psycopg2.Error:
                wait(PAUSE_IN_VAIN)


if __name__ == "__main__":
    Writer(sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])).run()
