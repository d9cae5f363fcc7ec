"""core/maths/rotations.py: quaternions against matrices, and the short way in every blend."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.tests.core.strategies import quaternions, vectors

EXACT = 1e-12
SQUARE_ROOT = 1e-7
"""Where an angle comes from a cosine or an eigenvector near a double root."""

X, Y, Z = np.eye(3)
shares = st.floats(0.0, 1.0)
angles = st.floats(-np.pi, np.pi)


def about(axis: FloatArray, degrees: float) -> FloatArray:
    return rot.from_axis_angle(axis, np.radians(degrees))


def assert_same_rotation(a: FloatArray, b: FloatArray, tolerance: float = EXACT) -> None:
    """q and −q are the same rotation."""
    assert np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1)).max() <= tolerance


def test_identities_have_their_shape() -> None:
    assert rot.identities(2, 3).shape == (2, 3, 4)
    assert rot.identities().tolist() == [1.0, 0.0, 0.0, 0.0]


def test_identity_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        rot.IDENTITY[0] = 2.0


@pytest.mark.parametrize("bad", [(0.0, 0.0, 0.0, 0.0), (np.nan, 0.0, 0.0, 0.0), (np.inf, 0.0, 0.0, 0.0)])
def test_normalized_refuses_what_is_no_rotation(bad: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="a quaternion of length zero"):
        rot.normalized(np.array((rot.IDENTITY, bad)))


@given(vectors(4).filter(lambda q: bool(np.linalg.norm(q) > 1e-3)))
def test_normalized_has_length_one_and_keeps_the_direction(q: FloatArray) -> None:
    unit = rot.normalized(q)
    assert np.linalg.norm(unit) == pytest.approx(1.0, abs=EXACT)
    assert unit * np.linalg.norm(q) == pytest.approx(q)


def test_multiply_rotates_by_the_right_one_first() -> None:
    turned = rot.rotate(rot.multiply(about(X, 90), about(Z, 90)), X)  # Z: x → y, then X: y → z
    assert turned == pytest.approx(Z, abs=EXACT)


@given(quaternions(), quaternions())
def test_multiply_is_the_product_of_matrices(a: FloatArray, b: FloatArray) -> None:
    assert rot.to_matrix(rot.multiply(a, b)) == pytest.approx(rot.to_matrix(a) @ rot.to_matrix(b), abs=EXACT)


def test_multiply_gives_the_same_bits_wherever_arrays_lie() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 67, 4))
    found = set()
    for _ in range(500):
        others = [np.empty(size, dtype=np.uint8) for size in rng.integers(1, 4096, 6).tolist()]
        del others[rng.integers(6)]  # leaves room between others
        found.add(rot.multiply(a.copy(), b.copy()).tobytes())
    assert len(found) == 1


@given(quaternions())
def test_conjugate_undoes(q: FloatArray) -> None:
    assert rot.multiply(q, rot.conjugate(q)) == pytest.approx(rot.IDENTITY, abs=EXACT)


@given(quaternions(), vectors())
def test_rotate_is_the_matrix_applied(q: FloatArray, v: FloatArray) -> None:
    assert rot.rotate(q, v) == pytest.approx(rot.to_matrix(q) @ v, abs=100 * EXACT)
    assert rot.rotate(-q, v) == pytest.approx(rot.rotate(q, v), abs=100 * EXACT)


def test_everything_broadcasts() -> None:
    q = about(np.stack((X, Y, Z)), 90.0)
    assert rot.multiply(q[:, None], q[None]).shape == (3, 3, 4)
    assert rot.rotate(q[:, None], np.ones((5, 3))).shape == (3, 5, 3)
    assert rot.slerp(q[:, None], q[None], np.full((3, 3), 0.5)).shape == (3, 3, 4)


def test_from_axis_angle_knows_a_third_of_a_turn() -> None:
    q = rot.from_axis_angle(np.ones(3), np.radians(120.0))
    assert q == pytest.approx(np.full(4, 0.5), abs=EXACT)


def test_from_axis_angle_of_no_axis_is_the_identity() -> None:
    assert rot.from_axis_angle(np.zeros(3), 1.0).tolist() == rot.IDENTITY.tolist()


@given(vectors().filter(lambda v: bool(np.linalg.norm(v) > 1e-3)), st.floats(1e-3, np.pi))
def test_axis_and_angle_there_and_back(axis: FloatArray, angle: float) -> None:
    unit, back = rot.to_axis_angle(-rot.from_axis_angle(axis, angle))
    assert back == pytest.approx(angle, abs=EXACT)
    if angle < np.pi - SQUARE_ROOT:  # at half a turn both directions are right
        assert unit == pytest.approx(axis / np.linalg.norm(axis), abs=1e-9)


def test_to_axis_angle_of_the_identity() -> None:
    axis, angle = rot.to_axis_angle(rot.IDENTITY)
    assert (axis.tolist(), float(angle)) == ([1.0, 0.0, 0.0], 0.0)


@given(quaternions())
def test_matrix_there_and_back(q: FloatArray) -> None:
    back = rot.from_matrix(rot.to_matrix(q))
    assert back[0] >= 0.0
    assert_same_rotation(back, q, SQUARE_ROOT)


@pytest.mark.parametrize("axis", [X, Y, Z, (X + Y) / np.sqrt(2.0)])
def test_from_matrix_at_half_a_turn(axis: FloatArray) -> None:
    assert_same_rotation(rot.from_matrix(rot.to_matrix(about(axis, 180.0))), about(axis, 180.0), SQUARE_ROOT)


@given(quaternions())
def test_from_exact_matrix_is_from_matrix(q: FloatArray) -> None:
    matrix = rot.to_matrix(q)
    back = rot.from_exact_matrix(matrix)
    assert back[0] >= 0.0
    np.testing.assert_allclose(np.linalg.norm(back), 1.0, rtol=1e-14)
    np.testing.assert_allclose(rot.to_matrix(back), matrix, atol=1e-14)


@pytest.mark.parametrize("axis", np.vstack((np.eye(3), (1.0, 1.0, 0.0), (1.0, 2.0, -3.0))))
def test_from_exact_matrix_at_half_a_turn(axis: FloatArray) -> None:
    matrix = rot.to_matrix(about(axis, 180.0))
    np.testing.assert_allclose(rot.to_matrix(rot.from_exact_matrix(matrix)), matrix, atol=1e-14)


@given(quaternions())
def test_from_matrix_finds_the_nearest_rotation(q: FloatArray) -> None:
    assert_same_rotation(rot.from_matrix(1.01 * rot.to_matrix(q)), q, SQUARE_ROOT)


@given(quaternions())
def test_to_matrix_is_orthogonal_and_no_mirror(q: FloatArray) -> None:
    m = rot.to_matrix(q)
    assert m @ m.T == pytest.approx(np.eye(3), abs=EXACT)
    assert np.linalg.det(m) == pytest.approx(1.0, abs=EXACT)


@given(angles)
def test_angle_between_is_that_of_the_turn(angle: float) -> None:
    q = rot.from_axis_angle(Y, angle)
    assert rot.angle_between(rot.IDENTITY, q) == pytest.approx(abs(angle), abs=EXACT)
    assert rot.angle_between(rot.IDENTITY, -q) == pytest.approx(abs(angle), abs=EXACT)


@pytest.mark.parametrize("angle", [1e-12, 1e-8, np.pi - 1e-8])
def test_angle_between_keeps_its_digits_near_the_ends(angle: float) -> None:
    assert rot.angle_between(rot.IDENTITY, rot.from_axis_angle(X, angle)) == pytest.approx(angle, rel=1e-6)


@given(quaternions(), quaternions())
def test_aligned_is_the_same_rotation_in_the_near_hemisphere(q: FloatArray, reference: FloatArray) -> None:
    flipped = rot.aligned(q, reference)
    assert flipped @ reference >= 0.0
    assert_same_rotation(flipped, q)


@given(st.lists(quaternions(), min_size=0, max_size=6))
def test_continuous_has_no_neighbours_apart(values: list[FloatArray]) -> None:
    q = np.array(values).reshape(-1, 4)
    smooth = rot.continuous(q)
    assert (np.sum(smooth[1:] * smooth[:-1], axis=-1) >= 0.0).all()
    assert smooth[:1].tolist() == q[:1].tolist()
    if len(q):
        assert_same_rotation(smooth, q)


@given(st.lists(st.lists(quaternions(), min_size=1, max_size=4), max_size=5))
def test_continuous_in_runs_is_each_run_alone(runs: list[list[FloatArray]]) -> None:
    starts = np.cumsum([0, *map(len, runs)])
    whole = rot.continuous(np.array([q for run in runs for q in run]).reshape(-1, 4), starts)
    alone = [rot.continuous(np.array(run)) for run in runs]
    assert whole.tolist() == [q for run in alone for q in run.tolist()]


def test_continuous_takes_each_joint_alone() -> None:
    q = np.stack((rot.identities(4), rot.identities(4) * [[1.0], [-1.0], [-1.0], [1.0]]))
    assert rot.continuous(q).tolist() == rot.identities(2, 4).tolist()
    assert rot.continuous(rot.identities(0, 2)).shape == (0, 2, 4)


@pytest.mark.parametrize("blend", [rot.nlerp, rot.slerp])
def test_blends_know_the_middle(blend: Callable[[FloatArray, FloatArray, float], FloatArray]) -> None:
    assert_same_rotation(blend(rot.IDENTITY, about(Z, 90.0), 0.5), about(Z, 45.0))


@given(quaternions(), quaternions(), shares)
def test_blends_are_unit_go_the_short_way_and_ignore_signs(a: FloatArray, b: FloatArray, t: float) -> None:
    for blend in (rot.nlerp, rot.slerp):
        q = blend(a, b, t)
        assert np.linalg.norm(q) == pytest.approx(1.0, abs=EXACT)
        way = rot.angle_between(a, b)
        assert rot.angle_between(a, q) + rot.angle_between(q, b) == pytest.approx(way, abs=SQUARE_ROOT)
        if way < np.pi - 1e-6:  # at half a turn both ways are as short
            assert_same_rotation(blend(a, -b, t), q, 1e-9)
            assert_same_rotation(blend(-a, b, t), q, 1e-9)


@given(quaternions(), quaternions())
def test_blends_begin_and_end_where_they_are_told(a: FloatArray, b: FloatArray) -> None:
    for blend in (rot.nlerp, rot.slerp):
        assert_same_rotation(blend(a, b, 0.0), a)
        assert_same_rotation(blend(a, b, 1.0), b)


@given(quaternions(), quaternions(), shares)
def test_slerp_has_constant_speed(a: FloatArray, b: FloatArray, t: float) -> None:
    assert rot.angle_between(a, rot.slerp(a, b, t)) == pytest.approx(t * rot.angle_between(a, b), abs=SQUARE_ROOT)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.9e-4, 2.1e-4])
def test_slerp_of_neighbours(angle: float) -> None:
    near = rot.from_axis_angle(X, angle)
    assert rot.slerp(rot.IDENTITY, near, 0.25) == pytest.approx(rot.from_axis_angle(X, angle / 4.0), abs=EXACT)


@given(angles, angles)
def test_twist_is_the_part_about_the_axis(swing: float, turn: float) -> None:
    q = rot.multiply(rot.from_axis_angle(X, swing * 0.99), rot.from_axis_angle(Z, turn))
    assert_same_rotation(rot.twist(q, Z), rot.from_axis_angle(Z, turn), 1e-9)


def test_twist_at_half_a_turn_across_is_the_identity() -> None:
    assert rot.twist(about(X, 180.0) * [0.0, 1.0, 1.0, 1.0], Z).tolist() == rot.IDENTITY.tolist()


@given(vectors().filter(lambda v: bool(np.linalg.norm(v) > 1e-3)), vectors().filter(
    lambda v: bool(np.linalg.norm(v) > 1e-3)))
def test_the_shortest_arc_leads_one_direction_to_the_other(a: FloatArray, b: FloatArray) -> None:
    way = rot.shortest_arc(a, b)
    np.testing.assert_allclose(rot.rotate(way, a / np.linalg.norm(a)), b / np.linalg.norm(b), atol=1e-7)
    assert np.abs(way[1:] @ a) < 1e-9 * np.linalg.norm(a)  # straight over: it does not turn about them


@given(vectors().filter(lambda v: bool(np.linalg.norm(v) > 1e-3)), st.floats(1e-3, 1e3))
def test_the_shortest_arc_to_the_opposite_direction_is_half_a_turn(a: FloatArray, far: float) -> None:
    way = rot.shortest_arc(a, -far * a)
    np.testing.assert_allclose(rot.rotate(way, a), -a, atol=EXACT * float(np.linalg.norm(a)))
    both = rot.shortest_arc(np.stack((a, a)), np.stack((-a, a)))
    assert_same_rotation(both[0], rot.shortest_arc(a, -a))
    assert_same_rotation(both[1], rot.IDENTITY)
    np.testing.assert_array_equal(rot.shortest_arc(a, np.zeros(3)), rot.IDENTITY)
