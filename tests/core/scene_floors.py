"""Stairs, slopes and hills for scenes, made by rule."""

import numpy as np

from takt.core.maths.arrays import FloatArray
from takt.core.playing.scene.cast import SceneFloor
from takt.tests.core.test_scene_surface import grid


def stairs(rises: FloatArray, tread: float) -> SceneFloor:
    """Return stairs that begin a little before the body and lead away from it."""
    high, ahead = np.cumsum(rises), 0.4 + tread * np.arange(len(rises) + 1)
    corners = np.array([[(-3.0, y, a), (3.0, y, a), (3.0, y, b), (-3.0, y, b)]
                        for y, a, b in zip(high, ahead, ahead[1:], strict=False)])
    first = 4 * np.arange(len(rises))[:, None]
    faces = [first + np.array(three) for three in ((0, 1, 2), (0, 2, 3))]
    return SceneFloor(corners.reshape(-1, 3), np.concatenate(faces))


def slope(ahead: float, aside: float) -> SceneFloor:
    """Return a wide slope through the body's feet, so steep along its way and beside it."""
    corners = np.array(((-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0)))
    high = corners @ (aside, ahead)
    return SceneFloor(np.stack((corners[:, 0], high, corners[:, 1]), axis=1), np.array(((0, 1, 2), (0, 2, 3))))


def hills(rng: np.random.Generator) -> SceneFloor:
    """Return gentle hills around the body."""
    x, y = np.meshgrid(*(np.linspace(-9.0, 9.0, 120),) * 2, indexing="ij")
    (one, other), (shift, later) = rng.uniform(0.5, 1.2, 2), rng.uniform(0.0, 6.0, 2)
    flat = grid(120, 18.0, 0.15 * (np.sin(one * x + shift) + np.sin(other * y + later)))
    return SceneFloor(flat.points[:, (0, 2, 1)] - np.array((9.0, 0.0, 9.0)), flat.triangles)
