"""Gaits in place that travel: how far they go, and when their feet are in contact then, also on stairs."""

from dataclasses import replace
from typing import Final

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.clips.contacts import foot_contacts
from takt.core.clips.in_place import travelling
from takt.core.library.clip_files import read_clip_file
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.pha.document import parse
from takt.core.pha.programme import resolve
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import ScenePlace
from takt.core.playing.score import Settings, play
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips
from takt.tests.beside import real_file
from takt.tests.core.scene_floors import stairs
from takt.tests.core.scene_settings import gaps, held
from takt.tests.core.scores import library
from takt.tests.core.seeds import seeds
from takt.tests.core.stepping import BODY, running, walking
from takt.tests.core.test_knees import STANCE, quick, suddenness

UP, LEG_M, FPS = np.array((0.0, 1.0, 0.0)), 0.825, 60.0
MAP = find_map(BODY)
MISSED, TOO_LONG = 0.2, 0.02
"""Of the time in which feet stand: for so much no contact is found, and for so much when they do not."""
OPEN: Final = 0.25
"""Of the time in which feet of clips that go are found in contact: contacts may last longer than those are sure."""
FAR: Final = 0.1
"""Against the way of the clip that goes: the belt may move at its ends, and feet of a run land and leave slowly."""
NEAR_LEGS, SOFTER = 0.01, 1.2


def in_place(clip: Clip, uneven: float = 0.0, sways: float = 0.0, every_s: float = 0.6) -> Clip:
    """Return a clip without its travel, on a belt that runs unevenly and goes to the sides: in leg lengths a second."""
    times_s, path = clip.translations.times_s, clip.translations.values.copy()
    path[:, 2] -= np.linspace(path[0, 2], path[-1, 2], len(path))
    turns = 2.0 * np.pi / every_s
    for axis, speed in ((2, uneven), (0, sways)):
        path[:, axis] += speed * LEG_M / turns * np.sin(turns * times_s)
    return replace(clip, contacts=None, translations=replace(clip.translations, values=path))


def sent(clip: Clip) -> Clip:
    found = travelling(clip, MAP, UP)
    assert found is not None
    return found


def stands(clip: Clip, side: str, times_s: FloatArray) -> BoolArray:
    """Return when a foot is in contact, (F,): as the clip says, or else as it is found."""
    spans = (clip.contacts or foot_contacts(clip, MAP, UP))[side].stands
    return np.asarray(((times_s >= spans[:, :1]) & (times_s <= spans[:, 1:])).any(axis=0))


def goes(clip: Clip) -> float:
    """Return how far hips go forward."""
    return float(np.diff(world_from_pose(BODY, clip.sample(np.array((0.0, clip.duration_s))))[:, 0, 2, 3])[0])


@pytest.mark.parametrize("seed", seeds(200, quick=8))
def test_quick_walks_on_a_belt_go_as_far_as_they_went_and_stand_where_they_stood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    clip = quick("walk", rng)
    made = sent(in_place(clip, *rng.uniform(0.0, 0.3, 2)))
    times = np.linspace(0.0, clip.duration_s, 500)
    for side in "lr":
        found, known = stands(made, side, times), stands(clip, side, times)
        assert (known & ~found).sum() < MISSED * known.sum() and (found & ~known).sum() <= TOO_LONG * known.sum()
    assert abs(goes(made) - goes(clip)) < FAR * goes(clip)


@pytest.mark.parametrize("clip", [walking(), walking(0.0), running()], ids=["heel to toe", "flat feet", "run"])
def test_feet_of_gaits_in_place_are_in_contact_as_long_as_those_of_gaits_that_go(clip: Clip) -> None:
    made, times = sent(in_place(clip)), np.linspace(0.0, clip.duration_s, 500)
    for side in "lr":
        found, known = stands(made, side, times), stands(clip, side, times)
        assert (known & ~found).sum() < MISSED * known.sum() and (found & ~known).sum() < OPEN * known.sum()
    assert abs(goes(made) - goes(clip)) < FAR * goes(clip)


def played(clip: Clip, floor: bool) -> Motion:
    text = ('<pha version="2" tickLength="1"><load src="feet.Steps"/><role name="seat" is="place"/>'
            f'<role name="stage" is="floor"/><procedure name="main"><call name="{clip.name}" to="seat" repeat="3" '
            f'duration="{clip.duration_s}"/></procedure></pha>')
    cast = (("seat", ScenePlace((0.0, 0.0, 3.0 * goes(travelling(clip, MAP, UP) or clip)), (0.0, 0.0, 1.0))),
            *((("stage", STAIRS),) if floor else ()))
    return play(resolve(parse(text), library(feet_Steps=(clip,))), Performer(BODY, UP), Settings(cast=cast))


def test_a_gait_in_place_travels_outside_of_lanes_and_in_them_a_warning_says_so() -> None:
    walk, waving = quick("walk", np.random.default_rng(1)), build_clips("gestures/Greetings.skeleton.xml")[1]
    call, still = '<call name="go" to="there" duration="4"/>', '<call name="still" duration="4"/>'
    moves = waving.translations.values
    fixed = replace(waving.translations, values=moves[:1].repeat(len(moves), axis=0))
    clips = library(feet_Steps=(replace(in_place(walk), name="go"),
                                replace(waving, name="still", translations=fixed, contacts=None)))
    said = []
    for text in (call, f'<together><lane>{call}</lane><lane body="left_arm">{still}</lane></together>', still.replace(
            'duration="4"', 'to="there" duration="4"')):
        score = (f'<pha version="2" tickLength="1"><load src="feet.Steps"/><role name="there" is="place"/>'
                 f'<procedure name="main">{text}</procedure></pha>')
        motion = play(resolve(parse(score), clips), Performer(BODY, UP), Settings(cast=(
            ("there", ScenePlace((0.0, 0.0, 3.0), (0.0, 0.0, 1.0))),)))
        said.append([each.message for each in motion.problems if "stays where it is" in each.message])
    why = "the clip stays where it is, so it cannot lead to 'there': call"
    assert said == [[], [f"<call> in a lane {why} it outside of lanes, or call one that travels"],
                    [f"<call> {why} one that travels"]]


STAIRS = stairs(np.full(60, 0.15), 0.32)


@pytest.mark.parametrize("seed", seeds(40, quick=2))
def test_feet_of_walks_in_place_that_are_sent_up_stairs_stand_on_treads(seed: int) -> None:
    clip = in_place(quick("walk", np.random.default_rng(seed)))
    motion, flat = played(clip, floor=True), played(clip, floor=False)
    times = np.arange(0.0, motion.duration_s, 1.0 / FPS)
    own, before, on = gaps(motion, STAIRS, times), gaps(flat, None, times), held(motion, times)
    assert (on.mean(axis=1) > (1.0 - 2.0 * MISSED) * STANCE).all()
    assert np.abs(own - before)[on].max() < NEAR_LEGS * LEG_M
    assert own.min() > min(before.min(), 0.0) - NEAR_LEGS * LEG_M


@pytest.mark.parametrize("seed", seeds(40, quick=3))
def test_knees_of_walks_in_place_turn_hardly_more_suddenly_than_those_of_walks_that_go(seed: int) -> None:
    clip = replace(quick("walk", np.random.default_rng(seed)), contacts=None)
    assert suddenness(played(in_place(clip), floor=False)) <= SOFTER * suddenness(played(clip, floor=False))


@pytest.mark.parametrize("name", ["Walking_A", "Walking_B", "Walking_C", "Walking_Backwards"])
def test_both_feet_of_a_walk_in_place_from_a_file_are_in_contact(name: str) -> None:
    """Its feet land faster than they slide then, so only a part of the time is sure."""
    clips = read_clip_file(real_file("characters", "KayKit_Rogue_Hooded.glb")).clips
    clip = next(each for each in clips if each.name == name)
    body = find_map(clip.skeleton)
    made = travelling(clip, body, UP)
    assert made is not None
    found = foot_contacts(made, body, UP)
    share = [np.diff(found[side].stands, axis=1).sum() / clip.duration_s for side in "lr"]
    assert min(share) > 0.2 and max(share) < 0.6 and abs(share[0] - share[1]) < 0.05


def test_gaits_that_travel_by_themselves_and_feet_that_shuffle_stay_as_they_are() -> None:
    assert travelling(walking(), MAP, UP) is None
    shifted = in_place(walking(), uneven=1.0)
    at_rest = np.tile((1.0, 0.0, 0.0, 0.0), (len(shifted.rotations.values), 1))
    assert travelling(replace(shifted, rotations=replace(shifted.rotations, values=at_rest)), MAP, UP) is None
