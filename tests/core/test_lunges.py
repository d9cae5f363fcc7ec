"""Who stands wide, one knee bent, stands on both feet on any body: neither hangs in the air for the other leg."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.retarget import retarget
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.stepping import posed, soled, times_of
from takt.tests.core.test_seated_legs import scaled

UP = np.array((0.0, 1.0, 0.0))
HEM_M = 0.03
ON_GROUND, BELOW, UNSEEN = 0.01, -0.01, 0.025
"""Of the leg."""
PROPORTIONS = [{"knee": 1.3, "ankle": 0.75}, {"knee": 0.8, "ankle": 1.2}, {"knee": 1.6, "ankle": 1.5}]


def lunging(ahead: str, slides_m_per_s: float) -> Clip:
    """Go down into a lunge with one foot ahead, which slides to and fro, or stands."""
    times = times_of(3.0)
    feet = np.zeros((len(times), 2, 2))
    feet[:, "lr".index(ahead), 0] = 0.55 - slides_m_per_s * np.abs(times % 2.0 - 1.0)
    feet[:, "rl".index(ahead), 0] = -0.35
    return posed("lunges", times, np.tile((-0.33, 0.15), (len(times), 1)), (feet, np.zeros((len(times), 2))))


def with_hems(skeleton: Skeleton) -> SkinPoints:
    """Return level soles, and trousers that shins carry and that nearly reach down to them."""
    vertices, joints, weights = soled(skeleton, 1.0)
    ground, at = vertices[:, 1].min(), skeleton.rest_world[..., 3]
    ankles, knees = ([skeleton.index_of[f"{side}_{name}"] for side in "lr"] for name in ("ankle", "knee"))
    hems = np.repeat(at[ankles], 2, axis=0) + np.tile(((0.06, 0.0, 0.0), (-0.06, 0.0, 0.0)), (2, 1))
    hems[:, 1] = ground + HEM_M
    return SkinPoints(np.concatenate((vertices, hems)), np.concatenate((joints, np.repeat(knees, 2)[:, None])),
                      np.concatenate((weights, np.ones((4, 1)))))


def feet_of(skin: SkinPoints, target: Skeleton, clip: Clip, times: FloatArray) -> FloatArray:
    """Return how high the lowest skin of all and of each foot is above the soles at rest, (3, F) in legs."""
    found, own = find_map(target), skin.joints[:, 0]
    feet = [np.isin(own, [target.index_of[f"{side}_{name}"] for name in ("ankle", "metatarsal")]) for side in "lr"]
    heights = skin.heights(clip, times, UP) - skin.positions[feet[0] | feet[1], 1].min()
    return np.stack([heights[:, part].min(axis=1) for part in (own >= 0, *feet)]) / found.leg_length


@pytest.mark.parametrize("ahead", "lr")
@pytest.mark.parametrize("longer", PROPORTIONS)
def test_both_feet_of_a_lunge_stand_though_trousers_nearly_reach_to_the_ground(ahead: str,
                                                                             longer: dict[str, float]) -> None:
    target = scaled(longer)
    skin = with_hems(target)
    times = np.linspace(0.0, 3.0, 60)
    low, *feet = feet_of(skin, target, retarget(lunging(ahead, 0.0), target, points=skin).clip, times)
    assert low.min() >= BELOW
    assert np.abs(feet).max() <= ON_GROUND


@pytest.mark.parametrize("longer", PROPORTIONS)
def test_a_foot_that_slides_over_the_ground_slides_over_it_on_any_body(longer: dict[str, float]) -> None:
    """It is no contact, since it stands nowhere, but as low in the clip as the other one."""
    target = scaled(longer)
    skin = with_hems(target)
    low, *feet = feet_of(skin, target, retarget(lunging("l", 0.35), target, points=skin).clip,
                         np.linspace(0.5, 2.5, 60))
    assert low.min() >= BELOW
    assert np.abs(feet).max() <= UNSEEN


@pytest.mark.parametrize("below_m", [0.5, 0.53, 0.56])
def test_nothing_that_a_thigh_carries_comes_into_the_ground_with_its_foot(below_m: float) -> None:
    target = scaled(PROPORTIONS[0])
    skin = with_hems(target)
    hips, knees = ([target.index_of[f"{side}_{name}"] for side in "lr"] for name in ("hip", "knee"))
    bags = target.rest_world[knees, :, 3] - (0.0, 0.0, below_m)
    skin = SkinPoints(np.concatenate((skin.positions, bags)), np.concatenate((skin.joints, np.array(hips)[:, None])),
                      np.concatenate((skin.weights, np.ones((2, 1)))))
    low, *_ = feet_of(skin, target, retarget(lunging("l", 0.0), target, points=skin).clip, np.linspace(0.0, 3.0, 31))
    assert low.min() >= BELOW
