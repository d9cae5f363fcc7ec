"""Steps that feet have to make at one seam: their durations and their order.

A step has a shortest duration, and a calm one if there is more time: then it is no faster than the foot ever moves in
the clips on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Final

from ...clips.thresholds import HELD_S, SLOW_LEGS_PER_S
from .footholds import CLEAR_SHARE, PEAK, SOON_S, STEP_WAIT

LONGEST_EASE_S: Final = 0.5
"""Greatest duration of leading a foot, and greatest shift of both feet's steps from the seam to give both time."""
SHORTEST_STEP_S: Final = 0.4
LONGEST_STEP_S: Final = 1.0
"""Longest duration of a step; longer distances are covered faster."""
CALMEST_STEP_S: Final = 1.4
"""Longest duration of a calm step, unless it needs longer."""
SLOWEST_LEGS_PER_S: Final = 0.6
"""Speed that is always allowed for a foot, even if the clips do not move it."""
LIFT_LEGS: Final = 0.07
_OVER_PEAK: Final = PEAK / (1.0 - 2.0 * STEP_WAIT)
"""Ratio of a step's highest horizontal speed to distance ÷ duration."""
_LIFT_PEAK: Final = 3.43
"""Ratio of its highest vertical speed to lift ÷ duration."""


@dataclass(slots=True)
class Hold:
    """One foothold while footholds are being joined.

    start_s, stop_s: its contact. over: its position over the ground. number: of the foot's footholds. fast: speed limit
    of the foot. lift: of the step that follows. clear: least height of the foot on its own path that follows.
    ease_in_s, ease_out_s: greatest durations for leading the foot there and releasing it. Plain Python numbers, since
    they are used one by one.
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


@dataclass(frozen=True)
class DueStep:
    """A step from a foot's last foothold to the first one of the next segment.

    own_s: when these end and begin in their clips. leg_length: of the leg with this number. clips_fast: foot speed in
    the clips on both sides. goes_on: whether the foot moves on to another foothold of the next segment by the clip's
    own swing.
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
        """Its horizontal distance."""
        return abs(self.first.over - self.last.over)

    @property
    def lift(self) -> float:
        """Its lift."""
        return lift_over(self.distance, self.leg_length)

    def fast(self, least: float = SLOWEST_LEGS_PER_S) -> float:
        """Return the speed limit of the foot. least: legs per second that are always allowed."""
        return max(self.clips_fast, least * self.leg_length)

    @property
    def _way(self) -> float:
        """The distance covered in the same time at the step's highest speed, horizontal and vertical."""
        return hypot(_OVER_PEAK * self.distance, _LIFT_PEAK * self.lift)

    def farthest(self, time_s: float) -> float:
        """Return the distance it may cover in a duration without exceeding the foot's speed in the clips.

        If the clips have the foot still, any step is faster: then its own distance. The lift is fastest while the foot
        is slow over the ground, and hardly counts.
        """
        is_still = self.clips_fast < SLOW_LEGS_PER_S[0] * self.leg_length
        return self.distance if is_still else self.clips_fast * time_s / _OVER_PEAK

    @property
    def time_s(self) -> float:
        """Its shortest duration."""
        return min(max(self._way / self.fast(), SHORTEST_STEP_S), LONGEST_STEP_S)

    @property
    def calm_s(self) -> float:
        """Its duration if there is more time."""
        return max(min(self._way / self.fast(SLOW_LEGS_PER_S[0]), CALMEST_STEP_S), self.time_s)

    @property
    def soonest_s(self) -> float:
        """Earliest begin that leaves the foot contact in the clip before."""
        return self.last.start_s + HELD_S

    @property
    def latest_s(self) -> float:
        """Latest end that leaves the foot contact in the next clip."""
        return self.first.stop_s - HELD_S

    @property
    def calm_from_s(self) -> float:
        """Earliest begin if there is time."""
        return self.last.start_s + SOON_S

    @property
    def calm_until_s(self) -> float:
        """Latest end if there is time: half of the foothold, so that another step may follow.

        If none follows, it may end later, as long as the foot has contact for SOON_S.
        """
        half_s = (self.first.start_s + self.first.stop_s) / 2.0
        return max(half_s, self.first.stop_s - SOON_S) if self.goes_on else half_s


def lift_over(distance: float, leg_length: float) -> float:
    """Return the lift of a step over a distance."""
    return max(LIFT_LEGS * leg_length, CLEAR_SHARE * distance)


def between(one: DueStep, other: DueStep) -> tuple[float, float]:
    """Return when the first of two steps ends, and when the second begins, which is not earlier.

    At the seam, or shifted so that both have time and the other foot carries the body during each.
    """
    ends_s, begins_s = one.first.start_s, other.last.stop_s
    if ends_s > begins_s:
        ends_s = begins_s = (ends_s + begins_s) / 2.0
    soonest_s = max(one.soonest_s, other.last.start_s) + one.time_s
    latest_s = min(other.latest_s, one.first.stop_s) - other.time_s
    if soonest_s > latest_s:  # durations take precedence
        soonest_s, latest_s = one.soonest_s + one.time_s, other.latest_s - other.time_s
    if soonest_s > latest_s:
        soonest_s = latest_s = (soonest_s + latest_s) / 2.0
    if ends_s < soonest_s:
        ends_s = min(soonest_s, ends_s + LONGEST_EASE_S)
        begins_s = max(begins_s, ends_s)
    if begins_s > latest_s:
        begins_s = max(latest_s, begins_s - LONGEST_EASE_S)
        ends_s = min(ends_s, begins_s)
    spare_s = (ends_s - max(one.calm_from_s, other.last.start_s) - one.calm_s,
               min(other.calm_until_s, one.first.stop_s) - begins_s - other.calm_s)
    later_s = _lent(spare_s[1], spare_s[0]) - _lent(*spare_s)
    return ends_s + later_s, begins_s + later_s


def _lent(spare_s: float, other_s: float) -> float:
    """Return the time that one step lends to the other, which has too little."""
    return max(min(spare_s, -other_s, LONGEST_EASE_S), 0.0)


def room(one: DueStep, other: DueStep) -> tuple[float, int]:
    """Return the smaller share of its duration that either step has, at most 1, and whether that is the second step."""
    ends_s, begins_s = between(one, other)
    before, after = (ends_s - one.soonest_s) / one.time_s, (other.latest_s - begins_s) / other.time_s
    return min((min(before, 1.0), 0), (min(after, 1.0), 1))


def in_order(steps: Sequence[DueStep]) -> list[DueStep]:
    """Return steps of both feet in an order in which both have time.

    If both orders work, the one nearer to the seam; otherwise the longer step first. Of equal steps, that of the foot
    whose contact ends first. Values are rounded, so that these are equal in all units.
    """
    longest_first = sorted(steps, key=lambda step: (
        -round(step.distance / step.leg_length, 6), step.last.stop_s, step.leg))
    if len(longest_first) < 2:
        return longest_first
    return max(longest_first, longest_first[::-1], key=lambda each: (round(room(*each)[0], 6), -_away_s(*each)))


def _away_s(one: DueStep, other: DueStep) -> float:
    """Return how far from the seam the second of two steps follows the first."""
    return round(abs(sum(between(one, other)) - one.first.start_s - other.last.stop_s), 6)


def since(holds: Sequence[Hold], time_s: float) -> float:
    """Return the beginning of a foot's contact at a time, or that time itself without contact."""
    return min((hold.start_s for hold in holds if hold.start_s <= time_s <= hold.stop_s), default=time_s)


def until(holds: Sequence[Hold], time_s: float) -> float:
    """Return the end of a foot's contact at a time, or that time itself without contact."""
    return max((hold.stop_s for hold in holds if hold.start_s <= time_s <= hold.stop_s), default=time_s)
