"""Bend joints to see how their skin follows, and restore them exactly.

The original rotations are stored with the armature object, so that undo, saving and loading keep them. Keys are
never changed: the bones are rotated as in posing by hand.
"""

from collections.abc import Iterable, Sequence
from typing import Any, cast

import bpy
from mathutils import Euler, Quaternion, Vector

_KEPT = "takt_bend_test"
_AXIS = Vector((1.0, 0.0, 0.6)).normalized()
"""The bend axis in the bone's own space: mostly that of the hinge, partly sideways, so that limbs leave parts beside
them."""
_ATTRIBUTES = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}

_reports: dict[int, tuple[str, ...]] = {}
"""The last report by the session_uid of the armature's object."""


def is_bent(armature_object: bpy.types.Object) -> bool:
    """Return whether joints are bent and have to be restored."""
    return _KEPT in cast(Any, armature_object)


def bendable(armature_object: bpy.types.Object) -> list[bpy.types.PoseBone]:
    """Return the bones that deform, have a parent, and follow no constraint."""
    assert armature_object.pose is not None
    return [bone for bone in armature_object.pose.bones if bone.bone.use_deform and bone.parent is not None
            and not any(constraint.enabled for constraint in bone.constraints)]


def keep(armature_object: bpy.types.Object, bones: Iterable[bpy.types.PoseBone], frame: float) -> None:
    """Store the rotations of bones for `put_back`."""
    cast(Any, armature_object)[_KEPT] = {"frame": frame, "bones": {
        bone.name: {"mode": bone.rotation_mode, "rotation": list(getattr(bone, _attribute(bone)))} for bone in bones}}


def bend(armature_object: bpy.types.Object, name: str, angle_rad: float) -> None:
    """Rotate a bone by an angle from its stored rotation; a bone that was renamed or removed stays."""
    assert armature_object.pose is not None
    bone = armature_object.pose.bones.get(name)
    if bone is None:
        return
    kept = cast(Any, armature_object)[_KEPT]["bones"][name]
    turn = Quaternion(_AXIS, angle_rad)
    values = list(kept["rotation"])
    if bone.rotation_mode == "QUATERNION":
        bone.rotation_quaternion = Quaternion(values) @ turn
    elif bone.rotation_mode == "AXIS_ANGLE":
        axis, angle = (Quaternion(values[1:], values[0]) @ turn).to_axis_angle()
        cast(Any, bone).rotation_axis_angle = (angle, axis.x, axis.y, axis.z)
    else:
        before = Euler(values, cast(Any, bone.rotation_mode))
        bone.rotation_euler = (before.to_quaternion() @ turn).to_euler(cast(Any, bone.rotation_mode), before)


def bend_all(armature_object: bpy.types.Object, angle_rad: float, frame: float) -> int:
    """Bend every joint, each to the opposite side of its parent; return their number."""
    bones = bendable(armature_object)
    keep(armature_object, bones, frame)
    for bone in bones:
        bend(armature_object, bone.name, angle_rad * (-1.0) ** len(bone.parent_recursive))
    return len(bones)


def put_back(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Restore the rotations of all bones; if the frame has changed since, animated bones follow their keys."""
    holder = cast(Any, armature_object)
    kept = holder[_KEPT].to_dict()
    assert armature_object.pose is not None
    for name, was in kept["bones"].items():
        bone = armature_object.pose.bones.get(name)
        if bone is not None:
            if bone.rotation_mode != was["mode"]:
                bone.rotation_mode = was["mode"]
            setattr(bone, _attribute(bone), was["rotation"])
    del holder[_KEPT]
    if armature_object.animation_data is not None and scene.frame_current_final != kept["frame"]:
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


def keep_report(armature_object: bpy.types.Object, lines: Sequence[str]) -> None:
    """Store the report of a bend test."""
    _reports[armature_object.session_uid] = tuple(lines)


def last_report(armature_object: bpy.types.Object | None) -> tuple[str, ...]:
    """Return the lines of the last bend report; none if the character was bound again after it."""
    return () if armature_object is None else _reports.get(armature_object.session_uid, ())


def forget_report(armature_object: bpy.types.Object) -> None:
    """Remove the report, since the weights have changed."""
    _reports.pop(armature_object.session_uid, None)


def _attribute(bone: bpy.types.PoseBone) -> str:
    return _ATTRIBUTES.get(bone.rotation_mode, "rotation_euler")
