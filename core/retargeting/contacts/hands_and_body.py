"""Palms of a body, and shapes of trunk, head and thighs, which they may touch."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from ...clips.thresholds import STRAIGHT
from ...maths import rotations as rot
from ...maths.arrays import BoolArray, FloatArray, IntArray, smoothstep
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ..comparing.palms import knuckle_names
from ..ground.bearing_trunk import FEWEST
from ..limbs import Limb, LimbPoses, both_arms
from ..skin_points import SkinPoints, evenly_around
from .hull import Hull, Hulls
from .trunk import TRUNK, Trunk, usual_trunk

_HEAD: Final = np.array((0.0, 0.05, 0.013)), np.array((0.052, 0.077, 0.066))
"""The middle of a standard head relative to its joint, and its half size, in body heights: left, up, front."""
_THIGH: Final = 0.057, 0.037
"""Radii of a standard thigh at the hip and at the knee, likewise."""
_HAND: Final = 0.012
"""Half thickness of a standard hand, likewise."""
_MOST_OF_HAND: Final = (10.0, 90.0)
"""Percentiles of a hand's skin that give its thickness: thumbs and bent fingers stick out."""
_BEYOND_WRIST: Final = 0.35
"""Distance of a palm beyond the wrist, as a share of the forearm, if nothing shows it."""
_STRETCHED: Final = (0.9, STRAIGHT)
"""An arm is stretched from the second share of its length on; below the first it is not."""
_HANGS: Final = np.cos(np.radians((35.0, 20.0)))
"""Cosines of the angle between a straight arm and the thigh: the arm does not hang below the first value, and hangs
completely from the second on."""


@dataclass(frozen=True, eq=False)
class HandsAndBody:
    """Hands of a body and what they may touch.

    arms: left and right. palms: (2, 3) each palm in its wrist's space. thickness: half of a hand's. thighs: hips and
    knees, if both sides are known. parts: hulls by the part that they belong to. height: of the body; lengths are in
    model units. has_skin: shapes are those of the skin, not the standard ones.
    """

    arms: tuple[Limb, Limb]
    palms: FloatArray
    thickness: float
    thighs: tuple[tuple[int, int], ...]
    parts: Mapping[str, tuple[Hull, ...]]
    height: float
    has_skin: bool

    @classmethod
    def of(cls, found: SkeletonMap, skin: SkinPoints | None) -> HandsAndBody | None:
        """Return the hands and parts of a map's skeleton, or None if an arm or the body's height is unknown."""
        joint_of, arms, height = found.joint_of, both_arms(found), height_of(found)
        if arms is None or height <= 0.0:
            return None
        thighs = tuple((joint_of[f"{side}_hip"], joint_of[f"{side}_knee"]) for side in "lr"
                       if {f"{side}_hip", f"{side}_knee"} <= joint_of.keys())
        palms = np.stack([_palm(found, side, arm, skin) for side, arm in zip("lr", arms, strict=True)])
        return cls(arms, palms, _thickness(arms, skin, found.skeleton.parents, height), thighs,
                   _parts(found, skin, height), height, skin is not None)

    @property
    def joints(self) -> set[int]:
        """The joints that determine these shapes."""
        return {joint for limb in (*self.arms, *self.thighs) for joint in limb} | {
            hull.joint for part in self.parts.values() for hull in part}

    def numbered(self, row: Mapping[int, int]) -> HandsAndBody:
        """Return a copy with other joint numbers."""
        left, right = (Limb(*(row[joint] for joint in arm)) for arm in self.arms)
        return replace(self, arms=(left, right), thighs=tuple((row[a], row[b]) for a, b in self.thighs),
                       parts={name: tuple(replace(hull, joint=row[hull.joint]) for hull in part)
                              for name, part in self.parts.items()})

    def hanging(self, world: FloatArray) -> FloatArray:
        """Return how far arms hang beside their legs, (F, 2), 0 to 1: hanging hands touch nothing."""
        if len(self.thighs) < 2:
            return np.zeros((len(world), 2))
        hangs = []
        for arm, (hip, knee) in zip(self.arms, self.thighs, strict=True):
            first, middle, last, top, end = (world[:, joint, :, 3] for joint in (*arm, hip, knee))
            reached, thigh = np.linalg.norm(last - first, axis=1), end - top
            length = np.linalg.norm(middle - first, axis=1) + np.linalg.norm(last - middle, axis=1)
            cosine = np.sum((last - first) * thigh, axis=1) / np.maximum(
                reached * np.linalg.norm(thigh, axis=1), 1e-30)
            hangs.append(smoothstep(reached / np.maximum(length, 1e-30), *_STRETCHED) * smoothstep(cosine, *_HANGS))
        return np.stack(hangs, axis=1)


class InFrames:
    """Hands of a body and its parts in F frames, placed once for all queries."""

    def __init__(self, body: HandsAndBody, world: FloatArray) -> None:
        """Place a body. world: (F, J, 3, 4) of its joints."""
        self.body, self._placed = body, cache(lambda part: Hulls.placed(body.parts[part], world))
        wrists = world[:, [arm.last for arm in body.arms]]
        self._wrists = wrists[..., 3]
        self._palms = (wrists[..., :3] * body.palms[:, None]).sum(axis=-1)

    def at(self, frames: IntArray) -> InFrames:
        """Return some of the frames."""
        some = copy(self)
        some._wrists, some._palms = self._wrists[frames], self._palms[frames]
        some._placed = cache(lambda part: self._placed(part).at(frames))
        return some

    def palms(self, arms: LimbPoses | None = None) -> FloatArray:
        """Return the positions of the palms, (F, 2, 3). arms: (F, 2), if they differ from the placed body."""
        return np.asarray(self._palms + (self._wrists if arms is None else arms.last))

    def outside(self, palms: FloatArray, part: str, far: float = np.inf,
                wanted: BoolArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return how far hands at (F, 2, 3) are outside a part, (F, 2), and the directions out, (F, 2, 3).

        Hands not wanted (F, 2), or farther than `far`, are infinitely far outside.
        """
        thickness = self.body.thickness
        outside, out = self._placed(part).outside(palms, thickness, far + thickness, wanted)
        return outside - thickness, out

    def distance(self, palms: FloatArray, part: str, far: float) -> FloatArray:
        """Return how far hands at (F, 2, 3) are outside a part, (F, 2); see outside."""
        thickness = self.body.thickness
        return self._placed(part).distance(palms, thickness, far + thickness) - thickness


def height_of(found: SkeletonMap) -> float:
    """Return the height of a body at rest from ankles to the base of the skull, along its limbs; 0 if unknown."""
    position, joint_of = found.skeleton.rest_world[:, :, 3], found.joint_of
    chain = [joint_of.get(name, -1) for name in ("l_ankle", "l_knee", "l_hip", "skullbase")]
    return 0.0 if min(chain) < 0 else float(np.linalg.norm(np.diff(position[chain], axis=0), axis=1).sum())


def head_of(found: SkeletonMap, skin: SkinPoints | None) -> Hull | None:
    """Return the head of a map's skeleton, of standard shape without skin, or None if it is unknown."""
    height = height_of(found)
    return _parts(found, skin, height).get("head", (None,))[0] if height > 0.0 else None


def _parts(found: SkeletonMap, skin: SkinPoints | None, height: float) -> dict[str, tuple[Hull, ...]]:
    """Return trunk, head and thighs, as far as they are known."""
    points = _usual_points(found, height) if skin is None else _points_of_skin(found, skin)
    parts: dict[str, tuple[Hull, ...]] = {}
    for part, by_joint in points.items():
        hulls = [Hull.of(own, joint, found.skeleton) for joint, own in by_joint.items() if len(own) >= FEWEST]
        if hulls:
            parts[part] = tuple(hulls)
    return parts


def _points_of_skin(found: SkeletonMap, skin: SkinPoints) -> dict[str, dict[int, FloatArray]]:
    """Return the skin (P, 3) of each joint of each part; a thigh's is all skin above the knee."""
    parents, joint_of, owner = found.skeleton.parents, found.joint_of, skin.joints[:, 0]

    def below(name: str, end: str = "") -> FloatArray:
        of_part = with_descendants(parents, np.array([joint_of[name]]))
        if end in joint_of:
            of_part &= ~with_descendants(parents, np.array([joint_of[end]]))
        return skin.positions[of_part[owner]]

    points = {"trunk": {joint_of[name]: skin.positions[owner == joint_of[name]] for name in TRUNK if name in joint_of}}
    if "skullbase" in joint_of:
        points["head"] = {joint_of["skullbase"]: below("skullbase")}
    for side in "lr":
        if {f"{side}_hip", f"{side}_knee"} <= joint_of.keys():
            points[f"{side}_thigh"] = {joint_of[f"{side}_hip"]: below(f"{side}_hip", f"{side}_knee")}
    return points


def _usual_points(found: SkeletonMap, height: float) -> dict[str, dict[int, FloatArray]]:
    """Return points (P, 3) of the standard shapes of a body's parts, by the joints that carry them."""
    joint_of, at, ball = found.joint_of, found.skeleton.rest_world[:, :, 3], evenly_around(100)
    trunk = Trunk.of(found, found.skeleton, None)
    points: dict[str, dict[int, FloatArray]] = {}
    if trunk is not None:
        points["trunk"] = usual_trunk(trunk)
    if "skullbase" in joint_of and found.turn is not None:
        middle, size = (rot.rotate(found.turn, height * sizes) for sizes in (_HEAD[0], ball * _HEAD[1]))
        points["head"] = {joint_of["skullbase"]: at[joint_of["skullbase"]] + middle + size}
    for side in "lr":
        if {f"{side}_hip", f"{side}_knee"} <= joint_of.keys():
            ends = (at[joint_of[f"{side}_hip"]], at[joint_of[f"{side}_knee"]])
            points[f"{side}_thigh"] = {joint_of[f"{side}_hip"]: np.concatenate(
                [end + height * thick * ball for end, thick in zip(ends, _THIGH, strict=True)])}
    return points


def _palm(found: SkeletonMap, side: str, arm: Limb, skin: SkinPoints | None) -> FloatArray:
    """Return a palm's position in its wrist's space: at the knuckles, else in the middle of the hand's skin."""
    rest, joint_of = found.skeleton.rest_world, found.joint_of
    knuckles = [joint_of[name] for name in knuckle_names(side) if name in joint_of]
    if knuckles:
        away = rest[knuckles, :, 3].mean(axis=0) - rest[arm.last, :, 3]
    else:
        hand = np.zeros((0, 3)) if skin is None else _of_hand(skin, found.skeleton.parents, arm)
        away = (hand.mean(axis=0) - rest[arm.last, :, 3] if len(hand) >= FEWEST else
                _BEYOND_WRIST * (rest[arm.last, :, 3] - rest[arm.middle, :, 3]))
    return np.linalg.solve(rest[arm.last, :, :3], away)


def _thickness(arms: tuple[Limb, Limb], skin: SkinPoints | None, parents: IntArray, height: float) -> float:
    """Return half of the hands' thickness, of flat hands and of fists, or the standard one."""
    hands = [] if skin is None else [_of_hand(skin, parents, arm) for arm in arms]
    heights = [hand @ np.linalg.eigh(np.cov(hand.T))[1][:, 0] for hand in hands if len(hand) >= FEWEST]
    known = [float(np.ptp(np.percentile(along, _MOST_OF_HAND))) / 2.0 for along in heights]
    return float(np.mean(known)) if known else _HAND * height


def _of_hand(skin: SkinPoints, parents: IntArray, arm: Limb) -> FloatArray:
    return skin.positions[with_descendants(parents, np.array([arm.last]))[skin.joints[:, 0]]]
