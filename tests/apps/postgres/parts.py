"""Results of the parts of a run, one line of JSON for each, and their sum."""

import collections
import json
import statistics
from pathlib import Path

COUNTS = ("acknowledged", "lost", "late", "groups", "rewinds", "clones")


class Parts:
    """The results of this process, after those in the file, if one is given."""

    def __init__(self, file):
        self.file, self.lines = file, []
        if file and Path(file).exists():
            text = Path(file).read_text(encoding="utf-8")
            self.lines = list(map(json.loads, text.splitlines()))

    def add(self, line):
        self.lines.append(json.loads(json.dumps(line)))
        if self.file:
            with open(self.file, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def sum(self, what):
        return sum(line.get(what, 0) for line in self.lines)

    def wrong(self):
        return [line for line in self.lines if line["wrong"]]

    def summary(self):
        counts = {what: self.sum(what) for what in COUNTS}
        ended = collections.Counter()
        for line in self.lines:
            ended.update(line["ended"])
        yield ("{} faults in {} parts: {acknowledged:,} acknowledged commits, {lost} lost, {late} "
               "acknowledged by an older primary; {groups} groups wrote, {rewinds} rewinds, "
               "{clones} clones; nodes that ended themselves, by exit code: {}".format(
                   self.sum("faults"), len(self.lines), dict(ended), **counts))
        yield from self.table()
        for line in self.wrong():
            yield f"WRONG, seed {line['seed']}: {line['wrong']}"

    def table(self):
        gaps = collections.defaultdict(list)
        for line in self.lines:
            for name, until_next, pause in line["gaps"]:
                gaps[name].append((until_next, pause))
        yield (f"{'ms until the next commit, and the longest pause':48}{'times':>6}"
               f"{'median':>9}{'longest':>9}{'median':>9}{'longest':>9}")
        for name, each in sorted(gaps.items()):
            yield f"{name:48}{len(each):6}" + "".join(
                f"{statistics.median(times):9.0f}{max(times):9.0f}" for times in zip(*each))
