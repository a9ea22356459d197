#!/usr/bin/env python3
"""blocks.py accepts a page that is right, and finds each error of another."""

import os
import tempfile
import unittest
from pathlib import Path

import blocks

MUSTER = """#!/bin/sh
echo "muster $*"
echo "1a holds, 17 checks"
echo "told on standard error" >&2
[ "$1" = fails ] && exit 3
exit 0
"""
SOURCE = "return stop({StopReason::own_election, std::nullopt});"
QUOTE = "stop({StopReason::own_election, std::nullopt});\nstate_.s = Status::Election;"


def page(command="muster check", shown="muster check\n1a holds, ... checks", after="",
         language="sh"):  # fmt: skip
    return f"```{language}\n{command}\n```\n{after}```text\n{shown}\n```\n"


def lesson(code=QUOTE):
    return page() + f"```cpp\n{code}\n```\n"


class Runner(unittest.TestCase):
    def faults(self, text, **more):
        with tempfile.TemporaryDirectory() as name:
            muster = Path(name) / "muster-of-a-build"
            muster.write_text(MUSTER)
            muster.chmod(0o755)
            return list(blocks.faults(text, muster, **more))

    def test_what_is_right_is_taken(self):
        for right in (
            page(),
            page(language="console"),
            page("muster fails  # exit code 3", "told on standard error"),
            page("muster check \\\n  --nodes 3", "muster check --nodes 3"),
            page("muster one\n# a comment\nmuster two", "muster one\n1a holds...\nmuster two"),
            "```sh\ntest -f fail-over.demo\n```\n",
            page("# not run here: it fails\nmuster fails", "not looked at"),
            page(shown="not looked at", after="## Next\n"),
            "1. Then\n\n   ```sh\n   muster one\n   ```\n",
            page("echo '  one'", "  one"),
            page("cat a.txt", "one\n  two") + "```text file=a.txt\none\n  two\n```\n",
            page().replace("```text", "```text example").replace("... checks", "4 checks"),
        ):
            self.assertEqual(self.faults(right), [], right)

    def test_what_is_not_so_is_found(self):
        for wrong in (
            page(shown="1b holds, ... checks"),
            page(shown="1a holds"),
            page(shown="1a holds, ... checks\nmuster check"),
            page("muster fails", "muster fails"),
            page("muster check  # exit code 3"),
            page("muster fails  # exit code 1", "muster fails"),
            page("muster check\nexit 0"),
            page("muster check\n# not run here: too late\nmuster fails"),
            page().replace("```text", "```text example").replace("... checks", "x checks"),
            "1. Then\n\n   ```sh\n   muster fails\n   ```\n",
        ):
            self.assertEqual(len(self.faults(wrong)), 1, wrong)

    def test_what_a_block_shows_its_own_commands_printed(self):
        first, second = page("muster one", "muster one"), page("muster two", "muster one")
        self.assertEqual(len(self.faults(first + second)), 1)

    def test_a_command_without_end_is_ended(self):
        [fault] = self.faults(page("cat <> <(:)"), patience=1)
        self.assertIn("has not ended", fault)

    def test_a_stage_is_in_the_shell_of_the_page(self):
        told = page("type systemctl", "systemctl is a function")
        self.assertEqual(self.faults(told, stage="units"), [])

    def test_a_stage_that_fails_is_a_fault(self):
        [fault] = self.faults(page(), stage="there_is_none")
        self.assertIn("there_is_none.sh", fault)

    def test_a_lesson_shows_what_it_says(self):
        self.assertEqual(list(blocks.lesson_faults(list(blocks.blocks(lesson())))), [])
        for wrong in (
            lesson(code=SOURCE),
            "```sh\nmuster check\n```\n",
            "```text\nmuster check\n```\n",
            "```text\nmuster check\n```\n" + lesson(),
        ):
            self.assertEqual(len(list(blocks.lesson_faults(list(blocks.blocks(wrong))))), 1, wrong)

    def test_ports_and_directories_are_the_runs_own(self):
        text = "port=7201,7202 -h /var/lib/muster-postgres/n1 -D /backup/x; cd /var/lib/muster/n1"
        said = blocks.moved(text, Path("/new"), 20000)
        self.assertEqual(said, "port=20011,20012 -h /new/postgres/n1 -D /new/backup/x; cd /new/n1")

    def test_only_root_becomes_another_user(self):
        text = "runuser -u postgres -- muster postgres run --user postgres --config FILE"
        said = blocks.moved(text, Path("/new"), 20000)
        self.assertEqual(said, text if os.geteuid() == 0 else "muster postgres run --config FILE")


if __name__ == "__main__":
    unittest.main()
