"""Parts of the body by name, as masks over the joints of any rig whose map is known."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from ..errors import TaktError, quoted
from ..maths.arrays import BoolArray, FloatArray, IntArray
from . import hanim
from .hierarchy import with_descendants
from .maps import SkeletonMap

BONE: Final = "bone:"
"""Comes before the name of a bone of the character."""
_SIGN: Final = re.compile(r"\s([+-])\s")
_TIGHT_SIGN: Final = re.compile(r"([+-])")


def _with_below(*tops: str) -> frozenset[str]:
    """Return H-Anim joints with their descendants."""
    found = set(tops)
    for joint, parent in hanim.PARENTS.items():  # parents come before children
        if parent in found:
            found.add(joint)
    return frozenset(found)


def _parts() -> dict[str, frozenset[str]]:
    sides = {"left": "l", "right": "r"}
    of_side = {"arm": "sternoclavicular", "hand": "wrist", "leg": "hip", "foot": "ankle"}
    parts = {f"{name}_{part}": _with_below(f"{side}_{top}") for name, side in sides.items()
             for part, top in of_side.items()}
    parts |= {many: parts[f"left_{one}"] | parts[f"right_{one}"] for many, one in
              (("arms", "arm"), ("hands", "hand"), ("legs", "leg"), ("feet", "foot"))}
    neck = frozenset(joint for joint in hanim.SPINE if joint.startswith("vc"))
    root = frozenset((hanim.ROOT,))
    return parts | {
        "whole": frozenset(hanim.PARENTS), "root": root, "lower": root | _with_below("sacroiliac"),
        "upper": _with_below(hanim.SPINE[0]), "spine": frozenset(hanim.SPINE) - neck, "neck": neck,
        "head": _with_below("skullbase")}


PARTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(_parts())
"""The H-Anim joints of each part of the body that has a name."""


class Term(NamedTuple):
    """One name in a body: what it adds, or takes away."""

    name: str
    is_added: bool


@dataclass(frozen=True)
class NamedBody:
    """A part of the body with a name of the author's own; see `mask_of`."""

    body: str
    fade: float = 0.0


@lru_cache(maxsize=4096)
def terms_of(body: str) -> tuple[Term, ...]:
    """Take a body apart: names joined by + and −, with blanks around them where a bone's name has such signs.

    >>> terms_of("spine + arms-hands")
    (Term(name='spine', is_added=True), Term(name='arms', is_added=True), Term(name='hands', is_added=False))
    >>> terms_of("bone:tail-2 - bone:tail-3")
    (Term(name='bone:tail-2', is_added=True), Term(name='bone:tail-3', is_added=False))
    """
    terms: list[Term] = []
    sign = "+"
    for piece in _SIGN.split(body.strip()):
        for word in (piece,) if piece.startswith(BONE) else _TIGHT_SIGN.split(piece):
            if word.strip() in ("+", "-"):
                sign = word.strip()
            elif word.strip() or not terms:
                terms.append(Term(word.strip(), sign == "+"))
                sign = "+"
    return tuple(terms)


def what_is_wrong(body: str, named: Mapping[str, NamedBody]) -> str:
    """Return what is wrong with a body for any character, "" for nothing: unknown names, masks made of themselves.

    >>> what_is_wrong("uper", {})
    "found 'uper', expected whole, root, lower, upper, …, a joint of H-Anim, bone:NAME or a mask; did you mean upper?"
    """
    for term in terms_of(body):
        if term.name in named:
            if _leads_to(term.name, term.name, named):
                return _made_of_itself(term.name)
        elif not (term.name in PARTS or hanim.canonical(term.name) or term.name.removeprefix(BONE) != term.name):
            near = difflib.get_close_matches(term.name[:200], [*PARTS, *named, *hanim.PARENTS], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            return (f"found {quoted(term.name)}, expected {', '.join(_SHOWN)}, …, a joint of H-Anim, bone:NAME or a "
                    f"mask{hint}")
    return ""


def _made_of_itself(name: str) -> str:
    return f"found {quoted(name)}, a mask that is made of itself; expected other names"


_SHOWN: Final = ("whole", "root", "lower", "upper")


def _leads_to(name: str, wanted: str, named: Mapping[str, NamedBody]) -> bool:
    """Tell whether a named body is made of another one, at any depth."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for term in terms_of(named[waiting.pop()].body):
            if term.name == wanted:
                return True
            if term.name in named and term.name not in seen:
                seen.add(term.name)
                waiting.append(term.name)
    return False


def mask_of(body: str, fade: float, named: Mapping[str, NamedBody],
            skeleton_map: SkeletonMap) -> tuple[FloatArray, tuple[str, ...]]:
    """Return how much of each joint a body has, (J,) from 0 to 1, and the names for which the rig has nothing.

    body: names joined by + and −, from left to right: those of PARTS, joints of H-Anim and `bone:NAME`, both with their
    descendants, and the names in `named`.
    fade: how many joints share the border. With 2 the first joint inside has ⅓, the second ⅔, the rest the whole.
    A joint that the map does not know belongs where its nearest known ancestor does, above all to the root. Of a rig
    without a map the root is the joint that has no parent, and other parts have nothing.
    Raises TaktError where what_is_wrong() finds something.
    """
    owners = _owners(skeleton_map)
    missing: list[str] = []
    masks: dict[str, FloatArray] = {}

    def joined(whole: NamedBody) -> FloatArray:
        if wrong := what_is_wrong(whole.body, named):
            raise TaktError(wrong)
        mask = np.zeros(len(owners))
        for term in terms_of(whole.body):
            own = masks.get(term.name)
            if own is None:
                own = _joints_of(term.name, skeleton_map, owners).astype(np.float64)
                if not own.any():
                    missing.append(term.name)
            mask = np.maximum(mask, own) if term.is_added else np.minimum(mask, 1.0 - own)
        return _faded(mask, whole.fade, skeleton_map.skeleton.parents)

    for name in _named_within(body, named):
        masks[name] = joined(named[name])
    return joined(NamedBody(body, fade)), tuple(dict.fromkeys(missing))


def _named_within(body: str, named: Mapping[str, NamedBody]) -> tuple[str, ...]:
    """Return the named bodies that a body is made of, at any depth: each once, behind those that it is made of itself.

    Raises TaktError where one of them is made of itself.
    """
    order: dict[str, None] = {}
    begun: set[str] = set()
    waiting = [term.name for term in reversed(terms_of(body)) if term.name in named]
    while waiting:
        name = waiting[-1]
        below = [term.name for term in reversed(terms_of(named[name].body)) if term.name in named]
        ahead = [each for each in below if each not in order]
        if not ahead or name in order:
            order.setdefault(waiting.pop())
            continue
        begun.add(name)
        if not begun.isdisjoint(ahead):
            raise TaktError(_made_of_itself(next(each for each in ahead if each in begun)))
        waiting += ahead
    return tuple(order)


def _joints_of(name: str, skeleton_map: SkeletonMap, owners: tuple[str, ...]) -> BoolArray:
    skeleton = skeleton_map.skeleton
    if name.startswith(BONE):
        bone = skeleton.index_of.get(name.removeprefix(BONE))
        if bone is None:
            return np.zeros(len(skeleton), dtype=np.bool_)
        return with_descendants(skeleton.parents, np.array((bone,)))
    if not skeleton_map.joint_of and name != "whole":  # nothing is known of what its joints are
        return skeleton.parents < 0 if name == "root" else np.zeros(len(skeleton), dtype=np.bool_)
    joint = hanim.canonical(name)
    wanted = PARTS[name] if name in PARTS else _with_below(joint) if joint else frozenset()
    if name == "whole":
        return np.ones(len(skeleton), dtype=np.bool_)
    return np.array([owner in wanted for owner in owners], dtype=np.bool_)


def _owners(skeleton_map: SkeletonMap) -> tuple[str, ...]:
    """Return for each joint the H-Anim joint that it is, or that its nearest known ancestor is."""
    known = {joint: name for name, joint in skeleton_map.joint_of.items()}
    owners: list[str] = []
    for joint, parent in enumerate(skeleton_map.skeleton.parents.tolist()):  # parents stand before children
        owners.append(known.get(joint) or (owners[parent] if parent >= 0 else hanim.ROOT))
    return tuple(owners)


def _faded(mask: FloatArray, fade: float, parents: IntArray) -> FloatArray:
    """Let the first joints inside the border have less; a joint without parent is at no border."""
    if fade <= 0.0:
        return mask
    depth = np.full(len(mask), np.inf)
    for joint, parent in enumerate(parents.tolist()):
        if mask[joint] > 0.0 and parent >= 0:
            depth[joint] = 1.0 if mask[parent] <= 0.0 else depth[parent] + 1.0
    return np.asarray(mask * np.minimum(depth / (fade + 1.0), 1.0))
