"""The list of gestures of the score editor is whole."""

from collections import Counter
from typing import get_args

from takt.core.score_editor.gestures import GESTURES, Press, presses
from takt.core.score_editor.hit import Part


def test_each_part_of_the_editor_has_its_one_gesture() -> None:
    assert Counter(gesture.part for gesture in GESTURES) == Counter(Part)


def test_what_is_pulled_has_a_gesture_and_looks_so() -> None:
    assert [gesture.part for gesture in GESTURES if (gesture.press == "drag") != (gesture.pull is not None)] == []
    assert [gesture.part for gesture in GESTURES if gesture.pull and gesture.part is not Part.BODY
            and (gesture.cursor == "DEFAULT" or not gesture.says)] == []


def test_each_press_is_begun_somewhere_with_the_modifiers_of_all_that_begin_it() -> None:
    found = presses()
    assert set(found) == set(get_args(Press)) - {""}
    assert {press: set(modifiers) for press, modifiers in found.items()} == {
        "scrub": set(), "contact": set(), "box_select": {"shift"}, "drag": {"ctrl", "shift"},
        "tweak": {"ctrl", "shift"}}
