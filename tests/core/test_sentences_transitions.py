"""The score language sentence by sentence, section 4: transitions, their lengths and methods."""

from collections.abc import Callable

import numpy as np
import pytest

from takt.core.clips.clip import Clip, Tracks
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.playing.score import Settings
from takt.core.playing.transitions.blending import Inertialization
from takt.core.playing.transitions.curves import CURVES
from takt.core.playing.transitions.decay import Decay
from takt.core.playing.transitions.lengths import DEFAULT_SPEED_RAD_S
from takt.core.playing.transitions.methods import KEPT_SHARE, TRANSITION_METHODS
from takt.tests.core.scores import FIGURE, X, Y, library, turning
from takt.tests.core.sentences import SAME, motion

ARM = FIGURE.index_of["l_arm"]


def arms(name: str, left: tuple[float, ...], right: tuple[float, ...]) -> Clip:
    """Make a clip of a second whose arms turn about x through angles of their own."""
    rows = np.array((ARM, FIGURE.index_of["r_arm"]))
    values = np.stack([rot.from_axis_angle(X, np.array(angles)) for angles in (left, right)], axis=1)
    return Clip(name, FIGURE, 1.0, Tracks.uniform(rows, np.linspace(0.0, 1.0, len(left)), values), Tracks.empty(3),
                Tracks.empty(3))


def test_two_key_frames_the_last_pose_and_the_first_one() -> None:
    m = motion('left duration="1" transition="0.4"', 'right duration="1"', method="APPEND")
    a, b = (m.clips[i].sample(np.array((t,))).rotations for i, t in ((0, 1.0), (1, 0.0)))
    found = m.sample(np.array((1.0, 1.1, 1.4))).rotations
    assert rot.angle_between(found, np.concatenate((a, rot.slerp(a, b, 0.25), b))).max() < SAME


def test_a_bone_that_only_one_moves_takes_part_the_other_side_being_the_pose_it_holds() -> None:
    """The spine starts to nod from rest; the arms hold what they had."""
    clips = library(feet_Steps=(turning("left", X, (0.0, 0.4)), turning("nod", Y, (0.8, 0.3), ("spine",))))
    m = motion('left duration="1" transition="0.4"', 'nod duration="1"', method="APPEND", clips=clips)
    spine, arm = FIGURE.index_of["spine"], ARM
    half = m.sample(np.array((1.2,))).rotations[0]
    assert rot.angle_between(half[spine], rot.from_axis_angle(Y, 0.4)) < SAME
    assert rot.angle_between(half[arm], rot.from_axis_angle(X, 0.4)) < SAME
    edges = np.array((1.0, 1.4))
    jumps = rot.angle_between(*(m.sample(edges + side * 1e-12).rotations for side in (-1.0, 1.0)))
    assert jumps.max() < 1e-9  # so no bone jumps


def test_the_automatic_length_looks_at_the_shared_bones_only() -> None:
    """The arms: 0.6 rad apart, 0.2 rad in each second; the spine, which turns far, does not count."""
    times, rows = np.array((0.0, 1.0)), np.array((FIGURE.index_of["l_arm"], FIGURE.index_of["spine"]))
    both = np.stack([rot.from_axis_angle(X, np.array(v)) for v in ((0.8, 1.0), (1.0, 3.0))], axis=1)
    b = Clip("right", FIGURE, 1.0, Tracks.uniform(rows, times, both), Tracks.empty(3), Tracks.empty(3))
    clips = library(feet_Steps=(turning("left", X, (0.0, 0.2), ("l_arm",)), b))
    m = motion('left duration="1"', 'right duration="1"', method="APPEND", clips=clips)
    assert m.transitions_s[0] == pytest.approx(0.6 / 0.2)


def test_0_means_none_absent_means_automatic() -> None:
    found = motion('left duration="1" transition="0"', 'left duration="1"', 'right duration="1"', method="END")
    assert found.transitions_s[0] == 0.0
    assert found.transitions_s[1] > 0.0


def test_mean_angle_by_the_speed_in_the_last_and_first_three_intervals_at_the_played_tempo() -> None:
    """A plays at double tempo: 0.05 + 0.15 + 0.1 rad in 0.15 s; B 0.1 + 0.35 + 0.15 rad in 0.3 s; 0.9 rad apart."""
    a = turning("left", X, (5.0, 0.0, 0.05, 0.2, 0.3), duration_s=0.4)
    b = turning("right", X, (1.2, 1.1, 0.75, 0.6, 5.0), duration_s=0.4)
    m = motion('left duration="0.2"', 'right duration="0.4"', method="APPEND", clips=library(feet_Steps=(a, b)))
    assert m.transitions_s[0] == pytest.approx(0.9 / (0.9 / 0.45))


@pytest.mark.parametrize(("speed", "length_s"), [("PATHS", 0.9 / (0.9 / 0.45)), ("SPEEDS", 0.9 / 2.0),
                                                 ("slow PATHS", 0.9 / (0.9 / 1.2)),
                                                 ("slow SPEEDS", 0.9 / ((0.3 / 0.6 + 0.6 / 0.6) / 2))])
def test_both_paths_by_both_times_the_mean_of_the_two_speeds_is_the_option(speed: str, length_s: float) -> None:
    """A at double tempo turns 0.3 rad in 0.15 s, as fast as B; slowly, in 0.6 s, B 0.6 rad in 0.6 s."""
    a = turning("left", X, (5.0, 0.0, 0.1, 0.2, 0.3), duration_s=0.4)
    b = turning("right", X, (1.2, 1.0, 0.8, 0.6, 5.0), duration_s=0.4)
    ticks = (0.8, 0.8) if "slow" in speed else (0.2, 0.4)
    m = motion(f'left duration="{ticks[0]}"', f'right duration="{ticks[1]}"', speed=speed.split()[-1],
               clips=library(feet_Steps=(a, b)))
    assert m.transitions_s[0] == pytest.approx(length_s)


def test_taken_before_insert_compresses_anything() -> None:
    """The clip before, of 1 s, and a transition of T share that second: T / (1 + T)."""
    calls = 'left duration="1"', 'right duration="1"'
    whole = motion(*calls, method="APPEND").transitions_s[0]
    assert motion(*calls, method="INSERT").transitions_s[0] == pytest.approx(whole / (1.0 + whole))


def test_also_before_insert_b_does() -> None:
    """Both clips last 1 s and give half of T each: T is what it is without any method."""
    calls = 'left duration="1"', 'right duration="1"'
    assert motion(*calls, method="INSERT_BOTH").transitions_s[0] == motion(*calls).transitions_s[0]


def test_identical_poses_have_length_0() -> None:
    clips = library(feet_Steps=(turning("left", X, (0.0, 0.5)), turning("right", X, (0.5, 0.0))))
    assert motion('left duration="1"', 'right duration="1"', method="END", clips=clips).transitions_s[0] == 0.0


def test_zero_speed_falls_back_to_the_mean_speed_then_to_a_stated_default() -> None:
    moving = turning("left", X, (-0.8, 0.0, 0.0, 0.0, 0.0)), turning("right", X, (0.5, 0.5, 0.5, 0.5, 1.3))
    still = turning("left", X, (0.0, 0.0)), turning("right", X, (0.5, 0.5))
    for clips, speed in ((moving, 0.8), (still, DEFAULT_SPEED_RAD_S)):
        m = motion('left duration="1"', 'right duration="1"', method="APPEND", clips=library(feet_Steps=clips))
        assert m.transitions_s[0] == pytest.approx(0.5 / speed)


def test_the_length_never_exceeds_what_its_method_allows_clamped_and_reported_as_information() -> None:
    m = motion('left duration="1" transition="5"', 'right duration="2"', method="END")
    assert m.transitions_s[0] == 1.0
    assert [p.is_note for p in m.problems] == [True]
    assert "is longer than At the End allows there and takes 1 s" in str(m.problems[0])


@pytest.mark.parametrize("joint_time", ["EARLY", "MIDDLE", "LATE"])
def test_each_bone_gets_its_own_length_the_longest_is_the_transitions(joint_time: str) -> None:
    """At 0.5 rad/s the left arm needs 2 s for 1 rad, the right one 1 s for 0.5 rad; shared, it is their mean."""
    clips = library(feet_Steps=(arms("left", (0.0, 0.5), (0.0, 0.5)), arms("right", (1.5, 2.0), (1.0, 1.5))))
    calls = 'left duration="1"', 'right duration="1"'
    assert motion(*calls, clips=clips).transitions_s[0] == pytest.approx(1.5)
    assert motion(*calls, clips=clips, joint_time=joint_time).transitions_s[0] == pytest.approx(2.0)


@pytest.mark.parametrize(("joint_time", "keys"), [("EARLY", (0.0, 0.0, 0.5, 1.0)), ("MIDDLE", (0.0, 0.25, 0.75, 1.0)),
                                                  ("LATE", (0.0, 0.5, 1.0, 1.0))])
def test_four_keys_per_track_early_ones_slow_down_late_ones_speed_up(joint_time: str,
                                                                    keys: tuple[float, ...]) -> None:
    """The transition's two ends and two more from its own length: the right arm's, 1 s of 2 s."""
    clips = library(feet_Steps=(arms("left", (0.0, 0.5), (0.0, 0.5)), arms("right", (1.5, 2.0), (1.0, 1.5))))
    m = motion('left duration="1"', 'right duration="1"', clips=clips, joint_time=joint_time)
    share = np.linspace(0.0, 1.0, 41)[:-1]
    found = m.sample(1.0 + 2.0 * share).rotations[:, FIGURE.index_of["r_arm"]]
    wanted = rot.from_axis_angle(X, np.interp(share, keys, (0.5, 0.5, 1.0, 1.0)))
    assert rot.angle_between(found, wanted).max() < SAME


@pytest.mark.parametrize(("pace", "way"), [("EVEN", lambda x: x), ("ACCELERATING", lambda x: x * x),
                                           ("DECELERATING", lambda x: x * (2.0 - x))])
def test_likewise_accelerating_and_decelerating_time_over_the_whole_transition(
        pace: str, way: Callable[[FloatArray], FloatArray]) -> None:
    """As from a walk into a run: slowly at first, so that the second half turns farther than the first."""
    m = motion('left duration="1" transition="1"', 'right duration="1"', pace=pace)
    a, b = (m.clips[i].sample(np.array((t,))).rotations for i, t in ((0, 1.0), (1, 0.0)))
    share = np.linspace(0.0, 1.0, 11)[:, None]
    found = m.sample(1.0 + share[:, 0]).rotations
    assert rot.angle_between(found, rot.slerp(a, b, way(share))).max() < SAME


@pytest.mark.parametrize(("method", "begin", "end", "length"), [
    ("END", 1.5, 2.0, 3.0), ("BOTH", 1.75, 2.25, 3.0), ("LEAD", 1.75, 2.25, 3.0), ("APPEND", 2.0, 2.5, 3.5),
    ("INSERT", 1.6, 2.0, 3.0), ("INSERT_BOTH", 2.0 - 1 / 3, 2.0 + 1 / 6, 3.0)])
def test_where_each_method_plays(method: str, begin: float, end: float, length: float) -> None:
    """A lasts 2 s, B 1 s, the transition 0.5 s; inserted, A and T share A's time in proportion."""
    m = motion('left duration="2" transition="0.5"', 'right duration="1"', method=method)
    layout = m.layout
    assert (layout.window_begin_s[0], layout.window_end_s[0], m.duration_s) == pytest.approx((begin, end, length))


def weights(method: str, curve: str = "COSINE") -> tuple[np.ndarray, np.ndarray]:
    """Return shares of the window, and how much of the transition is in the pose there.

    Both clips stand still, A at 0 rad and B at 1 rad: what the arm turns is the transition's weight times its way, on
    B's side from there up to B.
    """
    clips = library(feet_Steps=(arms("left", (0.0, 0.0), (0.0, 0.0)), arms("right", (1.0, 1.0), (1.0, 1.0))))
    m = motion('left duration="1" transition="0.8"', 'right duration="1"', method=method, curve=curve, clips=clips)
    share = np.linspace(0.0, 1.0, 21)
    begin, end = m.layout.window_begin_s[0], m.layout.window_end_s[0]
    return share, rot.to_axis_angle(m.sample(begin + (end - begin) * share).rotations[:, ARM])[1]


def test_at_the_end_the_transition_counts_0_to_1_and_a_1_to_0() -> None:
    share, turned = weights("END")
    rise = 0.5 - 0.5 * np.cos(np.pi * share)
    assert turned == pytest.approx(rise * share)


def test_across_the_seam_the_transition_counts_0_to_1_to_0_a_1_to_0_and_b_0_to_1() -> None:
    share, turned = weights("BOTH")
    pulse = 0.5 - 0.5 * np.cos(2.0 * np.pi * share)
    own = np.where(share < 0.5, 0.0, 1.0)
    assert turned == pytest.approx(own * (1.0 - pulse) + pulse * share)


@pytest.mark.parametrize("method", ["INSERT", "INSERT_BOTH", "APPEND"])
@pytest.mark.parametrize("curve", CURVES)
def test_on_its_own_it_has_no_weights_it_plays_alone(method: str, curve: str) -> None:
    share, turned = weights(method, curve)
    assert turned == pytest.approx(share)


def test_at_the_end_b_is_untouched() -> None:
    m = motion('left duration="1" transition="0.8"', 'right duration="1"', method="END")
    share = np.linspace(0.0, 1.0, 20)
    assert rot.angle_between(m.sample(1.0 + share).rotations, m.clips[1].sample(share, "SLERP").rotations).max() < SAME


@pytest.mark.parametrize(("method", "faster"), [("INSERT", (1.25, 1.0)), ("INSERT_BOTH", (1 / 0.9, 1 / 0.9))])
def test_inserted_the_clips_play_whole_only_faster_but_no_longer_on_the_beat(method: str,
                                                                            faster: tuple[float, float]) -> None:
    """(a) takes its time from A alone, (b) from both in proportion; the sequence lasts as long as before."""
    ticks = ('left duration="1" transition="0.25"', 'right duration="1"') if method == "INSERT" else (
        'left duration="1" transition="0.2"', 'right duration="1"')
    m = motion(*ticks, method=method)
    layout = m.layout
    assert 1.0 / (layout.end_s - layout.begin_s) == pytest.approx(faster)
    for segment in (0, 1):
        share = np.linspace(1e-9, 1.0 - 1e-9, 20)
        begin, end = layout.begin_s[segment], layout.end_s[segment]
        own = m.clips[segment].sample(share, "SLERP").rotations
        assert rot.angle_between(m.sample(begin + (end - begin) * share).rotations, own).max() < 1e-6
    off_the_beat = layout.end_s[0] if method == "INSERT" else layout.begin_s[1]
    assert abs(off_the_beat - 1.0) > 0.05
    assert m.duration_s == 2.0


def test_append_plays_in_added_time_the_sequence_gets_longer() -> None:
    m = motion('left duration="1" transition="0.25"', 'right duration="1"', method="APPEND")
    assert m.duration_s == 2.25
    assert (m.layout.end_s - m.layout.begin_s).tolist() == [1.0, 1.0]


def speeds(method: str, at_s: float, clips: tuple[Clip, Clip]) -> tuple[float, float]:
    """Return how fast the arm turns just before and just after an instant."""
    m = motion('left duration="1" transition="0.6"', 'right duration="1"', method=method, curve="LINEAR",
               clips=library(feet_Steps=clips))
    q = m.sample(at_s + 1e-6 * np.array((-2.0, -1.0, 1.0, 2.0))).rotations[:, ARM]
    return float(rot.angle_between(q[0], q[1]) / 1e-6), float(rot.angle_between(q[2], q[3]) / 1e-6)


def test_what_the_thesis_saw_at_the_end_shows_a_change_of_speed_where_b_starts() -> None:
    """Inertialize, which was made against it, shows none."""
    clips = arms("left", (0.0, 0.2), (0.0, 0.2)), arms("right", (1.0, 3.0), (1.0, 3.0))
    before, after = speeds("END", 1.0, clips)
    assert abs(after - before) > 0.2
    before, after = speeds("LEAD", 1.0, clips)
    assert after == pytest.approx(before, abs=1e-3)


@pytest.mark.parametrize(("method", "kept"), [("BOTH", 0.5 + 0.5 * np.cos(2.0 * np.pi * 0.375)), ("LEAD", 1.0)])
def test_what_the_thesis_saw_both_softens_accents_at_the_ends_of_clips(method: str, kept: float) -> None:
    """A nod of 0.4 rad shortly before the seam, A ending where B begins: inertialized, it stays whole."""
    nod = tuple(np.interp(np.linspace(0.0, 1.0, 41), (0.0, 0.9, 0.925, 0.95, 1.0), (0.0, 0.0, 0.4, 0.0, 0.0)))
    clips = arms("left", nod, nod), arms("right", (0.0, 0.0), (0.0, 0.0))
    found = motion('left duration="1" transition="0.6"', 'right duration="1"', method=method, curve="COSINE",
                   clips=library(feet_Steps=clips)).sample(np.array((0.925,))).rotations[0, ARM]
    assert float(rot.to_axis_angle(found)[1]) == pytest.approx(0.4 * kept)


@pytest.mark.parametrize(("method", "limit"), [("END", 2.0), ("BOTH", 1.0), ("LEAD", 1.0), ("APPEND", 9.0)])
def test_the_limit_of_each_method(method: str, limit: float) -> None:
    m = motion('left duration="2" transition="9"', 'right duration="1"', method=method)
    assert m.transitions_s[0] == pytest.approx(limit)


@pytest.mark.parametrize("method", ["INSERT", "INSERT_BOTH"])
def test_inserted_a_clip_keeps_at_least_a_tenth_of_its_time(method: str) -> None:
    m = motion('left duration="2" transition="99"', 'right duration="1" transition="99"', 'left duration="2"',
               method=method)
    assert ((m.layout.end_s - m.layout.begin_s) / (2.0, 1.0, 2.0)).min() >= KEPT_SHARE - SAME


def test_all_four_methods_are_there_and_the_default_never_has_a_vertical_tangent() -> None:
    assert {"END", "BOTH", "INSERT", "APPEND"} <= set(TRANSITION_METHODS)
    assert Settings().curve not in ("CIRCULAR", "CUBIC")


def test_inertialized_the_clip_before_stands_untouched_and_pose_and_speed_go_on() -> None:
    clips = arms("left", (0.0, 0.2), (0.0, 0.2)), arms("right", (1.0, 3.0), (1.0, 3.0))
    whole, cut = (motion(f'left duration="1" transition="{length}"', 'right duration="1"', method="INERTIALIZE",
                         clips=library(feet_Steps=clips)) for length in (0.6, 0.0))
    times = np.linspace(0.0, 1.0 - 1e-9, 50)
    np.testing.assert_array_equal(whole.sample(times).rotations, cut.sample(times).rotations)
    times = np.linspace(1.6, 2.0, 50)
    np.testing.assert_allclose(whole.sample(times).rotations, cut.sample(times).rotations, atol=1e-12)
    edge = whole.sample(np.array((1.0 - 1e-9, 1.0))).rotations
    assert rot.angle_between(edge[0], edge[1]).max() < 1e-6
    before, after = speeds("INERTIALIZE", 1.0, clips)
    assert after == pytest.approx(before, abs=1e-3)


@pytest.mark.parametrize("speed", [-30.0, -6.0, -1.0, 0.0])
def test_an_offset_on_its_way_back_never_overshoots(speed: float) -> None:
    """An offset of 0.8 rad, closing at up to 30 rad/s: it only falls, and meets zero in value and speed."""
    offsets, rates = np.zeros((2, 1, 2, 1, 3))
    offsets[..., 0], rates[..., 0] = 0.8, speed
    decay = Decay.of(Inertialization(np.zeros(1), np.array((0.5,)), offsets, rates))
    times = np.linspace(0.0, 0.5, 2001)
    value = decay.vectors(np.zeros(2001, dtype=np.int64), times, CURVES["LINEAR"].rise)[:, 0, 0]
    assert value[0] == pytest.approx(0.8) and (value[1] - value[0]) / times[1] == pytest.approx(speed, abs=0.2)
    assert value.min() > -1e-12 and np.diff(value).max() < 1e-12
    assert value[-1] == 0.0 and abs(value[-2]) < 1e-9
