"""Sampling ahead: the same poses as without, in few calls while time goes evenly."""

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.playing.ahead import MOST_AHEAD, Ahead
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

    def _sample(self, motion: Playable, times_s: FloatArray) -> Pose:
        self.counts.append(len(times_s))
        return motion.sample(times_s)

    def look(self, motion: Playable, times_s: FloatArray) -> None:
        for time_s in times_s.tolist():
            pose, index = self.ahead.at(motion, time_s)
            assert abs(pose.translations[index, 0, 0] - time_s) <= 1e-9


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


def test_another_motion_has_instants_of_its_own() -> None:
    watching = Watching()
    first, second = Turning(), Turning()
    watching.look(first, np.arange(20) / 24.0)
    watching.look(second, np.arange(5, 20) / 24.0)
    watching.look(first, np.arange(20, 40) / 24.0)
