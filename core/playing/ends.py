"""The instants at which clips may be left: near their ends, and beyond them if they continue."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.excerpt import Excerpt
from ..maths.arrays import BoolArray, FloatArray, quotient
from ..skeletons.maps import SkeletonMap
from .feet.grounds import Ground, ground_of
from .feet.legs import legs_of
from .joints import Joints
from .placing.placement import Bearing, Placement
from .placing.root_motion import NO_JOINTS, root_chain
from .placing.rounds import going_round
from .playing import Playing
from .stage import Stage
from .straying import straying_rad
from .transitions.seam_cost import Edges, Seen, kinks

STEP_S: Final = 1.0 / 60.0
"""Of a clip, or of what is played of it, if that is more: so clips that are hurried are not looked at more densely."""
SAME_LIMBS: Final = 0.02
"""A clip that goes round ends at most so far from where it began; on average."""
LEAST_PACE: Final = 0.1
"""Of its own, at both ends: who comes to rest there does not go round."""
MOST_LEAD_S: Final = 2.0
"""Beyond each end."""
MOST_LOOKS: Final = 240
"""Within a clip, to see how smoothly it goes."""
PASSED_OVER_PER_S: Final = 0.002
"""What it costs to pass over a second of a clip, or to show one besides, in limbs: nobody does it for nothing."""
_ROUNDING: Final = 1e-9
MOST_ROUND: Final = 0.5
"""Of a clip that goes round, either way: so it may begin, or end, anywhere."""
Piece = Clip | Excerpt | Stage


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of C pieces.

    parts: the pieces as parts of what they might show, None for stages; rough: cost of continuing beyond their ends,
    in limbs; is_open: (C,) those that may be left elsewhere.
    window_s: greatest distance from their ends, in played seconds; most_skipped: the same as a share of each, except
    for cyclic clips.
    """

    pieces: list[Piece]
    parts: tuple[Excerpt | None, ...]
    rough: tuple[float, ...]
    is_open: BoolArray
    window_s: float
    most_skipped: float
    goes_on: bool
    view: _Look
    known: dict[tuple[int, int, float, bool], Edges]

    @classmethod
    def of(cls, pieces: list[Piece], window_s: float, most_skipped: float, body: SkeletonMap, playing: Playing, *,
           goes_on: bool) -> Ends:
        """Return the ends of pieces on the skeleton of body; goes_on: whether they may be left beyond their ends."""
        view = _Look.of(pieces, body, playing)
        parts, rough = zip(*(view.part(piece, MOST_ROUND if goes_on else 0.0) for piece in pieces), strict=True)
        is_open = np.array([part is not None and part.duration_s > 0.0 for part in parts])
        return cls(pieces, parts, rough, is_open, window_s, most_skipped, goes_on, view, {})

    def edges(self, number: int, stretch: float, *, is_end: bool) -> Edges:
        """Return the poses of a piece at its end, or at its beginning, and near it; that of the end itself first.

        stretch: played seconds of one of its own seconds.
        """
        part = self.parts[number]
        assert part is not None
        share, step_s = (MOST_ROUND if part.goes_round else self.most_skipped), STEP_S * max(1.0, 1.0 / stretch)
        steps = int(min(self.window_s / stretch, part.duration_s * share) / step_s + _ROUNDING)
        key = number, steps, step_s, is_end
        if key not in self.known:
            room_s = part.begin_s if is_end == part.is_reversed else part.whole.duration_s - part.end_s
            beyond = min(steps, int(room_s / step_s + _ROUNDING)) if self.goes_on else 0
            away = np.arange(-beyond, steps + 1)
            skips = np.asarray(away[np.lexsort((away < 0, np.abs(away)))] * step_s, dtype=np.float64)
            self.known[key] = self.view.edges(self.pieces[number], part, skips, self.rough[number], is_end)
        return self.known[key]

    def skipping(self, number: int, first_s: float, last_s: float) -> Piece:
        """Return a piece that leaves out these times at its ends, or continues beyond them if they are negative."""
        part = self.parts[number]
        if part is None or first_s == last_s == 0.0:
            return self.pieces[number]
        return replace(part, skips_s=(first_s, last_s))


@dataclass(frozen=True)
class _Look:
    """The options of a comparison; key: distinguishes them from others."""

    key: tuple[object, ...]
    seen: Seen = field(compare=False)
    asked: Joints = field(compare=False)
    bearing: Bearing | None = field(compare=False)
    playing: Playing = field(compare=False)

    @classmethod
    def of(cls, pieces: list[Piece], body: SkeletonMap, playing: Playing) -> _Look:
        clips = [piece.whole if isinstance(piece, Excerpt) else piece for piece in pieces
                 if isinstance(piece, Clip | Excerpt)]
        chain = root_chain(clips, playing.followers, body) if clips else NO_JOINTS
        has_frame = playing.root_motion != "AS_AUTHORED" and len(chain) > 0
        seen, style = Seen.of(body), playing.style
        key = (seen.joints.tobytes(), seen.sizes.tobytes(), chain.tobytes(), playing.up.tobytes(), playing.root_motion,
               style.interpolation, style.translation)
        return cls(key, seen, Joints.of(body.skeleton, seen.joints.tolist()),
                   Bearing(body.skeleton, chain, playing.up) if has_frame else None, playing)

    def part(self, piece: Piece, share: float) -> tuple[Excerpt | None, float]:
        """Return a piece as a part of all that it might show, and its roughness where it repeats.

        A cyclic clip is extended by that share at each end; a stage has no part.
        """
        if not isinstance(piece, Clip):
            return (piece if isinstance(piece, Excerpt) else None), 0.0
        return piece.derived(_part_of, self, share)

    def roughness(self, part: Excerpt) -> float | None:
        """Return how much rougher the step from a clip's end to its beginning is than any within, in limbs.

        None if it is not cyclic: it ends in another pose, or comes to rest there.
        """
        length_s = part.duration_s
        if length_s < 4.0 * STEP_S:
            return None
        (last, at_last), (first, at_first) = (self._at(part, np.array((at_s,)), step_s)
                                              for at_s, step_s in ((length_s, -STEP_S), (0.0, STEP_S)))
        if float(np.linalg.norm(last - first, axis=-1).mean()) > SAME_LIMBS:
            return None
        times = np.linspace(STEP_S, length_s - STEP_S, min(int(length_s / STEP_S), MOST_LOOKS))
        (_, back), (_, ahead) = (self._at(part, times, step_s) for step_s in (-STEP_S, STEP_S))
        pace = float(np.median(_speeds(ahead)))
        if pace <= 0.0 or min(float(_speeds(each)[0]) for each in (at_last, at_first)) < LEAST_PACE * pace:
            return None
        within = float(kinks(np.zeros_like(ahead), back - ahead).max())
        return max(float(kinks(last - first, at_last - at_first)[0]) - within, 0.0)

    def edges(self, piece: Piece, part: Excerpt, skips: FloatArray, rough: float, is_end: bool) -> Edges:
        """Return the poses of a part that leaves out times (N,) at its end, or at its beginning.

        rough: additional cost of negative times.
        """
        times = np.asarray(part.duration_s - skips if is_end else skips)
        astray_rad = 0.0
        if self.playing.root_motion == "ALONG" and self.playing.body is not None:
            clip = piece if isinstance(piece, Clip) else part.keyed
            astray_rad = straying_rad(clip, self.playing.body.joint_of, at_end=is_end)
        points, velocities = self._at(part, times, -STEP_S if is_end else STEP_S, astray_rad, self._ground(piece))
        besides = np.where(skips < 0.0, rough, 0.0) + PASSED_OVER_PER_S * np.abs(skips)
        return Edges(skips, points, velocities, _planted(part, times), besides)

    def _ground(self, piece: Piece) -> Ground | None:
        """Return the ground of a piece if it climbs, and is played from the end of the previous one."""
        playing, style = self.playing, self.playing.style
        if self.bearing is None or playing.body is None or playing.root_motion == "IN_PLACE":
            return None
        return ground_of(piece, legs_of(playing.body), playing.up, (style.interpolation, style.translation))

    def _at(self, part: Excerpt, times_s: FloatArray, step_s: float, astray_rad: float = 0.0,
            ground: Ground | None = None) -> tuple[FloatArray, FloatArray]:
        """Return positions and velocities (N, P, 3) at times (N,), also beyond the ends, in limbs.

        step_s: time over which velocities are measured, from each time on. They are in the frame of the root at
        that time, turned by astray_rad, above the ground at that time.
        """
        style, own = self.playing.style, part.own_times(np.concatenate((times_s, times_s + step_s)))
        pose, count = part.whole.sample(own, style.interpolation, style.translation), len(times_s)
        points = self.asked.positions(pose)
        if self.bearing is not None:
            at = self.bearing.placement(pose.at(slice(count)))
            yaw_rad = np.zeros(count) if self.playing.root_motion == "IN_PLACE" else at.yaw_rad + astray_rad
            at = Placement(np.tile(yaw_rad, 2), np.tile(at.shift, 2))
            points = self.bearing.in_frame(points, at)
            if ground is not None:
                points[..., 0] -= np.tile(ground.at(pose.at(slice(count))), 2)[:, None]
        points = points / self.seen.sizes[:, None]
        moved_s = np.diff(own.reshape(2, -1).clip(0.0, part.whole.duration_s), axis=0)[0]
        return points[:count], np.sign(step_s) * (points[count:] - points[:count]) * quotient(
            1.0, np.abs(moved_s))[:, None, None]


def _part_of(clip: Clip, look: _Look, share: float) -> tuple[Excerpt, float]:
    part = Excerpt(clip, 0.0, clip.duration_s)
    rough = look.roughness(part) if share > 0.0 else None
    if rough is None:
        return part, 0.0
    return going_round(clip, min(share * clip.duration_s, MOST_LEAD_S), look.bearing), rough


def _speeds(velocities: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(velocities, axis=-1).mean(axis=-1))


def _planted(part: Excerpt, times_s: FloatArray) -> BoolArray:
    """Return whether each foot is in contact at times (N,), (N, 2); false if contacts are unknown."""
    spans, own = [(part.whole.contacts or {}).get(side) for side in "lr"], part.own_times(times_s)
    return np.stack([np.zeros(len(own), dtype=np.bool_) if each is None else
                     ((own[:, None] >= each.stands[:, 0]) & (own[:, None] <= each.stands[:, 1])).any(axis=1)
                     for each in spans], axis=1)
