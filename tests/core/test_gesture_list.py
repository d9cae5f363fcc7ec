"""The list of gestures of the score editor is whole."""

from collections import Counter
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from takt.core.maths.arrays import BoolArray
from takt.core.score_editor.gestures import GESTURES, Press, cursor_of, hit, of_handle, press_of, presses
from takt.core.score_editor.hit import Part
from takt.core.score_editor.picture import Pen, Triangles
from takt.core.score_editor.stripes import Stripes
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.tweak_row import draw_tweaks
from takt.tests.core.scores import score
from takt.tests.core.test_score_editor_gestures import MAIN, WALK, Editor


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


@pytest.mark.parametrize(("away_px", "tweak"), [(0.0, 1), (6.0, 1), (-6.0, 1), (30.0, None)])
def test_keys_of_tweaks_are_found_in_their_row_below_the_lanes(away_px: float, tweak: int | None) -> None:
    editor = Editor(score(WALK, MAIN))
    layout, view = replace(editor.layout, tweaks=np.array((1.0, 4.0))), editor.view
    row = Stripes.of(layout, view).tweaks
    assert row is not None
    x = float(view.x(np.array((4.0,)))[0]) + away_px
    found = hit(layout, view, x, sum(row) / 2.0)
    assert (found.part, found.tweak) == (Part.EMPTY if tweak is None else Part.TWEAK, tweak)
    assert press_of(found) == ("box_select" if tweak is None else "tweak")
    assert cursor_of(found) == ("DEFAULT" if tweak is None else "MOVE_X")
    assert ("another moment" in of_handle(layout, found)) == (tweak is not None)
    assert hit(editor.layout, view, x, sum(row) / 2.0).part is not Part.TWEAK


def test_keys_of_silent_layers_are_hollow() -> None:
    editor = Editor(score(WALK, MAIN))
    view, ticks = editor.view, np.array((1.0, 4.0))
    stripes = Stripes.of(replace(editor.layout, tweaks=ticks), view)

    def drawn(silent: BoolArray | None) -> Triangles:
        pen = Pen()
        draw_tweaks(pen, ticks, view, Theme(), stripes, silent=silent)
        return pen.layer().triangles

    full, hollow = drawn(None), drawn(np.array((False, True)))
    inner = hollow.corners[len(full.corners):]
    np.testing.assert_array_equal(hollow.corners[:len(full.corners)], full.corners)
    assert len(inner) == 6 and np.abs(inner[:, 0] - view.x(ticks)[1]).max() < np.ptp(full.corners[:6, 0]) / 2.0
