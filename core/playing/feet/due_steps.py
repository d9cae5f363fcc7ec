"""Steps that feet have to make at one seam: how long they take, which comes first, and when it gives way to the other.

A step has a time that it needs, and one that it takes where there is more: so long that it is no faster than anything
that the clips on both sides do with the foot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final

from .footholds import CLEAR_SHARE, PEAK, STEP_WAIT

LONGEST_EASE_S: Final = 0.5
SHORTEST_STEP_S: Final = 0.4
LONGEST_STEP_S: Final = 1.0
"""Longer ways are gone faster."""
CALMEST_STEP_S: Final = 1.4
"""Where there is time, a step takes so long at most, unless it needs longer."""
SLOWEST_LEGS_PER_S: Final = 0.6
"""So fast a foot may always be moved, also where the clips do not move it."""
CALM_LEGS_PER_S: Final = 0.25
"""And so fast where there is time."""
_CALM_HELD_S: Final = 0.2
"""So long a foot has stood at least before it makes a step sooner than it need."""
LEAST_HELD_S: Final = 0.05
"""What is left of a foothold at least where a step begins or ends."""
_MOST_LATER_S: Final = 0.5
"""Steps of both feet are made so much later or sooner than at the seam at most, so that both have time."""
LIFT_LEGS: Final = 0.07
_OVER_PEAK: Final = PEAK / (1.0 - 2.0 * STEP_WAIT)
"""The highest speed of a step over the ground against distance ÷ time,"""
_LIFT_PEAK: Final = 3.43
"""and of its lift against height ÷ time."""
_CAREFUL: Final = 0.95
"""So much of what feet go in the clips a step may: between two frames they go as fast as that on average."""
_STILL_LEGS_PER_S: Final = 0.35
"""Feet that go no faster look as if they stood."""


@dataclass(slots=True)
class Hold:
    """One foothold while they are put together.

    start_s, stop_s: when; over: where over the ground; number: which of a foot's it is; fast: how fast the foot may be
    moved; lift: of the step that follows; clear: how high the foot is at least on its own way that follows.
    ease_in_s, ease_out_s: how long it takes at most to lead it there and to let it go. Numbers of Python's own: they
    are looked at one by one.
    """

    start_s: float
    stop_s: float
    over: complex
    number: int
    fast: float
    lift: float = 0.0
    clear: float = 0.0
    farthest: float = 0.0
    ease_in_s: float = LONGEST_EASE_S
    ease_out_s: float = LONGEST_EASE_S

    @property
    def span_s(self) -> tuple[float, float]:
        """From when to when."""
        return self.start_s, self.stop_s


@dataclass(frozen=True)
class DueStep:
    """A step that a foot has to make from its last foothold to the first one of the next segment.

    own_s: when these end and begin in their clips. leg_length: of the leg with this number. clips_fast: how fast feet
    go in the clips on both sides. goes_on: whether the foot goes on to another foothold in the next segment, by the
    clip's own swing.
    """

    leg: int
    last: Hold
    first: Hold
    own_s: tuple[float, float]
    leg_length: float
    clips_fast: float
    goes_on: bool = False

    @property
    def distance(self) -> float:
        """How far it is over the ground."""
        return abs(self.first.over - self.last.over)

    @property
    def lift(self) -> float:
        """How high the foot is lifted."""
        return lift_over(self.distance, self.leg_length)

    def fast(self, least: float = SLOWEST_LEGS_PER_S) -> float:
        """Return how fast the foot may go; least: legs per second that it always may."""
        return max(_CAREFUL * self.clips_fast, least * self.leg_length)

    @property
    def _way(self) -> float:
        """How far a foot would go in the same time at the highest speed of the step, over the ground and upwards."""
        return hypot(_OVER_PEAK * self.distance, _LIFT_PEAK * self.lift)

    def farthest(self, time_s: float) -> float:
        """Return how far it may lead in a time to be no faster than feet go in the clips.

        Where the clips have them stand still, any step is faster: as far as it does. Its lift is fastest while the foot
        goes slowly over the ground, and hardly counts.
        """
        is_still = self.clips_fast < _STILL_LEGS_PER_S * self.leg_length
        return self.distance if is_still else _CAREFUL * self.clips_fast * time_s / _OVER_PEAK

    @property
    def time_s(self) -> float:
        """How long it takes."""
        return min(max(self._way / self.fast(), SHORTEST_STEP_S), LONGEST_STEP_S)

    @property
    def calm_s(self) -> float:
        """How long it takes where there is more time."""
        return max(min(self._way / self.fast(CALM_LEGS_PER_S), CALMEST_STEP_S), self.time_s)

    @property
    def soonest_s(self) -> float:
        """When it may begin, and the foot has stood in the clip before."""
        return self.last.start_s + LEAST_HELD_S

    @property
    def latest_s(self) -> float:
        """When it must end, so that the foot is still in contact in the next clip."""
        return self.first.stop_s - LEAST_HELD_S

    @property
    def calm_from_s(self) -> float:
        """When it may begin if there is time."""
        return self.last.start_s + _CALM_HELD_S

    @property
    def calm_until_s(self) -> float:
        """When it may end if there is time: at half of the foothold, so that another step may follow.

        If none follows, it may end later, as long as the foot is in contact for _CALM_HELD_S.
        """
        half_s = (self.first.start_s + self.first.stop_s) / 2.0
        return max(half_s, self.first.stop_s - _CALM_HELD_S) if self.goes_on else half_s


def lift_over(distance: float, leg_length: float) -> float:
    """Return how high a foot is lifted on a step."""
    return max(LIFT_LEGS * leg_length, CLEAR_SHARE * distance)


def between(one: DueStep, other: DueStep) -> tuple[float, float]:
    """Return when the first of two steps ends, and the second one begins: not before that.

    At the seam, or so much later or sooner that both have time, and that the other foot bears the body during each.
    """
    ends_s, begins_s = one.first.start_s, other.last.stop_s
    if ends_s > begins_s:
        ends_s = begins_s = (ends_s + begins_s) / 2.0
    soonest_s = max(one.soonest_s, other.last.start_s) + one.time_s
    latest_s = min(other.latest_s, one.first.stop_s) - other.time_s
    if soonest_s > latest_s:  # time goes first
        soonest_s, latest_s = one.soonest_s + one.time_s, other.latest_s - other.time_s
    if soonest_s > latest_s:
        soonest_s = latest_s = (soonest_s + latest_s) / 2.0
    if ends_s < soonest_s:
        ends_s = min(soonest_s, ends_s + _MOST_LATER_S)
        begins_s = max(begins_s, ends_s)
    if begins_s > latest_s:
        begins_s = max(latest_s, begins_s - _MOST_LATER_S)
        ends_s = min(ends_s, begins_s)
    spare_s = (ends_s - max(one.calm_from_s, other.last.start_s) - one.calm_s,
               min(other.calm_until_s, one.first.stop_s) - begins_s - other.calm_s)
    later_s = _lent(spare_s[1], spare_s[0]) - _lent(*spare_s)
    return ends_s + later_s, begins_s + later_s


def _lent(spare_s: float, other_s: float) -> float:
    """Return how much of the time that one step has to spare it lends to the other, which has less than none."""
    return max(min(spare_s, -other_s, _MOST_LATER_S), 0.0)


def room(one: DueStep, other: DueStep) -> tuple[float, int]:
    """Return how much of its time the step has that has less, at most all of it, and whether it is the second."""
    ends_s, begins_s = between(one, other)
    before, after = (ends_s - one.soonest_s) / one.time_s, (other.latest_s - begins_s) / other.time_s
    return min((min(before, 1.0), 0), (min(after, 1.0), 1))


def in_order(steps: Sequence[DueStep]) -> list[DueStep]:
    """Return steps of both feet in an order in which both have time.

    Where either has, in that which leaves them nearer to the seam, where the body goes over; else the longer one first.
    """
    longest_first = sorted(steps, key=lambda step: -step.distance)
    if len(longest_first) < 2:
        return longest_first
    return max(longest_first, longest_first[::-1], key=lambda each: (room(*each)[0], -_away_s(*each)))


def _away_s(one: DueStep, other: DueStep) -> float:
    """Return how far from the seam the second of two steps follows the first."""
    return round(abs(sum(between(one, other)) - one.first.start_s - other.last.stop_s), 6)


def since(holds: Sequence[Hold], time_s: float) -> float:
    """Return since when a foot is held at a time: that time itself where it is not."""
    return min((hold.start_s for hold in holds if hold.start_s <= time_s <= hold.stop_s), default=time_s)


def until(holds: Sequence[Hold], time_s: float) -> float:
    """Return until when a foot is held at a time: that time itself where it is not."""
    return max((hold.stop_s for hold in holds if hold.start_s <= time_s <= hold.stop_s), default=time_s)
