"""Parts that lie between limbs move with neither."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.binding import BindInput
from takt.core.binding.between import between_limbs

from .bodies import joined, tube
from .test_binding_loose import bound

ARM, REST = 9.0, 1.0
PARENTS = np.array([-1, 0, 0, 0, 2])
"""A root with a spine, a left and a right arm, and a left hand."""


def rib(*shares: float, held: tuple[int, ...] = (), areas: float = ARM, cloth: float = 0.0,
        along: float = 0.0) -> np.ndarray:
    """What becomes of a rib's weights, beside one part for each bone, or of cloth's that runs so far along each."""
    weights = np.concatenate(([shares], np.eye(5)))
    holds = np.zeros((6, 5))
    holds[0, list(held)] = 0.2
    found = between_limbs(weights, np.array([REST] + 5 * [areas]), np.arange(6), holds, PARENTS, np.full(6, cloth),
                          np.full((6, 5), along))
    assert found[1:] == pytest.approx(np.eye(5)) and (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(1.0)
    return np.asarray(found[0])


def test_what_both_arms_hold_alike_goes_to_the_spine():
    assert rib(0.0, 0.2, 0.4, 0.4, 0.0)[1] > 0.9


def test_a_hand_counts_for_its_arm():
    assert rib(0.0, 0.2, 0.1, 0.4, 0.3)[1] > 0.9


def test_where_nothing_else_is_the_common_parent_takes_it():
    assert rib(0.0, 0.0, 0.5, 0.5, 0.0) == pytest.approx([1, 0, 0, 0, 0])


def test_what_is_mostly_one_arms_stays_so():
    assert rib(0.0, 0.0, 0.9, 0.1, 0.0) == pytest.approx([0, 0, 0.9, 0.1, 0], abs=2e-3)


def test_bones_in_the_part_keep_what_they_have():
    assert rib(0.0, 0.2, 0.4, 0.4, 0.0, held=(2, 3)) == pytest.approx([0, 0.2, 0.4, 0.4, 0])


def test_a_cape_stays_with_the_bones_that_move_nothing_else():
    weights = np.array([[0.0, 0.0, 0.5, 0.5, 0.0], [1.0, 0, 0, 0, 0]])
    found = between_limbs(weights, np.array([REST, ARM]), np.array([0, 1]), np.zeros((2, 5)), PARENTS,
                          np.zeros(2), np.zeros((2, 5)))
    assert found == pytest.approx(weights)


def test_cloth_that_runs_along_both_limbs_keeps_them():
    shares = 0.0, 0.2, 0.35, 0.4, 0.05
    assert rib(*shares, cloth=1.0, along=0.9) == pytest.approx(shares)
    assert rib(*shares, cloth=1.0, along=0.05)[2] < 0.1, "it lies where they begin"
    assert rib(*shares, cloth=0.05, along=0.9)[2] < 0.1, "it is no cloth"


def test_between_cloth_that_keeps_limbs_and_cloth_that_does_not_there_is_no_step():
    found = [rib(0.0, 0.2, 0.4, 0.4, 0.0, cloth=1.0, along=along)[2] for along in np.linspace(0.0, 0.6, 121).tolist()]
    assert np.all(np.diff(found) >= 0.0) and np.diff(found).max() < 0.02 and found[0] < 0.01 and found[-1] > 0.39


def test_what_cloth_loses_goes_to_the_parent_alone():
    assert rib(0.0, 0.02, 0.49, 0.49, 0.0, cloth=1.0) == pytest.approx([0.98, 0.02, 0, 0, 0], abs=1e-4)


@given(st.lists(st.floats(0.0, 1.0), min_size=5, max_size=5).filter(lambda shares: sum(shares) > 0.01))
def test_any_shares_give_weights(shares: list[float]):
    rib(*(np.array(shares) / sum(shares)).tolist())


def test_the_ribs_of_a_skeleton_move_with_its_spine():
    """Arms start at its shoulders, and are nearer to the ribs' ends than the spine is."""
    ring = np.linspace(0, 2 * np.pi, 17)[:-1]
    ribs = []
    for height in (1.0, 1.3, 1.6):
        centre = np.stack((0.5 * np.cos(ring), 0.4 * np.sin(ring), np.full(16, height)), 1)
        around = np.array([[0.03, 0], [0, 0.03], [-0.03, 0], [0, -0.03]])
        points = np.concatenate([centre + np.outer(1 - 0 * ring, [0, 0, up]) + centre * [out, out, 0]
                                 for out, up in around])
        ribs.append((points, [[16 * k + i, 16 * k + (i + 1) % 16, 16 * ((k + 1) % 4) + (i + 1) % 16,
                               16 * ((k + 1) % 4) + i] for k in range(4) for i in range(16)]))
    arms = [tube((side * 0.6, 0, 1.7), (side * 1.6, 0, 1.7), 0.08, 12) for side in (-1, 1)]
    points, faces, part = joined(tube((0, 0.3, 0.5), (0, 0.3, 2), 0.08, 24), *arms, *ribs)
    heads = np.array([[0, 0.3, 0.5], [0, 0.3, 0.9], [-0.6, 0, 1.7], [0.6, 0, 1.7]])
    tails = np.array([[0, 0.3, 0.9], [0, 0.3, 2.0], [-1.6, 0, 1.7], [1.6, 0, 1.7]])
    body = BindInput.from_arrays(points, faces, ["hips", "spine", "arm.R", "arm.L"], [-1, 0, 0, 0], heads, tails)
    weights = bound(body)
    assert weights[part == 1, 2] == pytest.approx(1.0) and weights[part == 2, 3] == pytest.approx(1.0)
    assert weights[part >= 3, 2:].max() < 0.1
