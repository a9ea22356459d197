#!/usr/bin/env python3
"""An event, a result or an order without a function does not compile.

`missing_overload.py COMPILER ARGUMENT... -- ROOT`

A copy of a header in which one declaration is struck takes the place of that header.
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

AT = sys.argv.index("--")
COMPILE, ROOT = sys.argv[1:AT], Path(sys.argv[AT + 1])
TURN, TASK = "apps/postgres/decide/keeper_turn.hpp", "apps/postgres/perform/order_task.hpp"
KEEPER, TASKS = "apps/postgres/decide/keeper.cpp", "apps/postgres/perform/order_task.cpp"


class Missing(unittest.TestCase):
    def compile(self, header, struck, file):
        text = (ROOT / header).read_text(encoding="utf-8")
        self.assertEqual(text.count(struck), 1 if struck else len(text) + 1, struck)
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory, header)
            copy.parent.mkdir(parents=True)
            copy.write_text(text.replace(struck, "") if struck else text, encoding="utf-8")
            done = subprocess.run(
                [COMPILE[0], f"-I{directory}", *COMPILE[1:], "-fsyntax-only", ROOT / file],
                capture_output=True,
                text=True,
                check=False,
            )
        return done.returncode, done.stderr

    def refused(self, header, struck, file, error):
        code, said = self.compile(header, struck, file)
        self.assertNotEqual(code, 0)
        self.assertRegex(said, f"no matching .*function.*\\b{error}\\b")

    def test_nothing_is_missing(self):
        for header, file in ((TURN, KEEPER), (TASK, TASKS)):
            self.assertEqual(self.compile(header, "", file), (0, ""))

    def test_a_result(self):
        struck = "  void on_result(const Promotion&, const Promoted&);\n"
        self.refused(TURN, struck, KEEPER, "on_result")

    def test_a_failure(self):
        struck = "  void failed(const Demand&, const Failed&) { relax(); }\n"
        self.refused(TURN, struck, KEEPER, "failed")

    def test_an_event(self):
        struck = "  void on_event(const Died& death);\n"
        self.refused(TURN, struck, KEEPER, "on_event")

    def test_an_order(self):
        struck = "std::unique_ptr<OrderTask> make_task(const Look&, Core&, Tell);\n"
        self.refused(TASK, struck, TASKS, "make_task")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
