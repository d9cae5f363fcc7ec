"""Dense meshes with fewer points: what is joined, what stays apart, and that the binding hardly notices."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.binding import BindInput
from takt.core.binding import inside as module
from takt.core.binding.decimation import decimated
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.surface import connected

from .bodies import joined, limb, tube


def arrays(body: BindInput) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return body.vertices, body.face_vertices, body.face_sizes


DENSE = limb(200, 80)


@pytest.mark.parametrize("most", [500, 2000, 4000])
def test_about_as_many_points_are_left_and_every_face_is_theirs(most: int) -> None:
    found = decimated(*arrays(DENSE), most)
    count = len(found.points)
    assert 0.4 * most < count < 1.3 * most and set(found.label.tolist()) == set(range(count))
    assert found.face_sizes.sum() == len(found.face_vertices) and found.face_vertices.max() == count - 1
    assert np.linalg.norm(found.points[found.label] - DENSE.vertices, axis=1).max() < 3.0 * (11.0 / most) ** 0.5


def test_what_is_small_or_in_pieces_stays_as_it_is() -> None:
    same = decimated(*arrays(DENSE), len(DENSE.vertices))
    assert same.points is DENSE.vertices and (same.label == np.arange(len(same.label))).all()
    cards = np.random.default_rng(2).random((2700, 3))
    assert decimated(cards, np.arange(2700), np.full(900, 3), 300).points is cards
    lone = decimated(cards, np.zeros(0, np.int64), np.zeros(0, np.int64), 300)
    assert lone.points is cards
    stacked = np.zeros((2700, 3))
    assert decimated(stacked, np.arange(2700), np.full(900, 3), 300).points is stacked


def test_strips_that_would_become_lines_stay_beside_a_body_that_is_joined() -> None:
    length = np.linspace(0.0, 1.0, 30)
    card = np.stack((np.tile(length, 2), np.repeat([0.0, 0.01], 30), np.zeros(60)), axis=1)
    quads = [[i, i + 1, i + 31, i + 30] for i in range(29)]
    body, faces = tube((3, 0, 0), (3, 0, 4), 0.4, 150, 60)
    points, faces, part = joined((card, quads), (card + np.eye(3)[1], quads), (body, faces))
    corners, sizes = np.concatenate(faces), np.array([len(face) for face in faces])
    found = decimated(points, corners, sizes, 1500)
    own = np.flatnonzero(part < 2)
    assert len(found.points) < 3000 and len(np.unique(found.label[own])) == len(own)
    assert np.array_equal(found.points[found.label[own]], points[own])


def test_two_sides_of_a_thin_part_and_parts_side_by_side_are_never_joined() -> None:
    one, faces = tube((0, 0, 0), (0, 0, 4), 0.4, 100, 40)
    inner, inner_faces = tube((0, 0, 0), (0, 0, 4), 0.399, 100, 40)
    points, faces, part = joined((one, faces), (inner, inner_faces))
    corners, sizes = np.concatenate(faces), np.array([len(face) for face in faces])
    found = decimated(points, corners, sizes, 1500)
    assert len(found.points) < 3000
    sides = np.zeros((len(found.points), 2))
    np.add.at(sides, (found.label, part), 1.0)
    assert (sides.min(axis=1) == 0.0).all()
    first = np.cumsum(found.face_sizes) - found.face_sizes
    pieces = connected(len(found.points), np.repeat(found.face_vertices[first], found.face_sizes), found.face_vertices)
    assert pieces.max() == 1


def test_neither_order_nor_mirror_matters() -> None:
    points, corners, sizes = arrays(DENSE)
    order = np.random.default_rng(4).permutation(len(points))
    back = np.argsort(order)
    found, other = decimated(points, corners, sizes, 900), decimated(points[order], back[corners], sizes, 900)
    assert np.allclose(found.points[found.label][order], other.points[other.label], atol=1e-12)
    mirrored = decimated(points * (-1, 1, 1), corners, sizes, 900)
    assert np.allclose(found.points[found.label] * (-1, 1, 1), mirrored.points[mirrored.label], atol=1e-12)


def test_a_dense_body_is_bound_as_if_it_were_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_CLUSTERS", 500)
    plain = bind_inside_distance(DENSE).dense(2)
    monkeypatch.setattr(module, "_MOST_POINTS", 3000)
    found = bind_inside_distance(DENSE).dense(2)
    assert 0.0 < np.abs(found - plain).max() < 0.15 and np.abs(found - plain).mean() < 0.005
    split = replace(DENSE, vertices=DENSE.vertices[DENSE.face_vertices], part=DENSE.part[DENSE.face_vertices],
                    face_vertices=np.arange(len(DENSE.face_vertices)))
    assert np.abs(bind_inside_distance(split).dense(2) - found[DENSE.face_vertices]).max() < 1e-6
