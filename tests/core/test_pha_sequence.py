"""Tempo, repeats and transitions: the sentences of the specification's sections 2 and 3."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from takt.core.errors import ScoreError
from takt.core.pha.expansion import expand
from takt.tests.core.scores import procedure, programme, sequence

EXACT = 1e-12
AUTO = float("nan")


def played(s):
    """Return the segments' own clip names."""
    return [s.clips[c].rpartition(".")[2] for c in s.clip]


def near(values):
    return pytest.approx(values, abs=EXACT, nan_ok=True)


def test_lengths_in_ticks_become_seconds_by_the_modules_tick():
    s = sequence(procedure("main", 'left duration="2"', 'right duration="0.5"'), tick=0.8)
    assert played(s) == ["left", "right"]
    assert s.start_s == near([0.0, 1.6])
    assert s.length_s == near([1.6, 0.4])
    assert s.duration_s == near(2.0)


def test_the_caller_decides_how_long_the_callee_lasts():
    s = sequence(procedure("step", 'left duration="1"', 'right duration="3"'), procedure("main", 'step duration="2"'))
    assert s.length_s == near([0.5, 1.5])


def test_nobody_checks_that_d_equals_s_the_scaling_always_happens_and_is_recursive():
    s = sequence(procedure("a", 'left duration="1"', 'right duration="1"'),
                 procedure("b", 'a duration="3"', 'nod duration="1"'),
                 procedure("main", 'b duration="8"', 'nod duration="2"'))
    assert played(s) == ["left", "right", "nod", "nod"]
    assert s.length_s == near([3, 3, 2, 2])


def test_s_is_duration_times_repeat():
    s = sequence(procedure("a", 'left duration="1" repeat="3"', 'right duration="1"'),
                 procedure("main", 'a duration="2"'))
    assert s.length_s == near([0.5] * 4)


def test_repeat_plays_n_times_each_lasting_duration():
    s = sequence(procedure("a", 'left duration="1"', 'right duration="1"'),
                 procedure("main", 'a duration="3" repeat="2"'))
    assert played(s) == ["left", "right"] * 2
    assert s.length_s == near([1.5] * 4)


def test_the_example_of_the_specification():
    s = sequence(procedure("normal_walk", 'left duration="1"', 'right duration="1"'),
                 procedure("main", 'normal_walk duration="2" repeat="5"', 'nod duration="4" transition="0.5"'),
                 tick=0.8)
    assert played(s) == ["left", "right"] * 5 + ["nod"]
    assert s.length_s == near([0.8] * 10 + [3.2])
    assert s.duration_s == near(14 * 0.8)


def test_a_transition_is_the_one_after_its_call_and_absent_means_automatic():
    s = sequence(procedure("main", 'left duration="1" transition="0.25"', 'right duration="1"', 'nod duration="1"'),
                 tick=2)
    assert s.transition_s == near([0.5, AUTO, 0.0])


def test_transitions_scale_with_durations():
    s = sequence(procedure("a", 'left duration="1" transition="0.4"', 'right duration="1"'),
                 procedure("main", 'a duration="4"', 'nod duration="1"'))
    assert s.transition_s == near([0.8, AUTO, 0.0])


def test_on_a_call_of_a_procedure_it_goes_to_the_last_segment_and_replaces_what_that_had():
    s = sequence(procedure("a", 'left duration="1"', 'right duration="1" transition="0.1"'),
                 procedure("main", 'a duration="2" transition="0.7"', 'nod duration="1"'))
    assert s.transition_s == near([AUTO, 0.7, 0.0])


def test_where_the_call_says_nothing_the_segment_keeps_its_own_scaled():
    s = sequence(procedure("a", 'left duration="1"', 'right duration="1" transition="0.1"'),
                 procedure("main", 'a duration="4"', 'nod duration="1"'))
    assert s.transition_s == near([AUTO, 0.2, 0.0])


def test_with_repeat_it_goes_to_the_last_cycle_only():
    s = sequence(procedure("main", 'left duration="1" repeat="3" transition="0.5"', 'nod duration="1"'))
    assert s.transition_s == near([AUTO, AUTO, 0.5, 0.0])


def test_between_the_cycles_the_segments_own_transitions_hold():
    s = sequence(procedure("a", 'left duration="1"', 'right duration="1" transition="0.1"'),
                 procedure("main", 'a duration="2" repeat="2" transition="0.7"', 'nod duration="1"'))
    assert s.transition_s == near([AUTO, 0.1, AUTO, 0.7, 0.0])


def test_the_outermost_call_that_says_something_wins():
    s = sequence(procedure("a", 'left duration="1" transition="0.1"'),
                 procedure("b", 'a duration="1" transition="0.2"'), procedure("c", 'b duration="1"'),
                 procedure("main", 'c duration="1" transition="0.3"', 'b duration="1"', 'c duration="2"',
                           'nod duration="1"'))
    assert s.transition_s == near([0.3, 0.2, 0.4, 0.0])


def test_a_transition_of_0_is_none_and_stays_0():
    s = sequence(procedure("main", 'left duration="1" transition="0"', 'nod duration="1"'))
    assert s.transition_s == near([0.0, 0.0])


def test_no_transition_follows_the_very_last_segment_except_in_a_loop():
    calls = procedure("main", 'left duration="1"', 'nod duration="1" transition="0.3"')
    assert sequence(calls).transition_s[-1] == 0.0
    assert sequence(calls, loop=True).transition_s[-1] == near(0.3)
    assert np.isnan(sequence(procedure("main", 'nod duration="1"'), loop=True).transition_s[-1])


def test_any_own_procedure_can_be_started_at_the_modules_tick():
    s = sequence(procedure("a", 'left duration="3"'), procedure("main", 'a duration="1"'), tick=0.5, start="a")
    assert s.length_s == near([1.5])


def test_paths_and_marks_tell_which_procedures_led_where():
    s = sequence(procedure("a", 'left duration="1"', 'right duration="1"'),
                 procedure("main", 'a duration="2" repeat="2"', 'nod duration="1"'))
    assert [s.paths[p] for p in s.path] == [("main", "a")] * 4 + [("main",)]
    assert [(int(i), s.paths[p]) for i, p in zip(s.marks.segment, s.marks.path, strict=True)] == [
        (0, ("main",)), (0, ("main", "a")), (2, ("main", "a"))]
    with pytest.raises(IndexError):
        s.paths[2]


def test_an_unknown_procedure_names_those_there_are():
    with pytest.raises(ScoreError, match=r"found no procedure .mian., expected one of: .main.; did you mean main"):
        sequence(procedure("main", 'nod duration="1"'), start="mian")
    with pytest.raises(ScoreError, match=r"found no procedure 'main' \(a score without main is a library"):
        sequence(procedure("a", 'nod duration="1"'))


durations = st.floats(0.01, 100.0)


@given(st.lists(st.tuples(durations, st.integers(1, 5), durations, st.integers(1, 4)), min_size=1, max_size=6),
       st.floats(0.01, 10.0))
def test_the_whole_lasts_what_the_calls_of_main_add_up_to(rows, tick):
    inner = [procedure(f"p{i}", f'left duration="{d!r}" repeat="{r}"', 'right duration="1"')
             for i, (d, r, _, _) in enumerate(rows)]
    main = procedure("main", *(f'p{i} duration="{d!r}" repeat="{r}"' for i, (_, _, d, r) in enumerate(rows)))
    s = sequence(*inner, main, tick=tick)
    assert s.duration_s == pytest.approx(tick * sum(d * r for *_, d, r in rows), rel=1e-12)
    assert s.start_s[1:] == pytest.approx((s.start_s + s.length_s)[:-1], rel=1e-12)


@given(st.lists(durations, min_size=2, max_size=8), st.data())
def test_nesting_is_associative_in_time(lengths, data):
    """Calls bracketed into procedures as long as they were last what they lasted without."""
    cut = data.draw(st.integers(1, len(lengths) - 1))
    calls = [f'{("left", "right")[i % 2]} duration="{d!r}"' for i, d in enumerate(lengths)]
    flat = sequence(procedure("main", *calls))
    nested = sequence(procedure("a", *calls[:cut]), procedure("b", *calls[cut:]),
                      procedure("main", f'a duration="{sum(lengths[:cut])!r}"', f'b duration="{sum(lengths[cut:])!r}"'))
    assert played(flat) == played(nested)
    assert nested.length_s == pytest.approx(flat.length_s, rel=1e-12)


def unfolding(levels: int, repeat: int) -> list[str]:
    return [procedure("main", 'p0 duration="1"'), procedure(f"p{levels}", 'nod duration="1"'),
            *(procedure(f"p{i}", f'p{i + 1} duration="1" repeat="{repeat}"') for i in range(levels))]


def test_a_million_segments_are_played():
    s = sequence(*unfolding(2, 1000))
    assert len(s) == 1_000_000
    assert s.duration_s == pytest.approx(1.0)


@pytest.mark.parametrize(("parts", "message"), [
    (unfolding(7, 10), "<procedure> 'main': found 10000000 segments when expanded, expected at most 1000000"),
    (unfolding(300, 10), "found more than 1000000000000000 segments"),
    (unfolding(1500, 1), "found 1502 procedures within procedures when expanded, expected at most 1000"),
    ([*unfolding(500, 1)[1:], procedure("main", 'p0 duration="1" repeat="900000"')],
     "found 450900001 calls of procedures when expanded, expected at most 2000000"),
])
def test_too_much_is_refused_before_it_is_built(parts, message):
    with pytest.raises(ScoreError, match=message):
        sequence(*parts)


def test_lengths_beyond_all_numbers_are_refused():
    with pytest.raises(ScoreError, match="'main': found a length of more seconds than a number can hold"):
        expand(programme(procedure("main", 'nod duration="1e303"'), tick=1e6))
    with pytest.raises(ScoreError, match="'main': found durations that add up to more than a number can hold"):
        programme(procedure("main", 'nod duration="1e308" repeat="2"'))
