"""core/skinning/influences.py: the strongest weights of dense arrays, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.errors import TaktError
from takt.core.maths.arrays import FloatArray
from takt.core.skinning.influences import Influences

EXACT = 1e-12


@st.composite
def dense_weights(draw: st.DrawFn) -> FloatArray:
    vertices, joints = draw(st.integers(0, 5)), draw(st.integers(1, 6))
    weight = st.sampled_from((0.0, 0.0, 0.1, 0.25, 0.5, 1.0)) | st.floats(1e-3, 5.0)
    return np.array([[draw(weight) for _ in range(joints)] for _ in range(vertices)]).reshape(vertices, joints)


@pytest.mark.parametrize(("joints", "weights", "says"), [
    (np.zeros((2, 3)), np.zeros((2, 2)), r"joints \(2, 3\) and weights \(2, 2\) must both be \(V, K\)"),
    (np.zeros(2), np.zeros(2), r"joints \(2,\) and weights \(2,\) must both be \(V, K\)"),
    (np.zeros((1, 1)), np.array(((np.nan,),)), "weights must be finite and at least 0"),
    (np.zeros((1, 2)), np.array(((1.5, -0.5),)), "weights must be finite and at least 0"),
    (np.zeros((1, 2)), np.array(((0.5, 0.4),)), "the weights of a vertex must sum to 1"),
])
def test_refuses_what_are_no_influences(joints: FloatArray, weights: FloatArray, says: str) -> None:
    with pytest.raises(TaktError, match=says):
        Influences(joints.astype(np.int64), weights)


def test_a_vertex_may_have_no_weight() -> None:
    nothing = Influences.strongest(np.zeros((2, 3)))
    assert (nothing.joints.tolist(), nothing.weights.tolist()) == ([[0], [0]], [[0.0], [0.0]])


def test_strongest_sorts_limits_and_normalises() -> None:
    kept = Influences.strongest(np.array(((0.1, 0.6, 0.3), (0.0, 0.0, 2.0))), limit=2)
    assert kept.joints.tolist() == [[1, 2], [2, 0]]
    assert kept.weights == pytest.approx(np.array(((2.0 / 3.0, 1.0 / 3.0), (1.0, 0.0))), abs=EXACT)


def test_equal_weights_keep_the_order_of_the_joints() -> None:
    kept = Influences.strongest(np.tile((0.1, 0.3, 0.2), 40)[None])
    assert kept.joints.tolist() == [[*range(1, 120, 3), *range(2, 120, 3), *range(0, 120, 3)]]


def test_pruning_drops_the_weak_but_never_the_strongest() -> None:
    weights = np.array(((0.96, 0.04, 0.0), (0.35, 0.33, 0.32)))
    assert Influences.strongest(weights, prune_below=0.05).dense(3)[0].tolist() == [1.0, 0.0, 0.0]
    assert Influences.strongest(weights, prune_below=0.9).dense(3)[1].tolist() == [1.0, 0.0, 0.0]
    assert Influences.strongest(np.array(((0.75, 0.25),)), prune_below=0.25).weights.tolist() == [[0.75, 0.25]]


def test_fading_leaves_no_step_where_the_kept_joints_change() -> None:
    one, other = np.array((0.4, 0.3, 0.2, 0.1, 0.0)), np.array((0.4, 0.3, 0.0, 0.1, 0.2))
    way = one + np.linspace(0.0, 1.0, 201)[:, None] * (other - one)
    for keep in ({"limit": 3}, {"limit": 2}, {"prune_below": 0.15}):
        faded, cut = (make(way, **keep).dense(5) for make in (Influences.fading, Influences.strongest))
        assert np.abs(np.diff(faded, axis=0)).max() < 0.03
        assert keep == {"limit": 2} or np.abs(np.diff(cut, axis=0)).max() > 0.1


def test_fading_keeps_large_weights_nearly_as_they_are() -> None:
    faded = Influences.fading(np.array(((0.6, 0.3, 0.07, 0.02, 0.01),)), limit=3, prune_below=0.01)
    assert faded.dense(5)[0] == pytest.approx((0.62, 0.31, 0.07, 0.0, 0.0), abs=0.01)


def test_fading_cuts_where_all_are_as_large() -> None:
    assert Influences.fading(np.full((1, 5), 0.2), limit=4).dense(5).tolist() == [[0.25, 0.25, 0.25, 0.25, 0.0]]
    assert Influences.fading(np.full((1, 3), 1.0), prune_below=0.5).dense(3).sum() == 1.0
    assert Influences.fading(np.zeros((1, 3)), limit=2).weights.tolist() == [[0.0]]


@given(dense_weights(), st.integers(0, 4), st.sampled_from((0.0, 0.1, 0.4)))
def test_fading_keeps_no_joint_that_strongest_drops(weights: FloatArray, limit: int, prune_below: float) -> None:
    faded, kept = (make(weights, limit, prune_below).dense(weights.shape[1])
                   for make in (Influences.fading, Influences.strongest))
    assert (kept[faded > 0.0] > 0.0).all()
    assert faded.sum(axis=1) == pytest.approx(kept.sum(axis=1))


@given(dense_weights())
def test_without_a_limit_only_the_sums_change(weights: FloatArray) -> None:
    total = weights.sum(axis=1, keepdims=True)
    expected = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0)
    assert Influences.strongest(weights).dense(weights.shape[1]) == pytest.approx(expected, abs=EXACT)


@given(dense_weights(), st.integers(1, 4))
def test_what_is_kept_is_what_was_largest(weights: FloatArray, limit: int) -> None:
    kept = Influences.strongest(weights, limit)
    assert kept.joints.shape[1] <= limit
    assert (np.diff(kept.weights, axis=1) <= 0.0).all()
    back = kept.dense(weights.shape[1])
    for before, after in zip(weights, back, strict=True):
        assert np.count_nonzero(after) == min(limit, np.count_nonzero(before))
        assert before[after > 0.0].sum() == pytest.approx(np.sort(before)[::-1][:limit].sum())
