"""Boxes that are opened: what they call is shown in place, and can be hit, dropped upon and left again."""

import random

import numpy as np
import pytest

from takt.core.pha.document import read
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.pha.text import Text
from takt.core.score_editor.drawing import picture
from takt.core.score_editor.drop import drop_at
from takt.core.score_editor.gestures import hit
from takt.core.score_editor.hit import Part
from takt.core.score_editor.layout import Layout, lay_out
from takt.core.score_editor.opening import closed, is_open, opened, outermost
from takt.core.score_editor.stripes import TITLE_PX, Stripes
from takt.core.score_editor.view import View
from takt.tests.core.scores import STEPS, procedure, score
from takt.tests.core.test_pha_origins import random_score

VIEW = View(1200.0, 400.0)
DEEP = [procedure("p0", 'left duration="1"', 'nod duration="1"'),
        *(procedure(f"p{at}", f'p{at - 1} duration="1"', 'right duration="1"') for at in range(1, 14)),
        procedure("main", 'right duration="1"', 'p13 duration="30000"')]


def laid_out(source: str) -> Layout:
    return lay_out(expand(resolve(read(Text.of(source)), STEPS)))


def title_of(layout: Layout, view: View, box: int) -> tuple[float, float]:
    """A pixel in the title of a box."""
    boxes, one = layout.boxes, np.array((box,))
    _, high = Stripes.of(layout, view).boxes(boxes.lane[one], boxes.depth[one])
    left, right = view.x(boxes.begin[one])[0], view.x(boxes.end[one])[0]
    return float(left + min((right - left) / 3.0, 12.0)), float(high[0]) - TITLE_PX / 2.0


def test_what_is_too_deep_is_reached_by_opening_and_left_again() -> None:
    layout = laid_out(score(*DEEP))
    view, way = VIEW.framed(0.0, layout.ticks), []
    for name in [f"p{at}" for at in range(13, -1, -1)]:
        box = layout.boxes.titles.index(name)
        assert not is_open(layout, view, box)
        found = hit(layout, view, *title_of(layout, view, box))
        assert (found.part, found.box) == (Part.BODY, box)
        view = opened(layout, view, box)
        way.append(name)
        assert view.opened is not None and view.opened.title == name and is_open(layout, view, box)
        inside = [layout.boxes.titles[i] for i in outermost(layout, view).tolist()]
        assert inside == (["left", "nod"] if name == "p0" else [f"p{int(name[1:]) - 1}", "right"])
        words = [text.words for layer in picture(layout, view).layers for text in layer.texts]
        assert f"‹ {name}" in words and all(f"p{at}" not in words for at in range(int(name[1:]), 14))
    for name in way[-2::-1]:
        back = closed(layout, view)
        assert back is not None and back.opened is not None and back.opened.title == name
        view = back
    assert closed(layout, view) is None


@pytest.mark.parametrize("seed", range(40))
def test_in_an_open_box_all_is_where_it_is_drawn(seed: int) -> None:
    rng = random.Random(seed)
    layout = laid_out(random_score(rng))
    boxes = layout.boxes
    if len(layout) > 3000:
        return
    box = rng.randrange(len(layout))
    view = opened(layout, VIEW, box)
    inside = np.flatnonzero(boxes.parent == box)
    assert (view.opened is None) == (not len(inside))
    if view.opened is None:
        return
    assert set(outermost(layout, view).tolist()) == set(inside.tolist())
    for inner in inside[boxes.length[inside] * view.px_per_tick > 8.0].tolist():
        found = hit(layout, view, *title_of(layout, view, inner))
        assert (found.part, found.box) == (Part.BODY, inner)
        gap = drop_at(layout, view, *title_of(layout, view, inner))
        assert gap is not None and gap.depth == boxes.depth[inner]
        assert gap.parent == layout.documents[0].text.parent(int(boxes.element[inner]))
    drawn = picture(layout, view).layers[1].rectangles.boxes
    high = float(Stripes.of(layout, view).lane_high[0])
    assert len(drawn) and (drawn[:, 3] <= high + 1e-9).all()


def test_nothing_is_lost_where_an_open_box_is_gone() -> None:
    before, after = laid_out(score(*DEEP)), laid_out(score(procedure("main", 'left duration="2"')))
    view = opened(before, VIEW, before.boxes.titles.index("p9"))
    assert Stripes.of(after, view).tops.tolist() == [0]
    assert not closed(after, view) and len(picture(after, view.framed(0.0, 2.0)).layers[1].rectangles)
