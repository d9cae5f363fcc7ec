"""Instants at which a clip may begin or end: near its ends; beyond them if it is cyclic or part of a longer clip."""

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
"""Spacing of the instants, in seconds of the clip or in played seconds, whichever is coarser."""
SAME_LIMBS: Final = 0.02
"""Mean distance of the joints, in limb lengths, up to which a clip's last pose equals its first: it may be cyclic."""
LEAST_PACE: Final = 0.1
"""Least speed at both ends of a cyclic clip, as a share of its median speed; clips that come to rest are not cyclic."""
MOST_LEAD_S: Final = 2.0
"""Longest continuation of a cyclic clip beyond each end."""
MOST_LOOKS: Final = 240
"""Greatest number of instants at which a clip's own smoothness is measured."""
PASSED_OVER_PER_S: Final = 0.002
"""Cost, in limb lengths, of skipping or adding a second of a clip, so that only better seams are moved."""
_ROUNDING: Final = 1e-9
MOST_ROUND: Final = 0.5
"""Share of a cyclic clip that may be skipped or added at each end, so that it may begin or end anywhere."""
Piece = Clip | Excerpt | Stage


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of C pieces.

    parts: each piece as an excerpt of all that it may show, None for stages. rough: cost of continuing beyond the
    piece's end, in limb lengths. is_open: (C,) which pieces may be left elsewhere than at their ends. window_s:
    greatest distance from the ends, in played seconds. most_skipped: greatest share skipped of each piece, except of
    cyclic clips. goes_on: whether pieces may be left beyond their ends. known: cache of `edges`.
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
        """Return the poses of a piece near its end, or near its beginning; the first is that at the end itself.

        stretch: played seconds per second of the piece.
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
        """Return a piece without these seconds at its ends; negative ones continue it beyond its ends."""
        part = self.parts[number]
        if part is None or first_s == last_s == 0.0:
            return self.pieces[number]
        return replace(part, skips_s=(first_s, last_s))


@dataclass(frozen=True)
class _Look:
    """How poses are compared at seams: joints, root and settings. key: equal for equal ones."""

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
        """Return a piece as an excerpt of all that it may show, and its roughness where it repeats.

        share: how far a cyclic clip is extended at each end. The excerpt is None for stages.
        """
        if not isinstance(piece, Clip):
            return (piece if isinstance(piece, Excerpt) else None), 0.0
        return piece.derived(_part_of, self, share)

    def roughness(self, part: Excerpt) -> float | None:
        """Return how much rougher the step from a clip's end to its beginning is than any step within it.

        The unit is the limb length. None if the clip is not cyclic: it ends in another pose, or comes to rest.
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
        """Return the poses of a part without the last, or the first, `skips` (N,) seconds.

        rough: additional cost of negative ones.
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
        """Return the ground of a piece that climbs, if clips continue where the one before ended; else None."""
        playing, style = self.playing, self.playing.style
        if self.bearing is None or playing.body is None or playing.root_motion == "IN_PLACE":
            return None
        return ground_of(piece, legs_of(playing.body), playing.up, (style.interpolation, style.translation))

    def _at(self, part: Excerpt, times_s: FloatArray, step_s: float, astray_rad: float = 0.0,
            ground: Ground | None = None) -> tuple[FloatArray, FloatArray]:
        """Return positions and velocities (N, P, 3) at times (N,), also beyond the ends, in limb lengths.

        They are in the root's frame at each time, turned by astray_rad, and above the ground at that time. step_s: time
        over which velocities are measured, from each time on; negative: backwards.
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
