"""Meshes and collections that play floors, in the space of the character that stands on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import bpy
import numpy as np

from ...core.errors import TaktError, quoted
from ...core.maths.arrays import FloatArray
from ...core.playing.scene.cast import SceneFloor
from .. import properties
from ..rigs import object_courses
from . import floor_shapes
from .floor_shapes import Triangles

_MOST_KNOWN: Final = 64
_DEEPEST: Final = 8
"""Greatest depth of collections that are instanced in each other."""
_DIGITS: Final = 6
"""Number of decimals of transforms; smaller movements are ignored."""
_STILL: Final = 1e-4
"""Tolerance in Blender's units, and for rotations."""
_floors: dict[tuple[int, str], tuple[list[Triangles], bytes, SceneFloor]] = {}
"""Cache by a character's session_uid and a role: the meshes' triangles, their transforms with the note, the floor."""


class _Mesh(NamedTuple):
    """A mesh object of a floor. instances: the empties that instance it, outermost first."""

    ob: bpy.types.Object
    instances: tuple[bpy.types.Object, ...] = ()


def floor(role: properties.TaktRole, armature_object: bpy.types.Object, scene: bpy.types.Scene) -> SceneFloor:
    """Return the floor made of a role's object and collection, at the frame at which the score begins.

    Raises TaktError if nobody can stand on any of it.
    """
    ours = object_courses.links(armature_object)
    notes = [note for link in ours if (note := object_courses.note(link.owner))]
    shapes, matrices, wrong = list[Triangles](), list[FloatArray](), list[str]()
    for mesh in _meshes(role, armature_object):
        try:
            shapes.append(_standable(mesh.ob))
            matrix, told = _placed(mesh, ours, armature_object, scene)
        except TaktError as error:
            del shapes[len(matrices):]
            wrong.append(str(error))
            continue
        matrices.append(matrix)
        notes += told
    if not shapes:
        raise TaktError(wrong[0] if wrong else _without_meshes(role))
    note = (notes or wrong or [""])[0]
    key, made_of = (armature_object.session_uid, role.name), np.array(matrices).tobytes() + note.encode()
    known = _floors.get(key)
    if known is not None and known[1] == made_of and len(known[0]) == len(shapes) and all(
            one is other for one, other in zip(known[0], shapes, strict=True)):
        return known[2]
    if len(_floors) >= _MOST_KNOWN:
        _floors.clear()
    _floors[key] = shapes, made_of, _together(shapes, matrices, note)
    return _floors[key][2]


def _meshes(role: properties.TaktRole, armature_object: bpy.types.Object) -> Iterator[_Mesh]:
    """Yield the meshes of a role, without the character's own body and its children."""
    found = list[_Mesh]()
    if role.target is not None and not object_courses.is_gone(role.target):
        found += _within(role.target, ())
    if role.collection is not None:
        found += [each for ob in role.collection.all_objects for each in _within(ob, ())]
    for mesh in dict.fromkeys(found):
        if mesh.ob == role.target or not any(properties.hangs_on(each, armature_object)
                                             for each in (mesh.ob, *mesh.instances)):
            yield mesh


def _within(ob: bpy.types.Object, instances: tuple[bpy.types.Object, ...]) -> Iterator[_Mesh]:
    if ob.type == "MESH":
        yield _Mesh(ob, instances)
    elif ob.instance_collection is not None and ob.instance_type == "COLLECTION" and len(instances) < _DEEPEST:
        for each in ob.instance_collection.all_objects:
            yield from _within(each, (*instances, ob))


def _standable(ob: bpy.types.Object) -> Triangles:
    """Return the triangles of a mesh; raise TaktError if it has none."""
    found = floor_shapes.triangles(ob)
    if not len(found.triangles):
        raise TaktError(f"the mesh {quoted(ob.name)} has no faces to stand on: make some in Edit Mode, or look at its "
                        "modifiers")
    return found


def _placed(mesh: _Mesh, ours: list[object_courses.Link], armature_object: bpy.types.Object,
            scene: bpy.types.Scene) -> tuple[FloatArray, list[str]]:
    """Return a mesh's transform at the frame at which the score begins, (4, 4) to model space, and notes on it.

    Raises TaktError if the transform is unknown, or if a scale is zero.
    """
    chains = [(ob, object_courses.links(ob)) for ob in (*mesh.instances, mesh.ob)]
    links, name = [link for _, chain in chains for link in chain], quoted(mesh.ob.name)
    first = properties.character(armature_object).frame_start
    frames = object_courses.frames_of([*links, *ours], first, scene.frame_end)
    notes = [note for link in links if (note := object_courses.note(link.owner))]
    world = np.eye(4)
    for ob, chain in chains:
        world = world @ object_courses.sound_world(ob, chain, frames)
        if ob.instance_collection is not None:
            offset = np.eye(4)
            offset[:3, 3] = -np.array(ob.instance_collection.instance_offset)
            world = world @ offset
    matrices = np.linalg.pinv(object_courses.sound_world(armature_object, ours, frames)) @ world
    if np.linalg.matrix_rank(matrices[0, :3, :3]) < 2:
        raise TaktError(f"{name} is scaled to nothing, so nobody can stand on it: clear its scale (Alt S), or that of "
                        "its parent")
    if np.abs(matrices - matrices[0]).max() > _STILL:
        notes.append(f"{name} moves independently of {quoted(armature_object.name)}, so only its position at the "
                     "score's beginning counts: parent the character to it, or clear the animation")
    if floor_shapes.moves(mesh.ob):
        notes.append(f"the shape of {name} is animated, and counts as it was when the score was read: apply its "
                     "modifiers and shape keys")
    return matrices[0].round(_DIGITS) + 0.0, notes


def _together(shapes: list[Triangles], matrices: list[FloatArray], note: str) -> SceneFloor:
    """Return one floor made of several meshes."""
    points = [each.points @ matrix[:3, :3].T + matrix[:3, 3] for each, matrix in zip(shapes, matrices, strict=True)]
    begins = np.cumsum([0, *map(len, points)])
    return SceneFloor(np.concatenate(points), np.concatenate(
        [each.triangles + begin for each, begin in zip(shapes, begins.tolist(), strict=False)]), note)


def _without_meshes(role: properties.TaktRole) -> str:
    held = role.collection if role.target is None else role.target.instance_collection
    if held is not None:
        return f"the collection {quoted(held.name)} has no meshes to stand on: put some into it"
    return f"{quoted('' if role.target is None else role.target.name)} is no mesh: choose one, or a collection"
