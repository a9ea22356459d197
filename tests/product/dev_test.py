#!/usr/bin/env python3
"""`./dev` on a machine of stand-ins: which commands it runs to install, build and test, and in
which order."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import blocks
import readme

TOOLS = ("bash", "awk", "cat", "dirname", "env", "expand", "grep", "mkdir", "nproc", "rm", "sed",
         "tr", "true")  # fmt: skip

# Each stand-in records its call. `apt-get -s` prints the packages that would be removed.
STAND_IN = """#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
case "${0##*/} $1" in
  "id "*) echo "$WHO" ;;
  "dpkg-query "*)
    for p; do case "$p" in -*|*db*|"$MISSING") ;; *) printf 'installed:%s ' "$p" ;; esac; done ;;
  "apt-get -s") echo "Inst $MISSING"; [ -z "$REMOVED" ] || echo "Remv $REMOVED [1.74.0]" ;;
  "sudo "*) [ "$1" != -n ] || shift; exec "$@" ;;
  "cmake --preset") exit "${CMAKE_RESULT:-0}" ;;
  "cmake --build") exit "${BUILD_RESULT:-0}" ;;
  "ctest --preset") exit "${CTEST_RESULT:-0}" ;;
esac
"""


class Machine:
    """A directory with a copy of `dev`, a PATH of stand-ins, and a log of their calls."""

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
        shutil.copytree(readme.ROOT / ".ci", self.root / ".ci")
        self.executable(self.root / "build/release/bin/muster")

    @staticmethod
    def executable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STAND_IN, encoding="utf-8")
        path.chmod(0o755)

    def run(self, *arguments, program="dev", **variables):
        environment = {"PATH": str(self.bin), "LOG": str(self.log), "WHO": "0", "MISSING": "",
                       "REMOVED": ""} | variables  # fmt: skip
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
        page = (readme.ROOT / "README.md").read_text(encoding="utf-8")
        run = [block for block in blocks.blocks(page) if block.is_shell and not block.not_run]
        words = [command.split() for block in run for command, _ in blocks.commands(block.lines)]
        self.assertEqual([each[:2] for each in words], [["./dev", "demo"], ["./dev", "test"]])
        for _, word, *_ in words:
            self.assertRegex(listed, rf"(?m)^  {word} ")

    def test_demo_configures_builds_and_runs_the_command(self):
        self.assertEqual(self.machine.run("demo", "--nodes", "3").returncode, 0)
        configure, build, demo = self.machine.calls("cmake", "muster")
        self.assertEqual(configure, "cmake --preset release --log-level=WARNING")
        self.assertEqual(build, "cmake --build --preset release --target muster")
        self.assertEqual(demo, "muster demo --nodes 3")
        self.assertEqual(self.machine.calls("apt-get"), [])

    def test_test_builds_all_with_clang_and_runs_ctest(self):
        self.assertEqual(self.machine.run("test").returncode, 0)
        configure, build, tests = self.machine.calls("cmake", "ctest")
        self.assertRegex(configure, "^cmake --preset dev .*CMAKE_CXX_COMPILER=clang[+][+]-19$")
        self.assertEqual(build, "cmake --build --preset dev --target all")
        self.assertEqual(tests, "ctest --preset dev")

    def test_arguments_of_test_choose_among_all_tests(self):
        self.assertEqual(self.machine.run("test", "-R", "core", CTEST_RESULT="8").returncode, 8)
        self.assertEqual(self.machine.calls("ctest"), ["ctest --preset every -R core"])

    def test_a_failed_build_ends_it(self):
        self.assertEqual(self.machine.run("demo", BUILD_RESULT="1").returncode, 1)
        self.assertEqual(self.machine.calls("muster"), [])

    def test_a_part_of_check_that_fails_is_named_and_the_others_run(self):
        ran = self.machine.run("check", "format", "tidy", BUILD_RESULT="1")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("check FAILED: format tidy", ran.stderr)
        parts = (self.machine.root / "build/tests/parts").read_text(encoding="utf-8")
        self.assertRegex(parts, r"^format \d+\ntidy \d+\n$")

    def test_a_part_that_is_none_is_refused(self):
        ran = self.machine.run("check", "frobnicate")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("check has no part 'frobnicate'; its parts are: format", ran.stderr)

    def test_bench_builds_what_a_bench_runs_and_gives_it_its_words(self):
        self.machine.executable(self.machine.root / "build/release/bin/muster-bench")
        ninja = self.machine.root / "build/release/build.ninja"
        ninja.write_text("build bench_soak: phony\n", encoding="utf-8")
        self.assertEqual(self.machine.run("bench", "soak", "--faults", "9").returncode, 0)
        _, bench, _, soak, ran = self.machine.calls("cmake", "muster-bench")
        self.assertRegex(bench, "--preset long --target muster-bench$")
        self.assertRegex(soak, "--preset long --target bench_soak$")
        self.assertEqual(ran, "muster-bench soak --faults 9")

    def test_muster_bench_itself_refuses_a_name_that_is_none(self):
        self.machine.executable(self.machine.root / "build/release/bin/muster-bench")
        self.assertEqual(self.machine.run("bench", "soaks").returncode, 0)
        self.assertEqual(self.machine.calls("muster-bench"), ["muster-bench soaks"])

    def test_a_build_of_another_compiler_begins_again(self):
        cache = self.machine.root / "build/dev/CMakeCache.txt"
        cache.parent.mkdir(parents=True)
        for compiler, fresh in (("/usr/bin/c++", True), ("/usr/bin/clang++-19", False)):
            cache.write_text(f"CMAKE_CXX_COMPILER:STRING={compiler}\n", encoding="utf-8")
            self.assertEqual(self.machine.run("test").returncode, 0)
            configure = self.machine.calls("cmake")[-2]
            self.assertEqual("--fresh" in configure, fresh, configure)

    def test_bench_alone_lists_them(self):
        self.machine.executable(self.machine.root / "build/release/bin/muster-bench")
        self.assertEqual(self.machine.run("bench").returncode, 0)
        self.assertEqual(self.machine.calls("muster-bench"), ["muster-bench --help"])

    def test_bench_short_builds_them_all_and_runs_each(self):
        self.machine.executable(self.machine.bin / "python3")
        self.assertEqual(self.machine.run("bench", "--short", "codec").returncode, 0)
        *_, build, ran = self.machine.calls("cmake", "python3")
        self.assertRegex(build, "--target muster muster-lab .* tests/bench/all$")
        self.assertEqual(ran, "python3 -B -X utf8 tests/bench/short.py codec")

    def test_docs_builds_the_site_with_the_packages_that_it_needs(self):
        self.machine.executable(self.machine.bin / "python3")
        self.assertEqual(self.machine.run("docs", "--serve", MISSING="mkdocs").returncode, 0)
        *_, install, ran = self.machine.calls("apt-get", "python3")
        self.assertIn(" mkdocs ", install)
        self.assertEqual(ran, "python3 -B -X utf8 docs/make_site.py --serve")

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
