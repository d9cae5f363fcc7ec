"""The cast of a score: which objects of the scene play its roles, as core takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import cast

import bpy
import numpy as np

from ..core.errors import TaktError, quoted
from ..core.maths.arrays import FloatArray
from ..core.playing.scene.cast import ScenePath, ScenePlace, Target, Unfit
from . import heads, object_places, properties
from .curve_points import points_along
from .object_places import Placed

_DIGITS = 6
"""What moves by less than the last of these has not moved."""
_NO_LENGTH = 1e-9
_FARTHEST = 1e9
"""Blender's units; nothing can be counted with what is farther away."""
_AHEAD = np.array((0.0, -1.0, 0.0))
"""An object faces along its own −Y, as Blender's characters do."""


def keep(character: properties.TaktCharacter, roles: Mapping[str, str]) -> None:
    """List the roles of a score with their kinds; those that it no longer has keep what plays them."""
    for name, kind in roles.items():
        known = character.cast.get(name)
        if known is not None and (known.kind, known.is_here) == (kind, True):
            continue
        role = character.cast.add() if known is None else known
        role.name, role.kind, role.is_here = name, kind, True
    for role in character.cast:
        if role.is_here and role.name not in roles:
            role.is_here = False


def read(armature_object: bpy.types.Object) -> tuple[tuple[str, Target], ...]:
    """Return what is cast for the roles, by their names, in the armature's space as the score begins."""
    return tuple(_targets(armature_object))


def key(armature_object: bpy.types.Object) -> Hashable:
    """Return what is the same as long as the cast is where it is; None while there is none."""
    found = read(armature_object)
    return hashlib.blake2b(repr(found).encode(), digest_size=16).digest() if found else None


def copy(source: properties.TaktCharacter, to: properties.TaktCharacter) -> None:
    """Let one character's cast be another's too."""
    keep(to, {role.name: role.kind for role in source.cast if role.is_here})
    for role in source.cast:
        if role.is_here:
            to.cast[role.name].target = role.target


def _targets(armature_object: bpy.types.Object) -> Iterator[tuple[str, Target]]:
    character = properties.character(armature_object)
    roles = [role for role in character.cast if role.is_here and role.target is not None]
    if not roles:
        return
    frame = character.frame_start
    try:
        own = _finite(armature_object, object_places.at_frame(armature_object, frame))
    except TaktError as error:
        yield from ((role.name, Unfit(str(error))) for role in roles)
        return
    to_armature = np.asarray(np.linalg.pinv(own.matrix), dtype=np.float64)
    for role in roles:
        assert role.target is not None
        try:
            yield role.name, _target(role, armature_object, own, to_armature)
        except TaktError as error:
            yield role.name, Unfit(str(error))


def _target(role: properties.TaktRole, armature_object: bpy.types.Object, own: Placed,
            to_armature: FloatArray) -> Target:
    """Return what an object is as a role; raise TaktError where it cannot be that."""
    target = role.target
    assert target is not None
    if properties.is_of_character(target, armature_object):
        what = "the character" if target == armature_object else f"the body of {quoted(armature_object.name)}"
        raise TaktError(f"{quoted(target.name)} is {what} itself, which cannot go to itself: choose another object")
    if role.kind == "path" and target.type != "CURVE":
        raise TaktError(f"{quoted(target.name)} is of the type {target.type.title()}, expected a curve: choose one")
    placed = _finite(target, object_places.at_frame(target, properties.character(armature_object).frame_start))
    matrix, note = to_armature @ placed.matrix, _note(target, placed) or _note(armature_object, own)
    if role.kind == "path":
        points = points_along(cast(bpy.types.Curve, target.data)) @ matrix[:3, :3].T + matrix[:3, 3]
        if len(points) < 2:  # a way has a beginning and an end
            raise TaktError(f"the curve {quoted(target.name)} has {len(points) or 'no'} point{'s' * (not len(points))} "
                            "in its first spline, expected two at least: draw it in Edit Mode")
        if not np.isfinite(points).all():
            raise TaktError(f"the curve {quoted(target.name)} has a point that is not finite: delete it in Edit Mode")
        return ScenePath(tuple(_point(point) for point in points), note)
    ahead = matrix[:3, :3] @ _AHEAD
    length = float(np.linalg.norm(ahead))
    if length < _NO_LENGTH:
        raise TaktError(f"{quoted(target.name)} is scaled to nothing, so it faces nowhere: clear its scale (Alt S), or "
                        "that of its parent")
    place = ScenePlace(_point(matrix[:3, 3]), _point(ahead / length), note)
    return replace(place, head=_head(target, place, properties.character(armature_object).frame_start, to_armature))


def _head(target: bpy.types.Object, place: ScenePlace, frame: int, to_armature: FloatArray) -> ScenePlace | None:
    """Return the head of another character, None where there is none."""
    other = heads.armature_of(target)
    found = None if other is None else heads.at_frame(other, frame)
    if other is None or found is None:
        return None
    head = (to_armature @ object_places.at_frame(other, frame).matrix @ found.matrix)[:3, 3]
    return ScenePlace(_point(head), place.ahead, place.note or _note(other, found))


def _finite(ob: bpy.types.Object, placed: Placed) -> Placed:
    if not (np.abs(placed.matrix) < _FARTHEST).all():
        raise TaktError(f"the location, rotation or scale of {quoted(ob.name)} is not a number, or beyond "
                        f"{_FARTHEST:.0g}: clear them (Object > Clear)")
    return placed


def _note(ob: bpy.types.Object, placed: Placed) -> str:
    """Return what is to be said of where an object is, "" for nothing."""
    if placed.held_by:
        return (f"{quoted(ob.name)} is moved by {placed.held_by}, so it counts where it is at the current frame: "
                "bake its motion into keys (Object > Animation > Bake Action)")
    return (f"{quoted(ob.name)} is animated, and counts where it is as the score begins; its motion after that is not "
            "followed") if placed.is_moving else ""


def _point(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (values.round(_DIGITS) + 0.0).tolist()
    return x, y, z
