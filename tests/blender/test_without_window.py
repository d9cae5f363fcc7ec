"""Operators that need a window, called without one: they say so and do nothing."""

from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.active_character import active_armature
from takt.tests.blender.dancing import play

takt: Any = bpy.ops.takt  # type: ignore[attr-defined]


def test_edit_score_without_a_window_is_refused(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    texts = len(bpy.data.texts)
    (library / "other.pha").write_text("<pha/>", encoding="utf-8")
    for area in (area for window in bpy.context.window_manager.windows for area in window.screen.areas):
        area.type = "VIEW_3D"
    with bpy.context.temp_override(window=None, active_object=rig), pytest.raises(
            RuntimeError, match="no window to show the score in"):
        takt.edit_score(filepath=str(library / "other.pha"))
    assert len(bpy.data.texts) == texts


def test_play_clip_that_is_to_ask_without_a_window_names_the_clips(rig: bpy.types.Object, library: Path) -> None:
    path = str(library / "feet" / "Steps.skeleton.xml")
    with pytest.raises(RuntimeError, match=r"2 clips .* no window .*left, right"):
        takt.play_clip(filepath=path, asks=True)
    assert not bpy.data.actions
    assert takt.play_clip(filepath=path, asks=True, clip="right") == {"FINISHED"}


def test_undo_takes_back_a_text_that_edit_score_opened(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    (library / "other.pha").write_text("<pha/>", encoding="utf-8")
    window = bpy.context.window_manager.windows[0]
    window.screen.areas[0].type = "TEXT_EDITOR"
    with bpy.context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="before")
        takt.edit_score(filepath=str(library / "other.pha"))
        assert "other.pha" in bpy.data.texts
        bpy.data.objects["Rig"].location.x = 1.0
        bpy.ops.ed.undo_push(message="moved")
        bpy.ops.ed.undo()
        assert "other.pha" in bpy.data.texts and bpy.data.objects["Rig"].location.x == 0.0
        bpy.ops.ed.undo()
    assert "other.pha" not in bpy.data.texts
    assert properties.character(bpy.data.objects["Rig"]).text is not None


def test_where_the_context_has_no_window_there_is_no_active_character(rig: bpy.types.Object) -> None:
    with bpy.context.temp_override(window=None):
        assert active_armature(bpy.context) is None and not takt.play_clip.poll() and not takt.edit_score.poll()
    assert active_armature(bpy.context) == rig
