"""Choices that a .blend keeps, by numbers that do not depend on what else can be chosen.

Blender saves the number of a choice, not its identifier. Where no numbers are given, it takes the index in the list:
then a new choice in the middle of the list would change what files say.
"""

import zlib
from collections.abc import Sequence
from typing import Any

from bpy import props

_LARGEST = 2**31 - 1
"""What Blender can keep as a number."""


def EnumProperty(*, items: Sequence[tuple[str, str, str]], **more: Any) -> Any:  # noqa: N802  # as Blender's own
    """Return Blender's property of that name, with items of identifier, label and description."""
    numbered: list[Any] = [(identifier, label, description, "NONE", number(identifier))
                           for identifier, label, description in items]
    return props.EnumProperty(items=numbered, **more)


def number(identifier: str) -> int:
    """Return the number by which a choice is saved: its checksum."""
    return zlib.crc32(identifier.encode()) & _LARGEST
