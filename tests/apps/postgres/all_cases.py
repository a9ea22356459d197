#!/usr/bin/env python3
"""Runs all cases in which owners change settings, files, locks or rows of real nodes.

./dev bench postgres_cases [SCRIPT...]

Prints one row for each case, with its duration. The first case of a script includes the start of
its cluster. The exit code is 1 if a case fails.
"""

import importlib
import sys
import time
import unittest

import cases  # takes the path of muster from the command line
from skipping import code_of

SCRIPTS = ("frozen", "log_gone", "lost_data", "own_sessions", "owners_files", "refused",
           "restored_dump")


class Row(unittest.TextTestResult):
    began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        verdict = next((verdict for verdict, tests in (
            ("FAILED", self.failures + self.errors), ("skipped", self.skipped))
            if any(test is each for each, _ in tests)), "holds")
        seconds = time.monotonic() - self.began
        Row.began = time.monotonic()
        name = test.id().replace(".", " ").replace("_", " ")
        print(f"| {name} | {seconds:.1f} s | {verdict} |", flush=True)


def main():
    names = sys.argv[1:] or SCRIPTS
    if unknown := sorted(set(names) - set(SCRIPTS)):
        sys.exit(f"there is no script {', '.join(unknown)}; the scripts are {', '.join(SCRIPTS)}")
    print(f"{cases.MUSTER}\n\n| case | duration | |\n|---|---|---|", flush=True)
    suite = unittest.TestSuite(
        unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name))
        for name in names)
    sys.exit(code_of(unittest.TextTestRunner(resultclass=Row, verbosity=0).run(suite)))


if __name__ == "__main__":
    main()
