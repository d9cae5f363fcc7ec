"""The panel that switches the preview."""

import bpy

from ..operators.preview import TAKT_OT_preview
from ..preview import life
from .sidebar import SidebarPanel


class TAKT_PT_preview(SidebarPanel):
    """Watch characters as their score plays them."""

    bl_label = "Preview"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the switch and the choice of picture."""
        layout = self.layout
        assert layout is not None and context.window_manager is not None
        running = life.is_running()
        layout.operator(TAKT_OT_preview.bl_idname, text="Stop Preview" if running else "Preview",
                        icon="PAUSE" if running else "PLAY", depress=running)
        layout.row().prop(context.window_manager, "takt_picture", expand=True)
        if life.error():
            layout.label(text=life.error(), icon="ERROR")
