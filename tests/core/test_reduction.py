"""core/maths/reduction.py: what the kept keys say is within the tolerance, and no key that a line replaces is kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.maths.reduction import rotation_keys, vector_keys

ROUNDING = 1e-9


def between(times: FloatArray, values: FloatArray, keys: BoolArray) -> FloatArray:
    """Interpolate one track (F, C) linearly between its keys (F,), by numpy's own function."""
    return np.stack([np.interp(times, times[keys], column[keys]) for column in values.T], axis=1)


@given(seed=st.integers(0, 9999), frames=st.integers(2, 60), tolerance=st.floats(1e-4, 0.3))
@settings(deadline=None, max_examples=60)
def test_lines_between_the_kept_keys_miss_nothing(seed: int, frames: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.01, 1.0, frames))
    vectors = np.cumsum(rng.normal(0.0, 0.05, (frames, 20, 3)), axis=0)
    kept = vector_keys(times, vectors, tolerance, np.zeros(frames, dtype=np.bool_))
    for track in range(vectors.shape[1]):
        found = between(times, vectors[:, track], kept[:, track])
        assert np.linalg.norm(found - vectors[:, track], axis=1).max() <= tolerance + ROUNDING


@given(seed=st.integers(0, 9999), frames=st.integers(2, 60), tolerance=st.floats(1e-4, 0.05))
@settings(deadline=None, max_examples=60)
def test_rotations_between_the_kept_keys_are_within_the_angle(seed: int, frames: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.01, 1.0, frames))
    rotations = rot.continuous(rot.exp(np.cumsum(rng.normal(0.0, 0.1, (frames, 17, 3)), axis=0)))
    kept = rotation_keys(times, rotations, tolerance, np.zeros(frames, dtype=np.bool_))
    for track in range(rotations.shape[1]):
        found = rot.normalized(between(times, rotations[:, track], kept[:, track]))
        assert rot.angle_between(found, rotations[:, track]).max() <= tolerance * 1.001 + ROUNDING


def test_corners_alone_are_kept_each_track_for_itself() -> None:
    times = np.arange(101.0)
    values = np.stack((np.interp(times, (0, 37, 100), (0.0, 5.0, 1.0)),
                       np.interp(times, (0, 12, 80, 100), (0.0, 1.0, 0.0, 2.0)),
                       np.full(101, 3.0)), axis=1)[:, :, None]
    kept = vector_keys(times, values, 1e-6, np.zeros(101, dtype=np.bool_))
    assert [np.flatnonzero(kept[:, t]).tolist() for t in range(3)] == [[0, 37, 100], [0, 12, 80, 100], [0, 100]]


def test_an_even_turn_needs_keys_because_lerp_is_not_even() -> None:
    """Half a turn by normalised LERP is up to 9° off an even one; a few keys cure that."""
    share = np.linspace(0.0, 1.0, 181)
    turn = rot.from_axis_angle(np.array((0.0, 1.0, 0.0)), share * np.pi * 0.9)[:, None]
    kept = rotation_keys(share, turn, np.radians(0.01), np.zeros(181, dtype=np.bool_))
    assert 5 < kept.sum() < 60


@given(st.integers(0, 999))
@settings(deadline=None, max_examples=30)
def test_where_the_search_sets_out_from_costs_no_keys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = rng.random(40) < 0.3
    times, straight = np.arange(40.0), np.linspace(0.0, 3.0, 40)[:, None, None].repeat(3, axis=2)
    assert vector_keys(times, straight, 1e-6, np.zeros(40, dtype=np.bool_)).sum() == 2
    kept = vector_keys(times, straight, 1e-6, starts)
    assert kept.sum() <= 2 + np.ceil(starts[1:-1].sum() / 2)
    bent = np.cumsum(rng.normal(0.0, 0.1, (40, 5, 3)), axis=0)
    kept = vector_keys(times, bent, 0.2, starts)
    for track in range(5):
        found = between(times, bent[:, track], kept[:, track])
        assert np.linalg.norm(found - bent[:, track], axis=1).max() <= 0.2 + ROUNDING


@pytest.mark.parametrize("frames", [1, 2])
def test_next_to_nothing_is_all_keys(frames: int) -> None:
    assert vector_keys(np.arange(float(frames)), np.zeros((frames, 1, 3)), 0.1, np.zeros(frames, dtype=np.bool_)).all()


def test_no_tracks_have_no_keys() -> None:
    assert vector_keys(np.arange(5.0), np.zeros((5, 0, 3)), 0.1, np.zeros(5, dtype=np.bool_)).shape == (5, 0)
