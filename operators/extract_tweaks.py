"""Extract Tweaks: a person's changes of an Action become tweaks above the score."""

from collections.abc import Collection
from typing import Any, Final

import bpy

from ..bridge import properties
from ..bridge.actions import action as action_
from ..bridge.actions.write_motion import without_tweaks, write_motion
from ..bridge.active_character import ForScore, active_armature
from ..bridge.reports import refuse, report
from ..bridge.scores import score
from ..bridge.tweaking import tweak_extraction, tweaks
from ..core.errors import TaktError, some_of
from .tweak_base import turned_otherwise

_SHOWN: Final = 8


class TAKT_OT_extract_tweaks(ForScore, bpy.types.Operator):
    """Turn the differences between the edited Action and the score into tweaks on top of the score"""

    bl_idname = "takt.extract_tweaks"
    bl_label = "Extract"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there are no changes to extract."""
        reason, armature_object = super().problem(context), active_armature(context)
        if reason or armature_object is None:
            return reason
        animation = armature_object.animation_data
        assigned = None if animation is None or animation.use_tweak_mode else animation.action
        if assigned is None:
            return "No Action is assigned that could have been changed: assign the Action that you edited"
        if assigned in [each for _, each in tweaks.layers_of(armature_object)]:
            return f"'{assigned.name}' holds tweaks already: assign the Action that you edited"
        own = properties.character(armature_object).action
        if assigned == own and not action_.is_edited_by_hand(armature_object):
            own_keys = action_.told_of_own_keys(action_.own_keys(armature_object))
            return own_keys or f"'{assigned.name}' has not been edited by hand: assign the Action that you edited"
        return ""

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Find the differences, then assign the score's Action with the tweaks above it."""
        armature_object, scene = active_armature(context), context.scene
        assert armature_object is not None and scene is not None and armature_object.animation_data is not None
        motion, source = score.motion_of(armature_object), armature_object.animation_data.action
        assert source is not None  # poll has checked it
        if motion is None:
            return refuse(self, f"The score cannot be played: {score.error_of(armature_object) or 'it is empty'}")
        try:
            written = without_tweaks(armature_object, scene, motion)
        except TaktError as error:
            return refuse(self, str(error))
        differences = tweak_extraction.differences(source, armature_object, scene, motion.skeleton, written)
        found, character = differences.found, properties.character(armature_object)
        left_out = f"Muted or missing curves are left out: {some_of(differences.left_out, _SHOWN)}"
        if not found:
            if differences.left_out:
                report(self, {"WARNING"}, left_out)
            return refuse(self, f"'{source.name}' does not differ from the score: there is nothing to turn into tweaks")
        action_.keep_in_file(source)
        armature_object.animation_data.action = None
        is_own = character.action == source
        turned = self._use_quaternions(armature_object, differences.turned_otherwise)
        if is_own:
            action_.put_copy_in_place(armature_object)
        write_motion(self, context, armature_object, motion, character.frame_start)
        for bone in turned:  # the score does not turn all of them
            action_.switch_to_quaternions(bone, character)
        layer = tweaks.begin(armature_object, f"{armature_object.name} tweaks")
        count = tweak_extraction.write(layer, found)
        tweaks.look(armature_object, scene)
        if differences.left_out:
            report(self, {"WARNING"}, left_out)
        if differences.others and not is_own:
            report(self, {"WARNING"}, f"Keys that pose no bone are left out: {some_of(differences.others, _SHOWN)}")
        report(self, {"INFO"}, f"{count} keys of {len({bone for bone, *_ in found})} bones became tweaks in "
                              f"'{layer.name}'; '{source.name}' stays in the file")
        return {"FINISHED"}

    def _use_quaternions(self, armature_object: bpy.types.Object, names: Collection[str]) -> list[bpy.types.PoseBone]:
        """Let the score be written with quaternions if any of these bones has another mode; return those that have."""
        assert armature_object.pose is not None
        turned = [bone for bone in armature_object.pose.bones
                  if bone.name in names and bone.rotation_mode != "QUATERNION"]
        if turned:
            properties.character(armature_object).rotations = "QUATERNION"
            count = len(turned_otherwise(armature_object).union(bone.name for bone in turned))
            report(self, {"INFO"}, f"{count} bones now use quaternion rotation: the same change of "
                                   "Euler angles is a different rotation in each pose")
        return turned
