#!/usr/bin/env python3
"""What docs/operating.md says of the command holds: `docs_test.py MUSTER`."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import readme

MANUAL = (readme.ROOT / "docs/operating.md").read_text(encoding="utf-8")
muster = None


def run(*arguments):
    return subprocess.run([muster, *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)  # fmt: skip


class Manual(unittest.TestCase):
    def status_with(self, configuration):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "node.toml")
            file.write_text(configuration, encoding="utf-8")
            return run("status", "--config", str(file))

    def test_the_configuration_is_read(self):
        [configuration] = re.findall(r"^```toml\n(.*?)^```$", MANUAL, re.M | re.S)
        ran = self.status_with(configuration)
        self.assertEqual(ran.returncode, 5, ran.stderr)  # well-formed, and nobody is there
        wrong = self.status_with(configuration.replace("check_every", "check_evry"))
        self.assertEqual(wrong.returncode, 64)
        self.assertRegex(wrong.stderr, r"node\.toml:\d+: .*check_evry")

    def test_the_exit_codes_are_those_of_the_code(self):
        nodes = readme.ROOT / "core/include/muster/values/failure.hpp"
        verdicts = readme.ROOT / "apps/base/verdict.hpp"
        codes = re.findall(r"^  \w+ = (\d+),", nodes.read_text(encoding="utf-8"), re.M)
        codes += re.findall(r" ExitCode \w+\{(\d+)\};", verdicts.read_text(encoding="utf-8"))
        self.assertEqual(re.findall(r"^\| (\d+) \|", MANUAL, re.M), sorted(codes, key=int))

    def test_the_commands_are_there(self):
        for command in sorted(set(re.findall(r"`muster ([a-z]+)", MANUAL))):
            with self.subTest(command=command):
                ran = run(command, "--help")
                self.assertEqual(ran.returncode, 0)
                self.assertIn(command, ran.stdout)


if __name__ == "__main__":
    muster = sys.argv.pop(1)
    unittest.main()
