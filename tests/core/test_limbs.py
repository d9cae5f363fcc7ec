"""Legs that draw their feet up: knees come to the front, exactly as high as is wanted, and nothing jumps."""

import numpy as np
import pytest

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose

X, UP, FRONT = np.eye(3)
FINE = 401
EXACT = 1e-9
LEG = Skeleton.from_arrays(["body", "hip", "knee", "ankle"], [-1, 0, 1, 2], rot.identities(4),
                           np.array(((0.0, 1.0, 0.0), (0.1, 0.0, 0.0), (0.0, -0.45, 0.0), (0.0, -0.4, 0.0))))


def drawn(bent_deg: FloatArray, drawn_m: FloatArray, aside_deg: float = 0.0) -> tuple[LimbPoses, LimbPoses]:
    """Return legs (F,) whose knees are bent by angles (F,), forwards where positive, before and after they are drawn.

    aside_deg: by how much the knees look aside.
    """
    pose = Pose.rest(LEG, len(bent_deg))
    pose.rotations[:, 1] = rot.from_axis_angle(UP, np.full(len(bent_deg), np.radians(aside_deg)))
    pose.rotations[:, 2] = rot.from_axis_angle(X, np.radians(bent_deg))
    plain = LimbPoses.of(world_from_pose(LEG, pose), Limb(1, 2, 3)).at((slice(None), 0))
    return plain, plain.reaching(drawn_m[:, None] * UP, X)


def knees(legs: LimbPoses) -> FloatArray:
    """Return how far in front of the line from hip to ankle knees are, (F,)."""
    share = 0.45 / 0.85
    return np.asarray((legs.middle - legs.first - share * (legs.last - legs.first)) @ FRONT)


@pytest.mark.parametrize("aside_deg", [0.0, 20.0, -20.0])
@pytest.mark.parametrize("drawn_m", [0.05, 0.2])
def test_overstretched_knees_bend_forwards_when_feet_are_drawn_up(drawn_m: float, aside_deg: float) -> None:
    bent = np.linspace(-11.0, 11.0, FINE)
    plain, moved = drawn(bent, np.full(FINE, drawn_m), aside_deg)
    assert knees(plain).min() < -0.015
    assert knees(moved).min() > 0.1
    np.testing.assert_allclose(moved.last, plain.last + drawn_m * UP, atol=EXACT)
    assert np.abs(np.diff(moved.middle, axis=0)).max() < 0.01


@pytest.mark.parametrize("bent_deg", [-11.0, -5.0, -1.0, 0.0, 1.0, 30.0])
def test_a_knee_goes_no_jump_while_its_foot_leaves_the_ground(bent_deg: float) -> None:
    """An overstretched one comes round to the front by the way."""
    heights = 0.15 * np.linspace(0.0, 1.0, FINE) ** 2
    plain, moved = drawn(np.full(FINE, bent_deg), heights)
    np.testing.assert_allclose(moved.middle[0], plain.middle[0], atol=1e-6)
    np.testing.assert_allclose(moved.last, plain.last + heights[:, None] * UP, atol=EXACT)
    assert np.linalg.norm(np.diff(moved.middle, axis=0), axis=1).max() < 0.006
    assert knees(moved)[-1] > 0.1


def test_knees_that_are_bent_the_other_way_on_purpose_stay_so() -> None:
    plain, moved = drawn(np.full(3, -60.0), np.array((0.01, 0.1, 0.2)))
    assert knees(plain).max() < -0.1 and knees(moved).max() < -0.1


@pytest.mark.parametrize("hinge", [None, np.zeros(3), UP])
def test_a_straight_leg_bends_about_any_axis_if_its_hinge_tells_none(hinge: FloatArray | None) -> None:
    straight = LimbPoses.through(np.array((UP, 0.5 * UP, 0.0 * UP))[None])
    moved = straight.reaching(0.2 * UP[None], hinge)
    np.testing.assert_allclose(moved.last[0], 0.2 * UP, atol=EXACT)
    np.testing.assert_allclose(np.linalg.norm(np.stack((moved.upper, moved.lower)), axis=-1), 1.0, atol=EXACT)
    np.testing.assert_allclose(np.linalg.norm(moved.middle[0] - UP), 0.5, atol=EXACT)


def test_no_limbs_reach_nothing() -> None:
    assert LimbPoses.through(np.zeros((0, 3, 3))).reaching(np.zeros((0, 3)), X).last.shape == (0, 3)
