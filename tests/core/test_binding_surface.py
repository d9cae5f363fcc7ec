"""Welding, the body's frame, and the surface."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.binding.frame import Frame
from takt.core.binding.surface import Surface, connected, outward_signs, triangulate
from takt.core.binding.welding import weld

from .bodies import joined, tube, turn

ROUNDING = 1e-9
TOLERANCE = 1e-6
RADIUS, LENGTH = 0.5, 2.0


def same_groups(one: np.ndarray, other: np.ndarray) -> bool:
    return len(np.unique(np.stack((one, other)), axis=1).T) == len(np.unique(one)) == len(np.unique(other))


def triangles_of(points: np.ndarray, faces: list[list[int]]) -> np.ndarray:
    return triangulate(points, np.array([v for face in faces for v in face]), np.array([len(face) for face in faces]))


@given(st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
def test_welding_finds_the_copies_in_any_order(seed):
    random = np.random.default_rng(seed)
    places = random.normal(size=(30, 3)).round(2)  # shared coordinates, and some places twice
    truth = np.unique(places, axis=0, return_inverse=True)[1].reshape(-1)
    copies = random.integers(0, 30, 100)
    points = places[copies] + random.uniform(-0.4, 0.4, (100, 3)) * TOLERANCE
    assert same_groups(weld(points, TOLERANCE), truth[copies])


def test_welding_joins_chains_and_keeps_neighbours_along_one_axis_apart():
    chain = np.array([[0, 0, 0], [0.9, 0, 0], [1.8, 0, 0], [1.8, 5, 0], [0, 5, 0]])
    assert same_groups(weld(chain, 1.0), np.array([0, 0, 0, 1, 2]))


def test_the_frame_measures_and_goes_there_and_back():
    points = np.random.default_rng(1).normal(size=(50, 3)) * (1, 2, 3) + 5
    frame = Frame.of_points(points)
    inside = frame.to_local(points)
    assert np.allclose(frame.to_world(inside), points, atol=ROUNDING)
    assert np.isclose((inside**2).sum(axis=1).mean(), 1.0)
    assert np.allclose(frame.axes.T @ frame.axes, np.eye(3), atol=ROUNDING)


@given(st.floats(-3, 3), st.floats(-2, 2), st.floats(1e-3, 1e3))
@settings(max_examples=30, deadline=None)
def test_the_frame_sees_a_moved_body_the_same_up_to_mirrors(angle, slant, scale):
    points = np.random.default_rng(2).normal(size=(40, 3)) * (1, 2, 3)
    there = points @ (scale * turn((1, slant, 0.3), angle)).T + 7
    seen, moved = Frame.of_points(points).to_local(points), Frame.of_points(there).to_local(there)
    assert np.allclose(np.abs(seen), np.abs(moved), atol=1e-6)


def test_the_frame_of_a_round_body_goes_with_it():
    points, _ = tube((0, 0, -1), (0, 0, 1), RADIUS, sides=4)
    far, near = np.array([0.8, 0.6, 0.0]), np.array([-0.6, 0.8, 0.0]) / np.sqrt(2)
    points = np.concatenate((points, [far, -far, *(sign * near + (0, 0, z) for sign in (1, -1) for z in (0.2, -0.2))]))
    spread = np.linalg.eigvalsh(points.T @ points)
    assert np.isclose(spread[0], spread[1])  # so its axes across are not told apart by spread
    there = points @ turn((0, 0, 1), 0.3).T
    assert np.allclose(np.abs(Frame.of_points(points).to_local(points)), np.abs(Frame.of_points(there).to_local(there)),
                       atol=1e-6)


def test_the_frame_of_one_place_has_a_unit():
    frame = Frame.of_points(np.ones((3, 3)))
    assert frame.unit == 1.0 and (frame.to_local(np.ones((1, 3))) == 0).all()


def test_fans_of_triangles():
    points = np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0], [2, 2, 0], [0, 1, 0]], float)
    assert triangulate(points, np.array([0, 1, 4, 0, 1, 2, 3, 4]), np.array([3, 5])).tolist() == [
        [0, 1, 4], [0, 1, 2], [0, 2, 3], [0, 3, 4]]
    assert triangulate(points, np.zeros(0, np.int64), np.zeros(0, np.int64)).shape == (0, 3)


@given(st.integers(0, 3), st.booleans())
def test_a_quad_is_cut_alike_wherever_its_list_begins(begin, backward):
    for points in ([[0, 0, 0], [2, 0, 0], [3, 1, 0], [1, 1, 0]], [[1, 1, 0], [2, 1, 0], [2, 2, 0], [1, 2, 0]]):
        face = np.roll(np.arange(4), begin)[::-1 if backward else 1]
        cut = triangulate(np.array(points, float), face, np.array([4]))
        shared = set(cut[0].tolist()) & set(cut[1].tolist())
        assert shared == ({1, 3} if points[0][0] == 0 else {0, 2})


def test_a_tube_has_its_area_and_outward_normals():
    points, faces = tube((0, 0, 0), (0, 0, LENGTH), RADIUS, 20, 60)
    surface = Surface.build(points, triangles_of(points, faces))
    side = 2 * np.pi * RADIUS * LENGTH
    caps = 2 * np.pi * RADIUS * np.hypot(RADIUS, RADIUS / 2)
    assert np.isclose(surface.areas.sum(), side + caps, rtol=5e-3) and np.isclose(surface.face_areas.sum(),
                                                                                   surface.areas.sum())
    ring = slice(60, 120)
    assert np.allclose((surface.normals[ring, :2] * points[ring, :2]).sum(axis=1), RADIUS, atol=5e-3)


def test_any_turning_of_faces_ends_outward():
    points, faces, _ = joined(tube((0, 0, 0), (0, 0, LENGTH), RADIUS, 20, 20), tube((3, 0, 0), (5, 0, 0), RADIUS))
    triangles = triangles_of(points, faces)
    assert (outward_signs(points, triangles) == 1).all()
    assert (outward_signs(points, triangles[:, ::-1]) == -1).all()
    over = np.random.default_rng(3).random(len(triangles)) < 0.2
    mixed = np.where(over[:, None], triangles[:, ::-1], triangles)
    assert (outward_signs(points, mixed) == np.where(over, -1, 1)).all()


def test_half_a_body_turned_inside_out_ends_outward():
    points, faces = tube((-LENGTH, 0, 0), (LENGTH, 0, 0), RADIUS, 81, 20)
    triangles = triangles_of(points, faces)
    for over in (points[triangles, 0].mean(axis=1) > 0, np.abs(points[triangles, 0]).max(axis=1) < LENGTH / 2,
                 np.sin(3 * points[triangles, 0].mean(axis=1)) > 0):
        mixed = np.where(over[:, None], triangles[:, ::-1], triangles)
        assert (outward_signs(points, mixed) == np.where(over, -1, 1)).all()


def test_triangles_without_area_and_points_without_triangles_have_no_normal():
    points = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [9, 9, 9]], float)
    surface = Surface.build(points, np.array([[0, 1, 2], [0, 0, 1]]))
    assert len(surface.triangles) == 1 and (surface.normals == 0).all() and surface.face_areas.tolist() == [0]


def test_connected_pieces():
    assert connected(6, np.array([0, 2, 4]), np.array([1, 3, 3])).tolist() == [0, 0, 1, 1, 1, 2]


def test_cotangent_weights_of_a_right_angle():
    surface = Surface.build(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float), np.array([[0, 1, 2]]))
    first, second, weights = surface.edges()
    found = {frozenset(pair): w for *pair, w in zip(first.tolist(), second.tolist(), weights.tolist(), strict=True)}
    assert found[frozenset((0, 1))] == pytest.approx(0.5) and found[frozenset((1, 2))] == pytest.approx(0.01)


@pytest.mark.parametrize("spacing", [0.05, 0.2, 5.0])
def test_samples_leave_no_gap(spacing):
    points, faces = tube((0, 0, 0), (0, 0, LENGTH), RADIUS, 3, 8)
    surface = Surface.build(points, triangles_of(points, faces))
    samples, areas = surface.samples(spacing)
    assert np.allclose(np.linalg.norm(areas, axis=1).sum(), surface.face_areas.sum())
    assert np.allclose(areas.T @ samples, np.eye(3) * np.trace(areas.T @ samples) / 3, atol=0.02)  # Gauss: x·n = volume
    samples = np.concatenate((samples, points))
    centres = points[surface.triangles].mean(axis=1)
    gap = np.linalg.norm(centres[:, None] - samples, axis=2).min(axis=1)
    assert (gap <= spacing).all() and len(Surface.build(points, np.zeros((0, 3), int)).samples(spacing)[0]) == 0
