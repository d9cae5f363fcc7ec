"""A row: segments one after another, joined by transitions."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..clips.clip import Clip
from ..clips.excerpt import Excerpt
from ..errors import Problem
from ..maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ..pha.sequence import Sequence
from ..skeletons.skeleton import Pose, Skeleton
from .held import Held
from .placing.root_motion import RootMotion
from .playing import Playing
from .prepared import Prepared
from .sides import Sides
from .sources import Sources
from .stage import FIRST_ROUND, Instants, Stage
from .transitions.blending import KnownOffsets, Offsets, Style, blend_over
from .transitions.carrying import carried_over
from .transitions.curves import CURVES, PACES
from .transitions.decay import Decay
from .transitions.methods import TRANSITION_METHODS, Layout, TransitionMethod
from .transitions.seams import far_turns, fit_transitions, shortened, time_stretch


class _Pieces(NamedTuple):
    """N + 1 pieces of a row; segments and transition windows begin and end only at their edges.

    begin_s: (N,) when each piece after the first begins. segment: (N + 1,) which segment plays. seam: (N + 1,) the seam
    in whose window the piece lies, −1 for none. wraps: (N + 1,) whether that window began in the loop's round before.
    """

    begin_s: FloatArray
    segment: IntArray
    seam: IntArray
    wraps: BoolArray


@dataclass(frozen=True, eq=False)
class Row:
    """The second stage: segments joined by transitions.

    sequence: its S segments, as the score calls them. prepared: the clips that they index. style: how clips and
    transitions are blended. layout: when each clip and each transition plays. sides: poses and speeds on both sides of
    each seam. problems: warnings and notes. known_offsets: the offsets that transitions add, computed on demand.
    sampled: replaces the prepared sources in rows of only some joints.
    """

    sequence: Sequence
    prepared: Prepared
    style: Style
    layout: Layout
    sides: Sides
    problems: tuple[Problem, ...]
    known_offsets: KnownOffsets
    sampled: Sources | None = None

    @classmethod
    def of(cls, sequence: Sequence, played: SequenceOf[Clip | Excerpt | Stage], playing: Playing,
           seen: Callable[[FloatArray], FloatArray] | None = None) -> Row:
        """Lay out segments and find the transitions between them.

        played: the clips and stages that sequence.clip indexes. seen: turns the row's times into those that warnings
        name; None if the row plays within another, so that warnings name none. Errors: see compose.
        """
        style, prepared = playing.style, Prepared.of(played, playing)
        sources, ends, automatic = prepared.sources, prepared.ends, prepared.automatic
        clips, method = sources.clips, TRANSITION_METHODS[style.method]
        held = Held(sequence.clip, ends.moved, sequence.is_loop)
        fitted = fit_transitions(sequence, clips, ends, held, method, automatic.lengths_s)
        transitions_s = fitted.lengths_s
        layout = method.lay_out(sequence.length_s, transitions_s)
        root = RootMotion(prepared.rooted, sequence.clip, transitions_s if sequence.is_loop else None)
        seen_s = None if seen is None else seen(layout.end_s)
        problems = (*far_turns(sequence, sources.skeleton, fitted.far, seen_s, playing.skin),
                    *shortened(sequence, fitted, method, seen_s))
        tempo = quotient(1.0, time_stretch(layout.end_s - layout.begin_s, sequence, clips))
        sides = Sides(sequence, ends, held, root, automatic, tempo, playing.limits)
        return cls(sequence, prepared, style, layout, sides, problems, KnownOffsets(len(sequence)))

    def own_s(self, first: int, after: int) -> float:
        """Return the seconds that segments from `first` up to the one before `after` take at their clips' own speed."""
        return float(self.sources.durations_s[self.sequence.clip[first:after]].sum())

    @property
    def sources(self) -> Sources:
        """The clips and stages that its segments play."""
        return self.prepared.sources

    def of_joints(self, joints: BoolArray) -> Row:
        """Return a row whose poses are right only for some joints (J,), which is faster."""
        freed = self.sides.root.clips.freed
        if freed is not None and joints[freed.chain].any():
            joints = joints.copy()
            joints[freed.chain] = True
        return replace(self, sampled=replace(self.sources, sampled=joints))

    @property
    def skeleton(self) -> Skeleton:
        """Whose joints it moves."""
        return self.sources.skeleton

    @property
    def duration_s(self) -> float:
        """Duration in seconds; of one round, for a loop."""
        return self.layout.duration_s

    @property
    def is_loop(self) -> bool:
        """Whether the first segment follows the last."""
        return self.sequence.is_loop

    @property
    def root(self) -> RootMotion:
        """Its root motion."""
        return self.sides.root

    @property
    def method(self) -> TransitionMethod:
        """The method that places transitions."""
        return TRANSITION_METHODS[self.style.method]

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        return np.asarray(self.sources.moved.any(axis=0))

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses at times (F,) within 0…duration_s; see Stage.

        Outside transition windows each joint that the clip moves has the clip's own pose. The others hold the pose that
        they had last.
        """
        pieces, root = self._pieces, self.sides.root
        at = pieces.begin_s.searchsorted(times_s, side="right")
        segment, seam, wraps = pieces.segment.take(at), pieces.seam.take(at), pieces.wraps.take(at)
        pose = self._clip_poses(segment, times_s)
        inside = (seam >= 0).nonzero()[0]
        if self.method.adds_offsets:
            if len(inside):
                self._offset(pose, inside, seam[inside], (times_s + wraps * self.duration_s)[inside])
            root.place_segments(pose, segment, rounds)
        else:
            root.place_segments(pose, segment, rounds)
            pose = _changed(pose, inside, lambda own: self._blend(own, seam[inside],
                                                                  (times_s + wraps * self.duration_s)[inside],
                                                                  (rounds - wraps)[inside]))
        return self._bound(pose)

    def segment_at(self, times_s: FloatArray) -> IntArray:
        """Return the segments that play at times (F,); the first one for earlier times."""
        return self.layout.begin_s[1:].searchsorted(times_s, side="right")

    def windows(self, times_s: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return for times (F,) the seam in whose window each lies, −1 for none, and its position there, 0…1."""
        at = self._pieces.begin_s.searchsorted(times_s, side="right")
        seam, times = self._pieces.seam[at], times_s + self._pieces.wraps[at] * self.duration_s
        begin, end = self.layout.window_begin_s[seam], self.layout.window_end_s[seam]
        return seam, np.clip(quotient(times - begin, end - begin), 0.0, 1.0)

    def seam_at(self, times_s: FloatArray) -> IntArray:
        """Return for times (F,) the seam in whose window each lies, −1 for none."""
        return self._pieces.seam.take(self._pieces.begin_s.searchsorted(times_s, side="right"))

    def held_by(self, joints: IntArray) -> list[bytes]:
        """Return bytes for each of S segments; they are equal where joints (N,) hold poses of the same clips."""
        held = self.sides.held.after(np.arange(len(self.sequence)))[:, joints]
        held[self.sides.ends.moved[self.sequence.clip][:, joints]] = -1
        return [row.tobytes() for row in held]

    def plays_as_it_is(self, clip: int, joints: IntArray) -> bool:
        """Return whether joints (N,) have a clip's own poses in its segments, apart from root motion."""
        return (clip not in self.sources.stages and clip not in self.sources.excerpts
                and bool(self.sides.ends.moved[clip, joints].all()) and self.sides.root.clips.leaves(clip))

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return the times of edges, jumps and keys; see Stage."""
        layout = self.layout
        edges = np.unique(np.concatenate((layout.begin_s, layout.end_s, layout.window_begin_s, layout.window_end_s)))
        edges = edges[(edges > 0.0) & (edges < self.duration_s)] * per_s
        jumps = layout.end_s[layout.window_end_s <= layout.window_begin_s] * per_s
        begin, end = layout.begin_s * per_s, layout.end_s * per_s
        inner = []
        for number, clip in enumerate(self.sources.clips):
            segments = np.flatnonzero(self.sequence.clip == number)
            if not len(segments) or clip.duration_s <= 0.0:
                continue
            own = self.sources.instants(number)
            sparse = segments[(end - begin)[segments] * densest >= len(own.keys)]
            inner.append([
                (begin[which, None] + (end - begin)[which, None] * shares[(shares > 0.0) & (shares < 1.0)]).ravel()
                for which, shares in ((segments, own.edges), (segments, own.jumps), (sparse, own.keys))])
        found = ([found[kind] for found in inner] for kind in range(3))
        return Instants(*(np.concatenate([own, *more]) for own, more in
                          zip((edges, jumps, np.zeros(0)), found, strict=True)))

    def _clip_poses(self, segment: IntArray, times_s: FloatArray) -> Pose:
        """Return the poses of segments (F,) at times (F,) without transitions; unmoved joints hold their last pose."""
        own_times_s = (times_s - self.layout.begin_s.take(segment)) * self.sides.tempo.take(segment)
        clip = self.sequence.clip.take(segment)
        return self._unplaced(segment, np.minimum(own_times_s, self.sources.durations_s.take(clip)))

    def unplaced(self, segment: IntArray, own_times_s: FloatArray) -> Pose:
        """Return the poses of segments (F,) at their clips' own times (F,), before root motion handling."""
        return self._bound(self._unplaced(segment, own_times_s))

    def _bound(self, pose: Pose) -> Pose:
        """Return poses with the root again a descendant of the bone that carries it; root motion handles it apart."""
        if (freed := self.sides.root.clips.freed) is not None:
            freed.bind(pose)
        return pose

    def _unplaced(self, segment: IntArray, own_times_s: FloatArray) -> Pose:
        clip = self.sequence.clip.take(segment)
        pose = (self.sampled or self.sources).sample(clip, own_times_s)
        if (freed := self.sides.root.clips.freed) is not None:
            freed.free(pose)
        self.sides.root.clips.prepare(pose, clip)
        self.sides.hold(pose, segment)
        return pose

    @cached_property
    def _pieces(self) -> _Pieces:
        """Pieces in which one segment plays, in one seam's window or in none."""
        layout = self.layout
        away = np.stack((layout.window_begin_s, layout.window_end_s))
        into = np.roll(away, 1, axis=1)
        into[:, :1] = into[:, :1] - self.duration_s if self.is_loop else -np.inf
        begin_s = np.unique(np.concatenate((layout.begin_s[1:], away.ravel(), into[:, 0])))
        begin_s = begin_s[np.isfinite(begin_s)]
        times_s = np.append(-np.inf, begin_s)
        segment = self.segment_at(times_s)
        (into_begin, into_end), (out_begin, out_end) = into[:, segment], away[:, segment]
        entering = (times_s >= into_begin) & (times_s < into_end)
        leaving = (times_s >= out_begin) & (times_s < out_end)
        seam = np.where(entering, (segment - 1) % len(self.sequence), np.where(leaving, segment, -1))
        return _Pieces(begin_s, segment, seam, entering & (segment == 0))

    def _blend(self, pose: Pose, seam: IntArray, times_s: FloatArray, rounds: IntArray) -> Pose:
        """Blend the transitions after segments (W,) into poses (W, J, …)."""
        seams, at = seam, np.arange(len(seam))
        if len(seam) > 1:  # neighbouring frames share a seam: look up its sides once
            _, first, at = np.unique(seam + rounds * len(self.sequence), return_index=True, return_inverse=True)
            seams, rounds = seam[first], rounds[first]
        crossing = self.sides.crossing(seams, rounds)
        begin, end = self.layout.window_begin_s, self.layout.window_end_s
        is_shared = self.style.joint_time == "SHARED"
        if is_shared and self.method.shape == "ALONE" and PACES[self.style.pace].is_carried:
            return carried_over(crossing, at, times_s - begin[seam], (end - begin)[seam])
        share = (times_s - begin[seam]) / (end[seam] - begin[seam])
        own = None if is_shared else self.sides.joint_shares(seams, crossing)[at]
        is_after = times_s >= self.layout.end_s[seam]
        return blend_over(pose, crossing, at, is_after, self.style.progress(share, own), self.style.weight(share),
                          self.style.interpolation)

    def _offset(self, pose: Pose, frames: IntArray, seam: IntArray, times_s: FloatArray) -> None:
        """Add the seam offsets after segments (W,) to frames (W,) of clip poses (F, J, …)."""
        found, at = self.known_offsets.around(self._alike.take(seam), self._offsets)
        self.sides.differing.add(pose, frames, found.vectors(at, times_s - self.layout.end_s.take(seam),
                                                             CURVES[self.style.curve].rise))

    def _offsets(self, seams: IntArray) -> Offsets:
        """Return the offsets around different seams (N,)."""
        before_s, after_s = self._reach_s[:, seams]
        found = self.sides.inertialization(seams, before_s, after_s, CURVES[self.style.curve].slope)
        return Decay.of(found) if self.method.shape == "DECAY" else found

    @cached_property
    def _alike(self) -> IntArray:
        """For each seam the first seam with equal offsets, (S,)."""
        return self.sides.alike(*self._reach_s)

    @cached_property
    def _reach_s(self) -> FloatArray:
        """Seconds that the transition after each segment lasts before and after the seam, (2, S)."""
        layout = self.layout
        return np.stack((layout.end_s - layout.window_begin_s, layout.window_end_s - layout.end_s))


def _changed(pose: Pose, frames: IntArray, change: Callable[[Pose], Pose]) -> Pose:
    """Change frames (W,) of poses (F, J, …), and return the poses. If these are all frames, no pose is copied."""
    if len(frames):
        if len(frames) == len(pose.rotations):
            return change(pose)
        changed = change(pose.at(frames))
        pose.rotations[frames], pose.translations[frames], pose.scales[frames] = (
            changed.rotations, changed.translations, changed.scales)
    return pose
