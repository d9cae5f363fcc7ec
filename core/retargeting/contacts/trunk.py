"""Shape of a body's trunk, and distances of points from it: a tube about the line from hips to shoulders.

The tube is that of the rest pose. A point beside a bent trunk is first moved to its place beside the trunk at rest, by
the transform of the nearest trunk joint; between two joints, by a blend of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, NamedTuple

import numpy as np

from ...maths.arrays import FloatArray, IntArray, smoothstep
from ...skeletons import hanim
from ...skeletons.maps import SkeletonMap
from ...skeletons.skeleton import Skeleton
from ..skin_points import SkinPoints
from .hull import along, inverses, turned_by

TRUNK: Final = (hanim.ROOT, "sacroiliac", *hanim.SPINE[:17])
_RINGS: Final = ((-0.1, 0.32, 0.21), (0.0, 0.33, 0.21), (0.45, 0.28, 0.20), (0.8, 0.31, 0.22), (0.95, 0.30, 0.21))
"""Height, half width and half depth of a standard trunk, in trunk lengths."""
_HEIGHTS: Final = np.linspace(-0.6, 1.2, 37)
_ANGLES: Final = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
_BAND: Final = 0.06
_SLOPE: Final = 0.5
"""Skin is as wide as its points within _BAND of its height; farther up and down it narrows by this slope."""
_CLEAR: Final = 0.2
"""Distance from the centre, in trunk lengths, from which on the direction out is certain."""


@dataclass(frozen=True, eq=False)
class Trunk:
    """A trunk at rest, and the shape of its skin.

    joints: (N,) that carry it. middles: (N,) the middle height of each joint's part, in lengths. rest: (N, 3, 4).
    origin: (3,) between the hips. axes: (3, 3) its left, up and front, in rows. length: from hips to shoulders. radii:
    (heights, angles) of its tube, in lengths, about a centre shifted to the left.
    """

    joints: IntArray
    middles: FloatArray
    rest: FloatArray
    origin: FloatArray
    axes: FloatArray
    length: float
    radii: FloatArray
    centre: float = 0.0

    @classmethod
    def of(cls, found: SkeletonMap, own: Skeleton, skin: SkinPoints | None, centre: float = 0.0) -> Trunk | None:
        """Return the trunk of a map's body, or None if hips or shoulders are unknown.

        own: a skeleton of the same joints in the skin's rest pose. Without skin a trunk has the standard shape for its
        length. Only skin of the trunk's own joints counts: skirts and capes do not.
        """
        joint_of, at = found.joint_of, own.rest_world[:, :, 3]
        joints = [joint_of[name] for name in TRUNK if name in joint_of]
        if not joints or not {f"{side}_{part}" for side in "lr" for part in ("hip", "shoulder")} <= joint_of.keys():
            return None
        hips, shoulders = (at[[joint_of[f"{side}_{part}"] for side in "lr"]] for part in ("hip", "shoulder"))
        origin, line = hips.mean(axis=0), shoulders.mean(axis=0) - hips.mean(axis=0)
        length = float(np.linalg.norm(line))
        across = hips[0] - hips[1]
        left = across - line * (across @ line) / max(length * length, 1e-30)
        if length <= 0.0 or np.linalg.norm(left) <= 0.1 * np.linalg.norm(across):
            return None
        up, left = line / length, left / np.linalg.norm(left)
        axes = np.stack((left, up, np.cross(left, up)))
        heights = (at[joints] - origin) @ up / length
        order = np.argsort(heights, kind="stable")
        middles = (heights[order] + np.append(heights[order][1:], 1.0)) / 2.0
        kept = np.array(joints)[order]
        points = np.zeros((0, 3)) if skin is None else (
            skin.positions[np.isin(skin.joints[:, 0], kept)] - origin) @ axes.T / length
        return cls(kept, np.maximum.accumulate(middles), own.rest_world[kept], origin, axes, length,
                   _radii(points - np.array((centre, 0.0, 0.0))) if len(points) else _usual_radii(centre), centre)


class BentTrunk:
    """A trunk in F frames, placed once for all queries. Frames are the last axis, since all are processed alike."""

    def __init__(self, trunk: Trunk, world: FloatArray) -> None:
        """Place a trunk. world: (F, J, 3, 4) of all joints."""
        self.trunk, rest = trunk, trunk.rest
        self._matrices = world.transpose(2, 3, 1, 0).take(trunk.joints, axis=2)
        own = turned_by(trunk.axes @ rest[..., :3] / trunk.length, inverses(self._matrices[:, :3]))
        moved = ((rest[..., 3] - trunk.origin) @ trunk.axes.T / trunk.length).T[..., None]
        self._own = np.concatenate((own, (moved - along(own, self._matrices[:, 3]))[:, None]), axis=1)
        self._height = self._own[1].mean(axis=1)

    def at(self, frames: IntArray) -> BentTrunk:
        """Return some of the frames."""
        some = copy(self)
        some._matrices, some._own, some._height = (
            values.take(frames, axis=-1) for values in (self._matrices, self._own, self._height))
        some.__dict__.pop("_turned", None)
        return some

    def outside(self, points: FloatArray, trunk: Trunk | None = None) -> tuple[FloatArray, FloatArray]:
        """Return how far points (F, P, 3) are outside, (F, P), and directions out, (F, P, 3); see Trunk.outside.

        trunk: the same one with another centre.
        """
        place, far, (left, front, radius) = self._seen(points, trunk or self.trunk)
        aside = (left / np.maximum(radius, 1e-9), front / np.maximum(radius, 1e-9))
        turned = self._between(self._turned, place)
        out = turned[:, 0] * aside[0] + turned[:, 1] * aside[1]
        out *= smoothstep(radius, 0.0, _CLEAR) / np.maximum(np.sqrt((out * out).sum(axis=0)), 1e-30)
        return far.T, out.T

    def distance(self, points: FloatArray, trunk: Trunk | None = None) -> FloatArray:
        """Return how far points (F, P, 3) are outside, (F, P); see outside."""
        return self._seen(points, trunk or self.trunk)[1].T

    def _seen(self, points: FloatArray, trunk: Trunk) -> tuple[_Place, FloatArray, tuple[FloatArray, ...]]:
        """Return the joints beside points, distances outside, and coordinates: left, front and from the centre."""
        at = np.ascontiguousarray(points.T)
        seen = self._height[:3, None] * at
        place = self._place(seen[0] + seen[1] + seen[2] + self._height[3])
        own = self._between(self._own, place)
        left, height, front = along(own[:, :3], at) + own[:, 3]
        left -= trunk.centre
        radius = np.hypot(left, front)
        return place, radius - _at(trunk.radii, height, np.arctan2(front, left)), (left, front, radius)

    def _place(self, heights: FloatArray) -> _Place:
        """Return the joints around heights (P, F), and their shares: between two middles both carry."""
        middles, frames = self.trunk.middles, heights.shape[1]
        below = (np.searchsorted(middles, heights, side="right") - 1).clip(0, max(len(middles) - 2, 0))
        above = np.minimum(below + 1, len(middles) - 1)
        gap = middles[above] - middles[below]
        share = np.divide(heights - middles[below], gap, out=np.zeros(heights.shape), where=gap > 0.0).clip(0.0, 1.0)
        share[heights >= middles[-1]] = 1.0
        return _Place(below * frames + np.arange(frames), above * frames + np.arange(frames), share)

    def _between(self, values: FloatArray, place: _Place) -> FloatArray:
        """Return values (A, B, N, F) of joints interpolated for points, (A, B, P, F)."""
        flat = values.reshape(*values.shape[:2], -1)
        low, high = flat.take(place.below, axis=2), flat.take(place.above, axis=2)
        high -= low
        high *= place.share
        high += low
        return high

    @cached_property
    def _turned(self) -> FloatArray:
        """The rotation from its left and front to the model's axes by each joint, (3, 2, N, F)."""
        trunk, linear = self.trunk, self._matrices[:, :3]
        by = (np.linalg.inv(trunk.rest[..., :3]) @ trunk.axes.T).transpose(1, 2, 0)[..., None]
        return np.stack([along(linear, by[:, column]) for column in (0, 2)], axis=1)


class _Place(NamedTuple):
    """Points (P, F) beside a trunk: flat indices of joint and frame, and the upper joint's share."""

    below: IntArray
    above: IntArray
    share: FloatArray


@cache
def _usual_radii(centre: float) -> FloatArray:
    """Return the radii (heights, angles) of a standard trunk about a centre shifted to the left."""
    points = np.concatenate([np.stack((width * np.cos(_ANGLES) - centre, np.full(len(_ANGLES), height),
                                       depth * np.sin(_ANGLES)), axis=1) for height, width, depth in _RINGS])
    return _radii(points)


def usual_trunk(trunk: Trunk) -> dict[int, FloatArray]:
    """Return points (P, 3) of a standard trunk at rest, by the joints that carry them."""
    rings = np.array(_RINGS)
    edges = np.concatenate((rings[:1, 0], (trunk.middles[:-1] + trunk.middles[1:]) / 2.0, rings[-1:, 0]))
    points = {}
    for joint, low, high in zip(trunk.joints.tolist(), edges[:-1], edges[1:], strict=True):
        heights = np.linspace(low, high, 3)[:, None]
        width, depth = (np.interp(heights, rings[:, 0], rings[:, column]) for column in (1, 2))
        own = np.stack((width * np.cos(_ANGLES), heights + 0.0 * _ANGLES, depth * np.sin(_ANGLES)), axis=-1)
        if high > low:
            points[joint] = trunk.origin + trunk.length * own.reshape(-1, 3) @ trunk.axes
    return points


def _radii(points: FloatArray) -> FloatArray:
    """Return the radii (heights, angles) of the convex outlines of points (P, 3) at all heights."""
    directions = np.stack((np.cos(_ANGLES), np.sin(_ANGLES)))
    reach = points[:, [0, 2]] @ directions
    far = _SLOPE * np.maximum(np.abs(_HEIGHTS[:, None] - points[:, 1]) - _BAND, 0.0)
    support = np.stack([(reach - one[:, None]).max(axis=0) for one in far])
    cosine = directions.T @ directions
    exits = np.where(cosine > 0.1, support[:, None] / np.maximum(cosine, 0.1), np.inf)
    return np.asarray(exits.min(axis=2))


def _at(table: FloatArray, heights: FloatArray, angles: FloatArray) -> FloatArray:
    """Return interpolated values of a table (heights, angles)."""
    row = np.clip((heights - _HEIGHTS[0]) / (_HEIGHTS[1] - _HEIGHTS[0]), 0.0, len(_HEIGHTS) - 1.001)
    column = (angles % (2.0 * np.pi)) / (_ANGLES[1] - _ANGLES[0])
    r, c = row.astype(np.int64), column.astype(np.int64) % len(_ANGLES)
    down, right = row - r, column - np.floor(column)
    after = (c + 1) % len(_ANGLES)
    return np.asarray((1.0 - down) * ((1.0 - right) * table[r, c] + right * table[r, after])
                      + down * ((1.0 - right) * table[r + 1, c] + right * table[r + 1, after]))


def limb_radius(skin: SkinPoints | None, skeleton: Skeleton, chain: Sequence[int], usual: float) -> float:
    """Return the radius of a bone's skin about its axis, the standard one if no skin is known.

    skeleton: in the skin's rest pose. chain: the bone's joint and the one at its end.
    """
    if skin is None:
        return usual
    start, end = skeleton.rest_world[list(chain), :, 3]
    axis = (end - start) / max(float(np.linalg.norm(end - start)), 1e-30)
    away = skin.positions[skin.joints[:, 0] == chain[0]] - start
    beside = away[(away @ axis > 0.0) & (away @ axis < np.linalg.norm(end - start))]
    return float(np.median(np.linalg.norm(beside - np.outer(beside @ axis, axis), axis=1))) if len(beside) else usual
