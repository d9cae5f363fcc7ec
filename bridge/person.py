"""Characters that play roles: where their heads are."""

from __future__ import annotations

from typing import Final, cast

import bpy

from ..core.skeletons.maps import find_map
from . import armature, changes, properties
from .clip_store import CLIPS

_HEAD: Final = "skullbase"
_heads: dict[int, tuple[int, str]] = {}
"""By an armature object's session_uid: the number of `changes` for which it is valid, and its head bone."""


def head_bone(armature_object: bpy.types.Object) -> str:
    """Return the bone that turns a character's head, by the map of its joints, "" where none does."""
    listed = properties.character(armature_object).joints
    if len(listed):
        return next((joint.name for joint in listed if joint.meant == _HEAD), "")
    data = armature_object.data
    now, uid = changes.of_data(() if data is None else (data.session_uid,)), armature_object.session_uid
    if _heads.get(uid, (-1, ""))[0] != now:
        found = find_map(CLIPS.skeleton(armature.read_skeleton(armature_object)))
        joint = found.joint_of.get(_HEAD)
        _heads[uid] = now, "" if joint is None else found.skeleton.names[joint]
    return _heads[uid][1]


def half_head(armature_object: bpy.types.Object, bone: str) -> float:
    """Return how far along the head bone the eyes are about, in the armature's unit."""
    return cast(bpy.types.Armature, armature_object.data).bones[bone].length / 2.0
