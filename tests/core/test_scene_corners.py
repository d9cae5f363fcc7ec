"""Corners of paths: a body turns near them, and not along the straight sides between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from takt.core.maths.arrays import ComplexArray
from takt.core.playing.scene.cast import ScenePath
from takt.core.playing.scene.ground_curve import GroundCurve
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.seeds import seeds
from takt.tests.core.test_scene_ways import BODY, LEG_M, played

EXACT = 1e-9
LENGTH = 1.0
FPS = 48
FASTER_LEGS_PER_S, HIGHER_LEGS = 0.3, 0.06
"""Margins: where a path turns back at once, legs turn around a foot that stands, and the steps are not as long."""


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
    reached = 0.0
    for corner, side, before, after in zip(points[1:-1], sides, directions, directions[1:], strict=False):
        for end, direction, farthest in ((-0.51, before, side), (0.51, after, 1.1 * LENGTH)):
            at = corner + end * LENGTH * np.exp(1j * direction)
            is_next = (curve.lengths >= reached) & (curve.lengths <= reached + farthest)  # sides may cross
            near = np.where(is_next, abs(curve.points - at), np.inf).argmin()
            reached = curve.lengths[near]
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


@dataclass(frozen=True)
class Walked:
    """How feet go on a path: the fastest speed of the slower foot, m/s, and the greatest height of either, m."""

    fastest: float
    highest: float

    @classmethod
    def along(cls, points: ComplexArray, duration_s: float) -> Walked:
        """Walk along a path of points (N,) on the ground."""
        lane = ScenePath(tuple((point.real, 0.0, point.imag) for point in points.tolist()))
        motion = played(f'<call name="walk" along="lane" duration="{duration_s}" repeat="fit"/>', cast={"lane": lane})
        positions = world_from_pose(BODY, motion.sample(np.arange(0.0, duration_s, 1.0 / FPS)))[..., 3]
        feet = positions[:, [BODY.index_of[f"{side}_metatarsal"] for side in "lr"]]
        speeds = FPS * np.linalg.norm(np.diff(feet[..., ::2], axis=0), axis=2)
        return cls(float(speeds.min(axis=1).max()), float(feet[..., 1].max()))


def polygon(rng: np.random.Generator) -> ComplexArray:
    """Return a closed regular polygon of three to eight sides."""
    count = int(rng.integers(3, 9))
    return np.asarray(rng.uniform(1.0, 2.5) * np.exp(rng.choice((-2j, 2j)) * np.pi * np.arange(count) / count))


def rectangle(rng: np.random.Generator) -> ComplexArray:
    """Return three sides of a rectangle, or all."""
    side, lengths = rng.choice((-1j, 1j)), np.tile(rng.uniform(1.0, 3.0, 2), 2)
    return np.asarray((lengths * (1.0, side, -1.0, -side))[:rng.integers(3, 5)])


def zigzag(rng: np.random.Generator) -> ComplexArray:
    """Return three to five sides with corners of up to 150 degrees, to the left and to the right by turns."""
    half = np.radians(rng.uniform(15.0, 75.0)) * rng.choice((-1.0, 1.0))
    return np.asarray(rng.uniform(1.5, 2.5) * np.exp(1j * half * (-1.0) ** np.arange(rng.integers(3, 6))))


def hairpin(rng: np.random.Generator) -> ComplexArray:
    """Return two sides and one corner, from 30 degrees to a turn back on the same line."""
    angle = np.radians(rng.uniform(30.0, 180.0)) * rng.choice((-1.0, 1.0))
    return np.asarray(rng.uniform(1.5, 3.0, 2) * np.exp((0.0, 1j * angle)))


@pytest.mark.parametrize("seed", seeds(240, quick=8))
def test_feet_stand_at_corners_as_on_a_straight_path(seed: int) -> None:
    """One foot stands while the other swings, no higher than on a straight path of the same length."""
    rng = np.random.default_rng(seed)
    sides = (polygon, rectangle, zigzag, hairpin)[seed % 4](rng) * np.exp(1j * rng.uniform(-np.pi, np.pi))
    length = float(np.abs(sides).sum())
    duration_s = length / rng.uniform(0.4, 1.2)
    bent = Walked.along(np.append(0.0, np.cumsum(sides)), duration_s)
    straight = Walked.along(np.array((0.0, length), dtype=np.complex128), duration_s)
    assert bent.fastest < straight.fastest + FASTER_LEGS_PER_S * LEG_M
    assert bent.highest < straight.highest + HIGHER_LEGS * LEG_M
