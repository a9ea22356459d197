#!/usr/bin/env python3
"""Runs the commands of a page, and checks the output that the page shows.

`blocks.py run MUSTER PAGE... [--stage NAME] [--patience SECONDS]`: each line of an `sh`, `bash` or
`console` block is a command. A block whose first line is `# not run here: WHY` is left out. The
commands of all pages run in one new directory. They must end with exit code 0, or with the code of
a comment `# exit code N` behind them. If the next block of the section is a `text` block, its lines
must be in their output, in this order; `...` stands for any text. In a `text example` block each
number stands for any number. A block with `file=NAME` behind its language is written to that file
before all commands.

A stage is a script of tests/product/stages that runs before the pages, in the same shell. A lesson
must have commands and show output, and the lines of its `cpp` blocks must follow one another in a
source file of core.

`blocks.py files PAGE DIRECTORY` writes the files of a page. `blocks.py header PAGE HEADER` writes
its other C++ blocks as one header.
"""

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
STAGES = Path(__file__).resolve().parent / "stages"
SCRIPTS = ROOT / "docs/tutorials/lessons/scripts"
SHELL = ("sh", "bash", "console")
FENCED = re.compile(r"^( *)```(\w*)(?: (?:file=(\S+)|(example)))?\n(.*?)^\1```$", re.M | re.S)
NOT_RUN = re.compile(r"# not run here: (\S.*)")
EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")
NUMBER = r"\d+(?:\.\d+)*"
# Processes that a page leaves behind are ended at the end of the page. The exit code of each
# command goes to a file of its own.
PROLOGUE = """trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
exec 9>codes
ended() { set -- $? "$1"; echo $1 >&9; (($1 == $2)) || exit; }
"""
# The ports that the pages use, and the directories of the units and of a backup.
PORT = re.compile(r"\b7([12])0(\d)\b")
PLACES = {"/var/lib/muster-postgres": "postgres", "/var/lib/muster": ".", "/backup": "backup"}
PLACE = re.compile(rf"(?<=[\s\"'=])({'|'.join(PLACES)})\b")
USER = re.compile(r" --user postgres\b|\brunuser -u postgres -- ")


class Block(NamedTuple):
    line: int  # of its fence
    section: int  # number of headings before it
    language: str
    file: str
    example: bool
    body: str

    @property
    def lines(self):
        return self.body.splitlines()

    @property
    def is_shell(self):
        return self.language in SHELL and not self.file

    @property
    def not_run(self):
        """The reason why no test runs it; None if one does."""
        reason = NOT_RUN.fullmatch(self.lines[0]) if self.lines else None
        return reason[1] if reason else None


def blocks(text):
    """Every fenced block."""
    section, end = 0, 0
    for found in FENCED.finditer(text):
        section += len(re.findall(r"^#+ ", text[end:found.start()], re.M))
        line, end = text.count("\n", 0, found.start()) + 1, found.end()
        body = re.sub(f"^{found[1]}", "", found[5], flags=re.M)
        yield Block(line, section, found[2], found[3], bool(found[4]), body)


def files(text):
    """name: content of every block that is a file."""
    return {block.file: block.body for block in blocks(text) if block.file}


def commands(lines):
    """(command, exit code) of a shell block. A line that ends in a backslash goes on."""
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            code = EXIT_CODE.search(line)
            yield EXIT_CODE.sub("", line), int(code[1]) if code else 0


@contextlib.contextmanager
def free_ports(count):
    """The first of so many free ports in a row. They are reserved as in apps/cluster/ports.hpp: by
    the name of a socket for each."""
    while True:
        first = random.randrange(10000, 32768 - count)
        with contextlib.ExitStack() as reserved:
            try:
                for port in range(first, first + count):
                    name = reserved.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
                    name.bind(f"\0muster-port-{port}")
                    with socket.socket() as trial:
                        trial.bind(("", port))
            except OSError:
                continue
            yield first
            return


def moved(text, directory, first):
    """The page with free ports, and with directories below this one. Only root can become another
    user."""
    text = PORT.sub(lambda port: str(first + 10 * (int(port[1]) - 1) + int(port[2])), text)
    text = PLACE.sub(lambda place: f"{directory / PLACES[place[1]]}", text)
    return text if os.geteuid() == 0 else USER.sub("", text)


def furnish(directory, muster, page, place):
    """Puts the programs, the files of the page and all stages into the directory."""
    directory.chmod(0o755)  # programs that a stage starts as another user must enter it
    (directory / "bin").mkdir()
    (directory / "bin/muster").symlink_to(Path(muster).resolve())
    (directory / "backup").mkdir()
    (directory / "backup").chmod(0o777)
    for file in SCRIPTS.iterdir():
        shutil.copy(file, directory)
    for name, content in files(page).items():
        (directory / name).write_text(content, encoding="utf-8")
    (directory / "stages").mkdir()
    for stage in STAGES.iterdir():
        (directory / "stages" / stage.name).write_text(place(stage.read_text(encoding="utf-8")))


def run(directory, scripts, patience):
    """The output of each block, and the exit codes of the commands up to the first wrong one."""
    text = PROLOGUE
    for number, block in enumerate(scripts):
        text += f"exec >{directory}/printed-{number} 2>&1\n"
        text += "".join(f"{command}\nended {code}\n" for command, code in block)
    own = {"PATH": f"{directory}/bin:{os.environ['PATH']}", "HOME": str(directory)}
    process = subprocess.Popen(["bash", "-c", text], cwd=directory, stdin=subprocess.DEVNULL,
                               env=os.environ | own, start_new_session=True)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    printed = [directory / f"printed-{number}" for number in range(len(scripts))]
    return ([file.read_text() if file.exists() else "" for file in printed],
            [int(code) for code in (directory / "codes").read_text().split()])


def missing(shown, printed):
    """The first line that is not in the output after the lines before it, or None."""
    rest = iter(printed.splitlines())
    for line in shown.lines:
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("..."))
        if shown.example:
            pattern = re.sub(NUMBER, lambda _: NUMBER, pattern.replace("\\.", "."))
        if not any(re.fullmatch(pattern, found.rstrip()) for found in rest):
            return line
    return None


def quoted(lines):
    """True if these lines follow one another in a source file of core."""

    def flat(lines):
        return "\n" + "\n".join(line.strip() for line in lines) + "\n"

    sources = (ROOT / "core").rglob("*.cpp")
    return any(flat(lines) in flat(path.read_text().splitlines()) for path in sources)


def lesson_faults(found):
    """What a lesson lacks."""
    shown = [(before, block) for before, block in zip([None, *found], found)
             if block.language == "text"]  # fmt: skip
    if not shown or not any(block.is_shell for block in found):
        yield "a lesson has a command, and shows its output"
    elif not all(before and before.is_shell for before, _ in shown):
        yield "a lesson shows output directly behind its command"
    for block in found:
        if block.language == "cpp" and not quoted(block.lines):
            yield f"not in core:\n{block.body}"


def fault_of_codes(scripts, printed, codes):
    """The command that ended with another code, or has not ended; None if all are right."""
    ended = iter(codes)
    for script, output in zip(scripts, printed):
        for command, code in script:
            found = next(ended, None)
            if found != code:
                how = "has not ended" if found is None else f"exit code {found}, not {code}"
                return f"{command}\n  {how}. The output:\n{output}"
    return None


def faults(page, muster, stage=None, patience=170):
    """The false statements of the page. The patience is in seconds."""
    # A server that a page has killed may go on writing for a moment.
    own = tempfile.TemporaryDirectory(prefix="muster-page-", ignore_cleanup_errors=True)
    with own as name, free_ports(20) as first:
        directory = Path(name)

        def place(text):
            return moved(text, directory, first)

        page = place(page)
        furnish(directory, muster, page, place)
        found = [block for block in blocks(page) if not block.file]
        taken = [block for block in found if block.is_shell and not block.not_run]
        before = [(f"set -e; . ./stages/{stage}.sh; set +e", 0)] if stage else []
        scripts = [before] + [list(commands(block.lines)) for block in taken]
        printed, codes = run(directory, scripts, patience)
    if fault := fault_of_codes(scripts, printed, codes):
        yield fault
        return
    output = dict(zip(taken, printed[1:]))
    for command, shown in zip(found, found[1:]):
        is_output = shown.language == "text" and shown.section == command.section
        if is_output and command in output:
            if (line := missing(shown, output[command])) is not None:
                yield f"not found, in this order: {line}\n  in the output:\n{output[command]}"


def run_pages(options):
    text = "\n".join(page.read_text(encoding="utf-8") for page in options.pages)
    found = list(faults(text, options.muster, options.stage, options.patience))
    if "lessons" in options.pages[0].parts:
        found += lesson_faults(list(blocks(text)))
    for fault in found:
        print(f"{' '.join(map(str, options.pages))}: {fault}")
    return 1 if found else 0


def write_files(options):
    options.directory.mkdir(parents=True, exist_ok=True)
    for name, content in files(options.page.read_text(encoding="utf-8")).items():
        (options.directory / name).write_text(content, encoding="utf-8")


def write_header(options):
    found = blocks(options.page.read_text(encoding="utf-8"))
    code = [block.body for block in found if block.language == "cpp" and not block.file]
    options.header.write_text("#pragma once\n\n" + "\n".join(code), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    subcommands = parser.add_subparsers(required=True)
    running = subcommands.add_parser("run")
    running.add_argument("muster", type=Path)
    running.add_argument("pages", type=Path, nargs="+")
    running.add_argument("--stage")
    running.add_argument("--patience", type=int, default=170)  # with sanitizers, on a busy machine
    running.set_defaults(do=run_pages)
    for name, argument, do in (("files", "directory", write_files),
                               ("header", "header", write_header)):
        writing = subcommands.add_parser(name)
        writing.add_argument("page", type=Path)
        writing.add_argument(argument, type=Path)
        writing.set_defaults(do=do)
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())
