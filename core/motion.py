"""Motion: a sequence of segments with its clips and transitions, which can be sampled at any instant."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass

import numpy as np

from . import rotations as rot
from .arrays import BoolArray, FloatArray, IntArray
from .clip import Clip, Interpolation
from .errors import Problem, TaktError
from .held import Held
from .pha.sequence import Sequence
from .root_motion import ROOT_MODES, Placement, Root, RootMode, Travel, root_joint
from .skeleton import Pose, Skeleton
from .transitions.curves import curve_named
from .transitions.methods import Layout, Method, method_named
from .transitions.seams import Ends, fit_transitions


@dataclass(frozen=True, eq=False)
class Motion:
    """What a character does from 0 to duration_s; made by compose() or score.perform().

    sequence: its S segments, as the score says; clips: those that the segments index.
    transitions_s: (S,) how long the transition after each segment plays, limited to what the method allows.
    layout: when each clip and each transition plays.
    problems: warnings; unmatched: joints without counterpart, when clips came from other skeletons.
    """

    skeleton: Skeleton
    sequence: Sequence
    clips: tuple[Clip, ...]
    method: Method
    layout: Layout
    problems: tuple[Problem, ...]
    _weight: Weighting
    _ends: Ends
    _held: Held
    _root: RootWay
    unmatched: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """How long it lasts: one round of a loop."""
        return self.layout.duration_s

    @property
    def transitions_s(self) -> FloatArray:
        """How long the transition after each segment plays, (S,)."""
        return self.layout.window_end_s - self.layout.window_begin_s

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses (F, J, …), relative to rest, at times (F,) in any order.

        Times outside 0…duration_s hold the ends, or go round in a loop. Outside the transitions' windows the
        pose is the clip's own for every joint that the clip moves; the others hold what moved them last.
        """
        rounds, times = self._wrapped(np.asarray(times_s, dtype=np.float64))
        segment = np.maximum(np.searchsorted(self.layout.begin_s, times, side="right") - 1, 0)
        pose = self._clip_poses(segment, times, rounds)
        seam, share, seam_rounds = self._windows(segment, times, rounds)
        inside = np.flatnonzero(seam >= 0)
        if len(inside):
            self._blend(pose, inside, seam[inside], share[inside], seam_rounds[inside])
        return pose

    def _wrapped(self, times_s: FloatArray) -> tuple[IntArray, FloatArray]:
        if times_s.ndim != 1 or not np.isfinite(times_s).all():
            raise TaktError(f"times must be finite seconds in one row (F,); found shape {times_s.shape}")
        if not self.sequence.is_loop or self.duration_s <= 0.0:
            return np.zeros(len(times_s), dtype=np.int64), np.clip(times_s, 0.0, self.duration_s)
        rounds = np.floor(times_s / self.duration_s)
        return rounds.astype(np.int64), np.clip(times_s - rounds * self.duration_s, 0.0, self.duration_s)

    def _clip_poses(self, segment: IntArray, times_s: FloatArray, rounds: IntArray) -> Pose:
        """Return what the segments (F,) themselves show: the clip, and what the other joints hold."""
        begin = self.layout.begin_s[segment]
        length = self.layout.end_s[segment] - begin
        share = np.clip(np.divide(times_s - begin, length, out=np.zeros(len(begin)), where=length > 0.0), 0.0, 1.0)
        clip = self.sequence.clip[segment]
        pose = Pose.rest(self.skeleton, len(segment))
        for index in np.unique(clip):
            frames = np.flatnonzero(clip == index)
            own = self.clips[index].sample(share[frames] * self.clips[index].duration_s, self._weight.interpolation)
            pose.rotations[frames], pose.translations[frames], pose.scales[frames] = (
                own.rotations, own.translations, own.scales)
        self._root.prepare(pose, clip)
        held = self._held.after(segment)
        frame, joint = np.nonzero(~self._ends.moved[clip] & (held >= 0))
        if len(frame):
            source = held[frame, joint]
            for values, last in zip(_parts(pose), _parts(self._ends.last), strict=True):
                values[frame, joint] = last[source, joint]
        self._root.place_segments(pose, segment, clip, rounds)
        return pose

    def _windows(self, segment: IntArray, times_s: FloatArray,
                 rounds: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
        """Return for each frame the seam whose window it is in (−1: none), the share of the way, and the round."""
        begin, end, duration = self.layout.window_begin_s, self.layout.window_end_s, self.duration_s
        previous = segment - 1
        wraps = previous < 0
        before_time = np.where(wraps, times_s + duration, times_s)
        entering = (before_time < end[previous]) & (before_time >= begin[previous]) & (~wraps | self.sequence.is_loop)
        leaving = ~entering & (times_s >= begin[segment]) & (times_s < end[segment])
        seam = np.where(entering, previous % len(begin), np.where(leaving, segment, -1))
        time = np.where(entering, before_time, times_s)
        share = np.divide(time - begin[seam], end[seam] - begin[seam], out=np.zeros(len(seam)), where=seam >= 0)
        return seam, share, np.where(entering & wraps, rounds - 1, rounds)

    def _blend(self, pose: Pose, frames: IntArray, seam: IntArray, share: FloatArray, rounds: IntArray) -> None:
        """Mix the transitions' own motion, from last pose to first pose, into the poses at frames (W,)."""
        held = self._held.after(seam)
        following = self.sequence.clip[(seam + 1) % len(self.sequence)]
        joints = np.arange(len(self.skeleton))
        take = self._ends.moved[following]
        ends = []
        for first, last in zip(_parts(self._ends.first), _parts(self._ends.last), strict=True):
            out = last[held, joints]
            ends.append((out, np.where(take[..., None], first[following], out)))
        (r0, r1), (t0, t1), (s0, s1) = ends
        self._root.place_seam(r0, t0, seam, rounds)
        self._root.place_seam(r1, t1, seam, rounds)
        blend = rot.nlerp if self._weight.interpolation == "LERP" else rot.slerp
        way, weight = share[:, None], self._weight.at(share)[:, None]
        pose.rotations[frames] = blend(pose.rotations[frames], blend(r0, r1, way), weight)
        for values, a, b in ((pose.translations, t0, t1), (pose.scales, s0, s1)):
            target = a + (b - a) * way[..., None]
            values[frames] += (target - values[frames]) * weight[..., None]


@dataclass(frozen=True)
class Weighting:
    """How strongly a transition counts: method and curve, and how rotations are mixed."""

    method: Method
    curve: str
    interpolation: Interpolation

    def __post_init__(self) -> None:
        if self.interpolation not in ("LERP", "SLERP"):
            raise TaktError(f"there is no interpolation {self.interpolation!r}; there are LERP, SLERP")
        curve = curve_named(self.curve)
        if self.method.shape != "ALONE":
            curve.shaped(self.method.shape)

    def at(self, share: FloatArray) -> FloatArray:
        """Return the transition's weight (N,) at shares of its window (N,)."""
        if self.method.shape == "ALONE":
            return np.ones(len(share))
        return curve_named(self.curve).shaped(self.method.shape)(share)


class RootWay:
    """Applies root motion to poses.

    In CONTINUE the end poses are kept at the origin, facing forward, and carried to the station between their
    segments; a clip's own poses are carried by what leads from its start to the station before it.
    """

    def __init__(self, mode: RootMode, clips: SequenceOf[Clip], moved: BoolArray, clip: IntArray, ends: Ends,
                 up: FloatArray) -> None:
        if mode not in ROOT_MODES:
            raise TaktError(f"there is no root motion {mode!r}; there are {', '.join(ROOT_MODES)}")
        joint = root_joint(clips)
        self._mode: RootMode = "AS_AUTHORED" if joint is None else mode
        if joint is None or mode == "AS_AUTHORED":
            return
        self._root = root = Root(clips[0].skeleton, joint, up)
        self._moves = moved[:, joint]
        if mode == "IN_PLACE":
            for pose in (ends.first, ends.last):
                pose.translations[:, joint] = root.in_place(pose.translations[:, joint])
            return
        places = []
        for pose in (ends.first, ends.last):
            rotations, translations = pose.rotations[:, joint], pose.translations[:, joint]
            place = root.placement(rotations, translations)
            pose.rotations[:, joint], pose.translations[:, joint] = root.placed(rotations, translations,
                                                                              place.inverse())
            places.append(place)
        starts, stops = places
        self._travel = Travel.through(starts.at(slice(-1)), stops.at(slice(-1)), starts.at(-1), self._moves, clip)

    def prepare(self, pose: Pose, clip: IntArray) -> None:
        """Take clip poses (F, J, …) as authored to what the later steps expect."""
        if self._mode == "IN_PLACE":
            joint = self._root.joint
            pose.translations[:, joint] = self._root.in_place(pose.translations[:, joint])
        elif self._mode == "CONTINUE" and not self._moves.all():
            joint = self._root.joint
            still = ~self._moves[clip]
            rest = self._root.placement(rot.identities(), np.zeros(3)).inverse()
            pose.rotations[still, joint], pose.translations[still, joint] = self._root.placed(
                pose.rotations[still, joint], pose.translations[still, joint], rest)

    def place_segments(self, pose: Pose, segment: IntArray, clip: IntArray, rounds: IntArray) -> None:
        """Carry clip poses to where their segments stand."""
        if self._mode == "CONTINUE":
            way = self._travel.stations.at(segment) @ self._travel.starts.at(clip).inverse()
            self._carry(pose.rotations, pose.translations, self._travel.lap.power(rounds) @ way)

    def place_seam(self, rotations: FloatArray, translations: FloatArray, seam: IntArray, rounds: IntArray) -> None:
        """Carry end poses (W, J, …) to the station after each seam's segment."""
        if self._mode == "CONTINUE":
            self._carry(rotations, translations, self._travel.lap.power(rounds) @ self._travel.stations.at(seam + 1))

    def _carry(self, rotations: FloatArray, translations: FloatArray, by: Placement) -> None:
        joint = self._root.joint
        rotations[:, joint], translations[:, joint] = self._root.placed(rotations[:, joint], translations[:, joint], by)


def compose(sequence: Sequence, clips: SequenceOf[Clip], *, method: str, curve: str, interpolation: Interpolation,
            root_motion: RootMode, up: FloatArray, problems: tuple[Problem, ...] = (),
            unmatched: tuple[str, ...] = ()) -> Motion:
    """Join clips into a motion.

    clips: those that sequence.clip indexes, all on one skeleton, which becomes the motion's.
    method, curve, interpolation, root_motion: identifiers of METHODS, CURVES, Interpolation, ROOT_MODES.
    up: (3,) the direction up in the skeleton's model space.
    Raises TaktError where an identifier is unknown, the curve lacks the shape that the method needs, or clips
    have different skeletons.
    """
    if not clips or any(clip.skeleton is not clips[0].skeleton for clip in clips):
        raise TaktError("a motion needs clips, all of them on one skeleton")
    weight = Weighting(method_named(method), curve, interpolation)
    skeleton = clips[0].skeleton
    moved = np.stack([clip.moved for clip in clips])
    ends = Ends.of(clips, moved)
    root = RootWay(root_motion, clips, moved, sequence.clip, ends, up)
    held = Held(sequence.clip, moved, sequence.is_loop)
    transitions_s, found = fit_transitions(sequence, clips, ends, held, weight.method)
    layout = weight.method.lay_out(sequence.length_s, transitions_s)
    return Motion(skeleton, sequence, tuple(clips), weight.method, layout, problems + found, weight, ends, held, root,
                  unmatched)


def _parts(pose: Pose) -> tuple[FloatArray, FloatArray, FloatArray]:
    return pose.rotations, pose.translations, pose.scales
