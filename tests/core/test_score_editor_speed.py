"""The score editor tells how fast a block plays its clip, where that is not as fast as the clip is by nature."""

import numpy as np
import pytest

from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.score_editor import hints
from takt.core.score_editor.drawing import picture
from takt.core.score_editor.layout import Layout, lay_out
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.tests.core.scores import STEPS

CLIP_S = {clip.name: clip.duration_s for clip in STEPS.clips("feet.Steps")[0]}


def laid_out(calls: str, tick_s: float = 1.0, version: int = 1) -> Layout:
    text = (f'<pha version="{version}" tickLength="{tick_s}"><load src="feet.Steps"/><procedure name="main">{calls}'
            "</procedure></pha>")
    return lay_out(expand(resolve(parse(text), STEPS)))


def call(seconds: float, speed: float, more: str = "", name: str = "left") -> str:
    return f'<call name="{name}" duration="{seconds / speed}"{more}/>'


@pytest.mark.parametrize("speed", [0.25, 0.5, 1.0, 1.5, 3.0, 40.0])
@pytest.mark.parametrize("tick_s", [0.3, 1.0])
def test_a_block_knows_how_fast_it_plays(speed: float, tick_s: float) -> None:
    layout = laid_out(call(CLIP_S["left"] / tick_s, speed), tick_s)
    np.testing.assert_allclose(layout.boxes.speed, speed, rtol=1e-9)


def test_repetitions_parts_and_the_calls_around_count() -> None:
    seconds = CLIP_S["left"]
    assert laid_out(call(seconds, 2.0, ' repeat="3"')).boxes.speed.tolist() == pytest.approx([2.0])
    part = laid_out(call(seconds, 1.0, ' from="0.25" to="0.75"'), version=2)
    assert part.boxes.speed.tolist() == pytest.approx([0.5])
    waits = laid_out(call(seconds, 1.0) + '<wait duration="2"/>', version=2)
    assert waits.boxes.speed.tolist() == pytest.approx([1.0, np.nan], nan_ok=True)


def said(layout: Layout, width: float = 900.0) -> list[tuple[str, tuple[float, ...]]]:
    drawn = picture(layout, View(width, 300.0).framed(0.0, layout.ticks), Theme())
    return [(text.words, text.colour) for layer in drawn.layers for text in layer.texts if "×" in text.words]


@pytest.mark.parametrize(("speed", "words", "is_far"), [
    (1.0, "", False), (1.01, "", False), (1.5, "speed ×1.5", False), (2.0, "speed ×2", False),
    (3.0, "speed ×3", True), (0.5, "speed ×0.5", False), (0.25, "speed ×0.25", True)])
def test_a_block_shows_a_speed_that_is_not_1_and_warns_of_one_that_is_far_from_it(
        speed: float, words: str, is_far: bool) -> None:
    layout = laid_out(call(CLIP_S["left"], speed))
    assert [text for text, _ in said(layout)] == ([words] if words else [])
    assert [colour == Theme().warning for _, colour in said(layout)] == ([is_far] if words else [])
    assert bool(hints.speed(layout, 0)) is bool(words)


@pytest.mark.parametrize(("ticks", "is_natural"), [(0.7, True), (1.7, True), (2.3, True), (1.0, True), (-1.0, False)])
def test_a_block_as_long_as_its_clip_is_inserted_shows_no_speed(ticks: float, is_natural: bool) -> None:
    """What rounding to ticks makes of the speed, nobody has asked for; a longer block was pulled."""
    tick_s = CLIP_S["left"] / abs(ticks)
    rounded = hints.natural_ticks(ticks) if is_natural else 2.0
    layout = laid_out(f'<call name="left" duration="{rounded}" repeat="2"/>', tick_s)
    assert layout.boxes.speed.tolist() == pytest.approx([abs(ticks) / rounded])
    assert [words for words, _ in said(layout) if "left" not in words] == ([] if is_natural else ["speed ×0.5"])


def test_where_there_is_little_room_only_a_warning_stays() -> None:
    fast, brisk = laid_out(call(CLIP_S["left"], 3.0)), laid_out(call(CLIP_S["left"], 1.5))
    assert "×3" in [text for text, _ in said(fast, 70.0)]
    assert not said(brisk, 70.0)


def test_the_hint_says_both_lengths() -> None:
    layout = laid_out(call(CLIP_S["left"], 4.0))
    assert hints.speed(layout, 0) == (f"Plays 4 times as fast as its clip: {CLIP_S['left']:g} s in "
                                      f"{CLIP_S['left'] / 4.0:g} s; at its own speed the clip takes "
                                      f"{CLIP_S['left']:g} ticks")
    assert "2 times as slowly" in hints.speed(laid_out(call(CLIP_S["left"], 0.5)), 0)


@pytest.mark.parametrize(("more", "words"), [
    ("", ""), (' from="0" to="1"', ""), (' from="0.25"', "Plays {:g} to {:g} s of the clip's {:g} s"),
    (' from="{quarter}s" to="1"', "Plays {:g} to {:g} s of the clip's {:g} s"), (' to="half"', "")])
def test_a_block_says_in_seconds_which_part_of_its_clip_it_plays(more: str, words: str) -> None:
    seconds = CLIP_S["left"]
    played = call(seconds, 1.0, more.format(quarter=seconds / 4))
    layout = laid_out(f'<let name="half" value="0.5"/>{played}', version=2)
    assert hints.part(layout, 0) == words.format(seconds / 4, seconds, seconds)
    assert layout.boxes.clip_s.tolist() == pytest.approx([seconds])
