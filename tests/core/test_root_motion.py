"""Root motion: the specification's section 7a."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.clips.keyed import keys_of, packed
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.pha.expansion import expand
from takt.core.playing.motion import compose
from takt.core.playing.placing.placement import SWAY_RAD, Placement, Root
from takt.core.playing.placing.root_motion import root_chain, root_joint
from takt.core.playing.playing import Playing
from takt.core.playing.transitions.blending import Style
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.scores import FIGURE, UP_Z, X, library, procedure, programme, turning, walking

EXACT = 1e-9
angles_rad = st.floats(-3.0, 3.0)
places = st.tuples(st.floats(-5, 5), st.floats(-5, 5))


def motion(clips, *calls, method="BOTH", root_motion="CONTINUE", loop=False, up=UP_Z):
    p = programme(procedure("main", *calls), clips=library(feet_Steps=clips))
    return compose(expand(p, "main", loop), p.clips,
                   Playing(Style(method, "COSINE", "SLERP"), root_motion, up))


def hip(m, *times):
    """Return the hip's model matrices."""
    return world_from_pose(m.skeleton, m.sample(np.array(times, dtype=float)))[:, 0]


def heading(m, *times):
    pose = m.sample(np.array(times, dtype=float))
    return Root(m.skeleton, 0, UP_Z).placement(pose.rotations[:, 0], pose.translations[:, 0]).yaw_rad


STEP = walking("left", (1.0, 0.5))
TURN = walking("right", (0.6, 0.0), yaw_rad=np.pi / 2)


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_n_repeats_go_n_times_the_way(method):
    m = motion((STEP,), *['left duration="1" transition="0.3"'] * 7, method=method)
    start, end = hip(m, 0.0, m.duration_s)[:, :, 3]
    assert end - start == pytest.approx((7.0, 3.5, 0.0), abs=EXACT)


def test_turned_walks_turn():
    """Four quarter turns, each 0.6 ahead: a square, back at its beginning."""
    m = motion((STEP, TURN), *['right duration="1" transition="0.3"'] * 4, method="END")
    corners = hip(m, 0.0, 1.0, 2.0, 3.0, 4.0)[:, :2, 3]
    assert np.diff(corners, axis=0) == pytest.approx(np.array(((0.6, 0), (0, 0.6), (-0.6, 0), (0, -0.6))), abs=EXACT)
    assert heading(m, 0.0, 1.5, 2.0) == pytest.approx((0.0, 0.75 * np.pi, np.pi), abs=EXACT)


@given(places, angles_rad, places, angles_rad, st.sampled_from(sorted(TRANSITION_METHODS)))
@settings(max_examples=40, deadline=None)
def test_each_segment_starts_where_the_last_one_ended(start, facing, way, yaw, method):
    """However the second clip is placed by its author."""
    second = walking("right", way, yaw_rad=yaw, start=start, facing_rad=facing)
    m = motion((STEP, second), 'left duration="1" transition="0.2"', 'right duration="1" transition="0.2"',
               'left duration="1"', method=method)
    end = m.layout.window_end_s[0]
    own = second.sample(np.array((0.0, 0.7)), "SLERP")
    root = Root(FIGURE, 0, UP_Z)
    placed = root.placement(own.rotations[:, 0], own.translations[:, 0])
    step = placed.at(0).inverse() @ placed.at(1)
    at = m.layout.begin_s[1] + 0.7 * (m.layout.end_s[1] - m.layout.begin_s[1])
    assert m.layout.window_begin_s[1] >= at > end
    x, y = hip(m, at)[0, :2, 3] - hip(m, 0.0)[0, :2, 3] - STEP.sample(np.array((1.0,))).translations[0, 0, :2]
    assert x + 1j * y == pytest.approx(complex(step.shift), abs=1e-6)
    assert np.exp(1j * heading(m, at)[0]) == pytest.approx(np.exp(1j * step.yaw_rad), abs=1e-6)


@given(st.lists(st.tuples(places, angles_rad, places, angles_rad), min_size=1, max_size=3),
       st.sampled_from(sorted(TRANSITION_METHODS)))
@settings(max_examples=30, deadline=None)
def test_the_root_never_jumps(rows, method):
    clips = tuple(walking("abc"[i], way, yaw, start, facing) for i, (start, facing, way, yaw) in enumerate(rows))
    m = motion(clips, *(f'{c.name} duration="1" transition="0.3"' for c in clips * 2), method=method, loop=True)
    edges = np.concatenate((m.layout.begin_s, m.layout.end_s, m.layout.window_begin_s, m.layout.window_end_s))
    edges = np.concatenate((edges, edges + m.duration_s, edges - m.duration_s))
    before, after = hip(m, *(edges - 1e-9)), hip(m, *(edges + 1e-9))
    assert np.abs(before - after).max() < 1e-6


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_a_loop_repeats_with_offset(method):
    m = motion((STEP, TURN), 'left duration="1" transition="0.3"', 'right duration="1" transition="0.3"', method=method,
               loop=True)
    times = np.array((0.1, 0.7, 1.3, m.duration_s - 0.05))
    root = Root(FIGURE, 0, UP_Z)
    rounds = [m.sample(times + n * m.duration_s) for n in (0, 1, 2, -1)]
    placed = [root.placement(p.rotations[:, 0], p.translations[:, 0]) for p in rounds]
    lap = placed[1].at(0) @ placed[0].at(0).inverse()
    for n, there in zip((1, 2, -1), placed[1:], strict=True):
        expected = lap.power(np.full(len(times), n)) @ placed[0]
        assert there.shift == pytest.approx(expected.shift, abs=EXACT)
        assert np.exp(1j * there.yaw_rad) == pytest.approx(np.exp(1j * expected.yaw_rad), abs=EXACT)
    assert np.exp(1j * lap.yaw_rad) == pytest.approx(1j, abs=EXACT)


SWAY = walking("left", (0.02, -1.0), yaw_rad=np.radians(-3.0), start=(0.4, 0.1), facing_rad=0.5)
BACK = walking("right", (0.1, -0.8), yaw_rad=np.radians(1.5), facing_rad=-2.0)
WAVE = turning("wave", X, (0.0, 1.0), ("r_arm",))


def loop_of(names, method="BOTH", transition_s=0.3, root_motion="CONTINUE"):
    calls = [f'{name} duration="1" transition="{transition_s * (index + 1)}"' for index, name in enumerate(names)]
    return motion((SWAY, BACK, WAVE), *calls, method=method, loop=True, root_motion=root_motion)


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("names", [("left",), ("left", "left", "right"), ("left", "wave"), ("wave", "left", "left")])
def test_a_loop_that_turns_as_hips_sway_goes_straight(names, method):
    """Each lap is the first one, shifted, and nothing jumps at any seam; what leaves the root alone turns nobody."""
    m = loop_of(names, method, 0.1)
    assert m.lap_yaw_rad == pytest.approx(0.0, abs=1e-12)
    times = np.linspace(0.0, m.duration_s, 41)[:-1]
    first, third = hip(m, *times), hip(m, *(times + 2.0 * m.duration_s))
    assert third[:, :, :3] == pytest.approx(first[:, :, :3], abs=EXACT)
    shift = third[:, :, 3] - first[:, :, 3]
    assert shift == pytest.approx(np.tile(shift[0], (40, 1)), abs=EXACT) and np.hypot(*shift[0, :2]) > 1.0
    edges = np.concatenate((m.layout.begin_s, m.layout.end_s, m.layout.window_begin_s, m.layout.window_end_s))
    edges = np.concatenate((edges, edges + m.duration_s))
    before, after = (world_from_pose(m.skeleton, m.sample(edges + side)) for side in (-1e-9, 1e-9))
    assert np.abs(before - after).max() < 1e-6


def test_longer_transitions_turn_a_loop_by_more():
    """Beside them each clip turns as it is authored."""
    m = loop_of(("left", "left", "right"), "END", 0.1)
    assert np.degrees(m.row.root.turns_rad) == pytest.approx((0.75, 1.5, 2.25))
    at = np.array((0.0, 1.0, 2.0))[:, None] + np.array((0.0, 0.6))  # transitions end with the clips before them
    inside = np.degrees(heading(m, *at.ravel())).reshape(3, 2)
    assert np.diff(inside)[:, 0] == pytest.approx((-1.8, -1.8, 0.9), abs=1e-6)
    assert np.diff(inside[:, 0]) == pytest.approx((-3.0 + 0.75, -3.0 + 1.5), abs=1e-6)


def test_a_loop_of_cuts_goes_straight_too():
    m = loop_of(("left", "right"), transition_s=0.0)
    assert np.degrees(m.row.root.turns_rad) == pytest.approx((0.75, 0.75)) and m.lap_yaw_rad == pytest.approx(0.0)


@pytest.mark.parametrize(("calls", "lap"), [((SWAY,) * 3, -9.0), ((SWAY,) * 5, -15.0), ((TURN,) * 4, 0.0),
                                            ((TURN, TURN, TURN, TURN, SWAY), -3.0)])
def test_a_lap_that_really_turns_is_left_to_turn(calls, lap):
    p = [f'{clip.name} duration="1" transition="0.2"' for clip in calls]
    m, once = (motion((SWAY, TURN), *p, loop=loop) for loop in (True, False))
    if is_straight := abs(lap) < np.degrees(SWAY_RAD):
        lap = 0.0
    assert np.degrees(m.lap_yaw_rad) == pytest.approx(lap, abs=EXACT)
    assert bool(m.row.root.turns_rad.any()) == (is_straight and calls != (TURN,) * 4)
    assert not once.row.root.turns_rad.any(), "what ends turns as its clips do"


def test_the_first_segment_begins_as_authored():
    m = motion((walking("left", (1.0, 0.0), start=(3.0, 2.0), facing_rad=1.0),), 'left duration="1"')
    own = m.clips[0].sample(np.array((0.3,)), "SLERP")
    found = m.sample(np.array((0.3,)))
    assert found.translations == pytest.approx(own.translations, abs=EXACT)
    assert rot.angle_between(found.rotations, own.rotations).max() < 1e-6


def test_clips_that_leave_the_root_alone_stay_where_the_last_one_ended():
    wave = turning("right", X, (0.0, 1.0), ("r_arm",))
    m = motion((STEP, wave), 'left duration="1"', 'right duration="1" repeat="2"', 'left duration="1"', method="END")
    places = hip(m, 1.0, 2.0, 2.9, 4.0)[:, :2, 3] - hip(m, 0.0)[0, :2, 3]
    assert places == pytest.approx(np.array(((1, 0.5), (1, 0.5), (1, 0.5), (2, 1))), abs=EXACT)


def test_the_root_walks_on_from_rest_after_clips_that_leave_it_alone():
    wave = turning("right", X, (0.0, 1.0), ("r_arm",))
    far = walking("left", (1.0, 0.0), start=(9.0, 9.0), facing_rad=2.0)
    m = motion((far, wave), 'right duration="1"', 'left duration="1"', method="END")
    rest = FIGURE.rest_translations[0, :2]
    assert hip(m, 0.2, 1.0)[:, :2, 3] == pytest.approx(np.array((rest, rest)), abs=EXACT)
    assert heading(m, 0.2, 1.0) == pytest.approx((0.0, 0.0), abs=EXACT)


def test_heights_and_tilts_stay_as_authored():
    m = motion((STEP, TURN), 'left duration="1"', 'right duration="1"', 'left duration="1"', method="APPEND")
    begin = m.layout.begin_s
    assert hip(m, *(begin + 0.25))[:, 2, 3] == pytest.approx((1.05, 1.05, 1.05), abs=EXACT)


def test_in_place_stays_above_its_place_of_rest():
    m = motion((STEP, TURN), 'left duration="1"', 'right duration="1"', root_motion="IN_PLACE")
    found = hip(m, *np.linspace(0, 2, 50))[:, :, 3]
    assert found[:, :2] == pytest.approx(np.tile(FIGURE.rest_translations[0, :2], (50, 1)), abs=EXACT)
    assert np.ptp(found[:, 2]) > 0.05


def test_as_authored_does_what_the_file_says():
    far = walking("left", (1.0, 0.0), start=(9.0, 9.0))
    m = motion((far,), 'left duration="1" transition="0.2" repeat="2"', root_motion="AS_AUTHORED", method="END")
    assert hip(m, 1.0)[0, :, 3] == pytest.approx(FIGURE.rest_translations[0] + (9, 9, 0), abs=EXACT)


def test_headings_do_not_count_as_turns_without_natural_way():
    back = walking("right", (1.0, 0.0), facing_rad=np.pi)
    assert not motion((STEP, back), 'left duration="1"', 'right duration="1"').problems
    assert "'hip' must turn by 150°" in str(motion((STEP, back), 'left duration="1"', 'right duration="1"',
                                                   root_motion="AS_AUTHORED").problems[0])


def test_the_root_below_other_joints_of_any_axes_and_scale():
    """A hip under a turned, shifted, scaled armature joint walks as one without."""
    turn = rot.from_axis_angle(np.array((1.0, -2.0, 0.5)), 1.1)
    above = Skeleton.from_arrays(("top", *FIGURE.names), (-1, 0, *(FIGURE.parents[1:] + 1)),
                                 np.concatenate((turn[None], FIGURE.rest_rotations)),
                                 np.concatenate((((1.0, 2.0, 3.0),), FIGURE.rest_translations)),
                                 np.concatenate((np.full((1, 3), 0.5), np.ones((4, 3)))))
    root = Root(above, 1, UP_Z)
    rng = np.random.default_rng(5)
    rotations, translations = rot.normalized(rng.normal(size=(6, 4))), rng.normal(size=(6, 3))
    by = Placement(rng.normal(size=6), rng.normal(size=6) + 1j * rng.normal(size=6))
    before = root.placement(rotations, translations)
    after = root.placement(*root.placed(rotations, translations, by.numbers))
    assert np.exp(1j * after.yaw_rad) == pytest.approx(np.exp(1j * (by @ before).yaw_rad))
    assert after.shift == pytest.approx((by @ before).shift)


@given(angles_rad, places, st.integers(-6, 6))
def test_powers_of_a_placement_are_repetitions(yaw, shift, times):
    one = Placement(np.array(yaw), np.array(complex(*shift)))
    result = Placement(np.array(0.0), np.array(0j))
    for _ in range(abs(times)):
        result = (one if times > 0 else one.inverse()) @ result
    found = one.power(np.array((times,)))
    assert found.shift[0] == pytest.approx(complex(result.shift), abs=1e-6)
    assert found.yaw_rad[0] == pytest.approx(float(result.yaw_rad))


def test_the_root_is_the_topmost_joint_with_a_translation():
    hand = replace(STEP, translations=Tracks(np.array((3,)), np.array((0, 1)), np.zeros(1), np.zeros((1, 3))))
    assert root_joint((STEP, hand)) == 0
    assert root_joint((hand,)) == 3
    assert root_joint((turning("a", X, (0.0, 1.0), ("spine", "l_arm")),)) == 1
    assert root_joint((Clip("still", FIGURE, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3)),)) is None


def test_clips_that_move_nothing_play():
    still = Clip("left", FIGURE, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    m = motion((still,), 'left duration="1" repeat="2"')
    assert m.transitions_s == pytest.approx((0.0, 0.0))
    assert hip(m, 0.5)[0] == pytest.approx(FIGURE.rest_world[0])


def test_up_must_be_a_direction():
    for up in (np.zeros(3), np.array((np.nan, 0, 0)), np.ones(2)):
        with pytest.raises(TaktError, match=r"a direction \(3,\) is wanted"):
            motion((STEP,), 'left duration="1"', up=up)


def led_by_feet(mode):
    """A body and a foot beside it on a root that stays, as IK rigs have them; and where they are, (F, 2, 3)."""
    skeleton = Skeleton.from_arrays(["base", "foot", "body", "head"], [-1, 0, 0, 2], rot.identities(4),
                                    np.array(((0.0, 0, 0), (0.1, 0, 0.1), (0, 0, 1), (0, 0, 0.7))))
    times = np.linspace(0.0, 1.0, 5)
    way = np.stack((np.linspace(0, 1, 5) ** 2, np.linspace(0, 0.4, 5), np.zeros(5)), axis=1)
    moves = np.stack((np.zeros((5, 3)), way + 0.05 * np.sin(9 * times)[:, None], way), axis=1)
    turns = rot.from_axis_angle(UP_Z, np.linspace(0.2, 0.9, 5))[:, None]
    clip = Clip("step", skeleton, 1.0, Tracks.uniform(np.array([2]), times, turns),
                Tracks.uniform(np.array([0, 1, 2]), times, moves), Tracks.empty(3))
    p = programme(procedure("main", *['step duration="1" transition="0"'] * 3), clips=library(feet_Steps=(clip,)))
    m = compose(expand(p, "main", False), p.clips, Playing(Style("BOTH", "COSINE", "SLERP"), mode, UP_Z))
    place = world_from_pose(skeleton, m.sample(np.linspace(0.0, 2.999, 31)))[..., 3]
    return root_joint((clip,)), place[:, [1, 2]], place[0, 3]


@pytest.mark.parametrize("mode", ["CONTINUE", "IN_PLACE"])
def test_what_stands_beside_the_root_goes_with_it(mode):
    root, authored, _ = led_by_feet("AS_AUTHORED")
    _, place, _ = led_by_feet(mode)
    assert root == 2
    apart, wanted = (np.linalg.norm(p[:, 1] - p[:, 0], axis=-1) for p in (place, authored))
    assert apart == pytest.approx(wanted, abs=EXACT)
    assert (np.ptp(place[:, 1, :2], axis=0) < EXACT).all() == (mode == "IN_PLACE")


def under_a_turntable(rng: np.random.Generator, name: str, is_turned: bool = True) -> Clip:
    """Make a clip of a hip that walks below a joint that turns about any axis, itself below one that stays."""
    above = rot.from_axis_angle(np.array((1.0, -2.0, 0.5)), 1.1)
    skeleton = TURNTABLE
    times = np.linspace(0.0, 1.0, 9)
    way = np.cumsum(rng.normal(0.0, 0.3, (9, 1, 3)), axis=0)
    hip = rot.exp(np.cumsum(rng.normal(0.0, 0.2, (9, 1, 3)), axis=0))
    turns = rot.multiply(above, rot.exp(np.cumsum(rng.normal(0.0, 0.3, (9, 1, 3)), axis=0)))
    joints, values = (np.array((1, 2)), np.concatenate((turns, hip), axis=1)) if is_turned else (np.array((2,)), hip)
    return Clip(name, skeleton, 1.0, Tracks.uniform(joints, times, values), Tracks.uniform(np.array((2,)), times, way),
                Tracks.empty(3))


TURNTABLE = Skeleton.from_arrays(
    ("base", "table", "hip", "head"), (-1, 0, 1, 2), rot.from_axis_angle(np.array((0.3, 0.2, 1.0)), np.array(
        (0.4, -0.9, 1.3, 0.0))), np.array(((0.0, 0.0, 0.2), (0.1, 0.4, 0.3), (0.0, 0.2, 0.6), (0.0, 0.0, 0.5))),
    np.array(((1.0, 1.0, 1.0), (1.2, 1.2, 1.2), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0))))


def place_of_hip(m, times):
    """Return the hip's heading as a complex number, its place on the ground likewise, and its height."""
    world = world_from_pose(m.skeleton, m.sample(times))[:, 2]
    turned = rot.from_matrix(world[:, :, :3] / 1.2)
    twist = rot.twist(rot.multiply(turned, rot.conjugate(m.skeleton.rest_world_rotations[2])), UP_Z)
    return (twist[:, 0] + 1j * twist[:, 3]) ** 2, world[:, 0, 3] + 1j * world[:, 1, 3], world[:, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("seed", [1, 2, 3, 5])
def test_continue_goes_on_where_a_joint_above_the_root_turns(seed, method):
    """The hip is carried as a whole, its own way and the turning of what it stands on; clips may leave that alone."""
    rng = np.random.default_rng(seed)
    clips = tuple(under_a_turntable(rng, name, seed != 3 or name != "b") for name in "abc")
    m = motion(clips, *(f'{name} duration="1" transition="0"' for name in "abcab"), method=method, loop=True)
    assert abs(m.lap_yaw_rad) > SWAY_RAD
    seams = np.arange(1.0, 11.0)
    before, after = place_of_hip(m, seams - 1e-9), place_of_hip(m, seams)
    for one, other in zip(before[:2], after[:2], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    for index, name in enumerate("abcab"):  # each goes its own way, and as high as it was authored
        alone = motion((next(c for c in clips if c.name == name),), f'{name} duration="1"', root_motion="AS_AUTHORED")
        times = np.linspace(0.0, 0.999, 7)
        (yaw, place, height), (own_yaw, own_place, own_height) = place_of_hip(m, index + times), place_of_hip(alone,
                                                                                                          times)
        np.testing.assert_allclose(yaw / yaw[0], own_yaw / own_yaw[0], atol=EXACT)
        np.testing.assert_allclose((place - place[0]) / yaw[0], (own_place - own_place[0]) / own_yaw[0], atol=EXACT)
        np.testing.assert_allclose(height, own_height, atol=EXACT)


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize(("seed", "names", "is_straight"), [(7, "abc", False), (0, "abcab", True)])
def test_with_transitions_the_hip_does_not_jump_either(method, seed, names, is_straight):
    rng = np.random.default_rng(seed)
    clips = tuple(under_a_turntable(rng, name, is_straight or name != "b") for name in "abc")
    m = motion(clips, *(f'{name} duration="1" transition="0.3"' for name in names), method=method, loop=True)
    assert m.row.root.turns_rad.any() == is_straight
    edges = np.concatenate((m.layout.begin_s, m.layout.end_s, m.layout.window_begin_s, m.layout.window_end_s))
    edges = np.concatenate((edges, edges + m.duration_s))
    before, after = (world_from_pose(m.skeleton, m.sample(edges + side)) for side in (-1e-9, 1e-9))
    assert np.abs(before - after).max() < 1e-6


@pytest.mark.parametrize("mode", ["CONTINUE", "IN_PLACE", "AS_AUTHORED"])
@pytest.mark.parametrize("clips", [
    (STEP, TURN), tuple(under_a_turntable(np.random.default_rng(seed), name, name != "b")
                        for seed, name in enumerate("abc"))], ids=["hip", "turntable"])
def test_positions_at_seams_are_those_of_the_poses_there(mode, clips):
    m = motion(clips, *(f'{clip.name} duration="1"' for clip in clips), root_motion=mode)
    ends, authored = m.row.sides.ends, m.row.sources.end_positions()
    rooted = m.row.sides.root.clips
    laid, skeleton = rooted.laid(authored), m.skeleton if rooted.freed is None else rooted.freed.skeleton
    for pose, positions in zip((ends.first, ends.last), laid, strict=True):
        np.testing.assert_allclose(positions, world_from_pose(skeleton, pose)[:-1, ..., 3], atol=EXACT)
    assert (np.abs(laid - authored).max() > 0.1) == (mode != "AS_AUTHORED")


def test_in_place_stays_where_a_joint_above_the_root_turns():
    clips = (under_a_turntable(np.random.default_rng(1), "a"), under_a_turntable(np.random.default_rng(2), "b"))
    m = motion(clips, 'a duration="1" transition="0"', 'b duration="1"', root_motion="IN_PLACE")
    rest = TURNTABLE.rest_world[2, :, 3]
    _, place, height = place_of_hip(m, np.linspace(0.0, 2.0, 21))
    np.testing.assert_allclose(place, rest[0] + 1j * rest[1], atol=EXACT)
    assert np.ptp(height) > 0.05


def test_what_stands_above_the_root_and_never_moves_is_left_alone():
    rng = np.random.default_rng(1)
    clip = under_a_turntable(rng, "a")
    assert root_chain((clip,)).tolist() == [1, 2]
    assert root_chain((under_a_turntable(rng, "b", False),)).tolist() == [2]
    still = Tracks.uniform(np.array((1, 2)), np.zeros(1), rot.identities(1, 2))
    assert root_chain((replace(clip, rotations=still),)).tolist() == [2]


RIG = Skeleton.from_arrays(
    ("ground", "hips", "spine", "head", "leg"), (-1, 0, 1, 2, 1), rot.identities(5),
    np.array(((0.0, 0.0, 0.0), (0.0, 0.0, 0.9), (0.0, 0.0, 0.2), (0.0, 0.0, 0.4), (0.1, 0.0, -0.1))))
KEYS_S = np.linspace(0.0, 1.0, 13)


def travelling(rng: np.random.Generator, name: str, by_ground: float | None) -> Clip:
    """Make a clip of a body that walks, rises and turns; by_ground: how much of that the joint above the hips does.

    None: that joint has no keys. The same numbers give the same motion, whichever joint does it.
    """
    way, yaw = np.cumsum(rng.normal(0.0, 0.1, (13, 3)), axis=0), np.cumsum(rng.normal(0.1, 0.1, 13))
    leans = rot.exp(np.cumsum(rng.normal(0.0, 0.05, (13, 3)), axis=0))
    bends = rot.exp(rng.normal(0.0, 0.2, (13, 3, 3)))
    share = by_ground or 0.0
    ground, own = (rot.from_axis_angle(UP_Z, part * yaw) for part in (share, 1.0 - share))
    hips = rot.rotate(rot.conjugate(ground), (1.0 - share) * way)
    turns = np.concatenate((ground[:, None], rot.multiply(own, leans)[:, None], bends), axis=1)
    ways = np.stack((share * way, hips), axis=1)
    first = int(by_ground is None)
    return Clip(name, RIG, 1.0, Tracks.uniform(np.arange(first, 5), KEYS_S, turns[:, first:]),
                Tracks.uniform(np.arange(first, 2), KEYS_S, ways[:, first:]), Tracks.empty(3))


def told(seed: int, shares: tuple[float | None, ...], root_motion: str, **more: object):
    clips = tuple(travelling(np.random.default_rng((seed, number)), name, share)
                  for number, (name, share) in enumerate(zip("abcd", shares, strict=True)))
    return motion(clips, *(f'{name} duration="1" transition="{more.get("transition_s", 0)}"' for name in "bacdab"),
                  root_motion=root_motion, method=more.get("method", "LEAD"))


@pytest.mark.parametrize("root_motion", ["CONTINUE", "ALONG", "AS_AUTHORED", "IN_PLACE"])
@pytest.mark.parametrize("shares", [(None, 1.0, 1.0, None), (1.0, None, 0.5, 0.0), (1.0, 1.0, None, 0.3)])
@pytest.mark.parametrize("seed", range(3))
def test_hips_go_where_they_go_whichever_joint_takes_them_there(seed, shares, root_motion):
    """Clips that travel by a joint that carries the hips, and those that leave it alone: none floats, none slides."""
    times = (np.arange(6)[:, None] + KEYS_S[1:-1]).ravel()
    plain, mixed = (world_from_pose(RIG, told(seed, each, root_motion).sample(times))[:, 1:]
                    for each in ((None,) * 4, shares))
    np.testing.assert_allclose(mixed, plain, atol=EXACT)


@pytest.mark.parametrize("method", TRANSITION_METHODS)
@pytest.mark.parametrize("root_motion", ["CONTINUE", "IN_PLACE", "AS_AUTHORED"])
def test_in_transitions_too_hips_go_there(root_motion, method):
    times = np.linspace(0.0, 6.0, 1201)
    shown = [told(5, each, root_motion, method=method, transition_s=0.3)
             for each in ((None,) * 4, (1.0, None, 0.5, 0.0))]
    plain, mixed = (world_from_pose(RIG, each.sample(times))[:, 1, :, 3] for each in shown)
    assert np.abs(mixed - plain).max() < 0.02
    alone = np.stack([shown[1].sample(times[at:at + 1]).translations[0] for at in range(0, 1201, 100)])
    np.testing.assert_allclose(alone, shown[1].sample(times).translations[::100], atol=EXACT)


def test_a_light_joint_that_moves_by_itself_carries_nobody():
    clip = travelling(np.random.default_rng(0), "a", 1.0)
    away = np.outer(KEYS_S, (1.0, 0.0, 0.0))[:, None]
    waving = Clip("b", RIG, 1.0, Tracks.empty(4), Tracks.uniform(np.array((4,)), KEYS_S, away), Tracks.empty(3))
    assert root_joint((clip, waving)) == 0
    assert root_joint((clip, travelling(np.random.default_rng(0), "b", None))) == 1
    resting = replace(travelling(np.random.default_rng(0), "b", None), scales=Tracks.uniform(
        np.array((0,)), np.zeros(1), np.ones((1, 1, 3))))
    assert root_joint((clip, resting)) == 1, "one key at rest, as Actions have that play a clip, says no more"


def test_a_heavy_part_that_only_turns_carries_nobody():
    """Nor does what one key holds at rest, as Actions have it for the bones above the hips."""
    clip, turns = travelling(np.random.default_rng(0), "a", 1.0), rot.from_axis_angle(X, KEYS_S)[:, None].repeat(4, 1)
    bows = Clip("b", RIG, 1.0, Tracks.uniform(np.arange(1, 5), KEYS_S, turns), Tracks.empty(3), Tracks.empty(3))
    assert root_joint((clip, bows)) == 0
    nowhere = Tracks.uniform(np.zeros(1, np.int64), np.zeros(1), np.zeros((1, 1, 3)))
    assert root_joint((clip, replace(bows, translations=nowhere))) == 0
    plain = travelling(np.random.default_rng(0), "c", None)
    rotations, translations = (packed([(0, np.zeros(1), rest[None]), *(
        (joint, *keys_of(tracks, i)) for i, joint in enumerate(tracks.joints.tolist()))], len(rest))
        for tracks, rest in ((plain.rotations, rot.IDENTITY), (plain.translations, np.zeros(3))))
    assert root_joint((clip, replace(plain, rotations=rotations, translations=translations))) == 1
