"""Who does push-ups is on his hands and toes, on any body: he does not tip onto his belly, however near that comes."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.body_contacts import HANDS
from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts
from takt.core.clips.thresholds import NEAR_LEGS
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.ground.contact_detection import find_contacts
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.core.skeletons.skin_sample import SkinSample
from takt.tests.core.stepping import ACROSS, BODY, times_of
from takt.tests.core.test_reaching_down import shaped
from takt.tests.core.test_seated_legs import THIN_M, UP, scaled, skin_of

HIGH_M, LOW_M = 0.45, 0.25
WRIST_M, BALL_M = 0.04, 0.05
"""How high shoulders are, wrists, and the balls of the feet."""
SURELY = 0.9
OFF_DEG, ON_GROUND, HANGS, SLIDES = 2.5, 0.07, 0.06, 0.02
THICK_M = 0.16
CROUCHED_DEG = {"HumanoidRoot": 80.0, "hip": -120.0, "knee": 120.0, "metatarsal": -80.0, "shoulder": -80.0,
                "wrist": -90.0}
LEGS: list[dict[str, float]] = [{"ankle": 1.001}, {"knee": 1.1}, {"ankle": 0.9}]


def push_ups() -> Clip:
    """Do push-ups on stretched legs and toes, hands below the shoulders."""
    times, joints, rest = times_of(3.2), BODY.index_of, BODY.rest_world[..., 3]
    pose = Pose.rest(BODY, len(times))
    high = LOW_M + (HIGH_M - LOW_M) * (0.5 + 0.5 * np.cos(2.0 * np.pi * times / 1.6))
    shoulder, elbow, wrist, ball = (rest[joints[f"l_{name}"]] for name in ("shoulder", "elbow", "wrist", "metatarsal"))
    long, far = shoulder[1] - ball[1], ball[2] - shoulder[2]
    pitch = 0.5 * np.pi - np.arcsin((high - BALL_M) / np.hypot(long, far)) + np.arctan2(far, long)
    upper, lower = np.linalg.norm(elbow - shoulder), np.linalg.norm(wrist - elbow)
    down = np.minimum(high - WRIST_M, 0.999 * (upper + lower))
    back = np.arccos(np.clip((upper**2 + down**2 - lower**2) / (2.0 * upper * down), -1.0, 1.0))
    ahead = np.arcsin(np.clip(upper * np.sin(back) / lower, -1.0, 1.0))
    angles = {"shoulder": back - pitch, "elbow": -back - ahead, "wrist": ahead - 0.5 * np.pi,
              "metatarsal": -pitch}
    pose.rotations[:, 0] = rot.from_axis_angle(ACROSS, pitch)
    for side in "lr":
        for name, angle in angles.items():
            pose.rotations[:, joints[f"{side}_{name}"]] = rot.from_axis_angle(ACROSS, angle)
    balls = world_from_pose(BODY, pose)[:, joints["l_metatarsal"], :, 3]
    pose.translations[:, 0] -= (balls - BALL_M * UP) * (0.0, 1.0, 1.0)
    whole = np.array(((0.0, 3.2),))
    contacts = {side: FootContacts(np.zeros((0, 2)), whole) for side in "lr"}
    return Clip("push-ups", BODY, 3.2, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3),
                contacts=contacts)


def spines(clip: Clip, times: FloatArray) -> FloatArray:
    """Return the way from hips to neck at times (F,), (F, 3) unit."""
    at = world_from_pose(clip.skeleton, clip.sample(times))[..., 3]
    way = at[:, clip.skeleton.index_of["vt3"]] - at[:, 0]
    return np.asarray(way / np.linalg.norm(way, axis=1, keepdims=True))


def with_forearms(skeleton: Skeleton, trunk_m: float) -> SkinPoints:
    """Return the skin of a body with a trunk so thick, and forearms down to its wrists."""
    skin, joints = skin_of(skeleton, trunk_m), skeleton.index_of
    of_elbows = np.flatnonzero(np.isin(skin.joints[:, 0], [joints[f"{side}_elbow"] for side in "lr"]))
    positions = skin.positions.copy()
    for side in "lr":
        own = skin.joints[of_elbows, 0] == joints[f"{side}_elbow"]
        elbow, wrist = (skeleton.rest_world[joints[f"{side}_{name}"], :, 3] for name in ("elbow", "wrist"))
        positions[of_elbows[own]] += np.linspace(0.0, 1.0, own.sum())[:, None] * (wrist - elbow)
    return SkinPoints(positions, skin.joints, skin.weights)


def lows(clip: Clip, skin: SkinPoints, times: FloatArray) -> dict[str, FloatArray]:
    """Return how high the lowest skin of hands and of feet is at times (F,), (F,) each in legs."""
    target = clip.skeleton
    heights = skin.heights(clip, times, UP) / find_map(target).leg_length
    hands, feet = (np.isin(skin.joints[:, 0], [joint for joint, name in enumerate(target.names) if name[2:] in names])
                   for names in (("wrist",), ("ankle", "metatarsal")))
    return {"hands": heights[:, hands].min(axis=1), "feet": heights[:, feet].min(axis=1)}


@pytest.mark.slow
@pytest.mark.parametrize("has_skin", [False, True], ids=["joints", "skin"])
@pytest.mark.parametrize("trunk_m", [THIN_M, THICK_M])
@pytest.mark.parametrize("longer", LEGS)
def test_who_does_push_ups_stays_on_hands_and_toes(longer: dict[str, float], trunk_m: float, has_skin: bool) -> None:
    clip, target, times = push_ups(), scaled(longer), np.linspace(0.0, 3.2, 60)
    if has_skin:
        skin = skin_of(BODY, trunk_m)
        clip = replace(clip, skin=SkinSample.at_rest(BODY, skin.joints[:, 0], skin.positions))
    body = with_forearms(target, trunk_m)
    done = retarget(clip, target, points=body).clip
    off = np.degrees(np.arccos(np.clip(np.sum(spines(clip, times) * spines(done, times), axis=1), -1.0, 1.0)))
    assert off.max() < OFF_DEG
    for part, low in lows(done, body, times).items():
        assert np.abs(low).max() < ON_GROUND, part


@pytest.mark.slow
@pytest.mark.parametrize(("arms", "legs"), [(1.5, 1.0), (1.0, 0.6), (1.4, 0.7)])
def test_who_does_push_ups_on_long_arms_has_his_feet_on_the_ground(arms: float, legs: float) -> None:
    clip, target, times = push_ups(), shaped(arms, legs), np.linspace(0.0, 3.2, 60)
    body = with_forearms(target, THIN_M)
    done = retarget(clip, target, points=body).clip
    for part, high in lows(done, body, times).items():
        assert np.abs(high).max() < HANGS, part
    feet = world_from_pose(target, done.sample(times))[:, target.index_of["l_metatarsal"], 2, 3]
    assert np.ptp(feet) < SLIDES * find_map(target).leg_length


def test_hands_bear_who_does_push_ups_however_near_the_ground_his_knees_come() -> None:
    clip, found = push_ups(), find_map(BODY)
    assert clip.contacts is not None
    knees = world_from_pose(BODY, clip.sample(times_of(3.2)))[:, BODY.index_of["l_knee"], 1, 3]
    assert knees.min() < NEAR_LEGS[1] * found.leg_length + BALL_M
    contacts = find_contacts(clip, found, UP)
    assert min(contacts.weight(hand, times_of(3.2)).min() for hand in HANDS) == pytest.approx(1.0)


@pytest.mark.parametrize("arms", [0.8, 1.5])
def test_who_is_on_hands_and_feet_with_bent_legs_does_not_tip(arms: float) -> None:
    """They put his feet on the ground themselves."""
    clip, times = push_ups(), times_of(1.0)
    pose = Pose.rest(BODY, len(times))
    for name, angle_deg in CROUCHED_DEG.items():
        joints = [joint for joint, own in enumerate(BODY.names) if name in (own, own[2:])]
        pose.rotations[:, joints] = rot.from_axis_angle(ACROSS, np.radians(angle_deg))
    balls = world_from_pose(BODY, pose)[:, BODY.index_of["l_metatarsal"], :, 3]
    pose.translations[:, 0] -= (balls - BALL_M * UP) * (0.0, 1.0, 1.0)
    crouched = replace(clip, duration_s=1.0, rotations=Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                       translations=Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]))
    found = find_map(BODY)
    assert clip.contacts is not None
    contacts = find_contacts(crouched, found, UP)
    assert min(contacts.weight(hand, times).min() for hand in HANDS) > SURELY
    target = shaped(arms, 1.0)
    done = retarget(crouched, target, points=with_forearms(target, THIN_M)).clip
    assert np.abs(spines(done, times) - spines(crouched, times)).max() < 1e-6
