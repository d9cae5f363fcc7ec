"""Make gaits in place, as on a treadmill, travel as far as their feet slide back while they bear the body."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from ..maths.displacement import DisplacementProblem, solve_displacement
from ..skeletons.hierarchy import with_ancestors
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import world_from_pose
from .clip import Clip
from .keyed import keys_of
from .tracks import Tracks

_STAYS_LEGS: Final = 0.25
"""A clip that goes no farther than this from its beginning to its end, in leg lengths, is in place."""
_LEAST_LEGS_PER_S: Final = 0.25
"""Feet of a gait slide back faster than this, on average."""
_STRAIGHT: Final = 0.7
"""Against all that they slide, so much at least is in one direction: feet that shuffle about make no way."""
_BEARS_LEGS: Final = 0.02
"""Over so much height, in leg lengths, the bearing passes from the lower foot to the other."""
_SMOOTH_S: Final = 0.05
_SPACING_S: Final = 1.0 / 60.0
_MOST_FRAMES: Final = 20_000


def travelling(clip: Clip, found: SkeletonMap, up: FloatArray) -> Clip | None:
    """Return a clip with root motion added to its gait, or None if it is not a gait in place.

    found: the map of its skeleton; up: (3,) in its model space. The lower foot bears the body and would stand still on
    the ground. So the body moves forward as fast as that foot slides back, along a straight line. The topmost joint
    above the hips moves, with all its descendants.
    """
    joints = found.joint_of
    feet = [joints[name] for name in ("l_ankle", "r_ankle") if name in joints]
    if len(feet) < 2 or "HumanoidRoot" not in joints or clip.duration_s <= 0.0:
        return None
    up = up / np.linalg.norm(up)
    times = np.linspace(0.0, clip.duration_s, int(min(np.ceil(clip.duration_s / _SPACING_S) + 1.0, _MOST_FRAMES)))
    world = world_from_pose(clip.skeleton, clip.sample(times, "SLERP"))[..., 3]
    hips, ankles = world[:, joints["HumanoidRoot"]], world[:, feet]
    leg = float(np.mean((hips - ankles.mean(axis=1)) @ up))
    gone = hips[-1] - hips[0]
    if leg <= 0.0 or np.linalg.norm(gone - (gone @ up) * up) > _STAYS_LEGS * leg:
        return None
    velocity = _made_by_feet(ankles, times, up, leg)
    mean = velocity.mean(axis=0)
    speed = float(np.linalg.norm(mean))
    if speed < _LEAST_LEGS_PER_S * leg or speed < _STRAIGHT * np.linalg.norm(velocity, axis=1).mean():
        return None
    ahead = mean / speed
    rates = velocity @ ahead
    way = np.append(0.0, np.cumsum((rates[1:] + rates[:-1]) / 2.0 * np.diff(times)))
    return _moved(clip, int(with_ancestors(clip.skeleton.parents, np.array((joints["HumanoidRoot"],)))[0]), times,
                  way[:, None] * ahead)


def _made_by_feet(ankles: FloatArray, times_s: FloatArray, up: FloatArray, leg: float) -> FloatArray:
    """Return the velocities (F, 3) over the ground of a body whose bearing foot stands; ankles: (F, 2, 3)."""
    heights = ankles @ up
    lower = np.exp(-(heights - heights.min(axis=1, keepdims=True)) / (_BEARS_LEGS * leg))
    shares = lower / lower.sum(axis=1, keepdims=True)
    velocities = -np.gradient(ankles, times_s, axis=0)
    velocities -= (velocities @ up)[..., None] * up
    made = (shares[..., None] * velocities).sum(axis=1)
    free = np.full((3, len(times_s)), np.inf)
    smooth = DisplacementProblem(made.T, np.ones_like(free), -free, free, np.full(3, _SMOOTH_S),
                                 float(times_s[1] - times_s[0]))
    return solve_displacement(smooth).curves.T


def _moved(clip: Clip, joint: int, times_s: FloatArray, by: FloatArray) -> Clip:
    """Return a clip one of whose joints, which has no parent, is moved by (F, 3) at times (F,) in the model."""
    tracks = clip.translations
    own = np.zeros_like(by)
    at = np.flatnonzero(tracks.joints == joint)
    if len(at):
        own_s, values = keys_of(tracks, int(at[0]))
        own = np.stack([np.interp(times_s, own_s, values[:, axis]) for axis in range(3)], axis=1)
    others = np.ones(len(clip.skeleton), dtype=np.bool_)
    others[joint] = False
    kept = tracks.of_joints(others)
    moved = Tracks(np.append(kept.joints, joint), np.append(kept.starts, kept.starts[-1] + len(times_s)),
                   np.append(kept.times_s, times_s), np.concatenate((kept.values, own + by)))
    return replace(clip, translations=moved)
