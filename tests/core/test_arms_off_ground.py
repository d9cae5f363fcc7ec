"""Arms that are in the ground are drawn up; those that cannot be, and lift the body, stay on it."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import smoothstep
from takt.core.retargeting.ground.arms_off_ground import ArmSkin, with_arms_drawn_up
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.tests.core.stepping import ACROSS, BODY, times_of

LEG_M, THICK_M, SHARE_BELOW = 0.825, 0.04, -0.02
UP = np.array((0.0, 1.0, 0.0))
LIES_S, RISES_S = 1.0, 1.4
SAME_M = 1e-9
BENDS_RAD, DEEP_LEGS = 0.45, 0.1


def forearm() -> SkinPoints:
    """Return a ring of skin about the left elbow and wrist each."""
    joints = np.repeat([BODY.index_of["l_elbow"], BODY.index_of["l_wrist"]], 24)
    turns = np.linspace(0.0, 2.0 * np.pi, 48)
    ring = THICK_M * np.stack((0.0 * turns, np.cos(turns), np.sin(turns)), axis=1)
    return SkinPoints(BODY.rest_world[joints, :, 3] + ring, joints[:, None], np.ones((48, 1)))


@pytest.mark.parametrize("deep_m", [0.01, 0.03, 0.05])
def test_an_arm_that_lies_stays_where_it_is_though_it_would_go_into_the_ground_later(deep_m: float) -> None:
    """He lies on his front with an arm ahead, as high as its shoulder; then he rises, and his hand goes down."""
    times = times_of(3.0)
    share = smoothstep(times, LIES_S, RISES_S)
    pose = Pose.rest(BODY, len(times))
    pose.rotations[:, 0] = rot.from_axis_angle(ACROSS, np.array(np.pi / 2.0))
    shoulder, wrist = BODY.index_of["l_shoulder"], BODY.index_of["l_wrist"]
    arm = BODY.rest_world[wrist, :, 3] - BODY.rest_world[shoulder, :, 3]
    ahead = rot.shortest_arc(arm, UP)
    down = np.arcsin(np.minimum((0.3 + deep_m) * share / np.linalg.norm(arm), 1.0))
    pose.rotations[:, shoulder] = rot.multiply(rot.from_axis_angle(ACROSS, down), ahead)
    pose.translations[:, 0] = 0.3 * share[:, None] * UP
    clip = Clip("rises", BODY, 3.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))
    skin, found = forearm(), find_map(BODY)
    of_arm = ArmSkin.of(found, BODY, skin, 0)
    assert of_arm is not None
    low = skin.heights(clip, times, UP).min(axis=1)
    ground = float(low[0])
    done = with_arms_drawn_up(clip, found, (of_arm,), ground, LEG_M, UP)
    assert (low.min() - ground) < 0.5 * -deep_m
    assert (skin.heights(done, times, UP).min(axis=1) - ground).min() > SHARE_BELOW * LEG_M
    before, after = (world_from_pose(BODY, each.sample(times[times < LIES_S]))[:, wrist, 1, 3] for each in (clip, done))
    assert np.abs(after - before).max() < SAME_M


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0])
def test_an_elbow_that_comes_round_leaves_no_hand_in_the_ground_between_two_moments(fps: float) -> None:
    """His arm hangs nearly straight into the ground, and its elbow bends to the other side from one key to the next."""
    times, joints = np.arange(int(fps) + 1) / fps, [BODY.index_of[f"l_{name}"] for name in ("shoulder", "elbow")]
    pose, rest = Pose.rest(BODY, len(times)), BODY.rest_world[..., 3]
    wrist = BODY.index_of["l_wrist"]
    down = rot.shortest_arc(rest[wrist] - rest[joints[0]], -UP)
    bend = np.where(times < 0.5, -BENDS_RAD, BENDS_RAD)
    pose.rotations[:, joints[0]] = rot.multiply(rot.from_axis_angle(ACROSS, -bend / 2.0), down)
    pose.rotations[:, joints[1]] = rot.multiply(rot.conjugate(down), rot.multiply(rot.from_axis_angle(ACROSS, bend),
                                                                                 down))
    clip = Clip("hangs", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))
    skin, found = forearm(), find_map(BODY)
    of_arm, every = ArmSkin.of(found, BODY, skin, 0), np.linspace(0.0, 1.0, 961)
    assert of_arm is not None
    ground = float(skin.heights(clip, every, UP).min()) + DEEP_LEGS * LEG_M
    done = with_arms_drawn_up(clip, found, (of_arm,), ground, LEG_M, UP)
    assert (skin.heights(done, every, UP).min() - ground) / LEG_M > SHARE_BELOW
