#!/usr/bin/env python3
"""A program that embeds a node receives SIGTERM: `signals_test.py PROGRAM`.

Without the signal the program would go on for ever, and CTest's limit would end the test.
"""

import signal
import subprocess
import sys

from application_test import free_ports


def main(program):
    node = subprocess.Popen([program, str(free_ports() + 1)], stdout=subprocess.PIPE, text=True)
    try:
        said = node.stdout.readline()
        if said != "at work\n":
            return f"the node was not to say '{said}'"
        node.send_signal(signal.SIGTERM)
        return 0 if node.wait() == 0 else f"exit code {node.returncode}"
    finally:
        node.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
