"""Help: the manual that comes with the extension, at the page about what is under the mouse."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

_DOCS = Path(__file__).resolve().parent.parent / "docs"

_PAGES = (  # the first that fits counts
    ("bpy.ops.takt.score_*", "score-editor"),
    ("bpy.ops.takt.*music", "score-editor"),
    ("bpy.ops.takt.find_beats", "score-editor"),
    ("bpy.ops.takt.improve_weights", "binding-in-blender"),
    ("bpy.ops.takt.auto_bind", "binding-in-blender"),
    ("bpy.ops.takt.bend_*", "binding-in-blender"),
    ("bpy.ops.takt.show_zones", "binding-in-blender"),
    ("bpy.ops.takt.*_map", "retargeting"),
    ("bpy.ops.takt.set_reference_pose", "retargeting"),
    ("bpy.ops.takt.play_clip", "retargeting"),
    ("bpy.ops.takt.retarget_clips", "retargeting"),
    ("bpy.ops.takt.pre*", "preview"),
    ("bpy.ops.takt.player", "preview"),
    ("bpy.ops.takt.render_film", "preview"),
    ("bpy.ops.takt.*", "pha"),
    ("bpy.types.takt*", "pha"),
)
"""Pattern of what is under the mouse, in lower case → the page for Blender's own *Online Manual*."""


class TAKT_OT_help(bpy.types.Operator):
    """Open Takt's manual in the browser; it lies on this computer"""

    bl_idname = "takt.help"
    bl_label = "Manual"
    bl_options = {"INTERNAL"}

    if TYPE_CHECKING:
        page: str
    else:
        page: bpy.props.StringProperty(default="index", options={"HIDDEN", "SKIP_SAVE"})

    def execute(self, _context: bpy.types.Context) -> "set[Any]":
        """Open the page, as text where the extension was not installed from a built zip."""
        bpy.ops.wm.url_open(url=address(self.page))
        return {"FINISHED"}


def address(page: str) -> str:
    """Return the address of a page, as a file on this computer."""
    built = _DOCS / f"{page}.html"
    written = _DOCS.parent / "README.md" if page == "index" else _DOCS / f"{page}.md"
    return (built if built.exists() else written).as_uri()


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what Blender asks for: where the manual lies, and the page of each name."""
    return "", tuple((pattern, address(page)) for pattern, page in _PAGES)
