"""What the mouse is on on the shelf is played: found out in the background, shown by the preview, written nowhere."""

import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import score
from takt.bridge.scores.rehearsal import Rehearsal, score_of
from takt.bridge.shelf import shelf as bridge_shelf
from takt.core.pha.document import parse
from takt.core.playing.motion import Motion
from takt.core.score_editor import shelf
from takt.core.score_editor.commands import Playable
from takt.core.score_editor.picture import Picture
from takt.core.score_editor.theme import Theme
from takt.core.score_editor.view import View
from takt.preview import life
from takt.preview.score_editor import rehearsing, windows
from takt.tests.blender.dancing import play
from takt.tests.blender.score_editors import context, editing

operators: Any = bpy.ops
LEFT = Playable("feet.Steps", "left", 0.8)


def rehearsed(rig: bpy.types.Object, playable: Playable) -> Motion | None:
    rehearsal = Rehearsal(rig, playable)
    for _ in range(1000):
        if (motion := rehearsal.motion()) is not None:
            return motion
        time.sleep(0.005)
    return None


def test_a_clip_and_procedures_are_rehearsed_as_they_would_play(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing():
        before = [text.as_string() for text in bpy.data.texts], len(bpy.data.actions)
        left = rehearsed(rig, LEFT)
        assert left is not None and left.duration_s == pytest.approx(0.8)
        assert left.sequence.clips == ("feet.Steps.left",)
        pair = rehearsed(rig, Playable("", "pair", 2.5, is_clip=False))
        whole = score.motion_of(rig)
        assert pair is not None and whole is not None and 0.0 < pair.duration_s < whole.duration_s
        assert ([text.as_string() for text in bpy.data.texts], len(bpy.data.actions)) == before
        assert score.motion_of(rig) is whole
        nothing = Rehearsal(rig, Playable("feet.Gone", "left", 0.8))
        time.sleep(0.3)
        assert nothing.motion() is None


def test_names_with_quotes_are_rehearsed() -> None:
    text = parse(score_of(Playable("a.b", 'say "<hi>" & go', 0.0))).text
    assert [each["name"] for each in text.shape.attributes if "duration" in each] == ['a.b.say "<hi>" & go']


def test_figures_come_with_the_clips(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with editing():
        while bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        figures = bridge_shelf.figures(rig)
        assert {each.name for each in figures} == {"left", "right"}
        assert all(np.isfinite(figure.strokes).all() for figure in figures.values())


def test_actions_of_the_file_have_figures_too(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    own = properties.character(rig).action
    assert own is not None
    copy = own.copy()
    copy.name = "Copied"
    other = bpy.data.actions.new("Of No Armature")
    with editing():
        found = {each.name: each for each in bridge_shelf.playables(rig)}
        assert bpy.app.timers.is_registered(bridge_shelf._find_next_figure)
        while bridge_shelf._find_next_figure() is not None:
            pass
        figures = bridge_shelf.figures(rig)
        assert found[copy.name] in figures and found[other.name] not in figures
        assert own.name not in found


def test_a_chip_under_the_mouse_plays_for_a_while(
        rig: bpy.types.Object, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(library / "dance.pha")
    now_s = [100.0]
    monkeypatch.setattr(life, "now_s", lambda: now_s[0])
    monkeypatch.setattr(life, "is_running", lambda: True)
    with editing() as layout:
        while bridge_shelf.is_searching(rig):
            time.sleep(0.01)
        window = windows.look_into(context, layout)
        window.shelf = shelf.arrange(bridge_shelf.playables(rig), View(900.0, 400.0), Theme())
        window.chip = windows.Chip(LEFT, 0.0, 0.0, now_s[0])
        assert rehearsing.time_s(window.chip) is None and rehearsing._step() is not None
        assert life.tried_out() is None  # not at once
        now_s[0] += 1.0
        for _ in range(200):
            assert rehearsing._step() is not None
            if life.tried_out() is not None:
                break
            time.sleep(0.01)
        assert isinstance(life.tried_out(), Motion)
        window.chip = None
        assert rehearsing._step() is None and life.tried_out() is None
        window.chip = windows.Chip(LEFT, 0.0, 0.0, now_s[0])
        now_s[0] += 1000.0
        assert rehearsing._step() is None and life.tried_out() is None  # it comes to an end by itself
        assert properties.character(rig).text is not None


def test_a_chip_that_is_dragged_away_is_no_longer_under_the_mouse(rig: bpy.types.Object, library: Path) -> None:
    """Where it was dropped, nothing may lie over the score until the mouse moves."""
    play(library / "dance.pha")
    with editing():
        window = windows.window_of(context.space_data)
        assert window is not None
        window.chip = windows.Chip(LEFT, 9.0, 9.0, life.now_s())
        windows.show_in_front(bpy.context, lambda _: Picture(()))
        windows.show_in_front(bpy.context, None)
        assert window.chip is None
