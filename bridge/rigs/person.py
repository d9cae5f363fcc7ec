"""Characters that play roles: their armatures and heads."""

from __future__ import annotations

from typing import Final, cast

import bpy

from ...core.skeletons.maps import find_map
from .. import changes, properties
from ..files.clip_store import CLIPS
from . import armature, object_courses

_HEAD: Final = "skullbase"
_heads: dict[int, tuple[int, str]] = {}
"""By an armature object's session_uid: the number of `changes` for which it is valid, and its head bone."""


def armature_of(ob: bpy.types.Object) -> bpy.types.Object | None:
    """Return the armature of a character, by itself or a mesh that it deforms, or None if it is none."""
    return ob if ob.type == "ARMATURE" else ob.find_armature()


def head(ob: bpy.types.Object) -> list[object_courses.Link]:
    """Return the chain that moves the head of a character, by its armature or a mesh of it; empty if it has none."""
    found = armature_of(ob)
    bone = "" if found is None else head_bone(found)
    return object_courses.links(found, bone) if found is not None and bone else []


def head_bone(armature_object: bpy.types.Object) -> str:
    """Return the head bone of a character, by its skeleton map, or ""."""
    listed = properties.character(armature_object).joints
    if len(listed):
        return next((joint.name for joint in listed if joint.meant == _HEAD), "")
    data = cast(bpy.types.Armature, armature_object.data)
    now, uid = changes.of_data((data.session_uid,)), armature_object.session_uid
    if _heads.get(uid, (-1, ""))[0] != now:
        found = find_map(CLIPS.skeleton(armature.read_skeleton(armature_object))) if len(data.bones) else None
        joint = None if found is None else found.joint_of.get(_HEAD)
        _heads[uid] = now, "" if found is None or joint is None else found.skeleton.names[joint]
    return _heads[uid][1]
