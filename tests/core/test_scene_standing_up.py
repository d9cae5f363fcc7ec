"""What follows a body that stands up from a seat: it walks from where it stands, and does not slide."""

import numpy as np
import pytest

from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import ScenePath, ScenePlace
from takt.core.playing.scene.ground_curve import GroundCurve, joined
from takt.tests.core.scene_figures import LIMITS
from takt.tests.core.scene_rigs import FOUR, Rig
from takt.tests.core.scene_settings import seen, traveller_of
from takt.tests.core.seeds import part_of
from takt.tests.core.test_scene_seats import FPS, SEEDS, own_height, own_hips, played, seat
from takt.tests.core.test_scene_sits import ROLES

BEGINS_S, LASTS_S = 7.0, 6.0
UP = ('<call name="stand" duration="1"/><call name="sit_down" at="seat" duration="2"/>'
      '<call name="sit_still" duration="2"/><call name="stand_up" duration="2"/>'
      f'<call name="walk" {{}} duration="{LASTS_S}"/>')
LANE = '<role name="lane" is="path"/><role name="mark" is="place"/>' + ROLES


def setting(seed: int) -> tuple[Rig, ScenePlace, ScenePath, ScenePlace]:
    """Return a rig, a seat, a path that begins about a step in front of it, and a place at its end."""
    rng, rig = np.random.default_rng(seed + 18000), FOUR[seed % len(FOUR)]
    x, _, z = own_hips(rig).tolist()
    radius, side = rng.uniform(2.0, 5.0) * rig.leg_m, rng.choice((-1.0, 1.0))
    turned, angles = rng.uniform(-0.6, 0.6), np.linspace(0.0, rng.uniform(4.0, 6.0) * rig.leg_m / radius, 120)
    begin = (x + rng.uniform(-0.3, 0.3) * rig.leg_m) + 1j * (z + rng.uniform(0.3, 1.2) * rig.leg_m)
    way = begin + np.exp(1j * (np.pi / 2.0 + turned)) * radius * (np.sin(angles) + 1j * side * (1.0 - np.cos(angles)))
    points = np.stack((way.real, np.zeros(len(way)), way.imag), axis=1)
    end = way[-1] - way[-2]
    mark = rig.place(points[-1], np.array((end.real, 0.0, end.imag)) / abs(end))
    return rig, seat(rig, own_height(rig, None)), rig.path(points), mark


def walked(seed: int, words: str) -> tuple[Rig, Motion, Motion, ScenePath]:
    """Return a motion after which a body walks on, and the one in which it walks without a role."""
    rig, place, path, mark = setting(seed)
    bent, plain = (played(rig, UP.format(each), roles=LANE, seat=place, lane=path, mark=mark) for each in (words, ""))
    return rig, bent, plain, path


@pytest.mark.parametrize("words", ['along="lane" repeat="fit"', 'along="lane"', 'to="mark" repeat="fit"'])
@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_a_body_that_stands_up_walks_on_from_where_it_stands(seed: int, words: str) -> None:
    rig, bent, plain, path = walked(seed, words)
    assert not [each for each in bent.problems if "glides" in each.message]
    times = np.arange(0.0, BEGINS_S, 1.0 / FPS)
    still = times < min(each.layout.window_begin_s[3] for each in (bent, plain))
    (positions, angles), (own, faces) = (seen(rig, each, times) for each in (bent, plain))
    assert np.abs(positions - own)[still].max() < 1e-6 * rig.leg and np.abs(angles - faces)[still].max() < 1e-6
    walks = np.arange(BEGINS_S - 0.3, BEGINS_S + LASTS_S, 1.0 / FPS)
    speeds = np.abs(np.diff(seen(rig, bent, walks)[0])) * FPS / rig.leg
    later = speeds[walks[1:] > BEGINS_S + 1.0]
    assert speeds.max() < 1.4 * later.max()
    if words == 'along="lane" repeat="fit"':  # one round alone ends while it still joins the path
        points = traveller_of(rig, bent).over_all(path.points)
        fine = np.interp(np.linspace(0, 1, 2000), np.linspace(0, 1, len(points)), points)
        last, _ = seen(rig, bent, np.linspace(BEGINS_S + LASTS_S / 2.0, BEGINS_S + LASTS_S - 0.1, 60))
        assert np.abs(last[:, None] - fine).min(axis=1).max() < LIMITS["hips off path"] * rig.leg


@pytest.mark.parametrize("before", ["sits", "walks", "far"])
def test_without_a_seat_left_just_before_a_path_begins_where_it_does(before: str) -> None:
    """At a mark on the ground, after a walk elsewhere, and for a path that begins far away."""
    rig, place, path, mark = setting(3)
    words = 'along="lane" repeat="fit"'
    if before == "sits":
        low = np.array(place.position) - (place.position @ rig.up) * rig.up
        place = ScenePlace((float(low[0]), float(low[1]), float(low[2])), place.ahead)
        text = UP.format(words)
    elif before == "walks":
        text = UP.format("") + f'<call name="walk" {words} duration="4"/>'
    else:
        far = 3.0 * rig.leg * np.array(place.ahead)
        path = ScenePath(tuple((x, y, z) for x, y, z in (np.array(path.points) + far).tolist()))
        text = UP.format(words)
    motion = played(rig, text, roles=LANE, seat=place, lane=path, mark=mark)
    begin_s = BEGINS_S + (LASTS_S if before == "walks" else 0.0)
    at, _ = seen(rig, motion, np.array((begin_s,)))
    assert abs(at[0] - traveller_of(rig, motion).over(path.points[0])) < 0.05 * rig.leg


def test_a_curve_joins_another_one_smoothly_or_is_left_alone() -> None:
    curve = GroundCurve.through(np.linspace(0.0, 5.0, 400).astype(np.complex128))
    found = joined(curve, -0.2 + 0.3j, 0.5, 1.0, 1.4)
    assert found.points[0] == -0.2 + 0.3j and found.angles[0] == 0.5 and found.points[-1] == 5.0
    assert np.abs(np.diff(found.angles)).max() < 0.1 and np.abs(found.points[found.points.real > 1.0].imag).max() == 0.0
    np.testing.assert_allclose(np.diff(found.lengths), np.abs(np.diff(found.points)), rtol=1e-9)
    assert joined(curve, -1.1, 0.0, 1.0, 1.4) is curve
    short = GroundCurve.through(np.array((0.0, 0.4)).astype(np.complex128))
    assert joined(short, -0.2, 0.0, 1.0, 1.4) is short
