"""Actions that are so long that they are only written when someone says so."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from takt.bridge import following, long_actions, properties, score, score_blocks, score_edits
from takt.operators.rebuild import TAKT_OT_rebuild
from takt.tests.blender.dancing import STEPS, perform, play, rebuild, text_of

LONG = STEPS.replace('duration="0.7"', 'duration="20.7"')
takt: Any = bpy.ops.takt  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def few_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an Action of STEPS be short and one of LONG be long."""
    monkeypatch.setattr(long_actions, "MOST_KEYS", 1_000)


def made_from(rig: bpy.types.Object) -> str:
    action = properties.character(rig).action
    return "" if action is None else getattr(action, properties.MADE_FROM)


def test_frames_and_bones_that_move_are_counted(rig: bpy.types.Object, library: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    play(library / "dance.pha")
    motion = score.motion_of(rig)
    assert motion is not None
    frames, bones = motion.duration_s * 24.0, sum(bool(moved) for moved in motion.clips[0].moved)
    assert bones > 1
    monkeypatch.setattr(long_actions, "MOST_KEYS", frames * bones)
    assert not long_actions.problem(motion, 24.0)
    assert f"for {bones} bones" in long_actions.problem(motion, 24.1)
    monkeypatch.setattr(long_actions, "MOST_KEYS", 1_000_000)
    assert not long_actions.problem(motion, 24.1)
    assert "frames long" in long_actions.problem(motion, 1.01 * long_actions.MOST_FRAMES / motion.duration_s)


def test_rebuild_by_a_script_is_refused_until_it_says_so(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    before = made_from(rig)
    text_of(rig).from_string(LONG)
    with pytest.raises(RuntimeError, match=r"617 frames long, for \d bones.*1,000 frames times bones.*write_long"):
        takt.rebuild()
    assert before and made_from(rig) == before
    assert takt.rebuild(write_long=True) == {"FINISHED"}
    assert made_from(rig) != before
    with pytest.raises(RuntimeError, match="write_long"):  # it is not remembered
        takt.rebuild()


def test_the_button_asks_and_writes_what_was_confirmed(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    text_of(rig).from_string(LONG)
    before, asked, said = made_from(rig), list[str](), list[str]()

    def confirm(*_: Any, message: str, **__: Any) -> set[str]:
        asked.append(message)
        return {"RUNNING_MODAL"}

    manager = SimpleNamespace(invoke_confirm=confirm, progress_begin=lambda *_: None,
                              progress_update=lambda *_: None, progress_end=lambda: None)
    context: Any = SimpleNamespace(active_object=rig, scene=bpy.context.scene, window_manager=manager)
    event: Any = None
    operator: Any = SimpleNamespace(write_long=False, _performance=None, report=lambda _, text: said.append(text))
    operator.execute = lambda context: TAKT_OT_rebuild.execute(operator, context)
    assert TAKT_OT_rebuild.invoke(operator, context, event) == {"RUNNING_MODAL"}
    assert len(asked) == 1 and "617 frames long" in asked[0] and made_from(rig) == before
    assert operator.execute(context) == {"FINISHED"} and made_from(rig) != before
    text_of(rig).from_string(STEPS)
    operator.write_long = False
    assert TAKT_OT_rebuild.invoke(operator, context, event) == {"FINISHED"} and len(asked) == 1


def test_an_import_opens_the_score_and_leaves_it_to_the_preview(rig: bpy.types.Object, library: Path,
                                                                capfd: Any) -> None:
    (library / "long.pha").write_text(LONG, encoding="utf-8")
    play(library / "long.pha")
    assert "617 frames long" in capfd.readouterr().out
    assert properties.character(rig).action is None and text_of(rig).as_string() == LONG
    assert score.motion_of(rig) is not None and "main" in properties.character(rig).procedures


def test_the_score_editor_and_the_timer_do_not_write_it(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    following.look(0.0)
    before = made_from(rig)
    blocks = score_blocks.refresh(rig) or score_blocks.shown(rig)
    assert blocks is not None
    score_edits.write(bpy.context, rig, {blocks.layout.documents[0].path: LONG})
    assert text_of(rig).as_string() == LONG and made_from(rig) == before
    for now_s in (1.0, 2.0, 3.0):
        following.look(now_s)
        if bpy.app.timers.is_registered(score._perform_waiting):
            perform(score._perform_waiting)
            bpy.app.timers.unregister(score._perform_waiting)
    assert following._writing is None and made_from(rig) == before
    assert "617 frames long" in following.problem(rig) and "preview plays the score" in following.problem(rig)
    text_of(rig).from_string(STEPS)
    rebuild()
