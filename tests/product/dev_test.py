#!/usr/bin/env python3
"""`./dev` on a machine made of stand-ins: what it installs, builds and runs, and in which order."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import readme

TOOLS = ("bash", "awk", "cat", "dirname", "env", "find", "grep", "head", "mkdir", "nproc", "rm",
         "sed", "sort", "tail", "tee", "tr", "true")  # fmt: skip

# Each stand-in writes down how it was called. `apt-get -s` tells what is to be removed.
STAND_IN = """#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
case "${0##*/} $1" in
  "id "*) echo "$WHO" ;;
  "dpkg-query "*)
    for p; do case "$p" in -*|*db*|"$MISSING") ;; *) printf 'installed:%s ' "$p" ;; esac; done ;;
  "apt-get -s") echo "Inst $MISSING"; [ -z "$REMOVED" ] || echo "Remv $REMOVED [1.74.0]" ;;
  "sudo "*) [ "$1" != -n ] || shift; exec "$@" ;;
  "cmake --preset") exit "${CMAKE_RESULT:-0}" ;;
  "cmake --build") echo "$BUILD_SAYS"; exit "${BUILD_RESULT:-0}" ;;
  "ctest --preset") case "$*" in
    *" -N "*) echo "  Test #7: much/longer" ;;
    *) for n in 1 2 3 4 5 6 7 8 9 10 11; do
         echo " $n/11 Test  #$n: some/test_$n ............   Passed    $n.25 sec"
       done
       [ -z "$SKIPPED" ] || {
         echo "The following tests did not run:"
         printf '\\t  3 - %s (Skipped)\\n' "$SKIPPED"
       }
       exit "${CTEST_RESULT:-0}" ;;
    esac ;;
esac
"""


class Machine:
    """A directory with a copy of `dev`, a PATH of stand-ins and a log of their calls."""

    def __init__(self, root):
        self.root = Path(root)
        self.bin = self.root / "path"
        self.bin.mkdir()
        self.log = self.root / "log"
        self.log.touch()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name in ("id", "dpkg-query", "apt-get", "cmake", "ctest"):
            self.executable(self.bin / name)
        shutil.copy(readme.ROOT / "dev", self.root / "dev")
        self.executable(self.root / "build/release/bin/muster")

    @staticmethod
    def executable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STAND_IN, encoding="utf-8")
        path.chmod(0o755)

    def run(self, *arguments, program="dev", **variables):
        environment = {"PATH": str(self.bin), "LOG": str(self.log), "WHO": "0", "MISSING": "",
                       "REMOVED": "", "BUILD_SAYS": "", "SKIPPED": ""} | variables  # fmt: skip
        return subprocess.run(
            [str(self.root / program), *arguments], env=environment, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, check=False)  # fmt: skip

    def calls(self, *names):
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.split()[0] in names]


class Dev(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.machine = Machine(directory.name)

    def test_alone_it_lists_its_words(self):
        ran = self.machine.run()
        self.assertEqual(ran.returncode, 0)
        for word in "demo test check build bench fuzz format tidy docs picture clean".split():
            self.assertRegex(ran.stdout, rf"(?m)^  {word} ")

    def test_another_word_is_refused_and_they_are_listed(self):
        ran = self.machine.run("frobnicate")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("  demo ", ran.stderr)

    def test_the_commands_of_the_readme_are_words(self):
        listed = self.machine.run().stdout
        words = [command[1] for command in readme.commands() if command[0] == "./dev"]
        self.assertEqual(words, ["demo", "test"])
        for word in words:
            self.assertRegex(listed, rf"(?m)^  {word} ")

    def test_demo_configures_builds_and_runs_the_command(self):
        self.assertEqual(self.machine.run("demo", "--nodes", "3").returncode, 0)
        configure, build, demo = self.machine.calls("cmake", "muster")
        self.assertTrue(configure.startswith("cmake --preset release"))
        self.assertRegex(build, r"^cmake --build build/release .*--target muster$")
        self.assertEqual(demo, "muster demo --nodes 3")
        self.assertEqual(self.machine.calls("apt-get"), [])

    def test_test_builds_all_and_runs_ctest(self):
        self.assertEqual(self.machine.run("test", "-R", "core").returncode, 0)
        _, build, tests, _ = self.machine.calls("cmake", "ctest")
        self.assertRegex(build, r"^cmake --build build/dev .*--target all$")
        self.assertRegex(tests, r"^ctest --preset dev .*-R core$")

    def test_test_leaves_out_the_long_ones_and_names_them_and_the_slowest(self):
        ran = self.machine.run("test", CTEST_RESULT="8")
        self.assertEqual(ran.returncode, 8)
        self.assertRegex(self.machine.calls("ctest")[0], r"^ctest --preset dev .*-LE long$")
        self.assertIn("./dev check long: much/longer", ran.stderr)
        slowest = ran.stderr.split("the slowest:\n")[1].splitlines()[:10]
        self.assertEqual(slowest[0], "  11.25 s  some/test_11")
        self.assertEqual(slowest[9], "  2.25 s  some/test_2")
        took = r"dev: \d+ s: packages \d+ s, configuring \d+ s, building \d+ s, testing \d+ s\n$"
        self.assertRegex(ran.stderr, took)

    def test_what_was_skipped_is_told_and_noted(self):
        ran = self.machine.run("test", SKIPPED="some/test")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("dev: skipped: some/test\n", ran.stderr)
        self.machine.run("test", SKIPPED="another")
        noted = self.machine.root / "build/skipped"
        self.assertEqual(noted.read_text(encoding="utf-8"), "some/test\nanother\n")

    def test_ci_fails_where_other_tests_are_skipped_than_it_lists(self):
        (self.machine.root / ".ci").mkdir()
        shutil.copy(readme.ROOT / ".ci/run", self.machine.root / ".ci/run")
        dev = self.machine.root / "dev"
        dev.write_text('#!/bin/sh\n[ "$1" = check ] || echo "$SKIPPED" >>build/skipped\n')
        listed = self.machine.root / ".ci/skipped"
        for names, code in (("some/test", 0), ("", 1), ("some/test\nanother", 1)):
            listed.write_text(f"# those\n{names}\n".replace("\n\n", "\n"), encoding="utf-8")
            ran = self.machine.run(program=".ci/run", SKIPPED="some/test")
            self.assertEqual(ran.returncode, code, ran.stderr)
            self.assertIn("skipped tests: some/test\n", ran.stderr)

    def test_a_build_says_a_line_a_step_and_what_compilers_say_only_where_it_fails(self):
        says = ("[1/2] Building CXX object core/CMakeFiles/muster_core.dir/Unity/unity_3_cxx.o\n"
                "core/src/x.cpp:1: a warning\n[2/2] Linking CXX executable bin/muster")  # fmt: skip
        ran = self.machine.run("demo", BUILD_SAYS=says)
        self.assertIn("\n  [1/2] core/muster_core 3\n  [2/2] bin/muster\n", ran.stderr)
        self.assertNotIn("a warning", ran.stderr)
        ran = self.machine.run("demo", BUILD_SAYS=says, BUILD_RESULT="1")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("core/src/x.cpp:1: a warning\n", ran.stderr)
        self.assertEqual(len(self.machine.calls("muster")), 1)

    def test_bench_builds_what_a_bench_runs_and_gives_it_its_words(self):
        self.machine.executable(self.machine.root / "build/release/bin/muster-bench")
        ninja = self.machine.root / "build/release/build.ninja"
        ninja.write_text("build bench_soak: phony\n", encoding="utf-8")
        self.assertEqual(self.machine.run("bench", "soak", "--faults", "9").returncode, 0)
        _, bench, soak, ran = self.machine.calls("cmake", "muster-bench")
        self.assertRegex(bench, "--target muster-bench$")
        self.assertRegex(soak, "--target bench_soak$")
        self.assertEqual(ran, "muster-bench soak --faults 9")

    def test_bench_lets_muster_bench_refuse_a_name_that_is_none(self):
        self.machine.executable(self.machine.root / "build/release/bin/muster-bench")
        self.machine.run("bench", "soaks")
        _, _, ran = self.machine.calls("cmake", "muster-bench")
        self.assertEqual(ran, "muster-bench soaks")
        self.assertEqual(self.machine.run("bench").returncode, 0)
        self.assertEqual(self.machine.calls("muster-bench")[-1], "muster-bench --help")

    def test_bench_short_builds_them_all_and_runs_each(self):
        self.machine.executable(self.machine.bin / "python3")
        self.assertEqual(self.machine.run("bench", "--short", "codec").returncode, 0)
        _, build, ran = self.machine.calls("cmake", "python3")
        self.assertRegex(build, "--target muster muster-postgres .* tests/bench/all$")
        self.assertEqual(ran, "python3 -B -X utf8 tests/bench/short.py codec")

    def test_bench_builds_nothing_where_it_is_told_what_is_built(self):
        self.machine.executable(self.machine.root / "build/elsewhere/bin/muster-bench")
        ran = self.machine.run("bench", "soak", BUILT="build/elsewhere")
        self.assertEqual(ran.returncode, 0)
        self.assertEqual(self.machine.calls("cmake", "muster-bench"), ["muster-bench soak"])

    def test_a_failed_configuration_ends_it(self):
        self.assertEqual(self.machine.run("demo", CMAKE_RESULT="3").returncode, 3)
        self.assertEqual(len(self.machine.calls("cmake", "muster")), 1)

    def test_root_installs_only_what_is_missing(self):
        self.assertEqual(self.machine.run("demo", MISSING="ninja-build").returncode, 0)
        update, simulate, install = self.machine.calls("apt-get")
        self.assertIn("update", update)
        self.assertIn("-s install", simulate)
        self.assertRegex(install, "^apt-get install -y --no-install-recommends ninja-build -o ")

    def test_what_apt_would_remove_is_shown_first(self):
        ran = self.machine.run("demo", MISSING="ninja-build", REMOVED="libboost1.74-dev")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("REMOVE", ran.stderr)
        self.assertIn("libboost1.74-dev", ran.stderr)

    def test_sudo_installs_for_others(self):
        self.machine.executable(self.machine.bin / "sudo")
        self.assertEqual(self.machine.run("demo", MISSING="git", WHO="1000").returncode, 0)
        [*_, install] = self.machine.calls("sudo")
        self.assertRegex(install, "^sudo -n env .* apt-get install -y .* git -o ")

    def test_where_nothing_can_be_installed_it_says_what_is_missing_and_how(self):
        ran = self.machine.run("demo", MISSING="libsqlite3-dev", WHO="1000")
        self.assertEqual(ran.returncode, 1)
        self.assertRegex(ran.stderr, r"missing.* libsqlite3-dev.*apt-get install .*libsqlite3-dev")
        self.assertEqual(self.machine.calls("apt-get", "cmake"), [])

    def test_clean_removes_the_build_directory(self):
        self.assertEqual(self.machine.run("clean").returncode, 0)
        self.assertFalse((self.machine.root / "build").exists())


if __name__ == "__main__":
    unittest.main()
