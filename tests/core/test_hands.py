"""Keep Contacts: clapping hands meet on broad shoulders and with short arms, and nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.contacts.kept_contacts import with_contacts_kept
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rigs import RIGS, standing_at, worn
from takt.tests.core.test_ground import skin_of
from takt.tests.core.test_retarget import with_axes

from .corrected_maps import corrected

NEAR, KEPT, KEPT_FOR_A_MOMENT = 0.12, 0.03, 0.015
"""Of the height."""
THICKNESS = 0.012
"""Half of a hand's, of the height."""
SOON_S = 0.2
"""Hands are on their way to what they touch no earlier."""
X, Y, Z = np.eye(3)
BODY = build_skeleton()
TIMES = np.linspace(0.0, 2.0, 49)


def height(skeleton: Skeleton) -> float:
    joint_of, at = find_map(skeleton).joint_of, skeleton.rest_world[:, :, 3]
    return float(np.linalg.norm(at[joint_of["skullbase"]] - at[joint_of["l_ankle"]]))


def arms_at(inwards_rad: FloatArray) -> Clip:
    """Return a clip with both arms stretched to the front, and turned inwards by an angle (F,)."""
    turns = []
    for sign in (1.0, -1.0):
        front = rot.from_axis_angle(X, np.array(-np.pi / 2))
        turns.append(rot.multiply(rot.from_axis_angle(Y, -sign * inwards_rad), front))
    shoulders = np.array([BODY.index_of["l_shoulder"], BODY.index_of["r_shoulder"]])
    order = np.argsort(shoulders)
    return Clip("clap", BODY, 2.0, Tracks.uniform(shoulders[order], TIMES[:len(inwards_rad)],
                                                  np.stack(turns, axis=1)[:, order]), Tracks.empty(3), Tracks.empty(3))


def clapping(seconds: float = 2.0) -> Clip:
    """Return hands that meet in the middle of two seconds and part again, in so many."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        left, right = palms(arms_at(np.full(1, middle)), np.zeros(1))
        low, high = (middle, high) if (left - right)[0, 0] > 0.02 else (low, middle)
    return arms_at(low * np.cos(np.pi * np.clip((TIMES - 1.0) / seconds, -0.5, 0.5)))


def palms(clip: Clip, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    joint_of = find_map(clip.skeleton).joint_of
    world = world_from_pose(clip.skeleton, clip.sample(times))[..., 3]
    left, right = (world[:, joint_of[f"{side}_middle1"]] for side in "lr")
    return left, right


def shaped(broader: float, arm: float) -> Skeleton:
    """Return a body with shoulders so much farther out, and arms so many times as long."""
    skeleton = worn(RIGS["Unreal's mannequin"])
    found, at = find_map(skeleton), skeleton.rest_world[:, :, 3].copy()
    for side, sign in (("l", 1.0), ("r", -1.0)):
        top = found.joint_of[f"{side}_shoulder"]
        below = [j for j in range(len(skeleton)) if top in skeleton_path(skeleton, j)]
        at[below] = at[top] + arm * (at[below] - at[top]) + sign * broader * X
    return with_axes(standing_at(list(skeleton.names), skeleton.parents, at), np.random.default_rng(1))


def skeleton_path(skeleton: Skeleton, joint: int) -> list[int]:
    path = [joint]
    while (joint := int(skeleton.parents[joint])) >= 0:
        path.append(joint)
    return path


@pytest.mark.parametrize(("broader", "arm"), [(0.1, 1.0), (-0.05, 1.0), (0.05, 0.8), (0.0, 1.25)])
def test_hands_that_meet_do_so_on_any_shoulders(broader: float, arm: float) -> None:
    clip, target = clapping(), shaped(broader, arm)
    without, kept = (retarget(clip, target, keep_contacts=keep).clip for keep in (False, True))
    times = np.linspace(0.0, 2.0, 97)
    there = np.linalg.norm(np.subtract(*palms(clip, times)), axis=1) / height(BODY)
    before, after = (np.linalg.norm(np.subtract(*palms(c, times)), axis=1) / height(target) for c in (without, kept))
    near = there < NEAR
    assert near.any() and np.abs(before - there)[near].max() > KEPT
    assert np.abs(after - there)[near].max() < KEPT


@pytest.mark.parametrize("seconds", [0.15, 0.2])
def test_hands_that_meet_for_a_moment_do_so_on_broad_shoulders(seconds: float) -> None:
    clip, target = clapping(seconds), shaped(0.1, 1.0)
    without, kept = (retarget(clip, target, keep_contacts=keep).clip for keep in (False, True))
    there, before, after = (np.linalg.norm(np.subtract(*palms(c, np.array([1.0])))) / height(c.skeleton)
                            for c in (clip, without, kept))
    assert before - there > KEPT and abs(after - there) < KEPT_FOR_A_MOMENT


def test_hands_stay_turned_as_they_are_and_arms_as_long() -> None:
    clip, target = clapping(), shaped(0.1, 1.0)
    without, kept = (retarget(clip, target, keep_contacts=keep).clip for keep in (False, True))
    joint_of, times = find_map(target).joint_of, np.linspace(0.0, 2.0, 49)
    one, other = (world_from_pose(target, c.sample(times)) for c in (without, kept))
    for side in "lr":
        shoulder, elbow, wrist = (joint_of[f"{side}_{part}"] for part in ("shoulder", "elbow", "wrist"))
        np.testing.assert_allclose(other[:, wrist, :, :3], one[:, wrist, :, :3], atol=2e-3)
        np.testing.assert_allclose(other[:, shoulder, :, 3], one[:, shoulder, :, 3], atol=1e-9)
        for a, b in ((shoulder, elbow), (elbow, wrist)):
            lengths = [np.linalg.norm(world[:, a, :, 3] - world[:, b, :, 3], axis=1) for world in (one, other)]
            np.testing.assert_allclose(lengths[1], lengths[0], atol=1e-6)
    near = np.linalg.norm(np.subtract(*palms(clip, times)), axis=1) < 0.25 * height(BODY)
    far = np.abs(times - times[near, None]).min(axis=0) > SOON_S
    assert far.any()
    np.testing.assert_allclose(other[far], one[far], atol=1e-3)


def test_hands_that_are_never_near_change_nothing() -> None:
    clip, target = arms_at(np.zeros(49)), shaped(0.1, 1.0)
    without = retarget(clip, target).clip
    assert with_contacts_kept(without, find_map(target), None, clip, find_map(BODY)) is without
    armless = corrected(find_map(target), {target.names[find_map(target).joint_of["l_elbow"]]: None})
    assert with_contacts_kept(without, armless, None, clapping(), find_map(BODY)) is without


def placed(body: str) -> tuple[Clip, FloatArray]:
    """Return a left hand that goes to a part of the sample's body and back, and how much it is there (F,)."""
    found, at = find_map(BODY), BODY.rest_world[..., 3]
    joint_of, share = found.joint_of, np.clip(2.0 * np.sin(np.pi * TIMES / 2.0), 0.0, 1.0)
    hip, head = joint_of["l_hip"], joint_of["skullbase"]
    pose, thick = Pose.rest(BODY, len(TIMES)), THICKNESS * height(BODY)
    target = {"hip": at[hip] + (0.165 + thick - at[hip, 0]) * X + 0.08 * Y,
              "head": at[head] + (0.08 + thick) * X + 0.075 * Y + 0.02 * Z}[body]
    arm = Limb.of(found, "l", ("shoulder", "elbow", "wrist"))
    assert arm is not None
    plain = Clip("reach", BODY, 2.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    world = world_from_pose(BODY, pose)
    knuckles = [joint_of[f"l_{finger}1"] for finger in ("index", "middle", "ring", "pinky")]
    away = target - world[..., 3][:, knuckles].mean(axis=1)
    moved = LimbPoses.of(world, arm).at((slice(None), 0)).reaching(share[:, None] * away, -X)
    pose.rotations[:, arm] = moved.rotations(BODY, world, arm)
    return replace(plain, rotations=Tracks.uniform(np.arange(len(BODY)), TIMES, pose.rotations)), share


def gap(clip: Clip, skin: SkinPoints, part: list[str]) -> FloatArray:
    """Return how far the knuckles of the left hand are outside the nearest ball of skin about some joints, (F,)."""
    found = find_map(clip.skeleton)
    world, rest = world_from_pose(clip.skeleton, clip.sample(TIMES))[..., 3], clip.skeleton.rest_world[..., 3]
    palm = world[:, [found.joint_of[f"l_{finger}1"] for finger in ("index", "middle", "ring", "pinky")]].mean(axis=1)
    gaps = []
    for joint in (found.joint_of[name] for name in part):
        radius = np.linalg.norm(skin.positions[skin.joints[:, 0] == joint] - rest[joint], axis=1).max()
        gaps.append(np.linalg.norm(palm - world[:, joint], axis=1) - radius)
    return np.asarray(np.min(gaps, axis=0) / height(clip.skeleton)) - THICKNESS


THICK = {"skullbase": 0.12, "HumanoidRoot": 0.17, "vl5": 0.17, "vt3": 0.17, "hip": 0.08, "knee": 0.06}


@pytest.mark.parametrize(("broader", "arm"), [(0.12, 1.0), (0.08, 1.3), (-0.08, 1.0)])
@pytest.mark.parametrize(("body", "part"), [("hip", ["HumanoidRoot", "vl5", "l_hip"]), ("head", ["skullbase"])])
def test_a_hand_on_the_body_is_on_it_on_any_body(body: str, part: list[str], broader: float, arm: float) -> None:
    (clip, share), target = placed(body), shaped(broader, arm)
    skin = SkinPoints.of(*skin_of(target, THICK))
    before, after = (gap(retarget(clip, target, points=skin, keep_contacts=keep).clip, skin, part)
                     for keep in (False, True))
    there = share == 1.0
    assert np.abs(before[there]).max() > KEPT
    assert np.abs(after[there][3:-3]).max() < KEPT


def test_on_the_clips_own_body_every_key_stays() -> None:
    clip = clapping()
    played = retarget(clip, BODY, keep_contacts=True).clip
    np.testing.assert_allclose(played.rotations.values, clip.rotations.values, atol=1e-12)
