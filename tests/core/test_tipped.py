"""Who lies with a head bigger than the clip's does not hang between it and his heels: he tips over it onto his back."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, smoothstep
from takt.core.retargeting.ground.bearing_trunk import of_trunk
from takt.core.retargeting.ground.body_skin import BodySkin
from takt.core.retargeting.ground.contact_detection import find_contacts
from takt.core.retargeting.ground.tipped import tipped
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.stepping import ACROSS, BODY, times_of, walking
from takt.tests.core.test_seated_legs import (
    LIES_S,
    SITS_S,
    THICK_M,
    THIN_M,
    UP,
    lying_down,
    scaled,
    sitting_down,
    skin_of,
    with_seat_of_thighs,
)

ON_GROUND, SEAT_ON_GROUND, BELOW, WHILE_LEGS_RISE = 0.02, 0.005, -0.01, 0.12
"""Of the leg."""
MOST_DEG = 25.0
CALM = 1.4
LEGS: list[dict[str, float]] = [{"ankle": 1.001}, {"ankle": 1.2}, {"knee": 0.8}]


def with_head(skeleton: Skeleton, head_m: float) -> SkinPoints:
    """Return the skin of the seated with a head that is so thick."""
    skin = skin_of(skeleton, THIN_M)
    joint = skeleton.index_of["skullbase"]
    of_head, middle = skin.joints[:, 0] == joint, skeleton.rest_world[joint, :, 3]
    away = skin.positions[of_head] - middle
    positions = skin.positions.copy()
    positions[of_head] = middle + head_m * away / np.linalg.norm(away, axis=1, keepdims=True)
    return SkinPoints(positions, skin.joints, skin.weights)


def lows(clip: Clip, target: Skeleton, skin: SkinPoints, times: FloatArray) -> dict[str, FloatArray]:
    """Return how high the lowest skin of all and of seat and back is at times (F,), in legs."""
    found = find_map(target)
    heights = skin.heights(retarget(clip, target, points=skin).clip, times, UP) / found.leg_length
    is_trunk = of_trunk(skin.positions, skin.joints[:, 0], target, found)
    return {"all": heights.min(axis=1), "trunk": heights[:, is_trunk].min(axis=1)}


@pytest.mark.slow
@pytest.mark.parametrize("head_m", [0.2, 0.3, 0.35])
@pytest.mark.parametrize("longer", LEGS)
def test_who_lies_on_a_big_head_lies_on_his_back_as_well(longer: dict[str, float], head_m: float) -> None:
    target = scaled(longer)
    low = lows(lying_down(THIN_M), target, with_head(target, head_m), np.linspace(LIES_S[1] + 0.2, 2.5, 40))
    assert low["all"].min() >= BELOW
    assert np.abs(low["trunk"]).max() <= ON_GROUND


@pytest.mark.parametrize("longer", [{"ankle": 1.2}, {"ankle": 1.35}])
def test_who_lies_on_a_big_head_lies_on_a_seat_too_that_goes_up_with_his_thighs(longer: dict[str, float]) -> None:
    """His legs are turned up since they are long for his thin back, after he has tipped."""
    target, times = scaled(longer), np.linspace(LIES_S[1] + 0.2, 2.5, 40)
    seated, headed = with_seat_of_thighs(target), with_head(target, 0.25)
    of_head = headed.joints == target.index_of["skullbase"]
    skin = SkinPoints(np.where(of_head, headed.positions, seated.positions), seated.joints, seated.weights)
    low = lows(lying_down(THICK_M), target, skin, times)
    assert low["all"].min() >= BELOW
    assert np.abs(low["trunk"]).max() <= SEAT_ON_GROUND


def with_legs_up(clip: Clip) -> Clip:
    """Raise straight legs as soon as he lies, and let them down again."""
    times = times_of(clip.duration_s)
    share, pose = smoothstep(times, 1.3, 1.7) - smoothstep(times, 2.0, 2.4), clip.sample(times)
    for side in "lr":
        hip = BODY.index_of[f"{side}_hip"]
        raised = rot.from_axis_angle(ACROSS, -1.3 * share)
        pose.rotations[:, hip] = rot.multiply(pose.rotations[:, hip], raised)
    return replace(clip, rotations=Tracks.uniform(np.arange(len(BODY)), times, pose.rotations))


@pytest.mark.slow
@pytest.mark.parametrize("longer", LEGS)
def test_who_lies_on_a_big_head_stays_on_his_back_with_his_legs_in_the_air(longer: dict[str, float]) -> None:
    """His feet bear nobody then; what does is measured as he has tipped."""
    target, times = scaled(longer), np.linspace(1.4, 2.5, 45)
    low = lows(with_legs_up(lying_down(THIN_M)), target, with_head(target, 0.25), times)
    assert low["all"].min() >= BELOW
    assert low["trunk"].max() <= WHILE_LEGS_RISE
    assert np.abs(low["trunk"][(times > 1.55) & (times < 1.95)]).max() <= ON_GROUND


@pytest.mark.slow
@pytest.mark.parametrize("head_m", [0.2, 0.4])
def test_nobody_tips_by_more_than_little_nor_in_a_jerk(head_m: float) -> None:
    times = np.linspace(0.0, 2.5, 151)
    turned = []
    for size in (0.05, head_m):
        done = retarget(lying_down(THIN_M), BODY_TOO, points=with_head(BODY_TOO, size)).clip
        turned.append(rot.from_exact_matrix(world_from_pose(BODY_TOO, done.sample(times))[:, 0, :, :3]))
    apart = np.degrees(rot.angle_between(*turned))
    assert 5.0 < apart.max() < MOST_DEG + 1e-6
    fastest = [np.degrees(rot.angle_between(each[1:], each[:-1])).max() for each in turned]
    assert fastest[1] < CALM * fastest[0]


@pytest.mark.parametrize("clip", [walking(), sitting_down()], ids=["walks", "sits"])
def test_who_walks_or_sits_does_not_tip(clip: Clip) -> None:
    found, skin = find_map(BODY_TOO), with_head(BODY_TOO, 0.3)
    played = replace(clip, skeleton=BODY_TOO)
    body = BodySkin.of(found, BODY_TOO, skin, tuple(UP))
    assert tipped(find_contacts(clip, find_map(BODY), UP), played, body, 0) is played


def test_who_falls_and_sits_stays_above_the_ground_with_a_big_head() -> None:
    for clip, begin_s in ((lying_down(THICK_M), 0.0), (sitting_down(), SITS_S[0])):
        low = lows(clip, BODY_TOO, with_head(BODY_TOO, 0.25), np.linspace(begin_s, 2.5, 120))
        assert low["all"].min() >= BELOW


BODY_TOO = scaled({"ankle": 1.001})
"""Hardly another body, but not the clip's own, on which all would play as it is."""
