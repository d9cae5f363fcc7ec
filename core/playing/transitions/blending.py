"""What a transition does to the poses in its window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...clips.keys import INTERPOLATIONS, TRANSLATION_INTERPOLATIONS, Interpolation, TranslationInterpolation
from ...errors import TaktError
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.skeleton import Pose
from .curves import CURVES, JOINT_TIMES, PACES, Weight, curve_named, joint_time_named, pace_named
from .limits import long_arc
from .methods import TRANSITION_METHODS, method_named

Offsets = tuple[FloatArray, FloatArray]

_SMALL_RAD = 1e-4
"""Half-angles below this take the limit of the Jacobian's factor, which differs by less than angle²/700."""

@dataclass(frozen=True)
class Style:
    """How clips and transitions are blended; identifiers of TRANSITION_METHODS, CURVES, INTERPOLATIONS and so on.

    pace: how time runs over the transition's own motion. joint_time: whether joints share the transition's length
    or take their own, and where in it.
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
        """Return how far the transition's own motion has come at shares (N,) of its time, (N, J) or (N, 1) in 0…1.

        own: (N, J) how much of the transition's length each joint takes, where joints take their own.
        """
        time = share[:, None]
        if own is not None:
            wait = JOINT_TIMES[self.joint_time].wait * (1.0 - own)
            time = np.clip(np.divide(time - wait, own, out=np.ones_like(own), where=own > 0.0), 0.0, 1.0)
        return PACES[self.pace].progress(time)


@dataclass(frozen=True, eq=False)
class Crossing:
    """Both sides of N seams.

    out, into: (N, J, …) the last pose before and the first one after; out_before: the pose out_step_s (N,) before out;
    into_after: that into_step_s (N,) after into. A step of 0: nothing is known of speeds there.
    is_long: (N, J) which joints turn along the longer arc from out to into; None: none does.
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
    """Mix the transition's own motion, from the last pose to the first one, into poses (F, J, …).

    at: (F,) the crossing of each; is_after: (F,) whether the clip that enters plays there; progress: (F, J) or (F, 1)
    how far the transition has come; weight: (F,) how much it counts.
    The transition takes the shorter arc, or the longer one where the crossing says so. Signs of quaternions follow the
    motion from there: the clip before keeps the sign of its last pose, the clip after that of its first one. So the arc
    between clip and transition is the shorter one at the seam, and the same one everywhere else, also where a clip
    turns so far that both arcs become equally long: to choose anew at each instant would make the pose jump there.
    (It still jumps where a clip turns by more than a whole turn within the window.)
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
class Inertialization:
    """Offsets that make pose and speed agree at N seams, and fade out on both sides; the same at every instant.

    before_s, after_s: (N,) how long the offsets last on each side. turning, moving, scaling: the offsets at the seam
    (2, N, J, 3) and their rates, for the sides before and after.
    The pose at the seam divides the difference between the last pose and the first one as the seam divides the window;
    the speed there is the mean of both speeds, weighted likewise, plus what the curve adds (see apply). A rotation's
    offset is a rotation vector: q = clip · exp o, whose angular velocity is exp(−o)·ω + J(o)·o′ with the right
    Jacobian J.
    """

    before_s: FloatArray
    after_s: FloatArray
    turning: Offsets
    moving: Offsets
    scaling: Offsets

    @classmethod
    def of(cls, crossing: Crossing, before_s: FloatArray, after_s: FloatArray) -> Inertialization:
        """Find the offsets of these seams."""
        whole = before_s + after_s
        share = np.divide(before_s, whole, out=np.zeros(len(whole)), where=whole > 0.0)[:, None]
        before = _vectors(crossing.out, crossing.out_before)
        after = _vectors(crossing.into, crossing.into_after)
        lines = []
        for (a, a_before), (b, b_after) in zip(before, after, strict=True):
            a_speed, b_speed = _per_s(a - a_before, crossing.out_step_s), _per_s(b_after - b, crossing.into_step_s)
            lines.append(_line_offsets(a, b, a_speed, b_speed, share[..., None]))
        return cls(before_s, after_s, _turning_offsets(crossing, share), *lines)

    def apply(self, pose: Pose, at: IntArray, time_s: FloatArray, curve: Weight) -> Pose:
        """Add the offsets to poses (F, J, …); at: (F,) which seam; time_s: (F,) from the seam, negative before it.

        With u from 0 at the window's edge to 1 at the seam, T the side's length, a curve that rises from 0 to 1 and f
        the same begun gently (see _eased_in), the offset to the clip is o·f(u) + o′·T·(u − 1)·f(u) before the seam, and
        mirrored in time after it. At the seam it is o, and changes at the rate o′ ± o·f′(1)/T. The offsets of both
        sides divide the difference d from the last pose to the first one as their lengths T_a and T_b divide the
        window, so on either side that rate is o′ + d·f′(1)/(T_a + T_b): pose and speed are continuous for every curve.
        A curve that is level there adds nothing to the speed; LINEAR adds d's mean speed. At the edge the offset is 0,
        and does not change yet. (After Bollo 2018, Inertialization, which does this after the seam only
        and with one polynomial.)
        """
        is_after = (time_s >= 0.0).astype(np.intp)
        side_s = np.where(is_after, self.after_s[at], self.before_s[at])
        u = np.clip(1.0 - np.divide(np.abs(time_s), side_s, out=np.ones(len(side_s)), where=side_s > 0.0), 0.0, 1.0)
        rise = curve(_eased_in(u))
        weight, rate_s = rise[:, None, None], (np.where(is_after, -side_s, side_s) * (u - 1.0) * rise)[:, None, None]

        def offset(offsets: FloatArray, rates: FloatArray) -> FloatArray:
            return np.asarray(offsets[is_after, at] * weight + rates[is_after, at] * rate_s)

        return Pose(rot.multiply(pose.rotations, rot.exp(offset(*self.turning))),
                    pose.translations + offset(*self.moving), pose.scales + offset(*self.scaling))


def _eased_in(u: FloatArray) -> FloatArray:
    """Return 2u² − u³, which rises from 0 to 1 as u does, level at 0 and as steep as u at 1.

    >>> _eased_in(np.array((0.0, 0.5, 1.0))).tolist()
    [0.0, 0.375, 1.0]
    """
    return u * u * (2.0 - u)


def _line_offsets(a: FloatArray, b: FloatArray, a_speed: FloatArray, b_speed: FloatArray,
                  share: FloatArray) -> Offsets:
    """Return offsets at the seam and their rates, (2, N, J, 3), for the sides before and after."""
    shift, change = b - a, b_speed - a_speed
    return np.stack((share * shift, (share - 1.0) * shift)), np.stack((share * change, (share - 1.0) * change))


def _turning_offsets(crossing: Crossing, share: FloatArray) -> Offsets:
    out, into = crossing.out.rotations, crossing.into.rotations
    a_speed = _per_s(rot.log(rot.multiply(rot.conjugate(crossing.out_before.rotations), out)), crossing.out_step_s)
    b_speed = _per_s(rot.log(rot.multiply(rot.conjugate(into), crossing.into_after.rotations)), crossing.into_step_s)
    turn = rot.log(rot.multiply(rot.conjugate(out), into))
    if crossing.is_long is not None:
        turn = np.where(crossing.is_long[..., None], long_arc(turn), turn)
    a, b = share[..., None] * turn, (share[..., None] - 1.0) * turn
    a_turned, b_turned = rot.rotate(rot.exp(-a), a_speed), rot.rotate(rot.exp(-b), b_speed)
    wanted = a_turned + (b_turned - a_turned) * share[..., None]
    return np.stack((a, b)), np.stack((_rate(a, wanted - a_turned), _rate(b, wanted - b_turned)))


def _rate(o: FloatArray, velocity: FloatArray) -> FloatArray:
    """Return J⁻¹(o)·v = v + ½ o×v + (1/θ² − (1 + cos θ)/(2θ sin θ)) o×(o×v), θ = |o| (Sola et al. 2018, eq. 144)."""
    angle = np.linalg.norm(o, axis=-1)
    half = np.maximum(angle / 2.0, _SMALL_RAD)
    factor = np.where(angle > 2.0 * _SMALL_RAD, (1.0 - half / np.tan(half)) / (4.0 * half * half), 1.0 / 12.0)
    across = rot.cross(o, velocity)
    return np.asarray(velocity + 0.5 * across + factor[..., None] * rot.cross(o, across))


def _per_s(change: FloatArray, time_s: FloatArray) -> FloatArray:
    time = time_s[:, None, None]
    return np.divide(change, time, out=np.zeros_like(change), where=time > 0.0)


def _vectors(*poses: Pose) -> Iterator[tuple[FloatArray, ...]]:
    yield tuple(pose.translations for pose in poses)
    yield tuple(pose.scales for pose in poses)
