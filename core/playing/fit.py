"""Where one clip is left for the next: at their ends, or at a pair of instants near them that fits better.

The seam stays where the score has it. What moves is which instant of each clip is shown there: a clip passes over what
lies beyond (clips/excerpt.py), and a little away from the seam everything is where it was. All pairs of instants within
the windows of both clips are tried, and the one that costs least is taken (transitions/seam_cost.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.excerpt import Excerpt
from ..errors import Problem, TaktError
from ..maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ..pha.sequence import Sequence
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose
from .blocks import Playing
from .joints import Joints
from .placement import Bearing, Placement
from .root_motion import NO_JOINTS, root_chain
from .stage import Stage
from .straying import straying_rad
from .transitions.seam_cost import Edges, Seen, seam_costs
from .transitions.seams import time_stretch

STEP_S: Final = 1.0 / 60.0
SEARCH_S: Final = 0.5
IN_PLACE_TICKS: Final = 0.25
LEAST_GAIN: Final = 0.1
"""Pairs that cost hardly less than the clips' own ends are not worth it."""
MOST_SKIPPED: Final = 1.0 / 6.0
"""Of a clip, at each end."""
MOST_PIECES: Final = 1_000
_ROUNDING: Final = 1e-9
Piece = Clip | Excerpt | Stage


@dataclass(frozen=True)
class Fit:
    """A way to choose where clips are left.

    window_s: from the tick's seconds to how far from their ends, seconds. most_skipped: of a clip, at each end.
    """

    identifier: str
    label: str
    description: str
    window_s: Callable[[float], float]
    most_skipped: float = MOST_SKIPPED


FITS: dict[str, Fit] = {fit.identifier: fit for fit in (
    Fit("AUTHORED", "Authored", "Each clip is played from its beginning to its end", lambda tick_s: 0.0),
    Fit("IN_PLACE", "In Place", "Up to a quarter of a tick of a clip is passed over at a seam where the next one fits "
        "better. The seam stays on its tick, and a tick further on everything is where it was",
        lambda tick_s: IN_PLACE_TICKS * tick_s),
    Fit("SEARCH", "Search", "Up to half a second of a clip is passed over at a seam where the next one fits better. "
        "The seam stays on its tick; for up to two seconds around it the clips are played a little more slowly",
        lambda tick_s: SEARCH_S),
)}


def fit_named(identifier: str) -> Fit:
    """Look up a fit; raise TaktError naming those there are."""
    if identifier not in FITS:
        raise TaktError(f"there is no fit {identifier!r}; there are {', '.join(FITS)}")
    return FITS[identifier]


@dataclass(frozen=True, eq=False)
class Cuts:
    """What was found for the seams after S segments.

    tried: (S,) pairs of instants, 0 where none were to be tried. authored, found: (S,) what the clips' own ends cost,
    and what is played, in limbs. skips_s: (S, 2) how much of the clip before is passed over, and of the one after.
    """

    tried: IntArray
    authored: FloatArray
    found: FloatArray
    skips_s: FloatArray


def fit_seams(sequence: Sequence, pieces: list[Piece], fit: Fit, tick_s: float, body: SkeletonMap,
           playing: Playing) -> tuple[Sequence, list[Piece], Cuts | None, tuple[Problem, ...]]:
    """Return the same segments over pieces that are left where they fit, what was found, and what is to be said.

    What was found is None where nothing was searched.
    pieces: what sequence.clip indexes, on the skeleton of body. Stages are left as they are, and so are seams that the
    score has without a transition: clips that were made for each other.
    """
    window_s = fit.window_s(tick_s)
    if window_s <= 0.0:
        return sequence, pieces, None, ()
    search = _Search.of(pieces, window_s, fit.most_skipped, body, playing)
    count = len(sequence)
    cuts = Cuts(np.zeros(count, dtype=np.int64), np.zeros(count), np.zeros(count), np.zeros((count, 2)))
    stretch = time_stretch(sequence.length_s, sequence, pieces)
    known: dict[tuple[int, int, float, float], tuple[int, float, float, float, float]] = {}
    for seam in range(count if sequence.is_loop else count - 1):
        later = (seam + 1) % count
        sides = int(sequence.clip[seam]), int(sequence.clip[later])
        if sequence.transition_s[seam] == 0.0 or not all(search.is_open[list(sides)]):
            continue
        key = *sides, round(float(stretch[seam]), 9), round(float(stretch[later]), 9)
        if key not in known:
            known[key] = search.best(*sides, float(stretch[seam]), float(stretch[later]))
        cuts.tried[seam], cuts.authored[seam], cuts.found[seam], *cuts.skips_s[seam] = known[key]
    before = np.roll(cuts.skips_s[:, 1], 1)
    parts, at = np.unique(np.column_stack((sequence.clip, before, cuts.skips_s[:, 0])), axis=0, return_inverse=True)
    if len(parts) > MOST_PIECES + len(pieces):
        return sequence, pieces, None, (Problem(f"Fit: found {len(parts)} different parts of clips, expected at most "
                                                f"{MOST_PIECES}; the clips' ends are left as authored",
                                                is_warning=True),)
    changed = [_skipping(pieces[int(piece)], float(first), float(last)) for piece, first, last in parts]
    names = tuple(sequence.clips[int(piece)] for piece in parts[:, 0])
    return sequence.with_clips(names, at.reshape(-1).astype(np.int64)), changed, cuts, ()


def _skipping(piece: Piece, first_s: float, last_s: float) -> Piece:
    if not isinstance(piece, Clip | Excerpt) or first_s == last_s == 0.0:
        return piece
    if isinstance(piece, Clip):
        return Excerpt(piece, 0.0, piece.duration_s, skips_s=(first_s, last_s))
    return Excerpt(piece.whole, piece.begin_s, piece.end_s, piece.is_reversed, (first_s, last_s))


@dataclass(frozen=True, eq=False)
class _Search:
    """Where C pieces might be left: is_open: (C,) those that may be; window_s: in seconds as they are played."""

    pieces: list[Piece]
    window_s: float
    most_skipped: float
    is_open: BoolArray
    seen: Seen
    asked: Joints
    bearing: Bearing | None
    playing: Playing
    known: dict[tuple[int, int, int], Edges]

    @classmethod
    def of(cls, pieces: list[Piece], window_s: float, most_skipped: float, body: SkeletonMap,
           playing: Playing) -> _Search:
        """Choose what is looked at."""
        clips = [piece.whole if isinstance(piece, Excerpt) else piece for piece in pieces
                 if isinstance(piece, Clip | Excerpt)]
        chain = root_chain(clips, playing.followers) if clips else NO_JOINTS
        has_frame = playing.root_motion != "AS_AUTHORED" and len(chain) > 0
        seen = Seen.of(body)
        is_open = np.array([isinstance(piece, Clip | Excerpt) and piece.duration_s > 0.0 for piece in pieces])
        return cls(pieces, window_s, most_skipped, is_open, seen, Joints.of(body.skeleton, seen.joints.tolist()),
                   Bearing(body.skeleton, chain, playing.up) if has_frame else None, playing, {})

    def best(self, before: int, after: int, before_stretch: float,
             after_stretch: float) -> tuple[int, float, float, float, float]:
        """Return how many pairs were tried, what the ends cost and what was found, and what is passed over for it."""
        out = self._edges(before, before_stretch, is_end=True)
        into = self._edges(after, after_stretch, is_end=False)
        costs = seam_costs(out, into, 1.0 / before_stretch, 1.0 / after_stretch)
        row, column = np.unravel_index(int(np.argmin(costs)), costs.shape)
        if costs[row, column] > (1.0 - LEAST_GAIN) * costs[0, 0]:
            row, column = np.intp(0), np.intp(0)
        return (costs.size, float(costs[0, 0]), float(costs[row, column]),
                self.pieces[before].duration_s - float(out.times_s[row]), float(into.times_s[column]))

    def _edges(self, number: int, stretch: float, *, is_end: bool) -> Edges:
        """Return what a piece shows at its end and before, or at its beginning and after; the end itself first."""
        piece = self.pieces[number]
        assert isinstance(piece, Clip | Excerpt)
        steps = int(min(self.window_s / stretch, piece.duration_s * self.most_skipped) / STEP_S + _ROUNDING)
        key = number, is_end, steps
        if key not in self.known:
            self.known[key] = self._looked_at(piece, steps, is_end)
        return self.known[key]

    def _looked_at(self, piece: Clip | Excerpt, steps: int, is_end: bool) -> Edges:
        style, away = self.playing.style, np.minimum(np.arange(steps + 2) * STEP_S, piece.duration_s)
        times = piece.duration_s - away if is_end else away
        pose = piece.sample(times, style.interpolation, style.translation)
        astray_rad = 0.0
        if self.playing.root_motion == "ALONG" and self.playing.body is not None:
            clip = piece if isinstance(piece, Clip) else piece.keyed
            astray_rad = straying_rad(clip, self.playing.body.joint_of, at_end=is_end)
        here, beside = (each / self.seen.sizes[:, None] for each in self._framed(pose, astray_rad))
        per_s = quotient(1.0, np.abs(np.diff(times)))[:, None, None] * (1.0 if is_end else -1.0)
        return Edges(times[:-1], here, (here - beside) * per_s, _planted(piece, times[:-1]))

    def _framed(self, pose: Pose, astray_rad: float) -> tuple[FloatArray, FloatArray]:
        """Return what is seen in poses (N + 1, J, …) but the last, and but the first, (N, P, 3) both.

        They are laid over each other as at seams: in the frame that the root has in the former, turned by astray_rad.
        """
        points = self.asked.positions(pose)
        if self.bearing is None:
            return points[:-1], points[1:]
        at = self.bearing.placement(pose)
        if self.playing.root_motion == "IN_PLACE":
            points = self.bearing.in_frame(points, Placement(np.zeros_like(at.yaw_rad), at.shift))
            return points[:-1], points[1:]
        at = Placement(at.yaw_rad[:-1] + astray_rad, at.shift[:-1])
        return self.bearing.in_frame(points[:-1], at), self.bearing.in_frame(points[1:], at)


def _planted(piece: Clip | Excerpt, times_s: FloatArray) -> BoolArray:
    """Return whether each foot is planted at times (N,), (N, 2); none where nobody has looked."""
    spans = [(piece.contacts or {}).get(side) for side in "lr"]
    return np.stack([np.zeros(len(times_s), dtype=np.bool_) if each is None else
                     ((times_s[:, None] >= each.stands[:, 0]) & (times_s[:, None] <= each.stands[:, 1])).any(axis=1)
                     for each in spans], axis=1)
