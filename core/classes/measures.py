"""Measure the motion of a clip: in lengths of the legs, above its own ground, relative to its heading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import poses_at
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray
from ..retargeting.comparing.reference import find_reference
from ..skeletons.hanim import UP
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import world_from_pose

STEP_S: Final = 1.0 / 30.0
MOST_FRAMES: Final = 1_800
"""What is longer is looked at less often."""
_GROUND_PERCENT: Final = 1.0
_EDGE_S: Final = 0.15
"""What a body does so near an end of a clip is the pose that it begins or ends in."""
_LIMB_ENDS: Final = {"left arm": ("l_wrist", "l_shoulder"), "right arm": ("r_wrist", "r_shoulder"),
                     "left leg": ("l_ankle", "l_hip"), "right leg": ("r_ankle", "r_hip")}
_NEEDED: Final = ("l_hip", "r_hip", "l_knee", "r_knee", "l_ankle", "r_ankle", "l_shoulder", "r_shoulder")


@dataclass(frozen=True, eq=False)
class Followed:
    """The motion of a body in a clip, in H-Anim's axes (Y up), in lengths of its legs, above its ground.

    times_s: (F,). at: positions (F, 3) of joints by their H-Anim names. forward: (F, 3) horizontal unit vectors, the
    heading of hips and shoulders. stands: height of the middle of
    the hips above the ground in a standing pose, in the same unit.
    """

    times_s: FloatArray
    at: Mapping[str, FloatArray]
    forward: FloatArray
    stands: float

    @property
    def hips(self) -> FloatArray:
        """The midpoint of both hips, (F, 3)."""
        return (self.at["l_hip"] + self.at["r_hip"]) / 2.0

    @property
    def chest(self) -> FloatArray:
        """The midpoint of both shoulders, (F, 3)."""
        return (self.at["l_shoulder"] + self.at["r_shoulder"]) / 2.0

    @property
    def trunk_up(self) -> FloatArray:
        """Cosine of the angle between the trunk and the vertical, (F,)."""
        trunk = self.chest - self.hips
        return np.asarray(trunk[:, 1] / np.maximum(np.linalg.norm(trunk, axis=1), 1e-9))

    def seen_from_body(self, points: FloatArray) -> FloatArray:
        """Return points (F, 3) in body space: left, up from the ground, in front of its hips."""
        away = points - self.hips * np.array((1.0, 0.0, 1.0))
        left = np.cross(UP, self.forward)
        return np.stack([(away * axis).sum(axis=1) for axis in (left, np.broadcast_to(UP, away.shape), self.forward)],
                        axis=-1)

    def near_start(self) -> slice:
        """Return the frames of the first pose."""
        return slice(0, max(int(np.searchsorted(self.times_s, _EDGE_S)), 1))

    def near_end(self) -> slice:
        """Return the frames of the last pose."""
        return slice(min(int(np.searchsorted(self.times_s, self.times_s[-1] - _EDGE_S)), len(self.times_s) - 1), None)


@dataclass(frozen=True)
class Posture:
    """The posture of a body.

    hips: height as a share of their standing height. trunk, thighs, shins: cosines of their angles with the
    vertical, negative if upside down. wrist, head: heights of the lower wrist and of the head. feet_ahead: distance
    of the ankles in front of the hips.
    """

    hips: float
    trunk: float
    thighs: float
    shins: float
    wrist: float
    head: float
    feet_ahead: float


@dataclass(frozen=True)
class Measures:
    """The measures of a clip; lengths in legs, angles in degrees, positive to the left.

    net, away: horizontal distance of the hips from their first position, at the end and at most. speed: horizontal,
    (left, ahead) per second, measured at the supporting foot, so that walking on the spot has a speed too. turn: change
    of heading. steps: number of changes of the supporting foot. carried: distance of each foot at the end
    from its first position; the smaller one. stride: by how much the distance of the feet varies. in_air_s: the longest
    time with both feet well above the ground; air_share: as a share of the clip. rise: greatest height of the hips
    above their usual height. energy: mean speed of limbs and trunk, relative to the hips;
    reach: greatest distance of a limb's end from its usual position. shares: each limb's share of the movement. closed:
    difference of the last pose from the first. start, end, middle: postures. hands: what they touch,
    each with its share of the time.
    """

    duration_s: float
    net: float
    away: float
    speed: tuple[float, float]
    turn: float
    steps: int
    carried: float
    stride: float
    in_air_s: float
    air_share: float
    rise: float
    energy: float
    reach: float
    shares: Mapping[str, float]
    closed: float
    start: Posture
    end: Posture
    middle: Posture
    hands: Mapping[str, float]
    is_looping: bool


def followed(clip: Clip, found: SkeletonMap) -> Followed | None:
    """Return the motion of a clip's body, or None if the skeleton is not a body, or lacks legs or shoulders.

    found: the map of the clip's skeleton.
    """
    reference = find_reference(clip, found)
    known, moved = reference.map, reference.clip
    if known.turn is None or not known.is_humanoid or not set(_NEEDED) <= known.joint_of.keys():
        return None
    count = int(min(max(np.ceil(clip.duration_s / STEP_S) + 1.0, 2.0), MOST_FRAMES))
    times = np.linspace(0.0, clip.duration_s, count)
    world = world_from_pose(moved.skeleton, poses_at(moved, times))[..., 3]
    to_hanim = rot.to_matrix(known.turn)  # columns: H-Anim's axes in the model's
    rest = moved.skeleton.rest_world[..., 3] @ to_hanim
    joints = known.joint_of
    leg = known.leg_length
    if not leg > 0.0:
        return None
    seen = world @ to_hanim / leg
    body = list(joints.values())
    ground = float(np.percentile(seen[:, body, 1].min(axis=1), _GROUND_PERCENT))
    at = {name: seen[:, joint] - ground * UP for name, joint in joints.items()}
    stands = float((rest[joints["l_hip"], 1] + rest[joints["r_hip"], 1]) / 2.0 - rest[body, 1].min()) / leg
    return Followed(times, at, _forward(at), max(stands, 0.5))


def _forward(at: Mapping[str, FloatArray]) -> FloatArray:
    """Return the heading, horizontal, (F, 3): across hips and shoulders; while it is undefined, the previous one."""
    left = sum(at[f"l_{part}"] - at[f"r_{part}"] for part in ("hip", "shoulder"))
    ahead = np.cross(left, UP)
    length = np.linalg.norm(ahead, axis=1)
    clear = length > 0.2 * np.median(length) if np.median(length) > 0.0 else np.zeros(len(length), np.bool_)
    if not clear.any():
        return np.tile(np.array((0.0, 0.0, 1.0)), (len(length), 1))
    last = np.maximum.accumulate(np.where(clear, np.arange(len(length)), -1))
    ahead = ahead[np.where(last < 0, int(np.argmax(clear)), last)]
    return np.asarray(ahead / np.linalg.norm(ahead, axis=1, keepdims=True))


def measure(body: Followed, *, is_looping: bool = False) -> Measures:
    """Return the measures of a motion."""
    times, hips = body.times_s, body.hips
    level = hips[:, [0, 2]]
    yaw = np.unwrap(np.arctan2(body.forward[:, 0], body.forward[:, 2]))
    in_air: BoolArray = np.asarray((_above_own_ground(body) > _IN_AIR).all(axis=1))
    energy, reach, shares = _energy(body)
    away = np.linalg.norm(level - level[0], axis=1)
    steps, speed, stride = _gait(body)
    ankles = np.stack([body.at[f"{side}_ankle"][[0, -1]][:, [0, 2]] for side in "lr"], axis=1)
    carried = float(np.linalg.norm(ankles[1] - ankles[0], axis=1).min())
    return Measures(
        float(times[-1] - times[0]), float(away[-1]), float(away.max()), speed,
        float(np.degrees(yaw[-1] - yaw[0])), steps, carried, stride, _longest(in_air, times), float(in_air.mean()),
        float(np.percentile(hips[:, 1], 99.0) - np.median(hips[:, 1])), energy, reach, shares, _closed(body),
        _held(body, body.near_start()), _held(body, body.near_end()), _held(body, slice(None)), _hands(body),
        is_looping)


def _above_own_ground(body: Followed) -> FloatArray:
    """Return the height of each ankle above its usual lowest one, (F, 2); the lower of both is the ground."""
    heights = np.stack([body.at[f"{side}_ankle"][:, 1] for side in "lr"], axis=1)
    return np.asarray(heights - np.percentile(heights, _GROUND_PERCENT, axis=0).min())


def _gait(body: Followed) -> tuple[int, tuple[float, float], float]:
    """Return the number of steps, the speed of the supporting foot, and the stride.

    When a body walks on the spot, the supporting foot moves backwards, as on a treadmill. The supporting foot is the
    lower one; another foot becomes it only if it is lower by a margin.
    """
    seen = np.stack([body.seen_from_body(body.at[f"{side}_ankle"]) for side in "lr"], axis=1)
    lower = seen[:, 0, 1] - seen[:, 1, 1]
    sure = np.where(lower < -_LOWER, 0, np.where(lower > _LOWER, 1, -1))
    last = np.maximum.accumulate(np.where(sure >= 0, np.arange(len(sure)), -1))
    bearing = np.where(last >= 0, sure[np.maximum(last, 0)], -1)
    known = bearing[bearing >= 0]
    steps = int(np.count_nonzero(np.diff(known)))
    yaw = np.unwrap(np.arctan2(body.forward[:, 0], body.forward[:, 2]))
    step_s = float(body.times_s[1] - body.times_s[0]) or STEP_S
    goes = np.diff(seen[:, :, [0, 2]], axis=0) / step_s
    turning = np.diff(yaw)[:, None] / step_s  # a turn about the hips moves standing feet in body space
    around = np.stack((-seen[:-1, :, 2], seen[:-1, :, 0]), axis=-1) * turning[..., None]
    rows = np.flatnonzero((bearing[:-1] >= 0) & (bearing[:-1] == bearing[1:]))
    way = -(goes + around)[rows, bearing[rows]]
    speed = np.median(way, axis=0) if len(rows) >= _FEWEST else np.zeros(2)
    stride = float(np.ptp(seen[:, 0, [0, 2]] - seen[:, 1, [0, 2]], axis=0).max())
    return steps, (float(speed[0]), float(speed[1])), stride


def _longest(is_so: BoolArray, times: FloatArray) -> float:
    """Return the longest time in seconds for which a condition (F,) holds."""
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), is_so, (False,)))))
    lasts = times[np.minimum(edges[1::2], len(times) - 1)] - times[edges[::2]]
    return float(lasts.max(initial=0.0))


def _held(body: Followed, frames: slice) -> Posture:
    def upright(low: str, high: str) -> float:
        ways = [body.at[f"{side}_{high}"][frames] - body.at[f"{side}_{low}"][frames] for side in "lr"]
        return float(np.mean([(way[:, 1] / np.maximum(np.linalg.norm(way, axis=1), 1e-9)).mean() for way in ways]))

    wrists = [body.at[name][frames, 1].mean() for name in ("l_wrist", "r_wrist") if name in body.at]
    head = body.at["skullbase"][frames, 1].mean() if "skullbase" in body.at else body.chest[frames, 1].mean()
    ahead = np.mean([body.seen_from_body(body.at[f"{side}_ankle"])[frames, 2].mean() for side in "lr"])
    return Posture(float(body.hips[frames, 1].mean() / body.stands), float(body.trunk_up[frames].mean()),
                upright("knee", "hip"), upright("ankle", "knee"), float(min(wrists, default=1.0)), float(head),
                float(ahead))


def _energy(body: Followed) -> tuple[float, float, dict[str, float]]:
    """Return the mean speed of the limbs' ends and the trunk, their greatest reach, and the share of each limb."""
    seen = {name: body.seen_from_body(body.at[end]) - body.seen_from_body(body.at[start])
            for name, (end, start) in _LIMB_ENDS.items() if end in body.at}
    way = {name: float(np.linalg.norm(np.diff(each, axis=0), axis=1).sum()) for name, each in seen.items()}
    trunk = body.seen_from_body(body.chest)
    every = [*way.values(), float(np.linalg.norm(np.diff(trunk, axis=0), axis=1).sum())]
    duration, total = max(float(body.times_s[-1]), STEP_S), max(sum(way.values()), 1e-9)
    ends = [*seen.values(), trunk, body.seen_from_body(body.at.get("skullbase", body.chest))]
    reach = max(float(np.percentile(np.linalg.norm(each - np.median(each, axis=0), axis=1), 95.0)) for each in ends)
    return float(np.mean(every)) / duration, reach, {name: each / total for name, each in way.items()}


def _closed(body: Followed) -> float:
    """Return the mean distance of joints between the first and the last pose, in body space."""
    names = [name for name in (*(end for ends in _LIMB_ENDS.values() for end in ends), "l_knee", "r_knee")
             if name in body.at]
    seen = [body.seen_from_body(body.at[name]) for name in names]
    return float(np.mean([np.linalg.norm(each[-1] - each[0]) for each in seen]))


def _hands(body: Followed) -> dict[str, float]:
    """Return what the hands touch, each with its share of the time, by distances between joints."""
    wrists = [body.at[name] for name in ("l_wrist", "r_wrist") if name in body.at]
    if len(wrists) < 2:
        return {}
    near = {"hands together": np.linalg.norm(wrists[0] - wrists[1], axis=1) < _TOGETHER,
            "hands on the ground": np.minimum(wrists[0][:, 1], wrists[1][:, 1]) < _ON_GROUND}
    if "skullbase" in body.at:
        head = body.at["skullbase"] + 0.12 * (body.at["skullbase"] - body.chest)
        near["hand on the head"] = np.minimum.reduce([np.linalg.norm(wrist - head, axis=1) for wrist in wrists]) < _HEAD
    sides = [np.linalg.norm(wrist - body.at[f"{side}_hip"], axis=1) for side, wrist in zip("lr", wrists, strict=True)]
    bent = [_bent(body, side) for side in "lr"]
    near["hand on the hip"] = np.logical_or.reduce([(away < _HIP) & flexed for away, flexed in
                                                    zip(sides, bent, strict=True)])
    return {name: float(np.mean(is_near)) for name, is_near in near.items()}


def _bent(body: Followed, side: str) -> BoolArray:
    """Return when an elbow is bent by 50° or more, (F,)."""
    if f"{side}_elbow" not in body.at:
        return np.zeros(len(body.times_s), np.bool_)
    upper = body.at[f"{side}_elbow"] - body.at[f"{side}_shoulder"]
    lower = body.at[f"{side}_wrist"] - body.at[f"{side}_elbow"]
    lengths = np.maximum(np.linalg.norm(upper, axis=1) * np.linalg.norm(lower, axis=1), 1e-9)
    return np.asarray((upper * lower).sum(axis=1) / lengths < np.cos(np.radians(50.0)))


_IN_AIR: Final = 0.1
"""In legs: so high above its ground an ankle is off it, also while the heel alone is raised."""
_LOWER: Final = 0.025
"""In legs: a foot that is lower than the other by more bears the body."""
_FEWEST: Final = 4
_TOGETHER: Final = 0.22
_ON_GROUND: Final = 0.16
_HEAD: Final = 0.32
_HIP: Final = 0.27
"""In legs: wrists are so near to each other, to the ground, to the middle of the head, to the hip's joint."""
