"""Help: the manual that comes with the extension, at the page about the item under the mouse."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import bpy

_DOCS = Path(__file__).resolve().parent.parent / "docs"

_OPERATORS: Final[Mapping[str, tuple[str, ...]]] = {
    "binding-in-blender": ("auto_bind", "bend_in_turn", "bend_report", "bend_test", "fit_skeleton", "improve_weights",
                           "select_idle_bones", "show_zones", "use_bones"),
    "score-in-blender": (
        "add_sample", "change_libraries", "edit_score", "forget_folder", "help", "import_pha", "insert_clip",
        "keep_mine", "new_score", "play_on_character", "rebuild", "reload_score", "same_score", "save_score",
        "seed_each"),
    "formats": ("export_ogre", "export_performance", "import_character", "import_ogre"),
    "transitions": ("choose_method",),
    "game-engines": ("export_procedures", "procedure_actions"),
    "preview": ("player", "preview", "render_film", "select_character"),
    "retargeting": ("find_map", "play_clip", "retarget_clips", "save_map", "set_reference_pose"),
    "score-editor": (
        "add_clip_files", "add_clip_folder", "choose_music", "favourite_clip", "find_beats", "mark_clip_assets",
        "move_folder", "remove_music", "save_clip", "score_add", "score_add_asset", "score_automatic", "score_beside",
        "score_box_select", "score_clip_menu", "score_contact", "score_contacts_on", "score_copy", "score_delete",
        "score_dissolve", "score_drag", "score_drop_file", "score_duplicate", "score_editor", "score_frame",
        "score_group", "score_loop", "score_mirror", "score_no_nodes", "score_open", "score_open_file", "score_pan",
        "score_paste", "score_reverse", "score_scrub", "score_select", "score_shelf", "score_single", "score_split",
        "score_zoom", "tag_clip"),
    "tweaks": ("bake_tweaks", "breakdown", "clean_tweaks", "extract_tweaks", "load_tweaks", "save_tweaks",
               "score_delete_tweak", "score_tweak", "tweak", "tweak_call"),
}
"""The operators by the page that describes them. Each operator is listed once, so that a new one gets a page."""

_PAGES: Final = (*((f"bpy.ops.takt.{name}", page) for page, names in _OPERATORS.items() for name in names),
                 ("bpy.types.takt*", "score-in-blender"))
"""Pattern of what is under the mouse, in lower case → the page for Blender's own *Online Manual*."""


class TAKT_OT_help(bpy.types.Operator):
    """Open Takt's manual in the browser, from this computer"""

    bl_idname = "takt.help"
    bl_label = "Manual"
    bl_options = {"INTERNAL"}

    if TYPE_CHECKING:
        page: str
    else:
        page: bpy.props.StringProperty(default="index", options={"HIDDEN", "SKIP_SAVE"})

    def execute(self, _context: bpy.types.Context) -> "set[Any]":
        """Open the page, as text if the extension was not installed from a built zip."""
        bpy.ops.wm.url_open(url=address(self.page))
        return {"FINISHED"}


def address(page: str) -> str:
    """Return the address of a page, as a file on this computer."""
    built = _DOCS / f"{page}.html"
    written = _DOCS.parent / "README.md" if page == "index" else _DOCS / f"{page}.md"
    return (built if built.exists() else written).as_uri()


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the map that Blender asks for: the manual's address, and the page of each name."""
    return "", tuple((pattern, address(page)) for pattern, page in _PAGES)
