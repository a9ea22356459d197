#!/usr/bin/env python3
"""Each rule of lint.py finds its violations, and nothing else, in a small tree made for it."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import english
import lint
import programs
import prose
from lint_cases import CASES, CLEAN
from tree import Tree

@contextlib.contextmanager
def tree_of(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        yield root


def found(files, rule):
    with tree_of(files) as root:
        return [what for *_, what in lint.RULES[rule](Tree(root))]


def said(files, *names):
    """The exit code of lint.py, and what it prints."""
    printed = io.StringIO()
    with tree_of(files) as root, contextlib.redirect_stdout(printed):
        return lint.main(root, names), printed.getvalue()


class Rules(unittest.TestCase):
    def test_every_rule_has_a_case(self):
        self.assertEqual(set(CASES), set(lint.RULES))

    def test_all_are_run_or_those_that_are_named(self):
        broken = {"net/src/a.cpp": "// TODO: later\nint leader;\n", "net/CMakeLists.txt": "a.cpp"}
        code, text = said(broken)
        self.assertEqual(code, 1)
        self.assertIn("net/src/a.cpp:1: left-over TODO [marks]\n", text)
        self.assertIn("words: 1. The paper's words", text)
        code, text = said(broken, "words")
        self.assertEqual((code, "[marks]" in text), (1, False))
        self.assertEqual(said(broken, "links"), (0, ""))

    def test_each_finds_what_breaks_it(self):
        for rule, trees in CASES.items():
            for files in trees:
                with self.subTest(rule=rule, files=files):
                    self.assertEqual(len(found(files, rule)), 1)

    def test_none_finds_anything_in_a_clean_tree(self):
        with mock.patch.dict(english.KEPT_NAMES, {"is_mended": "for this test"}):
            for rule in lint.RULES:
                with self.subTest(rule=rule):
                    self.assertEqual(found(CLEAN, rule), [])

    def test_blocks_that_are_not_run_are_counted(self):
        self.assertEqual(said(CLEAN, "blocks"), (0, "1 of 3 blocks of commands are not run\n"))

    def test_a_program_links_what_it_needs(self):
        needed = " ".join(f"apps/lib{library}.a" for library in programs.NODE)
        self.assertEqual(programs.faults("muster-postgres", needed + " libmuster_postgres.a"), [])
        [fault] = programs.faults("muster-postgres", needed + " core/lab/libmuster_lab.a")
        self.assertIn("muster_lab", fault)
        self.assertEqual(len(programs.faults("muster", "-o bin/muster apps/libmuster_demo.a")), 1)


def sentences(kind, name, text):
    with tree_of({name: text}) as root:
        return [(each.line, each.text) for each in prose.all_sentences(Tree(root))[kind]]


class Prose(unittest.TestCase):
    def test_a_document_has_paragraphs_and_items(self):
        text = ("# A heading that is not read\n\nThe first sentence goes on\nin this line. "
                "The second one begins here.\n- An item is a text of its own\n\n"
                "| a table | is not read at all |\n```\nNothing in a block of code is read.\n```\n"
                "The last sentence of this page\n")  # fmt: skip
        self.assertEqual(sentences("docs", "docs/a.md", text), [
            (3, "The first sentence goes on in this line."), (4, "The second one begins here."),
            (5, "An item is a text of its own"),
            (11, "The last sentence of this page")])  # fmt: skip

    def test_comments_that_follow_one_another_are_one_text(self):
        text = ("/// The first sentence of a\n/// comment. The second sentence of it.\n"
                'int a = f("//");  ///< A trailing comment is read as well.\n')  # fmt: skip
        self.assertEqual(sentences("comments", "core/src/a.hpp", text), [
            (1, "The first sentence of a comment."), (2, "The second sentence of it."),
            (3, "A trailing comment is read as well.")])  # fmt: skip
        script = "set -e  # A script has comments that are read.\n"
        self.assertEqual(sentences("scripts", "dev", script),
                         [(1, "A script has comments that are read.")])  # fmt: skip

    def test_literals_that_follow_one_another_are_one_message(self):
        text = ('#include "a.hpp"\n\nfail("port 7100 is in use "\n     "by another process. "\n'
                '     "Stop it, or choose another");\nsay("three words only");\n'
                'query("SELECT a FROM b WHERE c");\nfail("this is the last one");\n')  # fmt: skip
        self.assertEqual(sentences("messages", "net/src/a.cpp", text), [
            (3, "port 7100 is in use by another process."), (3, "Stop it, or choose another"),
            (8, "this is the last one")])  # fmt: skip

    def test_it_counts(self):
        texts = ["Who is outvoted takes no part", "Who is outvoted takes no part?", "It " * 36]
        counts = prose.count([prose.Sentence(Path("a.md"), 1, text) for text in texts])
        self.assertEqual(counts, (48 / 3, 100 / 3, 100 / 3, 2000 / 48))
        self.assertEqual(prose.missed("docs", counts), ["long", "fused"])
        self.assertEqual(prose.missed("comments", counts), ["fused", "inner"])


if __name__ == "__main__":
    unittest.main()
