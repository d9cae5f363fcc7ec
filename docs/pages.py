"""Turn README.md and the pages of docs/ into HTML beside them: `python3 docs/pages.py ROOT`, as the build does.

The extension carries its manual with it, so that *Help* needs no network.
"""

import re
import sys
from pathlib import Path

import markdown

PAGES = {
    "README": "Takt", "score-editor": "Score editor", "pha": "Score language", "pha-reference": "Language reference",
    "game-engines": "Game engines",
    "tweaks": "Tweaks", "retargeting": "From a clip to a body", "contacts": "Contacts",
    "binding-in-blender": "Binding", "preview": "Preview", "command": "Command", "binding": "How binding works",
    "architecture": "How Takt is built",
}
"""File name without its ending → its title; in the order of the menu, the README as index.html."""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>{style}</style></head>
<body><nav>{menu}</nav><main>{body}</main></body></html>
"""

_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0; display: flex; gap: 3em; padding: 2em;
       justify-content: center }
nav { flex: 0 0 11em; position: sticky; top: 2em; align-self: start; line-height: 2 }
nav a { display: block; text-decoration: none } nav a[aria-current] { font-weight: bold; color: inherit }
main { flex: 0 1 50em; min-width: 0 } img { max-width: 100% } h1 { margin-top: 0 }
pre { overflow: auto; padding: .8em 1em; border-radius: 6px; background: #8882 }
table { border-collapse: collapse } td, th { border: 1px solid #8886; padding: .25em .6em; text-align: left;
        vertical-align: top }
"""


def main(root: Path) -> None:
    """Write every page."""
    docs = root / "docs"
    for page in PAGES:
        source = root / "README.md" if page == "README" else docs / f"{page}.md"
        text = source.read_text(encoding="utf-8")
        if page == "README":  # its page lies one folder deeper than itself
            text = re.sub(r"\]\((?!https?:|#)(docs/)?", lambda found: "](" if found[1] else "](../", text)
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"])
        (docs / file_name(page)).write_text(
            _PAGE.format(title=PAGES[page], style=_STYLE, menu=menu(page), body=linked(body)), encoding="utf-8")


def file_name(page: str) -> str:
    """Return the name of a page's file."""
    return "index.html" if page == "README" else f"{page}.html"


def menu(current: str) -> str:
    """Return links to all pages."""
    return "".join(f'<a href="{file_name(page)}"{" aria-current=page" if page == current else ""}>{title}</a>'
                   for page, title in PAGES.items())


def linked(body: str) -> str:
    """Let links to pages lead to their HTML."""
    pages = "|".join(map(re.escape, PAGES))
    return re.sub(rf'href="(?:\.\./)?({pages})\.md', lambda found: f'href="{file_name(found[1])}', body)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
