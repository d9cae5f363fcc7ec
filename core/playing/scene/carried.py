"""What hands hold: how props move while they do, and where they lie then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ...errors import Place
from ...maths.arrays import BoolArray, FloatArray, IntArray, smoothstep
from .cast import Target, touched_at

_CLOSES_S: Final = 0.3
"""So long a hand takes to close around something, and to open."""
_EASED_S: Final = 0.25
"""So long bodies take to lean and look otherwise once another hand leads what they aim at."""


@dataclass(frozen=True, eq=False)
class TimedHold:
    """A hand, l or r, that holds what plays a role from begin_s to end_s. place: of what says so, in its file."""

    role: str
    target: Target
    hand: str
    place: Place
    begin_s: float
    end_s: float

    def weights(self, times_s: FloatArray) -> FloatArray:
        """Return how much the hand is closed at times (F,), 0 to 1."""
        out = np.maximum(np.maximum(self.begin_s - times_s, times_s - self.end_s), 0.0)
        return 1.0 - smoothstep(out, 0.0, _CLOSES_S)


@dataclass(frozen=True, eq=False)
class Phase:
    """From begin_s on a prop goes with a hand, or lies, "". moved: (3, 4) how it has moved in the model by then.

    hand_at: (3, 4) where the hand is then, as wrist joints turn and place; of what lies it means nothing.
    """

    begin_s: float
    hand: str
    moved: FloatArray
    hand_at: FloatArray

    @cached_property
    def in_hand(self) -> FloatArray:
        """What leads from where the hand is to how the prop is moved, (3, 4)."""
        return compose(inverse(self.hand_at), self.moved)


class Spots(NamedTuple):
    """Where something is to be touched or seen at N times: points (N, 3) in the model.

    led: by hands that lead it, (N,) at which times; points are in the axes of that hand then. was: where it would be
    without the latest change of who leads it; news: (N,) by how much that change is over, 0 to 1. None: long ago.
    """

    points: FloatArray
    led: Mapping[str, BoolArray]
    was: Spots | None = None
    news: FloatArray | None = None

    @classmethod
    def joined(cls, several: Sequence[Spots]) -> Spots:
        """Put the times of several after each other."""
        sides = sorted({side for each in several for side in each.led})
        none = [np.zeros(len(each.points), dtype=np.bool_) for each in several]
        led = {side: np.concatenate([each.led.get(side, no) for each, no in zip(several, none, strict=True)])
               for side in sides}
        points = np.concatenate([each.points for each in several])
        if all(each.was is None for each in several):
            return cls(points, led)
        was = cls.joined([each if each.was is None else each.was for each in several])
        return cls(points, led, was, np.concatenate([np.ones(len(each.points)) if each.news is None else each.news
                                                     for each in several]))

    def at(self, times: BoolArray | IntArray) -> Spots:
        """Return those at some of the times."""
        led = {side: own[times] for side, own in self.led.items()}
        return Spots(self.points[times], {side: own for side, own in led.items() if own.any()},
                     None if self.was is None else self.was.at(times), None if self.news is None else self.news[times])

    def after(self, point: FloatArray, since_s: FloatArray) -> Spots:
        """Return the same, so long (N,) after it was at a position (3,) that nothing leads."""
        return Spots(self.points, self.led, Spots(np.broadcast_to(point, self.points.shape), {}),
                     smoothstep(since_s, 0.0, _EASED_S))

    def seen(self, hands: Mapping[str, FloatArray], *, softly: bool = False) -> FloatArray:
        """Return where that is in the model, (N, 3); hands: (N, 3, 4) where each is.

        softly: it goes over from where it would be without the latest change.
        """
        found = self.points
        for side, own in self.led.items():
            at = hands[side]
            found = np.where(own[:, None], (at[..., :3] @ self.points[..., None])[..., 0] + at[..., 3], found)
        if not softly or self.was is None or self.news is None:
            return found
        before = self.was.seen(hands)
        return np.asarray(before + self.news[:, None] * (found - before))

    def share_of(self, hand: str) -> FloatArray:
        """Return how much it is led by a hand, (N,), from 0 to 1, softly: see seen."""
        led = np.asarray(self.led.get(hand, np.zeros(len(self.points), dtype=np.bool_)), dtype=np.float64)
        if self.was is None or self.news is None:
            return led
        before = self.was.share_of(hand)
        return np.asarray(before + self.news * (led - before))

    @property
    def leading(self) -> set[str]:
        """Hands that lead it at any time."""
        return set(self.led) | (set() if self.was is None else self.was.leading)


@dataclass(frozen=True, eq=False)
class Carried:
    """A prop that hands hold at times: phases in their order, from the first time that one takes it.

    at_first: (3,) where in the model it is then. Before that it is where the scene has it.
    With D what has moved a prop by the beginning of a phase, and H where its hand is, it is moved H(t) H⁻¹ D at time t.
    """

    role: str
    target: Target
    at_first: FloatArray
    phases: tuple[Phase, ...]

    @cached_property
    def _begin_s(self) -> FloatArray:
        return np.array([phase.begin_s for phase in self.phases])

    def phase_at(self, times_s: FloatArray) -> IntArray:
        """Return the number of the phase at each time (F,), −1 before the first."""
        return np.asarray(np.searchsorted(self._begin_s, times_s, side="right") - 1)

    def moved(self, times_s: FloatArray, hands: Mapping[str, FloatArray]) -> FloatArray:
        """Return how it is moved in the model, (F, 3, 4), at times (F,); hands: (F, 3, 4) where each is."""
        number, found = self.phase_at(times_s), np.tile(np.eye(4)[:3], (len(times_s), 1, 1))
        for at in np.unique(number[number >= 0]).tolist():
            own, phase = number == at, self.phases[at]
            found[own] = compose(hands[phase.hand][own], phase.in_hand) if phase.hand else phase.moved
        return found

    def spots(self, times_s: FloatArray, shown_s: FloatArray, hand: str = "", grip: FloatArray | None = None) -> Spots:
        """Return where it is to be touched at times (F,), shown_s by the clock.

        hand: that touches it, for which it stays where that took it. grip: (3,) from its origin to where it is touched,
        as the model's axes are when it is first taken.
        """
        off, number = np.zeros(3) if grip is None else grip, self.phase_at(times_s)
        there = touched_at(self.target, shown_s) + off
        found, news = self._spots(number, there, hand, off), self._news(times_s, number)
        return found if (news >= 1.0).all() else Spots(*found[:2], self._spots(number - 1, there, hand, off), news)

    def _spots(self, number: IntArray, there: FloatArray, hand: str, off: FloatArray) -> Spots:
        """Return spots in phases (N,); there: (N, 3) where they are before the first."""
        points, led = there.copy(), dict[str, BoolArray]()
        for at in np.unique(number[number >= 0]).tolist():
            own, phase = number == at, self.phases[at]
            leading = "" if phase.hand == hand else phase.hand
            by = phase.in_hand if leading else phase.moved
            points[own] = by[:, :3] @ (self.at_first + off) + by[:, 3]
            if leading:
                led[leading] = led.get(leading, False) | own
        return Spots(points, led)

    def _news(self, times_s: FloatArray, number: IntArray) -> FloatArray:
        """Return by how much the latest change is over at times (N,), in phases (N,), before the next one comes."""
        begin_s = np.append(self._begin_s, np.inf)
        lasts_s = np.minimum(np.diff(begin_s), _EASED_S)[number]
        return np.where(number < 0, 1.0, smoothstep(times_s - begin_s[number], 0.0, lasts_s))


def compose(outer: FloatArray, inner: FloatArray) -> FloatArray:
    """Return affine maps (…, 3, 4) of which the inner ones come first."""
    linear = outer[..., :3] @ inner[..., :3]
    return np.concatenate((linear, (outer[..., :3] @ inner[..., 3:]) + outer[..., 3:]), axis=-1)


def inverse(affine: FloatArray) -> FloatArray:
    """Return what undoes affine maps (…, 3, 4).

    >>> turned = np.array(((0.0, -2.0, 0.0, 1.0), (2.0, 0.0, 0.0, 3.0), (0.0, 0.0, 2.0, 5.0)))
    >>> compose(inverse(turned), turned).round(12).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    """
    linear = np.linalg.pinv(affine[..., :3])  # something may be scaled to nothing
    return np.concatenate((linear, -linear @ affine[..., 3:]), axis=-1)
