"""Which element became which: by edits exactly, by typing as far as likeness tells."""

import time
from random import Random

import pytest

from takt.core.pha.edits import Insert, Move, Remove, SetAttribute, Unwrap, Wrap, apply
from takt.core.pha.lineage import NEW, matched, through
from takt.core.pha.text import Text

from .edited_programmes import Element, Program

TWINS = ('<pha><procedure name="a"><call name="x"/><call name="x"/><call name="y"/></procedure><procedure name="b"/>'
         '</pha>')


def test_an_edit_tells_which_of_two_that_say_the_same_was_moved() -> None:
    edited = apply(Text.of(TWINS), Move(2, 1, 3))
    assert edited.origin == [0, 1, 3, 4, 2, 5]
    assert apply(edited.text, Move(4, 1, 0)).origin == [0, 1, 4, 2, 3, 5]


@pytest.mark.parametrize(("edit", "origin"), [
    (SetAttribute(2, "name", "z"), [0, 1, 2, 3, 4, 5]), (Remove(3), [0, 1, 2, 4, 5]),
    (Insert(1, 1, '<call name="x"/><loop><wait/></loop>'), [0, 1, 2, NEW, NEW, NEW, 3, 4, 5]),
    (Move(4, 5, 0), [0, 1, 2, 3, 5, 4]), (Wrap(1, 1, 2, "loop"), [0, 1, 2, NEW, 3, 4, 5]),
    (Unwrap(1), [0, 2, 3, 4, 5])])
def test_each_kind_of_edit_tells_what_became_of_the_elements(edit: object, origin: list[int]) -> None:
    assert apply(Text.of(TWINS), edit).origin == origin  # type: ignore[arg-type]


def test_edits_one_after_the_other_are_followed_through() -> None:
    edited = apply(Text.of(TWINS), Remove(2), Insert(1, 0, "<wait/>"), Move(3, 5, 0))
    assert edited.origin == [0, 1, NEW, 4, 5, 3]
    assert through([0, 2], [NEW, 1, 0]) == [NEW, 2, 0]


def test_what_is_undone_is_found_again() -> None:
    edited = apply(Text.of(TWINS), Remove(3), SetAttribute(2, "name", "z"))
    back = apply(edited.text, *edited.inverse)
    assert str(back.text) == TWINS and back.origin == [0, 1, 2, NEW, 3, 4]


@pytest.mark.parametrize("old", [
    "<pha/>", TWINS, "<pha><a><b/><b/><b/></a><a><b/></a></pha>"])
@pytest.mark.parametrize("new", [
    "<pha/>", TWINS, TWINS.replace('"x"', '"z"'), "<pha><b/><a><b k='1'/></a></pha>", "<other><pha/></other>"])
def test_no_element_comes_from_two_and_none_is_made_up(old: str, new: str) -> None:
    before, after = Text.of(old), Text.of(new)
    origin = matched(before, after)
    known = [element for element in origin if element != NEW]
    assert len(origin) == len(after) and len(set(known)) == len(known) and all(0 <= e < len(before) for e in known)
    assert matched(before, before) == list(range(len(before)))


@pytest.mark.parametrize("seed", range(40))
def test_a_random_program_that_is_typed_over_keeps_what_is_the_same(seed: int) -> None:
    """Calls are removed or changed and lines put in: all others keep their origin."""
    random, program = Random(seed), Program(Random(seed))
    old = Text.of(program.text())
    number = {element.label: at for at, element in enumerate(program.root.all())}
    touched = set[int]()
    for _ in range(3):
        element = random.choice(program.calls())
        roll, parent = random.random(), program.parent_of(element)
        touched.add(element.label)
        if roll < 0.3 and len(parent.children) > 1:
            parent.children.remove(element)
        elif roll < 0.6:
            element.given["duration"] = "7.5"
        else:
            new = Element("call", {"name": "unheard", "duration": "1"}, -1)
            parent.children.insert(random.randint(0, len(parent.children)), new)
    origin = matched(old, Text.of(program.text(indent=" ")))
    for at, element in enumerate(program.root.all()):
        if element.label != -1 and touched.isdisjoint(each.label for each in element.all()):
            assert origin[at] == number.get(element.label, NEW)


def test_a_large_text_is_compared_in_a_moment() -> None:
    rows = "".join(f'<call name="c{at % 7}" duration="1"/>' for at in range(20_000))
    old = Text.of(f"<pha><procedure name='main'>{rows}</procedure></pha>")
    new = Text.of(f"<pha><procedure name='main'><wait/>{rows}<wait/></procedure></pha>")
    began_s = time.process_time()
    origin = matched(old, new)
    assert origin == [0, 1, NEW, *range(2, len(old)), NEW] and time.process_time() - began_s < 2.0


def test_a_call_that_is_put_into_a_procedure_by_typing_is_the_same() -> None:
    old = ('<pha><procedure name="main"><call name="a"/><call name="bow" duration="4"/><call name="b"/></procedure>'
           "</pha>")
    new = ('<pha><procedure name="deep"><call name="bow" duration="4"/></procedure><procedure name="main">'
           '<call name="a"/><call name="deep" duration="4"/><call name="b"/></procedure></pha>')
    assert matched(Text.of(old), Text.of(new)) == [0, NEW, 3, 1, 2, NEW, 4]
    assert matched(Text.of(new), Text.of(old)) == [0, 3, 4, 2, 6]


def test_a_call_of_something_else_in_the_same_place_is_the_same() -> None:
    old = '<pha><procedure name="main"><call name="a"/><call name="bow"/><call name="b"/></procedure></pha>'
    assert matched(Text.of(old), Text.of(old.replace("bow", "kick"))) == [0, 1, 2, 3, 4]
@pytest.mark.parametrize("new", [
    '<pha><procedure name="new"><call name="x"/></procedure><procedure name="main"><call name="y"/><call name="new"/>'
    '</procedure></pha>',
    '<pha><procedure name="main"><call name="y"/><call name="new"/></procedure><procedure name="new"><call name="x"/>'
    '</procedure></pha>'])
def test_a_call_that_is_put_into_a_procedure_by_typing_is_found_there(new: str) -> None:
    old = Text.of('<pha><procedure name="main"><call name="y"/><call name="x"/></procedure></pha>')
    after = Text.of(new)
    origin = matched(old, after)
    named = {after.shape.attributes[element].get("name"): was for element, was in enumerate(origin)
             if after.shape.tags[element] == "call"}
    assert named == {"y": 2, "x": 3, "new": NEW}


def test_a_call_that_is_given_another_name_is_the_same_one() -> None:
    old = Text.of('<pha><procedure name="main"><call name="y"/><call name="x"/></procedure></pha>')
    assert matched(old, Text.of(str(old).replace('"x"', '"z"'))) == [0, 1, 2, 3]
