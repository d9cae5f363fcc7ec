"""The scene's figures with random settings on four rigs that are made by rule: as many as TAKT_SCENE_SETTINGS says."""

import os
import re

import numpy as np
import pytest

from takt.tests.core.scene_figures import LIMITS, ROWS, to_place, too_much, way_to_place
from takt.tests.core.scene_rigs import FOUR
from takt.tests.core.scene_settings import played, rig_of
from takt.tests.core.seeds import part_of

SEEDS = range(int(os.environ.get("TAKT_SCENE_SETTINGS", "20")))


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
@pytest.mark.parametrize("row", ROWS)
def test_figures_hold(row: str, seed: int) -> None:
    assert not too_much({name: figure for name, figure in ROWS[row](seed).items() if name != "planted feet p90"})


@pytest.mark.parametrize("number", range(len(FOUR)))
def test_planted_feet_stay_on_the_way_to_places(number: int) -> None:
    found = [way_to_place(seed)[1] for seed in SEEDS if rig_of(seed) is FOUR[number]]
    assert np.percentile(np.concatenate(found), 90) <= LIMITS["planted feet p90"]


@pytest.mark.parametrize("seed", sorted({*SEEDS, 41}))  # the way of 41 turns sharply at both ends
def test_planted_feet_stay_on_each_way_however_sharply_it_turns(seed: int) -> None:
    assert to_place(seed)["planted feet p90"] <= LIMITS["planted feet p90"]


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_what_a_warning_says_would_do_does(seed: int) -> None:
    rig, rng = rig_of(seed), np.random.default_rng(seed + 7000)
    legs, angle, ahead = rng.uniform(0.2, 3.0), *rng.uniform(-np.pi, np.pi, 2)
    seconds, is_fit = float(rng.uniform(0.3, 4.0)), bool(rng.integers(3))

    def said(legs: float, seconds: float, *, is_fit: bool) -> list[str]:
        place = rig.place(legs * rig.leg_m * np.array((np.sin(angle), 0.0, np.cos(angle))),
                          np.array((np.sin(ahead), 0.0, np.cos(ahead))))
        fit = ' repeat="fit"' if is_fit else ""
        motion = played(rig, f'<call name="walk" to="seat" duration="{seconds}"{fit}/>', seat=place)
        return [problem.message for problem in motion.problems if "would do" in problem.message]

    for message in said(legs, seconds, is_fit=is_fit):
        if found := re.search(r"about ([0-9.]+) s in all", message):
            assert not said(legs, float(found[1]), is_fit=is_fit or "(repeat=" in message), message
        else:
            found = re.search(r"is ([0-9.]+) m long, .* one of about ([0-9.]+) m, in ([0-9.]+) s", message)
            assert found is not None, message
            assert not said(legs * float(found[2]) / float(found[1]), float(found[3]), is_fit=is_fit), message
