"""Both sides of a row's seams: the poses there, their speeds, and the transition time that each joint needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ..pha.sequence import Sequence
from ..skeletons.skeleton import Pose
from .held import Held
from .placing.root_motion import RootMotion
from .transitions.automatic import Automatic
from .transitions.blending import Crossing, Differing, Inertialization
from .transitions.lengths import Neighbours, joint_lengths
from .transitions.limits import Limits
from .transitions.seams import EndPoses

_DIGITS: Final = 9
"""Decimals to which seconds, speeds and radians of two seams are compared."""


class _Holding(NamedTuple):
    """Which joints hold which poses in S segments.

    joints: (N,) and last: (N, …) are rows of a joint and the pose that it holds. first, counts: (S,) the first row of
    each segment, and the number of its rows. are_shifted, are_scaled: whether any of these poses translates or scales.
    """

    first: IntArray
    counts: IntArray
    joints: IntArray
    last: Pose
    are_shifted: bool
    are_scaled: bool


@dataclass(frozen=True, eq=False)
class Sides:
    """The S seams of a row, each after its segment.

    ends: the poses at the clips' ends. held: the clip that last moved each joint. root: the row's root motion.
    automatic: computes durations of transitions, also of each joint. tempo: (S,) clip seconds per second of the
    segment. limits: rotation limits of the joints, if they decide along which arc transitions turn.
    """

    sequence: Sequence
    ends: EndPoses
    held: Held
    root: RootMotion
    automatic: Automatic
    tempo: FloatArray
    limits: Limits | None

    def hold(self, pose: Pose, segment: IntArray) -> None:
        """Give joints that the clips of segments (F,) do not move the pose that they hold, in poses (F, J, …)."""
        if self.held.is_plain:
            return
        holding = self._holding
        counts = holding.counts.take(segment)
        if not np.count_nonzero(counts):
            return
        frame = np.arange(len(segment)).repeat(counts)
        at = np.arange(len(frame)) + (holding.first.take(segment) - counts.cumsum() + counts).repeat(counts)
        joint, last = holding.joints[at], holding.last
        pose.rotations[frame, joint] = last.rotations[at]
        if holding.are_shifted:
            pose.translations[frame, joint] = last.translations[at]
        if holding.are_scaled:
            pose.scales[frame, joint] = last.scales[at]

    @cached_property
    def _holding(self) -> _Holding:
        """The poses held in the segments; equal ones are stored once."""
        clip, last = self.sequence.clip, self.ends.last
        columns = np.where(self.held.columns[clip], -1, self.held.columns_after(np.arange(len(clip))))
        different, which = np.unique(columns, axis=0, return_inverse=True)
        mover = different.take(self.held.column_of, axis=1)
        row, joints = np.nonzero(mover >= 0)
        source, which = mover[row, joints], which.reshape(-1)
        starts = np.searchsorted(row, np.arange(len(different) + 1))
        held = Pose(last.rotations[source, joints], last.translations[source, joints], last.scales[source, joints])
        return _Holding(starts[which], np.diff(starts)[which], joints, held, bool(held.translations.any()),
                        bool((held.scales != 1.0).any()))

    def crossing(self, seam: IntArray, rounds: IntArray) -> Crossing:
        """Return both sides of the seams after segments (N,) in rounds (N,) of a loop."""
        crossing = self._facing_forward(seam)
        self.root.place_seam((crossing.out, crossing.into, crossing.out_before, crossing.into_after), seam, rounds)
        return crossing

    def inertialization(self, seam: IntArray, before_s: FloatArray, after_s: FloatArray,
                        slope: float) -> Inertialization:
        """Return the offsets at the seams after segments (N,) relative to the clips, before root motion handling.

        before_s, after_s: (N,) seconds that the offsets last. slope: that of their fade curve at the seam.
        """
        found = Inertialization.of(self._facing_forward(seam), self.differing, before_s, after_s, slope)
        clips = self.sequence.clip[seam], self.sequence.clip[(seam + 1) % len(self.sequence)]
        for vectors in (found.offsets, found.rates):
            self.root.clips.turn_shifts(vectors, self.differing.row_of, *clips, self.root.turns_rad[seam])
        return found

    @cached_property
    def differing(self) -> Differing:
        """Differences of the clips' end poses, rest pose included."""
        return Differing.of((self.ends.first, self.ends.second, self.ends.last_but_one, self.ends.last))

    def alike(self, before_s: FloatArray, after_s: FloatArray) -> IntArray:
        """Return for each of S seams the first one with the same offsets, (S,).

        before_s, after_s: (S,) seconds that the offsets last. Scores often repeat the same clips, so this saves work.
        """
        clip, held = self.sequence.clip, self.held.columns_after(np.arange(len(self.sequence)))
        times = np.round(np.stack((self.tempo, np.roll(self.tempo, -1), before_s, after_s, self.root.turns_rad)),
                         _DIGITS)
        _, first, which = np.unique(np.column_stack((clip, np.roll(clip, -1), held, *times)), axis=0,
                                    return_index=True, return_inverse=True)
        return np.asarray(first[which.reshape(-1)])

    def _facing_forward(self, seam: IntArray) -> Crossing:
        """Return both sides of seams (N,) with the body at the origin, and facing forward at the clip's end."""
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
        self.root.turn_at_seam((poses[1], poses[3]), seam)
        steps = (quotient(ends.step_s[clip], self.tempo[seam]), quotient(ends.step_s[following], self.tempo[later]))
        is_long = None if self.limits is None else self.limits.exceeds(poses[0].rotations, poses[1].rotations)
        return Crossing(*poses, *steps, is_long)

    def joint_shares(self, seam: IntArray, crossing: Crossing) -> FloatArray:
        """Return the share of a transition that each joint needs for itself, (N, J).

        It is 1 for the slowest joint, and for joints that only one of the clips turns.
        """
        later = (seam + 1) % len(self.sequence)
        seams = Neighbours(self.sequence.clip[seam], self.sequence.clip[later], quotient(1.0, self.tempo[seam]),
                           quotient(1.0, self.tempo[later]))
        turning = self.automatic.turning
        angles = turning.angles(crossing.out.rotations, crossing.into.rotations)
        shared = turning.turns[seams.before] & turning.turns[seams.after]
        own = np.where(shared, joint_lengths(turning, angles, seams), 0.0)
        longest = own.max(axis=1, initial=0.0)[:, None]
        return np.where(shared & (longest > 0.0), own / np.where(longest > 0.0, longest, 1.0), 1.0)


def _of_joints(poses: Pose, row: IntArray) -> Pose:
    """Take each joint's pose from the row given for it, (N, J)."""
    joints = np.arange(row.shape[1])
    return Pose(poses.rotations[row, joints], poses.translations[row, joints], poses.scales[row, joints])


def _where(chosen: BoolArray, a: Pose, b: Pose) -> Pose:
    chosen = chosen[..., None]
    return Pose(np.where(chosen, a.rotations, b.rotations), np.where(chosen, a.translations, b.translations),
                np.where(chosen, a.scales, b.scales))
