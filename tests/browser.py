"""Headless Chromium for tests of pages."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
SKIPPED = 77
KEYS = {"right": "\ue014", "left": "\ue012", "home": "\ue011", "end": "\ue010"}


class Browser:
    """A session of chromedriver over HTTP."""

    def __init__(self, directory):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        port = next(line.split("port ")[-1].strip(" .\n") for line in self.driver.stdout
                    if "started successfully on port" in line)
        self.address = f"http://127.0.0.1:{port}/session"
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu",
                            "--disable-dev-shm-usage", "--no-first-run",
                            f"--user-data-dir={directory}/profile"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"performance": "ALL"}}
        session = self.call("", {"capabilities": {"alwaysMatch": wanted}})
        self.address += "/" + session["sessionId"]

    def call(self, path, body):
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        return self.call("/execute/sync", {"script": "return " + script, "args": []})

    def wait_for(self, script):
        """The value of a script, as soon as it is true."""
        asked = "let done = arguments[0], ask = () => { let found = " + script + """;
                 found ? done(found) : setTimeout(ask, 20); }; ask()"""
        return self.call("/execute/async", {"script": asked, "args": []})

    def requests(self):
        """What was loaded since this was called last, without the browser's own pages."""
        events = (json.loads(entry["message"])["message"]
                  for entry in self.call("/se/log", {"type": "performance"}))
        loaded = (event["params"]["request"]["url"] for event in events
                  if event["method"] == "Network.requestWillBeSent")  # fmt: skip
        return [address for address in loaded if not address.startswith(("chrome:", "data:"))]

    def press(self, key):
        found = self.call("/element", {"using": "css selector", "value": "body"})
        self.call(f"/element/{found[ELEMENT]}/value", {"text": KEYS.get(key, key)})

    def close(self):
        request = urllib.request.Request(self.address, method="DELETE")
        urllib.request.urlopen(request, timeout=60).close()
        self.driver.terminate()
        self.driver.communicate()


def missing_browser():
    """A sentence about the program that is not here, or None. Exits if MUSTER_DEMAND_BROWSER is
    1."""
    for program, package in (("chromium", "chromium"), ("chromedriver", "chromium-driver")):
        if shutil.which(program):
            continue
        if os.environ.get("MUSTER_DEMAND_BROWSER") == "1":
            sys.exit(f"{program} not found, and MUSTER_DEMAND_BROWSER=1: apt-get install {package}")
        return f"{program} not found"
    return None


def demand_browser():
    """Exits as skipped if there is no browser. Fails if MUSTER_DEMAND_BROWSER is 1."""
    if missing := missing_browser():
        print(f"skipped: {missing}")
        sys.exit(SKIPPED)
