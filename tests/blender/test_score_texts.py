"""A Text is changed only where it differs, and an edit that is only proposed is played but written nowhere."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import score, texts
from takt.tests.blender.dancing import STEPS, play

_OLD = "<a>\r\n  <b c='é🎉'/>\n</a>\n\nlast"


def filled(said: str) -> bpy.types.Text:
    text = bpy.data.texts.new("score")
    text.from_string(said)
    return text


@pytest.mark.parametrize("new", [
    _OLD, "", "x" + _OLD, _OLD + "\n", _OLD.replace("🎉", "🎉🎉"), _OLD.replace("\r", ""), _OLD.replace("\n", ""),
    "<a>\r\nlast", "\ufeff" + _OLD, _OLD[::-1]])
@pytest.mark.parametrize("old", [_OLD, "", "\n\n"])
def test_it_then_says_the_new(old: str, new: str) -> None:
    text = filled(old)
    texts.replace(text, new)
    assert text.as_string() == new


@pytest.mark.parametrize(("cursor", "expected"), [((0, 2), (0, 2)), ((4, 1), (5, 1)), ((1, 4), (1, 4))])
def test_the_cursor_stays_at_its_words(cursor: tuple[int, int], expected: tuple[int, int]) -> None:
    text = filled(_OLD)
    text.select_set(*cursor, *cursor)
    texts.replace(text, _OLD.replace("🎉'", "🎉'\n d=''"))
    assert (text.current_line_index, text.current_character) == expected
    assert (text.select_end_line_index, text.select_end_character) == expected


def test_a_proposal_is_played_and_forgotten(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    text = properties.character(rig).text
    assert text is not None
    before = score.motion_of(rig)
    assert before is not None
    texts.propose(text, STEPS.replace('tickLength="1.0"', 'tickLength="2.0"'))
    proposed = score.motion_of(rig)
    assert proposed is not None
    np.testing.assert_allclose(proposed.duration_s, 2.0 * before.duration_s)
    assert text.as_string() == STEPS
    texts.propose_nothing()
    assert score.motion_of(rig) is before
