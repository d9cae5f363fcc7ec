"""Drawing of the interface: the tab "Takt" in the sidebar of the 3D viewport."""

import bpy

from ..bridge import language
from . import menu, transition_methods
from .bind import TAKT_PT_bind
from .clips import TAKT_PT_clips
from .keymap import remove_shortcuts, use_shortcuts
from .music import TAKT_PT_music
from .preferences import TAKT_AP_preferences, TAKT_UL_libraries, chosen_shortcuts
from .preview import TAKT_PT_preview, TAKT_PT_preview_more
from .score import TAKT_PT_score, TAKT_UL_clips, TAKT_UL_procedures
from .score_editor import header as score_header
from .score_editor import keymap as score_keymap
from .score_editor import node_panels
from .score_editor import sidebar as score_sidebar
from .skeleton_map import TAKT_PT_skeleton_map, TAKT_UL_joints
from .tweaks import TAKT_UL_tweaks

_CLASSES = (
    TAKT_UL_clips,
    TAKT_UL_procedures,
    TAKT_UL_tweaks,
    TAKT_UL_libraries,
    TAKT_AP_preferences,
    TAKT_PT_bind,
    TAKT_PT_score,
    TAKT_PT_music,
    TAKT_PT_clips,
    TAKT_UL_joints,
    TAKT_PT_skeleton_map,
    TAKT_PT_preview,
    TAKT_PT_preview_more,
    *score_header.CLASSES,
    *score_sidebar.CLASSES,
    *transition_methods.CLASSES,
)


def register() -> None:
    """Register the panels."""
    for cls in _CLASSES:
        language.register_class(cls)
    use_shortcuts(chosen_shortcuts())
    score_keymap.register()
    score_header.register()
    node_panels.register()
    menu.register()


def unregister() -> None:
    """Unregister the panels."""
    menu.unregister()
    node_panels.unregister()
    score_header.unregister()
    score_keymap.unregister()
    remove_shortcuts()
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
    transition_methods.unregister()
