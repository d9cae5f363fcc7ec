"""Ways to a seat go round its body: from anywhere, on four rigs."""

from dataclasses import replace
from typing import Final

import numpy as np
import pytest

from takt.core.maths.arrays import ComplexArray, FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import Moving, Point, ScenePlace
from takt.core.playing.scene.detour import footprint_of, round_corners
from takt.core.playing.scene.ground_curve import bend
from takt.tests.core.scene_rigs import FOUR, Rig
from takt.tests.core.scene_settings import apart, seen, traveller_of
from takt.tests.core.seeds import part_of
from takt.tests.core.test_scene_seats import FPS, SEEDS, own_height, played, same
from takt.tests.core.test_scene_sits import ROLES, SAT, WALKS

ROOM_LEGS, SWAYS_LEGS = 0.3, 0.12
"""Room of a way round a seat, and how much of it swaying hips may use up."""
SQUARE: Final[ComplexArray] = np.array((-0.5 - 0.5j, 0.5 - 0.5j, 0.5 + 0.5j, -0.5 + 0.5j), dtype=np.complex128)


def away(points: ComplexArray, corners: ComplexArray) -> FloatArray:
    """Return how far points are from a rectangle about its middle, 0 within it; found by brute force."""
    steps = np.linspace(0.0, 1.0, 41)
    inside = ((corners[0] + steps[:, None] * (corners[1] - corners[0]))
              + steps[:, None, None] * (corners[3] - corners[0])).ravel()
    return np.asarray(np.abs(points[:, None] - inside).min(axis=1))


def chair(rig: Rig, at: FloatArray, ahead: FloatArray, wide: float, deep: float) -> ScenePlace:
    """Return a seat with a body, from lengths in legs, and H-Anim's axes."""
    place = rig.place(rig.leg_m * at, ahead)
    across = np.array((ahead[2], 0.0, -ahead[0]))
    corners = [rig.leg_m * (at + x * wide * across + z * deep * ahead) for x, z in (
        (-1, -1), (1, -1), (1, 1), (-1, 1))]
    return replace(place, footprint=tuple(rig.point(corner) for corner in corners))


def shifted(points: tuple[Point, ...], by: FloatArray) -> tuple[Point, ...]:
    return tuple((x, y, z) for x, y, z in (np.array(points) + by).tolist())


def on_ground(rig: Rig, motion: Motion, place: ScenePlace) -> ComplexArray:
    return traveller_of(rig, motion).over_all(place.footprint)


def setting(seed: int, around: float) -> tuple[Rig, ScenePlace, float, str]:
    """Return a rig, a chair that faces an angle away from where the body comes from, a time, and what is played."""
    rng, rig = np.random.default_rng(seed + 17000), FOUR[seed % len(FOUR)]
    far, bearing = rng.uniform(3.0, 6.0), rng.uniform(-1.2, 1.2)
    at = far * np.array((np.sin(bearing), 0.0, np.cos(bearing)))
    at[1] = rng.uniform(0.8, 1.2) * own_height(rig, None) / rig.leg
    faces = bearing + np.pi + around
    place = chair(rig, at, np.array((np.sin(faces), 0.0, np.cos(faces))), *rng.uniform(0.2, 0.3, 2))
    before_s = far * rng.uniform(1.0, 1.5)
    return rig, place, before_s, WALKS.format("", before_s) + SAT.format("at", "")


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_a_walk_to_a_seat_from_behind_or_beside_goes_round_it(seed: int) -> None:
    rng = np.random.default_rng(seed + 17500)
    rig, place, before_s, text = setting(seed, rng.uniform(1.2, np.pi) * rng.choice((-1.0, 1.0)))
    straight, bent = (played(rig, text, roles=ROLES, seat=each) for each in (replace(place, footprint=()), place))
    times = np.arange(0.0, before_s, 1.0 / FPS)
    positions, _ = seen(rig, bent, times)
    room = away(positions, on_ground(rig, bent, place)) / rig.leg
    far = np.abs(positions - positions[-1]) > (2.0 * ROOM_LEGS + room[-1]) * rig.leg
    assert room.min() > 0.02, "through the chair"
    assert room[far].min() > 0.7 * ROOM_LEGS - SWAYS_LEGS
    (was, turned), (now, facing) = (seen(rig, each, np.array((before_s,))) for each in (straight, bent))
    assert abs(was[0] - now[0]) < 0.02 * rig.leg and np.degrees(apart(turned, facing))[0] < 2.0
    assert not [each for each in bent.problems if "glides" in each.message or "beside" in each.message]


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_a_walk_from_before_a_seat_turns_before_it(seed: int) -> None:
    """It does not turn within the chair."""
    rig, place, before_s, text = setting(seed, np.random.default_rng(seed + 17600).uniform(-0.8, 0.8))
    motion = played(rig, text, roles=ROLES, seat=place)
    positions, _ = seen(rig, motion, np.arange(0.0, before_s, 1.0 / FPS))
    assert away(positions, on_ground(rig, motion, place)).min() > 0.01 * rig.leg


@pytest.mark.parametrize("rig", FOUR, ids=lambda rig: rig.names)
def test_a_body_beside_the_way_or_one_in_which_the_way_ends_changes_nothing(rig: Rig) -> None:
    """A way ends within a mesh if that is a stage, or if nobody sits down on the chair."""
    _, place, before_s, text = setting(FOUR.index(rig), 0.0)
    behind = replace(place, footprint=shifted(place.footprint, -0.9 * rig.leg * np.array(place.ahead)))
    low = np.array(place.position) - (place.position @ rig.up) * rig.up
    rug = replace(place, position=(float(low[0]), float(low[1]), float(low[2])))
    for with_body, inside in ((behind, text), (place, WALKS.format("", before_s)), (rug, text)):
        plain = played(rig, inside, roles=ROLES, seat=replace(with_body, footprint=()))
        assert same(plain, played(rig, inside, roles=ROLES, seat=with_body))


def test_a_seat_that_moves_takes_its_body_along() -> None:
    rig, place, _, text = setting(3, np.pi)
    still = replace(place, position=(0.0, 0.0, 0.0), footprint=shifted(place.footprint, -np.array(place.position)))
    moves = Moving(still, np.array((0.0, 1.0)), np.concatenate(
        (np.tile(np.eye(3), (2, 1, 1)), np.array(((9.0, 0.0, 0.0), place.position))[..., None]), axis=2))
    one, other = (played(rig, text, roles=ROLES, seat=each) for each in (place, moves))
    assert same(one, other, within=1e-6)
    assert not same(one, played(rig, text, roles=ROLES, seat=replace(place, footprint=())))


def test_a_curve_goes_round_the_shorter_way_with_room_and_keeps_its_ends() -> None:
    for side in (-1.0, 1.0):
        curve = bend(-4.0 + 0.2j * side, 0.0, 4.0, 0.0, 1.4)
        found = round_corners(curve, SQUARE, 0.4, 1.4)
        assert away(found.points, SQUARE).min() > 0.7 * 0.4 and found.length < 1.15 * curve.length
        assert np.sign(found.at(np.array((found.length / 2.0,)))[0][0].imag) == side
        for one, other in ((found.points, curve.points), (found.angles, curve.angles)):
            np.testing.assert_allclose(one[[0, -1]], other[[0, -1]], atol=1e-9)
        assert np.abs(np.diff(found.angles)).max() < 0.3 and np.abs(np.diff(found.points)).max() < 0.1


@pytest.mark.parametrize("ends", [(-4.0 + 2.0j, 4.0 + 2.0j), (-4.0, 0.0), (0.0, 4.0)])
def test_a_curve_that_crosses_nothing_or_ends_within_stays_the_same(ends: tuple[complex, complex]) -> None:
    curve = bend(ends[0], 0.0, ends[1], 0.0, 1.4)
    assert round_corners(curve, SQUARE, 0.4, 1.4) is curve
    assert round_corners(curve, SQUARE[:2], 0.4, 1.4) is curve


def test_random_curves_go_round_random_footprints() -> None:
    rng, bent = np.random.default_rng(170), 0
    for _ in range(300):
        corners = footprint_of(rng.normal(size=12) + 1j * rng.normal(size=12)) * 0.3
        around, (out, into) = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(-np.pi, np.pi, 2).tolist()
        begin, end = (3.0 * np.exp(1j * np.array((around, around + rng.uniform(2.0, 4.3))))).tolist()
        curve = bend(begin, out, end, into, 1.0)
        found = round_corners(curve, corners, 0.3, 1.0)
        bent += found is not curve
        sides = np.roll(corners, -1) - corners
        edge = (corners[:, None] + np.linspace(0.0, 1.0, 30) * sides[:, None]).ravel()
        assert np.abs(found.points[:, None] - edge).min() > 0.7 * 0.3 - 0.01
        assert not ((sides.conj() * (found.points[:, None] - corners)).imag > 0.0).all(axis=1).any()
    assert bent > 100


def test_a_footprint_has_the_outermost_points_of_any() -> None:
    rng = np.random.default_rng(171)
    points = rng.normal(size=60) + 1j * rng.normal(size=60)
    corners = footprint_of(points)
    sides = np.roll(corners, -1) - corners
    assert ((sides[:, None].conj() * (points - corners[:, None])).imag > -1e-12).all()
    assert set(corners.tolist()) <= set(points.tolist())


def table(rig: Rig, at: FloatArray, high: float) -> ScenePlace:
    """Return a table for a reaching hand in the way, so high in legs: 1.2 legs wide, and half as deep."""
    return chair(rig, np.array((at[0], high, at[2])), np.array((0.0, 0.0, 1.0)), 0.6, 0.3)


PASSES = ROLES + '<role name="table" is="place"/>'


@pytest.mark.parametrize("seed", part_of(SEEDS, 4))
def test_a_way_to_a_place_that_leads_through_something_else_is_told(seed: int) -> None:
    """Of a table on the way, not of one beside it, a rug, a lintel, or what the way begins or ends in."""
    rng, rig = np.random.default_rng(seed + 18000), FOUR[seed % len(FOUR)]
    bearing = rng.uniform(-0.3, 0.3)
    ahead = np.array((np.sin(bearing), 0.0, np.cos(bearing)))
    far, share = rng.uniform(4.0, 6.0), rng.uniform(0.4, 0.6)
    mark, text = rig.place(far * rig.leg_m * ahead, ahead), WALKS.format("", far * 1.2)
    high, beside = rng.uniform(0.4, 0.9), np.array((rng.choice((-1.3, 1.3)), 0.0, 0.0))

    def told(place: ScenePlace) -> list[str]:
        motion = played(rig, text, roles=PASSES, seat=mark, table=place)
        return [each.message for each in motion.problems if "leads through" in each.message]

    assert told(table(rig, share * far * ahead, high)) == [
        "<call> the way to 'seat' leads through 'table': call a walk to a place beside that first"]
    for at, height in ((share * far * ahead + beside, high), (share * far * ahead, 0.02), (share * far * ahead, 2.5),
                       (0.1 * ahead, high), (far * ahead, high)):
        assert not told(table(rig, at, height)), (at, height)
