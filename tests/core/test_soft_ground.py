"""Who walks in place moves as smoothly on another body as in the clip, on the ground, in whatever shoes."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.tests.core.rigs import RIGS, worn
from takt.tests.core.test_ground import BELOW, BODY, LEG_M, UP, lowest, skin_of, with_long_shoes
from takt.tests.core.test_retarget import with_axes

FPS = 30.0
STANCE, HEEL_UP = 0.55, 0.4
"""Of a stride: so long a foot is on the ground, and from then on its heel rises."""
HIPS_LEGS, KNEES_DEG, KNEES_DEG_PER_M = 0.004, 2.0, 60.0
"""By so much second differences may be larger than the clip's; knees' by more in long shoes, whose tips go far down."""
ON_GROUND = 0.01


def walk_in_place(seconds: float, step_m: float, heel_deg: float) -> Clip:
    """Return two strides of so many seconds each, whose feet slide back over the ground and tip over their balls."""
    times = np.arange(round(2.0 * seconds * FPS) + 1) / FPS
    joints, pose = find_map(BODY).joint_of, Pose.rest(BODY, len(times))
    pose.translations[:, 0, 1] = -0.05 + 0.008 * np.cos(4.0 * np.pi * times / times[-1] * 2.0)
    across = np.broadcast_to((1.0, 0.0, 0.0), (len(times), 3))
    for side, begins in (("l", 0.0), ("r", 0.5)):
        phase = (times / seconds + begins) % 1.0
        swings = np.clip((phase - STANCE) / (1.0 - STANCE), 0.0, 1.0)
        on = step_m * (0.5 - phase / STANCE)
        ahead = np.where(swings > 0.0, -0.5 * step_m * np.cos(np.pi * swings), on)
        rises = np.clip((phase - HEEL_UP) / (STANCE - HEEL_UP), 0.0, 1.0)
        pitch = np.radians(heel_deg) * (0.5 - 0.5 * np.cos(np.pi * rises)) * np.cos(0.5 * np.pi * swings) ** 2
        up = 0.06 * np.sin(np.pi * swings) ** 2
        leg = Limb(*(joints[f"{side}_{part}"] for part in ("hip", "knee", "ankle")))
        ball = BODY.rest_world[joints[f"{side}_metatarsal"], :, 3]
        turn = rot.from_axis_angle(across, pitch)
        pose.rotations[:, leg.last] = turn
        world = world_from_pose(BODY, pose)
        to_ball = rot.rotate(turn, np.broadcast_to(ball - BODY.rest_world[leg.last, :, 3], (len(times), 3)))
        wanted = ball + np.stack((0.0 * up, up, ahead), axis=1) - to_ball
        plain = LimbPoses.of(world, leg).at((slice(None), 0))
        moved = plain.reaching(wanted - world[:, leg.last, :, 3], across)
        pose.rotations[:, list(leg)] = moved.rotations(BODY, world, leg)
    return Clip("in place", BODY, float(times[-1]), Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


def jolts(clip: Clip, found: SkeletonMap, up: FloatArray) -> tuple[float, float]:
    """Return the largest second differences of the hips' height, in legs, and of knees' bends, in degrees."""
    at = world_from_pose(clip.skeleton, clip.sample(np.arange(0.0, clip.duration_s, 1.0 / FPS)))[..., 3]
    bends = []
    for side in "lr":
        hip, knee, ankle = (at[:, found.joint_of[f"{side}_{part}"]] for part in ("hip", "knee", "ankle"))
        thigh, shin = ((way / np.linalg.norm(way, axis=1, keepdims=True)) for way in (knee - hip, ankle - knee))
        bends.append(np.degrees(np.arccos(np.clip(np.sum(thigh * shin, axis=1), -1.0, 1.0))))
    hips = at[:, found.joint_of["HumanoidRoot"]] @ up
    return float(np.abs(np.diff(hips, 2)).max()) / LEG_M, float(np.abs(np.diff(bends, 2)).max())


@pytest.mark.slow
@pytest.mark.parametrize("shoe_m", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("heel_deg", [20.0, 50.0])
@pytest.mark.parametrize("seconds", [0.8, 1.4])
def test_hips_and_knees_go_as_smoothly_as_in_the_clip(seconds: float, heel_deg: float, shoe_m: float) -> None:
    clip = walk_in_place(seconds, 0.35, heel_deg)
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(1), 1.0)
    found = find_map(target)
    assert found.turn is not None
    up, front = (rot.rotate(found.turn, way) for way in (UP, np.array((0.0, 0.0, 1.0))))
    skin = with_long_shoes(target, skin_of(target, {}), shoe_m * front)
    made = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    there, here = jolts(clip, find_map(BODY), UP), jolts(made, found, up)
    assert here[0] < there[0] + HIPS_LEGS
    assert here[1] < there[1] + KNEES_DEG + KNEES_DEG_PER_M * shoe_m
    low = lowest(target, made, skin, np.linspace(0.0, clip.duration_s, 150))
    assert low.min() >= BELOW and low.max() <= ON_GROUND
