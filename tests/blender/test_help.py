"""The manual: a page for each panel and for every operator, all there."""

import fnmatch
from collections import Counter
from typing import Any, cast

import bpy
import pytest

from takt.operators import help as manual
from takt.panels.sidebar import SidebarPanel


def test_every_operator_is_given_a_page_and_blender_finds_it() -> None:
    registered = {cls.bl_idname.partition(".")[2] for cls in all_operators(bpy.types.Operator)
                  if cls.__name__.startswith("TAKT_OT_") and cls.is_registered}
    assert registered == set(dir(cast(Any, bpy.ops).takt))
    given = Counter(name for names in manual._OPERATORS.values() for name in names)
    assert {name for name, count in given.items() if count > 1} == set()
    without, gone = registered - given.keys(), given.keys() - registered
    assert not without, f"give these a page in operators/help.py: {sorted(without)}"
    assert not gone, f"these are no operators any more: {sorted(gone)}"
    pages = next(pages for _, pages in cast(Any, bpy.utils).manual_map() if "bpy.ops.takt.help" in dict(pages))
    for page, names in manual._OPERATORS.items():
        for name in names:
            found = next(url for pattern, url in pages if fnmatch.fnmatchcase(f"bpy.ops.takt.{name}", pattern))
            assert found == manual.address(page) and found.startswith("file:")


def all_operators(above: Any) -> list[Any]:
    return [cls for below in above.__subclasses__() for cls in (below, *all_operators(below))]


@pytest.mark.parametrize("page", sorted({page for _, page in manual._PAGES}
                                        | {panel.manual for panel in SidebarPanel.__subclasses__() if panel.manual}
                                        | {"index"}))
def test_pages_are_written(page: str) -> None:
    written = manual._DOCS.parent / "README.md" if page == "index" else manual._DOCS / f"{page}.md"
    assert written.exists()
