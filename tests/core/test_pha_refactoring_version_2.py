"""Edits of scores of version 2, one by one: what each writes, and what it refuses."""


import pytest

from takt.core.errors import EditError
from takt.core.pha.edits import SetAttribute, apply
from takt.core.pha.extraction import ExtractCalls
from takt.core.pha.inlining import InlineCall
from takt.core.pha.make_single import CallAt, MakeSingle, Single
from takt.core.pha.rearranging import SplitCall, WrapTogether
from takt.core.pha.refactoring import Refactoring
from takt.core.pha.text import Text

from .test_pha_random_edits import edited, opened

HEAD = '<pha version="2" tickLength="0.5">\n  <load src="moves.Steps"/>\n'
KICKS = HEAD + """  <let name="bars" value="4"/>
  <procedure name="kicks">
    <param name="times" default="2"/>
    <loop times="times" index="i">
      <call name="kick" duration="2" mirror="i % 2 == 1"/> <!-- high -->
      <call name="jump" duration="i + 1"/>
    </loop>
  </procedure>
  <procedure name="main">
    <call name="kicks" duration="bars * 2"><with times="3"/></call>
    <call name="bow" duration="4" repeat="3" transition="1"/>
    <call name="kicks" duration="8"/>
  </procedure>
</pha>
"""


def after(text: str, edit: Refactoring) -> str:
    return edited({"": text}, edit)[""]


def element(text: str, start: str, which: int = 0) -> int:
    """Return the number of the element that begins so."""
    tree = Text.of(text)
    found = [number for number in range(len(tree)) if str(tree)[tree.starts[number]:].startswith(start)]
    return found[which]


def lines(text: str, before: str) -> list[str]:
    """Return the lines that are new."""
    return [line.strip() for line in text.splitlines() if line not in before.splitlines()]


def test_extracted_calls_take_what_they_need_as_parameters():
    loop = element(KICKS, "<loop")
    new = after(KICKS, ExtractCalls(None, loop, 0, 2, "figure"))
    assert lines(new, KICKS) == [
        '<procedure name="figure">', '<param name="i" default="0"/>',
        '<call name="kick" duration="2" mirror="i % 2 == 1"/> <!-- high -->', '<call name="jump" duration="i + 1"/>',
        '<call name="figure" duration="(i + 1) + 2"><with i="i"/></call>']
    assert new.index('"figure"') < new.index('"kicks"')


def test_calls_that_fit_their_way_last_once_however_often_they_repeat():
    text = KICKS.replace("  <let", '  <role name="seat" is="place"/>\n  <let').replace(
        '<call name="bow" duration="4"', '<call name="bow" to="seat" duration="16" repeat="fit"/>\n    <call name="bow"'
        ' duration="4"')
    new = after(text, ExtractCalls(None, element(text, "<procedure", 1), 1, 2, "figure"))
    assert '<call name="figure" duration="28"/>' in lines(new, text)


@pytest.mark.parametrize("way", ['to="seat"', 'at="seat"', 'to="seat" repeat="fit"'])
def test_a_call_that_goes_somewhere_is_not_inlined(way: str):
    text = KICKS.replace("  <let", '  <role name="seat" is="place"/>\n  <let').replace(
        '<call name="kicks" duration="8"', f'<call name="kicks" duration="8" {way}')
    with pytest.raises(EditError, match="it goes to a place or along a path, which only its call can say"):
        after(text, InlineCall(None, element(text, '<call name="kicks" duration="8"')))


def test_what_does_not_last_as_long_each_time_is_not_extracted():
    text = HEAD + ('<procedure name="main"><param name="big" default="no"/><if test="big"><wait duration="1"/></if>'
                   '<call name="kick" duration="1"/></procedure></pha>')
    with pytest.raises(EditError, match="how long it lasts depends on a condition"):
        after(text, ExtractCalls(None, element(text, "<procedure"), 1, 2, "new"))
    main = element(KICKS, '<procedure name="kicks"')
    with pytest.raises(EditError, match="depends on the index of a loop"):
        after(KICKS, ExtractCalls(None, main, 1, 1, "new"))


def test_an_if_is_not_torn_from_its_else():
    text = HEAD + ('<procedure name="main"><if test="yes"><call name="jump" duration="1"/></if><else><call name="kick" '
                   'duration="1"/></else></procedure></pha>')
    for first in (0, 1):
        with pytest.raises(EditError, match="an if goes together with its elif and else"):
            after(text, ExtractCalls(None, element(text, "<procedure"), first, 1, "new"))


def test_a_let_that_is_needed_behind_stays():
    text = HEAD + ('<procedure name="main"><let name="n" value="2"/><call name="jump" duration="n"/><call name="kick" '
                   'duration="n"/></procedure></pha>')
    with pytest.raises(EditError, match="'n' is needed after it too"):
        after(text, ExtractCalls(None, element(text, "<procedure"), 0, 2, "new"))


def test_picks_keep_their_numbers():
    pick = '<pick><call name="jump" duration="1"/><call name="kick" duration="1"/></pick>'
    text = HEAD + f'<procedure name="main">{pick * 3}</procedure></pha>'
    main = element(text, "<procedure")
    above = after(text, ExtractCalls(None, main, 0, 1, "new"))
    assert above.index('"new"') < above.index('"main"')
    below = after(text, ExtractCalls(None, main, 2, 1, "new"))
    assert below.rindex('"new"') > below.index('"main"')
    with pytest.raises(EditError, match="would be numbered anew"):
        after(text, ExtractCalls(None, main, 1, 1, "new"))
    with pytest.raises(EditError, match="of a pick's children only one plays"):
        after(text, ExtractCalls(None, element(text, "<pick"), 0, 2, "new"))


def test_an_inlined_call_brings_its_values():
    text = KICKS.replace('duration="i + 1"', 'duration="1"')
    new = after(text, InlineCall(None, element(text, '<call name="kicks"')))
    assert lines(new, text) == [
        '<loop times="3" index="i_2">',
        '<call name="kick" duration="2 * ((bars * 2) / 9)" mirror="i_2 % 2 == 1"/> <!-- high -->',
        '<call name="jump" duration="(bars * 2) / 9"/>']


def test_a_repeat_becomes_a_loop():
    text = HEAD + ('<procedure name="a">\n    <call name="kick" duration="1"/>\n  </procedure>\n'
                   '  <procedure name="main">\n'
                   '    <call name="a" duration="2" repeat="3" mirror="yes" transition="1"/>\n  </procedure>\n</pha>')
    new = after(text, InlineCall(None, element(text, '<call name="a"')))
    assert new == text.replace('<call name="a" duration="2" repeat="3" mirror="yes" transition="1"/>', (
        '<loop times="3" transition="1">\n      <call name="kick" duration="2" mirror="yes"/>\n    </loop>'))


@pytest.mark.parametrize(("inside", "attributes", "reason"), [
    ('<pick><call name="kick" duration="1"/></pick>', "", "it holds a pick"),
    ('<call name="kick" duration="1"/>', ' reverse="yes"', "it is played backwards"),
    ('<together><lane body="left_arm"><call name="wave" duration="1"/></lane></together>', ' mirror="yes"',
     "it is mirrored and holds a together"),
])
def test_what_would_play_otherwise_is_not_inlined(inside, attributes, reason):
    text = HEAD + (f'<procedure name="a">{inside}</procedure><procedure name="main"><call name="a" duration="2"'
                   f'{attributes}/></procedure></pha>')
    with pytest.raises(EditError, match=reason):
        after(text, InlineCall(None, element(text, '<call name="a"')))


BASE = HEAD + ('<procedure name="break"><call name="kick" duration="1"/></procedure><procedure name="main"><call '
               'name="break" duration="1"/><call name="break" duration="2"/></procedure></pha>')
SINGLE = HEAD + """  <!-- A half break. -->
  <procedure name="break">
    <call name="kick" duration="1"/>
  </procedure>
  <procedure name="verse">
    <call name="break" duration="1" repeat="4" transition="0.5"/>
  </procedure>
  <procedure name="main">
    <call name="verse" duration="4"/>
    <call name="verse" duration="4"/>
  </procedure>
</pha>
"""


def single(text: str, *calls: tuple[int, int | None]) -> tuple[str, Single]:
    edit = MakeSingle(tuple(CallAt(None, *call) for call in calls))
    return after(text, edit), edit.single(opened({"": text}))


def test_a_single_place_gets_copies_down_to_what_is_meant():
    verse, kick = element(SINGLE, '<call name="verse"', 1), element(SINGLE, '<call name="break"')
    new, made = single(SINGLE, (verse, None), (kick, 2))
    assert lines(new, SINGLE) == [
        '<procedure name="break_2">', '<procedure name="verse_2">', '<call name="break" duration="1" repeat="2"/>',
        '<call name="break_2" duration="1"/>', '<call name="break" duration="1" transition="0.5"/>',
        '<call name="verse_2" duration="4"/>']
    tree = Text.of(new)
    assert tree.shape.attributes[made.procedure]["name"] == "break_2"


def test_what_plays_once_is_single_already():
    text = SINGLE.replace('    <call name="verse" duration="4"/>\n', "", 1).replace(' repeat="4"', "")
    new, made = single(text, (element(text, '<call name="verse"'), None), (element(text, '<call name="break"'), None))
    assert new == text and made.procedure == element(text, '<procedure name="break"')


def test_what_is_inherited_is_overridden():
    texts = {"dances.Swing": BASE, "": '<pha version="2" tickLength="1" extends="dances.Swing">\n'
             '  <procedure name="x">\n    <call name="break" duration="1"/>\n  </procedure>\n</pha>\n'}
    edit = MakeSingle((CallAt(None, 2),))
    new = edited(texts, edit)
    assert new["dances.Swing"] == BASE
    assert lines(new[""], texts[""]) == ['<procedure name="break"><call name="kick" duration="1"/></procedure>']


def test_a_procedure_with_a_pick_has_no_second_copy():
    text = SINGLE.replace('<call name="kick" duration="1"/>', '<pick><call name="kick" duration="1"/></pick>')
    with pytest.raises(EditError, match="'break' holds a pick, and a copy of it would choose differently"):
        single(text, (element(text, '<call name="break"'), 1))


def test_a_split_call_plays_both_parts_in_its_time():
    bow = element(KICKS, '<call name="bow"')
    assert lines(after(KICKS, SplitCall(None, bow, 0.25, 1)), KICKS) == [
        '<call name="bow" duration="4"/>', '<call name="bow" duration="1" to="0.25" transition="0"/>',
        '<call name="bow" duration="3" from="0.25"/>', '<call name="bow" duration="4" transition="1"/>']


@pytest.mark.parametrize(("old", "parts"), [
    ('duration="bars" from="0.5"', ['duration="bars * 0.5" from="0.5" to="0.75" transition="0"',
                                    'duration="bars * 0.5" from="0.75"']),
    ('duration="1" from="0.2s" to="0.6s"', ['duration="0.5" from="0.2s" to="0.4s" transition="0"',
                                            'duration="0.5" from="0.4s" to="0.6s"']),
    ('duration="1" reverse="yes"', ['duration="0.5" reverse="yes" from="0.5" transition="0"',
                                    'duration="0.5" reverse="yes" to="0.5"']),
])
def test_parts_of_parts(old, parts):
    text = HEAD + ('  <let name="bars" value="4"/>\n  <procedure name="main">\n'
                   f'    <call name="bow" {old}/>\n  </procedure>\n</pha>')
    new = after(text, SplitCall(None, element(text, "<call"), 0.5))
    assert lines(new, text) == [f'<call name="bow" {part}/>' for part in parts]


@pytest.mark.parametrize(("old", "share", "parts"), [
    ('duration="3"', 17.0 / 36.0, ['duration="1.416667" to="0.472222" transition="0"',
                                   'duration="1.583333" from="0.472222"']),
    ('duration="3"', 1.4375 / 3.0, ['duration="1.4375" to="0.479167" transition="0"',
                                    'duration="1.5625" from="0.479167"']),
    ('duration="bars" from="0.1"', 2.0 / 3.0, ['duration="bars * 0.666667" from="0.1" to="0.7" transition="0"',
                                               'duration="bars * 0.333333" from="0.7"']),
    ('duration="1" to="end"', 1.0 / 3.0, ['duration="0.333333" to="end * 0.333333" transition="0"',
                                          'duration="0.666667" to="end" from="end * 0.333333"']),
    ('duration="1" from="0.1s" to="0.4s"', 1.0 / 7.0, [
        'duration="0.142857" from="0.1s" to="0.142857s" transition="0"',
        'duration="0.857143" from="0.142857s" to="0.4s"']),
    ('duration="100"', 1e-5, ['duration="0.001" to="0.00001" transition="0"', 'duration="99.999" from="0.00001"']),
    ('duration="1"', 1.0 - 1e-9, ['duration="0.999999999" to="0.999999999" transition="0"',
                                  'duration="0.000000001" from="0.999999999"']),
])
def test_a_split_writes_no_more_digits_than_tell_its_parts(old, share, parts):
    text = HEAD + ('  <let name="bars" value="4"/>\n  <let name="end" value="0.5"/>\n  <procedure name="main">\n'
                   f'    <call name="bow" {old}/>\n  </procedure>\n</pha>')
    new = after(text, SplitCall(None, element(text, "<call"), share))
    assert lines(new, text) == [f'<call name="bow" {part}/>' for part in parts]


@pytest.mark.parametrize(("old", "edit", "reason"), [
    ('duration="1"', (1.0, 0), "found the share 1, expected one between 0 and 1"),
    ('duration="1"', (0.5, 1), "found the repetition 1, expected one from 0 to 0"),
    ('duration="0"', (0.5, 0), "the call plays nothing"),
    ('duration="1" repeat="bars"', (0.5, 0), "repeat is 'bars', which is calculated"),
    ('duration="1" reverse="bars == 4"', (0.5, 0), "reverse is 'bars == 4', which is calculated"),
])
def test_what_cannot_be_split(old, edit, reason):
    text = HEAD + f'<let name="bars" value="4"/><procedure name="main"><call name="bow" {old}/></procedure></pha>'
    with pytest.raises(EditError, match=reason):
        after(text, SplitCall(None, element(text, "<call"), *edit))
    with pytest.raises(EditError, match="'kicks' is a procedure"):
        after(KICKS, SplitCall(None, element(KICKS, '<call name="kicks"'), 0.5))


OLD = KICKS.replace(' version="2"', "").replace('  <let name="bars" value="4"/>\n', "").replace(
    "bars * 2", "8").replace('<with times="3"/>', "").replace('    <param name="times" default="2"/>\n', "").replace(
    '    <loop times="times" index="i">\n', "").replace("    </loop>\n", "").replace(
    ' mirror="i % 2 == 1"', "").replace("i + 1", "1")


def test_a_score_becomes_one_of_version_2_where_an_edit_needs_it():
    bow, main = element(OLD, '<call name="bow"'), element(OLD, '<procedure name="main"')
    new = after(OLD, SplitCall(None, bow, 0.5))
    assert new.splitlines()[0] == '<pha tickLength="0.5" version="2">' and len(Text.of(new)) == len(Text.of(OLD)) + 2
    new = after(OLD, WrapTogether(None, main, 0, (("lower", 1), ("right_arm", 1))))
    assert lines(new, OLD) == [
        '<pha tickLength="0.5" version="2">', '<together transition="1">', '<lane body="lower">',
        '<call name="kicks" duration="8"></call>', "</lane>", '<lane body="right_arm">',
        '<call name="bow" duration="4" repeat="3"/>', "</lane>", "</together>"]


@pytest.mark.parametrize(("start", "name", "value"), [
    ('<call name="kick"', "mirror", "yes"), ('<call name="jump"', "duration", "2"), ("<loop", "times", "3")])
def test_an_expression_is_not_overwritten_unasked(start, name, value):
    text = Text.of(KICKS)
    with pytest.raises(EditError, match=f"{name} is '.*', which is calculated; ask before {value} replaces it"):
        apply(text, SetAttribute(element(KICKS, start), name, value))
    asked = apply(text, SetAttribute(element(KICKS, start), name, value, over_expression=True))
    assert f'{name}="{value}"' in str(asked.text)
    assert apply(text, SetAttribute(element(KICKS, start), name, "i + 2")).text != text
