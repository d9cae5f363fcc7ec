"""Drawing of the interface: the tab "Takt" in the sidebar of the 3D viewport."""

import bpy

from .bind import TAKT_PT_bind
from .preview import TAKT_PT_preview
from .score import TAKT_PT_score
from .skeleton_map import TAKT_PT_skeleton_map, TAKT_UL_joints

_CLASSES = (TAKT_PT_bind, TAKT_PT_score, TAKT_UL_joints, TAKT_PT_skeleton_map, TAKT_PT_preview)


def register() -> None:
    """Show the panels."""
    for cls in _CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Take the panels away."""
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
