"""The systems under comparison: three machines with Muster and PostgreSQL, or with Patroni, etcd
and PostgreSQL."""

import contextlib
import json
import os
import subprocess
import urllib.request

import psycopg2
from machines import HBA, NUMBERS, PORT, PROGRAMS, address, as_postgres, until

class System:
    """A system. It has the directory `path` for itself."""

    port = PORT  # port of PostgreSQL
    calm_within = 120  # s
    phase = 1.0  # in s: the longest interval between two runs of the system's periodic work

    def __init__(self, machines, path):
        self.machines, self.path = machines, path
        self.path.mkdir()
        self.path.chmod(0o777)

    def ask(self, number, statement):
        """The rows; None if the database does not answer."""
        text = (f"host={address(number)} port={self.port} user=postgres dbname=postgres "
                "connect_timeout=2")
        try:
            with contextlib.closing(psycopg2.connect(text)) as session:
                session.autocommit = True
                cursor = session.cursor()
                cursor.execute(statement)
                return cursor.fetchall() if cursor.description else []
        except psycopg2.Error:
            return None

    def primary(self):
        """The primary, if only one node can be written and both others follow it; else None."""
        found = [number for number in NUMBERS
                 if self.ask(number, "show transaction_read_only") == [("off",)]]
        if len(found) != 1:
            return None
        following = self.ask(found[0], "select count(*) from pg_stat_replication where state = "
                                       "'streaming' and application_name not like 'mend%'")
        return found[0] if following == [(len(NUMBERS) - 1,)] and self.is_whole() else None

    def is_whole(self):
        return True

    def supervise(self):
        for machine in self.machines.values():
            machine.supervise()

    def await_calm(self):
        def calm():
            self.supervise()
            return self.primary()
        return until(calm, f"{self.name} has a primary that both others follow", self.calm_within)

    def start(self):
        for number in NUMBERS:
            self.start_node(number)

    def end(self):
        for machine in self.machines.values():
            machine.end()


class Muster(System):
    CONFIGURATION = """
[node]
id = {number}
data = "n{number}"
[cluster]
name = "pg"
T = "{T}"
quorum = "majority"
stop_deadline = "{stop_deadline}"
start_deadline = "10s"
insecure = true
[cluster.nodes]
{nodes}
[cluster.postgres]
copies = 2
{databases}
[application]
kind = "postgres"
database = "pg{number}"
marker_key = "pg1/marker.key"
programs = "{programs}"
"""

    def __init__(self, machines, path, said):
        """`said` has muster, T and stop_deadline."""
        super().__init__(machines, path)
        self.name = f"muster postgres, T = {said.T}"
        self.muster = os.path.abspath(said.muster)
        self.user = ["--user", "postgres"] if os.geteuid() == 0 else []

        def lines(port):
            return "\n".join(f'{number} = "{address(number)}:{port}"' for number in NUMBERS)

        for number in NUMBERS:
            (self.path / f"n{number}.toml").write_text(self.CONFIGURATION.format(
                number=number, nodes=lines(7100), databases=lines(PORT), programs=PROGRAMS,
                T=said.T, stop_deadline=said.stop_deadline))

    def words(self, word, number, *more):
        return [self.muster, "postgres", word, "--config", f"n{number}.toml", *self.user,
                *map(str, more)]

    def once(self, word, number, *more):
        with open(self.path / f"n{number}.log", "a", encoding="utf-8") as log:
            self.machines[number].run(self.words(word, number, *more), cwd=self.path, stdout=log)

    def begin(self):
        self.once("create", 1)
        with open(self.path / "pg1/data/pg_hba.conf", "a", encoding="utf-8") as hba:
            hba.write("\n".join(HBA) + "\n")
        self.start_node(1)
        for number in NUMBERS[1:]:
            self.once("join", number)
            self.start_node(number)
        return self.await_calm()

    def start_node(self, number):
        self.machines[number].serve("muster", self.words("run", number),
                                    self.path / f"n{number}.log")

    def hand_over(self, primary):
        heir = next(number for number in NUMBERS if number != primary)
        self.once("switch-over", primary, "--to", heir)


class Patroni(System):
    """`dcs` are changes to the defaults of its dynamic configuration. `settings` are PostgreSQL's.
    With etcd's API v3, Patroni 3.0.2 takes the primary's key from its successor after it has slept
    for longer than ttl (fixed in 3.0.3, patroni#2689). With v2 it does not."""

    calm_within = 300

    def __init__(self, machines, path, name, dcs, settings, api="etcd"):
        super().__init__(machines, path)
        self.name, self.dcs, self.api = name, dcs, api
        self.phase = dcs["loop_wait"]
        for number in NUMBERS:
            own = self.path / f"n{number}"
            own.mkdir()
            own.chmod(0o777)
            (own / "patroni.yml").write_text(json.dumps(self.configuration(number, settings)))

    def configuration(self, number, settings):
        own, host = self.path / f"n{number}", address(number)
        return {
            "scope": "pg", "name": f"n{number}",
            "restapi": {"listen": f"{host}:8008", "connect_address": f"{host}:8008"},
            self.api: {"hosts": [f"{address(each)}:2379" for each in NUMBERS]},
            "bootstrap": {
                "dcs": {**self.dcs, "postgresql": {"use_pg_rewind": True, "use_slots": True,
                                                   "parameters": settings}},
                "initdb": ["data-checksums", {"encoding": "UTF8"}, {"locale": "C"}],
                "pg_hba": HBA,
            },
            "postgresql": {
                "listen": f"{host}:{PORT}", "connect_address": f"{host}:{PORT}",
                "data_dir": str(own / "data"), "bin_dir": str(PROGRAMS),
                "pgpass": str(own / "pgpass"),
                "authentication": {"superuser": {"username": "postgres"},
                                   "replication": {"username": "replicator"}},
                "parameters": {"unix_socket_directories": str(own)},
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
        }

    def begin(self):
        self.start()
        return self.await_calm()

    def start_node(self, number):
        own, host = self.path / f"n{number}", address(number)
        peers = ",".join(f"n{each}=http://{address(each)}:2380" for each in NUMBERS)
        self.machines[number].serve("etcd", [
            *as_postgres(), "/usr/bin/etcd", "--name", f"n{number}", "--data-dir", own / "etcd",
            "--enable-v2=true", "--listen-client-urls", f"http://{host}:2379",
            "--advertise-client-urls", f"http://{host}:2379",
            "--listen-peer-urls", f"http://{host}:2380",
            "--initial-advertise-peer-urls", f"http://{host}:2380",
            "--initial-cluster", peers, "--initial-cluster-token", "pg"], own / "etcd.log")
        self.machines[number].serve("patroni", [
            *as_postgres(), "/usr/bin/patroni", own / "patroni.yml"], own / "patroni.log")

    def is_whole(self):
        """All nodes are members, all of etcd is well, and one standby is synchronous if one must
        be."""
        try:
            for number in NUMBERS:
                self.read(f"http://{address(number)}:2379/health")
                roles = [member["role"] for member in
                         self.read(f"http://{address(number)}:8008/cluster")["members"]]
        except OSError:
            return False
        wanted = "sync_standby" if "synchronous_mode" in self.dcs else "replica"
        return len(roles) == len(NUMBERS) and wanted in roles

    @staticmethod
    def read(url):
        with urllib.request.urlopen(url, timeout=2) as answer:
            return json.load(answer)

    def hand_over(self, primary):
        subprocess.run(["patronictl", "-c", self.path / f"n{primary}/patroni.yml", "switchover",
                        "--force"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
