"""Variations of a score: other values of its parameters, and another cast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import bpy

from ...core.errors import TaktError, some_of
from .. import properties

_SHOWN: Final = 8


def set_values(character: properties.TaktCharacter, values: Mapping[str, float | bool]) -> None:
    """Set parameters of the played procedure; raise TaktError if it has no such ones."""
    there = {each.name: each for each in character.parameters if each.is_here}
    for name, value in values.items():
        if name not in there:
            raise TaktError(f"parameter {name}: the procedure has no such parameter; it has "
                            f"{some_of(tuple(there), _SHOWN) or 'none'}")
        if there[name].is_truth != isinstance(value, bool):
            raise TaktError(f"parameter {name}: expected {'yes or no' if there[name].is_truth else 'a number'}")
        if isinstance(value, bool):
            there[name].truth = value
        else:
            there[name].number = value


def set_cast(character: properties.TaktCharacter,
             objects: Mapping[str, str | bpy.types.Object | bpy.types.Collection]) -> None:
    """Set the cast of a score: for roles their objects, for floors also collections, or the names of these.

    An object replaces a collection that was cast in its role, and the other way round. Of an object and a collection
    with one name, the object is cast. Raises TaktError if there is no such role or object.
    """
    there = {role.name: role for role in character.cast if role.is_here}
    for role, given in objects.items():
        if role not in there:
            raise TaktError(f"role {role}: the score has no such role; it has "
                            f"{some_of(tuple(there), _SHOWN) or 'none'}")
        name = given if isinstance(given, str) else given.name
        target = bpy.data.objects.get(name) if isinstance(given, str) else given
        if target is None and there[role].kind == "floor":
            target = bpy.data.collections.get(name)
        if isinstance(target, bpy.types.Collection) and there[role].kind == "floor":
            there[role].target, there[role].collection = None, target
            continue
        if not isinstance(target, bpy.types.Object):
            raise TaktError(f"role {role}: the file has no object {name!r}")
        if there[role].kind == "path" and target.type != "CURVE":
            raise TaktError(f"role {role}: it is a path, so it needs a curve; {name!r} is none")
        there[role].target, there[role].collection = target, None
