"""Front ends of the soles of a clip's feet: the balls of the feet, else the tips of the toes if the skin shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray
from ..skeletons.hierarchy import with_descendants
from ..skeletons.maps import SkeletonMap
from .clip import Clip

_FEWEST: Final = 8
"""Least number of vertices that show the shape of a foot."""
_SOLE: Final = 0.2
"""Share of the foot's height in which its skin counts as sole."""
_UPRIGHT: Final = 0.5
"""Sine of the angle between a resting shin and the ground: at smaller ones, nothing shows what is below the foot."""


def sole_ends(clip: Clip, found: SkeletonMap, sides: Sequence[str], up: FloatArray) -> list[tuple[int, FloatArray]]:
    """Return for each foot the joint that moves the front end of its sole, and the position (3,) of that end at rest.

    sides: l, r, or both, each with knee and ankle. found: the map of the clip's skeleton. up: (3,) unit, at rest. The
    result is empty unless joints or the clip's skin show the ends of all feet.
    """
    joints, rest = found.joint_of, clip.skeleton.rest_world[..., 3]
    balls = [joints.get(f"{side}_metatarsal", -1) for side in sides]
    if min(balls, default=0) >= 0:
        return [(ball, rest[ball]) for ball in balls]
    ankles = [joints[f"{side}_ankle"] for side in sides]
    tips = [_tip(clip, joints[f"{side}_knee"], ankle, ankle, up) for side, ankle in zip(sides, ankles, strict=True)]
    known = [(ankle, tip) for ankle, tip in zip(ankles, tips, strict=True) if tip is not None]
    return known if len(known) == len(sides) else []


def toe_tip(clip: Clip, found: SkeletonMap, side: str, up: FloatArray) -> FloatArray | None:
    """Return the position (3,) at rest of the tip of the toes that the ball of a foot moves, or None without a skin.

    A character on tiptoe has the balls of the feet in the air. For the arguments see sole_ends.
    """
    knee, ankle, ball = (found.joint_of.get(f"{side}_{name}", -1) for name in ("knee", "ankle", "metatarsal"))
    return None if min(knee, ankle, ball) < 0 else _tip(clip, knee, ankle, ball, up)


def _tip(clip: Clip, knee: int, ankle: int, moves: int, up: FloatArray) -> FloatArray | None:
    """Return the position (3,) of a foot's sole that is farthest from the point below its ankle; None if unknown.

    Only skin that moves with a joint of the foot counts.
    """
    rest = clip.skeleton.rest_world[..., 3]
    shin = rest[knee] - rest[ankle]
    if clip.skin is None or shin @ up < _UPRIGHT * np.linalg.norm(shin):
        return None
    foot = clip.skin.of_joints(clip.skeleton, with_descendants(clip.skeleton.parents, np.array([moves])))
    if len(foot) < _FEWEST:
        return None
    high = foot @ up
    sole = foot[high <= high.min() + _SOLE * np.ptp(high)]
    away = sole - rest[ankle]
    level = away - (away @ up)[:, None] * up
    far = int(np.argmax(np.linalg.norm(level, axis=1)))
    return np.asarray(sole[far] - (sole[far] @ up - high.min()) * up)
