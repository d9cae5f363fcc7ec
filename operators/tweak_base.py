"""Common parts of operators on tweaks."""

import bpy

from ..bridge import properties
from ..bridge.actions.below_own_actions import is_own_action_assigned
from ..bridge.actions.write_motion import write_motion
from ..bridge.active_character import ForScore, active_armature
from ..bridge.reports import refuse, report
from ..bridge.rigs.armature import bone_property
from ..bridge.scores import following, score
from ..bridge.tweaking import tweaks


class ForTweaks(ForScore):
    """An operator that needs a character with tweaks."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there are none."""
        reason, armature_object = super().problem(context), active_armature(context)
        if reason or armature_object is None:
            return reason
        return "" if tweaks.has_tweaks(armature_object) else "There are no tweaks yet: Tweak begins a layer of them"


class ForScoreAction(ForScore):
    """An operator that needs a character whose score has an Action, above which tweaks can lie."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why nothing can be tweaked."""
        reason, armature_object = super().problem(context), active_armature(context)
        if reason or armature_object is None:
            return reason
        own = properties.character(armature_object).action
        if own is None:
            return "The score has no Action yet: Rebuild makes one"
        if not own.is_editable:
            return f"'{own.name}' is linked from another file: Rebuild makes an Action of its own"
        return ""


def turned_otherwise(armature_object: bpy.types.Object) -> set[str]:
    """Return the bones whose rotation the score's Action moves, and that do not use quaternions there, or no longer."""
    assert armature_object.pose is not None
    found, bones = set[str](), armature_object.pose.bones
    for path in properties.character(armature_object).written.splitlines():
        name, channel = bone_property(path) or ("", "")
        if channel.startswith("rotation") and name in bones and (
                channel != "rotation_quaternion" or bones[name].rotation_mode != "QUATERNION"):
            found.add(name)
    return found


def score_plays(operator: bpy.types.Operator, context: bpy.types.Context, armature_object: bpy.types.Object) -> bool:
    """Make sure that the score's Action is assigned, up to date, and uses quaternions; return whether it is."""
    character = properties.character(armature_object)
    turned = turned_otherwise(armature_object)
    is_ready = is_own_action_assigned(armature_object) and not following.is_older(armature_object)
    if is_ready and not turned:
        return True
    motion = score.motion_of(armature_object)
    if motion is None:
        refuse(operator, f"The score cannot be played: {score.error_of(armature_object) or 'it holds nothing yet'}")
        return False
    if turned:
        character.rotations = "QUATERNION"
        report(operator, {"INFO"}, f"{len(turned)} bones now use quaternion rotation: the same change of "
                              "Euler angles is a different rotation in each pose")
    write_motion(operator, context, armature_object, motion, character.frame_start)
    return True
