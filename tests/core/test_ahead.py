"""Sampling ahead: the same poses as without, in few calls while time goes evenly."""

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.playing.ahead import AT_ONCE, MOST_AHEAD, Ahead, Sampled
from takt.core.playing.stage import Playable
from takt.core.skeletons.skeleton import Pose

from .scores import FIGURE


class Turning:
    """Moves a joint by the time itself."""

    skeleton, duration_s, moved = FIGURE, 100.0, np.ones(len(FIGURE), dtype=np.bool_)

    def sample(self, times_s: FloatArray) -> Pose:
        pose = Pose.rest(FIGURE, len(times_s))
        pose.translations[:, 0, 0] = times_s
        return pose


class Watching:
    """Asks for one instant after another, and notes how many were sampled at once."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.ahead = Ahead(self._sample)

    def _sample(self, motion: Playable, times_s: FloatArray) -> FloatArray:
        self.counts.append(len(times_s))
        return motion.sample(times_s).translations[:, 0, 0]

    def look(self, motion: Playable, times_s: FloatArray) -> None:
        """Ask for times (F,), or for several at once, (F, N)."""
        for instants in times_s.reshape(len(times_s), -1):
            np.testing.assert_allclose(given(self.ahead.at(motion, instants)), instants, atol=2e-8)


def given(found: list[Sampled] | None) -> FloatArray:
    """Return the instants of which something was given."""
    assert found is not None
    return np.array(found, dtype=np.float64)


@pytest.mark.parametrize("times_s", [
    np.arange(200) / 24.0, 80.0 - np.arange(200) / 24.0, np.random.default_rng(1).uniform(0.0, 100.0, 200),
    np.cumsum(np.random.default_rng(2).integers(1, 4, 200)) / 24.0, np.arange(200) * 1.0, np.full(200, 3.0),
    np.concatenate((np.arange(50), np.arange(50), np.arange(50, 0, -1))) / 30.0])
def test_finds_the_very_instant_that_is_asked_for(times_s: FloatArray) -> None:
    Watching().look(Turning(), times_s)


def test_looks_ahead_while_time_goes_evenly() -> None:
    watching = Watching()
    watching.look(Turning(), np.arange(10 * MOST_AHEAD) / 24.0)
    assert len(watching.counts) <= 14
    assert max(watching.counts) == MOST_AHEAD


def test_looks_no_farther_than_asked_while_time_jumps() -> None:
    watching = Watching()
    watching.look(Turning(), np.random.default_rng(3).uniform(0.0, 100.0, 100))
    assert set(watching.counts) == {1}


@pytest.mark.slow
def test_many_that_begin_at_once_sample_ahead_in_turn() -> None:
    watching, crowd = Watching(), [Turning() for _ in range(50)]
    per_drawing = []
    for time_s in (np.arange(4 * MOST_AHEAD) / 24.0).tolist():
        before = len(watching.counts)
        for motion in crowd:
            watching.look(motion, np.array((time_s,)))
        per_drawing.append(sum(watching.counts[before:]))
    later = per_drawing[MOST_AHEAD:]
    assert max(later) <= 4 * MOST_AHEAD
    assert np.mean(later) == pytest.approx(len(crowd), rel=0.1)


def test_what_was_seen_is_not_sampled_again() -> None:
    watching, turning = Watching(), Turning()
    watching.look(turning, np.arange(100) / 24.0)
    before = len(watching.counts)
    watching.look(turning, np.arange(100)[::-1] / 24.0)
    watching.look(turning, np.random.default_rng(4).integers(0, 100, (30, 5)) / 24.0)
    assert len(watching.counts) == before


def test_many_who_play_one_motion_are_sampled_together() -> None:
    watching, phases = Watching(), np.random.default_rng(5).uniform(0.0, 50.0, 50)
    watching.look(Turning(), np.arange(100)[:, None] / 24.0 + phases)
    assert sum(watching.counts) <= 50 * 105
    assert len(watching.counts) <= 100 // 3


def test_in_a_line_one_goes_where_another_was() -> None:
    watching = Watching()
    watching.look(Turning(), (np.arange(300)[:, None] + 2 * np.arange(50)) / 24.0)
    assert sum(watching.counts) <= 300 + 100 + 2 * MOST_AHEAD


def test_another_viewport_asks_for_the_same_again() -> None:
    watching = Watching()
    watching.look(Turning(), np.repeat(np.arange(200) / 24.0, 2))
    assert len(watching.counts) <= 10


def test_without_time_what_is_known_is_given_alone() -> None:
    watching, turning, now, later = Watching(), Turning(), np.array((1.0, 2.0)), np.array((3.0, 4.0))
    assert watching.ahead.at(turning, now, may_sample=False) is None
    assert watching.ahead.shown(turning, 2) is None
    watching.look(turning, now[None])
    assert watching.ahead.at(turning, later, may_sample=False) is None
    assert given(watching.ahead.shown(turning, 2)).tolist() == [1.0, 2.0]
    assert watching.ahead.shown(turning, 3) is None
    assert given(watching.ahead.at(turning, now, may_sample=False)).tolist() == [1.0, 2.0]
    assert watching.counts == [2]


def test_what_is_prepared_is_not_sampled_when_it_is_asked_for() -> None:
    watching, turning, times_s = Watching(), Turning(), np.arange(2 * AT_ONCE + 10) / 24.0
    watching.look(turning, times_s[:1])
    calls = 1
    while not watching.ahead.prepare(turning, times_s):
        calls += 1
    assert calls == 3 and sum(watching.counts) == len(times_s)  # in portions, and none twice
    before = list(watching.counts)
    watching.look(turning, times_s)
    assert watching.ahead.prepare(turning, times_s) and watching.counts == before


def test_what_is_prepared_leaves_room_for_what_is_drawn() -> None:
    watching, turning = Watching(), Turning()
    watching.ahead.most_kept = 1000 * 8
    while not watching.ahead.prepare(turning, np.arange(5000) / 24.0):
        pass
    assert 500 <= len(watching.ahead._watched[turning].known) <= 750


def test_keeps_no_more_than_it_may() -> None:
    watching, turning = Watching(), Turning()
    watching.ahead.most_kept = 100 * 8
    for round_number in range(3):
        watching.look(turning, np.arange(1000)[:, None] / 24.0 + round_number)
        known = watching.ahead._watched[turning].known
        assert len(known) <= 100 + MOST_AHEAD


def test_another_motion_has_instants_of_its_own() -> None:
    watching = Watching()
    first, second = Turning(), Turning()
    watching.look(first, np.arange(20) / 24.0)
    watching.look(second, np.arange(5, 20) / 24.0)
    watching.look(first, np.arange(20, 40) / 24.0)
