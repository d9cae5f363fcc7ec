"""The measures of seams, on motions made so that the right figure is known."""

from dataclasses import replace

import numpy as np
import pytest

from takt.benchmarks import join_measures as measures
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, runs
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Pose, world_from_pose
from takt.samples.skeleton import build_skeleton

UP = np.array((0.0, 1.0, 0.0))
BODY = measures.Body.of(find_map(build_skeleton()), UP)
LEG_M = BODY.leg_length
FRAMES = 37
SHARE = np.linspace(0.0, 1.0, FRAMES)
ALL, NONE = np.ones((FRAMES, 2), dtype=np.bool_), np.zeros((FRAMES, 2), dtype=np.bool_)
USUAL = measures.Levels(np.ones(3), np.ones(3), 1.0)


def gliding(way_m: FloatArray) -> FloatArray:
    """Return matrices of a body at rest that is carried along by ways (F, 3)."""
    pose = Pose.rest(BODY.skeleton, len(way_m))
    pose.translations[:, 0] = way_m
    return world_from_pose(BODY.skeleton, pose)


def forward(legs: FloatArray) -> FloatArray:
    return np.outer(legs * LEG_M, (0.6, 0.0, 0.8))


@pytest.mark.parametrize("slide", [0.0, 0.1, 0.25])
def test_a_foot_that_slides_by_a_tenth_of_the_leg_gives_a_tenth(slide: float) -> None:
    there = measures.measure(BODY, gliding(forward(slide * SHARE)), ALL, USUAL)
    assert there.displaced == pytest.approx((slide, slide))
    assert there.skate == pytest.approx(2.0 * slide) and there.lowest == pytest.approx(0.0, abs=1e-12)
    and_back = measures.measure(BODY, gliding(forward(slide * np.sin(np.pi * SHARE))), ALL, USUAL)
    assert and_back.displaced == pytest.approx((slide, slide)) and and_back.skate == pytest.approx(4.0 * slide)
    assert measures.measure(BODY, gliding(forward(slide * SHARE)), NONE, USUAL).displaced == ()


def test_only_the_stretch_in_which_the_foot_should_stand_counts() -> None:
    stands = NONE.copy()
    stands[:10, 0] = stands[20:25, 1] = True
    found = measures.measure(BODY, gliding(forward(0.36 * SHARE)), stands, USUAL)
    assert found.displaced == pytest.approx((0.09, 0.04))


@pytest.mark.parametrize("size", [0.01, 100.0])
@pytest.mark.parametrize("turn", [rot.IDENTITY, rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.pi / 2)])
def test_figures_do_not_depend_on_unit_and_axes(size: float, turn: FloatArray) -> None:
    skeleton = build_skeleton().turned(turn)
    skeleton = type(skeleton)(skeleton.names, skeleton.parents, skeleton.rest_rotations,
                              skeleton.rest_translations * size, skeleton.rest_scales)
    body = measures.Body.of(find_map(skeleton), rot.rotate(turn, UP))
    pose = Pose.rest(skeleton, FRAMES)
    pose.translations[:, 0] = rot.rotate(turn, forward(0.1 * SHARE) + np.outer(-0.02 * LEG_M * SHARE, UP)) * size
    found = measures.measure(body, world_from_pose(skeleton, pose), ALL, USUAL)
    assert found.displaced == pytest.approx((0.1, 0.1)) and found.lowest == pytest.approx(-0.02)


def test_a_step_is_no_slide() -> None:
    """Lifted by 7 % of the leg it comes down a quarter of the leg farther; lifted by 2 % it has slid."""
    way = 0.25 * np.clip(3.0 * SHARE - 1.0, 0.0, 1.0)
    lift = np.sin(np.pi * np.clip(4.0 * SHARE - 1.5, 0.0, 1.0))
    moving = (way > 0.0) & (way < 0.25)
    for height, wanted in ((0.02, 0.25), (0.07, 0.0)):
        high = np.where(moving, np.maximum(height * lift, height * (height > 0.05)), 0.0)
        found = measures.measure(BODY, gliding(forward(way) + np.outer(high * LEG_M, UP)), ALL, USUAL)
        assert found.displaced == pytest.approx((wanted, wanted))
    assert found.airborne and found.lowest == pytest.approx(0.0, abs=1e-12)
    assert not measures.measure(BODY, gliding(forward(way) + np.outer(high * LEG_M, UP)), NONE, USUAL).airborne


def test_a_lifted_foot_skates_less_and_at_last_not_at_all() -> None:
    way = forward(0.1 * SHARE)
    for height, wanted in ((-0.01, 0.2), (0.0, 0.2), (0.5, 0.2 * (2.0 - 2.0**0.5)), (1.0, 0.0), (3.0, 0.0)):
        found = measures.measure(BODY, gliding(way + measures.SKATE_LEGS * height * LEG_M * UP), ALL, USUAL)
        assert found.skate == pytest.approx(wanted, abs=1e-12)


def test_speed_and_jerk_are_in_what_is_usual_in_the_clip() -> None:
    """x = s t³: at the end 3 s T² fast, with a jerk of 6 s all the while."""
    times = np.arange(FRAMES) / measures.FPS
    world = gliding(forward(2.0 * times**3))
    speed = 2.0 * (times[-1]**3 - times[-2]**3) * measures.FPS
    found = measures.measure(BODY, world, NONE, measures.Levels(np.full(3, 2.0), np.full(3, 3.0), 1.0))
    np.testing.assert_allclose(found.speed, speed / 2.0)
    np.testing.assert_allclose(found.jerk, 4.0, rtol=1e-6)
    even = measures.Levels.of(BODY, gliding(forward(1.5 * times)))
    np.testing.assert_allclose(even.speed, 1.5)
    np.testing.assert_allclose((even | USUAL).speed, 1.5)
    np.testing.assert_allclose(measures.measure(BODY, gliding(forward(3.0 * times)), NONE, even).speed, 2.0)


def test_jumps_are_told_in_radians_and_legs() -> None:
    before = gliding(np.zeros((2, 3)))
    pose = Pose.rest(BODY.skeleton, 2)
    frame = BODY.skeleton.rest_world_rotations[0]
    yaw = rot.from_axis_angle(UP, 0.3)
    pose.rotations[1, 0] = rot.multiply(rot.multiply(rot.conjugate(frame), yaw), frame)
    pose.translations[1, 0] = forward(np.array((0.2,)))[0] + 0.5 * UP
    turn, way = measures.jumps(BODY, before, world_from_pose(BODY.skeleton, pose))
    assert (turn, way) == pytest.approx((0.3, 0.2))
    assert measures.jumps(BODY, before, before) == (0.0, 0.0)


def test_feet_of_a_clip_stand_while_they_are_low_and_slow() -> None:
    times = np.arange(90) / 30.0
    lift = np.where((times > 0.99) & (times < 1.99), 0.3, 0.0)
    stands = measures.standing(find_map(BODY.skeleton), UP, gliding(np.outer(lift, UP)), times)
    assert stands[:29].all() and stands[62:].all() and not stands[31:59].any()


def test_a_knee_that_is_straight_for_one_frame_turns_twice_as_suddenly_as_it_is_bent() -> None:
    knee, pose = BODY.skeleton.index_of["l_knee"], Pose.rest(BODY.skeleton, FRAMES)
    for degrees, wanted in ((30.0 + 36.0 * SHARE, 0.0), (np.where(np.arange(FRAMES) == 9, 5.0, 30.0), 50.0)):
        pose.rotations[:, knee] = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.radians(degrees))
        world = world_from_pose(BODY.skeleton, pose)
        assert measures.measure(BODY, world, ALL, USUAL).knees == pytest.approx(wanted, abs=0.05)


def test_times_near_a_seam_end_where_the_motion_does() -> None:
    assert len(measures.near(5.0, 0.0, 10.0)) == FRAMES
    np.testing.assert_allclose(measures.near(0.2, 0.0, 0.45), np.arange(0.0, 14) / 30.0, atol=1e-9)


def test_a_gap_is_told_in_legs_and_radians() -> None:
    own, pose = gliding(np.zeros((4, 3))), Pose.rest(BODY.skeleton, 4)
    found = measures.gap(BODY, gliding(forward(np.full(4, 0.3))), own)
    assert (found.moved, found.turn_rad) == pytest.approx((0.3, 0.0), abs=1e-7)
    pose.rotations[:, 0] = rot.from_axis_angle(UP, 0.2)
    assert measures.gap(BODY, world_from_pose(BODY.skeleton, pose), own).turn_rad == pytest.approx(0.2)


def test_a_line_tells_means_and_percentiles() -> None:
    joins = [measures.Join(np.full(3, 1.0 + i), np.full(3, 2.0), (0.01 * i,), 0.1, -0.02, i > 8) for i in range(11)]
    line = measures.row("label", joins, 0.05)
    assert line.split() == ["label", *["6.00/10.00"] * 3, "2.0/", "2.0/", "2.0", "5.0/", "9.0", "0.45", "2.0×", "-2.0",
                            "–", "0.00", "0.000", "0.18", "0.00", "0/", "0", "–/", "–"]
    stepped = [replace(join, step=0.1 * i, is_still=i > 9, floats=i > 8) for i, join in enumerate(joins)]
    assert measures.row("label", stepped, 0.05).split()[-4:] == ["0.18", "0/", "0", "0.82/0.90"]


def test_contacts_are_low_slow_and_not_too_short() -> None:
    times = np.arange(0.0, 2.0, 0.01)
    places = np.zeros((200, 3))
    places[:, 1] = 0.5 * ((times > 0.5) & (times < 1.5))
    places[:, 0] = np.where(times > 1.7, 2.0 * (times - 1.7), 0.0)
    stands = measures.planted(places, times, UP, 1.0)
    assert [(a / 100, b / 100) for a, b in runs(stands)] == [(0.0, 0.5), (1.51, 1.7)]
    short = int(measures.SHORTEST_S * 100)
    assert not measures.planted(places[:short], times[:short], UP, 1.0).any()
    assert not measures.planted(places[:1], times[:1], UP, 1.0).any()


def test_a_gap_of_a_few_frames_is_none() -> None:
    times, places = np.arange(0.0, 1.0, 0.01), np.zeros((100, 3))
    places[50, 1] = 0.2
    assert runs(measures.planted(places, times, UP, 1.0)) == [(0, 100)]
    places[50:50 + int(measures.BRIEF_S * 100) + 2, 1] = 0.2
    assert len(runs(measures.planted(places, times, UP, 1.0))) == 2
