"""Clips that climb go on from where they ended, and what follows stands there; all others stay where they are."""

from collections.abc import Callable

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths.arrays import FloatArray, smoothstep
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.stepping import BODY, FPS, posed, times_of

UP = np.array((0.0, 1.0, 0.0))
HIPS, BALLS = ([BODY.index_of[f"{side}_{part}"] for side in "lr"] for part in ("hip", "metatarsal"))
RISE_M, RUN_M, LASTS_S = 0.4, 0.5, 1.6
NEAR_M, FITS_M = 0.02, 0.1


def climbing(name: str, rise_m: float, begins_m: float = 0.0) -> Clip:
    """Go up two stairs, or down, each foot on one of them, and bring the other beside it: it goes round."""
    times = times_of(LASTS_S)

    def foot(start_s: float) -> tuple[FloatArray, FloatArray]:
        share = smoothstep(times, start_s, start_s + 0.6)
        return RUN_M * share, begins_m + rise_m * share + 0.08 * np.sin(np.pi * share)

    ways = np.stack([np.stack(foot(start_s), axis=-1) for start_s in (0.1, 0.8)], axis=1)
    share = smoothstep(times, 0.2, 1.4)
    hips = np.stack((begins_m - 0.06 - 0.5 * abs(rise_m) * np.sin(np.pi * share) ** 2 * 0.5 + rise_m * share,
                     RUN_M * share), axis=1)
    return posed(name, times, hips, (ways, np.zeros((len(times), 2))))


def standing(name: str, high_m: Callable[[FloatArray], FloatArray] = np.zeros_like, low_m: float = 0.06) -> Clip:
    """Stay in one place, all of it so high at each instant."""
    times = times_of(LASTS_S)
    high = high_m(times)
    ways = np.stack((np.zeros((len(times), 2)), np.repeat(high[:, None], 2, axis=1)), axis=-1)
    hips = np.stack((high - low_m * smoothstep(times, 0.2, 1.0) - 0.03, 0.0 * times), axis=1)
    return posed(name, times, hips, (ways, np.zeros((len(times), 2))))


def played(clips: tuple[Clip, ...], *calls: str, **settings: object) -> Motion:
    lasting = [f'{call} duration="{LASTS_S}"' for call in calls]
    return play(programme(procedure("main", *lasting), clips=library(feet_Steps=clips)), Performer(BODY, UP),
                Settings(**settings))  # type: ignore[arg-type]


def heights(motion: Motion, joints: list[int]) -> FloatArray:
    """Return how high joints are as segments begin and end, (S + 1, 2), against rest."""
    times = np.linspace(0.0, motion.duration_s, round(motion.duration_s / LASTS_S) + 1)
    at = world_from_pose(BODY, motion.sample(times))[..., 3][:, joints] @ UP
    return np.asarray(at - BODY.rest_world[..., 3][joints] @ UP)


@pytest.mark.parametrize("rise_m", [RISE_M, -RISE_M])
@pytest.mark.parametrize("begins_m", [0.0, 0.3])
def test_stairs_that_are_repeated_go_on_and_what_follows_stands_there(rise_m: float, begins_m: float) -> None:
    clips = climbing("stairs", rise_m, begins_m), standing("stays")
    found = heights(played(clips, "stairs", "stairs", "stairs", "stays"), BALLS)
    expected = begins_m + rise_m * np.array((0.0, 1.0, 2.0, 3.0, 3.0))
    np.testing.assert_allclose(found, expected[:, None].repeat(2, axis=1), atol=NEAR_M)


def test_stairs_after_another_clip_begin_where_that_stands() -> None:
    clips = climbing("stairs", RISE_M, 0.3), standing("stays")
    found = heights(played(clips, "stays", "stairs", "stays", "stairs"), BALLS)
    np.testing.assert_allclose(found[:, 0], RISE_M * np.array((0.0, 0.0, 1.0, 1.0, 2.0)), atol=NEAR_M)


@pytest.mark.parametrize("mode", ["AS_AUTHORED", "IN_PLACE"])
def test_stairs_are_as_authored_where_clips_do_not_go_on(mode: str) -> None:
    clips = climbing("stairs", RISE_M), standing("stays")
    found = heights(played(clips, "stairs", "stairs", "stays", root_motion=mode, lock_feet=False), HIPS)
    assert found[-1] == pytest.approx(clips[1].sample(np.array((LASTS_S,))).translations[0, 0] @ UP, abs=NEAR_M)


@pytest.mark.parametrize("high_m", [
    lambda times: 0.4 * np.sin(np.pi * smoothstep(times, 0.4, 1.0)),  # a jump
    lambda times: 0.4 * smoothstep(times, 0.4, 0.9),  # onto a box
    lambda times: 0.4 * (1.0 - smoothstep(times, 0.0, 0.5)),  # comes down from the air
])
def test_who_jumps_or_comes_from_the_air_goes_on_from_the_ground_as_authored(
        high_m: Callable[[FloatArray], FloatArray]) -> None:
    clips = standing("jumps", high_m), standing("stays")
    assert np.abs(heights(played(clips, "jumps", "jumps", "stays"), BALLS)[-1]).max() < NEAR_M


def test_who_sits_down_is_not_taken_for_one_who_climbs() -> None:
    clips = standing("sits", low_m=0.6), standing("stays")
    assert np.abs(heights(played(clips, "sits", "sits", "stays"), BALLS)[-1]).max() < NEAR_M


def test_poses_between_are_continuous_over_stairs() -> None:
    motion = played((climbing("stairs", RISE_M),), "stairs", "stairs")
    at = world_from_pose(BODY, motion.sample(np.arange(0.0, motion.duration_s, 1.0 / FPS)))[..., 3][:, HIPS] @ UP
    assert np.abs(np.diff(at, axis=0)).max() < 3.0 * RISE_M / FPS


@pytest.mark.parametrize("fit", ["IN_PLACE", "SEARCH"])
@pytest.mark.parametrize("rise_m", [RISE_M, -RISE_M])
def test_stairs_that_fit_each_other_are_climbed_as_high_as_they_are_authored(fit: str, rise_m: float) -> None:
    clips = climbing("stairs", rise_m), standing("stays")
    motion = played(clips, "stairs", "stairs", "stairs", "stays", fit=fit)
    np.testing.assert_allclose(heights(motion, BALLS)[:4], rise_m * np.arange(4.0)[:, None].repeat(2, axis=1),
                               atol=FITS_M)
    at = world_from_pose(BODY, motion.sample(np.arange(0.0, motion.duration_s, 1.0 / FPS)))[..., 3][:, HIPS] @ UP
    assert (np.diff(at.mean(axis=1)) * np.sign(rise_m)).min() > -0.02
