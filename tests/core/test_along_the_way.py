"""Root motion along the way: where a clip goes sideways or backwards, the body turns, and the way goes straight on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.straying import ASTRAY_RAD, straying_rad
from takt.core.playing.why import straying
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.posture import measure_posture
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.core.test_fit import BODY, ROOT, danced

Y = np.array((0.0, 1.0, 0.0))
JOINT_OF = find_map(BODY).joint_of
EXACT_RAD = 1e-6
ways_rad = st.floats(-np.pi, np.pi)


def going(name: str, away_rad: float, facing_rad: float = 0.0, *, then_rad: float | None = None,
          speed: float = 1.0) -> Clip:
    """Make a clip that goes straight, so much to the left of where the body faces; from its middle on another way.

    facing_rad: where the file has the body.
    """
    times, turn = np.array((0.0, 0.5, 1.0)), rot.from_axis_angle(Y, facing_rad)
    ways = facing_rad + np.array((away_rad, away_rad if then_rad is None else then_rad))
    step = speed * 0.5 * np.column_stack((np.sin(ways), np.zeros(2), np.cos(ways)))
    shift = np.concatenate((np.zeros((1, 3)), np.cumsum(step, axis=0)))
    return Clip(name, BODY, 1.0, Tracks.uniform(np.array((ROOT,)), times, np.tile(turn, (3, 1, 1))),
                Tracks.uniform(np.array((ROOT,)), times, shift[:, None]), Tracks.empty(3))


def at(motion: Motion, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where the body faces at times (F,), and where it goes, both as angles over the ground."""
    world = world_from_pose(BODY, motion.sample(np.concatenate((times_s, times_s + 0.01))))[..., 3]
    posture = measure_posture(world[:len(times_s)], JOINT_OF)
    assert posture is not None
    way = np.diff(world[:, ROOT].reshape(2, -1, 3), axis=0)[0]
    return tuple(np.arctan2(each[:, 0], each[:, 2]) for each in (posture.axes[..., 2], way))  # type: ignore[return-value]


def apart(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return by how much angles differ, at most half a turn."""
    return np.asarray(np.abs(np.angle(np.exp(1j * (a - b)))))


@pytest.mark.slow
@given(st.lists(st.tuples(ways_rad, ways_rad, ways_rad), min_size=2, max_size=4), st.sampled_from(["LEAD", "END"]))
@settings(deadline=None, max_examples=25)
def test_the_way_goes_straight_on_and_the_body_turns(clips: list[tuple[float, float, float]], method: str) -> None:
    """Whatever way clips go, and wherever their files have them; what goes nearly ahead counts as ahead."""
    assume(all(abs(abs(way) - ASTRAY_RAD) > EXACT_RAD for *ways, _ in clips for way in ways))
    played = [going(str(number), begins, facing, then_rad=ends) for number, (begins, ends, facing) in enumerate(clips)]
    motion = danced(*played, root_motion="ALONG", method=method, transition='transition="0.2"', lock_feet=False)
    along = {}
    for at_end in (False, True):
        counts = np.array([straying_rad(clip, JOINT_OF, at_end=at_end) for clip in played])
        own = np.array([ways[at_end] for ways in clips])
        np.testing.assert_allclose(np.where(np.abs(own) < ASTRAY_RAD, 0.0, apart(counts, own)), 0.0, atol=EXACT_RAD)
        assert (counts[np.abs(own) < ASTRAY_RAD] == 0.0).all()
        facing, way = at(motion, motion.layout.begin_s + (0.7 if at_end else 0.3))
        np.testing.assert_allclose(apart(way - facing, own), 0.0, atol=EXACT_RAD)
        along[at_end] = facing + counts
    np.testing.assert_allclose(apart(along[True][:-1], along[False][1:]), 0.0, atol=EXACT_RAD)
    assert straying(motion, 1) == ""


@pytest.mark.parametrize("at_end", [False, True])
def test_who_leans_back_to_jump_ahead_does_not_go_back(at_end: bool) -> None:
    ahead_m = np.array((0.0, -0.15, 0.2, 0.6, 0.6)) if not at_end else np.array((0.0, 0.0, 0.4, 0.75, 0.6))
    shift = np.column_stack((np.zeros(5), np.zeros(5), ahead_m))
    jump = replace(going("jump", 0.0), duration_s=2.0,
                   translations=Tracks.uniform(np.array((ROOT,)), 0.5 * np.arange(5.0), shift[:, None]))
    assert straying_rad(jump, JOINT_OF, at_end=at_end) == 0.0
    back = replace(jump, translations=replace(jump.translations, values=-jump.translations.values))
    assert abs(straying_rad(back, JOINT_OF, at_end=at_end)) == pytest.approx(np.pi)


def test_sideways_steps_go_on_as_they_do_and_who_then_stands_looks_along() -> None:
    clips = going("side", np.pi / 2.0), going("again", np.pi / 2.0, 1.0), going("stands", 0.0, speed=0.0)
    facing, way = at(danced(*clips, root_motion="ALONG", lock_feet=False), np.array((0.5, 1.5, 2.5)))
    np.testing.assert_allclose(facing, (0.0, 0.0, np.pi / 2.0), atol=EXACT_RAD)
    np.testing.assert_allclose(way[:2], np.pi / 2.0, atol=EXACT_RAD)


@pytest.mark.parametrize("loop", [False, True])
def test_clips_that_go_ahead_play_as_in_continue(loop: bool) -> None:
    clips = going("a", 0.3, 1.0), going("b", -0.2), going("c", 0.0, speed=0.0)
    along, usual = (danced(*clips, root_motion=mode, loop=loop) for mode in ("ALONG", "CONTINUE"))
    times = np.linspace(0.0, usual.duration_s * 1.8, 50)
    a, b = along.sample(times), usual.sample(times)
    np.testing.assert_array_equal(a.rotations, b.rotations)
    np.testing.assert_array_equal(a.translations, b.translations)


def test_automatic_transitions_have_time_to_turn_the_body_and_search_sees_it_turn() -> None:
    ahead, back = going("ahead", 0.0), going("back", 0.9 * np.pi)
    along, usual = (danced(ahead, back, root_motion=mode, fit="SEARCH") for mode in ("ALONG", "CONTINUE"))
    assert along.transitions_s[0] > usual.transitions_s[0]
    assert along.cuts is not None and usual.cuts is not None
    assert along.cuts.authored[0] > usual.cuts.authored[0]
