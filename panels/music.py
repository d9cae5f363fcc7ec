"""The panel of the music of the active armature's score."""

import bpy

from ..bridge import libraries, properties
from ..bridge.active_character import active_armature
from ..bridge.language import say
from ..bridge.scores import score, score_music
from ..operators.music import TAKT_OT_choose_music, TAKT_OT_find_beats, TAKT_OT_remove_music
from .sidebar import SidebarPanel, draw_words


class TAKT_PT_music(SidebarPanel):
    """Choose the music, and lay the score's ticks on its beats."""

    bl_label = "Music"
    bl_parent_id = "TAKT_PT_score"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether there is a score."""
        armature_object = active_armature(context)
        return armature_object is not None and properties.character(armature_object).text is not None

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the score's music, and the buttons."""
        layout, armature_object = self.layout, active_armature(context)
        assert layout is not None and armature_object is not None  # poll has checked it
        motion = score.last_good(armature_object.session_uid)
        music = None if motion is None else motion.sequence.origins.places.documents[0].music
        if music is not None:
            layout.label(text=say(f"{music.src}, from {music.offset_s:.2f} s"), icon="SOUND", translate=False)
            if score_music.is_gone(armature_object, music.src):
                path = libraries.absolute(properties.character(armature_object).sound, armature_object)
                draw_words(layout, context, f"{path} is gone: bring it back, or choose the music again", "ERROR")
        row = layout.row(align=True)
        row.operator(TAKT_OT_choose_music.bl_idname, text=say("Choose Music…"), icon="FILE_SOUND", translate=False)
        row.operator(TAKT_OT_remove_music.bl_idname, text="", icon="X")
        layout.operator(TAKT_OT_find_beats.bl_idname, icon="RNDCURVE")
