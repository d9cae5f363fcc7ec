"""The axes in which a clip's file moves: which way is up, and in front."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...skeletons.maps import SkeletonMap
from ...skeletons.posture import STANDS, Posture

LEANS_RAD: Final = float(np.radians(7.5))
"""Joints of bodies that stand straight may be up to 6° off the vertical."""
_AT_ORIGIN: Final = 0.15
"""Of the leg: no farther from the vertical through the origin are hips and ankles of a body that stands there."""
_ASIDE: Final = float(np.cos(np.radians(44.0)))
_NEARER: Final = 1.0 / 3.0
"""A body that rests less far aside than that also moves so only where it sets out so much nearer to it."""
_USUAL: Final = (np.array((0.0, 1.0, 0.0)), np.array((0.0, 0.0, 1.0)))
"""What is up in files."""
_ON_GROUND: Final = (-0.02, 0.3)
"""Of the leg: how high the lowest joint is of a body that is on the ground, or jumps a little."""
_IN_GROUND: Final = -0.1
"""Of the leg: so deep are toes or fingers of recorded bodies in the ground at worst."""
_MOSTLY, _SELDOM = 0.9, 0.5
"""Shares of the frames with the lowest joint near the ground: of at least the first along the direction that is up, and
of less than the second along the body, where that lies."""
_SELDOM_LOWER_PERCENT: Final = 2.0


def up_of_motion(frames: Posture, positions: FloatArray, found: SkeletonMap) -> FloatArray:
    """Return which way is up (3,) where the rest pose says nothing: mostly along the body, as it stands.

    positions: (F, J, 3) of all joints. A body that lies, rolls or crawls on the ground is known by its lowest joint:
    along one of the usual axes that is nearly always near 0, and along the body it seldom is, or that is no usual axis.
    Where it is so along none and the body never stands, the ground is wherever the lowest joint seldom goes below.
    Who is head down stands on his hands, unless there is no other way.
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
    """Return how long a leg is from hips to ankles where it is longest, or None if there is none."""
    hips = [found.joint_of[name] for name in ("l_hip", "r_hip", "l_ankle", "r_ankle") if name in found.joint_of]
    if len(hips) < 4:
        return None
    legs = positions[:, hips[:2]].mean(axis=1) - positions[:, hips[2:]].mean(axis=1)
    return max(float(np.linalg.norm(legs, axis=1).max()), 1e-30)


def file_axes(rest: FloatArray, own: FloatArray, frames: Posture, positions: FloatArray,
              found: SkeletonMap) -> FloatArray:
    """Return the axes (3, 3) in which a file moves: left, up and front of a body that stands, facing its front.

    rest: the rest pose's measured axes; own: the right-angled ones nearest to them. Up is one of these, unless the
    motion stands along another axis. The body's front is as it rests, unless it sets out nearer to the usual one.
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
    is_upright = start[:, 1] @ up > 0.5  # where a body faces that lies is not where it goes
    beside, away = (np.arccos(np.clip(start[:, 2] @ each[:, 2], -1.0, 1.0)) for each in (faces, usual))
    is_clear = 1.0 if faces[:, 2] @ usual[:, 2] < _ASIDE else _NEARER
    return usual if is_upright and beside > is_clear * away else faces


def with_front(up: FloatArray, measured: FloatArray) -> FloatArray:
    """Return right-angled axes (3, 3) of a body: the given up (3,), and its front once it is turned upright.

    measured: its measured axes (3, 3). A front within LEANS_RAD of an axis of the file becomes that axis.
    """
    level = rot.rotate(rot.shortest_arc(measured[:, 1], up), measured[:, 2])
    nearest = _nearest_axis(level)
    front = nearest if level @ nearest > np.cos(LEANS_RAD) else level
    return np.stack((np.cross(up, front), up, front), axis=1)


def _stands_along(other: FloatArray, up: FloatArray, rest: FloatArray, ups: FloatArray, positions: FloatArray,
                  found: SkeletonMap) -> bool:
    """Return whether a clip moves with `other` upwards, not `up`: that its body stands on the ground so.

    Along one of the usual axes a body that lies on the ground and one whose rest pose lies look the same, but for the
    height of the lowest joint above 0: along what is up it is always near the ground. So a body that rests upright
    along one of them is believed, unless it is so along the other alone. Of other bodies up is Y where it is so along
    both, as where ankles lie over the origin. Where it is so along neither, the motion counts if the rest pose leans
    and it is nearer to an axis, else what the lowest joint is nearer to.
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
    """Return in what share of frames the lowest joint (F,), in legs, is near 0."""
    return float(((lowest > _ON_GROUND[0]) & (lowest < _ON_GROUND[1])).mean())


def _share_above_ground(heights: FloatArray) -> float:
    """Return in what share of frames all joints (F, J), in legs, are above 0 and the lowest is near, or a little in it.

    Their middle is farther above than the lowest is below: 0 is no ground to one who stands over the origin, as seen
    along his front.
    """
    low = heights.min(axis=1)
    return float(((low > _IN_GROUND) & (low < _ON_GROUND[1]) & (heights.mean(axis=1) > -low)).mean())


def stands_on_origin(found: SkeletonMap, up: FloatArray) -> bool:
    """Return whether the feet stand on the ground at the origin: then a body that leant did so about that point."""
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
    """Return the right-angled axes (3, 3) that are nearest to measured ones: left, up, front."""
    up = _nearest_axis(axes[:, 1])
    front = _nearest_axis(axes[:, 2] - (axes[:, 2] @ up) * up)
    return np.stack((np.cross(up, front), up, front), axis=1)


def with_usual_front(up: FloatArray) -> FloatArray:
    """Return the axes (3, 3) of files in which that is up: where Y is up, +Z is in front; where Z is, −Y."""
    front = np.array((0.0, -1.0, 0.0) if abs(up[2]) > 0.5 else (0.0, 0.0, 1.0))
    return np.stack((np.cross(up, front), up, front), axis=1)
