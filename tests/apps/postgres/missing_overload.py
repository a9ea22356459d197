#!/usr/bin/env python3
"""A wait, happening or order without a function does not compile.

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
TURN, ERRAND = "apps/postgres/decide/keeper_turn.hpp", "apps/postgres/perform/errand.hpp"
KEEPER, ERRANDS = "apps/postgres/decide/keeper.cpp", "apps/postgres/perform/errand.cpp"


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
        for header, file in ((TURN, KEEPER), (ERRAND, ERRANDS)):
            self.assertEqual(self.compile(header, "", file), (0, ""))

    def test_the_end_of_a_wait(self):
        struck = "  void ended(const Promotion&, const Promoted&);\n"
        self.refused(TURN, struck, KEEPER, "ended")

    def test_a_wait_in_vain(self):
        struck = "  void failed(const Demand&, const Failed&) { relax(); }\n"
        self.refused(TURN, struck, KEEPER, "failed")

    def test_what_comes_by_itself(self):
        struck = "  void came(const Died& death);\n"
        self.refused(TURN, struck, KEEPER, "came")

    def test_an_order(self):
        struck = "std::unique_ptr<Errand> make_errand(const Look&, Core&, Tell);\n"
        self.refused(ERRAND, struck, ERRANDS, "make_errand")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
