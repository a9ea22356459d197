#!/usr/bin/env python3
"""The generated parts of docs/reference are those of the code: `reference_test.py MUSTER`."""

import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path += [str(TESTS), str(TESTS.parent / "docs")]

import make_reference as reference
import skipping

muster = None


def run(*arguments):
    return subprocess.run([muster, *map(str, arguments)], capture_output=True, text=True,
                          check=False, stdin=subprocess.DEVNULL)  # fmt: skip


def page_with(part, name="sample"):
    return f"# Page\n\n<!-- generated: {name} -->\n{part}\n<!-- end -->\n\nText.\n"


def rows_in(table):
    return table.split("\n", 2)[2].splitlines()


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        absent = [program for program in reference.programs_beside(muster) if not program.exists()]
        if absent:
            raise unittest.SkipTest(f"{absent[0]} is not built")
        cls.parts = reference.parts_of(muster)
        cls.pages = reference.pages()

    def tables(self):
        """(part, table, the part of its page), of each table."""
        for text in self.pages.values():
            for found in reference.PART.finditer(text):
                if isinstance(table := self.parts.get(found[1]), reference.Table):
                    yield found[1], table, found[0].partition("-->")[2].strip()

    def test_pages_are_as_the_code(self):
        repair = f"run docs/make_reference.py {muster}, then write the meanings it asks for"
        for path, text in self.pages.items():
            with self.subTest(page=path.name):
                new, faults = reference.updated(text, self.parts)
                self.assertEqual(faults, [])
                self.assertEqual(reference.difference(path, text, new), "", repair)
        self.assertEqual(reference.absent(self.pages.values(), self.parts), [])

    def assert_changes(self, name, broken, line):
        """The page with the broken part differs from the code in this line."""
        page = page_with(broken, name)
        new, faults = reference.updated(page, self.parts)
        self.assertIn(line, reference.difference(reference.REFERENCE / "a.md", page, new))
        return faults

    def test_a_missing_row_is_found_in_each_table(self):
        for name, _, part in self.tables():
            for row in (rows_in(part)[0], rows_in(part)[-1]):
                with self.subTest(part=name, row=row):
                    keys = reference.keys_of(reference.cells_of(row)[0])
                    faults = self.assert_changes(name, part.replace(row, ""), f"\n+| {keys[0]} "
                                                 if keys[0].isdigit() else f"\n+| `{keys[0]}` |")
                    self.assertEqual(len(faults), len(keys), faults)
                    self.assertIn("write what", faults[0])

    def test_an_extra_row_is_found_in_each_table(self):
        for name, table, part in self.tables():
            with self.subTest(part=name):
                gone = reference.row_of(["`gone`", *[""] * (len(table.columns) - 1), "old meaning"])
                self.assertEqual(self.assert_changes(name, f"{part}\n{gone}", f"\n-{gone}"), [])

    def test_a_row_without_a_meaning_is_found_in_each_table(self):
        for name, _, part in self.tables():
            with self.subTest(part=name):
                row = rows_in(part)[-1]
                empty = reference.row_of([*reference.cells_of(row)[:-1], ""])
                faults = reference.updated(page_with(part.replace(row, empty), name), self.parts)[1]
                self.assertTrue(faults)

    def test_another_default_is_found(self):
        for name in ("keys", "keys of postgres"):
            [part] = [part for one, _, part in self.tables() if one == name]
            changed = 0
            for row in rows_in(part):
                key, default, meaning = reference.cells_of(row)
                with self.subTest(key=key):
                    other = reference.row_of([key, "`another`", meaning])
                    self.assertEqual(self.assert_changes(name, part.replace(row, other),
                                                         f"\n-{other}\n+{row}"), [])
                    changed += bool(default)
            self.assertGreater(changed, 5)

    def test_another_option_is_found(self):
        text = self.parts["commands"]
        sections = text.split("\n## ")
        row = next(line for line in text.splitlines() if line.startswith("| `--config`"))
        for broken, line in (
            (text.replace(row, "", 1), f"\n+{row}"),
            (text.replace(row, f"{row}\n| `--gone` | | | No more |", 1), "\n-| `--gone` |"),
            (text.replace(row, row.replace("required", "`a.toml`"), 1), f"\n+{row}"),
            ("\n## ".join(sections[:3] + sections[4:]), f"\n+## {sections[3].splitlines()[0]}"),
            (f"{text}\n\n## muster gone\n\nIt did.", "\n-## muster gone"),
        ):
            with self.subTest(line=line):
                self.assertEqual(self.assert_changes("commands", broken, line), [])

    def test_parts_without_a_page_and_without_code_are_found(self):
        self.assertEqual(reference.absent([page_with("", "b")], {"a": "", "b": ""}),
                         ["no page has <!-- generated: a -->"])
        self.assertEqual(reference.updated(page_with("", "gone"), self.parts)[1],
                         ["gone: the code has no such part"])

    def test_the_overview_names_each_command(self):
        whole = reference.commands_of(muster)
        texts = {path.name: text for path, text in self.pages.items()}
        for command in whole["commands"]:
            with self.subTest(command=command["name"]):
                self.assertRegex(texts["commands.md"], rf"`{command['name']}\b")
        [postgres] = [one for one in whole["commands"] if one["name"] == "muster postgres"]
        for command in postgres["commands"]:
            with self.subTest(command=command["name"]):
                self.assertRegex(texts["postgres.md"], rf"\n\| `{command['name'].split()[-1]}\b")

    def asked(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return reference.Configurations(muster, directory.name)

    def test_required_keys_are_required(self):
        texts = {}
        for table, lines in reference.REQUIRED.items():
            tables = next(tables for tables in reference.KINDS if table in tables)
            for line in re.findall(r"^[a-z].*\n", lines, re.M):
                before, table_and_rest = reference.file_with(tables).split(f"[{table}]\n")
                rest = table_and_rest.replace(line, "", 1)
                texts[table, line] = f"{before}[{table}]\n{rest}"
        with ThreadPoolExecutor(2) as pool:
            runs = pool.map(self.asked().show, texts.values())
            for (table, line), ran in zip(texts.items(), runs, strict=True):
                with self.subTest(table=table, line=line):
                    self.assertEqual(ran.returncode, 64, ran.stdout)
        self.assertGreater(len(texts), 10)

    def test_keys_that_are_no_longer_read_are_refused(self):
        for table, keys in reference.NO_LONGER_READ.items():
            for key in keys:
                text = reference.file_with(reference.KINDS[0], {table: f"{key} = 1\n"})
                self.assertIn("no longer read", self.asked().show(text).stderr)


class Descriptions(unittest.TestCase):
    SAMPLE = """struct Sample {
  NodeId node;                    ///< the node
  Duration took{}, held = one();  ///< how long
  Duration began{};
  std::optional<Duration> rest_ns;
  Inner inner;
};
MUSTER_DESCRIBE(Sample, node, took, held, began,
                rest_ns, inner);
struct Inner {
  int a, b;
};
MUSTER_DESCRIBE(Inner, a, b);
enum class Kind { one, two };
MUSTER_DESCRIBE_ENUM(Kind, one, two)
"""

    def setUp(self):
        self.addCleanup(setattr, reference, "source", reference.source)
        reference.source = lambda path: self.SAMPLE

    def test_fields_have_their_keys_of_json(self):
        self.assertEqual(reference.fields("", "Sample", inner={"inner": ("", "Inner")}),
                         ["node", "took_ns", "held_ns", "began_ns", "rest_ns", "inner", "inner.a",
                          "inner.b"])  # fmt: skip
        self.assertEqual(reference.names_of("", "Kind"), ["one", "two"])
        with self.assertRaises(LookupError):
            reference.names_of("", "Gone")


class Node(unittest.TestCase):
    """A node prints the fields that the tables have, in their order."""

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        cls.file = Path(directory.name, "node.toml")
        cls.file.write_text(
            f'[node]\nid = 1\ndata = "n1"\n[log]\nformat = "json"\n[cluster]\nname = "demo"\n'
            f'T = "1s"\n[cluster.nodes]\n1 = "127.0.0.1:{port}"\n', encoding="utf-8")  # fmt: skip
        with tempfile.TemporaryFile("w+") as log:
            cls.node = subprocess.Popen([muster, "node", "--config", cls.file], stderr=log,
                                        stdin=subprocess.DEVNULL, stdout=log)  # fmt: skip
            cls.addClassCleanup(cls.end)
            ran = run("wait", "--config", cls.file, "--timeout", "60s")
            log.seek(0)
            cls.log = log.read()
        assert ran.returncode == 0, ran.stderr + cls.log
        cls.tables = reference.nodes_in_json()

    @classmethod
    def end(cls):
        if cls.node.poll() is None:
            cls.node.send_signal(signal.SIGTERM)
        cls.node.wait()

    def keys(self, *parts):
        return [key for part in parts for key, *_ in self.tables[part].rows]

    def printed(self, line):
        keys = []
        for key, value in json.loads(line).items():
            inner = value if isinstance(value, dict) else {}
            keys += [key, *(f"{key}.{below}" for below in inner)]
        return keys

    def asked(self, command):
        ran = run(command, "--config", self.file, "--json")
        self.assertTrue(ran.stdout, ran.stderr)
        return self.printed(ran.stdout.splitlines()[-1])

    def test_a_running_node_and_one_that_has_ended(self):
        self.assertEqual(self.asked("status"), self.keys("fields of status"))
        self.assertEqual(self.asked("members"), self.keys("fields of status"))
        self.assertEqual(self.asked("history"), self.keys("fields of history"))
        self.assertEqual(self.asked("why"), self.keys("fields of history", "fields of why"))
        first = next(line for line in self.log.splitlines() if line.startswith("{"))
        self.assertEqual(self.printed(first), self.keys("fields of the log"))
        self.end()
        self.assertEqual(self.asked("members"), ["node", *self.keys("fields of members")])


if __name__ == "__main__":
    muster = sys.argv.pop(1)
    skipping.run_cases()
