"""Rules about which component, and which directory of it, may use what."""

import re
from pathlib import Path

from tree import CPP, code_of, included, is_in

# The directories of core, and those that each may include. Headers directly in muster/ belong to
# the application.
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

# The names of muster/host/sessions.hpp that a driver may use: inputs, outputs, carried frames and
# counters. All rules about sessions are in core/src/host/sessions.
DRIVERS = ("net/src", "net/include", "net/internal", "core/lab/src/simulator")
SESSION_WORDS = {
    "Host", "Driver",
    "Self", "SessionConfig", "SessionLimits", "Sessions", "SessionInput", "SessionOutput",
    "SessionOutputs", "Time", "ConnectionId", "ConnectionEnd", "DialEnd", "enough_bytes",
    "Greet", "SendLetter", "Dialled", "DialFailed", "Accepted", "Exhausted", "Came", "Closed",
    "Writable", "Due", "Drained",
    "Dial", "GiveUp", "Write", "TellRoom", "Close", "Drain", "Wake", "LetterCame",
    "CallUnanswered", "LifeOver", "OutlivedBy", "OthersDiffer", "Warning", "HandOver", "TellStatus",
    "Counters", "LifeClaims", "latest_life", "later_life", "hello_of",
    "Frame", "Hello", "Refusal", "RefusalReason", "Role", "Carried", "Acknowledged",
    "StatusQuestion", "StatusAnswer", "Asks", "Piece", "NoAnswer", "fits", "frame_limit",
    "wire_newest", "wire_oldest", "wire_of_greetings", "WireVersions", "common_wire", "wire_of",
}  # fmt: skip
SESSION_FIELDS = re.compile(
    r"[.>](peers|whose|hellos|soonest|warned|touch|owed|last_hello"
    r"|session_count|peer_session|peer_instance|figure|reason|quick_dials|slow_dials|unwelcome"
    r"|before_dial)\b"
)

# For each component, the beginnings of the names of headers that it may not include.
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

# Clocks, randomness, threads, I/O and unordered containers. If core used these, equal inputs could
# give different results.
IMPURE = re.compile(
    r"\bstd::(mutex|thread|jthread|atomic|random_device|mt19937|cout|cerr|clog|cin|unordered_\w+"
    r"|ifstream|ofstream|fstream|filesystem|async|condition_variable|rand|time)\b"
    r"|\b(steady_clock|system_clock|high_resolution_clock|getenv|fopen|printf|thread_local)\b"
    r"|#include <(mutex|thread|atomic|random|fstream|filesystem|future|ctime|cstdio|iostream)>"
)

# Rooms of apps/postgres in which a file name must be unique.
DISTINCT = {"decide", "perform", "server", "watch", "adopting"}

# The files of the Bully's options, of differing nodes, and of the checker's needs. All other files
# contain only the paper's protocol.
OPTIONS = {"waits.cpp", "sight.hpp", "bully.cpp", "canonical_bully.cpp", "differing.cpp"}


def layering(tree):
    """A component includes only headers of the components below it."""
    for path, number, line in tree.lines(*CPP):
        if not (header := included(line)):
            continue
        for where, forbidden in FORBIDDEN_INCLUDES.items():
            if header.startswith(forbidden) and is_in(path, [where]):
                yield path, number, f"{where} may not include {header}"


def floor_of(header):
    """The room of core that contains a header. None if the header is another component's."""
    room = re.match(r"muster/(?:detail/)?(?:(\w+)/)?\w+\.hpp$", header)
    if not room:
        return None
    return (room[1] if room[1] in FLOORS else None) if room[1] else "application"


def floors(tree):
    """A directory of core includes only headers of those listed for it, and never the lab."""
    here = re.compile(r"core/(?:src|include/muster(?:/detail)?|internal/muster)/(?:(\w+)/)?")
    for path in tree.paths(*CPP, within=["core"]):
        if not (match := here.match(str(path))):
            continue
        room = match[1] or "application"
        for number, line in enumerate(tree.lines_of(path), 1):
            if not (header := included(line, "<")):
                continue
            there = floor_of(header)
            if header.startswith("muster/lab/") or (there and there not in FLOORS[room]):
                yield path, number, f"{room} may not include {header}"


def installed(tree):
    """An installed header includes no header that is not installed."""
    internal = {str(path).split("/internal/")[1] for path in tree.files if "internal" in path.parts}
    for path in tree.paths(*CPP):
        if "include" in path.parts:
            for number, line in enumerate(tree.lines_of(path), 1):
                if (header := included(line, "<")) in internal:
                    yield path, number, f"{header} is internal"


def includes_between_rooms(tree):
    """For each room of apps and net/src, the other rooms that it includes, and in which line."""
    includes = {}
    for path, number, line in tree.lines(*CPP, within=["apps", "net/src"]):
        header = included(line, '"')
        if not header or "/" not in header:
            continue
        other = "net/src" / Path(header) if is_in(path, ["net/src"]) else Path(header)
        if other.parts[0] == path.parts[0] and other.parent != path.parent:
            includes.setdefault(path.parent, {}).setdefault(other.parent, (path, number))
    return includes


def circles(tree):
    """The includes between the rooms of apps and of net/src form no cycle."""
    includes = includes_between_rooms(tree)

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


def file_names(tree):
    """No two files of these rooms of apps/postgres have the same name."""
    rooms = {}
    for path in tree.files:
        if is_in(path, ["apps/postgres"]) and path.parent.name in DISTINCT:
            if (other := rooms.setdefault(path.name, path)) != path:
                yield path, 1, f"{other} has this name too"


def drivers(tree):
    """A driver of sessions decides nothing about them."""
    for path, number, line in tree.lines(*CPP, within=DRIVERS):
        for word in re.findall(r"\bhost::(\w+)", code_of(line)):
            if word not in SESSION_WORDS:
                yield path, number, f"host::{word} is no word of a driver's"
        if found := SESSION_FIELDS.search(code_of(line)):
            yield path, number, f"'{found[1]}' is no driver's business"


def struck_lines(tree):
    """Only lines.cpp asks whether the lab has struck a line. Other files call its predicates."""
    for path, number, line in tree.lines(*CPP, within=["core/src"]):
        if path.name != "lines.cpp" and re.search(r"\bstands\((Session)?Line::", code_of(line)):
            yield path, number, "stands() is for lines.cpp: give the line a predicate there"


def options_apart(tree):
    """The files with the paper's Bully do not mention an option."""
    option = re.compile(r"\b(options|by_options|AwaitingMajority|Settling)\b")
    for path, number, line in tree.lines(*CPP, within=["core/src/protocol/bully"]):
        is_apart = path.name in OPTIONS or path.name.startswith("option_")
        if not is_apart and option.search(code_of(line)):
            yield path, number, "an option of the Bully: it belongs in option_*.cpp or waits.cpp"


def checker(tree):
    """The checker names no protocol. It uses the functions that each protocol's room provides."""
    for path, number, line in tree.lines(*CPP, within=["core/lab/src/checker"]):
        if found := re.search(r"\b(bully|invitation|textbook)::", code_of(line)):
            yield path, number, f"{found[0]} in the checker: see muster/protocol/canonical.hpp"


def purity(tree):
    """Values and functions in core and in apps/postgres/decide use no clock and no I/O."""
    for path, number, line in tree.lines(*CPP, within=["core", "apps/postgres/decide"]):
        in_lab = path.parts[0] == "core" and "lab" in path.parts
        if not in_lab and (found := IMPURE.search(code_of(line))):
            yield path, number, f"{found[0]} in a value or a function"


RULES = (layering, floors, installed, circles, file_names, drivers, struck_lines, options_apart,
         checker, purity)  # fmt: skip
