"""The two kinds of mutant: a flag of the command, and an edit of the code."""

import shlex
from dataclasses import dataclass


@dataclass(frozen=True)
class Flag:
    """A protocol or world that is broken by flags; the command has to find it, with exit code 1."""

    name: str
    broken: str  # what is wrong
    forbidden_by: str  # the promise, assumption or section that it breaks
    world: str  # the command and what stays
    mutant: str  # the flags that break it
    verdict: str  # what the command has to say then
    sound: str = ""  # the flags in their place, with which nothing is to be found
    sound_code: int = 0  # 9 where something asked for is not claimed in such a world

    def command(self, broken):
        return shlex.split(f"{self.world} {self.mutant if broken else self.sound}")

    @property
    def how(self):
        return f"`muster {self.world} {self.mutant}`"

    @property
    def caught_by(self):
        return f"`{self.verdict}`"


@dataclass(frozen=True)
class Edit:
    """A line of the code that is changed; a test has to fail."""

    name: str
    broken: str
    forbidden_by: str
    file: str
    old: str  # exactly once in the file
    new: str
    tests: tuple  # each with at most one filter: "net_node promises/p1*", "tests/t.py Class.test"

    @property
    def how(self):
        return f"`{self.file}`"

    @property
    def caught_by(self):
        return ", ".join(f"`{test}`" for test in self.tests)


def program(test):
    """What is built of the tree, or a script that the command is given to."""
    return test.split()[0]


def is_script(test):
    return program(test).endswith(".py")


def target_of(test):
    """What has to be built to run it."""
    return "muster" if is_script(test) else program(test)


def filter_of(test):
    """The suite or case of Boost.Test or unittest, or nothing where all of the program is run."""
    return test.partition(" ")[2]
