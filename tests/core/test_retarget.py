"""Clips on their own skeleton, on one with other axes, and on other ones."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import SkeletonMismatchError
from takt.core.formats import bvh, ogre_binary
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.matching import Pairing, pair
from takt.core.retargeting.comparing.reference import rebased
from takt.core.retargeting.comparing.rest_pose import rest_corrections
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons import hanim
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.beside import real_file
from takt.tests.core.ogre_cases import sinbad
from takt.tests.core.rewriting import movements
from takt.tests.core.rigs import RIGS, real, worn

ROUNDING = 1e-9
"""What float64 loses in a few dozen products."""
OWN = 1e-5
"""A clip on its own skeleton, relative to the skeleton's size."""

Z = np.array((0.0, 0.0, 1.0))
BLENDER_FROM_HANIM = rot.from_axis_angle(np.array((1.0, 0, 0)), np.pi / 2)


def skeleton_at(names: Sequence[str], parents: Sequence[int], places: FloatArray, axes: FloatArray | None = None,
                ) -> Skeleton:
    """Make a skeleton from joint positions and rest rotations (identity) in the model."""
    world = rot.identities(len(names)) if axes is None else axes
    up = np.asarray(parents)
    local = np.where(up[:, None] >= 0, rot.multiply(rot.conjugate(world[up]), world), world)
    offset = np.where(up[:, None] >= 0, rot.rotate(rot.conjugate(world[up]), places - places[up]), places)
    return Skeleton.from_arrays(names, parents, local, offset)


def with_axes(skeleton: Skeleton, rng: np.random.Generator, size: float = 1.0) -> Skeleton:
    """Give the joints other axes, in the same places."""
    axes = rot.normalized(rng.normal(size=(len(skeleton), 4)))
    return skeleton_at(skeleton.names, skeleton.parents.tolist(), skeleton.rest_world[:, :, 3] * size, axes)


def random_clip(skeleton: Skeleton, rng: np.random.Generator, moves: bool = True) -> Clip:
    joints, keys = len(skeleton), 4
    times = np.linspace(0.0, 3.0, keys)
    turning = np.flatnonzero(rng.random(joints) < 0.8)
    q = rot.normalized(rot.IDENTITY + 0.5 * rng.normal(size=(keys, len(turning), 4)))
    shifts = rng.normal(size=(keys, joints, 3)) * 0.1
    sizes = 1.0 + 0.2 * np.broadcast_to(rng.random((keys, joints, 1)), (keys, joints, 3))
    return Clip("random", skeleton, 3.0, Tracks.uniform(turning, times, q),
                Tracks.uniform(np.arange(joints), times, shifts) if moves else Tracks.empty(3),
                Tracks.uniform(np.arange(joints), times, sizes) if moves else Tracks.empty(3))


def random_skeleton(rng: np.random.Generator, names: Sequence[str]) -> Skeleton:
    parents = [int(rng.integers(-1, j)) if j else -1 for j in range(len(names))]
    return skeleton_at(names, parents, rng.normal(size=(len(names), 3)),
                       rot.normalized(rng.normal(size=(len(names), 4))))


def deltas(skeleton: Skeleton, clip: Clip, times: FloatArray) -> FloatArray:
    """Return each joint's rotation from rest, in the model: (F, J, 4)."""
    pose = clip.sample(times)
    world = rot.multiply(skeleton.rest_rotations, pose.rotations)
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            world[:, joint] = rot.multiply(world[:, parent], world[:, joint])
    return rot.multiply(world, rot.conjugate(skeleton.rest_world_rotations))


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_on_its_own_skeleton_with_other_axes_order_and_size_every_track_plays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    source = random_skeleton(rng, [f"j{i}" for i in range(8)])
    clip, size, turn = random_clip(source, rng), float(rng.choice((1.0, 0.01, 2.5))), rot.normalized(rng.normal(size=4))
    target = with_axes(source.turned(turn), rng, size)
    done = retarget(clip, target, turn)
    assert done.is_own
    times = np.linspace(-0.5, 3.5, 17)
    there = rot.rotate(turn, world_from_pose(source, clip.sample(times))[..., 3]) * size
    here = world_from_pose(target, done.clip.sample(times))[..., 3]
    np.testing.assert_allclose(here, there, atol=OWN * size)


def test_on_the_very_same_skeleton_the_keys_stay_the_keys() -> None:
    rng = np.random.default_rng(1)
    skeleton = random_skeleton(rng, ["a", "b", "c"])
    clip = random_clip(skeleton, rng)
    done = retarget(clip, skeleton)
    for mine, theirs in ((done.clip.rotations, clip.rotations), (done.clip.translations, clip.translations),
                         (done.clip.scales, clip.scales)):
        np.testing.assert_array_equal(mine.times_s, theirs.times_s)
        np.testing.assert_allclose(mine.values, theirs.values, atol=ROUNDING)
    assert (done.matched, done.unmatched_source, done.unmatched_target) == (
        (("a", "a"), ("b", "b"), ("c", "c")), (), ())
    assert done.clip.skeleton is skeleton


def test_a_single_joint_with_blenders_rounding_goes_its_way() -> None:
    rng = np.random.default_rng(6)
    source = skeleton_at(["humanoid_root"], [-1], np.array([[0.0, 0.9, 0.1]]))
    clip = random_clip(source, rng)
    rounded = np.array([[0.0, 0.9, 0.1]], np.float32).astype(np.float64)
    target = with_axes(skeleton_at(["humanoid_root"], [-1], rounded).turned(BLENDER_FROM_HANIM), rng)
    done = retarget(clip, target, BLENDER_FROM_HANIM)
    times = np.linspace(0.0, 3.0, 13)
    there = rot.rotate(BLENDER_FROM_HANIM, world_from_pose(source, clip.sample(times))[..., 3])
    assert done.is_own and np.ptp(there, axis=0).max() > 0.05
    np.testing.assert_allclose(world_from_pose(target, done.clip.sample(times))[..., 3], there, atol=OWN)


def test_sinbad_plays_his_own_clips_in_other_axes() -> None:
    ogre = ogre_binary.read(sinbad().read_bytes())
    rng = np.random.default_rng(2)
    turn = rot.normalized(rng.normal(size=4))
    target = with_axes(ogre.skeleton.turned(turn), rng)
    for clip in ogre.clips:
        done = retarget(clip, target, turn)
        times = np.linspace(0.0, clip.duration_s, 30)
        there = rot.rotate(turn, world_from_pose(ogre.skeleton, clip.sample(times))[..., 3])
        here = world_from_pose(target, done.clip.sample(times))[..., 3]
        assert done.is_own
        np.testing.assert_allclose(here, there, atol=OWN * np.ptp(there))


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_matched_joints_turn_in_the_world_as_in_the_source(seed: int) -> None:
    """Joints in between on either side, and any other hierarchy, change nothing at the keys."""
    rng = np.random.default_rng(seed)
    source = random_skeleton(rng, [f"j{i}" for i in range(9)])
    target = random_skeleton(rng, [str(n) for n in rng.permutation([f"j{i}" for i in range(0, 18, 2)])])
    clip, turn = random_clip(source, rng, moves=False), rot.normalized(rng.normal(size=4))
    done = retarget(clip, target, turn)
    times = np.linspace(0.0, 3.0, 4)
    there = rot.multiply(rot.multiply(turn, deltas(source, clip, times)), rot.conjugate(turn))
    here = deltas(target, done.clip, times)
    pairs = pair(find_map(source), find_map(target), clip.moved)
    for s, t in zip(pairs.source, pairs.target, strict=True):
        assert rot.angle_between(there[:, s], here[:, t]).max() < 1e-6


def test_a_direct_joint_is_exact_between_keys_too() -> None:
    rng = np.random.default_rng(3)
    source = skeleton_at(["a", "b"], [-1, 0], np.array(((0.0, 0, 0), (0, 1, 0))))
    target = with_axes(skeleton_at(["a", "b"], [-1, 0], np.array(((0.0, 0, 0), (1, 1, 0)))), rng)
    clip = Clip("c", source, 1.0, Tracks.uniform(np.array((0, 1)), np.array((0.0, 1.0)), rot.from_axis_angle(
        rng.normal(size=(2, 2, 3)), 2.5)), Tracks.empty(3), Tracks.empty(3))
    done = retarget(clip, target)
    assert not done.is_own
    assert done.clip.rotations.starts.tolist() == [0, 2, 4]
    times = np.linspace(0.0, 1.0, 33)
    assert rot.angle_between(deltas(source, clip, times), deltas(target, done.clip, times)).max() < 1e-7


def test_several_joints_becoming_one_are_followed_between_their_keys() -> None:
    source = skeleton_at(["a", "b", "c"], [-1, 0, 1], np.array(((0.0, 0, 0), (0, 1, 0), (0, 2, 0))))
    target = skeleton_at(["a", "c"], [-1, 0], np.array(((0.0, 0, 0), (0, 3, 0))))
    keys = np.stack((rot.identities(2), rot.from_axis_angle(np.array(((1.0, 0, 0), (0, 1, 0))), 2.0)))
    clip = Clip("c", source, 1.0, Tracks.uniform(np.array((1, 2)), np.array((0.0, 1.0)), keys), Tracks.empty(3),
                Tracks.empty(3))
    done = retarget(clip, target)
    times = np.linspace(0.0, 1.0, 50)
    assert rot.angle_between(deltas(source, clip, times)[:, 2], deltas(target, done.clip, times)[:, 1]).max() < 2e-3
    assert done.unmatched_source == ("b",)


LEGGED = ["HumanoidRoot", "l_hip", "l_knee", "l_ankle", "r_hip", "r_knee", "r_ankle"]
LEGGED_PARENTS = [-1, 0, 1, 2, 0, 4, 5]


def legged(leg: float) -> Skeleton:
    return skeleton_at(LEGGED, LEGGED_PARENTS, np.array((
        (0, 2 * leg, 0), (0.1, 2 * leg, 0), (0.1, leg, 0), (0.1, 0, 0),
        (-0.1, 2 * leg, 0), (-0.1, leg, 0), (-0.1, 0, 0))))


def test_the_root_moves_by_the_ratio_of_leg_lengths_in_the_targets_axes() -> None:
    source, turn = legged(0.4), rot.from_axis_angle(np.array((1.0, 0, 0)), np.pi / 2)
    target = with_axes(legged(0.6).turned(turn), np.random.default_rng(4))
    values = np.array((((0.0, 0, 0), (1, 1, 1)), ((0.2, 0.4, 0.8), (1, 1, 1))))
    clip = Clip("c", source, 1.0, Tracks.empty(4), Tracks.uniform(np.array((0, 2)), np.array((0.0, 1.0)), values),
                Tracks.uniform(np.array((1,)), np.zeros(1), np.full((1, 1, 3), 2.0)))
    done = retarget(clip, target, turn)
    place = world_from_pose(target, done.clip.sample(np.array((0.0, 1.0))))[:, 0, :, 3]
    np.testing.assert_allclose(place[1] - place[0], np.array((0.2, -0.8, 0.4)) * 1.5, atol=ROUNDING)
    assert done.clip.translations.joints.tolist() == [0]
    assert len(done.clip.scales) == 0


def crouching(thigh: float, shin: float) -> Skeleton:
    """Make a body whose feet stand at 0.1, without trunk."""
    up = 0.1 + np.array((thigh + shin, thigh + shin, shin, 0.0))
    places = [(x, y, 0.0) for x, ys in ((0.0, up[:1]), (0.1, up[1:]), (-0.1, up[1:])) for y in ys]
    return skeleton_at(LEGGED, LEGGED_PARENTS, np.array(places))


def test_feet_stay_as_high_above_the_ground_by_the_legs_whatever_their_proportions() -> None:
    """Knees bend, the hips come down so that the feet stand; then it jumps, and lies down."""
    source, target = crouching(0.4, 0.4), with_axes(crouching(0.7, 0.5), np.random.default_rng(3))
    times = np.arange(4.0)
    about_x = [rot.from_axis_angle(np.array((1.0, 0, 0)), np.array(angles)) for angles in
               ((0.0, -0.9, 0.3, 0.0), (0.0, 1.8, 0.0, 0.0), (0.0, 0.0, 0.0, -np.pi / 2))]
    thigh, shin, root = about_x
    joints = [source.index_of[name] for name in ("HumanoidRoot", "l_hip", "l_knee", "r_hip", "r_knee")]
    down = np.array((0.0, -0.8 * (1 - np.cos(0.9)), 0.5, -0.75))
    clip = Clip("c", source, 3.0, Tracks.uniform(np.array(joints), times, np.stack(
        (root, thigh, shin, thigh, shin), axis=1)), Tracks.uniform(np.zeros(1, np.int64), times, np.stack(
            (0 * down, down, 0 * down), axis=1)[:, None]), Tracks.empty(3))
    played = retarget(clip, target).clip
    heights = []
    for one in (clip, played):
        world = world_from_pose(one.skeleton, one.sample(np.linspace(0.0, 3.0, 61)))[..., 1, 3]
        heights.append(np.min(world[:, [3, 6]], axis=1) - 0.1)
    np.testing.assert_allclose(heights[1], heights[0] * 1.5, atol=0.02)
    np.testing.assert_allclose(heights[1][::20], heights[0][::20] * 1.5, atol=1e-9)
    assert heights[0][20] == pytest.approx(0.0, abs=1e-9) and heights[0][40] > 0.4


def test_a_root_that_only_the_source_has_carries_its_motion_on() -> None:
    source = skeleton_at(["root", "hips", "a", "b"], [-1, 0, 1, 1], np.array((
        (0.0, 0, 0), (0, 1, 0), (1, 1, 0), (2, 2, 0))))
    target = skeleton_at(["hips", "a", "b"], [-1, 0, 0], np.array(((0.0, 2, 0), (2, 2, 0), (4, 4, 1))))
    clip = Clip("c", source, 1.0, Tracks.uniform(np.array((0,)), np.array((0.0, 1.0)), np.stack((
        rot.identities(1), rot.from_axis_angle(Z, np.array((np.pi / 2,)))))), Tracks.empty(3), Tracks.empty(3))
    done = retarget(clip, target)
    ratio = (2 + np.linalg.norm((4, 2, 1))) / (1 + np.linalg.norm((2, 1, 0)))
    end = done.clip.sample(np.array((1.0,)))
    np.testing.assert_allclose(end.translations[0, 0], np.array((-1.0, -1.0, 0.0)) * ratio, atol=ROUNDING)
    assert rot.angle_between(end.rotations[0, 0], rot.from_axis_angle(Z, np.pi / 2)) < 1e-7


def armed(drop: float, v2: bool = False) -> Skeleton:
    """Make a trunk with a left arm that hangs by an angle below the horizontal, and a straight leg."""
    way = np.array((np.cos(drop), -np.sin(drop), 0.0))
    names = ["humanoid_root", "l_shoulder", "l_elbow", "l_radiocarpal", "l_hip", "l_knee", "l_talocrural"] if v2 else [
        "HumanoidRoot", "l_shoulder", "l_elbow", "l_wrist", "l_hip", "l_knee", "l_ankle"]
    shoulder = np.array((0.2, 1.5, 0.0))
    places = [(0, 1, 0), shoulder, shoulder + 0.3 * way, shoulder + 0.55 * way, (0.1, 1, 0), (0.1, 0.5, 0), (0.1, 0, 0)]
    return skeleton_at(names, [-1, 0, 1, 2, 0, 4, 5], np.array(places, dtype=np.float64))


def test_a_t_pose_plays_the_clip_of_hanging_arms() -> None:
    rng = np.random.default_rng(5)
    source, target = armed(np.pi / 2), with_axes(armed(0.0, v2=True), rng)
    clip = random_clip(source, rng, moves=False)
    done = retarget(clip, target)
    assert done.matched[0] == ("HumanoidRoot", "humanoid_root")
    assert len(done.matched) == 7
    times = np.linspace(0.0, 3.0, 40)
    there, here = (world_from_pose(c.skeleton, c.sample(times))[..., 3] for c in (clip, done.clip))
    for a, b in ((1, 2), (2, 3), (4, 5), (5, 6)):
        want, found = there[:, b] - there[:, a], here[:, b] - here[:, a]
        np.testing.assert_allclose(found / np.linalg.norm(found, axis=-1, keepdims=True),
                                   want / np.linalg.norm(want, axis=-1, keepdims=True), atol=1e-9)


def paired(source: Skeleton, target: Skeleton) -> Pairing:
    return pair(find_map(source), find_map(target), np.ones(len(source), dtype=np.bool_))


def test_legs_that_a_clip_leaves_alone_are_left_alone_on_other_rigs_too() -> None:
    """Whoever waves after a dance stays as the dance left him; arms come down from a T-pose."""
    source, spread = build_skeleton(), real("mpfb_game_engine")
    found = find_map(spread)
    for joints, stand in ((("r_shoulder",), False), (("r_shoulder", "l_knee"), True), (("HumanoidRoot",), True)):
        moved = retarget(swaying(source, *joints), spread).clip.rotations.joints.tolist()
        assert found.joint_of["l_shoulder"] in moved
        assert (found.joint_of["r_hip"] in moved) == stand


def test_corrections_turn_the_limb_and_what_hangs_on_it_but_not_the_trunk() -> None:
    source, target = armed(np.pi / 2), armed(0.0)
    pairs = paired(source, target)
    corrections = rest_corrections(source, target, pairs, target.parents[pairs.target])
    down = rot.from_axis_angle(Z, -np.pi / 2)
    assert rot.angle_between(corrections[[1, 2, 3]], down).max() < 1e-7
    assert rot.angle_between(corrections[[0, 4, 5, 6]], rot.IDENTITY).max() < 1e-7


def test_a_limb_that_points_the_opposite_way_is_turned_half_round() -> None:
    source, target = armed(np.pi), armed(0.0)
    pairs = paired(source, target)
    corrections = rest_corrections(source, target, pairs, target.parents[pairs.target])
    np.testing.assert_allclose(rot.rotate(corrections[1], np.array((1.0, 0, 0))), (-1, 0, 0), atol=1e-9)


def test_nothing_in_common_is_an_error_that_lists_both_sides() -> None:
    source = skeleton_at(["one", "two"], [-1, 0], np.zeros((2, 3)))
    target = skeleton_at([f"bone {i}" for i in range(50)], [-1] * 50, np.zeros((50, 3)))
    clip = Clip("hop", source, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    with pytest.raises(SkeletonMismatchError, match=(r"clip 'hop' .* have no joint in common\. The clip's joints: "
                                                     r"one, two\. The skeleton's: bone 0, .*bone 7 and 42 more")):
        retarget(clip, target)




def swaying(skeleton: Skeleton, *joints: str) -> Clip:
    times, index = np.linspace(0.0, 1.0, 5), [skeleton.index_of[name] for name in joints]
    turns = rot.from_axis_angle(np.ones((5, len(index), 3)), np.linspace(-0.5, 0.5, 5)[:, None])
    return Clip("sway", skeleton, 1.0, Tracks.uniform(np.array(index), times, turns), Tracks.empty(3), Tracks.empty(3))


@pytest.mark.parametrize("name", ["Fox", "Rat", "m2m_panda"])
def test_a_beast_plays_its_own_clips_by_names_and_a_renamed_one_by_places(name: str) -> None:
    skeleton, rng = real(name), np.random.default_rng(6)
    clip = swaying(skeleton, *skeleton.names[1:6])
    times = np.linspace(0.0, 1.0, 9)
    there = world_from_pose(skeleton, clip.sample(times))[..., 3]
    own = with_axes(skeleton, rng, 0.01)
    renamed = Skeleton(tuple(f"bone {i}" for i in range(len(own))), own.parents, own.rest_rotations,
                       own.rest_translations, own.rest_scales)
    for target in (own, renamed):
        done = retarget(clip, target)
        assert done.is_own and not done.unmatched_target
        here = world_from_pose(target, done.clip.sample(times))[..., 3]
        np.testing.assert_allclose(here, there * 0.01, atol=OWN * np.ptp(there) * 0.01)


def test_a_beast_and_a_human_have_nothing_in_common() -> None:
    with pytest.raises(SkeletonMismatchError, match=r"have no joint in common\. The clip's joints: _rootJoint.*The "
                                                    r"skeleton's: HumanoidRoot"):
        retarget(swaying(real("Fox"), "b_Hip_01"), build_skeleton())


def test_what_has_no_limbs_is_said_to_have_none() -> None:
    human = build_skeleton()
    snake = skeleton_at([f"b{i:02}" for i in range(60)], list(range(-1, 59)), np.linspace((0, 0, 0), (0, 0, 6), 60))
    with pytest.raises(SkeletonMismatchError, match="the skeleton has no legs or arms of two bones each") as refused:
        retarget(swaying(human, "l_elbow"), snake)
    assert "b00" not in str(refused.value)
    with pytest.raises(SkeletonMismatchError, match="in common: the clip has no legs or arms of two bones each"):
        retarget(swaying(snake, "b07"), human)


def test_who_stands_on_four_legs_is_told_that_it_needs_its_own_clips() -> None:
    human, fox = build_skeleton(), real("Fox")
    with pytest.raises(SkeletonMismatchError, match=r"the skeleton does not rest upright\. If it has two legs"):
        retarget(swaying(human, "l_elbow"), fox)


def test_an_uncertain_map_is_not_used_but_asked_about() -> None:
    names = {joint: name.replace("left", "?").replace("right", "left").replace("?", "right")
             for joint, name in RIGS["VRM"].items()}
    with pytest.raises(SkeletonMismatchError, match=r"38% certainty, 60% are needed \(bones that are named left"):
        retarget(swaying(build_skeleton(), "l_elbow"), worn(names, "mixed up"))


def test_a_clip_whose_sides_are_mixed_up_plays_by_the_same_names_and_says_so() -> None:
    names, body = RIGS["Mixamo"], worn(RIGS["Mixamo"])
    mixed = worn({joint: name.replace("Left", "?").replace("Right", "Left").replace("?", "Right")
                  for joint, name in names.items()})
    done = retarget(swaying(mixed, names["l_elbow"]), body)
    (note,) = done.notes
    assert note == done.doubt and "since bones that are named left are on the right side" in note
    assert retarget(swaying(body, names["l_elbow"]), worn(RIGS["VRM"])).doubt == ""


def test_trunks_of_other_lengths_share_out_the_bend() -> None:
    """Bend a trunk of three evenly: pelvis and descendants of the chest turn as there, the joints between evenly."""
    three, six = worn(RIGS["Unreal's mannequin"]), build_skeleton()
    times = np.array((0.0, 1.0))
    bend = rot.from_axis_angle(np.array((1.0, 0, 0)), np.array((0.0, 0.3)))[:, None].repeat(3, axis=1)
    joints = np.array([three.index_of[f"spine_0{i}"] for i in (1, 2, 3)])
    clip = Clip("bow", three, 1.0, Tracks.uniform(joints, times, bend), Tracks.empty(3), Tracks.empty(3))
    for source, target in ((clip, six), (retarget(clip, six).clip, three)):
        done = retarget(source, target).clip
        turned = deltas(target, done, times)[1]
        found = find_map(target)
        angles = [2 * np.arccos(np.clip(abs(turned[found.joint_of[v], 0]), 0, 1)) for v in hanim.SPINE[:17]
                  if v in found.joint_of]
        assert (np.diff(angles) > -1e-9).all() and angles[-1] == pytest.approx(0.9, abs=1e-6)
        for name in ("skullbase", "l_wrist"):
            assert rot.angle_between(turned[found.joint_of[name]], rot.from_axis_angle(
                np.array((1.0, 0, 0)), 0.9)) < 1e-6
        assert rot.angle_between(turned[found.joint_of["l_ankle"]], rot.IDENTITY) < 1e-6


def test_a_foot_beside_its_leg_is_carried_by_it() -> None:
    """The Quaternius man's feet are children of the root; his legs reach for them by IK."""
    man, body = real("Male_Suit"), build_skeleton()
    done = retarget(swaying(body, "HumanoidRoot", "l_hip", "l_knee"), man, BLENDER_FROM_HANIM)
    times = np.linspace(0.0, 1.0, 7)
    world = world_from_pose(man, done.clip.sample(times))[..., 3]
    foot, shin = man.index_of["Foot.L"], man.index_of["LowerLeg.L"]
    rest = man.rest_world[:, :, 3]
    assert np.linalg.norm(world[:, foot] - world[:, shin], axis=1) == pytest.approx(
        np.full(7, np.linalg.norm(rest[foot] - rest[shin])), rel=1e-3)
    assert np.ptp(world[:, foot], axis=0).max() > 0.3


def test_a_file_whose_root_rests_in_the_origin_stands_on_the_ground() -> None:
    path = real_file("clips", "cmu_01_01.bvh")
    body = build_skeleton()
    done = retarget(bvh.read(path.read_bytes()).clip, body).clip
    world = world_from_pose(body, done.sample(np.linspace(0.0, done.duration_s, 60)))[:, :, 1, 3]
    feet = np.minimum(world[:, body.index_of["l_metatarsal"]], world[:, body.index_of["r_metatarsal"]])
    assert abs(np.median(feet)) < 0.06


@pytest.mark.parametrize(("name", "lean_deg"), [("Mixamo", 14.0), ("Mixamo", 30.0), ("Unreal's mannequin", 20.0),
                                                ("Mixamo", -16.0)])
def test_a_trunk_that_leans_at_rest_plays_as_it_moves_and_not_as_it_rests(name: str, lean_deg: float) -> None:
    """The same motion on a body whose spine rests bent forwards or backwards, legs and pelvis upright."""
    clip = movements()[0]
    body, target = clip.skeleton, worn(RIGS[name])
    above = with_descendants(body.parents, np.array([find_map(body).joint_of["vl5"]]))
    turns = np.where(above[:, None], rot.from_axis_angle(np.array((1.0, 0, 0)), np.radians(lean_deg)), rot.IDENTITY)
    played = [retarget(each, target).clip for each in (clip, rebased(clip, body.in_pose(turns)))]
    times = np.linspace(0.0, clip.duration_s, 12)
    found = find_map(target).joint_of
    ends = [[found[f"{side}_{joint}"] for side in "lr"] for joint in ("shoulder", "hip")]
    trunks = []
    for each in played:
        positions = world_from_pose(target, each.sample(times, "SLERP"))[..., 3]
        trunks.append(positions[:, ends[0]].mean(axis=1) - positions[:, ends[1]].mean(axis=1))
    apart = rot.angle_between(rot.shortest_arc(*trunks), rot.IDENTITY)
    assert np.degrees(apart).max() < 5.0


def test_a_character_that_leans_itself_keeps_its_bearing() -> None:
    target = worn(RIGS["Mixamo"])
    found = find_map(target)
    above = with_descendants(target.parents, np.array([found.joint_of["vl5"]]))
    stoops = target.in_pose(np.where(above[:, None], rot.from_axis_angle(np.array((1.0, 0, 0)), np.radians(14.0)),
                                     rot.IDENTITY))
    body = build_skeleton()
    still = Clip("still", body, 1.0, Tracks.uniform(np.arange(len(body)), np.zeros(1),
                                                    rot.identities(len(body))[None]), Tracks.empty(3), Tracks.empty(3))
    spine = [found.joint_of[name] for name in ("vl5", "vt6") if name in found.joint_of]
    here = world_from_pose(stoops, retarget(still, stoops).clip.sample(np.zeros(1)))[0, spine, :, 3]
    np.testing.assert_allclose(here - here[0], (stoops.rest_world[spine, :, 3] - stoops.rest_world[spine[0], :, 3]),
                               atol=0.02)
