"""Soles are the skin's own, where it is known: big shoes stay above the ground at seams, also their corners."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.feet.legs import legs_of
from takt.core.playing.feet.soles import Soles
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.test_retarget import with_axes
from takt.tests.core.test_steps import BODY, LEG_M, METHODS, SUNK_LEGS, UP, lifting, standing

AHEAD_M, BEHIND_M, WIDE_M, UNDER_M = 0.15, 0.1, 0.08, 0.03
"""How far shoes go: ahead of the balls, behind the ankles, to either side, and below the balls."""
ROUNDING = 1e-9
ROUND_LEGS = 0.01


def shoes() -> tuple[FloatArray, list[str]]:
    """Return the rims of shoes' soles (V, 3) at rest, with a point in the middle of each shaft, and their owners."""
    vertices, owners = [], []
    for side in "lr":
        ball, ankle = (BODY.rest_world[BODY.index_of[f"{side}_{part}"], :, 3] for part in ("metatarsal", "ankle"))
        ground = float(ball[1]) - UNDER_M
        for part, ahead in (("metatarsal", ball[2] + AHEAD_M), ("metatarsal", ball[2]), ("ankle", ball[2]),
                            ("ankle", ankle[2] - BEHIND_M)):
            for aside in np.linspace(-WIDE_M, WIDE_M, 5):
                vertices.append((ball[0] + aside, ground, ahead))
                owners.append(f"{side}_{part}")
        vertices.append((ankle[0], ankle[1] + 0.1, ankle[2]))
        owners.append(f"{side}_ankle")
    return np.array(vertices), owners


def skin_of_shoes() -> SkinPoints:
    vertices, owners = shoes()
    return SkinPoints(vertices, np.array([[BODY.index_of[owner]] for owner in owners]), np.ones((len(owners), 1)))


def without_toes() -> SkinPoints:
    """Return the shoes with all of each moving with the ankle, as those of big boots do whose toes do not bend."""
    skin = skin_of_shoes()
    ankles = {BODY.index_of[f"{side}_metatarsal"]: BODY.index_of[f"{side}_ankle"] for side in "lr"}
    joints = np.array([[ankles.get(joint, joint)] for joint in skin.joints[:, 0].tolist()])
    return SkinPoints(skin.positions, joints, skin.weights)


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_points_of_soles_are_the_rim_of_the_skin_s(size: float) -> None:
    vertices, owners = shoes()
    body = with_axes(build_skeleton(), np.random.default_rng(4), size)
    joints = np.array([[body.index_of[owner]] for owner in owners])
    legs = legs_of(find_map(body))
    soles = Soles.of(body, legs, UP, SkinPoints(vertices * size, joints, np.ones((len(owners), 1))))
    for i, leg in enumerate(legs):
        found = soles.points[:, i] @ np.concatenate(body.rest_world[[leg.ankle, leg.foot]], axis=1).T / size
        own = vertices[[owner.startswith(leg.side) for owner in owners]][:-1]
        np.testing.assert_allclose(np.ptp(found, axis=0), np.ptp(own, axis=0), atol=ROUNDING)
        np.testing.assert_allclose(found.min(axis=0), own.min(axis=0), atol=ROUNDING)


def test_a_body_with_one_bare_leg_has_guessed_soles() -> None:
    legs, skin = legs_of(find_map(BODY)), skin_of_shoes()
    bare = skin.part(skin.positions[:, 0] > 0.0)
    assert Soles.of(BODY, legs, UP, bare) == Soles.of(BODY, legs, UP) != Soles.of(BODY, legs, UP, skin)


def test_a_leg_with_an_anklet_alone_has_guessed_soles() -> None:
    legs, skin = legs_of(find_map(BODY)), without_toes()
    anklet = skin.part(skin.positions[:, 2] < BODY.rest_world[BODY.index_of["l_metatarsal"], 2, 3] - ROUNDING)
    assert Soles.of(BODY, legs, UP, anklet) == Soles.of(BODY, legs, UP) != Soles.of(BODY, legs, UP, skin)


def lowest(clip: Clip, method: str, skin: SkinPoints | None, worn: SkinPoints) -> float:
    """Return how high the lowest point of worn shoes is in a score that stands and leaves for a clip, in legs."""
    score = programme(procedure("main", 'here duration="2" transition="1"', f'{clip.name} duration="2"'),
                      clips=library(feet_Steps=(standing("here", 0.0), clip)))
    motion = play(score, Performer(BODY, UP, points=skin),
                  Settings(root_motion="AS_AUTHORED", method=method, curve="COSINE"))
    world = world_from_pose(BODY, motion.sample(np.linspace(0.0, motion.duration_s, 401)))
    high = np.einsum("fpi,pi->fp", world[:, worn.joints[:, 0], 1], worn.local(BODY)[:, 0])
    return float(high.min() - worn.positions[:, 1].min()) / LEG_M


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("worn", [skin_of_shoes(), without_toes()])
def test_big_shoes_do_not_go_into_the_ground_where_a_foot_is_let_go(worn: SkinPoints, method: str) -> None:
    clip = lifting("off", 0.0, 0.3)
    assert lowest(clip, method, None, worn) < -2.0 * SUNK_LEGS < -SUNK_LEGS < lowest(clip, method, worn, worn)


@pytest.mark.parametrize("down_rad", np.radians((10.0, 30.0, 50.0, 70.0, 85.0)).tolist())
@pytest.mark.parametrize("rounding_m", [0.0, 0.04, 0.07])
def test_points_of_soles_are_as_low_as_round_toes_that_point_down(down_rad: float, rounding_m: float) -> None:
    """Feet that swing show the ground the tips of shoes, which are not of the sole."""
    vertices, owners = shoes()
    arc = np.linspace(0.0, np.pi / 2.0, 12)
    for side in "lr":
        ball = BODY.rest_world[BODY.index_of[f"{side}_metatarsal"], :, 3]
        low, far = ball[1] - UNDER_M, ball[2] + AHEAD_M
        caps = [(ball[0], low + rounding_m * (1.0 - np.cos(a)), far + rounding_m * np.sin(a)) for a in arc]
        vertices, owners = np.concatenate((vertices, caps)), owners + [f"{side}_metatarsal"] * len(caps)
    legs = legs_of(find_map(BODY))
    skin = SkinPoints(vertices, np.array([[BODY.index_of[owner]] for owner in owners]), np.ones((len(owners), 1)))
    soles, turned = Soles.of(BODY, legs, UP, skin), rot.to_matrix(rot.from_axis_angle(np.eye(3)[0], down_rad))
    for i, leg in enumerate(legs):
        rows = [turned[1] @ BODY.rest_world[joint] for joint in (leg.ankle, leg.foot)]
        high = soles.points[:, i] @ np.concatenate(rows)
        own = vertices[[owner.startswith(leg.side) for owner in owners]] @ turned[1]
        assert own.min() - ROUNDING <= high.min() <= own.min() + ROUND_LEGS * LEG_M


def with_heels_on_shins() -> SkinPoints:
    """Return the shoes with what is behind the ankles bound to the shins, as some boots are."""
    skin = skin_of_shoes()
    joints = skin.joints.copy()
    for side in "lr":
        ankle, knee = (BODY.index_of[f"{side}_{part}"] for part in ("ankle", "knee"))
        is_heel = (joints[:, 0] == ankle) & (skin.positions[:, 2] < BODY.rest_world[ankle, 2, 3] - BEHIND_M / 2.0)
        joints[is_heel] = knee
    return SkinPoints(skin.positions, joints, skin.weights)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ahead_legs", [0.3, 0.45, 0.6])
def test_heels_that_move_with_the_shins_do_not_go_into_the_ground_at_seams(ahead_legs: float, method: str) -> None:
    """A step leads a foot ahead: its shin leans back, and takes the heel down."""
    score = programme(procedure("main", 'here duration="2" transition="1"', 'there duration="2"'),
                      clips=library(feet_Steps=(standing("here", 0.0), standing("there", ahead_legs))))
    skin, low = with_heels_on_shins(), []
    for known in (None, skin):
        motion = play(score, Performer(BODY, UP, points=known),
                      Settings(root_motion="AS_AUTHORED", method=method, curve="COSINE"))
        world = world_from_pose(BODY, motion.sample(np.linspace(0.0, motion.duration_s, 201)))
        high = np.einsum("fpi,pi->fp", world[:, skin.joints[:, 0], 1], skin.local(BODY)[:, 0])
        low.append(float(high.min() - skin.positions[:, 1].min()) / LEG_M)
    assert low[1] > -0.001 > low[0]


@pytest.mark.parametrize("back_rad", [0.2, 0.4])
def test_knees_stay_straight_where_feet_stand_on_heels_that_are_round(back_rad: float) -> None:
    """The rim of a heel that is above the ground at rest may come down to it: that is not in the ground."""
    vertices, owners = shoes()
    behind = vertices[:, 2] < BODY.rest_world[BODY.index_of["l_ankle"], 2, 3] - BEHIND_M / 2.0
    round_m = vertices + behind[:, None] * 0.03 * UP
    skin = SkinPoints(round_m, np.array([[BODY.index_of[owner]] for owner in owners]), np.ones((len(owners), 1)))
    joints = np.array(sorted(BODY.index_of[f"{side}_ankle"] for side in "lr"))
    times, turn = np.linspace(0.0, 2.0, 5), rot.from_axis_angle(np.eye(3)[0], -back_rad)
    turns = Tracks.uniform(joints, times, np.tile(turn, (5, 2, 1)))
    tilted = replace(standing("there", 0.0), rotations=turns)
    world = world_from_pose(BODY, tilted.sample(np.zeros(1)))[0]
    high = np.einsum("pi,pi->p", world[skin.joints[:, 0], 1], skin.local(BODY)[:, 0]).min()
    moves = np.tile((skin.positions[:, 1].min() - high) * UP, (5, 1, 1))
    tilted = replace(tilted, translations=Tracks.uniform(np.array((0,)), times, moves))
    score = programme(procedure("main", 'there duration="2"'), clips=library(feet_Steps=(tilted,)))
    found = play(score, Performer(BODY, UP, points=skin), Settings(root_motion="AS_AUTHORED")).sample(times)
    np.testing.assert_allclose(found.rotations, tilted.sample(times).rotations, atol=1e-6)


def test_a_hem_that_hangs_below_the_soles_at_rest_does_not_show_where_the_ground_is() -> None:
    hem = with_heels_on_shins()
    own = np.array([BODY.names[joint].endswith("knee") for joint in hem.joints[:, 0]])
    hem = SkinPoints(hem.positions - own[:, None] * 0.2 * UP, hem.joints, hem.weights)
    legs = legs_of(find_map(BODY))
    soles = Soles.of(BODY, legs, UP, hem)
    ground, rest = soles.ground, soles.rest_heights.T
    hangs = ground < ground.max() - ROUNDING
    assert soles.have_shins and hangs.any() and (ground[hangs] == rest[hangs]).all()
    assert ground.max() == pytest.approx(hem.positions[~own, 1].min()) and ground.min() == rest.min()
