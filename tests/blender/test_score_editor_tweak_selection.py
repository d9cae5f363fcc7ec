"""Several moments of tweaks in the score editor: selected, moved together, copied and deleted."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import properties
from takt.bridge.scores import score_tree
from takt.bridge.tweaking import tweak_curves, tweak_moments, tweak_selection, tweaks
from takt.bridge.tweaking.tweak_placing import bag_of
from takt.core.maths.arrays import FloatArray
from takt.core.pha.edits import Insert, Remove
from takt.core.score_editor.layout import Layout
from takt.core.score_editor.stripes import Stripes
from takt.operators.score_editor.calls import TAKT_OT_score_delete
from takt.operators.score_editor.drag import TAKT_OT_score_drag
from takt.operators.score_editor.select import TAKT_OT_score_box_select, TAKT_OT_score_select
from takt.operators.score_editor.tweak import TAKT_OT_score_delete_tweak, TAKT_OT_score_tweak
from takt.preview.score_editor import windows
from takt.preview.score_editor.life import show_tweaks
from takt.tests.blender.dancing import play, rebuild
from takt.tests.blender.score_editors import Hand, choose, context, editing, looked_into
from takt.tests.blender.test_score_editor_tweaks import BONES, frames_of, key, layout_of, place, ticks, x_of
from takt.tests.blender.test_tweaks import edit
from takt.tests.blender.test_tweaks_procedure import VERSES

operators: Any = bpy.ops
FRAMES = (20, 40, 62, 90, 104)


@pytest.fixture
def tweaked(rig: Any, library: Path) -> Any:
    """A character with keys of one bone at five moments, and of another one at the second of them."""
    play(library / "dance.pha")
    assert operators.takt.tweak() == {"FINISHED"}
    for frame, bone in (*((frame, BONES[0]) for frame in FRAMES), (FRAMES[1], BONES[1])):
        key(rig, frame, bone)
    tweaks.look(rig, context.scene)
    return rig


def keys_of(rig: bpy.types.Object) -> list[tuple[str, int, float, float]]:
    """Return the animator's keys of all layers, sorted: path, index, frame and value, rounded."""
    found = []
    for _, action in tweaks.layers_of(rig):
        bag = bag_of(action)
        assert bag is not None
        keys = tweak_curves.read(bag).claimed()
        for curve, co, is_own in zip(keys.curve.tolist(), keys.columns["co"].tolist(), keys.are_own, strict=True):
            if is_own:
                found.append((*keys.names[curve], round(co[0], 2), round(co[1], 4)))
    return sorted(found)


def selected(rig: bpy.types.Object) -> list[float]:
    return [round(frame, 2) for frame in tweak_selection.frames_of(rig).tolist()]


def click(layout: Layout, number: int, *, shift: bool = False) -> None:
    hand = Hand(TAKT_OT_score_tweak)
    x, y = place(layout, number)
    assert hand.press(x, y, shift=shift) == {"RUNNING_MODAL"}
    assert hand.let_go(x, y, shift=shift) == {"CANCELLED"}


def choose_keys(rig: bpy.types.Object, *numbers: int) -> None:
    for nth, number in enumerate(numbers):
        click(layout_of(rig), number, shift=nth > 0)


def drag(rig: bpy.types.Object, number: int, to: float, *, shift: bool = False) -> tuple[Hand, "set[str]"]:
    """Drag a diamond to a tick."""
    x, y = place(layout_of(rig), number)
    hand = Hand(TAKT_OT_score_tweak)
    hand.press(x, y)
    hand.move(x_of(to), y, ctrl=True, shift=shift)
    return hand, hand.let_go(x_of(to), y)


def test_clicks_select_one_and_with_shift_more_or_fewer(tweaked: Any) -> None:
    rig = tweaked
    with editing() as layout:
        choose(layout, "pair")
        click(layout_of(rig), 3)
        assert selected(rig) == [90.0] and context.scene.frame_current == 90
        tree = score_tree.tree_of(bpy.context)
        assert score_tree.selection(tree, layout_of(rig)) == frozenset()  # the blocks are not selected any more
        click(layout_of(rig), 0, shift=True)
        assert selected(rig) == [20.0, 90.0] and context.scene.frame_current == 90
        found = layout_of(rig)
        assert found.chosen is not None and found.chosen.tolist() == [True, False, False, True, False]
        click(layout_of(rig), 3, shift=True)
        assert selected(rig) == [20.0]
        click(layout_of(rig), 1)
        assert selected(rig) == [40.0]


def test_a_box_takes_diamonds_and_blocks_and_shift_adds(tweaked: Any) -> None:
    rig = tweaked
    with editing():
        layout = layout_of(rig)
        (left, y), (right, _) = place(layout, 1), place(layout, 2)
        hand = Hand(TAKT_OT_score_box_select)
        assert hand.press(left - 15.0, y - 15.0) == {"RUNNING_MODAL"}
        hand.move(right + 4.0, y + 4.0)
        assert hand.let_go() == {"FINISHED"} and selected(rig) == [40.0, 62.0]
        x, _ = place(layout, 4)
        hand.press(x - 15.0, y - 15.0, shift=True)
        hand.move(x + 4.0, y + 4.0)
        assert hand.let_go() == {"FINISHED"} and selected(rig) == [40.0, 62.0, 104.0]
        hand.press(x + 25.0, y - 15.0)
        hand.move(x + 29.0, y - 10.0)
        assert hand.let_go() == {"FINISHED"} and selected(rig) == []


def test_keys_select_all_none_or_the_others_over_the_row(tweaked: Any) -> None:
    rig = tweaked
    with editing():
        x, y = place(layout_of(rig), 2)
        hand = Hand(TAKT_OT_score_select)

        def pressed(which: str, y: float) -> list[float]:
            hand.fill_in(which=which)
            assert hand.press(x + 20.0, y) == {"FINISHED"}
            return selected(rig)

        assert pressed("ALL", y) == [*map(float, FRAMES)]
        choose_keys(rig, 0, 4)
        assert pressed("INVERT", y) == [40.0, 62.0, 90.0]
        assert pressed("NONE", y) == []
        choose_keys(rig, 0, 4)
        assert pressed("NONE", y + 60.0) == []
        assert pressed("ALL", y + 60.0) == []
        tree = score_tree.tree_of(bpy.context)
        assert score_tree.selection(tree, layout_of(rig))


def test_selected_ones_move_together_by_the_same_time_in_one_step(tweaked: Any) -> None:
    rig, name = tweaked, tweaked.name
    before = keys_of(rig)
    with editing():
        choose_keys(rig, 0, 1, 3)
        operators.ed.undo_push(message="before")
        layout = layout_of(rig)
        assert layout.tweaks is not None
        to = float(layout.tweaks[1]) + ticks(layout, rig, 48.0) - ticks(layout, rig, 40.0)
        _, result = drag(rig, 1, to)
        assert result == {"FINISHED"}
        moved = {frame: frame + 8.0 if frame in (20.0, 40.0, 90.0) else frame for frame in map(float, FRAMES)}
        found = keys_of(rig)
        assert len(found) == len(before) == 4 * 6
        assert sorted({each[2] for each in found}) == pytest.approx(sorted(moved.values()), abs=0.05)
        values = {(*each[:2], each[3]) for each in found}
        assert values == {(*each[:2], each[3]) for each in before}
        assert selected(rig) == pytest.approx([28.0, 48.0, 98.0], abs=0.05)
        operators.ed.undo_push(message="moved")
        operators.ed.undo()
        rig = bpy.data.objects[name]
        assert keys_of(rig) == before and selected(rig) == [20.0, 40.0, 90.0]
        operators.ed.redo()
        rig = bpy.data.objects[name]
        assert keys_of(rig) == found and selected(rig) == pytest.approx([28.0, 48.0, 98.0], abs=0.05)


def test_one_that_is_not_selected_moves_alone_and_is_selected_then(tweaked: Any) -> None:
    rig = tweaked
    with editing():
        choose_keys(rig, 0, 3)
        layout = layout_of(rig)
        _, result = drag(rig, 2, ticks(layout, rig, 70.0))
        assert result == {"FINISHED"}
        assert frames_of(rig) == pytest.approx([20.0, 40.0, 70.0, 90.0, 104.0], abs=0.05)
        assert selected(rig) == pytest.approx([70.0], abs=0.05)


def test_together_they_replace_no_key_and_alone_the_words_say_it(tweaked: Any) -> None:
    rig = tweaked
    before = keys_of(rig)
    with editing():
        choose_keys(rig, 0, 1)
        layout = layout_of(rig)
        hand, result = drag(rig, 1, ticks(layout, rig, 61.6))
        assert result == {"CANCELLED"} and keys_of(rig) == before and selected(rig) == [20.0, 40.0]
        assert BONES[0] in hand.said[0] and "frame 62" in hand.said[0]  # Ctrl snaps to whole frames
        hand, result = drag(rig, 1, ticks(layout, rig, 57.0), shift=True)
        assert result == {"FINISHED"}  # two copies, of which none lies on another key
        assert len(keys_of(rig)) == len(before) + 12
        click(layout_of(rig), 0)
        x, y = place(layout_of(rig), 0)
        alone = Hand(TAKT_OT_score_tweak)
        alone.press(x, y)
        alone.move(x_of(ticks(layout, rig, 104.0)), y, ctrl=True)
        assert "in place of the keys there" in alone._operator._said and not alone._operator._refusal
        assert alone.let_go() == {"FINISHED"} and len(keys_of(rig)) == len(before) + 8


def test_copies_of_selected_ones_lie_on_no_key_of_these_either(tweaked: Any) -> None:
    rig = tweaked
    before = keys_of(rig)
    with editing():
        choose_keys(rig, 0, 1)
        layout = layout_of(rig)
        _, result = drag(rig, 0, ticks(layout, rig, 40.0), shift=True)
        assert result == {"CANCELLED"} and keys_of(rig) == before
        _, result = drag(rig, 0, ticks(layout, rig, 40.0))  # without Shift the second one leaves
        assert result == {"FINISHED"} and frames_of(rig) == pytest.approx([40.0, 60.0, 62.0, 90.0, 104.0], abs=0.05)


def test_the_selected_ones_are_deleted_wherever_the_mouse_is(tweaked: Any) -> None:
    rig = tweaked
    with editing():
        choose_keys(rig, 0, 1, 4)
        x, y = place(layout_of(rig), 1)
        hand = Hand(TAKT_OT_score_delete_tweak)
        assert hand.press(*place(layout_of(rig), 2)) == {"FINISHED"}  # not selected: this one alone
        assert frames_of(rig) == pytest.approx([20.0, 40.0, 90.0, 104.0]) and selected(rig) == [20.0, 40.0, 104.0]
        assert hand.press(x, y) == {"FINISHED"}
        assert frames_of(rig) == pytest.approx([90.0]) and "16 keys of tweaks at 3 moments" in hand.said[-1]
        assert hand.press(x, y + 60.0) == {"PASS_THROUGH"}  # nothing is selected
        choose_keys(rig, 0)
        assert hand.press(x, y + 60.0) == {"FINISHED"} and len(frames_of(rig)) == 0


def test_blocks_and_keys_that_are_selected_go_together(tweaked: Any) -> None:
    rig, name = tweaked, tweaked.name
    with editing():
        layout = looked_into()
        choose_keys(rig, 0, 3)
        operators.ed.undo_push(message="before")
        choose(layout, "right")
        count = len(layout.boxes)
        x, y = place(layout_of(rig), 3)
        assert Hand(TAKT_OT_score_delete_tweak).press(x, y + 60.0) == {"PASS_THROUGH"}
        assert operators.takt.score_delete() == {"FINISHED"}
        assert len(layout_of(rig).boxes) < count and 20.0 not in frames_of(rig) and 90.0 not in frames_of(rig)
        operators.ed.undo_push(message="deleted")
        operators.ed.undo()
        rig = bpy.data.objects[name]
        assert frames_of(rig) == pytest.approx([*map(float, FRAMES)])
    assert TAKT_OT_score_delete.bl_options == {"REGISTER", "UNDO"}


def test_a_selected_block_leaves_no_key_selected(tweaked: Any) -> None:
    rig = tweaked
    with editing():
        choose_keys(rig, 0, 3)
        layout = layout_of(rig)
        window = windows.window_of(context.space_data)
        assert window is not None
        box = layout.boxes.titles.index("right")
        _, high = Stripes.of(layout, window.view).boxes(layout.boxes.lane[box:box + 1], layout.boxes.depth[box:box + 1])
        at = float(window.view.x(layout.boxes.begin[box:box + 1])[0]) + 8.0, float(high[0]) - 12.0
        hand = Hand(TAKT_OT_score_drag)
        hand.press(*at, shift=True)
        hand.let_go(*at, shift=True)
        assert selected(rig) == [20.0, 90.0]
        hand.press(*at)
        hand.let_go(*at)
        assert selected(rig) == []


def test_they_stay_selected_while_the_score_changes_and_keys_are_set(tweaked: Any) -> None:
    rig = tweaked
    with editing():
        choose_keys(rig, 1, 3)
        before = frames_of(rig)
        key(rig, 50, BONES[1])
        tweaks.look(rig, context.scene)
        assert selected(rig) == [40.0, 90.0]
        edit(rig, Insert(5, 0, '<call name="left" duration="1"/>'))
        show_tweaks(rig, context.scene)
        now = frames_of(rig)
        later = float(now[1]) - float(before[1])
        assert later > 10.0
        assert selected(rig) == pytest.approx([40.0 + later, 90.0 + later], abs=0.05)
        edit(rig, Remove(6))
        show_tweaks(rig, context.scene)
        assert selected(rig) == pytest.approx([40.0, 90.0], abs=0.05)


@pytest.mark.parametrize("seed", range(24))
def test_no_key_is_ever_lost(rig: Any, library: Path, seed: int) -> None:
    """Random keys of random bones over one or two layers, with and without a procedure; random drags of several."""
    random = np.random.default_rng(seed)
    play(library / "dance.pha")
    text = properties.character(rig).text
    assert text is not None
    text.from_string(VERSES)
    rebuild()
    for layer in range(1 + seed % 2):
        operators.takt.tweak("EXEC_DEFAULT") if layer == 0 else tweaks.begin(rig, "more tweaks")
        for frame in random.choice(np.arange(2, 300, 4), 7, replace=False).tolist():
            bone = BONES[int(random.integers(2))]
            context.scene.frame_set(frame)
            turn = Quaternion(random.normal(size=3).tolist(), random.uniform(0.1, 0.9))
            rig.pose.bones[bone].rotation_quaternion = turn
            rig.pose.bones[bone].keyframe_insert("rotation_quaternion", frame=frame)
        tweaks.look(rig, context.scene)
    if seed % 4 >= 2:
        properties.character(rig).tweaks[0].procedure = "verse"
        tweaks.look(rig, context.scene)
    done = 0
    with editing():
        for _ in range(25):
            before, frames = keys_of(rig), frames_of(rig)
            chosen = np.sort(random.choice(frames, int(random.integers(2, min(len(frames), 6))), replace=False))
            shift = float(random.choice((-40.0, -12.0, -4.0, 4.0, 8.0, 24.0)))
            to, is_copy = chosen + shift, bool(random.random() < 0.1)
            taken = tweak_moments.Taken(rig, chosen)
            if to.min() < 1.0 or taken.in_the_way(to, is_copy=is_copy) is not None:
                continue
            count = tweak_moments.move(rig, chosen, to, is_copy=is_copy)
            tweaks.look(rig, context.scene)
            after = keys_of(rig)
            assert count == len(taken) > 0
            assert len(after) == len(before) + (count if is_copy else 0)
            assert sorted(each[3] for each in after if not is_copy) == sorted(
                each[3] for each in before if not is_copy)
            assert _are_there(to, frames_of(rig))
            done += 1
    assert done >= 4


def _are_there(wanted: FloatArray, frames: FloatArray) -> bool:
    """Tell whether the first of moments is where it was moved to; others may repeat keys of calls of other lengths."""
    return bool((np.abs(frames[:, None] - wanted).min(axis=0) < 0.05).any())
