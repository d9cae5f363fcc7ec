"""The list of gestures of the score editor is whole."""

from collections import Counter

from takt.core.score_editor.gestures import GESTURES, PRESSES
from takt.core.score_editor.hit import Part


def test_each_part_of_the_editor_has_its_one_gesture() -> None:
    assert Counter(gesture.part for gesture in GESTURES) == Counter(Part)


def test_what_is_pulled_has_a_gesture_and_looks_so() -> None:
    assert [gesture.part for gesture in GESTURES if (gesture.press == "drag") != (gesture.pull is not None)] == []
    assert [gesture.part for gesture in GESTURES if gesture.pull and gesture.part is not Part.BODY
            and (gesture.cursor == "DEFAULT" or not gesture.says)] == []
    assert PRESSES[0] == "scrub" and set(PRESSES) == {"scrub", "drag", "contact", "box_select"}
