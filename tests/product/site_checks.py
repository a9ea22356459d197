"""What a built site asks for and where its links lead, read from its files."""

import functools
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements that load a file, with the attribute that names it.
LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src"),
         ("audio", "src"), ("embed", "src"), ("object", "data"), ("input", "src"),
         ("video", "poster"), ("image", "href"), ("use", "href"), ("image", "xlink:href"),
         ("use", "xlink:href")}  # fmt: skip
IN_STYLE = re.compile(r"""url\(\s*["']?([^"')]*)|@import\s+["']([^"']*)""")
ADDRESS = re.compile(r"(?:https?|wss?)://[^\s\"'`<>)]*")
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.M | re.S)

# Addresses in the theme's script, each with an element. The script uses the address only on a page
# that has this element.
ONLY_WITH = {
    "https://unpkg.com/mermaid@": ' class="mermaid"',
    "https://api.github.com/": ' data-md-component="source"',
    "https://${e}/api/v4/projects/": ' data-md-component="source"',
}
# Addresses to which no request goes: the namespace of SVG, an argument of the class URL in the
# theme's script, and an error text of the search.
NO_REQUEST = re.compile(r"http://www\.w3\.org/|http://a(/c%20d)?$|https://bit\.ly/2s3ChXG$")


class Page(HTMLParser):
    """What an HTML file loads, its links and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.anchors, self.styles, self.scripts = [], [], set(), [], []
        self.element = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.element = tag
        for name, value in attributes:
            if name in ("srcset", "imagesrcset"):
                self.loads += [part.split()[0] for part in value.split(",")]
            elif (tag, name) in LOADS or (tag, name) == ("link", "href"):
                self.loads.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
            elif name == "style":
                self.styles.append(value)
            elif name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)

    def handle_data(self, data):
        if self.element == "style":
            self.styles.append(data)
        elif self.element == "script":
            self.scripts.append(data)

    def handle_endtag(self, tag):
        self.element = None


def in_style(text):
    found = (first or second for first, second in IN_STYLE.findall(COMMENT.sub("", text)))
    return [target for target in found if not target.startswith(("data:", "#"))]


def in_script(text):
    return [a for a in ADDRESS.findall(COMMENT.sub("", text)) if not NO_REQUEST.match(a)]


@functools.cache
def page_at(file):
    return Page(file.read_text(encoding="utf-8"))


def target_of(file, target):
    """The file that a relative target means, and its anchor. None if the target is not relative."""
    parts = urlsplit(target)
    if parts.scheme or parts.netloc or parts.path.startswith("/"):
        return None
    path = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    return path, unquote(parts.fragment)


def asked_for(file):
    """What a file of the site loads: targets in elements and styles, and addresses in scripts."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".js":
        return [], in_script(text)
    if file.suffix == ".css":
        return in_style(text), []
    page = page_at(file)
    styled = [target for style in page.styles for target in in_style(style)]
    scripted = [address for script in page.scripts for address in in_script(script)]
    loads = [t for t in page.loads if not t.startswith(("data:", "#", "javascript:void(0)"))]
    return loads + styled, scripted


def outside(site):
    """(file, target) of all that the site would ask another machine for, or that is not there."""
    shown = "".join(file.read_text(encoding="utf-8") for file in site.rglob("*.html"))
    for file in sorted(f for f in site.rglob("*") if f.suffix in (".html", ".css", ".js", ".svg")):
        targets, addresses = asked_for(file)
        for target in targets:
            found = target_of(file, target)
            if found is None or not found[0].is_file():
                yield file, target
        for address in addresses:
            needs = [element for start, element in ONLY_WITH.items() if address.startswith(start)]
            if not needs or needs[0] in shown:
                yield file, address


def broken(site):
    """(file, target) of each link to a file or anchor that is not there, or to the root."""
    for file in sorted(site.rglob("*.html")):
        for target in page_at(file).links:
            if re.match(r"https?:|javascript:|mailto:", target):
                continue
            found = target_of(file, target)
            if found is None or not found[0].is_file():
                yield file, target
            elif found[1] and found[0].suffix == ".html":
                if found[1] not in page_at(found[0]).anchors:
                    yield file, target


def place_of(site, page):
    """The file of the site that shows a page of the repository."""
    page = Path(page)
    return site / (page.with_name("index") if page.stem == "README" else page).with_suffix(".html")
