"""Limbs cut off and hung on something else: what plays on the right rig plays on that one, at the same places."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray
from takt.core.retargeting.comparing.whole_body import WholeBody
from takt.core.retargeting.limbs import Limb
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import movements
from takt.tests.core.rigs import RIGS, real, worn
from takt.tests.core.test_ground import SHAPES, Skin, skin_of
from takt.tests.core.test_ground_by_joints import changing_feet
from takt.tests.core.test_retarget import random_clip, skeleton_at, with_axes

from .corrected_maps import corrected

AT_KEYS, BETWEEN = 1e-9, 3e-3
"""Of the body: how far joints may be from where they are on the right rig. Between keys they go straight on."""
CUTS: dict[str, Mapping[str, str]] = {
    "feet on the ground": {"l_ankle": "ground", "r_ankle": "ground"},
    "feet on the hips": {"l_ankle": "hips", "r_ankle": "hips"},
    "feet on bones of IK": {"l_ankle": "IK.L", "r_ankle": "IK.R"},
    "feet on nothing": {"l_ankle": "", "r_ankle": ""},
    "one foot": {"r_ankle": "ground"},
    "hands and feet": {"l_ankle": "IK.L", "r_ankle": "IK.R", "l_wrist": "ground", "r_wrist": "hips"},
}


def with_controls(body: Skeleton) -> Skeleton:
    """Return a body below a joint on the ground, with two bones for IK beside it."""
    ankles = [body.rest_world[find_map(body).joint_of[f"{side}_ankle"], :, 3] for side in "lr"]
    names = ("ground", "IK.L", "IK.R", *body.names)
    positions = np.concatenate((np.zeros((1, 3)), 0.8 * np.array(ankles), body.rest_world[:, :, 3]))
    turns = np.concatenate((rot.identities(3), body.rest_world_rotations))
    return skeleton_at(names, [-1, 0, 0, *np.maximum(body.parents + 3, 0).tolist()], positions, turns)


def cut(body: Skeleton, limbs: Mapping[str, str], rng: np.random.Generator) -> tuple[Skeleton, IntArray]:
    """Hang limbs on other joints, by their names or those in H-Anim; also return which joint each was before.

    The joints come in an order of chance, parents first.
    """
    joint_of, parents = find_map(body).joint_of, body.parents.tolist()
    on = {"hips": joint_of["HumanoidRoot"], "": -1}
    for name, above in limbs.items():
        parents[joint_of[name]] = on[above] if above in on else body.index_of[above]
    order = list[int]()
    while len(order) < len(body):
        ready = [j for j, above in enumerate(parents) if j not in order and (above < 0 or above in order)]
        order.append(ready[int(rng.integers(len(ready)))])
    number = {joint: i for i, joint in enumerate(order)}
    return skeleton_at([body.names[j] for j in order], [number.get(parents[j], -1) for j in order],
                       body.rest_world[order, :, 3], body.rest_world_rotations[order]), np.array(order)


def apart(one: Clip, other: Clip, order: IntArray, times: FloatArray) -> FloatArray:
    """Return how far joints, and points beside them, are from each other at times, (F,) of the body."""
    worlds = [world_from_pose(clip.skeleton, clip.sample(times)) for clip in (one, other)]
    off = worlds[0][:, order] - worlds[1]
    return np.asarray(np.abs(off).max(axis=(1, 2, 3)) / np.ptp(one.skeleton.rest_world[:, :, 3], axis=0).max())


def with_flat_hands(body: Skeleton, skin: Skin, rng: np.random.Generator) -> Skin:
    """Return a skin with hands that are long and flat, turned by chance: their skin alone says where palms face."""
    vertices, joints, weights = skin
    for side in "lr":
        wrist, elbow = (find_map(body).joint_of[f"{side}_{part}"] for part in ("wrist", "elbow"))
        along = body.rest_world[wrist, :, 3] - body.rest_world[elbow, :, 3]
        across = np.cross(along, rng.normal(size=3))
        plane = rng.uniform((0.1, -0.2), (0.8, 0.2), size=(200, 2)) @ np.stack((along, across / np.linalg.norm(across)
                                                                               * np.linalg.norm(along)))
        vertices = np.concatenate((vertices, body.rest_world[wrist, :, 3] + plane))
        joints, weights = np.concatenate((joints, np.full((200, 2), wrist))), np.concatenate((weights, weights[:200]))
    return vertices, joints, weights


def body_of(seed: int) -> tuple[Skeleton, np.random.Generator]:
    rng = np.random.default_rng(seed)
    names = ("Mixamo", "VRM", "Unreal's mannequin", "Unity's humanoid")[seed % 4]
    return with_axes(with_controls(worn(RIGS[names])), rng, float(rng.uniform(0.5, 2.0))), rng


@pytest.mark.slow
@pytest.mark.parametrize("limbs", CUTS)
@pytest.mark.parametrize("seed", range(4))
def test_what_plays_on_the_right_rig_plays_on_one_whose_limbs_are_cut_off(limbs: str, seed: int) -> None:
    right, rng = body_of(seed)
    own, order = cut(right, CUTS[limbs], rng)
    clip = movements()[(5 * seed + 3) % len(movements())]
    skin = with_flat_hands(right, skin_of(right, SHAPES["boots" if seed % 2 else "thick"]), rng)
    moved = (skin[0], np.argsort(order)[skin[1]], skin[2])
    wanted, found = (retarget(clip, body, points=SkinPoints.of(*points), keep_contacts=seed > 1).clip
                     for body, points in ((right, skin), (own, moved)))
    keys = np.unique(np.concatenate((wanted.rotations.times_s, wanted.translations.times_s)))
    assert found.skeleton is own and len(keys) > 20
    assert apart(wanted, found, order, keys).max() < AT_KEYS
    assert apart(wanted, found, order, np.linspace(0.0, clip.duration_s, 97)).max() < BETWEEN


@pytest.mark.parametrize("limbs", CUTS)
def test_legs_draw_up_the_feet_that_are_cut_off(limbs: str) -> None:
    """Where feet of other proportions change, a body would hop if its legs could not; see test_ground_by_joints.py."""
    long, rng = with_controls(build_skeleton()), np.random.default_rng(7)
    offsets = long.rest_translations.copy()
    offsets[[find_map(long).joint_of[f"{side}_metatarsal"] for side in "lr"]] *= (1.0, 1.0, 2.0)
    right = Skeleton(long.names, long.parents, long.rest_rotations, offsets, long.rest_scales, "with long feet")
    own, order = cut(right, CUTS[limbs], rng)
    clip = changing_feet(0.5, (1.0,))
    wanted, found = (retarget(clip, body).clip for body in (right, own))
    hop = np.diff(world_from_pose(right, wanted.sample(np.arange(121) / 60.0))[:, right.index_of["l_hip"], 1, 3])
    assert np.abs(hop).max() * 60.0 < 1.51 * 0.9
    assert apart(wanted, found, order, wanted.rotations.different_times).max() < AT_KEYS


def test_a_rig_plays_its_own_clips_as_they_are_however_its_limbs_hang() -> None:
    right, rng = body_of(1)
    own, _ = cut(right, CUTS["feet on the ground"], rng)
    clip = random_clip(own, np.random.default_rng(2))
    done = retarget(clip, own)
    assert done.is_own
    assert apart(clip, done.clip, np.arange(len(own)), np.linspace(0.0, 3.0, 31)).max() < AT_KEYS


def test_the_man_whose_feet_hang_on_his_root_stands_and_draws_them_up() -> None:
    man = real("Male_Suit")
    whole = WholeBody.of(man, find_map(man))
    found = whole.map(find_map(man))
    assert [whole.skeleton.names[joint] for joint in whole.loose.tolist()] == ["Foot.L", "Foot.R"]
    np.testing.assert_allclose(whole.skeleton.rest_world, man.rest_world[whole.order], atol=AT_KEYS)
    assert None not in [Limb.of(found, side, ("hip", "knee", "ankle")) for side in "lr"]


def test_nothing_is_hung_on_its_own_descendant_nor_by_a_map_that_is_not_sure() -> None:
    body = build_skeleton()
    found, order = find_map(body), hanim.LEG[:3]
    assert WholeBody.of(body, found).skeleton is body
    upside_down = corrected(found, {body.names[found.joint_of[f"l_{a}"]]: f"l_{b}"
                                   for a, b in zip(order, reversed(order), strict=True)})
    assert WholeBody.of(body, upside_down).skeleton is body
    own, _ = cut(body, CUTS["feet on nothing"], np.random.default_rng(0))
    assert len(WholeBody.of(own, find_map(own)).loose) == 2
    in_doubt = replace(find_map(own), certainties=(0.1,) * len(own), is_checked=False)
    assert WholeBody.of(own, in_doubt).skeleton is own
