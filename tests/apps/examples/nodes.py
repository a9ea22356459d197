"""Three processes of an example, and their output."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "product"))
import application_test  # noqa: E402

NODES = application_test.NODES


class Nodes(application_test.Cluster):
    """Each line is (node, text). Lines of killed processes are included."""

    says_all = True

    def __init__(self, program, directory):
        super().__init__(program, directory)
        self.spoke = set()

    def next_line(self):
        node, process, line = self.lines.get()
        self.spoke.add(process)
        if line == "ended" and self.processes.get(node) is process:
            sys.exit(f"node {node} has ended by itself, exit code {process.wait()}")
        if line != "ended" and self.says_all:
            print(f"node {node}: {line}", flush=True)
        return node, line

    def kill(self, node):
        process = self.processes.pop(node)
        process.kill()
        process.wait()

    def leave(self):
        """All nodes leave in order, except those that were just started and do not react yet."""
        processes, self.processes = self.processes, {}
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        codes = {node: process.wait() for node, process in processes.items()}
        new = {node for node, process in processes.items() if process not in self.spoke}
        wrong = {
            node: code for node, code in codes.items()
            if code != 0 and not (node in new and code == -signal.SIGTERM)
        }  # fmt: skip
        if wrong:
            sys.exit(f"exit codes {wrong}")

    def end(self):
        for process in self.processes.values():
            process.kill()
