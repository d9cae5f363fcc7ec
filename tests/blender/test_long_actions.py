"""Actions that are so long that they are only written when someone says so."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.actions import curves_digest, long_actions
from takt.bridge.actions.below_own_actions import plays_below
from takt.bridge.scores import background_writing, following, score, score_blocks, score_edits
from takt.bridge.steps import finished
from takt.core.errors import TaktError
from takt.operators import in_steps
from takt.operators.in_steps import WorksInSteps
from takt.operators.rebuild import TAKT_OT_rebuild
from takt.tests.blender.dancing import STEPS, curves, perform, play, rebuild, text_of

LONG = STEPS.replace('duration="0.7"', 'duration="20.7"')
takt: Any = bpy.ops.takt  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def few_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an Action of STEPS be short and one of LONG be long."""
    monkeypatch.setattr(long_actions, "MOST_KEYS", 1_000)


def watched(rig: bpy.types.Object, **more: Any) -> Any:
    """Return a context as a window has it; what is shown in it is kept in shown."""
    shown = list[str | None]()
    manager = SimpleNamespace(progress_begin=lambda *_: None, progress_update=lambda *_: None,
                              progress_end=lambda: None, event_timer_add=lambda *_, **__: object(),
                              event_timer_remove=lambda _: None, modal_handler_add=lambda _: None, **more)
    return SimpleNamespace(active_object=rig, scene=bpy.context.scene, window_manager=manager, window=object(),
                           workspace=SimpleNamespace(status_text_set=shown.append), shown=shown)


def rebuilding(said: list[str]) -> Any:
    """Return an operator without Blender's own base, whose reports are kept in said."""
    class Rebuilding(WorksInSteps):
        doing, write_long, _performance, _is_watched = TAKT_OT_rebuild.doing, False, None, False
        execute = TAKT_OT_rebuild.execute

        def report(self, _: set[str], text: str) -> None:
            said.append(text)

    return Rebuilding()


def everything() -> dict[str, Any]:
    """Return the keys of all Actions, who uses them, and the timeline."""
    scene = bpy.context.scene
    found: dict[str, Any] = {action.name: (curves_digest.digest_of_all_keys(action), action.users, action.use_fake_user)
                             for action in bpy.data.actions}
    return found | {"range": (scene.frame_start, scene.frame_end), "markers": len(scene.timeline_markers)}


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

    context, event = watched(rig, invoke_confirm=confirm), cast(Any, None)
    operator = rebuilding(said)
    assert TAKT_OT_rebuild.invoke(operator, context, event) == {"RUNNING_MODAL"}
    assert len(asked) == 1 and "617 frames long" in asked[0] and made_from(rig) == before
    assert operator.execute(context) == {"FINISHED"} and made_from(rig) != before
    text_of(rig).from_string(STEPS)
    operator.write_long = False
    assert TAKT_OT_rebuild.invoke(operator, context, event) == {"FINISHED"} and len(asked) == 1


@pytest.mark.parametrize("has_action", [True, False])
def test_nothing_changes_until_the_last_step(rig: bpy.types.Object, library: Path, has_action: bool) -> None:
    if not has_action:
        (library / "dance.pha").write_text(LONG, encoding="utf-8")  # is left to the preview
    play(library / "dance.pha")
    rig.keyframe_insert("location", frame=3)
    text_of(rig).from_string(LONG)
    motion, before = score.motion_of(rig), everything()
    assert motion is not None
    steps = [long_actions.writing(rig, cast(Any, bpy.context.scene), motion) for _ in range(2)]
    shares = [next(steps[0])]
    while shares[-1] < 0.8:
        shares.append(next(steps[0]))
        now = everything()
        assert {name: now[name] for name in before} == before
    assert shares == sorted(shares)
    steps[0].close()
    assert everything() == before
    assert finished(steps[1])[-1][1].startswith("'Rig' plays")
    own = properties.character(rig).action
    assert own is not None and own.frame_range[1] > 600
    assert (rig.animation_data.action == own) == has_action and plays_below(rig) == (not has_action)
    assert any(curve.data_path == "location" for curve in curves(rig))  # in the user's own Action, where there is one


def test_esc_stops_and_an_undo_takes_back_what_was_written(rig: bpy.types.Object, library: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    play(library / "dance.pha")
    text_of(rig).from_string(LONG)
    monkeypatch.setattr(in_steps, "_AT_ONCE_S", 0.0)
    monkeypatch.setattr(in_steps, "_runs_without_window", lambda context: False)
    before, said, context = everything(), list[str](), watched(rig)
    timer, escape = SimpleNamespace(type="TIMER"), SimpleNamespace(type="ESC")
    operator = rebuilding(said)
    operator.write_long = operator._is_watched = True
    assert operator.execute(context) == {"RUNNING_MODAL"}
    while operator._done < 0.7:
        assert operator.modal(context, timer) == {"RUNNING_MODAL"}
    assert "Writing the Action: 7" in context.shown[-1] and "Esc" in context.shown[-1]
    assert operator.modal(context, escape) == {"CANCELLED"}
    assert everything() == before and said == ["Writing the Action cancelled, nothing has changed"]
    assert context.shown[-1] is None
    operator.write_long = operator._is_watched = True
    assert operator.execute(context) == {"RUNNING_MODAL"}
    for _ in range(10_000):
        if (result := operator.modal(context, timer)) != {"RUNNING_MODAL"}:
            break
    assert result == {"FINISHED"} and said[-1].startswith("'Rig' plays") and everything() != before


def test_what_was_changed_meanwhile_is_not_written(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    text_of(rig).from_string(LONG)
    motion, before = score.motion_of(rig), everything()
    assert motion is not None
    steps = long_actions.writing(rig, cast(Any, bpy.context.scene), motion)
    text_of(rig).from_string(STEPS)
    with pytest.raises(TaktError, match="changed in the meantime"):
        finished(steps)
    assert everything() == before


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
    assert background_writing._writing is None and made_from(rig) == before
    assert "617 frames long" in following.problem(rig) and "preview plays without" in following.problem(rig)
    text_of(rig).from_string(STEPS)
    rebuild()
