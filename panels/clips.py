"""The panel of clips that the active armature plays without a score."""

import bpy

from ..bridge.active_character import active_armature
from ..operators.play_clip import TAKT_OT_play_clip
from ..operators.retarget_clips import TAKT_OT_retarget_clips
from .sidebar import SidebarPanel


class TAKT_PT_clips(SidebarPanel):
    """Play a clip of a file, or make Actions of a whole folder."""

    bl_label = "Clips"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Tell whether there is an armature."""
        return active_armature(context) is not None

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw the buttons."""
        assert self.layout is not None
        self.layout.operator(TAKT_OT_play_clip.bl_idname, text="Play Clip…", icon="ACTION", translate=False)
        self.layout.operator(TAKT_OT_retarget_clips.bl_idname, text="Retarget Clips…", icon="FILE_FOLDER",
                             translate=False)
