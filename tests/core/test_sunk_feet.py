"""Feet that a clip has in the ground are lifted onto it by their legs, where feet are to stand."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.score import Settings, play
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.test_steps import BODY, EXACT_M, LEG_M, SUNK_LEGS, UP, feet, standing

TIMES = np.linspace(0.0, 4.0, 961)
CALM_LEGS_PER_S = 0.5


def sunk(name: str, legs: float) -> Clip:
    """Stand so deep in the ground."""
    clip = standing(name, 0.0)
    moves = clip.translations.values - legs * LEG_M * UP
    return replace(clip, translations=replace(clip.translations, values=moves))


def danced(first: Clip, second: Clip, **settings: object) -> Motion:
    chosen = replace(Settings(root_motion="AS_AUTHORED"), **settings)  # type: ignore[arg-type]
    score = programme(procedure("main", *(f'{clip.name} duration="2"' for clip in (first, second))),
                      clips=library(feet_Steps=(first, second)))
    return play(score, BODY, chosen, turn=rot.IDENTITY, up=UP)


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
