"""Bones without vertices in the last binding, and those that the user has marked as moving skin.

The mark is a custom property of each bone, so undo, renaming, saving and appending keep it. The reasons
are kept until Blender ends.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import bpy

from ...core.binding.idle import IdleBones
from .. import versions

CHOSEN: Final = "takt_moves_skin"
"""The property of a bone that the user has marked as moving skin, whatever its name and position say."""

_idle: dict[int, IdleBones] = {}
"""The bones without vertices at the last binding, by the session_uid of the armature's object."""


def is_chosen(bone: bpy.types.Bone) -> bool:
    """Return whether the user has marked a bone as moving skin."""
    return bool(cast(Any, bone).get(CHOSEN))


def choose(bones: Iterable[bpy.types.Bone], *, chosen: bool) -> None:
    """Mark or unmark bones as moving skin; Auto-bind decides about unmarked ones."""
    for bone in bones:
        holder = cast(Any, bone)
        if chosen:
            holder[CHOSEN] = True
        elif CHOSEN in holder:
            del holder[CHOSEN]


def chosen_bones(armature_object: bpy.types.Object) -> list[bpy.types.Bone]:
    """Return the bones that the user has marked as moving skin."""
    return [bone for bone in cast(bpy.types.Armature, armature_object.data).bones if is_chosen(bone)]


def keep(armature_object: bpy.types.Object, idle: IdleBones) -> None:
    """Store the bones that a binding has left without vertices, with the reasons."""
    _idle[armature_object.session_uid] = idle


def last_idle(armature_object: bpy.types.Object) -> list[tuple[str, list[str]]]:
    """Return the bones that the last binding left without vertices, by reason; only those that exist and deform now."""
    idle = _idle.get(armature_object.session_uid, IdleBones())
    bones = cast(bpy.types.Armature, armature_object.data).bones
    found = [(role.value, [name for name in names if (bone := bones.get(name)) is not None and bone.use_deform])
             for role, names in idle.by_role]
    return [(why, names) for why, names in found if names]


def idle_bones(armature_object: bpy.types.Object) -> list[bpy.types.Bone]:
    """Return the bones that had no vertices at the last binding."""
    bones = cast(bpy.types.Armature, armature_object.data).bones
    return [bones[name] for _, names in last_idle(armature_object) for name in names]


def selected_bones(armature_object: bpy.types.Object) -> list[bpy.types.Bone]:
    """Return the bones that are selected in Pose Mode; empty in other modes."""
    if armature_object.mode != "POSE" or armature_object.pose is None:
        return []
    return [pose_bone.bone for pose_bone in armature_object.pose.bones if versions.is_selected(pose_bone)]


def select(context: bpy.types.Context, armature_object: bpy.types.Object, bones: Sequence[bpy.types.Bone]) -> None:
    """Go to Pose Mode with only these bones selected; hidden ones are unhidden."""
    assert context.view_layer is not None and armature_object.pose is not None
    if context.active_object is not None and context.active_object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    context.view_layer.objects.active = armature_object
    bpy.ops.object.mode_set(mode="POSE")
    names = {bone.name for bone in bones}
    versions.select_only([each for each in armature_object.pose.bones if each.name in names], armature_object)


def hidden_bones(bones: Iterable[bpy.types.Bone]) -> list[str]:
    """Return the names of bones that none of their bone collections shows."""
    return [bone.name for bone in bones if bone.collections and not any(each.is_visible_effectively
                                                                        for each in bone.collections)]
