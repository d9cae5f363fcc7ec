"""Gaits in place that travel: when their feet are in contact then."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.clips.clip import Clip
from takt.core.clips.contacts import foot_contacts
from takt.core.clips.in_place import travelling
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.retarget import retarget, with_contacts
from takt.core.skeletons.maps import find_map
from takt.tests.core.stepping import BODY, walking

UP, LEG_M = np.array((0.0, 1.0, 0.0)), 0.825
SWAYS_LEGS_PER_S = 0.4
"""Faster than a foot is in contact, but more slowly than the body goes."""
MAP = find_map(BODY)


def in_place(sways_legs_per_s: float) -> Clip:
    """Return a walk on a treadmill whose body sways to the sides so fast at most, and its feet with it."""
    clip = walking()
    times_s, path = clip.translations.times_s, clip.translations.values.copy()
    path[:, 2] -= np.linspace(path[0, 2], path[-1, 2], len(path))
    rounds = 2.0 * np.pi * round(clip.duration_s) / clip.duration_s
    path[:, 0] += sways_legs_per_s * LEG_M / rounds * np.sin(rounds * times_s)
    return replace(clip, translations=replace(clip.translations, values=path))


def stands_s(clip: Clip) -> FloatArray:
    """Return for how long the left foot and the right one are in contact."""
    assert clip.contacts is not None
    return np.array([np.diff(clip.contacts[side].stands, axis=1).sum() for side in "lr"])


@pytest.mark.parametrize("sways_legs_per_s", [0.0, SWAYS_LEGS_PER_S])
def test_feet_of_a_gait_in_place_that_travels_are_in_contact_as_long_as_those_of_one_that_goes(
        sways_legs_per_s: float) -> None:
    going = replace(walking(), contacts=foot_contacts(walking(), MAP, UP))
    made = travelling(in_place(sways_legs_per_s), MAP, UP)
    assert made is not None
    np.testing.assert_allclose(stands_s(made), stands_s(going), rtol=0.2)
    played = with_contacts(retarget(made, BODY), made, MAP).clip
    np.testing.assert_allclose(stands_s(played), stands_s(made), rtol=1e-9)


def test_a_gait_that_travels_by_itself_stays_as_it_is() -> None:
    assert travelling(walking(), MAP, UP) is None
