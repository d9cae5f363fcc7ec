"""Transforms of objects and bones over frames, computed from their curves and those of their parents.

Nothing is evaluated and no frame is set. So the result does not depend on the playhead, and includes objects that are
hidden or in another scene. Constraints, drivers and the like are taken from Blender's last evaluation for objects; for
bones they, and tweaks above the score, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

import bpy
import numpy as np
from mathutils import Matrix

from ...core.errors import TaktError, quoted
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray
from .. import properties
from ..actions.below_own_actions import plays_below
from ..actions.curves import bags, quaternions, rotation_channel, values_at
from . import drivers
from .armature import bone_property
from .constraint_names import is_takts

_MOST_FRAMES: Final = 20_000
_MOST_SEEN: Final = 200
DIGITS: Final = 6
"""Decimals of positions that are compared; smaller movements are ignored."""
_FARTHEST: Final = 1e9
"""Greatest distance in Blender's units; computations with larger ones are meaningless."""
_BY_OBJECTS: Final = ("OBJECT", "ARMATURE", "LATTICE", "BONE")
"""Types of parents that carry as a whole."""
_SIZES: Final = {"location": 3, "scale": 3, "rotation_euler": 3, "rotation_quaternion": 4, "rotation_axis_angle": 4,
                 "delta_location": 3, "delta_scale": 3, "delta_rotation_euler": 3, "delta_rotation_quaternion": 4}
"""Channels of an object, and those without delta of a bone, with their numbers."""
Channels = Mapping[str, Mapping[int, bpy.types.FCurve]]
"""By channel: the curves of its keyed components, by index."""


class Link(NamedTuple):
    """An object or a bone in a chain of parents, with its curves by channel."""

    owner: bpy.types.Object | bpy.types.PoseBone
    curves: Channels


def links(target: bpy.types.Object, bone: str = "") -> list[Link]:
    """Return the chain that moves an object, or one of its bones, from the outermost parent down."""
    found = list[Link]()
    parent = target.parent
    if parent is not None and not held_by(target):
        found += links(parent, target.parent_bone if target.parent_type == "BONE" else "")
    posed = target.pose.bones.get(bone) if bone and target.pose is not None else None
    bones: list[bpy.types.PoseBone] = [] if posed is None else [*reversed(posed.parent_recursive), posed]
    curves = _curves(target)
    return [*found, Link(target, curves.get("", {})), *(Link(each, curves.get(each.name, {})) for each in bones)]


def frames_of(chain: list[Link], first: int, last: int) -> FloatArray:
    """Return the frames (F,) from the first one on at which a chain moves; only the first if it does not move.

    last: limit for endless motion.
    """
    after = first
    for curve in (curve for link in chain if isinstance(link.owner, bpy.types.PoseBone) or not held_by(link.owner)
                  for own in link.curves.values() for curve in own.values()):
        after = max(after, int(np.ceil(curve.range()[1])))
        if len(curve.modifiers) or curve.extrapolation == "LINEAR":
            after = max(after, last)
    return np.arange(first, min(after, first + _MOST_FRAMES) + 1, dtype=np.float64)


def world_over(chain: list[Link], frames: FloatArray) -> FloatArray:
    """Return the world matrices (F, 4, 4) of the last link of a chain at frames (F,)."""
    world = posed = np.eye(4)[None]
    for before, link in zip((None, *chain), chain, strict=False):
        own = link.owner
        if isinstance(own, bpy.types.PoseBone):
            posed = _posed(own, posed, _in_pose(own, link.curves, frames))
            continue
        if before is not None and isinstance(before.owner, bpy.types.PoseBone):
            posed = posed.copy()
            posed[:, :3, 3] += posed[:, :3, 1] * before.owner.bone.length  # children hang on the tail
        world, posed = world @ posed, np.eye(4)[None]
        if held_by(own):
            world = np.array(own.matrix_world, dtype=np.float64)[None]
        else:
            inverse = np.array(own.matrix_parent_inverse, dtype=np.float64) if own.parent is not None else np.eye(4)
            world = world @ inverse @ basis(own, link.curves, frames)
    return np.broadcast_to(world @ posed, (len(frames), 4, 4))


def sound_world(ob: bpy.types.Object, chain: list[Link], frames: FloatArray) -> FloatArray:
    """Return an object's world matrices (F, 4, 4); raise TaktError if they are not finite or not invertible."""
    found = world_over(chain, frames)
    if not (np.abs(found) < _FARTHEST).all():
        raise TaktError(f"the location, rotation or scale of {quoted(ob.name)} is not a number, or beyond "
                        f"{_FARTHEST:.0g}: clear them (Object > Clear)")
    return found


def note(owner: bpy.types.Object | bpy.types.PoseBone) -> str:
    """Return a note on how something moves, or ""; raise TaktError if its motion cannot be known."""
    held = "" if isinstance(owner, bpy.types.PoseBone) else held_by(owner)
    if isinstance(owner, bpy.types.PoseBone) or not held:
        return ""
    if not is_evaluated(owner):
        raise TaktError(f"{quoted(owner.name)} is moved by {held}, and is not in the current scene, or disabled there, "
                        "so its position is unknown: enable it (hiding is fine)")
    return (f"{quoted(owner.name)} is moved by {held}, so its position at the current frame counts: bake its motion "
            "(Object > Animation > Bake Action)") if is_animated(owner) else ""


def held_by(ob: bpy.types.Object) -> str:
    """Return what moves an object besides its properties, keys and parent, or ""."""
    if any(not each.mute and each.influence > 0.0 and not is_takts(each) for each in ob.constraints):
        return "constraints"
    if drivers.driven_paths(ob) & _SIZES.keys():
        return "drivers"
    if ob.rigid_body is not None and ob.rigid_body.type == "ACTIVE":
        return "a rigid body"
    animation: Any = ob.animation_data
    if animation is not None and animation.use_nla and any(_moves(strip.action) for track in animation.nla_tracks
                                                           if not track.mute for strip in track.strips):
        return "the NLA"
    is_mixed = animation is not None and (animation.action_blend_type, animation.action_influence) != ("REPLACE", 1.0)
    if is_mixed and _moves(animation.action):
        return "an Action that is mixed with others"
    if ob.parent is None:
        return ""
    if ob.parent_type not in _BY_OBJECTS:
        return "vertices of its parent"
    is_path = ob.parent.type == "CURVE" and cast(bpy.types.Curve, ob.parent.data).use_path
    return "its parent's path" if is_path else ""


def is_evaluated(ob: bpy.types.Object) -> bool:
    """Return whether Blender evaluates an object in the current scene; objects hidden in the viewport count too."""
    layer = bpy.context.view_layer
    if ob.hide_viewport or layer is None or not any(each == ob for each in layer.objects):
        return False
    disabled = {each for own in bpy.data.collections if own.hide_viewport for each in (own, *own.children_recursive)}
    return not all(each in disabled for each in ob.users_collection)


def point(values: FloatArray) -> tuple[float, float, float]:
    """Return a position (3,), rounded."""
    x, y, z = (values.round(DIGITS) + 0.0).tolist()
    return x, y, z


def is_gone(ob: bpy.types.Object) -> bool:
    """Return whether an object was deleted, and only a property keeps it: no scene has it, nor any instance."""
    scene = bpy.context.scene
    if ob.library is not None or (scene is not None and scene.objects.get(ob.name) == ob):  # most objects end here
        return False
    holders = set(ob.users_collection)
    return not holders or not (any(each.objects.get(ob.name) == ob for each in bpy.data.scenes) or any(
        not holders.isdisjoint((own, *own.children_recursive)) for each in bpy.data.objects
        if (own := each.instance_collection) is not None))


def is_animated(ob: bpy.types.Object) -> bool:
    """Return whether an object may move: by its own animation, its parents', or that of constraint targets."""
    return any((animation := getattr(block, "animation_data", None)) is not None and (
        animation.action is not None or len(animation.drivers) > 0 or len(animation.nla_tracks) > 0)
        for each in _seen_by(ob) for block in (each, each.data) if block is not None)


def _moves(action: bpy.types.Action | None) -> bool:
    return action is not None and any(curve.data_path in _SIZES for bag in bags(action) for curve in bag.fcurves)


def _seen_by(ob: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield an object, its parents, their constraint targets, and so on."""
    found, todo = dict[int, bpy.types.Object](), [ob]
    while todo and len(found) < _MOST_SEEN:
        each = todo.pop()
        if each.session_uid in found:
            continue
        found[each.session_uid] = each
        targets = (getattr(constraint, "target", None) for constraint in each.constraints if not constraint.mute)
        todo += [other for other in (each.parent, *targets) if other is not None]
    yield from found.values()


def _curves(target: bpy.types.Object) -> dict[str, dict[str, dict[int, bpy.types.FCurve]]]:
    """Return the curves that move an object, under "", and its bones, by name.

    If Takt's Action plays below another one, it moves the bones.
    """
    animation, found = target.animation_data, dict[str, dict[str, dict[int, bpy.types.FCurve]]]()
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
                        found.setdefault(name, {}).setdefault(channel, {})[curve.array_index] = curve
    return found


def _in_pose(bone: bpy.types.PoseBone, curves: Channels, frames: FloatArray) -> FloatArray:
    """Return a bone's own matrices (F, 4, 4) relative to rest at frames (F,); a single one if it is still."""
    owner: Any = bone.id_data
    if owner.data.pose_position == "REST":
        return np.eye(4)[None]
    found = basis(bone, curves, frames)
    if bone.bone.use_connect and bone.parent is not None:
        found[:, :3, 3] = 0.0  # connected bones are not translated
    return found


def _posed(bone: bpy.types.PoseBone, above: FloatArray, own: FloatArray) -> FloatArray:
    """Return a bone's matrices (F, 4, 4) in the armature; above: its parent's, own: its own, of F frames or of one."""
    rest, parent = np.array(bone.bone.matrix_local, dtype=np.float64), bone.parent
    if parent is None and bone.bone.use_local_location:
        return rest @ own
    parent_rest = np.eye(4) if parent is None else np.array(parent.bone.matrix_local, dtype=np.float64)
    if bone.bone.use_inherit_rotation and bone.bone.use_local_location and bone.bone.inherit_scale == "FULL":
        return above @ np.linalg.inv(parent_rest) @ rest @ own
    local, found = bone.bone.matrix_local, list[Matrix]()
    for upper, each in zip(*np.broadcast_arrays(above, own), strict=True):  # Blender computes special inheritance
        basis_matrix, upper_matrix = Matrix(each.tolist()), Matrix(upper.tolist())
        found.append(bone.bone.convert_local_to_pose(basis_matrix, local) if parent is None else
                     bone.bone.convert_local_to_pose(basis_matrix, local, parent_matrix=upper_matrix,
                                                     parent_matrix_local=parent.bone.matrix_local))
    return np.array(found, dtype=np.float64)


def basis(owner: Any, curves: Channels, frames: FloatArray) -> FloatArray:
    """Return the matrices (F, 4, 4) of an object's or a bone's own channels at frames (F,), a single one if still."""
    turning = rotation_channel(owner.rotation_mode)
    used = ("location", "scale", turning, "delta_location", "delta_scale", f"delta_{turning}")
    if not any(curves.get(channel) for channel in used):
        return np.array(owner.matrix_basis, dtype=np.float64)[None]
    place, size, turn = (_values(owner, curves, channel, frames) for channel in used[:3])
    turn = quaternions(turn, owner.rotation_mode)
    if isinstance(owner, bpy.types.Object):
        place = place + _values(owner, curves, "delta_location", frames)
        size = size * _values(owner, curves, "delta_scale", frames)
        if f"delta_{turning}" in _SIZES:  # angles about axes have no delta
            more = quaternions(_values(owner, curves, f"delta_{turning}", frames), owner.rotation_mode)
            turn = rot.multiply(more, turn)
    found = np.tile(np.eye(4), (len(frames), 1, 1))
    found[:, :3, :3] = rot.to_matrix(turn) * size[:, None, :]
    found[:, :3, 3] = place
    return found


def _values(owner: Any, curves: Channels, channel: str, frames: FloatArray) -> FloatArray:
    """Return the values (F, C) of a channel at frames (F,)."""
    values = np.tile(np.array(getattr(owner, channel), dtype=np.float64), (len(frames), 1))
    own = curves.get(channel, {})
    for index, row in zip(own, values_at([*own.values()], frames), strict=True):
        values[:, index] = row
    return values
