"""Same Score for Selected: what the active character plays, the others play too."""

from typing import Any

import bpy

from ..bridge import action, cast, following, properties
from ..bridge.active_character import ForScore, active_armature, armature_problem, score_problem


class TAKT_OT_same_score(ForScore, bpy.types.Operator):
    """Let all selected characters play the active one's score, by its settings; edits are then seen on all of them"""

    bl_idname = "takt.same_score"
    bl_label = "Same Score for Selected"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no score, or nobody who does not play it."""
        active = active_armature(context)
        if reason := score_problem(active):
            return reason
        return "" if _others(context, active) else "Select other characters besides, who do not play this score"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Give them Text and settings; as after New Score, each gets an Action of its own as soon as it plays."""
        active = active_armature(context)
        assert active is not None  # poll saw to it
        source, others = properties.character(active), _others(context, active)
        for other in others:
            character = properties.character(other)
            if character.action == source.action:  # a copy of the active one
                character.action = None
            action.put_aside(other)
            for name in ("text", "filepath", "frame_start", *properties.SETTING_NAMES, *properties.ACTION_NAMES):
                setattr(character, name, getattr(source, name))
            cast.copy(source, character)
            character.version = properties.VERSION
            following.want_action(other)
        assert source.text is not None
        self.report({"INFO"}, f"{len(others) + 1} characters play '{source.text.name}'")
        return {"FINISHED"}


def _others(context: bpy.types.Context, active: bpy.types.Object | None) -> list[bpy.types.Object]:
    """Return the selected armatures that can play the active one's score but do not."""
    if active is None:
        return []
    armatures = [ob if ob.type == "ARMATURE" else ob.find_armature() for ob in context.selected_objects]
    return [ob for ob in dict.fromkeys(armatures) if ob is not None and ob != active and not armature_problem(ob)
            and not _plays_as(ob, properties.character(active))]


def _plays_as(armature_object: bpy.types.Object, source: properties.TaktCharacter) -> bool:
    """Tell whether an armature has a score and plays its Action too, if there is one; a copy may have lost that."""
    own = properties.character(armature_object)
    has_action = own.action is not None and following.is_score_heard(armature_object)
    return own.text == source.text and (has_action or source.action is None)
