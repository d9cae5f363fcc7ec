"""Where calls go in the scene: to a place, from one, or along a path."""

from __future__ import annotations

from typing import Final, NamedTuple

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


NOWHERE: Final = Going()


class Way(NamedTuple):
    """A call that goes somewhere, with all its repetitions: segments from `first` up to the one before `after`.

    place: of the call in its file. inside: of a call in a lane, between which shares of the block, `first`, it plays.
    """

    first: int
    after: int
    going: Going
    place: Place
    inside: tuple[float, float] | None = None


def ways_of(origins: Origins, going: tuple[Going, ...]) -> tuple[Way, ...]:
    """Return the ways of a sequence in order, outer calls before those within them.

    going: (N,) where each call goes, by its row in the origins' places.
    """
    goes = np.array([each is not NOWHERE for each in going], dtype=np.bool_)
    if not goes.any():
        return ()
    found: dict[tuple[int, int], list[int]] = {}
    within, call = origins.segments.within.astype(np.int64), origins.segments.call.astype(np.int64)
    while (call >= 0).any():
        is_way = _taken(goes, call)
        for key in np.unique(np.stack((within, call))[:, is_way], axis=1).T.tolist():
            held = np.flatnonzero(is_way & (within == key[0]) & (call == key[1]))
            found[key[0], key[1]] = [int(held[0]), int(held[-1]) + 1]
        outer = np.maximum(within, 0)
        call = np.where(within >= 0, origins.procedures.call[outer], -1).astype(np.int64)
        within = np.where(within >= 0, origins.procedures.within[outer], -1).astype(np.int64)
    spans = sorted(((first, -after, row) for (_, row), (first, after) in found.items()))
    return tuple(Way(first, -after, going[row], _place(origins, row)) for first, after, row in spans)


def _taken(goes: BoolArray, call: np.ndarray) -> BoolArray:
    return np.asarray((call >= 0) & goes[np.maximum(call, 0)])


def _place(origins: Origins, row: int) -> Place:
    document, element = origins.places.find(row)
    return document.place(element)
