"""Level the soles of bodies whose rest pose is a moment of their motion, by the frames with their feet on the ground.

Feet of two bodies are compared, and their heights measured, in a pose in which both feet stand. In a moment of a step,
a foot may swing or leave the ground, so that it is not level, and its leg is not below the hips.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.keyed import poses_at
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...skeletons.hierarchy import with_descendants
from ...skeletons.maps import SkeletonMap
from ...skeletons.posture import is_in_step, measure_posture
from ...skeletons.skeleton import Skeleton, world_from_pose
from .straightened import legs_along

_LOW_PERCENT: Final = 30.0
_RAISED_HEEL: Final = 0.15
"""Height of a standing heel above the other one, as a share of the foot's length, from which it counts as raised."""


def on_level_soles(clip: Clip, found: SkeletonMap, times: FloatArray, up: FloatArray) -> Skeleton:
    """Return a clip's skeleton at rest with level soles; with its legs below its hips, too, if it rests in mid-step.

    found: the map of its skeleton. times: (F,) instants of its motion. up: (3,) unit, in the axes in which it moves.
    """
    skeleton, joints = clip.skeleton, found.joint_of
    posture = measure_posture(skeleton.rest_world[None, :, :, 3], joints)
    if posture is not None and is_in_step(skeleton.rest_world[None, :, :, 3], joints, posture)[0]:
        skeleton = _lowered(skeleton, legs_along(skeleton, joints, -up), [*_ankles(found).values()], up)
    turns = rot.identities(len(skeleton))
    for ankle, sole in _soles(clip, skeleton, found, times, up).items():
        turns[with_descendants(skeleton.parents, np.array([joints[ankle]]))] = rot.shortest_arc(sole, up)
    return skeleton.in_pose(turns)


def _lowered(skeleton: Skeleton, turns: FloatArray, feet: list[int], up: FloatArray) -> Skeleton:
    """Return a skeleton that rests in a pose, with its lowest foot as high as before.

    turns: (J, 4) rotations of the pose. feet: joints.
    """
    posed = skeleton.in_pose(turns)
    before, after = (float((one.rest_world[feet, :, 3] @ up).min()) for one in (skeleton, posed))
    return posed.shifted((before - after) * up)


def _ankles(found: SkeletonMap) -> dict[str, int]:
    return {name: found.joint_of[name] for name in ("l_ankle", "r_ankle") if name in found.joint_of}


def _soles(clip: Clip, skeleton: Skeleton, found: SkeletonMap, times: FloatArray,
           up: FloatArray) -> dict[str, FloatArray]:
    """Return the up direction (3,) of each foot on the ground, in the skeleton's rest axes, by ankles.

    A foot is on the ground in frames in which ankle and toes are both among the lowest 30 % of their heights. A foot
    whose heel is then higher than the other one, as in a step, gets the other foot's angle between foot and sole.
    """
    world, soles = world_from_pose(clip.skeleton, poses_at(clip, times)), {}
    heels, toes = dict[str, float](), dict[str, FloatArray]()
    for side in "lr":
        foot = [found.joint_of[name] for name in (f"{side}_ankle", f"{side}_metatarsal") if name in found.joint_of]
        if f"{side}_ankle" not in found.joint_of:
            continue
        heights = world[..., 3][:, foot] @ up
        stands = (heights <= np.percentile(heights, _LOW_PERCENT, axis=0)).all(axis=1)
        turned = np.linalg.solve(world[stands, foot[0], :, :3], np.broadcast_to(up, (int(stands.sum()), 3))[..., None])
        sole = skeleton.rest_world[foot[0], :, :3] @ turned[..., 0].sum(axis=0)
        if np.linalg.norm(sole) > 0.0:
            soles[f"{side}_ankle"] = np.asarray(sole / np.linalg.norm(sole), dtype=np.float64)
            heels[f"{side}_ankle"] = float(heights[stands, 0].mean())
            toes[f"{side}_ankle"] = skeleton.rest_world[foot[-1], :, 3] - skeleton.rest_world[foot[0], :, 3]
    low, high = min(heels, key=heels.__getitem__, default=""), max(heels, key=heels.__getitem__, default="")
    if low != high and heels[high] - heels[low] > _RAISED_HEEL * np.linalg.norm(toes[high]) > 0.0:
        soles[high] = _as_steep(toes[high], up, toes[low], soles[low])
    return soles


def _as_steep(toes: FloatArray, up: FloatArray, other_toes: FloatArray, other_sole: FloatArray) -> FloatArray:
    """Return the up direction (3,) of a sole that has the same angle to its foot as another sole.

    toes, other_toes: (3,) directions of both feet. other_sole: (3,) the other sole's up direction.
    """
    along = toes / np.linalg.norm(toes)
    across = up - (up @ along) * along
    sine = float(other_toes @ other_sole / max(float(np.linalg.norm(other_toes)), 1e-12))
    length = float(np.linalg.norm(across))
    if length <= 0.0 or abs(sine) >= 1.0:
        return up
    return np.asarray(sine * along + np.sqrt(1.0 - sine * sine) * across / length, dtype=np.float64)
