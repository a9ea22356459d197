#!/usr/bin/env python3
"""The last report of .ci/run: slow tests, skipped tests, and each part's seconds and budget.

Ends with 1 if other tests were skipped than .ci/skipped lists, or if a budget is for no test or no
part. A part that is a quarter over its budget (.ci/budgets) is named in the last lines.
"""

import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

CI = Path(__file__).resolve().parent


def rows(file):
    """The words of each line, without comments."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line.strip() and not line.startswith("#")]


def tests(directory):
    """(name, seconds, whether it was skipped) of each test in the reports of ctest."""
    for report in sorted(directory.glob("*.xml")):
        for case in xml.parse(report).getroot().iter("testcase"):
            skipped = case.find("skipped") is not None
            yield case.get("name"), float(case.get("time", 0)), skipped


def report(ci, directory):
    """Prints the report and returns the exit code."""
    cases = list(tests(directory))
    print("the slowest tests:")
    for name, seconds, _ in sorted(cases, key=lambda case: -case[1])[:10]:
        print(f"  {seconds:6.1f} s  {name}")
    took = {part: float(seconds) for part, seconds in rows(directory / "parts")}
    over, wrong = [], []
    print("seconds of each part, and its budget:")
    for part, budget, *tests_of_part in rows(ci / "budgets"):
        if tests_of_part:
            names, at_once = tests_of_part
            seen = [s for name, s, _ in cases if re.search(names, name)]
            seconds = sum(seen) / int(at_once)
            if not seen:
                wrong.append(f"no test matches {names} of {part}")
        else:
            seconds = took.get(part, 0.0)
            if part not in took:
                wrong.append(f"the part {part} was not run")
        print(f"  {seconds:6.0f} of {budget:>4} s  {part}")
        if seconds > 1.25 * float(budget):
            over.append(f"{part} ({seconds:.0f} s of {budget})")
    skipped = {name for name, _, was_skipped in cases if was_skipped}
    known = {words[0] for words in rows(ci / "skipped")}
    print(f"skipped tests: {' '.join(sorted(skipped)) or 'none'}")
    if over:
        print(f"OVER BUDGET by a quarter or more: {', '.join(over)}")
    if skipped != known:
        wrong.append(f".ci/skipped lists other tests: {' '.join(sorted(known)) or 'none'}")
    for each in wrong:
        print(f"FAILED: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(report(CI, CI.parent / "build/tests"))
