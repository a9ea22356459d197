"""Shared by scripts of test cases. The first word of their command line is the path of muster."""

import os
import sys

from machines import PROGRAMS
from skipping import SKIPPED

if not (PROGRAMS / "postgres").exists():
    print("skipped: PostgreSQL 15 not found", file=sys.stderr)
    sys.exit(SKIPPED)
MUSTER = os.path.abspath(sys.argv.pop(1))
