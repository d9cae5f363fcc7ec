"""The head of who lies rests where the clip's does, on bodies with broader shoulders or a slimmer head as well."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.ground import all_steps
from takt.core.retargeting.ground.body_skin import BodySkin
from takt.core.retargeting.ground.contact_detection import find_contacts
from takt.core.retargeting.ground.resting_head import with_resting_head
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.core.skeletons.skin_sample import SkinSample
from takt.tests.core.stepping import BODY, walking
from takt.tests.core.test_seated_legs import LIES_S, THICK_M, UP, lying_down, scaled, sitting_down, skin_of

TARGET = scaled({"ankle": 1.1})
SLIM_M, ON_GROUND, BELOW = 0.1, 0.015, -0.02
MOST_DEG, CALM_DEG, SAME_RAD = 35.0, 5.0, 1e-9
LIES = np.linspace(LIES_S[1] + 0.3, 2.5, 40)


def with_head(skeleton: Skeleton, trunk_m: float, head_m: float) -> SkinPoints:
    """Return the skin of a body with a trunk and a head that are so thick."""
    skin, joint = skin_of(skeleton, trunk_m), skeleton.index_of["skullbase"]
    middle = skeleton.rest_world[joint, :, 3]
    away = skin.positions - middle
    ball = middle + head_m * away / np.linalg.norm(away, axis=1, keepdims=True)
    return replace(skin, positions=np.where(skin.joints[:, :1] == joint, ball, skin.positions), within=None)


def lying(head_m: float = THICK_M) -> Clip:
    """Fall onto the back, with a head that is so thick; one as thick as the trunk lies on the ground as well."""
    skin = with_head(BODY, THICK_M, head_m)
    return replace(lying_down(THICK_M), skin=SkinSample.at_rest(BODY, skin.joints[:, 0], skin.positions))


def head_of(clip: Clip, trunk_m: float, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how high the lowest of the head is, (F,) in legs, and how it is turned, (F, 4)."""
    skin, joint = with_head(TARGET, trunk_m, SLIM_M), TARGET.index_of["skullbase"]
    done = retarget(clip, TARGET, points=skin).clip
    low = skin.part(skin.joints[:, 0] == joint).heights(done, times, UP).min(axis=1) / find_map(TARGET).leg_length
    return low, rot.from_exact_matrix(world_from_pose(TARGET, done.sample(times))[:, joint, :, :3])


@pytest.mark.slow
@pytest.mark.parametrize("trunk_m", [0.1, 0.11])
def test_a_slim_head_lies_on_the_ground_where_the_clips_does(trunk_m: float, monkeypatch: pytest.MonkeyPatch) -> None:
    low, _ = head_of(lying(), trunk_m, LIES)
    assert np.abs(low).max() < ON_GROUND
    monkeypatch.setattr(all_steps, "with_resting_head", lambda contacts, played, *_: played)
    hangs, _ = head_of(lying(), trunk_m, LIES)
    assert hangs.min() > ON_GROUND


@pytest.mark.slow
@pytest.mark.parametrize("trunk_m", [0.15, 0.2, 0.3])
def test_necks_bend_no_farther_than_necks_do_and_not_in_a_jerk(trunk_m: float, monkeypatch: pytest.MonkeyPatch) -> None:
    times = np.arange(0.0, 2.5, 1.0 / 60.0)
    low, bent = head_of(lying(), trunk_m, times)
    monkeypatch.setattr(all_steps, "with_resting_head", lambda contacts, played, *_: played)
    _, straight = head_of(lying(), trunk_m, times)
    by = np.degrees(rot.angle_between(bent, straight))
    assert 5.0 < by.max() <= MOST_DEG + 1e-6
    assert np.abs(np.diff(by)).max() < CALM_DEG
    assert low.min() > BELOW


def test_a_head_that_is_off_the_ground_in_the_clip_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    _, held = head_of(lying(0.05), 0.15, LIES)
    monkeypatch.setattr(all_steps, "with_resting_head", lambda contacts, played, *_: played)
    _, plain = head_of(lying(0.05), 0.15, LIES)
    assert rot.angle_between(held, plain).max() < SAME_RAD


@pytest.mark.parametrize("clip", [walking(), sitting_down()], ids=["walks", "sits"])
def test_who_walks_or_sits_keeps_his_head_up(clip: Clip) -> None:
    played = replace(clip, skeleton=TARGET)
    contacts = find_contacts(clip, find_map(BODY), UP)
    body = BodySkin.of(find_map(TARGET), TARGET, with_head(TARGET, 0.15, SLIM_M), tuple(UP))
    assert with_resting_head(contacts, played, body) is played
