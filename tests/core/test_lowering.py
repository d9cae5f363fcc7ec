"""The body goes down about transitions so that legs reach their footholds, as gently as it comes up again."""

from collections.abc import Callable

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.contacts import FootContacts
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.pha.expansion import expand
from takt.core.playing.feet.lowering import BESIDE_S, PER_S, Lowering
from takt.core.playing.motion import compose
from takt.core.playing.playing import Playing
from takt.core.playing.transitions.blending import Style
from takt.core.skeletons.maps import find_map
from takt.tests.core.scores import library, procedure, programme
from takt.tests.core.test_steps import BODY, LEG_M, UP, standing

MOST_M = 0.05
JERK_PER_S3 = 3000.0
"""Of what goes down and up by MOST_M within a frame or two it is above 10 000."""
JERK_LEGS_PER_S3 = 150.0
"""As of feet that are led, see footholds.py."""


def lowering(*windows_s: tuple[float, float], duration_s: float = 10.0, is_loop: bool = False) -> Lowering:
    begin, end = np.array(windows_s).T
    if not is_loop:  # nothing follows the last segment
        begin, end = np.append(begin, duration_s), np.append(end, duration_s)
    return Lowering.of(begin, end, duration_s, is_loop)


def needed(*spans_s: tuple[float, float]) -> Callable[[FloatArray], FloatArray]:
    """Return a function: so much in some spans of time, else nothing."""
    def at(times_s: FloatArray) -> FloatArray:
        within = [(times_s >= begin) & (times_s <= end) for begin, end in spans_s]
        return np.where(np.any([times_s < -np.inf, *within], axis=0), MOST_M, 0.0)

    return at


def jerk(curve: FloatArray, times_s: FloatArray) -> float:
    return float(np.abs(np.diff(curve, 3)).max() / times_s[1] ** 3)


def test_it_is_what_is_needed_and_comes_and_goes_gently() -> None:
    curve, times = lowering((4.0, 5.0)), np.linspace(0.0, 10.0, 1201)
    need = needed((4.3, 4.7))
    curve.know(np.zeros(1, dtype=int), need)
    found = curve.at(times)
    assert (found >= 0.98 * need(times)).all() and found.max() < 1.1 * MOST_M
    assert not found[np.abs(times - 4.5) > 0.5 + BESIDE_S + 3.0 / PER_S].any() and found.min() > -0.02 * MOST_M
    assert jerk(found, times) < JERK_PER_S3 < 0.1 * jerk(need(times), times)


def test_where_nothing_is_needed_it_is_nothing() -> None:
    curve = lowering((4.0, 5.0))
    curve.know(np.arange(2), needed())
    assert not curve.at(np.linspace(0.0, 10.0, 301)).any()


@pytest.mark.parametrize("windows_s", [((3.0, 4.0), (4.0, 5.0)), ((3.0, 4.0), (4.2, 5.0)), ((3.0, 4.0), (5.0, 6.0))])
def test_curves_of_neighbours_meet(windows_s: tuple[tuple[float, float], ...]) -> None:
    """Also where one of them is known later."""
    whole, times = lowering(*windows_s), np.linspace(0.0, 10.0, 1201)
    need = needed((3.4, 5.4))
    whole.know(np.array((1,)), need)
    late = lowering(*windows_s)
    late.know(np.array((0,)), need)
    late.know(np.array((2,)), need)
    np.testing.assert_allclose(late.at(times), whole.at(times), atol=1e-9)
    inside = (times > 3.5) & (times < 5.3)
    assert jerk(whole.at(times)[inside], times) < JERK_PER_S3


def test_a_loop_goes_round() -> None:
    """What is needed at its end is what is needed before its beginning."""
    curve, times = lowering((9.5, 10.5), is_loop=True), np.linspace(0.0, 10.0, 1201)
    curve.know(np.zeros(1, dtype=int), lambda times_s: needed((-0.2, 0.2), (9.8, 10.2))(times_s))
    found = curve.at(times)
    np.testing.assert_allclose(found[0], found[-1], atol=1e-12)
    assert found[0] > 0.98 * MOST_M and jerk(np.roll(found[:-1], 300), times) < JERK_PER_S3


def swaying(name: str, begin_s: float, takes_s: float) -> Clip:
    """Stand on both feet while the body sways ahead by half a leg and back, so that legs cannot reach meanwhile."""
    times, hips = np.linspace(0.0, 2.0, 241), np.sort([BODY.index_of[f"{side}_hip"] for side in "lr"])
    share = np.clip((times - begin_s) / takes_s, 0.0, 1.0)
    way = (0.5 * LEG_M * 64.0 * (share * (1.0 - share)) ** 3)[:, None, None] * (0.0, 0.0, 1.0)
    whole = np.array(((0.0, 2.0),))
    return Clip(name, BODY, 2.0, Tracks.uniform(hips, times, np.tile(rot.IDENTITY, (len(times), 2, 1))),
                Tracks.uniform(np.array((0,)), times, way), Tracks.empty(3),
                contacts=dict.fromkeys("lr", FootContacts(whole, whole)))


@pytest.mark.parametrize("takes_s", [0.4, 0.6])
def test_a_body_that_comes_back_within_reach_rises_gently(takes_s: float) -> None:
    clips = standing("here", 0.0), swaying("there", 0.1, takes_s)
    score = programme(procedure("main", 'here duration="2" transition="1.6"', 'there duration="2"'),
                      clips=library(feet_Steps=clips))
    loose, held = (compose(expand(score), clips, Playing(Style("LEAD", "LINEAR"), "AS_AUTHORED", UP), feet=body)
                   for body in (None, find_map(BODY)))
    times = np.arange(0.0, 4.0, 1.0 / 60.0)
    down = (loose.sample(times).translations - held.sample(times).translations)[:, 0, 1] / LEG_M
    assert down.max() > 0.03 and jerk(down, times) < JERK_LEGS_PER_S3
