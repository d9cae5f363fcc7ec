"""Who kneels on his heels sits higher in bigger shoes: they bear his seat, and no leg is turned away from under it."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.core.skeletons.skin_sample import SkinSample
from takt.tests.core.stepping import ACROSS, BODY, times_of
from takt.tests.core.test_seated_legs import FEET, THIN_M, UP, scaled, skin_of

KNEE_M = 0.06
BENT_RAD = {"hip": -1.45, "knee": 3.0, "ankle": 1.1}
OFF_DEG, ON_GROUND = 1.0, 0.005


def on_heels() -> Clip:
    """Sit on the heels all the time, and nod."""
    times = times_of(1.0)
    pose, joints = Pose.rest(BODY, len(times)), BODY.index_of
    for side in "lr":
        for name, angle in BENT_RAD.items():
            pose.rotations[:, joints[f"{side}_{name}"]] = rot.from_axis_angle(ACROSS, np.array(angle))
    pose.rotations[:, joints["vt6"]] = rot.from_axis_angle(ACROSS, 0.1 * np.sin(6.0 * times))
    knees = world_from_pose(BODY, pose)[:, joints["l_knee"], :, 3]
    pose.translations[:, 0] -= (knees @ UP - KNEE_M)[:, None] * UP
    return Clip("on heels", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


def in_shoes(skeleton: Skeleton, larger: float) -> SkinPoints:
    """Return the skin of a body in shoes that are so much larger, with soles as low as before."""
    skin = skin_of(skeleton, THIN_M)
    is_foot = np.isin(skin.joints[:, 0], [skeleton.index_of[f"{side}_{name}"] for side in "lr" for name in FEET])
    middle = skeleton.rest_world[skin.joints[:, 0], :, 3] * (1.0, 0.0, 1.0)
    return replace(skin, positions=np.where(is_foot[:, None], middle + larger * (skin.positions - middle),
                                            skin.positions))


def thighs(clip: Clip, times: FloatArray) -> FloatArray:
    """Return the way from hip to knee of each leg at times (F,), (F, 2, 3) unit."""
    at, joints = world_from_pose(clip.skeleton, clip.sample(times))[..., 3], clip.skeleton.index_of
    way = np.stack([at[:, joints[f"{side}_knee"]] - at[:, joints[f"{side}_hip"]] for side in "lr"], axis=1)
    return np.asarray(way / np.linalg.norm(way, axis=2, keepdims=True))


@pytest.mark.slow
@pytest.mark.parametrize("has_skin", [False, True], ids=["joints", "skin"])
@pytest.mark.parametrize("larger", [1.0, 1.3, 1.6])
@pytest.mark.parametrize("longer", [{"ankle": 1.001}, {"knee": 0.9}, {"ankle": 1.1}])
def test_who_kneels_on_his_heels_does_so_in_big_shoes(longer: dict[str, float], larger: float, has_skin: bool) -> None:
    clip, target, times = on_heels(), scaled(longer), np.linspace(0.0, 1.0, 9)
    if has_skin:
        skin = skin_of(BODY, THIN_M)
        clip = replace(clip, skin=SkinSample.at_rest(BODY, skin.joints[:, 0], skin.positions))
    body = in_shoes(target, larger)
    done = retarget(clip, target, points=body).clip
    off = np.degrees(np.arccos(np.clip(np.sum(thighs(clip, times) * thighs(done, times), axis=2), -1.0, 1.0)))
    low = body.heights(done, times, UP).min(axis=1) / find_map(target).leg_length
    assert off.max() < OFF_DEG
    assert np.abs(low).max() < ON_GROUND
