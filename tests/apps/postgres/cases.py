"""What scripts of test cases have in common, whose first word is the command."""

import os
import sys

from machines import PROGRAMS
from skipping import SKIPPED

if not (PROGRAMS / "postgres").exists():
    print("skipped: PostgreSQL 15 not found", file=sys.stderr)
    sys.exit(SKIPPED)
MUSTER = os.path.abspath(sys.argv.pop(1))
