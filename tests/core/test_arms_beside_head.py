"""Arms stay outside a large head as far as in the clip: raised ones go up beside it."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.contacts.arms import ArmsBesideTrunk, ArmsInFrames
from takt.core.retargeting.contacts.kept_contacts import with_contacts_kept
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints, evenly_around
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.test_arms import BODY, HANGING, SLIM, TIMES, headless, skin_of, swinging, target_body

UP_RAD = 2.75
"""By which arms that hang are swung forwards to be raised."""
DEEP_M, ROUNDING = 0.02, 1e-9
HASTE = 1.5
RAISED = swinging(UP_RAD * np.clip(1.5 * np.sin(np.pi * TIMES / 2.0), 0.0, 1.0))


def with_head(skeleton: Skeleton, radius_m: float) -> tuple[SkinPoints, FloatArray]:
    """Return skin of a slim trunk, arms and a head like a ball, and the ball's middle (3,) from the head's joint."""
    found, body = find_map(skeleton), skin_of(skeleton, SLIM)
    joint, neck = (found.joint_of[name] for name in ("skullbase", "vc7"))
    at = skeleton.rest_world[:, :, 3]
    up = (at[joint] - at[neck]) / np.linalg.norm(at[joint] - at[neck])
    ball = at[joint] + radius_m * (0.8 * up + evenly_around(400))
    joints = np.concatenate((body.joints, np.full((len(ball), 1), joint)))
    skin = SkinPoints(np.concatenate((body.positions, ball)), joints, np.ones(joints.shape))
    return skin, np.linalg.solve(skeleton.rest_world[joint, :, :3], 0.8 * radius_m * up)


def in_head(clip: Clip, radius_m: float, middle: FloatArray, times: FloatArray = TIMES) -> FloatArray:
    """Return how deep the forearms are in the head, in metres, (F,)."""
    joint_of = find_map(clip.skeleton).joint_of
    world = world_from_pose(clip.skeleton, clip.sample(times))
    head = world[:, joint_of["skullbase"]]
    centre, deepest = head[..., :3] @ middle + head[..., 3], np.full(len(times), -np.inf)
    for side in "lr":
        elbow, wrist = (world[:, joint_of[f"{side}_{part}"], :, 3] for part in ("elbow", "wrist"))
        for share in (0.5, 0.75, 1.0):
            far = np.linalg.norm(elbow + share * (wrist - elbow) - centre, axis=1)
            deepest = np.maximum(deepest, radius_m - far)
    return deepest


@pytest.mark.parametrize("radius_m", [0.28, 0.31, 0.34])
@pytest.mark.parametrize("seed", range(2))
def test_raised_arms_do_not_go_into_a_large_head(radius_m: float, seed: int) -> None:
    target = target_body(seed)
    skin, middle = with_head(target, radius_m)
    plain, kept = (retarget(RAISED, target, points=skin, keep_contacts=keep).clip for keep in (False, True))
    before, after = (in_head(clip, radius_m, middle) for clip in (plain, kept))
    assert before.max() > 1.5 * DEEP_M and after.max() < DEEP_M
    times = np.linspace(0.0, 2.0, 241)
    wrists = [find_map(target).joint_of[f"{side}_wrist"] for side in "lr"]
    speeds = [np.linalg.norm(np.diff(world_from_pose(target, clip.sample(times))[..., 3][:, wrists], axis=0), axis=-1)
              for clip in (plain, kept)]
    assert speeds[1].max() < HASTE * speeds[0].max()


def test_nothing_changes_beside_a_small_head_and_for_arms_that_hang() -> None:
    target = target_body()
    for clip, radius_m in ((RAISED, 0.1), (HANGING, 0.3)):
        skin, _ = with_head(target, radius_m)
        plain, kept = (retarget(clip, target, points=skin, keep_contacts=keep).clip for keep in (False, True))
        worlds = [world_from_pose(target, each.sample(TIMES)) for each in (plain, kept)]
        raised = np.abs(TIMES - 1.0) < 0.5 if clip is RAISED else np.ones(len(TIMES), dtype=np.bool_)
        np.testing.assert_allclose(worlds[1][raised], worlds[0][raised], atol=ROUNDING)


def test_of_a_head_that_one_of_both_bodies_does_not_show_nobody_knows() -> None:
    target = target_body()
    skin, middle = with_head(target, 0.3)
    plain = retarget(RAISED, target, points=skin).clip
    kept = with_contacts_kept(plain, find_map(target), skin, RAISED, headless(BODY))
    raised = np.abs(TIMES - 1.0) < 0.3
    np.testing.assert_allclose(in_head(kept, 0.3, middle)[raised], in_head(plain, 0.3, middle)[raised], atol=ROUNDING)
    here, there = ArmsBesideTrunk.of(headless(target), skin), ArmsBesideTrunk.of(find_map(BODY), None)
    assert here is not None and there is not None and there.head is not None
    assert here.allowed(ArmsInFrames(there, BODY.rest_world[None]).outside(0)[0], 0).shape == (1, 4)
