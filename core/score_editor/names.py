"""Short names of clips for blocks and chips: the part of a generated name that identifies the clip."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_LAYER: Final = re.compile(r"(base|anim)? ?layer ?\d*", re.IGNORECASE)
_NAMELESS: Final = re.compile(r"mixamo\.com|take[ _]?\d*|scene|armature|skeleton|(armature)?action|"
                              r"anim(ation)?[ _]?\d*", re.IGNORECASE)
"""Names that programs give to the only animation of a file, and parts of these."""
_ADDED: Final = re.compile(r"\.\d{3}$")
"""The suffix that Blender adds to the name of an armature if another has that name."""
_GENERIC: Final = re.compile(r"(?:(.*)\.)?(mixamo\.com|(armature|action|armatureaction|animation|scene|skeleton)"
                             r"(\.\d{3})?|take[ _]?\d+|anim(ation)?[ _]?\d+)", re.IGNORECASE | re.DOTALL)
"""A generic name, with the part before it."""
_NUMBER: Final = re.compile(r"\d{3,}")
"""The number that Blender adds after a dot to a name that already exists."""


@lru_cache(maxsize=4096)
def short(full_name: str) -> str:
    """Return the last part of a clip's name; in names of FBX files without armature and layer.

    full_name: with the file's src, or a clip's own. If the clip's own name says nothing, the file's name is returned.

    >>> short("feet.Steps.left"), short("Rig|Rig|1H_Melee_Chop"), short("rogue.Root|Walk 1.5|BaseLayer")
    ('left', '1H_Melee_Chop', 'Walk 1.5')
    >>> short("moves.Walking.Armature|mixamo.com|Layer0"), short("Armature|mixamo.com|Layer0")
    ('Walking', 'mixamo.com')
    >>> short("moves.Walk.Rig.001|RigAction"), short("moves.Walk.Armature|Action"), short("moves.Walk.Rig|Hop")
    ('Walk', 'Walk', 'Hop')
    >>> short("moves.Walking.Armature"), short("moves.Jump.mixamo.com"), short("Armature")
    ('Walking', 'Jump', 'Armature')
    """
    first, *parts = full_name.split("|")
    if not parts:
        generic = _GENERIC.fullmatch(full_name)
        return own_part(generic[1] if generic and generic[1] else full_name) or full_name
    if len(parts) > 1 and _LAYER.fullmatch(parts[-1]):
        parts.pop()
    file = _ADDED.sub("", first).rpartition(".")[0].rpartition(".")[2]
    return file if file and is_nameless(full_name) else parts[-1] or full_name


def own_part(name: str) -> str:
    """Return the last part of a dotted name, with the part before it if the last is a number added by Blender.

    >>> own_part("feet.Steps.left"), own_part("Man_Run.001"), own_part("Man_Run.001.Man_Run.001")
    ('left', 'Man_Run.001', 'Man_Run.001')
    >>> own_part("walks.001.001")  # the only clip of walks/001.bvh, by its whole name
    'walks.001'
    """
    before, _, last = name.rpartition(".")
    if before and _NUMBER.fullmatch(last):
        return f"{before.removesuffix(f'.{last}').rpartition('.')[2]}.{last}"
    return last


def is_nameless(name: str) -> bool:
    """Return whether a clip's name says nothing about the clip, so that its file's name is needed.

    >>> is_nameless("Armature|mixamo.com|Layer0"), is_nameless("Rig|Walk"), is_nameless("scene")
    (True, False, True)
    >>> is_nameless("Armature|Action"), is_nameless("Rig.001|RigAction"), is_nameless("Rig|Action.001")
    (True, True, False)
    """
    generic = _GENERIC.fullmatch(name)
    first, *parts = name.split("|")
    of_armature = f"{_ADDED.sub('', first).rpartition('.')[2]}Action"  # as Blender calls an Action by its object
    return (generic is not None and not generic[1]) or any(
        _NAMELESS.fullmatch(part) or part == of_armature for part in parts)
