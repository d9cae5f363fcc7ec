"""Walks over stairs, slopes and hills that are made here: where soles are, and how the body follows."""

import os
from typing import Any

import numpy as np
import pytest

from takt.core.maths import rotations as rot
from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.playing.feet.footholds import ground_axes
from takt.core.playing.motion import Motion
from takt.core.playing.scene.cast import SceneFloor, ScenePlace, Target, Unfit
from takt.core.playing.scene.surface import Surface
from takt.core.playing.score import Settings, play
from takt.tests.core.seeds import seeds
from takt.tests.core.test_scene_surface import grid
from takt.tests.core.test_scene_ways import BODY, LEG_M, UP, programme

SETTINGS = int(os.environ.get("TAKT_FLOORS", "10"))
FPS, NEAR_LEGS, JERKS, SPIKES = 60, 0.01, 1.5, 4.0
AXES = ground_axes(UP)
STAGE = '<role name="stage" is="floor"/>'
WALK = '<call name="walk" duration="8" repeat="3"/>'


def played(target: Target | None, walk: str = WALK, **settings: Any) -> Motion:
    cast = () if target is None else (("stage", target),)
    return play(programme(walk, roles=STAGE), BODY, Settings(cast=cast, **settings), turn=rot.IDENTITY,
                up=UP)


FLAT = played(None)


def stairs(rises: FloatArray, tread: float) -> SceneFloor:
    """Return stairs that begin a little before the body and lead away from it."""
    high, ahead = np.cumsum(rises), 0.4 + tread * np.arange(len(rises) + 1)
    corners = np.array([[(-3.0, y, a), (3.0, y, a), (3.0, y, b), (-3.0, y, b)]
                        for y, a, b in zip(high, ahead, ahead[1:], strict=False)])
    first = 4 * np.arange(len(rises))[:, None]
    faces = [first + np.array(three) for three in ((0, 1, 2), (0, 2, 3))]
    return SceneFloor(corners.reshape(-1, 3), np.concatenate(faces))


def slope(ahead: float, aside: float) -> SceneFloor:
    """Return a wide slope through the body's feet, so steep along its way and beside it."""
    corners = np.array(((-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0)))
    high = corners @ (aside, ahead)
    return SceneFloor(np.stack((corners[:, 0], high, corners[:, 1]), axis=1), np.array(((0, 1, 2), (0, 2, 3))))


def hills(rng: np.random.Generator) -> SceneFloor:
    """Return gentle hills around the body."""
    x, y = np.meshgrid(*(np.linspace(-9.0, 9.0, 120),) * 2, indexing="ij")
    (one, other), (shift, later) = rng.uniform(0.5, 1.2, 2), rng.uniform(0.0, 6.0, 2)
    flat = grid(120, 18.0, 0.15 * (np.sin(one * x + shift) + np.sin(other * y + later)))
    return SceneFloor(flat.points[:, (0, 2, 1)] - np.array((9.0, 0.0, 9.0)), flat.triangles)


def gaps(motion: Motion, floor: SceneFloor | None) -> FloatArray:
    """Return how high the lowest point of each sole is over the floor, (L, F), or over flat ground."""
    feet = motion.feet
    assert feet is not None
    soles = feet.lock.soles.positions(*feet.lock.limbs(motion.sample(times(motion)))[0][1:])
    if floor is None:
        return np.asarray(soles[..., 2].min(axis=2))
    below = Surface.of((floor,), AXES).below(soles[..., :2]).heights
    return np.asarray((soles[..., 2] - np.where(np.isnan(below), 0.0, below)).min(axis=2))


def times(motion: Motion) -> FloatArray:
    return np.linspace(0.0, motion.duration_s, round(motion.duration_s * FPS) + 1)


def held(motion: Motion) -> BoolArray:
    """Return when feet are planted, (L, F)."""
    feet = motion.feet
    assert feet is not None
    return np.array([((times(motion) >= spans[:, :1]) & (times(motion) <= spans[:, 1:])).any(axis=0)
                     for spans in (feet.lock.footholds.spans_s(leg) for leg in range(2))])


def jerks(motion: Motion) -> FloatArray:
    """Return how jerkily knees move, (L, F − 3)."""
    feet = motion.feet
    assert feet is not None
    knees = feet.lock.limbs(motion.sample(times(motion)))[0][1, ..., :3, 3]
    return np.asarray(np.linalg.norm(np.diff(knees, n=3, axis=1), axis=2) * FPS**3)


def check_soles(floor: SceneFloor) -> Motion:
    motion = played(floor)
    own, flat = gaps(motion, floor), gaps(FLAT, None)
    assert np.abs(own - flat)[held(motion)].max() < NEAR_LEGS * LEG_M
    assert own.min() > -NEAR_LEGS * LEG_M
    assert not motion.problems
    return motion


@pytest.mark.parametrize("goes", [1.0, -1.0])
@pytest.mark.parametrize("seed", seeds(SETTINGS, quick=3))
def test_soles_are_on_the_treads_of_stairs_and_never_in_them_and_knees_move_evenly(seed: int, goes: float) -> None:
    rng = np.random.default_rng(seed)
    motion = check_soles(stairs(goes * rng.uniform(0.1, 0.22, 24), rng.uniform(0.28, 0.34)))
    assert np.percentile(jerks(motion), 95) < JERKS * np.percentile(jerks(FLAT), 95)
    assert jerks(motion).max() < SPIKES * jerks(FLAT).max()


@pytest.mark.parametrize("seed", seeds(SETTINGS, quick=3))
def test_soles_are_on_slopes_and_knees_move_no_more_jerkily_than_on_flat_ground(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steep, angle = np.tan(np.radians(rng.uniform(5.0, 25.0))), rng.uniform(-np.pi, np.pi)
    motion = check_soles(slope(steep * np.cos(angle), steep * np.sin(angle)))
    assert np.percentile(jerks(motion), 95) < JERKS * np.percentile(jerks(FLAT), 95)


@pytest.mark.parametrize("seed", seeds(5, quick=2))
def test_soles_are_on_hills(seed: int) -> None:
    floor = hills(np.random.default_rng(seed))
    motion = played(floor)
    own = gaps(motion, floor)
    assert np.percentile(np.abs(own - gaps(FLAT, None))[held(motion)], 90) < NEAR_LEGS * LEG_M


def test_a_floor_as_high_as_the_ground_changes_nothing() -> None:
    motion, at = played(slope(0.0, 0.0)), times(FLAT)
    np.testing.assert_allclose(motion.sample(at).rotations, FLAT.sample(at).rotations, atol=1e-9)
    np.testing.assert_allclose(motion.sample(at).translations, FLAT.sample(at).translations, atol=1e-9)


def test_who_stands_higher_is_higher_all_over() -> None:
    floor = slope(0.0, 0.0)
    raised = SceneFloor(floor.points + np.array((0.0, 0.4, 0.0)), floor.triangles)
    at = times(FLAT)
    moved = played(raised).sample(at).translations - FLAT.sample(at).translations
    np.testing.assert_allclose(moved[:, 0], np.tile((0.0, 0.4, 0.0), (len(at), 1)), atol=1e-9)


@pytest.mark.parametrize(("target", "message", "is_note"), [
    (None, "the role 'stage' is not cast, so the ground is flat", True),
    (Unfit("'Box' has no faces: draw some"), "nothing can play the role 'stage': 'Box' has no faces", False),
    (ScenePlace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), "is played by a place, expected a floor", False)])
def test_what_is_no_floor_is_told_at_its_role_and_the_ground_is_flat(target: Target | None, message: str,
                                                                     is_note: bool) -> None:
    motion, at = played(target), times(FLAT)
    (problem,) = motion.problems
    assert message in problem.message and problem.place.line == 1 and problem.is_note == is_note
    np.testing.assert_array_equal(motion.sample(at).rotations, FLAT.sample(at).rotations)


@pytest.mark.parametrize(("settings", "why"), [({"loop": True}, "loops"), ({"root_motion": "IN_PLACE"}, "in place"),
                                              ({"lock_feet": False}, "not locked")])
def test_floors_are_left_out_where_nobody_goes_anywhere(settings: dict[str, Any], why: str) -> None:
    motion = played(slope(0.2, 0.0), **settings)
    assert [problem for problem in motion.problems if "floors are left out" in problem.message and why in
            problem.message]


def hole(floor: SceneFloor, side: float) -> SceneFloor:
    """Return a slope with a square hole below the feet."""
    corners = floor.points[:, (0, 2)]
    inner = corners / np.abs(corners).max() * side
    points = np.concatenate((corners, inner))
    slope_of = np.linalg.lstsq(corners, floor.points[:, 1], rcond=None)[0]
    around = np.array([(one, two, two + 4) for one, two in ((0, 1), (1, 2), (2, 3), (3, 0))]
                      + [(one, two + 4, one + 4) for one, two in ((0, 1), (1, 2), (2, 3), (3, 0))])
    return SceneFloor(np.stack((points[:, 0], points @ slope_of + 0.3, points[:, 1]), axis=1), around)


def test_a_floor_with_a_hole_has_the_ground_in_it_and_the_motion_stays_sound() -> None:
    floor = hole(slope(0.0, 0.0), 0.35)
    motion = played(floor)
    assert not motion.problems and np.isfinite(motion.sample(times(motion)).translations).all()
    own = gaps(motion, floor)[held(motion)]
    assert np.abs(own - gaps(FLAT, None)[held(motion)]).max() < NEAR_LEGS * LEG_M
    hips = motion.sample(times(motion)).translations[:, 0, 1] - FLAT.sample(times(motion)).translations[:, 0, 1]
    assert hips[0] < 0.1 and hips[-1] > 0.25  # out of the hole, onto the stage


def moved(floor: SceneFloor, *by: float) -> SceneFloor:
    return SceneFloor(floor.points * (0.1, 1.0, 0.1) + np.array(by), floor.triangles)


@pytest.mark.parametrize(("floor", "message"), [
    (moved(slope(0.0, 0.0), 40.0, 0.0, 0.0), "nobody stands on the floor 'stage'"),
    (SceneFloor(slope(0.2, 0.0).points * 0.0, slope(0.2, 0.0).triangles), "has no area as seen from above"),
    (SceneFloor(slope(0.2, 0.0).points * (0.0, 1.0, 1.0), slope(0.2, 0.0).triangles),
     "has no area as seen from above")])
def test_a_floor_on_which_nobody_stands_is_told(floor: SceneFloor, message: str) -> None:
    motion, at = played(floor), times(FLAT)
    (problem,) = motion.problems
    assert message in problem.message and problem.place.line == 1 and not problem.is_note
    np.testing.assert_allclose(motion.sample(at).rotations, FLAT.sample(at).rotations, atol=1e-12)
