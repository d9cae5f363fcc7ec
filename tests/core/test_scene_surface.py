"""How high floors are and how steep, of stairs, slopes and hills whose heights are known."""

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.playing.feet.footholds import ground_axes
from takt.core.playing.scene.cast import SceneFloor
from takt.core.playing.scene.surface import Surface, highest_along

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


def box(low: tuple[float, ...], high: tuple[float, ...]) -> tuple[FloatArray, IntArray]:
    """Return the corners of a box (8, 3), and its triangles (12, 3)."""
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    quads = np.array(((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)))
    return corners, np.concatenate((quads[:, :3], quads[:, (0, 2, 3)]))


@pytest.mark.parametrize("tilt_deg", [-40, -30, -20, -10, 0, 10, 20, 30, 40])
def test_the_seat_of_a_tilted_chair_counts_and_not_its_back(tilt_deg: float) -> None:
    """Its origin is on the ground below the seat; tilted forward, its back is above that."""
    seat, back = box((-0.2, -0.25, 0.4), (0.2, 0.25, 0.45)), box((-0.2, 0.2, 0.45), (0.2, 0.25, 1.6))
    points, triangles = np.concatenate((seat[0], back[0])), np.concatenate((seat[1], back[1] + 8))
    up = np.array((0.0, np.sin(np.radians(tilt_deg)), np.cos(np.radians(tilt_deg))))
    found = highest_along(points, triangles, up)
    if abs(0.45 * np.tan(np.radians(tilt_deg))) < 0.2:  # else the seat is not above the origin
        assert found == pytest.approx(0.45 / np.cos(np.radians(tilt_deg)))
    assert highest_along(*back, np.array((0.0, 0.3, 1.0))) is not None  # all that there is
