"""Add root motion to gaits in place, as on a treadmill: as far as feet slide back while they bear the body."""

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
from .contacts import foot_contacts, sole_points
from .keyed import keys_of
from .tracks import Tracks

_STAYS_LEGS: Final = 0.25
"""A clip that goes no farther than this from its beginning to its end, in leg lengths, is in place."""
_LEAST_LEGS_PER_S: Final = 0.25
"""Feet of a gait slide back faster than this, on average."""
_STRAIGHT: Final = 0.7
"""Least share of the feet's sliding that is in one direction: feet that shuffle about do not travel."""
_BEARS_LEGS: Final = 0.02
"""Height over its ground, in leg lengths, from which on a foot bears the body much less."""
_STEADIER, _UNEVEN = 0.1, 0.5
"""Shares of the steady velocity: a foot whose velocity differs by the first share more than another's bears the body
less. Up to the second share, a foot's own velocity is used."""
_STANDS: Final = 0.2
"""Share of the time: if a foot is in contact for less, feet slide unevenly, and the clip states the speed of its
gait."""
_JOINTS: Final = {"HumanoidRoot", *(f"{side}_{joint}" for side in "lr" for joint in ("hip", "knee", "ankle"))}
_HIGHEST: Final = 50.0
_GROUND_PERCENT: Final = 1.0
"""Percentile of a point's heights that counts as its ground."""
_SMOOTH_S: Final = 0.05
_SPACING_S: Final = 1.0 / 60.0
_MOST_FRAMES: Final = 20_000


def travelling(clip: Clip, found: SkeletonMap, up: FloatArray) -> Clip | None:
    """Return a clip with root motion added to its gait, or None if it is not a gait in place.

    found: the map of its skeleton; up: (3,) in its model space. A foot that bears the body slides back about steadily.
    The body moves so that this foot stands still on the ground; while no foot bears it, it moves on at the same speed.
    The topmost joint above the hips moves, with all its descendants.
    """
    joints = found.joint_of
    if not _JOINTS <= joints.keys() or clip.duration_s <= 0.0:
        return None
    up = up / np.linalg.norm(up)
    times = np.linspace(0.0, clip.duration_s, int(min(np.ceil(clip.duration_s / _SPACING_S) + 1.0, _MOST_FRAMES)))
    root, *ankles = (joints[name] for name in ("HumanoidRoot", "l_ankle", "r_ankle"))
    world = world_from_pose(clip.skeleton, clip.sample(times, "SLERP"))[..., 3]
    leg = float(np.mean((world[:, root] - world[:, ankles].mean(axis=1)) @ up))
    gone = world[-1, root] - world[0, root]
    if leg <= 0.0 or np.linalg.norm(gone - (gone @ up) * up) > _STAYS_LEGS * leg:
        return None
    soles = sole_points(clip, found, times, up)
    back, low = _slides(soles, times, up), _lowness(soles, up, leg)
    steady = _steady(back, low)
    speed = float(np.linalg.norm(steady)) / leg
    if speed < _LEAST_LEGS_PER_S:
        return None
    velocity = _smooth(_bearing(back, low, steady), times)
    way = np.cumsum((velocity[1:] + velocity[:-1]) / 2.0 * np.diff(times)[:, None], axis=0)
    moved = _moved(clip, int(with_ancestors(clip.skeleton.parents, np.array((root,)))[0]), times,
                   np.concatenate((np.zeros((1, 3)), way)))
    sure_s = min(np.diff(each.stands, axis=1).sum() for each in foot_contacts(moved, found, up).values())
    return moved if sure_s >= _STANDS * clip.duration_s else replace(moved, gait_legs_per_s=speed)


def _slides(soles: FloatArray, times_s: FloatArray, up: FloatArray) -> FloatArray:
    """Return the velocity (F, N, 3) of the body over the ground that keeps each point of the soles (F, N, 3) still."""
    velocities = -np.gradient(soles, times_s, axis=0)
    return np.asarray(velocities - (velocities @ up)[..., None] * up)


def _lowness(soles: FloatArray, up: FloatArray, leg: float) -> FloatArray:
    """Return how low points of soles (F, N, 3) are, (F, N): about 1 on the point's own ground, towards 0 above it."""
    heights = soles @ up
    heights = heights - np.percentile(heights, _GROUND_PERCENT, axis=0)
    return np.asarray(np.exp(-np.minimum(heights / (_BEARS_LEGS * leg), _HIGHEST)))


def _steady(back: FloatArray, low: FloatArray) -> FloatArray:
    """Return the velocity (3,) at which feet usually slide back while they are low; 0 if they shuffle.

    back: (F, N, 3), see _slides; low: (F, N), see _lowness. It is a median, since a foot that lands or lifts off is
    also low, but slides faster or more slowly.
    """
    made, lowest = np.einsum("fn,fnc->fc", low, back) / low.sum(axis=1)[:, None], low.max(axis=1)
    mean = lowest @ made
    if not np.linalg.norm(mean) > _STRAIGHT * (lowest @ np.linalg.norm(made, axis=1)):
        return np.zeros(3)
    ahead = mean / np.linalg.norm(mean)
    rates = (back @ ahead).ravel()
    order = np.argsort(rates)
    share = np.cumsum(low.ravel()[order])
    return np.asarray(max(rates[order[np.searchsorted(share, 0.5 * share[-1])]], 0.0) * ahead)


def _bearing(back: FloatArray, low: FloatArray, steady: FloatArray) -> FloatArray:
    """Return the velocity of the body, (F, 3), that keeps a low foot still, if one slides about steadily.

    back, low, steady: see _steady. If no foot slides steadily, one lands or lifts off, and the velocity is the steady
    one.
    """
    off = np.linalg.norm(back - steady, axis=2) / np.linalg.norm(steady)
    shares = low * np.exp(-(off - off.min(axis=1, keepdims=True)) / _STEADIER)
    found = ((shares[..., None] * back).sum(axis=1) / shares.sum(axis=1)[:, None]) - steady
    near = np.exp(-(np.linalg.norm(found, axis=1) / (_UNEVEN * np.linalg.norm(steady)))**4)
    return np.asarray(steady + near[:, None] * found)


def _smooth(curves: FloatArray, times_s: FloatArray) -> FloatArray:
    """Return curves (F, C) at evenly spaced times (F,), smoothed."""
    free = np.full(curves.T.shape, np.inf)
    return solve_displacement(DisplacementProblem(curves.T, np.ones_like(free), -free, free,
                                                  np.full(curves.shape[1], _SMOOTH_S),
                                                  float(times_s[1] - times_s[0]))).curves.T


def _moved(clip: Clip, joint: int, times_s: FloatArray, by: FloatArray) -> Clip:
    """Return a clip with a root joint moved by vectors (F, 3) at times (F,), in model space."""
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
