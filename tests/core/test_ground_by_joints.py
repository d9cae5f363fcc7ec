"""Feet are as high above the ground as the clip's own, also of a body with longer feet, whose hips do not hop."""

from functools import cache

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.ground.grounding import Ground, with_feet_drawn_up
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.maps import SkeletonMap, find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton

FPS, SWAP_FRAMES, FRAMES = 60, 2, 121
LIFTED_M = 0.1
FASTEST_LEGS_PER_S = 1.51
HANGS_LEGS = 0.0101
MOMENT_S = 0.3
ROUNDING = 1e-9
UP = np.array((0.0, 1.0, 0.0))
SWAY = np.array(((0.0, 0.0, 0.0), (0.01, 0.0, 0.0)))
"""Of the root: a clip that does not move the body at all leaves it as high as it is."""
BODY = build_skeleton()
JOINTS = find_map(BODY).joint_of


def with_long_feet(times: float) -> Skeleton:
    """Make the body with feet so many times as long, and as high."""
    offsets = BODY.rest_translations.copy()
    offsets[[JOINTS["l_metatarsal"], JOINTS["r_metatarsal"]]] *= (1.0, 1.0, times)
    return Skeleton(BODY.names, BODY.parents, BODY.rest_rotations, offsets, BODY.rest_scales, "with long feet")


@cache
def changing_feet(pitch_rad: float, swaps_s: tuple[float, ...], swap_frames: int = SWAP_FRAMES) -> Clip:
    """Make a clip of a body that stands on a ball with its heel up, then on the other foot, flat, then back.

    Hips stay as high as they are; one foot goes up while the other comes down, within so many frames.
    """
    times = np.arange(FRAMES) / FPS
    clip = Clip("", BODY, times[-1], Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    pose = clip.sample(times)
    changed = np.clip((times[:, None] - swaps_s) * FPS / swap_frames, 0.0, 1.0)
    share = np.abs(np.where(np.arange(len(swaps_s)) % 2, -changed, changed).sum(axis=1))
    pitch = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.full(len(times), pitch_rad))
    pose.rotations[:, JOINTS["l_ankle"]] = pitch
    foot = BODY.rest_world[JOINTS["l_metatarsal"], :, 3] - BODY.rest_world[JOINTS["l_ankle"], :, 3]
    sunk = -(rot.rotate(pitch[0], foot) - foot)[1]
    world = world_from_pose(BODY, pose)
    for side, up in (("l", sunk + LIFTED_M * share), ("r", LIFTED_M * (1.0 - share))):
        leg = Limb.of(find_map(BODY), side, ("hip", "knee", "ankle"))
        assert leg is not None
        plain = LimbPoses.of(world, leg).at((slice(None), 0))
        drawn = plain.reaching(up[:, None] * UP, np.array((1.0, 0.0, 0.0)))
        pose.rotations[:, leg] = drawn.rotations(BODY, world, leg)
    moved = [JOINTS[f"{side}_{part}"] for side in "lr" for part in ("hip", "knee", "ankle", "metatarsal")]
    return Clip("changing feet", BODY, times[-1],
                Tracks.uniform(np.sort(moved), times, pose.rotations[:, np.sort(moved)]),
                Tracks.uniform(np.zeros(1, np.int64), times[[0, -1]], SWAY[:, None]), Tracks.empty(3))


def heights(clip: Clip, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return how high the hips are, and the lowest joint of the feet above its height at rest, (F,) in legs."""
    world, rest = (world[..., 1, 3] for world in (world_from_pose(clip.skeleton, clip.sample(times)),
                                                  clip.skeleton.rest_world))
    leg = rest[JOINTS["l_hip"]] - rest[JOINTS["l_ankle"]]
    feet = [JOINTS[f"{side}_{part}"] for side in "lr" for part in ("ankle", "metatarsal")]
    return world[:, JOINTS["HumanoidRoot"]] / leg, (world[:, feet] - rest[feet]).min(axis=1) / leg


@pytest.mark.parametrize("swaps_s", [(1.0,), (0.5, 1.5), (0.05, 1.95), (1.5,)])
@pytest.mark.parametrize(("longer", "pitch_rad"), [(1.5, 0.7), (2.0, 0.5), (2.5, 0.3), (0.5, 0.7)])
def test_hips_of_a_body_with_other_feet_do_not_hop_where_its_feet_change(
        longer: float, pitch_rad: float, swaps_s: tuple[float, ...]) -> None:
    clip = changing_feet(pitch_rad, swaps_s)
    done = retarget(clip, with_long_feet(longer))
    times = np.arange(FRAMES) / FPS
    own, (hips, low) = heights(clip, times), heights(done.clip, times)
    assert np.ptp(own[0]) < ROUNDING and np.ptp(hips) > 0.003
    assert (low - own[1]).min() > -ROUNDING and (low - own[1]).max() < HANGS_LEGS
    assert np.abs(np.diff(hips)).max() * FPS <= FASTEST_LEGS_PER_S


def test_a_clip_ends_as_high_as_its_poses_are_whatever_follows_or_went_before() -> None:
    ends = np.array((0.0, (FRAMES - 1) / FPS))
    usual, early, late = (heights(retarget(changing_feet(0.7, swaps_s), with_long_feet(1.5)).clip, ends)[0]
                          for swaps_s in ((1.0,), (0.03,), (1.95,)))
    assert np.ptp(usual) > 0.03
    np.testing.assert_allclose((early, late), (usual, usual), atol=ROUNDING)


def test_a_body_of_the_same_proportions_plays_the_clip_as_it_is() -> None:
    clip = changing_feet(0.7, (1.0,))
    times = np.arange(FRAMES) / FPS
    larger = Skeleton(BODY.names, BODY.parents, BODY.rest_rotations, BODY.rest_translations * 1.3, BODY.rest_scales, "")
    np.testing.assert_allclose(heights(retarget(clip, larger).clip, times)[0], heights(clip, times)[0], atol=ROUNDING)


@pytest.mark.parametrize("swap_frames", [2, 24, 31, 47])
def test_legs_are_left_alone_but_for_moments_in_which_the_body_would_hop(swap_frames: int,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    """Not drawn up by a rounding error either: straight legs bend by degrees for next to nothing."""
    found = list[Ground]()

    def observed(clip: Clip, body: SkeletonMap, ground: Ground, up: FloatArray) -> Clip:
        found.append(ground)
        return with_feet_drawn_up(clip, body, ground, up)

    monkeypatch.setattr("takt.core.retargeting.retarget.with_feet_drawn_up", observed)
    retarget(changing_feet(0.7, (0.5,), swap_frames), with_long_feet(1.5))
    (ground,) = found
    before, after = 0.5 - MOMENT_S, 0.5 + swap_frames / FPS + MOMENT_S
    assert not ground.drawn[(ground.times_s < before) | (ground.times_s > after)].any()
