"""Who sits or lies on the ground in a clip does so on any body: its legs do not hold its seat or back in the air."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, smoothstep
from takt.core.retargeting.ground.bearing_trunk import of_trunk
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.core.skeletons.skin_sample import SkinSample
from takt.tests.core.rigs import standing_at
from takt.tests.core.seeds import few
from takt.tests.core.stepping import ACROSS, BODY, posed, times_of

UP = np.array((0.0, 1.0, 0.0))
SITS_S, LIES_S, RISES_S = (0.5, 1.4), (0.5, 1.2), 0.3
ON_GROUND, BELOW, IN_THE_AIR = 0.012, -0.02, 0.1
"""Of the leg."""
NEARLY_M = 0.05
"""The root of a tail is part of the body."""
THIN_M, THICK_M = 0.1, 0.28
SEAT_M = np.array((0.0, -0.05, -0.12))
FEET = ("ankle", "metatarsal")


def scaled(longer: dict[str, float]) -> Skeleton:
    """Return the sample character standing on legs of which some joints are farther from their parents."""
    offsets = BODY.rest_translations.copy()
    for name, factor in longer.items():
        for side in "lr":
            offsets[BODY.index_of[f"{side}_{name}"]] *= factor
    made = Skeleton.from_arrays(BODY.names, BODY.parents, BODY.rest_rotations, offsets)
    sunk = [each.rest_world[each.index_of["l_ankle"], 1, 3] for each in (BODY, made)]
    offsets[0] += (sunk[0] - sunk[1]) * UP
    return Skeleton.from_arrays(BODY.names, BODY.parents, BODY.rest_rotations, offsets)


def skin_of(skeleton: Skeleton, trunk_m: float) -> SkinPoints:
    """Return balls about all joints: of the trunk so thick, and of feet as low as the ground."""
    rng, own = np.random.default_rng(0), np.repeat(np.arange(len(skeleton)), 150)
    thick = np.full(len(skeleton), 0.05)
    for name in ("HumanoidRoot", "sacroiliac", "vl5", "vl3", "vl1", "vt10", "vt6", "vt3", "l_hip", "r_hip"):
        thick[skeleton.index_of[name]] = trunk_m
    for side in "lr":
        for name in FEET:
            joint = skeleton.index_of[f"{side}_{name}"]
            thick[joint] = skeleton.rest_world[joint, 1, 3]
    away = rng.normal(size=(len(own), 3))
    away *= (thick[own] / np.linalg.norm(away, axis=1))[:, None]
    return SkinPoints(skeleton.rest_world[own, :, 3] + away, own[:, None], np.ones((len(own), 1)))


def sitting_down() -> Clip:
    """Stand, sit down on the floor behind the feet, which stay, and sit there, arms ahead."""
    times = times_of(2.5)
    share = smoothstep(times, *SITS_S)
    clip = posed("sits", times, share[:, None] * (-0.78, -0.5), (np.zeros((len(times), 2, 2)),
                                                                np.zeros((len(times), 2))))
    pose = clip.sample(times)
    for side in "lr":
        pose.rotations[:, BODY.index_of[f"{side}_shoulder"]] = rot.from_axis_angle(ACROSS, np.array(-0.5 * np.pi))
    return replace(clip, rotations=Tracks.uniform(np.arange(len(BODY)), times, pose.rotations))


def lying_down(trunk_m: float, span_s: tuple[float, float] = LIES_S) -> Clip:
    """Fall onto a back that is so thick, with straight legs, heels on the ground; the skin is known."""
    times, joints = times_of(2.5), BODY.index_of
    hip, ankle = (BODY.rest_world[joints[f"l_{name}"], :, 3] for name in ("hip", "ankle"))
    sloped = np.arcsin((trunk_m - 0.05) / np.linalg.norm(hip - ankle))
    share, pose = smoothstep(times, *span_s), Pose.rest(BODY, len(times))
    pose.rotations[:, 0] = rot.from_axis_angle(ACROSS, -0.5 * np.pi * share)
    for side in "lr":
        pose.rotations[:, joints[f"{side}_hip"]] = rot.from_axis_angle(ACROSS, sloped * share)
    long = BODY.rest_world[0, 1, 3] - ankle[1]
    high = long * np.cos((0.5 * np.pi - sloped) * share) + ankle[1]
    pose.translations[:, 0] = (high + share * (trunk_m - high[-1]) - BODY.rest_world[0, 1, 3])[:, None] * UP
    skin = skin_of(BODY, trunk_m)
    return Clip("falls", BODY, 2.5, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3),
                skin=SkinSample.at_rest(BODY, skin.joints[:, 0], skin.positions))


def with_seat_of_thighs(skeleton: Skeleton) -> SkinPoints:
    """Return the skin of a slim body whose seat is behind its hips, and moved by its thighs."""
    skin = skin_of(skeleton, THIN_M)
    of_thighs = np.isin(skin.joints[:, 0], [skeleton.index_of[f"{side}_hip"] for side in "lr"])
    hips = skeleton.rest_world[skin.joints[:, 0], :, 3]
    behind = hips + SEAT_M + 0.8 * (skin.positions - hips)
    return SkinPoints(np.where(of_thighs[:, None], behind, skin.positions), skin.joints, skin.weights)


def lows(clip: Clip, target: Skeleton, trunk_m: float, times: FloatArray,
         skin: SkinPoints | None = None) -> dict[str, FloatArray]:
    """Return how high the lowest skin of all, of seat and back and of each foot is at times (F,), in legs."""
    skin, found = skin or skin_of(target, trunk_m), find_map(target)
    done = retarget(clip, target, points=skin).clip
    heights = skin.heights(done, times, UP) / found.leg_length
    own = skin.joints[:, 0]
    feet = {side: np.isin(own, [target.index_of[f"{side}_{name}"] for name in FEET]) for side in "lr"}
    parts = {"all": own >= 0, "trunk": of_trunk(skin.positions, own, target, found), **feet}
    return {name: heights[:, part].min(axis=1) for name, part in parts.items()}


def hung_with(body: Skeleton, on: str, way_m: tuple[float, float, float]) -> tuple[Skeleton, SkinPoints]:
    """Return a body with a chain of five joints, as a tail, and its skin with balls about them.

    on: the joint that carries the chain. way_m: from one of its joints to the next.
    """
    base, names, parents = body.index_of[on], [*body.names], body.parents.tolist()
    skin, places = skin_of(body, THIN_M), [*body.rest_world[..., 3]]
    balls = np.random.default_rng(0).normal(size=(5, 20, 3))
    balls *= 0.02 / np.linalg.norm(balls, axis=2, keepdims=True)
    for number in range(5):
        names.append(f"chain {number}")
        parents.append(len(names) - 2 if number else base)
        places.append(places[base] + np.array(way_m) * (number + 1))
        balls[number] += places[-1]
    joints = np.concatenate((skin.joints[:, 0], np.arange(len(body), len(body) + 5).repeat(20)))[:, None]
    points = np.concatenate((skin.positions, balls.reshape(-1, 3)))
    return standing_at(names, np.array(parents), np.array(places)), SkinPoints(points, joints, np.ones(joints.shape))


@pytest.mark.parametrize(("on", "way_m"), [
    ("HumanoidRoot", (0.0, -0.05, -0.15)),  # a tail
    ("vt6", (0.15, 0.0, -0.12)),  # a wing
    ("skullbase", (0.0, -0.12, -0.08))])  # long hair
@pytest.mark.parametrize("clip", few([sitting_down, lambda: lying_down(THIN_M)]), ids=["sits", "lies"])
def test_what_hangs_on_a_body_does_not_hold_it_in_the_air(clip: Callable[[], Clip], on: str,
                                                           way_m: tuple[float, float, float]) -> None:
    own, bare = clip(), scaled({"ankle": 1.1})
    alone, hung = (retarget(own, body, points=points).clip for body, points in
                   ((bare, skin_of(bare, THIN_M)), hung_with(bare, on, way_m)))
    hips, times = BODY.index_of["HumanoidRoot"], times_of(own.duration_s)
    one, other = (world_from_pose(each.skeleton, each.sample(times))[:, hips, :, 3] for each in (alone, hung))
    np.testing.assert_allclose(other, one, atol=NEARLY_M)


@pytest.mark.slow
@pytest.mark.parametrize("longer", [{"ankle": 1.1}, {"ankle": 1.35}, {"knee": 0.8, "ankle": 1.2},
                                    {"knee": 1.3, "ankle": 0.8}])
def test_who_sits_down_sits_on_the_ground_with_both_feet_on_it(longer: dict[str, float]) -> None:
    low = lows(sitting_down(), scaled(longer), THIN_M, np.linspace(SITS_S[1], 2.5, 40))
    assert low["all"].min() > BELOW
    for part in ("trunk", "l", "r"):
        assert np.abs(low[part]).max() < ON_GROUND, part


@pytest.mark.slow
@pytest.mark.parametrize("longer", [{"ankle": 1.1}, {"ankle": 1.35}, {"knee": 0.8, "ankle": 1.2}])
def test_who_sits_on_what_his_thighs_carry_sits_on_the_ground_though_they_turn(longer: dict[str, float]) -> None:
    """Also where a clip begins so, and he rises at once: it is to fit to one in which he went on sitting."""
    target, clip, times = scaled(longer), sitting_down(), times_of(2.5)
    evenly = np.interp(1.0 - times / RISES_S, smoothstep(times, *SITS_S), times)  # when he has sat down so far
    pose = clip.sample(evenly)
    rises = replace(clip, rotations=Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                    translations=Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]))
    for each, times in ((clip, np.linspace(SITS_S[1], 2.5, 40)), (rises, np.zeros(1))):
        low = lows(each, target, THIN_M, times, with_seat_of_thighs(target))
        assert low["all"].min() > BELOW
        for part in ("trunk", "l", "r"):
            assert np.abs(low[part]).max() < ON_GROUND, part


@pytest.mark.slow
@pytest.mark.parametrize("longer", [{"ankle": 1.1}, {"ankle": 1.35}, {"knee": 1.3}])
def test_who_lies_on_a_thick_back_lies_on_a_slim_one_and_not_on_his_heels(longer: dict[str, float]) -> None:
    low = lows(lying_down(THICK_M), scaled(longer), THIN_M, np.linspace(LIES_S[1], 2.5, 40))
    assert low["all"].min() > BELOW
    assert np.abs(low["trunk"]).max() < ON_GROUND


@pytest.mark.parametrize("longer", [{"ankle": 1.1}, {"ankle": 1.35}])
def test_who_lies_with_thick_knees_lies_on_his_back(longer: dict[str, float]) -> None:
    """These are the lowest of his legs, and go up by less than his feet."""
    target = scaled(longer)
    skin = skin_of(target, THIN_M)
    knees = np.isin(skin.joints[:, 0], [target.index_of[f"{side}_knee"] for side in "lr"])
    at = target.rest_world[skin.joints[:, 0], :, 3]
    thick = replace(skin, positions=np.where(knees[:, None], at + 5.0 * (skin.positions - at), skin.positions))
    low = lows(lying_down(THICK_M), target, THIN_M, np.linspace(LIES_S[1] + 0.2, 2.5, 40), thick)
    assert low["all"].min() > BELOW
    assert np.abs(low["trunk"]).max() < ON_GROUND


@pytest.mark.slow
@pytest.mark.parametrize("longer", [{"ankle": 1.1}, {"ankle": 1.35}])
def test_legs_come_to_where_they_sit_without_a_jump(longer: dict[str, float]) -> None:
    times = np.linspace(0.0, 2.5, 301)
    low = lows(sitting_down(), scaled(longer), THIN_M, times)
    before = lows(replace(sitting_down(), name="own"), BODY, THIN_M, times)
    fastest = [np.abs(np.gradient(each["trunk"], times)).max() for each in (before, low)]
    assert fastest[1] < 2.0 * fastest[0]
    assert low["all"].min() > BELOW and np.abs(low["all"]).max() < 2.0 * ON_GROUND


@pytest.mark.slow
@pytest.mark.parametrize("lasts_s", [0.3, 0.4, 0.6])
@pytest.mark.parametrize("longer", [{"ankle": 1.1}, {"ankle": 1.35}, {"knee": 0.7, "ankle": 0.7}])
def test_who_falls_onto_a_slim_back_falls_hardly_harder_than_onto_a_thick_one(longer: dict[str, float],
                                                                             lasts_s: float) -> None:
    """He has farther to fall; his legs are not turned away under him from one frame to the next."""
    target, clip, times = scaled(longer), lying_down(THICK_M, (0.5, 0.5 + lasts_s)), np.arange(0.0, 2.5, 1.0 / 30.0)
    done = retarget(clip, target, points=skin_of(target, THIN_M)).clip
    hardest, deep = np.zeros((2, 2))
    for number, (each, body) in enumerate(((clip, BODY), (done, target))):
        hips = world_from_pose(body, each.sample(times))[:, body.index_of["l_hip"], 1, 3]
        hardest[number], deep[number] = np.abs(np.diff(hips, 2)).max(), np.ptp(hips)
    assert hardest[1] / deep[1] < 1.7 * hardest[0] / deep[0]
