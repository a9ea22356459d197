#!/usr/bin/env python3
"""The wheel of apps/python is built, installed and used: `wheel_test.py MUSTER`.

This needs no network, as its README says, and uses nothing else of this tree. Then the tests of
tests/apps/python run with it: each kind of program at a real node, and every message of a node.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import readme

SOURCE = readme.ROOT / "apps/python"
TESTS = readme.ROOT / "tests/apps/python"
muster = None


class Wheel(unittest.TestCase):
    def run_in(self, directory, *words):
        """Runs so that Python finds only what is installed: neither this tree nor the user's
        packages."""
        ran = subprocess.run([str(word) for word in words], cwd=directory, capture_output=True,
                             text=True, check=False,
                             env={"PATH": f"/usr/bin:{os.environ['PATH']}", "PIP_NO_INDEX": "1",
                                  "HOME": str(directory)})  # fmt: skip
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def test_it_is_one_pure_file_that_is_all_that_a_program_needs(self):
        [text] = re.findall(r"^```sh\n(.*?)^```$", (SOURCE / "README.md").read_text("utf-8"),
                            re.M | re.S)  # fmt: skip
        with tempfile.TemporaryDirectory() as own:
            copy = Path(own, "apps/python")
            shutil.copytree(SOURCE, copy)
            self.run_in(own, "bash", "-euc", text)
            shutil.rmtree(copy)
            [wheel] = Path(own, "wheels").iterdir()
            version = self.run_in(own, muster, "--version").split()[1]
            self.assertEqual(wheel.name, f"muster-{version}-py3-none-any.whl")
            files = zipfile.ZipFile(wheel).namelist()
            self.assertEqual([each for each in files if ".dist-info/" not in each], ["muster.py"])
            python = Path(own, "venv/bin/python")
            found = self.run_in(own, python, "-c", "import muster; print(muster.__file__)")
            self.assertTrue(found.startswith(f"{own}/venv/lib/"), found)
            self.run_in(own, python, "-B", TESTS / "node_test.py", muster)
            self.run_in(own, python, "-B", TESTS / "module_test.py")


if __name__ == "__main__":
    muster = Path(sys.argv.pop(1)).resolve()
    unittest.main()
