"""Identify joints without meaningful names by their neighbours."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from .. import hanim
from .skeleton_map import SkeletonMap

BY_NEIGHBOURS: Final = 0.9
"""How certain such a joint is."""
_HEAD: Final = "skullbase"
_NECK: Final = frozenset(hanim.SPINE[17:])


def with_unnamed(found: SkeletonMap) -> SkeletonMap:
    """Return a map in which joints that every humanoid has are added, if exactly one unmapped joint fits.

    A joint fits if its nearest mapped ancestor is also its ancestor in H-Anim. It must have mapped descendants, all of
    which are its descendants in H-Anim. The head needs no descendants if its parent is a mapped neck. If two joints
    fit, neither is taken.
    """
    if not found.is_humanoid or not found.missing:
        return found
    new = {}
    above, below = _known_around(found)
    parents = found.skeleton.parents.tolist()
    unnamed = [joint for joint, said in enumerate(found.meant) if said is None]
    for name in found.missing:
        could = [joint for joint in unnamed if joint not in new and _could_be(
            name, above[joint], below[joint], is_next=parents[joint] >= 0 and found.meant[parents[joint]] is not None)]
        if len(could) == 1:
            new[could[0]] = name
    if not new:
        return found
    return replace(found, is_checked=False, meant=tuple(
        new.get(joint, said) for joint, said in enumerate(found.meant)), certainties=tuple(
        BY_NEIGHBOURS if joint in new else certainty for joint, certainty in enumerate(found.certainties)))


def _known_around(found: SkeletonMap) -> tuple[list[str | None], list[set[str]]]:
    """Return for each joint (J,) the H-Anim joints of its nearest known ancestor and of its known descendants."""
    parents, meant = found.skeleton.parents.tolist(), found.meant
    above: list[str | None] = []
    below = [set[str]() for _ in meant]
    for parent in parents:
        above.append(None if parent < 0 else meant[parent] or above[parent])
    for joint, parent in reversed(list(enumerate(parents))):
        if parent >= 0:
            said = meant[joint]
            below[parent] |= below[joint] | ({said} if said is not None else set())
    return above, below


def _could_be(name: str, above: str | None, below: set[str], *, is_next: bool) -> bool:
    """Tell whether a joint could be an H-Anim joint; is_next: whether its parent is its nearest known ancestor."""
    if not all(name in _ancestors(known) for known in below) or (above is not None and above not in _ancestors(name)):
        return False
    if name == _HEAD and above in _NECK and is_next:
        return True
    return bool(below) and (above is not None or name == hanim.ROOT)


@cache
def _ancestors(name: str) -> frozenset[str]:
    """Return the ancestors of a joint in H-Anim."""
    parent = hanim.PARENTS[name]
    return frozenset() if parent is None else _ancestors(parent) | {parent}
