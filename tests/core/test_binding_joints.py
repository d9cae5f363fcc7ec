"""Joints bend the skin around them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.binding import BindInput
from takt.core.binding.inside import bind_inside_distance
from takt.core.binding.joints import stretched, within_reach, without_slight

from .bodies import tube

ROUNDING = 1e-9
BONES = 6
LITTLE = 0.2 / 16 / (0.8 + 0.2 / 16)  # what is left of 0.2 against 0.8


def reached(weights, away, radii, parents) -> np.ndarray:
    """Weights of points on a ray from all bones' joint, `away` from it; bones weigh the same at every border."""
    weights, away = np.asarray(weights, float), np.asarray(away, float)
    points = np.column_stack((away, np.zeros((len(away), 2))))
    bones = len(parents)
    return within_reach(weights, np.full((len(away), bones), max(radii)), points, np.zeros((bones, 3)),
                        np.asarray(radii, float), np.asarray(parents))


def test_near_a_joint_all_passes_and_far_from_it_little():
    found = reached(np.tile([0.8, 0.2], (4, 1)), [0.0, 1.5, 2.25, 9.0], [1.0, 1.0], [-1, 0])
    assert found[:2, 1] == pytest.approx(0.2)
    assert found[2:, 1] == pytest.approx([0.1 / 0.9, LITTLE])


def test_what_a_childs_limb_moves_keeps_its_parent_out_as_well():
    found = reached([[0.2, 0.8]], [9.0], [1.0, 1.0], [-1, 0])
    assert found[0] == pytest.approx([LITTLE, 1.0 - LITTLE])


def test_of_several_joints_on_the_way_the_least_counts():
    near, far = 9.0, 0.1  # radii of the limbs: what is 1 away is near the first's joint and far from the second's
    chain = [-1, 0, 1, 2]
    found = reached([[0.7, 0.0, 0.0, 0.3]], [1.0], [near, near, far, near], chain)
    assert found[0, 3] == pytest.approx(0.3 * (3 / 7)**2 / (0.7 + 0.3 * (3 / 7)**2))
    up = reached([[0.3, 0.0, 0.0, 0.7]], [1.0], [near, near, far, near], chain)
    assert up[0] == pytest.approx(found[0, ::-1])
    across = reached([[0.0, 0.6, 0.4]], [1.0], [near, near, far], [-1, 0, 0])
    assert across[0, 2] == pytest.approx(0.4 * (2 / 3)**2 / (0.6 + 0.4 * (2 / 3)**2))


def test_at_a_border_nothing_becomes_a_step():
    share = np.linspace(0.0, 1.0, 1001)
    found = reached(np.column_stack((share, 1.0 - share)), np.full(1001, 9.0), [1.0, 1.0], [-1, 0])
    assert found[500, 0] == pytest.approx(0.5) and 0.0 < np.diff(found[:, 0]).max() < 0.005


def test_a_thin_limb_at_a_border_counts_as_the_thick_one():
    thick, thin = 4.0, 1.0
    weights = np.array([[1.0, thick**2], [1.0, 1.0]]) / [[1.0 + thick**2], [2.0]]  # even; and the thin one's share less
    found = within_reach(weights, np.tile([thick, thin], (2, 1)), np.full((2, 3), 99.0), np.zeros((2, 3)),
                         np.array([thick, thin]), np.array([-1, 0]))
    assert found[0] == pytest.approx(weights[0])
    assert found[1] == pytest.approx([1.0, thick**-4] / np.array(1.0 + thick**-4))


def test_bones_of_other_trees_are_left_alone():
    found = reached([[0.8, 0.2]], [9.0], [1.0, 1.0], [-1, -1])
    assert found[0] == pytest.approx([0.8, 0.2])


def test_at_a_limbs_end_where_its_line_meets_the_skin_it_keeps_what_is_its_own():
    found = within_reach(np.array([[0.1, 0.9]]), np.array([[2.0, 0.0]]), np.array([[9.0, 0, 0]]), np.zeros((2, 3)),
                         np.array([1.0, 1.0]), np.array([-1, 0]))
    assert found[0, 1] > 0.9


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_rows_sum_to_one_and_the_order_of_bones_does_not_matter(seed: int):
    random = np.random.default_rng(seed)
    parents = np.array([random.integers(-1, bone) for bone in range(BONES)])
    weights = random.dirichlet((0.4,) * BONES, 20)
    away, points, heads = random.random((20, BONES)) + 0.1, random.normal(size=(20, 3)), random.normal(size=(BONES, 3))
    radii = random.random(BONES) + 0.1
    found = within_reach(weights, away, points, heads, radii, parents)
    assert found.min() >= 0.0 and np.abs(found.sum(axis=1) - 1.0).max() < ROUNDING
    order = random.permutation(BONES)
    place = np.argsort(order)
    again = within_reach(weights[:, order], away[:, order], points, heads[order], radii[order],
                         np.where(parents[order] >= 0, place[parents[order]], -1))
    assert np.abs(again - found[:, order]).max() < ROUNDING


def test_an_arm_that_hangs_down_leaves_the_chest_alone():
    body = blocks()
    weights = bind_inside_distance(body).dense(3)[:, 2]
    x, _, height = body.vertices.T
    trunk = x <= 4
    assert weights[(x > 6) & (height < 6)].min() > 0.95
    assert weights[trunk & (height < 8)].max() < 0.1 < weights[trunk & (height > 8)].max()


NONE, FOOT = np.zeros(3, np.bool_), np.array([False, False, True])


def test_where_no_joint_parts_nothing_changes():
    weights = np.random.default_rng(3).dirichlet(np.ones(3), 9)
    assert (without_slight(weights, NONE, np.array([-1, 0, 1])) == weights).all()
    assert (stretched(np.arange(9.0), weights, NONE, np.array([-1, 0, 1])) == np.arange(9)).all()


def test_both_sides_of_a_parting_joint_blend_farther():
    shares = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0]])
    found = stretched(np.ones(4), shares, FOOT, np.array([-1, 0, 1]))
    assert found == pytest.approx([1.0, 1.4, 1.4, 1.2])


def test_across_a_parting_joint_slight_weights_go_and_even_ones_stay():
    rows = np.array([[0.5, 0.49, 0.01], [0.5, 0.25, 0.25], [0.5, 0.01, 0.49], [0.6, 0.0, 0.4], [1.0, 0.0, 0.0]])
    found = without_slight(rows, FOOT, np.array([-1, 0, 1]))
    assert found == pytest.approx(rows[[0, 1, 2, 3, 4]] + [[0, 0.01, -0.01], [0, 0, 0], [0, -0.01, 0.01],
                                                          [0, 0, 0], [0, 0, 0]])
    toes = without_slight(np.array([[0.5, 0.49, 0.005, 0.005]]), np.append(FOOT, False), np.array([-1, 0, 1, 2]))
    assert toes == pytest.approx(np.array([[0.5, 0.5, 0.0, 0.0]]))  # those below a foot go with it


def test_a_foot_that_the_ground_holds_goes_over_into_its_shin_more_slowly():
    points, faces = tube((0, 0, 0), (0, 0, 8), 0.4, 100, 12)

    def steepest(parents: list[int]) -> float:
        body = BindInput.from_arrays(points, faces, ["root", "hip", "shin", "foot"], parents,
                                     np.array([[9, 0, 0], [0, 0, 0.2], [0, 0, 1], [0, 0, 7.2]]),
                                     np.array([[9, 0, 1], [0, 0, 1], [0, 0, 7.2], [0, 0, 8]]))
        foot = bind_inside_distance(body).dense(4)[:, 3][:1200:12]
        return float(np.diff(foot).max())
    assert steepest([-1, 0, 1, 0]) < 0.9 * steepest([-1, 0, 1, 2])


def blocks() -> BindInput:
    """A trunk of 8 × 6 × 18 cells with an arm of 3 × 3 × 16 beside it, a cell away below the topmost ten."""
    filled = np.zeros((16, 10, 22), dtype=np.bool_)
    filled[2:10, 2:8, 2:20] = True
    filled[11:14, 4:7, 4:20] = True
    filled[10, 4:7, 10:20] = True
    corners = []
    for axis in range(3):
        across, up = np.eye(3, dtype=int)[[(axis + 1) % 3, (axis + 2) % 3]]
        for sign in (-1, 1):
            cells = np.argwhere(filled & ~np.roll(filled, -sign, axis))
            origin = cells + (sign > 0) * np.eye(3, dtype=int)[axis]
            quad = [origin, origin + across, origin + across + up, origin + up]
            corners.append(np.stack(quad[::sign], axis=1))
    points, index = np.unique(np.concatenate(corners).reshape(-1, 3), axis=0, return_inverse=True)
    heads, tails = ([[0.0, 0.0, 0.0], [0.0, 0.0, 9.0], [6.5, 0.5, 16.5]],
                    [[0.0, 0.0, 9.0], [0.0, 0.0, 18.0], [6.5, 0.5, 2.0]])
    return BindInput.from_arrays(points - (6.0, 5.0, 2.0), index.reshape(-1, 4).tolist(), ["spine", "chest", "arm"],
                                 [-1, 0, 1], heads, tails)
