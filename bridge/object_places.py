"""Where objects are at a frame, whatever frame is shown: read from their properties, parents and keys alone.

Nothing is evaluated, so it holds for objects too that Blender does not evaluate, as they are hidden or lie in another
scene. What constraints, drivers, the NLA or bones do is known at the current frame alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import bpy
import numpy as np

from ..core.errors import TaktError, quoted
from ..core.maths.arrays import FloatArray
from . import curves
from .drivers import driven_paths
from .object_motion import TRANSFORMS, bases_at

_BY_OBJECTS = ("OBJECT", "ARMATURE", "LATTICE")
"""Types of parents that carry as a whole."""
_MOST_SEEN = 200


class Placed(NamedTuple):
    """Where an object is at a frame. matrix: (4, 4) world_from_object.

    is_moving: whether it is somewhere else at other frames. held_by: what else than keys has a say, so that the matrix
    is that of the current frame; "" for nothing.
    """

    matrix: FloatArray
    is_moving: bool
    held_by: str


def at_frame(ob: bpy.types.Object, frame: float) -> Placed:
    """Return where an object is at a frame.

    Raises TaktError where it is not evaluated in the current scene and more than keys moves it.
    """
    chain = [ob, *_parents(ob)]
    held = next((why for each in chain if (why := _held_by(each))), "")
    if held:
        if not _is_evaluated(ob):
            raise TaktError(f"{quoted(ob.name)} is moved by {held}, and is not in the current scene, or disabled or "
                            "excluded there, so nobody knows where it is: enable it (it may be hidden by its eye)")
        is_moving = any(map(_is_animated, _seen_by(ob)))
        return Placed(np.array(ob.matrix_world, dtype=np.float64), is_moving, held if is_moving else "")
    matrix, is_moving = np.eye(4), False
    for each in chain:
        own = [*_keys(each)]
        is_moving = is_moving or bool(own)
        basis = (bases_at(each, own, np.array((frame,)))[0] if own else
                 np.array(each.matrix_basis, dtype=np.float64))
        if each.parent is not None:
            basis = np.array(each.matrix_parent_inverse, dtype=np.float64) @ basis
        matrix = basis @ matrix
    return Placed(matrix, is_moving, "")


def _is_evaluated(ob: bpy.types.Object) -> bool:
    """Tell whether Blender keeps an object up to date in the current scene; what its eye hides is."""
    layer = bpy.context.view_layer
    is_here = layer is not None and any(each == ob for each in layer.objects)
    return is_here and not ob.hide_viewport and not all(each.hide_viewport for each in ob.users_collection)


def _parents(ob: bpy.types.Object) -> Iterator[bpy.types.Object]:
    parent = ob.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _keys(ob: bpy.types.Object) -> Iterator[bpy.types.FCurve]:
    """Yield the curves that move an object by the Action that is assigned to it."""
    animation: Any = ob.animation_data
    if animation is None or animation.action is None:
        return
    for bag in curves.bags(animation.action):
        if bag.slot_handle == animation.action_slot_handle:
            yield from (curve for curve in bag.fcurves if curve.data_path in TRANSFORMS and not curve.mute)


def _held_by(ob: bpy.types.Object) -> str:
    """Return what moves an object by itself besides its properties and keys, "" for nothing."""
    if any(not constraint.mute for constraint in ob.constraints):
        return "constraints"
    if driven_paths(ob) & TRANSFORMS:
        return "drivers"
    if ob.rigid_body is not None and ob.rigid_body.type == "ACTIVE":
        return "a rigid body"
    animation: Any = ob.animation_data
    if animation is not None and animation.use_nla and any(_moves(strip.action) for track in animation.nla_tracks
                                                           if not track.mute for strip in track.strips):
        return "the NLA"
    is_mixed = animation is not None and (animation.action_blend_type, animation.action_influence) != ("REPLACE", 1.0)
    if is_mixed and any(_keys(ob)):
        return "an Action that is mixed with others"
    if ob.parent is None:
        return ""
    if ob.parent_type not in _BY_OBJECTS:
        return "a bone" if ob.parent_type == "BONE" else "vertices of its parent"
    is_path = ob.parent.type == "CURVE" and cast(bpy.types.Curve, ob.parent.data).use_path
    return "its parent's path" if is_path else ""


def _moves(action: bpy.types.Action | None) -> bool:
    return action is not None and any(curve.data_path in TRANSFORMS for bag in curves.bags(action)
                                      for curve in bag.fcurves)


def _seen_by(ob: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield an object, its parents, what their constraints follow, and so on."""
    found, todo = dict[int, bpy.types.Object](), [ob]
    while todo and len(found) < _MOST_SEEN:
        each = todo.pop()
        if each.session_uid in found:
            continue
        found[each.session_uid] = each
        targets = (getattr(constraint, "target", None) for constraint in each.constraints if not constraint.mute)
        todo += [other for other in (each.parent, *targets) if other is not None]
    yield from found.values()


def _is_animated(ob: bpy.types.Object) -> bool:
    blocks = (ob, ob.data) if ob.data is not None else (ob,)
    return any((animation := getattr(block, "animation_data", None)) is not None and (
        animation.action is not None or len(animation.drivers) > 0 or len(animation.nla_tracks) > 0)
        for block in blocks)
