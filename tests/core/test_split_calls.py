"""Calls that were split: known of edits and typed texts, there and back, with their repetitions."""

import numpy as np
import pytest

from takt.core.pha.lineage import NEW, matched
from takt.core.pha.split_calls import Part, Playing, inverse, parts
from takt.core.pha.text import Text
from takt.core.playing.moments import Timeline
from takt.core.playing.ties import lineage, splits, texts_of

from .test_tweaks import performed, score

WHOLE = '<call name="c0" duration="1"/><call name="c2" duration="4"/><call name="c1" duration="1"/>'
HALVES = WHOLE.replace('<call name="c2" duration="4"/>', '<call name="c2" duration="1" to="0.25" transition="0"/>'
                       '<call name="c2" duration="3" from="0.25"/>')
TWICE = WHOLE.replace('duration="4"', 'duration="4" repeat="3"')
SECOND = WHOLE.replace(
    '<call name="c2" duration="4"/>', '<call name="c2" duration="4"/><call name="c2" duration="1" to="0.25"/>'
    '<call name="c2" duration="3" from="0.25"/><call name="c2" duration="4"/>')
BACKWARDS = WHOLE.replace('duration="4"', 'duration="4" reverse="yes"')
BACK_HALVES = WHOLE.replace('<call name="c2" duration="4"/>', '<call name="c2" duration="1" reverse="yes" from="0.75"/>'
                            '<call name="c2" duration="3" reverse="yes" to="0.75"/>')
CALCULATED = [each.replace('duration="4"', 'duration="long"').replace('duration="1" to', 'duration="long * 0.25" to')
              .replace('duration="3"', 'duration="long * 0.75"') for each in (WHOLE, HALVES)]


def found(old: str, new: str) -> dict[Playing, Part]:
    before, after = Text.of(score(old)), Text.of(score(new))
    return parts(before, after, matched(before, after))


@pytest.mark.parametrize(("old", "new"), [(WHOLE, HALVES), (BACKWARDS, BACK_HALVES), CALCULATED])
def test_a_call_that_was_split_is_both_its_parts(old: str, new: str) -> None:
    assert found(old, new) == {Playing(4, 0): Part(Playing(4, 0), 0.0, 0.25),
                               Playing(5, 0): Part(Playing(4, 0), 0.25, 1.0)}
    assert found(new, old) == {}


def test_one_of_several_repetitions_is_split() -> None:
    assert found(TWICE, SECOND) == {
        Playing(4, 0): Part(Playing(4, 0), 0.0, 1.0), Playing(5, 0): Part(Playing(4, 1), 0.0, 0.25),
        Playing(6, 0): Part(Playing(4, 1), 0.25, 1.0), Playing(7, 0): Part(Playing(4, 2), 0.0, 1.0)}


@pytest.mark.parametrize("new", [
    HALVES.replace('from="0.25"', 'from="0.5"'), HALVES.replace('name="c2" duration="3"', 'name="c1" duration="3"'),
    HALVES.replace(' from="0.25"', '').replace(' to="0.25"', ''), HALVES.replace('duration="3"', 'duration="2"'),
    WHOLE.replace('duration="4"', 'duration="2" to="0.5"'), WHOLE])
def test_what_does_not_add_up_to_the_call_is_no_part_of_it(new: str) -> None:
    assert found(WHOLE, new) == {}


def test_which_elements_became_which_is_turned_round() -> None:
    assert inverse([0, NEW, 2], 4) == [0, NEW, 2, NEW]


@pytest.mark.parametrize(("old", "new"), [(WHOLE, HALVES), (TWICE, SECOND), (HALVES, WHOLE), (SECOND, TWICE),
                                          (BACKWARDS, BACK_HALVES)])
def test_moments_stay_where_they_are_in_the_music(old: str, new: str) -> None:
    """Each share goes with the part in which it lies, and comes back where the parts are joined again."""
    before, after = Timeline.of(performed(score(old))), Timeline.of(performed(score(new)))
    times_s = np.linspace(0.05, float(before.edges_s[-1]) - 0.05, 57)
    segments, shares = before.moments(times_s)
    known = lineage(texts_of(before), texts_of(after), lambda *_: None)
    blocks = [before.block(segment) for segment in range(len(before))]
    now, there, growth = after.find_moments(blocks, segments, shares, known,
                                            splits(texts_of(before), texts_of(after), known))
    assert (now >= 0).all() and len(set(now.tolist())) == len(after)
    np.testing.assert_allclose(after.times(now, there), times_s, atol=1e-9)
    lengths = [np.diff(each.edges_s)[rows] for each, rows in ((before, segments), (after, now))]
    np.testing.assert_allclose(lengths[0] / growth, lengths[1], rtol=1e-9)


def test_without_a_split_moments_keep_their_shares() -> None:
    before, after = (Timeline.of(performed(score(each))) for each in (WHOLE, WHOLE.replace('"4"', '"2"')))
    known = lineage(texts_of(before), texts_of(after), lambda *_: None)
    blocks = [before.block(segment) for segment in range(len(before))]
    now, there, growth = after.find_moments(blocks, np.array((0, 1, 1)), np.array((0.5, 0.2, 1.2)), known,
                                            splits(texts_of(before), texts_of(after), known))
    assert now.tolist() == [0, 1, 1] and there.tolist() == [0.5, 0.2, 1.2] and growth.tolist() == [1.0] * 3
