"""Every word of the score language that is read also has a meaning: none is played as nothing."""

from types import MappingProxyType

import pytest

from takt.core.errors import ScoreError, TaktError
from takt.core.pha import document, evaluation, grammar, nodes
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.grammar import BLOCK, GRAMMAR, Rule
from takt.core.pha.programme import resolve
from takt.core.playing.score import clock_of
from takt.tests.core.scores import STEPS

NOD, LEFT = '<call name="nod" duration="1"/>', '<call name="left" duration="1"/>'
NEVER = f'<if test="no">{NOD}</if>'
IN_LANE = f'<together><lane body="m">{NOD}</lane></together>'


def score(inside: str = NOD, head: str = "", more: str = "") -> str:
    return (f'<pha version="2" tickLength="1"><load src="feet.Steps"/>{head}<procedure name="main">{inside}</procedure>'
            f"{more}</pha>")


P = f'<procedure name="p"><param name="n" default="1"/><loop times="n">{NOD}</loop>{LEFT}</procedure>'
PROP = '<role name="r" is="prop"/>'
PLACE = '<role name="r" is="place"/>'
PERSON = '<role name="r" is="person"/>'
WITH = '<call name="p" duration="3">{}</call>'
CHANGED: dict[str, tuple[str, str]] = {
    "pha": (score(), score().replace('tickLength="1"', 'tickLength="2"')),
    "load": (score(), score().replace('<load src="feet.Steps"/>', "")),
    "include": (score(), score(head='<include src="nowhere"/>')),
    "music": (score(), score(head='<music src="songs.a"/>')),
    "tempo": (score(), score(head='<tempo tick="0" tickLength="2"/>')),
    "mask": (score(IN_LANE, '<mask name="m" body="arms"/>'), score(IN_LANE, '<mask name="m" body="legs"/>')),
    "role": (score('<call name="nod" duration="1" at="r"/>'),
             score('<call name="nod" duration="1" at="r"/>', '<role name="r" is="place"/>')),
    "let": (score('<call name="nod" duration="n"/>' + LEFT, '<let name="n" value="1"/>'),
            score('<call name="nod" duration="n"/>' + LEFT, '<let name="n" value="2"/>')),
    "procedure": (score(WITH.format(""), more=P), score(WITH.format(""), more=P.replace(LEFT, ""))),
    "param": (score(WITH.format(""), more=P), score(WITH.format(""), more=P.replace('default="1"', 'default="2"'))),
    "with": (score(WITH.format(""), more=P), score(WITH.format('<with n="2"/>'), more=P)),
    "call": (score(), score(NOD + LEFT)),
    "wait": (score(), score(NOD + '<wait duration="1"/>')),
    "look": (score(NOD + '<wait duration="1"/>', PLACE), score(NOD + '<look at="r" duration="1"/>', PLACE)),
    "reach": (score(NOD + '<wait duration="1"/>', PLACE),
              score(NOD + '<reach for="r" with="left hand" duration="1"/>', PLACE)),
    "hold": (score(NOD + '<wait duration="1"/>', PROP), score(NOD + '<hold prop="r" with="left hand" duration="1"/>',
                                                              PROP)),
    "meet": (score(NOD + '<wait duration="1"/>', PERSON),
             score(NOD + '<meet person="r" with="left hand" hand="right hand" duration="1"/>', PERSON)),
    "loop": (score(f'<loop times="1">{NOD}</loop>'), score(f'<loop times="2">{NOD}</loop>')),
    "if": (score(), score(NOD + f'<if test="yes">{LEFT}</if>')),
    "elif": (score(NEVER + NOD), score(f'{NEVER}<elif test="yes">{LEFT}</elif>{NOD}')),
    "else": (score(NEVER + NOD), score(f"{NEVER}<else>{LEFT}</else>{NOD}")),
    "pick": (score(), score(NOD + f"<pick>{LEFT}</pick>")),
    "together": (score(), score(f"<together><lane>{NOD}</lane></together>")),
    "lane": (score(f"<together><lane>{NOD}</lane></together>"),
             score(f"<together><lane>{NOD}</lane><lane>{LEFT}</lane></together>")),
}
"""For each word two scores that differ by an element of it, and so play otherwise."""


def meaning(text: str) -> object:
    """Return all that is known of what a score plays, as values that can be compared."""
    try:
        programme = resolve(parse(text), STEPS)
        found = expand(programme)
    except TaktError as error:
        return str(error)
    clock = clock_of(programme)
    lanes = [[(lane.body, {name: mask.body for name, mask in lane.masks.items()}, lane.sequence is not None)
              for lane in block.lanes] for block in found.blocks]
    names = [found.clips[clip] if 0 <= clip < len(found.clips) else "" for clip in found.clip.tolist()]
    ways = [way.going for way in found.ways], [aimed.aim for aimed in found.aims]
    return (names, found.clip.tolist(), ways, found.length_s.tolist(), lanes,
            None if clock is None else clock.pace.tolist(), programme.document.music)


@pytest.mark.parametrize("tag", GRAMMAR)
def test_each_word_changes_what_is_played(tag: str) -> None:
    before, after = CHANGED[tag]
    assert f"<{tag}" in before + after
    assert meaning(before) != meaning(after)


def test_what_is_read_is_what_is_evaluated() -> None:
    assert {*BLOCK} == {*evaluation.PLAYED_BY, "call", "let", "if", "elif", "else"}
    assert GRAMMAR["pha"].children == document._TOP
    assert {child for rule in GRAMMAR.values() for child in rule.children} | {"pha"} == GRAMMAR.keys()


@pytest.mark.parametrize(("parent", "text", "says"), [
    ("procedure", score(f"{NOD}<spin>{LEFT}</spin>"),
     "found <spin>, which is a word of the language, but nothing plays it; expected <wait> or <"),
    ("pha", score(head=f"<spin>{LEFT}</spin>"),
     "found <spin> in <pha>, which is a word of the language, but nothing reads it; expected <load>")])
def test_a_word_without_a_meaning_is_refused(monkeypatch: pytest.MonkeyPatch, parent: str, text: str,
                                             says: str) -> None:
    rule = GRAMMAR[parent]
    known = MappingProxyType({**GRAMMAR, "spin": Rule("Turns.", {}, BLOCK),
                              parent: rule._replace(children=(*rule.children, "spin"))})
    for module in (grammar, nodes, document):
        monkeypatch.setattr(module, "GRAMMAR", known)
    with pytest.raises(ScoreError, match=says):
        expand(resolve(parse(text), STEPS))
