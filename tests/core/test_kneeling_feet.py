"""Feet of one who falls forwards over his knees slide, and are not held: no knee is pressed into the ground."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, smoothstep
from takt.core.playing.alone import standing
from takt.core.playing.stage import Playable
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.tests.core.stepping import ACROSS, BODY, times_of

UP = np.array((0.0, 1.0, 0.0))
KNEES, FEET = ([BODY.index_of[f"{side}_{part}"] for side in "lr"] for part in ("knee", "metatarsal"))
SAME_M, HELD_M, GOES_M, SLIDES_M = 0.018, 0.002, 0.1, 0.2


def kneeling(falls_s: float) -> Clip:
    """Kneel upright for a while, then go forwards over the knees, feet sliding behind, and stay there."""
    times, pose = times_of(3.0), Pose.rest(BODY, len(times_of(3.0)))
    share = smoothstep(times, 1.2, 1.2 + falls_s)
    for side in "lr":
        pose.rotations[:, BODY.index_of[f"{side}_hip"]] = rot.from_axis_angle(ACROSS, 0.9 * share)
        pose.rotations[:, BODY.index_of[f"{side}_knee"]] = rot.from_axis_angle(ACROSS, 0.5 * np.pi - 0.9 * share)
    pose.translations[:, 0, 2] = GOES_M * share
    clip = made(times, pose)
    pose.translations[:, 0] -= (places(clip, times)[:, KNEES[0]] @ UP - 0.08)[:, None] * UP
    return made(times, pose)


def made(times: FloatArray, pose: Pose) -> Clip:
    whole = np.array(((0.0, float(times[-1])),))
    contacts = {side: FootContacts(np.zeros((0, 2)), whole) for side in "lr"}
    return Clip("kneels", BODY, float(times[-1]), Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3),
                contacts=contacts)


def places(clip: Playable, times: FloatArray) -> FloatArray:
    return np.asarray(world_from_pose(BODY, clip.sample(times))[..., 3])


@pytest.mark.parametrize("falls_s", [0.2, 0.5, 1.0])
def test_who_goes_forwards_over_his_knees_has_none_pressed_into_the_ground(falls_s: float) -> None:
    clip, times = kneeling(falls_s), times_of(3.0)
    plain, held = (places(each, times) for each in (clip, standing(clip, find_map(BODY), UP)))
    assert np.linalg.norm(np.ptp(plain[:, FEET], axis=0), axis=-1).min() > SLIDES_M
    assert ((held - plain)[:, KNEES] @ UP).min() > -SAME_M
    still = times < 1.0
    assert np.linalg.norm(np.ptp(held[still][:, FEET], axis=0), axis=-1).max() < HELD_M
