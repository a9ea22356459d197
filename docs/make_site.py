#!/usr/bin/env python3
"""Builds the site of the documents in build/docs/site: `make_site.py [--serve] [--out DIR]`.

It copies the pages to build/docs/pages, where they have the paths of the repository, and adds the
C++ reference by doxygen. Then it calls mkdocs, which loads this file again for the navigation.
"""

import argparse
import contextlib
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("docs", "apps", "tests")
HEADERS = Path("docs/reference/headers.md")
CPP = Path("docs/reference/cpp/index.html")
STYLE = Path("docs/site.css")

# The first and the last alternative match fenced blocks and code, which contain no links.
LINK = re.compile(
    r"^ *```.*?^ *```$|\[(?P<label>(?:`[^`]*`|[^]`])*)\]\((?P<target>[^)\s]+)\)|`[^`]*`",
    re.M | re.S,
)
ITEM = re.compile(r"(?:[-*+]|\d+\.) +")


def documents():
    """Each page of the repository, by its path there."""
    found = list(ROOT.glob("*.md"))
    for room in ROOMS:
        found += (ROOT / room).rglob("*.md")
    return sorted(path.relative_to(ROOT) for path in found)


def links(text):
    """The targets of the links in a page, without those of other sites."""
    targets = (found["target"] for found in LINK.finditer(text) if found["target"])
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def place(page, target):
    """The path in the repository that a link of a page leads to."""
    return Path(os.path.normpath(page.parent / target.partition("#")[0]))


def with_honest_links(page, text):
    """The page without links to what the site lacks, such as code: their paths stay as text. A link
    to a folder leads to its README.md."""

    def honest(found):
        if not found["target"] or re.match(r"#|[a-z]+:", found["target"]):
            return found[0]
        path = place(page, found["target"])
        if (ROOT / path).is_dir() and (ROOT / path / "README.md").is_file():
            return f"[{found['label']}]({found['target'].rstrip('/')}/README.md)"
        if path.suffix == ".md" or path.is_relative_to("docs") and (ROOT / path).is_file():
            return found[0]
        label = found["label"].strip("`")
        return f"`{path}`" if label == str(path) else f"{found['label']} (`{path}`)"

    return LINK.sub(honest, text)


def with_titles(text):
    """The page with the names of files above their code: GitHub's Markdown ignores them."""
    text = re.sub(r"^( *```text) example$", r"\1", text, flags=re.M)  # see tests/product/blocks.py
    return re.sub(r"^(```\w+) file=(\S+)$", r'\1 title="\2"', text, flags=re.M)


def with_wide_lists(text):
    """The page with four columns for each level of a list, and an empty line before a list and
    between long items. Python's Markdown needs both, GitHub's needs neither."""
    lines, items, fenced, blank = [], [], False, True
    for line in text.split("\n"):
        words = line.lstrip(" ")
        indent = len(line) - len(words)
        item = None if fenced else ITEM.match(words)
        interrupts = not blank and (not items or indent >= items[-1]["column"])
        if item and interrupts and item[0][0].isdigit() and item[0] != "1. ":
            words, item = words.replace(".", "\\.", 1), None  # a number, but no list item
        last = None
        while (item or blank) and words and not fenced and items and indent < items[-1]["column"]:
            last = items.pop()
        if item and not blank and (last["long"] if last else not items):
            lines.append("")
        inner = max(indent - items[-1]["column"], 0) if items else indent
        lines.append(words and " " * (4 * len(items) + inner) + words)
        if item:
            items.append({"column": indent + len(item[0]), "long": False})
        for above in items:
            above["long"] |= not words
        fenced ^= words.startswith("```")
        blank = not words
    return "\n".join(lines)


def written(page):
    """A page as mkdocs reads it."""
    text = with_honest_links(page, (ROOT / page).read_text(encoding="utf-8"))
    if page == HEADERS:
        text += f"\n[Each class and function]({CPP.relative_to(page.parent)})\n"
    return with_wide_lists(with_titles(text))


def copy_pages(pages):
    """Writes the pages, and the files of docs/ that they link, for mkdocs."""
    shutil.rmtree(pages, ignore_errors=True)
    files = {STYLE}
    for page in documents():
        text = written(page)
        (pages / page).parent.mkdir(parents=True, exist_ok=True)
        (pages / page).write_text(text, encoding="utf-8")
        files |= {place(page, link) for link in links(text)}
    for file in files:
        if file.suffix != ".md" and (ROOT / file).is_file():
            (pages / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, pages / file)


def write_cpp_reference(pages):
    """Calls doxygen. The list of headers is its main page."""
    text = (ROOT / HEADERS).read_text(encoding="utf-8")
    text = re.sub(r"\]\((?![a-z]+:)([^)#\s]+)\.md", r"](../\1.html", text)
    text = text.replace("\n", "\n\n[All documents](../../../index.html)\n", 1)
    main_page = pages.parent / "headers.md"
    main_page.write_text(text, encoding="utf-8")
    settings = (ROOT / "docs/Doxyfile").read_text(encoding="utf-8") + (
        f'INPUT += "{main_page}"\nUSE_MDFILE_AS_MAINPAGE = "{main_page}"\n'
        f'OUTPUT_DIRECTORY = "{pages / CPP.parent.parent}"\n')  # fmt: skip
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True)


def build(out):
    """Builds the site in out/site. Ends the program if a link leads nowhere."""
    pages, site = out / "pages", out / "site"
    copy_pages(pages)
    try:
        write_cpp_reference(pages)
        subprocess.run(
            ["mkdocs", "build", "--strict", "--config-file", ROOT / "docs/mkdocs.yml",
             "--site-dir", site],
            env=os.environ | {"MUSTER_PAGES": str(pages)}, check=True)  # fmt: skip
    except FileNotFoundError as missing:
        sys.exit(f"make_site.py: {missing.filename} is not installed: `./dev docs` installs it")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"make_site.py: {failed.cmd[0]} refused what it names above: repair that")
    (site / "404.html").unlink()  # its links would be absolute
    shutil.rmtree(site / "assets/javascripts/lunr")  # the search of other languages
    return site


def server(site, port):
    """Serves the site on loopback: a browser searches no site that is a file."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)


def main():
    parser = argparse.ArgumentParser(description="Builds the site of the documents.")
    parser.add_argument("--out", type=Path, default=ROOT / "build/docs")
    parser.add_argument("--serve", action="store_true", help="serve the site on loopback")
    parser.add_argument("--port", type=int, default=8000, help="0: one that is free")
    given = parser.parse_args()
    site = build(given.out.resolve())
    print(f"{site}/index.html", flush=True)
    if given.serve:
        with server(site, given.port) as serving, contextlib.suppress(KeyboardInterrupt):
            print(f"http://127.0.0.1:{serving.server_port}/ until Control-C", flush=True)
            serving.serve_forever()


# The navigation, by hooks of mkdocs.


def title_of(page):
    return re.search(r"^# (.*)$", page.read_text(encoding="utf-8"), re.M)[1]


def entry(pages, path):
    """A page for the navigation. With a folder of the same name it is a section."""
    inner = (pages / path).with_suffix("")
    if path.name == "README.md" or path.suffix != ".md" or not inner.is_dir():
        return str(path)
    return {title_of(pages / path): [str(path), *shelf(pages, path.with_suffix(""))]}


def order(pages, folder):
    """The names in a folder, in the order in which its README.md, the page of its name, or the
    README.md above links them."""
    names = []
    for page in (folder / "README.md", folder.with_suffix(".md"), folder.parent / "README.md"):
        text = (pages / page).read_text(encoding="utf-8") if (pages / page).is_file() else ""
        places = [place(page, link) for link in links(text)]
        names += [p.relative_to(folder).parts[0] for p in places if folder in p.parents]
    return names


def shelf(pages, folder):
    """What the navigation has of a folder."""
    names = order(pages, folder)

    def rank(path):
        at = names.index(path.name) if path.name in names else len(names)
        return path.name != "README.md", at, path.name

    items = []
    for path in sorted((pages / folder).glob("*"), key=rank):
        if path.suffix == ".md":
            items.append(entry(pages, path.relative_to(pages)))
        elif (path / "README.md").is_file():
            items.append({title_of(path / "README.md"): shelf(pages, folder / path.name)})
    return items


def expanded(pages, items):
    """The navigation of mkdocs.yml with the pages of each folder in its place."""
    result = []
    for item in items:
        if isinstance(item, dict):
            result += [{title: inner if isinstance(inner, str) else expanded(pages, inner)}
                       for title, inner in item.items()]  # fmt: skip
        elif item.endswith("/"):
            result += shelf(pages, Path(item))
        else:
            result.append(entry(pages, Path(item)))
    return [item for item in result if not isinstance(item, dict) or all(item.values())]


def on_config(config):
    config["nav"] = expanded(Path(config["docs_dir"]), config["nav"])
    return config


def on_nav(nav, **_):
    """Adds the C++ reference, which is no page of mkdocs. A section opens the page of its name."""
    from mkdocs.structure.nav import Link

    for page in nav.pages:
        if Path(page.file.abs_src_path).with_suffix("").is_dir():
            page.file.name = "index"
    [reference] = (item for item in nav.items if item.title == "Reference")
    reference.children.append(Link("C++ classes and functions", CPP.as_posix()))
    return nav


if __name__ == "__main__":
    main()
