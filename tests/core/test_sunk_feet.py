"""Feet that a clip has in the ground are lifted onto it by their legs, where feet are to stand."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths.arrays import FloatArray
from takt.core.playing.feet.rises import KNOT_S, LANDS_LEGS_PER_S2, Rises, knots_of
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.test_steps import BODY, EXACT_M, LEG_M, SUNK_LEGS, UP, feet, standing

TIMES = np.linspace(0.0, 4.0, 961)
CALM_LEGS_PER_S = 0.5
SUNK_LEGS_AT_REST = 0.01
"""So deep soles give way as they stand."""
HOP_LEGS, HOP_S, HOP_DEEP_LEGS = 0.3, 0.5, 0.06
MOST_LEGS_PER_S2 = 2.0 * LANDS_LEGS_PER_S2
"""So hard a foot is stopped at most; one that is stopped at the ground alone, by far more."""
ROUNDED_LEGS = 1e-3
"""Splines round off what turns at knots."""


def sunk(name: str, legs: float) -> Clip:
    """Stand so deep in the ground."""
    clip = standing(name, 0.0)
    moves = clip.translations.values - legs * LEG_M * UP
    return replace(clip, translations=replace(clip.translations, values=moves))


def danced(first: Clip, second: Clip, **settings: object) -> Motion:
    chosen = replace(Settings(root_motion="AS_AUTHORED"), **settings)  # type: ignore[arg-type]
    score = programme(procedure("main", *(f'{clip.name} duration="2"' for clip in (first, second))),
                      clips=library(feet_Steps=(first, second)))
    return play(score, Performer(BODY, UP), chosen)


def heights(motion: Motion) -> FloatArray:
    return np.asarray(feet(motion, TIMES)[..., 1])


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("legs", [0.02, 0.04, 0.1])
def test_feet_in_the_ground_are_lifted_onto_it_and_the_body_stays(legs: float, is_cut: bool) -> None:
    clips = sunk("here", 0.0), sunk("there", legs)
    played, authored = (danced(*clips, lock_feet=lock, transitions=not is_cut) for lock in (True, False))
    found = heights(played)
    assert found.min() >= -SUNK_LEGS and heights(authored).min() == pytest.approx(-legs)
    assert is_cut or np.abs(np.diff(found, axis=0)).max() < CALM_LEGS_PER_S * (TIMES[1] - TIMES[0])
    here, there = (motion.sample(TIMES).translations[:, 0] for motion in (played, authored))
    np.testing.assert_allclose(here, there, atol=EXACT_M)


@pytest.mark.parametrize("legs", [0.005, 0.25])
def test_what_is_nothing_or_another_ground_is_left_alone(legs: float) -> None:
    """A clip that is deeper than half a step of stairs means to be there."""
    played, authored = (danced(sunk("here", legs), sunk("there", legs), lock_feet=lock) for lock in (True, False))
    np.testing.assert_allclose(heights(played), heights(authored), atol=1e-6)


def test_a_frame_alone_is_what_it_is_among_others_in_the_ground() -> None:
    motion, times = danced(sunk("here", 0.0), sunk("there", 0.06)), np.linspace(0.0, 4.0, 41)
    together = motion.sample(times)
    for i in np.random.default_rng(4).permutation(41)[:15].tolist():
        np.testing.assert_allclose(motion.sample(times[i:i + 1]).rotations[0], together.rotations[i], atol=1e-9)


def hopping() -> Clip:
    """Hop in place with stiff legs, and come down into the ground each time."""
    times = np.linspace(0.0, 2.0, 401)
    high = HOP_LEGS * np.abs(np.sin(np.pi * times / HOP_S)) - HOP_DEEP_LEGS
    moves = high[:, None, None] * LEG_M * UP
    return replace(standing("there", 0.0), translations=Tracks.uniform(np.array((0,)), times, moves))


def test_feet_that_come_down_fast_rise_before_they_are_in_the_ground() -> None:
    clips, times = (sunk("here", 0.0), hopping()), np.arange(2.5, 3.5, 1.0 / 120.0)
    played, authored = (feet(danced(*clips, lock_feet=lock, transitions=False), times)[..., 1]
                        for lock in (True, False))
    assert authored.min() < -0.9 * HOP_DEEP_LEGS and played.min() >= -SUNK_LEGS
    assert np.diff(played, 2, axis=0).max() * 120.0**2 < MOST_LEGS_PER_S2


def test_a_foot_rises_as_far_as_it_is_deep_and_not_where_it_is_not() -> None:
    rng, times = np.random.default_rng(3), np.linspace(0.0, 240.0 * KNOT_S, 241)
    for _ in range(20):
        high = np.where(rng.random(len(times)) < 0.02, -rng.random(len(times)), 1.0)
        knots = [knots_of(each, times[:len(each)], LEG_M)[:, None] for each in (np.ones(3), high)]
        found = Rises.of(knots).at(np.ones(len(times), dtype=np.int64), times)[:, 0]
        soon_s = np.sqrt(2.0 / (LANDS_LEGS_PER_S2 * LEG_M)) + 2.0 * KNOT_S
        away = np.abs(times[:, None] - times[high < 0.0]).min(axis=1, initial=np.inf)
        assert (knots[1][1:-1, 0] >= -high).all()
        assert not found[away > soon_s].any() and found.min() >= -EXACT_M


def squatting(begin_s: float) -> Clip:
    """Stand, and go down into the ground from an instant on, all at once."""
    times = np.linspace(0.0, 2.0, 121)
    deep = HOP_DEEP_LEGS * np.sin(np.pi * np.clip((times - begin_s) / (2.0 - begin_s), 0.0, 1.0))
    moves = -deep[:, None, None] * LEG_M * UP
    return replace(standing("there", 0.0), translations=Tracks.uniform(np.array((0,)), times, moves))


@pytest.mark.parametrize("begin_s", [0.0, 0.5])
def test_feet_that_go_down_from_the_ground_stay_on_it_and_are_not_above_it_before(begin_s: float) -> None:
    found = heights(danced(sunk("here", 0.0), squatting(begin_s), transitions=False))[TIMES >= 2.0]
    assert found.min() >= -SUNK_LEGS and found.max() < ROUNDED_LEGS


@pytest.mark.parametrize("is_cut", [False, True])
def test_how_far_feet_rise_goes_over_into_the_next_clip_also_over_the_seam_of_a_loop(is_cut: bool) -> None:
    found = danced(sunk("here", 0.02), sunk("there", 0.06), loop=True, transitions=not is_cut).feet
    assert found is not None
    times = np.linspace(0.0, 4.0, 4001)[:-1]
    risen = found.footwork._rise(times, found.row.segment_at(times)) / LEG_M + SUNK_LEGS_AT_REST
    np.testing.assert_allclose(risen[:, [1000, 3000]], [[0.02, 0.06]] * 2, atol=EXACT_M)
    goes = np.abs(np.diff(np.append(risen, risen[:, :1], axis=1), axis=1)).max()
    assert goes > 0.03 if is_cut else goes < 1e-3
