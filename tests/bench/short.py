#!/usr/bin/env python3
"""Runs every bench in a short form: `./dev bench --short [NAME...]`.

Each bench makes at least one real row. It fails if it ends with an unexpected exit code, if its row
is missing, or if it takes longer than PATIENCE. The others still run. At the end the names of the
failed benches are printed, with exit code 1.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240  # seconds for one command, also on a busy machine
LAST_LINES = 15  # of a bench that failed
BUILT = os.environ.get("BUILT", "build/release")
MUSTER = f"{BUILT}/bin/muster"
NUMBER = r"\d[\d.,]*"


class Short(NamedTuple):
    """`./dev bench WORDS`, and an expression for the row that its output must contain."""

    words: str
    row: str
    variables: dict = {}
    codes: tuple = (0,)


NOT_DECIDED = 9  # in so short a time not every kind of fault happens


# Every bench that the documents name. The lint rule `benches` checks this.
BENCHES = {
    "attack": [Short("attack 1 7", r"(?s)bully\n.*textbook\n.*invitation\n.*started: \d",
                     codes=(0, NOT_DECIDED))],
    "checker": [Short("checker --limit-states 20000", r"\| [1-9]\d* \| (holds|no violation)")],
    "codec": [Short("codec", rf"frame: Halt +\d+ bytes +write +{NUMBER} ns")],
    "failover": [
        Short("failover --reps 3 --fault crash --application none --tls",
              rf"TLS, 3 times\n +whole +median {NUMBER} ms"),
        Short("failover --reps 1 --fault crash --application shards",
              rf"shards, 1 times\n +whole +median {NUMBER} ms"),
        Short("failover --reps 5 --fault silent --application none",
              rf"none, 5 times\n +whole +median {NUMBER} ms"),
    ],
    "fault_tests": [
        Short("fault_tests --seconds 3 --row cut-5-1", rf"cut-5-1 +\S+ +\S+ +{NUMBER}"),
        Short("doors --help", "doors is now called fault_tests"),
    ],
    "findings": [Short("findings U1", r"\| U1 \|.*\*\*violated")],
    "floods": [Short("floods 3 nothing", rf"nothing +{NUMBER}")],
    "hooks": [Short("hooks 3", rf"median {NUMBER} ms")],
    "journals": [Short("journals 1 3", r"(?m)^3 [0-9a-f]{16} [1-9]")],
    "kills": [Short("kills --cycles 6", r"(?s)kv: [1-9]\d* kills, [1-9].*jobs: [1-9]\d* kills")],
    "mutants": [Short(f"mutants --muster {MUSTER} reorganize-before-all-have-stopped",
                      "1 mutants, 1 caught")],
    "patroni": [Short("patroni --rounds 1 --systems muster,ttl5 --faults planned "
                      "--T 1s --stop-deadline 5s",
                      rf"\| planned \| 1 \| {NUMBER}")],
    "permits": [Short("permits 5", rf"(?m)^ +8 +{NUMBER} ns")],
    "pgbench": [Short("pgbench --pairs 1 --seconds 5 --scale 1 --T 1s --stop-deadline 5s",
                      r"1 pairs: muster [1-9].* plain [1-9]")],
    "postgres": [
        Short("postgres --faults 1 --seed 1 --T 1s --stop-deadline 5s",
              r"1 faults in 1 parts: [1-9]"),
        Short("postgres --witness --faults 1 --seed 3 --T 1s --stop-deadline 5s",
              r"1 faults in 1 parts: [1-9]"),
    ],
    "postgres_cases": [Short("postgres_cases log_gone", r"log gone .* \| \d.* s \| holds")],
    "postgres_facts": [Short("postgres_facts --run_test=data_on_disk",
                             r"1 MB: as the server finds it in [1-9]", {"TRIES": "1"}),
                       Short("postgres_facts --run_test=seal_in_order", r"seal: .* in 0 of 2\n",
                             {"TRIES": "2"})],
    "postgres_large": [Short("postgres_large --gigabytes 0.02 --cuts 1",
                             r"GB: [1-9]\d* clones and rewinds")],
    "postgres_model": [Short("postgres_model seeds 20",
                             r"acknowledged\W{1,3}[1-9]|[1-9]\d* acknowledged")],
    "scrapes": [Short("scrapes 1", rf"HTTPS +100 +[1-9]\d* +{NUMBER}")],
    "soak": [Short("soak --time 10s --seed 1 --T 2s", r"All held.*: [1-9]\d* faults",
                   codes=(0, NOT_DECIDED))],
    "spin": [Short("spin U1", r"U1 +violated +[1-9]")],
    "stability": [Short("stability --T 1s --time 1s", r"T = 1s, two busy loops, round 1")],
    "store_commit": [Short("store_commit 50", rf": median {NUMBER} us")],
    "store_cuts": [Short("store_cuts 200", r"(?s)cuts=[1-9].*acknowledged=[1-9].*lost=0")],
    "store_damage": [Short("store_damage 50", r"each sector .*[1-9]")],
    "switches": [Short("switches singles 0 prompt normal_for_me",
                       r"\| normal_for_me \| holds \| [1-9]")],
    "upgrade_postgres": [Short(f"upgrade_postgres {MUSTER}", r"acknowledged rows, 0 lost")],
    "upgrade": [Short(f"upgrade {MUSTER}", r"node 3 becomes this build +\d")],
    "verify_journals": [Short("verify_journals 5", rf"verify: {NUMBER} MB in {NUMBER} s")],
}


def end(process):
    """Ends the bench with all its processes."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def run(short):
    """An error, or None; and the last lines of its output."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        with subprocess.Popen(
            [ROOT / BUILT / "bin/muster-bench", *short.words.split()], cwd=ROOT,
            env={**os.environ, **short.variables}, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                end(process)
        output.seek(0)
        printed = output.read()
    wrong = None
    if code is None:
        wrong = f"was not over after {PATIENCE} s"
    elif code not in short.codes:
        wrong = f"ended with exit code {code}"
    elif not re.search(short.row, printed):
        wrong = f"ended well, but its output has no row like '{short.row}'"
    return wrong, printed.splitlines()[-LAST_LINES:]


def main(names):
    if unknown := sorted(set(names) - set(BENCHES)):
        sys.exit(f"bench --short: there is no bench {', '.join(unknown)}; "
                 f"the benches are {', '.join(BENCHES)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    failed, began = [], time.monotonic()
    for name in names or BENCHES:
        for short in BENCHES[name]:
            each = time.monotonic()
            wrong, last = run(short)
            print(f"{time.monotonic() - each:6.1f} s  ./dev bench {short.words}", flush=True)
            if wrong:
                failed.append(short.words)
                print(f"FAILED: it {wrong}\n" + "".join(f"    {line}\n" for line in last),
                      end="", flush=True)
    print(f"{time.monotonic() - began:6.1f} s  in all", flush=True)
    if failed:
        sys.exit("".join(f"bench --short: FAILED: ./dev bench {words}\n" for words in failed))


if __name__ == "__main__":
    main(sys.argv[1:])
