"""Blending: what a transition does to the poses in its window."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from ...clips.keys import INTERPOLATIONS, TRANSLATION_INTERPOLATIONS, Interpolation, TranslationInterpolation
from ...errors import TaktError
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, quotient
from ...skeletons.skeleton import Pose
from .curves import CURVES, JOINT_TIMES, PACES, Weight, curve_named, joint_time_named, pace_named
from .limits import long_arc
from .methods import TRANSITION_METHODS, method_named

_SMALL_RAD = 1e-4
"""Half-angle below which the Jacobian's factor is replaced by its limit, which differs by less than angle²/700."""
_NO_TIME_S = 1e-12
_MOST_SEAMS_KEPT = 256
"""Number of seams whose offsets are cached; then the cache is emptied, since offsets of all joints are large."""
_EVENLY = 0.5
"""Factor of a uniform change of speed: it moves a joint by half of duration × change."""

@dataclass(frozen=True)
class Style:
    """How clips and transitions are blended: identifiers of TRANSITION_METHODS, CURVES, INTERPOLATIONS and so on.

    pace: the time curve of an inserted transition. joint_time: whether joints share the transition's duration, or
    when in it each takes its own.
    """

    method: str
    curve: str
    interpolation: Interpolation = "SLERP"
    translation: TranslationInterpolation = "LINEAR"
    pace: str = "EVEN"
    joint_time: str = "SHARED"

    def __post_init__(self) -> None:
        for value, known, what in ((self.interpolation, INTERPOLATIONS, "interpolation"),
                                   (self.translation, TRANSLATION_INTERPOLATIONS, "interpolation of translations")):
            if value not in known:
                raise TaktError(f"there is no {what} {value!r}; there are {', '.join(known)}")
        curve, _, _ = curve_named(self.curve), pace_named(self.pace), joint_time_named(self.joint_time)
        shape = method_named(self.method).shape
        if shape == "RISE" or shape == "PULSE":
            curve.shaped(shape)

    def weight(self, share: FloatArray) -> FloatArray:
        """Return the transition's weight (N,) at shares of its window (N,)."""
        shape = TRANSITION_METHODS[self.method].shape
        return CURVES[self.curve].shaped(shape)(share) if shape == "RISE" or shape == "PULSE" else np.ones(len(share))

    def progress(self, share: FloatArray, own: FloatArray | None) -> FloatArray:
        """Return the progress, 0…1, of the inserted transition at shares (N,) of its time: (N, J), or (N, 1).

        own: (N, J) each joint's share of the transition's duration, if joints take their own; None gives (N, 1).
        """
        time = share[:, None]
        if own is not None:
            wait = JOINT_TIMES[self.joint_time].wait * (1.0 - own)
            time = np.clip(np.divide(time - wait, own, out=np.ones_like(own), where=own > 0.0), 0.0, 1.0)
        return PACES[self.pace].progress(time)


@dataclass(frozen=True, eq=False)
class Crossing:
    """Both sides of N seams.

    out, into: (N, J, …) the last pose before the seam and the first one after it. out_before: the pose out_step_s (N,)
    seconds before out. into_after: the pose into_step_s (N,) seconds after into. A step of 0 means that the speed there
    is unknown. is_long: (N, J) joints that turn along the longer arc from out to into; None for none.
    """

    out: Pose
    into: Pose
    out_before: Pose
    into_after: Pose
    out_step_s: FloatArray
    into_step_s: FloatArray
    is_long: BoolArray | None = None


def blend_over(pose: Pose, crossing: Crossing, at: IntArray, is_after: BoolArray, progress: FloatArray,
               weight: FloatArray, interpolation: Interpolation) -> Pose:
    """Blend the inserted transition, from the last pose to the first one, into poses (F, J, …).

    at: (F,) the crossing of each. is_after: (F,) whether the next clip plays there. progress: (F, J) or (F, 1) of the
    transition. weight: (F,) of the transition.

    The transition takes the shorter arc, or the longer one where the crossing says so. Quaternion signs follow the
    motion: the clip before has the sign of its last pose, the clip after has that of its first one. So the arc between
    clip and transition is the shorter one at the seam, and stays the same over the window. If it were chosen at each
    instant, the pose would jump where a clip turns so far that both arcs are equally long. (It still jumps where a clip
    turns by more than a whole turn within the window.)
    """
    out, into = crossing.out.rotations[at], crossing.into.rotations[at]
    flips = np.einsum("fji,fji->fj", out, into) < 0.0
    if crossing.is_long is not None:
        flips = flips ^ crossing.is_long[at]
    between = rot.blend(out, np.where(flips[..., None], -into, into), progress, interpolation == "LERP", is_signed=True)
    between = np.where((is_after[:, None] & flips)[..., None], -between, between)
    counts = weight[:, None]
    mixed = [rot.blend(pose.rotations, between, counts, interpolation == "LERP", is_signed=True)]
    for own, a, b in _vectors(pose, crossing.out, crossing.into):
        target = a[at] + (b[at] - a[at]) * progress[..., None]
        mixed.append(own + (target - own) * counts[..., None])
    return Pose(*mixed)


@dataclass(frozen=True, eq=False)
class Differing:
    """How differences of poses of J joints are stored: as R vectors, R = J + T + S.

    The first J are the joints' rotation vectors. shifted: (T,) the joints whose translations come next. scaled: (S,)
    the joints whose scales come last. All other joints, usually all but the root, have the same translation and scale
    in all poses.
    """

    joints: int
    shifted: IntArray
    scaled: IntArray

    @classmethod
    def of(cls, poses: Sequence[Pose]) -> Differing:
        """Find the differences between poses (N, J, …), N ≥ 1."""
        translations, scales = (np.concatenate([getattr(pose, name) for pose in poses])
                                for name in ("translations", "scales"))
        shifted, scaled = (np.flatnonzero((each != each[:1]).any(axis=(0, 2))) for each in (translations, scales))
        return cls(translations.shape[1], shifted, scaled)

    def row_of(self, joint: int) -> int | None:
        """Return the row of a joint's translation, or None if it never changes."""
        found = np.flatnonzero(self.shifted == joint)
        return self.joints + int(found[0]) if len(found) else None

    def vectors(self, pose: Pose) -> FloatArray:
        """Return the translations and scales of poses (N, J, …) as the last R − J vectors, (N, R − J, 3)."""
        return np.concatenate((pose.translations[:, self.shifted], pose.scales[:, self.scaled]), axis=1)

    def add(self, pose: Pose, frames: IntArray, offsets: FloatArray) -> None:
        """Add offsets (W, R, 3) to some frames (W,) of poses (F, J, …)."""
        shifts = self.joints + len(self.shifted)
        pose.rotations[frames] = rot.multiply(pose.rotations.take(frames, axis=0), rot.exp(offsets[:, :self.joints]))
        if len(self.shifted):
            pose.translations[frames[:, None], self.shifted] += offsets[:, self.joints:shifts]
        if len(self.scaled):
            pose.scales[frames[:, None], self.scaled] += offsets[:, shifts:]


@dataclass(frozen=True, eq=False)
class Offsets(ABC):
    """Offsets added to clips around N seams; all arrays are (N, …)."""

    @abstractmethod
    def vectors(self, at: IntArray, time_s: FloatArray, curve: Weight) -> FloatArray:
        """Return the offsets as vectors (F, R, 3), see Differing.

        at: (F,) the seam of each. time_s: (F,) relative to it. curve: the fade, unless the offsets have their own.
        """

    def and_those_of(self, more: Self) -> Self:
        """Return these offsets followed by those of more seams."""
        return type(self)(*(np.concatenate((getattr(self, each.name), getattr(more, each.name)))
                            for each in fields(self)))


class KnownOffsets:
    """Cache of the offsets around the seams of a row."""

    def __init__(self, seams: int) -> None:
        """Start with an empty cache for this number of seams."""
        self._row: IntArray = np.full(seams, -1, dtype=np.int64)
        self._offsets: Offsets | None = None

    def __len__(self) -> int:
        """Return the number of seams with known offsets."""
        return int(np.count_nonzero(self._row >= 0))

    def forget(self) -> None:
        """Empty the cache."""
        self._row[:], self._offsets = -1, None

    def around(self, seams: IntArray, find: Callable[[IntArray], Offsets]) -> tuple[Offsets, IntArray]:
        """Return offsets, and the indices of seams (W,) among them, (W,).

        find: computes the offsets of distinct seams (N,) that are not cached.
        """
        at = self._row.take(seams)
        if self._offsets is None or np.count_nonzero(at < 0):
            self._find(np.unique(seams), find)
            at = self._row.take(seams)
        assert self._offsets is not None
        return self._offsets, at

    def _find(self, seams: IntArray, find: Callable[[IntArray], Offsets]) -> None:
        missing = seams[self._row[seams] < 0]
        if len(self) + len(missing) > _MOST_SEAMS_KEPT:
            self.forget()
            missing = seams
        found, known = find(missing), self._offsets
        self._row[missing] = np.arange(len(missing)) + len(self)
        self._offsets = found if known is None else known.and_those_of(found)


@dataclass(frozen=True, eq=False)
class Inertialization(Offsets):
    """Inertialization on both sides of N seams: fading offsets that make pose and speed continuous.

    before_s, after_s: (N,) durations of the offsets on each side. offsets, rates: (N, 2, R, 3) at the seam, for the
    sides before and after, see Differing.

    The pose at the seam divides the difference between the last and the first pose as the seam divides the window. The
    speed there is the mean of both speeds, with the same weights, plus a term by the curve's slope, see vectors. To
    avoid overshoot where the speed changes, the pose at the seam is moved as by a uniform change of speed over the
    window. A rotation's offset is a rotation vector o: q = clip · exp o. The angular velocity of q is exp(−o)·ω +
    J(o)·o′ with the right Jacobian J.
    """

    before_s: FloatArray
    after_s: FloatArray
    offsets: FloatArray
    rates: FloatArray

    @classmethod
    def of(cls, crossing: Crossing, differing: Differing, before_s: FloatArray, after_s: FloatArray,
           slope: float) -> Inertialization:
        """Compute the offsets of these seams. slope: of the fade curve at the seam."""
        whole = before_s + after_s
        share = np.divide(before_s, whole, out=np.zeros(len(whole)), where=whole > 0.0)
        parts = np.stack((share, share - 1.0), axis=1)[..., None, None]
        steps_s = np.stack((crossing.out_step_s, crossing.into_step_s), axis=1)
        per_s = quotient(1.0, steps_s)[..., None, None]
        further_s = (_EVENLY * share * after_s)[:, None, None, None]
        slope_per_s = slope * (quotient(1.0, np.stack((before_s, after_s), axis=1)) * (1.0, -1.0))[..., None, None]
        out_before, out, into, into_after = (differing.vectors(pose) for pose in (
            crossing.out_before, crossing.out, crossing.into, crossing.into_after))
        speeds = np.stack((out - out_before, into_after - into), axis=1) * per_s
        change = speeds[:, 1:] - speeds[:, :1]
        further = further_s * change
        turns, turn_rates = _turning_offsets(crossing, parts, per_s)
        offsets = np.concatenate((turns, parts * (into - out)[:, None] + further), axis=2)
        rates = np.concatenate((turn_rates, parts * change - slope_per_s * further), axis=2)
        return cls(before_s, after_s, offsets, rates)

    def vectors(self, at: IntArray, time_s: FloatArray, curve: Weight) -> FloatArray:
        """Return the offsets at some instants; see Offsets.

        Let u run from 0 at the window's edge to 1 at the seam, let T be the side's duration, and let f(u) =
        curve(_eased_in(u)), which rises from 0 to 1. Before the seam the offset to the clip is o·f(u) + o′·T·(u −
        1)·f(u); after it, the same mirrored in time. At the edge the offset and its rate are 0.

        At the seam the offset is o, with the rate o′ ± o·f′(1)/T. The offsets of both sides divide the difference d
        from the last pose to the first one as their durations T_a and T_b divide the window. So on either side the rate
        is o′ + d·f′(1)/(T_a + T_b), and pose and speed are continuous for every curve. A curve that is level there adds
        nothing to the speed; LINEAR adds d's mean speed.

        After D. Bollo, Inertialization, GDC 2018, which acts only after the seam, and with one polynomial.
        """
        is_after = (time_s >= 0.0).astype(np.intp)
        side_s = np.where(is_after, self.after_s[at], self.before_s[at])
        u = np.maximum(1.0 - np.abs(time_s) / np.maximum(side_s, _NO_TIME_S), 0.0)
        rise = curve(_eased_in(u))
        rate_s = np.where(is_after, -side_s, side_s) * (u - 1.0) * rise
        found, change = self.offsets[at, is_after], self.rates[at, is_after]
        found *= rise[:, None, None]
        change *= rate_s[:, None, None]
        found += change
        return found


def _eased_in(u: FloatArray) -> FloatArray:
    """Return 2u² − u³: from 0 to 1, level at 0, slope 1 at 1.

    >>> _eased_in(np.array((0.0, 0.5, 1.0))).tolist()
    [0.0, 0.375, 1.0]
    """
    return u * u * (2.0 - u)


def _turning_offsets(crossing: Crossing, parts: FloatArray, per_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return rotation vectors at N seams and their rates, (N, 2, J, 3), for the sides before and after.

    parts: (N, 2, 1, 1) each side's share of the difference. per_s: 1 ÷ the time steps of the speeds.
    """
    earlier, later = (np.stack([pose.rotations for pose in poses], axis=1) for poses in (
        (crossing.out_before, crossing.into, crossing.out), (crossing.out, crossing.into_after, crossing.into)))
    turns = rot.log(rot.multiply(rot.conjugate(earlier), later))
    speeds, turn = turns[:, :2] * per_s, turns[:, 2]
    if crossing.is_long is not None:
        turn = np.where(crossing.is_long[..., None], long_arc(turn), turn)
    offsets = parts * turn[:, None]
    turned = rot.rotate(rot.exp(-offsets), speeds)
    wanted = turned[:, :1] + (turned[:, 1:] - turned[:, :1]) * parts[:, :1]
    return offsets, _rate(offsets, wanted - turned)


def _rate(o: FloatArray, velocity: FloatArray) -> FloatArray:
    """Return J⁻¹(o)·v = v + ½ o×v + (1/θ² − (1 + cos θ)/(2θ sin θ)) o×(o×v), θ = |o| (Sola et al. 2018, eq. 144)."""
    angle = np.linalg.norm(o, axis=-1)
    half = np.maximum(angle / 2.0, _SMALL_RAD)
    factor = np.where(angle > 2.0 * _SMALL_RAD, (1.0 - half / np.tan(half)) / (4.0 * half * half), 1.0 / 12.0)
    across = rot.cross(o, velocity)
    return np.asarray(velocity + 0.5 * across + factor[..., None] * rot.cross(o, across))


def _vectors(*poses: Pose) -> Iterator[tuple[FloatArray, ...]]:
    yield tuple(pose.translations for pose in poses)
    yield tuple(pose.scales for pose in poses)
