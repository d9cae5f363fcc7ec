"""The panel that binds meshes to the armature."""

import bpy

from ..operators.auto_bind import TAKT_OT_auto_bind
from .sidebar import SidebarPanel


class TAKT_PT_bind(SidebarPanel):
    """Bind the selected meshes."""

    bl_label = "Bind"

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the button."""
        assert self.layout is not None
        self.layout.operator(TAKT_OT_auto_bind.bl_idname, icon="BONE_DATA")
