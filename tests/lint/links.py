#!/usr/bin/env python3
"""`links.py BUILD`: the PostgreSQL daemon is linked with no lab, demo, bench or drawing.

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


def main(build):
    commands = subprocess.run(
        ["ninja", "-C", build, "-t", "commands", "-s", DAEMON],
        capture_output=True, text=True, check=True).stdout  # fmt: skip
    linked = set(re.findall(r"\blib(muster\w*)\.(?:a|so)", commands))
    if "muster_postgres" not in linked:
        print(f"{DAEMON} is not linked with muster_postgres: this looks at another link line")
        return 1
    for library in sorted(linked - LIBRARIES):
        print(f"{DAEMON} links {library}, which a daemon does not need")
    return 1 if linked - LIBRARIES else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
