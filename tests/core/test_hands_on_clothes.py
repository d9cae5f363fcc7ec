"""Hands that touch the body rest on what is outermost there: on fat trunks, under skirts, with short arms, gently."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints, evenly_around
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.tests.core.test_hands import BODY, TIMES, clapping, height, palms, placed, shaped

USUAL, HAND_M = 0.15, 0.025
"""How thick a trunk and half of a hand are, in metres."""
ON, IN, IN_A_SLAP, TOGETHER, HASTE = 0.03, 0.015, 0.01, 0.03, 1.6
"""Of the height: a hand so near is on the skin, so deep it is in it. HASTE: of the speed without contacts."""
ANGLES = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)


def tube(low: float, high: float, radius: float) -> FloatArray:
    """Return points (P, 3) of an upright tube about the body's middle."""
    rings = [np.stack((radius * np.cos(ANGLES), np.full(24, y), radius * np.sin(ANGLES)), axis=1)
             for y in np.linspace(low, high, 9)]
    return np.concatenate(rings)


class Dressed:
    """A body at rest with a trunk like a barrel, hands like balls, and perhaps a skirt about its thighs."""

    def __init__(self, skeleton: Skeleton, fat: float, skirt: float) -> None:
        joint_of, at = find_map(skeleton).joint_of, skeleton.rest_world[:, :, 3]
        hips, shoulders, knees = (at[joint_of[f"l_{part}"], 1] for part in ("hip", "shoulder", "knee"))
        self.skeleton = skeleton
        self.tubes = [(hips - 0.1, shoulders, USUAL * fat), *([(knees, hips + 0.1, skirt)] if skirt else [])]
        parts = [(tube(*each), joint_of["HumanoidRoot"]) for each in self.tubes]
        for side in "lr":
            ends = at[[joint_of[f"{side}_hip"], joint_of[f"{side}_knee"]]]
            parts.append((np.concatenate([end + 0.06 * evenly_around(60) for end in ends]), joint_of[f"{side}_hip"]))
            knuckles = [at[joint_of[f"{side}_{finger}1"]] for finger in ("index", "middle", "ring", "pinky")]
            parts.append((np.mean(knuckles, axis=0) + HAND_M * evenly_around(60), joint_of[f"{side}_wrist"]))
        owners = np.concatenate([np.full(len(points), joint) for points, joint in parts])
        self.skin = SkinPoints.of(np.concatenate([points for points, _ in parts]), owners[:, None],
                                  np.ones((len(owners), 1)))

    def outside(self, palm: FloatArray) -> FloatArray:
        """Return how far palms (F, 3) are outside the nearest tube, (F,) in heights of the body."""
        far = []
        for low, high, radius in self.tubes:
            aside = np.hypot(palm[:, 0], palm[:, 2]) - radius
            beyond = np.maximum(np.maximum(low - palm[:, 1], palm[:, 1] - high), 0.0)
            far.append(np.where(beyond > 0.0, np.hypot(np.maximum(aside, 0.0), beyond), aside))
        return np.asarray((np.min(far, axis=0) - HAND_M) / height(self.skeleton))


def palm_at(clip: Clip, times: FloatArray, side: str = "l") -> FloatArray:
    joint_of = find_map(clip.skeleton).joint_of
    world = world_from_pose(clip.skeleton, clip.sample(times))[..., 3]
    knuckles = [joint_of[f"{side}_{finger}1"] for finger in ("index", "middle", "ring", "pinky")]
    return np.asarray(world[:, knuckles].mean(axis=1))


def fastest(palm: FloatArray) -> float:
    return float(np.linalg.norm(np.diff(palm, axis=0), axis=1).max())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_a_hand_on_the_hip_is_on_what_covers_it(seed: int) -> None:
    rng, (clip, share) = np.random.default_rng(seed), placed("hip")
    fat, arm, skirt = rng.uniform(1.0, 1.6), rng.uniform(0.7, 1.0), rng.integers(2) * rng.uniform(0.18, 0.3)
    body = Dressed(shaped(0.0, arm), fat, skirt)
    plain, kept = (retarget(clip, body.skeleton, points=body.skin, keep_contacts=keep).clip for keep in (False, True))
    times = np.linspace(0.0, clip.duration_s, 121)
    there = np.interp(times, np.linspace(0.0, clip.duration_s, len(share)), share) == 1.0
    outside = body.outside(palm_at(kept, times))[there]
    assert outside.max() < ON and outside.min() > -IN
    assert fastest(palm_at(kept, times)) < HASTE * fastest(palm_at(plain, times))


def both_at(aside_m: float, front_m: float) -> Clip:
    """Return hands of the sample's body that go to its belly and back, so far from the middle and to the front."""
    found, at = find_map(BODY), BODY.rest_world[..., 3]
    pose = Pose.rest(BODY, len(TIMES))
    world, share = world_from_pose(BODY, pose), np.clip(2.0 * np.sin(np.pi * TIMES / 2.0), 0.0, 1.0)[:, None]
    for side, sign in (("l", 1.0), ("r", -1.0)):
        arm = Limb.of(found, side, ("shoulder", "elbow", "wrist"))
        assert arm is not None
        knuckles = [found.joint_of[f"{side}_{finger}1"] for finger in ("index", "middle", "ring", "pinky")]
        wanted = np.array((sign * aside_m, at[found.joint_of["l_hip"], 1] + 0.1, front_m))
        away = share * (wanted - world[..., 3][:, knuckles].mean(axis=1))
        moved = LimbPoses.of(world, arm).at((slice(None), 0)).reaching(away, -np.eye(3)[0])
        pose.rotations[:, arm] = moved.rotations(BODY, world, arm)
    turns = Tracks.uniform(np.arange(len(BODY)), TIMES, pose.rotations)
    return Clip("both", BODY, 2.0, turns, Tracks.empty(3), Tracks.empty(3))


@pytest.mark.slow
@pytest.mark.parametrize("fat", [1.0, 1.3, 1.6])
@pytest.mark.parametrize(("aside_m", "front_m"), [(0.12, 0.02), (0.1, 0.1), (0.14, -0.02)])
def test_hands_on_either_side_of_a_belly_stay_there(fat: float, aside_m: float, front_m: float) -> None:
    """They are near each other on a slim body, but there is no way from one to the other through a fat one."""
    clip, times = both_at(aside_m, front_m), np.linspace(0.0, 2.0, 121)
    body = Dressed(shaped(0.05, 1.0), fat, 0.0)
    plain, kept = (retarget(clip, body.skeleton, points=body.skin, keep_contacts=keep).clip for keep in (False, True))
    there = np.abs(times - 1.0) < 0.25
    outside = body.outside(palm_at(kept, times))
    assert outside[there].max() < ON and outside[there].min() > -IN
    assert fastest(palm_at(kept, times)) < HASTE * fastest(palm_at(plain, times))


@pytest.mark.parametrize("fat", [1.3, 1.6])
@pytest.mark.parametrize("sooner", [3.0, 5.0, 8.0])
def test_hands_that_slap_a_belly_do_not_go_into_it(fat: float, sooner: float) -> None:
    """What is done in so short a time is lost in averages."""
    slow, body = both_at(0.02, 0.15), Dressed(shaped(0.05, 1.0), fat, 0.0)
    turns = replace(slow.rotations, times_s=slow.rotations.times_s / sooner)
    clip = replace(slow, duration_s=slow.duration_s / sooner, rotations=turns)
    kept = retarget(clip, body.skeleton, points=body.skin, keep_contacts=True).clip
    assert body.outside(palm_at(kept, np.linspace(0.0, clip.duration_s, 97))).min() > -IN_A_SLAP


@pytest.mark.slow
@pytest.mark.parametrize("fat", [1.0, 1.3, 1.6])
@pytest.mark.parametrize("arm", [0.7, 1.0])
def test_clapping_hands_meet_before_a_fat_belly(fat: float, arm: float) -> None:
    clip, body, times = clapping(), Dressed(shaped(0.05, arm), fat, 0.0), np.linspace(0.0, 2.0, 97)
    kept = retarget(clip, body.skeleton, points=body.skin, keep_contacts=True).clip
    there, here = (np.linalg.norm(np.subtract(*palms(each, times)), axis=1) / height(each.skeleton)
                   for each in (clip, kept))
    near = there < 0.09
    assert near.any() and np.abs(here - there)[near].max() < TOGETHER
    assert body.outside(palm_at(kept, times)).min() > -IN


@pytest.mark.parametrize("fat", [1.3, 1.6])
@pytest.mark.parametrize("arm", [0.8, 1.0])
@pytest.mark.parametrize("front_m", [0.15, -0.14])
def test_hands_that_clasp_each_other_do_so_before_and_behind_a_fat_trunk(fat: float, arm: float,
                                                                         front_m: float) -> None:
    """They are in the trunk at first, with some of it between them, and would each come out on its own side."""
    clip, body = both_at(0.02, front_m), Dressed(shaped(0.05, arm), fat, 0.0)
    kept = retarget(clip, body.skeleton, points=body.skin, keep_contacts=True).clip
    times = np.linspace(0.75, 1.25, 25)
    there, here = (np.linalg.norm(palm_at(each, times) - palm_at(each, times, "r"), axis=1) / height(each.skeleton)
                   for each in (clip, kept))
    assert there.max() < TOGETHER and np.abs(here - there).max() < TOGETHER
    assert min(body.outside(palm_at(kept, times, side)).min() for side in "lr") > -IN
