"""The cast of a score: which objects of the scene play its roles, as core takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping
from typing import cast

import bpy
import numpy as np

from ..core.errors import TaktError
from ..core.maths.arrays import FloatArray
from ..core.playing.scene.cast import ScenePath, ScenePlace, Target
from . import properties
from .curve_points import points_along

_DIGITS = 6
"""What moves by less than the last of these has not moved."""
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
    """Return what plays the roles, by their names, in the armature's space as it is now."""
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
    roles = [role for role in properties.character(armature_object).cast if role.is_here and role.target is not None]
    if not roles:
        return
    to_armature = np.linalg.pinv(np.array(armature_object.matrix_world, dtype=np.float64))
    for role in roles:
        assert role.target is not None
        target = _target(role.target, role.kind, to_armature)
        if target is not None:
            yield role.name, target


def _target(target: bpy.types.Object, kind: str, to_armature: FloatArray) -> Target | None:
    """Return what an object is as a role of a kind, None where it cannot be that."""
    matrix = to_armature @ np.array(target.matrix_world, dtype=np.float64)
    try:
        if kind == "path":
            if target.type != "CURVE":
                return None
            points = points_along(cast(bpy.types.Curve, target.data)) @ matrix[:3, :3].T + matrix[:3, 3]
            return ScenePath(tuple(_point(point) for point in points))
        ahead = matrix[:3, :3] @ _AHEAD
        return ScenePlace(_point(matrix[:3, 3]), _point(ahead / max(float(np.linalg.norm(ahead)), 1e-30)))
    except TaktError:
        return None  # a curve without points, an object scaled to nothing


def _point(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (values.round(_DIGITS) + 0.0).tolist()
    return x, y, z
