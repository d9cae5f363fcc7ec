"""Polygons that are filled with triangles: none outside, and together as large as the polygon."""

import numpy as np
import pytest

from takt.core.formats import polygons
from takt.core.formats.character import fans
from takt.core.formats.polygons import Filler
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray

SAME = 1e-9
"""Share of an area."""


def star(count: int, rng: np.random.Generator) -> FloatArray:
    """Return corners (N, 2) around a point that sees them all."""
    angles = (np.arange(count) + rng.uniform(0.0, 0.9, count)) * 2.0 * np.pi / count
    return np.asarray(rng.uniform(0.2, 1.0, count)[:, None] * np.stack((np.cos(angles), np.sin(angles)), axis=1))


def comb(count: int, rng: np.random.Generator) -> FloatArray:
    """Return a bar with teeth of different lengths."""
    across = np.arange(2 * count + 1.0)
    teeth = np.stack((across, np.where(across % 2.0, rng.uniform(1.0, 3.0, len(across)), 0.0)), axis=1)
    return np.concatenate(([(0.0, -1.0), (across[-1], -1.0)], teeth[::-1]))


def spiral(count: int, rng: np.random.Generator) -> FloatArray:
    """Return a band that runs round several times."""
    angles = (np.arange(count + 40) + rng.uniform(0.0, 0.5, count + 40)) * 20.0 / (count + 40)
    ring = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    return np.concatenate(((angles + 3.0)[:, None] * ring, ((angles + 1.0)[:, None] * ring)[::-1]))


def holed(_: int, rng: np.random.Generator) -> FloatArray:
    """Return a square with a square hole, that a line which is walked twice joins to the border."""
    low, high = np.sort(rng.uniform(0.5, 3.5, 2))
    return np.array(((0, 0), (4, 0), (4, 4), (0, 4), (0, 0), (low, low), (low, high), (high, high), (high, low),
                     (low, low)))


def straight(_: int, rng: np.random.Generator) -> FloatArray:
    """Return an L with corners on its sides, some of them twice."""
    at = rng.uniform(0.2, 0.8)
    return np.array(((0, 0), (1, 0), (1, 0), (2, 0), (2, at), (2, 1), (1 + at, 1), (1, 1), (1, 1 + at), (1, 2), (0, 2),
                     (0, 2), (0, 1), (0, at)))


def double_areas(corners: FloatArray, triangles: IntArray) -> FloatArray:
    """Return twice the areas of triangles, (T,), below 0 where they run clockwise."""
    a, b, c = corners[triangles].swapaxes(0, 1)
    first, second = b - a, c - a
    return np.asarray(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0])


SHAPES = {"star": star, "comb": comb, "spiral": spiral, "holed": holed, "straight": straight}


@pytest.mark.parametrize("kind", SHAPES)
def test_triangles_cover_the_polygon_and_nothing_else(kind: str) -> None:
    """None is turned round, and all together are as large as the polygon: so none can lie outside."""
    rng = np.random.default_rng(5)
    flat = [SHAPES[kind](int(rng.integers(4, 40)), rng) for _ in range(40)]
    placed, dented = [], 0
    for number, polygon in enumerate(flat):
        flat[number] = polygon = np.roll(polygon, int(rng.integers(len(polygon))), axis=0)
        solid = np.pad(polygon, ((0, 0), (0, 1)))[::-1 if number % 2 else 1]
        placed.append(rot.rotate(rot.from_axis_angle(rng.normal(size=3), rng.uniform(0.0, 3.0)),
                                 solid * 10.0 ** rng.integers(-4, 5)) + rng.normal(size=3))
    counts = np.array([len(each) for each in flat])
    filler = Filler()
    triangles = filler.filled(np.concatenate(placed), counts)
    assert filler.unfilled == 0 and not filler.warnings()
    assert len(triangles) == (counts - 2).sum()
    first = np.cumsum(counts) - counts
    owner = np.searchsorted(first, triangles.min(axis=1), side="right") - 1
    np.testing.assert_array_equal(owner, np.repeat(np.arange(len(flat)), counts - 2))
    for number, polygon in enumerate(flat):
        own = triangles[owner == number] - first[number]
        fan = double_areas(polygon, fans(np.array((len(polygon),))))
        wanted = fan.sum()
        areas = double_areas(polygon[::-1] if number % 2 else polygon, own) * (-1.0 if number % 2 else 1.0)
        assert areas.min() > -SAME * wanted, number
        assert areas.sum() == pytest.approx(wanted, rel=1e-7), number
        dented += fan.min() < -SAME * wanted
    assert dented > 10  # which as fans reach out of themselves


def test_convex_polygons_and_those_of_no_area_are_fans() -> None:
    square, line = [(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0.0, 0, 0), (1, 1, 1), (2, 2, 2), (1, 1, 1)]
    point, crossed = [(1.0, 2, 3)] * 5, [(0.0, 0, 0), (1, 1, 0), (1, 0, 0), (0, 1, 0)]
    counts = np.array((4, 0, 4, 5, 1, 2, 4))
    corners = np.array([*square, *line, *point, *square[:3], *crossed])
    np.testing.assert_array_equal(Filler().filled(corners, counts), fans(counts))
    assert len(Filler().filled(np.zeros((0, 3)), np.zeros(0, np.int64))) == 0


def test_a_polygon_that_crosses_itself_gets_as_many_triangles() -> None:
    rng = np.random.default_rng(2)
    counts = rng.integers(4, 30, 60)
    triangles = Filler().filled(rng.normal(size=(counts.sum(), 3)), counts)
    assert len(triangles) == (counts - 2).sum()
    assert 0 <= triangles.min() and triangles.max() < counts.sum()


def test_numbers_beyond_all_bounds_are_fans() -> None:
    corners = np.array([(-1e308, 0, 0), (1e308, 0, 0), (1e308, 1e308, 0), (0, -1e308, 0)])
    assert Filler().filled(corners, np.array((4,))).tolist() == [[0, 1, 2], [0, 2, 3]]


def test_what_costs_too_much_stays_a_fan_and_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    small, large = np.pad(star(8, rng), ((0, 0), (0, 1))), np.pad(star(100_000, rng), ((0, 0), (0, 1)))
    filler, counts = Filler(), np.array((len(large), len(small)))
    triangles = filler.filled(np.concatenate((large, small)), counts)
    np.testing.assert_array_equal(triangles[:len(large) - 2], fans(counts[:1]))
    filled = Filler().filled(small, counts[1:]) + len(large)
    np.testing.assert_array_equal(triangles[len(large) - 2:], filled)
    assert (filled != fans(counts[1:]) + len(large)).any()
    assert filler.unfilled == 1 and "have too many corners: 1;" in filler.warnings()[0]
    monkeypatch.setattr(polygons, "MAX_TESTS", 30_000)
    filler, counts = Filler(), np.full(30, 60)
    filler.filled(np.pad(np.concatenate([star(60, rng) for _ in counts]), ((0, 0), (0, 1))), counts)
    assert filler.unfilled > 0
    np.testing.assert_array_equal(filler.filled(small, np.array((8,))), fans(np.array((8,))))  # nothing is left


def test_many_polygons_are_cut_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    counts = rng.integers(5, 30, 50)
    corners = np.pad(np.concatenate([star(int(count), rng) for count in counts]), ((0, 0), (0, 1)))
    whole = Filler().filled(corners, counts)
    monkeypatch.setattr(polygons, "_AT_ONCE", 7)
    np.testing.assert_array_equal(Filler().filled(corners, counts), whole)
