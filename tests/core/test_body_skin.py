"""One model of a body over the ground: parts of its skin, how high they are, and where the ground is."""

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.retargeting.ground.body_skin import BodySkin
from takt.core.skeletons.maps import find_map
from takt.tests.core.stepping import BODY
from takt.tests.core.test_seated_legs import UP, skin_of

TRUNK_M = 0.12
EXACT = 1e-9


def body() -> BodySkin:
    return BodySkin.of(find_map(BODY), BODY, skin_of(BODY, TRUNK_M), tuple(UP))


def test_the_ground_is_below_the_feet_as_the_body_stands() -> None:
    skin, times = body(), np.zeros(1)
    low = skin.low(Clip.still(BODY), times, "feet", "trunk", "head", "all")[0]
    assert abs(low[0]) < EXACT
    assert low[0] < low[1] < low[2]
    assert abs(low[3] - (skin.at_rest.min() - skin.ground)) < EXACT


@pytest.mark.parametrize("parts", [("trunk", "upper", "l_leg", "r_leg"), ("body", "feet"), ("body", "forearms")])
def test_parts_are_apart_and_none_is_empty(parts: tuple[str, ...]) -> None:
    points = np.stack([body().part(name) for name in parts])
    assert points.any(axis=1).all()
    assert points.sum(axis=0).max() == 1


def test_it_is_made_once_for_all_that_a_body_plays() -> None:
    found, skin = find_map(BODY), skin_of(BODY, TRUNK_M)
    assert BodySkin.of(found, BODY, skin, tuple(UP)) is BodySkin.of(found, BODY, skin, tuple(UP))
