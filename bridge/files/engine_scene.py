"""A scene of its own for an exporter: a copy of a character that plays each procedure in a track of the NLA.

So Blender's exporters, which rotate bones, set frames and mute tracks, change none of the user's Actions, NLA,
selection, mode or frame. Everything that they leave is removed afterwards, even if they fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, Final, cast

import bpy

from ...core.errors import TaktError
from .. import properties
from ..actions import curves
from ..actions.action import write_new_action
from ..actions.procedure_actions import Sampled
from ..background import operator_context
from ..rigs import constraints

_SCENE: Final = "Takt export"
_KINDS: Final = ("scenes", "collections", "objects", "armatures", "meshes", "actions", "materials", "images")
"""Kinds of data of which exporters may leave some behind."""


@contextmanager
def engine_scene(armature_object: bpy.types.Object, scene: bpy.types.Scene,
                 played: Sequence[Sampled]) -> Iterator[bpy.types.Object]:
    """Show a scene with nothing but a character's copy, selected and at rest, and yield the copy's armature.

    The copy has the visible meshes that the armature deforms or carries, and the names of the originals.
    Raises TaktError if Blender has no window, which the exporters need.
    """
    window: Any = next(iter(bpy.context.window_manager.windows), None)  # type: ignore[union-attr]
    if window is None:
        raise TaktError("Blender has no window, without which its exporters do not work: save the file and export it "
                        "by blender --command takt export")
    with ExitStack() as after:
        known = {(kind, each.session_uid) for kind in _KINDS for each in getattr(bpy.data, kind)}
        after.callback(_remove_new, known)
        originals = [armature_object, *meshes_of(armature_object, scene)]
        _show(window, _scene_like(scene), after)
        with operator_context(window=window):
            copies = _copied(originals, after)
            _play(copies[0], played)
            yield copies[0]


def meshes_of(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Yield the visible meshes that an armature deforms, or that are its children."""
    below = set(armature_object.children_recursive)
    for ob in scene.objects:
        if ob.type == "MESH" and ob.visible_get() and (ob in below or ob.find_armature() == armature_object):
            yield ob


def _scene_like(scene: bpy.types.Scene) -> bpy.types.Scene:
    """Return a new, empty scene with the frames and units of another."""
    made = bpy.data.scenes.new(_SCENE)
    made.camera = scene.camera  # otherwise viewports would leave the camera's view
    made.render.fps, made.render.fps_base = scene.render.fps, scene.render.fps_base
    for name in ("system", "scale_length", "length_unit"):
        setattr(made.unit_settings, name, getattr(scene.unit_settings, name))
    return made


def _show(window: Any, shown: bpy.types.Scene, after: ExitStack) -> None:
    before, layer = window.scene, window.view_layer

    def show_again() -> None:
        window.scene = before
        window.view_layer = layer

    after.callback(show_again)
    window.scene = shown


def _copied(originals: Sequence[bpy.types.Object], after: ExitStack) -> list[bpy.types.Object]:
    """Return selected copies of objects in the current scene that refer to each other; they share the meshes.

    They have the names of the originals, which get these back afterwards.
    """
    scene, layer = bpy.context.scene, bpy.context.view_layer
    assert scene is not None and layer is not None
    copies = {ob: cast(bpy.types.Object, ob.copy()) for ob in originals}
    for ob, copy in copies.items():
        copy.hide_viewport = copy.hide_select = False
        scene.collection.objects.link(copy)
        copy.select_set(True)
        if copy.parent is not None and copy.parent not in copies:
            copy.parent = None
            copy.matrix_world = ob.matrix_world
        for owner in _referring(copy):
            _refer_to(owner, copies)
        if ob.library is None:  # a linked object may share its name
            after.callback(partial(ob.rename, ob.name, mode="ALWAYS"))
        copy.rename(ob.name, mode="ALWAYS")
    layer.objects.active = copies[originals[0]]
    return list(copies.values())


def _referring(ob: bpy.types.Object) -> Iterator[Any]:
    """Yield all parts of an object that may refer to other objects."""
    yield from (ob, *ob.modifiers)
    for owner in (ob, *(() if ob.pose is None else ob.pose.bones)):
        for constraint in owner.constraints:
            yield from (constraint, *getattr(constraint, "targets", ()))
    for curve in () if ob.animation_data is None else ob.animation_data.drivers:
        for variable in () if curve.driver is None else curve.driver.variables:
            yield from variable.targets


def _refer_to(owner: Any, instead: Mapping[bpy.types.Object, bpy.types.Object]) -> None:
    """Redirect an owner's references to other objects."""
    for each in owner.bl_rna.properties:
        value = getattr(owner, each.identifier) if each.type == "POINTER" and not each.is_readonly else None
        if isinstance(value, bpy.types.Object) and value in instead:
            setattr(owner, each.identifier, instead[value])


def _play(copy: bpy.types.Object, played: Sequence[Sampled]) -> None:
    """Let an armature's copy, at rest, play each procedure in a track of its own."""
    copy.data = copy.data.copy()  # type: ignore[union-attr]  # an armature has data; exporters put it at rest
    assert copy.pose is not None
    for bone in copy.pose.bones:
        bone.matrix_basis.identity()
    for ob in bpy.context.selected_objects:
        _without_actions(ob)
    animation = copy.animation_data_create()
    assert animation is not None
    for each in played:
        assert each.channels is not None  # the caller leaves out procedures that cannot be played
        action = write_new_action(copy, each.procedure, each.channels)
        action.use_frame_range = True  # independent of its curves
        action.frame_start, action.frame_end = 0.0, float(each.channels.last_frame)
        track = animation.nla_tracks.new()
        track.name = each.procedure
        strip = track.strips.new(each.procedure, 0, action)
        strip.action_slot, strip.name = action.slots[0], each.procedure
    if properties.character(copy).mute_constraints and played:
        constraints.mute(copy, sorted({name for each in played for name in each.moved}), action)
    copy.property_unset(properties.NAME)


def _without_actions(ob: bpy.types.Object) -> None:
    """Remove all animation but drivers from a copy of an object."""
    if ob.animation_data is not None:
        curves.alone(ob).action = None


def _remove_new(known: set[tuple[str, int]]) -> None:
    new = {each for kind in _KINDS for each in getattr(bpy.data, kind) if (kind, each.session_uid) not in known}
    bpy.data.batch_remove(new)
