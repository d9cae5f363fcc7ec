"""Who sits down at a seam has a foot behind: its knee goes aside, not through the ground, and does not jump."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.feet.footholds import ground_axes
from takt.core.playing.feet.legs import Chains, legs_of
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.stepping import ACROSS, BODY, FPS, posed, times_of

UP = np.array((0.0, 1.0, 0.0))
HIPS, KNEES = ([BODY.index_of[f"{side}_{part}"] for side in "lr"] for part in ("hip", "knee"))
HIP_M = float(BODY.rest_world[HIPS[0], :, 3] @ UP)
LOW_M, FAST_M = 0.03, 0.45
"""Knees stay above that, and go no farther from frame to frame, beside the hips."""


def still(name: str, low_m: float, feet_m: tuple[float, float]) -> Clip:
    """Stay for a while with hips so far down, and feet so far ahead of them."""
    times = times_of(2.0)
    ways = np.zeros((len(times), 2, 2))
    ways[..., 0] = feet_m
    return posed(name, times, np.full((len(times), 2), (-low_m, 0.0)), (ways, np.zeros((len(times), 2))))


def sat_down(behind_m: float, transition: str, begins: str = "stands", ends: str = "sits") -> Motion:
    clips = still("stands", 0.08, (0.25, -behind_m)), still("sits", HIP_M - 0.12, (0.4, 0.36))
    calls = f'{begins} duration="2" transition="{transition}"', f'{ends} duration="2"'
    return play(programme(procedure("main", *calls), clips=library(feet_Steps=clips)), Performer(BODY, UP), Settings())


def places(motion: Motion) -> FloatArray:
    times = np.arange(round(motion.duration_s * FPS) + 1) / FPS
    return np.asarray(world_from_pose(BODY, motion.sample(times))[..., 3])


@pytest.mark.slow
@pytest.mark.parametrize("transition", ["0.6", "1.0", "1.5"])
@pytest.mark.parametrize("behind_m", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("ways", [("stands", "sits"), ("sits", "stands")])
def test_knees_of_who_sits_down_stay_above_the_ground_and_do_not_jump(behind_m: float, transition: str,
                                                                      ways: tuple[str, str]) -> None:
    found = places(sat_down(behind_m, transition, *ways))
    assert (found[:, KNEES] @ UP).min() > LOW_M
    beside = found[:, KNEES] - found[:, HIPS]
    assert np.linalg.norm(np.diff(beside, axis=0), axis=-1).max() < FAST_M


@pytest.mark.parametrize("high", [0.0, 0.1, 0.15, 0.2])
def test_knees_do_not_jump_where_legs_swing_to_the_other_side(high: float) -> None:
    """Among the smallest rotations from ahead to behind, those to either side of straight behind differ much."""
    leg, ground = legs_of(find_map(BODY))[0], ground_axes(UP)
    joints, pose = [leg.hip, leg.knee, leg.ankle], Pose.rest(BODY, 1)
    pose.rotations[:, joints[:2]] = rot.from_axis_angle(ACROSS, np.radians((-110.0, 60.0)))
    world = np.zeros((3, 1, 1, 4, 4))
    world[..., :3, :] = np.einsum("ij,kjl->kil", ground, world_from_pose(BODY, pose)[0, joints])[:, None, None]
    world[..., 3, 3] = 1.0
    angles = np.radians(np.linspace(-20.0, 20.0, 21))
    aside, ahead = ground @ ACROSS, ground @ (0.0, 0.0, 1.0)
    aims = np.sin(angles)[:, None] * aside - np.cos(angles)[:, None] * ahead + (0.0, 0.0, high)
    aims *= 0.5 * leg.length(BODY)
    world = world.repeat(len(angles), axis=2)
    shift = aims[None] - (world[2, ..., :3, 3] - world[0, ..., :3, 3])
    room = np.tile((0.0, 1.0, -np.inf), (1, len(angles), 1))
    bent, _ = Chains.of(find_map(BODY), (leg,), UP).bent(
        world, pose.rotations[:, joints].transpose(1, 0, 2)[:, None].repeat(len(angles), axis=2), shift,
        np.full((1, len(angles)), np.inf), np.zeros(len(angles)), room)
    pose = Pose.rest(BODY, len(angles))
    pose.rotations[:, joints] = bent[:, 0].swapaxes(0, 1)
    knees = world_from_pose(BODY, pose)[:, leg.knee, :, 3]
    assert np.linalg.norm(np.diff(knees, axis=0), axis=1).max() < 0.03


def test_poses_are_the_same_one_by_one_and_together() -> None:
    motion = sat_down(0.25, "1.0")
    times = np.linspace(1.2, 3.0, 19)
    together = motion.sample(times).rotations
    alone = np.concatenate([motion.sample(times[[i]]).rotations for i in range(len(times))])
    np.testing.assert_allclose(rot.angle_between(together, alone), 0.0, atol=1e-6)
