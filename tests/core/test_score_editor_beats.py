"""Beats moved by hand: one of them goes where the music was pulled, all others stay, and the text keeps it."""

import random
from dataclasses import replace

import numpy as np
import pytest

from takt.core.errors import TaktError
from takt.core.maths.arrays import FloatArray
from takt.core.music.grid import Grid, TempoChange
from takt.core.music.nudging import nudged, shifted
from takt.core.pha.document import parse, read
from takt.core.pha.expansion import expand
from takt.core.pha.open_scores import Scores
from takt.core.pha.programme import resolve
from takt.core.pha.text import Text
from takt.core.playing.clock import Clock
from takt.core.score_editor import hints
from takt.core.score_editor.change import attempt
from takt.core.score_editor.drag import Drag
from takt.core.score_editor.gestures import begin, cursor_of, hit, of_handle, why_not
from takt.core.score_editor.hit import Part
from takt.core.score_editor.layout import Layout, lay_out
from takt.core.score_editor.music import grid_of, lay_ticks
from takt.core.score_editor.stripes import Stripes
from takt.core.score_editor.view import View
from takt.tests.core.scores import STEPS

TICKS = np.arange(40.0)
EXACT_S, SPELLED_S = 1e-9, 1e-4
"""Of grids as numbers, and as texts of six decimals, forty beats long."""
SCORE = """<pha version="2" tickLength="0.5">
  <load src="feet.Steps"/>
  <music src="song" offset="1"/>
  <tempo tick="20" tickLength="0.4"/> <!-- faster -->
  <tempo tick="30" tickLength="0.6" over="4"/>
  <procedure name="main">
    <call name="nod" duration="40"/>
  </procedure>
</pha>
"""


def random_grid(rng: random.Random) -> Grid:
    changes, at = [], 0.0
    for _ in range(rng.randint(0, 5)):
        at += rng.choice((1.0, 2.0, 2.5, 7.0))
        over = rng.choice((0.0, 0.0, 1.0, 3.0, 6.5))
        changes.append(TempoChange(at, rng.uniform(0.3, 0.8), over))
        at += over
    return Grid(rng.uniform(0.3, 0.8), rng.uniform(-1.0, 3.0), tuple(changes))


@pytest.mark.parametrize("seed", range(200))
def test_one_beat_moves_and_all_others_stay(seed: int) -> None:
    rng = random.Random(seed)
    grid, tick = random_grid(rng), rng.randrange(25)
    before = grid.seconds(TICKS)
    low, high = (before[tick - 1] if tick else before[0] - 0.2), before[tick + 1]
    time_s = float(low + (high - low) * rng.uniform(0.3, 0.7))
    after = nudged(grid, tick, time_s)
    expected = before.copy()
    expected[tick] = time_s
    np.testing.assert_allclose(after.seconds(TICKS), expected, atol=EXACT_S)
    np.testing.assert_allclose(clock_of(after).shown(TICKS * after.tick_length_s) + after.offset_s, expected,
                               atol=EXACT_S)  # as scores are played
    back = nudged(after, tick, float(before[tick]))
    np.testing.assert_allclose(back.seconds(TICKS), before, atol=EXACT_S)
    away = rng.uniform(-2.0, 2.0)
    np.testing.assert_allclose(shifted(grid, tick, float(before[tick]) + away).seconds(TICKS), before + away,
                               atol=EXACT_S)


def clock_of(grid: Grid) -> Clock:
    text = Text.of(SCORE)
    document = read(lay_ticks(text, grid).text)
    exact = [tempo._replace(tick=change.tick, tick_s=change.tick_length_s, over=change.over)
             for tempo, change in zip(document.tempo, grid.changes, strict=True)]
    return Clock.of(exact, grid.tick_length_s)


@pytest.mark.parametrize(("tick", "time_s"), [(3, 2.0), (3, 3.01), (3, 9.0), (0, 1.5), (5, float("nan"))])
def test_a_beat_stays_between_its_neighbours(tick: int, time_s: float) -> None:
    with pytest.raises(TaktError, match="between its neighbours"):
        nudged(Grid(0.5, 1.0), tick, time_s)
    with pytest.raises(TaktError, match="overlap"):
        nudged(Grid(0.5, 1.0, (TempoChange(2.0, 0.6, 4.0), TempoChange(3.0, 0.7, 0.0))), 8, 5.0)


class Music:
    """A score with music that is open."""

    def __init__(self, source: str) -> None:
        self.text = Text.of(source)
        self.scores = Scores.of((self.text,), STEPS)
        document = read(self.text)
        self.layout: Layout = lay_out(expand(resolve(document, self.scores)),
                                      clock=Clock.of(document.tempo, document.tick_s))
        self.view = View(1200.0, 400.0).framed(0.0, self.layout.ticks)

    def x(self, tick: float) -> float:
        return float(self.view.x(np.array((tick,)))[0])

    def press(self, tick: float) -> Drag:
        stripe = Stripes.of(self.layout, self.view).music
        assert stripe is not None
        found = hit(self.layout, self.view, self.x(tick), sum(stripe) / 2.0)
        assert (found.part, cursor_of(found)) == (Part.MUSIC, "MOVE_X")
        drag = begin(self.layout, found, self.scores)
        assert drag is not None
        return drag


def beats(source: str) -> FloatArray:
    return grid_of(parse(source)).seconds(TICKS)


@pytest.mark.parametrize("tick", [0, 7, 19, 20, 21, 29, 30, 32, 34, 38])
def test_what_was_heard_where_it_was_pressed_is_heard_on_the_beat(tick: int) -> None:
    music = Music(SCORE)
    proposal = music.press(tick + 0.25).to(music.view, music.x(tick + 0.1), 0.0)
    assert proposal.change is not None and proposal.hint.startswith(f"beat {tick // 4 + 1}.{tick % 4 + 1}: +0.")
    candidate = attempt(music.scores, None, proposal.change)
    new = str(candidate.edited[None].text)
    expected = beats(SCORE)
    heard_s, = grid_of(parse(SCORE)).seconds(np.array((tick + 0.25,))).tolist()
    expected[tick] = heard_s
    np.testing.assert_allclose(beats(new), expected, atol=SPELLED_S)
    if tick < 19:
        assert '<tempo tick="20" tickLength="0.4"/> <!-- faster -->\n  <tempo tick="30"' in new
    assert ("<!-- faster -->" in new) == (tick not in (20, 21))


def test_with_ctrl_all_beats_go_along() -> None:
    music = Music(SCORE)
    proposal = music.press(8.5).to(music.view, music.x(8.1), 0.0, is_free=True)
    assert proposal.change is not None and proposal.hint == "all beats: +0.250 s"
    new = str(attempt(music.scores, None, proposal.change).edited[None].text)
    assert new == SCORE.replace('offset="1"', 'offset="1.25"')


def test_beats_that_cannot_be_moved_say_why() -> None:
    music = Music(SCORE)
    assert "between its neighbours" in music.press(4.0).to(music.view, music.x(9.0), 0.0).refusal
    own = Music(SCORE.replace('  <music src="song" offset="1"/>\n', ""))
    assert Stripes.of(own.layout, own.view).music is None
    inherited = lay_out(expand(resolve(read(own.text), own.scores)), music=parse(SCORE).music)
    stripe = Stripes.of(inherited, own.view).music
    assert stripe is not None
    found = hit(inherited, own.view, own.x(4.0), sum(stripe) / 2.0)
    drag = begin(inherited, found, own.scores)
    assert drag is not None and "names no music" in drag.to(own.view, own.x(5.0), 0.0).refusal
    before = why_not(inherited, found, own.scores)
    assert "names no music" in before and of_handle(inherited, found, refusal=before) == hints.sentence(before)
    assert of_handle(inherited, found) == "Pull this beat of the music to a line; with Ctrl all beats move"
    assert not any(why_not(music.layout, replace(found, tick=tick), music.scores) for tick in (0.0, 4.0, 20.0))
