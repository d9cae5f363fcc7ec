"""What the motion misses of the scene is red in the score editor, and no drawing performs the score for that."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import performing, score, score_blocks
from takt.preview.score_editor import life
from takt.tests.blender.dancing import Wait, sample_with_score
from takt.tests.blender.score_editors import editing, named
from takt.tests.blender.test_cast import added

SCORE = """<pha version="2" tickLength="1"><load src="feet.Steps"/><role name="seat" is="place"/>
  <procedure name="walk"><call name="left_step" duration="1"/><call name="right_step" duration="1"/></procedure>
  <procedure name="main">
    <call name="walk" duration="2"/>
    <call name="walk" to="seat" duration="8" repeat="fit"/>
  </procedure>
</pha>
"""
NEAR, FAR = (0.0, -5.0, 0.0), (0.0, -40.0, 0.0)


@pytest.fixture
def walker(tmp_path: Path) -> bpy.types.Object:
    """Return the sample character with a score that goes to a place, an empty far away."""
    found = sample_with_score(tmp_path / "scene.pha", SCORE)
    properties.character(found).cast["seat"].target = added("Seat", None, location=FAR)
    return found


def red(walker: bpy.types.Object) -> list[str]:
    """Return the titles of what a drawing shows in red, with what the mouse is told there."""
    blocks = score_blocks.shown(walker)
    assert blocks is not None and blocks.layout is not None
    missed = life._missed(walker)
    marked = life.marked(None, blocks, missed=missed)
    assert all(missed[box].is_missed for box in marked.missed) and not marked.errors
    return [blocks.layout.boxes.titles[blocks.layout.find(box) or 0] for box in marked.missed]


def moved(seat: bpy.types.Object, to: tuple[float, float, float]) -> None:
    seat.location = to
    layer = bpy.context.view_layer
    assert layer is not None
    layer.update()


def test_a_place_too_far_is_red_until_it_is_nearer(walker: bpy.types.Object, wait: Wait) -> None:
    seat = properties.character(walker).cast["seat"].target
    assert seat is not None
    with editing() as layout:
        for where, expected in ((FAR, ["walk → seat"]), (NEAR, []), (FAR, ["walk → seat"])):
            moved(seat, where)
            red(walker)
            wait(1.0)
            assert red(walker) == expected
        missed = life._missed(walker)
        way, first = (layout.boxes.titles.index(title) for title in ("walk → seat", "walk"))
        within = int(np.flatnonzero(layout.boxes.parent == way)[0])
        problems = [life.problem_at(layout, box, {}, missed) for box in (way, within, first)]
        assert problems[0] is not None and problems[0] is problems[1] and problems[2] is None
        words = problems[0].message
        assert "times as long as its clip does" in words and "would do" in words


def test_a_drawing_performs_nothing_and_keeps_what_was_red(walker: bpy.types.Object, wait: Wait,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    seat, calls = properties.character(walker).cast["seat"].target, list[int]()
    assert seat is not None
    with editing():
        red(walker)
        wait(1.0)
        assert red(walker) == ["walk → seat"]
        real = performing.perform

        def counted(*given: Any) -> Any:
            calls.append(1)
            return real(*given)

        monkeypatch.setattr(performing, "perform", counted)
        moved(seat, NEAR)
        blocks = score_blocks.shown(walker)
        with monkeypatch.context() as asleep:
            asleep.setattr(score, "BackgroundPerformance", None)
            assert red(walker) == ["walk → seat"] and not calls
        wait(1.0)
        assert red(walker) == [] and calls
        life._refresh()
        later = score_blocks.shown(walker)
        assert blocks is not None and later is not None and later.motion is not None and later is not blocks


def test_lines_before_it_are_typed_and_the_same_call_stays_red(walker: bpy.types.Object, wait: Wait) -> None:
    text = properties.character(walker).text
    assert text is not None
    with editing():
        red(walker)
        wait(1.0)
        assert red(walker) == ["walk → seat"]
        text.from_string(SCORE.replace('<call name="walk" duration="2"/>', '<call name="left_step" duration="1"/>\n'
                                       '    <call name="right_step" duration="1"/>'))
        score_blocks.refresh(walker)
        assert red(walker) == ["walk → seat"]


def test_a_role_that_nobody_plays_says_so_at_its_block(walker: bpy.types.Object, wait: Wait) -> None:
    properties.character(walker).cast["seat"].target = None
    with editing() as layout:
        red(walker)
        wait(1.0)
        assert red(walker) == []
        assert "is not cast" in life._missed(walker)[named(layout, "walk → seat")].message
