"""Points of the soles, as far as a skeleton tells where these are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton
from .legs import Leg

POINTS: Final = 3
_BALL: Final = 0.6
"""Where the ball of a foot is between below the ankle and the tip of the toes."""
_LEAST_LEGS: Final = 0.25
"""How far it is at least from below the ankle to the tip of the toes, in leg lengths."""
_HEEL: Final = 0.25
"""And how far to the heel, on the other side, against that."""
_HIGH_LEGS: Final = 0.08
"""How high the ankle is, where there is no ball."""


def soles(skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray) -> FloatArray:
    """Return points of L soles, (3, L, 4): the ball of the foot, the heel, and the tip of the toes.

    up: unit vector (3,) of model space. Ball and tip move with the joint that is held, the heel with the ankle: they
    are (x, y, z, 1) in the axes of these. At rest all three are as high as the ball.
    """
    position, found = skeleton.rest_world[..., 3], np.ones((POINTS, len(legs), 4))
    for i, leg in enumerate(legs):
        length, ankle = leg.length(skeleton), position[leg.ankle]
        ball = position[leg.foot] if leg.foot != leg.ankle else ankle - _HIGH_LEGS * length * up
        below = ankle + ((ball - ankle) @ up) * up
        far = float(np.linalg.norm(ball - below))
        ahead = (ball - below) / far if far > 0.0 else _forward(skeleton, legs, up)
        tip = max(far / _BALL, _LEAST_LEGS * length) * ahead
        points = (ball, leg.foot), (below - _HEEL * tip, leg.ankle), (below + tip, leg.foot)
        for point, (at, joint) in zip(found[:, i], points, strict=True):
            rest = skeleton.rest_world[joint]
            point[:3] = np.linalg.solve(rest[:, :3], at - rest[:, 3])
    return found


def heights(ankles: FloatArray, feet: FloatArray, points: FloatArray) -> FloatArray:
    """Return how high points (3, L, 4) of soles are, (3, L, F), by matrices (L, F, 4, 4) in ground coordinates.

    See soles.
    """
    ball, heel, tip = points[..., None]
    of_foot, of_ankle = feet[..., 2, :], ankles[..., 2, :]
    return np.stack((of_foot @ ball, of_ankle @ heel, of_foot @ tip))[..., 0]


def _forward(skeleton: Skeleton, legs: Sequence[Leg], up: FloatArray) -> FloatArray:
    """Return where a body looks at rest, of unit length; nowhere where it has one leg alone."""
    hips = {leg.side: skeleton.rest_world[leg.hip, :, 3] for leg in legs}
    ahead = rot.cross(hips.get("l", np.zeros(3)) - hips.get("r", np.zeros(3)), up) if len(hips) > 1 else np.zeros(3)
    return np.asarray(ahead / max(float(np.linalg.norm(ahead)), 1e-30))
