"""The shape of a body's trunk, and how far outside of it points are: a tube about the line from hips to shoulders.

The tube is that of the rest pose. A point beside a bent trunk is first taken to where it would be beside the trunk at
rest, as each joint of the trunk sees it, and between two of them as both do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray, smoothstep
from ..skeletons import hanim
from ..skeletons.maps import SkeletonMap
from ..skeletons.skeleton import Skeleton
from .skin_points import SkinPoints

TRUNK: Final = (hanim.ROOT, "sacroiliac", *hanim.SPINE[:17])
_RINGS: Final = ((-0.1, 0.32, 0.21), (0.0, 0.33, 0.21), (0.45, 0.28, 0.20), (0.8, 0.31, 0.22), (0.95, 0.30, 0.21))
"""Height, half of the width and of the depth of a usual trunk, in its lengths."""
_HEIGHTS: Final = np.linspace(-0.6, 1.2, 37)
_ANGLES: Final = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
_BAND: Final = 0.06
_SLOPE: Final = 0.5
"""Skin is as wide as its points within a band of height, and narrower by this much farther up and down."""
_CLEAR: Final = 0.2
"""From so far from the centre on, in lengths, it is clear which direction leads out."""


@dataclass(frozen=True, eq=False)
class Trunk:
    """A trunk at rest, and the shape of its skin.

    joints: (N,) that carry it; middles: (N,) how high the middle of what each carries is, in lengths. rest: (N, 3, 4).
    origin: (3,) between the hips. axes: (3, 3) its left, up and front, in rows. length: from hips to shoulders.
    radii: (heights, angles) of its tube, in lengths, about a centre so far to the left.
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
        """Return the trunk of a map's body; None where hips or shoulders are not known.

        own: a skeleton of the same joints, as the skin rests. Without skin a trunk has the usual shape for its length.
        Only skin that belongs to the trunk's own joints counts: skirts and capes do not.
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
                   _radii((points if len(points) else _usual()) - np.array((centre, 0.0, 0.0))), centre)

    def outside(self, world: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far points (F, P, 3) are outside the trunk's skin, (F, P) in lengths, and where is out, (F, P, 3).

        The latter are unit vectors, but fade to nothing towards the centre, from where no direction leads out.
        world: (F, J, 3, 4) of all joints.
        """
        matrices = world[:, self.joints]
        away = (points[:, None] - matrices[:, :, None, :, 3]).swapaxes(2, 3)
        own_from_joint = self.axes @ self.rest[..., :3] / self.length
        own = ((own_from_joint @ rot.inverse(matrices[..., :3])) @ away).swapaxes(2, 3)
        own += ((self.rest[:, :, 3] - self.origin) @ self.axes.T / self.length)[:, None]
        share = self._shares(own[..., 1].mean(axis=1))
        left, height, front = np.einsum("fpn,fnpc->cfp", share, own - np.array((self.centre, 0.0, 0.0)))
        radius = np.hypot(left, front)
        outside = radius - _at(self.radii, height, np.arctan2(front, left))
        aside = np.stack((left, np.zeros_like(left), front), axis=-1) / np.maximum(radius, 1e-9)[..., None]
        turned = (share @ (matrices[..., :3] @ self._joint_from_axes).reshape(*share.shape[::2], 9)).reshape(
            *radius.shape, 3, 3)
        out = np.einsum("fpij,fpj->fpi", turned, aside)
        sure = smoothstep(radius, 0.0, _CLEAR)
        return outside, out * (sure / np.maximum(np.linalg.norm(out, axis=-1), 1e-30))[..., None]

    @cached_property
    def _joint_from_axes(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.rest[..., :3]) @ self.axes.T)

    def _shares(self, heights: FloatArray) -> FloatArray:
        """Return how much each joint carries what is so high (F, P), as (F, P, N): between two middles both do."""
        rows = np.eye(len(self.joints))
        return np.stack([np.interp(heights, self.middles, row) for row in rows], axis=-1)


def _usual() -> FloatArray:
    """Return points (P, 3) of a usual trunk."""
    return np.concatenate([np.stack((width * np.cos(_ANGLES), np.full(len(_ANGLES), height), depth * np.sin(_ANGLES)),
                                    axis=1) for height, width, depth in _RINGS])


def usual_trunk(trunk: Trunk) -> dict[int, FloatArray]:
    """Return points (P, 3) at rest of a trunk of the usual shape, by the joints that carry them."""
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
    """Return values of a table (heights, angles) between its entries."""
    row = np.clip((heights - _HEIGHTS[0]) / (_HEIGHTS[1] - _HEIGHTS[0]), 0.0, len(_HEIGHTS) - 1.001)
    column = (angles % (2.0 * np.pi)) / (_ANGLES[1] - _ANGLES[0])
    r, c = row.astype(np.int64), column.astype(np.int64) % len(_ANGLES)
    down, right = row - r, column - np.floor(column)
    after = (c + 1) % len(_ANGLES)
    return np.asarray((1.0 - down) * ((1.0 - right) * table[r, c] + right * table[r, after])
                      + down * ((1.0 - right) * table[r + 1, c] + right * table[r + 1, after]))


def limb_radius(skin: SkinPoints | None, skeleton: Skeleton, chain: Sequence[int], usual: float) -> float:
    """Return how thick a bone's skin is, from its axis; the usual where no skin is known.

    skeleton: as the skin rests. chain: the bone's joint and the one at its end.
    """
    if skin is None:
        return usual
    start, end = skeleton.rest_world[list(chain), :, 3]
    axis = (end - start) / max(float(np.linalg.norm(end - start)), 1e-30)
    away = skin.positions[skin.joints[:, 0] == chain[0]] - start
    beside = away[(away @ axis > 0.0) & (away @ axis < np.linalg.norm(end - start))]
    return float(np.median(np.linalg.norm(beside - np.outer(beside @ axis, axis), axis=1))) if len(beside) else usual
