"""Motion: a sequence of segments with its clips and transitions, which can be sampled at any instant."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from ..clips.clip import Clip
from ..clips.keys import KeyTable
from ..errors import Problem, TaktError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..pha.sequence import Sequence
from ..retargeting.doubles import Doubles
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Pose, Skeleton
from .feet import FeetLock
from .held import Held
from .root_motion import RootMode, RootWay
from .transitions.blending import Crossing, Lead, Style, blend_over
from .transitions.curves import CURVES
from .transitions.lengths import (
    MeanSpeed,
    Neighbours,
    Turning,
    automatic_lengths,
    joint_lengths,
    longest_lengths,
    speed_named,
)
from .transitions.limits import Limits
from .transitions.methods import METHODS, Layout, Method
from .transitions.seams import Ends, fit_transitions, stretches

_MOST_SEAMS_KEPT = 256
"""More at once is no playing but the writing of a whole Action, whose memory should be given back."""


@dataclass(frozen=True, eq=False)
class Motion:
    """What a character does from 0 to duration_s; made by compose() or score.perform().

    sequence: its S segments, as the score says; clips: those that the segments index.
    style: how clips and transitions are blended.
    layout: when each clip and each transition plays.
    feet: what the joints are, where planted feet shall be kept in their places.
    problems: warnings and notes; unmatched: joints without counterpart, when clips came from other skeletons.
    doubles: joints that follow others.
    """

    skeleton: Skeleton
    sequence: Sequence
    clips: tuple[Clip, ...]
    style: Style
    layout: Layout
    problems: tuple[Problem, ...]
    _stage: _Stage
    unmatched: tuple[str, ...] = ()
    feet: SkeletonMap | None = None
    doubles: Doubles | None = None
    _last_lead: dict[bytes, Lead] = field(default_factory=dict)

    @property
    def method(self) -> Method:
        """Where the transitions play."""
        return METHODS[self.style.method]

    @property
    def duration_s(self) -> float:
        """How long it lasts: one round of a loop."""
        return self.layout.duration_s

    @property
    def transitions_s(self) -> FloatArray:
        """How long the transition after each segment plays, (S,)."""
        return self.layout.window_end_s - self.layout.window_begin_s

    @property
    def lap_yaw_rad(self) -> float:
        """By how much one round of a loop turns the character's heading."""
        return self._stage.root.lap_yaw_rad

    def sample(self, times_s: FloatArray) -> Pose:
        """Return the poses (F, J, …), relative to rest, at times (F,) in any order.

        Times outside 0…duration_s hold the ends, or go round in a loop. Outside the transitions' windows the
        pose is the clip's own for every joint that the clip moves; the others hold what moved them last.
        """
        rounds, times = self._wrapped(np.asarray(times_s, dtype=np.float64))
        if self._feet is None:
            return self._sampled(times, rounds)
        pose = self._feet.hold(self._sampled(times, np.zeros_like(rounds)), times)
        self._stage.root.repeat(pose, rounds)
        return pose

    @cached_property
    def _feet(self) -> FeetLock | None:
        """What holds the feet; a loop's contacts go over its seam, so its neighbouring rounds are looked at too."""
        if self.feet is None:
            return None

        def sample(times_s: FloatArray) -> Pose:
            rounds, times = self._wrapped(times_s)
            return self._sampled(times, rounds)

        further = self.duration_s if self.sequence.is_loop else 0.0
        return FeetLock.of(self.feet, sample, -further, self.duration_s + further, self._stage.up)

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        moved = np.any([clip.moved for clip in self.clips], axis=0)
        for leg, _ in self._feet.legs if self._feet is not None else ():
            moved[[leg.hip, leg.knee, leg.ankle]] = True
        if self._feet is not None:
            moved[list(self._feet.tops)] = True
        return np.asarray(moved)

    def _sampled(self, times: FloatArray, rounds: IntArray) -> Pose:
        segment = np.maximum(np.searchsorted(self.layout.begin_s, times, side="right") - 1, 0)
        pose = self._clip_poses(segment, times, rounds)
        seam, seam_times, seam_rounds = self._windows(segment, times, rounds)
        inside = np.flatnonzero(seam >= 0)
        if len(inside):
            chosen = pose if len(inside) == len(times) else pose.at(inside)
            mixed = self._blend(chosen, seam[inside], seam_times[inside], seam_rounds[inside])
            pose.rotations[inside], pose.translations[inside], pose.scales[inside] = (
                mixed.rotations, mixed.translations, mixed.scales)
        if self.doubles is not None:
            self.doubles.follow(pose)
        return pose

    def segment_at(self, time_s: float) -> int:
        """Return the segment that plays at a time; before and after all, the first and the last, or round in a loop."""
        _, times = self._wrapped(np.array((time_s,)))
        return max(int(np.searchsorted(self.layout.begin_s, times[0], side="right")) - 1, 0)

    def _wrapped(self, times_s: FloatArray) -> tuple[IntArray, FloatArray]:
        if times_s.ndim != 1 or not np.isfinite(times_s).all():
            raise TaktError(f"times must be finite seconds in one row (F,); found shape {times_s.shape}")
        if not self.sequence.is_loop or self.duration_s <= 0.0:
            return np.zeros(len(times_s), dtype=np.int64), np.clip(times_s, 0.0, self.duration_s)
        rounds = np.floor(times_s / self.duration_s)
        return rounds.astype(np.int64), np.clip(times_s - rounds * self.duration_s, 0.0, self.duration_s)

    def _clip_poses(self, segment: IntArray, times_s: FloatArray, rounds: IntArray) -> Pose:
        """Return what the segments (F,) themselves show: the clip, and what the other joints hold."""
        stage, style = self._stage, self.style
        clip = self.sequence.clip[segment]
        own_times = np.minimum((times_s - self.layout.begin_s[segment]) * stage.tempo[segment], stage.durations_s[clip])
        pose = stage.keys.sample(clip, own_times, style.interpolation, style.translation)
        stage.root.prepare(pose, clip)
        if not stage.held.is_plain:
            held = stage.held.after(segment)
            frame, joint = np.nonzero(~stage.ends.moved[clip] & (held >= 0))
            source, last = held[frame, joint], stage.ends.last
            pose.rotations[frame, joint] = last.rotations[source, joint]
            pose.translations[frame, joint] = last.translations[source, joint]
            pose.scales[frame, joint] = last.scales[source, joint]
        stage.root.place_segments(pose, segment, rounds)
        return pose

    def _windows(self, segment: IntArray, times_s: FloatArray,
                 rounds: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
        """Return for each frame the seam whose window it is in (−1: none), the time and the round as it counts them."""
        begin, end = self.layout.window_begin_s, self.layout.window_end_s
        previous = segment - 1
        wraps = previous < 0
        before_time = times_s + wraps * self.duration_s
        entering = (before_time < end[previous]) & (before_time >= begin[previous]) & (~wraps | self.sequence.is_loop)
        leaving = ~entering & (times_s >= begin[segment]) & (times_s < end[segment])
        seam = np.where(entering, previous % len(begin), np.where(leaving, segment, -1))
        return seam, np.where(entering, before_time, times_s), rounds - (entering & wraps)

    def _blend(self, pose: Pose, seam: IntArray, times_s: FloatArray, rounds: IntArray) -> Pose:
        """Mix into poses (W, J, …) what the transitions after segments (W,) do."""
        seams, at = seam, np.arange(len(seam))
        if len(seam) > 1:  # neighbouring frames share a seam, whose two sides are then looked up only once
            _, first, at = np.unique(seam + rounds * len(self.sequence), return_index=True, return_inverse=True)
            seams, rounds = seam[first], rounds[first]
        if self.method.shape == "LEAD":
            return self._lead(seams, rounds).over(pose, at, times_s - self.layout.end_s[seam],
                                                  CURVES[self.style.curve].rise)
        crossing = self._stage.crossing(seams, rounds)
        begin, end = self.layout.window_begin_s, self.layout.window_end_s
        share = (times_s - begin[seam]) / (end[seam] - begin[seam])
        own = None if self.style.joint_time == "SHARED" else self._stage.joint_shares(seams, crossing)[at]
        is_after = times_s >= self.layout.end_s[seam]
        return blend_over(pose, crossing, at, is_after, self.style.way(share, own), self.style.weight(share),
                          self.style.interpolation)

    def _lead(self, seams: IntArray, rounds: IntArray) -> Lead:
        """Return what leads over seams (N,); while a motion is watched they are mostly those of the frame before."""
        key = seams.tobytes() + rounds.tobytes()
        lead = self._last_lead.get(key)
        if lead is None:
            begin, middle, end = self.layout.window_begin_s, self.layout.end_s, self.layout.window_end_s
            lead = Lead.of(self._stage.crossing(seams, rounds), (middle - begin)[seams], (end - middle)[seams])
            self._last_lead.clear()
            if len(seams) <= _MOST_SEAMS_KEPT:
                self._last_lead[key] = lead
        return lead


@dataclass(frozen=True, eq=False)
class _Stage:
    """What a motion is sampled from.

    tempo: (S,) seconds of its clip that a segment plays in one second; durations_s: (C,) of the clips.
    """

    sequence: Sequence
    keys: KeyTable
    ends: Ends
    held: Held
    root: RootWay
    turning: Turning
    tempo: FloatArray
    durations_s: FloatArray
    mean_speed: MeanSpeed
    limits: Limits | None
    up: FloatArray

    def crossing(self, seam: IntArray, rounds: IntArray) -> Crossing:
        """Return both sides of the seams after segments (N,), where they stand."""
        ends, clip = self.ends, self.sequence.clip[seam]
        later = (seam + 1) % len(self.sequence)
        following = self.sequence.clip[later]
        if self.held.is_plain:
            poses = (ends.last.at(clip), ends.first.at(following), ends.last_but_one.at(clip),
                     ends.second.at(following))
        else:
            held = self.held.after(seam)
            out = _of_joints(ends.last, held)
            enters, left = ends.moved[following], ends.moved[clip]
            poses = (out, _where(enters, ends.first.at(following), out),
                     _where(left, ends.last_but_one.at(clip), out), _where(enters, ends.second.at(following), out))
        self.root.place_seam(poses, seam, rounds)
        steps = (_quotient(ends.step_s[clip], self.tempo[seam]), _quotient(ends.step_s[following], self.tempo[later]))
        is_long = None if self.limits is None else self.limits.are_left(poses[0].rotations, poses[1].rotations)
        return Crossing(*poses, *steps, is_long)

    def joint_shares(self, seam: IntArray, crossing: Crossing) -> FloatArray:
        """Return how much of its transition each joint needs, (N, J); joints that not both clips turn: all of it."""
        later = (seam + 1) % len(self.sequence)
        seams = Neighbours(self.sequence.clip[seam], self.sequence.clip[later], _quotient(1.0, self.tempo[seam]),
                           _quotient(1.0, self.tempo[later]))
        angles = self.turning.angles(crossing.out.rotations, crossing.into.rotations)
        shared = self.turning.turns[seams.before] & self.turning.turns[seams.after]
        own = np.where(shared, joint_lengths(self.turning, angles, seams, self.mean_speed), 0.0)
        longest = own.max(axis=1, initial=0.0)[:, None]
        return np.where(shared & (longest > 0.0), own / np.where(longest > 0.0, longest, 1.0), 1.0)


def compose(sequence: Sequence, clips: SequenceOf[Clip], style: Style, *, root_motion: RootMode, up: FloatArray,
            speed: str = "PATHS", limits: Limits | None = None, problems: tuple[Problem, ...] = (),
            unmatched: tuple[str, ...] = (), feet: SkeletonMap | None = None,
            doubles: Mapping[int, int] | None = None) -> Motion:
    """Join clips into a motion.

    clips: those that sequence.clip indexes, all on one skeleton, which becomes the motion's.
    root_motion, speed: identifiers of ROOT_MODES and SPEEDS.
    up: (3,) the direction up in the skeleton's model space.
    limits: of the skeleton's joints, where they decide which way transitions turn.
    feet: what the joints are, where planted feet shall be kept in their places.
    doubles: joints that follow others, in transitions too, and the ones that they follow.
    Raises TaktError where an identifier is unknown, the curve lacks the shape that the method needs, or clips
    have different skeletons.
    """
    if not clips or any(clip.skeleton is not clips[0].skeleton for clip in clips):
        raise TaktError("a motion needs clips, all of them on one skeleton")
    skeleton = clips[0].skeleton
    moved = np.stack([clip.moved for clip in clips])
    durations_s = np.array([clip.duration_s for clip in clips])
    keys = KeyTable.of(skeleton, [(c.duration_s, c.is_looping, c.rotations, c.translations, c.scales) for c in clips])
    ends = Ends.of(skeleton, durations_s, moved, lambda clip, times: keys.sample(
        clip, times, style.interpolation, style.translation))
    followers = Doubles.of(skeleton, doubles or {})
    root = RootWay(root_motion, clips, moved, sequence.clip, (ends.first, ends.second), (ends.last, ends.last_but_one),
                   up, followers.joints)
    held = Held(sequence.clip, moved, sequence.is_loop)
    turning = Turning.of(clips, rot.angle_between if limits is None else limits.angles)
    method = METHODS[style.method]
    is_shared = style.joint_time == "SHARED" or method.shape == "LEAD"  # which takes all joints over together
    lengths = automatic_lengths if is_shared else longest_lengths
    transitions_s, found = fit_transitions(sequence, clips, ends, held, method,
                                           partial(lengths, turning, mean_speed=speed_named(speed)))
    layout = method.lay_out(sequence.length_s, transitions_s)
    tempo = _quotient(1.0, stretches(layout.end_s - layout.begin_s, sequence, clips))
    stage = _Stage(sequence, keys, ends, held, root, turning, tempo, durations_s, speed_named(speed), limits,
                   up / np.linalg.norm(up))
    return Motion(skeleton, sequence, tuple(clips), style, layout, problems + found, stage, unmatched, feet,
                  followers if doubles else None)


def _of_joints(poses: Pose, row: IntArray) -> Pose:
    """Take each joint (N, J) from the row that is named for it."""
    joints = np.arange(row.shape[1])
    return Pose(poses.rotations[row, joints], poses.translations[row, joints], poses.scales[row, joints])


def _where(chosen: BoolArray, a: Pose, b: Pose) -> Pose:
    chosen = chosen[..., None]
    return Pose(np.where(chosen, a.rotations, b.rotations), np.where(chosen, a.translations, b.translations),
                np.where(chosen, a.scales, b.scales))


def _quotient(a: FloatArray | float, b: FloatArray) -> FloatArray:
    return np.divide(a, b, out=np.zeros(b.shape), where=b > 0.0)
