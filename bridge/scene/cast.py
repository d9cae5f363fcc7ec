"""The cast of a score: the objects of the scene that play its roles, as core's targets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import cast

import bpy
import numpy as np

from ...core.errors import TaktError, quoted
from ...core.maths.arrays import FloatArray
from ...core.playing.scene.cast import Moving, SceneFloor, ScenePath, ScenePlace, Target, Unfit, moved
from .. import changes, properties
from ..frame_rate import frames_per_second
from ..rigs import object_courses, person
from . import chairs, floors, held_courses, own_places
from .curve_points import ignored, points_along

_HEAD_DIGITS = 4
"""Decimals of positions of heads and held props. Rounding lets two characters that look at each other settle."""
_NO_LENGTH = 1e-6
_MOST_CHARACTERS = 256
_characters: dict[tuple[int, str], tuple[Hashable, Target]] = {}
"""Cache of slow reads, by character and role: the state they depend on, and the result."""
_AHEAD = np.array((0.0, -1.0, 0.0))
"""Objects face along their own −Y, as Blender's characters do."""


def keep(character: properties.TaktCharacter, roles: Mapping[str, str]) -> None:
    """Store the roles of a score with their kinds. Roles that it no longer has keep their objects."""
    for name, kind in roles.items():
        known = character.cast.get(name)
        if known is not None and known.target is not None and known.was != known.target.name:
            known.was = known.target.name
        if known is not None and (known.kind, known.is_here) == (kind, True):
            continue
        role = character.cast.add() if known is None else known
        role.name, role.kind, role.is_here = name, kind, True
    for role in character.cast:
        if role.is_here and role.name not in roles:
            role.is_here = False


def read(armature_object: bpy.types.Object) -> tuple[tuple[str, Target], ...]:
    """Return the cast by role names, in the armature's space over the score's frames."""
    return tuple(_targets(armature_object))


def key(armature_object: bpy.types.Object) -> Hashable:
    """Return a value that stays equal while the cast moves the same way, None without a cast."""
    found = read(armature_object)
    if not found:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for name, target in found:
        if isinstance(target, SceneFloor):
            digest.update(name.encode() + target.digest)
            continue
        if not isinstance(target, Moving):
            digest.update(repr((name, target)).encode())
            continue
        digest.update(repr((name, target.still, target.note)).encode())
        for numbers in (target.times_s, target.model_from_own, target.heads):
            if numbers is not None:
                digest.update(numbers.tobytes())
    return digest.digest()


def copy(source: properties.TaktCharacter, to: properties.TaktCharacter) -> None:
    """Copy one character's cast to another."""
    keep(to, {role.name: role.kind for role in source.cast if role.is_here})
    for role in source.cast:
        if role.is_here:
            to.cast[role.name].target, to.cast[role.name].collection = role.target, role.collection


def _targets(armature_object: bpy.types.Object) -> Iterator[tuple[str, Target]]:
    roles = [role for role in properties.character(armature_object).cast
             if role.is_here and (role.target is not None or role.was or _has_collection(role))]
    scene = bpy.context.scene
    if not roles or scene is None:
        return
    for role in roles:
        target = _present(role)
        if target is None and not _has_collection(role):
            yield role.name, Unfit(_why_absent(role))
            continue
        reader = (partial(_floor, role, target, armature_object, scene) if role.kind == "floor" or target is None else
                  partial(_target, target, role.kind, armature_object, scene))
        if (target is None or role.collection is not None or person.armature_of(target) is not None
                or (role.kind == "prop" and held_courses.earlier(target, armature_object))):
            reader = partial(_known_target, role, armature_object, scene, reader)
        yield role.name, reader()


def is_cast(role: properties.TaktRole) -> bool:
    """Return whether a role has an object, or, for floors, a collection."""
    return _has_collection(role) or _present(role) is not None


def absence(role: properties.TaktRole) -> str:
    """Return what to do about a role whose object is in no scene any more, "" otherwise."""
    return "" if is_cast(role) or (role.target is None and not role.was) else _why_absent(role)


def _why_absent(role: properties.TaktRole) -> str:
    if role.target is None:
        return f"{quoted(role.was)} was deleted: choose another object, or leave the role empty"
    if (library := unread(role.target)) is not None:
        return (f"{quoted(role.target.name)} is missing, since {quoted(Path(library.filepath).name)} cannot be read: "
                "find that file (File > External Data > Find Missing Files), or choose another object")
    return f"{quoted(role.target.name)} is in no scene: choose another object, or clear the field"


def _present(role: properties.TaktRole) -> bpy.types.Object | None:
    """Return the object of a role, or None if it has none, or if the object was deleted or its file is unreadable."""
    return None if (role.target is None or object_courses.is_gone(role.target)
                    or unread(role.target) is not None) else role.target


def unread(target: bpy.types.Object) -> bpy.types.Library | None:
    """Return the library in which Blender did not find a linked object, or one of its parents; None: all are there.

    Blender puts an empty at the world's origin in its place.
    """
    link: bpy.types.Object | None = target
    while link is not None:
        if link.is_missing:
            return link.library
        link = link.parent
    return None


def _has_collection(role: properties.TaktRole) -> bool:
    return role.kind == "floor" and role.collection is not None


def _known_target(role: properties.TaktRole, armature_object: bpy.types.Object, scene: bpy.types.Scene,
                  read_anew: Callable[[], Target]) -> Target:
    """Return the result of read_anew, a slow read, from the cache if nothing has changed."""
    which = armature_object.session_uid, role.name
    now = (*(0 if each is None else each.session_uid for each in (role.target, role.collection)), role.kind,
           changes.of_scores(), changes.of_scenes(), changes.of_all_data(), scene.session_uid, scene.frame_end,
           frames_per_second(scene), properties.character(armature_object).frame_start)
    known = _characters.get(which)
    if known is None or known[0] != now:
        if len(_characters) >= _MOST_CHARACTERS:
            _characters.clear()
        known = _characters[which] = now, read_anew()
    return known[1]


def _floor(role: properties.TaktRole, target: bpy.types.Object | None, armature_object: bpy.types.Object,
           scene: bpy.types.Scene) -> Target:
    """Return the floor made of a role's object, its collection or both; Unfit if nobody can stand on it."""
    try:
        if target is not None:
            _check_kind(target, "floor", armature_object)
        return floors.floor(role, armature_object, scene)
    except TaktError as error:
        return Unfit(str(error))


def _target(target: bpy.types.Object, kind: str, armature_object: bpy.types.Object, scene: bpy.types.Scene) -> Target:
    """Return an object over the score's frames as the target of a role of a kind, or Unfit if it cannot play it."""
    try:
        own = own_places.found(target, armature_object) if kind == "place" else None
        if own is not None:
            return own
        _check_kind(target, kind, armature_object)
        return _over_time(target, kind, armature_object, scene)
    except TaktError as error:
        return Unfit(str(error))


def _check_kind(target: bpy.types.Object, kind: str, armature_object: bpy.types.Object) -> None:
    """Raise TaktError if an object cannot play a role of a kind."""
    name = quoted(target.name)
    if properties.is_of_character(target, armature_object):
        what = "the character" if target == armature_object else f"the body of {quoted(armature_object.name)}"
        raise TaktError(f"{name} is {what} itself, which cannot go to itself: choose another object")
    above = target.parent
    while above is not None:
        if above == armature_object:
            raise TaktError(f"{name} hangs on the character and goes where that goes: choose another object, or clear "
                            "its parent")
        above = above.parent
    if kind == "person" and person.armature_of(target) is None:
        raise TaktError(f"{name} is of the type {target.type.title()}, expected a character: choose an armature, or a "
                        "mesh that one deforms")
    if (kind == "path" and target.type != "CURVE") or (kind == "floor" and not properties.plays_floor(target)):
        raise TaktError(f"{name} is of the type {target.type.title()}, expected a "
                        f"{'curve' if kind == 'path' else 'mesh'}: choose one")


def _over_time(target: bpy.types.Object, kind: str, armature_object: bpy.types.Object,
               scene: bpy.types.Scene) -> Target:
    """Return the transforms of an object over the score's frames; raise TaktError if they are unknown."""
    fps, first = frames_per_second(scene), properties.character(armature_object).frame_start
    own, ours, up_to_head = object_courses.links(target), object_courses.links(armature_object), person.head(target)
    holds = held_courses.earlier(target, armature_object) if kind == "prop" else []
    frames = object_courses.frames_of([*own, *ours, *up_to_head, *held_courses.links(holds)], first, scene.frame_end)
    notes = [note for chain in (own, ours) for link in chain if (note := object_courses.note(link.owner))]
    if kind == "path" and (note := ignored(target)):
        notes.append(note)
    model_from_world = np.linalg.pinv(object_courses.sound_world(armature_object, ours, frames))
    world = object_courses.sound_world(target, own, frames)
    if holds:
        world = held_courses.world_over(target, frames, holds)
    matrices = (model_from_world @ world).round(object_courses.DIGITS if not holds else _HEAD_DIGITS) + 0.0
    if kind == "place":
        matrices = _facing(matrices, np.asarray(model_from_world, dtype=np.float64))
    heads = None
    if up_to_head:
        head = model_from_world @ object_courses.world_over(up_to_head, frames)
        heads = head[:, :3, 3].round(_HEAD_DIGITS) + 0.0
    still, note = _still(target, kind, matrices[0, :3], armature_object), notes[0] if notes else ""
    if len(frames) > 1:
        return Moving(still, (frames - first) / fps, matrices[:, :3], heads, note)
    return _placed(still, matrices[0], None if heads is None else heads[0], note)


def _facing(matrices: FloatArray, model_from_world: FloatArray) -> FloatArray:
    """Return matrices (F, 4, 4) with a y axis of length 1 where an object's scale along y is 0.

    The axis is at right angles to x and z. If one of these has no length either, the world's x or z replaces it.
    model_from_world: (F, 4, 4).
    """
    x, y, z = (matrices[:, :3, axis] for axis in range(3))
    aside, upright = (np.broadcast_to(model_from_world[:, :3, axis], z.shape) for axis in (0, 2))
    has_x, has_y, has_z = (np.linalg.norm(axis, axis=1, keepdims=True) > _NO_LENGTH for axis in (x, y, z))
    across = np.cross(np.where(has_z, z, upright), np.where(has_x, x, aside))
    size = np.linalg.norm(across, axis=1)
    is_flat = ~has_y[:, 0] & (has_x | has_z)[:, 0] & (size > _NO_LENGTH * _NO_LENGTH)
    found = matrices.copy()
    found[is_flat, :3, 1] = across[is_flat] / size[is_flat, None]
    return found


def _still(target: bpy.types.Object, kind: str, matrix: FloatArray,
           armature_object: bpy.types.Object) -> ScenePlace | ScenePath:
    """Return an object as a place or path in its own axes. matrix: (3, 4) from these to model space.

    Raises TaktError if a curve has no two finite points, or if a place is scaled to nothing.
    """
    if kind == "path":
        points = points_along(cast(bpy.types.Curve, target.data))
        if len(points) < 2:  # a path needs a beginning and an end
            raise TaktError(f"the curve {quoted(target.name)} has {len(points) or 'no'} point{'s' * (not len(points))} "
                            "in its first spline, expected two at least: draw it in Edit Mode")
        if not np.isfinite(points).all():
            raise TaktError(f"the curve {quoted(target.name)} has a point that is not finite: delete it in Edit Mode")
        return ScenePath(_points(points))
    if kind == "place" and not np.linalg.norm(matrix[:, :3] @ _AHEAD) > _NO_LENGTH:
        raise TaktError(f"{quoted(target.name)} is scaled to nothing, so it faces nowhere: clear its scale (Alt S), or "
                        "that of its parent")
    seat = chairs.seat(target, matrix, armature_object) if kind == "place" else chairs.Seat()
    return ScenePlace((0.0, 0.0, 0.0), object_courses.point(_AHEAD), surface=seat.surface, unseated=seat.unseated,
                      footprint=seat.footprint)


def _placed(still: ScenePlace | ScenePath, matrix: FloatArray, head: FloatArray | None,
            note: str) -> ScenePlace | ScenePath:
    """Return a place or path in model space. matrix: (4, 4) from its own axes. head: (3,) in model space, or None."""
    if isinstance(still, ScenePath):
        return ScenePath(_points(np.array(still.points) @ matrix[:3, :3].T + matrix[:3, 3]), note)
    ahead = matrix[:3, :3] @ _AHEAD
    size = float(np.linalg.norm(ahead))
    position, *footprint = _points(moved(matrix, (still.position, *still.footprint)))
    surface = None if still.surface is None else _points(moved(matrix, (still.surface,)))[0]
    return ScenePlace(position, object_courses.point(ahead / size if size > _NO_LENGTH else _AHEAD),
                      None if head is None else object_courses.point(head), note, surface, still.unseated,
                      tuple(footprint))


def _points(values: FloatArray) -> tuple[tuple[float, float, float], ...]:
    """Return points (N, 3) as tuples, rounded all at once, since a drawn path has thousands."""
    return tuple((x, y, z) for x, y, z in (values.round(object_courses.DIGITS) + 0.0).tolist())
