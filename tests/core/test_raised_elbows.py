"""Elbows swing up aside, while shoulders and hands stay."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.ground.arms_off_ground import ArmSkin, with_arms_drawn_up
from takt.core.retargeting.ground.raised_elbows import with_elbow_raised
from takt.core.retargeting.limbs import Limb
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.tests.core.stepping import ACROSS, BODY, times_of
from takt.tests.core.test_arms_off_ground import LEG_M, forearm

UP = np.array((0.0, 1.0, 0.0))
ARM = Limb(*(BODY.index_of[f"l_{name}"] for name in ("shoulder", "elbow", "wrist")))
AHEAD = np.cross(ACROSS, UP)
SAME_M, SAME_RAD = 1e-6, 1e-6
SHOWN_M, TURNS_RAD = 0.01, 0.2


def bent(aside_deg: FloatArray) -> Clip:
    """Return a clip of an arm ahead, its elbow below, turned aside about the line from shoulder to wrist by (F,)."""
    times, rest = times_of(1.0), BODY.rest_world[..., 3]
    ahead = rot.shortest_arc(rest[ARM.last] - rest[ARM.first], AHEAD)
    pose = Pose.rest(BODY, len(times))
    swung = rot.from_axis_angle(AHEAD, np.radians(aside_deg))
    pose.rotations[:, ARM.first] = rot.multiply(swung, rot.multiply(rot.from_axis_angle(ACROSS, np.array(0.7)), ahead))
    pose.rotations[:, ARM.middle] = rot.multiply(rot.conjugate(ahead), rot.multiply(
        rot.from_axis_angle(ACROSS, np.array(-1.4)), ahead))
    return Clip("bent", BODY, 1.0, Tracks.uniform(np.arange(len(BODY)), times, pose.rotations), Tracks.empty(3),
                Tracks.empty(3))


def placed(clip: Clip) -> tuple[FloatArray, FloatArray]:
    """Return where shoulder, elbow and wrist are, (F, 3, 3), and how the hand is turned, (F, 4)."""
    world = world_from_pose(BODY, clip.sample(times_of(1.0)))[:, list(ARM)]
    return world[..., 3], rot.from_matrix(world[:, 2, :, :3])


@pytest.mark.parametrize("aside_deg", [-70.0, -20.0, 0.0, 3.0, 50.0])
@pytest.mark.parametrize("rise_m", [0.0, 0.005, 0.05])
def test_an_elbow_is_higher_by_its_rise_and_the_hand_stays(rise_m: float, aside_deg: float) -> None:
    times = times_of(1.0)
    clip = bent(np.full(len(times), aside_deg))
    before, hand = placed(clip)
    after, turned = placed(with_elbow_raised(clip, ARM, times, np.full(len(times), rise_m), UP))
    assert before[0, 1, 1] < before[0, 0, 1] - SHOWN_M
    np.testing.assert_allclose(after[:, 1, 1] - before[:, 1, 1], rise_m, atol=SAME_M)
    np.testing.assert_allclose(after[:, ::2], before[:, ::2], atol=SAME_M)
    assert rot.angle_between(hand, turned).max() < SAME_RAD


def test_an_elbow_that_passes_below_keeps_to_one_side_and_does_not_jerk() -> None:
    """It goes from one side to the other; raised, it stays on the one where it is longer, while it is low."""
    times = times_of(1.0)
    clip = bent(np.linspace(-25.0, 10.0, len(times)))
    after, _ = placed(with_elbow_raised(clip, ARM, times, np.full(len(times), 0.06), UP))
    side = (after[:, 1] - after[:, 0]) @ ACROSS
    assert (np.sign(side) == np.sign(side[0])).all() and np.abs(side).min() > SHOWN_M
    assert np.abs(np.diff(side)).max() < TURNS_RAD * np.linalg.norm(after[0, 1] - after[0, 0])


@pytest.mark.parametrize("aside_deg", [-20.0, 0.0, 35.0])
def test_an_elbow_that_is_in_the_ground_alone_leaves_the_hand_where_it_is(aside_deg: float) -> None:
    times, found, skin = times_of(1.0), find_map(BODY), forearm()
    clip, arm = bent(np.full(len(times), aside_deg)), ArmSkin.of(find_map(BODY), BODY, forearm(), 0)
    assert arm is not None
    ground = float(skin.heights(clip, times, UP).min()) + SHOWN_M
    done = with_arms_drawn_up(clip, found, (arm,), ground, LEG_M, UP)
    assert skin.heights(done, times, UP).min() > ground - 0.1 * SHOWN_M
    np.testing.assert_allclose(placed(done)[0][:, 2], placed(clip)[0][:, 2], atol=SAME_M)
