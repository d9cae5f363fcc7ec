"""Seams between segments: the poses on both sides, transition durations, and warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...clips.clip import Clip
from ...clips.excerpt import Excerpt
from ...errors import Place, Problem, quoted
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ...pha.sequence import Sequence
from ...skeletons.skeleton import Pose, Skeleton
from ..held import Held
from ..stage import Stage
from .lengths import SAME_POSE_RAD, Neighbours
from .methods import TransitionMethod

FAR_TURN_RAD = np.radians(150.0)
"""Angle from which a joint is likely to swing through the body."""
DEFAULT_LENGTH_S = 0.25
"""Automatic duration if no joint of both clips turns, but a translation or scale changes."""
STEP_S = 1.0 / 480.0
"""Time step in which speeds at a clip's ends are measured."""
_SAME_PLACE = 1e-6
"""Share of the skeleton's size below which translations count as equal."""
AutomaticLengths = Callable[[Neighbours], FloatArray]
_SEAMS_AT_ONCE = 8192
_LONGEST_WISH_S = 5.0
"""Longest automatic duration that gets a note if it is cut short; longer ones occur between clips that hardly move."""
_NAMED_AT_MOST = 20


@dataclass(frozen=True, eq=False)
class EndPoses:
    """The poses at the ends of C clips, (C + 1, J, …), with rest in the last row.

    second, last_but_one: the poses step_s (C + 1,) clip seconds after the first pose and before the last one, for the
    speeds at the ends. moved: (C, J) the joints that each clip moves.
    """

    first: Pose
    second: Pose
    last_but_one: Pose
    last: Pose
    step_s: FloatArray
    moved: BoolArray

    @classmethod
    def of(cls, skeleton: Skeleton, durations_s: FloatArray, moved: BoolArray, own: SequenceOf[Pose]) -> EndPoses:
        """Combine the poses of clips. own: the poses of each clip at its end_times_s, (4, J, …)."""
        rows = [*own, Pose.rest(skeleton, 4)]
        rotations, translations, scales = (np.stack([getattr(ends, name) for ends in rows], axis=1)
                                           for name in ("rotations", "translations", "scales"))
        poses = [Pose(rotations[end], translations[end], scales[end]) for end in range(4)]
        step_s = np.append(np.minimum(STEP_S, durations_s / 2.0), 0.0)
        return cls(poses[0], poses[1], poses[2], poses[3], step_s, moved)


FarTurns = dict[tuple[int, int], tuple[int, IntArray]]
"""For each pair of clips between which joints turn far: the first segment after which they meet, and these joints."""


def end_times_s(duration_s: float) -> FloatArray:
    """Return four times of a clip, (4,): its first instant, a step after it, a step before its last, and its last."""
    step_s = min(STEP_S, duration_s / 2.0)
    return np.array((0.0, step_s, duration_s - step_s, duration_s))


@dataclass(frozen=True, eq=False)
class _Seams:
    """A chunk of N seams, of which D are different.

    index: (N,) the segment before each seam. different: (N,) which of the D each seam is. sample: (D,) the index of one
    seam of each kind. angle: (D, J) the joints' angles. shifts: (D,) whether a translation or scale changes.
    """

    index: IntArray
    different: IntArray
    sample: IntArray
    angle: FloatArray
    shifts: BoolArray


class FittedTransitions(NamedTuple):
    """The transition after each of S segments.

    wished_s: (S,) durations set by the score, or automatic ones. limit_s: (S,) the method's limits. far: clips between
    which joints turn far.
    """

    wished_s: FloatArray
    limit_s: FloatArray
    far: FarTurns

    @property
    def lengths_s(self) -> FloatArray:
        """The durations of the transitions, (S,)."""
        return np.minimum(self.wished_s, self.limit_s)


def fit_transitions(sequence: Sequence, clips: SequenceOf[Clip], ends: EndPoses, held: Held, method: TransitionMethod,
                    automatic: AutomaticLengths) -> FittedTransitions:
    """Return the transition after each segment: set by the score, or automatic; at most as long as the method allows.

    held: the clip that last moved each joint. automatic: from N seams to durations (N,).
    """
    following = np.roll(sequence.clip, -1)
    wished = sequence.transition_s.copy()
    if not sequence.is_loop:
        wished[-1] = 0.0
    missing = np.isnan(wished)
    if missing.any():
        stretch = time_stretch(sequence.length_s, sequence, clips)
        around = Neighbours(sequence.clip, following, stretch, np.roll(stretch, -1))
        wished[missing] = automatic(around.at(missing))
    far: FarTurns = {}
    for seams in _in_chunks(sequence, following, ends, held, clips[0].skeleton):
        moves = (seams.angle > SAME_POSE_RAD).any(axis=1) | seams.shifts
        jumps = missing[seams.index] & (wished[seams.index] == 0.0) & moves[seams.different]
        wished[seams.index[jumps]] = DEFAULT_LENGTH_S
        for row in np.flatnonzero((seams.angle >= FAR_TURN_RAD).any(axis=1)):
            first = int(seams.index[seams.different == row].min())
            joints = np.flatnonzero(seams.angle[row] >= FAR_TURN_RAD)
            far.setdefault((int(sequence.clip[first]), int(following[first])), (first, joints))
    limit = method.limit(sequence.length_s, np.roll(sequence.length_s, -1))
    return FittedTransitions(wished, limit, far)


def time_stretch(lengths_s: FloatArray, sequence: Sequence, clips: SequenceOf[Clip | Excerpt | Stage]) -> FloatArray:
    """Return the seconds per second of the clip in each segment, (S,); 0 if the clip has no duration."""
    durations: FloatArray = np.array([clip.duration_s for clip in clips])[sequence.clip]
    return quotient(lengths_s, durations)


def _in_chunks(sequence: Sequence, following: IntArray, ends: EndPoses, held: Held,
               skeleton: Skeleton) -> Iterator[_Seams]:
    """Yield the seams in chunks, which bounds memory."""
    tolerance = _SAME_PLACE * float(np.abs(skeleton.rest_world[:, :, 3]).max(initial=1e-9))
    count = len(sequence) if sequence.is_loop else len(sequence) - 1
    for start in range(0, count, _SEAMS_AT_ONCE):
        index = np.arange(start, min(start + _SEAMS_AT_ONCE, count))
        code = following[index]
        for column in held.columns_after(index).T:
            code = np.unique(code * (len(ends.moved) + 1) + column + 1, return_inverse=True)[1]
        _, at, different = np.unique(code, return_index=True, return_inverse=True)
        sample = index[at]
        before, after = held.after(sample), following[sample]
        joints = np.arange(before.shape[1])
        take = ends.moved[after]
        last, first = ends.last, ends.first
        angle = np.where(take, rot.angle_between(last.rotations[before, joints], first.rotations[after]), 0.0)
        shifts = np.abs(last.translations[before, joints] - first.translations[after]).max(axis=-1) > tolerance
        grows = np.abs(last.scales[before, joints] - first.scales[after]).max(axis=-1) > _SAME_PLACE
        yield _Seams(index, different, sample, angle, (take & (shifts | grows)).any(axis=1))


def far_turns(sequence: Sequence, skeleton: Skeleton, far: FarTurns, seen_s: FloatArray | None,
              skin: BoolArray | None = None) -> Iterator[Problem]:
    """Yield a warning for each pair of clips between which joints turn far, at the line that calls the first clip.

    seen_s: (S,) the time of the seam after each segment, for the message; None if the segments play within others.
    skin: (J,) joints that move skin; others are ignored.
    """
    if skin is not None:
        far = {pair: (segment, joints[skin[joints]]) for pair, (segment, joints) in far.items() if skin[joints].any()}
    for (before, after), (segment, joints) in list(far.items())[:_NAMED_AT_MOST]:
        names = ", ".join(quoted(skeleton.names[j]) for j in joints[:_NAMED_AT_MOST])
        when = "" if seen_s is None else f" ({seen_s[segment]:.2f} s)"
        calls = sequence.origins.of_segment(segment)
        yield Problem(f"from {quoted(sequence.clips[before])} to {quoted(sequence.clips[after])}{when} {names} must "
                      "turn by 150° or more, and may swing through the body; call a bridging clip between them",
                      calls[-1].place if calls else Place(), is_warning=True)
    if len(far) > _NAMED_AT_MOST:
        yield Problem(f"{len(far) - _NAMED_AT_MOST} more pairs of clips have joints that must turn by 150° or more",
                      is_warning=True)


def shortened(sequence: Sequence, fitted: FittedTransitions, method: TransitionMethod,
              seen_s: FloatArray | None) -> Iterator[Problem]:
    """Yield a note for each pair of clips with a transition cut short, at the line of the first clip; see far_turns."""
    following, wished, limit = np.roll(sequence.clip, -1), fitted.wished_s, fitted.limit_s
    is_meant = ~np.isnan(sequence.transition_s) | (wished <= _LONGEST_WISH_S)  # longer ones join clips that hardly move
    cut = np.flatnonzero((wished > limit) & is_meant)
    pairs, at, count = np.unique(sequence.clip[cut] * len(sequence.clips) + following[cut], return_index=True,
                                 return_counts=True)
    for first, times in list(zip(cut[at].tolist(), count.tolist(), strict=True))[:_NAMED_AT_MOST]:
        before, after = sequence.clips[sequence.clip[first]], sequence.clips[following[first]]
        when, calls = "" if seen_s is None else f" ({seen_s[first]:.2f} s)", sequence.origins.of_segment(first)
        is_automatic = np.isnan(sequence.transition_s[first])
        yield Problem(("an automatic" if is_automatic else "a")
                      + f" transition of {wished[first]:.4g} s from {quoted(before)} to {quoted(after)}{when} is "
                      f"longer than {method.label} allows there and takes {limit[first]:.4g} s"
                      + (f" ({times} such)" if times > 1 else ""), calls[-1].place if calls else Place(),
                      is_warning=True, is_note=True)
    if len(pairs) > _NAMED_AT_MOST:
        yield Problem(f"{len(pairs) - _NAMED_AT_MOST} more pairs of clips have shortened transitions",
                      is_warning=True, is_note=True)
