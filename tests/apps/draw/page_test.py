#!/usr/bin/env python3
"""The page of `muster draw`, opened in headless Chromium and used by keyboard.

page_test.py MUSTER JOURNAL: draws the journal as SVG and as a page, and checks both. Without a
browser it only checks the SVG. Then the test counts as skipped, or fails if MUSTER_DEMAND_BROWSER
is 1.
"""

import json
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from browser import Browser, demand_browser  # noqa: E402


def same(found, expected, what):
    if found != expected:
        sys.exit(f"{what}: {found!r}, but it is {expected!r}")


def row(browser, node):
    cells = browser.run(f"[...document.querySelectorAll('#rows tr[data-node=\"{node}\"] td')]"
                        ".map(c => [c.dataset.field, c.textContent])")
    return dict(cells)


def check_page(browser, page, lines):
    browser.call("/url", {"url": page.as_uri()})
    same(browser.run("document.querySelectorAll('#steps li').length"), len(lines), "steps")
    same(browser.run("Number(slider.value)"), 0, "the slider at first")
    for key, expected in (("right", 1), ("right", 2), ("left", 1), ("end", len(lines) - 1),
                          ("right", len(lines) - 1), ("home", 0)):
        browser.press(key)
        same(browser.run("Number(slider.value)"), expected, f"the slider after {key}")
    browser.press("end")
    for node in {line["node"] for line in lines if "event" in line}:
        steps = [line for line in lines if line.get("node") == node and "event" in line]
        state = steps[-1]["state"]
        shown = row(browser, node)
        same(shown["status"], state["status"], f"status of node {node}")
        same(shown["coordinator"], str(state["coordinator"] or "–"), f"c of node {node}")
        same(shown["procedure"], state["procedure"], f"procedure of node {node}")
    browser.run("(slider.value = 3, slider.dispatchEvent(new Event('input')))")
    same(browser.run("document.querySelector('[aria-selected=true]').id"), "step3", "the list")
    width = browser.run("drawing.getBoundingClientRect().width")
    browser.press("+")
    if browser.run("drawing.getBoundingClientRect().width") <= width:
        sys.exit("+ did not zoom")
    same(browser.run("performance.getEntriesByType('resource').length"), 0, "what was loaded")


def check_svg(file, lines):
    root = xml.etree.ElementTree.parse(file).getroot()
    letters = [element.get("class") for element in root.iter() if element.get("data-message")]
    sent = sum(action["type"] == "Send" for line in lines for action in line.get("actions", []))
    same(len(letters), sent, "arrows")
    received = sum(line.get("event", {}).get("type") == "Received" for line in lines)
    same(sum("lost" not in letter for letter in letters), received, "arrows that arrive")
    classes = [element.get("class", "") for element in root.iter()]
    same(classes.count("lane"), 5, "lanes")


def main(muster, journal):
    lines = [json.loads(line) for line in Path(journal).read_text().splitlines()]
    with tempfile.TemporaryDirectory() as directory:
        for ending in ("svg", "html"):
            drawn = f"{directory}/drawn.{ending}"
            subprocess.run([muster, "draw", journal, "-o", drawn], check=True)
        check_svg(f"{directory}/drawn.svg", lines)
        demand_browser()
        browser = Browser(directory)
        try:
            check_page(browser, Path(directory, "drawn.html"), lines)
        finally:
            browser.close()


main(*sys.argv[1:])
