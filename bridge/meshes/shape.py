"""A mesh before its armature deforms it: with shape keys, and with modifiers that can be shown."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import bpy

from ..versions import node_inputs

_OF_THE_POSE = frozenset((
    "CLOTH", "SOFT_BODY", "COLLISION", "DYNAMIC_PAINT", "FLUID", "EXPLODE", "OCEAN", "PARTICLE_SYSTEM",
    "PARTICLE_INSTANCE", "CORRECTIVE_SMOOTH", "SURFACE_DEFORM", "MESH_DEFORM", "LAPLACIANDEFORM", "SHRINKWRAP",
    "LATTICE", "HOOK", "CURVE", "CAST", "SIMPLE_DEFORM", "WARP", "WAVE", "MESH_CACHE", "MESH_SEQUENCE_CACHE"))
"""Types of modifiers that depend on the pose; the others give nearly the same on the mesh at rest."""
_SCENE = "Takt shape"
_NO_SETTINGS = ("execution_time", "is_active", "show_expanded", "persistent_uid", "name")

_is_reading = False


def is_reading() -> bool:
    """Return whether a copy of an object is being evaluated, which is not a change by the user."""
    return _is_reading


def not_shown(mesh_object: bpy.types.Object) -> list[str]:
    """Return the names of modifiers that need the posed mesh, so that they cannot be shown."""
    shown = [modifier for modifier in mesh_object.modifiers if modifier.show_viewport]
    first = next((index for index, modifier in enumerate(shown) if modifier.type == "ARMATURE"), len(shown))
    return [modifier.name for modifier in shown[first:] if modifier.type in _OF_THE_POSE]


def is_shaped(mesh_object: bpy.types.Object) -> bool:
    """Return whether shape keys or modifiers change the mesh before its armature deforms it."""
    left_out = not_shown(mesh_object)
    return has_keys_on(mesh_object) or any(
        modifier.show_viewport and modifier.type != "ARMATURE" and modifier.name not in left_out
        for modifier in mesh_object.modifiers)


def has_keys_on(mesh_object: bpy.types.Object) -> bool:
    """Return whether shape keys change the mesh."""
    keys = cast(bpy.types.Mesh, mesh_object.data).shape_keys
    return keys is not None and (not keys.use_relative or mesh_object.show_only_shape_key
                                 or any(key.value != 0.0 and not key.mute for key in keys.key_blocks[1:]))


def settings_key(mesh_object: bpy.types.Object) -> Hashable:
    """Return a key of all settings that shape the mesh besides its data; it changes with any of them."""
    left_out = not_shown(mesh_object)
    return tuple(_settings(modifier) for modifier in mesh_object.modifiers
                 if modifier.show_viewport and modifier.type != "ARMATURE" and modifier.name not in left_out)


def all_settings(mesh_object: bpy.types.Object) -> Hashable:
    """Return a key of all settings of shown modifiers; it changes with any of them."""
    return tuple(_settings(modifier) for modifier in mesh_object.modifiers if modifier.show_viewport)


def _settings(modifier: bpy.types.Modifier) -> Hashable:
    holder: Any = modifier
    found: list[Hashable] = [modifier.type]
    if isinstance(modifier, bpy.types.NodesModifier):
        found += [str(value) for value in node_inputs(modifier).values()]
    for each in holder.bl_rna.properties:
        if each.type == "POINTER":
            other = getattr(holder, each.identifier)
            found.append(getattr(other, "session_uid", None))
        elif each.type != "COLLECTION" and each.identifier not in _NO_SETTINGS:
            value = getattr(holder, each.identifier)
            found.append(tuple(value) if getattr(each, "is_array", False) else value)
    return tuple(found)


@contextmanager
def shaped(mesh_object: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield an object whose mesh is this one's before its armature deforms it.

    That is the object itself, or a copy without its armature, evaluated in a scene of its own and deleted afterwards.
    Do not call this from a draw handler if `is_shaped`.
    """
    left_out = set(not_shown(mesh_object))
    if is_shaped(mesh_object):
        with _apart(mesh_object, lambda modifier: modifier.type == "ARMATURE" or modifier.name in left_out) as found:
            yield found
    else:
        yield mesh_object


@contextmanager
def keyed(mesh_object: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield an object whose mesh is this one's with only its shape keys: itself if none is on, or a copy."""
    if has_keys_on(mesh_object):
        with _apart(mesh_object, lambda _: True) as found:
            yield found
    else:
        yield mesh_object


@contextmanager
def evaluated_apart(mesh_object: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Yield an object with all its modifiers applied, even if the current scene does not evaluate it.

    It is an evaluated copy, which is deleted afterwards. Do not call this during a drawing.
    """
    with _apart(mesh_object, lambda _: False) as found:
        yield found


@contextmanager
def _apart(mesh_object: bpy.types.Object,
           is_left_out: Callable[[bpy.types.Modifier], bool]) -> Iterator[bpy.types.Object]:
    """Yield a copy without some modifiers, evaluated in a scene of its own."""
    global _is_reading
    now = bpy.context.scene
    before, _is_reading = _is_reading, True
    copy, scene = cast(bpy.types.Object, mesh_object.copy()), bpy.data.scenes.new(_SCENE)
    try:
        for modifier in list(copy.modifiers):
            if is_left_out(modifier):
                copy.modifiers.remove(modifier)
        copy.hide_viewport = False
        assert scene.collection is not None
        scene.collection.objects.link(copy)
        if now is not None:
            scene.frame_current = now.frame_current
        layer = scene.view_layers[0]
        layer.update()
        assert layer.depsgraph is not None
        yield copy.evaluated_get(layer.depsgraph)
    finally:
        bpy.data.objects.remove(copy)
        bpy.data.scenes.remove(scene)
        _is_reading = before
