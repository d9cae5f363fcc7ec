"""Steps of undo in the score editor: one for each change of the score, and none for what is selected or opened."""

import itertools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

from takt.bridge import properties
from takt.bridge.shelf import shelf
from takt.core.score_editor.commands import Playable
from takt.core.score_editor.layout import Layout
from takt.core.score_editor.stripes import Stripes
from takt.operators.score_editor.base import found_editor
from takt.operators.score_editor.drag import TAKT_OT_score_drag
from takt.operators.score_editor.insert import TAKT_OT_score_add, TAKT_OT_score_shelf
from takt.operators.score_editor.select import TAKT_OT_score_box_select
from takt.panels.score_editor.keymap import SHORTCUTS
from takt.preview.score_editor import windows
from takt.tests.blender.dancing import STEPS, curves, play, rebuild, text_of
from takt.tests.blender.score_editors import Hand, choose, edge_of, editing, looked_into, named

operators: Any = bpy.ops


def click(layout: Layout) -> None:
    hand, place = Hand(TAKT_OT_score_drag), edge_of(layout, layout.boxes.titles.index("pair"))
    assert hand.press(*place) == {"RUNNING_MODAL"}
    assert hand.let_go(*place) == {"CANCELLED"}  # of what is cancelled, Blender makes no step
    assert found_editor(bpy.context).selected == {named(layout, "pair")}


def select_all(_layout: Layout) -> None:
    assert operators.takt.score_select("EXEC_DEFAULT", True, which="ALL") == {"FINISHED"}


def open_block(layout: Layout) -> None:
    choose(layout, "pair")
    assert operators.takt.score_open("EXEC_DEFAULT", True) == {"FINISHED"}


@pytest.mark.parametrize("look", [click, select_all, open_block])
def test_what_changes_no_score_is_no_step(rig: bpy.types.Object, library: Path, look: Callable[[Layout], None]) -> None:
    play(library / "dance.pha")
    with editing() as layout:
        operators.ed.undo_push(message="before")
        choose(layout, "right")
        assert operators.takt.score_delete("EXEC_DEFAULT", True) == {"FINISHED"}
        assert text_of(rig).as_string() != STEPS
        look(looked_into())
        operators.ed.undo()
        assert text_of(bpy.data.objects["Rig"]).as_string() == STEPS


def test_a_box_that_selects_is_no_step() -> None:
    assert "UNDO" not in TAKT_OT_score_box_select.bl_options


def test_asking_what_is_to_be_inserted_is_no_step() -> None:
    asked: list[Any] = []
    context: Any = SimpleNamespace(window_manager=SimpleNamespace(invoke_search_popup=asked.append))
    operator: Any = SimpleNamespace()
    invoke: Any = TAKT_OT_score_add.invoke
    assert invoke(operator, context, None) == {"INTERFACE"} and asked == [operator]


def test_what_undo_brings_back_is_selected_as_it_was_there(rig: bpy.types.Object, library: Path) -> None:
    """So X goes on with the block that was deleted, and F9 with what it was done to."""
    play(library / "dance.pha")
    with editing() as layout:
        operators.ed.undo_push(message="before")
        choose(layout, "right")
        operators.takt.score_delete("EXEC_DEFAULT", True)
        choose(looked_into(), "pair")
        left = found_editor(bpy.context).selected
        operators.ed.undo()
        looked_into()
        assert found_editor(bpy.context).selected == {named(layout, "right")}
        operators.ed.redo()
        looked_into()
        assert found_editor(bpy.context).selected == left


def test_an_action_can_be_inserted_after_undo_has_left_the_score_alone(rig: bpy.types.Object, library: Path) -> None:
    """Undo frees all objects; what is laid out already, with its library, stays as it is."""
    play(library / "dance.pha")
    assert rig.animation_data is not None and rig.animation_data.action is not None
    rig.animation_data.action.copy().name = "Wave"
    with editing():
        operators.ed.undo_push(message="before")
        rig.location.x = 1.0
        operators.ed.undo_push(message="moved")
        blocks = found_editor(bpy.context).blocks
        operators.ed.undo()
        looked_into()
        assert bpy.data.objects["Rig"].location.x == 0.0 and found_editor(bpy.context).blocks is blocks
        assert operators.takt.score_add("EXEC_DEFAULT", True, what="Wave|Wave") == {"FINISHED"}
        assert 'src="Wave"' in text_of(bpy.data.objects["Rig"]).as_string()


def test_a_gesture_that_ends_by_a_mistake_leaves_nothing_drawn(
        rig: bpy.types.Object, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(library / "dance.pha")
    with editing():
        assert bpy.context.space_data is not None
        window, hand = windows.window_of(bpy.context.space_data), Hand(TAKT_OT_score_box_select)
        assert window is not None and hand.press(5.0, 5.0) == {"RUNNING_MODAL"}
        hand.move(50.0, 50.0)
        assert window.front is not None
        monkeypatch.setattr(Stripes, "boxes", None)
        with pytest.raises(TypeError):
            hand.let_go()
        assert window.front is None


@pytest.mark.parametrize("gesture", [TAKT_OT_score_drag, TAKT_OT_score_shelf, TAKT_OT_score_box_select])
def test_gestures_that_draw_clear_up(gesture: Any) -> None:
    assert gesture.modal.__wrapped__.__qualname__ == f"{gesture.__name__}.modal"


def test_no_key_of_the_score_editor_reaches_the_node_editor(rig: bpy.types.Object, library: Path) -> None:
    """Where no score is, or nothing of it selected, each would be a step that changes no nodes."""
    play(library / "dance.pha")
    last = {str(each._replace(operator="", properties={}, repeat=False)): each.operator for each in SHORTCUTS}
    assert {operator for key, operator in last.items() if "MOUSE" not in key and "TRACKPAD" not in key} == {
        "takt.score_no_nodes"}
    assert not operators.takt.score_no_nodes.poll()
    with editing():
        bpy.data.texts.remove(text_of(rig))
        assert not operators.takt.score_delete.poll() and not operators.takt.score_select.poll()
        assert operators.takt.score_no_nodes() == {"CANCELLED"}


def test_an_edit_leaves_keys_that_were_edited_by_hand(
        rig: bpy.types.Object, library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(library / "dance.pha")
    key = curves(rig)[3].keyframe_points[5]
    key.co.y += 0.25
    by_hand, action = key.co.y, rig.animation_data.action
    with editing() as layout:
        choose(layout, "right")
        assert operators.takt.score_delete("EXEC_DEFAULT", True) == {"FINISHED"}
    assert "Curves of this Action were edited by hand, so it no longer follows" in capsys.readouterr().out
    assert text_of(rig).as_string() != STEPS  # the score changes all the same
    assert rig.animation_data.action == action and curves(rig)[3].keyframe_points[5].co.y == by_hand
    rebuild()
    assert rig.animation_data.action != action and action in bpy.data.actions.values() and action.use_fake_user
    slot_curves = action.layers[0].strips[0].channelbags[0].fcurves
    assert slot_curves[3].keyframe_points[5].co.y == by_hand


def test_keep_mine_lets_go_of_the_action_that_a_hand_was_in(rig: bpy.types.Object, library: Path) -> None:
    play(library / "dance.pha")
    assert not operators.takt.keep_mine.poll()
    key = curves(rig)[3].keyframe_points[5]
    key.co.y += 0.25
    by_hand, action, character = key.co.y, rig.animation_data.action, properties.character(rig)
    assert operators.takt.keep_mine() == {"FINISHED"}
    assert character.action is None and rig.animation_data.action == action and action.use_fake_user
    assert not operators.takt.keep_mine.poll()
    with editing() as layout:
        choose(layout, "right")
        assert operators.takt.score_delete("EXEC_DEFAULT", True) == {"FINISHED"}
    assert rig.animation_data.action == action and curves(rig)[3].keyframe_points[5].co.y == by_hand
    rebuild()
    assert rig.animation_data.action not in (None, action) and character.action == rig.animation_data.action
    assert action.layers[0].strips[0].channelbags[0].fcurves[3].keyframe_points[5].co.y == by_hand


def test_a_choice_stays_while_the_library_is_looked_through(rig: bpy.types.Object, library: Path,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found meanwhile stands before what was there: the choice is that of its name, not of its place."""
    play(library / "dance.pha")
    assert rig.animation_data is not None and rig.animation_data.action is not None
    rig.animation_data.action.copy().name = "Wave"
    calls = itertools.count()
    found = shelf.playables

    def growing(armature_object: bpy.types.Object) -> tuple[Playable, ...]:
        more = tuple(Playable(f"new.{at}", str(at), 1.0) for at in range(next(calls)))
        return (*more, *found(armature_object))

    with editing():
        monkeypatch.setattr(shelf, "playables", growing)
        assert operators.takt.score_add("EXEC_DEFAULT", True, what="Wave|Wave") == {"FINISHED"}
        assert 'src="Wave"' in text_of(rig).as_string() and "new." not in text_of(rig).as_string()
