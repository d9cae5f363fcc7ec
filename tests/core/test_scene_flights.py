"""Bodies whose feet have no contact, or none from some step on: they follow the floor below them on stairs."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.clips.contacts import FootContacts, foot_contacts
from takt.core.clips.in_place import travelling
from takt.core.library.clip_files import read_clip_file
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.programme import Programme, resolve
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import SceneFloor
from takt.core.playing.score import Settings, play
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips
from takt.tests.beside import real_file
from takt.tests.core.scene_rigs import FOUR, Rig
from takt.tests.core.scene_settings import FPS, gaps
from takt.tests.core.scores import library
from takt.tests.core.seeds import seeds
from takt.tests.core.stepping import running, walking

DEEP, HIGH, SUDDEN = 0.03, 0.08, 0.15
"""How deep soles are in the floor at most, beyond what they are on flat ground, and how far the body ends from as high
above the floor as there, in legs; the last one if the body passes a whole flight of stairs in one stride.
"""
STEPS: Final = {clip.name: clip for clip in build_clips("feet/Steps.skeleton.xml")}
UP: Final = np.array((0.0, 1.0, 0.0))


def flight(count: int, rise: float, tread: float, begin: float) -> SceneFloor:
    """Return stairs of so many steps between wide flat ground and a wide landing."""
    high = rise * np.arange(count + 1)
    at = np.concatenate(((-9.0,), begin + tread * np.arange(count), (begin + 30.0,)))
    corners = np.array([[(-9.0, y, a), (9.0, y, a), (9.0, y, b), (-9.0, y, b)]
                        for y, a, b in zip(high, at, at[1:], strict=False)])
    first = 4 * np.arange(len(high))[:, None]
    return SceneFloor(corners.reshape(-1, 3), np.concatenate([first + np.array(three)
                                                              for three in ((0, 1, 2), (0, 2, 3))]))


def without(clip: Clip, rng: np.random.Generator) -> Clip:
    """Return a clip that knows no contact of one foot, of both, or of any foot from some instant on."""
    known: Mapping[str, FootContacts] = clip.contacts or foot_contacts(clip, find_map(clip.skeleton), UP)
    sides, from_s = (("l",), ("r",), ("l", "r"), ("l", "r"))[kind := int(rng.integers(4))], 0.0
    if kind == 3:
        from_s = clip.duration_s * float(rng.uniform(0.2, 0.8))

    def left(spans: FloatArray) -> FloatArray:
        return np.asarray(spans[spans[:, 1] <= from_s])

    return replace(clip, contacts={side: FootContacts(left(each.heel), left(each.ball)) if side in sides else each
                                   for side, each in known.items()})


def programme(main: str, clips: tuple[Clip, ...], go: str = "") -> Programme:
    called = f'<procedure name="go">{go}</procedure>' if go else ""
    return resolve(parse('<pha version="2" tickLength="1"><load src="feet.Steps"/><role name="there" is="place"/>'
                         f'<role name="stage" is="floor"/>{called}<procedure name="main">{main}</procedure></pha>'),
                   library(feet_Steps=clips))


def ways(clips: tuple[Clip, ...], rig: Rig, rng: np.random.Generator) -> tuple[Motion, Motion, SceneFloor]:
    """Send a body over random stairs to the landing, and as far over flat ground."""
    count, rise = int(rng.integers(2, 12)), float(rng.uniform(0.1, 0.27) * rng.choice((-1.0, 1.0)))
    tread, begin = rng.uniform(0.3, 0.42), rng.uniform(0.5, 1.5)
    far = begin + tread * (count - 1) + rng.uniform(0.5, 2.5)
    stride = sum(travel(clip) for clip in clips)
    rounds = max(round(far / stride), 1)
    seconds = rounds * sum(clip.duration_s for clip in clips) / rng.uniform(0.7, 1.4)
    calls = "".join(f'<call name="{clip.name}" duration="{clip.duration_s}"/>' for clip in clips)
    score = programme(f'<call name="go" to="there" repeat="fit" duration="{seconds}"/>', clips, calls)
    stairs = flight(count, rise, tread, begin)
    floor = rig.floor(SceneFloor(rig.leg_m * stairs.points, stairs.triangles))
    cast = (("there", rig.place(rig.leg_m * np.array((0.0, 0.0, far)), np.array((0.0, 0.0, 1.0)))), ("stage", floor))
    over, plain = (play(score, Performer(rig.skeleton, rig.up, rig.turn), Settings(cast=each))
                   for each in (cast, cast[:1]))
    return over, plain, floor


def travel(clip: Clip) -> float:
    """Return how far hips go ahead, in legs of the clip's body, if the clip is sent somewhere."""
    clip = travelling(clip, find_map(clip.skeleton), UP) or clip
    joints, ends = find_map(clip.skeleton).joint_of, clip.sample(np.array((0.0, clip.duration_s)))
    rest = clip.skeleton.rest_world[[joints[f"l_{joint}"] for joint in ("hip", "knee", "ankle")], :, 3]
    way = np.diff(world_from_pose(clip.skeleton, ends)[:, joints["HumanoidRoot"], 2, 3])[0]
    return float(way / np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())


def check(over: Motion, plain: Motion, floor: SceneFloor, rig: Rig, high: float = HIGH) -> None:
    times = np.linspace(0.0, over.duration_s, round(over.duration_s * FPS) + 1)
    own, flat = gaps(over, floor, times) / rig.leg, gaps(plain, None, times) / rig.leg
    assert (own - np.minimum(flat, 0.0)).min() > -DEEP
    hips = [world_from_pose(rig.skeleton, motion.sample(times[-1:]))[0, rig.joint("HumanoidRoot"), :, 3] @ rig.up
            for motion in (over, plain)]
    landing = (floor.points @ rig.up)[-1]
    assert abs(hips[0] - hips[1] - landing) / rig.leg < high


@pytest.mark.parametrize("seed", seeds(120, quick=4))
def test_runs_whose_contacts_are_not_known_end_on_the_landing_and_go_through_no_step(seed: int) -> None:
    rng, rig = np.random.default_rng(seed), FOUR[seed % len(FOUR)]
    clips = ((STEPS["left_run"],), (STEPS["right_run"],), (STEPS["left_run"], STEPS["right_run"]),
             (running(rng.uniform(0.6, 1.0), rng.uniform(0.5, 0.8)),))[seed // len(FOUR) % 4]
    check(*ways(tuple(without(clip, rng) for clip in clips), rig, rng), rig)


@pytest.mark.parametrize("seed", seeds(16, quick=1))
def test_a_run_from_a_file_whose_feet_have_no_contact_ends_on_the_landing_and_goes_through_no_step(seed: int) -> None:
    """Its strides are nine legs long, and over a whole flight of stairs."""
    clips = read_clip_file(real_file("characters", "KayKit_Rogue_Hooded.glb")).clips
    clip = next(each for each in clips if each.name == "Running_A")
    rig = FOUR[seed % len(FOUR)]
    check(*ways((clip,), rig, np.random.default_rng(seed + 500)), rig, SUDDEN)


@pytest.mark.parametrize(("rise", "step_m", "is_told"), [
    (0.25, 1.1, True), (-0.25, 1.1, True), (0.25, 0.5, False), (-0.25, 0.5, False), (0.02, 1.1, False)])
def test_a_stride_over_so_many_stairs_that_the_body_must_crouch_is_told(rise: float, step_m: float,
                                                                        is_told: bool) -> None:
    rig, clip = FOUR[3], walking(0.0, step_m)
    floor = rig.floor(SceneFloor(rig.leg_m * (stairs := flight(12, rise, 0.36, 0.8)).points, stairs.triangles))
    motion = play(programme(f'<call name="{clip.name}" duration="{clip.duration_s}"/>', (clip,)),
                  Performer(rig.skeleton, rig.up, rig.turn), Settings(cast=(("stage", floor),)))
    found = [each for each in motion.problems if "crouches" in each.message]
    assert len(found) == is_told
    for each in found:
        crouch = re.search(r"at ([0-9.]+) s the body crouches by ([0-9.]+) m", each.message)
        assert crouch and each.is_missed and each.place.line is not None
        at_s = np.array((float(crouch[1]),))
        feet = motion.feet
        assert feet is not None
        ankles, hips = (feet.lock.limbs(motion.sample(at_s))[0][joint, :, 0, 2, 3] for joint in (2, 0))
        assert (hips - ankles).min() < rig.leg - float(crouch[2])
