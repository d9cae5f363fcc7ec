"""Steps that have too little time for their way lead less far, and no farther beside than legs reach."""

import numpy as np
import pytest

from takt.core.maths.arrays import ComplexArray
from takt.core.playing.feet.footholds import PEAK, STEP_WAIT, Footholds
from takt.core.playing.feet.shorter_steps import BESIDE_LEGS, Rounds, shortened
from takt.tests.core.test_due_steps import LEFT, RIGHT, stepping

EXACT = 1e-5
ALWAYS = [(0.0, 3.0, 0.0)], [(3.0, 6.0, 0.0)]


def ways(found: Footholds, foot: int) -> list[tuple[float, float, float]]:
    """Return how long the steps of a foot take, and from where to where they lead."""
    own = np.arange(found.first[foot], found.first[foot + 1])
    steps = own[found.lift[own] > 0.0]
    return [(float(found.edges_s[1, gap] - found.edges_s[0, gap]), *found.at[0, :, gap].tolist()) for gap in steps]


@pytest.mark.parametrize("fast", [0.4, 0.5, 0.8])
@pytest.mark.parametrize("lasts_s", [0.7, 1.2])
def test_a_step_without_time_for_its_way_is_no_faster_than_the_clips_feet(fast: float, lasts_s: float) -> None:
    """It stands in the middle clip so briefly that it can take no longer, and leaves where that one has it."""
    moved = [[(0.0, 3.0, 0.0)], [(3.0, 3.0 + lasts_s, 0.3)], [(3.0 + lasts_s, 7.0, 0.3)]]
    still = [[(0.0, 3.0, 0.0)], [(3.0, 3.0 + lasts_s, 0.0)], [(3.0 + lasts_s, 7.0, 0.0)]]
    (takes_s, start, stop), = ways(stepping(moved, still, fast=fast, edges_s=(0.0, 3.0, 3.0 + lasts_s, 7.0)), LEFT)
    assert PEAK * (stop - start) / (1.0 - 2.0 * STEP_WAIT) / takes_s <= fast * (1.0 + EXACT)
    assert 0.0 <= start <= BESIDE_LEGS and 0.3 - BESIDE_LEGS <= stop <= 0.3


def test_a_foot_stands_where_its_clip_has_it_where_there_is_time_or_nobody_moves() -> None:
    """Where the clips have feet stand still, any step is faster than these."""
    for fast, way in ((0.6, 0.2), (0.1, 0.25), (0.0, 0.6), (2.0, 0.7)):
        (_, start, stop), = ways(stepping([[(0.0, 3.0, 0.0)], [(3.0, 6.0, way)]], ALWAYS, fast=fast), LEFT)
        assert (start, stop) == pytest.approx((0.0, way))


def test_a_foot_that_is_wanted_far_away_stands_beside_that_at_most_as_far_as_legs_reach() -> None:
    moved = [(0.0, 3.0, 0.0)], [(3.0, 6.0, 1.2)]
    found = stepping(moved, moved, fast=0.36)
    for foot in (LEFT, RIGHT):
        (_, start, stop), = ways(found, foot)
        assert (start, 1.2 - stop) == pytest.approx((BESIDE_LEGS, BESIDE_LEGS), rel=0.01)


def test_the_foothold_that_is_held_for_a_shorter_time_gives_way() -> None:
    at, held_s = np.array((0.0, 1.0, 0.8)), np.array((9.0, 1.0, 9.0))
    once = Rounds.of(np.arange(3), np.ones(3, dtype=np.complex128), 1)
    found = shortened(at.astype(np.complex128), held_s, np.array((0.9, 0.3)), 1.0, once)
    np.testing.assert_allclose(found, (0.01, 0.91, 0.8), atol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_ways_become_as_short_as_they_should_be_and_others_no_longer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    at: ComplexArray = np.cumsum(0.3 * rng.normal(size=(40, 2)) @ np.array((1.0, 1j)))
    own = np.abs(np.diff(at))
    most = own - np.where(rng.random(39) < 0.3, rng.uniform(0.0, np.minimum(own, 0.08)), 0.0)
    found = shortened(at, rng.uniform(0.1, 3.0, 40), most, 1.0, Rounds.of(np.arange(40), np.ones(40, dtype=complex), 1))
    assert (np.abs(np.diff(found)) - most).max() < 0.01 and np.abs(found - at).max() <= BESIDE_LEGS + EXACT
    assert np.abs(np.diff(at)).max() > 0.0 and (own - most).max() > 0.05


@pytest.mark.parametrize("missing", [None, 0, 11])
def test_a_foot_stands_in_each_round_of_a_loop_where_it_does_in_the_others(missing: int | None) -> None:
    """The loop leads elsewhere, and turns; at the end of what is looked at a foothold may be missing."""
    rng = np.random.default_rng(7)
    once, turn = rng.random(4) + 1j * rng.random(4), np.exp(0.7j)
    turned = np.repeat(turn ** np.arange(-1, 2), 4)
    at = np.concatenate([2.0 * number + once * turn**number for number in range(-1, 2)])
    number = np.delete(np.arange(12), [] if missing is None else missing)
    rounds = Rounds.of(number, turned, 3)
    apart = np.abs(np.diff(at[number]))
    found = np.full(12, np.nan, dtype=complex)
    found[number] = shortened(at[number], rng.uniform(0.5, 2.0, 12)[number], 0.9 * apart, 1.0, rounds)
    beside = ((found - at) / turned).reshape(3, 4)
    known = ~np.isnan(beside)
    assert np.abs(beside[1]).max() > 0.01
    inner = found[number][4 - (missing == 0):8]
    assert (np.abs(np.diff(inner)) <= 0.9 * np.abs(np.diff(at[number][4 - (missing == 0):8])) + 0.01).all()
    np.testing.assert_allclose(beside[known], np.broadcast_to(beside[1], (3, 4))[known], atol=1e-12)
