"""Rules about the words and sentences of pages, comments, scripts and messages."""

import bisect
import functools
import re
from pathlib import Path

import prose
from tree import CPP, TEXT

OTHER_WORDS = {
    "leader", "leaders", "follower", "followers", "master", "masters", "term", "victory",
    "heartbeat", "heartbeats",
}  # fmt: skip
ANY_OTHER_WORD = re.compile("|".join(OTHER_WORDS), re.I)
# Lines about other systems may use their words; ip(8) has a "master" too.
OTHER_SYSTEMS = re.compile(
    r"etcd|raft|zookeeper|keepalived|sentinel|corosync|nats|icestorm|ip link|\bip\(", re.I
)

# Words that only this project uses for these things, and the words that readers know.
HOUSE_WORDS = {
    "st(ood|ands?|anding) still": "paused or frozen",
    "t(akes?|aken|ook|aking) back": "revoked or undone",
    "mend(s|ed|ing)?": "rewind, clone, repair or fix",
    "beg(ins?|an|un|inning) (it |them )?anew": "restarted or starts again",
    "let(s|ting)? in": "admitted",
    "strangers?": "unknown peer or unauthenticated peer",
    "errands?": "task",
    "voices?": "vote",
    "put(s|ting)? back": "restored",
    "counts? for nothing": "is ignored or does not count",
    "who(so|m)?ever": "the node that, or the name of what acts",
}
# These words are refused only in sentences, because as a part of a name they mean something else.
HOUSE_PRONOUNS = {"h(e|im|is)": "it, or the name of what acts"}
# The name of a function must say what the function does. These names do not.
HOUSE_FUNCTIONS = re.compile(r"\b(happened|took|came|ended)(?=\()")
HOUSE_FILES = {
    "doors": "fault tests", "errand": "task", "wishes": "hand-over listener", "rise": "promotion",
    "room": "disk space", "memory": "last held",
}  # fmt: skip
# Names of files and identifiers that cannot change, each with the reason. Literals of one word need
# no row: they are names for the outside, in journals, JSON and command lines.
KEPT_NAMES = {
    "core/internal/muster/host/frame.hpp": "it declares RefusalReason::stranger",
    "RefusalReason::stranger": "a label of the metric muster_refusals_total",
    "tests/net/frames/memory_test.cpp": "it is about memory",
}

# Sentences about a person.
PERSONS = re.compile(r"\bHis second algorithm\b")
# The text that a test prints for RefusalReason::stranger.
PRINTED = re.compile(r"(?<=Refusal )stranger\b")

ISE = (
    "anonym|apolog|author|canonical|capital|categor|central|character|critic|custom|emphas|equal"
    "|final|formal|general|global|harmon|initial|local|material|maxim|memor|minim|modern|neutral"
    "|normal|optim|organ|parallel|penal|priorit|random|real|recogn|sanit|serial|special|stabil"
    "|standard|summar|symbol|synchron|token|util|virtual|visual"
)
SPELLING = {
    f"(un|re|de)*({ISE})is(e|ed|er|ers|es|ing|ations?)": "-ize",
    "analyz(e|ed|er|ers|es|ing)": "analyse",
    "(behavior|color|favor|flavor|honor|labor|neighbor|rumor)"
    "(s|able|al|ed|ers?|ful|hood|ing|ite|less|ly)*": "-our",
    "(cancel|label|level|model|signal|total|travel)(ed|er|ing)": "double l",
    "center(s|ed)?": "centre",
    "defenses?": "defence",
    "(catalog|dialog)s?": "-ogue",
    "fulfill(s|ment)?": "fulfil",
    "artifacts?": "artefact",
    "judgments?": "judgement",
}
# Names and words of others: a flag, keys of CSS, SVG and mkdocs, and messages of PostgreSQL.
FOREIGN_SPELLING = re.compile(
    r"--initialise\b|[\w-]*color[\w-]*[:=(]|[\w-]+-color\b|\bcolor[-_]\w+|\bcurrentColor\b"
    r"|\b(NO_COLOR|pg_catalog|artifact_prefix|operation_canceled|systemd-analyze)\b"
    r"|\bcanceling (statement|wait|authentication)\b", re.I)  # fmt: skip

LONGEST = 40
ENGLISH = (*TEXT, ".c", ".h", ".yml")
# Files in this directory contain the words that they forbid.
ABOUT_WORDS = ("tests/lint",)

# Sentences are looked for in a file's comments, and in its literals of more than one word.
STRING = r'"(?:\\.|[^"\\\n])*"'
STRINGS = rf"{STRING}(?:\s*\n\s*f?{STRING})*"
TOKENS_OF_CPP = re.compile(
    rf"(?P<comment>//.*|/\*(?:.|\n)*?\*/)|'(?:\\.|[^'\\\n])'|(?P<literal>{STRINGS})"
)
TOKENS_OF_SCRIPTS = re.compile(
    r'(?P<comment>#.*)|(?P<literal>"""(?:.|\n)*?"""' rf"|{STRINGS}|'(?:\\.|[^'\\\n])*')"
)

# The gap between two words of a sentence or a name.
GAP = r'(?:[_-]|(?=(?-i:[A-Z]))|(?:\n\s*(?://[/!]?<?|#)|"\s*\n\s*f?"|\s)+)'
BEFORE = r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z])(?=[A-Z])))"
AFTER = r"(?-i:(?![a-z])(?!(?<=[A-Z])[A-Z]))"


class Words:
    """Finds words of a table, in sentences and in names, also if a line ends within them."""

    def __init__(self, table):
        # The first pattern quickly rules out most texts. The second decides.
        self._patterns = [
            (re.compile(word.split(" ")[0]),
             re.compile(BEFORE + word.replace(" ", GAP) + AFTER, re.I), instead)
            for word, instead in table.items()
        ]  # fmt: skip

    def found_in(self, text):
        """(match, instead) of each word."""
        lower = text.lower()
        for fast, exact, instead in self._patterns:
            for match in fast.finditer(lower):
                if found := exact.match(text, match.start()):
                    yield found, instead


def shown(match):
    """The words of the match in one line."""
    return re.sub(r'["\s]*\n[\s/#<"]*|\s+', " ", match[0])


HOUSE_SENTENCES = Words(HOUSE_WORDS | HOUSE_PRONOUNS)
HOUSE_NAMES = Words(HOUSE_WORDS)


@functools.cache
def spelling_of(word):
    """How a word is spelled here, if not in this way. Else None."""
    return next((right for wrong, right in SPELLING.items() if re.fullmatch(wrong, word)), None)


class Spans:
    """The parts of a file that are sentences, and the parts that are names."""

    def __init__(self, path, text):
        self._text = text
        self._all = []  # (start, end, is a sentence)
        self._is_page = path.suffix == ".md"
        if self._is_page:
            code = re.finditer(r"```.*?```|`[^`\n]*`", text, re.S)
            self._all = [(match.start(), match.end(), False) for match in code]
            return
        is_cpp = path.suffix in (*CPP, ".c", ".h")
        for match in (TOKENS_OF_CPP if is_cpp else TOKENS_OF_SCRIPTS).finditer(text):
            is_sentence = match.lastgroup == "comment" or " " in match[0].strip("\"' ")
            self._all.append((match.start(), match.end(), is_sentence))

    def _at(self, offset):
        index = bisect.bisect_right(self._all, (offset, float("inf"))) - 1
        if index >= 0 and self._all[index][1] > offset:
            return self._all[index]
        return None

    def in_sentence(self, match):
        """Is it a part of a sentence, and no name that the sentence cites?"""
        text, begin, end = self._text, match.start(), match.end()
        span = self._at(begin)
        if self._is_page or not span:
            return self._is_page and not span
        before = text[text.rfind("\n", 0, begin) + 1 : begin]
        is_name = (
            before.count("`") % 2 == 1
            or re.search(r"(\w|::|->|\w\.)$", before)
            or re.match(r"[\w(%]|::|->|\.\w", text[end:])
            or "_" in match[0]
        )
        return span[2] and not is_name

    def is_name(self, offset):
        """A literal of one word is neither: it may be a name that journals and JSON show."""
        span = self._at(offset)
        return not span and not self._is_page


def words(tree):
    """The paper's words, except in the glossary and in the textbook's protocol."""
    for path in tree.paths(*TEXT, without=["docs/paper.md", "tests/lint"]):
        # These are PostgreSQL's own words. `muster.term` is the table by which Muster compares
        # logs.
        if "textbook" in path.name or "postgres" in str(path):
            continue
        for number, line in enumerate(tree.lines_of(path), 1):
            if not ANY_OTHER_WORD.search(line) or OTHER_SYSTEMS.search(line):
                continue
            for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", line):
                if word.lower() in OTHER_WORDS and word != "TERM":
                    yield path, number, f"'{word}' is not the paper's word (see the glossary)"


def texts(tree):
    for path in tree.paths(*ENGLISH, without=ABOUT_WORDS):
        if "golden" not in path.parts:
            yield path, tree.text(path)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def name_around(text, match):
    """The identifier of which the match is a part, with the class or namespace before it."""
    before = re.search(r"(\w+::)?\w*$", text[max(0, match.start() - 100) : match.start()])
    return before[0] + match[0] + re.match(r"\w*", text[match.end() :])[0]


def house_words(tree):
    """Sentences use the field's words."""
    for path, text in texts(tree):
        found = list(HOUSE_SENTENCES.found_in(text))
        spans = Spans(path, text) if found else None
        for match, instead in found:
            is_kept = PERSONS.match(text, match.start()) or PRINTED.match(text, match.start())
            if spans.in_sentence(match) and not is_kept:
                yield path, line_of(text, match.start()), f"'{shown(match)}': write {instead}"


def house_names(tree):
    """Names in code, and names of files, use the field's words."""
    for path in tree.files:
        if "corpus" in path.parts:
            continue
        stem = path.stem.removesuffix("_test")
        if stem in HOUSE_FILES and str(path) not in KEPT_NAMES:
            yield path, 1, f"the file's name is '{stem}': {HOUSE_FILES[stem]}"
    for path, text in texts(tree):
        found = list(HOUSE_NAMES.found_in(text))
        if path.suffix in CPP:
            calls = HOUSE_FUNCTIONS.finditer(text)
            found += [(call, "on_event, on_call, on_frame ...") for call in calls]
        spans = Spans(path, text) if found else None
        for match, instead in found:
            is_kept = not KEPT_NAMES.keys().isdisjoint({str(path), name_around(text, match)})
            if spans.is_name(match.start()) and not is_kept:
                what = f"the name has '{shown(match)}': {instead}"
                yield path, line_of(text, match.start()), what


def spelling(tree):
    """Spelling is British, with -ize."""
    for path, text in texts(tree):
        wrong = {word for word in re.findall("[a-z]{4,}", text.lower()) if spelling_of(word)}
        if not wrong:
            continue
        spans = Spans(path, text)
        foreign = [match.span() for match in FOREIGN_SPELLING.finditer(text)]
        for match in re.finditer(rf"(?<![a-z])({'|'.join(sorted(wrong))})(?![a-z])", text, re.I):
            is_foreign = any(begin <= match.start() < end for begin, end in foreign)
            if not is_foreign and spans.in_sentence(match):
                what = f"'{match[0]}' is spelled {spelling_of(match[0].lower())}"
                yield path, line_of(text, match.start()), what


def beginnings(tree):
    """A sentence begins with its subject. Fewer than 1 % begin with Who, What, Where, That, Of."""
    for kind, sentences in prose.all_sentences(tree).items():
        if "fused" in prose.missed(kind, prose.count(sentences)):
            for each in filter(prose.is_fused, sentences):
                yield each.path, each.line, f"{kind}: begins with no subject: {each.text[:60]}"


def sentence_lengths(tree):
    """No sentence of the documents has over 40 words, and on average they have at most 16."""
    documents = prose.all_sentences(tree)["docs"]
    for each in documents:
        if (number := prose.words_in(each)) > LONGEST:
            yield each.path, each.line, f"{number} words in a sentence: {each.text[:60]}"
    counts = prose.count(documents)
    missed = prose.missed("docs", counts)
    if "words" in missed:
        yield Path("docs"), 1, f"{counts.words:.1f} words a sentence"
    if "long" in missed:
        yield Path("docs"), 1, f"{counts.long:.1f} % of the sentences have over {prose.LONG} words"


def who_and_what(tree):
    """Comments use who, whom, whose and what under 3 times in 1,000 words."""
    for kind, sentences in prose.all_sentences(tree).items():
        if "inner" in prose.missed(kind, prose.count(sentences)):
            for each in filter(prose.inner_in, sentences):
                yield each.path, each.line, f"{kind}: name what acts: {each.text[:60]}"


RULES = (words, house_words, house_names, spelling, beginnings, sentence_lengths, who_and_what)
