#!/usr/bin/env python3
"""pgbench on Muster's PostgreSQL and on a plain one with two standbys and the same settings.

./dev bench pgbench [--pairs 10] [--seconds 60] [--results FILE]: scale 10, 8 clients. Both systems
are on the same machines. Each pair measures both of them one after the other, in alternating order.
The plain one has WAL segments of 16 MB, Muster's has 1 MB. Prints the ratios. With FILE it prints
all results in that file.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "apps/postgres"))
import machines  # noqa: E402
from machines import NUMBERS, PORT, PROGRAMS, address, as_postgres  # noqa: E402

NEEDED = {"postgresql-15": PROGRAMS / "postgres", "iproute2": "/usr/sbin/ip",
          "python3-psycopg2": "/usr/lib/python3/dist-packages/psycopg2"}
OWN = ("listen_addresses", "port", "unix_socket_directories", "primary_conninfo",
       "primary_slot_name", "synchronous_standby_names", "default_transaction_read_only",
       "muster.conf_digest")


def plain_of(System):
    class Plain(System):
        """A primary and two standbys, set up by hand. `conf` is Muster's file of settings."""

        name = "plain"
        port = PORT + 1

        def data(self, number):
            return self.path / f"n{number}"

        def settings(self, conf):
            """All of Muster's settings, except a node's own ones and its state."""
            lines = [line for line in conf.read_text(encoding="utf-8").splitlines()
                     if "=" in line and line.split("=")[0].strip() not in OWN]
            names = ", ".join(f"n{number}" for number in NUMBERS)
            return "\n".join([*lines, f"synchronous_standby_names = 'ANY 1 ({names})'", ""])

        def begin(self, conf):
            subprocess.run([*as_postgres(), PROGRAMS / "initdb", "--pgdata", self.data(1),
                            "--username", "postgres", "--auth", "trust", "--encoding", "UTF8",
                            "--locale", "C", "--data-checksums"],
                           check=True, stdout=subprocess.DEVNULL)
            with open(self.data(1) / "pg_hba.conf", "a", encoding="utf-8") as hba:
                hba.write("\n".join(self.hba) + "\n")
            with open(self.data(1) / "postgresql.conf", "a", encoding="utf-8") as file:
                file.write(self.settings(conf))
            self.start_node(1)
            machines.until(lambda: self.ask(1, "select 1"), "plain PostgreSQL runs")
            for number in NUMBERS[1:]:
                self.machines[number].run(
                    [*as_postgres(), PROGRAMS / "pg_basebackup", "-R", "-c", "fast", "-D",
                     self.data(number), "-d", f"host={address(1)} port={self.port} user=postgres "
                     f"application_name=n{number}"])
                self.start_node(number)
            return self.await_calm()

        def start_node(self, number):
            self.machines[number].serve("postgres", [
                *as_postgres(), PROGRAMS / "postgres", "-D", self.data(number),
                "-c", f"listen_addresses={address(number)}", "-c", f"port={self.port}",
                "-c", "unix_socket_directories="], self.path / f"n{number}.log")
    return Plain


def pgbench(system, *words):
    """The output of pgbench. It runs again if the primary changed before its end."""
    def said():
        ran = subprocess.run([PROGRAMS / "pgbench", "-h", address(system.await_calm()), "-p",
                              str(system.port), "-U", "postgres", *words, "postgres"],
                             capture_output=True, text=True, check=False)
        if ran.returncode:
            print(f"{system.name}: {ran.stderr}; trying again", file=sys.stderr)
        return ran if ran.returncode == 0 else None
    return machines.until(said, f"pgbench {' '.join(words)} ends", 600).stdout


def measure(system, seconds):
    """Transactions a second of the present primary."""
    said = pgbench(system, "-c", "8", "-T", str(seconds))
    return float(re.search(r"tps = ([\d.]+)", said)[1])


def print_ratios(pairs):
    ratios = [pair["muster"] / pair["plain"] for pair in pairs]
    quarters = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
    print(f"{len(pairs)} pairs: muster {statistics.median(p['muster'] for p in pairs):,.0f} tps, "
          f"plain {statistics.median(p['plain'] for p in pairs):,.0f} (medians); ratio of "
          f"Muster's to plain's {statistics.median(ratios):.3f} (median of the pairs; "
          f"{min(ratios):.3f} to {max(ratios):.3f}, half of them {quarters[0]:.3f} to "
          f"{quarters[2]:.3f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("muster")
    parser.add_argument("--T", default="100ms", help="Muster's T")
    parser.add_argument("--stop-deadline", default="500ms", help="Muster's stop_deadline")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--scale", default="10")
    parser.add_argument("--results", help="append the pairs to this file, and evaluate all of it")
    said = parser.parse_args()
    machines.need(NEEDED)
    path = machines.enter()
    from systems import Muster, System  # need psycopg2

    results = Path(said.results or path / "results.jsonl")
    hosts = machines.make()
    muster = Muster(hosts, path / "muster", said)
    plain = plain_of(System)(hosts, path / "plain")
    plain.hba = machines.HBA
    muster.begin()
    plain.begin(muster.path / "pg1/muster.conf")
    for system in (muster, plain):
        pgbench(system, "-q", "-i", "-s", said.scale)
        system.ask(system.await_calm(), "checkpoint")
    for pair in range(said.pairs):
        row = {}
        for system in ((muster, plain), (plain, muster))[pair % 2]:
            row["plain" if system is plain else "muster"] = measure(system, said.seconds)
        print(row, file=sys.stderr)
        with open(results, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    print_ratios(list(map(json.loads, results.read_text(encoding="utf-8").splitlines())))


if __name__ == "__main__":
    main()
