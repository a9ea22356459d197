#!/usr/bin/env python3
"""`daemon.py BUILD`: the PostgreSQL daemon is linked with no lab, demo, bench or drawing.

It reads what ninja links into muster-postgres. Exit code 1 names the libraries that are too many.
"""

import re
import subprocess
import sys

DAEMON = "bin/muster-postgres"
LIBRARIES = {
    "muster_core", "muster_net", "muster_storage", "muster_base", "muster_bundles",
    "muster_certificates", "muster_config", "muster_hosting", "muster_programs", "muster_postgres",
    "muster_postgres_decide",
}  # fmt: skip


def faults(link_line):
    """What is wrong with it, a sentence each."""
    linked = set(re.findall(r"\blib(muster\w*)\.(?:a|so)", link_line))
    if "muster_postgres" not in linked:
        return [f"{DAEMON} is not linked with muster_postgres: this looks at another link line"]
    return [f"{DAEMON} links {library}, which a daemon does not need"
            for library in sorted(linked - LIBRARIES)]  # fmt: skip


def main(build):
    ninja = ["ninja", "-C", build, "-t", "commands", "-s", DAEMON]
    link_line = subprocess.run(ninja, capture_output=True, text=True, check=True).stdout
    found = faults(link_line)
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
