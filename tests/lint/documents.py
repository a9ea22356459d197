"""Rules about what pages and comments cite: it exists, and a reader of the tree can look it up."""

import fnmatch
import functools
import re
from pathlib import Path

from prose import without_fences
from tree import CODE, CPP, TEXT, is_in

SUFFIXES = "md|cpp|hpp|h|c|py|sh|txt|yml|toml|json|svg|in|cmake|conf"
FILE = rf"/[\w/.-]*\w\.(?:{SUFFIXES})\b(?:#[\w-]+)?(?![*/])"
PAGE = re.compile(rf"(?<![\w/.$}}*-])docs{FILE}")
NAMED_FILE = re.compile(rf"(?<![\w/.$}}*-])(?:core|net|storage|apps|tests|docs){FILE}")
# These files of the lint contain samples that break its rules.
SAMPLES = ("tests/lint/lint_cases.py", "tests/lint/lint_test.py", "tests/lint/samples")

# The end of a line within a comment, a literal or a page.
GAP = r'(?:\n\s*(?://[/!]?<?|#)|"\s*\n\s*"|\s)+'
ROW = r"[A-Z]{1,2}\d{1,2}[a-z]?"
ROWS = rf"{ROW}\b(?:(?:,|,?{GAP}and|{GAP}to|/|{GAP}or),?{GAP}?{ROW}\b)*"
CITED_ROWS = re.compile(
    rf"(?:\b[Rr]ows?{GAP}|\bfindings\.md\)?,{GAP}(?:rows?{GAP})?)({ROWS})", re.M)  # fmt: skip
CITED_HEADING = re.compile(rf'\b(docs/[\w/-]+\.md)\)?,{GAP}\\?"([^"\\]+)\\?"')
FINDINGS = ("docs/findings.md", "docs/findings")
ABOUT_ROWS = (*FINDINGS, "docs/protocols")

# Each row of these pages names a test as program/suite/case, or by a part of this name.
ABOUT_TESTS = ("docs/paper.md", "docs/explanation")
CITED_TEST = re.compile(r"`([\w*]+(?:/[\w*]+)+)`")
NAME_OF_TEST = re.compile(r"\b[A-Z_]*TEST_(?:SUITE|CASE)\w*\(\s*(\w+)")

# The paper has the sections I to VII. Other numbers are those of a working paper that nobody has.
SECTION_NUMBER = re.compile(
    r"(?<![A-Za-z])sections?[ _]+(\d[\w.]*|(?!VII\b|VI{0,1}\b|I{1,3}\b|IV\b)[IVXL]+\b)"
    r"|§ ?\d[\d.]*|\bSt/[A-Z0-9]\w*",
    re.I,
)
NUMBER = r"[3-7]\.\d{1,2}\b(?![.%\d]| ?(?:%|ms|us|s|GB|MB|million|times)\b)"
IN_PARENTHESES = re.compile(
    rf"\((?:see |sections? )?{NUMBER}(?:(?:,| and| to|,? or) {NUMBER})*[,;)]"
    rf"|\b(?:races|flaws?|subtleties|schedules?) (?:of|in) {NUMBER}"
)
# In these pages numbers in parentheses are times, not sections.
TIMES = ("README.md", "docs/figures.md", "docs/figures", "docs/decisions/figures.md")
# Other documents with numbered sections.
OTHER_DOCUMENTS = re.compile(r"\bRFC\b|\bISO\b|\bman page\b|\b\w+\(\d\)")


def without_code(text):
    """A page without its code blocks and code spans. The numbers of its lines stay."""
    return re.sub(r"`[^`\n]*`", "", without_fences(text))


def slug(heading):
    """The anchor that a heading gets."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@functools.cache
def headings(file):
    text = without_fences(file.read_text(encoding="utf-8"))
    return re.findall(r"^#+ +(.*?)\s*#*$", text, re.M)


@functools.cache
def anchors(file):
    """The anchors of a page. A second heading with the same words gets a number."""
    found = re.findall(r'<a (?:id|name)="([^"]+)"', file.read_text(encoding="utf-8"))
    for anchor in map(slug, headings(file)):
        same = sum(bool(re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", each)) for each in found)
        found.append(f"{anchor}-{same}" if anchor in found else anchor)
    return set(found)


def fault_of(file, anchor, target):
    """What is wrong with a link to this file and anchor, or None."""
    if not file.exists():
        return f"{target} is not there"
    if anchor and file.suffix == ".md" and anchor not in anchors(file.resolve()):
        return f"{target}: no such heading"
    return None


def files_named_in(path, line):
    """The files of the tree that a line of a page names, or a comment. Code names only pages."""
    if path.suffix == ".md":
        return NAMED_FILE.findall(re.sub(r"\]\([^)]*\)", "]", line))
    comment = line.find("//" if path.suffix in CPP else "#")
    is_include = line.lstrip().startswith("#include")
    cited = set(PAGE.findall(line))
    if comment >= 0 and not is_include:
        cited |= set(NAMED_FILE.findall(line[comment:]))
    return sorted(cited)


def links(tree):
    """The target of each link exists, and so does each file that a page or a comment names."""
    for path in tree.paths(".md"):
        for number, line in enumerate(without_code(tree.text(path)).splitlines(), 1):
            for target in re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", line):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                file = (tree.root / path).parent / name if name else tree.root / path
                if fault := fault_of(file, anchor, target):
                    yield path, number, fault
    for path, number, line in tree.lines(*CODE, ".md", without=SAMPLES):
        for cited in files_named_in(path, line):
            name, _, anchor = cited.partition("#")
            if fault := fault_of(tree.root / name, anchor, cited):
                yield path, number, fault


def rows_of_findings(tree):
    """The names of the rows in the tables of docs/findings.md and its pages."""
    rows = set()
    first_cell = re.compile(rf"\| *\**({ROW}(?:[/, ]+{ROW})*)\** *\|")
    for path, _, line in tree.lines(".md", within=FINDINGS):
        if cell := first_cell.match(line):
            rows |= set(re.findall(ROW, cell[1]))
    return rows


def names_in_bold(tree):
    """The promises and rules that a page of docs gives a name such as **P4**."""
    return {name for _, _, line in tree.lines(".md", within=["docs"])
            for name in re.findall(rf"\*\*({ROW})\b", line)}  # fmt: skip


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def citations(tree):
    """Cited rows of docs/findings.md and headings exist, and no working paper is cited."""
    rows = rows_of_findings(tree)
    named = rows | names_in_bold(tree)
    for path, number, line in tree.lines(".md", within=ABOUT_ROWS):
        for row in re.findall(rf"\b{ROW}\b", re.sub(r"`[^`]*`", "", line)):
            if row not in named:
                yield path, number, f"there is no row and no promise {row}"
    for path in tree.paths(*TEXT, without=SAMPLES):
        if "golden" in path.parts:
            continue
        if re.search(r"section_\d", path.name):
            yield path, 1, "is named after a section of a working paper"
        text = tree.text(path)
        for cited in CITED_ROWS.finditer(text):
            for row in re.findall(ROW, cited[1]):
                if row not in rows:
                    yield path, line_of(text, cited.start()), f"docs/findings.md has no row {row}"
        for cited in CITED_HEADING.finditer(text):
            file, heading = tree.root / cited[1], re.sub(GAP, " ", cited[2])
            if file.exists() and slug(heading) not in anchors(file.resolve()):
                what = f"{cited[1]} has no heading '{heading}'"
                yield path, line_of(text, cited.start()), what
        for number, line in enumerate(tree.lines_of(path), 1):
            found = SECTION_NUMBER.search(line)
            if not found and not is_in(path, TIMES):
                found = IN_PARENTHESES.search(line)
            if found and not OTHER_DOCUMENTS.search(line):
                yield path, number, f"'{found[0]}' is a section of a working paper"


def names_of_tests(tree):
    """The names of all suites and cases in C++, and all words of the lists of tests."""
    names = set()
    for path in tree.paths(".cpp", ".hpp", within=["tests"]):
        names |= set(NAME_OF_TEST.findall(tree.text(path)))
    for path in tree.paths(".txt", within=["tests"]):
        if path.name == "CMakeLists.txt":
            names |= set(re.findall(r"\w+", tree.text(path)))
    return names


def cited_tests(tree):
    """The tests that a page cites exist. A name may end with *."""
    names = names_of_tests(tree)
    for path, number, line in tree.lines(".md", within=ABOUT_TESTS):
        for cited in CITED_TEST.findall(line):
            for part in cited.split("/") if not (tree.root / cited).exists() else []:
                if part not in names and not fnmatch.filter(names, part):
                    yield path, number, f"there is no test {cited}: no {part}"


def benches(tree):
    """`./dev bench --short` runs each bench that a document names, and each of tests/bench."""
    file = Path("tests/bench/short.py")
    listed = re.findall(r'^    "(\w+)": \[', tree.text(file), re.M) if file in tree.files else []
    for path, number, line in tree.lines(".md"):
        for name in re.findall(r"(?:\./dev bench|`muster-bench) ([a-z]\w*)", line):
            if name not in listed:
                yield path, number, f"{file} does not run {name}"
    for path in tree.files:
        if path.match("tests/bench/*.cpp") and path.stem not in listed:
            yield path, 1, f"{file} does not run {path.stem}"


RULES = (links, citations, cited_tests, benches)
