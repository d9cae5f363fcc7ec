"""Play on Character: a score goes from one character to another with all that it is played by."""

from pathlib import Path
from typing import Any, cast

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.scores import given_score, score, score_tree
from takt.tests.blender.dancing import play, rebuild
from takt.tests.blender.score_editors import editing

operators: Any = bpy.ops


@pytest.fixture
def other(rig: bpy.types.Object) -> bpy.types.Object:
    made = cast(bpy.types.Object, rig.copy())
    made.data = cast(bpy.types.Armature, rig.data).copy()
    made.name = "Other"
    bpy.context.collection.objects.link(made)
    return made


def test_the_one_that_is_picked_plays_the_same_score_by_the_same_settings(
        rig: bpy.types.Object, other: bpy.types.Object, library: Path,
        tmp_path_factory: pytest.TempPathFactory) -> None:
    play(library / "dance.pha")
    own = properties.character(rig)
    own.folders.add().path = str(tmp_path_factory.mktemp("more"))
    own.loop = True
    assert operators.takt.play_on_character(character="Other") == {"FINISHED"}
    picked = properties.character(other)
    assert bpy.context.active_object == other and other.select_get() and not rig.select_get()
    assert picked.text == own.text and picked.loop
    assert [folder.path for folder in picked.folders] == [folder.path for folder in own.folders]
    assert all(getattr(picked, name) == getattr(own, name) for name in properties.SETTING_NAMES)
    assert score.motion_of(other) is not None and own.action is not None
    rebuild()
    assert given_score.plays_as(other, own)
    assert operators.takt.play_on_character(character=rig.name) == {"FINISHED"}
    assert bpy.context.active_object == rig and picked.text == own.text


def test_the_editor_of_one_shows_what_the_other_plays_too(
        rig: bpy.types.Object, other: bpy.types.Object, library: Path) -> None:
    """Then a strip in the viewport would only repeat it."""
    play(library / "dance.pha")
    assert operators.takt.play_on_character(character="Other") == {"FINISHED"}
    with editing():
        assert all(score_tree.is_shown_in(bpy.context.window, each) for each in (rig, other))
        properties.character(rig).text = bpy.data.texts.new("another.pha")
        assert [score_tree.is_shown_in(bpy.context.window, each) for each in (rig, other)] == [False, True]


def test_who_is_not_there_cannot_dance(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    with pytest.raises(RuntimeError, match="no character called"):
        operators.takt.play_on_character(character="Nobody")
    assert bpy.context.active_object == rig
