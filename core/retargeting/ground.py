"""The ground by skin: soles that stand are on it, and no skin is below it, whatever shoes or skirts there are."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.contacts import foot_contacts, joined
from ..clips.keyed import SAMPLE_S, poses_at
from ..maths.arrays import BoolArray, FloatArray
from ..skeletons.hierarchy import with_descendants
from ..skeletons.maps import SkeletonMap
from ..skeletons.maps.names import is_helper
from ..skeletons.skeleton import Skeleton, world_from_pose
from .reference import rebased
from .skin_points import SkinPoints

EASE_S: Final = 0.15
"""How long before and after a contact skin takes to the ground and leaves it."""
_FAR_LEGS: Final = (0.2, 0.35)
"""Skin that is higher than this when something touches the ground is not what touches it: feet of one who sits may hang
in the air. In between it counts in part."""
_STEP_S: Final = SAMPLE_S / 2.0
_DECIMALS: Final = 6
"""Of seconds: keys that are closer are one."""
_NEAR_LEGS: Final = 0.18
_SLOW_LEGS_PER_S: Final = 0.3
"""A body touches the ground with more than its feet where another joint is so low, and as slow, for its leg."""
_STILL: Final = 1e-4
"""Of the leg: lifts smaller than this are none."""


def lift_by_skin(source: Clip, source_map: SkeletonMap, played: Clip, target_map: SkeletonMap, skin: SkinPoints,
                 up: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return times (F,) and by how much the target's body is to be lifted then, (F,); None where it may stay.

    source: the clip as it was compared, in the target's axes, with the map of its skeleton. played: what became of it,
    on the target's own skeleton. target_map: of the same joints, on a skeleton that rests in the pose in which the
    target stands. skin: of the target as it rests itself. up: (3,) unit, in both.
    While something of the source touches the ground, the lowest skin is on it; else the skin is at least not below it.
    The ground is as high as the soles at rest.
    """
    joints = target_map.joint_of
    feet = [joints[f"{side}_ankle"] for side in "lr" if f"{side}_ankle" in joints]
    leg = _leg(target_map)
    skin = skin.part(_may_touch(skin, target_map))
    if not feet or leg <= 0.0 or not len(skin.positions):
        return None
    is_sole = with_descendants(target_map.skeleton.parents, np.array(feet))[skin.joints[:, 0]]
    if not is_sole.any():
        return None
    at_rest = skin.heights(rebased(_still(target_map.skeleton), played.skeleton), np.zeros(1), up)[0]
    ground = float(at_rest[is_sole].min())
    spans = contact_spans(source, source_map, up)
    times = np.unique(np.concatenate((np.arange(0.0, played.duration_s, _STEP_S), _keys(played), spans.ravel(),
                                      (0.0, played.duration_s))).clip(0.0, played.duration_s))
    depth = np.minimum(at_rest - ground, 0.0)  # a train, or a tail, may be below the soles at rest
    low = (skin.heights(played, times, up) - depth).min(axis=1) - ground
    near = np.clip((_FAR_LEGS[1] * leg - low) / (leg * (_FAR_LEGS[1] - _FAR_LEGS[0])), 0.0, 1.0)
    lift = np.where(low < 0.0, -low, -low * _share(times, spans) * near)
    return None if np.abs(lift).max() <= _STILL * leg else (times, lift)


def _keys(clip: Clip) -> FloatArray:
    """Return the times of the keys (N,), at which heights may turn sharply, unless they are as close as the steps."""
    times = np.unique(np.concatenate((clip.rotations.times_s, clip.translations.times_s)).round(_DECIMALS))
    return times if len(times) * _STEP_S < clip.duration_s + _STEP_S else np.zeros(0)


def _still(skeleton: Skeleton) -> Clip:
    return Clip("", skeleton, 0.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))


def contact_spans(clip: Clip, found: SkeletonMap, up: FloatArray) -> FloatArray:
    """Return when a clip's body touches the ground, (K, 2) in seconds: with a foot, or where it lies or crawls."""
    feet = [contact.stands for contact in foot_contacts(clip, found, up).values()]
    return joined(np.concatenate((*feet, _lying(clip, found, up))))


def _lying(clip: Clip, found: SkeletonMap, up: FloatArray) -> FloatArray:
    """Return when a joint that is none of a foot is near the ground and slow, (K, 2)."""
    joint_of, leg = found.joint_of, _leg(found)
    feet = [joint_of[name] for name in ("l_ankle", "r_ankle", "l_metatarsal", "r_metatarsal") if name in joint_of]
    others = [joint for name, joint in joint_of.items() if name in _TOUCHING or name[2:] in _TOUCHING]
    times = np.arange(0.0, clip.duration_s + SAMPLE_S, SAMPLE_S)
    if not feet or not others or leg <= 0.0 or len(times) < 2:
        return np.zeros((0, 2))
    heights = world_from_pose(clip.skeleton, poses_at(clip, times))[..., 3] @ up
    ground = min(float(clip.skeleton.rest_world[feet, :, 3].dot(up).min()), float(np.percentile(heights[:, feet], 1.0)))
    low = heights[:, others]
    speed = np.abs(np.gradient(low, times, axis=0))
    touches = ((low - ground < _NEAR_LEGS * leg) & (speed < _SLOW_LEGS_PER_S * leg)).any(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate(((False,), touches, (False,))).astype(np.int8))).reshape(-1, 2)
    return np.stack((times[edges[:, 0]], times[edges[:, 1] - 1]), axis=1).clip(0.0, clip.duration_s)


_TOUCHING: Final = frozenset(("HumanoidRoot", "skullbase", "hip", "knee", "shoulder", "elbow", "wrist", "vt3", "vt6"))
"""Joints, or their names without a side, by which a body that lies, sits or crawls touches the ground."""


def _share(times: FloatArray, spans: FloatArray) -> FloatArray:
    """Return how much of a contact there is at times (F,): 1 within spans (K, 2), less within EASE_S beside them."""
    if not len(spans):
        return np.zeros(len(times))
    away = np.maximum(spans[:, 0] - times[:, None], times[:, None] - spans[:, 1]).min(axis=1)
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * np.clip(away / EASE_S, 0.0, 1.0)))


def _may_touch(skin: SkinPoints, found: SkeletonMap) -> BoolArray:
    """Return which points count: not those of what is held in a hand, as a sword."""
    skeleton, known = found.skeleton, set(found.joint_of.values())
    wrists = [found.joint_of[f"{side}_wrist"] for side in "lr" if f"{side}_wrist" in found.joint_of]
    below = np.flatnonzero(with_descendants(skeleton.parents, np.array(wrists, dtype=np.int64))).tolist()
    held = [joint for joint in below if joint not in known and is_helper(skeleton.names[joint])]
    return np.asarray(~with_descendants(skeleton.parents, np.array(held, dtype=np.int64))[skin.joints[:, 0]])


def _leg(found: SkeletonMap) -> float:
    """Return the length of a leg at rest, 0 where none is known."""
    positions = found.skeleton.rest_world[:, :, 3]
    legs = [positions[[found.joint_of[f"{side}_{part}"] for part in ("hip", "knee", "ankle")]] for side in "lr"
            if {f"{side}_hip", f"{side}_knee", f"{side}_ankle"} <= found.joint_of.keys()]
    return float(np.mean([np.linalg.norm(np.diff(leg, axis=0), axis=1).sum() for leg in legs])) if legs else 0.0
