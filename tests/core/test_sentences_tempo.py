"""The score language sentence by sentence, sections 2 and 3: from calls to a sequence, and tempo."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.maths import rotations as rot
from takt.core.pha.expansion import expand
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.tests.core.scores import X, procedure, turning
from takt.tests.core.sentences import AUTO, SAME, main, motion, programme

TICKS = st.floats(0.01, 100.0)


def test_expanding_main_gives_a_flat_sequence_clip_start_length_and_the_transition_that_follows() -> None:
    p = programme(procedure("walk", 'left duration="2" transition="0.5"', 'right duration="1"'),
                  procedure("main", 'walk duration="3"', 'nod duration="1"'))
    s = expand(p)
    assert [s.clips[clip] for clip in s.clip] == ["feet.Steps.left", "feet.Steps.right", "feet.Steps.nod"]
    assert s.start_s.tolist() == [0, 2, 3]
    assert s.length_s.tolist() == [2, 1, 1]
    assert s.transition_s == pytest.approx([0.5, AUTO, 0.0], nan_ok=True)


@pytest.mark.parametrize("method", TRANSITION_METHODS)
def test_the_caller_decides_how_long_the_callee_lasts_only_append_lengthens_the_sequence(method: str) -> None:
    m = motion('left duration="2" transition="0.5"', 'right duration="1"', 'nod duration="3"', method=method)
    lengthened = m.transitions_s.sum() if method == "APPEND" else 0.0
    assert m.duration_s == pytest.approx(6.0 + lengthened)
    assert (method == "APPEND") == (m.duration_s > 6.0 + SAME)


def test_every_tick_value_inside_is_multiplied_by_d_over_s_durations_and_transitions_recursively() -> None:
    """c: S = 2, called with 1; b: S = 1 + 3, called with 8; so c's part is 8/4 · 1/2 = 1 times as long."""
    p = programme(procedure("c", 'left duration="1" transition="0.5"', 'right duration="1"'),
                  procedure("b", 'c duration="1"', 'nod duration="3"'), procedure("main", 'b duration="8"'))
    s = expand(p)
    assert s.length_s == pytest.approx([1.0, 1.0, 6.0])
    assert s.transition_s[0] == pytest.approx(0.5)


@given(st.lists(TICKS, min_size=1, max_size=5), TICKS)
def test_nobody_checks_that_d_equals_s_the_scaling_always_happens(inside: list[float], d: float) -> None:
    p = programme(procedure("a", *(f'left duration="{ticks!r}" transition="0.125"' for ticks in inside)),
                  procedure("main", f'a duration="{d!r}"'), tick=0.5)
    s = expand(p)
    scale = 0.5 * d / sum(inside)
    assert s.length_s == pytest.approx(np.array(inside) * scale)
    assert s.transition_s[:-1] == pytest.approx(0.125 * scale)


def test_repeats_count_for_s_and_each_lasts_duration() -> None:
    p = programme(procedure("a", 'left duration="1" repeat="3"', 'nod duration="1"'),
                  procedure("main", 'a duration="2" repeat="2"'))
    assert expand(p).length_s == pytest.approx([0.5] * 8)


def test_transition_on_a_call_is_the_transition_after_it() -> None:
    assert main('left duration="1" transition="0.3"', 'right duration="1"').transition_s.tolist() == [0.3, 0.0]


def test_on_a_procedure_it_goes_to_the_last_segment_of_the_expanded_sequence_and_replaces_what_that_had() -> None:
    """Through two levels: the outermost word counts."""
    p = programme(procedure("c", 'left duration="1"', 'right duration="1" transition="0.1"'),
                  procedure("b", 'nod duration="2"', 'c duration="2" transition="0.2"'),
                  procedure("main", 'b duration="4" transition="0.7"', 'nod duration="1"'))
    assert expand(p).transition_s == pytest.approx([AUTO, AUTO, 0.7, 0.0], nan_ok=True)


def test_with_repeat_to_the_last_segment_of_the_last_cycle_only_between_the_cycles_their_own_hold() -> None:
    p = programme(procedure("a", 'left duration="1"', 'right duration="1" transition="0.1"'),
                  procedure("main", 'a duration="2" repeat="3" transition="0.7"', 'nod duration="1"'))
    assert expand(p).transition_s == pytest.approx([AUTO, 0.1, AUTO, 0.1, AUTO, 0.7, 0.0], nan_ok=True)


def test_where_the_call_says_nothing_the_segment_keeps_its_own_scaled() -> None:
    p = programme(procedure("a", 'left duration="1" transition="0.1"'),
                  procedure("main", 'a duration="4"', 'nod duration="1"'))
    assert expand(p).transition_s == pytest.approx([0.4, 0.0])


def test_a_transition_of_0_replaces_too() -> None:
    p = programme(procedure("a", 'left duration="1" transition="0.1"'),
                  procedure("main", 'a duration="4" transition="0"', 'nod duration="1"'))
    assert expand(p).transition_s.tolist() == [0.0, 0.0]


def test_between_the_cycles_transitions_are_automatic_where_none_is_given() -> None:
    assert np.isnan(main('left duration="1" repeat="3"').transition_s).tolist() == [True, True, False]


def test_a_clip_is_stretched_or_compressed_linearly_to_its_segments_length() -> None:
    own = turning("left", X, (0.0, 0.4, 0.1)).sample(np.array((0.0, 0.25, 0.6, 1.0)), "SLERP")
    for ticks in (4.0, 0.5):
        found = motion(f'left duration="{ticks}"').sample(ticks * np.array((0.0, 0.25, 0.6, 1.0)))
        assert rot.angle_between(found.rotations, own.rotations).max() < SAME


def test_no_transition_follows_the_very_last_segment_of_main() -> None:
    assert motion('left duration="1"', 'right duration="1" transition="0.2"', method="END").transitions_s[-1] == 0.0


def test_except_when_it_is_played_as_a_loop_then_it_leads_back_to_the_first_segment() -> None:
    m = motion('left duration="1"', 'right duration="1" transition="0.2"', method="END", loop=True)
    assert m.transitions_s[-1] == pytest.approx(0.2)
    last, first = m.sample(np.array((2.0 - 1e-12, 0.0))).rotations
    assert rot.angle_between(last, first).max() < 1e-6
    assert rot.angle_between(m.clips[1].sample(np.array((1.0,))).rotations[0], first).max() > 0.5  # its own end
