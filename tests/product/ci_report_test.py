#!/usr/bin/env python3
"""The report of .ci/run: the skipped tests, and the parts that took longer than their budget."""

import contextlib
import io
import re
import sys
import tempfile
import unittest
from pathlib import Path

import readme

sys.path.insert(0, str(readme.ROOT / ".ci"))
import report  # noqa: E402

RESULTS = """<?xml version="1.0"?><testsuite>
<testcase name="postgres/nodes" time="30"/><testcase name="core" time="1.5"/>
<testcase name="page" time="0"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
</testsuite>"""


class Report(unittest.TestCase):
    """A run with three tests and one part."""

    def reported(self, budgets, skipped="page"):
        """The exit code, and the output."""
        with tempfile.TemporaryDirectory() as name:
            here = Path(name)
            (here / "dev.xml").write_text(RESULTS, encoding="utf-8")
            (here / "parts").write_text("build 100\n", encoding="utf-8")
            (here / "budgets").write_text(f"# those\n{budgets}\n", encoding="utf-8")
            (here / "skipped").write_text(f"# those\n{skipped}\n", encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                code = report.report(here, here)
            return code, output.getvalue()

    def test_the_slowest_tests_come_first(self):
        code, printed = self.reported("build 100")
        self.assertEqual(code, 0)
        self.assertRegex(printed, r"30\.0 s  postgres/nodes\n +1\.5 s  core\n")

    def test_a_part_a_quarter_over_its_budget_is_named(self):
        code, printed = self.reported("build 79\npostgres 15 ^postgres/ 2")
        self.assertEqual(code, 0)
        self.assertIn("OVER BUDGET by a quarter or more: build (100 s of 79)\n", printed)
        self.assertRegex(printed, r"15 of +15 s  postgres")
        self.assertNotIn("OVER", self.reported("build 80")[1])

    def test_a_test_that_is_skipped_and_not_listed_is_a_failure(self):
        self.assertEqual(self.reported("build 100", skipped="")[0], 1)
        self.assertEqual(self.reported("build 100", skipped="page\ncore")[0], 1)
        self.assertIn("skipped tests: page\n", self.reported("build 100")[1])

    def test_a_budget_for_no_test_is_a_failure(self):
        code, printed = self.reported("build 100\nmoon 9 ^moon/ 1")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: no test matches ^moon/ of moon\n", printed)

    def test_a_part_that_was_not_run_is_a_failure(self):
        code, printed = self.reported("build 100\ntidy 9")
        self.assertEqual(code, 1)
        self.assertIn("FAILED: the part tidy was not run\n", printed)

    def test_each_part_has_a_budget(self):
        run = (readme.ROOT / ".ci/run").read_text(encoding="utf-8")
        dev = (readme.ROOT / "dev").read_text(encoding="utf-8")
        parts = re.findall(r"\.ci/timed (\w+)", run) + re.search(r"parts=\((.*)\)", dev)[1].split()
        budgets = [words[0] for words in report.rows(report.CI / "budgets") if len(words) == 2]
        self.assertEqual(sorted(budgets), sorted(parts))


if __name__ == "__main__":
    unittest.main()
