"""The axes in which a clip's file moves: up and front."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...skeletons.maps import SkeletonMap
from ...skeletons.posture import STANDS, Posture

LEANS_RAD: Final = float(np.radians(7.5))
"""Lean up to which a body counts as straight; bodies that stand straight measure up to 6°."""
_AT_ORIGIN: Final = 0.15
"""Share of the leg: hips and ankles of a body at the origin are at most this far from the vertical through it."""
_ASIDE: Final = float(np.cos(np.radians(44.0)))
"""Cosine of the angle from which the front of a rest pose clearly differs from the common front."""
_NEARER: Final = 1.0 / 3.0
"""A rest pose's front that is near the common front is taken only if the motion begins three times nearer to it."""
_USUAL: Final = (np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0)))
"""Up axes that are common in files."""
_ON_GROUND: Final = (-0.02, 0.3)
"""Range of heights of the lowest joint, in leg lengths, of a body on the ground or in a low jump."""
_IN_GROUND: Final = -0.1
"""Greatest depth of toes or fingers of recorded bodies in the ground, in leg lengths."""
_MOSTLY, _SELDOM = 0.9, 0.5
"""Shares of frames with the lowest joint near the ground: at least the first along the up axis, less than the second
along the axis of a lying body.
"""
_SELDOM_LOWER_PERCENT: Final = 2.0


def up_of_motion(frames: Posture, positions: FloatArray, found: SkeletonMap) -> FloatArray:
    """Return the up direction (3,) of a motion whose rest pose does not show it: usually along the standing body.

    positions: (F, J, 3) of all joints. A body that lies, rolls or crawls shows the up direction by its lowest joint.
    Along the up axis, which is a common one, that joint is almost always near 0. Along the body it seldom is, or the
    body lies along no common axis. If there is no such axis and the body never stands, the ground is the level below
    which the lowest joint seldom goes. A body upside down counts as a handstand, unless nothing else fits.
    """
    stands = frames.upright >= STANDS
    axes = [_nearest_axis(up) for up in frames.axes[stands if stands.any() else slice(None), :, 1]]
    seen = max(axes, key=lambda axis: sum(bool(axis @ other > 0.5) for other in axes))
    leg = _leg(positions, found)
    if leg is None:
        return seen
    heights = positions[:, list(found.joint_of.values())] / leg

    def near_origin(up: FloatArray) -> float:
        return _share_on_ground((heights @ up).min(axis=1))

    def above_lowest(up: FloatArray) -> float:
        low = (heights @ up).min(axis=1)
        return _share_on_ground(low - np.percentile(low, _SELDOM_LOWER_PERCENT))

    is_off = not stands.any() and all(near_origin(up) < _MOSTLY for up in (seen, *_USUAL))
    share = above_lowest if is_off else near_origin

    hands = positions[:, [found.joint_of[name] for name in ("l_wrist", "r_wrist") if name in found.joint_of]] / leg

    def stands_on_hands(up: FloatArray) -> bool:
        return not hands.shape[1] or bool(np.median((hands @ up).min(axis=1)) < _ON_GROUND[1])

    others = [up for up in _USUAL if up @ seen < 0.5 and share(up) >= _MOSTLY]
    others.sort(key=lambda up: 1 if up @ seen > -0.5 else 0 if stands_on_hands(up) else 2)
    is_usual = any(seen @ up > 0.5 for up in _USUAL)
    return others[0] if others and (not is_usual or share(seen) < _SELDOM) else seen


def _leg(positions: FloatArray, found: SkeletonMap) -> float | None:
    """Return the longest distance from hips to ankles, or None if unknown."""
    hips = [found.joint_of[name] for name in ("l_hip", "r_hip", "l_ankle", "r_ankle") if name in found.joint_of]
    if len(hips) < 4:
        return None
    legs = positions[:, hips[:2]].mean(axis=1) - positions[:, hips[2:]].mean(axis=1)
    return max(float(np.linalg.norm(legs, axis=1).max()), 1e-30)


def file_axes(rest: FloatArray, own: FloatArray, frames: Posture, positions: FloatArray,
              found: SkeletonMap) -> FloatArray:
    """Return the axes (3, 3) in which a file moves: left, up and front of a standing body that faces its front.

    rest: (3, 3) the rest pose's measured axes. own: (3, 3) the right-angled axes nearest to them. Up is one of these,
    unless the motion shows a body that stands along another axis. The front is that of the rest pose or the common one,
    whichever is nearer to the motion's first standing frame. If both are nearly the same, it is the common one unless
    the other is much nearer, see _NEARER.
    """
    stands = frames.upright >= STANDS
    if not stands.any():
        return with_front(own[:, 1], rest)
    ups = frames.axes[stands, :, 1]
    up, other = _nearest_axis(rest[:, 1]), _nearest_axis(ups.mean(axis=0))
    if up @ other < 1.0 - 1e-9 and _stands_along(other, up, rest[:, 1], ups, positions, found):
        up = other
    usual = with_usual_front(up)
    if abs(own[:, 2] @ up) >= 0.5 or own[:, 1] @ up <= 0.5:
        return usual
    start, faces = frames.axes[int(np.argmax(stands))], with_front(up, rest)
    is_upright = start[:, 1] @ up > 0.5  # a lying body does not show its heading
    beside, away = (np.arccos(np.clip(start[:, 2] @ each[:, 2], -1.0, 1.0)) for each in (faces, usual))
    is_clear = 1.0 if faces[:, 2] @ usual[:, 2] < _ASIDE else _NEARER
    return usual if is_upright and beside > is_clear * away else faces


def with_front(up: FloatArray, measured: FloatArray) -> FloatArray:
    """Return right-angled axes (3, 3) of a body: the given up (3,), and its front after turning it upright.

    measured: its measured axes (3, 3). A front within LEANS_RAD of an axis of the file becomes that axis.
    """
    level = rot.rotate(rot.shortest_arc(measured[:, 1], up), measured[:, 2])
    nearest = _nearest_axis(level)
    front = nearest if level @ nearest > np.cos(LEANS_RAD) else level
    return np.stack((np.cross(up, front), up, front), axis=1)


def _stands_along(other: FloatArray, up: FloatArray, rest: FloatArray, ups: FloatArray, positions: FloatArray,
                  found: SkeletonMap) -> bool:
    """Return whether a clip's body stands on the ground with `other` upwards rather than `up`.

    A body that lies in its motion and one that lies in its rest pose differ only in the height of the lowest joint.
    Along the true up axis, that joint is always near 0. So if the rest pose is upright along one of the two axes, that
    axis is up, unless only the other one fits the ground. For other rest poses, Y is up if both axes fit, as for ankles
    over the origin. If neither fits and the rest pose leans, but the motion is nearer to an axis, the motion decides.
    Otherwise it is the axis along which the lowest joint is nearer to 0.
    """
    if not any(other @ axis > 0.5 for axis in _USUAL):
        return False
    leg = _leg(positions, found)
    if leg is None:
        return False
    heights = [positions[:, list(found.joint_of.values())] @ way / leg for way in (up, other)]
    lowest = [each.min(axis=1) for each in heights]
    lies, stands = (_share_on_ground(low) >= _MOSTLY for low in lowest)
    if any(rest @ axis > np.cos(LEANS_RAD) for axis in _USUAL):
        return stands and _share_above_ground(heights[0]) < _MOSTLY
    if lies != stands:
        return stands
    if lies:
        return bool(other @ _USUAL[0] > 0.5)
    mean = ups.mean(axis=0)
    if rest @ up < np.cos(LEANS_RAD):
        return bool(mean @ other > rest @ up * np.linalg.norm(mean))
    return bool(np.median(np.abs(lowest[1])) < np.median(np.abs(lowest[0])))


def _share_on_ground(lowest: FloatArray) -> float:
    """Return the share of frames in which the lowest joint is near 0. lowest: (F,) heights in leg lengths."""
    return float(((lowest > _ON_GROUND[0]) & (lowest < _ON_GROUND[1])).mean())


def _share_above_ground(heights: FloatArray) -> float:
    """Return the share of frames in which the lowest joint is near 0, and the others are above.

    heights: (F, J) in leg lengths. The lowest joint may be slightly below 0, but the middle of the joints must be
    farther above 0 than that. Otherwise the front would pass for up if a body stands over the origin.
    """
    low = heights.min(axis=1)
    return float(((low > _IN_GROUND) & (low < _ON_GROUND[1]) & (heights.mean(axis=1) > -low)).mean())


def stands_on_origin(found: SkeletonMap, up: FloatArray) -> bool:
    """Return whether the feet are at the origin; then a leaning body leans about that point."""
    feet = [found.joint_of[f"{side}_ankle"] for side in "lr" if f"{side}_ankle" in found.joint_of]
    hips = [found.joint_of[f"{side}_hip"] for side in "lr" if f"{side}_hip" in found.joint_of]
    if not feet or not hips:
        return False
    foot, hip = (found.skeleton.rest_world[joints, :, 3].mean(axis=0) for joints in (feet, hips))
    leg, height = float(np.linalg.norm(hip - foot)), float(foot @ up)
    away = max(float(np.linalg.norm(position - (position @ up) * up)) for position in (foot, hip))
    return away < _AT_ORIGIN * leg and 0.0 < height < 2.0 * _AT_ORIGIN * leg


def _nearest_axis(direction: FloatArray) -> FloatArray:
    axis = int(np.argmax(np.abs(direction)))
    return np.asarray(np.eye(3)[axis] * (1.0 if direction[axis] > 0.0 else -1.0))


def right_angled(axes: FloatArray) -> FloatArray:
    """Return the right-angled axes (3, 3) nearest to measured ones: left, up, front."""
    up = _nearest_axis(axes[:, 1])
    front = _nearest_axis(axes[:, 2] - (axes[:, 2] @ up) * up)
    return np.stack((np.cross(up, front), up, front), axis=1)


def with_usual_front(up: FloatArray) -> FloatArray:
    """Return the usual axes (3, 3) of files with a given up: front is +Z for Y up, −Y for Z up."""
    front = np.array((0.0, -1.0, 0.0) if abs(up[2]) > 0.5 else (0.0, 0.0, 1.0))
    return np.stack((np.cross(up, front), up, front), axis=1)
