"""Keep Contacts: a hand that swings past a hip is not caught by it, nor is one that rests there let go in a jerk."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.contacts.eased import with_limited_speed
from takt.core.retargeting.limbs import Limb, LimbPoses
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, Skeleton, world_from_pose
from takt.tests.core.test_ground import skin_of
from takt.tests.core.test_hands import BODY, KEPT, THICK, THICKNESS, X, Y, Z, gap, height, placed, shaped

FASTER, LONGEST_M = 0.85, 0.3
"""Of the body's height in a second: so much faster a hand may go at most."""
SHOULDERS = [(0.2, 0.9), (0.25, 1.0), (0.3, 0.9)]


def swinging(seconds: float) -> Clip:
    """Return a left hand that goes past the hip on its skin from behind it to the front within so many seconds."""
    found, at = find_map(BODY), BODY.rest_world[..., 3]
    joint_of, times = found.joint_of, np.linspace(0.0, 2.0, 97)
    hip, arm = joint_of["l_hip"], Limb.of(found, "l", ("shoulder", "elbow", "wrist"))
    assert arm is not None
    pose = Pose.rest(BODY, len(times))
    ahead = LONGEST_M * np.sin(0.5 * np.pi * np.clip((times - 1.0) / (0.5 * seconds), -1.0, 1.0))
    beside = at[hip] + (0.165 + THICKNESS * height(BODY) - at[hip, 0]) * X + 0.08 * Y
    aside = 0.25 * (1.0 - np.cos(0.5 * np.pi * ahead / LONGEST_M))
    world = world_from_pose(BODY, pose)
    knuckles = [joint_of[f"l_{finger}1"] for finger in ("index", "middle", "ring", "pinky")]
    away = beside + ahead[:, None] * Z + aside[:, None] * X - world[..., 3][:, knuckles].mean(axis=1)
    moved = LimbPoses.of(world, arm).at((slice(None), 0)).reaching(away, -X)
    pose.rotations[:, arm] = moved.rotations(BODY, world, arm)
    return Clip("swings", BODY, 2.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations), Tracks.empty(3),
                Tracks.empty(3))


def faster(clip: Clip, target: Skeleton, skin: SkinPoints) -> tuple[float, float]:
    """Return by how much the left wrist is faster with contacts kept, and how far it is led, in heights."""
    times, wrist = np.linspace(0.0, clip.duration_s, 241), find_map(target).joint_of["l_wrist"]
    plain, kept = (world_from_pose(target, retarget(clip, target, points=skin, keep_contacts=keep).clip.sample(times))
                   [:, wrist, :, 3] / height(target) for keep in (False, True))
    speeds = [np.linalg.norm(np.diff(way, axis=0), axis=1) / np.diff(times) for way in (plain, kept)]
    return float((speeds[1] - speeds[0]).max()), float(np.linalg.norm(kept - plain, axis=1).max())


@pytest.mark.parametrize("seconds", [0.5, 1.0])
@pytest.mark.parametrize(("broader", "arm"), SHOULDERS)
def test_a_hand_that_swings_past_a_hip_does_not_hurry_to_it(seconds: float, broader: float, arm: float) -> None:
    target = shaped(broader, arm)
    more, _ = faster(swinging(seconds), target, SkinPoints.of(*skin_of(target, THICK)))
    assert more < FASTER


@pytest.mark.slow
@pytest.mark.parametrize("slower", [0.3, 1.0])
@pytest.mark.parametrize(("broader", "arm"), SHOULDERS)
def test_a_hand_that_rests_on_a_hip_comes_and_goes_without_a_jerk(slower: float, broader: float, arm: float) -> None:
    (clip, share), target = placed("hip"), shaped(broader, arm)
    skin = SkinPoints.of(*skin_of(target, THICK))
    moved = replace(clip.rotations, times_s=slower * clip.rotations.times_s)
    more, led = faster(replace(clip, duration_s=slower * clip.duration_s, rotations=moved), target, skin)
    assert more < FASTER and led > KEPT
    after = gap(retarget(clip, target, points=skin, keep_contacts=True).clip, skin, ["HumanoidRoot", "vl5", "l_hip"])
    assert np.abs(after[share == 1.0][3:-3]).max() < KEPT


def test_ways_of_no_length_are_gone_at_any_speed() -> None:
    times, none = np.linspace(0.0, 1.0, 9), np.zeros(9)
    np.testing.assert_array_equal(with_limited_speed(times, np.zeros((9, 3)), none, 1.0), np.zeros((9, 3)))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_gone_before_and_after_is_nowhere_shorter_and_no_faster_than_allowed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, 2.0, 200))
    far: FloatArray = np.where((times > 0.8) & (times < 1.2), 0.3, 0.0)
    ways = far[:, None] * X
    made = with_limited_speed(times, ways, np.where(far > 0.0, 1.0, 0.0), 0.7)
    assert (made[:, 0] >= far - 1e-12).all()
    assert (np.abs(np.diff(made[:, 0])) <= 0.7 * np.diff(times) + 1e-12).all()
