#!/usr/bin/env python3
"""Real nodes as Prometheus and HAProxy see them: `watchers_test.py MUSTER`."""

import json
import re
import subprocess
import sys
import unittest
import urllib.parse

from nodes import REPOSITORY, Nodes, free_ports, get, program, running, until, wanted
from skipping import run_cases

sys.path.append("/usr/lib/python3/dist-packages")  # another Python may come first in PATH
MUSTER = sys.argv.pop()
WATCHING = REPOSITORY / "docs/watching"
prometheus, promtool, haproxy = (program(name) for name in ("prometheus", "promtool", "haproxy"))
try:
    from prometheus_client.openmetrics import parser
except ImportError:
    parser = None


def promtool_ran(*words, said=None):
    ran = subprocess.run([promtool, *words], input=said, capture_output=True, text=True, timeout=60,
                         cwd=WATCHING, check=False)
    return ran.returncode, ran.stdout + ran.stderr


class Texts(unittest.TestCase):
    @unittest.skipUnless(wanted(parser, "python3-prometheus-client"), "not found")
    def test_openmetrics_is_parsed(self):
        with Nodes(MUSTER, 2) as nodes:
            nodes.start_all()
            accepts = {"Accept": "application/openmetrics-text; version=1.0.0, text/plain;q=0.5"}
            _, headers, text = nodes.get(1, "/metrics", headers=accepts)
            self.assertTrue(headers["Content-Type"].startswith("application/openmetrics-text"))
            families = {each.name: each for each in parser.text_string_to_metric_families(text)}
            self.assertEqual(families["muster_elections"].type, "counter")
            self.assertEqual(families["muster_commit_seconds"].unit, "seconds")
            [normal] = [each.labels for each in families["muster_status"].samples if each.value]
            self.assertEqual(normal, {"status": "Normal"})
            code, said = promtool_ran("check", "metrics", said=nodes.get(1, "/metrics")[2])
            self.assertEqual((code, said), (0, ""))

    @unittest.skipUnless(wanted(prometheus, "prometheus"), "not found")
    def test_alerts_are_raised_when_they_are_meant_to_be(self):
        code, said = promtool_ran("test", "rules", "alerts_test.yml")
        self.assertEqual(code, 0, said)

    def test_each_alert_is_explained(self):
        alerts = re.findall(r"alert: (\w+)", (WATCHING / "alerts.yml").read_text())
        explained = re.findall(r"\*\*(\w+)\*\*", (WATCHING / "../how-to/alerts.md").read_text())
        self.assertEqual(alerts, explained)
        tested = re.findall(r"alertname: (\w+)", (WATCHING / "alerts_test.yml").read_text())
        self.assertEqual(set(alerts), set(tested))


@unittest.skipUnless(wanted(prometheus, "prometheus"), "not found")
class Scraped(unittest.TestCase):
    def ask(self, query):
        words = urllib.parse.urlencode({"query": query})
        status, _, body = get(f"http://127.0.0.1:{self.port}/api/v1/query?{words}")
        if status == 503:
            return {}  # it is starting
        self.assertEqual(status, 200, f"{query}: {body}")
        return {each["metric"].get("instance"): float(each["value"][1])
                for each in json.loads(body)["data"]["result"]}

    def test_by_a_real_prometheus(self):
        [self.port] = free_ports(1)
        with Nodes(MUSTER, 3, proven=True, host="0.0.0.0") as nodes:
            nodes.start_all()
            at = {node: f"127.0.0.1:{port}" for node, port in nodes.http.items()}
            nodes.path.joinpath("prometheus.yml").write_text(json.dumps({
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                "rule_files": [str(WATCHING / "alerts.yml")],
                "scrape_configs": [{"job_name": "muster", "scheme": "https", "tls_config": {
                                        "ca_file": "tls1/ca.crt", "cert_file": "me/tls.crt",
                                        "key_file": "me/tls.key", "insecure_skip_verify": True},
                                    "static_configs": [{"targets": list(at.values())}]}]}))
            with running(nodes.path, prometheus, "--config.file=prometheus.yml",
                         "--storage.tsdb.path=prometheus", "--log.level=warn",
                         f"--web.listen-address=127.0.0.1:{self.port}") as process:
                def now(query, expected):
                    until(lambda: self.seen(query, process) == expected, f"{query} is {expected}")

                now("muster_is_coordinator == 1", {at[3]: 1})
                now("up", dict.fromkeys(at.values(), 1))
                self.judge_queries()
                nodes.kill(3)
                now("muster_is_coordinator == 1", {at[2]: 1})
                now("up == 0", {at[3]: 0})
                now("muster_sessions", {at[1]: 1, at[2]: 1})
                now("rate(muster_journal_written_bytes_total[5s]) > bool 0", {at[1]: 1, at[2]: 1})
                elections = 'increase(muster_elections_total{cause="failed"}[1m]) > 0'
                until(lambda: at[2] in self.seen(elections, process), "node 2 has elected")
            for node in (1, 2):
                self.assertEqual(nodes.leave(node), 0)

    def seen(self, query, process):
        self.assertIsNone(process.poll(), "prometheus has ended")
        try:
            return self.ask(query)
        except OSError:
            return {}  # it does not listen yet

    def judge_queries(self):
        dashboard = json.loads((WATCHING / "dashboard.json").read_text())
        queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        self.assertGreater(len(queries), 10)
        for query in queries:
            plain = query.replace("$__rate_interval", "20s").replace("$job", "muster")
            until(lambda asked=plain: self.ask(asked), f"there is something of {plain}")
        rules = json.loads(get(f"http://127.0.0.1:{self.port}/api/v1/rules")[2])["data"]["groups"]
        self.assertEqual({rule["health"] for group in rules for rule in group["rules"]}, {"ok"})


@unittest.skipUnless(wanted(haproxy, "haproxy"), "not found")
class Balanced(unittest.TestCase):
    def test_haproxy_follows_the_coordinator(self):
        [port] = free_ports(1)
        page = (WATCHING / "../how-to/watching.md").read_text()
        [manual] = re.findall(r"```haproxy\n(.*?)```", page, re.S)
        with Nodes(MUSTER, 3) as nodes:
            nodes.start_all()
            servers = "".join(f"  server n{node} 127.0.0.1:{at} check port {at} inter 200ms fall 1 "
                              "rise 1\n" for node, at in nodes.http.items())
            backend = re.sub(r"(  server .*\n)+", servers, manual)
            nodes.path.joinpath("haproxy.cfg").write_text(
                "defaults\n  mode http\n  timeout connect 5s\n  timeout client 5s\n"
                f"  timeout server 5s\nfrontend front\n  bind 127.0.0.1:{port}\n"
                f"  default_backend coordinator\n{backend}")
            with running(nodes.path, haproxy, "-db", "-f", "haproxy.cfg") as process:
                def who():
                    self.assertIsNone(process.poll(), "haproxy has ended")
                    try:
                        status, _, body = get(f"http://127.0.0.1:{port}/status")
                    except OSError:
                        return None
                    return json.loads(body)["node"] if status == 200 else None

                until(lambda: who() == 3, "node 3 is asked")
                nodes.kill(3)
                until(lambda: who() == 2, "node 2 is asked")


run_cases(verbosity=2)
