"""How high floors are and how steep, of stairs, slopes and hills whose heights are known."""

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.maths.arrays import FloatArray
from takt.core.playing.feet.footholds import ground_axes
from takt.core.playing.scene.cast import SceneFloor
from takt.core.playing.scene.surface import Surface

UP = np.array((0.0, 0.0, 1.0))
AXES = ground_axes(UP)
EXACT = 1e-9


def quad(corners: FloatArray) -> SceneFloor:
    """Return a floor of one face of four corners (4, 3)."""
    return SceneFloor(corners, np.array(((0, 1, 2), (0, 2, 3))))


def over(points: FloatArray) -> FloatArray:
    """Return where points (N, 2) along x and y are over the ground, (N, 2)."""
    return np.concatenate((points, np.zeros((len(points), 1))), axis=1) @ AXES[:2].T


def grid(count: int, size: float, height: np.ndarray) -> SceneFloor:
    """Return a floor of a grid of faces with heights (count, count)."""
    x, y = np.meshgrid(*(np.linspace(0.0, size, count),) * 2, indexing="ij")
    number = np.arange(count * count).reshape(count, count)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    triangles = np.concatenate((np.stack((a, b, c), axis=1), np.stack((a, c, d), axis=1)))
    return SceneFloor(np.stack((x.ravel(), y.ravel(), height.ravel()), axis=1), triangles)


@pytest.mark.parametrize("seed", range(20))
def test_a_slope_is_as_high_and_as_steep_as_its_plane(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = np.array(((-2.0, -1.0), (3.0, -1.0), (3.0, 4.0), (-2.0, 4.0)))
    slope = rng.uniform(-0.6, 0.6, 2)
    found = Surface.of((quad(np.concatenate((corners, (corners @ slope)[:, None] + 0.3), axis=1)),), AXES)
    points = rng.uniform((-2.0, -1.0), (3.0, 4.0), (100, 2))
    below = found.below(over(points))
    np.testing.assert_allclose(below.heights, points @ slope + 0.3, atol=EXACT)
    np.testing.assert_allclose(below.slopes, np.tile(over(slope[None]), (100, 1)), atol=EXACT)
    assert np.isnan(found.below(over(np.array(((-2.1, 0.0), (3.0, 4.1), (50.0, 50.0))))).heights).all()


@pytest.mark.parametrize("seed", range(20))
def test_stairs_are_as_high_as_their_steps_and_the_highest_of_several_floors_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rise, tread, count = rng.uniform(0.1, 0.22), rng.uniform(0.25, 0.35), 12
    base = np.array(((0.0, 0.0), (tread, 0.0), (tread, 2.0), (0.0, 2.0)))
    steps = [quad(np.concatenate((base + np.array((step * tread, 0.0)), np.full((4, 1), step * rise)), axis=1))
             for step in range(count)]
    low = quad(np.concatenate((base * (count, 1.0), np.full((4, 1), -1.0)), axis=1))
    order = rng.permutation(count + 1)
    found = Surface.of([[*steps, low][number] for number in order.tolist()], AXES)
    points = rng.uniform((0.0, 0.0), (count * tread, 2.0), (500, 2))
    np.testing.assert_allclose(found.below(over(points)).heights, np.floor(points[:, 0] / tread) * rise, atol=EXACT)


def test_hills_have_no_cracks_and_walls_are_no_floor() -> None:
    rng = np.random.default_rng(0)
    height = rng.normal(0.0, 0.2, (40, 40))
    hills, wall = grid(40, 5.0, height), quad(np.array(((1.0, 1.0, 0.0), (4.0, 1.0, 0.0), (4.0, 1.0, 9.0),
                                                        (1.0, 1.0, 9.0))))
    found = Surface.of((hills, wall), AXES)
    x = np.linspace(0.0, 5.0, 40)
    corners = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    np.testing.assert_allclose(found.below(over(corners)).heights, height.ravel(), atol=1e-6)
    diagonal = np.repeat(np.linspace(0.0, 5.0, 2000), 2).reshape(-1, 2)
    assert np.isfinite(found.below(over(diagonal)).heights).all()
    assert found.below(over(diagonal).reshape(40, 50, 2)).slopes.shape == (40, 50, 2)


@pytest.mark.parametrize(("points", "triangles", "message"), [
    (np.zeros((3, 3)), np.zeros((0, 3), dtype=np.int64), "a floor of 0 triangles; expected 1"),
    (np.zeros((3, 3)), np.array(((0, 1, 3),)), "a triangle of the point 3; expected 0 to 2"),
    (np.full((3, 3), np.nan), np.array(((0, 1, 2),)), "a point that is not finite")])
def test_what_is_no_floor_is_told(points: FloatArray, triangles: np.ndarray, message: str) -> None:
    with pytest.raises(TaktError, match=message):
        SceneFloor(points, triangles)


def test_a_floor_of_walls_alone_is_nowhere() -> None:
    wall = quad(np.array(((1.0, 1.0, 0.0), (4.0, 1.0, 0.0), (4.0, 1.0, 9.0), (1.0, 1.0, 9.0))))
    assert np.isnan(Surface.of((wall,), AXES).below(np.zeros((3, 2))).heights).all()
