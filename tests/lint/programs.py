#!/usr/bin/env python3
"""`programs.py BUILD PROGRAM...`: each installed program is linked only with the libraries it
needs.

It reads the link lines of ninja. Exit code 1 names the superfluous libraries. So the daemon of
PostgreSQL has no lab, demo, bench or drawing, and `./dev demo` builds no lab.
"""

import re
import subprocess
import sys

NODE = {
    "muster_core", "muster_net", "muster_storage", "muster_base", "muster_bundles",
    "muster_certificates", "muster_command_line", "muster_config", "muster_hosting",
    "muster_programs",
}  # fmt: skip
LIBRARIES = {
    "muster": NODE | {"muster_cluster", "muster_demo", "muster_journals", "muster_shards"},
    "muster-postgres": NODE | {"muster_postgres", "muster_postgres_decide"},
}


def faults(program, link_line):
    """The errors of the program, a sentence each."""
    linked = set(re.findall(r"\blib(muster\w*)\.(?:a|so)", link_line))
    if not NODE <= linked:
        return [f"{program} is not linked with {min(NODE - linked)}: this is another link line"]
    return [f"{program} links {library}, which it does not need"
            for library in sorted(linked - LIBRARIES[program])]  # fmt: skip


def main(build, programs):
    found = []
    for program in programs:
        ninja = ["ninja", "-C", build, "-t", "commands", "-s", f"bin/{program}"]
        link_line = subprocess.run(ninja, capture_output=True, text=True, check=True).stdout
        found += faults(program, link_line)
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
