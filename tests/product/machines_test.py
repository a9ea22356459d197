#!/usr/bin/env python3
"""Three machines with addresses of their own, as a new user has them: `machines_test.py MUSTER`.

Each machine is a network namespace, and all are on one bridge. The files of `muster init` are used
unchanged, except for an added journal. A node is killed, a cable is pulled, and certificates are
renewed. No node begins an election without need. Then the system at an address refuses connections
falsely, and at last a certificate is revoked. Nothing is timed: each step waits for its result, and
CTest bounds the whole.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NODES = (1, 2, 3)
NOT_RUN = 77  # the code for CTest


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        said = done.stdout + done.stderr
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{said}")
    return done.stdout


class Machine:
    """One end of a cable on the bridge, and the process that holds its namespace."""

    def __init__(self, node):
        self.node, self.address = node, f"10.98.0.{node}"
        self.holder = subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE)
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == own:
            select.select([], [], [], 0.001)
        run("ip", "link", "add", f"m{node}", "type", "veth", "peer", "name", "eth0",
            "netns", str(self.holder.pid))  # fmt: skip
        run(*f"ip link set m{node} master bridge up".split())
        self.run("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        self.run("ip", "link", "set", "lo", "up")

    def inside(self, *words):
        return ["nsenter", "-t", str(self.holder.pid), "-n", *map(str, words)]

    def run(self, *words, **more):
        return run(*self.inside(*words), **more)

    def pull_cable(self, pulled):
        run("ip", "link", "set", f"m{self.node}", "down" if pulled else "up")

    def lies(self, lying):
        """Dials to this machine are refused and get no answer, although the node is there."""
        if not lying:
            return self.run("nft", "flush", "ruleset")
        rules = """table inet lies {
          chain in {
            type filter hook input priority 0;
            iifname "eth0" meta l4proto tcp reject with tcp reset;
          }
          chain out {
            type filter hook output priority 0;
            oifname "eth0" tcp flags & rst == 0 drop;
          }
        }"""
        return self.run("nft", "-f", "-", input=rules)


class Cluster:
    def __init__(self, muster, directory):
        self.muster, self.directory = muster, directory
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "link", "set", "bridge", "up")
        self.machines = {node: Machine(node) for node in NODES}
        hosts = ",".join(machine.address for machine in self.machines.values())
        run(muster, "init", "--nodes", hosts, "--cluster", "demo", cwd=directory)
        self.nodes = {}
        for node in NODES:
            self.configure(node, "T = \"250ms\"", "T = \"1s\"")  # test programs are slow
            self.configure(node, "timeout = \"375ms\"", "timeout = \"1125ms\"")
            with self.config(node).open("a", encoding="utf-8") as file:
                file.write("[journal]\nfile = \"journal.jsonl\"\n")
            run(muster, "config", "check", self.config(node))

    def config(self, node):
        return self.directory / "demo" / f"n{node}" / "muster.toml"

    def configure(self, node, old, new):
        text = self.config(node).read_text(encoding="utf-8")
        assert old in text, text
        self.config(node).write_text(text.replace(old, new), encoding="utf-8")

    def start(self, node):
        log = (self.directory / f"n{node}.log").open("a", encoding="utf-8")
        self.nodes[node] = subprocess.Popen(
            self.machines[node].inside(self.muster, "node", "--config", self.config(node)),
            stdout=log, stderr=log)  # fmt: skip

    def note(self, fault, node):
        with (self.directory / "faults.jsonl").open("a", encoding="utf-8") as file:
            line = {"t_ns": time.monotonic_ns(), "fault": fault, "node": node}
            file.write(json.dumps(line) + "\n")

    def cuts(self, node, how):
        self.note("cut", node)
        how(True)

    def heals(self, node, how):
        how(False)
        self.note("healed", node)

    def end(self, node, kill=False):
        self.note("killed" if kill else "terminated", node)
        process = self.nodes.pop(node)
        process.kill() if kill else process.terminate()
        code = process.wait()
        assert kill or code == 0, f"node {node} ended with {code}: {self.log(node)}"

    def log(self, node):
        return (self.directory / f"n{node}.log").read_text(encoding="utf-8")

    def await_log(self, node, text):
        while text not in self.log(node):
            select.select([], [], [], 0.02)

    def status(self, node):
        asked = subprocess.run(
            [self.muster, "status", "--json", "--dir", self.config(node).parent / "data"],
            capture_output=True, text=True, check=False)  # fmt: skip
        nobody = {"node": node, "status": "Down", "group": None, "up": None}
        return json.loads(asked.stdout) if asked.stdout else nobody

    def await_group(self, members):
        """Waits until they are Normal in one group without the others. Returns the number of the
        group."""
        while True:
            seen = {node: self.status(node) for node in members}
            one = seen[max(members)]
            if (
                all(status["status"] == "Normal" and status["group"] == one["group"]
                    for status in seen.values())
                and set(one["up"] or ()) | {one["node"]} == set(members)
            ):  # fmt: skip
                return one["group"]
            select.select([], [], [], 0.02)

    def deaths(self, node, of):
        """The number of times that the other's life was proven to be over to that node."""
        journal = self.config(node).parent / "journal.jsonl"
        events = [json.loads(line).get("event", {}) for line in journal.open(encoding="utf-8")]
        return sum(event.get("type") == "Failed" and event["node"] == of for event in events)


def story(cluster):
    for node in NODES:
        cluster.start(node)
    first = cluster.await_group(NODES)
    members = cluster.machines[1].run(
        cluster.muster, "members", "--config", cluster.config(1))  # fmt: skip
    assert members.count("Normal") == 3, members

    for node in NODES:  # the nodes have new certificates, and there was no election
        run(cluster.muster, "cert", "renew", f"demo/n{node}/tls", "--ca", "demo/ca",
            cwd=cluster.directory)  # fmt: skip
        run(cluster.muster, "reload", "--dir", cluster.config(node).parent / "data")
    assert cluster.await_group(NODES) == first

    cluster.end(3, kill=True)
    cluster.await_group((1, 2))
    cluster.start(3)
    cluster.await_group(NODES)

    cluster.cuts(1, cluster.machines[1].pull_cable)
    cluster.await_group((2, 3))
    cluster.heals(1, cluster.machines[1].pull_cable)
    cluster.await_group(NODES)

    # For nodes with `proofs = true`, a refused connection proves that the other node is dead.
    before = cluster.deaths(1, 3) + cluster.deaths(2, 3)
    cluster.cuts(3, cluster.machines[3].lies)
    cluster.await_group((1, 2))
    assert cluster.deaths(1, 3) + cluster.deaths(2, 3) > before
    cluster.heals(3, cluster.machines[3].lies)
    cluster.await_group(NODES)

    # For nodes with `proofs = false`, a refused connection counts as silence.
    for node in NODES:
        cluster.end(node)
        cluster.configure(node, "proofs = true", "proofs = false")
        cluster.start(node)
    cluster.await_group(NODES)
    before = cluster.deaths(1, 3) + cluster.deaths(2, 3)
    cluster.cuts(3, cluster.machines[3].lies)
    cluster.await_group((1, 2))
    assert cluster.deaths(1, 3) + cluster.deaths(2, 3) == before
    cluster.heals(3, cluster.machines[3].lies)
    cluster.await_group(NODES)

    # A node whose certificate is revoked is no longer in the group.
    run(cluster.muster, "cert", "revoke", "demo/n1/tls/tls.crt", "--ca", "demo/ca",
        cwd=cluster.directory)  # fmt: skip
    for node in NODES:
        (cluster.config(node).parent / "tls/crl.pem").write_bytes(
            (cluster.directory / "demo/ca/crl.pem").read_bytes())  # fmt: skip
    cluster.await_group((2, 3))
    cluster.await_log(1, "leaves because its certificate was revoked")
    for node in NODES:
        cluster.end(node)
    journals = [cluster.config(node).parent / "journal.jsonl" for node in NODES]
    print(run(cluster.muster, "verify", cluster.directory / "faults.jsonl", *journals))


def main(muster):
    if "MUSTER_OWN_NETWORK" not in os.environ:
        own = ["unshare", "-Urnm", "--map-root-user"]
        if subprocess.run([*own, "true"], check=False).returncode != 0:
            print("skipped: no network namespaces here (unshare -Urn)")
            return NOT_RUN
        os.environ["MUSTER_OWN_NETWORK"] = "1"
        own += ["--kill-child", "--fork", "-p", "--mount-proc", sys.executable, "-B", __file__]
        os.execvp("unshare", [*own, muster])
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(muster, Path(directory))
        try:
            story(cluster)
        except BaseException:
            for node in NODES:
                print(f"--- node {node}\n{cluster.log(node)[-3000:]}")
            raise
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
