"""How a body comes down onto the seats of a scene, sits there and gets up, against its clips.

While the body sits, the lowest skin of buttocks and back is on the surface. The difference in height between this seat
and the clips' is added in step with the clips: in proportion to the way that the hips have gone from standing to
sitting. Feet stay in place, and hang if legs are too short. If they hang in the clips, they come down to the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ...clips.thresholds import BODY_S, BRIEF_S, LITTLE_LEGS, NEAR_LEGS, ON_LEGS, STILL_LEGS
from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...maths.displacement import DisplacementProblem, solve_displacement
from .seats import STANDS, Seat, are_still

_COMES: Final = 0.03
"""The body is on its seat only while it moves up or down no faster than this, in leg lengths per second."""
_STRAIGHT_LEGS: Final = 0.005
"""A leg is straight if its fold is smaller, in leg lengths."""
_LAST: Final = 3
"""If a body sits down, its height on the seat is that at the end of the clip, over this many times the briefest
contact."""
_SITS, _UPRIGHT, _GUIDES = 100.0, 10.0, 1.0
"""Weights of the wishes while a body sits, while it stands, and in between."""
_HANGS: Final = 0.7
"""A leg hangs from a seat if its shin is at least this upright: cosine of its angle to the vertical,"""
_STANDS: Final = 0.5
"""and if no foot is in contact for more than this share of the time."""
_SLOPED: Final = 0.5
"""Sine of the slope down to which thighs go for feet that hang in the clip, unless they are steeper there: 30°."""


_ALONG: Final = 1e-4
"""Share of a sole's length below which it has no breadth."""


class Moving(NamedTuple):
    """A body before it is moved onto seats, at times (F,) at equal distances.

    hips: (F, 3). low: (F,) height of its lowest skin of buttocks and back. fold: (F,), see Thighs. leg: length of a
    leg. paces: (F,) of its clips, see are_still. The others are None if unknown. planted: (L, F) when feet are in
    contact. seams_s: when its clips begin. stays: (F,) when a transition leads from one clip that sits to another.
    sits: (F,) when such a transition plays, or a clip that begins and ends with folded legs. up: unit vector (3,).
    """

    times_s: FloatArray
    hips: FloatArray
    low: FloatArray
    fold: FloatArray
    leg: float
    paces: FloatArray
    planted: BoolArray | None = None
    seams_s: FloatArray | None = None
    stays: BoolArray | None = None
    sits: BoolArray | None = None
    up: FloatArray | None = None

    @property
    def still(self) -> BoolArray:
        """When it rests with folded legs, (F,); see are_still."""
        return are_still(self.times_s, self.hips, self.fold, self.leg, self.paces)


@dataclass(frozen=True, eq=False)
class Sitting:
    """How a body of a motion sits on seats, at times (F,).

    low: (F,) height of its lowest skin of buttocks and back before. free: (F,) when it sits down or gets up. on: (F,)
    when it sits. surface: (F,) height of the seat, −inf while the body does not sit. share: (F,) of the way from
    standing to sitting that it has gone, 1 where it sits. spells: (N, 2) for each time that it sits down, sits and gets
    up: the first frame, and the one after the last.
    """

    low: FloatArray
    free: BoolArray
    on: BoolArray
    surface: FloatArray
    share: FloatArray
    spells: IntArray

    @classmethod
    def of(cls, seats: Sequence[Seat], body: Moving) -> Sitting:
        """Find when a body sits. seats: in order."""
        times_s, low, leg = body.times_s, body.low, body.leg
        spacing_s = float(times_s[1] - times_s[0])
        still = body.still
        resting = np.abs(np.gradient(low, spacing_s)) < _COMES * body.paces * leg
        upright = body.fold < STANDS * leg
        stands = upright if body.stays is None else upright & ~body.stays
        free, on = np.zeros(len(low), dtype=np.bool_), np.zeros(len(low), dtype=np.bool_)
        surface, share, after = np.full(len(low), -np.inf), np.zeros(len(low)), 0
        spells = list[tuple[int, int]]()
        for number, seat in enumerate(seats):
            first = np.flatnonzero(still & (times_s >= seat.from_s) & (times_s <= max(seat.to_s, seat.until_s)))
            if not len(first) or first[0] < after:
                continue
            later = times_s >= min((each.from_s for each in seats[number + 1:]), default=np.inf)
            own, end = first[:0], int(first[0])
            while len(own) * spacing_s < BRIEF_S and len(first := first[first >= end]):
                end = int(first[0] + np.append(stands | later, True)[first[0]:].argmax())
                own = first[0] + np.flatnonzero(still[first[0]:end])
                begin = max(int(np.flatnonzero(upright[:first[0]])[-1:].sum()), after)
            if len(own) * spacing_s < BRIEF_S:
                continue
            rests = own[resting[own]]
            least, most = _levels(body, rests if len(rests) else own, begin, end)
            is_there = (low[begin:end] < most + LITTLE_LEGS * leg) & (low[begin:end] > least - NEAR_LEGS[0] * leg)
            there = begin + np.flatnonzero(is_there & resting[begin:end])
            if not len(there):
                continue
            on_it, here = slice(int(there[0]), int(there[-1]) + 1), slice(int(there[0]), _stays_until(body, there, end))
            surface[here] = seat.height
            on[here] = True
            on[on_it] = low[on_it] < most[on_it.start - begin:on_it.stop - begin] + NEAR_LEGS[0] * leg
            free[begin:end] = ~stands[begin:end]
            begin -= _until_straight(body.fold[after:begin + 1][::-1], leg)
            end += _until_straight(body.fold[end:], leg)
            begin, end = _in_the_air(body.planted, begin, here, end, after)
            free[begin + 1:here.start] = free[here.stop:end] = True
            share[begin:here.start] = _gone(body.hips[begin:here.start + 1], leg)
            share[here] = 1.0
            share[here.stop:end] = _gone(body.hips[here.stop - 1:end][::-1], leg)[::-1]
            spells.append((begin, end))
            after = end
        return cls(low, free & ~on, on, surface, share, np.array(spells, dtype=np.int64).reshape(-1, 2))

    def rise(self, wish: FloatArray, most: FloatArray, spacing_s: float) -> FloatArray:
        """Return by how much the body is raised, (F,). wish: (F,) where it sits; most: (F,) what legs reach down."""
        weight = np.where(self.on, _SITS, np.where(self.free, _GUIDES, _UPRIGHT))
        sits, on = np.isfinite(self.surface), np.flatnonzero(self.on)
        lo = np.where(sits, wish, -np.inf)
        hi = np.full(len(wish), np.inf)
        if (wish <= most)[sits].all():
            hi = np.where(self.free & ~sits, np.maximum(most, 0.0), np.inf)
        between = self.share * np.interp(np.arange(len(wish)), on, wish[on]) if len(on) else np.zeros(len(wish))
        return np.asarray(solve_displacement(DisplacementProblem(
            np.where(self.on, wish, between)[None], weight[None], lo[None], hi[None], np.array((BODY_S,)),
            spacing_s)).curves[0])

    def hangs(self, soles: FloatArray, shins: FloatArray, planted: BoolArray, leg: float) -> FloatArray:
        """Return the shares, (L, F), of their height by which feet come down that hang in the clips while they sit.

        soles: (L, F) how high they are above the ground. shins: (L, F) how upright they are, as cosines. planted:
        (L, F) when feet are in contact. A leg that is crossed over one that stands stays, and so does one that does
        not hang down.
        """
        found = np.zeros(soles.shape)
        for begin, end in self.spells.tolist():
            here = begin + np.flatnonzero(self.on[begin:end])
            if (planted[:, here].mean(axis=1) > _STANDS).any():
                continue
            hangs = (np.median(shins[:, here], axis=1) > _HANGS) & (np.median(soles[:, here], axis=1) > ON_LEGS * leg)
            if hangs.all():
                found[:, begin:end] = self.share[begin:end]
        return found


def _levels(body: Moving, own: IntArray, begin: int, end: int) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest heights of the lowest skin at which a body sits, (end − begin,) each.

    own: (N,) frames in which it is still. If one clip has it higher than the others, as clips on other seats do, both
    heights count from one to the next.
    """
    low, near = body.low, NEAR_LEGS[0] * body.leg
    sits = float(np.median(low[own]))
    least, most = np.full(end - begin, sits), np.full(end - begin, sits)
    if body.seams_s is None:
        return least, most
    part = np.searchsorted(body.seams_s, body.times_s, side="right")
    brief, levels = int(BRIEF_S / float(body.times_s[1] - body.times_s[0])), list[tuple[int, int, float]]()
    for number in np.unique(part[own]).tolist():
        frames = own[part[own] == number]
        if not levels:  # a body that sits down may have paused, or come slowly
            rests = [run for run in np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1) if len(run) >= brief]
            frames = rests[-1][-_LAST * brief:] if rests else frames[:0]
        if len(frames) < brief:
            continue
        level = float(np.median(low[frames]))
        if levels or low[own[part[own] == number]].min() > level - near:
            levels.append((int(frames[0]), int(frames[-1]), level))
    if all(abs(level - sits) < near for *_, level in levels):
        return least, most
    until = begin
    for (_, last, level), after in zip(levels, [*levels[1:], None], strict=True):
        least[until - begin:] = most[until - begin:] = level
        if after is not None:
            between = slice(last + 1 - begin, after[0] - begin)
            least[between], most[between], until = min(level, after[2]), max(level, after[2]), after[0]
    return least, most


def _stays_until(body: Moving, there: IntArray, end: int) -> int:
    """Return the frame before which a body is on its seat, though it no longer rests: hips stay above it.

    there: (N,) when it rests. end: when it has stood up.
    """
    last = int(there[-1])
    if body.sits is None or body.up is None:
        return last + 1
    away = body.hips[last:end] - body.hips[last]
    away -= (away @ body.up)[:, None] * body.up
    stays = body.sits[last:end] & (np.linalg.norm(away, axis=1) < NEAR_LEGS[0] * body.leg)
    return last + max(int(np.append(~stays, True).argmax()), 1)


def _until_straight(fold: FloatArray, leg: float) -> int:
    """Return for how many frames legs go on to stretch, of those whose fold (F,) is given, until they are straight."""
    ends = (np.diff(fold) >= 0.0) | (fold[1:] < _STRAIGHT_LEGS * leg)
    return int(np.append(ends, True).argmax()) if len(fold) else 0


def _in_the_air(planted: BoolArray | None, begin: int, here: slice, end: int, after: int) -> tuple[int, int]:
    """Return the frames from begin to end in which a body is on its way to its seat, there, and on its way back.

    If no foot is in contact in a part of that, as in a hop onto the seat, it begins where they leave the ground, or
    lasts until they land. here: where it sits. after: where the way before ends.
    """
    if planted is None:
        return begin, end
    on_ground: BoolArray = np.logical_or.reduce(planted)
    if not on_ground[begin:here.start].any():
        begin = max(int(np.flatnonzero(on_ground[:begin])[-1:].sum()) or begin, after)
    if not on_ground[here.stop:end].any() and on_ground[end:].any():
        end += int(on_ground[end:].argmax())
    return begin, end


def _gone(hips: FloatArray, leg: float) -> FloatArray:
    """Return which share of the way from their first to their last position hips (F + 1, 3) have gone, (F,)."""
    way = hips[-1] - hips[0]
    if np.linalg.norm(way) < STILL_LEGS * leg:
        return np.linspace(0.0, 1.0, len(hips))[:-1]
    return np.maximum.accumulate(np.clip((hips[:-1] - hips[0]) @ way / (way @ way), 0.0, 1.0))


def reach_down(hips: FloatArray, knees: FloatArray, ankles: FloatArray, goals: FloatArray) -> FloatArray:
    """Return how far hips may be raised so that ankles reach goals from thighs that lie on a seat, (L, F).

    With a thigh of length t that slopes by at most α, and a shin of length s, an ankle d beside the hip is at most
    t sin α + √(s² − (d − t cos α)²) below it. All (L, F, 3); the first three as the clip has them.
    """
    thighs, shins = (np.linalg.norm(one - other, axis=2) for one, other in ((hips, knees), (knees, ankles)))
    down = np.clip((hips - knees)[..., 2] / np.maximum(thighs, 1e-30), _SLOPED, 1.0)
    beside = np.linalg.norm((goals - hips)[..., :2], axis=2) - thighs * np.sqrt(1.0 - down * down)
    below = thighs * down + np.sqrt(np.maximum(shins * shins - beside * beside, 0.0))
    return np.asarray(goals[..., 2] + below - hips[..., 2])


def level_soles(points: FloatArray, at_rest: FloatArray) -> FloatArray:
    """Return the slopes (L, F, 2) that make soles level, as they are at rest: rise per length in each direction.

    points: (L, F, N, 3) of soles. at_rest: (L, N) their heights in the rest pose. A plane is fitted to the difference;
    where the points lie in a line, it does not tilt across that.

    >>> heel, ball = (0.0, 0.0, 0.1), (0.2, 0.0, 0.2)
    >>> level_soles(np.array((((heel, ball),),)), np.zeros((1, 2))).round(3).tolist()
    [[[-0.5, -0.0]]]
    """
    over = points[..., :2] - points[..., :2].mean(axis=2, keepdims=True)
    high = points[..., 2] - at_rest[:, None]
    high = high - high.mean(axis=2, keepdims=True)
    square = over.swapaxes(2, 3) @ over
    size = np.trace(square, axis1=2, axis2=3)[..., None, None]
    slopes = np.linalg.solve(square + (_ALONG * size + 1e-30) * np.eye(2), over.swapaxes(2, 3) @ high[..., None])
    return np.asarray(-slopes[..., 0])
