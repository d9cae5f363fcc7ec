"""Joint limits: angles there and back, and which way they decide."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.maths.euler import least_euler
from takt.core.playing.transitions.limits import Limits, long_arc
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.tests.core.scores import FIGURE, X, Y, library, turning
from takt.tests.core.sentences import motion
from takt.tests.core.strategies import quaternions

ARM = FIGURE.index_of["l_arm"]
ORDERS = list(itertools.permutations(range(3)))
HALF_FREE = Limits.of({ARM: ((-120.0, 120.0), (-10.0, 10.0), (-10.0, 10.0))})
EXACT_RAD = 1e-7


def composed(angles: FloatArray, order: tuple[int, ...]) -> FloatArray:
    """Turn by the angles about x, y, z in an order of the axes."""
    q = rot.IDENTITY
    for axis in order:
        q = rot.multiply(rot.from_axis_angle(np.eye(3)[axis], angles[..., axis]), q)
    return q


def about_x(*degrees: float) -> FloatArray:
    """Return rotations of all joints of the figure about x, (N, J, 4)."""
    return rot.from_axis_angle(X, np.radians(np.array(degrees)))[:, None].repeat(len(FIGURE), axis=1)


@given(quaternions(), st.sampled_from(ORDERS))
def test_angles_make_the_rotation_again_and_are_the_smaller_ones(q: FloatArray, order: tuple[int, ...]) -> None:
    angles = least_euler(q, np.array(order))
    assert rot.angle_between(composed(angles, order), q) < EXACT_RAD
    first, second, third = order
    other = angles.copy()
    other[[first, third]] -= np.pi * np.where(angles[[first, third]] > 0.0, 1.0, -1.0)
    other[second] = np.pi - angles[second] if angles[second] > 0.0 else -np.pi - angles[second]
    assert np.abs(angles).sum() <= np.abs(other).sum() + EXACT_RAD


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("up", [90.0, -90.0])
def test_straight_up_the_third_angle_is_0(order: tuple[int, ...], up: float) -> None:
    angles = np.zeros(3)
    angles[list(order)] = np.radians((20.0, up, 30.0))
    found = least_euler(composed(angles, order), np.array(order))
    assert found[order[2]] == 0.0
    assert rot.angle_between(composed(found, order), composed(angles, order)) < 1e-5


def test_the_long_arc_leads_to_the_same_rotation() -> None:
    turn = np.array(((0.3, -1.0, 0.2), (0.0, 0.0, 0.0)))
    assert rot.angle_between(rot.exp(long_arc(turn)), rot.exp(turn)).max() < EXACT_RAD
    assert np.linalg.norm(long_arc(turn), axis=1) == pytest.approx((2 * np.pi - np.linalg.norm(turn[0]), 0.0))


@pytest.mark.parametrize(("degrees", "is_long"), [
    ((-110.0, 110.0), True),  # past 180° or past 0°
    ((-60.0, 60.0), False),  # the short way keeps within
    ((110.0, 110.0), False),  # no way at all
    ((-123.0, 123.0), True),  # limits are not exact to 5°
    ((-170.0, 170.0), False),  # both ways begin 50° beyond: the limits decide nothing
])
def test_the_long_arc_is_taken_where_only_it_keeps_within(degrees: tuple[float, float], is_long: bool) -> None:
    a, b = about_x(degrees[0]), about_x(degrees[1])
    found = HALF_FREE.exceeds(a, b)
    assert found.tolist() == [[joint == ARM and is_long for joint in range(len(FIGURE))]]
    assert HALF_FREE.exceeds(-a, b).tolist() == found.tolist()
    short = abs((degrees[1] - degrees[0] + 180.0) % 360.0 - 180.0)
    assert np.degrees(HALF_FREE.angles(a, b))[0, ARM] == pytest.approx(360.0 - short if is_long else short)


def test_where_both_ways_leave_the_limits_it_is_the_short_one() -> None:
    hinge = Limits.of({ARM: ((-120.0, 120.0), (0.0, 0.0), (0.0, 0.0))})
    a, b = about_x(0.0), rot.from_axis_angle(Y, np.radians(np.array((100.0,))))[:, None].repeat(len(FIGURE), axis=1)
    assert not hinge.exceeds(a, b).any()


def test_free_axes_do_not_count() -> None:
    free = Limits.of({ARM: ((-np.inf, np.inf), (-10.0, 10.0), (-180.0, 180.0))})
    assert not free.exceeds(about_x(-110.0), about_x(110.0)).any()


def test_ways_in_parts_are_ways_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits.of({1: ((-150.0, 150.0), (-60.0, 60.0), (-60.0, 60.0)), ARM: ((-120.0, 120.0),) * 3})
    rng = np.random.default_rng(4)
    a, b = (composed(rng.uniform((-2.0, -1.0, -1.0), (2.0, 1.0, 1.0), (300, len(FIGURE), 3)), (0, 1, 2))
            for _ in range(2))
    whole = limits.exceeds(a, b)
    assert whole[:, [1, ARM]].any(axis=0).all()
    assert not whole[:, [0, 3]].any()
    monkeypatch.setattr("takt.core.playing.transitions.limits._ARCS_AT_ONCE", 7)
    assert (limits.exceeds(a, b) == whole).all()
    assert [bool(limits.exceeds(a[i], b[i])[ARM]) for i in range(300)] == whole[:, ARM].tolist()


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("joint_time", ["SHARED", "MIDDLE"])
def test_on_the_long_arc_nothing_jumps_and_the_automatic_length_knows_it(method: str, joint_time: str) -> None:
    side = np.radians(110.0)
    clips = library(feet_Steps=(turning("left", X, (-side - 0.5, -side), ("l_arm",)),
                                turning("right", X, (side, side - 0.5), ("l_arm",))))
    m = motion('left duration="9"', 'right duration="9"', method=method, clips=clips, limits=HALF_FREE,
               joint_time=joint_time)
    way = np.radians(220.0) / (0.5 / 9.0)
    if method == "APPEND":
        assert m.transitions_s[0] == pytest.approx(way)
    times = np.linspace(0.0, m.duration_s, 20001)
    q = m.sample(times).rotations[:, ARM]
    assert rot.angle_between(q[1:], q[:-1]).max() < 0.005
    seam = m.sample(np.array(((m.layout.window_begin_s[0] + m.layout.window_end_s[0]) / 2.0,))).rotations[0, ARM]
    if TRANSITION_METHODS[method].shape != "RISE":
        assert rot.to_axis_angle(seam)[1] < 0.5


@pytest.mark.parametrize(("low", "high", "order", "message"), [
    (np.zeros((1, 3)), np.zeros((2, 3)), ((0, 1, 2),), "limits of 1 joints have shapes"),
    (np.ones((1, 3)), np.zeros((1, 3)), ((0, 1, 2),), "lower limit is above its upper one"),
    (np.zeros((1, 3)), np.ones((1, 3)), ((0, 1, 1),), "must name each of the axes"),
])
def test_limits_that_are_none(low: FloatArray, high: FloatArray, order: tuple[tuple[int, ...]], message: str) -> None:
    with pytest.raises(TaktError, match=message):
        Limits(np.array((ARM,)), low, high, np.array(order))
