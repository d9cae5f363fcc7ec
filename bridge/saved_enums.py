"""Enums stored in a .blend by numbers that do not depend on the other choices.

Blender saves the number of a choice, not its identifier. By default that is the index in the list, so a new choice in
the middle of the list would change the meaning of saved files.
"""

import zlib
from collections.abc import Sequence
from typing import Any

from bpy import props

_LARGEST = 2**31 - 1
"""The largest number that Blender can store."""


def EnumProperty(*, items: Sequence[tuple[str, str, str]], **more: Any) -> Any:  # noqa: N802  # as Blender's own
    """Return Blender's EnumProperty, with items of identifier, label and description."""
    numbered: list[Any] = [(identifier, label, description, "NONE", number(identifier))
                           for identifier, label, description in items]
    return props.EnumProperty(items=numbered, **more)


def number(identifier: str) -> int:
    """Return the number under which a choice is saved: its checksum."""
    return zlib.crc32(identifier.encode()) & _LARGEST
