"""Euler angles, axis and angle: there and back, and without jumps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.maths import rotations as rot
from takt.core.maths.euler import ORDERS, from_euler, to_euler, to_turns

EXACT_RAD = 1e-6


def wandering(seed: int, frames: int = 400, joints: int = 3) -> np.ndarray:
    """Return quaternions (F, J, 4) that turn a little from one instant to the next, all the way round and more."""
    rng = np.random.default_rng(seed)
    steps = rot.from_axis_angle(np.cumsum(rng.normal(size=(frames, joints, 3)), axis=0),
                                rng.uniform(0.0, 0.1, size=(frames, joints)))
    q = rot.normalized(rng.normal(size=(1, joints, 4))).repeat(frames, axis=0)
    for frame in range(1, frames):
        q[frame] = rot.multiply(steps[frame], q[frame - 1])
    return np.asarray(q * rng.choice((-1.0, 1.0), size=(frames, joints, 1)))  # signs mean nothing


@given(st.integers(0, 2**32), st.sampled_from(ORDERS))
@settings(max_examples=30, deadline=None)
def test_there_and_back(seed: int, order: str) -> None:
    q = wandering(seed, 30)
    angles = to_euler(q, order)
    assert rot.angle_between(from_euler(angles, order), q).max() < EXACT_RAD
    turns = to_turns(q)
    assert rot.angle_between(rot.from_axis_angle(turns[..., 1:], turns[..., 0]), q).max() < EXACT_RAD


@pytest.mark.parametrize("order", ORDERS)
def test_about_one_axis_alone_only_its_angle_grows(order: str) -> None:
    """Three times around, beyond where the middle axis' angle turns back and the other triple goes on."""
    way = np.linspace(0.0, 6.0 * np.pi, 300)
    for axis in range(3):
        q = rot.from_axis_angle(np.eye(3)[axis], way)
        angles = to_euler(q, order)
        np.testing.assert_allclose(angles[:, axis] - angles[0, axis], way, atol=1e-5)
        turns = to_turns(q)
        np.testing.assert_allclose(turns[:, 0], way, atol=1e-6)
        np.testing.assert_allclose(turns[1:, 1:], np.eye(3)[axis][None].repeat(299, axis=0), atol=1e-6)


@pytest.mark.parametrize("order", ORDERS)
def test_there_are_no_jumps(order: str) -> None:
    """But for the middle axis at a right angle, where the two others may turn against each other at will."""
    q = wandering(5)
    angles = to_euler(q, order)
    middle = angles[..., "XYZ".index(order[1])]
    steps = np.abs(np.diff(angles, axis=0)).max(axis=-1)
    free = np.minimum(np.abs(np.cos(middle[1:])), np.abs(np.cos(middle[:-1]))) > 0.3
    assert free.sum() > 100 and steps[free].max() < 0.1 / 0.3 * 1.5
    assert steps.max() < 1.1 * np.pi


def test_a_middle_axis_at_a_right_angle_is_read() -> None:
    for order in ORDERS:
        for angle in (np.pi / 2, -np.pi / 2):
            given_ = np.zeros((1, 3))
            given_[0, ["XYZ".index(axis) for axis in order]] = 0.4, angle, 0.3
            q = from_euler(given_, order)
            assert rot.angle_between(from_euler(to_euler(q, order), order), q).max() < EXACT_RAD


def test_axes_stay_while_nothing_turns_and_angles_go_through_zero() -> None:
    way = np.concatenate((np.zeros(3), np.linspace(1.0, -1.0, 21), np.zeros(4)))
    turns = to_turns(rot.from_axis_angle(np.array((0.6, 0.0, 0.8)), way))
    np.testing.assert_allclose(turns[:, 0], way, atol=1e-9)
    np.testing.assert_allclose(turns[3:, 1:], np.tile((0.6, 0.0, 0.8), (25, 1)), atol=1e-9)
    np.testing.assert_array_equal(turns[:3, 1:], np.tile((0.0, 1.0, 0.0), (3, 1)))
