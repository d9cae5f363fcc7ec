"""Curves of Actions that move no bone, as Blender mixes them: an object's transform, custom properties,
the influence of constraints.

They are evaluated frame by frame, on a copy of the armature in a scene of its own, so that Blender mixes them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

import bpy
import numpy as np

from ...core.maths.arrays import FloatArray
from .. import properties, versions
from ..rigs.armature import bone_property
from . import keys
from .action_users import object_slot, strips_of
from .curves import bags

_BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_SCENE = "Takt baking"
OF_TAKT = f"{properties.NAME}."
"""Begins the paths of the score's own keyed values."""
_Name = tuple[str, int]
"""A curve's data path and index."""


def names(actions: Collection[bpy.types.Action]) -> list[_Name]:
    """Return the curves of Actions that move no bone, without the score's own keyed values."""
    found: dict[_Name, None] = {}
    for action in actions:
        slot = object_slot(action)
        for bag in bags(action):
            if slot is not None and bag.slot_handle == slot.handle:
                found |= {(curve.data_path, curve.array_index): None for curve in bag.fcurves
                          if _is_other(curve.data_path)}
    return list(found)


def words_of(paths: Iterable[str]) -> list[str]:
    """Return what curves move, in words: a bone, a custom property, or a property of the object.

    >>> words_of(['pose.bones["hips"].scale', '["glow"]', "location"])
    ['hips', 'glow', 'location']
    """
    words = []
    for path in paths:
        bone = _BONE.match(path)
        words.append(re.sub(r"\\(.)", r"\1", bone[1]) if bone is not None else
                     path[2:-2] if path.startswith('["') else path)
    return list(dict.fromkeys(words))


def _is_other(path: str) -> bool:
    moved = bone_property(path)
    is_bones = moved is not None and moved[1].startswith(("location", "rotation", "scale"))
    return not is_bones and not path.startswith(OF_TAKT)


def sample(armature_object: bpy.types.Object, actions: Collection[bpy.types.Action],
           frames: FloatArray) -> dict[_Name, FloatArray]:
    """Return the values (F,) of each of these curves at frames (F,), as an armature's Actions together give them.

    All other Actions of the armature are left out, as are curves of properties that it does not have.
    """
    wanted = names(actions)
    found = {name: np.zeros(len(frames)) for name in wanted}
    if not wanted:
        return found
    with _twin(armature_object, actions) as (twin, scene):
        for at, frame in enumerate(frames.tolist()):
            whole = int(np.floor(frame))
            scene.frame_set(whole, subframe=frame - whole)
            layer = scene.view_layers[0]
            layer.update()
            shown = twin.evaluated_get(layer.depsgraph)
            for name in [*found]:
                value = _value(shown, *name)
                if value is None:
                    del found[name]
                else:
                    found[name][at] = value
    return found


def left_out(armature_object: bpy.types.Object, actions: Collection[bpy.types.Action]) -> list[str]:
    """Return the names of the Actions that an armature plays besides these, in the NLA without muted strips."""
    animation = armature_object.animation_data
    if animation is None:
        return []
    played = [animation.action, *(strip.action for strip in strips_of(animation, are_heard=True))]
    return list(dict.fromkeys(each.name for each in played if each is not None and each not in actions))


def write(action: bpy.types.Action, values: dict[_Name, FloatArray], frames: FloatArray) -> None:
    """Add curves with these values at frames (F,) to a new Action."""
    bag = versions.ensure_channelbag(action, action.slots[0])
    for (path, index), own in values.items():
        moved = bone_property(path)
        keys.write_curve(bag, path, index, "Object" if moved is None else moved[0], frames, own, is_dense=True)


@contextmanager
def _twin(armature_object: bpy.types.Object,
          actions: Collection[bpy.types.Action]) -> Iterator[tuple[Any, bpy.types.Scene]]:
    """Yield a copy of an armature that plays only these Actions, in a scene of its own with the same frame rate."""
    now = bpy.context.scene
    twin, scene = cast(Any, armature_object.copy()), bpy.data.scenes.new(_SCENE)
    try:
        if now is not None:
            scene.render.fps, scene.render.fps_base = now.render.fps, now.render.fps_base
        scene.collection.objects.link(twin)
        for owner in (twin, *twin.pose.bones):
            for constraint in owner.constraints:
                for name in ("target", "pole_target"):
                    if getattr(constraint, name, None) == armature_object:
                        setattr(constraint, name, twin)
        animation = twin.animation_data
        if animation.use_tweak_mode:
            animation.use_tweak_mode = False
        for strip in strips_of(animation):
            if strip.action is not None and strip.action not in actions:
                strip.mute = True
        if animation.action is not None and animation.action not in actions:
            animation.action = None
        yield twin, scene
    finally:
        bpy.data.objects.remove(twin)
        bpy.data.scenes.remove(scene)


def _value(shown: Any, path: str, index: int) -> float | None:
    """Return the value of a property as curves have it, None if there is no such property."""
    with suppress(ValueError, TypeError, IndexError, AttributeError, KeyError):
        value = shown.path_resolve(path)
        if isinstance(value, str):
            owner, _, name = path.rpartition(".")
            holder = shown.path_resolve(owner) if owner else shown
            return float(holder.bl_rna.properties[name].enum_items[value].value)
        return float(value[index] if hasattr(value, "__len__") else value)
    return None
