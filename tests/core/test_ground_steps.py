"""The ground under who climbs, goes and jumps: no foot in the air pulls the body down, and feet stand where clips'
do.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts, foot_contacts
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, IntArray, smoothstep
from takt.core.retargeting.ground import lower_ground as ground_below
from takt.core.retargeting.ground.lower_ground import lower_ground
from takt.core.retargeting.ground.off_ground import ankles_and_soles, off_ground
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.core.skeletons.skin_sample import SkinSample
from takt.tests.core.rigs import RIGS, standing_at, worn
from takt.tests.core.stepping import (
    ACROSS,
    BODY,
    CLIPS,
    FPS,
    backwards,
    cut,
    posed,
    running,
    soled,
    times_of,
    tipping,
    walking,
)
from takt.tests.core.test_retarget import with_axes

LEG_M = 0.825
SUDDEN_LEGS = 0.002
"""How much more hips may accelerate than in the clip, in a thirtieth of a second."""
ROUGHER_LEGS = 0.005
AWAY_LEGS = 0.007
BELOW_LEGS = -0.005
STRAIGHT_DEG = 11.0
"""Of knees that are bent by 6° at rest."""
SHOES = {"bare": (0.0, 0.0), "shoes": (0.04, 0.0), "long shoes": (0.03, 0.12)}


def body_of(kind: str) -> tuple[Skeleton, float]:
    """Return a body, and how large it is."""
    if kind == "another rig":
        return with_axes(worn(RIGS["Mixamo"]), np.random.default_rng(1), 1.3), 1.3
    if kind == "heels":
        places, heights_m = BODY.rest_world[..., 3].copy(), {"knee": 0.05, "ankle": 0.09}
        for name, high_m in heights_m.items():
            places[[BODY.index_of[f"{side}_{name}"] for side in "lr"], 1] += high_m
        return standing_at([*BODY.names], BODY.parents, places), 1.0
    joint, factor = {"long arms": ("elbow", 1.3), "long feet": ("metatarsal", 1.5), "long thighs": ("knee", 1.2)}[kind]
    offsets, sides = BODY.rest_translations.copy(), [BODY.index_of[f"{side}_{joint}"] for side in "lr"]
    if joint == "knee":
        offsets[0, 1] -= (factor - 1.0) * offsets[sides[0], 1]
    offsets[sides] *= (1.0, 1.0, factor) if joint == "metatarsal" else factor
    return Skeleton(BODY.names, BODY.parents, BODY.rest_rotations, offsets, BODY.rest_scales, kind), 1.0


def heights(clip: Clip) -> FloatArray:
    """Return how high hips and ankles are in each frame, (F, 3)."""
    found = find_map(clip.skeleton)
    joints = [found.joint_of[name] for name in ("HumanoidRoot", "l_ankle", "r_ankle")]
    times = np.arange(round(clip.duration_s * FPS) + 1) / FPS
    return np.asarray(world_from_pose(clip.skeleton, clip.sample(times))[..., 3][:, joints]
                      @ found.up(np.array((0.0, 1.0, 0.0))))


def sudden(values: FloatArray) -> float:
    return float(np.abs(np.diff(values, 2)).max())


@pytest.mark.slow
@pytest.mark.parametrize("shoes", SHOES)
@pytest.mark.parametrize("kind", ["long arms", "another rig"])
@pytest.mark.parametrize("name", CLIPS)
def test_a_body_with_the_clips_legs_comes_out_as_the_clip(name: str, kind: str, shoes: str) -> None:
    clip, (target, scale) = CLIPS[name](), body_of(kind)
    skin = soled(target, scale, *SHOES[shoes])
    done = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    wanted, found, leg = heights(clip), heights(done) / scale, LEG_M
    away = (found - found[0]) - (wanted - wanted[0])
    assert np.abs(away).max() < AWAY_LEGS * leg
    assert sudden(found[:, 0]) < sudden(wanted[:, 0]) + SUDDEN_LEGS * leg
    if "down" not in name:  # there the ground itself goes down
        up = find_map(target).up(np.array((0.0, 1.0, 0.0)))
        low = SkinPoints(*skin).heights(done, np.arange(round(clip.duration_s * FPS) + 1) / FPS, up).min(axis=1)
        assert (low - (skin[0] @ up).min()).min() > BELOW_LEGS * leg * scale


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["long feet", "long thighs"])
@pytest.mark.parametrize("name", ["a box", "a high box", "stairs up", "stairs down", "a walk on flat feet"])
def test_skin_makes_no_body_hop_that_does_not_without(name: str, kind: str) -> None:
    clip, (target, scale) = CLIPS[name](), body_of(kind)
    plain, skinned = (heights(retarget(clip, target, points=points).clip)
                      for points in (None, SkinPoints.of(*soled(target, scale, 0.04))))
    assert sudden(skinned[:, 0]) < sudden(plain[:, 0]) + 2.0 * SUDDEN_LEGS * LEG_M


@pytest.mark.parametrize("kind", ["heels", "long feet", "long thighs"])
@pytest.mark.parametrize("clip", [walking, backwards, running])
def test_hips_of_other_proportions_go_nearly_as_softly_as_the_clips(clip: Callable[[], Clip], kind: str) -> None:
    own, (target, _) = clip(), body_of(kind)
    assert sudden(heights(retarget(own, target).clip)[:, 0]) < sudden(heights(own)[:, 0]) + ROUGHER_LEGS * LEG_M


@pytest.mark.parametrize("kind", ["long feet", "long thighs"])
@pytest.mark.parametrize(("step_m", "deep_m"), [(1.3, 0.1), (1.6, 0.2), (1.6, 0.3)])
def test_who_runs_with_low_hips_goes_as_softly_as_who_runs_upright(step_m: float, deep_m: float, kind: str) -> None:
    """As his feet leave the ground hips are hardly higher above them than those of one who sits."""
    own, (target, _) = running(step_m, deep_m=deep_m), body_of(kind)
    assert sudden(heights(retarget(own, target).clip)[:, 0]) < sudden(heights(own)[:, 0]) + ROUGHER_LEGS * LEG_M


@pytest.mark.parametrize("begin_s", [0.1, 0.55, 0.65, 0.7])
def test_hips_of_long_feet_go_softly_from_the_first_frame_where_a_clip_is_cut_as_its_heel_rises(begin_s: float) -> None:
    own, (target, _) = cut(walking(), begin_s, begin_s + 1.2, FPS), body_of("long feet")
    hips = heights(retarget(own, target).clip)[:, 0]
    assert sudden(hips[:6]) < sudden(heights(own)[:, 0]) + ROUGHER_LEGS * LEG_M


@pytest.mark.parametrize(("shorter", "rougher_legs"), [(0.5, 0.01), (0.3, 0.02)])
def test_who_runs_on_small_feet_pushes_off_by_his_legs_and_does_not_duck(shorter: float, rougher_legs: float) -> None:
    """As its heel rises, a foot that is shorter for the leg than the clip's would hang above the ground."""
    offsets = BODY.rest_translations.copy()
    offsets[[BODY.index_of[f"{side}_metatarsal"] for side in "lr"]] *= (1.0, 1.0, shorter)
    target = Skeleton(BODY.names, BODY.parents, BODY.rest_rotations, offsets, BODY.rest_scales, "small feet")
    own = running()
    hips = heights(retarget(own, target, points=SkinPoints.of(*soled(target, 1.0))).clip)[:, 0]
    assert sudden(hips) < sudden(heights(own)[:, 0]) + rougher_legs * LEG_M


@pytest.mark.parametrize(("hips_m", "heels_deg", "is_lower"), [(-0.2, 0.0, True), (-0.2, -60.0, False),
                                                               (-0.62, 0.0, False)])
def test_only_who_stands_lower_shows_that_the_ground_is_lower(hips_m: float, heels_deg: float, is_lower: bool) -> None:
    """Feet of one who fell, or kneels, may be in the ground, where his body is thicker than the clip's."""
    times = np.arange(61) / FPS
    down = smoothstep(times, 0.7, 1.2)
    feet = np.stack((0.0 * times, -0.2 * down), axis=-1)[:, None].repeat(2, axis=1)
    hips = np.stack((-0.03 + (0.03 + hips_m) * down, 0.0 * times), axis=1)
    clip = posed("fall", times, hips, (feet, heels_deg * down[:, None].repeat(2, axis=1)))
    found = lower_ground(clip, find_map(BODY), LEG_M, np.array((0.0, 1.0, 0.0)))
    assert (found is not None and found.legs.min() < -0.2) == is_lower


@pytest.mark.slow
@pytest.mark.parametrize("end_legs", [0.0, -1.05])
@pytest.mark.parametrize("step_legs", [0.05, 0.09, 0.102, 0.105, 0.2])
def test_only_who_stands_lower_by_a_step_or_falls_on_is_on_lower_ground(step_legs: float, end_legs: float) -> None:
    """Whoever stands lower only for as short as counts, and sinks or rises as fast as one may who stands."""
    times, rng, found = np.linspace(0.0, 6.0, 721), np.random.default_rng(0), []
    for _ in range(300):
        begin_s, slope = rng.uniform(1.0, 4.0), rng.uniform(-0.149, 0.149)
        stands = np.abs(times - begin_s - 0.042) <= 0.042
        beside = np.minimum(np.abs(times - begin_s - 0.042) / 0.1, 1.0)
        feet = np.where(stands, slope * (times - begin_s - 0.042) - step_legs, -2.0 * step_legs * beside)
        feet[times < 0.5] = 0.0
        feet[-10:] = end_legs
        is_upright = stands | (times < 0.5)
        found.append(bool(ground_below._level(times, feet, is_upright).any()))
    assert any(found) == (step_legs > 0.1 or end_legs < -1.0)


def with_and_without_skin(clip: Clip, fps: float, heel_m: float) -> FloatArray:
    """Return how high hips are in frames of a body with soles, and without, (2, F) in legs."""
    times, (target, _) = np.arange(round(clip.duration_s * fps) + 1) / fps, body_of("long arms")
    both = (SkinPoints.of(*soled(target, 1.0, heel_m=heel_m)), None)
    return np.stack([world_from_pose(target, retarget(clip, target, points=each).clip.sample(times))[:, 0, 1, 3]
                     for each in both]) / LEG_M


@pytest.mark.slow
@pytest.mark.parametrize("heel_m", [0.045, -0.05])
@pytest.mark.parametrize("every_s", [0.9, 1.2, 2.0])
def test_a_foot_whose_heel_has_no_skin_makes_nobody_hop(heel_m: float, every_s: float) -> None:
    """Who walks backwards leaves the ground with the heel: without one, the foot would hang in the air."""
    for clip in (backwards(every_s=every_s), walking()):
        skinned, plain = with_and_without_skin(clip, FPS, heel_m)
        assert sudden(skinned) < sudden(plain) + SUDDEN_LEGS


@pytest.mark.slow
@pytest.mark.parametrize("fps", [24.0, 120.0])
@pytest.mark.parametrize("begin_s", [0.0, 0.3, 0.47, 0.83])
def test_clips_that_are_cut_in_mid_step_begin_and_end_as_the_frames_beside(begin_s: float, fps: float) -> None:
    for clip in (walking(), backwards()):
        for length_s in (1.1, 1.35):
            skinned, plain = with_and_without_skin(cut(clip, begin_s, begin_s + length_s, fps), fps, -0.05)
            steps = np.abs(np.diff(skinned - plain)) * fps / FPS
            assert max(steps[:3].max(), steps[-3:].max()) < 2.0 * SUDDEN_LEGS


@pytest.mark.parametrize("deg", [30.0, 70.0])
def test_straight_legs_stay_straight_where_their_feet_tip_over_an_edge(deg: float) -> None:
    """Nothing else bears the body: it goes up itself, as smoothly as it tips."""
    clip, (target, scale) = tipping(deg), body_of("long arms")
    skin = soled(target, scale, 0.04)
    done = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    times = np.arange(round(clip.duration_s * FPS) + 1) / FPS
    places = world_from_pose(done.skeleton, done.sample(times))[..., 3]
    hip, knee, ankle = (places[:, BODY.index_of[f"r_{name}"]] for name in ("hip", "knee", "ankle"))
    cosine = np.sum((knee - hip) * (ankle - knee), axis=1) / (
        np.linalg.norm(knee - hip, axis=1) * np.linalg.norm(ankle - knee, axis=1))
    assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))).max() < STRAIGHT_DEG
    low = SkinPoints(*skin).heights(done, times, np.array((0.0, 1.0, 0.0))).min(axis=1) - skin[0][:, 1].min()
    assert low.min() > BELOW_LEGS * LEG_M
    assert sudden(heights(done)[:, 0]) < sudden(heights(clip)[:, 0]) + SUDDEN_LEGS


def test_feet_are_off_the_ground_by_what_they_rise_from_where_they_stand() -> None:
    """A clip in whose ground a foot is by 2 cm leads it up; as it turns on its toes in long shoes it stands."""
    times = np.linspace(0.0, 1.0, 101)
    rises = 0.1 * np.maximum(times - 0.5, 0.0)
    contacts = {"l": FootContacts(np.array(((0.0, 0.6),)), np.zeros((0, 2)))}
    shifted = off_ground(times, (rises + 0.01)[:, None], (rises - 0.02)[:, None], "l", contacts)[:, 0]
    np.testing.assert_allclose(shifted, rises, atol=1e-12)
    for feet, soles in ((-rises, 0.0 * rises), (rises, 0.0 * rises), (0.0 * rises, rises)):
        assert not off_ground(times, feet[:, None], soles[:, None], "l", contacts).any()


def on_tips(deg: float) -> Clip:
    """Rise, feet as stiff as boards, onto the tips of long shoes, which stay on the ground; the skin is known."""
    times, (vertices, joints, _) = times_of(1.0), soled(BODY, 1.0, longer_m=0.05)
    pose = Pose.rest(BODY, len(times))
    for side in "lr":
        pose.rotations[:, BODY.index_of[f"{side}_ankle"]] = rot.from_axis_angle(
            ACROSS, np.radians(deg) * smoothstep(times, 0.0, 0.8))
    skin = SkinPoints(vertices, joints, np.ones(joints.shape))
    clip = Clip("tips", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3),
                skin=SkinSample.at_rest(BODY, joints[:, 0], vertices))
    rises = vertices[:, 1].min() - skin.heights(clip, times, np.array((0.0, 1.0, 0.0))).min(axis=1)
    path = clip.translations.values.copy()
    path[:, 1] += rises
    return replace(clip, translations=replace(clip.translations, values=path))


@pytest.mark.parametrize("deg", [20.0, 40.0, 60.0])
def test_who_stands_on_the_tips_of_his_toes_is_on_the_ground_with_the_balls_of_his_feet_in_the_air(deg: float) -> None:
    clip, times, up = on_tips(deg), np.linspace(0.0, 1.0, 21), np.array((0.0, 1.0, 0.0))
    (_, soles), (_, balls) = (ankles_and_soles(each, find_map(BODY), "lr", times, up)
                              for each in (clip, replace(clip, skin=None)))
    assert np.abs(soles).max() < 1e-3
    assert (balls[times > 0.4] > 0.01).all()
    target, _ = body_of("long thighs")
    skin = SkinPoints.of(*soled(target, 1.0))
    low = skin.heights(retarget(clip, target, points=skin).clip, times, up).min(axis=1)
    assert np.abs(low - skin.positions[:, 1].min()).max() < 0.01 * LEG_M


@pytest.mark.slow
@pytest.mark.parametrize("deep_m", [0.0, 0.1, 0.4, 1.2])
@pytest.mark.parametrize("is_in_place", [False, True])
@pytest.mark.parametrize("make", [walking, running])
def test_who_is_in_the_ground_all_the_while_goes_as_on_it(make: Callable[[], Clip], is_in_place: bool,
                                                          deep_m: float) -> None:
    """Many a skeleton rests high above where it plays; and feet never stand still where one goes in place."""
    clip, (target, scale) = make(), body_of("another rig")
    path = clip.translations.values.copy()
    if is_in_place:
        path[:, 2] -= np.linspace(path[0, 2], path[-1, 2], len(path))
    path[:, 1] -= deep_m
    clip = replace(clip, translations=replace(clip.translations, values=path))
    stands = foot_contacts(clip, find_map(BODY), np.array((0.0, 1.0, 0.0))).values()
    assert is_in_place is not any(len(each.stands) for each in stands)
    done = retarget(clip, target, points=SkinPoints.of(*soled(target, scale, 0.04))).clip
    np.testing.assert_allclose(heights(done) / scale, heights(clip) + deep_m, atol=0.01 * LEG_M)


def coming_down(pitch_deg: float, hip_deg: float, knee_deg: float, deep_m: float) -> Clip:
    """Come down in a pose until both ankles are so much lower than where they stand, and go up again."""
    times, pose = times_of(2.0), Pose.rest(BODY, 61)
    for name, deg in (("hip", hip_deg), ("knee", knee_deg)):
        pose.rotations[:, [BODY.index_of[f"{side}_{name}"] for side in "lr"]] = rot.from_axis_angle(
            ACROSS, np.radians(deg))
    pose.rotations[:, 0] = rot.from_axis_angle(ACROSS, np.radians(pitch_deg))
    ankle = BODY.index_of["r_ankle"]
    low = (world_from_pose(BODY, pose)[0, ankle] - BODY.rest_world[ankle])[1, 3]
    pose.translations[:, 0, 1] = 0.5 - (0.5 + deep_m) * np.clip(1.0 - 2.0 * np.abs(times - 1.0), 0.0, 1.0) - low
    return Clip("down", BODY, 2.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


@pytest.mark.parametrize("knee_deg", [85.0, 90.0, 95.0])
def test_skin_of_a_shin_that_turns_as_it_goes_up_with_its_foot_stays_out_of_the_ground(knee_deg: float) -> None:
    clip, (target, _) = coming_down(52.0, -41.0, knee_deg, 0.1), body_of("long arms")
    vertices, joints, weights = soled(target, 1.0)
    angles, wide = np.radians(30.0 * np.arange(12)), []
    for side in "lr":
        ring = 0.12 * np.stack((np.sin(angles), 0.0 * angles, np.cos(angles)), axis=1)
        ring += target.rest_world[target.index_of[f"{side}_ankle"], :, 3]
        ring[:, 1] = vertices[:, 1].min() + 0.08
        wide.append((ring, np.full((12, 1), target.index_of[f"{side}_knee"]), np.ones((12, 1))))
    every = [np.concatenate(each) for each in zip((vertices, joints, weights), *wide, strict=True)]
    skin = SkinPoints(every[0], every[1], every[2])
    done = retarget(clip, target, points=skin).clip
    low = skin.heights(done, np.arange(121) / (2.0 * FPS), np.array((0.0, 1.0, 0.0))).min(axis=1)
    assert (low - vertices[:, 1].min()).min() > BELOW_LEGS * LEG_M


def robed(skeleton: Skeleton, hem_m: float, is_stiff: bool = True) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return soles, and a robe that shins carry, half a metre wide, from the knees down to so high above the ground.

    is_stiff: one shin carries each half of it; else it has few corners, none in the middle, and both shins move them.
    """
    vertices, joints, weights = soled(skeleton, 1.0)
    angles, rings = np.radians(20.0 * np.arange(18) if is_stiff else 60.0 * np.arange(6) + 30.0), []
    for high_m in np.linspace(hem_m, 0.4, 5):
        rings.append(np.stack((0.26 * np.sin(angles), 0.0 * angles + vertices[:, 1].min() + high_m,
                               0.26 * np.cos(angles) + 0.05), axis=1))
    robe = np.concatenate(rings)
    left = robe[:, 0] > 0.0 if is_stiff else 0.5 + robe[:, 0] / 0.52
    shins = np.tile([skeleton.index_of[f"{side}_knee"] for side in "lr"], (len(robe), 1))
    none, both = np.zeros_like(joints), np.stack((left, 1.0 - left), axis=1)
    order = np.argsort(-both, axis=1)  # the strongest first
    return (np.concatenate((vertices, robe)),
            np.concatenate((np.hstack((joints, none)), np.take_along_axis(shins, order, axis=1))),
            np.concatenate((np.hstack((weights, none)), np.take_along_axis(both, order, axis=1))))


@pytest.mark.slow
@pytest.mark.parametrize("is_stiff", [True, False])
@pytest.mark.parametrize("hem_m", [-0.03, 0.02, 0.12])
@pytest.mark.parametrize("name", ["a jump", "a walk", "stairs up"])
def test_who_wears_a_robe_to_the_ground_stands_on_his_feet(name: str, hem_m: float, is_stiff: bool) -> None:
    clip, (target, _) = CLIPS[name](), body_of("long arms")
    alone, in_robe = (heights(retarget(clip, target, points=SkinPoints.of(*skin)).clip)
                      for skin in (soled(target, 1.0), robed(target, hem_m, is_stiff)))
    np.testing.assert_allclose(in_robe, alone, atol=1e-9)


def with_thick_legs(skeleton: Skeleton, wide_m: float, deep_m: float) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return soles, and legs as a robot's or of wide trousers: each shin carries its own, down to the ground."""
    vertices, joints, weights = soled(skeleton, 1.0)
    angles, tubes, carried = np.radians(20.0 * np.arange(18)), [], []
    for side in "lr":
        at = skeleton.rest_world[skeleton.index_of[f"{side}_ankle"], :, 3]
        for high_m in np.linspace(0.0, 0.4, 5):
            tubes.append(np.stack((at[0] + wide_m * np.sin(angles), 0.0 * angles + vertices[:, 1].min() + high_m,
                                   at[2] + deep_m * np.cos(angles)), axis=1))
            carried.append(np.full((18, 1), skeleton.index_of[f"{side}_knee"]))
    return (np.concatenate((vertices, *tubes)), np.concatenate((joints, *carried)),
            np.concatenate((weights, np.ones((18 * len(tubes), 1)))))


@pytest.mark.parametrize(("wide_m", "deep_m"), [(0.1, 0.26), (0.1, 0.3), (0.1, 0.35)])
@pytest.mark.parametrize("name", ["a jump", "a walk"])
def test_thick_legs_that_are_two_are_no_robe(name: str, wide_m: float, deep_m: float) -> None:
    """They stay out of the ground where knees bend: a robe, which is around both, bears nobody and may go into it."""
    clip, (target, _) = CLIPS[name](), body_of("long arms")
    skin = with_thick_legs(target, wide_m, deep_m)
    done = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    low = SkinPoints(*skin).heights(done, np.arange(round(clip.duration_s * FPS) + 1) / FPS, np.eye(3)[1]).min(axis=1)
    assert (low - soled(target, 1.0)[0][:, 1].min()).min() > BELOW_LEGS * LEG_M


def test_a_skirt_that_ends_higher_lifts_who_bends_his_knees() -> None:
    """As a thick body does: skin that could be anything is not in the ground."""
    clip, (target, _) = CLIPS["a jump"](), body_of("long arms")
    skin = robed(target, 0.2)
    done = retarget(clip, target, points=SkinPoints.of(*skin)).clip
    low = SkinPoints(*skin).heights(done, np.arange(round(clip.duration_s * FPS) + 1) / FPS, np.eye(3)[1]).min(axis=1)
    assert (low - soled(target, 1.0)[0][:, 1].min()).min() > BELOW_LEGS * LEG_M
