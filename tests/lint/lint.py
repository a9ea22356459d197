#!/usr/bin/env python3
"""The rules of the tree that no compiler checks; `lint.py ROOT RULE...` prints what breaks them.

Each rule is a function of a Tree that yields (path, line, what); RULES names them all.
"""

import re
import subprocess
import sys
from pathlib import Path

COMPONENTS = ("core", "storage", "net", "apps")
CPP = {".hpp", ".cpp"}
CODE = CPP | {".py", ".sh"}
TEXT = CODE | {".md", ".txt", ".cmake", ".in", ".json", ".toml"}
TOP_LEVEL = {
    "core", "storage", "net", "apps", "tests", "docs", "CMakeLists.txt", "CMakePresets.json",
    "README.md", "LICENSE", "CONTRIBUTING.md", "CHANGELOG.md", "dev", ".ci", ".clang-format",
    ".clang-tidy", ".gitignore", ".gitattributes", ".editorconfig",
}  # fmt: skip

# The floors of core, and the rooms that stand below each. Flat headers are the application's.
VALUES = {"values"}
PROTOCOL = VALUES | {"protocol"}
FLOORS = {
    "values": VALUES,
    "protocol": PROTOCOL,
    "application": VALUES | {"application"},
    "journal": PROTOCOL | {"journal"},
    "host": PROTOCOL | {"application", "journal", "host"},
    "claims": PROTOCOL | {"journal", "claims"},
}

# What a driver may know of sessions (muster/host/sessions.hpp): what goes in and comes out, what is
# carried, what is shown. The rest is rules, which are in core/src/host/sessions alone.
DRIVERS = ("net/src", "net/include", "net/internal", "core/lab/src/simulator")
SESSION_WORDS = {
    "Host", "Driver",
    "Self", "SessionConfig", "SessionLimits", "Sessions", "SessionInput", "SessionOutput",
    "SessionOutputs", "Time", "ConnectionId", "ConnectionEnd", "DialEnd", "enough_bytes",
    "Greet", "SendLetter", "Dialled", "DialFailed", "Accepted", "Exhausted", "Came", "Closed",
    "Writable", "Due", "Drained",
    "Dial", "GiveUp", "Write", "TellRoom", "Close", "Drain", "Wake", "LetterCame",
    "CallUnanswered", "LifeOver", "OutlivedBy", "OthersDiffer", "Warning", "HandOver", "TellStatus",
    "Counters", "Voices", "latest_life", "later_life", "hello_of",
    "Frame", "Hello", "Refusal", "RefusalReason", "Role", "Carried", "Acknowledged",
    "StatusQuestion", "StatusAnswer", "Asks", "Piece", "NoAnswer", "fits", "frame_limit",
    "wire_newest", "wire_oldest", "wire_of_greetings", "WireVersions", "common_wire", "wire_of",
}  # fmt: skip
SESSION_FIELDS = re.compile(
    r"[.>](peers|whose|hellos|soonest|warned|touch|owed|last_hello"
    r"|session_count|peer_session|peer_instance|figure|reason|quick_dials|slow_dials|unwelcome"
    r"|before_dial)\b"
)

# What a component may not include, by the beginning of the header's name.
ASIO = ("boost/asio", "boost/beast")
SQLITE = ("sqlite3",)
COMMAND_LINE = ("CLI/", "toml")
SYSTEM = ("sys/", "unistd", "fcntl", "poll.h", "signal.h", "csignal", "pthread", "netinet/",
          "arpa/")  # fmt: skip
FORBIDDEN_INCLUDES = {
    "core": ASIO + SQLITE + COMMAND_LINE + SYSTEM + ("muster/storage/", "muster/net/"),
    "storage": ASIO + COMMAND_LINE + ("muster/net/",),
    "storage/include": SQLITE,
    "storage/internal": SQLITE,
    "net": SQLITE + COMMAND_LINE + ("muster/storage/",),
    "apps": SQLITE,
    # Decisions perform nothing.
    "apps/postgres/decide": ASIO + SYSTEM + (
        "muster/storage/", "muster/net/", "apps/base/", "apps/postgres/perform/",
        "apps/postgres/server/", "apps/postgres/watch/", "apps/postgres/adopting/",
        "apps/postgres/commands/"),
}  # fmt: skip

# Clocks, randomness, threads, I/O and unordered containers: with them equal inputs could differ.
IMPURE = re.compile(
    r"\bstd::(mutex|thread|jthread|atomic|random_device|mt19937|cout|cerr|clog|cin|unordered_\w+"
    r"|ifstream|ofstream|fstream|filesystem|async|condition_variable|rand|time)\b"
    r"|\b(steady_clock|system_clock|high_resolution_clock|getenv|fopen|printf|thread_local)\b"
    r"|#include <(mutex|thread|atomic|random|fstream|filesystem|future|ctime|cstdio|iostream)>"
)
SLEEP = re.compile(
    r"sleep_for|sleep_until|\busleep\(|\bnanosleep\(|time\.sleep|(?<![a-z_])sleep [0-9]"
)
MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|NOLINT")
OTHER_WORDS = {
    "leader", "leaders", "follower", "followers", "master", "masters", "term", "victory",
    "heartbeat", "heartbeats",
}  # fmt: skip
# Where they are spoken of in their own words: ip(8) has a "master" too.
OTHER_SYSTEMS = re.compile(
    r"etcd|raft|zookeeper|keepalived|sentinel|corosync|nats|icestorm|ip link|\bip\(", re.I
)


class Tree:
    """The files of the project: those that git has or would take; without git, all of them."""

    def __init__(self, root):
        self.root = Path(root)
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=False)  # fmt: skip
        if listed.returncode == 0 and (self.root / ".git").exists():
            names = listed.stdout.decode().split("\0")
        else:
            names = [str(p.relative_to(root)) for p in self.root.rglob("*")]
        paths = (Path(n) for n in sorted(names) if n and not n.startswith((".git/", "build/")))
        self.files = [p for p in paths if (self.root / p).is_file()]

    def text(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def lines(self, *suffixes):
        """(path, number, line) of every file that ends so; `dev` and .ci too."""
        for path in self.files:
            script = (path.name == "dev" or path.parent.name == ".ci") and ".sh" in suffixes
            if path.suffix in suffixes or script:
                for number, line in enumerate(self.text(path).splitlines(), 1):
                    yield path, number, line


def layering(tree):
    """A component includes only what stands below it."""
    for path, number, line in tree.lines(*CPP):
        include = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
        for where, forbidden in FORBIDDEN_INCLUDES.items():
            if include and path.is_relative_to(where) and include[1].startswith(forbidden):
                yield path, number, f"{where} may not include {include[1]}"


def floor_of(header):
    """The room of core that holds a header, none if it is another component's."""
    room = re.match(r"muster/(?:detail/)?(?:(\w+)/)?\w+\.hpp$", header)
    if not room:
        return None
    return (room[1] if room[1] in FLOORS else None) if room[1] else "application"


def floors(tree):
    """A room of core includes only those that stand below it; the lab stands above them all."""
    for path, number, line in tree.lines(*CPP):
        here = re.match(
            r"core/(?:src|include/muster(?:/detail)?|internal/muster)/(?:(\w+)/)?", str(path)
        )
        include = re.match(r"\s*#\s*include\s*<([^>]+)>", line)
        if not here or not include:
            continue
        room = here[1] or "application"
        there = floor_of(include[1])
        if include[1].startswith("muster/lab/") or (there and there not in FLOORS[room]):
            yield path, number, f"{room} may not include {include[1]}"


def installed(tree):
    """A header that is installed includes none that is not."""
    internal = {str(path).split("/internal/")[1] for path in tree.files if "internal" in path.parts}
    for path, number, line in tree.lines(*CPP):
        include = re.match(r"\s*#\s*include\s*<([^>]+)>", line)
        if include and "include" in path.parts and include[1] in internal:
            yield path, number, f"{include[1]} is internal"


def circles(tree):
    """The rooms of apps and of net/src include each other in no circle."""
    includes = {}
    for path, number, line in tree.lines(*CPP):
        include = re.match(r'\s*#\s*include\s*"([^"]+/[^"]+)"', line)
        if not include:
            continue
        other = Path(include[1])
        if path.is_relative_to("net/src"):
            other = "net/src" / other
        elif not path.is_relative_to("apps") or not other.is_relative_to("apps"):
            continue
        if other.parent != path.parent:
            below = includes.setdefault(path.parent, {})
            below.setdefault(other.parent, (path, number))

    def reaches(room, goal, seen):
        if room == goal:
            return True
        seen.add(room)
        return any(reaches(b, goal, seen) for b in includes.get(room, {}) if b not in seen)

    for room, below in includes.items():
        for other, (path, number) in below.items():
            if reaches(other, room, set()):
                yield path, number, f"{other} includes {room} too, itself or by others"
                return


# Rooms of apps/postgres in which a name stands for one file.
DISTINCT = {"decide", "perform", "server", "watch", "adopting"}


def file_names(tree):
    """No two files of these rooms of apps/postgres have one name."""
    rooms = {}
    for path in tree.files:
        if path.is_relative_to("apps/postgres") and path.parent.name in DISTINCT:
            if (other := rooms.setdefault(path.name, path)) != path:
                yield path, 1, f"{other} has this name too"


def drivers(tree):
    """Who drives sessions decides nothing about them."""
    for path, number, line in tree.lines(*CPP):
        if not any(path.is_relative_to(driver) for driver in DRIVERS):
            continue
        for word in re.findall(r"\bhost::(\w+)", line.split("//")[0]):
            if word not in SESSION_WORDS:
                yield path, number, f"host::{word} is no word of a driver's"
        if found := SESSION_FIELDS.search(line.split("//")[0]):
            yield path, number, f"'{found[1]}' is no driver's business"


def struck_lines(tree):
    """What the lab can strike is asked under its name, in one file."""
    for path, number, line in tree.lines(*CPP):
        if path.is_relative_to("core/src") and path.name != "lines.cpp":
            if re.search(r"\bstands\((Session)?Line::", line.split("//")[0]):
                yield path, number, "stands() is for lines.cpp: give the line a predicate there"


# Where the Bully's options are, and others that differ, and what the checker must know; its other
# files are the paper's.
OPTIONS = {"waits.cpp", "sight.hpp", "bully.cpp", "canonical_bully.cpp", "differing.cpp"}


def options_apart(tree):
    """The paper's files of the Bully name no option."""
    for path, number, line in tree.lines(*CPP):
        of_option = path.name in OPTIONS or path.name.startswith("option_")
        if not path.is_relative_to("core/src/protocol/bully") or of_option:
            continue
        if re.search(r"\b(options|by_options|AwaitingMajority|Settling)\b", line.split("//")[0]):
            yield path, number, "an option of the Bully: it belongs in option_*.cpp or waits.cpp"


def checker(tree):
    """The checker knows no protocol's own: their rooms tell what is dead and where numbers are."""
    for path, number, line in tree.lines(*CPP):
        if path.is_relative_to("core/lab/src/checker"):
            if found := re.search(r"\b(bully|invitation|textbook)::", line.split("//")[0]):
                yield path, number, f"{found[0]} in the checker: see muster/protocol/canonical.hpp"


def purity(tree):
    """Values and functions, in core and where a PostgreSQL is decided of: no clock or I/O."""
    for path, number, line in tree.lines(*CPP):
        in_core = path.is_relative_to("core") and "lab" not in path.parts
        if in_core or path.is_relative_to("apps/postgres/decide"):
            if found := IMPURE.search(line.split("//")[0]):
                yield path, number, f"{found[0]} in a value or a function"


def words(tree):
    """The paper's words, everywhere but in the glossary and the textbook's protocol."""
    for path, number, line in tree.lines(*TEXT):
        exempt = path == Path("docs/paper.md") or path.is_relative_to("tests/lint")
        # PostgreSQL's own words; `muster.term` is the table by which its logs are compared.
        foreign = "textbook" in path.name or "postgres" in str(path)
        if exempt or foreign or OTHER_SYSTEMS.search(line):
            continue
        for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", line):
            if word.lower() in OTHER_WORDS and word != "TERM":
                yield path, number, f"'{word}' is not the paper's word (see the glossary)"


def marks(tree):
    """Nothing is left over to be done."""
    for path, number, line in tree.lines(*TEXT):
        if not path.is_relative_to("tests/lint") and (found := MARKS.search(line)):
            yield path, number, f"left-over {found[0]}"


def sleeps(tree):
    """A test waits for what it awaits, never for a time. Benches of nodes let time pass."""
    for path, number, line in tree.lines(*CODE):
        is_apart = any(path.is_relative_to(room) for room in ("tests/lint", "tests/bench/nodes"))
        in_tests = path.is_relative_to("tests") and not is_apart
        if in_tests and (found := SLEEP.search(line)):
            yield path, number, f"{found[0]} in a test"


def conditional_statements(tree):
    """A statement is no conditional operator: it is an if."""
    statement = re.compile(r"\s+(?!.*return\b)[A-Za-z_!][^=<?]* \? .* : .*;$")
    before = ""
    for path, number, line in tree.lines(*CPP):
        code = line.split("//")[0].rstrip()
        plain, inner = code, ""
        while plain != inner:
            inner, plain = plain, re.sub(r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}", "", plain)
        if re.search(r"[;}:)]$|(?<!= ){$|\belse$", before) and statement.match(plain):
            yield path, number, "a conditional operator as a statement: write if and else"
        before = code or before


def columns(tree):
    """At most 100 columns."""
    for path, number, line in tree.lines(*CODE):
        if len(line) > 100:
            yield path, number, f"{len(line)} columns"


def lengths(tree):
    """Files of at most 450 lines."""
    last = {}
    for path, number, _ in tree.lines(*CODE):
        last[path] = number
    for path, number in last.items():
        if number > 450:
            yield path, number, f"{number} lines in one file"


def headers(tree):
    """Each header guards itself, and a public one is in its component's list."""
    for path in tree.files:
        if path.suffix == ".hpp" and "#pragma once" not in tree.text(path):
            yield path, 1, "no #pragma once"
        if path.suffix == ".hpp" and "include" in path.parts[1:3]:
            room = Path(*path.parts[: path.parts.index("include")])
            if str(path.relative_to(room)) not in tree.text(room / "CMakeLists.txt"):
                yield path, 1, f"not in the FILE_SET of {room}/CMakeLists.txt"


def sorted_sources(tree):
    """Lists of sources in a CMakeLists.txt, a file a line, are sorted by path."""
    before = None
    for path, number, line in tree.lines(".txt"):
        file = re.match(r"\s+([\w/-]+\.[ch]pp)\)?$", line)
        here = (path, number - 1)
        if file and before and before[0] == here and file[1] < before[1]:
            yield path, number, f"{file[1]} stands behind {before[1]}"
        before = ((path, number), file[1]) if file else None


def built(tree):
    """Each source is in a CMakeLists.txt: what is not built never fails."""
    lists = {p.parent: tree.text(p) for p in tree.files if p.name == "CMakeLists.txt"}
    for path in tree.files:
        if path.suffix != ".cpp" or path.is_relative_to("tests/lint"):
            continue
        above = [lists[d] for d in path.parents if d in lists]
        if not any(path.stem in text for text in above) and not any(
            f"/{path.name}" in text for text in lists.values()
        ):
            yield path, 1, "in no CMakeLists.txt"


def slug(heading):
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(tree):
    """A link in a document, and a document named in the code, is there."""
    for path, number, line in tree.lines(".md"):
        for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", line):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (tree.root / path).parent / name if name else tree.root / path
            if not file.exists():
                yield path, number, f"{target} is not there"
            elif anchor and file.suffix == ".md":
                found = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
                if anchor not in map(slug, found):
                    yield path, number, f"{target}: no such heading"
    for path, number, line in tree.lines(*CODE):
        for name in re.findall(r"\bdocs/[\w/-]+\.md\b", line):
            if not path.is_relative_to("tests/lint") and not (tree.root / name).exists():
                yield path, number, f"{name} is not there"


def benches(tree):
    """`./dev bench --short` runs each bench that a document names, and each of tests/bench."""
    file = Path("tests/bench/short.py")
    listed = re.findall(r'^    "(\w+)": \[', tree.text(file), re.M) if file in tree.files else []
    for path, number, line in tree.lines(".md"):
        for name in re.findall(r"(?:\./dev bench|`muster-bench) ([a-z]\w*)", line):
            if name not in listed:
                yield path, number, f"{file} does not run {name}"
    for path in tree.files:
        if path.match("tests/bench/*.cpp") and path.stem not in listed:
            yield path, 1, f"{file} does not run {path.stem}"


def top_level(tree):
    """Beside the components only what a repository needs."""
    for name in sorted({p.parts[0] for p in tree.files} - TOP_LEVEL):
        yield Path(name), 1, "does not belong at the top level"


RULES = {rule.__name__: rule for rule in (layering, floors, installed, circles, file_names,
                                          drivers, struck_lines, options_apart, checker, purity,
                                          words, marks, sleeps, conditional_statements, columns,
                                          lengths, headers, sorted_sources, built, links,
                                          benches, top_level)}  # fmt: skip


def main(root, names):
    tree = Tree(root)
    found = 0
    for name in names or RULES:
        for path, line, what in RULES[name](tree):
            print(f"{path}:{line}: {what} [{name}]")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
