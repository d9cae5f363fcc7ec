"""Heads that look at what plays a role, and hands that reach for it."""

import numpy as np
import pytest

from takt.core.errors import ScoreError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import Programme, resolve
from takt.core.pha.version_1 import as_version_1
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import Moving, ScenePlace, Target, Unfit
from takt.core.playing.scene.look import Neck
from takt.core.playing.scene.reach import Reaching
from takt.core.playing.scene.traveller import ahead_of
from takt.core.playing.scene.turned_chain import turns_of
from takt.core.playing.score import Settings, play
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import library
from takt.tests.core.seeds import seeds

BODY, UP, LEG_M = build_skeleton(), np.array((0.0, 1.0, 0.0)), 0.825
MAP = find_map(BODY)
CLIPS = library(gestures_Greetings=tuple(build_clips("gestures/Greetings.skeleton.xml")))
ROLES = ('<role name="her" is="person"/><role name="spot" is="place"/><role name="cup" is="prop"/>'
         '<role name="lane" is="path"/>')
HELLO = '<lane><call name="hello" duration="8"/></lane>'
LOOK = '<lane body="head"><wait duration="1"/><look at="her" duration="5"/><wait duration="2"/></lane>'
REACH = '<lane><wait duration="1"/><reach for="cup" with="{} hand" duration="2" hold="3"/><wait duration="2"/></lane>'
NEAR_RAD, FASTEST_RAD_PER_S, WITHIN_RAD = np.radians((5.0, 400.0, 70.0))
FPS = 30


def programme(*lanes: str, main: str = '<call name="all" duration="8"/>') -> Programme:
    text = (f'<pha version="2" tickLength="1"><load src="gestures.Greetings"/>{ROLES}<procedure name="all"><together>'
            f'{"".join(lanes)}</together></procedure><procedure name="main">{main}</procedure></pha>')
    return resolve(parse(text), CLIPS)


def played(score: Programme, **cast: tuple[float, float, float]) -> Motion:
    placed: dict[str, Target] = {name: ScenePlace(at, (0.0, 0.0, 1.0)) for name, at in cast.items()}
    return play(score, Performer(BODY, UP), Settings(cast=tuple(placed.items())))


def worlds(motion: Motion, times_s: FloatArray) -> FloatArray:
    return world_from_pose(BODY, motion.sample(times_s))


def off_rad(world: FloatArray, target: tuple[float, float, float]) -> FloatArray:
    """Return by how much heads face beside a target, (F,)."""
    neck = Neck.of(MAP, ahead_of(MAP, rot.IDENTITY))
    assert neck is not None
    head = world[:, neck.chain[-1]]
    way = np.array(target) - head[..., 3]
    cosines = np.einsum("fi,fi->f", rot.rotate(turns_of(head), neck.ahead), way / np.linalg.norm(way, axis=1)[:, None])
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)))


def palms(world: FloatArray, side: str) -> FloatArray:
    reaching = Reaching.of(MAP, side)
    assert reaching is not None
    return reaching.palms(world)


def chest_rad(world: FloatArray, target: tuple[float, float, float]) -> float:
    """Return how far beside the chest something is, at most."""
    return float(chests_rad(world, target).max())


def chests_rad(world: FloatArray, target: tuple[float, float, float]) -> FloatArray:
    """Return how far beside the chest something is, (F,)."""
    neck = Neck.of(MAP, ahead_of(MAP, rot.IDENTITY))
    assert neck is not None
    way = np.array(target) - world[:, neck.chain[-1], :, 3]
    front = rot.rotate(turns_of(world[:, neck.chest]), neck.chest_ahead)
    cosines = np.einsum("fi,fi->f", front, way / np.linalg.norm(way, axis=1)[:, None])
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)))


@pytest.mark.parametrize("seed", seeds(60, quick=4))
def test_a_head_looks_at_what_is_in_front_and_turns_there_without_haste(seed: int) -> None:
    rng = np.random.default_rng(seed)
    aside, far = rng.uniform(-1.4, 1.4), rng.uniform(0.8, 5.0)
    her = float(far * np.sin(aside)), float(rng.uniform(0.8, 2.2)), float(far * np.cos(aside))
    score = programme(HELLO, LOOK)
    motion, times = played(score, her=her), np.arange(0.0, 8.0, 1.0 / FPS)
    world, before = worlds(motion, times), worlds(played(score), times)
    looks = (times > 1.5) & (times < 5.9)
    if chest_rad(before[looks], her) < WITHIN_RAD:
        assert off_rad(world[looks], her).max() < NEAR_RAD
    head = MAP.joint_of["skullbase"]
    moved, own = (rot.angle_between(turns_of(each[1:, head]), turns_of(each[:-1, head])) * FPS
                  for each in (world, before))
    assert moved.max() < max(FASTEST_RAD_PER_S, 1.05 * own.max())
    np.testing.assert_allclose(world[times < 1.0], before[times < 1.0], atol=1e-12)
    np.testing.assert_allclose(world[times > 6.5], before[times > 6.5], atol=1e-12)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("seed", seeds(30, quick=2))
def test_a_hand_is_there_in_time_stays_and_goes_back(seed: int, side: str) -> None:
    rng = np.random.default_rng(seed)
    sign = 1.0 if side == "left" else -1.0
    cup = sign * float(rng.uniform(-0.1, 0.4)), float(rng.uniform(0.8, 1.5)), float(rng.uniform(0.2, 0.5))
    score, times = programme(HELLO, REACH.format(side)), np.arange(0.0, 8.0, 1.0 / FPS)
    motion = played(score, cup=cup)
    away = np.linalg.norm(palms(worlds(motion, times), side[0]) - cup, axis=1)
    assert away[(times >= 3.0) & (times <= 6.0)].max() < 0.01 * LEG_M
    assert not [problem for problem in motion.problems if "hand stays" in problem.message]
    other = palms(worlds(motion, times), "r" if side == "left" else "l")
    assert np.linalg.norm(other - cup, axis=1).min() > 0.02
    later = times[times > 6.6]
    np.testing.assert_allclose(worlds(motion, later), worlds(played(score), later), atol=1e-12)


def test_who_reaches_leans_where_the_arm_is_too_short_and_says_what_is_missing() -> None:
    times = np.array((4.0,))
    score = programme(HELLO, REACH.format("right"))
    near, far = ((-0.2, 1.0, z) for z in (0.75, 3.0))
    leans = worlds(played(score, cup=near), times)[0, MAP.joint_of["skullbase"], 2, 3]
    stands = worlds(played(score), times)[0, MAP.joint_of["skullbase"], 2, 3]
    assert leans > stands + 0.02
    (problem,) = [each for each in played(score, cup=far).problems if "m away from 'cup'" in each.message]
    assert problem.message.startswith("<reach> at 3.00 s the hand stays ") and problem.place.line == 1


def test_who_leans_to_reach_still_looks() -> None:
    her = 1.0, 1.5, 1.2
    motion = played(programme(HELLO, LOOK, REACH.format("right")), her=her, cup=(-0.2, 0.9, 0.7))
    assert off_rad(worlds(motion, np.linspace(3.0, 5.9, 20)), her).max() < NEAR_RAD


@pytest.mark.parametrize("seed", seeds(20, quick=2))
def test_who_looks_meanwhile_still_reaches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cup = -float(rng.uniform(-0.1, 0.4)), float(rng.uniform(0.8, 1.5)), float(rng.uniform(0.2, 0.5))
    aside = rng.uniform(-1.4, 1.4)
    motion = played(programme(HELLO, LOOK, REACH.format("right")), cup=cup,
                    her=(2.0 * float(np.sin(aside)), 1.5, 2.0 * float(np.cos(aside))))
    world = worlds(motion, np.linspace(3.0, 5.9, 20))
    assert np.linalg.norm(palms(world, "r") - cup, axis=1).max() < 0.01 * LEG_M


def test_a_place_and_a_prop_are_looked_at_too() -> None:
    for role in ("spot", "cup"):
        motion = played(programme(HELLO, LOOK.replace("her", role)), **{role: (0.8, 1.4, 1.5)})
        assert off_rad(worlds(motion, np.linspace(1.5, 5.9, 20)), (0.8, 1.4, 1.5)).max() < NEAR_RAD


def test_nobody_looks_behind() -> None:
    her = 0.0, 1.5, -3.0
    score, times = programme(HELLO, LOOK), np.linspace(0.0, 8.0, 97)
    one, other = (worlds(motion, times) for motion in (played(score, her=her), played(score)))
    neck = MAP.joint_of["skullbase"]
    assert rot.angle_between(turns_of(one[:, neck]), turns_of(other[:, neck])).max() < np.radians(30.0)


@pytest.mark.parametrize("seed", seeds(40, quick=6))
def test_a_head_turns_to_what_is_beside_as_far_as_it_goes_and_not_at_all_to_what_is_behind(seed: int) -> None:
    rng = np.random.default_rng(seed)
    aside, far = np.radians(rng.uniform(30.0, 180.0)) * rng.choice((-1.0, 1.0)), rng.uniform(1.0, 5.0)
    her = float(far * np.sin(aside)), float(rng.uniform(1.2, 1.7)), float(far * np.cos(aside))
    score, times = programme(HELLO, LOOK), np.arange(1.5, 5.9, 0.1)
    motion, own = played(score, her=her), played(score)
    world, before = worlds(motion, times), worlds(own, times)
    (low, middle, high), head = np.degrees(np.percentile(chests_rad(before, her), (0, 50, 100))), MAP.joint_of[
        "skullbase"]
    turned = np.degrees(rot.angle_between(turns_of(world[:, head]), turns_of(before[:, head])))
    told = [each for each in motion.problems if "more than a neck turns" in each.message]
    if low > 113.0:
        np.testing.assert_array_equal(world, before)
    elif high < 107.0:
        assert turned.min() > min(low, 80.0) - 35.0  # the clip turns the head, too
    if middle > 98.0 or middle < 92.0:
        assert len(told) == (middle > 98.0)
    for problem in told:
        assert problem.is_missed and not problem.is_note and problem.place.line == 1
        assert abs(float(problem.message.split("is ")[1].split("°")[0]) - middle) < 4.0


def test_a_head_turns_to_what_comes_from_behind_once_it_is_in_sight() -> None:
    matrices = np.tile(np.eye(4)[:3], (3, 1, 1))
    matrices[:, 0, 3], matrices[:, 2, 3] = (2.0, 2.0, 1.0), (-3.0, -3.0, 2.0)
    her = Moving(ScenePlace((0.0, 1.5, 0.0), (0.0, 0.0, 1.0)), np.array((0.0, 3.0, 4.0)), matrices)
    motion = play(programme(HELLO, LOOK), Performer(BODY, UP), Settings(cast=(("her", her),)))
    assert off_rad(worlds(motion, np.linspace(4.5, 5.9, 20)), (1.0, 1.5, 2.0)).max() < NEAR_RAD


def test_mirror_exchanges_the_hands() -> None:
    score = programme(HELLO, REACH.format("right"), main='<call name="all" duration="8" mirror="yes"/>')
    cup = 0.2, 1.1, 0.35
    assert np.linalg.norm(palms(worlds(played(score, cup=cup), np.array((4.0,))), "l")[0] - cup) < 0.01 * LEG_M


@pytest.mark.parametrize("lane", [LOOK, REACH.format("left")])
def test_nothing_cast_plays_bit_for_bit_as_a_rest(lane: str) -> None:
    times = np.linspace(0.0, 8.0, 97)
    rest = lane.split("<wait")[0] + '<wait duration="7"/></lane>'
    one, other = (played(programme(HELLO, each)).sample(times) for each in (lane, rest))
    np.testing.assert_array_equal(one.rotations, other.rotations)


@pytest.mark.parametrize(("lane", "message"), [
    ('<lane><look at="lane" duration="1"/></lane>', "is the path 'lane', expected a role that is a place, a prop or a "
     "person"),
    ('<lane><reach for="her" with="left hand" duration="1"/></lane>', "is the person 'her', expected a role that is a "
     "place or a prop"),
    ('<lane><reach for="cup" with="foot" duration="1"/></lane>', "expected left hand or right hand"),
    ('<lane><reach for="cup" duration="1"/></lane>', "<reach> with: found none"),
    ('<lane><look duration="1"/></lane>', "<look> at: found none"),
    ('<lane><look at="him" duration="1"/></lane>', "found the name 'him'"),
])
def test_what_does_not_fit_is_told(lane: str, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        expand(programme(HELLO, lane))


def test_version_1_has_no_aims() -> None:
    score = programme(HELLO, main='<call name="hello" duration="1"/><look at="her" duration="1"/>')
    with pytest.raises(ScoreError, match="<look>: found a rest, which version 1 does not have"):
        as_version_1(score, CLIPS)


def moving(of: ScenePlace, heads: bool, seconds: float = 8.0) -> Moving:
    """Return somebody who goes to the left, and nods, for as long."""
    times = np.linspace(0.0, seconds, 200)
    matrices = np.tile(np.eye(4)[:3], (len(times), 1, 1))
    matrices[:, 0, 3] = 0.2 * times
    up = np.stack((0.0 * times, 1.5 + 0.1 * np.sin(times), 0.0 * times), axis=1)
    return Moving(of, times, matrices, np.array(of.position) + matrices[:, :, 3] + up if heads else None)


@pytest.mark.parametrize("heads", [True, False])
def test_a_look_follows_what_moves_and_a_persons_head(heads: bool) -> None:
    her = moving(ScenePlace((-0.8, 0.0 if heads else 1.5, 2.0), (0.0, 0.0, -1.0)), heads)
    motion = play(programme(HELLO, LOOK), Performer(BODY, UP), Settings(cast=(("her", her),)))
    times = np.linspace(1.5, 5.9, 60)
    world = worlds(motion, times)
    for row, time_s in zip(world, times.tolist(), strict=True):
        height = 1.5 + 0.1 * np.sin(time_s) * heads
        assert off_rad(row[None], (-0.8 + 0.2 * time_s, height, 2.0))[0] < NEAR_RAD


def test_a_still_person_is_looked_at_in_the_head() -> None:
    her = ScenePlace((0.3, 0.0, 1.5), (0.0, 0.0, -1.0), head=(0.3, 1.6, 1.5))
    motion = play(programme(HELLO, LOOK), Performer(BODY, UP), Settings(cast=(("her", her),)))
    assert off_rad(worlds(motion, np.linspace(1.5, 5.9, 20)), (0.3, 1.6, 1.5)).max() < NEAR_RAD


def test_a_hand_follows_what_it_reaches_for() -> None:
    cup = moving(ScenePlace((-0.9, 1.1, 0.35), (0.0, 0.0, 1.0)), heads=False)
    motion = play(programme(HELLO, REACH.format("right")), Performer(BODY, UP), Settings(cast=(("cup", cup),)))
    times = np.linspace(3.0, 6.0, 60)
    there = np.array((-0.9, 1.1, 0.35)) + np.outer(0.2 * times, (1.0, 0.0, 0.0))
    assert np.linalg.norm(palms(worlds(motion, times), "r") - there, axis=1).max() < 0.01 * LEG_M


@pytest.mark.parametrize(("lane", "role"), [(LOOK, "her"), (REACH.format("left"), "cup")])
def test_what_cannot_be_aimed_at_is_told_with_the_reason(lane: str, role: str) -> None:
    unfit = Unfit("'Box' has a position that is not a number")
    motion = play(programme(HELLO, lane), Performer(BODY, UP), Settings(cast=((role, unfit),)))
    (problem,) = (each for each in motion.problems if not each.is_note)
    assert f"nothing can play the role '{role}': 'Box' has a position that is not" in problem.message
    assert problem.place.line == 1
