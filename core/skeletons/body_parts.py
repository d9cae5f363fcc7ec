"""Body parts by name, as masks over the joints of any rig that has a skeleton map."""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
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
MAX_CHARACTERS: Final = 1_000
"""Greatest number of characters of a body expression."""
_LONGEST_COMPARED: Final = 200
_MOST_COMPARED: Final = 2_000
"""Longer names, and more of them, are not suggested: comparing takes time."""
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
    """One name in a body expression, which is added or subtracted."""

    name: str
    is_added: bool


@dataclass(frozen=True)
class NamedBody:
    """A part of the body that the author named; see `BodyMasks.of`."""

    body: str
    fade: float = 0.0


@lru_cache(maxsize=4096)
def terms_of(body: str) -> tuple[Term, ...]:
    """Split a body expression: names joined by + and −, with blanks around the signs if bone names contain them.

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


def what_is_wrong(body: str, named: Mapping[str, NamedBody], circular: Container[str] | None = None) -> str:
    """Return what is wrong with a body for every character, or "": unknown names, or masks that include themselves.

    circular: the result of where_circles_close(named), to save time for many bodies.

    >>> what_is_wrong("uper", {})
    "found 'uper', expected whole, root, lower, upper, …, a joint of H-Anim, bone:NAME or a mask; did you mean upper?"
    """
    if len(body) > MAX_CHARACTERS:
        return (f"found {quoted(body)} of {len(body)} characters, expected at most {MAX_CHARACTERS}: give parts of it "
                "names by <mask>")
    if circular is None:
        circular = where_circles_close(named)
    for term in terms_of(body):
        if term.name in named:
            if term.name in circular:
                return _made_of_itself(term.name)
        elif not (term.name in PARTS or hanim.canonical(term.name) or term.name.removeprefix(BONE) != term.name):
            return (f"found {quoted(term.name)}, expected {', '.join(_SHOWN)}, …, a joint of H-Anim, bone:NAME or a "
                    f"mask{_hint(term.name, named)}")
    return ""


def _hint(name: str, named: Iterable[str]) -> str:
    """Return "; did you mean …?" where a part of the body is called nearly so."""
    known = [*PARTS, *(other for other in named if len(other) <= _LONGEST_COMPARED), *hanim.PARENTS]
    near = difflib.get_close_matches(name[:_LONGEST_COMPARED], known[:_MOST_COMPARED], n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _made_of_itself(name: str) -> str:
    return f"found {quoted(name)}, a mask that is made of itself; expected other names"


_SHOWN: Final = ("whole", "root", "lower", "upper")


def where_circles_close(named: Mapping[str, NamedBody]) -> frozenset[str]:
    """Return the named bodies that include themselves at any depth: from each cycle, the one that is found first.

    >>> where_circles_close({"a": NamedBody("b + arms"), "b": NamedBody("c"), "c": NamedBody("b")})
    frozenset({'b'})
    """
    return _innermost_first(named, named)[1]


def _innermost_first(names: Iterable[str], named: Mapping[str, NamedBody],
                     known: Container[str] = ()) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return named bodies and all named bodies that they include, each after those, and the bodies that close cycles.

    known: bodies to skip. It works without recursion, and visits each other body once.
    """
    is_done: dict[str, bool] = {}
    order: list[str] = []
    closing = set[str]()
    for first in names:
        if first in is_done or first in known:
            continue
        is_done[first] = False
        chain = [(first, _named_terms(named[first].body, named))]
        while chain:
            name, rest = chain[-1]
            inner = next(rest, None)
            if inner is None:
                is_done[name] = True
                order.append(chain.pop()[0])
            elif inner in known:
                continue
            elif inner not in is_done:
                is_done[inner] = False
                chain.append((inner, _named_terms(named[inner].body, named)))
            elif not is_done[inner]:
                closing.add(inner)
    return tuple(order), frozenset(closing)


def _named_terms(body: str, named: Mapping[str, NamedBody]) -> Iterator[str]:
    return (term.name for term in terms_of(body) if term.name in named)


@dataclass(frozen=True, eq=False)
class BodyMasks:
    """Parts of the body as masks over a rig's joints; each named one is computed once.

    named: the parts that the author named. missing: the requested names for which the rig has no joints.
    """

    named: Mapping[str, NamedBody]
    skeleton_map: SkeletonMap
    missing: dict[str, None] = field(default_factory=dict)
    _known: dict[str, FloatArray] = field(default_factory=dict)

    def of(self, body: str, fade: float) -> FloatArray:
        """Return the weight of each joint in a body, (J,) from 0 to 1.

        body: names joined by + and −, applied from left to right: those of PARTS, joints of H-Anim and `bone:NAME`,
        both with their descendants, and the named ones.
        fade: the number of joints over which the border fades. With 2, the first joint inside has ⅓, the second ⅔, the
        rest 1. A joint that is not in the map belongs to the same part as its nearest mapped ancestor; without one, to
        the root. In a rig without a map, the root is the joint without a parent, and other parts are empty.
        Raises TaktError if what_is_wrong() finds something, in the body or in the named bodies that it includes.
        """
        order, closing = _innermost_first(_named_terms(body, self.named), self.named, self._known)
        if closing:
            raise TaktError(_made_of_itself(min(closing)))
        for name in order:
            self._known[name] = self._joined(self.named[name])
        return self._joined(NamedBody(body, fade))

    def _joined(self, whole: NamedBody) -> FloatArray:
        if wrong := what_is_wrong(whole.body, self.named, circular=()):
            raise TaktError(wrong)
        mask = np.zeros(len(self._owners))
        for term in terms_of(whole.body):
            own = self._known.get(term.name)
            if own is None:
                own = _joints_of(term.name, self.skeleton_map, self._owners).astype(np.float64)
                if not own.any():
                    self.missing[term.name] = None
            mask = np.maximum(mask, own) if term.is_added else np.minimum(mask, 1.0 - own)
        return _faded(mask, whole.fade, self.skeleton_map.skeleton.parents)

    @cached_property
    def _owners(self) -> tuple[str, ...]:
        """For each joint its H-Anim joint, or else that of its nearest ancestor that has one."""
        known = {joint: name for name, joint in self.skeleton_map.joint_of.items()}
        owners: list[str] = []
        for joint, parent in enumerate(self.skeleton_map.skeleton.parents.tolist()):  # parents stand before children
            owners.append(known.get(joint) or (owners[parent] if parent >= 0 else hanim.ROOT))
        return tuple(owners)


def _joints_of(name: str, skeleton_map: SkeletonMap, owners: tuple[str, ...]) -> BoolArray:
    skeleton = skeleton_map.skeleton
    if name.startswith(BONE):
        bone = skeleton.index_of.get(name.removeprefix(BONE))
        if bone is None:
            return np.zeros(len(skeleton), dtype=np.bool_)
        return with_descendants(skeleton.parents, np.array((bone,)))
    if not skeleton_map.joint_of and name != "whole":  # no joint of the rig is known
        return skeleton.parents < 0 if name == "root" else np.zeros(len(skeleton), dtype=np.bool_)
    joint = hanim.canonical(name)
    wanted = PARTS[name] if name in PARTS else _with_below(joint) if joint else frozenset()
    if name == "whole":
        return np.ones(len(skeleton), dtype=np.bool_)
    return np.array([owner in wanted for owner in owners], dtype=np.bool_)


def _faded(mask: FloatArray, fade: float, parents: IntArray) -> FloatArray:
    """Return the mask (J,) with less weight for the first joints inside its border; a root is never at the border."""
    if fade <= 0.0:
        return mask
    depth = np.full(len(mask), np.inf)
    for joint, parent in enumerate(parents.tolist()):
        if mask[joint] > 0.0 and parent >= 0:
            depth[joint] = 1.0 if mask[parent] <= 0.0 else depth[parent] + 1.0
    return np.asarray(mask * np.minimum(depth / (fade + 1.0), 1.0))
