"""What bench bodies measures: what covers a part counts as it, and what is inside the skin is known."""

import numpy as np
import pytest

from takt.benchmarks.skinned_body import SkinnedBody, hand_from_parts, winding_numbers
from takt.core.clips.clip import Clip, Tracks
from takt.core.retargeting.skin_points import SkinPoints
from takt.core.skeletons.maps import find_map
from takt.tests.core.test_hands import shaped
from takt.tests.core.test_hands_on_clothes import ANGLES, HAND_M, Dressed

CUBE = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
QUADS = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
GAP_M = 0.02


def test_a_closed_surface_winds_once_about_what_is_inside_and_never_about_what_is_outside() -> None:
    corners = CUBE[np.concatenate((QUADS[:, [0, 1, 2]], QUADS[:, [0, 2, 3]]))]
    found = winding_numbers(np.array(((0.0, 0.0, 0.0), (0.9, -0.9, 0.9), (1.1, 0.0, 0.0), (9.0, 9.0, 9.0))), corners)
    np.testing.assert_allclose(np.abs(found), (1.0, 1.0, 0.0, 0.0), atol=1e-9)
    # Half a surface is half as much.
    np.testing.assert_allclose(np.abs(winding_numbers(np.zeros((1, 3)), corners[::2])), 0.5, atol=1e-9)


@pytest.mark.parametrize(("level", "is_on_thigh"), [(0.5, True), (-0.8, False)])
def test_a_skirt_over_the_thigh_counts_as_the_thigh_and_the_chest_does_not(level: float, is_on_thigh: bool) -> None:
    """level: where the hand is between hip and knee."""
    skeleton, radius = shaped(0.0, 1.0), 0.25
    found, dressed = find_map(skeleton), Dressed(skeleton, 1.0, radius)
    at, joint_of = skeleton.rest_world[..., 3], found.joint_of
    hip, knee = (at[joint_of[f"l_{part}"], 1] for part in ("hip", "knee"))
    low, high, trunk = dressed.tubes[0]
    heights = np.linspace(knee, hip + 0.1, 40)
    rings = [np.stack((wide * np.cos(ANGLES), np.full(24, y), wide * np.sin(ANGLES)), axis=1)
             for wide, ys in ((radius, heights), (trunk, np.linspace(low, high, 20))) for y in ys]
    place = hip + level * (knee - hip)
    hand = np.array((radius + HAND_M + GAP_M if is_on_thigh else trunk + HAND_M + GAP_M, place, 0.0))
    hand = hand + HAND_M * np.stack((np.cos(ANGLES), np.sin(ANGLES), 0.0 * ANGLES), axis=1)
    owners = np.concatenate((np.full(24 * len(rings), joint_of["HumanoidRoot"]), np.full(24, joint_of["l_wrist"])))
    skin = SkinPoints(np.concatenate((*rings, hand)), owners[:, None], np.ones((len(owners), 1)))
    body = SkinnedBody("dressed", found, skin, skin, skin, np.zeros((0, 3), dtype=np.int64))
    still = Clip("still", skeleton, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    apart = hand_from_parts(body, still, np.zeros(1), "l")
    assert apart["trunk"][0] == pytest.approx(GAP_M, abs=0.01)
    assert (apart["l_thigh"][0] < GAP_M + 0.01) == is_on_thigh
    assert apart["r_thigh"][0] > 0.1 and apart["head"][0] > 0.1
