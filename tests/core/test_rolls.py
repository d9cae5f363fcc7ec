"""Who rolls does so on the ground on any body: what is lowest on him is on it, whatever feet in the air say."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.body_contacts import HANDS
from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, smoothstep
from takt.core.retargeting.ground import all_steps
from takt.core.retargeting.ground.contact_detection import find_contacts
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton
from takt.core.skeletons.skin_sample import SkinSample
from takt.tests.core.stepping import ACROSS, BODY, jumping, times_of
from takt.tests.core.test_seated_legs import UP, scaled, skin_of

TRUNK_M, THICK_M = 0.12, 0.25
TUCKED_S, ROLLS_S, RISES_S = (0.3, 0.9), (0.7, 1.5), (1.3, 1.9)
ON_GROUND, BELOW, HIGH = 0.06, -0.02, 1.6
"""Of the leg."""
LEGS = {name: {"knee": factor, "ankle": factor} for name, factor in (
    ("longer legs", 1.3), ("long legs", 1.7), ("short legs", 0.6), ("dwarf's legs", 0.5), ("its own", 1.0))}
TUCKED = {"hip": -1.2, "knee": 0.5, "ankle": 0.3, "shoulder": -0.9, "elbow": -1.6}
REACHING = {"shoulder": -2.6, "elbow": 0.0}
ARMS = [joint for joint, name in enumerate(BODY.names)
        if any(part in name for part in ("elbow", "wrist", "thumb", "index", "middle", "ring", "pinky"))]


def rolling(trunk_m: float = TRUNK_M, flies_m: float = 0.0, *, hands_down: bool = False) -> Clip:
    """Bend, roll once over head and back, and stand up; the lowest skin but that of arms is on the ground.

    flies_m: so high above it he is at most instead, while he turns. hands_down: his arms reach to the ground before.
    """
    times, pose = times_of(2.8), Pose.rest(BODY, len(times_of(2.8)))
    share = smoothstep(times, *TUCKED_S) - smoothstep(times, *RISES_S)
    turn = smoothstep(times, *ROLLS_S)
    pose.rotations[:, 0] = rot.from_axis_angle(ACROSS, 2.0 * np.pi * turn)
    for name, angle in (TUCKED | (REACHING if hands_down else {})).items():
        for side in "lr":
            pose.rotations[:, BODY.index_of[f"{side}_{name}"]] = rot.from_axis_angle(ACROSS, angle * share)
    for name in ("vl5", "vl1", "vt6", "skullbase"):
        pose.rotations[:, BODY.index_of[name]] = rot.from_axis_angle(ACROSS, 0.4 * share)
    skin = skin_of(BODY, trunk_m)

    def placed(high: FloatArray) -> Clip:
        pose.translations[:, 0] = high[:, None] * UP
        return Clip("rolls", BODY, float(times[-1]), Tracks.uniform(np.arange(len(BODY)), times, pose.rotations),
                    Tracks.uniform(np.zeros(1, np.int64), times, pose.translations[:, :1]), Tracks.empty(3),
                    skin=SkinSample.at_rest(BODY, skin.joints[:, 0], skin.positions))

    own = skin.part(~np.isin(skin.joints[:, 0], ARMS))
    low = own.heights(placed(np.zeros(len(times))), times, UP).min(axis=1)
    return placed(flies_m * np.sin(np.pi * turn) ** 2 - low)


def low_and_hips(clip: Clip, target: Skeleton) -> tuple[FloatArray, FloatArray]:
    """Return how high the lowest skin but that of arms is, and the hips, as a target plays a clip, in legs."""
    skin, times = skin_of(target, TRUNK_M), np.arange(0.0, clip.duration_s, 1.0 / 60.0)
    done = retarget(clip, target, points=skin).clip
    leg, own = find_map(target).leg_length, ~np.isin(skin.joints[:, 0], ARMS)
    hips = SkinPoints(target.rest_world[:1, :, 3], np.zeros((1, 1), np.int64), np.ones((1, 1)))
    return skin.part(own).heights(done, times, UP).min(axis=1) / leg, hips.heights(done, times, UP)[:, 0] / leg


@pytest.mark.slow
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("legs", LEGS)
def test_who_rolls_is_on_the_ground_with_what_is_lowest_on_him(legs: str, is_known: bool) -> None:
    """Whether the clip's own skin is known, or not."""
    clip = rolling() if is_known else replace(rolling(), skin=None)
    low, _ = low_and_hips(clip, scaled(LEGS[legs]))
    assert low.min() > BELOW
    assert low.max() < ON_GROUND


@pytest.mark.slow
@pytest.mark.parametrize("legs", [legs for legs in LEGS if legs != "its own"])
def test_who_is_slim_rolls_on_the_ground_though_the_clips_body_is_thick(legs: str) -> None:
    """No joint of the clip's body comes near the ground, and its hips are high."""
    low, _ = low_and_hips(rolling(THICK_M), scaled(LEGS[legs]))
    assert low.min() > BELOW
    assert low.max() < 2.0 * ON_GROUND


@pytest.mark.slow
@pytest.mark.parametrize("legs", LEGS)
def test_who_jumps_or_turns_over_in_the_air_flies_as_high_by_the_ratio_of_the_legs(
        legs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = scaled(LEGS[legs])
    clips = [jumping(), rolling(flies_m=2.4)]
    hips = [low_and_hips(clip, target)[1] for clip in clips]
    monkeypatch.setattr(all_steps, "as_high_as_contacts", lambda *_: None)
    low, by_legs = zip(*(low_and_hips(clip, target) for clip in clips), strict=True)
    np.testing.assert_array_equal(hips[0], by_legs[0])
    highest = low[1] > HIGH
    assert highest.any()
    np.testing.assert_allclose(hips[1][highest], by_legs[1][highest], atol=1e-3)


def test_hands_of_who_rolls_do_not_bear_him() -> None:
    """They are on the ground before his head is, and no arm is so long that it throws him up."""
    clip, found = rolling(hands_down=True), find_map(BODY)
    contacts = find_contacts(clip, found, UP)
    assert not any(contacts.of(hand) for hand in HANDS)
