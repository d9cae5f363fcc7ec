"""Tweaks of control bones, as Rigify makes them: while their constraints are muted, they move no bone of the score."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.errors import some_of
from .. import properties
from ..rigs.armature import bone_property
from .tweak_placing import bag_of

_NAMES_SHOWN = 6
_Led = dict[str, list[str]]


def bones_of(action: bpy.types.Action) -> tuple[str, ...]:
    """Return the bones that an Action of tweaks has keys of, each once."""
    bag = bag_of(action)
    found = () if bag is None else (bone_property(curve.data_path) for curve in bag.fcurves)
    return tuple(dict.fromkeys(each[0] for each in found if each is not None))


def why_unheard(armature_object: bpy.types.Object, action: bpy.types.Action) -> str:
    """Return which bones with keys only act through muted constraints, and what to do, "" if none does."""
    pose = armature_object.pose
    if pose is None:
        return ""
    paths = properties.character(armature_object).written.splitlines()
    played = {found[0] for path in paths if (found := bone_property(path)) is not None}
    bones = [pose.bones[name] for name in bones_of(action) if name in pose.bones and name not in played]
    active, muted = _led(pose) if bones else ({}, {})
    names = tuple(bone.name for bone in bones if _is_idle(_reached(bone, active, pose), played, muted))
    return "" if not names else (
        f"'{action.name}' has keys of control bones, {some_of(names, _NAMES_SHOWN)}, whose constraints are muted while "
        "the score plays: they are kept, and move nothing; key the bones that deform the mesh instead")


def _is_idle(reached: list[bpy.types.PoseBone], played: set[str], muted: _Led) -> bool:
    """Tell whether bones neither deform anything nor are played, but would lead some that constraints are muted of."""
    return (not any(bone.name in played or bone.bone.use_deform for bone in reached)
            and any(bone.name in muted for bone in reached))


def _reached(bone: bpy.types.PoseBone, active: _Led, pose: bpy.types.Pose) -> list[bpy.types.PoseBone]:
    """Return a bone and all that go with it: as its children, or by constraints that act."""
    found, waiting = {}, [bone]
    while waiting:
        each = waiting.pop()
        if each.name not in found:
            found[each.name] = each
            waiting += [*each.children, *(pose.bones[name] for name in active.get(each.name, ()))]
    return list(found.values())


def _led(pose: bpy.types.Pose) -> tuple[_Led, _Led]:
    """Return which bones each bone leads by constraints that act, and which it would lead by those that are muted."""
    active: _Led = {}
    muted: _Led = {}
    for bone in pose.bones:
        for constraint in bone.constraints:
            several: Any = getattr(constraint, "targets", ())
            for target in (constraint, *several):
                name = getattr(target, "subtarget", "")
                (muted if constraint.mute else active).setdefault(name, []).append(bone.name)
    return active, muted
