"""Contacts of the whole body in a clip: what it rests on, when, and with what weight.

A contact says which effector (end effector: hand, seat, head, ...) is on what, when, at what height, and with what
weight. The weight rises and falls gradually. Contacts of feet, with heels and balls, are FootContacts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, runs
from .contacts import FootContacts

GROUND: Final = "ground"
SEAT: Final = "seat"
TRUNK: Final = "trunk"
"""Effector: seat and back."""
HEAD: Final = "head"
BODY: Final = "body"
"""Effector: the lowest part while feet do not carry the body, as in a roll or a turn in the air."""
JOINTS: Final = "joints"
"""Effector: any low and slow joint except those of feet, as in lying, crawling or kneeling."""
HANDS: Final = ("l_hand", "r_hand")
FEET: Final = {"l": "l_foot", "r": "r_foot"}


@dataclass(frozen=True, eq=False)
class Contact:
    """An effector that is on something for a while.

    effector, on: the effector, and what it is on. times_s: (K,) ascending, at least one. weights: (K,) from 0 to 1,
    linear between the times. heights: (K,) of the effector above what it is on, in leg lengths; a target for other
    bodies.
    """

    effector: str
    on: str
    times_s: FloatArray
    weights: FloatArray
    heights: FloatArray

    @property
    def from_s(self) -> float:
        """The time at which the contact begins."""
        return float(self.times_s[0])

    @property
    def to_s(self) -> float:
        """The time at which the contact ends."""
        return float(self.times_s[-1])

    def part(self, begin_s: float, end_s: float, is_reversed: bool = False) -> Contact | None:
        """Return the contact within a part of the clip, in the part's time, or None if it lies outside the part."""
        first, last = max(self.from_s, begin_s), min(self.to_s, end_s)
        if first > last:
            return None
        times = np.unique(np.clip(self.times_s, first, last))
        weights, heights = (np.interp(times, self.times_s, values) for values in (self.weights, self.heights))
        if is_reversed:
            return replace(self, times_s=end_s - times[::-1], weights=weights[::-1], heights=heights[::-1])
        return replace(self, times_s=times - begin_s, weights=weights, heights=heights)

    def retimed(self, at: Callable[[FloatArray], FloatArray]) -> Contact:
        """Return the contact with its times changed by a function; at: that function, which must be increasing."""
        return replace(self, times_s=at(self.times_s))

    @property
    def mirrored(self) -> Contact:
        """The contact with left and right exchanged."""
        return replace(self, effector=_other_side(self.effector), on=_other_side(self.on))


@dataclass(frozen=True, eq=False)
class BodyContacts:
    """All contacts of a clip's body.

    feet: contacts of the feet by side, l and r. others: all other contacts.

    >>> sits = Contact("trunk", "ground", np.array((1.0, 2.0, 3.0)), np.array((0.0, 1.0, 1.0)), np.zeros(3))
    >>> found = BodyContacts({}, (sits,))
    >>> found.weight("trunk", np.array((0.5, 1.5, 3.0))).tolist(), found.height("trunk", np.array((0.5, 1.5))).tolist()
    ([0.0, 0.5, 1.0], [inf, 0.0])
    >>> found.part(1.5, 3.0, is_reversed=True).weight("trunk", np.array((0.0, 1.5))).tolist()
    [1.0, 0.5]
    """

    feet: Mapping[str, FootContacts]
    others: tuple[Contact, ...]

    def of(self, effector: str, on: str = GROUND) -> tuple[Contact, ...]:
        """Return the contacts of an effector."""
        return tuple(each for each in self.others if (each.effector, each.on) == (effector, on))

    def weight(self, effector: str, times_s: FloatArray, on: str = GROUND) -> FloatArray:
        """Return the weight (F,), from 0 to 1, of an effector's contact with something at times (F,)."""
        weight = np.zeros(len(times_s))
        for each in self.of(effector, on):
            weight = np.maximum(weight, np.interp(times_s, each.times_s, each.weights, 0.0, 0.0))
        return weight

    def height(self, effector: str, times_s: FloatArray) -> FloatArray:
        """Return an effector's height (F,) above ground at times (F,), in leg lengths; infinite outside contacts."""
        height = np.full(len(times_s), np.inf)
        for each in self.of(effector):
            inside = (times_s >= each.from_s) & (times_s <= each.to_s)
            height[inside] = np.interp(times_s[inside], each.times_s, each.heights)
        return height

    def spans(self, effector: str, least: float = 0.5) -> FloatArray:
        """Return the spans (K, 2), ascending, in which an effector's weight on the ground is at least `least`."""
        return np.reshape([(each.times_s[a], each.times_s[b - 1]) for each in self.of(effector)
                           for a, b in runs(each.weights >= least)], (-1, 2))

    def part(self, begin_s: float, end_s: float, is_reversed: bool = False) -> BodyContacts:
        """Return the contacts within a part of the clip, in the part's time."""
        cut = [each.part(begin_s, end_s, is_reversed) for each in self.others]
        return BodyContacts({side: each.part(begin_s, end_s, is_reversed) for side, each in self.feet.items()},
                            tuple(each for each in cut[::-1 if is_reversed else 1] if each is not None))

    @property
    def mirrored(self) -> BodyContacts:
        """The contacts with left and right exchanged."""
        return BodyContacts({"lr"[side == "l"]: each for side, each in self.feet.items()},
                            tuple(each.mirrored for each in self.others))


def contacts_of(effector: str, times_s: FloatArray, weights: FloatArray, heights: FloatArray | None = None,
                on: str = GROUND) -> tuple[Contact, ...]:
    """Return the contacts of an effector by its weights and heights (F,) at times (F,).

    There is one contact for each span with weights above 0. It begins and ends with weight 0, unless the clip begins or
    ends during it. An unknown height takes the nearest known one.
    """
    heights = np.zeros(len(times_s)) if heights is None else heights
    if (is_known := np.isfinite(heights)).any():
        heights = np.interp(times_s, times_s[is_known], heights[is_known])
    return tuple(Contact(effector, on, times_s[a:b], weights[a:b], heights[a:b])
                 for a, b in runs(_beside(weights > 0.0)))


def _beside(mask: BoolArray) -> BoolArray:
    """Return which of a mask (F,), or beside such."""
    padded = np.pad(mask, 1)
    return np.asarray(mask | padded[:-2] | padded[2:])


def _other_side(name: str) -> str:
    """Return the name of what is on the other side: l_hand, r_hand.

    >>> _other_side("l_hand"), _other_side("trunk")
    ('r_hand', 'trunk')
    """
    return {"l_": "r_", "r_": "l_"}.get(name[:2], name[:2]) + name[2:]
