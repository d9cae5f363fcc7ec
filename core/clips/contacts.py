"""Contacts of a clip's feet, by heel and by ball, detected on the clip's own skeleton at its own speed.

A point of the sole is in contact while it is low and slow. Heights are measured from the point's lowest position in the
clip, since few files say where the floor is. For a foot that is held up all the time, the other foot's ground counts.
Both thresholds are relative to the length of the leg. A contact lasts until the point exceeds wider thresholds
(hysteresis), so that noise does not break it. A foot within the wider thresholds when the clip begins or ends counts as
in contact there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray, runs, smoothstep
from ..skeletons.maps import SkeletonMap
from .clip import Clip
from .posed import PosedJoints
from .sole_ends import sole_ends
from .thresholds import EASE_S, LOW_LEGS, SHORTEST_S, SLOW_LEGS_PER_S

_SLOW_SHARES: Final = (0.2, 0.35)
"""SLOW_LEGS_PER_S for a gait in place that was made to travel, as shares of its speed: its feet never slide back quite
evenly."""
STEP_S: Final = 1.0 / 60.0
MAX_INSTANTS: Final = 200_000
_LOWEST_PERCENT: Final = 1.0
_OWN_GROUND_LEGS: Final = 0.06
"""A foot, or a heel, has a ground of its own if its lowest height is at most this far above that of the others."""


@dataclass(frozen=True, eq=False)
class FootContacts:
    """The contacts of one foot in a clip: spans (K, 2) of clip seconds, from and to, ascending and disjoint.

    heel: of the point of the sole below the ankle. ball: of the ball of the foot, or of the sole's front end if the
    skin shows it (sole_ends.py); empty if neither is known.
    released: contacts that were switched off, and are no longer in heel or ball.
    """

    heel: FloatArray
    ball: FloatArray
    released: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))

    @property
    def whole(self) -> FloatArray:
        """Spans in which the whole foot is in contact, (K, 2)."""
        starts = np.maximum(self.heel[:, None, 0], self.ball[None, :, 0])
        stops = np.minimum(self.heel[:, None, 1], self.ball[None, :, 1])
        return np.stack((starts[starts < stops], stops[starts < stops]), axis=1)

    def part(self, begin_s: float, end_s: float, is_reversed: bool = False) -> FootContacts:
        """Return the contacts within a part of the clip, in the part's time."""
        def cut(spans: FloatArray) -> FloatArray:
            spans = np.clip(spans, begin_s, end_s)
            spans = spans[(spans[:, 0] < spans[:, 1]) | (begin_s == end_s)]
            return end_s - spans[::-1, ::-1] if is_reversed else spans - begin_s

        return FootContacts(cut(self.heel), cut(self.ball), cut(self.released))

    def without(self, times_s: FloatArray) -> FootContacts:
        """Return the contacts with those that include any of some times (N,) switched off.

        >>> found = FootContacts(np.array(((0.0, 1.0), (2.0, 3.0))), np.array(((0.5, 1.5),)))
        >>> found.without(np.array((1.2,))).heel.tolist(), found.without(np.array((1.2,))).released.tolist()
        ([[2.0, 3.0]], [[0.0, 1.5]])
        """
        stands = self.stands
        is_off = ((stands[:, :1] <= times_s) & (times_s <= stands[:, 1:])).any(axis=1)
        off = stands[is_off]

        def left(spans: FloatArray) -> FloatArray:
            inside = (spans[:, :1] <= off[:, 1]) & (off[:, 0] <= spans[:, 1:])
            return spans[~inside.any(axis=1)]

        return FootContacts(left(self.heel), left(self.ball), joined(np.concatenate((self.released, off))))

    @property
    def stands(self) -> FloatArray:
        """Intervals in which heel or ball is in contact, (K, 2), in seconds."""
        return joined(np.concatenate((self.heel, self.ball)))


def joined(spans: FloatArray, apart_s: float = 0.0) -> FloatArray:
    """Return spans (K, 2) in order, merging those that overlap or are at most apart_s apart.

    >>> joined(np.array(((2.0, 3.0), (0.0, 1.0), (0.5, 1.5)))).tolist()
    [[0.0, 1.5], [2.0, 3.0]]
    """
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reach = np.maximum.accumulate(spans[:, 1]) if len(spans) else spans[:, 1]
    first = np.flatnonzero(np.concatenate(((True,), spans[1:, 0] > reach[:-1] + apart_s))[:len(spans)])
    last = np.append(first[1:] - 1, len(spans) - 1)[:len(first)]
    return np.stack((spans[first, 0], reach[last]), axis=1)


def depth_within(times_s: FloatArray, spans: FloatArray) -> FloatArray:
    """Return how deep times (F,) are within spans (K, 2), as distances (F,) to the nearer end of the span.

    spans: ascending and disjoint. A time outside all spans gets minus the distance to the nearest one, or −∞ if there
    are none.

    >>> depth_within(np.array((0.25, 1.5, 2.75)), np.array(((0.0, 1.0), (2.0, 4.0)))).tolist()
    [0.25, -0.5, 0.75]
    """
    begins, ends = np.concatenate(([(-np.inf, -np.inf)], spans, [(np.inf, np.inf)])).T
    after = np.searchsorted(begins, times_s, side="right")
    before, later = (np.minimum(times_s - begins[span], ends[span] - times_s) for span in (after - 1, after))
    return np.asarray(np.maximum(before, later))


def weight_within(times_s: FloatArray, spans: FloatArray, ease_s: float = EASE_S) -> FloatArray:
    """Return the weight of contacts at times (F,), (F,): 1 within spans (K, 2), and less up to ease_s beside them.

    >>> weight_within(np.array((0.25, 1.25, 3.0)), np.array(((0.0, 1.0),)), 0.5).tolist()
    [1.0, 0.5, 0.0]
    """
    return smoothstep(depth_within(times_s, spans), -ease_s, 0.0)


def foot_contacts(clip: Clip, found: SkeletonMap, up: FloatArray) -> dict[str, FootContacts]:
    """Detect the contacts of a clip's feet, by side, l and r; a side without hip, knee and ankle is left out.

    found: the map of the clip's skeleton; up: (3,) in its model space. A clip of 0 s has contacts of 0 s.
    """
    sides = [side for side in "lr" if {f"{side}_hip", f"{side}_knee", f"{side}_ankle"} <= found.joint_of.keys()]
    if not sides:
        return {}
    up = up / np.linalg.norm(up)
    own, points = _sole_points(clip, found, sides, up)
    both = _Points.of(clip, instants(clip.duration_s), own, points, up, found.leg_length)
    heel, ball = both.at(slice(len(sides))), both.at(slice(len(sides), None))
    if len(own) == len(sides):
        return {side: FootContacts(heel.spans(i, heel.lowest), np.zeros((0, 2))) for i, side in enumerate(sides)}
    if own[len(sides)] in own[:len(sides)]:  # a clip's author does not see the tips of its feet
        return {side: FootContacts(heel.spans(i, heel.lowest), ball.spans(i, heel.lowest, heel.lowest))
                for i, side in enumerate(sides)}
    level = min(heel.lowest, ball.lowest)  # in a clip that is all on tiptoe, heels have no contact
    return {side: FootContacts(heel.spans(i, level), ball.spans(i, ball.lowest)) for i, side in enumerate(sides)}


def sole_points(clip: Clip, found: SkeletonMap, times_s: FloatArray, up: FloatArray) -> FloatArray:
    """Return the positions (F, N, 3) of heels, and of known balls of the feet, at times (F,).

    Only feet with hip, knee and ankle are included. found, up: see foot_contacts; up: of unit length.
    """
    joints, points = _sole_points(clip, found, "lr", up)
    return _followed(clip, times_s, joints, points)


def _sole_points(clip: Clip, found: SkeletonMap, sides: Sequence[str], up: FloatArray) -> tuple[list[int], FloatArray]:
    """Return points of soles at rest (N, 3) with the joints that move them: heels, then the front ends if known."""
    rest, ankles = clip.skeleton.rest_world[..., 3], [found.joint_of[f"{side}_ankle"] for side in sides]
    ends = sole_ends(clip, found, sides, up)
    if not ends:
        return ankles, rest[ankles]
    fronts = np.stack([place for _, place in ends])
    below = np.maximum((rest[ankles] - fronts) @ up, 0.0)[:, None] * up
    return ankles + [joint for joint, _ in ends], np.concatenate((rest[ankles] - below, fronts))


@dataclass(frozen=True, eq=False)
class _Points:
    """Points of N soles at times_s (F,), in leg lengths: positions (F, N, 3), heights (F, N) above those at rest.

    slow: how fast they are at most in contact, see SLOW_LEGS_PER_S.
    """

    times_s: FloatArray
    positions: FloatArray
    heights: FloatArray
    slow: tuple[float, float]

    @classmethod
    def of(cls, clip: Clip, times_s: FloatArray, joints: list[int], points: FloatArray, up: FloatArray,
           leg: float) -> _Points:
        """Follow points (N, 3) of the rest pose, which move with joints."""
        positions = _followed(clip, times_s, joints, points)
        begins, lasts = (max(slow, share * clip.gait_legs_per_s)
                         for slow, share in zip(SLOW_LEGS_PER_S, _SLOW_SHARES, strict=True))
        return cls(times_s, positions / leg, (positions - points) @ up / leg, (begins, lasts))

    def at(self, some: slice) -> _Points:
        """Return some of the points."""
        return _Points(self.times_s, self.positions[:, some], self.heights[:, some], self.slow)

    @cached_property
    def grounds(self) -> FloatArray:
        """The lowest height of each point, (N,), without single spikes."""
        return np.asarray(np.percentile(self.heights, _LOWEST_PERCENT, axis=0))

    @property
    def lowest(self) -> float:
        """The lowest height of all points."""
        return float(self.grounds.min())

    def spans(self, index: int, level: float, lowest: float = -np.inf) -> FloatArray:
        """Return when one of the points is in contact, (K, 2) in seconds.

        level: height of the ground if the point's own lowest height is much higher. lowest: the least height of the
        ground.
        """
        own = max(float(self.grounds[index]), lowest)
        ground = own if own <= level + _OWN_GROUND_LEGS else level
        return planted_spans(self.positions[:, index], self.heights[:, index] - ground, self.times_s, self.slow)


def instants(duration_s: float) -> FloatArray:
    """Return the times (F,) at which contacts are detected: every STEP_S, or less often in very long clips.

    >>> len(instants(1.0)), len(instants(0.0)), len(instants(1e30)) == MAX_INSTANTS
    (61, 1, True)
    """
    return np.linspace(0.0, duration_s, int(min(np.ceil(duration_s / STEP_S) + 1.0, MAX_INSTANTS)))


def planted_spans(positions: FloatArray, heights: FloatArray, times_s: FloatArray,
                  slow: tuple[float, float] = SLOW_LEGS_PER_S) -> FloatArray:
    """Return the spans (K, 2), ascending, in which a point of the sole is in contact.

    positions: (F, 3), heights: (F,) above its ground, both in leg lengths, at times (F,). slow: see SLOW_LEGS_PER_S.
    """
    if len(times_s) < 2:
        return times_s[[[0, 0]]] if heights[0] <= LOW_LEGS[0] else np.zeros((0, 2))
    speeds = np.linalg.norm(np.gradient(positions, times_s, axis=0), axis=1)
    begins, lasts = ((heights <= low) & (speeds <= most) for low, most in zip(LOW_LEGS, slow, strict=True))
    spans = []
    for start, stop in runs(lasts):
        is_open = start == 0, stop == len(times_s)  # a contact may begin before the clip, or end after it
        sure = start + np.flatnonzero(begins[start:stop])
        if not len(sure) and is_open[0] == is_open[1]:
            continue
        first, last = (int(sure[0]), int(sure[-1])) if len(sure) else (start, stop - 1)
        if last > first if any(is_open) else times_s[last] - times_s[first] >= SHORTEST_S:
            spans.append((times_s[first], times_s[last]))
    return np.array(spans).reshape(-1, 2)


def _followed(clip: Clip, times_s: FloatArray, joints: list[int], points: FloatArray) -> FloatArray:
    """Return the positions of points (N, 3) of the rest pose that move with joints, (F, N, 3)."""
    skeleton = clip.skeleton
    posed = PosedJoints.of(clip, np.array(joints, dtype=np.int64), is_spherical=True)
    back = skeleton.rest_world[joints]
    local = np.linalg.solve(back[..., :3], (points - back[..., 3])[..., None])
    positions = np.empty((len(times_s), len(joints), 3))
    for run in posed.runs(len(times_s)):
        world = posed.world(times_s[run])
        positions[run] = (world[..., :3] @ local)[..., 0] + world[..., 3]
    return positions
