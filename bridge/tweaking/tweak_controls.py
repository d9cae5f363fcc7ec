"""Tweaks of control bones, such as Rigify's: while their constraints are muted, they move no bone of the score."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.errors import some_of
from ...core.playing.motion import Motion
from ...core.playing.tweaked import doubles_of
from ...core.skeletons.hierarchy import with_descendants
from .. import properties
from ..rigs.armature import bone_property
from .tweak_placing import bag_of

_NAMES_SHOWN = 6
_Led = dict[str, list[str]]


def bones_of(action: bpy.types.Action) -> tuple[str, ...]:
    """Return the bones that an Action of tweaks has keys for, each once."""
    bag = bag_of(action)
    found = () if bag is None else (bone_property(curve.data_path) for curve in bag.fcurves)
    return tuple(dict.fromkeys(each[0] for each in found if each is not None))


def why_unheard(armature_object: bpy.types.Object, action: bpy.types.Action, motion: Motion) -> str:
    """Return which keyed bones act only through muted constraints, and what to do; "" if none does.

    That includes bones all of whose descendants follow deforming bones, such as the master control of a trunk.
    """
    pose = armature_object.pose
    if pose is None:
        return ""
    paths = properties.character(armature_object).written.splitlines()
    played = {found[0] for path in paths if (found := bone_property(path)) is not None}
    bones = [pose.bones[name] for name in bones_of(action) if name in pose.bones]
    active, muted = _led(pose) if bones else ({}, {})
    followed = {bone.name: leaders for bone in bones if (leaders := _followed_by_all(bone, pose, motion))}
    idle = [bone for bone in bones if bone.name in followed
            or (bone.name not in played and _is_idle(_reached(bone, active, pose), played, muted))]
    if not idle:
        return ""
    names = some_of(tuple(bone.name for bone in idle), _NAMES_SHOWN)
    leads = {name: active.get(name, []) + muted.get(name, []) for name in {*active, *muted}}
    led = _nearest(idle[0], followed.get(idle[0].name) or _reached(idle[0], leads, pose), played)
    if led is None or not led.bone.collections:
        return (f"'{action.name}' has keys of control bones, {names}, whose constraints are muted while the score "
                "plays: they are kept, and move nothing; key the bones that deform the mesh instead")
    collection = led.bone.collections[0]
    return (f"'{action.name}' has keys of control bones, {names}, whose constraints are muted while the score plays: "
            f"they are kept, and move nothing; key the bones that deform the mesh instead, such as {led.name} in the "
            f"bone collection {collection.name}")


def _is_idle(reached: list[bpy.types.PoseBone], played: set[str], muted: _Led) -> bool:
    """Return whether bones neither deform nor are played, but would lead bones through muted constraints."""
    return (not any(bone.name in played or bone.bone.use_deform for bone in reached)
            and any(bone.name in muted for bone in reached))


def _followed_by_all(bone: bpy.types.PoseBone, pose: bpy.types.Pose, motion: Motion) -> list[bpy.types.PoseBone]:
    """Return the bones that a bone's descendants follow, none if the bone moves anything that deforms the mesh."""
    doubles, skeleton = doubles_of(motion), motion.skeleton
    joint = skeleton.index_of.get(bone.name, -1)
    if doubles is None or joint < 0 or joint in doubles.joints:
        return []
    carried = with_descendants(skeleton.parents, np.array((joint,)))
    own = carried[doubles.joints]
    moved = carried & ~with_descendants(skeleton.parents, doubles.joints[own])
    if any(pose.bones[skeleton.names[each]].bone.use_deform for each in np.flatnonzero(moved).tolist()):
        return []
    return [pose.bones[skeleton.names[each]] for each in doubles.followed[own].tolist()]


def _nearest(bone: bpy.types.PoseBone, reached: list[bpy.types.PoseBone],
             played: set[str]) -> bpy.types.PoseBone | None:
    """Return the bone among `reached` that is played, deforms the mesh, and has the nearest head to a bone's head."""
    found = [each for each in reached if each.name in played and each.bone.use_deform]
    return min(found, key=lambda each: (each.bone.head_local - bone.bone.head_local).length, default=None)


def _reached(bone: bpy.types.PoseBone, active: _Led, pose: bpy.types.Pose) -> list[bpy.types.PoseBone]:
    """Return a bone and all bones that move with it: its children, and bones with active constraints to it."""
    found, waiting = {}, [bone]
    while waiting:
        each = waiting.pop()
        if each.name not in found:
            found[each.name] = each
            waiting += [*each.children, *(pose.bones[name] for name in active.get(each.name, ()))]
    return list(found.values())


def _led(pose: bpy.types.Pose) -> tuple[_Led, _Led]:
    """Return the bones that each bone leads by active constraints, and those by muted ones."""
    active: _Led = {}
    muted: _Led = {}
    for bone in pose.bones:
        for constraint in bone.constraints:
            several: Any = getattr(constraint, "targets", ())
            names = [getattr(target, "subtarget", "") for target in (constraint, *several)]
            for name in (*names, getattr(constraint, "pole_subtarget", "")):
                (muted if constraint.mute else active).setdefault(name, []).append(bone.name)
    return active, muted
