"""Diamonds of tweaks in the score editor: several are selected, and move together without losing a key."""

from dataclasses import replace

import numpy as np
import pytest

from takt.core.maths.arrays import BoolArray, FloatArray
from takt.core.score_editor.gestures import hit, of_handle
from takt.core.score_editor.picture import Pen, Triangles
from takt.core.score_editor.stripes import Stripes
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.tweak_row import draw_tweaks, meets, pulled, tweaks_within
from takt.tests.core.scores import score
from takt.tests.core.test_score_editor_gestures import MAIN, WALK, Editor

MOST = 16.0
TICKS = np.array((1.0, 4.0, 6.5))


def editor_with(chosen: BoolArray | None) -> Editor:
    editor = Editor(score(WALK, MAIN))
    editor.layout = replace(editor.layout, tweaks=TICKS, chosen=chosen)
    return editor


@pytest.mark.parametrize("seed", range(50))
def test_all_move_by_the_same_time_and_stop_at_the_ends_of_the_score(seed: int) -> None:
    random = np.random.default_rng(seed)
    ticks = np.sort(random.uniform(-1.0 if seed % 3 else 0.0, MOST + (2.0 if seed % 5 == 0 else 0.0), 5))
    grabbed, to = int(random.integers(5)), float(random.uniform(0.0, MOST))
    found = pulled(ticks, grabbed, to, MOST)
    shift = found - ticks
    np.testing.assert_allclose(shift, shift[0], atol=1e-12)
    assert found.min() >= min(ticks.min(), 0.0) - 1e-12 and found.max() <= max(ticks.max(), MOST) + 1e-12
    is_stopped = abs(found[grabbed] - to) > 1e-9
    ends = (found.min() - min(ticks.min(), 0.0), found.max() - max(ticks.max(), MOST))
    assert not is_stopped or min(abs(end) for end in ends) < 1e-9 or abs(shift[0]) < 1e-12


@pytest.mark.parametrize("seed", range(50))
def test_keys_in_the_way_are_found_as_by_comparing_each_with_each(seed: int) -> None:
    random = np.random.default_rng(seed)
    curve, other = random.integers(3, size=12), random.integers(3, size=20)
    frames, others = random.integers(-20, 30, size=12) + 0.0, random.integers(-20, 30, size=20) + 0.0
    frames, others = frames + random.choice((0.0, 0.004, 0.3), size=12), others + random.choice((0.0, 0.004), size=20)
    near = float(random.choice((0.01, 0.5)))
    on_others = ((curve[:, None] == other) & (np.abs(frames[:, None] - others) <= near)).any(axis=1)
    same = (curve[:, None] == curve) & (np.abs(frames[:, None] - frames) <= 0.01) & ~np.eye(12, dtype=np.bool_)
    found = np.zeros(12, dtype=np.bool_)
    found[meets(curve, frames, other, others, near)] = True
    assert not (found & ~on_others & ~same.any(axis=1)).any() and not (on_others & ~found).any()
    pairs = np.argwhere(same)
    assert found[pairs].any(axis=1).all()  # of two that meet, at least one is named


def test_nothing_is_in_the_way_of_other_curves_or_without_keys() -> None:
    none, no_frames = np.zeros(0, dtype=np.int64), np.zeros(0)
    assert len(meets(none, no_frames, none, no_frames, 0.5)) == 0
    assert len(meets(np.array((0, 1)), np.array((5.0, 5.0)), np.array((2,)), np.array((5.0,)), 0.5)) == 0
    assert meets(np.array((0, 0)), np.array((5.0, 5.0)), none, no_frames, 0.5).tolist() == [1]


def test_a_box_takes_the_diamonds_whose_middles_lie_in_it() -> None:
    editor = editor_with(None)
    stripes = Stripes.of(editor.layout, editor.view)
    assert stripes.tweaks is not None
    x, (low, high) = editor.view.x(TICKS), stripes.tweaks
    assert tweaks_within(TICKS, editor.view, stripes, (x[1] - 3.0, high), (x[2] + 3.0, low)).tolist() == [
        False, True, True]
    assert tweaks_within(TICKS, editor.view, stripes, (x[2] + 3.0, low), (x[1] - 3.0, high)).tolist() == [
        False, True, True]
    assert not tweaks_within(TICKS, editor.view, stripes, (x[0] - 3.0, high + 40.0), (x[2] + 3.0, high - 1.0)).any()
    assert not tweaks_within(TICKS, editor.view, replace(stripes, tweaks=None), (0.0, 0.0), (9e3, 9e3)).any()
    scrolled = replace(editor.view, first_tick=2.0)  # the first one is left of the view, below its label
    assert tweaks_within(TICKS, scrolled, stripes, (0.0, low), (9e3, high)).tolist() == [False, True, True]


def drawn(ticks: FloatArray, chosen: BoolArray | None, silent: BoolArray | None = None) -> Triangles:
    editor, pen = editor_with(None), Pen()
    draw_tweaks(pen, ticks, editor.view, Theme(), Stripes.of(editor.layout, editor.view), silent, chosen)
    return pen.layer().triangles


def test_selected_diamonds_have_the_colour_of_what_is_selected() -> None:
    plain, marked = drawn(TICKS, None), drawn(TICKS, np.array((False, True, False)))
    np.testing.assert_array_equal(plain.corners, marked.corners)
    differs = (plain.colours != marked.colours).any(axis=1)
    assert differs.tolist() == [6 <= corner < 12 for corner in range(18)]
    np.testing.assert_allclose(marked.colours[6:12], np.tile(Theme().selected, (6, 1)), atol=1e-6)


def test_of_several_at_one_pixel_the_selected_one_is_drawn() -> None:
    close = np.array((4.0, 4.0 + 1e-6, 4.0 + 2e-6))
    found = drawn(close, np.array((False, False, True)), np.array((False, True, False)))
    assert len(found.corners) == 6
    np.testing.assert_allclose(found.colours, np.tile(Theme().selected, (6, 1)), atol=1e-6)


@pytest.mark.parametrize(("chosen", "words"), [
    (None, "Pull these keys"), ((False, True, False), "Pull these keys"), ((True, False, True), "Pull these keys"),
    ((True, True, False), "Pull the keys of 2 selected moments")])
def test_the_hint_says_whether_others_move_along(chosen: tuple[bool, ...] | None, words: str) -> None:
    editor = editor_with(None if chosen is None else np.array(chosen))
    row = Stripes.of(editor.layout, editor.view).tweaks
    assert row is not None
    found = hit(editor.layout, editor.view, float(editor.view.x(TICKS[1:2])[0]), sum(row) / 2.0)
    assert found.tweak == 1 and of_handle(editor.layout, found).startswith(words)
