"""Play on Character: move the active character's score, with all its settings, to another character."""

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import StringProperty

from ..bridge import properties
from ..bridge.active_character import ForScore, active_armature
from ..bridge.reports import refuse, report
from ..bridge.scores import given_score, score_tree


class TAKT_OT_play_on_character(ForScore, bpy.types.Operator):
    """Let this character play the score too, with the same settings, and make it the active one"""

    bl_idname = "takt.play_on_character"
    bl_label = "Play on Character"
    bl_options = {"REGISTER", "UNDO"}

    if TYPE_CHECKING:
        character: str
    else:
        character: StringProperty(name="Character", description="The armature that is to play the score",
                                  options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Give it the score, and make it active."""
        active, scene, layer = active_armature(context), context.scene, context.view_layer
        assert active is not None and scene is not None and layer is not None  # poll has checked it
        picked = next((ob for ob in given_score.characters(scene) if ob.name == self.character), None)
        if picked is None:
            return refuse(self, f"no character called '{self.character}' in this scene can play a score")
        if picked != active and not given_score.plays_as(picked, properties.character(active)):
            given_score.give(active, picked)
        for ob in context.selected_objects:
            ob.select_set(False)
        if picked.visible_get():
            picked.select_set(True)
        layer.objects.active = picked
        for tree in score_tree.trees():
            if tree.is_editable and tree.character == active:
                tree.character = picked
        text = properties.character(picked).text
        report(self, {"INFO"}, f"'{picked.name}' plays '{'' if text is None else text.name}'")
        return {"FINISHED"}
