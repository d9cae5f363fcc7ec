"""Where objects and bones are over frames, by their own curves and those of what they hang on.

Nothing is evaluated and no frame is set, so it is the same wherever the playhead stands, also of what is hidden or lies
in another scene. What constraints, drivers and strips of the NLA make of an object is where Blender last had it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, cast

import bpy
import numpy as np

from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray
from . import drivers, properties
from .armature import bone_property
from .below_own_actions import plays_below
from .curves import bags, quaternions, rotation_channel, values_at

_MOST_FRAMES: Final = 20_000
_SIZES: Final = {"location": 3, "scale": 3, "rotation_euler": 3, "rotation_quaternion": 4, "rotation_axis_angle": 4,
                 "delta_location": 3, "delta_scale": 3, "delta_rotation_euler": 3, "delta_rotation_quaternion": 4}
"""Channels of an object, and those without delta of a bone, with their numbers."""
_Curves = dict[tuple[str, str], dict[int, bpy.types.FCurve]]
"""By bone, "" for the object itself, and channel: the curve of each of its numbers."""


class Link(NamedTuple):
    """An object or a bone in a chain of parents, with its curves by channel."""

    owner: bpy.types.Object | bpy.types.PoseBone
    curves: dict[str, dict[int, bpy.types.FCurve]]


def links(target: bpy.types.Object, bone: str = "") -> list[Link]:
    """Return what moves an object, or one of its bones: from the outermost parent down to it."""
    found = list[Link]()
    parent = target.parent
    if parent is not None and is_followed(target):
        found += links(parent, target.parent_bone if target.parent_type == "BONE" else "")
    curves = _curves(target)
    found.append(Link(target, {channel: own for (name, channel), own in curves.items() if not name}))
    posed = target.pose.bones.get(bone) if bone and target.pose is not None else None
    bones: list[bpy.types.PoseBone] = [] if posed is None else [*reversed(posed.parent_recursive), posed]
    for each in bones:
        found.append(Link(each, {channel: own for (name, channel), own in curves.items() if name == each.name}))
    return found


def frames_of(chain: list[Link], first: int, last: int) -> FloatArray:
    """Return the frames (F,) from the first one on at which a chain moves; only that one where it does not.

    last: up to it goes what moves for ever.
    """
    after = first
    for curve in (curve for link in chain if not isinstance(link.owner, bpy.types.Object) or is_followed(link.owner)
                  for own in link.curves.values() for curve in own.values()):
        after = max(after, int(np.ceil(curve.range()[1])))
        if len(curve.modifiers) or curve.extrapolation == "LINEAR":
            after = max(after, last)
    return np.arange(first, min(after, first + _MOST_FRAMES) + 1, dtype=np.float64)


def world_over(chain: list[Link], frames: FloatArray) -> FloatArray:
    """Return the matrices (F, 4, 4) of the last of a chain in the world at frames (F,)."""
    world = np.eye(4)[None]
    for before, link in zip((None, *chain), chain, strict=False):
        own = link.owner
        if isinstance(own, bpy.types.PoseBone):
            world = world @ _rest(own) @ _basis(own, link.curves, frames)
        elif not is_followed(own):
            world = np.array(own.matrix_world, dtype=np.float64)[None]
        else:
            if before is not None and isinstance(before.owner, bpy.types.PoseBone):
                world = world.copy()
                world[:, :3, 3] += world[:, :3, 1] * before.owner.bone.length
            inverse = np.array(own.matrix_parent_inverse, dtype=np.float64) if own.parent is not None else np.eye(4)
            world = world @ inverse @ _basis(own, link.curves, frames)
    return np.broadcast_to(world, (len(frames), 4, 4))


def is_followed(target: bpy.types.Object) -> bool:
    """Tell whether an object's own curves and its parent's are all that moves it."""
    animation = target.animation_data
    driven = {path.rpartition(".")[2] for path in drivers.driven_paths(target) if bone_property(path) is None}
    has_strips = animation is not None and any(
        len(track.strips) and not track.mute for track in animation.nla_tracks) and target.type != "ARMATURE"
    return not (any(not each.mute and each.influence > 0.0 for each in target.constraints)
                or has_strips or driven & _SIZES.keys() or (
                    target.parent is not None and target.parent_type not in ("OBJECT", "BONE", "ARMATURE")))


def is_known(target: bpy.types.Object) -> bool:
    """Tell whether it is known where an object is: by its curves, or since Blender evaluates it, as it is shown."""
    layer = bpy.context.view_layer
    return is_followed(target) or (layer is not None and target.name in layer.objects
                                   and target.visible_get(view_layer=layer))


def _curves(target: bpy.types.Object) -> _Curves:
    """Return the curves that move an object and its bones; where Takt's Action plays below another, it moves bones."""
    animation, found = target.animation_data, cast(_Curves, {})
    if animation is None:
        return found
    below = properties.character(target).action if target.type == "ARMATURE" and plays_below(target) else None
    for action in (animation.action, below):
        for bag in bags(action) if action is not None else ():
            if action == below or bag.slot_handle == animation.action_slot_handle:
                for curve in bag.fcurves:
                    name, channel = bone_property(curve.data_path) or ("", curve.data_path)
                    has_say = below is None or (action == below) == bool(name)
                    if has_say and not curve.mute and curve.array_index < _SIZES.get(channel, 0):
                        found.setdefault((name, channel), {})[curve.array_index] = curve
    return found


def _rest(bone: bpy.types.PoseBone) -> FloatArray:
    """Return a bone's matrix (4, 4) at rest in its parent's axes, or in the armature's."""
    own = np.array(bone.bone.matrix_local, dtype=np.float64)
    above = bone.parent
    return own if above is None else np.linalg.inv(np.array(above.bone.matrix_local, dtype=np.float64)) @ own


def _basis(owner: Any, curves: dict[str, dict[int, bpy.types.FCurve]], frames: FloatArray) -> FloatArray:
    """Return the matrices (F, 4, 4) of an object's or a bone's own channels at frames (F,), one where it is still."""
    turning = rotation_channel(owner.rotation_mode)
    used = ("location", "scale", turning, "delta_location", "delta_scale", f"delta_{turning}")
    if not any(curves.get(channel) for channel in used):
        return np.array(owner.matrix_basis, dtype=np.float64)[None]
    place, size, turn = (_values(owner, curves, channel, frames) for channel in used[:3])
    turn = quaternions(turn, owner.rotation_mode)
    if isinstance(owner, bpy.types.Object):
        place = place + _values(owner, curves, "delta_location", frames)
        size = size * _values(owner, curves, "delta_scale", frames)
        if f"delta_{turning}" in _SIZES:
            more = quaternions(_values(owner, curves, f"delta_{turning}", frames), owner.rotation_mode)
            turn = rot.multiply(more, turn)
    found = np.tile(np.eye(4), (len(frames), 1, 1))
    found[:, :3, :3] = rot.to_matrix(turn) * size[:, None, :]
    found[:, :3, 3] = place
    return found


def _values(owner: Any, curves: dict[str, dict[int, bpy.types.FCurve]], channel: str,
            frames: FloatArray) -> FloatArray:
    """Return the numbers (F, C) of a channel at frames (F,)."""
    values = np.tile(np.array(getattr(owner, channel), dtype=np.float64), (len(frames), 1))
    own = curves.get(channel, {})
    for index, row in zip(own, values_at([*own.values()], frames), strict=True):
        values[:, index] = row
    return values
