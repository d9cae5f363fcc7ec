"""Pieces that move as one."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.binding import BindInput
from takt.core.binding.rigid import compactness, stiffened, walls
from takt.core.binding.surface import Surface

from .bodies import joined, limb, tube
from .test_binding_loose import bound, with_parts
from .test_binding_surface import triangles_of

ROUNDING = 1e-9
NOTHING_HELD, FIRST_HELD = np.zeros((2, 2)), np.array([[1.0, 0.0], [1.0, 0.0]])


def test_compactness_of_a_cube_a_stick_a_plate_half_a_shell_and_a_ring():
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    sides = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    shapes = [(corners, sides), (corners * (20, 1, 1), sides), (corners * (20, 20, 1), sides), (corners, sides[:1]),
              (corners, sides[:4])]
    points, faces, part = joined(*shapes)
    found = compactness(Surface.build(points, triangles_of(points, faces)), part)
    assert found[0] == pytest.approx((np.pi / 6) ** (1 / 3))  # a cube's sphericity
    assert found[1] == pytest.approx(found[0] * 6 * 20 ** (2 / 3) / 82)
    assert found[3:] == pytest.approx(0.0, abs=ROUNDING) and (np.diff(found[:4]) < 0).all()


@pytest.mark.parametrize(("share", "compact", "stiff"), [(0.6, 1.0, True), (0.6, 0.0, False), (0.95, 0.0, True),
                                                         (0.5, 1.0, False)])
def test_how_much_of_one_bone_makes_a_part_stiff(share: float, compact: float, stiff: bool):
    weights = np.array([[1.0, 0.0], [share, 1.0 - share]])
    found = stiffened(weights, np.ones(2), np.array([0, 1]), NOTHING_HELD, np.full(2, compact))
    assert found[1] == pytest.approx([1.0, 0.0] if stiff else weights[1])
    alone = stiffened(weights, np.ones(2), np.array([0, 1]), FIRST_HELD, np.full(2, compact))
    assert alone[1] == pytest.approx([1.0, 0.0] if share > 0.9 else weights[1])


def test_a_part_becomes_stiff_by_degrees():
    shares = np.linspace(0.5, 1.0, 201)
    found = [stiffened(np.array([[1.0, 0.0], [share, 1.0 - share]]), np.ones(2), np.array([0, 1]),
                       NOTHING_HELD, np.full(2, 0.5))[1, 0] for share in shares.tolist()]
    assert np.all(np.diff(found) >= 0) and np.diff(found).max() < 0.02 and found[-1] == 1.0


def test_one_part_alone_bends_however_much_of_it_is_one_bones():
    body = limb()
    short = BindInput(body.vertices, body.face_vertices, body.face_sizes, body.part, body.bone_names,
                      body.bone_parents, body.heads * (1, 1, 1.9), body.tails)
    weights = bound(short)
    assert weights[:, 0].mean() > 0.9 and weights[:, 1].max() > 0.5


def test_rows_sum_to_one():
    weights = np.array([[1.0, 0.0], [0.9, 0.1]])
    found = stiffened(weights, np.ones(2), np.array([0, 1]), FIRST_HELD, np.zeros(2))
    assert found.sum(axis=1) == pytest.approx(1.0)


def test_an_assembly_of_many_parts_is_hard():
    few, many = 10, 200
    for count, compact, stiff in ((few, 0.4, False), (many, 0.4, True), (many, 0.0, False)):
        weights = np.tile([0.65, 0.35], (count, 1))
        found = stiffened(weights, np.ones(count), np.arange(count), np.tile([1.0, 0.0], (count, 1)),
                          np.full(count, compact))
        assert (found[:, 0] == pytest.approx(1.0)) == stiff


def test_in_an_assembly_a_part_follows_the_bone_in_it_rather_than_one_beside_it():
    count = 200
    weights, held = np.tile([0.3, 0.7, 0.0], (count, 1)), np.tile([0.2, 0.0, 0.0], (count, 1))
    found = stiffened(weights, np.ones(count), np.arange(count), held, np.full(count, 0.4))
    assert found == pytest.approx(np.tile([1.0, 0.0, 0.0], (count, 1)))
    soft = stiffened(weights, np.ones(count), np.arange(count), held, np.zeros(count))
    assert soft == pytest.approx(weights)


def test_a_part_that_holds_a_second_bone_bends_however_little_it_moves():
    weights = np.array([[0.95, 0.05], [0.95, 0.05]])
    found = stiffened(weights, np.ones(2), np.array([0, 1]), np.array([[1.0, 1.0], [1.0, 0.0]]), np.zeros(2))
    assert found == pytest.approx(np.array([[0.95, 0.05], [1.0, 0.0]]))


def test_an_eye_beside_a_joint_follows_one_bone_and_a_belt_bends():
    eye = tube((0.45, 0, 1.65), (0.45, 0, 1.75), 0.07, 5, 10)
    ring = np.linspace(0, 2 * np.pi, 25)[:-1]
    belt = (np.concatenate([np.stack((0.45 * np.cos(ring), 0.45 * np.sin(ring), np.full(24, z)), 1)
                            for z in (1.9, 2.0, 2.1)]),
            [[24 * k + i, 24 * k + (i + 1) % 24, 24 * k + 24 + (i + 1) % 24, 24 * k + 24 + i]
             for k in range(2) for i in range(24)])
    body, part = with_parts(eye, belt)
    weights = bound(body)
    assert weights[part == 1].max(axis=1) == pytest.approx(1.0)
    assert weights[part == 2].max(axis=1).max() < 0.9


@pytest.mark.parametrize(("held", "compact", "kept"), [
    ([[0.0, 0.0], [0.0, 1.0]], 0.9, 1.0),  # a ball keeps the bone in it
    ([[0.0, 0.0], [0.0, 1.0]], 0.2, 0.0),  # a sheet does not
    ([[0.0, 0.0], [1.0, 1.0]], 0.9, 0.0),  # nor does what holds two bones
    ([[0.0, 0.0], [0.0, 0.2]], 0.9, 0.0),  # or little of one
    ([[0.0, 1.0], [0.0, 1.0]], 0.9, 0.0),  # and what holds it as well is not shut off
    ([[0.0, 0.2], [0.0, 1.0]], 0.9, 0.0)])  # nor what it runs through
def test_what_is_shut_off_from_a_bone(held: list[list[float]], compact: float, kept: float):
    found = walls(np.array(held), np.full(2, compact))
    assert found[0, 1] == pytest.approx(kept) and not found[1].any() and not found[:, 0].any()


def test_the_skin_around_an_eye_does_not_turn_with_it():
    body, part = with_parts(tube((0.5, 0, 0.9), (0.5, 0, 1.1), 0.15, 6, 12))
    eye = replace(body, bone_names=(*body.bone_names, "eye"), bone_parents=np.append(body.bone_parents, 0),
                  heads=np.vstack((body.heads, [0.5, 0, 1.0])), tails=np.vstack((body.tails, [0.7, 0, 1.0])))
    weights = bound(eye)
    assert weights[part == 1, 2].min() > 0.9, "the ball does"
    assert weights[part == 0, 2].max() < 0.1
