"""The two kinds of mutant: a flag of the command, and an edit of the code."""

import shlex
from dataclasses import dataclass


@dataclass(frozen=True)
class Flag:
    """A protocol or a world that a flag breaks. The command must find it, with exit code 1."""

    name: str
    broken: str  # the error
    forbidden_by: str  # the promise, assumption or section that it violates
    world: str  # the command and its fixed flags
    mutant: str  # the flags that turn the command into the mutant
    verdict: str  # text that the command must print when it finds the violation
    sound: str = ""  # flags that replace those of the mutant; the command must then find nothing
    sound_code: int = 0  # exit code without the mutant: 9 if its world does not claim the assertion

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
    """A changed line of the code. A test must fail."""

    name: str
    broken: str
    forbidden_by: str
    file: str
    old: str  # occurs exactly once in the file
    new: str
    # Each test has at most one filter: "net_node promises/p1*", "tests/lint/lint_test.py
    # Rules.test".
    tests: tuple

    @property
    def how(self):
        return f"`{self.file}`"

    @property
    def caught_by(self):
        return ", ".join(f"`{test}`" for test in self.tests)


def program(test):
    """The program of the build, or the script to which the command is given."""
    return test.split()[0]


def is_script(test):
    return program(test).endswith(".py")


def target_of(test):
    """The target that must be built to run it."""
    return "muster" if is_script(test) else program(test)


def filter_of(test):
    """The suite or case of Boost.Test or unittest; empty if the whole program runs."""
    return test.partition(" ")[2]
