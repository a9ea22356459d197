#!/usr/bin/env python3
"""What docs/reference says of the command holds: `docs_test.py MUSTER`."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import readme

REFERENCE = readme.ROOT / "docs/reference"
muster = None


def run(*arguments):
    return subprocess.run([muster, *arguments], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)  # fmt: skip


def page(name):
    return (REFERENCE / name).read_text(encoding="utf-8")


class Manual(unittest.TestCase):
    def status_with(self, configuration):
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory, "node.toml")
            file.write_text(configuration, encoding="utf-8")
            return run("status", "--config", str(file))

    def test_the_configuration_is_read(self):
        [configuration] = re.findall(r"^```toml\n(.*?)^```$", page("configuration.md"), re.M | re.S)
        ran = self.status_with(configuration)
        self.assertEqual(ran.returncode, 5, ran.stderr)  # the file is valid, but no node answers
        wrong = self.status_with(configuration.replace("check_every", "check_evry"))
        self.assertEqual(wrong.returncode, 64)
        self.assertRegex(wrong.stderr, r"node\.toml:\d+: .*check_evry")

    def test_the_commands_are_there(self):
        for command in sorted(set(re.findall(r"`muster ([a-z-]+)", page("commands.md")))):
            with self.subTest(command=command):
                ran = run(command, "--help")
                self.assertEqual(ran.returncode, 0)
                self.assertIn(command, ran.stdout)


if __name__ == "__main__":
    muster = sys.argv.pop(1)
    unittest.main()
