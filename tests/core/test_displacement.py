"""Displacement curves against dense solvers, against the conditions of an optimum, and at the edges."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.maths.displacement import DisplacementProblem, DisplacementResult, SoftBounds, solve_displacement

EXACT = 1e-8
"""Of the largest value of a curve."""
ITERATED = 1e-6
CLOSE_TO_A_LINE = 1e-3
MOST_ROUNDS = 150
SPACING_S = 1.0 / 30.0
NOTHING = np.zeros((1, 100))


def random_problem(seed: int, most_frames: int = 400) -> DisplacementProblem:
    """Return wishes that jump or wander, between bounds that are wide, narrow, equal, rough or not there."""
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(1, 5)), int(rng.integers(3, most_frames))
    smoothing = rng.uniform(0.02, 0.4, shape[0])
    walk = np.cumsum(rng.normal(size=shape), axis=1) * 0.03
    wish = walk if seed % 2 else np.where(rng.random(shape) < 0.1, rng.normal(size=shape), 0.0)
    weight = np.where(rng.random(shape) < 0.5, 1.0, 10.0 ** rng.uniform(-3.0, 0.0, shape))
    base = wish if seed % 3 == 0 else np.cumsum(rng.normal(size=shape), axis=1) * 0.01
    lo = base - rng.uniform(-0.05, 0.3, shape)
    hi = lo + rng.uniform(0.0, 0.5, shape)
    lo[rng.random(shape) < 0.2], hi[rng.random(shape) < 0.2] = -np.inf, np.inf
    same = rng.random(shape) < 0.02
    hi[same & np.isfinite(lo)] = lo[same & np.isfinite(lo)]
    soft = SoftBounds(base - 0.02, base + 0.02, *(10.0 ** rng.uniform(1.0, 4.0, (2, *shape))))
    return DisplacementProblem(wish, weight, lo, hi, smoothing, SPACING_S, soft if seed % 4 == 0 else None)


def dense(problem: DisplacementProblem, channel: int, *, is_cycle: bool = False) -> FloatArray:
    """Return s⁴ times the matrix of fourth differences, (F, F)."""
    eye = np.eye(problem.wish.shape[1])
    bends = np.roll(eye, 1, 0) - 2.0 * eye + np.roll(eye, -1, 0) if is_cycle else np.diff(eye, 2, axis=0)
    return np.asarray((problem.smoothing_s[channel] / problem.spacing_s) ** 4 * bends.T @ bends)


def forces(problem: DisplacementProblem, curves: FloatArray) -> FloatArray:
    """Return half the gradient at curves (K, F)."""
    made = problem.weight * (curves - problem.wish)
    for channel, bends in enumerate(np.diff(curves, 2, axis=1)):
        stiffness = (problem.smoothing_s[channel] / problem.spacing_s) ** 4
        made[channel] += stiffness * np.convolve(bends, (1.0, -2.0, 1.0))
    if problem.soft is not None:
        made -= problem.soft.lo_weight * np.maximum(problem.soft.lo - curves, 0.0)
        made += problem.soft.hi_weight * np.maximum(curves - problem.soft.hi, 0.0)
    return made


def assert_optimal(problem: DisplacementProblem, made: DisplacementResult) -> None:
    """Check the conditions of Karush, Kuhn and Tucker, which are enough where all is convex."""
    stiffness = (problem.smoothing_s[:, None] / problem.spacing_s) ** 4
    size = np.abs(made.curves).max() * (1.0 + stiffness)
    force = forces(problem, made.curves) / size
    assert made.is_optimal.all()
    assert made.rounds < MOST_ROUNDS
    assert (made.curves >= problem.lo).all() and (made.curves <= problem.hi).all()
    assert (made.curves[made.is_at_lo] == problem.lo[made.is_at_lo]).all()
    assert (made.curves[made.is_at_hi] == problem.hi[made.is_at_hi]).all()
    assert np.abs(force[~made.is_at_lo & ~made.is_at_hi]).max(initial=0.0) < EXACT
    assert force[made.is_at_lo & ~made.is_at_hi].min(initial=0.0) > -EXACT
    assert force[made.is_at_hi & ~made.is_at_lo].max(initial=0.0) < EXACT
    assert np.abs(made.force / size - force).max() < EXACT


def still(frames: int = 100, channels: int = 1) -> DisplacementProblem:
    """Return a problem that wishes for nothing, and has no bounds."""
    zeros = np.zeros((channels, frames))
    return DisplacementProblem(zeros, zeros + 1.0, zeros - np.inf, zeros + np.inf, np.full(channels, 0.15), SPACING_S)


@pytest.mark.parametrize("seed", range(300))
def test_curves_meet_the_conditions_of_an_optimum(seed: int) -> None:
    problem = random_problem(seed)
    assert_optimal(problem, solve_displacement(problem))


@pytest.mark.parametrize("seed", range(100))
def test_without_bounds_it_is_what_a_dense_solver_finds(seed: int) -> None:
    problem = random_problem(seed, 100)
    free = replace(problem, lo=np.full_like(problem.lo, -np.inf), hi=np.full_like(problem.hi, np.inf), soft=None)
    made = solve_displacement(free).curves
    for channel, weight in enumerate(free.weight):
        wanted = np.linalg.solve(np.diag(weight) + dense(free, channel), weight * free.wish[channel])
        assert np.abs(made[channel] - wanted).max() <= EXACT * np.abs(wanted).max()


@pytest.mark.parametrize("seed", range(8))
def test_with_bounds_it_is_what_descent_along_each_frame_comes_to(seed: int) -> None:
    """Gauss and Seidel's method, each value cut off at its bounds: slow, and of another kind."""
    problem = replace(random_problem(seed, 14), smoothing_s=np.full(len(random_problem(seed, 14).wish), 0.04))
    problem = replace(problem, weight=np.maximum(problem.weight, 0.1), soft=None)
    made = solve_displacement(problem).curves
    for channel, wish in enumerate(problem.wish):
        matrix, right = np.diag(problem.weight[channel]) + dense(problem, channel), problem.weight[channel] * wish
        curve = np.clip(0.0 * wish, problem.lo[channel], problem.hi[channel])
        for _ in range(1000):
            for frame in range(len(wish)):
                alone = curve[frame] + (right[frame] - matrix[frame] @ curve) / matrix[frame, frame]
                curve[frame] = np.clip(alone, problem.lo[channel, frame], problem.hi[channel, frame])
        assert np.abs(curve - made[channel]).max() < ITERATED


@pytest.mark.parametrize("seed", range(60))
def test_it_ends_where_frames_change_to_and_fro(seed: int) -> None:
    """Narrow bounds that jump from frame to frame, on stiff curves."""
    rng = np.random.default_rng(seed)
    lo = rng.normal(size=(3, 600))
    zeros = np.zeros_like(lo)
    problem = DisplacementProblem(zeros, zeros + 10.0 ** rng.uniform(-3.0, 0.0), lo, lo + rng.uniform(0.0, 0.1),
                                  np.full(3, rng.uniform(0.05, 0.4)), SPACING_S)
    assert_optimal(problem, solve_displacement(problem))


@pytest.mark.parametrize("seed", range(20))
def test_a_curve_is_moved_scaled_and_reversed_with_its_problem(seed: int) -> None:
    problem = replace(random_problem(seed), soft=None)
    made, other = solve_displacement(problem).curves, solve_displacement(replace(
        problem, wish=(2.0 - 3.0 * problem.wish)[:, ::-1], weight=problem.weight[:, ::-1],
        lo=(2.0 - 3.0 * problem.hi)[:, ::-1], hi=(2.0 - 3.0 * problem.lo)[:, ::-1])).curves
    assert np.abs(other[:, ::-1] - (2.0 - 3.0 * made)).max() < 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_a_cycle_is_what_a_dense_solver_finds_on_a_ring(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frames = int(rng.integers(5, 120))
    wish = rng.normal(size=(1, frames))
    ring = replace(still(frames), wish=wish, is_cycle=True)
    wanted = np.linalg.solve(np.eye(frames) + dense(ring, 0, is_cycle=True), wish[0])
    assert np.abs(solve_displacement(ring).curves[0] - wanted).max() < 1e-5
    turned = solve_displacement(replace(ring, wish=np.roll(wish, 3, axis=1), lo=0.0 * wish - 0.05)).curves
    straight = solve_displacement(replace(ring, lo=0.0 * wish - 0.05)).curves
    assert np.abs(np.roll(turned, -3, axis=1) - straight).max() < 1e-5


@pytest.mark.parametrize("rounds", [1, 4, 10])
def test_a_free_curve_is_a_low_pass_of_its_wish(rounds: int) -> None:
    times = np.arange(120) * SPACING_S
    rad_per_s = 2.0 * np.pi * rounds / (120 * SPACING_S)
    wave = np.sin(rad_per_s * times)[None]
    made = solve_displacement(replace(still(120), wish=wave, is_cycle=True)).curves
    gain = 1.0 / (1.0 + (0.15 * 2.0 / SPACING_S * np.sin(0.5 * rad_per_s * SPACING_S)) ** 4)
    assert np.abs(made - gain * wave).max() < 1e-5


def test_a_curve_rises_before_a_bound_that_lifts_it() -> None:
    lo = np.full((1, 100), -np.inf)
    lo[0, 50:53] = 1.0
    made = solve_displacement(replace(still(), lo=lo)).curves[0]
    assert made[50:53].min() >= 1.0
    assert made[47] > 0.5 and made[55] > 0.5
    assert np.abs(np.diff(made, 2)).max() < 0.25


def test_soft_bounds_give_way_as_their_weight_says() -> None:
    lo = np.where(np.arange(100) == 50, 1.0, -np.inf)[None]
    free = np.full((1, 100), 9.0)
    bounds = [SoftBounds(lo, free, 0.0 * free + weight, 0.0 * free) for weight in (0.0, 1.0, 100.0, 1e4)]
    heights = [solve_displacement(replace(still(), soft=soft)).curves[0, 50] for soft in bounds]
    assert heights[0] == 0.0 and heights == sorted(heights)
    assert heights[1] < 0.2 and 0.99 < heights[3] < 1.0


@pytest.mark.parametrize("frames", [0, 1, 2])
def test_few_frames_are_what_they_wish_within_their_bounds(frames: int) -> None:
    problem = replace(still(frames, 2), wish=np.full((2, frames), 3.0), hi=np.full((2, frames), 1.0))
    made = solve_displacement(problem)
    assert made.curves.shape == (2, frames) and (made.curves == 1.0).all() and made.is_at_hi.all()
    cycle = solve_displacement(replace(problem, is_cycle=True))
    assert cycle.curves.shape == (2, frames) and np.abs(cycle.curves - 1.0).max(initial=0.0) < EXACT


def test_many_channels_are_solved_as_each_alone() -> None:
    """More values than are solved together."""
    rng = np.random.default_rng(0)
    wish = np.cumsum(rng.normal(size=(5, 20_000)), axis=1)
    problem = replace(still(20_000, 5), wish=wish, lo=wish - 0.5)
    made = solve_displacement(problem)
    assert_optimal(problem, made)
    alone = replace(still(20_000), wish=wish[4:], lo=wish[4:] - 0.5)
    assert np.abs(solve_displacement(alone).curves[0] - made.curves[4]).max() < EXACT * np.abs(wish).max()


def test_no_channel_is_no_error() -> None:
    assert solve_displacement(still(9, 0)).curves.shape == (0, 9)


def test_without_smoothing_each_frame_is_for_itself() -> None:
    problem = replace(random_problem(3), soft=None)
    made = solve_displacement(replace(problem, smoothing_s=0.0 * problem.smoothing_s)).curves
    assert np.abs(made - np.clip(problem.wish, problem.lo, problem.hi)).max() < EXACT


def test_where_no_wish_counts_the_nearest_line_remains() -> None:
    rng = np.random.default_rng(0)
    wish = rng.normal(size=(1, 60)) + 0.1 * np.arange(60)
    made = solve_displacement(replace(still(60), wish=wish, weight=0.0 * wish)).curves[0]
    assert np.abs(made - np.polyval(np.polyfit(np.arange(60), wish[0], 1), np.arange(60))).max() < CLOSE_TO_A_LINE


def test_a_gap_between_wishes_is_bridged_by_a_cubic() -> None:
    frames = np.arange(100)
    wish, weight = np.where(frames < 50, 0.0, 1.0)[None], np.where((frames < 30) | (frames >= 70), 1.0, 0.0)[None]
    made = solve_displacement(replace(still(), wish=wish, weight=weight)).curves[0]
    assert np.abs(np.diff(made[30:70], 4)).max() < 1e-9
    assert made[49] < 0.5 < made[50]


def test_bounds_that_are_equal_hold_the_curve() -> None:
    lo, hi = np.full((1, 100), -np.inf), np.full((1, 100), np.inf)
    lo[0, 20], hi[0, 20] = 0.3, 0.3
    made = solve_displacement(replace(still(), lo=lo, hi=hi))
    assert made.curves[0, 20] == 0.3 and made.is_at_lo[0, 20] and made.is_at_hi[0, 20]
    assert made.is_at_lo.sum() == made.is_at_hi.sum() == 1


def test_bounds_that_contradict_each_other_are_missed_alike_and_named() -> None:
    lo, hi = np.full((1, 100), -1.0), np.full((1, 100), 1.0)
    lo[0, 40:60], hi[0, 40:60] = 0.5, 0.1
    made = solve_displacement(replace(still(), lo=lo, hi=hi))
    assert np.abs(made.curves[0, 45:55] - 0.3).max() < 0.01
    assert np.abs(made.missed[0, 45:55] - 0.2).max() < 0.01
    assert not made.missed[0, :40].any() and not made.missed[0, 60:].any()
    assert not made.is_at_lo[0, 40:60].any()
    assert np.abs(np.diff(made.curves, 2)).max() < 0.1


@pytest.mark.parametrize(("change", "says"), [
    ({"weight": np.ones((1, 99))}, r"weight has the shape \(1, 99\), wish \(1, 100\)"),
    ({"wish": np.full((1, 100), np.nan)}, "wish has values that are not finite"),
    ({"weight": np.full((1, 100), np.inf)}, "weight has values that are not finite"),
    ({"lo": np.full((1, 100), np.nan)}, "lo has values that are not numbers"),
    ({"weight": np.full((1, 100), -0.5)}, "weight has values below 0, as -0.5"),
    ({"lo": np.full((1, 100), np.inf)}, "lo is never"),
    ({"hi": np.full((1, 100), -np.inf)}, "hi never"),
    ({"smoothing_s": np.ones(2)}, r"smoothing_s has the shape \(2,\)"),
    ({"smoothing_s": np.array((-1.0,))}, "smoothing_s must be finite and not below 0"),
    ({"spacing_s": 0.0}, "spacing_s is 0.0"),
    ({"soft": SoftBounds(NOTHING, NOTHING, NOTHING, np.zeros((1, 9)))}, r"soft.hi_weight has the shape \(1, 9\)"),
    ({"soft": SoftBounds(NOTHING, NOTHING, NOTHING - 1.0, NOTHING)}, "soft.lo_weight has values below 0, as -1"),
])
def test_what_is_no_problem_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        replace(still(), **change)
