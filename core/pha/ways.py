"""Destinations of calls in the scene, and aims of the body there."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ..errors import Place
from ..maths.arrays import BoolArray
from .origins import Origins


class Going(NamedTuple):
    """The destination of a call, by names of roles, "" for none.

    to: the place where the way ends. at: the place where it begins. along: the path that it follows. faces: whether it
    ends with the heading of the place `to`. fits: whether the call is repeated as often as the way needs.
    """

    to: str = ""
    at: str = ""
    along: str = ""
    faces: bool = True
    fits: bool = False

    @property
    def role(self) -> str:
        """The role to which it leads, or ""."""
        return self.to or self.along


_OTHER: Final = {"l": "r", "r": "l", "": ""}
"""The hand on the other side."""


class Aim(NamedTuple):
    """The aim of a head that looks, or of a hand that reaches, holds or meets.

    role: the name of the role at which it aims. hand: l or r, "" for the head. held: share of the time, at its end, in
    which the hand stays there. holds: whether the object that plays the role moves with the hand. meets: the person's
    hand that it meets, l or r, or "".
    """

    role: str
    hand: str = ""
    held: float = 0.0
    holds: bool = False
    meets: str = ""

    @property
    def word(self) -> str:
        """Its element in a score."""
        return "hold" if self.holds else "meet" if self.meets else "reach" if self.hand else "look"

    def mirrored(self) -> Aim:
        """Return the same with left and right exchanged for both hands."""
        return self._replace(hand=_OTHER[self.hand], meets=_OTHER[self.meets])


NOWHERE: Final = Going()


class Way(NamedTuple):
    """A call with a destination, and all its repetitions: segments from `first` up to the one before `after`.

    place: of the call in its file. inside: for a call in a lane, the shares of the block's length between which it
    plays; the block is the segment `first`. rounds: number of repetitions that makes it fit.
    """

    first: int
    after: int
    going: Going
    place: Place
    inside: tuple[float, float] | None = None
    rounds: int = 1

    def from_segment(self, first: int) -> Way:
        """Return it with segments numbered from `first` on."""
        return Way(self.first - first, self.after - first, self.going, self.place, self.inside, self.rounds)


class AimedAt(NamedTuple):
    """An element that aims during a segment. place, inside: see Way. weight: its lane's, in the middle of its time."""

    first: int
    aim: Aim
    place: Place
    inside: tuple[float, float] | None = None
    weight: float = 1.0

    @property
    def after(self) -> int:
        """The segment after it."""
        return self.first + 1

    def from_segment(self, first: int) -> AimedAt:
        """Return it with segments numbered from `first` on."""
        return AimedAt(self.first - first, self.aim, self.place, self.inside, self.weight)


def goes_somewhere(going: tuple[Going | Aim, ...]) -> BoolArray:
    """Return whether each call has a destination or an aim, (N,)."""
    return np.array([each is not NOWHERE for each in going], dtype=np.bool_)


def ways_of(origins: Origins, going: tuple[Going | Aim, ...], goes: BoolArray,
            is_mirrored: BoolArray | None) -> tuple[list[Way], list[AimedAt]]:
    """Return the ways of segments in order of time, outer calls before inner ones, and the aims.

    going: (N,) destination or aim of each call, by its row in the origins' places. goes: (N,) which calls have any.
    is_mirrored: (S,) which segments are mirrored; None for none.
    """
    found: dict[int, tuple[int, int]] = {}
    within, call, calls = origins.segments.within.astype(np.int64), origins.segments.call.astype(np.int64), len(goes)
    while (call >= 0).any():
        held = np.flatnonzero((call >= 0) & goes[np.maximum(call, 0)])
        keys = within[held] * calls + call[held]
        order = np.argsort(keys, kind="stable")
        begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
        ends = np.append(begins[1:], len(order))[:len(begins)] - 1
        for key, begin, end in zip(*(each.tolist() for each in (
                keys[order[begins]], held[order[begins]], held[order[ends]])), strict=True):
            first, after = found.get(key, (begin, end + 1))  # others are in procedures that it calls
            found[key] = min(first, begin), max(after, end + 1)
        outer = np.maximum(within, 0)
        call = np.where(within >= 0, origins.procedures.call[outer], -1).astype(np.int64)
        within = np.where(within >= 0, origins.procedures.within[outer], -1).astype(np.int64)
    ways, aims = list[Way](), list[AimedAt]()
    for first, minus_after, row in sorted((first, -after, key % calls) for key, (first, after) in found.items()):
        document, element = origins.places.find(row)
        place, what = document.place(element), going[row]
        if isinstance(what, Going):
            ways.append(Way(first, -minus_after, what, place))
        else:
            is_other = is_mirrored is not None and bool(is_mirrored[first])
            aims.append(AimedAt(first, what.mirrored() if is_other else what, place))
    return ways, aims
