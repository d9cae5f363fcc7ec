"""Make clips from tables of key poses: two-bone inverse kinematics moves feet and hands to their targets.

A table gives for each channel rows of (time in seconds, values…). Between them values are interpolated by a
monotone cubic (Fritsch and Carlson 1980), so that a planted foot stays exactly in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.clips.clip import Clip, Tracks
from ..core.maths import rotations as rot
from ..core.maths.arrays import FloatArray, IntArray
from ..core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from .skeleton import build_skeleton, rest_positions

Rows = Sequence[tuple[float, ...]]
Table = Mapping[str, Rows]

KEYS_PER_S = 15
DIGITS = 6
X, Y, Z = np.eye(3)
MIRROR = np.array((-1.0, 1.0, 1.0))
MIRROR_TURN = np.array((1.0, 1.0, -1.0, -1.0))
EXACT = {"HumanoidRoot", "sacroiliac", *(f"{side}_{joint}" for side in "lr" for joint in ("hip", "knee", "ankle"))}
THIN_RAD = 0.012
REACH = 0.9985
"""A leg is never stretched further than this share of its length: the body sinks instead."""

# Default values of channels: a relaxed stance. Angles in degrees, lengths in metres.
NEUTRAL: dict[str, tuple[float, ...]] = {
    "root": (0.0, -0.006, 0.0),          # of the body, from rest
    "heading": (0.0,),                   # to the left
    "lean": (0.0, 0.0, 0.0),             # of the whole body above the feet: forwards, to the left, sideways
    "pelvis": (0.0, 0.0, 0.0),
    "waist": (0.0, 0.0, 0.0),
    "chest": (0.0, 0.0, 0.0),
    "head": (0.0, 0.0, 0.0),
    "foot": (0.0, 0.0, 0.0, 0.0, 0.0),   # x and z from rest, lift, heel up, turned to the left
    "hand": (0.248, 0.896, 0.040),       # of the wrist, before an upright chest; x outwards
    "elbow": (0.35, 0.0, -1.0),          # where the elbow points
    "palm": (0.0, 0.0, 0.0),             # forearm twisted, hand bent up, hand bent sideways
    "curl": (16.0,),                     # of the fingers
    "shrug": (0.0,),
}
SIDED = ("foot", "hand", "elbow", "palm", "curl", "shrug")
# signs of a channel's values seen in a mirror
MIRRORED: dict[str, tuple[float, ...]] = {
    "root": (-1, 1, 1), "heading": (-1,), "foot": (-1, 1, 1, 1, -1),
    "lean": (1, -1, -1), "pelvis": (1, -1, -1), "waist": (1, -1, -1), "chest": (1, -1, -1), "head": (1, -1, -1),
}
SPINE: dict[str, tuple[str, ...]] = {
    "waist": ("vl5", "vl3", "vl1"), "chest": ("vt10", "vt6", "vt3"), "head": ("vc7", "vc4", "skullbase"),
}
FINGERS = ("index", "middle", "ring", "pinky")
BALL_OF_HEEL = np.array((0.0, -0.080, -0.080))
"""From the ankle to where the heel touches the ground when the toes are up."""


def mirrored(table: Table) -> dict[str, Rows]:
    """Return the table of the same movement to the other side."""
    swap = {"l_": "r_", "r_": "l_"}
    out: dict[str, Rows] = {}
    for name, rows in table.items():
        base = name[2:] if name[:2] in swap else name
        signs = MIRRORED.get(base, (1.0,) * len(NEUTRAL[base]))
        out[swap.get(name[:2], name[:2]) + name[2:]] = [
            (row[0], *(v * s for v, s in zip(row[1:], signs, strict=True))) for row in rows]
    return out


def plant_foot(side: str, x: float, z: float, heading_deg: float) -> tuple[float, ...]:
    """Return the values of a foot's channel that plant it below a body that has moved by (x, z) and turned."""
    at = rest_positions()
    arm = at[f"{side}_ankle"] - at["HumanoidRoot"]
    turned = rot.rotate(rot.from_axis_angle(Y, np.radians(heading_deg)), arm) - arm
    return x + float(turned[0]), z + float(turned[2]), 0.0, 0.0, heading_deg


def build_clip(name: str, duration_s: float, table: Table) -> Clip:
    """Bake a table of key poses into a clip with keys at an even pace.

    Raises ValueError if the table names an unknown channel.
    """
    known = {c for c in NEUTRAL if c not in SIDED} | {s + c for s in ("l_", "r_") for c in SIDED}
    unknown = set(table) - known
    if unknown:
        raise ValueError(f"clip {name!r} moves the unknown channels {sorted(unknown)}; there are {sorted(known)}")
    times = np.linspace(0.0, duration_s, round(duration_s * KEYS_PER_S) + 1)
    channels = {c: eased(table[c], times) if c in table
                else np.tile(NEUTRAL[c.removeprefix("l_").removeprefix("r_")], (len(times), 1)) for c in sorted(known)}
    skeleton = build_skeleton()
    pose = pose_body(skeleton, channels)
    turns = np.round(rot.continuous(pose.rotations), DIGITS)
    turns = np.where(turns[:1, :, :1] < 0.0, -turns, turns)
    moved = np.flatnonzero((np.abs(turns[..., 1:]) > 10.0 ** -DIGITS).any(axis=(0, 2)))
    tracks = _thinned(skeleton, moved, times, turns)
    root = Tracks.uniform(np.array((0,)), times, np.round(pose.translations[:, :1], DIGITS))
    return Clip(name, skeleton, duration_s, tracks, root, Tracks.empty(3))


def eased(rows: Rows, times: FloatArray) -> FloatArray:
    """Interpolate rows of (time, values…), (F, C), without overshooting a key.

    At the ends a value that changes in one direction all along keeps its speed (a walk flows on); others come to rest.
    """
    table = np.array(rows, dtype=np.float64)
    t, values = table[:, 0], table[:, 1:]
    if len(t) == 1:
        return np.tile(values, (len(times), 1))
    gaps = np.diff(t)[:, None]
    secants = np.diff(values, axis=0) / gaps
    before, after = secants[:-1], secants[1:]
    w0, w1 = 2 * gaps[1:] + gaps[:-1], gaps[1:] + 2 * gaps[:-1]
    same = before * after > 0.0
    inner = np.where(same, (w0 + w1) / (w0 / np.where(same, before, 1.0) + w1 / np.where(same, after, 1.0)), 0.0)
    flows = (secants > 0.0).all(axis=0) | (secants < 0.0).all(axis=0)
    slopes = np.concatenate((np.where(flows, secants[0], 0.0)[None], inner, np.where(flows, secants[-1], 0.0)[None]))
    i = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    gap = gaps[i]
    u = np.clip((times - t[i])[:, None] / gap, 0.0, 1.0)
    return np.asarray((1 + 2 * u) * (1 - u) ** 2 * values[i] + u * (1 - u) ** 2 * gap * slopes[i]
                      + u * u * (3 - 2 * u) * values[i + 1] + u * u * (u - 1) * gap * slopes[i + 1])


def pose_body(skeleton: Skeleton, channels: Mapping[str, FloatArray]) -> Pose:
    """Turn channels (F, C) into poses (F, J, …)."""
    frames = len(channels["root"])
    pose = Pose.rest(skeleton, frames)
    index = skeleton.index_of
    heading = rot.from_axis_angle(Y, np.radians(channels["heading"][:, 0]))
    pose.rotations[:, 0] = rot.multiply(heading, _turned(channels["lean"]))
    pose.translations[:, 0] = channels["root"]
    pose.rotations[:, index["sacroiliac"]] = _turned(channels["pelvis"])
    for channel, joints in SPINE.items():
        for joint in joints:
            pose.rotations[:, index[joint]] = _turned(channels[channel] / len(joints))
    feet = {side: _roll_foot(channels[f"{side}_foot"], side) for side in "lr"}
    pose.translations[:, 0, 1] -= _sinking(skeleton, pose, feet)
    for side in "lr":
        _pose_leg(skeleton, pose, side, *feet[side], channels[f"{side}_foot"])
        _pose_arm(skeleton, pose, side, channels)
    return pose


def _thinned(skeleton: Skeleton, joints: IntArray, times: FloatArray, turns: FloatArray) -> Tracks:
    """Pack tracks with as few evenly spaced keys as keep each joint within THIN_RAD of its path.

    Legs and the body keep all of theirs: the feet must stay where they are.
    """
    last = len(times) - 1
    kept = [np.arange(last + 1)] * len(joints)
    paths = turns[:, joints]
    exact = rot.normalized(paths)
    left = np.flatnonzero([skeleton.names[joint] not in EXACT for joint in joints])
    for stride in (s for s in range(last, 1, -1) if last % s == 0):
        keys = np.arange(0, last + 1, stride)
        near = np.minimum(np.arange(last + 1) // stride, len(keys) - 2)
        share = (np.arange(last + 1) / stride - near)[:, None]
        drawn = rot.nlerp(paths[keys[near]][:, left], paths[keys[near + 1]][:, left], share)
        is_near = rot.angle_between(drawn, exact[:, left]).max(axis=0) < THIN_RAD
        for i in left[is_near]:
            kept[i] = keys
        left = left[~is_near]
    kept = [keys[:1] if np.ptp(path, axis=0).max() == 0.0 else keys
            for keys, path in zip(kept, np.moveaxis(paths, 1, 0), strict=True)]
    return Tracks(joints, np.cumsum([0, *map(len, kept)]), np.concatenate([times[k] for k in kept]),
                  np.concatenate([turns[k, j] for j, k in zip(joints, kept, strict=True)]))


def _turned(degrees: FloatArray) -> FloatArray:
    """Rotate forwards, then sideways inside a turn to the left: columns (forwards, left, sideways)."""
    pitch, yaw, roll = np.radians(degrees).T
    return rot.multiply(rot.from_axis_angle(Y, yaw), rot.multiply(rot.from_axis_angle(X, pitch),
                                                                  rot.from_axis_angle(Z, roll)))


def _roll_foot(foot: FloatArray, side: str) -> tuple[FloatArray, FloatArray]:
    """Return the ankle's position (F, 3) and turn (F, 4): the foot rolls over its ball or over its heel."""
    at = rest_positions()
    x, z, lift, heel_up, left = foot.T
    turn = rot.from_axis_angle(Y, np.radians(left))
    rolled = rot.multiply(turn, rot.from_axis_angle(X, np.radians(heel_up)))
    pivot = np.where((heel_up > 0.0)[:, None], at[f"{side}_metatarsal"] - at[f"{side}_ankle"], BALL_OF_HEEL)
    ankle = at[f"{side}_ankle"] + np.stack((x, lift, z), axis=-1)
    return ankle + rot.rotate(turn, pivot) - rot.rotate(rolled, pivot), rolled


def _pelvis(skeleton: Skeleton, pose: Pose) -> tuple[FloatArray, FloatArray]:
    """Return turn (F, 4) and position (F, 3) of the sacroiliac."""
    index = skeleton.index_of["sacroiliac"]
    position = skeleton.rest_translations[0] + pose.translations[:, 0]
    position = position + rot.rotate(pose.rotations[:, 0], skeleton.rest_translations[index])
    return rot.multiply(pose.rotations[:, 0], pose.rotations[:, index]), position


def _sinking(skeleton: Skeleton, pose: Pose, feet: Mapping[str, tuple[FloatArray, FloatArray]]) -> FloatArray:
    """Return how far the body must be lowered, (F,), for both feet to be within reach."""
    at = rest_positions()
    turn, position = _pelvis(skeleton, pose)
    sinking = np.zeros(len(position))
    for side, (ankle, _) in feet.items():
        hip = position + rot.rotate(turn, at[f"{side}_hip"] - at["sacroiliac"])
        reach = REACH * (np.linalg.norm(at[f"{side}_knee"] - at[f"{side}_hip"])
                         + np.linalg.norm(at[f"{side}_ankle"] - at[f"{side}_knee"]))
        flat = np.sum((ankle - hip)[:, (0, 2)] ** 2, axis=1)
        sinking = np.maximum(sinking, hip[:, 1] - ankle[:, 1] - np.sqrt(np.maximum(reach**2 - flat, 0.0)))
    return sinking


def _pose_leg(skeleton: Skeleton, pose: Pose, side: str, ankle: FloatArray, foot_turn: FloatArray,
              foot: FloatArray) -> None:
    at, index = rest_positions(), skeleton.index_of
    turn, position = _pelvis(skeleton, pose)
    back = rot.conjugate(turn)
    target = rot.rotate(back, ankle - position) + at["sacroiliac"]
    # the knee looks halfway between the pelvis and the toes
    toes = rot.rotate(rot.multiply(back, rot.from_axis_angle(Y, np.radians(foot[:, 4]))), Z)
    upper, lower = _two_bones(at[f"{side}_hip"], at[f"{side}_knee"], at[f"{side}_ankle"], target, toes + Z, Z)
    pose.rotations[:, index[f"{side}_hip"]] = upper
    pose.rotations[:, index[f"{side}_knee"]] = rot.multiply(rot.conjugate(upper), lower)
    pose.rotations[:, index[f"{side}_ankle"]] = rot.multiply(rot.conjugate(rot.multiply(turn, lower)), foot_turn)
    grounded = np.clip(1.0 - foot[:, 2] / 0.05, 0.0, 1.0)
    bend = -np.radians(np.maximum(foot[:, 3], 0.0)) * grounded
    pose.rotations[:, index[f"{side}_metatarsal"]] = rot.from_axis_angle(X, bend)


def _pose_arm(skeleton: Skeleton, pose: Pose, side: str, channels: Mapping[str, FloatArray]) -> None:
    """Pose an arm and its fingers; the right one is solved as a left one and mirrored."""
    at, index = rest_positions(), skeleton.index_of
    mirror = MIRROR_TURN if side == "r" else np.ones(4)
    shrug = rot.from_axis_angle(Z, np.radians(channels[f"{side}_shrug"][:, 0]))
    pivot = at["l_sternoclavicular"]
    target = rot.rotate(rot.conjugate(shrug), channels[f"{side}_hand"] - pivot) + pivot
    upper, lower = _two_bones(at["l_shoulder"], at["l_elbow"], at["l_wrist"], target, channels[f"{side}_elbow"], -Z)
    twist, up, sideways = np.radians(channels[f"{side}_palm"]).T
    axis = (at["l_wrist"] - at["l_elbow"]) / np.linalg.norm(at["l_wrist"] - at["l_elbow"])
    half = rot.from_axis_angle(axis, twist / 2.0)
    bent = rot.multiply(rot.from_axis_angle(Z, up), rot.from_axis_angle(X, sideways))
    curl = rot.from_axis_angle(Z, -np.radians(channels[f"{side}_curl"][:, 0]))
    turns = {
        "sternoclavicular": shrug, "shoulder": upper,
        "elbow": rot.multiply(rot.multiply(rot.conjugate(upper), lower), half), "wrist": rot.multiply(half, bent),
        "thumb2": rot.slerp(rot.IDENTITY, rot.multiply(curl, rot.from_axis_angle(X, 0.3)), 0.4),
        **{f"{finger}{n}": rot.slerp(rot.IDENTITY, curl, share)
           for finger in FINGERS for n, share in ((1, 0.8), (2, 1.0), (3, 0.7))},
    }
    for joint, turn in turns.items():
        pose.rotations[:, index[f"{side}_{joint}"]] = turn * mirror


def _two_bones(a: FloatArray, b: FloatArray, c: FloatArray, target: FloatArray, pole: FloatArray,
               rest_pole: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rotations (F, 4) of two bones, at rest a–b–c, that move c to targets (F, 3), b towards the pole.

    All in the space of the upper bone's parent. By the law of cosines; a chain is stretched towards a target out of
    reach.
    """
    first, second = np.linalg.norm(b - a), np.linalg.norm(c - b)
    reach = target - a
    span = np.clip(np.linalg.norm(reach, axis=1), abs(first - second) * 1.001, (first + second) * 0.9999)
    u = reach / np.linalg.norm(reach, axis=1, keepdims=True)
    n = np.cross(u, pole)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    along = (first**2 - second**2 + span**2) / (2 * span)
    aside = np.sqrt(np.maximum(first**2 - along**2, 0.0))
    upper = along[:, None] * u + aside[:, None] * np.cross(n, u)
    lower = span[:, None] * u - upper
    rest = np.cross((c - a) / np.linalg.norm(c - a), rest_pole)[None]
    return tuple(rot.from_matrix(_frame(now, n) @ np.swapaxes(_frame(then[None], rest), 1, 2))  # type: ignore[return-value]
                 for now, then in ((upper, b - a), (lower, c - b)))


def _frame(along: FloatArray, normal: FloatArray) -> FloatArray:
    """Return right-handed frames (F, 3, 3) with the first axis along a bone, the last near a normal."""
    first = along / np.linalg.norm(along, axis=1, keepdims=True)
    second = np.cross(normal, first)
    second /= np.linalg.norm(second, axis=1, keepdims=True)
    return np.stack((first, second, np.cross(first, second)), axis=-1)


def trace(clip: Clip, times_s: FloatArray, joint: str, offset: FloatArray) -> FloatArray:
    """Return the path (F, 3) in model space of a point fixed to a joint, at an offset from it at rest."""
    world = world_from_pose(clip.skeleton, clip.sample(times_s))[:, clip.skeleton.index_of[joint]]
    return np.asarray(world[:, :, :3] @ offset + world[:, :, 3])
