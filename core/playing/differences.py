"""Differences added to poses, such as an animator's tweaks.

They are combined as Blender's NLA does it (Combine). A rotation becomes rotation · difference, with the difference in
the joint's own axes. A translation is added, a scale multiplied. A weight w takes the w-th power of rotations and
scales, and w times the translation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..clips.tracks import Tracks
from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..retargeting.doubles import Doubles
from ..skeletons.skeleton import Pose
from .clock import Clock
from .stage import FIRST_ROUND, Instants, Over

_LEAST_SCALE = 1e-6
_ROUNDING_S = 1e-9
"""Spans in which tweaks act are widened by this on both sides, against rounding."""


@dataclass(frozen=True, eq=False)
class Differences:
    """The differences of one layer of tweaks over the time of the motion.

    rotations: tracks of quaternions wxyz. translations: tracks of vectors in the axes of the joint's parent, as in a
    Pose. scales: tracks of factors. weights: (J,) of the joints, 0 to 1. Rotations are interpolated along the shorter
    arc, everything else linearly. Before its first key and after its last one, a track is constant.
    """

    rotations: Tracks
    translations: Tracks
    scales: Tracks
    weights: FloatArray

    def __post_init__(self) -> None:
        for tracks, channels in ((self.rotations, 4), (self.translations, 3), (self.scales, 3)):
            if tracks.channels != channels:
                raise TaktError(f"tweaks have {tracks.channels} channels, expected {channels}")
            if len(tracks) and not 0 <= tracks.joints.min() <= tracks.joints.max() < len(self.weights):
                raise TaktError(f"tweaks change joints that the skeleton with its {len(self.weights)} does not have")

    @property
    def changed(self) -> BoolArray:
        """Joints that it changes, (J,)."""
        changed = np.zeros(len(self.weights), dtype=np.bool_)
        for tracks in (self.rotations, self.translations, self.scales):
            changed[tracks.joints] = True
        return np.asarray(changed & (self.weights != 0.0))

    def of_joints(self, joints: BoolArray) -> Differences:
        """Return the differences of some joints, (J,)."""
        return Differences(self.rotations.of_joints(joints), self.translations.of_joints(joints),
                           self.scales.of_joints(joints), self.weights)

    def is_like(self, other: Differences) -> bool:
        """Return whether another layer has the same keys and weights."""
        own, others = ([layer.weights, *(each for tracks in (layer.rotations, layer.translations, layer.scales) for each
                                         in (tracks.joints, tracks.starts, tracks.times_s, tracks.values))]
                       for layer in (self, other))
        return all(map(np.array_equal, own, others))

    def add(self, pose: Pose, times_s: FloatArray, sign: float = 1.0) -> None:
        """Add the differences at times (F,) to poses (F, J, …); sign: −1 subtracts them."""
        if len(self.rotations):
            joints = self.rotations.joints
            pose.rotations[:, joints] = rot.multiply(pose.rotations[:, joints], self.turns(times_s, sign))
        if len(self.translations):
            pose.translations[:, self.translations.joints] += self.shifts(times_s, sign)
        if len(self.scales):
            joints = self.scales.joints
            factors = np.maximum(_between(self.scales, times_s), _LEAST_SCALE)
            pose.scales[:, joints] *= factors ** (sign * self.weights[joints, None])

    def turns(self, times_s: FloatArray, sign: float = 1.0) -> FloatArray:
        """Return the rotations of the R tracks at times (F,), with their joints' weights, (F, R, 4)."""
        return self._turned(*self.rotations.neighbours(times_s), sign * self.weights[self.rotations.joints])

    def shifts(self, times_s: FloatArray, sign: float = 1.0) -> FloatArray:
        """Return the translations of the R tracks at times (F,), with their joints' weights, (F, R, 3)."""
        return _between(self.translations, times_s) * (sign * self.weights[self.translations.joints, None])

    def turning(self, times_s: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return the N rotations at times (F,) that are no identity: time indices (N,), tracks (N,), and (N, 4)."""
        before, after, share = self.rotations.neighbours(times_s)
        is_turn = self._is_turn.take(before) & (share < 1.0) | self._is_turn.take(after) & (share > 0.0)
        at, track = is_turn.nonzero()
        weights = self.weights[self.rotations.joints[track]]
        return at, track, self._turned(before[at, track], after[at, track], share[at, track], weights)

    def _turned(self, before: IntArray, after: IntArray, share: FloatArray, weights: FloatArray) -> FloatArray:
        """Return rotations (..., 4) at shares (...) of the way between two keys (...), by weights of the same shape."""
        turns = rot.nlerp(self._unit[before], self._unit[after], share)
        return rot.exp(rot.log(turns) * weights[..., None]) if (weights != 1.0).any() else turns

    @cached_property
    def acting_s(self) -> FloatArray:
        """Spans of time in which it may change anything, (N, 2), unsorted; ±∞ where a track's end key holds."""
        return np.concatenate([_acting_s(tracks, self.weights, rest) for tracks, rest in (
            (self.rotations, rot.IDENTITY), (self.translations, np.zeros(3)), (self.scales, np.ones(3)))])

    @cached_property
    def times_s(self) -> FloatArray:
        """The times of all keys, ascending."""
        return np.unique(np.concatenate([tracks.times_s for tracks in
                                         (self.rotations, self.translations, self.scales)]))

    @cached_property
    def _is_turn(self) -> BoolArray:
        """Which keys of rotations are not the identity, (K,)."""
        return np.asarray(self._unit[:, 1:].any(axis=1))

    @cached_property
    def _unit(self) -> FloatArray:
        return rot.normalized(self.rotations.values)


def _acting_s(tracks: Tracks, weights: FloatArray, rest: FloatArray) -> FloatArray:
    """Return the spans (N, 2) in which tracks may differ from rest (C,).

    Each key that differs has a span, from the key before it to the key after it.
    """
    heard = np.repeat(weights[tracks.joints] != 0.0, np.diff(tracks.starts))
    acts = (tracks.values != rest).any(axis=1) & heard
    before, after = np.append(-np.inf, tracks.times_s[:-1]), np.append(tracks.times_s[1:], np.inf)
    before[tracks.starts[:-1]], after[tracks.starts[1:] - 1] = -np.inf, np.inf
    return np.asarray(np.stack((before, after[:len(before)]), axis=1)[acts])


def _between(tracks: Tracks, times_s: FloatArray) -> FloatArray:
    before, after, share = tracks.neighbours(times_s)
    start = tracks.values[before]
    return np.asarray(start + (tracks.values[after] - start) * share[..., None])


@dataclass(frozen=True, eq=False)
class Tweaked(Over):
    """The stage that adds differences to poses, layer by layer.

    clock: turns even time into the layers' time, if the stage is sampled in even time; else None. sign: −1 subtracts
    the layers. doubles: joints that copy other joints, and copy them again after these are tweaked; None: no joint
    does.
    """

    layers: tuple[Differences, ...]
    clock: Clock | None = None
    sign: float = 1.0
    doubles: Doubles | None = None

    def sample(self, times_s: FloatArray, rounds: IntArray = FIRST_ROUND) -> Pose:
        """Return the poses below with the layers added; see Stage."""
        pose = self.below.sample(times_s, rounds)
        self.add(pose, times_s, self.sign)
        return pose

    def add(self, pose: Pose, times_s: FloatArray, sign: float = 1.0) -> None:
        """Add the layers at times (F,) to poses (F, J, …); sign: −1 subtracts them."""
        shown_s = times_s if self.clock is None else self.clock.shown(times_s)
        if self.doubles is not None and sign > 0.0:
            self._add_and_follow(self.doubles, pose, shown_s)
            return
        for layer in self.layers if sign > 0.0 else reversed(self.layers):
            layer.add(pose, shown_s, sign)

    def _add_and_follow(self, doubles: Doubles, pose: Pose, shown_s: FloatArray) -> None:
        """Add the layers at times (F,) of the motion: first to leading joints, then, after following, to the others."""
        at = np.flatnonzero(self._act(shown_s))
        own, (first, then) = pose.at(at), self._led_and_following
        for layer in first:
            layer.add(own, shown_s[at])
        if len(at):
            doubles.follow(own)
        for layer in then:
            layer.add(own, shown_s[at])
        pose.rotations[at], pose.translations[at], pose.scales[at] = own.rotations, own.translations, own.scales

    @cached_property
    def _led_and_following(self) -> tuple[tuple[Differences, ...], tuple[Differences, ...]]:
        """What the layers add to joints that follow no other joint, and what they add to those that do."""
        follow = np.zeros(len(self.skeleton), dtype=np.bool_)
        if self.doubles is not None:
            follow[self.doubles.joints] = True
        return self.of_joints(~follow).layers, self.of_joints(follow).layers

    def acts(self, times_s: FloatArray) -> BoolArray:
        """Return whether the layers may change anything at each of the times (F,)."""
        return self._act(times_s if self.clock is None else self.clock.shown(times_s))

    def _act(self, shown_s: FloatArray) -> BoolArray:
        """Do the same as `acts`, for times of the clock (F,)."""
        begin_s, end_s = self._acting_s
        at = begin_s.searchsorted(shown_s, side="right")
        return np.asarray(shown_s <= end_s.take(at))

    @cached_property
    def _acting_s(self) -> tuple[FloatArray, FloatArray]:
        """Begins of the spans (N,) in which layers act, ascending, and the latest end of the first 0 to N of them.

        The second has the shape (N + 1,) and begins with −∞.
        """
        spans_s = np.concatenate([layer.acting_s for layer in self.layers])
        spans_s = spans_s[np.argsort(spans_s[:, 0])] + (-_ROUNDING_S, _ROUNDING_S)
        return spans_s[:, 0].copy(), np.append(-np.inf, np.maximum.accumulate(spans_s[:, 1]))

    def of_joints(self, joints: BoolArray) -> Tweaked:
        """Return the stage with the layers limited to some joints, (J,)."""
        return replace(self, layers=tuple(layer.of_joints(joints) for layer in self.layers
                                          if (layer.changed & joints).any()))

    @cached_property
    def moved(self) -> BoolArray:
        """Joints that anything moves, (J,)."""
        return np.asarray(np.logical_or.reduce([self.below.moved, *(layer.changed for layer in self.layers)]))

    def instants(self, per_s: float, densest: float) -> Instants:
        """Return the instants of events, including keys of tweaks; see Stage."""
        found = self.below.instants(per_s, densest)
        times_s = np.concatenate([layer.times_s for layer in self.layers])
        times_s = times_s if self.clock is None else self.clock.even(times_s)
        own = times_s[(times_s >= 0.0) & (times_s <= self.duration_s)] * per_s
        return replace(found, keys=np.union1d(found.keys, own))
