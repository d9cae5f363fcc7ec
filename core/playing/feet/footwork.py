"""Feet in a row before any pose is computed: contacts of clips, and limits for the soles.

Nothing here depends on tweaks of poses, so motions that differ only in tweaks share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

import numpy as np

from ...clips.thresholds import BRIEF_S, LITTLE_LEGS, ON_LEGS
from ...maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ...maths.formulas import Number, greatest, minimum_jerk, of_each, worked_out
from ...retargeting.comparing.reference import stood_up
from ...retargeting.skin_points import SkinPoints
from ...skeletons.hierarchy import with_ancestors
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import MOST_BODIES
from ..arms import Arms
from ..joints import Joints
from ..mix import of_blocks
from ..row import Row
from ..scene.warped import Warped
from ..stage import FIRST_ROUND, Over, Stage
from ..transitions.seams import time_stretch
from .clip_feet import ClipFoot, clip_feet, known_contacts, own_feet
from .footholds import BESIDE_S, SWING_S, Footholds, Loose, ground_axes
from .kept import Kept
from .legs import Leg, legs_of
from .lock import Floor
from .lowering import Lowering
from .planted import Planted
from .rises import Rises
from .soles import Soles, on_ground
from .steps import SAME_LEGS, Seams, footholds

_GLIDES_LEGS: Final = 0.5
"""Least distance in leg lengths that a body glides during a contact for the foot to glide along."""
_BENDS_LEGS: Final = 1.0
"""The same for a path that bends a walk: a foot stays while the body turns around it."""
_TURNS_RAD: Final = np.radians(200.0)
"""A body that turns by more than half a turn during a contact, as while it sits down, takes the foot along, or its legs
would cross."""


@dataclass(frozen=True, eq=False)
class Footwork(Over):
    """Feet of a body in a row. below: the stage that poses it, without tweaks. Others: see Feet."""

    row: Row
    skeleton_map: SkeletonMap
    up: FloatArray
    skin: SkinPoints | None
    lifts_sunk: bool
    warped: Warped | None

    @cached_property
    def footholds(self) -> Footholds:
        """Footholds without anything computed from poses; to compute that, use `anew`."""
        lengths = [leg.length(self.skeleton) for leg in self.legs]
        return footholds([self._planted(leg) for leg in range(len(self.legs))], self._seams(), lengths)

    @cached_property
    def steps_s(self) -> FloatArray:
        """Time steps with which clips measure speeds at edges of gaps, (2, G)."""
        stretch, into = self._stretch[self.played[0]], self.footholds.into
        end = stretch[np.minimum(into, len(stretch) - 1)] * BESIDE_S
        return np.stack((np.roll(end, 1), end))

    @cached_property
    def legs(self) -> tuple[Leg, ...]:
        """The legs whose feet they are."""
        return legs_of(self.skeleton_map)

    @cached_property
    def soles(self) -> Soles:
        """Their soles."""
        return _soles(self.skeleton_map, self.legs, tuple(self.up.tolist()), self.skin)

    @cached_property
    def _feet(self) -> tuple[tuple[ClipFoot, ...], ...]:
        """Each leg's foot in each of S segments; the same value wherever the same clip is played."""
        row, skeleton = self.row, self.skeleton
        chain = with_ancestors(skeleton.parents, np.array([leg.ankle for leg in self.legs]))
        legs_alone = of_blocks(row, with_ancestors(skeleton.parents, np.array([leg.foot for leg in self.legs])))
        known: dict[tuple[int, bytes], tuple[ClipFoot, ...]] = {}
        found = []
        for segment, (clip, held) in enumerate(zip(row.sequence.clip.tolist(), row.held_by(chain), strict=True)):
            if (clip, held) not in known:
                source = row.sources.clips[clip]
                known[clip, held] = source.derived(
                    own_feet, row.sources.interpolation, row.sources.translation, self.legs, tuple(self.up.tolist()),
                    self.soles) if row.plays_as_it_is(clip, chain) else clip_feet(
                    lambda times, at=segment: legs_alone.unplaced(np.full(len(times), at), times),  # type: ignore[misc]
                    source.duration_s, self.legs, skeleton, self.up, known_contacts(source, self.legs), self.soles)
            found.append(known[clip, held])
        return tuple(found)

    @cached_property
    def _distinct(self) -> tuple[list[tuple[ClipFoot, ...]], IntArray]:
        """Each distinct value once, and the index of each segment's, (S,)."""
        of_value = {id(feet): feet for feet in self._feet}
        number = {value: at for at, value in enumerate(of_value)}
        return list(of_value.values()), np.array([number[id(feet)] for feet in self._feet])

    @cached_property
    def played(self) -> tuple[IntArray, IntArray]:
        """Segments and their rounds of the loop: three rounds, since footholds span its seam."""
        rounds, segments = np.arange(-1, 2) if self.is_loop else FIRST_ROUND, np.arange(len(self._feet))
        return np.tile(segments, len(rounds)), np.repeat(rounds, len(segments))

    def _planted(self, leg: int) -> Planted:
        """Return the contacts of one foot."""
        (segment, turn), (distinct, number) = self.played, self._distinct
        feet, number = [each[leg] for each in distinct], number[segment]
        each = np.array([len(foot.at) for foot in feet])
        counts = each[number]
        own = np.repeat(np.arange(len(segment)), counts)
        contact = (np.cumsum(each) - each)[number[own]] + np.arange(len(own)) - (np.cumsum(counts) - counts)[own]
        spans_s, at, loose_at = (np.concatenate([getattr(foot, name) for foot in feet])[contact]
                                 for name in ("spans_s", "at", "loose"))
        layout, stretch = self.row.layout, self._stretch[segment]
        fast = quotient(np.array([foot.fast for foot in feet])[number], stretch)
        heights = (np.array([foot.ends for foot in feet]) @ self.up)[number]
        segment, turn = segment[own], turn[own]
        spans = layout.begin_s[segment, None] + spans_s * stretch[own, None]
        ground = ground_axes(self.up)
        points = np.concatenate((at[:, None], loose_at.reshape(-1, 6, 3), at[:, None] + ground[0]), axis=1)
        points = self.root.placed_points(points.reshape(-1, 3), segment.repeat(8), turn.repeat(8))
        astray = None
        if self.warped is not None:
            stays = self._stays(self.warped, points[::8], spans, leg)
            counts = np.bincount(own[stays], minlength=len(counts))
            segment, turn, spans, own = segment[stays], turn[stays], spans[stays], own[stays]
            points = points[stays.repeat(8)]
            whole_s = self._over_seams(self.warped, points[::8], spans, segment, leg)
            halfway_s, astray = self.warped.halfway(points[::8], whole_s)
            points = self.warped.points(points, halfway_s.repeat(8))
        points = (points @ ground.T).reshape(-1, 8, 3)
        turned = (points[:, 7] - points[:, 0]) @ np.array((1.0, 1j, 0.0))
        step_s = stretch[own, None] * BESIDE_S
        loose = Loose.of(points[:, 1:7].reshape(-1, 2, 3, 3), step_s)
        is_own = self._are_clips_own(spans, segment) & self._are_clips_own(spans + 2.0 * step_s * (-1.0, 1.0), segment)
        loose.positions[~is_own] = np.nan
        return Planted(spans + turn[:, None] * self.duration_s, points[:, 0], loose,
                       np.append(0, np.cumsum(counts)), fast, heights, turned, 3 if self.is_loop else 1,
                       astray)

    def _stays(self, warped: Warped, points: FloatArray, spans_s: FloatArray, leg: int) -> BoolArray:
        """Return which contacts at points (H, 3) during spans (H, 2) stay, since nothing takes the foot along."""
        begin, end = (warped.points(points, spans_s[:, edge]) for edge in range(2))
        glides, far = warped.warp.glides(spans_s), np.linalg.norm(end - begin, axis=1)
        most = np.where(glides, _GLIDES_LEGS, _BENDS_LEGS) * self.legs[leg].length(self.skeleton)
        return np.asarray((far <= most) & (glides | (np.abs(warped.warp.turns(spans_s)) <= _TURNS_RAD)))

    def _over_seams(self, warped: Warped, points: FloatArray, spans_s: FloatArray, segment: IntArray,
                    leg: int) -> FloatArray:
        """Return contacts' spans (H, 2), those that go on over a seam with all of their parts.

        points: (H, 3) of the contacts as their clips have them. A path bends all parts alike, so that the foot stays; a
        glide does not.
        """
        if not len(points):
            return spans_s
        near, over = SAME_LEGS * self.legs[leg].length(self.skeleton), ground_axes(self.up)[:2].T
        seam_s = self.row.layout.begin_s[segment[1:]]
        jump = warped.points(points[1:], seam_s) - warped.points(points[1:], np.nextafter(seam_s, -np.inf))
        apart, jumped = (np.linalg.norm(way @ over, axis=1) for way in (np.diff(points, axis=0), jump))
        is_next = (np.diff(segment) == 1) & (spans_s[1:, 0] - spans_s[:-1, 1] <= BRIEF_S) & ~warped.warp.glides(
            np.stack((spans_s[:-1, 0], spans_s[1:, 1]), axis=1))
        begins = np.append(True, ~(is_next & (np.maximum(apart, jumped) <= near)))
        first = np.flatnonzero(begins)
        last = np.append(first[1:], len(points)) - 1
        whole_s = np.stack((spans_s[first, 0], spans_s[last, 1]), axis=1)[np.cumsum(begins) - 1]
        return np.where(self._stays(warped, points, whole_s, leg)[:, None], whole_s, spans_s)

    def _are_clips_own(self, times_s: FloatArray, segment: IntArray) -> BoolArray:
        """Return at which times (H, 2) of segments (H,) the poses below are the clip's own, apart from root motion."""
        if self.legs_posed_by is not self.row:
            return np.zeros(times_s.shape, dtype=np.bool_)
        in_window = self.row.windows(times_s.ravel())[0].reshape(times_s.shape) >= 0
        begin_s, end_s = self.row.layout.begin_s[segment, None], self.row.layout.end_s[segment, None]
        return np.asarray(~in_window & (times_s >= begin_s) & (times_s < end_s))

    def _seams(self) -> Seams:
        """Return when segments begin and end, and when the transitions that lead to them play."""
        (segment, turn), layout = self.played, self.row.layout
        later, before = turn * self.duration_s, (turn - (segment == 0)) * self.duration_s
        begin, end = layout.window_begin_s[segment - 1], layout.window_end_s[segment - 1]
        return Seams(layout.begin_s[segment] + later, layout.end_s[segment] + later, begin + before, end + before,
                     (end <= begin) & self._jumps()[segment])

    def _jumps(self) -> BoolArray:
        """Return before which segments (S,) feet jump unless a transition leads there."""
        distinct, number = self._distinct
        segment = np.arange(len(number))
        found = np.zeros(len(segment), dtype=np.bool_)
        for leg in range(len(self.legs)):
            ends = np.array([feet[leg].ends for feet in distinct])[number]
            into = self.root.placed_points(ends[:, 0], segment, np.zeros_like(segment))
            out = self.root.placed_points(ends[segment - 1, 1], segment - 1, -(segment == 0).astype(np.int64))
            if self.warped is not None:
                begin_s = self.row.layout.begin_s
                into, out = self.warped.points(into, begin_s), self.warped.points(out, np.nextafter(begin_s, -np.inf))
            found |= np.linalg.norm(into - out, axis=1) > LITTLE_LEGS * self.legs[0].length(self.skeleton)
        return found

    def lowering(self) -> Lowering:
        """Return the lowering curves, none of them computed yet."""
        layout = self.row.layout
        return Lowering.of(layout.window_begin_s, layout.window_end_s, self.duration_s, self.is_loop)

    @cached_property
    def joints(self) -> Joints:
        """The joints above the feet, in ground coordinates."""
        return Joints.of(self.skeleton, [leg.foot for leg in self.legs]).turned(ground_axes(self.up))

    def around(self, times_s: FloatArray, segment: IntArray,
                kept: Kept | None = None) -> tuple[FloatArray, Floor | None, FloatArray, FloatArray]:
        """Return foot lock weights in height, 0…1, and limits for soles, at times (F,) in segments (F,).

        Also the least heights of knees, (L, F), and the weight of the lowering curve, (F,), 0…1. kept: the effect of
        tweaks on feet.
        """
        around = self._worked_out(times_s, segment)
        upright, share, near, weights = around[:, 0], around[:, 1], around[:, 2], around[:, None, 3:]
        knees = (weights @ self._floors.knees.take(segment, axis=0))[:, 0].T
        if kept is not None:
            share = np.maximum(share, kept.share)
        if not np.count_nonzero(share):
            return upright, None, knees, near
        rise = self._rise(times_s, segment)
        heights = (weights @ self._floors.heights.take(segment, axis=0)).reshape(len(segment), len(self.legs), -1)
        floor = Floor(heights.swapaxes(0, 1), share, rise if kept is None else rise + kept.rise)
        return upright, floor, knees, near

    def near(self, times_s: FloatArray, segment: IntArray) -> FloatArray:
        """Return the weight of the lowering curve at times (F,) in segments (F,), (F,): see around."""
        return np.asarray(self._worked_out(times_s, segment)[:, 2])

    def _worked_out(self, times_s: FloatArray, segment: IntArray) -> FloatArray:
        found = worked_out(_around_transitions, times_s[None, :, None], self._spans.take(segment, axis=0)[None])
        return np.asarray(found[0])

    def _rise(self, times_s: FloatArray, segment: IntArray) -> FloatArray:
        """Return how far sunken feet are raised at times (F,) in segments (F,), (L, F).

        During a transition it blends from one side to the other.
        """
        if not np.count_nonzero(self._sink_nearby.take(segment)):
            return np.zeros((len(self.legs), len(times_s)))
        layout, (seam, into) = self.row.layout, self.row.windows(times_s)
        if not np.count_nonzero(seam >= 0):
            return self._risen(segment, times_s - layout.begin_s.take(segment)).T
        own = np.where(seam < 0, segment, seam)
        later = (own + 1) % len(layout.begin_s)
        wraps = (seam >= 0) & (times_s < layout.window_begin_s.take(own))
        since_s = times_s + wraps * self.duration_s
        one = self._risen(own, since_s - layout.begin_s.take(own))
        other = self._risen(later, since_s - (later <= own) * self.duration_s - layout.begin_s.take(later))
        return np.asarray((one + (other - one) * np.where(seam < 0, 0.0, minimum_jerk(into))[:, None]).T)

    def _risen(self, segment: IntArray, since_s: FloatArray) -> FloatArray:
        """Return how far feet are raised in segments (F,) at times since their beginning, (F, L)."""
        return self._rises.at(self._distinct[1].take(segment), since_s * self._own_per_s.take(segment))

    @cached_property
    def _rises(self) -> Rises:
        """How far feet are raised, for distinct values."""
        distinct, number = self._distinct
        sinks = np.zeros(len(distinct), dtype=np.bool_)
        sinks[number] = self._floors.sinks
        return Rises.of([np.stack([foot.knots * own for foot in feet], axis=1)
                         for feet, own in zip(distinct, sinks.tolist(), strict=True)])

    @cached_property
    def _own_per_s(self) -> FloatArray:
        """Clip seconds per second of each segment, (S,)."""
        return quotient(1.0, self._stretch)

    @cached_property
    def _stretch(self) -> FloatArray:
        """Seconds of each segment per clip second, (S,)."""
        layout = self.row.layout
        return time_stretch(layout.end_s - layout.begin_s, self.row.sequence, self.row.sources.clips)

    @cached_property
    def _sink_nearby(self) -> BoolArray:
        """Whether feet sink into the ground in each segment or its neighbours, (S,)."""
        sinks = self._floors.sinks
        return np.asarray(sinks | np.roll(sinks, 1) | np.roll(sinks, -1))

    @cached_property
    def _spans(self) -> FloatArray:
        """Three instants of each segment, 1 ÷ the duration of what begins there, and whether feet sink, (S, 7).

        The first two bound the time in which it plays alone; before it feet come to the height of footholds, and after
        it they leave it. The former counts backwards. The third is the segment's own beginning.
        """
        layout = self.row.layout
        begin_s, until_s = np.roll(layout.window_end_s, 1), layout.window_begin_s.copy()
        begin_s[0] = begin_s[0] - self.duration_s if self.is_loop else -np.inf
        until_s[-1] = until_s[-1] if self.is_loop else np.inf
        near_per_s = np.full(len(begin_s), 1.0 / SWING_S)
        return np.stack((begin_s, until_s, layout.begin_s, near_per_s, -near_per_s,
                         quotient(1.0, layout.end_s - layout.begin_s), self._floors.sinks), axis=1)

    @cached_property
    def _floors(self) -> _Floors:
        """Limits for soles in the segments."""
        (distinct, number), leg, sure = self._distinct, self.legs[0].length(self.skeleton), self.soles.sure
        rest = self.soles.rest_heights[..., None]
        lowest, raised = (np.array([[getattr(foot, name) for foot in feet] for feet in distinct]).T
                          for name in ("lowest", "raised"))
        sinks = np.array([any(foot.sinks for foot in feet) for feet in distinct]) & self.lifts_sunk
        tilted = lowest.copy()  # at seams soles are rotated as in neither clip: parts that are high at rest stay high
        tilted[:sure] = on_ground(lowest[:sure], rest[:sure], leg)
        dips = (tilted - lowest > ON_LEGS / 2.0 * leg).any(axis=(0, 1)) & self.lifts_sunk
        beside = np.where(dips, np.maximum(tilted, np.where(sinks, raised, lowest)), lowest)
        inside = np.minimum(beside, rest)
        inside[sure:] -= leg  # guessed points do not raise a body
        knees = np.array([[foot.knee for foot in feet] for feet in distinct]).T[None]
        heights, low_knees = (_by_segment(*(low[..., number] + self.row.root.rises for low in lows))
                              for lows in ((beside, inside), (knees, knees)))
        return _Floors(heights, sinks[number], low_knees)

    @property
    def legs_posed_by(self) -> Stage:
        """The stage that poses the legs: arms carry no feet."""
        return self.below.below if isinstance(self.below, Arms) else self.below


class _Floors(NamedTuple):
    """Least heights of soles' points and of knees.

    heights: at the beginning, inside and at the end of each of S segments, (S, 3, L · N). sinks: (S,) whether its feet
    sink into the ground. knees: (S, 3, L) likewise.
    """

    heights: FloatArray
    sinks: BoolArray
    knees: FloatArray


def _by_segment(beside: FloatArray, inside: FloatArray) -> FloatArray:
    """Return the least heights of N points of L feet at the beginning, inside and end of S segments, (S, 3, L·N).

    beside, inside: (N, L, S) those of each clip, near transitions and elsewhere. At a seam the lower one counts.
    """
    out = np.minimum(beside, np.roll(beside, -1, axis=2))
    heights = np.stack((np.roll(out, 1, axis=2), inside, out))
    return heights.transpose(3, 0, 2, 1).copy().reshape(beside.shape[2], 3, -1)


def _around_transitions(time: Sequence[Number], segment: Sequence[Number]) -> Sequence[Number]:
    """Return the foot lock weight in height, and the weights of limits for soles and of the lowering curve, 0…1.

    The height is locked completely during a transition, and fades before and after it. The limits change from those of
    the segment's beginning to those of its end; in between, in a clip whose feet sink into the ground, they are the
    clip's own. The lowering curve is used for longer than the height lock, see lowering.py. segment: see Feet._spans.
    """
    (time_s,), sinks = time, segment[-1]
    away, until, gone = of_each(lambda begin_s, per_s: minimum_jerk((time_s - begin_s) * per_s), segment[:3],
                                segment[3:6])
    upright = 1.0 - away * until
    beside = sinks * (1.0 - upright)
    between = 1.0 - beside
    gone = gone * between
    later, sooner = of_each(lambda begin_s, per_s: minimum_jerk((time_s - begin_s) * per_s - 1.0),
                            segment[:2], segment[3:5])
    return upright, greatest(upright, sinks), 1.0 - later * sooner, between - gone, beside, gone


def ground_level(found: SkeletonMap, up: FloatArray, skin: SkinPoints | None) -> float:
    """Return the height of flat ground along up (3,): that of the soles of a body at rest."""
    legs = legs_of(found)
    return _soles(found, legs, tuple((up / np.linalg.norm(up)).tolist()), skin).level if legs else 0.0


@lru_cache(maxsize=MOST_BODIES)
def _soles(found: SkeletonMap, legs: tuple[Leg, ...], up: tuple[float, ...], skin: SkinPoints | None) -> Soles:
    """Return the soles of a body standing upright at rest; cached for all its motions."""
    own, stands = found.skeleton, stood_up(replace(found, pose=None), np.array(up), skin).skeleton
    if skin is not None and stands is not own and len(own):
        away = stands.rest_world[0, :, :3] @ np.linalg.inv(own.rest_world[0, :, :3])
        way = stands.rest_world[0, :, 3] - away @ own.rest_world[0, :, 3]
        skin = replace(skin, positions=skin.positions @ away.T + way)
    return Soles.of(stands, legs, np.array(up), skin)
