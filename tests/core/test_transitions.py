"""Methods and automatic lengths: the specification's section 4."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import TaktError
from takt.core.maths import rotations as rot
from takt.core.maths.reduction import rotation_keys
from takt.core.playing import held
from takt.core.playing.held import Held
from takt.core.playing.transitions.automatic import Automatic
from takt.core.playing.transitions.lengths import DEFAULT_SPEED_RAD_S, Neighbours
from takt.core.playing.transitions.methods import TRANSITION_METHODS, method_named
from takt.core.playing.transitions.seams import EndPoses, end_times_s
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.tests.core.scores import FIGURE, X, Y, turning, walking

EXACT = 1e-12
lengths = st.lists(st.floats(0.1, 10.0), min_size=1, max_size=12)


def laid_out(identifier, segment_lengths, wished, is_loop=False):
    method = TRANSITION_METHODS[identifier]
    length = np.array(segment_lengths)
    transition = np.minimum(np.resize(wished, len(length)), method.limit(length, np.roll(length, -1)))
    if not is_loop:
        transition[-1] = 0.0
    return length, transition, method.lay_out(length, transition)


@pytest.mark.slow
@pytest.mark.parametrize("identifier", [i for i in TRANSITION_METHODS if i != "APPEND"])
@given(lengths, st.floats(0.0, 20.0), st.booleans())
def test_the_whole_lasts_what_its_segments_last(identifier, segment_lengths, wished, is_loop):
    length, _, layout = laid_out(identifier, segment_lengths, wished, is_loop)
    assert layout.duration_s == pytest.approx(length.sum(), rel=EXACT)


@given(lengths, st.floats(0.0, 20.0), st.booleans())
def test_append_takes_time_of_its_own(segment_lengths, wished, is_loop):
    length, transition, layout = laid_out("APPEND", segment_lengths, wished, is_loop)
    assert layout.duration_s == pytest.approx(length.sum() + transition.sum(), rel=EXACT)
    assert layout.end_s - layout.begin_s == pytest.approx(length, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("identifier", TRANSITION_METHODS)
@given(lengths, st.lists(st.floats(0.0, 20.0), min_size=1, max_size=12), st.booleans())
def test_windows_never_overlap_and_time_never_runs_backwards(identifier, segment_lengths, wished, is_loop):
    _, _, layout = laid_out(identifier, segment_lengths, wished, is_loop)
    assert (layout.end_s - layout.begin_s >= -1e-9).all()
    assert (layout.window_end_s - layout.window_begin_s >= -EXACT).all()
    assert (layout.window_begin_s[1:] - layout.window_end_s[:-1] >= -1e-9).all()
    if is_loop:
        assert layout.window_begin_s[0] + layout.duration_s - layout.window_end_s[-1] >= -1e-9


@pytest.mark.parametrize("identifier", ["INSERT", "INSERT_BOTH"])
@given(lengths, st.booleans())
def test_an_inserted_transition_leaves_a_clip_a_tenth_of_its_time(identifier, segment_lengths, is_loop):
    length, _, layout = laid_out(identifier, segment_lengths, 1e9, is_loop)
    assert (layout.end_s - layout.begin_s >= 0.1 * length * (1.0 - 1e-9) - EXACT).all()


def test_end_plays_in_the_last_t_of_a_and_ends_with_it():
    _, _, layout = laid_out("END", [2.0, 1.0], [0.5])
    assert (layout.window_begin_s[0], layout.window_end_s[0]) == (1.5, 2.0)
    assert laid_out("END", [2.0, 1.0], [9.0])[1][0] == 2.0


def test_both_plays_around_the_seam_and_is_at_most_the_shorter_of_the_two():
    _, _, layout = laid_out("BOTH", [2.0, 1.0], [0.5])
    assert (layout.window_begin_s[0], layout.window_end_s[0]) == (1.75, 2.25)
    assert laid_out("BOTH", [2.0, 1.0], [9.0])[1][0] == 1.0


def test_insert_shares_the_time_of_a_as_t_to_a_plus_t():
    _, _, layout = laid_out("INSERT", [2.0, 1.0], [2.0])
    assert (layout.end_s[0], layout.begin_s[1]) == (1.0, 2.0)
    assert (layout.window_begin_s[0], layout.window_end_s[0]) == (1.0, 2.0)


def test_insert_both_takes_its_time_in_proportion_to_the_lengths():
    _, _, layout = laid_out("INSERT_BOTH", [2.0, 1.0], [0.6])
    assert (layout.end_s[0], layout.begin_s[1]) == (pytest.approx(1.6), pytest.approx(2.2))
    assert layout.end_s[1] == 3.0


def test_append_moves_what_follows():
    _, _, layout = laid_out("APPEND", [2.0, 1.0], [0.5])
    assert (layout.end_s[0], layout.window_end_s[0], layout.begin_s[1], layout.duration_s) == (2.0, 2.5, 2.5, 3.5)


def test_an_unknown_method_is_refused():
    with pytest.raises(TaktError, match="no transition method 'FADE'; there are LEAD, INERTIALIZE, END, BOTH, "):
        method_named("FADE")


def automatic(a: Clip, b: Clip, stretch_a: float = 1.0, stretch_b: float = 1.0, speed: str = "PATHS",
              body: Skeleton = FIGURE) -> float:
    """Return the automatic length of the one transition between two clips, at which they are laid over each other."""
    clips, moved = (a, b), np.stack((a.moved, b.moved))
    ends = EndPoses.of(body, np.array([clip.duration_s for clip in clips]), moved,
                   [clip.sample(end_times_s(clip.duration_s), "SLERP") for clip in clips])
    seams = Neighbours(np.array((0,)), np.array((1,)), np.array((stretch_a,)), np.array((stretch_b,)))
    positions = np.stack([world_from_pose(body, pose)[:-1, ..., 3] for pose in (ends.first, ends.last)])
    return float(Automatic.of(clips, ends, lambda: positions, speed, is_shared=True).lengths_s(seams)[0])


def test_automatic_is_mean_angle_over_mean_speed():
    """A: 0.4 rad in each second; B: 0.2 rad in each; they meet 0.9 rad apart: 0.9 ÷ (1.8 ÷ 6)."""
    a = turning("a", X, (0.0, 0.4, 0.8, 1.2), duration_s=3.0)
    b = turning("b", X, (0.3, 0.5, 0.7, 0.9), duration_s=3.0)
    assert automatic(a, b) == pytest.approx(0.9 / (1.8 / 6.0))


def test_automatic_looks_at_three_intervals_on_each_side_only():
    a = turning("a", X, (3.0, 0.0, 0.4, 0.8, 1.2), duration_s=4.0)
    b = turning("b", X, (0.3, 0.5, 0.7, 0.9, -2.0, 3.0), duration_s=5.0)
    assert automatic(a, b) == pytest.approx(0.9 / (1.8 / 6.0))


def test_automatic_uses_the_played_tempo():
    a = turning("a", X, (0.0, 0.4, 0.8, 1.2), duration_s=3.0)
    b = turning("b", X, (0.3, 0.5, 0.7, 0.9), duration_s=3.0)
    assert automatic(a, b, 2.0, 0.5) == pytest.approx(0.9 / (1.8 / (3.0 * 2.0 + 3.0 * 0.5)))


def test_automatic_averages_over_shared_joints_only():
    """The spine turns far and fast, but only in A; the right arm, which both turn, has nowhere to go."""
    a = turning("a", X, (0.0, 0.4, 0.8, 1.2), ("spine", "l_arm", "r_arm"), duration_s=3.0)
    b = turning("b", X, (0.3, 0.5, 0.7, 0.9), ("l_arm", "r_arm"), duration_s=3.0)
    assert automatic(a, b) == pytest.approx(0.9 / (1.8 / 6.0))


def test_identical_poses_need_no_transition():
    a = turning("a", X, (0.0, 0.4, 0.8))
    assert automatic(a, turning("b", X, (0.8, 0.1))) == 0.0
    assert automatic(a, turning("b", X, (0.8 + 4 * np.pi, 0.1))) == 0.0


def test_the_mean_of_the_two_speeds_is_an_option():
    """A slow long clip and a fast short one: 0.1 and 1 rad/s; over both paths (0.3 + 0.3) ÷ (3 + 0.3)."""
    a = turning("a", X, (0.0, 0.1, 0.2, 0.3), duration_s=3.0)
    b = turning("b", X, (1.3, 1.4, 1.5, 1.6), duration_s=0.3)
    assert automatic(a, b) == pytest.approx(1.0 / (0.6 / 3.3))
    assert automatic(a, b, speed="SPEEDS") == pytest.approx(1.0 / 0.55)
    with pytest.raises(TaktError, match="no rule for speeds 'MEDIAN'; there are NEAR, PATHS, SPEEDS"):
        automatic(a, b, speed="MEDIAN")


def swinging(seed: int, fps: int, phase: float) -> Clip:
    """Make a clip of a second of the figure that swings all its joints evenly, keyed so many times."""
    rng, times = np.random.default_rng(seed), np.arange(fps + 1) / fps
    axes, rate = rng.normal(size=(len(FIGURE), 3)), rng.uniform(0.4, 1.1, len(FIGURE))
    angles = np.sin(times[:, None] * rate * 2.0 * np.pi + rng.uniform(0.0, 6.0, len(FIGURE)) + phase)
    turns = rot.from_axis_angle(axes / np.linalg.norm(axes, axis=1, keepdims=True), angles)
    return Clip("swing", FIGURE, 1.0, Tracks.uniform(np.arange(len(FIGURE)), times, turns), Tracks.empty(3),
                Tracks.empty(3))


def keyed_anew(clip: Clip, fps: int) -> Clip:
    """Key the very same motion so many times a second."""
    times = np.arange(fps + 1) / fps
    tracks = Tracks.uniform(np.arange(len(FIGURE)), times, clip.sample(times, "SLERP").rotations)
    return Clip("again", FIGURE, 1.0, tracks, Tracks.empty(3), Tracks.empty(3))


@pytest.mark.parametrize("seed", range(6))
def test_the_automatic_length_does_not_depend_on_how_densely_keys_lie(seed: int) -> None:
    """The rule of PHA 1 does: at 240 frames a second it sees a hundredth of a second on each side."""
    a, b = swinging(seed, 12, 0.0), swinging(seed, 12, 2.0)
    whole = automatic(a, b, speed="NEAR")
    assert whole > 0.0
    for fps in (24, 60, 120, 240):
        assert automatic(keyed_anew(a, fps), keyed_anew(b, fps), speed="NEAR") == pytest.approx(whole, rel=1e-6)
        assert automatic(swinging(seed, fps, 0.0), swinging(seed, fps, 2.0), speed="NEAR") == pytest.approx(whole,
                                                                                                         rel=0.06)


def test_nor_on_keys_that_are_left_out_where_a_line_between_others_suffices() -> None:
    dense = swinging(3, 240, 0.0)
    values = dense.rotations.values.reshape(len(FIGURE), -1, 4)
    keys = rotation_keys(dense.rotations.times_s[:241], values.swapaxes(0, 1), 1e-3, np.zeros(241, dtype=np.bool_))
    counts = keys.sum(axis=0)
    few = Clip("few", FIGURE, 1.0, Tracks(dense.rotations.joints, np.append(0, np.cumsum(counts)),
                                          dense.rotations.times_s.reshape(len(FIGURE), -1)[keys.T], values[keys.T]),
               Tracks.empty(3), Tracks.empty(3))
    assert counts.max() < 100
    b = swinging(3, 240, 2.0)
    assert automatic(few, b, speed="NEAR") == pytest.approx(automatic(dense, b, speed="NEAR"), rel=0.02)


def test_nor_on_what_trembles_from_key_to_key() -> None:
    dense, rng = swinging(4, 240, 0.0), np.random.default_rng(1)
    noise = rot.exp(rng.normal(scale=4e-3, size=(len(dense.rotations.values), 3)))
    values = rot.multiply(dense.rotations.values, noise)
    noisy = Clip("noisy", FIGURE, 1.0, Tracks(dense.rotations.joints, dense.rotations.starts, dense.rotations.times_s,
                                              values), Tracks.empty(3), Tracks.empty(3))
    b = swinging(4, 240, 2.0)
    assert automatic(noisy, b, speed="NEAR") == pytest.approx(automatic(dense, b, speed="NEAR"), rel=0.05)
    assert automatic(noisy, b) < 0.8 * automatic(dense, b)  # by keys it has all of the trembling in it


def test_ends_that_are_slower_than_their_clips_do_not_make_the_transition_slow() -> None:
    """Both go at 1 rad/s, and for the last and the first second at a tenth of it."""
    a = turning("a", X, (-1.0, 0.0, 0.1), duration_s=2.0)
    b = turning("b", X, (0.6, 0.7, 1.7), duration_s=2.0)
    assert automatic(a, b, speed="NEAR") == pytest.approx(0.5 / 0.55)  # 2.2 rad in 4 s


def test_no_joint_goes_faster_in_a_transition_than_clips_let_it() -> None:
    """The end of a pole of 3 m goes far while another joint twirls so fast that a joint's mean turn takes no time."""
    pole = Skeleton.from_arrays(("hip", "end", "twirl"), (-1, 0, 0), np.tile(rot.IDENTITY, (3, 1)),
                                np.array(((0.0, 0.0, 0.0), (0.0, 0.0, 3.0), (0.0, 0.0, 0.0))))
    times = np.linspace(0.0, 1.0, 101)

    def clip(hip: float, per_s: float) -> Clip:
        turns = rot.from_axis_angle(X, np.stack((hip + per_s * times, 20.0 * times), axis=1))
        return Clip("clip", pole, 1.0, Tracks.uniform(np.array((0, 2)), times, turns), Tracks.empty(3),
                    Tracks.empty(3))

    chord = 6.0 * np.sin(1.0 / 2.0)
    still = automatic(clip(0.0, 0.0), clip(1.0, 0.0), speed="NEAR", body=pole)
    assert still == pytest.approx(chord / (0.6 * 3.0))  # 0.6 times the size of the skeleton a second
    tenth = 6.0 * np.sin(0.1 / 2.0) / 0.1
    assert automatic(clip(0.0, 2.0), clip(3.0, 0.0), speed="NEAR", body=pole) == pytest.approx(chord / (2.0 * tenth),
                                                                                               rel=0.01)
    assert automatic(clip(0.0, 0.0), clip(1.0, 0.0), body=pole) < 0.15  # by keys alone


def test_opposite_signs_are_the_same_pose():
    a, b = turning("a", X, (0.0, 0.8)), turning("b", X, (0.8, 0.0))
    flipped = Clip("c", FIGURE, 1.0, Tracks(b.rotations.joints, b.rotations.starts, b.rotations.times_s,
                                            -b.rotations.values), Tracks.empty(3), Tracks.empty(3))
    assert automatic(a, flipped) == 0.0


def test_ends_that_stand_still_fall_back_on_the_whole_clips_speed():
    a = turning("a", X, (-1.0, 0.0, 0.0, 0.0, 0.0), duration_s=4.0)
    b = turning("b", X, (0.5, 0.5, 0.5, 0.5, 0.0), duration_s=4.0)
    assert automatic(a, b) == pytest.approx(0.5 / (1.5 / 8.0))


def test_clips_that_stand_still_fall_back_on_the_stated_speed():
    still = Clip("still", FIGURE, 0.0, turning("x", X, (0.0,)).rotations, Tracks.empty(3), Tracks.empty(3))
    assert automatic(still, turning("b", X, (0.5, 0.5))) == pytest.approx(0.5 / DEFAULT_SPEED_RAD_S)


def test_no_shared_joint_has_no_automatic_length():
    assert automatic(turning("a", X, (0.0, 1.0), ("spine",)), turning("b", Y, (0.0, 1.0), ("l_arm",))) == 0.0


@given(st.lists(st.integers(0, 3), min_size=1, max_size=700), st.booleans())
def test_held_is_the_last_mover_of_each_joint(clips, is_loop):
    moved = np.array(((1, 1, 0, 0, 0), (0, 1, 1, 1, 0), (0, 0, 0, 0, 0), (0, 0, 1, 1, 0)), dtype=bool)
    clip = np.array(clips)
    expected = np.empty((len(clip), 5), dtype=np.int64)
    state = np.full(5, -1)
    for _ in range(2 if is_loop else 1):
        for i, c in enumerate(clip):
            state = np.where(moved[c], c, state)
            expected[i] = state
    order = np.random.default_rng(1).permutation(len(clip))
    for kept in (0, held._MOST_KEPT):  # found each time, and looked up
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(held, "_MOST_KEPT", kept)
            assert (Held(clip, moved, is_loop).after(order) == expected[order]).all()


def test_walking_figures_move_as_they_say():
    """The figure of these tests is itself right: its hip goes where it is told."""
    pose = walking("w", (1.0, 0.5)).sample(np.array((0.0, 1.0)))
    assert pose.translations[1, 0] - pose.translations[0, 0] == pytest.approx((1.0, 0.5, 0.0))
