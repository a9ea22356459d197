#!/usr/bin/env python3
"""Shells complete commands and options, and man reads the pages: `completion_test.py MUSTER`."""

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from skipping import run_cases  # noqa: E402

muster = None


def output_of(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=True,
                          stdin=subprocess.DEVNULL, **more).stdout  # fmt: skip


@functools.cache
def commands_of(*words):
    _, _, listed = output_of(muster, *words, "--help").partition("\nSubcommands:\n")
    return set(re.findall(r"^  ([a-z-]+)", listed, re.M))


@functools.cache
def script_for(shell):
    return output_of(muster, "completion", shell)


class Completion(unittest.TestCase):
    def setUp(self):
        own = tempfile.TemporaryDirectory()
        self.addCleanup(own.cleanup)
        self.directory = Path(own.name)
        Path(self.directory, "a file").touch()

    def need(self, program):
        if shutil.which(program):
            return
        if os.environ.get("MUSTER_DEMAND_PACKAGE"):
            self.fail(f"{program} not found, and demanded")
        self.skipTest(f"skipped: {program} not found")

    def script(self, shell):
        file = Path(self.directory, shell)
        file.write_text(script_for(shell), encoding="utf-8")
        return file

    def in_bash(self, *words):
        ask = """source "$1"; shift; complete -p muster >/dev/null
                 COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _muster
                 ((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"; true"""
        return output_of("bash", "--norc", "-c", ask, "bash", self.script("bash"), *words,
                         cwd=self.directory).splitlines()  # fmt: skip

    def in_fish(self, line):
        ask = f"source {self.script('fish')}; complete -C '{line}'"
        home = {**os.environ, "HOME": str(self.directory), "XDG_CONFIG_HOME": str(self.directory)}
        told = output_of("fish", "--no-config", "-c", ask, cwd=self.directory, env=home)
        return [each.partition("\t")[0] for each in told.splitlines()]

    def test_bash_is_told_every_command(self):
        self.assertLess({"node", "init", "config", "completion"}, commands_of())
        for words in ([], ["config"], ["cert"], ["store"]):
            with self.subTest(words):
                self.assertEqual(set(self.in_bash("muster", *words, "")), commands_of(*words))

    def test_bash_is_told_options_values_and_files(self):
        for words, expected in (
            (["co"], {"config", "completion"}),
            (["node", "--i"], {"--initialise"}),
            (["node", "--log", ""], {"text", "json"}),
            (["node", "--config", "a"], {"a file"}),
            (["config", "check", "a"], {"a file"}),
            (["config", "check", "--"], {"--help", "--json"}),
            (["run", "--where", "c"], {"coordinator"}),
            (["run", "--", "a"], {"a file"}),
            (["no-command", "--vers"], {"--version"}),
        ):
            with self.subTest(words):
                self.assertEqual(set(self.in_bash("muster", *words)), expected)

    def test_fish_is_told_the_same(self):
        self.need("fish")
        output_of("fish", "-n", self.script("fish"))
        for words in ("", "config ", "cert "):
            self.assertEqual(set(self.in_fish(f"muster {words}")), commands_of(*words.split()))
        self.assertEqual(self.in_fish("muster node --in"), ["--initialise"])
        self.assertEqual(set(self.in_fish("muster node --log ")), {"text", "json"})

    def test_zsh_reads_it(self):
        self.need("zsh")
        output_of("zsh", "-n", self.script("zsh"))
        ask = f"""autoload -U compinit; compinit -u -d {self.directory}/dump
                  source {self.script("zsh")}; print $_comps[muster]"""
        self.assertEqual(output_of("zsh", "-f", "-c", ask).strip(), "_muster")

    def pages(self):
        output_of(muster, "man", self.directory)
        return sorted(self.directory.glob("*.1"))

    def test_there_is_a_page_for_every_command(self):
        self.assertEqual({page.stem for page in self.pages()},
                         {"muster"} | {f"muster-{name}" for name in commands_of()})  # fmt: skip
        page = Path(self.directory, "muster-config.1").read_text(encoding="utf-8")
        for part in (".SS muster config diff", "\\-\\-json", "Exit codes: 0 all are valid"):
            self.assertIn(part, page)

    def test_the_pages_have_nothing_that_is_warned_of(self):
        for program in (["groff", "-man", "-ww", "-Tutf8", "-z"],
                        ["mandoc", "-Tlint", "-Wwarning"]):  # fmt: skip
            with self.subTest(program[0]):
                self.need(program[0])
                said = subprocess.run([*program, *self.pages()], capture_output=True, text=True,
                                      check=False)  # fmt: skip
                told = (said.stdout + said.stderr).splitlines()
                self.assertEqual([each for each in told if "missing date" not in each], [])


if __name__ == "__main__":
    muster = sys.argv.pop(1)
    run_cases()
