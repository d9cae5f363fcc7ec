"""Who bends to the floor stays on his feet, whatever his arms; hands that bear a body still do."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from takt.core.clips.body_contacts import HANDS
from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, smoothstep
from takt.core.retargeting.ground.contact_detection import find_contacts
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.tests.core.stepping import ACROSS, BODY, posed, soled, times_of
from takt.tests.core.test_lying import lies

LEG_M = 0.825
UP = np.array((0.0, 1.0, 0.0))
FEET_LEGS, BELOW_LEGS = 0.005, -0.02
OVER_FLOOR_M = 0.04
HARDER, HARDER_ELBOWS = 1.0, 1.6
"""By so much more may hands, and elbows of arms that are straight in the clip, accelerate than in the ground."""
THROWN_LEGS = 0.36
SURELY = 0.7
"""Hands that are lifted to take a step bear the body less."""
FINGERS = [joint for joint, name in enumerate(BODY.names) if name.endswith("3") and "thumb" not in name]
FEET = [BODY.index_of[f"{side}_{part}"] for side in "lr" for part in ("ankle", "metatarsal")]
ARMS = [BODY.index_of[f"{side}_{part}"] for side in "lr" for part in ("shoulder", "elbow", "wrist")]
ELBOWS, WRISTS = ([BODY.index_of[f"{side}_{part}"] for side in "lr"] for part in ("elbow", "wrist"))
SHAPES: dict[str, tuple[float, float]] = {
    "arms × 1.5": (1.5, 1.0), "arms × 2": (2.0, 1.0), "legs × ½": (1.0, 0.5), "arms × 1.5, legs × ½": (1.5, 0.5)}
"""By how much arms and legs are longer."""


def bent_down(crouch_m: float, over_s: float) -> Clip:
    times = times_of(3.0 * over_s)
    share = smoothstep(times, 0.1 * over_s, over_s) - smoothstep(times, 1.8 * over_s, 2.8 * over_s)
    feet = np.zeros((len(times), 2, 2)), np.zeros((len(times), 2))
    clip = posed("reach", times, np.stack((-0.02 - crouch_m * share, -0.12 * share), axis=1), feet)
    pose = clip.sample(times)
    turned = {"vl5": 60.0, "l_shoulder": -75.0, "r_shoulder": -75.0}
    for name, angle_deg in turned.items():
        pose.rotations[:, BODY.index_of[name]] = rot.from_axis_angle(ACROSS, np.radians(angle_deg) * share)
    return Clip("reach", BODY, clip.duration_s, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                clip.translations, clip.scales)


@cache
def reaching(over_s: float = 1.0) -> Clip:
    """Crouch and reach down with both hands, until fingers are 4 cm over the floor, and come up again."""
    high = positions(bent_down(0.3, over_s))[:, FINGERS, 1].min()
    return bent_down(0.3 + float(high) - OVER_FLOOR_M, over_s)


def shaped(arms: float, legs: float) -> Skeleton:
    offsets = BODY.rest_translations.copy()
    for side in "lr":
        offsets[[BODY.index_of[f"{side}_{part}"] for part in ("elbow", "wrist")]] *= arms
        leg = [BODY.index_of[f"{side}_{part}"] for part in ("knee", "ankle")]
        offsets[0, 1] += (legs - 1.0) * offsets[leg, 1].sum() * -0.5
        offsets[leg] *= legs
    return Skeleton(BODY.names, BODY.parents, BODY.rest_rotations, offsets, BODY.rest_scales, "shaped")


def positions(clip: Clip) -> FloatArray:
    return np.asarray(world_from_pose(clip.skeleton, clip.sample(times_of(clip.duration_s)))[..., 3])


def sudden(values: FloatArray) -> float:
    return float(np.abs(np.diff(values, 2, axis=0)).max())


def lowest(clip: Clip, skin: SkinPoints) -> FloatArray:
    ground = skin.positions[np.isin(skin.joints[:, 0], FEET)] @ UP
    return np.asarray(skin.heights(clip, times_of(clip.duration_s), UP).min(axis=1) - ground.min())


@pytest.mark.slow
@pytest.mark.parametrize("keep_contacts", [False, True])
@pytest.mark.parametrize("over_s", [0.6, 1.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_who_reaches_down_stays_on_his_feet_and_out_of_the_ground(shape: str, over_s: float,
                                                                  keep_contacts: bool) -> None:
    clip, target, leg = reaching(over_s), shaped(*SHAPES[shape]), LEG_M * SHAPES[shape][1]
    skin = SkinPoints(*soled(target, 1.0))
    plain = positions(retarget(clip, target).clip)
    done = retarget(clip, target, points=skin, keep_contacts=keep_contacts).clip
    at = positions(done)
    moved = at[:, FEET] - at[:1, FEET]
    assert plain[:, FINGERS, 1].min() < -0.05 * leg
    assert np.abs(moved).max() < FEET_LEGS * leg
    assert lowest(done, skin).min() > BELOW_LEGS * leg
    assert sudden(at[:, 0]) <= 1.001 * sudden(plain[:, 0])
    assert sudden(at[:, WRISTS]) <= HARDER * sudden(plain[:, WRISTS])
    assert sudden(at[:, ELBOWS]) <= HARDER_ELBOWS * sudden(plain[:, ELBOWS])


SITS = {"on his heels": (-80.0, 165.0, 50.0, 35.0), "on the floor": (-95.0, 20.0, 0.0, 0.0)}
"""Degrees by which hips, knees and ankles are bent, and by how much he leans forward."""


def sitting(how: str, reach_deg: float) -> Clip:
    """Sit on the floor, and reach to it with both hands."""
    hip_deg, knee_deg, ankle_deg, lean_deg = SITS[how]
    times = times_of(2.0)
    share = smoothstep(times, 0.3, 0.9) - smoothstep(times, 1.1, 1.7)
    clip = Clip("sits", BODY, float(times[-1]), Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    pose = clip.sample(times)
    bent = {f"{side}_{name}": deg for side in "lr" for name, deg in
            (("hip", hip_deg), ("knee", knee_deg), ("ankle", ankle_deg))}
    for name, deg in ({"vl5": lean_deg, "l_shoulder": reach_deg, "r_shoulder": reach_deg}).items():
        pose.rotations[:, BODY.index_of[name]] = rot.from_axis_angle(ACROSS, np.radians(deg) * share)
    for name, deg in bent.items():
        pose.rotations[:, BODY.index_of[name]] = rot.from_axis_angle(ACROSS, np.radians(deg))
    seat = [BODY.index_of[name] for name in ("HumanoidRoot", "l_hip", "l_knee", "l_ankle", "l_metatarsal")]
    pose.translations[:, 0, 1] = 0.06 - world_from_pose(BODY, pose)[0, seat, 1, 3].min()
    return Clip("sits", BODY, clip.duration_s, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


@pytest.mark.parametrize("arms", [1.3, 1.6])
@pytest.mark.parametrize(("how", "reach_deg"), [("on his heels", -60.0), ("on the floor", 25.0)])
def test_who_sits_is_not_lifted_by_hands_with_which_he_reaches_to_the_floor(how: str, reach_deg: float,
                                                                            arms: float) -> None:
    clip, target = sitting(how, reach_deg), shaped(arms, 1.0)
    skin = SkinPoints(*soled(target, 1.0))
    done, plain = retarget(clip, target, points=skin).clip, retarget(clip, target).clip
    assert lowest(plain, skin).min() < -0.05 * LEG_M
    high = positions(done)[:, 0, 1]
    assert np.ptp(high) < FEET_LEGS * LEG_M
    assert lowest(done, skin).min() > BELOW_LEGS * LEG_M


@pytest.mark.parametrize("shape", ["arms × 1.5", "arms × 2"])
def test_hands_on_which_a_body_crawls_lift_it(shape: str) -> None:
    clip, target = lies("prone", 0.0, "hips", crawls=True), shaped(*SHAPES[shape])
    skin = SkinPoints(*soled(target, 1.0))
    plain, done = retarget(clip, target).clip, retarget(clip, target, points=skin).clip
    times = times_of(clip.duration_s)
    a, b = (each.sample(times).rotations[:, ARMS] for each in (plain, done))
    assert np.degrees(rot.angle_between(a, b).max()) < 1.0
    assert lowest(done, skin).min() > BELOW_LEGS * LEG_M


def test_hands_bear_as_soon_as_they_come_to_the_ground() -> None:
    crawls, times = lies("prone", 0.0, "hips", crawls=True), times_of(2.0)
    high = 1.0 - smoothstep(times, 0.9, 1.1)
    moves = crawls.sample(times).translations[:, :1] + high[:, None, None] * UP
    falls = replace(crawls, translations=Tracks.uniform(np.zeros(1, np.int64), times, moves))
    found = find_map(falls.skeleton)
    contacts = find_contacts(falls, found, UP)
    for hand in HANDS:
        assert contacts.weight(hand, np.linspace(0.0, 0.8, 9)).max() == 0.0
        assert contacts.weight(hand, np.array((1.1, 1.15))).min() > SURELY


def on_hands_and_knees() -> Clip:
    """Stay on hands and knees, the trunk tilted so that both are on the floor."""
    pose = Pose.rest(BODY, 31)
    for name, deg in {"HumanoidRoot": 70.0, "hip": -70.0, "knee": 90.0, "shoulder": -70.0}.items():
        joints = [joint for joint, own in enumerate(BODY.names) if name in (own, own[2:])]
        pose.rotations[:, joints] = rot.from_axis_angle(ACROSS, np.radians(deg))
    pose.translations[:, 0, 1] = 0.05 - world_from_pose(BODY, pose)[0, FINGERS, 1, 3].min()
    times = times_of(1.0)
    return Clip("on all fours", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


def with_upper_arms(skeleton: Skeleton) -> SkinPoints:
    """Return a skin with upper arms that end at the elbows."""
    skin, at = SkinPoints(*soled(skeleton, 1.0)), skeleton.rest_world[..., 3]
    joints = np.repeat([skeleton.index_of[f"{side}_shoulder"] for side in "lr"], 4)
    around = 0.03 * np.array((ACROSS, -ACROSS, UP, -UP))
    vertices = np.concatenate([at[skeleton.index_of[f"{side}_elbow"]] + around for side in "lr"])
    return SkinPoints(np.concatenate((skin.positions, vertices)), np.concatenate((skin.joints, joints[:, None])),
                      np.ones((len(skin.positions) + 8, 1)))


@pytest.mark.parametrize(("arms", "legs"), [(1.2, 1.0), (1.5, 1.0), (2.0, 1.0), (2.5, 0.5)])
def test_who_is_on_hands_and_knees_stays_on_his_knees_however_long_his_arms_are(arms: float, legs: float) -> None:
    """Also where his elbows would be in the ground."""
    clip, knees = on_hands_and_knees(), [BODY.index_of[f"{side}_knee"] for side in "lr"]
    skins = {times: with_upper_arms(shaped(times, legs)) for times in (0.9 * legs, arms)}
    short, done = (retarget(clip, shaped(times, legs), points=skin).clip for times, skin in skins.items())
    assert lowest(retarget(clip, shaped(arms, legs)).clip, skins[arms]).min() < -0.05 * LEG_M
    assert np.abs(positions(done)[:, knees] - positions(short)[:, knees]).max() < FEET_LEGS * LEG_M
    assert lowest(done, skins[arms]).min() > BELOW_LEGS * LEG_M


def test_hands_bear_who_would_fall_without_them() -> None:
    crawls = lies("prone", 0.0, "hips", crawls=True)
    for clip, wanted in ((reaching(), 0.0), (crawls, 1.0), (on_hands_and_knees(), 0.0)):
        found = find_map(clip.skeleton)
        contacts, times = find_contacts(clip, found, UP), np.linspace(0.2, clip.duration_s - 0.2, 50)
        at = np.stack([contacts.weight(hand, times) for hand in HANDS])
        assert at.max() == pytest.approx(wanted) and at.min() >= SURELY * wanted


def cartwheel() -> Clip:
    """Turn over sideways, over one hand and the other, whatever is lowest of hands and feet on the floor."""
    times = times_of(2.0)
    pose = Pose.rest(BODY, len(times))
    pose.rotations[:, 0] = rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), 2.0 * np.pi * smoothstep(times, 0.3, 1.7))
    at = BODY.rest_world[..., 3]
    for side, wide in (("l", 0.5), ("r", -0.5)):
        for first, last, way in (("shoulder", "wrist", (wide, 1.0, 0.0)), ("hip", "ankle", (wide, -1.0, 0.0))):
            limb = BODY.index_of[f"{side}_{first}"]
            now = at[BODY.index_of[f"{side}_{last}"]] - at[limb]
            pose.rotations[:, limb] = rot.shortest_arc(now, np.array(way) * np.linalg.norm(now))
    high = world_from_pose(BODY, pose)[..., 1, 3]
    pose.translations[:, 0, 1] = 0.02 - high[:, [*FINGERS, *FEET]].min(axis=1)
    return Clip("cartwheel", BODY, 2.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3))


@pytest.mark.parametrize("shape", SHAPES)
def test_who_goes_over_hands_on_long_arms_is_not_thrown_up_at_once(shape: str) -> None:
    """Hips are to rise by arms and trunk, however much longer these are for the leg than the clip's."""
    target, leg = shaped(*SHAPES[shape]), LEG_M * SHAPES[shape][1]
    skin = SkinPoints(*soled(target, 1.0))
    done = retarget(cartwheel(), target, points=skin).clip
    assert lowest(done, skin).min() > BELOW_LEGS * leg
    assert sudden(positions(done)[:, 0, 1]) < THROWN_LEGS * leg
