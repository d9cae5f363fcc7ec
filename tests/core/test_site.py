"""The manual as pages: no dead link, on the site and in the extension; the search finds sections that are there."""

import html
import json
import posixpath
import re
from pathlib import Path

import pytest

from takt.tests.beside import need_markdown

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_markdown()
    from takt.docs import pages

    made = tmp_path_factory.mktemp("site")
    pages.main(ROOT, made)
    return made


def dead(folder: Path) -> list[str]:
    """Return the links of a folder's pages that lead nowhere: to no file, or to no place in a page."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.html"))}
    places = {name: set(re.findall(r'\sid="([^"]+)"', text)) for name, text in texts.items()}
    found = []
    for name, text in texts.items():
        for link in re.findall(r'<(?:a|img|link|script) (?:[^>]*? )?(?:href|src)="([^"]+)"', text):
            path, _, place = html.unescape(link).partition("#")
            if re.match(r"https?:", path):
                continue
            to = posixpath.normpath(path) if path else name
            if not (folder / to).is_file() or (place and place not in places.get(to, set())):
                found.append(f"{name}: {link}")
    return found


def test_no_link_of_the_site_is_dead(site: Path) -> None:
    assert len(list(site.glob("*.html"))) > 12
    assert dead(site) == []
    assert 'src="Walk"' in (site / "formats.html").read_text(encoding="utf-8")  # code is left alone


def test_a_dead_link_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<h2 id="here">A</h2><a href="a.html#here">1</a><a href="a.html#there">2</a>'
                                     '<a href="b.html">3</a><img src="c.png"><a href="https://example.org">4</a>')
    assert dead(tmp_path) == ["a.html: a.html#there", "a.html: b.html", "a.html: c.png"]


def test_each_page_is_in_the_menu_of_each_and_fits_a_phone(site: Path) -> None:
    names = {path.name for path in site.glob("*.html")}
    for path in site.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        menu = text.partition("<nav>")[2].partition("</nav>")[0]
        assert set(re.findall(r'<a href="([^"]+)"', menu)) == names
        assert menu.count("aria-current") == 1 and 'name="viewport" content="width=device-width' in text
        assert text.count("<table>") == text.count('<div class="wide"><table>')


def test_each_page_of_docs_is_one_of_the_site(site: Path) -> None:
    from takt.docs import pages

    assert {path.stem for path in (ROOT / "docs").glob("*.md")} == set(pages.PAGES) - set(pages.AT_THE_TOP)


def test_the_search_knows_every_section(site: Path) -> None:
    entries = json.loads((site / "search-index.js").read_text(encoding="utf-8").removeprefix("const INDEX = ")
                         .removesuffix(";\n"))
    assert {"to", "page", "heading", "text"} == set(entries[0])
    found = {entry["to"] for entry in entries}
    for path in site.glob("*.html"):
        headings = re.findall(r'<h[123] id="([^"]+)"', path.read_text(encoding="utf-8"))
        assert {f"{path.name}#{heading}" for heading in headings} <= found | {"gallery.html#gallery"}
    assert any(entry["heading"] == "How to add a constraint" and "contacts" in entry["text"] for entry in entries)


def test_the_gallery_has_each_picture_once(site: Path) -> None:
    gallery = (site / "gallery.html").read_text(encoding="utf-8")
    shown = re.findall(r'<img [^>]*src="([^"]+)"', gallery)
    others = {src for path in site.glob("*.html") for src in re.findall(r'<img [^>]*src="([^"]+)"',
                                                                        path.read_text(encoding="utf-8"))}
    assert len(shown) == len(set(shown)) > 20 and set(shown) == others
    assert 'alt=""' not in gallery


def test_a_list_right_below_a_line_is_one(tmp_path: Path) -> None:
    need_markdown()
    from takt.docs import pages

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Its length is\n- one;\n  more\n- two.\n\n```\nx\n- y\n```\n")
    body = pages.body_of(tmp_path, "a")
    assert body.count("<li>") == 2 and "x\n- y" in body
