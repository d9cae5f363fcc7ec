"""Heels whose skin the shins carry, as on many game characters, are of the foot: no leg is held up by its own heel."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.retargeting.ground.bearing_skin import is_heel
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.stepping import posed, times_of
from takt.tests.core.test_seated_legs import FEET, UP, scaled, skin_of

STANDS = 0.02
"""Of the leg."""
WIDE_M = 0.35


def with_heels(skeleton: Skeleton, carried_by: str) -> SkinPoints:
    """Return skin with heels on the ground behind the ankles, that mostly another joint of the leg carries."""
    skin, heels, joints = skin_of(skeleton, 0.1), [], []
    for side in "lr":
        ankle, upper = (skeleton.index_of[f"{side}_{name}"] for name in ("ankle", carried_by))
        at = skeleton.rest_world[ankle, :, 3]
        for aside in (-0.02, 0.0, 0.02):
            heels.append((at[0] + aside, 0.0, at[2] - 0.05))
            joints.append((upper, ankle))
    weights = np.concatenate((np.tile((1.0, 0.0), (len(skin.positions), 1)), np.tile((0.8, 0.2), (len(heels), 1))))
    return SkinPoints(np.concatenate((skin.positions, heels)),
                      np.concatenate((skin.joints.repeat(2, axis=1), joints)), weights)


def wide() -> Clip:
    """Stand, a foot ahead and one behind, low between them and over the one behind."""
    times = times_of(1.5)
    feet = np.zeros((len(times), 2, 2))
    feet[:, :, 0] = WIDE_M, -WIDE_M
    hips = np.tile((-0.2, -0.2), (len(times), 1))
    return posed("wide", times, hips, (feet, np.zeros((len(times), 2))))


@pytest.mark.parametrize("carried_by", ["ankle", "knee"])
def test_both_feet_stand_wide_whatever_carries_the_heels(carried_by: str) -> None:
    target = scaled({"ankle": 1.3})
    skin = with_heels(target, carried_by)
    done = retarget(wide(), target, points=skin).clip
    heights = skin.heights(done, np.linspace(0.5, 1.0, 5), UP) / find_map(target).leg_length
    feet = [np.isin(skin.joints[:, 0], [target.index_of[f"{side}_{name}"] for name in FEET]) for side in "lr"]
    for of_foot in feet:
        assert heights[:, of_foot].min(axis=1).max() < STANDS


def test_heels_are_what_is_low_and_beside_the_foot() -> None:
    target = scaled({})
    skin, found = with_heels(target, "knee"), find_map(target)
    is_foot = np.isin(skin.joints[:, 0], [target.index_of[f"l_{name}"] for name in FEET])
    heel = is_heel(skin, found, "l", is_foot, skin.positions @ UP)
    expected = (skin.joints[:, 0] == target.index_of["l_knee"]) & (skin.weights[:, 0] < 1.0)
    assert np.array_equal(heel, expected)
