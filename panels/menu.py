"""Takt's menu in the 3D viewport, through which Menu Search (F3) finds the operators of the sidebar."""

from typing import Any, cast

import bpy

from ..bridge import language
from ..bridge.guard import guarded
from ..preview import life

_VERBS: tuple[tuple[str, Any] | None, ...] = (
    ("takt.fit_skeleton", "ARMATURE_DATA"), ("takt.auto_bind", "BONE_DATA"),
    ("takt.bend_test", "CON_ROTLIKE"), ("takt.bend_report", "TEXT"), None,
    ("takt.new_score", "ADD"), ("takt.score_editor", "SEQ_SEQUENCER"), ("takt.rebuild", "FILE_REFRESH"), None,
    ("takt.play_clip", "ACTION"), ("takt.retarget_clips", "FILE_FOLDER"), None,
    ("takt.preview", "HIDE_OFF"), ("takt.render_film", "RENDER_ANIMATION"))
"""What one does to a character, with a line between kinds."""
_MENUS: tuple[Any, ...] = (bpy.types.VIEW3D_MT_object, bpy.types.VIEW3D_MT_pose)


class TAKT_MT_takt(bpy.types.Menu):
    """All verbs of Takt in one place."""

    bl_label = "Takt"

    def draw(self, _context: bpy.types.Context | None) -> None:
        """Draw the operators; those that need a file ask for it here too."""
        layout = self.layout
        assert layout is not None
        layout.operator_context = "INVOKE_REGION_WIN"
        for verb in _VERBS:
            if verb is None:
                layout.separator()
            else:
                layout.operator(verb[0], icon=verb[1])


def register() -> None:
    """Add it to the menus of the modes in which characters are bound and played."""
    language.register_class(TAKT_MT_takt)
    for menu in _MENUS:
        menu.append(_draw)
    cast(Any, bpy.types.VIEW3D_MT_view).prepend(_before_viewport_render)


def unregister() -> None:
    """Remove it."""
    cast(Any, bpy.types.VIEW3D_MT_view).remove(_before_viewport_render)
    for menu in _MENUS:
        menu.remove(_draw)
    bpy.utils.unregister_class(TAKT_MT_takt)


@guarded(None)
def _draw(menu: Any, _context: bpy.types.Context) -> None:
    menu.layout.separator()
    menu.layout.menu(TAKT_MT_takt.__name__)


@guarded(None)
def _before_viewport_render(_menu: Any, _context: bpy.types.Context) -> None:
    """Show the previewed characters in a viewport render that is started from this menu."""
    life.show_originals()
