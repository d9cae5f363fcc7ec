"""Corners of paths: a body turns near them, and not along the straight sides between them."""

import numpy as np
import pytest

from takt.core.playing.scene.ground_curve import GroundCurve
from takt.tests.core.seeds import seeds

EXACT = 1e-9
LENGTH = 1.0


@pytest.mark.parametrize("seed", seeds(200, quick=20))
def test_directions_change_only_near_corners(seed: int) -> None:
    """Sides from 1.5 to 4 lengths, corners from 30 to 170 degrees: the direction of a side holds away from its ends."""
    rng = np.random.default_rng(seed)
    sides = rng.uniform(1.5, 4.0, 5)
    turns = np.radians(rng.uniform(30.0, 170.0, 4)) * rng.choice((-1.0, 1.0), 4)
    directions = np.append(0.0, np.cumsum(turns))
    points = np.append(0.0, np.cumsum(sides * np.exp(1j * directions)))
    curve = GroundCurve.through(points).rounded(LENGTH)
    assert abs(curve.points[[0, -1]] - points[[0, -1]]).max() < EXACT
    for corner, before, after in zip(points[1:-1], directions, directions[1:], strict=False):
        for end, direction in ((-0.51, before), (0.51, after)):
            at = corner + end * LENGTH * np.exp(1j * direction)
            near = abs(curve.points - at).argmin()
            assert abs(curve.points[near] - at) < LENGTH / 30.0
            assert abs(curve.angles[near] - direction) < np.radians(6.0)
    fastest = abs(np.diff(curve.angles)).max()
    assert fastest < np.pi / 20.0  # no corner turns at once


@pytest.mark.parametrize("radius", [1.0, 1.5, 4.0])
def test_a_circle_that_turns_no_faster_than_a_corner_stays(radius: float) -> None:
    """One of less than that radius is cut inside."""
    points = radius * 1.1 * np.exp(1j * np.linspace(0.0, 5.0, 120))
    curve = GroundCurve.through(points).rounded(LENGTH)
    assert abs(abs(curve.points) - 1.1 * radius).max() < 0.002 * radius
    small = GroundCurve.through(0.5 * LENGTH * np.exp(1j * np.linspace(0.0, 5.0, 120))).rounded(LENGTH)
    assert abs(small.points[128]) < 0.47 * LENGTH


def test_path_that_turns_back_turns_gradually() -> None:
    """A path there and back on the same line turns by half a turn over the length."""
    curve = GroundCurve.through(np.array((0.0, 3.0, 0.0)).astype(np.complex128)).rounded(LENGTH)
    assert abs(abs(curve.angles[-1] - curve.angles[0]) - np.pi) < EXACT
    assert abs(np.diff(curve.angles)).max() < np.pi / 20.0


def test_straight_path_stays_exactly() -> None:
    """A straight path, of however many points, is returned itself."""
    curve = GroundCurve.through(np.linspace(0.0, 4.0, 9) * np.exp(0.5j))
    assert curve.rounded(LENGTH) is curve


def test_points_on_straight_sides_change_nothing() -> None:
    """More points on the sides of the same path give the same curve."""
    few = np.array((0.0, 2.0j, 2.0 + 2.0j))
    many = np.concatenate((np.linspace(0.0, 2.0j, 30), np.linspace(2.0j, 2.0 + 2.0j, 30)[1:]))
    one, other = (GroundCurve.through(points).rounded(LENGTH) for points in (few, many))
    assert abs(one.points - other.points).max() < EXACT and abs(one.angles - other.angles).max() < EXACT
