#!/usr/bin/env python3
"""The page of `muster draw`, opened in headless Chromium and used by keyboard.

page_test.py MUSTER JOURNAL: draws the journal as SVG and as a page, and looks at both. Without a
browser it looks at the SVG and is then skipped, or fails if MUSTER_DEMAND_BROWSER is 1.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import xml.etree.ElementTree
from pathlib import Path

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
SKIPPED = 77
KEYS = {"right": "\ue014", "left": "\ue012", "home": "\ue011", "end": "\ue010"}


class Browser:
    """A session of chromedriver, spoken to over HTTP."""

    def __init__(self, directory):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        port = next(line.split("port ")[-1].strip(" .\n") for line in self.driver.stdout
                    if "started successfully on port" in line)
        self.address = f"http://127.0.0.1:{port}/session"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu",
                            "--disable-dev-shm-usage", "--no-first-run",
                            f"--user-data-dir={directory}/profile"]}
        session = self.call("", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.address += "/" + session["sessionId"]

    def call(self, path, body):
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.call("/execute/sync", {"script": "return " + script, "args": []})

    def press(self, key):
        found = self.call("/element", {"using": "css selector", "value": "body"})
        self.call(f"/element/{found[ELEMENT]}/value", {"text": KEYS.get(key, key)})

    def close(self):
        request = urllib.request.Request(self.address, method="DELETE")
        urllib.request.urlopen(request, timeout=60).close()
        self.driver.terminate()
        self.driver.wait()


def demand_browser():
    """Exits as skipped where there is no browser; fails where MUSTER_DEMAND_BROWSER is 1."""
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if shutil.which(program):
            continue
        if os.environ.get("MUSTER_DEMAND_BROWSER") == "1":
            sys.exit(f"{program} not found, and MUSTER_DEMAND_BROWSER=1: apt-get install {package}")
        print(f"skipped: {program} not found")
        sys.exit(SKIPPED)


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
