"""Reference poses that a person has set: kept in the map, saved in its file, used for clips and for characters."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.errors import FileError, SkeletonMismatchError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.bvh_space import BvhSpace, in_hanim_space
from takt.core.retargeting.comparing.reference import SET_POSE, find_reference
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints, evenly_around
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import SkeletonMap, find_map, read_map, write_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import Rewriting, movements, rewritten
from takt.tests.core.rigs import RIGS, worn
from takt.tests.core.test_retarget import with_axes

BODY = build_skeleton()
LIMB_DEG = 0.01
"""Keys of the rewritten clip are those of its frames."""


def bent(skeleton: Skeleton, seed: int = 0) -> FloatArray:
    """Return turns (J, 4) of a pose that differs from rest in all joints."""
    rng = np.random.default_rng(seed)
    turns = rot.from_axis_angle(rng.normal(size=(len(skeleton), 3)), rng.uniform(0.0, 0.4, len(skeleton)))
    return skeleton.turns_of(Pose(turns, np.zeros((len(skeleton), 3)), np.ones((len(skeleton), 3))))


def positions(skeleton: Skeleton) -> FloatArray:
    return skeleton.rest_world[:, :, 3]


def test_a_skeleton_in_a_pose_is_where_the_pose_leads() -> None:
    skeleton = with_axes(BODY, np.random.default_rng(1))
    rng = np.random.default_rng(2)
    pose = Pose(rot.normalized(rng.normal(size=(len(skeleton), 4))), np.zeros((len(skeleton), 3)),
                np.ones((len(skeleton), 3)))
    posed = skeleton.in_pose(skeleton.turns_of(pose))
    np.testing.assert_allclose(posed.rest_world, world_from_pose(skeleton, pose), atol=1e-9)


@pytest.mark.parametrize("turn", [rot.IDENTITY, rot.from_axis_angle(np.array((1.0, 0, 0)), np.pi / 2)])
def test_a_pose_there_and_back_in_any_axes(turn: FloatArray) -> None:
    skeleton = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(3)).turned(turn)
    found = replace(find_map(skeleton), pose=bent(skeleton))
    saved = read_map(write_map(found).encode())
    again = saved.of(skeleton)
    assert again.pose is not None and found.pose is not None
    np.testing.assert_allclose(rot.angle_between(again.pose, found.pose), 0.0, atol=1e-6)
    other = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(4))  # other joint axes, and upright
    there = saved.of(other)
    assert there.pose is not None
    wanted = rot.rotate(rot.conjugate(turn), positions(skeleton.in_pose(found.pose)))
    np.testing.assert_allclose(positions(other.in_pose(there.pose)), wanted, atol=1e-6)


def test_a_pose_is_none_of_a_skeleton_of_the_same_names_that_rests_otherwise() -> None:
    straight = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(3))
    crooked = straight.in_pose(rot.conjugate(bent(straight)))
    text = write_map(replace(find_map(straight), skeleton=crooked, pose=bent(straight)))
    saved = read_map(text.encode())
    assert saved.fits(straight)
    assert saved.of(crooked).pose is not None
    assert saved.of(straight).pose is None
    assert saved.of(straight).meant == saved.of(crooked).meant
    old = read_map("\n".join(line.split(",")[0] for line in text.splitlines()).encode())  # says nothing of the rest
    assert old.of(straight).pose is not None


def test_joints_that_turn_as_their_parents_are_not_listed() -> None:
    turns = rot.identities(len(BODY))
    arm = [j for j, name in enumerate(BODY.names) if name.startswith("l_") and name[2:] in ("shoulder", "elbow")]
    turns[arm[0]:] = rot.IDENTITY
    lifted = np.array((np.cos(0.3), 0.0, 0.0, np.sin(0.3)))
    for joint in range(len(BODY)):
        above = joint
        while above >= 0:
            if above == BODY.index_of["l_shoulder"]:
                turns[joint] = lifted
            above = int(BODY.parents[above])
    text = write_map(replace(find_map(BODY), pose=turns))
    assert text.count("\n", text.index("Reference pose")) == 2 and "l_shoulder = 0.955" in text


def test_a_clip_is_compared_in_the_pose_that_is_set() -> None:
    """Whatever the rest pose of the file is: limbs lie as in the original."""
    clip = movements()[1]
    target = with_axes(worn(RIGS["Unreal's mannequin"]), np.random.default_rng(5))
    wanted = retarget(clip, target).clip
    new = rewritten(clip, Rewriting(zero="PILE", names="numbered")).clip
    standing = rewritten(clip, Rewriting(zero="KEPT", names="numbered")).clip
    known = find_map(standing.skeleton)
    stood = rot.multiply(standing.skeleton.rest_world_rotations, rot.conjugate(new.skeleton.rest_world_rotations))
    found = SkeletonMap(new.skeleton, known.meant, known.certainties, rot.IDENTITY, is_checked=True, pose=stood)
    reference = find_reference(new, found)
    assert reference.why == SET_POSE and reference.map.pose is None
    done = retarget(new, target, source_map=found)
    times = np.linspace(0.0, clip.duration_s, 20)
    here, there = (world_from_pose(target, c.sample(times))[..., 3] for c in (done.clip, wanted))
    ours = find_map(target).joint_of
    for side in "lr":
        for a, b in (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist")):
            limbs = [at[:, ours[f"{side}_{b}"]] - at[:, ours[f"{side}_{a}"]] for at in (here, there)]
            across, lengths = np.cross(limbs[0], limbs[1]), np.linalg.norm(limbs, axis=-1)
            assert np.degrees(np.linalg.norm(across, axis=-1) / lengths[0] / lengths[1]).max() < LIMB_DEG


def test_a_character_is_compared_in_the_pose_that_is_set() -> None:
    """It plays as one that rests so, on its own bones, and on the ground on which it rests."""
    clip = rewritten(movements()[1], Rewriting()).clip
    straight = with_axes(worn(RIGS["Unreal's mannequin"]), np.random.default_rng(6))
    pose = bent(straight, 7)
    crooked = straight.in_pose(rot.conjugate(pose))
    back = rot.multiply(straight.rest_world_rotations, rot.conjugate(crooked.rest_world_rotations))
    played = retarget(clip, crooked, target_map=replace(find_map(straight), skeleton=crooked, pose=back)).clip
    assert played.skeleton is crooked
    times = np.linspace(0.0, clip.duration_s, 10)
    wanted = retarget(clip, straight).clip
    higher = positions(crooked)[:, 1].min() - positions(straight)[:, 1].min()
    assert abs(higher) > 0.01
    np.testing.assert_allclose(world_from_pose(crooked, played.sample(times))[..., 3],
                               world_from_pose(straight, wanted.sample(times))[..., 3] + (0.0, higher, 0.0), atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("rests", ["sits", "kneels", "lies", "strides"])
@pytest.mark.parametrize("number", [0, 3])
def test_a_character_stands_on_the_ground_on_which_it_rests(rests: str, number: int) -> None:
    bends = {"sits": {"l_hip": -1.5, "r_hip": -1.5, "l_knee": 1.5, "r_knee": 1.5}, "lies": {"HumanoidRoot": -1.57},
             "kneels": {"l_knee": 1.6, "r_knee": 1.6}, "strides": {"l_hip": -0.5, "r_hip": 0.4, "r_knee": 0.5}}[rests]
    pose = Pose.rest(BODY, 1)
    for name, angle in bends.items():
        pose.rotations[0, BODY.index_of[name]] = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), angle)
    posed = BODY.in_pose(BODY.turns_of(pose.at(0)))
    back = rot.multiply(BODY.rest_world_rotations, rot.conjugate(posed.rest_world_rotations))
    clip, up = rewritten(movements()[number], Rewriting()).clip, np.array((0.0, 1.0, 0.0))
    above = []
    for target, found in ((BODY, find_map(BODY)), (posed, replace(find_map(BODY), skeleton=posed, pose=back))):
        skin = balls(target)
        played = retarget(clip, target, target_map=found, points=skin).clip
        heights = skin.heights(played, np.linspace(0.0, clip.duration_s, 20), up)
        above.append(heights.min(axis=1) - skin.positions[:, 1].min())
    np.testing.assert_allclose(above[1], above[0], atol=2e-3)


def balls(skeleton: Skeleton) -> SkinPoints:
    """Return skin like balls about all joints."""
    around = 0.05 * evenly_around(60)
    turned = np.einsum("jab,pb->jpa", rot.to_matrix(skeleton.rest_world_rotations), around)
    places = (positions(skeleton)[:, None] + turned).reshape(-1, 3)
    return SkinPoints.of(places, np.repeat(np.arange(len(skeleton)), len(around))[:, None], np.ones((len(places), 1)))


def test_bvh_files_keep_the_pose_in_their_new_axes() -> None:
    turn = rot.from_axis_angle(np.array((1.0, 0, 0)), np.pi / 2)
    clip = movements()[0]
    tilted = replace(clip, skeleton=BODY.turned(turn))
    found = replace(find_map(tilted.skeleton), pose=rot.multiply(rot.multiply(turn, bent(BODY)), rot.conjugate(turn)))
    _, new, _ = in_hanim_space(tilted, found, BvhSpace())
    assert new.pose is not None
    np.testing.assert_allclose(rot.angle_between(new.pose, bent(BODY)), 0.0, atol=1e-6)


@pytest.mark.parametrize("text", ["1 0 0", "1 0 0 x", "0 0 0 0", "nan 0 0 1", ""])
def test_what_is_no_quaternion_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(FileError, match=r":5: found .* expected a quaternion w x y z"):
        read_map(f"Takt skeleton map\nrig = 0123456789ab\na = l_hip\nReference pose\na = {text}\n".encode())


@pytest.mark.parametrize("text", ["1 0", "0 0 0", "x 0 0", "inf 0 0", ""])
def test_what_is_no_direction_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(FileError, match=r":5: found .* expected a direction x y z"):
        read_map(f"Takt skeleton map\nrig = 0123456789ab\na = l_hip\nReference pose\na = 1 0 0 0, {text}\n".encode())


def test_a_pose_of_another_skeleton_is_refused() -> None:
    with pytest.raises(SkeletonMismatchError, match=r"a reference pose of shape \(2, 4\)"):
        replace(find_map(BODY), pose=rot.identities(2))


def test_labels_of_all_joints_differ() -> None:
    labels = [hanim.label(name) for name in hanim.PARENTS]
    assert len(set(labels)) == len(labels)
