#!/usr/bin/env python3
"""Writes the generated parts of docs/reference: `make_reference.py [--check] MUSTER`.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`. Most parts are tables
whose rows come from the code. Their last column is written by hand: it stays when the rows change.
`--check` writes nothing: it prints what would change, and ends with 1 if there is a difference.
MUSTER is the program; muster-lab and muster-postgres have to be beside it.
"""

import argparse
import difflib
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs/reference"
PROGRAMS = ("muster-lab", "muster-postgres")
PART = re.compile(r"(?<=<!-- generated: )([^\n]+)( -->\n).*?(?=<!-- end -->)", re.S)


# Tables


class Table(NamedTuple):
    """`columns` without the last one; a row is the key and the other generated cells."""

    columns: tuple
    rows: list


def code(text):
    return f"`{text}`" if text else ""


def cells_of(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def row_of(cells):
    return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)


def keys_of(cell):
    """The keys of a row. A row may have several, with one meaning."""
    return re.findall(r"`([^`]+)`", cell) or [cell]


def meanings_of(part):
    """(heading, rows) of a table in a page: a row is its keys and its last cell."""
    lines = [cells_of(line) for line in part.splitlines() if line.startswith("|")]
    return (lines[0][-1] if lines else "meaning"), [(keys_of(row[0]), row[-1]) for row in lines[2:]]


def rendered(table, part):
    """The table with the meanings that the part of the page has. A new row has none."""
    heading, old = meanings_of(part)
    groups = {key: (keys, meaning) for keys, meaning in old for key in keys}
    generated = {key: tuple(cells) for key, *cells in table.rows}
    lines = [[*table.columns, heading], ["---"] * (len(table.columns) + 1)]
    done = set()
    for key, cells in generated.items():
        if key in done:
            continue
        keys, meaning = groups.get(key, ([key], ""))
        keys = [one for one in keys if generated.get(one) == cells and one not in done]
        done.update(keys)
        shown = ", ".join(key if key.isdigit() else code(key) for key in keys)
        lines.append([shown, *cells, meaning])
    rule = "|" + "|".join(lines.pop(1)) + "|"
    head, *rows = map(row_of, lines)
    return "\n".join([head, rule, *rows])


def unexplained(name, table, part):
    """The rows whose meaning is missing."""
    _, rows = meanings_of(part)
    known = {key for key, *_ in table.rows}
    return [f"{name}: write what {code(key)} means in the last column of its row"
            for keys, meaning in rows for key in keys if key in known and not meaning]  # fmt: skip


def updated(text, parts):
    """(text, faults) of a page, with each generated part as it is in the code."""
    faults = []

    def part(found):
        name, made = found[1], parts.get(found[1])
        if made is None:
            faults.append(f"{name}: the code has no such part")
            return found[0]
        if isinstance(made, Table):
            new = rendered(made, found[0])
            faults.extend(unexplained(name, made, new))
            return f"{name}{found[2]}\n{new}\n\n"
        return f"{name}{found[2]}\n{made}\n\n"

    return PART.sub(part, text), faults


# Descriptions in C++


def source(path):
    return (ROOT / path).read_text(encoding="utf-8")


def names_of(path, name):
    """The fields of a described struct, or the enumerators of a described enumeration."""
    found = re.search(rf"MUSTER_DESCRIBE(?:_ENUM)?\({name},\s*([^)]*)\)", source(path))
    if not found:
        raise LookupError(f"{path} describes no {name}")
    return re.split(r",\s*", found[1])


def durations_of(path, name):
    """The fields of a struct that are a Duration: their keys in JSON end with _ns."""
    text = re.sub(r"//.*", "", source(path))
    body = re.search(rf"^struct {name} {{(.*?)^}};", text, re.M | re.S)[1]
    declared = ",".join(re.findall(r"^\s*Duration ([^;]*);", body, re.M))
    return set(re.findall(r"\w+", re.sub(r"\{[^}]*\}|=[^,]*", "", declared)))


def fields(path, name, before="", inner=None):
    """The keys of a struct in JSON. `inner` has the structs of fields: their keys follow."""
    keys = []
    durations = durations_of(path, name)
    for field in names_of(path, name):
        keys.append(before + field + ("_ns" if field in durations else ""))
        if inner and field in inner:
            keys += fields(*inner[field], before=before + field + ".")
    return keys


def table_of(column, keys):
    return Table((column,), [(key,) for key in keys])


STATUS = ("net/internal/muster/net/status.hpp", "NodeStatus")
STATUS_INNER = {
    "shown": ("core/include/muster/services.hpp", "Shown"),
    "counters": ("core/internal/muster/host/sessions.hpp", "Counters"),
}
ENTRY = ("core/internal/muster/journal/history.hpp", "Entry")
ENTRY_INNER = {"phases": ("core/internal/muster/journal/history.hpp", "Phases")}
CLUSTER_STATUS = ("apps/postgres/decide/status.hpp", "ClusterStatus")
FOUND = ("apps/postgres/commands/check.cpp", "Found")
ENUMERATIONS = {
    "causes": ("cause", "core/internal/muster/journal/reason.hpp", "Trigger"),
    "levels of the log": ("level", "core/include/muster/values/log_level.hpp", "LogLevel"),
    "statuses": ("`status`", "core/include/muster/values/types.hpp", "Status"),
    "activities": ("`application`", "core/include/muster/protocol/view.hpp", "Activity"),
    "procedures": ("`procedure`", "core/include/muster/protocol/view.hpp", "Wait"),
    "reasons to be out": ("`out`", "net/internal/muster/net/status.hpp", "Out"),
}


def keys_written_in(path, function):
    """The keys of JSON that a function of the code writes by hand."""
    body = re.search(rf"^[\w: ]+ {function}\(.*?^}}", source(path), re.M | re.S)[0]
    found = re.findall(r'\\"(\w+)\\":|\{"(\w+)", ', body)
    return [key for keys in found for key in keys if key]


def nodes_in_json():
    """The tables of what a node says about itself."""
    status = fields(*STATUS, inner=STATUS_INNER)
    history = fields(*ENTRY, inner=ENTRY_INNER)
    members = keys_written_in("apps/muster/commands/members.cpp", "json_line")
    why = keys_written_in("apps/muster/commands/history.cpp", "with_heard")
    log = keys_written_in("net/src/record/node_log.cpp", "json_line")
    return {
        "fields of status": table_of("field", status),
        "fields of members": table_of("field", [key for key in members if key not in status]),
        "fields of history": table_of("field", history),
        "fields of why": table_of("field", [key for key in why if key not in history]),
        "fields of the log": table_of("field", log),
    } | {name: table_of(column, names_of(path, enumeration))
         for name, (column, path, enumeration) in ENUMERATIONS.items()}  # fmt: skip


def findings():
    """What `muster postgres check` may be about, in the order of the code."""
    text = source("apps/postgres/decide/check.cpp")
    lists = dict(re.findall(r"std::vector<std::string> (settings_of_\w+)\{([^}]*)\}", text))
    about = []
    calls = re.findall(r'\bfind\("(\w+)"|: (settings_of_muster|facts_\.least)\)', text)
    for literal, loop in calls:
        name = {"facts_.least": "settings_of_primary"}.get(loop, loop)
        about += [literal] if literal else re.findall(r'"(\w+)"', lists[name])
    return list(dict.fromkeys(about))


def postgres_in_json():
    node = {"nodes": (CLUSTER_STATUS[0], "StatusOfNode")}
    finding = {"findings": ("apps/postgres/decide/check.hpp", "Finding")}
    return {
        "fields of postgres status": table_of("field", fields(*CLUSTER_STATUS, inner=node)),
        "fields of postgres check": table_of("field", fields(*FOUND, inner=finding)),
        "findings": table_of("about", findings()),
    }


def exit_codes():
    codes = re.findall(r"^  \w+ = (\d+),", source("core/include/muster/values/failure.hpp"), re.M)
    codes += re.findall(r" ExitCode \w+\{(\d+)\};", source("apps/base/verdict.hpp"))
    return table_of("code", sorted(codes, key=int))


# Keys of a configuration


ADDRESSES = '1 = "127.0.0.1:7101"\n2 = "127.0.0.1:7102"\n3 = "127.0.0.1:7103"\n'
# The required keys of each table of a configuration.
REQUIRED = {
    "node": 'id = 1\ndata = "n1"\n',
    "cluster": 'name = "demo"\n',
    "cluster.nodes": ADDRESSES,
    "cluster.importance": "",
    "cluster.postgres": ADDRESSES,
    "tls": 'ca = "ca.crt"\ncert = "tls.crt"\nkey = "tls.key"\n',
    "http": 'listen = "127.0.0.1:9100"\n',
    "journal": 'file = "journal.jsonl"\n',
    "log": "",
    "application": "",
    "application.tls": 'ca = "ca.crt"\ncert = "tls.crt"\nkey = "tls.key"\n'
                       'client_cert = "client.crt"\nclient_key = "client.key"\n',
    "hooks": "",
}  # fmt: skip
# Configurations that together contain every table. Each adds its lines to the required keys.
ALWAYS = dict.fromkeys(("node", "cluster", "cluster.nodes"), "")
KINDS = (
    ALWAYS | dict.fromkeys(("tls", "http", "journal", "log", "hooks"), ""),
    ALWAYS | {"cluster": 'protocol = "textbook"\n', "cluster.importance": ""},
    ALWAYS | {"application": 'kind = "shards"\n'},
    ALWAYS | {"application": 'kind = "socket"\nprogram = ["./program"]\n'},
    ALWAYS | {"cluster": 'quorum = "majority"\n', "cluster.postgres": "",
              "application": 'kind = "postgres"\n', "application.tls": ""},
)  # fmt: skip
NO_LONGER_READ = {"cluster": {"repairs"}}


def file_with(tables, more=None):
    """The text of a configuration with these tables. `more` has further lines of some."""
    return "".join(f"[{table}]\n{REQUIRED[table]}{added}{(more or {}).get(table, '')}"
                   for table, added in tables.items())  # fmt: skip


class Configurations:
    """Asks the program which keys it reads, and which defaults they have."""

    def __init__(self, muster, directory):
        self._muster = Path(muster).resolve()
        self._directory = Path(directory).resolve()

    def show(self, text):
        """The run of `muster config show` with the text as its file."""
        with tempfile.NamedTemporaryFile("w", dir=self._directory, suffix=".toml") as file:
            file.write(text)
            file.flush()
            return subprocess.run([self._muster, "config", "show", file.name], text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True,
                                  check=False)  # fmt: skip

    def shown(self, tables):
        """{(table, key): value} of a configuration with these tables and nothing else."""
        run = self.show(file_with(tables))
        run.check_returncode()
        values, table = {}, ""
        for line in run.stdout.replace(f'"{self._directory}/', '"').splitlines():
            if line.startswith("["):
                table = line.strip("[]")
            elif line:
                key, value = line.removesuffix("  # default").split(" = ", 1)
                values[table, key] = value
        return values

    def defaults(self):
        """The values of keys that no file sets. The first kind that has a key decides."""
        found = {}
        for tables in KINDS:
            given = {(table, key) for table, added in tables.items()
                     for key in re.findall(r"^(\w+) =", REQUIRED[table] + added, re.M)}  # fmt: skip
            found = {at: value for at, value in self.shown(tables).items()
                     if at not in given} | found  # fmt: skip
        return found

    def keys(self, table):
        """The keys that a table may have, as the refusal of another key lists them."""
        tables = next(tables for tables in KINDS if table in tables)
        refusal = self.show(file_with(tables, {table: "no_such_key = 1\n"})).stderr
        if re.search(r"expected (a node's id|the id of a node)", refusal):
            return ["ID"]
        keys = re.search(r"expected one of (.*?)(?: \(exit code \d+\))?$", refusal, re.M)
        if not keys:
            raise ValueError(refusal)
        return keys[1].split(", ")

    def kind_of(self, key):
        """The kind of application that alone may have this key, or None."""
        text = file_with(KINDS[0] | {"application": f"{key} = 1\n"})
        refusal = self.show(text).stderr
        only = re.search(r'this key only \w+ kind = "(\w+)"', refusal)
        return only and only[1]


def configuration_keys(muster):
    """The keys of all nodes, and those for PostgreSQL, as two tables."""
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor() as pool:
        asked = Configurations(muster, directory)
        defaults = asked.defaults()
        known = dict(zip(REQUIRED, pool.map(asked.keys, REQUIRED), strict=True))
        kinds = dict(zip(known["application"], pool.map(asked.kind_of, known["application"]),
                         strict=True))  # fmt: skip
    every, postgres = [], []
    for table, keys in known.items():
        required = re.findall(r"^([a-z_]+) =", REQUIRED[table], re.M)
        keys = keys + [key for where, key in defaults if where == table and key not in keys
                       and not key.isdigit()]  # fmt: skip
        for key in keys:
            if f"{table}.{key}" in REQUIRED or key in NO_LONGER_READ.get(table, ()):
                continue
            default = "required" if key in required else code(defaults.get((table, key), ""))
            is_of_postgres = table in ("cluster.postgres", "application.tls") or (
                table == "application" and kinds[key] == "postgres")  # fmt: skip
            (postgres if is_of_postgres else every).append((f"[{table}] {key}", default))
    columns = ("key", "default")
    return {"keys": Table(columns, every), "keys of postgres": Table(columns, postgres)}


# Commands


def described(program):
    return json.loads(subprocess.check_output([program, "--describe"]))


def programs_beside(muster):
    return [Path(muster).resolve().with_name(program) for program in PROGRAMS]


def commands_of(muster):
    """The description of `muster` with its parts, each of which is a program of its own."""
    whole = described(muster)
    parts = [described(program) for program in programs_beside(muster)]
    found = {}
    for part in parts:
        for one in part["commands"] if part["name"] == whole["name"] else [part]:
            found[one["name"]] = one
    whole["commands"] = [found.get(one["name"], one) for one in whole["commands"]]
    return whole


def leaves(command):
    """The commands that have no commands below them."""
    below = [leaf for one in command["commands"] for leaf in leaves(one)]
    return below or [command]


def plain(text):
    """The text of a help in Markdown, where it means itself."""
    pieces = re.split(r"(`[^`]*`)", " ".join(text.split()))
    pieces[::2] = [re.sub(r"([*\[\]])", r"\\\1", piece).replace("<", "&lt;")
                   for piece in pieces[::2]]  # fmt: skip
    return "".join(pieces)


def option_row(option):
    value, default = re.fullmatch(r"(.*?)(?: \[([^]]*)\])?", option["value"]).groups()
    values = option["choices"] or ([value] if option["names"] else [])
    cells = [", ".join(map(code, option["names"] or [value])), ", ".join(map(code, values)),
             code(default) or ("required" if option["required"] else ""),
             plain(option["what"])]  # fmt: skip
    return row_of(cell.replace("|", "\\|") for cell in cells)


def commands_page(command):
    """A section for each command with its options."""
    sections = []
    for leaf in leaves(command):
        lines = textwrap.wrap(plain(leaf["what"]).rstrip(".") + ".", 100, break_on_hyphens=False,
                              break_long_words=False)  # fmt: skip
        options = [one for one in leaf["options"] if "--help" not in one["names"]]
        if options:
            lines += ["", "| option | value | default | meaning |", "|---|---|---|---|",
                      *map(option_row, options)]  # fmt: skip
        sections.append("\n".join([f"## {leaf['name']}", "", *lines]))
    return "\n\n".join(sections)


# The pages


def parts_of(muster):
    """Each generated part by its name: a table, or the whole text."""
    return {
        "commands": commands_page(commands_of(muster)),
        "exit codes": exit_codes(),
        **configuration_keys(muster),
        **nodes_in_json(),
        **postgres_in_json(),
    }


def pages():
    return {path: path.read_text(encoding="utf-8") for path in sorted(REFERENCE.glob("*.md"))}


def absent(texts, parts):
    """The parts that no page has."""
    there = {name for text in texts for name, _ in PART.findall(text)}
    return [f"no page has <!-- generated: {name} -->" for name in parts if name not in there]


def difference(path, old, new):
    name = str(path.relative_to(ROOT))
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name,
                                        name + " by the code", n=0))  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("muster", help="the program, with its parts beside it")
    parser.add_argument("--check", action="store_true", help="only print what would change")
    given = parser.parse_args()
    for program in [Path(given.muster), *programs_beside(given.muster)]:
        if not program.is_file():
            parser.error(f"{program} is not there: build it first (./dev build release)")
    parts = parts_of(given.muster)
    texts = pages()
    faults = absent(texts.values(), parts)
    for path, old in texts.items():
        new, wrong = updated(old, parts)
        faults += wrong
        if old != new and given.check:
            faults.append(difference(path, old, new))
        elif old != new:
            path.write_text(new, encoding="utf-8")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
