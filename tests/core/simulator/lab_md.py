#!/usr/bin/env python3
"""The C++ of a document as one header: `lab_md.py DOCUMENT HEADER`."""

import re
import sys
from pathlib import Path

text = Path(sys.argv[1]).read_text(encoding="utf-8")
blocks = re.findall(r"^```cpp\n(.*?)^```$", text, re.M | re.S)
Path(sys.argv[2]).write_text("#pragma once\n\n" + "\n".join(blocks), encoding="utf-8")
