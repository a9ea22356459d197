#!/usr/bin/env python3
"""Counts what a program can count of plain English: `prose.py [ROOT] [--list N]`.

It prints one line for each kind of text: documents, comments of C++, comments of scripts, and
messages (string literals of more than three words). `--list N` prints N offenders of each kind too.
The exit code is 1 if a goal is missed. For a reader, `--every KIND` prints all sentences of a kind,
and `--sample N --seed S` prints N of each kind, drawn by the seed.
"""

import argparse
import bisect
import functools
import random
import re
import sys
from pathlib import Path
from typing import NamedTuple

from tree import Tree

# A question may begin with these words. Other sentences begin with their subject.
FUSED = re.compile(
    r"^(\W|\*)*(?!That (is|was|means|makes|would|will|can|may)\b)"
    r"(Who|Whoever|Whom|What|Where|That|Of|By what|By whom|To whom|In what|With what|Whose"
    r"|From what)\b"
)
INNER = re.compile(r"\b(who|whoever|whom|whose|what)\b", re.I)
LONG = 35
SHORTEST = 26  # characters; shorter texts are titles and names

SCRIPTS = re.compile(r"\.(py|sh|cmake)$|CMakeLists\.txt$|^dev$|^\.ci/run$")
CPP_FILES = re.compile(r"(core|net|storage|apps|tests)/.*\.(cpp|hpp|h)$")
CPP_COMMENT = r"///?<?"
SCRIPT_COMMENT = r"#+"
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')
JOINT = "\x01"  # stands for the end of a line between two literals that are one text
NO_SENTENCE = re.compile(r"SELECT|INSERT|CREATE|PRAGMA|[{}<>=;]{2}")


class Sentence(NamedTuple):
    path: Path
    line: int
    text: str


class Counts(NamedTuple):
    """Words a sentence; the shares, in percent, of sentences that are long and that have a fused
    beginning; and how often who, whom, whose and what are used, in 1,000 words."""

    words: float
    long: float
    fused: float
    inner: float


# The largest allowed value of each count, for each kind of text.
GOALS = {
    "docs": {"words": 16, "long": 3, "fused": 1},
    "comments": {"fused": 1, "inner": 3},
    "scripts": {"fused": 1, "inner": 3},
    "messages": {"fused": 1},
}


class Paragraph:
    """Lines that are read as one text."""

    def __init__(self):
        self.text = ""
        self._starts = []
        self._numbers = []

    def add(self, number, line, gap=" "):
        self.text += gap
        self._starts.append(len(self.text))
        self._numbers.append(number)
        self.text += line

    def split(self, end):
        """(line, sentence) of each sentence, where `end` finds the gap after a sentence."""
        begin = 0
        for match in [*re.finditer(end, self.text), None]:
            last = match.start() if match else len(self.text)
            sentence = self.text[begin:last]
            at = begin + len(sentence) - len(sentence.lstrip())
            yield self._numbers[max(bisect.bisect_right(self._starts, at) - 1, 0)], sentence
            begin = match.end() if match else last


def without_fences(text):
    """The text of a page without its code blocks. The numbers of its lines stay."""
    return re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S)


def paragraphs(text):
    """The paragraphs and the items of a page, without headings, tables and code blocks."""
    now = Paragraph()
    for number, line in enumerate(without_fences(text).split("\n"), 1):
        is_apart = line.startswith(("#", "|")) or not line.strip()
        if is_apart or (re.match(r"\s*([-*]|\d+\.)\s", line) and now.text):
            if now.text:
                yield now
            now = Paragraph()
        if not is_apart:
            now.add(number, line.strip())
    if now.text:
        yield now


def of_document(text):
    for paragraph in paragraphs(text):
        for number, sentence in paragraph.split(r"(?<=[.!?:])\s+(?=[A-Z*`\[])"):
            if len(sentence := sentence.strip(" -*")) >= SHORTEST:
                yield number, sentence


def comment_texts(text, mark):
    """Whole-line comments that follow one another are one text. A trailing comment begins a text.
    """
    now = Paragraph()
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if whole := re.match(r"\s*" + mark + r"\s?(?![-!])(.*)", line):
            now.add(number, whole[1])
            continue
        yield now
        now = Paragraph()
        bare = LITERAL.sub("S", line)
        if trailing := re.match(r'[^"]*?\S\s+' + mark + r"\s(.*)", bare):
            now.add(number, trailing[1], gap="")


def of_comments(text, mark):
    for comment in comment_texts(text, mark):
        if len(comment.text) > 30:
            for number, sentence in comment.split(r"(?<=[.!?])\s+(?=[A-Z`])"):
                if len(sentence := sentence.strip()) >= SHORTEST:
                    yield number, sentence


def literals(text):
    """(line, text) of each literal of C++. Literals that follow one another are one text."""

    def lines_only(match):
        return "\n" * match[0].count("\n")

    text = re.sub(r"^\s*//.*$|^\s*#\s*include.*$", lines_only, text, flags=re.M)
    text = re.sub(r'"\s*\n\s*"', lambda gap: JOINT * gap[0].count("\n"), text)
    line, last = 1, 0
    for match in re.finditer(r'(?<![\w\'])"((?:\\.|[^"\\\n])*)"', text):
        before = text[last : match.start()]
        line += before.count("\n") + before.count(JOINT)
        last = match.start()
        yield line, match[1].replace(JOINT, "")


def of_messages(text):
    for number, literal in literals(text):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])|\\n", literal):
            sentence = sentence.strip()
            is_text = len(sentence.split()) > 3 and re.search(r"[a-z]{3}", sentence)
            if is_text and not NO_SENTENCE.search(sentence):
                yield number, sentence


def readers(path):
    """(kind, function) of each kind of text in this file."""
    name = str(path)
    if path.suffix == ".md" and name != "CHANGELOG.md":
        yield "docs", of_document
    if CPP_FILES.match(name):
        yield "comments", lambda text: of_comments(text, CPP_COMMENT)
        if not name.startswith("tests/") and path.suffix != ".h":
            yield "messages", of_messages
    if SCRIPTS.search(name):
        yield "scripts", lambda text: of_comments(text, SCRIPT_COMMENT)


@functools.cache
def all_sentences(tree):
    """The sentences of each kind of text."""
    found = {kind: [] for kind in GOALS}
    for path in tree.files:
        for kind, read in readers(path):
            found[kind] += [Sentence(path, *each) for each in read(tree.text(path))]
    return found


def is_fused(sentence):
    return bool(FUSED.match(sentence.text)) and not sentence.text.rstrip().endswith("?")


def words_in(sentence):
    return len(sentence.text.split())


def inner_in(sentence):
    return len(INNER.findall(sentence.text))


def count(sentences):
    number = len(sentences)
    if number == 0:
        return Counts(0, 0, 0, 0)
    words = sum(map(words_in, sentences))
    return Counts(
        words=words / number,
        long=100 * sum(words_in(each) > LONG for each in sentences) / number,
        fused=100 * sum(map(is_fused, sentences)) / number,
        inner=1000 * sum(map(inner_in, sentences)) / words,
    )


def missed(kind, counts):
    """The names of the counts that are above their goal."""
    return [name for name, most in GOALS[kind].items() if getattr(counts, name) > most]


def show(sentences):
    for each in sentences:
        print(f"{each.path}:{each.line}: {each.text}")


def sample(every, number, seed):
    """Prints `number` sentences of each kind."""
    print(f"seed {seed}")
    for kind, sentences in every.items():
        print(f"{kind}:")
        show(random.Random(f"{seed} {kind}").sample(sentences, min(number, len(sentences))))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", default=".")
    parser.add_argument("--list", type=int, default=0, metavar="N")
    parser.add_argument("--every", choices=GOALS, metavar="KIND")
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=random.randrange(1000000), metavar="S")
    arguments = parser.parse_args()
    every = all_sentences(Tree(arguments.root))
    if arguments.every:
        return show(every[arguments.every])
    if arguments.sample:
        return sample(every, arguments.sample, arguments.seed)
    is_missed = False
    for kind, sentences in every.items():
        counts = count(sentences)
        print(f"{kind}: {len(sentences)} sentences; {counts.words:.1f} words each; "
              f"over {LONG} words {counts.long:.1f} %; fused beginnings {counts.fused:.1f} %; "
              f"who/what {counts.inner:.1f} per 1,000 words")  # fmt: skip
        offenders = {"fused": filter(is_fused, sentences),
                     "long": (each for each in sentences if words_in(each) > LONG)}  # fmt: skip
        for name, found in offenders.items():
            for each in [*found][: arguments.list]:
                print(f"  {name}: {each.path}:{each.line}: {each.text[:160]}")
        is_missed = is_missed or bool(missed(kind, counts))
    return 1 if is_missed else 0


if __name__ == "__main__":
    sys.exit(main())
