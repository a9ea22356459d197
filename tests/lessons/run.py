#!/usr/bin/env python3
"""Runs the commands of a lesson and looks for what the lesson shows.

run.py MUSTER LESSON.md: each line of an `sh` block is a command, run in a new directory that holds
the lessons' scripts. It ends with exit code 0, or with that of a comment `# exit code N` behind it.
Each line of a `text` block stands, in this order, in what the `sh` block before it printed; `...`
in it is anything. The lines of a `cpp` block stand one after another in a source of core; a block
with `file=NAME` behind its language is written to that file before all commands.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 170  # seconds, for sanitizers on a busy machine
EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")
# Nodes that a lesson leaves behind end with it; a command's end is told beside what it prints.
PROLOGUE = "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\nexec 9>codes\n"


FENCED = re.compile(r"^```(\w*)(?: file=(\S+))?\n(.*?)^```$", re.M | re.S)


def blocks(text):
    """(language, lines) of every fenced block that is no file."""
    for language, name, body in FENCED.findall(text):
        if not name:
            yield language, body.splitlines()


def files(text):
    """name: content of every fenced block that is a file."""
    return {name: body for _, name, body in FENCED.findall(text) if name}


def commands(lines):
    """(command, exit code) of an `sh` block; a line that ends in a backslash goes on."""
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            code = EXIT_CODE.search(line)
            yield EXIT_CODE.sub("", line), int(code[1]) if code else 0


def run(scripts, muster, written):
    """What each block printed, and the exit codes of all its commands."""
    with tempfile.TemporaryDirectory(prefix="muster-lesson-") as name:
        directory = Path(name)
        (directory / "bin").mkdir()
        (directory / "bin" / "muster").symlink_to(Path(muster).resolve())
        for file in (ROOT / "docs/lessons/scripts").iterdir():
            shutil.copy(file, directory)
        for name, content in written.items():
            (directory / name).write_text(content, encoding="utf-8")
        text = PROLOGUE
        for number, block in enumerate(scripts):
            text += f"exec >printed-{number} 2>&1\n"
            text += "".join(f"{command}\necho $? >&9\n" for command, _ in block)
        path = f"{directory}/bin:{os.environ['PATH']}"
        process = subprocess.Popen(["bash", "-c", text], cwd=directory, stdin=subprocess.DEVNULL,
                                   env=os.environ | {"PATH": path}, start_new_session=True)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        printed = [directory / f"printed-{number}" for number in range(len(scripts))]
        return ([file.read_text() if file.exists() else "" for file in printed],
                [int(code) for code in (directory / "codes").read_text().split()])


def missing(lines, printed):
    """The first line that is not printed behind those before it, or None."""
    rest = iter(printed.splitlines())
    for line in lines:
        pattern = ".*".join(re.escape(part) for part in line.rstrip().split("..."))
        if not any(re.fullmatch(pattern, found.rstrip()) for found in rest):
            return line
    return None


def quoted(lines):
    """Whether these lines stand one after another in a source of core."""

    def flat(lines):
        return "\n" + "\n".join(line.strip() for line in lines) + "\n"

    sources = (ROOT / "core").rglob("*.cpp")
    return any(flat(lines) in flat(path.read_text().splitlines()) for path in sources)


def faults(lesson, muster):
    """What the lesson says and is not so."""
    found = list(blocks(lesson))
    scripts = [list(commands(lines)) for language, lines in found if language == "sh"]
    shown = [lines for language, lines in found if language == "text"]
    if not scripts or not shown:
        yield "a lesson has a command, and shows what one sees"
        return
    printed, codes = run(scripts, muster, files(lesson))
    expected = [each for block in scripts for each in block]
    for number, (command, code) in enumerate(expected):
        if number >= len(codes):
            yield f"{command}\n  has not ended"
            break
        if codes[number] != code:
            yield f"{command}\n  ends with exit code {codes[number]}, not {code}"
    before = -1
    for language, lines in found:
        if language == "sh":
            before += 1
        elif language == "text" and before < 0:
            yield "something is shown before any command"
        elif language == "text" and (line := missing(lines, printed[before])) is not None:
            yield f"not found, in this order: {line}\n  in what was printed:\n{printed[before]}"
        elif language == "cpp" and not quoted(lines):
            yield "not in core:\n" + "\n".join(lines)


def main(muster, lesson):
    found = list(faults(Path(lesson).read_text(encoding="utf-8"), muster))
    for fault in found:
        print(f"{lesson}: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
