#!/usr/bin/env python3
"""The cost of scraping a node: `scrapes.py MUSTER [SECONDS]`, the time of each row.

One client asks the coordinator of three real nodes for /metrics at a given rate, each time over a
new connection. Each row shows the time that the client waits, the processor time of the node, the
delay of its loop, and whether a node began an election.
"""

import re
import select
import statistics
import sys
import time
from pathlib import Path

from nodes import Nodes, get

MUSTER = sys.argv[1]
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 20
NODE = 3


def counted(text, pattern):
    return sum(map(float, re.findall(rf"^muster_{pattern} (\S+)$", text, re.M)))


class Scraped:
    def __init__(self, nodes, proven):
        self.nodes = nodes
        scheme = "https" if proven else "http"
        self.url = f"{scheme}://127.0.0.1:{nodes.http[NODE]}/metrics"
        self.context = nodes.context("me") if proven else None

    def ask(self):
        status, _, text = get(self.url, context=self.context)
        if status != 200:
            sys.exit(f"/metrics says {status}: {text}")
        return text

    def processor(self):
        """Processor time of all threads of the node, in seconds."""
        threads = Path(f"/proc/{self.nodes.running[NODE].pid}/task").glob("*/schedstat")
        return sum(int(each.read_text(encoding="utf-8").split()[0]) for each in threads) / 1e9

    def measure(self, rate):
        before, used, began = self.ask(), self.processor(), time.monotonic()
        took = []
        while (now := time.monotonic()) < began + SECONDS:
            due = began + len(took) / rate if rate else began + SECONDS
            if due > now:
                select.select([], [], [], due - now)
                continue
            self.ask()
            took.append((time.monotonic() - now) * 1e3)
        used = (self.processor() - used) / (time.monotonic() - began)
        after = self.ask()

        def more(pattern):
            return counted(after, pattern) - counted(before, pattern)

        late = more("loop_lateness_seconds_sum") / more("loop_lateness_seconds_count") * 1e3
        return took, used, late, more(r"elections_total\{.*\}"), len(after)


def main():
    print("             a second    asked   median ms   most ms   processor %   ms each"
          "   late ms   elections   bytes")
    for proven in (False, True):
        with Nodes(MUSTER, 3, proven, "0.0.0.0" if proven else "127.0.0.1") as nodes:
            nodes.start_all()
            scraped, idle = Scraped(nodes, proven), 0
            for rate in (0, 1, 100):
                took, used, late, elections, size = scraped.measure(rate)
                idle = used if rate == 0 else idle
                # otherwise lost in the noise
                each = (used - idle) * SECONDS * 1e3 / len(took) if rate == 100 else 0
                print(f"{'HTTPS' if proven else 'HTTP':12}{rate:9}{len(took):9}"
                      f"{statistics.median(took or [0]):12.2f}{max(took or [0]):10.2f}"
                      f"{used * 100:14.2f}{each:10.3f}{late:10.3f}{elections:12.0f}{size:8}",
                      flush=True)


main()
