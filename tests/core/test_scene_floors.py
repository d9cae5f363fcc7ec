"""Walks over stairs, slopes and hills that are made here: where soles are, and how the body follows."""

import os
from typing import Any

import numpy as np
import pytest

from takt.core.maths.arrays import FloatArray
from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.scene.cast import SceneFloor, ScenePlace, Target, Unfit
from takt.core.playing.score import Settings, play
from takt.core.skeletons.hierarchy import with_descendants
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.scene_figures import LIMITS
from takt.tests.core.scene_floors import hills, slope, stairs
from takt.tests.core.scene_rigs import FOUR
from takt.tests.core.scene_settings import FPS, gaps, held, jerks
from takt.tests.core.seeds import few, seeds
from takt.tests.core.test_retarget import skeleton_at
from takt.tests.core.test_scene_ways import BODY, LEG_M, UP, programme
from takt.tests.core.test_whole_body import CUTS, cut, with_controls

SETTINGS = int(os.environ.get("TAKT_FLOORS", "10"))
NEAR_LEGS, JERKS, SPIKES = LIMITS["soles"], LIMITS["knees' jerk"], 4.0
STAGE = '<role name="stage" is="floor"/>'
WALK = '<call name="walk" duration="8" repeat="3"/>'


def played(target: Target | None, walk: str = WALK, **settings: Any) -> Motion:
    cast = () if target is None else (("stage", target),)
    return play(programme(walk, roles=STAGE), Performer(BODY, UP), Settings(cast=cast, **settings))


FLAT = played(None)


def times(motion: Motion) -> FloatArray:
    return np.linspace(0.0, motion.duration_s, round(motion.duration_s * FPS) + 1)


def check_soles(floor: SceneFloor) -> Motion:
    motion = played(floor)
    own, flat = gaps(motion, floor, times(motion)), gaps(FLAT, None, times(FLAT))
    assert np.abs(own - flat)[held(motion, times(motion))].max() < NEAR_LEGS * LEG_M
    assert own.min() > -NEAR_LEGS * LEG_M
    assert not motion.problems
    return motion


@pytest.mark.parametrize("goes", [1.0, -1.0])
@pytest.mark.parametrize("seed", seeds(SETTINGS, quick=1))
def test_soles_are_on_the_treads_of_stairs_and_never_in_them_and_knees_move_evenly(seed: int, goes: float) -> None:
    rng = np.random.default_rng(seed)
    motion = check_soles(stairs(goes * rng.uniform(0.1, 0.22, 24), rng.uniform(0.28, 0.34)))
    assert np.percentile(jerks(motion, times(motion)), 95) < JERKS * np.percentile(jerks(FLAT, times(FLAT)), 95)
    assert jerks(motion, times(motion)).max() < SPIKES * jerks(FLAT, times(FLAT)).max()


@pytest.mark.parametrize("seed", seeds(SETTINGS, quick=1))
def test_soles_are_on_slopes_and_knees_move_no_more_jerkily_than_on_flat_ground(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steep, angle = np.tan(np.radians(rng.uniform(5.0, 25.0))), rng.uniform(-np.pi, np.pi)
    motion = check_soles(slope(steep * np.cos(angle), steep * np.sin(angle)))
    assert np.percentile(jerks(motion, times(motion)), 95) < JERKS * np.percentile(jerks(FLAT, times(FLAT)), 95)


@pytest.mark.parametrize("seed", seeds(5, quick=1))
def test_soles_are_on_hills(seed: int) -> None:
    floor = hills(np.random.default_rng(seed))
    motion = played(floor)
    own = gaps(motion, floor, times(motion))
    away = np.abs(own - gaps(FLAT, None, times(FLAT)))[held(motion, times(motion))]
    assert np.percentile(away, 90) < NEAR_LEGS * LEG_M


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


@pytest.mark.parametrize("limbs", few(CUTS))
def test_rigs_whose_limbs_hang_on_other_bones_are_higher_all_over_too(limbs: str) -> None:
    body, _ = cut(with_controls(BODY), CUTS[limbs], np.random.default_rng(0))
    high = SceneFloor(slope(0.0, 0.0).points + np.array((0.0, 0.4, 0.0)), slope(0.0, 0.0).triangles)
    one, other = (play(programme(WALK, roles=STAGE), Performer(body, UP), Settings(cast=(("stage", floor),)))
                  for floor in (slope(0.0, 0.0), high))
    at, joints = times(one), [*find_map(body).joint_of.values()]
    places = [world_from_pose(body, each.sample(at))[:, joints, :, 3] for each in (one, other)]
    np.testing.assert_allclose(places[1] - places[0], np.broadcast_to((0.0, 0.4, 0.0), places[0].shape), atol=1e-6)
    assert other.moved[body.parents < 0].all()


def without_toes(body: Skeleton) -> Skeleton:
    """Return a body whose feet end at the ankles, as those of many rigs for games and with IK do."""
    ankles = [find_map(body).joint_of[f"{side}_ankle"] for side in "lr"]
    kept = np.flatnonzero(~with_descendants(body.parents, np.array(ankles)) | np.isin(np.arange(len(body)), ankles))
    number = {joint: i for i, joint in enumerate(kept.tolist())}
    return skeleton_at([body.names[joint] for joint in kept],
                       [number.get(int(body.parents[joint]), -1) for joint in kept],
                       body.rest_world[kept, :, 3], body.rest_world_rotations[kept])


@pytest.mark.parametrize("limbs", few(["feet as they are", *CUTS]))
@pytest.mark.parametrize("rise", [0.17, -0.17])
def test_feet_without_toes_stand_on_treads_and_neither_over_edges_nor_above_them(limbs: str, rise: float) -> None:
    body = without_toes(BODY)
    if limbs in CUTS:
        body, _ = cut(with_controls(body), CUTS[limbs], np.random.default_rng(0))
    floor = stairs(np.full(24, rise), 0.34)
    motion, flat = (play(programme(WALK, roles=STAGE), Performer(body, UP), Settings(cast=cast))
                    for cast in ((("stage", floor),), ()))
    at = times(motion)
    away = np.abs(gaps(motion, floor, at) - gaps(flat, None, at))[held(motion, at)]
    assert away.max() < NEAR_LEGS * LEG_M


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
    own = gaps(motion, floor, times(motion))[held(motion, times(motion))]
    assert np.abs(own - gaps(FLAT, None, times(FLAT))[held(motion, times(motion))]).max() < NEAR_LEGS * LEG_M
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


def slab(low: float, high: float, begins: float = -9.0) -> SceneFloor:
    """Return the upper and lower side of a box, which face outwards, from a length ahead of the body on."""
    corners = np.array([(x, y, z) for y in (low, high) for x, z in ((-9, begins), (9, begins), (9, 9), (-9, 9))])
    return SceneFloor(corners, np.array(((0, 1, 2), (0, 2, 3), (6, 5, 4), (7, 6, 4))))


def together(*floors: SceneFloor) -> SceneFloor:
    begins = np.cumsum([0, *(len(each.points) for each in floors)])
    return SceneFloor(np.concatenate([each.points for each in floors]), np.concatenate(
        [each.triangles + begin for each, begin in zip(floors, begins.tolist(), strict=False)]))


@pytest.mark.parametrize(("floors", "is_roof"), [
    ((slab(-0.1, 0.0), slab(2.6, 2.7)), True), ((slab(2.6, 2.7), slab(-0.4, 0.3)), True),
    ((slab(-0.1, 0.0), slab(2.6, 2.7, begins=1.5)), False),  # the body does not begin below it
    ((slab(-0.1, 0.0), slab(0.05, 2.7)), False), ((slab(-0.1, 2.7),), False),  # it would be inside a block
    ((slab(2.6, 2.7),), False), ((slab(-3.0, -2.9), slab(2.6, 2.7)), False),
    ((slab(-2.8, -2.7), slab(-0.1, 0.0)), False), ((slab(-0.1, 0.0), slab(0.6, 0.7)), False)])
def test_a_body_that_begins_on_a_roof_is_told(floors: tuple[SceneFloor, ...], is_roof: bool) -> None:
    said = [each for each in played(together(*floors)).problems if "roof" in each.message]
    assert len(said) == is_roof
    for problem in said:
        assert ("the role 'stage': the body begins 2.70 m above the armature, though it could stand below: leave roofs "
                "and bridges out of the floor") in problem.message
        assert problem.is_missed and problem.place.line == 1


def test_the_roof_is_told_in_metres_and_on_any_rig() -> None:
    rig = FOUR[1]
    made = together(slab(-0.1, 0.0), slab(2.6, 2.7))
    points = np.array([rig.place(point * rig.leg_m / LEG_M, np.array((0.0, 0.0, 1.0))).position
                       for point in made.points])
    motion = play(programme(WALK, roles=STAGE), Performer(rig.skeleton, rig.up, rig.turn),
                  Settings(cast=(("stage", SceneFloor(points, made.triangles)),), unit_m=1.0 / rig.units))
    (problem,) = [each for each in motion.problems if "roof" in each.message]
    assert f"begins {2.7 * rig.leg_m / LEG_M:.2f} m above" in problem.message


def block(low: float, high: float, begins: float, ends: float) -> SceneFloor:
    """Return a floor that is low, and higher between two lengths ahead of the body."""
    rows = [(-9.0, begins, low), (begins, ends, high), (ends, 9.0, low)]
    corners = np.array([[(-9.0, y, a), (9.0, y, a), (9.0, y, b), (-9.0, y, b)] for a, b, y in rows])
    faces = 4 * np.arange(len(rows))[:, None, None] + np.array(((0, 1, 2), (0, 2, 3)))
    return SceneFloor(corners.reshape(-1, 3), faces.reshape(-1, 3))


@pytest.mark.parametrize(("floor", "word"), [
    (block(0.0, 0.5, 1.5, 8.9), "0.5 m higher"), (block(0.5, 0.0, 1.5, 8.9), "0.5 m lower"),
    (block(0.0, 0.6, 1.5, 1.6), "0.6 m"), (block(0.0, 0.3, 1.5, 8.9), ""), (block(0.3, 0.0, 1.5, 8.9), ""),
    (slope(0.8, 0.0), ""), (stairs(np.full(24, 0.25), 0.28), "")])
def test_an_edge_that_is_too_high_for_a_step_is_told_at_the_call_that_leads_over_it(floor: SceneFloor,
                                                                                   word: str) -> None:
    said = played(floor).problems
    assert len(said) == bool(word)
    for problem in said:
        assert word in problem.message and "expected at most 0.33 m in one step" in problem.message
        assert problem.is_missed and problem.place.line is not None
        at_s = float(problem.message.split(" at ")[1].split()[0])
        where = played(floor).sample(np.array((at_s,))).translations[0, 0, 2]
        assert 0.8 < where < 2.2


@pytest.mark.parametrize(("high", "word"), [(-0.5, "0.5 m higher"), (0.5, "0.5 m lower"), (-0.3, ""), (0.3, "")])
def test_where_a_floor_ends_the_warning_names_the_height_of_the_armature(high: float, word: str) -> None:
    corners = np.array(((-9.0, high, -9.0), (9.0, high, -9.0), (9.0, high, 1.5), (-9.0, high, 1.5)))
    said = played(SceneFloor(corners, np.array(((0, 1, 2), (0, 2, 3))))).problems
    assert len(said) == bool(word)
    for problem in said:
        assert "as high as the armature" in problem.message and word in problem.message and problem.is_missed


def test_the_edge_is_told_at_the_way_that_leads_over_it_and_in_metres() -> None:
    rig = FOUR[1]
    text = '<call name="left_step" duration="1"/>\n<call name="walk" to="there" duration="6" repeat="fit"/>'
    high = 0.7 * rig.leg_m
    points = np.array([rig.place(point, np.array((0.0, 0.0, 1.0))).position for point in block(
        0.0, high, 2.0 * rig.leg_m, 8.9).points])
    there = rig.place(np.array((0.0, high, 5.0 * rig.leg_m)), np.array((0.0, 0.0, 1.0)))
    cast = ("stage", SceneFloor(points, block(0.0, high, 2.0, 8.9).triangles)), ("there", there)
    motion = play(programme(text, roles=STAGE + '<role name="there" is="place"/>'),
                  Performer(rig.skeleton, rig.up, rig.turn), Settings(cast=cast, unit_m=1.0 / rig.units))
    (problem,) = [each for each in motion.problems if "edge" in each.message]
    assert f"{high:.2g} m higher" in problem.message and problem.place.line == 2 and problem.is_missed
