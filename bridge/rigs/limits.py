"""The limits of an armature's joints: Limit Rotation constraints in the bone's own space, else IK limits."""

from typing import cast

import bpy
import numpy as np

from ...core.playing.transitions.limits import Limits

_AXES = "xyz"
_FREE = (-np.inf, np.inf)
_QUATERNIONS_ORDER = "XYZ"
"""The order of the angles into which Blender splits a quaternion by default; Takt plays all bones by quaternions."""
_Ranges = tuple[tuple[tuple[float, float], ...], str]
"""The lowest and the highest angle about x, y and z, and the order in which they apply."""


def read_limits(armature_object: bpy.types.Object) -> Limits | None:
    """Return the limits of those bones that have any, in the order of the armature's bones, or None if none has."""
    assert armature_object.pose is not None
    bones = cast(bpy.types.Armature, armature_object.data).bones
    posed = [armature_object.pose.bones[bone.name] for bone in bones]
    found = [(index, limits) for index, bone in enumerate(posed)
             if (limits := _constrained(bone) or _of_ik(bone)) is not None]
    if not found:
        return None
    ranges = np.sort([ranges for _, (ranges, _) in found])
    order = np.array([["XYZ".index(axis) for axis in order] for _, (_, order) in found])
    return Limits(np.array([index for index, _ in found]), ranges[..., 0], ranges[..., 1], order)


def key(armature_object: bpy.types.Object) -> bytes:
    """Return a key that is equal for armatures with the same joint limits."""
    limits = read_limits(armature_object)
    return b"" if limits is None else b"".join(
        array.tobytes() for array in (limits.joints, limits.low, limits.high, limits.order))


def _constrained(bone: bpy.types.PoseBone) -> _Ranges | None:
    for constraint in bone.constraints:
        if (isinstance(constraint, bpy.types.LimitRotationConstraint) and constraint.enabled and not constraint.mute
                and constraint.influence > 0.0 and constraint.owner_space == "LOCAL"):
            ranges = tuple((getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}"))
                           if getattr(constraint, f"use_limit_{axis}") else _FREE for axis in _AXES)
            return ranges, _QUATERNIONS_ORDER if constraint.euler_order == "AUTO" else constraint.euler_order
    return None


def _of_ik(bone: bpy.types.PoseBone) -> _Ranges | None:
    if not any(getattr(bone, f"use_ik_limit_{axis}") for axis in _AXES):
        return None
    return tuple((getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}"))
                 if getattr(bone, f"use_ik_limit_{axis}") else _FREE for axis in _AXES), _QUATERNIONS_ORDER
