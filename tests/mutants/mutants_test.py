#!/usr/bin/env python3
"""Each mutant can be made, docs/mutants.md lists them all, and a survivor would be noticed."""

import re
import unittest
from pathlib import Path

import run
from kinds import Edit, Flag, filter_of, is_script, program
from mutants import MUTANTS, apply, table

EDITS = [mutant for mutant in MUTANTS if isinstance(mutant, Edit)]
FLAGS = [mutant for mutant in MUTANTS if isinstance(mutant, Flag)]


def read(path):
    return (run.ROOT / path).read_text(encoding="utf-8")


def under(pattern):
    return "\n".join(p.read_text(encoding="utf-8") for p in Path(run.ROOT, "tests").rglob(pattern))


class Mutants(unittest.TestCase):
    def test_there_are_enough_of_each_kind(self):
        self.assertGreaterEqual(len(MUTANTS), 25)
        self.assertGreaterEqual(len(FLAGS), 8)
        for where, least in (("core/src/", 6), ("storage/src/", 5), ("net/src/", 9)):
            self.assertGreaterEqual(sum(e.file.startswith(where) for e in EDITS), least, where)

    def test_each_has_a_name_of_its_own(self):
        names = [mutant.name for mutant in MUTANTS]
        self.assertEqual(sorted(set(names)), sorted(names))
        for name in names:
            self.assertRegex(name, r"^[a-z0-9]+(-[a-z0-9]+)*$")

    def test_each_edit_can_be_made(self):
        for edit in EDITS:
            with self.subTest(edit.name):
                self.assertNotEqual(apply(edit, read(edit.file)), read(edit.file))

    def test_the_tests_that_catch_them_are_there(self):
        targets = set(re.findall(r"muster_test\((\w+)", under("CMakeLists.txt")))
        named = set(re.findall(r"_TEST_(?:SUITE|CASE)\(\s*(\w+)", under("*.cpp")))
        for edit in EDITS:
            for test in edit.tests:
                with self.subTest(edit.name, test=test):
                    own = self.names_in(program(test)) if is_script(test) else named
                    if not is_script(test):
                        self.assertIn(program(test), targets)
                    for part in filter(None, re.split("[/.]", filter_of(test))):
                        begins = part.partition("*")[0]
                        fits = [n for n in own if n == part or "*" in part and begins in n]
                        self.assertTrue(fits, f"no suite or case of that name: {part}")

    @staticmethod
    def names_in(script):
        return re.findall(r"^ *(?:class|def) (\w+)", read(script), re.M)

    def test_each_flag_has_a_world_in_which_it_is_the_only_fault(self):
        for flag in FLAGS:
            with self.subTest(flag.name):
                self.assertNotEqual(flag.command(True), flag.command(False))
                self.assertTrue(flag.sound)


class Document(unittest.TestCase):
    def test_the_table_of_the_manual_is_what_list_prints(self):
        self.assertIn("\n" + table(), read("docs/mutants.md"), "run tests/mutants/run.py --list")


class Judgement(unittest.TestCase):
    """Which results count as caught, and which do not."""

    def test_a_test_that_passes_is_a_survivor(self):
        self.assertIsNone(run.failure(0, "*** No errors detected"))

    def test_the_first_case_that_fails_is_named(self):
        printed = 'a.cpp(3): error: in "suite/case": check\nb.cpp(4): error: in "suite/other": no'
        self.assertEqual(run.failure(201, printed), "suite/case")
        self.assertEqual(run.failure(1, "..F\nFAIL: test_all (a.All)"), "test_all")
        self.assertEqual(run.failure(-6, "terminate"), "exit code -6")
        self.assertEqual(run.failure(None, ""), "a hang")

    def test_a_program_is_run_with_its_filter(self):
        command = [str(word) for word in run.test_command("net_node promises/p1*")]
        self.assertTrue(command[0].endswith("bin/net_node"))
        self.assertEqual(command[-1], "--run_test=promises/p1*")
        self.assertNotIn("--run_test", " ".join(map(str, run.test_command("net_node"))))
        command = [str(word) for word in run.test_command("tests/a_test.py All.test_it")]
        self.assertTrue(command[-3].endswith("tests/a_test.py"))
        self.assertEqual(command[-2], "All.test_it")
        self.assertTrue(command[-1].endswith("bin/muster"))

    def test_a_filter_that_fits_nothing_is_no_catch(self):
        with self.assertRaises(run.Unjudged):
            run.failure(200, "Test setup error: no test cases matching filter")

    def test_a_command_has_to_find_what_it_should(self):
        flag = Flag("", "", "", "check", "--strike h-test", "assertion 1a does not hold")
        self.assertIsNone(run.verdict(flag, 0, "holds"))
        self.assertEqual(run.verdict(flag, 1, f"muster: {flag.verdict} in"), flag.verdict)
        for code, printed in ((64, flag.verdict), (1, "assertion 1b does not hold")):
            with self.assertRaises(run.Unjudged):
                run.verdict(flag, code, printed)

    def test_an_old_text_that_is_not_there_once_is_refused(self):
        edit = Edit("name", "", "", "file", "old", "new", ())
        self.assertEqual(apply(edit, "an old one"), "an new one")
        for text in ("none", "old and old"):
            with self.assertRaises(ValueError):
                apply(edit, text)

    def test_what_hangs_is_ended(self):
        run.WORK.mkdir(parents=True, exist_ok=True)
        code, _ = run.run(["sh", "-c", "read line </dev/zero"], hangs_after=1)
        self.assertIsNone(code)


if __name__ == "__main__":
    unittest.main()
