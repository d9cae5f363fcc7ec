"""Same Score for Selected: the other selected characters play the active one's score too."""

from typing import Any

import bpy

from ..bridge import properties
from ..bridge.actions import long_actions, write_motion
from ..bridge.active_character import ForScore, active_armature, armature_problem, score_problem
from ..bridge.files.read_progress import reading
from ..bridge.frame_rate import frames_per_second
from ..bridge.reports import in_brief, report
from ..bridge.scores import given_score, score


class TAKT_OT_same_score(ForScore, bpy.types.Operator):
    """Play the active character's score, with its settings, on all selected characters; edits show on all of them"""

    bl_idname = "takt.same_score"
    bl_label = "Same Score for Selected"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is no score, or no other character that could play it."""
        active = active_armature(context)
        if reason := score_problem(active):
            return reason
        return "" if _others(context, active) else "Select other characters as well, which do not play this score"

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Give the others Text and settings; as after New Score, each gets an Action of its own when it first plays."""
        active = active_armature(context)
        assert active is not None  # poll has checked it
        source, others = properties.character(active), _others(context, active)
        for other in others:
            given_score.give(active, other)
        assert source.text is not None
        if bpy.app.background:  # without a window no timer writes them
            for other in others:
                _write_action(self, context, other)
        report(self, {"INFO"}, f"{len(others) + 1} characters play '{source.text.name}'")
        return {"FINISHED"}


def _write_action(operator: bpy.types.Operator, context: bpy.types.Context, armature_object: bpy.types.Object) -> None:
    """Perform a character's score and write its Action, as a timer does with a window; report failures."""
    scene = context.scene
    assert scene is not None
    with reading(context) as formats:
        performance = score.performed(armature_object, formats)
    motion = performance.motion
    problem = ("" if performance.error is None else in_brief(performance.error)) or (
        "" if motion is None else long_actions.problem(motion, frames_per_second(scene)))
    if problem:
        report(operator, {"WARNING"}, f"'{armature_object.name}' has no Action: {problem}")
    elif motion is not None and properties.character(armature_object).keep_action:
        channels = write_motion.sampling(armature_object, scene, motion)(None)
        write_motion.write(armature_object, scene, motion, channels)


def _others(context: bpy.types.Context, active: bpy.types.Object | None) -> list[bpy.types.Object]:
    """Return the selected armatures that can play the active one's score but do not."""
    if active is None:
        return []
    armatures = [ob if ob.type == "ARMATURE" else ob.find_armature() for ob in context.selected_objects]
    return [ob for ob in dict.fromkeys(armatures) if ob is not None and ob != active and not armature_problem(ob)
            and not given_score.plays_as(ob, properties.character(active))]
