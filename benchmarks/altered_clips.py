"""Clips that nobody has seen, by construction: parts of clips, turned, mirrored, slower, at another rate, elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.excerpt import mirrored
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.maps import SkeletonMap
from takt.core.skeletons.mirror import Mirror
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose

LEAST_S: Final = 1.0
"""No part of a clip is shorter, but where the clip is."""
SLOWEST, FASTEST = 0.8, 1.25
RATES: Final = (12.0, 24.0, 30.0, 60.0, 120.0)
FARTHEST_LEGS: Final = 3.0
ADDED: Final = "travel"
"""A joint on the ground below the hips that carries the body over it."""


@dataclass(frozen=True)
class Alteration:
    """How a clip becomes another one.

    part: (2,) shares of it at which it begins and ends; times: how long it lasts then; fps: of its keys.
    turn_rad: about up; shift_legs: (2,) over the ground. has_travel: a joint more carries the body over the ground.
    """

    part: tuple[float, float]
    times: float
    fps: float
    turn_rad: float
    shift_legs: tuple[float, float]
    is_mirrored: bool
    has_travel: bool

    @classmethod
    def by_chance(cls, rng: np.random.Generator, duration_s: float) -> Alteration:
        """Choose one for a clip that lasts duration_s."""
        length = max(rng.uniform(0.5, 1.0), min(LEAST_S / duration_s, 1.0))
        begin = rng.uniform(0.0, 1.0 - length)
        far = rng.uniform(-FARTHEST_LEGS, FARTHEST_LEGS, 2)
        return cls((begin, begin + length), rng.uniform(SLOWEST, FASTEST), float(rng.choice(RATES)),
                   rng.uniform(-np.pi, np.pi), (float(far[0]), float(far[1])), bool(rng.integers(2)),
                   bool(rng.integers(2)))


def altered(clip: Clip, found: SkeletonMap, up: FloatArray, leg: float, how: Alteration) -> Clip:
    """Return a clip that is another one; joints that had no keys have none, but for roots.

    found: what its joints are; up: unit vector (3,) of its model space; leg: the length of one there.
    """
    first, last = np.array(how.part) * clip.duration_s
    frames = max(round((last - first) * how.times * how.fps), 1)
    own = mirrored(clip, Mirror.of(found)) if how.is_mirrored else clip
    pose, times = own.sample(np.linspace(first, last, frames + 1), "SLERP"), np.arange(frames + 1) / how.fps
    east = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    shift = leg * (how.shift_legs[0] * east / np.linalg.norm(east) + how.shift_legs[1] * np.cross(up, east))
    _carry(clip.skeleton, pose, rot.from_axis_angle(up, how.turn_rad), shift)
    roots = np.flatnonzero(clip.skeleton.parents < 0)
    turns, moves, scales = (np.union1d(own.rotations.joints, roots), np.union1d(own.translations.joints, roots),
                            own.scales.joints)
    new = Clip(clip.name, clip.skeleton, float(times[-1]), Tracks.uniform(turns, times, pose.rotations[:, turns]),
               Tracks.uniform(moves, times, pose.translations[:, moves]),
               Tracks.uniform(scales, times, pose.scales[:, scales]))
    return _with_travel(new, pose, times, found, up) if how.has_travel else new


def _carry(skeleton: Skeleton, pose: Pose, turn: FloatArray, shift: FloatArray) -> None:
    """Turn poses about the origin and shift them, by their roots."""
    for root in np.flatnonzero(skeleton.parents < 0).tolist():
        rest, at = skeleton.rest_rotations[root], skeleton.rest_translations[root]
        pose.rotations[:, root] = rot.multiply(
            rot.multiply(rot.multiply(rot.conjugate(rest), turn), rest), pose.rotations[:, root])
        pose.translations[:, root] = rot.rotate(turn, at + pose.translations[:, root]) + shift - at


def _with_travel(clip: Clip, pose: Pose, times_s: FloatArray, found: SkeletonMap, up: FloatArray) -> Clip:
    """Return the clip with a joint above all that goes over the ground as the hips do, which no longer do."""
    skeleton = clip.skeleton
    if ADDED in skeleton.index_of:
        return clip
    hips = world_from_pose(skeleton, pose)[:, found.joint_of["HumanoidRoot"], :, 3]
    way = hips - (hips @ up)[:, None] * up
    more = Skeleton.from_arrays(
        (ADDED, *skeleton.names), np.append(-1, np.where(skeleton.parents < 0, 0, skeleton.parents + 1)),
        np.concatenate((rot.identities(1), skeleton.rest_rotations)),
        np.concatenate((np.zeros((1, 3)), skeleton.rest_translations)),
        np.concatenate((np.ones((1, 3)), skeleton.rest_scales)), skeleton.name)
    roots = np.flatnonzero(skeleton.parents < 0)
    moved = pose.translations[:, clip.translations.joints].copy()
    moved[:, np.isin(clip.translations.joints, roots)] -= way[:, None]
    return replace(clip, skeleton=more,
                   rotations=replace(clip.rotations, joints=clip.rotations.joints + 1),
                   translations=Tracks.uniform(np.append(0, clip.translations.joints + 1), times_s,
                                               np.concatenate((way[:, None], moved), axis=1)),
                   scales=replace(clip.scales, joints=clip.scales.joints + 1))
