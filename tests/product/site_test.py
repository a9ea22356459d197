#!/usr/bin/env python3
"""The site of `./dev docs`: it asks nothing of the network, its links lead somewhere, and it shows
what GitHub shows. In a browser it works as a file, and with the search if it is served."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import readme
import site_checks

sys.path += [str(readme.ROOT / "docs"), str(readme.ROOT / "tests")]
import make_site  # noqa: E402
from browser import Browser, missing_browser  # noqa: E402
from skipping import run_cases  # noqa: E402

SHOWN = "h1 h2 h3 h4 ul ol li table tr th td pre code blockquote img em strong a".split()
# Debian's Python has python3-markdown-it; the tests may run with another one.
PYTHON = "/usr/bin/python3"
MARKDOWN_IT = "/usr/lib/python3/dist-packages/markdown_it"
RENDER = """import json, sys, markdown_it
as_github = markdown_it.MarkdownIt().enable("table")
print(json.dumps([as_github.render(text) for text in json.load(sys.stdin)]))"""


class Shown(HTMLParser):
    """How many of each element of SHOWN a page has in its text."""

    def __init__(self, html):
        super().__init__()
        self.counts = Counter()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag in SHOWN and "headerlink" not in dict(attributes).get("class", ""):
            self.counts[tag] += 1


def as_github_shows(texts):
    ran = subprocess.run([PYTHON, "-c", RENDER], input=json.dumps(texts), text=True, check=True,
                         capture_output=True)  # fmt: skip
    return json.loads(ran.stdout)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for program in ("mkdocs", "doxygen"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} not found")
        out = cls.enterClassContext(tempfile.TemporaryDirectory())
        program = readme.ROOT / "docs/make_site.py"
        subprocess.run([sys.executable, "-B", program, "--out", out], check=True)
        cls.site = Path(out, "site").resolve()
        cls.index = cls.site / "index.html"

    def html(self, page="README.md"):
        return site_checks.place_of(self.site, page).read_text(encoding="utf-8")

    def browser(self):
        if missing := missing_browser():
            self.skipTest(missing)
        browser = Browser(self.enterContext(tempfile.TemporaryDirectory()))
        self.addCleanup(browser.close)
        return browser

    def assert_loads_only(self, browser, start):
        loaded = browser.requests()
        self.assertTrue(any(name.endswith(".css") for name in loaded), loaded)
        self.assertEqual([name for name in loaded if not name.startswith(start)], [])

    def test_it_asks_nothing_of_the_network(self):
        self.assertEqual(list(site_checks.outside(self.site)), [])

    def test_each_link_leads_to_a_page_and_a_heading(self):
        self.assertEqual(list(site_checks.broken(self.site)), [])

    def test_the_four_shelves_come_first(self):
        tabs = re.findall(r'class="md-tabs__link[^>]*>\s*(.*?)\s*</a>', self.html())
        shelves = ["Muster", "Tutorials", "How-to guides", "Reference", "Explanation"]
        self.assertEqual(tabs[:5], shelves)

    def test_the_navigation_has_each_page_and_the_cpp_reference(self):
        html = self.html()
        navigation = html[html.index("md-nav--primary") : html.index("<article")]
        links = site_checks.Page(navigation).links
        listed = {site_checks.target_of(self.index, link)[0] for link in links}
        for page in make_site.documents():
            with self.subTest(page=page):
                self.assertIn(site_checks.place_of(self.site, page), listed)
        self.assertIn(self.site / make_site.CPP, listed)

    @unittest.skipUnless(Path(MARKDOWN_IT).is_dir(), "python3-markdown-it not found")
    def test_a_page_shows_what_github_shows(self):
        pages = make_site.documents()
        texts = [make_site.with_honest_links(page, (readme.ROOT / page).read_text(encoding="utf-8"))
                 for page in pages]  # fmt: skip
        for page, expected in zip(pages, as_github_shows(texts)):
            html = self.html(page)
            article = html[html.index("<article") : html.index("</article>")]
            if page == make_site.HEADERS:
                expected += '<a href="of make_site.py"></a>'
            with self.subTest(page=page):
                self.assertEqual(Shown(article).counts, Shown(expected).counts)

    def test_in_a_browser_it_works_as_a_file(self):
        browser = self.browser()
        browser.call("/url", {"url": self.index.as_uri()})
        browser.wait_for("document.querySelector('.md-search').hidden")
        picture = "document.querySelector('article img[src$=\"failover.svg\"]').naturalWidth"
        self.assertGreater(browser.run(picture), 0)
        self.assert_loads_only(browser, "file:")
        for target in ("reference/headers.html", "cpp/index.html"):
            browser.run(f"document.querySelector('a[href$=\"{target}\"]').click()")
            browser.wait_for(f"location.href.endsWith('{target}')"
                             " && document.readyState == 'complete'")
            self.assert_loads_only(browser, "file:")

    def test_in_a_browser_the_served_site_is_searched(self):
        browser = self.browser()
        serving = self.enterContext(make_site.server(self.site, 0))
        threading.Thread(target=serving.serve_forever).start()
        self.addCleanup(serving.shutdown)
        address = f"http://127.0.0.1:{serving.server_port}/"
        browser.call("/url", {"url": f"{address}index.html?q=permits"})
        found = browser.wait_for("[...document.querySelectorAll('.md-search-result__link')]"
                                 ".map(link => link.href).find(link => link.includes('permits'))")
        self.assertTrue(found.startswith(f"{address}docs/"), found)
        self.assert_loads_only(browser, address)


if __name__ == "__main__":
    run_cases()
