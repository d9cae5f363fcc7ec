"""Version 2 of the score language, sentence by sentence: the text is the truth (section 7), limits and errors (9)."""

import re
from pathlib import Path

import pytest

from takt.core.errors import EditError, FileError, ScoreError
from takt.core.pha import expansion
from takt.core.pha.document import MAX_SEGMENTS, parse, read
from takt.core.pha.edits import Insert, Move, Patch, Remove, RemoveAttribute, SetAttribute, Unwrap, Wrap, apply
from takt.core.pha.text import Text

from .test_pha_evaluation import HEAD, main, played
from .test_pha_random_programmes import unfolded

ODD = ('\ufeff<?xml version="1.0"?>\r\n<!-- a dance -->\r\n\r\n<pha  version=\'2\' tickLength = "0.50">\r\n'
       '\t<load src="a.B" />\r\n\t<!-- of the first figure -->\r\n\t<procedure name="main">  <!-- all of it -->\r\n'
       '\t\t<call  duration="+1.0" name="walk"/>  <!-- slowly -->\r\n'
       '\t\t<if test="1 &lt; 2 &#x61;nd yes"><call name="kick" duration="007"/></if>\r\n\t</procedure>\r\n'
       '</pha>\r\n \n')
"""A score with comments, blank lines, both quotes, odd numbers, entities, two kinds of line ends and a mark."""
WALK, IF, KICK = 3, 4, 5


def changed(*edits: object) -> str:
    return apply(Text.of(ODD.encode()), *edits).text.data.decode()  # type: ignore[arg-type]


# 7. The text is the truth

def test_reading_keeps_everything() -> None:
    text = Text.of(ODD.encode())
    assert text.data == ODD.encode()
    assert parse(ODD.encode()).problems == ()
    assert text.shape.tags == ["pha", "load", "procedure", "call", "if", "call"]


def test_values_know_the_byte_spans_of_every_element_tag_and_attribute_value() -> None:
    text, data = Text.of(ODD.encode()), ODD.encode()
    document = read(text)
    call = document.procedures[0].block[0]
    assert data[slice(*text.span(WALK))] == b'<call  duration="+1.0" name="walk"/>'
    begin, end = text.tag_spans(2)
    assert (data[slice(*begin)], data[slice(*end)]) == (b'<procedure name="main">', b"</procedure>")
    assert [data[slice(*(document.span(call, name) or ()))] for name in ("name", "duration")] == [b"walk", b"+1.0"]
    assert document.span(call, "transition") is None


def test_no_edit_leaves_the_same_bytes() -> None:
    assert changed() == ODD


@pytest.mark.parametrize(("edit", "old", "new"), [
    (SetAttribute(WALK, "duration", "3"), '"+1.0"', '"3"'),
    (SetAttribute(WALK, "repeat", "2"), 'name="walk"/>', 'name="walk" repeat="2"/>'),
    (SetAttribute(2, "name", "other"), '"main"', '"other"'),
    (RemoveAttribute(WALK, "duration"), ' duration="+1.0"', ""),
    (Remove(KICK), '<call name="kick" duration="007"/>', ""),
    (Unwrap(IF), '<if test="1 &lt; 2 &#x61;nd yes"><call name="kick" duration="007"/></if>',
     '<call name="kick" duration="007"/>'),
])
def test_only_the_bytes_of_what_is_edited_change(edit: object, old: str, new: str) -> None:
    found = changed(edit)
    at = ODD.index(old)
    tail = ODD[at + len(old):]
    assert found.startswith(ODD[:at].rstrip(" ")) and found.endswith(tail)
    assert re.sub(r"\s+", "", found) == re.sub(r"\s+", "", ODD[:at] + new + tail)


@pytest.mark.parametrize("edit", [Insert(2, 1, '<wait duration="1"/>'), Move(IF, 2, 0),
                                  Wrap(2, 0, 2, "loop", (("times", "2"),))])
def test_indentation_and_line_ends_follow_the_neighbours(edit: object) -> None:
    new = changed(edit)
    lines = new.removeprefix("\ufeff").removesuffix(" \n").split("\r\n")
    assert not any("\n" in line or "\r" in line for line in lines)
    inside = [line for line in lines if line.lstrip("\t").startswith(("<call", "<if", "<wait", "<loop", "</loop"))]
    assert all(re.match(r"\t{2,3}<", line) for line in inside) and len(inside) >= 2


def test_a_comment_directly_above_an_element_or_behind_it_on_its_line_goes_with_it() -> None:
    text = ('<pha version="2" tickLength="1">\n  <procedure name="main">\n    <!-- above -->\n'
            '    <call name="a" duration="1"/>  <!-- behind -->\n    <call name="b" duration="1"/>\n'
            '  </procedure>\n</pha>\n')
    moved = apply(Text.of(text), Move(2, 1, 2)).text.data.decode().split("\n")
    assert [line.strip() for line in moved[2:6]] == [
        '<call name="b" duration="1"/>', "<!-- above -->", '<call name="a" duration="1"/>  <!-- behind -->',
        "</procedure>"]
    removed = apply(Text.of(text), Remove(2)).text.data.decode()
    assert "above" not in removed and "behind" not in removed


@pytest.mark.parametrize(("edit", "reason"), [
    (SetAttribute(IF, "test", "no"), "1 < 2 and yes"), (Remove(0), "whole score"), (Remove(99), "99"),
    (Insert(2, 0, "<call"), "not ended"), (Move(2, 2, 0), "itself")])
def test_an_edit_whose_result_is_not_what_was_wanted_is_refused_with_a_reason(edit: object, reason: str) -> None:
    with pytest.raises(EditError) as caught:
        changed(edit)
    assert reason in str(caught.value)


def test_edits_are_values_and_each_knows_its_inverse() -> None:
    edit = SetAttribute(WALK, "duration", "3")
    assert edit == SetAttribute(WALK, "duration", "3") != SetAttribute(WALK, "duration", "4")
    assert repr(edit).startswith("SetAttribute(element=3, name='duration', value='3'")
    for each in (edit, Remove(WALK), Move(IF, 2, 0), Wrap(2, 0, 2, "loop", (("times", "2"),)), Unwrap(IF)):
        edited = apply(Text.of(ODD.encode()), each)
        back = edited.inverse
        assert all(isinstance(patch, Patch) for patch in back)
        assert apply(edited.text, *back).text.data == ODD.encode() != edited.text.data


def test_what_plays_knows_the_chain_of_elements_and_which_round_or_repetition_it_was() -> None:
    figure = '<procedure name="a"><call name="walk" duration="1"/></procedure>'
    found = played(figure + main('<loop times="3" index="i"><call name="a" duration="1 + i" repeat="2"/></loop>'))
    places = found.origins.places
    assert [[step.repetition for step in found.origins.of_segment(at)] for at in range(6)] == [[0, 0], [1, 0]] * 3
    rounds = [places.within[int(found.origins.procedures.call[int(found.origins.segments.within[at])])][0][1]
              for at in range(6)]
    assert rounds == [0, 0, 1, 1, 2, 2]


# 9. Limits and errors

def test_all_mistakes_come_at_once_each_with_file_line_column_element_found_expected_and_suggestion() -> None:
    wrong = HEAD + main('\n <call name="wlak" duration="1"/>\n  <call name="walk" duration="-"/>\n'
                        '   <cal name="walk" duration="1"/>\n') + "</pha>"
    problems = parse(wrong, Path("dance.pha")).problems
    assert [(problem.place.line, problem.place.column) for problem in problems] == [(3, 3), (4, 4)]
    assert all(str(problem).startswith(f"dance.pha:{problem.place.line}:{problem.place.column}: ")
               and "found" in str(problem) and "expected" in str(problem) for problem in problems)
    with pytest.raises(ScoreError, match=r"2:2: <call> name: found 'wlak', expected .*did you mean walk"):
        unfolded({"": HEAD + main('\n <call name="wlak" duration="1"/>') + "</pha>"}, 0)


def test_mistakes_of_the_text_do_not_hide_those_of_names_and_what_follows_from_them_is_not_said() -> None:
    figure = '<procedure name="a"><param name="times" default="2"/><call name="walk" duration="times"/></procedure>'
    wrong = HEAD + figure + main(
        '\n<call name="walk" duration="1" mirrored="yes"/>\n<call name="a" duration="1"><with time="3"/></call>\n'
        '<call duration="1"/>\n<call name="wlak" duration="2 = 3"/>\n<together><lane body="uper" mode="mixed">'
        '<call name="walk" duration="bar"/></lane></together>\n') + "</pha>"
    with pytest.raises(ScoreError) as caught:
        unfolded({"": wrong}, 0)
    told = [(problem.place.line, problem.message) for problem in caught.value.problems]
    assert [line for line, _ in told] == [2, 3, 4, 5, 6, 6]
    for (_, message), hint in zip(told, ("did you mean mirror?", "did you mean times?", "found none",
                                         "did you mean == for =?", "did you mean mix?", "found the name 'bar'"),
                                  strict=True):
        assert hint in message


def test_a_million_segments_over_all_lanes_are_the_most() -> None:
    def lanes(each: int) -> str:
        lane = f'<lane><loop times="{each}"><call name="walk" duration="1"/></loop></lane>'
        return main(f"<together>{lane * 4}</together>")

    with pytest.raises(ScoreError, match=f"found 1000005 segments when expanded, expected at most {MAX_SEGMENTS}"):
        played(lanes(250_001))
    assert len(played(lanes(1_000)).blocks[0].lanes) == 4


def test_a_thousand_levels_and_two_million_calls_are_the_most() -> None:
    def nested(levels: int) -> str:
        inner = "".join(f'<procedure name="p{at}"><call name="p{at + 1}" duration="1"/></procedure>'
                        for at in range(levels))
        return main('<call name="p0" duration="1"/>') + inner + (
            f'<procedure name="p{levels}"><call name="walk" duration="1"/></procedure>')

    assert len(played(nested(997))) == 1
    with pytest.raises(ScoreError, match="more than 1000 procedures within procedures"):
        played(nested(1_000))
    many = nested(500).replace('<call name="p0" duration="1"/>', '<call name="p0" duration="1" repeat="900000"/>')
    with pytest.raises(ScoreError, match="calls of procedures when expanded, expected at most 2000000"):
        played(many)


def test_what_is_too_much_is_found_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(*_: object) -> None:
        raise AssertionError("built")

    monkeypatch.setattr(expansion, "_expanded", build)
    with pytest.raises(ScoreError, match="segments when expanded"):
        played(main('<loop times="1000"><loop times="1001"><call name="walk" duration="1"/></loop></loop>'))


@pytest.mark.slow
def test_a_bad_file_of_a_megabyte_is_refused_in_few_words() -> None:
    for bad in ("<pha>" + "<call/>" * 140_000 + "</pha>", '<pha version="2" tickLength="' + "9" * 1_000_000 + '"/>',
                HEAD + main("<call/>" * 140_000) + "</pha>", "<" * 1_000_000):
        try:
            said = "".join(map(str, parse(bad).problems))
        except FileError as error:
            said = str(error)
        assert said and len(said) < 40_000


def test_errors_of_evaluation_name_the_calls_and_the_values_on_the_way() -> None:
    text = main('<call name="a" duration="1"><with n="3"/></call>') + (
        '<procedure name="a"><param name="n" default="1"/><loop times="n" index="i">'
        '<call name="walk" duration="1 / (2 - i)"/></loop></procedure>')
    with pytest.raises(ScoreError, match=r"with i = 2: division by zero \(in main → a\(n = 3\)\)"):
        played(text)
