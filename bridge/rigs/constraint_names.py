"""By what Takt's own constraints are known on objects of the user's."""

from typing import Final

import bpy

PREFIX: Final = "Takt "
_TYPES: Final = ("CHILD_OF", "LIMIT_LOCATION", "LIMIT_ROTATION")


def is_takts(constraint: bpy.types.Constraint) -> bool:
    """Tell whether Takt has put a constraint on an object, so that a hand holds that."""
    return constraint.name.startswith(PREFIX) and constraint.type in _TYPES
