"""Turn README.md, CONTRIBUTING.md, CHANGELOG.md and docs/ into a manual in HTML: `python3 docs/pages.py ROOT [SITE]`.

Without SITE the pages are written beside their texts, as the build does: the extension carries its manual with it, so
that *Help* needs no network. With SITE, a folder, they come there with all that they show and lead to: a web site,
which works from disk too.
"""

import html
import json
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import markdown

PAGES: Final = {
    "README": "Takt", "tutorials": "Tutorials", "score-editor": "Score editor", "pha": "Score language",
    "scene": "Scenes", "transitions": "Transitions", "formats": "Clip formats", "pha-reference": "Language reference",
    "score-in-blender": "Scores in Blender", "tweaks": "Tweaks", "game-engines": "Game engines",
    "retargeting": "From a clip to a body", "contacts": "Contacts",
    "binding-in-blender": "Binding", "preview": "Preview", "command": "Command",
    "api": "For other add-ons", "binding": "How binding works",
    "binding-figures": "Binding, measured",
    "glossary": "Glossary", "architecture": "How Takt is built", "CONTRIBUTING": "Contributing", "CHANGELOG": "Changes",
}
"""File name without its ending → its title; in the order of the menu, the README as index.html."""
GALLERY: Final = "gallery"
AT_THE_TOP: Final = ("README", "CONTRIBUTING", "CHANGELOG")
"""Pages whose texts lie beside docs/, not in it."""
INDEX: Final = "search-index.js"
BESIDE: Final = ("style.css", "search.js")
"""What every page uses."""
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="style.css"></head>
<body><nav><details open><summary>Contents and search</summary>
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off">
{menu}</details></nav><main><div id="found" hidden></div><div id="page">{body}</div></main>
<script src="{index}"></script><script src="search.js"></script></body></html>
"""
_IMAGE: Final = re.compile(r'<img alt="([^"]*)" src="([^"]+)"')
_SECTION: Final = re.compile(r'(?=<h[123] id=")')
_HEADING: Final = re.compile(r'<h[123] id="([^"]+)">(.*?)</h[123]>', re.DOTALL)
_BEFORE_LIST: Final = re.compile(r"^(?![-*] |\d+\. )(\S.*\n)(?=[-*] |\d+\. )", re.MULTILINE)
"""A line of a paragraph that a list follows at once: Markdown's library wants a blank line there, readers do not."""
_LINK: Final = re.compile(r'(<(?:a|img) (?:[^>]*? )?(?:href|src)=")(?!https?:|mailto:|#)([^"#]*)(#[^"]*)?"')


class Page(NamedTuple):
    """A page: its name, title, and body in HTML, with links as in its text."""

    name: str
    title: str
    body: str


def main(root: Path, site: Path | None = None) -> None:
    """Write every page, the gallery and the index of the search."""
    to = site or root / "docs"
    if site is not None:
        shutil.rmtree(site, ignore_errors=True)
        site.mkdir(parents=True)
        for name in BESIDE:
            shutil.copy2(root / "docs" / name, site / name)
    bodies = [Page(name, title, body_of(root, name)) for name, title in PAGES.items()]
    pages = [page._replace(body=linked(root, page, site)) for page in bodies]
    pages.append(Page(GALLERY, "Gallery", gallery(pages)))
    for page in pages:
        text = _PAGE.format(title=page.title if page.name == "README" else f"{page.title} · Takt", menu=menu(page.name),
                            body=page.body, index=INDEX)
        (to / file_name(page.name)).write_text(text, encoding="utf-8")
    entries = [entry for page in pages[:-1] for entry in sections(page)]
    (to / INDEX).write_text(f"const INDEX = {json.dumps(entries, ensure_ascii=False)};\n", encoding="utf-8")


def source_of(name: str) -> str:
    """Return the path of a page's text below the root."""
    return f"{name}.md" if name in AT_THE_TOP else f"docs/{name}.md"


def body_of(root: Path, name: str) -> str:
    """Return a page's text as HTML; tables can be scrolled by themselves."""
    text = (root / source_of(name)).read_text(encoding="utf-8")
    parts = text.split("```")  # what stands between is code
    text = "```".join(part if number % 2 else _BEFORE_LIST.sub(r"\1\n", part) for number, part in enumerate(parts))
    body = str(markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"]))
    return body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")


def file_name(name: str) -> str:
    """Return the name of a page's file."""
    return "index.html" if name == "README" else f"{name.lower()}.html"


def menu(current: str) -> str:
    """Return links to all pages."""
    titles = {**PAGES, GALLERY: "Gallery"}
    return "".join(f'<a href="{file_name(page)}"{" aria-current=page" if page == current else ""}>{title}</a>'
                   for page, title in titles.items())


def linked(root: Path, page: Page, site: Path | None) -> str:
    """Let links to texts lead to their pages, and those to files lead there, or to their copy on the site."""
    pages = {source_of(name): file_name(name) for name in PAGES}

    def link(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source_of(page.name)), found[2]))
        if path in pages:
            return f'{found[1]}{pages[path]}{found[3] or ""}"'
        below_docs = posixpath.relpath(path, "docs")
        if site is None:
            return f'{found[1]}{below_docs}{found[3] or ""}"'
        to = below_docs if path.startswith("docs/") else posixpath.join("files", path)
        if (root / path).is_file():
            (site / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / path, site / to)
        return f'{found[1]}{to}{found[3] or ""}"'

    return _LINK.sub(link, page.body)


def gallery(pages: list[Page]) -> str:
    """Return all pictures, each once, with what is said of it, leading to its page."""
    shown: dict[str, str] = {}
    for page in pages:
        for alt, src in _IMAGE.findall(page.body):
            to = f'<a href="{file_name(page.name)}">'
            shown.setdefault(src, f'<figure>{to}<img loading="lazy" alt="{alt}" src="{src}"></a>'
                                  f"<figcaption>{alt} {to}{page.title}</a></figcaption></figure>")
    return f'<h1 id="gallery">Gallery</h1><div class="gallery">{"".join(shown.values())}</div>'


def sections(page: Page) -> Iterator[dict[str, str]]:
    """Yield each section of a page as the search wants it: address, page, heading and words."""
    for part in _SECTION.split(page.body):
        heading = _HEADING.match(part)
        if heading is not None:
            yield {"to": f"{file_name(page.name)}#{heading[1]}", "page": page.title, "heading": plain(heading[2]),
                   "text": plain(part[heading.end():])}


def plain(body: str) -> str:
    """Return the words of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
