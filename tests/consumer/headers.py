#!/usr/bin/env python3
"""The headers of an installed tree: `headers.py COMPILER PREFIX BOOST`.

docs/reference/headers.md lists them. Each public header compiles alone, and a header at an old path
names the new one.
"""

import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/reference/headers.md"
ROW = re.compile(r"\| `(muster/[a-z_/]+\.h(?:pp)?)` \| (.*) \|")
ROWS = [row.groups() for row in map(ROW.fullmatch, PAGE.read_text().splitlines()) if row]
NEW_PATH = re.compile(r"`(muster/[^`]+)`|(not installed)")
OLD = {path: NEW_PATH.fullmatch(what)[1] for path, what in ROWS if NEW_PATH.fullmatch(what)}
PUBLIC = {path for path, _ in ROWS} - OLD.keys()
ALL = "muster/muster.hpp"


def compile_alone(header):
    """The compiler's result for a file that includes only this header."""
    language = "c" if header.endswith(".h") else "c++"
    standard = [] if language == "c" else ["-std=c++20"]
    program = f"#include <{header}>\n"
    return subprocess.run(
        [*compiler, "-x", language, *standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
         "-fsyntax-only", "-I", prefix / "include", *boost, "-"],
        input=program, capture_output=True, text=True, check=False)  # fmt: skip


def compile_each(headers):
    """Pairs of a header and the compiler's result, in order."""
    headers = sorted(headers)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(zip(headers, threads.map(compile_alone, headers), strict=True))


class Headers(unittest.TestCase):
    """The headers under `include`."""

    def test_the_page_lists_what_is_installed(self):
        include = prefix / "include"
        installed = {str(file.relative_to(include)) for file in include.rglob("*.h*")}
        detail = {file for file in installed if file.startswith("muster/detail/")}
        self.assertTrue(detail)
        self.assertEqual(installed - detail, PUBLIC | OLD.keys() | {ALL})

    def test_one_header_includes_the_public_ones(self):
        text = (prefix / "include" / ALL).read_text()
        included = re.findall(r"#include <(.*)>", text)
        self.assertEqual(included, sorted(PUBLIC - {"muster/muster.h"}))

    def test_each_public_header_compiles_alone(self):
        self.assertGreater(len(PUBLIC), 20)
        for header, result in compile_each(PUBLIC | {ALL}):
            self.assertEqual(result.returncode, 0, f"{header}: {result.stderr}")

    def test_a_path_of_before_names_the_new_one(self):
        self.assertGreater(len(OLD), 40)
        for header, result in compile_each(OLD):
            now = OLD[header]
            self.assertNotEqual(result.returncode, 0, header)
            self.assertIn(f"include <{now}>" if now else "internal", result.stderr)
            self.assertIn("docs/reference/headers.md", result.stderr)
            self.assertTrue(now is None or (prefix / "include" / now).is_file(), header)


if __name__ == "__main__":
    compiler, prefix = sys.argv[1].split(), Path(sys.argv[2])
    # /usr/include must not be given again as a system directory: the compiler would then search it
    # before its own headers.
    boost = [] if sys.argv[3] == "/usr/include" else ["-isystem", sys.argv[3]]
    unittest.main(argv=sys.argv[:1], verbosity=2)
