"""Reference poses: which pose is taken and why, lying and leaning bodies, palms, soles, first poses, refusals."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import SkeletonMismatchError
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.file_axes import LEANS_RAD
from takt.core.retargeting.comparing.first_pose import first_pose_end, from_time
from takt.core.retargeting.comparing.reference import REST_POSE, find_reference, rebased, stood_up
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons import hanim
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.posture import STANDS, measure_posture
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.core.rewriting import T_POSE_S, Rewriting, movements, rewritten
from takt.tests.core.rigs import RIGS, standing_at, worn
from takt.tests.core.test_retarget import random_clip, random_skeleton, with_axes

X, Y, Z = np.eye(3)
BODY = build_skeleton()
KINDS = {"KEPT": "the rest pose", "LINE": "the frame at", "PILE": "the frame at",
         "LEANING": "the rest pose, turned upright by 42°", "TURNED": "the rest pose, turned upright by 42°"}


def lying(skeleton: Skeleton = BODY) -> Clip:
    """Return one who lies on his back on the ground, and rolls a little."""
    times = np.linspace(0.0, 2.0, 25)
    roll = rot.from_axis_angle(Z, 0.4 * np.sin(times))
    turns = rot.multiply(roll, rot.from_axis_angle(X, np.array(-np.pi / 2)))[:, None]
    place = np.array((0.0, 0.1, 0.0)) - skeleton.rest_world[0, :, 3]
    return Clip("sleep", skeleton, 2.0, Tracks.uniform(np.zeros(1, np.int64), times, turns),
                Tracks.uniform(np.zeros(1, np.int64), times, np.tile(place, (25, 1, 1))), Tracks.empty(3))


def joints_at(clip: Clip, times: FloatArray) -> FloatArray:
    return world_from_pose(clip.skeleton, clip.sample(times))[..., 3]


def height(clip: Clip) -> float:
    """Return how much higher the head is than the feet in the middle of a clip."""
    found = find_map(clip.skeleton)
    places = joints_at(clip, np.array((clip.duration_s / 2,)))[0, :, 1]
    return float(places[found.joint_of["skullbase"]] - places[found.joint_of["l_ankle"]])


def test_posture_is_measured_on_anatomy_alone() -> None:
    turn = rot.normalized(np.random.default_rng(0).normal(size=4))
    places = BODY.rest_world[:, :, 3]
    posture = measure_posture(np.stack((places, rot.rotate(turn, places), places * (-1.0, 1.0, 1.0))), BODY.index_of)
    assert posture is not None
    np.testing.assert_allclose(posture.axes[0], np.eye(3), atol=0.01)
    np.testing.assert_allclose(posture.axes[1], rot.to_matrix(turn) @ posture.axes[0], atol=1e-9)
    assert posture.upright[:2] == pytest.approx(0.998, abs=0.01) and posture.upright[2] < 0.0  # left is right
    assert measure_posture(places[None], {"HumanoidRoot": 0, "l_hip": 1}) is None


def test_bent_legs_and_heads_below_hips_are_not_upright() -> None:
    for joint, angle, stands in (("l_hip", -0.5, True), ("l_hip", -1.4, False), ("l_knee", 2.0, False),
                                 ("vl5", 1.3, False)):
        times = np.zeros(1)
        clip = Clip("c", BODY, 0.0, Tracks.uniform(np.array((BODY.index_of[joint],)), times, rot.from_axis_angle(
            X, np.array(angle))[None, None]), Tracks.empty(3), Tracks.empty(3))
        posture = measure_posture(joints_at(clip, times), BODY.index_of)
        assert posture is not None and (posture.upright[0] >= STANDS) == stands, joint


@pytest.mark.parametrize("zero", KINDS)
def test_the_reference_says_which_pose_was_taken(zero: str) -> None:
    clip = rewritten(movements()[0], Rewriting(zero=zero, angle_deg=42.0)).clip
    reference = find_reference(clip, find_map(clip.skeleton))
    assert reference.why.startswith(KINDS[zero])
    assert (reference.clip is clip) == (zero == "KEPT") and (reference.time_s is None) == (zero not in ("LINE", "PILE"))
    posture = measure_posture(reference.map.skeleton.rest_world[None, :, :, 3], reference.map.joint_of)
    assert posture is not None and posture.upright[0] > 0.8
    assert rot.angle_between(rot.from_matrix(posture.axes[0]), rot.IDENTITY) < LEANS_RAD
    times = np.linspace(0.0, clip.duration_s, 20)
    np.testing.assert_allclose(joints_at(reference.clip, times), joints_at(clip, times), atol=1e-9)
    notes = retarget(clip, with_axes(BODY, np.random.default_rng(1))).notes
    assert notes == (() if zero == "KEPT" else (f"compared in {reference.why}",))


def test_another_rest_pose_is_the_same_motion() -> None:
    rng = np.random.default_rng(4)
    skeleton = random_skeleton(rng, [f"j{i}" for i in range(8)])
    other = Skeleton(skeleton.names, skeleton.parents, rot.normalized(rng.normal(size=(8, 4))),
                     rng.normal(size=(8, 3)), rng.uniform(0.5, 2.0, size=(8, 3)))
    clip, times = random_clip(skeleton, rng), np.linspace(0.0, 3.0, 4)
    poses = [world_from_pose(c.skeleton, c.sample(times)) for c in (clip, rebased(clip, other))]
    np.testing.assert_allclose(poses[1], poses[0], atol=1e-9)


def test_who_lies_on_the_ground_stays_there() -> None:
    """Nothing but the ground tells him from one whose file rests lying down."""
    target = with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(2), 1.2)
    played = retarget(lying(worn(RIGS["VRM"])), target)
    assert played.reference == REST_POSE and abs(height(played.clip)) < 0.2
    standing = rewritten(movements()[0], Rewriting(zero="LEANING", angle_deg=90.0)).clip
    assert height(retarget(standing, target).clip) > 1.5


def test_a_body_that_leans_at_rest_plays_upright_and_stands_on_the_ground() -> None:
    """As the character: Blender opens some files so."""
    lean = rot.from_axis_angle(X, np.array(np.radians(-42.0)))
    straight = with_axes(BODY, np.random.default_rng(3), 1.1)
    leaning = straight.turned(lean)
    assert stood_up(find_map(straight)).skeleton is straight
    clip = rewritten(movements()[1], Rewriting()).clip
    times = np.linspace(0.0, clip.duration_s, 30)
    wanted, found = (joints_at(retarget(clip, body).clip, times) for body in (straight, leaning))
    assert retarget(clip, leaning).clip.skeleton is leaning
    np.testing.assert_allclose(found, wanted, atol=0.02)


@pytest.mark.parametrize("angle", [15.0, 30.0, 45.0])
def test_soles_stay_level_on_a_body_whose_trunk_alone_leans_at_rest(angle: float) -> None:
    """As the character, and as the clip's body."""
    turns = rot.identities(len(BODY))
    spine = min(BODY.index_of[name] for name in hanim.SPINE if name in BODY.index_of)
    above = with_descendants(BODY.parents, np.array((spine,)))
    turns[above] = rot.from_axis_angle(X, np.array(np.radians(angle)))
    straight = with_axes(BODY, np.random.default_rng(3), 1.1)
    bent, clip = straight.in_pose(turns), movements()[1]
    times = np.linspace(0.0, clip.duration_s, 30)
    feet = [straight.index_of[f"{side}_{part}"] for side in "lr" for part in ("ankle", "metatarsal")]
    pairs = (clip, straight), (clip, bent), (rebased(clip, BODY.in_pose(turns)), straight)
    played = [retarget(*both).clip for both in pairs]
    wanted, as_character, as_clip = (joints_at(one, times)[:, feet] for one in played)
    np.testing.assert_allclose(as_character, wanted, atol=0.02)
    np.testing.assert_allclose(as_clip, wanted, atol=0.02)


def test_who_rests_with_legs_apart_stands_on_the_ground_where_his_feet_go() -> None:
    """His rest pose says how wide he can stand, not how high."""
    target, clip = with_axes(BODY, np.random.default_rng(3), 1.1), movements()[4]
    turns = rot.identities(len(BODY))
    for joint, name in enumerate(BODY.names):
        if name[2:] in ("hip", "knee", "ankle", "metatarsal"):
            turns[joint] = rot.from_axis_angle(Z, np.array(np.radians(25.0 if name[0] == "l" else -25.0)))
    times = np.linspace(0.0, clip.duration_s, 30)
    wanted, found = (joints_at(retarget(one, target).clip, times)[:, 0] for one in
                     (clip, rebased(clip, BODY.in_pose(turns))))
    np.testing.assert_allclose(found, wanted, atol=0.01)


def test_a_body_that_stands_nowhere_is_refused_with_the_reason() -> None:
    names = RIGS["Mixamo"]
    pile = rewritten(lying(), Rewriting(zero="PILE", names="Mixamo")).clip
    bent = Clip("crouch", pile.skeleton, pile.duration_s, Tracks.uniform(
        np.arange(len(pile.skeleton)), np.array((0.0, 1.0)), rot.identities(2, len(pile.skeleton))), Tracks.empty(3),
        Tracks.empty(3))
    with pytest.raises(SkeletonMismatchError, match=r"stands neither at rest nor in any frame\. Give it a frame"):
        retarget(bent, BODY)
    assert retarget(pile, BODY).clip.duration_s == pile.duration_s  # who lies straight is upright in his own way
    assert names["skullbase"] in pile.skeleton.index_of


def test_a_character_that_does_not_stand_at_rest_is_refused_with_what_to_do() -> None:
    """Also one with the names of the clip's own body: it would lie there crumpled."""
    clip = rewritten(movements()[0], Rewriting()).clip
    for names, why in (("Mixamo", r"does not rest upright\. If it has two legs, pose it upright"),
                       ("numbered", r"neither names nor rest pose show which bones .* are legs and arms\. If it")):
        pile = rewritten(movements()[0], Rewriting(zero="LINE", names=names)).clip.skeleton
        with pytest.raises(SkeletonMismatchError, match=why):
            retarget(clip, pile)
    own = rewritten(movements()[0], Rewriting(zero="LINE")).clip
    assert retarget(own, own.skeleton).is_own


def palm(places: FloatArray, joint_of: dict[str, int], side: str) -> FloatArray:
    wrist, index, pinky = (places[:, joint_of[f"{side}_{part}"]] for part in ("wrist", "index1", "pinky1"))
    normal = np.cross(index - wrist, pinky - wrist)
    return np.asarray(normal / np.linalg.norm(normal, axis=-1, keepdims=True))


def turned_at(skeleton: Skeleton, joint: str, turn: FloatArray) -> Skeleton:
    """Return a skeleton that rests with all below a joint turned about it."""
    world = skeleton.rest_world[:, :, 3].copy()
    centre = world[skeleton.index_of[joint]]
    for j in range(len(skeleton)):
        above = j
        while above >= 0 and skeleton.names[above] != joint:
            above = int(skeleton.parents[above])
        if above >= 0:
            world[j] = centre + rot.rotate(turn, world[j] - centre)
    return standing_at(list(skeleton.names), skeleton.parents, world)


def test_palms_and_feet_point_as_in_the_clip_however_they_rest() -> None:
    clip = build_clips("dance/Moves.skeleton")[0]
    down = BODY.rest_world[BODY.index_of["l_wrist"], :, 3] - BODY.rest_world[BODY.index_of["l_elbow"], :, 3]
    target = turned_at(BODY, "l_wrist", rot.from_axis_angle(down, np.array(0.8)))
    target = turned_at(target, "r_ankle", rot.from_axis_angle(Y, np.array(-0.6)))
    times = np.linspace(0.0, clip.duration_s, 20)
    there, here = joints_at(clip, times), joints_at(retarget(clip, target).clip, times)
    np.testing.assert_allclose(palm(here, target.index_of, "l"), palm(there, BODY.index_of, "l"), atol=1e-6)
    ankle, toes = BODY.index_of["r_ankle"], BODY.index_of["r_metatarsal"]
    np.testing.assert_allclose(here[:, toes] - here[:, ankle], there[:, toes] - there[:, ankle], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("fps", [12.0, 30.0, 240.0])
def test_a_t_pose_in_front_of_the_motion_is_left_out(fps: float) -> None:
    for clip in (clip for clip in movements() if clip.duration_s * fps > 9.0):  # of fewer frames nobody knows the speed
        new = rewritten(clip, Rewriting(starts_in_t=True, fps=fps)).clip
        assert first_pose_end(new) == pytest.approx(T_POSE_S)
        plain = rewritten(clip, Rewriting(fps=fps)).clip
        assert first_pose_end(plain) is None and first_pose_end(clip) is None
        np.testing.assert_allclose(from_time(new, T_POSE_S).rotations.values, plain.rotations.values, atol=1e-9)
        done = retarget(new, BODY, without_first_pose=True)
        assert done.clip.duration_s == pytest.approx(plain.duration_s) and done.left_out_s == pytest.approx(T_POSE_S)
        assert "a pose that is no part of the motion" in done.notes[0]
    assert retarget(new, BODY).clip.duration_s == new.duration_s


def test_what_jumps_again_and_again_or_only_moves_fast_keeps_its_first_pose() -> None:
    times, joints = np.arange(24) / 24.0, np.arange(5)
    stepped = rot.from_axis_angle(X, np.where(np.arange(24) % 6 == 0, 1.0, 0.0)[:, None].repeat(5, axis=1))
    fast = rot.from_axis_angle(X, np.sin(6.0 * times)[:, None].repeat(5, axis=1))
    for turns in (stepped, fast):
        clip = Clip("c", BODY, times[-1], Tracks.uniform(joints, times, turns), Tracks.empty(3), Tracks.empty(3))
        assert first_pose_end(clip) is None


def test_a_motion_cut_between_its_keys_begins_where_it_was() -> None:
    clip = movements()[0]
    late, times = from_time(clip, 0.1234), np.linspace(0.0, clip.duration_s - 0.1234, 13)
    assert late.duration_s == clip.duration_s - 0.1234
    np.testing.assert_allclose(joints_at(late, times), joints_at(clip, times + 0.1234), atol=1e-5)


def test_of_a_body_of_which_nothing_is_known_no_posture_is_measured() -> None:
    assert measure_posture(np.zeros((1, 3, 3)), {}) is None
    assert measure_posture(np.zeros((1, 0, 3)), {}) is None
