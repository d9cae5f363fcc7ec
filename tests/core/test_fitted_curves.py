"""A curve between bounds is near what is wanted, and bends little."""

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.maths.displacement import SoftBounds
from takt.core.retargeting.ground.fitted_curves import smoothed

FPS = 60
SOFT_S = 0.12
WEIGHT = 300.0
FAR = 9.0
GAIN = 0.01
OUTSIDE = 0.06
ENDS = 1e-4
ROUNDING = 1e-9
UP_LEGS_PER_S2 = 100.0


def smooth_between(times: FloatArray, wanted: FloatArray, low: FloatArray, high: FloatArray, *,
                   is_cycle: bool) -> FloatArray:
    """Return one curve between soft bounds."""
    weights = np.full((1, len(times)), WEIGHT)
    bounds = SoftBounds(low[None], high[None], weights, weights)
    return np.asarray(smoothed(times, wanted[None], SOFT_S, soft=bounds, keeps_ends=True, is_cycle=is_cycle)[0])


def bends(curve: FloatArray) -> float:
    """Return the largest second difference in thirtieths of a second."""
    return float(np.abs(np.diff(curve[::2], 2)).max())


@pytest.mark.parametrize("rounds", [1, 3, 8, 20])
def test_a_free_cycle_is_what_a_low_pass_makes_of_it(rounds: int) -> None:
    times = np.linspace(0.0, 4.0, 4 * FPS + 1)
    rad_per_s = 2.0 * np.pi * rounds / times[-1]
    wave = np.sin(rad_per_s * times + 0.3)
    made = smooth_between(times, wave, wave - FAR, wave + FAR, is_cycle=True)
    assert np.abs(made - wave / (1.0 + (rad_per_s * SOFT_S) ** 4)).max() < GAIN


def test_what_is_smooth_already_stays() -> None:
    times = np.arange(3 * FPS) / FPS
    line = 2.0 - 0.5 * times
    made = smooth_between(times, line, line - 0.1, line + 0.1, is_cycle=False)
    assert np.abs(made - line).max() < ROUNDING
    assert (smooth_between(times[:3], line[:3], line[:3], line[:3], is_cycle=False) == line[:3]).all()


@pytest.mark.parametrize("seed", range(8))
def test_it_bends_less_than_what_is_wanted_and_hardly_leaves_its_bounds(seed: int) -> None:
    """Where bounds are wide for what hops within them; it begins and ends where it is wanted."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, 5.0, 400))
    calm = np.interp(times, np.linspace(0.0, 5.0, 6), rng.normal(size=6))
    wanted = calm + 0.4 * rng.integers(0, 2, len(times))
    low, high = calm - 0.1 - rng.uniform(0.0, 0.3, len(times)), calm + 0.5 + rng.uniform(0.0, 0.3, len(times))
    made = smooth_between(times, wanted, low, high, is_cycle=False)
    assert max((low - made).max(), (made - high).max()) < OUTSIDE
    assert np.abs(made[[0, -1]] - wanted[[0, -1]]).max() < ENDS
    even = np.arange(0.0, 5.0, 1.0 / FPS)
    assert bends(np.interp(even, times, made)) < 0.1 * bends(np.interp(even, times, wanted))


def test_it_gives_way_to_a_bound_before_and_afterwards() -> None:
    """A bound that is there for a moment lifts the curve softly, and early: not within that moment alone."""
    times = np.arange(3 * FPS) / FPS
    low = np.where(np.abs(times - 1.5) < 0.04, 1.0, -FAR)
    made = smooth_between(times, 0.0 * times, low, 0.0 * times + FAR, is_cycle=False)
    assert made.max() > 1.0 - OUTSIDE - 0.1
    assert bends(made) < 0.08
    assert np.abs(times[made > 0.5 * made.max()] - 1.5).max() > 0.1


def test_a_cycle_goes_on_with_itself_wherever_it_is_cut() -> None:
    times = np.linspace(0.0, 1.6, 97)
    wanted = np.where((times[:-1] * 7.0).astype(int) % 3 == 0, 1.0, 0.0)

    def made(turn: int) -> FloatArray:
        own = np.roll(wanted, turn)
        own = np.append(own, own[0])
        return np.roll(smooth_between(times, own, own - 0.3, own + 0.3, is_cycle=True)[:-1], -turn)

    assert np.abs(made(32) - made(0)).max() < OUTSIDE


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_cycle", [False, True])
def test_no_body_is_thrown_up_faster_than_it_may_be_nor_left_in_the_ground(seed: int, is_cycle: bool) -> None:
    """As one who goes over hands on arms that are long for his legs."""
    rng, times = np.random.default_rng(seed), np.arange(241) / 120.0
    lift = np.maximum(np.interp(times, np.linspace(0.0, 2.0, 9), rng.normal(size=9)), 0.0)
    lift[-1] = lift[0]
    made = smoothed(times, lift[None], SOFT_S, lo=lift, keeps_ends=True, is_cycle=is_cycle)[0]
    assert (made >= lift).all()
    assert np.diff(made, 2).max() * 120.0**2 < 1.001 * UP_LEGS_PER_S2 < np.diff(lift, 2).max() * 120.0**2


@pytest.mark.parametrize("is_cycle", [False, True])
def test_a_curve_below_what_lasts_for_a_moment_hardly_follows_it(is_cycle: bool) -> None:
    times = np.arange(241) / 240.0
    values = 0.1 * np.interp(times, (0.2, 0.22, 0.4, 0.42, 0.44, 0.46, 0.7, 0.72), (1, 0, 0, 1, 1, 0, 0, 1))
    calm = smoothed(times, values[None], 0.08, lo=0.0, hi=values, is_cycle=is_cycle)[0]
    assert (calm >= 0.0).all() and (calm <= values).all()
    assert calm[(times > 0.4) & (times < 0.46)].max() < 0.5 * 0.1
    assert calm[[0, -1]] == pytest.approx(0.1, rel=0.06)
    assert np.abs(np.diff(calm)).max() < np.abs(np.diff(values)).max()


def test_no_bound_between_even_frames_is_passed_over() -> None:
    """Times are dense where something is deep for a moment."""
    times = np.sort(np.concatenate((np.arange(31) / 30.0, 0.51 + np.arange(8) / 2000.0)))
    deep = np.where((times >= 0.511) & (times <= 0.513), 0.2, 0.0)
    curve = smoothed(times, np.zeros((1, len(times))), 0.1, lo=deep, holds_between=True)[0]
    assert (curve >= deep).all()
    assert np.abs(np.diff(curve) / np.diff(times)).max() < 0.2 / 0.05


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_contact_at_an_end_is_kept_from_the_end_on(side: float) -> None:
    """A foot that hangs as a clip begins or ends: the body does not come to it within the first moments."""
    times = np.arange(2 * FPS + 1) / FPS
    contact = np.where(np.abs(times - 1.0) > 0.7, 0.1, -FAR) * side
    low, high = (contact, 0.0 * times + FAR) if side > 0.0 else (0.0 * times - FAR, contact)
    made = smooth_between(times, 0.0 * times, low, high, is_cycle=False)
    assert made[[0, -1]] == pytest.approx(0.1 * side, abs=GAIN)
    assert np.abs(np.diff(made[:6])).max() < 0.002 and np.abs(np.diff(made[-6:])).max() < 0.002


def test_clips_that_fit_together_still_do() -> None:
    """One ends in the pose in which the other begins, with a contact there that neither is wanted at otherwise."""
    times = np.arange(2 * FPS + 1) / FPS
    ends, begins = (smooth_between(times, np.sin(way * times), np.full_like(times, -FAR),
                                   np.where(times == at, -0.2, FAR), is_cycle=False)[which]
                    for way, at, which in ((np.pi, times[-1], -1), (-3.0, 0.0, 0)))
    assert ends == pytest.approx(begins, abs=ENDS)


@pytest.mark.parametrize("seed", range(8))
def test_a_bound_for_part_of_the_time_holds_then_and_the_curve_rises_for_it_early(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, 5.0, 400))
    high, on = rng.uniform(0.5, 2.0), (times > 2.0) & (times < 2.0 + rng.uniform(0.0, 1.5))
    nothing, sign = np.zeros((1, len(times))), rng.choice((-1.0, 1.0))
    bounds = {"lo" if sign > 0 else "hi": np.where(on, sign * high, -sign * np.inf)[None]}
    made = smoothed(times, nothing, SOFT_S, **bounds)[0]
    assert (sign * made[on] >= high).all()
    assert sign * made[np.searchsorted(times, 1.95)] > 0.6 * high
    assert bends(np.interp(np.linspace(0.0, 5.0, 5 * FPS + 1), times, made)) < 0.1 * high


def test_where_bounds_contradict_each_other_the_curve_is_between_them_and_smooth() -> None:
    times = np.arange(4 * FPS) / FPS
    on = (times > 1.5) & (times < 2.5)
    lo, hi = np.where(on, 1.0, -np.inf)[None], np.where(on, 0.6, np.inf)[None]
    made = smoothed(times, np.zeros((1, len(times))), SOFT_S, lo=lo, hi=hi)[0]
    assert np.abs(made[on] - 0.8).max() < OUTSIDE
    assert bends(made) < 0.1
