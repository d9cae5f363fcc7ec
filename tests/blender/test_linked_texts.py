"""Scores linked to files: opened, saved there, read again when these change outside, asked when both changed."""

import os
import threading
from pathlib import Path
from typing import Any, cast

import bpy
import pytest

from takt.bridge import background, properties
from takt.bridge.scores import following, linked_texts
from takt.core.errors import FileError
from takt.tests.blender.dancing import STEPS, play

OTHER = STEPS.replace("0.7", "0.9")
THIRD = STEPS.replace("0.7", "1.9")
operators: Any = cast(Any, bpy.ops).takt


@pytest.fixture
def path(library: Path) -> Path:
    return library / "dance.pha"


@pytest.fixture
def text(rig: bpy.types.Object, path: Path) -> bpy.types.Text:
    play(path)
    found = properties.character(rig).text
    assert found is not None
    return found


def change(path: Path, content: str) -> None:
    """Write a file as another program would, a moment later."""
    before = path.stat().st_mtime_ns
    path.write_text(content, encoding="utf-8")
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_an_imported_score_keeps_its_file(text: bpy.types.Text, path: Path) -> None:
    assert linked_texts.path_of(text) == path and linked_texts.state(text) == "SAME"
    play(path)
    assert len(bpy.data.texts) == 1


def test_what_is_typed_is_saved_there(text: bpy.types.Text, path: Path) -> None:
    text.from_string(OTHER)
    assert linked_texts.look(text) == "UNSAVED" and path.read_text() == STEPS
    assert operators.save_score() == {"FINISHED"}
    assert path.read_text() == OTHER and linked_texts.look(text) == "SAME" and not text.is_dirty


def test_a_score_is_saved_while_work_goes_on(text: bpy.types.Text, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where operators in another context would have to wait until a mesh is bound."""
    monkeypatch.setattr(background, "OVERRIDES_NEED_QUIET", True)
    go = threading.Event()
    work = background.BackgroundWork(lambda _: go.wait(20.0))
    text.from_string(OTHER)
    assert operators.save_score() == {"FINISHED"} and not work.has_ended()
    assert path.read_text() == OTHER and linked_texts.look(text) == "SAME"
    go.set()
    work.end()


def test_what_changes_outside_is_read_again_and_played(rig: bpy.types.Object, text: bpy.types.Text, path: Path) -> None:
    following.look(0.0)
    change(path, OTHER)
    following.look(1.0)
    assert text.as_string() == OTHER and following.file_state(text) == "SAME"
    change(path, STEPS)
    following.look(2.0)
    assert text.as_string() == STEPS


@pytest.mark.parametrize("is_file_kept", [False, True])
def test_where_both_changed_it_is_asked(text: bpy.types.Text, path: Path, is_file_kept: bool) -> None:
    text.from_string(OTHER)
    change(path, THIRD)
    following.look(1.0)
    assert following.file_state(text) == "BOTH" and (text.as_string(), path.read_text()) == (OTHER, THIRD)
    with pytest.raises(RuntimeError, match="changed outside"):
        operators.save_score()
    assert path.read_text() == THIRD
    assert (operators.reload_score() if is_file_kept else operators.save_score(overwrite=True)) == {"FINISHED"}
    following.look(2.0)
    assert following.file_state(text) == "SAME"
    assert text.as_string() == path.read_text() == (THIRD if is_file_kept else OTHER)


@pytest.mark.parametrize("is_saved", [False, True])
def test_what_another_blender_writes_at_the_same_moment_counts_as_changed(
        text: bpy.types.Text, path: Path, is_saved: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between what is written or read and the look at the file's times."""
    name = "write_whole" if is_saved else "read_text"
    own, count = getattr(linked_texts, name), [0]

    def then_another_writes(*given: Any) -> Any:
        found = own(*given)
        count[0] += 1
        if count[0] == 1:
            path.write_text(THIRD, encoding="utf-8")
        return found

    text.from_string(OTHER)
    monkeypatch.setattr(linked_texts, name, then_another_writes)
    assert (operators.save_score() if is_saved else operators.reload_score()) == {"FINISHED"}
    text.from_string(STEPS.replace("0.7", "2.9"))
    assert linked_texts.state(text) == "BOTH"
    with pytest.raises(RuntimeError, match="changed outside"):
        operators.save_score()
    assert path.read_text() == THIRD


@pytest.mark.parametrize("is_opened_later", [False, True])
@pytest.mark.parametrize("is_typed", [False, True])
def test_a_file_that_was_only_touched_is_not_changed(text: bpy.types.Text, path: Path, is_typed: bool,
                                                     is_opened_later: bool) -> None:
    if is_typed:
        text.from_string(OTHER)
    if is_opened_later:
        linked_texts.forget()
    change(path, STEPS)
    assert linked_texts.look(text) == ("UNSAVED" if is_typed else "SAME")
    assert operators.save_score() == {"FINISHED"}
    assert path.read_text() == (OTHER if is_typed else STEPS)


@pytest.mark.parametrize("is_typed", [False, True])
def test_a_blend_that_is_opened_later_sees_what_has_become_of_the_file(text: bpy.types.Text, path: Path,
                                                                        is_typed: bool) -> None:
    if is_typed:
        text.from_string(OTHER)
    linked_texts.forget()
    change(path, THIRD)
    assert linked_texts.look(text) == ("BOTH" if is_typed else "SAME")
    assert text.as_string() == (OTHER if is_typed else THIRD)


def test_opening_a_file_again_keeps_what_is_not_saved(rig: bpy.types.Object, text: bpy.types.Text, path: Path) -> None:
    text.from_string(OTHER)
    play(path)
    now = properties.character(rig).text
    assert now != text and now.as_string() == STEPS and text.as_string() == OTHER and not text.filepath


def test_other_line_ends_and_a_mark_at_the_start_are_read(rig: bpy.types.Object, path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + STEPS.replace("\n", "\r\n").encode())
    play(path)
    text = properties.character(rig).text
    assert text is not None and text.as_string() == STEPS and linked_texts.state(text) == "SAME"


def test_a_file_that_went_away_is_told(text: bpy.types.Text, path: Path) -> None:
    path.unlink()
    assert linked_texts.look(text) == "SAME"
    with pytest.raises(FileError, match="no longer there"):
        linked_texts.reload(text)
    operators.save_score()
    assert path.read_text() == STEPS


def test_a_text_without_a_file_cannot_be_saved_there(rig: bpy.types.Object) -> None:
    operators.new_score()
    with pytest.raises(RuntimeError, match=r"kept in the \.blend alone"):
        operators.save_score()


def test_a_file_that_was_opened_again_knows_what_was_not_saved(text: bpy.types.Text, path: Path,
                                                              tmp_path: Path) -> None:
    text.from_string(OTHER)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "dance.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "dance.blend"))
    linked_texts.forget()
    again = bpy.data.texts[0]
    assert again.as_string() == OTHER and linked_texts.state(again) == "UNSAVED"
    change(path, THIRD)
    linked_texts.forget()
    assert linked_texts.state(again) == "BOTH"
