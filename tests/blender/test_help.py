"""The manual: a page for each panel and for every operator, all there."""

import re
from typing import Any, cast

import bpy
import pytest

from takt.operators import help as manual
from takt.panels.sidebar import SidebarPanel


def test_blender_finds_the_page_of_every_operator() -> None:
    pages = next(pages for _, pages in cast(Any, bpy.utils).manual_map() if dict(pages).get("bpy.ops.takt.*"))
    for name in dir(cast(Any, bpy.ops).takt):
        page = next(page for pattern, page in pages if re.fullmatch(pattern.replace("*", ".*"), f"bpy.ops.takt.{name}"))
        assert page.startswith("file:")
    assert dict(pages)["bpy.ops.takt.auto_bind"] == manual.address("binding-in-blender")


@pytest.mark.parametrize("page", sorted({page for _, page in manual._PAGES}
                                        | {panel.manual for panel in SidebarPanel.__subclasses__() if panel.manual}
                                        | {"index"}))
def test_pages_are_written(page: str) -> None:
    written = manual._DOCS.parent / "README.md" if page == "index" else manual._DOCS / f"{page}.md"
    assert written.exists()
