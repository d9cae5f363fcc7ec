"""How often a call is repeated whose way is to fit: steps stay about as long as the clip's, whatever the time."""

import numpy as np
import pytest

from takt.core.playing.scene.fitting import rounds_of
from takt.core.playing.scene.warping import PACES
from takt.samples.clips import LEFT_STEP
from takt.tests.core.scene_figures import LIMITS, strides
from takt.tests.core.seeds import part_of
from takt.tests.core.test_scene_seats import SEEDS
from takt.tests.core.test_scene_ways import PLACE, played


def test_steps_are_as_long_as_the_clips_whatever_the_time_and_as_quick_where_it_is_right() -> None:
    rounds, seconds = [], np.linspace(1.0, 30.0, 30)
    for lasts_s in seconds.tolist():
        motion = played(f'<call name="walk" to="seat" duration="{lasts_s}" repeat="fit"/>', cast={"seat": PLACE})
        rounds.append(len(motion.sequence) // 2)
        assert not [problem for problem in motion.problems if "times as long as its clip goes" in problem.message]
        hurries = [problem for problem in motion.problems if "times as long as its clip does" in problem.message]
        assert bool(hurries) != (PACES[0] <= lasts_s / (2.0 * rounds[-1] * LEFT_STEP[0]) <= PACES[1])
    assert (np.diff(rounds) >= 0).all() and len(set(rounds)) > 1


@pytest.mark.parametrize(("by_time", "by_way", "rounds"), [
    (2.0, 4.4, 4), (4.0, 4.4, 4), (9.0, 4.4, 5), (30.0, 4.4, 5), (1.0, 1.3, 1), (4.0, 1.3, 1), (1.0, 1.42, 2),
    (9.0, 0.3, 1), (0.1, 1.25, 1), (1e9, 1e9, 10_000), (4.0, 400.0, 40)])
def test_rounds_are_so_many_that_steps_are_in_bounds_and_else_the_nearest(by_time: float, by_way: float,
                                                                          rounds: int) -> None:
    assert rounds_of(by_time, by_way) == rounds


@pytest.mark.parametrize("seed", part_of(SEEDS, 5))
def test_strides_are_in_bounds_and_nobody_walks_with_both_knees_bent_in_any_time(seed: int) -> None:
    assert not [name for name, figure in strides(seed).items() if figure > LIMITS[name]]
