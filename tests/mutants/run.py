#!/usr/bin/env python3
"""`run.py [NAME...]`: is every mutant caught? `--list` prints them as Markdown.

An edit is made in a copy of the tree, in build/mutants. Each program and command first runs without
any mutant, and must pass. Exit code 1: a mutant has survived; 2: one could not be judged.
"""

import argparse
import fcntl
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatch
from pathlib import Path

from kinds import Edit, Flag, filter_of, is_script, program, target_of
from mutants import MUTANTS, apply, table

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build/mutants"
SOURCE = WORK / "source"
BUILD = WORK / "build"
HANGS_AFTER = 300  # s: longer than the longest wait in a test


class Unjudged(Exception):
    """It is unknown whether the mutant is caught."""


def copy_tree():
    """Copies the files that git tracks or would add. Unchanged files are not touched."""
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=True)  # fmt: skip
    names = {name for name in listed.stdout.decode().split("\0") if name}
    for name in sorted(names):
        file, copy = ROOT / name, SOURCE / name
        if not file.is_file():
            continue
        content = file.read_bytes()
        if copy.is_file() and copy.read_bytes() == content:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
        copy.chmod(file.stat().st_mode)
    for old in SOURCE.rglob("*"):
        name = str(old.relative_to(SOURCE))
        if old.is_file() and (name not in names or not (ROOT / name).is_file()):
            old.unlink()


def configure():
    """Configures a quick build: no sanitizers, no debug information."""
    ran = subprocess.run(
        ["cmake", "-S", SOURCE, "-B", BUILD, "-G", "Ninja", "--log-level=WARNING",
         "-DCMAKE_BUILD_TYPE=", "-DCMAKE_CXX_FLAGS=-O1", "-DMUSTER_INSTALL=OFF"],
        check=False)  # fmt: skip
    if ran.returncode != 0:
        raise Unjudged("the tree cannot be configured")


def build(targets, jobs):
    # These settings let ccache reuse results from other copies of the tree and from other mutants.
    environment = os.environ | {"CCACHE_BASEDIR": str(WORK), "CCACHE_NOHASHDIR": "1"}
    command = ["cmake", "--build", BUILD, "-j", str(jobs), "--target", *sorted(targets)]
    code, printed = run(command, None, environment)
    if code != 0:
        raise Unjudged("it cannot be built:\n" + printed[-4000:])


def run(command, hangs_after=HANGS_AFTER, environment=None):
    """(exit code, output). If it hung, it is ended with its children and has no exit code."""
    with tempfile.TemporaryDirectory(dir=WORK) as directory:
        with subprocess.Popen(
            command, cwd=directory, env=environment, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                printed, _ = process.communicate(timeout=hangs_after)
                return process.returncode, printed
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                printed, _ = process.communicate()
                return None, printed
            except BaseException:  # this run itself has to end
                os.killpg(process.pid, signal.SIGTERM)
                raise


def test_command(test):
    if is_script(test):
        only = filter(None, [filter_of(test)])
        return [sys.executable, "-B", "-X", "utf8", SOURCE / program(test), *only,
                BUILD / "bin/muster"]  # fmt: skip
    command = [BUILD / "bin" / program(test), "--color_output=no", "--report_level=no"]
    return command + ([f"--run_test={filter_of(test)}"] if filter_of(test) else [])


def targets_of(mutants, muster):
    """The targets that must be built to judge them. `muster` is the command, if it is built
    already."""
    tests = {target_of(test) for m in mutants if isinstance(m, Edit) for test in m.tests}
    flags = any(isinstance(m, Flag) for m in mutants)
    return tests | ({"muster", "muster-lab"} if flags and not muster else set())


def failure(code, printed):
    """How a test program has failed; None if it passed."""
    if code is None:
        return "a hang"
    if code == 0:
        return None
    if code == 200 and "no test cases matching" in printed:
        raise Unjudged("its filter names no test case")
    case = re.search(r'error: in "([^"]+)"|^(?:FAIL|ERROR): (\w+)', printed, re.M)
    return case[1] or case[2] if case else f"exit code {code}"


def verdict(flag, code, printed):
    """The violation that a command has found; None if it found none."""
    if code is None:
        return "a hang"
    if code == 0:
        return None
    if code != 1 or flag.verdict not in printed:
        raise Unjudged(f"exit code {code} without '{flag.verdict}':\n{printed[-1000:]}")
    return flag.verdict


def judge_flag(flag, muster):
    return verdict(flag, *run([muster, *flag.command(True)]))


def judge_edit(edit, jobs):
    file = SOURCE / edit.file
    sound = file.read_text(encoding="utf-8")
    try:
        file.write_text(apply(edit, sound), encoding="utf-8")
        build(set(map(target_of, edit.tests)), jobs)
        for test in edit.tests:
            if caught := failure(*run(test_command(test))):
                return f"{program(test)}: {caught}"
        return None
    finally:
        file.write_text(sound, encoding="utf-8")


def check_sound(mutants, muster):
    """Checks that the tests and commands pass without a mutant."""
    for test in sorted({test for m in mutants if isinstance(m, Edit) for test in m.tests}):
        code, printed = run(test_command(test))
        if failed := failure(code, printed):
            raise Unjudged(f"{test} fails without a mutant ({failed}):\n{printed[-2000:]}")
    worlds = {tuple(m.command(False)): m for m in mutants if isinstance(m, Flag)}
    for world, mutant in worlds.items():
        code, printed = run([muster, *world])
        if code != mutant.sound_code:
            raise Unjudged(f"the world of {mutant.name} is broken already:\n{printed[-2000:]}")


def named(names):
    for name in names:
        if not any(fnmatch(mutant.name, name) for mutant in MUTANTS):
            sys.exit(f"mutants: there is no mutant '{name}' (--list)")
    return [m for m in MUTANTS if not names or any(fnmatch(m.name, name) for name in names)]


def prepare(targets, jobs):
    """Builds without a mutant. Returns the lock that keeps another run away."""
    lock = open(WORK / "lock", "w", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as taken:
        raise Unjudged("another run is at work in build/mutants; wait for its end") from taken
    copy_tree()
    configure()
    build(targets, jobs)
    return lock


def parse():
    parser = argparse.ArgumentParser(description="Is every mutant caught?")
    parser.add_argument("names", metavar="NAME", nargs="*", help="these only; * stands for any")
    parser.add_argument("--list", action="store_true", help="print them as Markdown")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of a build")
    parser.add_argument("--muster", type=Path, help="the command, where it is not to be built")
    return parser.parse_args()


def main():
    arguments = parse()
    if arguments.list:
        print(table(), end="")
        return 0
    mutants = named(arguments.names)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    WORK.mkdir(parents=True, exist_ok=True)
    targets = targets_of(mutants, arguments.muster)
    muster = (arguments.muster or BUILD / "bin/muster").absolute()
    try:
        lock = prepare(targets, arguments.jobs) if targets else None
        print("without a mutant", flush=True)
        check_sound(mutants, muster)
    except Unjudged as why:
        print(f"mutants: {why}", file=sys.stderr)
        return 2
    survivors = unjudged = 0
    for mutant in mutants:
        begun = time.monotonic()
        try:
            if isinstance(mutant, Flag):
                caught = judge_flag(mutant, muster)
            else:
                caught = judge_edit(mutant, arguments.jobs)
            survivors += caught is None
            said = f"caught by {caught}" if caught else "SURVIVED"
        except Unjudged as why:
            unjudged += 1
            said = f"not judged: {why}"
        print(f"{mutant.name}: {said} ({time.monotonic() - begun:.1f} s)", flush=True)
    print(f"{len(mutants)} mutants, {len(mutants) - survivors - unjudged} caught", flush=True)
    if lock:
        lock.close()
    return 2 if unjudged else 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
