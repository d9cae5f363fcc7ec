"""Props in hands: how they move while they are held, and where they lie afterwards."""

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
"""Time in which a hand closes around something, and opens."""
_EASED_S: Final = 0.25
"""Time in which leaning and looking change once another hand moves the target."""


@dataclass(frozen=True, eq=False)
class TimedHold:
    """A hand, l or r, that holds a role from begin_s to end_s. place: of its element in the file."""

    role: str
    target: Target
    hand: str
    place: Place
    begin_s: float
    end_s: float

    def weights(self, times_s: FloatArray) -> FloatArray:
        """Return how far the hand is closed at times (F,), 0 to 1."""
        out = np.maximum(np.maximum(self.begin_s - times_s, times_s - self.end_s), 0.0)
        return 1.0 - smoothstep(out, 0.0, _CLOSES_S)


@dataclass(frozen=True, eq=False)
class Phase:
    """From begin_s on a prop moves with a hand, or lies, "". moved: (3, 4) its transform in the model by then.

    hand_at: (3, 4) the wrist joint's transform then; meaningless for a prop that lies.
    """

    begin_s: float
    hand: str
    moved: FloatArray
    hand_at: FloatArray

    @cached_property
    def in_hand(self) -> FloatArray:
        """The transform from the hand to the prop's motion, (3, 4)."""
        return compose(inverse(self.hand_at), self.moved)


class Spots(NamedTuple):
    """Positions of a target at N times: points (N, 3) in the model.

    led: by hand, (N,) at which times it moves the target; points are then in the axes of that hand. was: the position
    without the latest change of the hand that moves it, or None. news: (N,) the completed share of that change, 0 to 1.
    """

    points: FloatArray
    led: Mapping[str, BoolArray]
    was: Spots | None = None
    news: FloatArray | None = None

    @classmethod
    def joined(cls, several: Sequence[Spots]) -> Spots:
        """Concatenate the times of several values."""
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
        """Return the values at some of the times."""
        led = {side: own[times] for side, own in self.led.items()}
        return Spots(self.points[times], {side: own for side, own in led.items() if own.any()},
                     None if self.was is None else self.was.at(times), None if self.news is None else self.news[times])

    def after(self, point: FloatArray, since_s: FloatArray) -> Spots:
        """Return values after the target was at a fixed position (3,), the given times (N,) ago."""
        return Spots(self.points, self.led, Spots(np.broadcast_to(point, self.points.shape), {}),
                     smoothstep(since_s, 0.0, _EASED_S))

    def seen(self, hands: Mapping[str, FloatArray], *, softly: bool = False) -> FloatArray:
        """Return the positions in the model, (N, 3). hands: (N, 3, 4) their transforms.

        softly: blend from the position without the latest change.
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
        """Return how far a hand moves it, (N,), from 0 to 1, blended: see seen."""
        led = np.asarray(self.led.get(hand, np.zeros(len(self.points), dtype=np.bool_)), dtype=np.float64)
        if self.was is None or self.news is None:
            return led
        before = self.was.share_of(hand)
        return np.asarray(before + self.news * (led - before))

    @property
    def leading(self) -> set[str]:
        """Hands that move it at any time."""
        return set(self.led) | (set() if self.was is None else self.was.leading)


@dataclass(frozen=True, eq=False)
class Carried:
    """A prop that hands hold at times: phases in order, from the first time that a hand takes it.

    at_first: (3,) its position in the model then. Before that it is where the scene has it. With D its motion at the
    beginning of a phase, and H its hand's transform, its motion is H(t) H⁻¹ D at time t.
    """

    role: str
    target: Target
    at_first: FloatArray
    phases: tuple[Phase, ...]

    @cached_property
    def _begin_s(self) -> FloatArray:
        return np.array([phase.begin_s for phase in self.phases])

    def phase_at(self, times_s: FloatArray) -> IntArray:
        """Return the phase's index at each time (F,), −1 before the first."""
        return np.asarray(np.searchsorted(self._begin_s, times_s, side="right") - 1)

    def moved(self, times_s: FloatArray, hands: Mapping[str, FloatArray]) -> FloatArray:
        """Return its motion in the model, (F, 3, 4), at times (F,). hands: (F, 3, 4) their transforms."""
        number, found = self.phase_at(times_s), np.tile(np.eye(4)[:3], (len(times_s), 1, 1))
        for at in np.unique(number[number >= 0]).tolist():
            own, phase = number == at, self.phases[at]
            found[own] = compose(hands[phase.hand][own], phase.in_hand) if phase.hand else phase.moved
        return found

    def spots(self, times_s: FloatArray, shown_s: FloatArray, hand: str = "", grip: FloatArray | None = None) -> Spots:
        """Return positions at which to touch it at times (F,); shown_s: by the clock.

        hand: the hand that touches it, for which it stays where that hand took it. grip: (3,) from its origin to the
        touched point, in the model's axes when it is first taken.
        """
        off, number = np.zeros(3) if grip is None else grip, self.phase_at(times_s)
        there = touched_at(self.target, shown_s) + off
        found, news = self._spots(number, there, hand, off), self._news(times_s, number)
        return found if (news >= 1.0).all() else Spots(*found[:2], self._spots(number - 1, there, hand, off), news)

    def _spots(self, number: IntArray, there: FloatArray, hand: str, off: FloatArray) -> Spots:
        """Return positions in phases (N,). there: (N, 3) positions before the first phase."""
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
        """Return the completed share of the latest change at times (N,), in phases (N,)."""
        begin_s = np.append(self._begin_s, np.inf)
        lasts_s = np.minimum(np.diff(begin_s), _EASED_S)[number]
        return np.where(number < 0, 1.0, smoothstep(times_s - begin_s[number], 0.0, lasts_s))


def compose(outer: FloatArray, inner: FloatArray) -> FloatArray:
    """Return the products of affine maps (…, 3, 4); the inner ones act first."""
    linear = outer[..., :3] @ inner[..., :3]
    return np.concatenate((linear, (outer[..., :3] @ inner[..., 3:]) + outer[..., 3:]), axis=-1)


def inverse(affine: FloatArray) -> FloatArray:
    """Return the inverses of affine maps (…, 3, 4).

    >>> turned = np.array(((0.0, -2.0, 0.0, 1.0), (2.0, 0.0, 0.0, 3.0), (0.0, 0.0, 2.0, 5.0)))
    >>> compose(inverse(turned), turned).round(12).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]
    """
    linear = np.linalg.pinv(affine[..., :3])  # a scale may be zero
    return np.concatenate((linear, -linear @ affine[..., 3:]), axis=-1)
