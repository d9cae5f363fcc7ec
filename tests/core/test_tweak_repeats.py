"""Which segments play the same in other calls of a procedure, and where keys go whose own call has gone."""

import json
from dataclasses import replace

import numpy as np
import pytest

from takt.core.errors import FileError
from takt.core.pha.lineage import NEW, matched
from takt.core.pha.text import Text
from takt.core.playing import ties as ties_
from takt.core.playing.block_names import AnyCall, Over
from takt.core.playing.moments import Timeline
from takt.core.playing.repeats import Repeats, over_before, over_named, over_now
from takt.core.playing.ties import Call, Ties, Waiting

from .test_tweaks import performed

TEXT = ('<pha version="2" tickLength="1"><load src="moves"/>'
        '<procedure name="pair"><call name="c0" duration="1"/><call name="c1" duration="1"/></procedure>'
        '<procedure name="main"><call name="pair" duration="2"/><call name="c0" duration="1"/>'
        '<call name="pair" duration="4" repeat="2"/></procedure></pha>')
"""Segments: pair 0 and 1, a call of its clip 2, pair twice 3 to 6."""
PAIR = Over("", 2)


def timeline(text: str = TEXT) -> Timeline:
    return Timeline.of(performed(text))


def test_what_a_call_plays_the_others_play_too() -> None:
    found = Repeats(timeline(), PAIR)
    assert [found.others(segment) for segment in range(7)] == [(3, 5), (4, 6), (), (0, 5), (1, 6), (0, 3), (1, 4)]
    assert [found.first(segment) for segment in range(7)] == [0, 1, 2, 0, 1, 0, 1]
    assert [found.is_alone(segment) for segment in range(7)] == [False, False, True, False, False, False, False]
    assert found.call_of(2) == () and len(found.call_of(3)) == 1


def test_a_call_that_is_told_apart_has_no_part_in_the_others() -> None:
    plain = Repeats(timeline(), PAIR)
    call = plain.call_of(3)
    assert plain.segments_of(call).tolist() == [3, 4]
    found = Repeats(plain.timeline, PAIR, (call,))
    assert [found.others(segment) for segment in (0, 3, 5)] == [(5,), (), (0,)] and found.is_alone(4)


def test_a_procedure_is_found_by_its_name_and_by_what_it_was() -> None:
    document = timeline().sequence.origins.places.documents[0]
    assert over_named(document, "pair") == PAIR and over_named(document, "none") is None
    renamed = TEXT.replace('"pair"', '"turn"')
    other = '<procedure name="x"><wait duration="1"/></procedure>'
    later = TEXT.replace('<procedure name="pair">', f'{other}<procedure name="pair">')
    for new, name, element in ((renamed, "turn", 2), (later, "pair", 4)):
        lineage = {"": matched(Text.of(TEXT), Text.of(new))}
        document = timeline(new).sequence.origins.places.documents[0]
        assert over_now(PAIR, document, lineage) == (name, Over("", element))
        assert over_before(Over("", element), lineage) == PAIR
    assert over_before(Over("", 2), lineage).element == NEW


def test_moments_of_a_call_that_has_gone_go_to_the_first_that_is_left() -> None:
    old, new = timeline(), timeline(TEXT.replace('<call name="pair" duration="2"/>', ""))
    lineage = {"": matched(Text.of(TEXT), Text.of(TEXT.replace('<call name="pair" duration="2"/>', "")))}
    blocks, numbers, shares = tuple(map(old.block, (0, 2, 5))), np.arange(3), np.array((0.25, 0.5, 0.75))
    assert new.find_moments(blocks, numbers, shares, lineage)[0].tolist() == [-1, 0, 3]
    segments, found, _ = new.find_moments(blocks, numbers, shares, lineage, any_call=AnyCall(PAIR))
    assert segments.tolist() == [1, 0, 3] and found.tolist() == shares.tolist()
    segments, _, _ = new.find_moments(blocks, numbers, shares, lineage, any_call=AnyCall(PAIR, (1,)))
    assert segments.tolist() == [3, 0, 3]


def test_calls_are_found_after_edits() -> None:
    old = timeline()
    calls = [Repeats(old, PAIR).call_of(segment) for segment in (0, 3, 5)]
    without = TEXT.replace('<call name="pair" duration="2"/>', "")
    new, lineage = timeline(without), {"": matched(Text.of(TEXT), Text.of(without))}
    repeats = Repeats(new, PAIR)
    assert new.find_calls(calls, PAIR, lineage) == [None, repeats.call_of(1), repeats.call_of(3)]


def test_ties_keep_the_procedure_and_the_calls_told_apart() -> None:
    line = timeline()
    call = Call(ties_.texts_of(line), Repeats(line, PAIR).call_of(3))
    ties = ties_.tied(line, np.array((12.0, 100.0)), 1.0, 24.0)
    for over in (PAIR, Over("", NEW)):  # the second if the score no longer has the procedure
        ties = replace(ties, over=("pair", over), alone=(call,))
        found = ties_.from_data(json.loads(json.dumps(ties_.to_data(ties))))
        assert found.over == ("pair", over) and found.alone == (call,) and found.blocks == ties.blocks
    plain = ties_.from_data(json.loads(json.dumps(ties_.to_data(replace(ties, over=None, alone=())))))
    assert plain.over is None and plain.alone == ()


@pytest.mark.parametrize("most", [0, 1 << 14])
def test_ties_are_said_as_json_says_them(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers and blocks that were said before are said the same way again."""
    monkeypatch.setattr(ties_, "_MOST_SAID", most)
    line, random = timeline(), np.random.default_rng(1)
    call = Call(ties_.texts_of(line), Repeats(line, PAIR).call_of(3))
    waiting = Waiting({"": 'a "text"', 'b"': "another"}, line.block(2), 0.25, 1e-7, {"curves": [['location"', 1]]})
    for start in (1.0, 1.0, -3.25, 0.0):
        frames = np.append(np.sort(random.uniform(-20.0, 150.0, 50)), (0.0, 1e-9, 12.0, 1e7))
        ties = ties_.tied(line, frames, start, 24.0, (waiting,))
        for each in (ties, replace(ties, frame=-0.0 * frames, over=("pair", PAIR), alone=(call,)), Ties.none()):
            said = ties_.to_json(each)
            assert said == json.dumps(ties_.to_data(each), separators=(",", ":")) and "-0.0," not in said
            found = ties_.from_data(json.loads(said))
            assert np.array_equal(found.share, each.share) and found.blocks == each.blocks
            assert np.array_equal(found.frame, np.round(each.frame, 5)) and len(found.waiting) == len(each.waiting)


@pytest.mark.parametrize("wrong", [
    ["over", ["pair"]], ["over", 7], ["alone", [{}]], ["alone", [{"texts": 1, "chain": []}]]])
def test_damaged_ties_of_a_procedure_are_refused(wrong: list[object]) -> None:
    line = timeline()
    data = ties_.to_data(replace(ties_.tied(line, np.array((12.0,)), 1.0, 24.0), over=("pair", PAIR)))
    data[str(wrong[0])] = wrong[1]
    with pytest.raises(FileError, match="the ties of the tweaks are damaged"):
        ties_.from_data(json.loads(json.dumps(data)))
