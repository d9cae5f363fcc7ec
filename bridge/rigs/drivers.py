"""Drivers: driven channels of bones override keys; drivers of files with clips must not run Python."""

from collections.abc import Collection, Iterable
from typing import Any

import bpy

from .armature import bone_property

_MOVES = ("location", "scale")
_TURNS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
"""The rotation property by a bone's rotation mode; in all other modes it is `rotation_euler`."""
_MUTES = ("mute", "enabled")
"""Properties of a constraint: one setting with two names."""


def driven_paths(armature_object: bpy.types.Object) -> set[str]:
    """Return the data paths of all driven properties; muted and broken drivers are ignored."""
    animation = armature_object.animation_data
    return {curve.data_path for curve in animation.drivers
            if not curve.mute and curve.is_valid and curve.driver is not None and curve.driver.is_valid
            } if animation else set()


def driven_bones(armature_object: bpy.types.Object, keyed: Collection[str] | None = None) -> set[str]:
    """Return the bones that drivers move.

    keyed: data paths; if given, only bones whose keyed channels have drivers are returned.
    """
    assert armature_object.pose is not None
    bones, found = armature_object.pose.bones, set[str]()
    for path in driven_paths(armature_object):
        name, driven = bone_property(path) or ("", "")
        bone = bones.get(name)
        if bone is not None and (driven in _MOVES or driven == _TURNS.get(bone.rotation_mode, "rotation_euler")) and (
                keyed is None or path in keyed):
            found.add(name)
    return found


def is_muted_by(driven: Collection[str], constraint: bpy.types.Constraint) -> bool:
    """Return whether a driver controls the muting of a constraint; driven: see driven_paths."""
    return bool(driven) and any(constraint.path_from_id(name) in driven for name in _MUTES)


def remove_python(blocks: Iterable[bpy.types.ID]) -> None:
    """Remove drivers that run Python; those that Blender computes itself stay."""
    for block in blocks:
        for owner in (block, getattr(block, "node_tree", None)):
            animation: Any = getattr(owner, "animation_data", None)
            for curve in list(animation.drivers) if animation else ():
                if curve.driver.type == "SCRIPTED" and not curve.driver.is_simple_expression:
                    animation.drivers.remove(curve)
