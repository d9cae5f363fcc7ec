"""Ways through the inside of solids, the ends of bodies, and the curves through their limbs."""

from __future__ import annotations

import numpy as np
import pytest

from takt.core.binding.solid import SAMPLE_STEP, Solid
from takt.core.binding.surface import Surface, connected
from takt.core.fitting.carving import carved
from takt.core.fitting.cells import Cells
from takt.core.fitting.level_sets import Course, LevelSets, extremities
from takt.core.fitting.limbs import Swelling, bend

from .bodies import joined, tube
from .test_binding_surface import triangles_of

CELL = 0.1


def solid(*boxes: tuple[tuple[int, int, int], tuple[int, int, int]]) -> Cells:
    """Cells that fill boxes, given by their first and last cells, in a grid about the origin."""
    filled = np.zeros((61, 61, 61), dtype=np.bool_)
    for low, high in boxes:
        filled[tuple(slice(a + 30, b + 31) for a, b in zip(low, high, strict=True))] = True
    return Cells.of(Solid(filled, CELL))


@pytest.fixture(scope="module")
def bar() -> Cells:
    return solid(((-20, -2, -2), (20, 2, 2)))


@pytest.fixture(scope="module")
def cross() -> Cells:
    return solid(((-20, -2, -2), (20, 2, 2)), ((-2, -12, -2), (2, 12, 2)))


def test_every_cell_of_a_box_has_its_neighbours(bar):
    assert len(bar) == 41 * 5 * 5
    assert ((bar.neighbours < len(bar)).sum(axis=1) == 26).sum() == 39 * 3 * 3


def test_depth_counts_layers(bar):
    assert bar.depth[bar.nearest(np.zeros(3))] == 3
    assert (bar.depth == 1).sum() == len(bar) - 39 * 3 * 3


def test_ways_go_through_the_inside():
    bent = solid(((-20, 0, 0), (20, 0, 0)), ((20, 0, 0), (20, 20, 0)))
    start, end = bent.nearest(np.array((-2.0, 0, 0))), bent.nearest(np.array((2.0, 2.0, 0)))
    away = bent.distances([start])
    assert away[end] == pytest.approx(CELL * (58 + np.sqrt(2)))
    way = bent.way(away, end)
    assert way[0] == end and way[-1] == start and (np.diff(away[way]) < 0.0).all()


def test_loose_parts_are_joined_over_the_shortest_gaps():
    apart = solid(((-20, -2, -2), (-2, 2, 2)), ((2, -2, -2), (20, 2, 2)), ((-1, 20, 0), (1, 22, 0)))
    assert len(apart.bridges) == 2
    gaps = np.linalg.norm(apart.points[apart.bridges[:, 0]] - apart.points[apart.bridges[:, 1]], axis=1)
    assert gaps.min() == pytest.approx(4 * CELL, abs=1.5 * CELL)
    away = apart.distances([0])
    assert np.isfinite(away).all()
    assert apart.way(away, int(away.argmax()))[-1] == 0


def test_a_cross_has_four_ends(cross):
    away = cross.distances([cross.nearest(np.zeros(3))])
    ends = extremities(LevelSets.of(cross, away), away, 0.5)
    assert len(ends) == 4
    reached = np.sort(np.abs(cross.points[[end.cell for end in ends]]).max(axis=1))
    assert reached == pytest.approx((1.2, 1.2, 2.0, 2.0))
    assert [end.length for end in ends] == sorted((end.length for end in ends), reverse=True)


def test_carving_parts_what_nearly_touches_and_keeps_what_is_thin():
    surface = joined(tube((0, 0, -1), (0, 0, 1), 0.3, 12, 24), tube((0.68, 0, -1), (0.68, 0, 1), 0.3, 12, 24))
    points, faces = surface[0], surface[1]
    whole = Surface.build(points, triangles_of(points, faces))
    samples, areas = whole.samples(SAMPLE_STEP * CELL)
    thick = Solid.build(points, samples, areas, CELL)
    assert len(_parts(Cells.of(thick))) == 1
    assert len(_parts(Cells.of(carved(thick, samples, areas, deepest=4)))) == 2
    sheet = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    flat = Surface.build(sheet, np.array([[0, 1, 2], [0, 2, 3]]))
    samples, areas = flat.samples(SAMPLE_STEP * CELL)
    assert carved(Solid.build(sheet, samples, areas, CELL), samples, areas).filled.any()


def _parts(cells: Cells) -> set[int]:
    first, second = cells.pairs()
    bridged = len(cells.bridges)
    ends = slice(None, len(first) - bridged)
    return set(connected(len(cells), first[ends], second[ends]).tolist())


def test_short_ends_are_left_out(cross):
    away = cross.distances([cross.nearest(np.zeros(3))])
    assert len(extremities(LevelSets.of(cross, away), away, 1.5)) == 2


def test_a_course_runs_through_the_middle_with_its_cross_section(bar):
    start, target = bar.nearest(np.array((-2.0, 0, 0))), bar.nearest(np.array((1.5, 0, 0)))
    away = bar.distances([start])
    course = Course.of(bar, LevelSets.of(bar, away), away, target)
    inner = (course.at > 0.5) & (course.at < 3.3)
    assert np.abs(course.points[inner, 1:]).max() < 0.5 * CELL
    assert np.median(course.areas[inner]) == pytest.approx(0.25, rel=0.15)
    assert course.point_at(1.0)[0] == pytest.approx(-1.0, abs=1.5 * CELL)


def limb_with(radii: np.ndarray) -> Course:
    at = np.linspace(0.05, 1.95, len(radii))
    return Course(np.stack((at, 0 * at, 0 * at), axis=1), np.pi * radii**2, at)


def test_a_swelling_ends_before_the_waist_behind_it():
    at = np.linspace(0.05, 1.95, 39)
    hand = np.where(at < 0.8, 0.3, 0.2)
    found = Swelling.of(limb_with(hand + 0.1 * (at > 1.5)), 0.4, 1.6)
    assert found.half == pytest.approx(0.8, abs=0.05) and found.end == pytest.approx(0.8, abs=0.05)
    assert found.waist == pytest.approx(1.0 - 4.0 / 9.0) and found.girth == pytest.approx(0.3)
    assert Swelling.of(limb_with(0.3 - 0.1 * at), 0.4, 1.2).waist == pytest.approx(0.0)
    assert Swelling.of(limb_with(0.1 + 0.1 * at), 0.4, 1.2).waist == pytest.approx(0.0)


def test_of_two_waists_that_are_nearly_as_clear_the_outer_one_counts():
    at = np.linspace(0.05, 1.95, 39)
    radii = 0.3 - 0.1 * np.exp(-((at - 0.6) / 0.1) ** 2) - 0.12 * np.exp(-((at - 1.2) / 0.1) ** 2)
    found = Swelling.of(limb_with(radii), 0.3, 1.4)
    assert 0.4 < found.end < 0.6 and 0.3 < found.waist < 0.6


def test_a_bent_limb_bends_at_its_corner_and_a_straight_one_by_share():
    upper = np.linspace((0.0, 0, 0), (1, 0.4, 0), 15)
    lower = np.linspace((1.0, 0.4, 0), (2.5, 0, 0), 15)
    corner, bent = bend(np.concatenate((upper, lower)), upper[0], lower[-1], 0.5)
    assert corner == pytest.approx((1.0, 0.4, 0.0), abs=0.1) and bent > 0.1
    straight, none = bend(np.linspace((0.0, 0, 0), (2, 0, 0), 9), np.zeros(3), np.array((2.0, 0, 0)), 0.45)
    assert straight == pytest.approx((0.9, 0, 0)) and none == 0.0
