#!/usr/bin/env python3
"""run.py takes a lesson that is right, and none in which something is not."""

import tempfile
import unittest
from pathlib import Path

import run

MUSTER = """#!/bin/sh
echo "muster $*"
echo "1a holds, 17 checks"
echo "told on standard error" >&2
[ "$1" = fails ] && exit 3
exit 0
"""
SOURCE = "return stop({StopReason::own_election, std::nullopt});"
QUOTE = "stop({StopReason::own_election, std::nullopt});\nstate_.s = Status::Election;"


def lesson(command="muster check", text="muster check\n1a holds, ... checks", code=QUOTE):
    return f"```sh\n{command}\n```\n```text\n{text}\n```\n```cpp\n{code}\n```\n"


class Runner(unittest.TestCase):
    def faults(self, text):
        with tempfile.TemporaryDirectory() as name:
            muster = Path(name) / "muster-of-a-build"
            muster.write_text(MUSTER)
            muster.chmod(0o755)
            return list(run.faults(text, muster))

    def test_what_is_right_is_taken(self):
        for right in (
            lesson(),
            lesson("muster fails  # exit code 3", "told on standard error"),
            lesson("muster check \\\n  --nodes 3", "muster check --nodes 3"),
            lesson("muster one\nmuster two", "muster one\n1a holds...\nmuster two"),
            lesson("test -f fail-over.demo"),
        ):
            expected = [] if "test -f" not in right else ["not found"]
            self.assertEqual([fault[:9] for fault in self.faults(right)], expected, right)

    def test_what_is_not_so_is_found(self):
        for wrong in (
            lesson(text="1b holds, ... checks"),
            lesson(text="1a holds"),
            lesson(text="1a holds, ... checks\nmuster check"),
            lesson("muster fails", "muster fails"),
            lesson("muster check  # exit code 3"),
            lesson("muster fails  # exit code 1", "muster fails"),
            lesson(code=SOURCE),
            lesson("muster check\nexit 0"),
            "```sh\nmuster check\n```\n",
            "```text\nmuster check\n```\n",
        ):
            self.assertEqual(len(self.faults(wrong)), 1, wrong)

    def test_what_a_block_shows_its_own_commands_printed(self):
        first, second = lesson("muster one", "muster one"), lesson("muster two", "muster one")
        self.assertEqual(len(self.faults(first + second)), 1)


if __name__ == "__main__":
    unittest.main()
