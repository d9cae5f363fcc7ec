"""Actions of a character written by Blender's own exporters into one file, each as an animation of its name.

The exporters write what lies in the tracks of the NLA, all of it. So a copy of the character gets these tracks, and the
character's names as long as it is written; nothing of the character's own is changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import bpy

from ..core.errors import TaktError
from . import constraints, curves

ENDINGS: Final = (".glb", ".gltf", ".fbx")


def check(path: Path) -> None:
    """Raise TaktError where a file cannot be written, before anything is done for it."""
    if path.suffix.lower() not in ENDINGS:
        raise TaktError(f"'{path.name}' has to end in {', '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise TaktError(f"'{path}' cannot be written: there is no folder '{path.parent}'")


def export(armature_object: bpy.types.Object, actions: Mapping[str, bpy.types.Action], moved: Collection[str],
           path: Path) -> None:
    """Write a character with its meshes and Actions by the names of animations; raise TaktError where it fails.

    moved: the bones that the Actions move, which constraints are kept from moving. A file of one piece is there whole
    or not at all.
    """
    check(path)
    scene, beside = bpy.context.scene, path.with_name(f".takt-{path.name}")
    assert scene is not None
    target = path if path.suffix.lower() == ".gltf" else beside  # that one has files beside it, by its name
    with ExitStack() as stack:
        stack.enter_context(_in_object_mode())
        stack.enter_context(_frame_kept(scene))
        copies = stack.enter_context(_copied(armature_object, _worn_by(armature_object), scene))
        constraints.mute_in_way(copies[0], moved)
        _into_tracks(copies[0], actions)
        stack.enter_context(_selected(copies))
        try:
            _write(target)
            if target != path:
                target.replace(path)
        except (RuntimeError, OSError) as error:
            raise TaktError(f"'{path}' cannot be written: {str(error).strip()}") from error
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


def _write(path: Path) -> None:
    operators: Any = bpy.ops
    if path.suffix.lower() == ".fbx":
        done = operators.export_scene.fbx(
            filepath=str(path), use_selection=True, object_types={"ARMATURE", "MESH"}, add_leaf_bones=False,
            bake_anim_use_nla_strips=True, bake_anim_use_all_actions=False, bake_anim_simplify_factor=0.0,
            bake_anim_force_startend_keying=True)
    else:
        done = operators.export_scene.gltf(
            filepath=str(path), use_selection=True, export_format="GLB" if path.suffix.lower() == ".glb" else
            "GLTF_SEPARATE", export_animation_mode="NLA_TRACKS", export_force_sampling=True,
            export_optimize_animation_size=False)
    if done != {"FINISHED"}:
        raise RuntimeError("Blender's exporter has not finished")


def _worn_by(armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the meshes that an armature moves, by a modifier or as their parent; hidden ones are left out."""
    layer: Any = bpy.context.view_layer
    return [ob for ob in layer.objects if ob.type == "MESH" and ob.visible_get() and (
        ob.parent == armature_object or any(
            isinstance(each, bpy.types.ArmatureModifier) and each.object == armature_object for each in ob.modifiers))]


@contextmanager
def _copied(armature_object: bpy.types.Object, meshes: Sequence[bpy.types.Object],
            scene: bpy.types.Scene) -> Iterator[list[Any]]:
    """Yield copies of an armature and of its meshes, which have their names meanwhile."""
    originals = [armature_object, *meshes]
    names, copies = [ob.name for ob in originals], list[Any]()
    own_data = armature_object.data
    try:
        copies += [ob.copy() for ob in originals]
        twin = copies[0]
        curves.to_twin(armature_object, twin)
        for original, copy, name in zip(originals, copies, names, strict=True):
            scene.collection.objects.link(copy)
            if original.library is None:
                original.name = f"takt {name}"
            copy.name = name
            copy.hide_set(False)
            if copy == twin or copy.animation_data is not None:
                curves.alone(copy).action = None
            if copy.parent == armature_object:
                copy.parent = twin  # with the inverse that it has
            for modifier in copy.modifiers:
                if isinstance(modifier, bpy.types.ArmatureModifier) and modifier.object == armature_object:
                    modifier.object = twin
        yield copies
    finally:
        data: Any = copies[0].data if copies else own_data
        for copy in copies:
            bpy.data.objects.remove(copy)
        if data != own_data:
            bpy.data.armatures.remove(data)
        for original, name in zip(originals, names, strict=True):
            if original.library is None:
                original.name = name


def _into_tracks(twin: bpy.types.Object, actions: Mapping[str, bpy.types.Action]) -> None:
    """Give an armature that plays nothing a track for each Action."""
    animation = twin.animation_data
    assert animation is not None
    animation.action, animation.use_nla = None, True
    for name, action in actions.items():
        track = animation.nla_tracks.new()
        track.name = name
        strip = track.strips.new(name, 0, action)
        strip.action_slot, strip.influence = action.slots[0], 1.0  # else a new one may count for nothing


@contextmanager
def _in_object_mode() -> Iterator[None]:
    operators: Any = bpy.ops
    layer: Any = bpy.context.view_layer
    mode = "OBJECT" if layer.objects.active is None else layer.objects.active.mode
    if mode != "OBJECT":
        operators.object.mode_set(mode="OBJECT")
    try:
        yield
    finally:
        if mode != "OBJECT":
            operators.object.mode_set(mode=mode)


@contextmanager
def _frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    frame, subframe, first, last = scene.frame_current, scene.frame_subframe, scene.frame_start, scene.frame_end
    try:
        yield
    finally:
        scene.frame_start, scene.frame_end = first, last
        if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
            scene.frame_set(frame, subframe=subframe)


@contextmanager
def _selected(wanted: Sequence[Any]) -> Iterator[None]:
    """Select some objects alone; they are gone when all is as it was."""
    layer: Any = bpy.context.view_layer
    selected, active = list(layer.objects.selected), layer.objects.active
    for ob in selected:
        ob.select_set(False)
    for ob in wanted:
        ob.select_set(True)
    layer.objects.active = wanted[0]
    try:
        yield
    finally:
        layer.objects.active = active
        for ob in selected:
            ob.select_set(True)
