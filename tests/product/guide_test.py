#!/usr/bin/env python3
"""The files and commands of docs/guide-build.md: `guide_test.py MUSTER`, the library installed."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/lessons"))

import run  # noqa: E402
from application_test import free_ports  # noqa: E402

if __name__ == "__main__":
    os.environ["PORT"] = str(free_ports())
    run.PATIENCE = 800  # seconds: it compiles, perhaps with sanitizers on a busy machine
    sys.exit(run.main(sys.argv[1], ROOT / "docs/guide-build.md"))
