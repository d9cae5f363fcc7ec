"""The strip below a viewport: the editor's layout, smaller, over the time of the motion."""

import random

import numpy as np
import pytest

from takt.core.playing.motion import Motion
from takt.core.playing.performer import Performer
from takt.core.playing.score import Settings, play
from takt.core.playing.transitions.methods import TRANSITION_METHODS
from takt.core.score_editor.strip import Pointed, Strip
from takt.core.score_editor.stripes import SEAM_PX, TITLE_PX, Stripes
from takt.core.score_editor.theme import Theme
from takt.tests.core.scores import UP_Z, procedure, programme

WALK = procedure("walk", 'left duration="1" transition="0.2"', 'right duration="1" transition="0.2"')
MAIN = procedure("main", 'walk duration="2" repeat="2"', 'nod duration="1"')


def motion(method: str = "BOTH", *procedures: str) -> Motion:
    return play(programme(*(procedures or (WALK, MAIN))), Performer(None, UP_Z), Settings(method=method))


@pytest.mark.parametrize("method", sorted(TRANSITION_METHODS))
def test_each_time_lies_within_the_box_that_plays_then(method: str) -> None:
    played = motion(method)
    strip, rng = Strip.of(played), random.Random(method)
    view = strip.view(800.0, 1.0)
    low = float(Stripes.of(strip.layout, view).lane_low[0]) + (SEAM_PX + 1.0) * view.scale
    for segment in range(len(played.sequence)):
        begin, end = float(played.layout.begin_s[segment]), float(played.layout.end_s[segment])
        time_s = begin + (end - begin) * rng.uniform(0.1, 0.9)
        x = strip.x(view, time_s)
        assert strip.time_s(view, x) == pytest.approx(time_s)
        box = strip.boxes_at(view, x, low)[0]
        name = played.sequence.clips[int(played.sequence.clip[segment])]
        assert name.endswith(strip.layout.boxes.titles[box])
    assert [strip.time_s(view, x) for x in (-9e9, 9e9)] == pytest.approx([0.0, played.duration_s])
    assert strip.x(view, 9e9) == pytest.approx(view.width)


def test_a_transition_leads_to_the_call_that_says_how_long_it_is() -> None:
    strip = Strip.of(motion())
    view = strip.view(800.0, 1.0)
    foot = float(Stripes.of(strip.layout, view).lane_low[0]) + 2.0
    titles = [[strip.layout.boxes.titles[box] for box in strip.boxes_at(view, strip.x(view, time_s), foot)]
              for time_s in (1.0, 2.0, 4.0)]
    assert titles == [["left", "walk"], ["right", "walk"], ["right", "walk"]]
    repeated = Strip.of(motion("BOTH", procedure("main", 'left duration="1" repeat="3"')))
    view = repeated.view(800.0, 1.0)
    (box,) = repeated.boxes_at(view, repeated.x(view, 1.0), 2.0)
    assert repeated.layout.boxes.titles[box] == "left"


def test_it_is_low_however_deep_procedures_are() -> None:
    deep = [procedure("p0", 'left duration="1"'),
            *(procedure(f"p{at}", f'p{at - 1} duration="1"') for at in range(1, 20)),
            procedure("main", 'p19 duration="4"')]
    strip = Strip.of(motion("BOTH", *deep))
    view = strip.view(800.0, 1.0)
    assert view.height < 90.0
    stripes = Stripes.of(strip.layout, view)
    assert stripes.music is None and view.left == 0.0 and float(stripes.lane_high[0]) == view.height
    box = strip.boxes_at(view, 400.0, view.height - 2.5 * TITLE_PX * view.scale)[0]
    assert strip.layout.boxes.titles[box] == "p17"


@pytest.mark.parametrize("wide", [1.0, 30.0, 800.0])
def test_all_is_drawn_within_it(wide: float) -> None:
    strip = Strip.of(motion())
    view, theme = strip.view(wide, 2.0), Theme()
    _, boxes = strip.lasting(view, theme)
    assert boxes.rectangles.boxes[:, 1].min() >= 0.0 and boxes.rectangles.boxes[:, 3].max() <= view.height
    passing = strip.passing(view, theme, 1.0, (1.0, 4.0), Pointed(5.0, "what plays\nand why"))
    dimmed = passing.rectangles.boxes[:2]
    np.testing.assert_allclose(dimmed[:, (0, 2)], ((0.0, wide / 5.0), (wide * 4.0 / 5.0, wide)))
    assert [text.words for text in passing.texts] == ["1.00", "and why", "what plays"]
    assert passing.texts[0].y < passing.texts[1].y < passing.texts[2].y
    moved = boxes.moved(10.0, 20.0)
    np.testing.assert_allclose(moved.rectangles.boxes - boxes.rectangles.boxes, [(10, 20, 10, 20)] * len(
        boxes.rectangles.boxes))
