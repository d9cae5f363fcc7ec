"""Loops, conditions, choices, waits and lanes of version 2, as the score editor shows them."""

import numpy as np
import pytest

from takt.core.errors import ScoreError
from takt.core.pha.document import parse
from takt.core.pha.expansion import expand
from takt.core.pha.programme import resolve
from takt.core.score_editor.boxes import Kind
from takt.core.score_editor.drawing import picture
from takt.core.score_editor.gestures import hit
from takt.core.score_editor.hit import Part
from takt.core.score_editor.layout import Layout, lay_out
from takt.core.score_editor.stripes import Stripes, untaken_at
from takt.core.score_editor.view import View
from takt.tests.core.score_programmes import programme
from takt.tests.core.scores import STEPS
from takt.tests.core.test_pha_random_programmes import PROGRAMMES, Texts

EXACT = 1e-9


def laid_out(inside: str, seed: int = 0) -> Layout:
    text = f'<pha version="2" tickLength="0.5"><load src="feet.Steps"/>{inside}</pha>'
    return lay_out(expand(resolve(parse(text), STEPS), seed=seed))


def shown(layout: Layout) -> list[tuple[str, str, int, float, float, int]]:
    boxes = layout.boxes
    return [(boxes.titles[i], Kind(int(boxes.kind[i])).name, int(boxes.depth[i]), float(boxes.begin[i]),
             float(boxes.length[i]), int(boxes.repeat[i])) for i in range(len(boxes))]


def test_loops_conditions_and_waits() -> None:
    layout = laid_out("""<procedure name="main">
        <loop times="3" index="i"><if test="i == 1"><call name="nod" duration="2"/></if>
            <else><wait duration="1"/></else></loop>
        <loop times="2"><call name="left" duration="1"/></loop></procedure>""")
    assert shown(layout) == [
        ("loop", "LOOP", 0, 0.0, 4.0, 3), ("loop", "LOOP", 0, 4.0, 2.0, 2),
        ("else", "CONDITION", 1, 0.0, 1.0, 1), ("if i == 1", "CONDITION", 1, 1.0, 2.0, 1),
        ("else", "CONDITION", 1, 3.0, 1.0, 1), ("left", "CLIP", 1, 4.0, 1.0, 1), ("left", "CLIP", 1, 5.0, 1.0, 1),
        ("wait", "WAIT", 2, 0.0, 1.0, 1), ("nod", "CLIP", 2, 1.0, 2.0, 1), ("wait", "WAIT", 2, 3.0, 1.0, 1)]


def test_values_and_directions_are_written_on_calls() -> None:
    layout = laid_out("""<procedure name="step"><param name="n" default="1"/>
            <call name="left" duration="n"/></procedure>
        <procedure name="main"><call name="step" duration="2" mirror="yes"><with n="1 + 1"/></call></procedure>""")
    assert layout.boxes.titles == ("step(n=1 + 1) ⇄", "left")
    assert layout.boxes.scale.tolist() == [1.0, 1.0]


def test_what_is_not_taken_is_folded() -> None:
    layout = laid_out("""<procedure name="main"><call name="nod" duration="2"/>
        <if test="1 &gt; 2"><call name="left" duration="1"/></if>
        <elif test="yes"><call name="right" duration="1"/></elif>
        <else><call name="left" duration="1"/></else><call name="left" duration="0"/></procedure>""")
    assert [(each.tick, each.depth, each.title) for each in layout.untaken] == [
        (2.0, 0, "if 1 > 2"), (3.0, 0, "else"), (3.0, 0, "left")]
    assert "elif yes" in layout.boxes.titles


def test_a_loop_that_plays_only_for_some_calls_is_folded_for_the_others() -> None:
    layout = laid_out("""<procedure name="any"><param name="n" default="1"/><call name="nod" duration="1"/>
            <loop times="n"><call name="left" duration="1"/></loop></procedure>
        <procedure name="main"><call name="any" duration="2"/>
            <call name="any" duration="1"><with n="0"/></call></procedure>""")
    assert [(each.tick, each.depth, each.title) for each in layout.untaken] == [(3.0, 1, "loop n")]


def test_a_call_whose_repetitions_differ_is_one_box() -> None:
    layout = laid_out("""<procedure name="any"><pick><call name="left" duration="1"/><call name="nod" duration="1"/>
        </pick></procedure><procedure name="main"><call name="any" duration="2" repeat="6"/></procedure>""", seed=1)
    boxes = layout.boxes
    assert shown(layout)[0] == ("any", "PROCEDURE", 0, 0.0, 12.0, 6)
    assert (boxes.depth == 1).sum() == 6
    assert {boxes.titles[i] for i in np.flatnonzero(boxes.depth == 1)} == {"pick"}
    assert {boxes.titles[i] for i in np.flatnonzero(boxes.depth == 2)} == {"left", "nod"}
    assert len(layout.untaken) == 6


def test_lanes() -> None:
    layout = laid_out("""<procedure name="main"><call name="nod" duration="2"/>
        <together duration="8"><lane body="lower"><call name="left" duration="1" repeat="4"/></lane>
            <lane body="head" weight="0" weightEnd="1" ease="0.5"><wait duration="1"/><call name="nod" duration="3"/>
            </lane></together>
        <together><lane><call name="left" duration="3"/></lane><lane body="head"><call name="nod" duration="1"/></lane>
            <lane body="head"><call name="right" duration="2"/></lane></together></procedure>""")
    assert layout.lanes == ("main", "head", "head")
    boxes = layout.boxes
    assert [(boxes.titles[i], int(boxes.lane[i]), int(boxes.depth[i]), float(boxes.begin[i]), float(boxes.length[i]))
            for i in range(len(boxes))] == [
        ("nod", 0, 0, 0.0, 2.0), ("together", 0, 0, 2.0, 8.0), ("together", 0, 0, 10.0, 3.0),
        ("left", 0, 1, 2.0, 8.0), ("wait", 1, 0, 2.0, 2.0), ("nod", 1, 0, 4.0, 6.0),
        ("left", 0, 1, 10.0, 3.0), ("nod", 1, 0, 10.0, 3.0), ("right", 2, 0, 10.0, 3.0)]
    assert boxes.scale.tolist() == [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 3.0, 1.5]
    assert boxes.parent.tolist() == [-1, -1, -1, 1, 1, 1, 2, 2, 2]
    head = layout.voices[1]
    assert (head.body, head.weight, head.weight_end, head.ease_in, head.begin, head.length) == (
        "head", 0.0, 1.0, 0.5, 2.0, 8.0)
    assert layout.documents[0].text.shape.attributes[head.element]["body"] == "head"



@pytest.mark.slow
@pytest.mark.parametrize("group", range(10))
def test_random_programmes(group: int) -> None:
    """Every segment begins and ends where a box without others in it does, and boxes lie within those around them."""
    played = 0
    for seed in range(group * PROGRAMMES // 10, (group + 1) * PROGRAMMES // 10):
        texts = programme(seed)
        try:
            layout = lay_out(expand(resolve(parse(texts[""]), Texts(texts)), seed=seed))
        except ScoreError:
            continue
        played += 1
        check(layout)
    assert played


def check(layout: Layout) -> None:
    boxes = layout.boxes
    slack = EXACT * max(layout.ticks, 1.0)
    starts = layout.rows[0].start_s / layout.tick_s
    main = boxes.lane == 0
    leaves = np.isin(boxes.kind, (Kind.CLIP, Kind.WAIT, Kind.TOGETHER)) & main
    begins = np.concatenate([boxes.begin[i] + np.arange(boxes.repeat[i]) * boxes.length[i] / boxes.repeat[i]
                             for i in np.flatnonzero(leaves)])
    assert np.abs(starts[:, None] - begins).min(axis=1).max() <= slack
    inner = np.flatnonzero(boxes.parent >= 0)
    outer = boxes.parent[inner]
    assert (outer < inner).all()
    assert (boxes.begin[inner] >= boxes.begin[outer] - slack).all()
    assert (boxes.end[inner] <= boxes.end[outer] + slack).all()
    same_lane = boxes.lane[inner] == boxes.lane[outer]
    assert (boxes.depth[inner[same_lane]] == boxes.depth[outer[same_lane]] + 1).all()
    for i in range(len(boxes)):
        inside = np.flatnonzero((boxes.parent == i) & (boxes.lane == boxes.lane[i]))
        if len(inside):
            assert boxes.length[inside].sum() == pytest.approx(boxes.length[i], abs=slack)
            order = inside[np.argsort(boxes.begin[inside], kind="stable")]
            np.testing.assert_allclose(boxes.end[order[:-1]], boxes.begin[order[1:]], atol=slack)
    assert len({layout.id_of(i) for i in range(len(boxes))}) == len(boxes)
    for box in range(len(boxes)):
        document = layout.documents[int(boxes.document[box])]
        assert document.text.shape.tags[int(boxes.element[box])] in (
            "call", "wait", "together", "loop", "if", "elif", "else", "pick")
    for voice in layout.voices:
        assert layout.documents[voice.document].text.shape.tags[voice.element] == "lane"
    assert (layout.seams.lane < len(layout.lanes)).all()


def test_of_many_lanes_and_branches_only_some_are_drawn() -> None:
    block = ('<together><lane><call name="nod" duration="1"/></lane><lane body="head" weight="0"><call name="left" '
             'duration="1"/></lane></together><if test="no"><call name="left" duration="1"/></if>')
    layout = laid_out(f'<procedure name="main">{block * 1000}</procedure>')
    assert len(layout.untaken) == 1000
    assert len(layout.voices) == 2000
    assert layout.lanes == ("main", "head")
    drawn = picture(layout, View(1000.0, 400.0).framed(0.0, layout.ticks))
    assert len(drawn.layers[1].triangles.corners) < 200 * (6 + 18)
    near = View(1000.0, 400.0, first_tick=500.0, px_per_tick=100.0)
    assert layout.untaken_between(near.first_tick, near.last_tick).tolist() == list(range(499, 509))
    x, y = untaken_at(layout.untaken[502], near, Stripes.of(layout, near))
    found = hit(layout, near, x, y)
    assert (found.part, found.untaken) == (Part.UNTAKEN, 502)
