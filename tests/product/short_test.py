#!/usr/bin/env python3
"""`./dev bench --short` on stand-ins for benches: it notices whether a row is there."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))
import short  # noqa: E402

BENCH = """#!/bin/sh
case $1 in
  sound) echo "kv: 7 kills" ;;
  empty) echo "skipped: nothing was found" ;;
  failing) echo "kv: 7 kills"; exit 3 ;;
  waiting) echo "kv: 7 kills"; tail -f /dev/null ;;
esac
"""
ROW = r"kv: [1-9]\d* kills"


class ShortBenches(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        short.ROOT = Path(directory.name)
        short.BUILT = "built"
        bench = short.ROOT / "built/bin/muster-bench"
        bench.parent.mkdir(parents=True)
        bench.write_text(BENCH, encoding="utf-8")
        bench.chmod(0o755)
        names = ("sound", "empty", "failing", "waiting")
        short.BENCHES = {name: [short.Short(name, ROW)] for name in names}
        short.PATIENCE = 60

    def ran(self, *names):
        """The output and the exit code; None means success."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                short.main(names)
            except SystemExit as end:
                return output.getvalue(), end.code
        return output.getvalue(), None

    def test_a_bench_that_makes_its_row_is_told_with_its_seconds(self):
        printed, end = self.ran("sound")
        self.assertIsNone(end)
        self.assertRegex(printed, r"(?m)^ +\d+\.\d s  \./dev bench sound$")

    def test_a_bench_that_ends_well_without_its_row_has_failed(self):
        printed, end = self.ran("empty", "sound")
        self.assertEqual(end, "bench --short: FAILED: ./dev bench empty\n")
        self.assertIn("skipped: nothing was found", printed)
        self.assertIn("./dev bench sound", printed)

    def test_a_bench_that_ends_with_an_error_has_failed_though_its_row_is_there(self):
        printed, end = self.ran("failing")
        self.assertEqual(end, "bench --short: FAILED: ./dev bench failing\n")
        self.assertIn("ended with exit code 3", printed)

    def test_a_bench_that_waits_in_vain_is_ended_and_has_failed(self):
        short.PATIENCE = 1
        printed, end = self.ran("waiting")
        self.assertEqual(end, "bench --short: FAILED: ./dev bench waiting\n")
        self.assertIn("was not over after 1 s", printed)

    def test_a_name_that_is_none_is_refused(self):
        _, end = self.ran("sounds")
        self.assertIn("there is no bench sounds", end)


if __name__ == "__main__":
    unittest.main()
