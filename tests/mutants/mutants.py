"""The mutants: the protocols, safe storage and the host, each broken in one place.

Each must be caught. If a flag of the command breaks it, the checker or the simulator finds it. If a
line of the code is changed, a test fails. `run.py` checks this.
"""

import flags
import host
import options
import protocol
import storage
import unknown_peers
import watching

MUTANTS = (
    flags.FLAGS
    + protocol.EDITS
    + options.EDITS
    + storage.EDITS
    + host.EDITS
    + unknown_peers.EDITS
    + watching.EDITS
)


def table():
    """All mutants as a Markdown table."""
    rows = ["| mutant | what is broken | forbidden by | flag or file | caught by |",
            "|---|---|---|---|---|"]  # fmt: skip
    rows += [
        f"| {m.name} | {m.broken} | {m.forbidden_by} | {m.how} | {m.caught_by} |" for m in MUTANTS
    ]
    return "\n".join(rows) + "\n"


def apply(mutant, text):
    """The text of the file with the edit in it."""
    count = text.count(mutant.old)
    if count != 1:
        raise ValueError(f"{mutant.name}: its old text is found {count} times in {mutant.file}")
    return text.replace(mutant.old, mutant.new)
