"""Numbers that say what a body does in a clip: in lengths of its legs, on its own ground, from where it faces."""

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
    """A body followed through a clip, in H-Anim's axes (Y up), in lengths of its legs, above its ground.

    times_s: (F,). at: positions (F, 3) of joints by their names in H-Anim. forward: (F, 3) level unit vectors to where
    hips and shoulders face.  stands: how high the middle of
    the hips is above the ground in the pose in which the body stands, in the same unit.
    """

    times_s: FloatArray
    at: Mapping[str, FloatArray]
    forward: FloatArray
    stands: float

    @property
    def hips(self) -> FloatArray:
        """The middle of both hips, (F, 3)."""
        return (self.at["l_hip"] + self.at["r_hip"]) / 2.0

    @property
    def chest(self) -> FloatArray:
        """The middle of both shoulders, (F, 3)."""
        return (self.at["l_shoulder"] + self.at["r_shoulder"]) / 2.0

    @property
    def trunk_up(self) -> FloatArray:
        """Cosine of the angle between the trunk and the vertical, (F,)."""
        trunk = self.chest - self.hips
        return np.asarray(trunk[:, 1] / np.maximum(np.linalg.norm(trunk, axis=1), 1e-9))

    def seen_from_body(self, points: FloatArray) -> FloatArray:
        """Return points (F, 3) from the body: to its left, up from the ground, in front of its hips."""
        away = points - self.hips * np.array((1.0, 0.0, 1.0))
        left = np.cross(UP, self.forward)
        return np.stack([(away * axis).sum(axis=1) for axis in (left, np.broadcast_to(UP, away.shape), self.forward)],
                        axis=-1)

    def near_start(self) -> slice:
        """Return the frames of the pose in which the clip begins."""
        return slice(0, max(int(np.searchsorted(self.times_s, _EDGE_S)), 1))

    def near_end(self) -> slice:
        """Return the frames of the pose in which it ends."""
        return slice(min(int(np.searchsorted(self.times_s, self.times_s[-1] - _EDGE_S)), len(self.times_s) - 1), None)


@dataclass(frozen=True)
class Held:
    """How a body is held in a pose.

    hips: their height as a share of that when it stands. trunk, thighs, shins: cosines of their angles with the
    vertical, upside down below 0. wrist, head: heights of the lower wrist and of the head. feet_ahead: how far the
    ankles are in front of the hips.
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
    """What is measured of a clip; lengths in legs, angles in degrees, of which those to the left are positive.

    net, away: how far from where they begin the hips end, and come at most, over the ground. speed: over the ground,
    (left, ahead) per second, as the foot tells that bears the body, also of one that walks on the spot. turn: from
    where it faces as it begins. steps: how often the other foot takes over. carried: how far each foot is at the end
    from where it began, at least. stride: how far the feet are moved apart and together. in_air_s: the longest time
    with both feet well above the ground; air_share: of the clip. rise: how much higher the hips come than they are
    most of the time. energy: mean speed of limbs and trunk, seen from the hips;
    reach: how far the farthest of their ends comes from where it mostly is. shares: of the limbs' way, by limb. closed:
    how far the end's pose is from the beginning's. start, end, middle: how the body is held. hands: what they touch,
    with the share of the time.
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
    start: Held
    end: Held
    middle: Held
    hands: Mapping[str, float]
    is_looping: bool


def followed(clip: Clip, found: SkeletonMap) -> Followed | None:
    """Follow the body of a clip, or None if the skeleton is no body, or lacks legs or shoulders.

    found: what the joints of the clip's skeleton are.
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
    legs = [rest[[joints[f"{side}_{part}"] for part in ("hip", "knee", "ankle")]] for side in "lr"]
    leg = float(np.mean([np.linalg.norm(np.diff(each, axis=0), axis=1).sum() for each in legs]))
    if not leg > 0.0:
        return None
    seen = world @ to_hanim / leg
    body = list(joints.values())
    ground = float(np.percentile(seen[:, body, 1].min(axis=1), _GROUND_PERCENT))
    at = {name: seen[:, joint] - ground * UP for name, joint in joints.items()}
    stands = float((rest[joints["l_hip"], 1] + rest[joints["r_hip"], 1]) / 2.0 - rest[body, 1].min()) / leg
    return Followed(times, at, _forward(at), max(stands, 0.5))


def _forward(at: Mapping[str, FloatArray]) -> FloatArray:
    """Return where the body faces, level, (F, 3): across hips and shoulders; while that is unclear, as before."""
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
    """Measure what a body does."""
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
    """Return how high each ankle is above where it seldom goes below, (F, 2); both have one ground if they are near."""
    heights = np.stack([body.at[f"{side}_ankle"][:, 1] for side in "lr"], axis=1)
    return np.asarray(heights - np.percentile(heights, _GROUND_PERCENT, axis=0).min())


def _gait(body: Followed) -> tuple[int, tuple[float, float], float]:
    """Return how often feet take turns, the speed by the foot that bears the body, and how far apart they move.

    Of a body that walks on the spot the bearing foot goes backwards, as on a treadmill. The bearing foot is the lower
    one; it takes over once it is lower by more than a little.
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
    turning = np.diff(yaw)[:, None] / step_s  # a turn about the hips moves feet that stand still as seen from there
    around = np.stack((-seen[:-1, :, 2], seen[:-1, :, 0]), axis=-1) * turning[..., None]
    rows = np.flatnonzero((bearing[:-1] >= 0) & (bearing[:-1] == bearing[1:]))
    way = -(goes + around)[rows, bearing[rows]]
    speed = np.median(way, axis=0) if len(rows) >= _FEWEST else np.zeros(2)
    stride = float(np.ptp(seen[:, 0, [0, 2]] - seen[:, 1, [0, 2]], axis=0).max())
    return steps, (float(speed[0]), float(speed[1])), stride


def _longest(is_so: BoolArray, times: FloatArray) -> float:
    """Return for how long something is so at most, in seconds."""
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), is_so, (False,)))))
    lasts = times[np.minimum(edges[1::2], len(times) - 1)] - times[edges[::2]]
    return float(lasts.max(initial=0.0))


def _held(body: Followed, frames: slice) -> Held:
    def upright(low: str, high: str) -> float:
        ways = [body.at[f"{side}_{high}"][frames] - body.at[f"{side}_{low}"][frames] for side in "lr"]
        return float(np.mean([(way[:, 1] / np.maximum(np.linalg.norm(way, axis=1), 1e-9)).mean() for way in ways]))

    wrists = [body.at[name][frames, 1].mean() for name in ("l_wrist", "r_wrist") if name in body.at]
    head = body.at["skullbase"][frames, 1].mean() if "skullbase" in body.at else body.chest[frames, 1].mean()
    ahead = np.mean([body.seen_from_body(body.at[f"{side}_ankle"])[frames, 2].mean() for side in "lr"])
    return Held(float(body.hips[frames, 1].mean() / body.stands), float(body.trunk_up[frames].mean()),
                upright("knee", "hip"), upright("ankle", "knee"), float(min(wrists, default=1.0)), float(head),
                float(ahead))


def _energy(body: Followed) -> tuple[float, float, dict[str, float]]:
    """Return the mean speed of the limbs' ends and of the trunk, how far they reach, and the share of each limb."""
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
    """Return how far joints are at the end from where they were, seen from the body, on average."""
    names = [name for name in (*(end for ends in _LIMB_ENDS.values() for end in ends), "l_knee", "r_knee")
             if name in body.at]
    seen = [body.seen_from_body(body.at[name]) for name in names]
    return float(np.mean([np.linalg.norm(each[-1] - each[0]) for each in seen]))


def _hands(body: Followed) -> dict[str, float]:
    """Return what hands touch, with the share of the time, by distances between joints."""
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
    """Tell when an elbow is bent, (F,): by 50° or more."""
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
