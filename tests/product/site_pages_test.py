#!/usr/bin/env python3
"""What docs/make_site.py changes in a page before mkdocs reads it, where pages stand in the
navigation, and what the checks of site_checks.py find in a site with faults."""

import sys
import tempfile
import unittest
from pathlib import Path

import readme
import site_checks

sys.path.insert(0, str(readme.ROOT / "docs"))
import make_site  # noqa: E402

PAGE = Path("docs/how-to/README.md")


class Links(unittest.TestCase):
    def honest(self, text):
        return make_site.with_honest_links(PAGE, text)

    def test_a_link_to_a_page_or_another_site_stays(self):
        for link in ("[x](check.md)", "[x](../paper.md#words)", "[x](#run-nodes)",
                     "[x](https://example.org/)", "![x](../drawing.svg)"):  # fmt: skip
            with self.subTest(link=link):
                self.assertEqual(self.honest(link), link)

    def test_a_link_to_a_folder_leads_to_its_page(self):
        self.assertEqual(self.honest("[x](../decisions/)"), "[x](../decisions/README.md)")

    def test_a_link_to_code_becomes_text_with_its_path(self):
        self.assertEqual(self.honest("see [the build](../../CMakeLists.txt)."),
                         "see the build (`CMakeLists.txt`).")
        self.assertEqual(self.honest("[`core/src`](../../core/src)"), "`core/src`")

    def test_a_link_in_code_is_no_link(self):
        for code in ("```cpp\n[](int)[x](../../dev)\n```", "`[x](../../dev)`"):
            with self.subTest(code=code):
                self.assertEqual(self.honest(code), code)
        self.assertEqual(self.honest("`a` [`b`](../../dev)"), "`a` `b` (`dev`)")


class Lists(unittest.TestCase):
    def wide(self, *lines):
        return make_site.with_wide_lists("\n".join(lines)).split("\n")

    def test_an_inner_list_has_four_columns(self):
        self.assertEqual(self.wide("- a", "  - b", "    c", "- d"),
                         ["- a", "    - b", "        c", "- d"])

    def test_a_block_in_an_item_has_four_columns_and_keeps_its_own(self):
        self.assertEqual(self.wide("1. a", "", "   ```sh", "   if b", "     - c", "   ```", "2. d"),
                         ["1. a", "", "    ```sh", "    if b", "      - c", "    ```", "", "2. d"])

    def test_a_list_ends_with_its_text(self):
        self.assertEqual(self.wide("- a", "", "b", "  c"), ["- a", "", "b", "  c"])

    def test_a_list_behind_a_sentence_is_a_list(self):
        self.assertEqual(self.wide("a:", "- b"), ["a:", "", "- b"])

    def test_a_number_in_a_sentence_begins_no_list(self):
        self.assertEqual(self.wide("- it had", "  56. It won."), ["- it had", "    56\\. It won."])

    def test_code_stays(self):
        code = ["```text", "- a", "  - b", "```"]
        self.assertEqual(self.wide(*code), code)


class Navigation(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.pages = Path(directory.name)

    def write(self, **texts):
        for name, text in texts.items():
            path = self.pages / (name.replace("__", "/") + ".md")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def test_a_folder_has_the_order_of_its_readme(self):
        self.write(a__README="# A\n[z](z.md) [in](in/README.md) [b](b.md#c)", a__b="# B",
                   a__in__README="# In", a__z="# Z", a__d="# D")  # fmt: skip
        self.assertEqual(make_site.expanded(self.pages, [{"Shelf": ["a/"]}]), [{"Shelf": [
            "a/README.md", "a/z.md", {"In": ["a/in/README.md"]}, "a/b.md", "a/d.md"]}])

    def test_a_folder_may_have_the_order_of_the_readme_above(self):
        self.write(a__README="# A\n[z](in/z.md)", a__in__README="# In", a__in__b="# B",
                   a__in__z="# Z")  # fmt: skip
        self.assertEqual(make_site.expanded(self.pages, ["a/in/"]),
                         ["a/in/README.md", "a/in/z.md", "a/in/b.md"])

    def test_a_page_with_a_folder_of_its_name_is_a_section(self):
        self.write(a="# A", a__b="# B")
        self.assertEqual(make_site.expanded(self.pages, ["a.md"]), [{"A": ["a.md", "a/b.md"]}])

    def test_a_shelf_without_pages_has_no_place(self):
        self.write(b="# B")
        self.assertEqual(make_site.expanded(self.pages, ["b.md", {"Shelf": ["a/"]}]), ["b.md"])


class Checks(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.site = Path(directory.name).resolve()
        self.number = 0

    def page(self, html):
        self.number += 1  # a page is read once
        for file in self.site.iterdir():
            file.unlink()
        (self.site / f"{self.number}.html").write_text(html, encoding="utf-8")

    def outside(self):
        return [target for _, target in site_checks.outside(self.site)]

    def test_an_element_that_asks_another_machine_is_found(self):
        far = "https://example.org/x"
        for html in ("<script src='{}'></script>", "<link rel=stylesheet href='{}'>",
                     "<img src='{}'>", "<img srcset='{} 2x'>", "<iframe src='{}'></iframe>",
                     "<style>@import '{}';</style>", "<p style='background: url({})'>",
                     "<svg><image xlink:href='{}'/></svg>",
                     "<script>fetch('{}')</script>"):  # fmt: skip
            for target in (far, "//example.org/x") if "fetch" not in html else (far,):
                with self.subTest(html=html, target=target):
                    self.page(html.format(target))
                    self.assertEqual(self.outside(), [target])

    def test_a_style_or_script_that_asks_another_machine_is_found(self):
        for name, text in (("a.css", "@font-face { src: url(https://example.org/x) }"),
                           ("a.svg", "<svg><image href='https://example.org/x'/></svg>"),
                           ("a.js", "load('https://example.org/x')")):  # fmt: skip
            with self.subTest(name=name):
                self.page("")
                (self.site / name).write_text(text, encoding="utf-8")
                self.assertEqual(self.outside(), ["https://example.org/x"])

    def test_a_diagram_for_which_the_theme_would_load_a_script_is_found(self):
        for html, found in (('<pre class="mermaid">', True), ("<pre>", False)):
            self.page(html)
            (self.site / "a.js").write_text('"https://unpkg.com/mermaid@8"', encoding="utf-8")
            self.assertEqual(bool(self.outside()), found)

    def test_a_file_that_is_not_there_or_not_below_is_found(self):
        for target in ("a.png", "/a.png"):
            self.page(f"<img src='{target}'>")
            self.assertEqual(self.outside(), [target])

    def test_what_asks_nothing_is_not_found(self):
        self.page("<a href='https://example.org/'><img src='data:image/png;base64,'>")
        (self.site / "a.js").write_text("/* https://example.org/ */\n// https://a.org/\n",
                                        encoding="utf-8")  # fmt: skip
        self.assertEqual(self.outside(), [])

    def test_a_broken_link_is_found(self):
        for link, found in (("b.html", True), ("/a.html", True), ("#b", True), ("#a", False),
                            ("https://example.org/", False)):  # fmt: skip
            with self.subTest(link=link):
                self.page(f"<h1 id=a><a href='{link}'>")
                self.assertEqual(bool(list(site_checks.broken(self.site))), found)


if __name__ == "__main__":
    unittest.main()
