"""What a motion leaves to be drawn: where hips go, where soles stand, what is aimed at."""

from collections.abc import Mapping

import numpy as np
import pytest

from takt.core.playing.feet.footholds import ground_axes
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import SceneFloor, ScenePlace, Target
from takt.core.playing.scene.surface import Surface
from takt.core.playing.scene.traces import Traces, traces_of
from takt.core.playing.score import Settings, play
from takt.tests.core.test_scene_ways import BODY, LEG_M, UP, programme, seen

NEAR_M = 0.02 * LEG_M
PLACE = ScenePlace((1.0, 0.0, 1.5), (1.0, 0.0, 0.0))
ROLES = '<role name="seat" is="place"/><role name="cup" is="prop"/><role name="stage" is="floor"/>'
TO = '<call name="walk" to="seat" duration="8" repeat="fit"/>'


def played(*inside: str, cast: Mapping[str, Target]) -> tuple[Motion, Traces]:
    motion = play(programme(*inside, roles=ROLES), Performer(BODY, UP), Settings(cast=tuple(cast.items())))
    return motion, traces_of(motion, UP, cast)


def test_the_way_is_below_the_hips_and_ends_at_the_place() -> None:
    motion, traces = played(TO, cast={"seat": PLACE})
    hips, _ = seen(motion, traces.way_s)
    np.testing.assert_allclose(traces.way[:, (0, 2)], hips, atol=1e-9)
    assert np.abs(traces.way[:, 1]).max() < 0.1 * LEG_M
    np.testing.assert_allclose(traces.way[-1, (0, 2)], PLACE.position[::2], atol=1e-6)
    (mark,) = traces.places
    np.testing.assert_allclose((*mark.position, *mark.ahead), (*PLACE.position, *PLACE.ahead), atol=1e-12)
    assert mark.by_s == pytest.approx(8.0) and not traces.hands


def test_a_place_where_nobody_has_to_face_has_no_arrow_and_a_beginning_is_marked_too() -> None:
    _, traces = played('<call name="walk" to="seat" duration="8" repeat="fit" facing="no"/>',
                       '<call name="left_step" at="seat" duration="1"/>', cast={"seat": PLACE})
    one, other = traces.places
    assert not one.ahead.any() and other.ahead.any() and other.by_s == pytest.approx(8.0)


def test_footprints_are_where_soles_stand() -> None:
    motion, traces = played(TO, cast={"seat": PLACE})
    feet = motion.feet
    assert feet is not None and len(traces.prints) >= 6 and {*traces.sides.tolist()} == {0, 1}
    for side, spans_s, (heel, along, aside, normal) in zip(traces.sides, traces.prints_s, traces.prints, strict=True):
        times_s = spans_s[0] + (spans_s[1] - spans_s[0]) * np.linspace(0.1, 0.9, 5)
        soles = feet.lock.soles.positions(*feet.lock.limbs(motion.sample(times_s))[0][1:])[side] @ ground_axes(UP)
        for end in (heel, heel + along):
            assert np.linalg.norm((soles - end)[..., (0, 2)], axis=2).min() < 0.02 * LEG_M
        assert abs(along @ aside) < 1e-9 and abs(along @ normal) < 1e-9 and normal[1] > 0.0
        assert 0.15 * LEG_M < np.linalg.norm(along) < 0.6 * LEG_M
    out = traces.prints[traces.sides == 0, 2, 0].mean(), traces.prints[traces.sides == 1, 2, 0].mean()
    assert np.sign(out[0]) != np.sign(out[1])  # each to its own side
    np.testing.assert_allclose(traces.prints[:, :3, 1], 0.0, atol=1e-9)  # flat on the ground


def test_footprints_are_as_high_and_as_steep_as_the_floor() -> None:
    corners = np.array(((-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0)))
    floor = SceneFloor(np.stack((corners[:, 0], 0.2 * corners[:, 1] + 0.5, corners[:, 1]), axis=1),
                       np.array(((0, 1, 2), (0, 2, 3))))
    motion, traces = played('<call name="walk" duration="8" repeat="3"/>', cast={"stage": floor})
    axes, feet = ground_axes(UP), motion.feet
    assert feet is not None
    heel, along, aside, _ = traces.prints.swapaxes(0, 1)
    for points in (heel, heel + along, heel + aside):
        found = Surface.of((floor,), axes).below(points @ axes[:2].T).heights
        np.testing.assert_allclose(points[:, 1], found, atol=1e-9)
    ankles = feet.lock.limbs(motion.sample(traces.prints_s.mean(axis=1)))[0][2, ..., :3, 3]
    high = ankles[traces.sides, np.arange(len(traces.sides)), 2] - traces.prints[:, 0, 1]
    assert high.min() > 0.0 and high.max() < 0.3 * LEG_M
    assert traces.way[:, 1].max() > 0.5
    found = Surface.of((floor,), axes).below(traces.way @ axes[:2].T).heights
    assert (traces.way[:, 1] > found - 1e-9).all()


def test_what_a_hand_reaches_for_is_marked_where_it_is_then() -> None:
    cup = ScenePlace((-0.25, 1.0, 0.4), (0.0, 0.0, 1.0))
    _, traces = played("<together><lane>" + TO + "</lane><lane><wait duration='1'/>"
                       "<reach for='cup' with='right hand' duration='2' hold='1'/><wait duration='4'/></lane>"
                       "</together>", cast={"seat": PLACE, "cup": cup})
    (mark,) = traces.hands
    np.testing.assert_allclose(mark.position, cup.position, atol=1e-9)
    assert mark.by_s == pytest.approx(3.0)


def test_a_score_without_roles_leaves_its_way_and_its_footprints_alone() -> None:
    _, traces = played('<call name="walk" duration="8" repeat="3"/>', cast={})
    assert len(traces.way) and len(traces.prints) and not traces.places and not traces.hands
