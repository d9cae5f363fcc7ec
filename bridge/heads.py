"""Where the head of another character is at a frame, by its skeleton map and its keys: nothing is evaluated."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Final, cast

import bpy
import numpy as np
from mathutils import Matrix

from ..core.errors import TaktError
from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray
from ..core.skeletons.maps import find_map
from . import armature, changes, curves, joint_map, properties
from .below_own_actions import plays_below
from .clip_store import CLIPS
from .object_places import Placed

_HEAD: Final = "skullbase"
_MOST_KNOWN: Final = 512
_CHANNELS: Final = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")
_known: OrderedDict[Hashable, str] = OrderedDict()
"""The names of head bones, "" for none, by all that they depend on."""


def armature_of(ob: bpy.types.Object) -> bpy.types.Object | None:
    """Return the armature of a character, by itself or a mesh that it deforms; None where it is none."""
    return ob if ob.type == "ARMATURE" else ob.find_armature()


def at_frame(armature_object: bpy.types.Object, frame: float) -> Placed | None:
    """Return where the head is in the armature's space as its Action has it, None without a head.

    Constraints, drivers and tweaks above the score are left out.
    """
    pose, bones = armature_object.pose, cast(bpy.types.Armature, armature_object.data).bones
    bone = bones.get(_name_of_head(armature_object))
    if bone is None or pose is None:
        return None
    chain = [*reversed(bone.parent_recursive), bone]
    names = {each.name for each in chain}
    rests = cast(bpy.types.Armature, armature_object.data).pose_position == "REST"
    found = {} if rests else _keyed(armature_object, names, frame)
    posed = Matrix()
    for each in chain:
        basis = Matrix() if rests else _basis(pose.bones[each.name], found.get(each.name, {}))
        if each.parent is None:
            posed = each.convert_local_to_pose(basis, each.matrix_local)
            continue
        if each.use_connect:
            basis.translation = 0.0, 0.0, 0.0  # connected bones do not leave their parents
        posed = each.convert_local_to_pose(basis, each.matrix_local, parent_matrix=posed,
                                           parent_matrix_local=each.parent.matrix_local)
    return Placed(np.array(posed, dtype=np.float64), bool(found), "")


def _name_of_head(armature_object: bpy.types.Object) -> str:
    key = (armature_object.data.session_uid if armature_object.data else 0, joint_map.key(armature_object),
           changes.of_data((armature_object.data.session_uid,) if armature_object.data else ()))
    if key not in _known:
        try:
            body = (joint_map.of_list(armature_object) if properties.character(armature_object).is_map_checked else
                    find_map(CLIPS.skeleton(armature.read_skeleton(armature_object))))
            joint = body.joint_of.get(_HEAD)
            _known[key] = "" if joint is None else body.skeleton.names[joint]
        except TaktError:  # its list of joints contradicts itself
            _known[key] = ""
        while len(_known) > _MOST_KNOWN:
            _known.popitem(last=False)
    return _known[key]


def _keyed(armature_object: bpy.types.Object, names: set[str], frame: float) -> dict[str, dict[tuple[str, int], float]]:
    """Return what the Action keys of bones says at a frame: for each of them values by channel and component."""
    animation, found = armature_object.animation_data, dict[str, dict[tuple[str, int], float]]()
    action = (properties.character(armature_object).action if plays_below(armature_object) else
              None if animation is None else animation.action)
    bag = None if action is None else curves.bag_of(action, armature_object)
    for bone, channel, component, fcurve in curves.bone_curves(bag) if bag is not None else ():
        if bone in names and not fcurve.mute:
            found.setdefault(bone, {})[channel, component] = fcurve.evaluate(frame)
    return found


def _basis(bone: Any, keyed: dict[tuple[str, int], float]) -> Matrix:
    """Return a pose bone's own matrix, with these values instead of its present ones."""
    values = {channel: np.array(getattr(bone, channel), dtype=np.float64) for channel in _CHANNELS}
    for (channel, component), value in keyed.items():
        values[channel][component] = value
    turn: FloatArray = curves.quaternions(values[curves.rotation_channel(bone.rotation_mode)][None],
                                          bone.rotation_mode)[0]
    basis = np.eye(4)
    basis[:3, :3] = rot.to_matrix(turn) * values["scale"]
    basis[:3, 3] = values["location"]
    return Matrix(basis.tolist())
