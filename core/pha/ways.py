"""Where calls go in the scene, and what a body aims at there."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, NamedTuple, TypeVar

import numpy as np

from ..errors import Place
from ..maths.arrays import BoolArray
from .origins import Origins


class Going(NamedTuple):
    """Where a call goes, by the names of roles, "" for none.

    to: the place where its way ends, facing as that does if `faces`; at: where it begins; along: the path that it
    follows. fits: whether it is repeated as often as the way needs.
    """

    to: str = ""
    at: str = ""
    along: str = ""
    faces: bool = True
    fits: bool = False

    @property
    def role(self) -> str:
        """The role to which it leads, "" for none."""
        return self.to or self.along


_OTHER: Final = {"l": "r", "r": "l", "": ""}
"""The hand of the other side."""


class Aim(NamedTuple):
    """What a head looks at, or a hand reaches for, holds or meets: the name of a role.

    hand: l or r, "" for the head. held: the share of the time for which the hand stays, at its end. holds: whether
    what plays the role goes with the hand. meets: which hand of a person it meets, l or r, "" for none.
    """

    role: str
    hand: str = ""
    held: float = 0.0
    holds: bool = False
    meets: str = ""

    @property
    def word(self) -> str:
        """What a score says for it."""
        return "hold" if self.holds else "meet" if self.meets else "reach" if self.hand else "look"

    def mirrored(self) -> Aim:
        """Return the same with left and right exchanged for both hands."""
        return self._replace(hand=_OTHER[self.hand], meets=_OTHER[self.meets])


NOWHERE: Final = Going()


class Way(NamedTuple):
    """A call that goes somewhere, with all its repetitions: segments from `first` up to the one before `after`.

    place: in its file. inside: of a call in a lane, between which shares of the block, `first`, it plays. rounds: how
    often it was repeated to fit.
    """

    first: int
    after: int
    going: Going
    place: Place
    inside: tuple[float, float] | None = None
    rounds: int = 1

    def from_segment(self, first: int) -> Way:
        """Return the same with segments numbered from another one on."""
        return self._replace(first=self.first - first, after=self.after - first)


class AimedAt(NamedTuple):
    """An element that aims, while a segment plays; place, inside: see Way. weight: of its lane at its middle."""

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
        """Return the same with segments numbered from another one on."""
        return self._replace(first=self.first - first)


_Own = TypeVar("_Own", Way, AimedAt)


def goes_somewhere(going: tuple[Going | Aim, ...]) -> BoolArray:
    """Return which calls go somewhere or aim at something, (N,)."""
    return np.array([each is not NOWHERE for each in going], dtype=np.bool_)


def ways_of(origins: Origins, going: tuple[Going | Aim, ...], goes: BoolArray,
            is_mirrored: BoolArray | None) -> tuple[list[Way], list[AimedAt]]:
    """Return the ways of segments in order, outer calls before those within them, and what is aimed at.

    going: (N,) where each call goes, by its row in the origins' places. goes: (N,) which of them go anywhere at all.
    is_mirrored: (S,) segments, None: none is.
    """
    found: dict[tuple[int, int], tuple[int, int]] = {}
    within, call = origins.segments.within.astype(np.int64), origins.segments.call.astype(np.int64)
    while (call >= 0).any():
        held = np.flatnonzero((call >= 0) & goes[np.maximum(call, 0)])
        keys = within[held] * len(goes) + call[held]
        last = len(held) - 1 - np.unique(keys[::-1], return_index=True)[1]
        keys, once = np.unique(keys, return_index=True)
        for key, begin, end in zip(keys.tolist(), held[once].tolist(), held[last].tolist(), strict=True):
            found[divmod(key, len(goes))] = begin, end + 1
        outer = np.maximum(within, 0)
        call = np.where(within >= 0, origins.procedures.call[outer], -1).astype(np.int64)
        within = np.where(within >= 0, origins.procedures.within[outer], -1).astype(np.int64)
    ways, aims = list[Way](), list[AimedAt]()
    for first, minus_after, row in sorted((first, -after, row) for (_, row), (first, after) in found.items()):
        document, element = origins.places.find(row)
        place, what = document.place(element), going[row]
        if isinstance(what, Going):
            ways.append(Way(first, -minus_after, what, place))
        else:
            is_other = is_mirrored is not None and bool(is_mirrored[first])
            aims.append(AimedAt(first, what.mirrored() if is_other else what, place))
    return ways, aims


def within_segments(each: list[_Own], first: int, after: int) -> tuple[_Own, ...]:
    """Return those ways or aims that begin with segments from one up to another, numbered from the first.

    each: in the order of their first segments.
    """
    begin, end = (bisect_left(each, segment, key=lambda own: own.first) for segment in (first, after))
    return tuple(own.from_segment(first) for own in each[begin:end])
