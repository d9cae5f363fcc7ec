"""Recognise Takt's own constraints on the user's objects."""

from typing import Final

import bpy

PREFIX: Final = "Takt "
_TYPES: Final = ("CHILD_OF", "LIMIT_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE")


def is_takts(constraint: bpy.types.Constraint) -> bool:
    """Return whether Takt added this constraint, so that a hand can hold the object."""
    return constraint.name.startswith(PREFIX) and constraint.type in _TYPES
