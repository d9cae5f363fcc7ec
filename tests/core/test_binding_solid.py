"""The solid: what it fills, and what rays and lines find in it."""

import numpy as np
import pytest

from takt.core.binding.solid import SAMPLE_STEP, Solid, cell_size, dilated, flood, ray_fan, winding_numbers
from takt.core.binding.surface import Surface

from .bodies import joined, tube
from .test_binding_surface import triangles_of

CELL = 0.05
RADIUS = 0.5
PRECISION = 1.5 * CELL


def solid_of(points: np.ndarray, faces: list[list[int]], cell: float = CELL) -> Solid:
    surface = Surface.build(points, triangles_of(points, faces))
    return Solid.build(points, *surface.samples(SAMPLE_STEP * cell), cell)


@pytest.fixture(scope="module")
def body() -> Solid:
    return solid_of(*tube((0, 0, -1), (0, 0, 1), RADIUS, 12, 24))


def test_a_closed_tube_is_full(body):
    assert body.contains(np.array([[0, 0, 0], [0.3, 0.3, 0.8], [0, 0, 1.1]])).all()
    assert not body.contains(np.array([[0.6, 0, 0], [0.4, 0.4, 0], [0, 0, 1.4], [99, -99, 0]])).any()


def test_its_volume_is_the_tube_and_its_skin(body):
    volume = body.filled.sum() * CELL**3
    assert np.pi * RADIUS**2 * 2 < volume < np.pi * (RADIUS + CELL) ** 2 * (2 + RADIUS)


def test_holes_are_closed_and_concave_places_stay_open():
    points, faces = tube((0, 0, -1), (0, 0, 1), RADIUS, 24, 40)
    kept = np.random.default_rng(1).random(len(faces)) > 0.1
    holed = solid_of(points, [face for face, keep in zip(faces, kept, strict=True) if keep])
    assert holed.contains(np.zeros(3)) and not holed.contains(np.array([0.7, 0, 0]))
    two = solid_of(*joined(tube((-0.3, 0, -1), (-0.3, 0, 1), 0.2), tube((0.3, 0, -1), (0.3, 0, 1), 0.2))[:2])
    assert not two.contains(np.zeros(3))


def test_half_a_body_has_an_inside():
    points, faces = tube((0, 0, -2), (0, 0, 1), RADIUS, 24, 24)
    short = solid_of(points, [face for face in faces if points[face, 2].max() < 0])
    assert short.contains(np.array([[0, 0, -1.0], [0.3, 0, -0.3]])).all()
    assert not short.contains(np.array([[0, 0, 0.2], [0.6, 0, -1]])).any()
    lengthwise = solid_of(points, [face for face in faces if points[face, 0].max() < 1e-6])
    assert lengthwise.contains(np.array([-0.15, 0, -0.5])) and not lengthwise.contains(np.array([0.15, 0, -0.5]))


def test_winding_numbers_of_a_sphere_and_its_half():
    direction = np.random.default_rng(5).normal(size=(200_000, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    cells = np.rint(direction * 12).astype(int).T + 20
    areas = direction * (4 * np.pi * 12**2 / len(direction))
    around = winding_numbers(cells, areas, (41, 41, 41))
    assert around[20, 20, 20] == pytest.approx(1, abs=0.01) and around[20, 27, 20] == pytest.approx(1, abs=0.01)
    assert np.abs([around[20, 20, 36], around[0, 0, 0]]).max() < 0.01
    upper = direction[:, 2] > 0
    half = winding_numbers(cells[:, upper], areas[upper], (41, 41, 41))
    assert half[20, 20, 20] == pytest.approx(0.5, abs=0.02) and half[20, 20, 28] > 0.7 and 0.1 < half[20, 20, 14] < 0.3


def test_parts_that_stick_in_each_other_are_one_solid():
    points, faces, _ = joined(tube((0, 0, -1), (0, 0, 1), RADIUS), tube((0, 0, 0), (1.5, 0, 0), 0.2))
    assert solid_of(points, faces).contains(np.linspace((0, 0, 0), (1.5, 0, 0), 30)).all()


def test_mirrored_bodies_make_mirrored_solids():
    points, faces = tube((0.1, 0.2, -1), (0.4, -0.3, 1), RADIUS)
    here, there = solid_of(points, faces), solid_of(points * (-1, 1, 1), [face[::-1] for face in faces])
    assert np.array_equal(here.filled, there.filled[::-1])


def test_depths_end_at_the_skin_or_at_most(body):
    directions = np.array([[1.0, 0, 0], [0, 0, 1], [0, 0, 1]])
    depths = body.depths(np.zeros((3, 3)), directions, 3.0)
    assert abs(depths[0] - RADIUS) < PRECISION and abs(depths[1] - 1.25) < 2 * PRECISION
    assert body.depths(np.zeros((1, 3)), directions[:1], 0.2).tolist() == [0.2]


def test_share_outside(body):
    ends = np.array([[1.0, 0, 0], [0, 0, 0.9], [0, 2.0, 0]])
    share = body.share_outside(np.zeros(3), ends, 64)
    assert np.allclose(share, [0.5, 0.0, 0.75], atol=0.05)


def test_cell_size_keeps_the_number_of_cells():
    cube, plate = np.array([[0, 0, 0], [1, 1, 1.0]]), np.array([[0, 0, 0], [4, 4, 0.0]])
    assert cell_size(cube, 20) == pytest.approx(0.05) and cell_size(cube * 1e-5, 20) == pytest.approx(0.05e-5)
    assert cell_size(plate, 20) == pytest.approx(4 * 0.1 ** (1 / 3) / 20) and cell_size(cube[:1], 20) == 1.0
    assert cell_size(np.array([[0, 0, 0], [1, 0, 0.0]]), 200) == pytest.approx(1 / 200)


def test_growing_and_flooding():
    cells = np.zeros((5, 5, 5), bool)
    cells[2, 2, 2] = True
    assert dilated(cells, 1).sum() == 7 and dilated(cells, 0).sum() == 1
    shell = dilated(cells, 2) & ~dilated(cells, 1)
    assert not flood(~shell)[2, 2, 2] and flood(~shell)[0, 0, 0]
    shell[2, 2, 0] = False  # a hole
    assert flood(~shell)[2, 2, 2]


def test_fans_stay_within_their_spread():
    axes = np.array([[0, 0, 1.0], [0.6, 0.0, -0.8]])
    fan = ray_fan(axes, 0.5)
    cosine = (fan * axes[:, None]).sum(axis=2)
    assert fan.shape == (2, 13, 3) and np.allclose(np.linalg.norm(fan, axis=2), 1)
    assert np.allclose(np.sort(np.arccos(np.clip(cosine, -1, 1)), axis=1)[:, [0, 1, 4, 5, 12]], [0, .25, .25, .5, .5])
    assert (ray_fan(np.zeros((1, 3)), 0.5) == 0).all()
