"""Motion: exactness outside the transitions, and what a good transition is (sections 4 and 5)."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.pha.expansion import expand
from takt.core.pha.sequence import Sequence
from takt.core.playing.motion import compose
from takt.core.playing.playing import Playing
from takt.core.playing.transitions.blending import Style
from takt.core.playing.transitions.curves import CURVES, PACES
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.playing.transitions.seams import DEFAULT_LENGTH_S
from takt.core.skeletons.skeleton import Skeleton
from takt.tests.core.scores import FIGURE, UP_Z, X, Y, Z, library, procedure, programme, turning

EXACT_RAD = 1e-6
INSTANT_S = 1e-10
JUMP_RAD = 3e-3
"""What the cube root may move within INSTANT_S; a jump is some hundred times larger."""
FASTER_AT_MOST = 3.0
FRAME_S = 1.0 / 24.0

LEFT = turning("left", X, (0.0, 0.9, 0.3, 1.1))
RIGHT = turning("right", Y, (0.2, 1.5, -0.4, 0.9), duration_s=2.0)
NOD = turning("nod", Z, (0.5, -0.5, 0.8), ("spine",), duration_s=0.5)
CLIPS = library(feet_Steps=(LEFT, RIGHT, NOD))
COMBINATIONS = [(m, c) for m, c in itertools.product(TRANSITION_METHODS, CURVES)
                if TRANSITION_METHODS[m].shape != "PULSE" or CURVES[c].pulse]


def composed(*calls, loop=False, clips=CLIPS) -> tuple[Sequence, tuple[Clip, ...]]:
    p = programme(procedure("main", *calls), clips=clips)
    return expand(p, "main", loop), p.clips


def motion(*calls, method="BOTH", curve="COSINE", interpolation="SLERP", root_motion="AS_AUTHORED", loop=False,
           clips=CLIPS):
    sequence, played = composed(*calls, loop=loop, clips=clips)
    return compose(sequence, played, Playing(Style(method, curve, interpolation), root_motion, UP_Z))


MIXED = ('left duration="2" transition="0.6"', 'right duration="1.5"', 'nod duration="1"',
         'left duration="1" repeat="2"',
         'right duration="3" transition="9"', 'nod duration="0.5"')


def angles(a, b):
    return rot.angle_between(a.rotations, b.rotations)


@pytest.mark.parametrize(("method", "curve"), COMBINATIONS)
@pytest.mark.parametrize("loop", [False, True])
def test_outside_the_windows_the_pose_is_the_clips_own(method, curve, loop):
    m = motion(*MIXED, method=method, curve=curve, loop=loop)
    layout, checked = m.layout, 0
    for i, clip in enumerate(m.clips[c] for c in m.sequence.clip):
        begin, end = layout.begin_s[i], layout.end_s[i]
        before = layout.window_end_s[i - 1] - (m.duration_s if i == 0 else 0.0)
        times = np.linspace(max(begin, before), min(end, layout.window_begin_s[i]), 50)[1:-1]
        if times[-1] > times[0]:
            own = clip.sample((times - begin) / (end - begin) * clip.duration_s, "SLERP")
            found = m.sample(times)
            assert angles(own, found)[:, clip.moved].max() <= EXACT_RAD
            checked += 1
    assert checked >= len(m.sequence) - 2


@pytest.mark.slow
@pytest.mark.parametrize(("method", "curve"), COMBINATIONS)
@pytest.mark.parametrize("interpolation", ["LERP", "SLERP"])
@pytest.mark.parametrize("loop", [False, True])
def test_nothing_jumps(method, curve, interpolation, loop):
    m = motion(*MIXED, method=method, curve=curve, interpolation=interpolation, loop=loop)
    edges = np.concatenate((m.layout.begin_s, m.layout.end_s, m.layout.window_begin_s, m.layout.window_end_s,
                            (m.layout.window_begin_s + m.layout.window_end_s) / 2))
    if loop:
        edges = np.concatenate((edges, edges + m.duration_s))
    assert angles(m.sample(edges - INSTANT_S), m.sample(edges + INSTANT_S)).max() < JUMP_RAD


def test_without_a_transition_it_does_jump():
    m = motion('left duration="1" transition="0"', 'right duration="1"')
    assert angles(m.sample(np.array((1.0 - 1e-9,))), m.sample(np.array((1.0,)))).max() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("curve", ["LINEAR", "COSINE"])
@pytest.mark.parametrize("method", TRANSITION_METHODS)
@settings(max_examples=30, deadline=None)
@given(ticks=st.lists(st.floats(0.3, 4.0), min_size=3, max_size=3),
       wished=st.lists(st.one_of(st.none(), st.floats(0.01, 2.0)), min_size=3, max_size=3))
def test_no_frame_turns_faster_than_three_times_what_is_natural(method, curve, ticks, wished):
    calls = [f'{n} duration="{d!r}"' + ("" if t is None else f' transition="{t!r}"')
             for n, d, t in zip(("left", "right", "left"), ticks, wished, strict=True)]
    m = motion(*calls, method=method, curve=curve)
    times = np.arange(0.0, m.duration_s, FRAME_S)
    poses = m.sample(times)
    moved = angles(poses.at(slice(1, None)), poses.at(slice(None, -1)))
    allowed, touched = np.zeros(moved.shape), np.zeros(len(moved), dtype=bool)
    for i in range(len(m.sequence) - 1):
        begin, end = m.layout.window_begin_s[i], m.layout.window_end_s[i]
        near = (times[1:] > begin) & (times[:-1] < end) & (end > begin)
        ends = []
        for k, at in ((i, -1), (i + 1, 0)):
            clip = m.clips[m.sequence.clip[k]]
            tempo = (m.layout.end_s[k] - m.layout.begin_s[k]) / clip.duration_s
            own = clip.sample(np.arange(0.0, clip.duration_s + FRAME_S / tempo, FRAME_S / tempo / 8), "SLERP")
            eighth = angles(own.at(slice(8, None)), own.at(slice(None, -8)))
            allowed[near] = np.maximum(allowed[near], eighth.max(axis=0, initial=0.0))
            ends.append(clip.sample(np.array((0.0, clip.duration_s))).at(at))
        if near.any():
            allowed[near] = np.maximum(allowed[near], angles(*ends) * FRAME_S / (end - begin))
        touched |= near
    assert (moved[touched] <= FASTER_AT_MOST * allowed[touched] + 1e-9).all()


def test_end_leaves_the_next_clip_untouched_and_reaches_its_first_pose():
    m = motion('left duration="2" transition="0.5"', 'right duration="2"', method="END")
    assert angles(m.sample(np.array((2.0,))), RIGHT.sample(np.array((0.0,)))).max() < EXACT_RAD
    assert angles(m.sample(np.array((2.1,))), RIGHT.sample(np.array((0.1,)), "SLERP")).max() < EXACT_RAD
    way = rot.slerp(LEFT.sample(np.array((1.0,))).rotations, RIGHT.sample(np.array((0.0,))).rotations, 0.5)
    quarter = rot.slerp(LEFT.sample(np.array((0.875,)), "SLERP").rotations, way, 0.5)
    assert rot.angle_between(m.sample(np.array((1.75,))).rotations, quarter).max() < EXACT_RAD


def test_both_stands_half_way_between_the_poses_at_the_seam():
    m = motion('left duration="2" transition="0.5"', 'right duration="2"')
    half = rot.slerp(LEFT.sample(np.array((1.0,))).rotations, RIGHT.sample(np.array((0.0,))).rotations, 0.5)
    assert rot.angle_between(m.sample(np.array((2.0,))).rotations, half).max() < EXACT_RAD


def test_led_over_stands_half_way_and_does_not_change_its_speed_at_the_seam():
    m = motion('left duration="2" transition="0.8"', 'right duration="2"', method="LEAD")
    half = rot.slerp(LEFT.sample(np.array((1.0,))).rotations, RIGHT.sample(np.array((0.0,))).rotations, 0.5)
    assert rot.angle_between(m.sample(np.array((2.0,))).rotations, half).max() < EXACT_RAD
    for instant in (1.6, 2.0, 2.4):
        q = m.sample(instant + 1e-6 * np.array((-2.0, -1.0, 1.0, 2.0))).rotations
        before, after = (rot.log(rot.multiply(rot.conjugate(q[i]), q[i + 1])) / 1e-6 for i in (0, 2))
        assert before == pytest.approx(after, abs=1e-4)
        assert np.abs(after).max() > 0.1


@pytest.mark.parametrize("curve", ["LINEAR", "COSINE", "SMOOTHER", "CUBIC"])
@pytest.mark.parametrize("wished", [0.8, 0.3])
def test_led_over_has_the_speed_that_its_curve_says(curve, wished):
    """The mean of both clips' speeds, and the way between them over the whole, as often as the curve is steep at 1.

    All about one axis, where rotation vectors add up. At the window's edges the speed is still the clip's own.
    """
    m = motion(f'left duration="2" transition="{wished}"', 'right duration="1"', method="LEAD", curve=curve,
               clips=library(feet_Steps=(turning("left", X, (0.0, 0.2, 0.3)), turning("right", X, (0.7, 1.3, 1.4)))))
    step = 1e-6
    slope_at_1 = (CURVES[curve].rise(np.array(1.0)) - CURVES[curve].rise(np.array(1.0 - step))) / step
    half, arm = wished / 2.0, FIGURE.index_of["l_arm"]
    way, before, after = 0.4, 0.1, 1.2  # radians; radians per second as they are played
    at_seam = (before + after) / 2.0 + slope_at_1 * way / wished
    for instant, side, speed in ((2.0, -1, at_seam), (2.0, 1, at_seam), (2.0 - half, 1, before),
                                 (2.0 + half, -1, after)):
        q = m.sample(instant + step * np.sort((side * 1.0, side * 2.0))).rotations[:, arm]
        assert rot.log(rot.multiply(rot.conjugate(q[0]), q[1]))[0] / step == pytest.approx(float(speed), abs=1e-4)


def going(name: str, speed: float) -> Clip:
    """Go along x at one speed for two seconds."""
    path = np.array(((0.0, 0.0, 0.0), (2.0 * speed, 0.0, 0.0)))
    return Clip(name, FIGURE, 2.0, Tracks.empty(4), Tracks.uniform(np.zeros(1, np.int64), np.array((0.0, 2.0)),
                                                                  path[:, None]), Tracks.empty(3))


@pytest.mark.parametrize(("before", "after"), [(0.0, 3.0), (3.0, 0.0), (1.0, 3.0), (2.0, -1.0)])
@pytest.mark.parametrize("wished", [1.0, 0.3])
def test_led_over_a_body_comes_evenly_to_another_speed(before: float, after: float, wished: float) -> None:
    """Who begins to run neither goes back first nor runs faster than then; the same as he stops."""
    m = motion(f'left duration="2" transition="{wished}"', 'right duration="2"', method="LEAD", curve="LINEAR",
               clips=library(feet_Steps=(going("left", before), going("right", after))), root_motion="CONTINUE")
    times = np.arange(0.0, 4.0, 1.0 / 240.0)
    speeds = np.diff(m.sample(times).translations[:, 0, 0]) * 240.0
    assert min(before, after) - 1e-6 <= speeds.min() and speeds.max() <= max(before, after) + 1e-6
    assert np.abs(np.diff(speeds)).max() < 2.0 * abs(after - before) / (240.0 * wished)


def test_led_over_hardly_changes_clips_that_fit_already():
    """Where place and speed of both sides are the same, there is nothing to lead over."""
    even = turning("left", X, (0.0, 0.2, 0.4)), turning("right", X, (0.4, 0.6, 0.8)), NOD
    m = motion('left duration="1" transition="0.5"', 'right duration="1"', method="LEAD",
               clips=library(feet_Steps=even))
    found = m.sample(np.linspace(0.0, 2.0, 50)).rotations[:, FIGURE.index_of["l_arm"]]
    assert rot.angle_between(found, rot.from_axis_angle(X, np.linspace(0.0, 0.8, 50))).max() < EXACT_RAD


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_a_whole_turn_within_a_transition_does_not_make_it_jump(method):
    """Both ways between the spinning clip and the transition become equally long half a turn from the seam."""
    spin = turning("left", X, tuple(np.linspace(0.0, 2 * np.pi, 25))), RIGHT, NOD
    m = motion('left duration="1" transition="0.9"', 'right duration="1" transition="0.9"', 'left duration="1"',
               method=method, curve="LINEAR", clips=library(feet_Steps=spin))
    times = np.linspace(0.0, m.duration_s, 30001)
    poses = m.sample(times)
    assert angles(poses.at(slice(1, None)), poses.at(slice(None, -1))).max() < 0.02


@pytest.mark.parametrize("pace", [name for name, pace in PACES.items() if not pace.is_carried])
def test_the_pace_runs_over_the_transitions_own_time(pace):
    sequence, played = composed('left duration="2" transition="0.8"', 'right duration="2"')
    m = compose(sequence, played, Playing(Style("APPEND", "LINEAR", pace=pace), "AS_AUTHORED", UP_Z))
    a, b = LEFT.sample(np.array((1.0,))).rotations, RIGHT.sample(np.array((0.0,))).rotations
    way = {"EVEN": 0.25, "EASED": 0.5 - np.sqrt(0.125), "ACCELERATING": 0.0625, "DECELERATING": 0.4375}[pace]
    assert rot.angle_between(m.sample(np.array((2.2,))).rotations, rot.slerp(a, b, way)).max() < EXACT_RAD


@pytest.mark.parametrize(("joint_time", "begins", "ends"), [("EARLY", 0.0, 0.5), ("MIDDLE", 0.25, 0.75),
                                                          ("LATE", 0.5, 1.0), ("SHARED", 0.0, 1.0)])
def test_joints_may_take_their_own_time(joint_time, begins, ends):
    """The right arm, at the same speed, has half the left arm's way, so it takes half of the time."""
    def both(name, left, right):
        times, rows = np.array((0.0, 1.0)), np.array((FIGURE.index_of["l_arm"], FIGURE.index_of["r_arm"]))
        values = np.stack([rot.from_axis_angle(X, np.array(turn)) for turn in (left, right)], axis=1)
        return Clip(name, FIGURE, 1.0, Tracks.uniform(rows, times, values), Tracks.empty(3), Tracks.empty(3))

    clips = library(feet_Steps=(both("left", (0.0, 0.5), (0.0, 0.5)), both("right", (1.5, 2.0), (1.0, 1.5))))
    sequence, played = composed('left duration="1"', 'right duration="1"', clips=clips)
    m = compose(sequence, played, Playing(Style("APPEND", "LINEAR", joint_time=joint_time), "AS_AUTHORED", UP_Z))
    length = m.transitions_s[0]
    assert length == pytest.approx(1.5 if joint_time == "SHARED" else 2.0)
    arm = FIGURE.index_of["r_arm"]
    for share in (0.0, 0.2, 0.5, 0.6, 0.9):
        way = np.clip((share - begins) / (ends - begins), 0.0, 1.0)
        found = m.sample(np.array((1.0 + share * length,))).rotations[0, arm]
        assert rot.angle_between(found, rot.from_axis_angle(X, 0.5 + 0.5 * way)) < EXACT_RAD


def test_append_plays_alone_at_even_speed():
    m = motion('left duration="2" transition="0.5"', 'right duration="2"', method="APPEND")
    a, b = LEFT.sample(np.array((1.0,))).rotations, RIGHT.sample(np.array((0.0,))).rotations
    assert m.duration_s == pytest.approx(4.5)
    assert rot.angle_between(m.sample(np.array((2.1,))).rotations, rot.slerp(a, b, 0.2)).max() < EXACT_RAD


def test_a_joint_that_only_one_clip_moves_holds_its_last_pose():
    m = motion('left duration="2"', 'nod duration="2"', 'nod duration="2"', method="END")
    spine, arm = FIGURE.index_of["spine"], FIGURE.index_of["l_arm"]
    pose = m.sample(np.array((0.5, 3.0, 5.0)))
    assert rot.angle_between(pose.rotations[0, spine], rot.IDENTITY) == 0.0
    held = LEFT.sample(np.array((1.0,))).rotations[0, arm]
    assert rot.angle_between(pose.rotations[1:, arm], held).max() < EXACT_RAD


def test_in_a_loop_nothing_that_ever_moves_is_at_rest():
    m = motion('left duration="2"', 'nod duration="2"', loop=True, method="END")
    held = NOD.sample(np.array((0.5,))).rotations[0]
    spine = FIGURE.index_of["spine"]
    assert rot.angle_between(m.sample(np.array((0.5,))).rotations[0, spine], held[spine]) < EXACT_RAD


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_a_loop_as_authored_ends_on_its_first_pose(method):
    m = motion(*MIXED, method=method, loop=True)
    around = m.sample(np.array((0.0, m.duration_s, 3 * m.duration_s, -m.duration_s)))
    assert angles(around.at(slice(1, None)), around.at(slice(0, 1))).max() < EXACT_RAD


@given(st.lists(st.booleans(), min_size=7, max_size=7))
@settings(max_examples=20, deadline=None)
def test_the_signs_of_keys_never_matter(flips):
    def flipped(clip, flip):
        values = clip.rotations.values * np.where(np.resize(flip, len(clip.rotations.values)), -1.0, 1.0)[:, None]
        return replace(clip, rotations=replace(clip.rotations, values=values))

    other = library(feet_Steps=tuple(flipped(c, flips) for c in (LEFT, RIGHT, NOD)))
    m, n = motion(*MIXED), motion(*MIXED, clips=other)
    times = np.linspace(0.0, m.duration_s, 500)
    assert n.transitions_s == pytest.approx(m.transitions_s)
    assert angles(m.sample(times), n.sample(times)).max() < EXACT_RAD


def test_times_may_come_in_any_order_and_outside():
    m = motion(*MIXED)
    times = np.array((5.0, 0.1, 99.0, -3.0, 2.0))
    poses = m.sample(times)
    for i, t in enumerate(times):
        assert angles(poses.at(slice(i, i + 1)), m.sample(np.clip(np.array((t,)), 0, m.duration_s))).max() == 0.0
    assert m.sample(np.zeros(0)).rotations.shape == (0, len(FIGURE), 4)


def test_translations_and_scales_are_blended_too():
    skeleton = Skeleton.from_arrays(("a",), (-1,), rot.identities(1), np.zeros((1, 3)))

    def still(name, place, size):
        one = np.array((0.0,)), np.array((0,))
        return Clip(name, skeleton, 1.0, Tracks.empty(4), Tracks.uniform(one[1], one[0], np.full((1, 1, 3), place)),
                    Tracks.uniform(one[1], one[0], np.full((1, 1, 3), size)))

    clips = library(feet_Steps=(still("left", 0.0, 1.0), still("right", 4.0, 3.0)))
    m = motion('left duration="1"', 'right duration="1"', clips=clips)
    assert m.transitions_s[0] == DEFAULT_LENGTH_S
    pose = m.sample(np.array((0.5, 1.0, 1.5)))
    assert pose.translations[:, 0, 0] == pytest.approx((0.0, 2.0, 4.0))
    assert pose.scales[:, 0, 0] == pytest.approx((1.0, 2.0, 3.0))


def test_a_joint_of_one_side_alone_does_not_jump_though_no_joint_is_shared():
    m = motion('left duration="2"', 'nod duration="2"', method="END")
    assert m.transitions_s[0] == DEFAULT_LENGTH_S


def test_lengths_beyond_the_limit_are_cut_and_reported_once_for_each_pair():
    m = motion('left duration="1" transition="5"', 'right duration="2" transition="0"',
               'left duration="1" transition="7"', 'right duration="1"')
    assert m.transitions_s == pytest.approx((1.0, 0.0, 1.0, 0.0))
    cut = [p for p in m.problems if "longer" in p.message]
    assert [p.message for p in cut] == [
        "a transition of 5 s from 'feet.Steps.left' to 'feet.Steps.right' (1.00 s) is longer than "
        "Across the Seam allows there and takes "
        "1 s (2 such)"]
    assert cut[0].is_warning and cut[0].place.line is not None


def test_a_turn_without_natural_way_is_a_warning_that_names_the_joints():
    clips = library(feet_Steps=(turning("left", X, (0.0, 0.1)), turning("right", X, (2.8, 2.9), ("l_arm",))))
    m = motion('left duration="1"', 'right duration="1"', clips=clips)
    assert [p.message for p in m.problems if "150°" in p.message] == [
        "from 'feet.Steps.left' to 'feet.Steps.right' (1.00 s) 'l_arm' must turn by 150° or more, and may swing "
        "through the body; call a bridging clip between them"]
    clips = library(feet_Steps=(turning("left", X, (0.0, 0.1)), turning("right", X, (2.6, 2.7), ("l_arm",))))
    m = motion('left duration="1"', 'right duration="1"', clips=clips)
    assert not [p for p in m.problems if "150°" in p.message]


def test_clips_of_no_length_are_poses():
    still = replace(turning("left", X, (0.7,)), duration_s=0.0)
    m = motion('left duration="1"', 'right duration="1"', clips=library(feet_Steps=(still, RIGHT)))
    assert angles(m.sample(np.array((0.1,))), still.sample(np.array((0.0,)))).max() < EXACT_RAD


def test_one_segment_alone_and_in_a_loop():
    for loop in (False, True):
        m = motion('left duration="3"', loop=loop)
        assert m.duration_s == 3.0
        assert angles(m.sample(np.array((1.5,))), LEFT.sample(np.array((0.5,)), "SLERP")).max() < EXACT_RAD


@pytest.mark.slow
def test_a_million_segments_stay_small():
    m = motion('left duration="1" repeat="500000"', 'right duration="1" repeat="500000"')
    assert len(m.transitions_s) == 1_000_000
    assert m.sample(np.linspace(0, m.duration_s, 100)).rotations.shape == (100, 4, 4)


@pytest.mark.parametrize(("change", "message"), [
    ({"method": "FADE"}, "no transition method 'FADE'"),
    ({"curve": "WAVY"}, "no curve 'WAVY'"),
    ({"method": "BOTH", "curve": "CUBIC"}, "the curve CUBIC only rises"),
    ({"interpolation": "BEZIER"}, "no interpolation 'BEZIER'; there are SLERP, LERP, SQUAD"),
    ({"root_motion": "FLY"}, "no root motion 'FLY'; there are CONTINUE, ALONG, AS_AUTHORED, IN_PLACE"),
])
def test_settings_that_do_not_exist_are_refused(change, message):
    with pytest.raises(TaktError, match=message):
        motion(*MIXED, **change)


def test_times_must_be_finite_and_in_a_row():
    m = motion(*MIXED)
    for times in (np.array((np.nan,)), np.zeros((2, 2)), np.array(1.0)):
        with pytest.raises(TaktError, match="times must be finite seconds in one row"):
            m.sample(times)


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_no_times_make_no_poses(method):
    assert motion(*MIXED, method=method).sample(np.zeros(0)).rotations.shape[0] == 0


def test_clips_of_different_skeletons_are_refused():
    p = programme(procedure("main", 'left duration="1"', 'right duration="1"'))
    other = replace(p.clips[0], skeleton=Skeleton.from_arrays(("a", "b", "c", "d"), (-1, 0, 1, 1), rot.identities(4),
                                                              np.zeros((4, 3))))
    with pytest.raises(TaktError, match="all of them on one skeleton"):
        compose(expand(p), (other, p.clips[1]), Playing(Style("END", "LINEAR", "LERP"), "CONTINUE", UP_Z))
