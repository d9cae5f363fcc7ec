"""The panel of clips that the active armature plays without a score."""

import bpy

from ..bridge.active_character import active_armature
from ..bridge.language import say
from ..operators.play_clip import TAKT_OT_play_clip
from ..operators.retarget_clips import TAKT_OT_retarget_clips
from ..operators.save_clip import TAKT_OT_save_clip
from .sidebar import SidebarPanel


class TAKT_PT_clips(SidebarPanel):
    """Play a clip of a file, make Actions of a whole folder, or choose one of the Actions that there are."""

    bl_label = "Clips"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether there is an armature."""
        return active_armature(context) is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the buttons, and a choice of the played Action."""
        armature_object = active_armature(context)
        assert self.layout is not None and armature_object is not None  # poll has checked it
        self.layout.operator(TAKT_OT_play_clip.bl_idname, text=say("Play Clip…"), icon="ACTION", translate=False)
        self.layout.operator(TAKT_OT_retarget_clips.bl_idname, text=say("Retarget Clips…"), icon="FILE_FOLDER",
                             translate=False)
        self.layout.operator(TAKT_OT_save_clip.bl_idname, text=say("Save as Clip…"), icon="EXPORT", translate=False)
        if len(bpy.data.actions):
            self.layout.template_action(armature_object, new="", unlink="")
