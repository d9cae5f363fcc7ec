"""Keys of tweaks in the score editor: shown in a row of their own, pulled, copied and deleted there."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import properties
from takt.bridge.scores import score_blocks, texts
from takt.bridge.tweaking import tweak_moments, tweaks
from takt.core.maths.arrays import FloatArray
from takt.core.score_editor.layout import Layout
from takt.core.score_editor.picture import Picture
from takt.core.score_editor.stripes import Stripes
from takt.operators.score_editor.drag import TAKT_OT_score_drag
from takt.operators.score_editor.insert import TAKT_OT_score_shelf
from takt.operators.score_editor.select import TAKT_OT_score_box_select
from takt.operators.score_editor.tweak import TAKT_OT_score_delete_tweak, TAKT_OT_score_tweak
from takt.preview.score_editor import windows
from takt.preview.score_editor.life import frame_at, show_tweaks
from takt.tests.blender.dancing import play
from takt.tests.blender.score_editors import Hand, context, editing

operators: Any = bpy.ops
BONES = ("l_knee", "r_hip")
FIRST, LAST = 40, 90


@pytest.fixture
def dancer(rig: Any, library: Path) -> Any:
    """A character that plays a score."""
    play(library / "dance.pha")
    return rig


@pytest.fixture
def tweaked(dancer: Any) -> Any:
    """A character, of which a hand has keyed one bone at two frames, and another one at the first of them."""
    assert operators.takt.tweak() == {"FINISHED"}
    for frame, bone in ((FIRST, BONES[0]), (LAST, BONES[0]), (FIRST, BONES[1])):
        key(dancer, frame, bone)
    tweaks.look(dancer, context.scene)
    return dancer


def key(rig: Any, frame: int, name: str) -> None:
    context.scene.frame_set(frame)
    rig.pose.bones[name].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 0.3) @ rig.pose.bones[
        name].rotation_quaternion
    rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)


def layout_of(rig: Any) -> Layout:
    show_tweaks(rig, context.scene)
    blocks = score_blocks.shown(rig)
    assert blocks is not None and blocks.layout is not None
    return blocks.layout


def frames_of(rig: bpy.types.Object) -> FloatArray:
    frames = tweak_moments.frames_of(rig)
    assert frames is not None
    return frames


def place(layout: Layout, number: int) -> tuple[float, float]:
    """Return the pixel in the middle of a diamond."""
    window = windows.window_of(context.space_data)
    assert window is not None and layout.tweaks is not None
    stripes = Stripes.of(layout, window.view)
    assert stripes.tweaks is not None
    return float(window.view.x(layout.tweaks[number:number + 1])[0]), sum(stripes.tweaks) / 2.0


def x_of(tick: float) -> float:
    window = windows.window_of(context.space_data)
    assert window is not None
    return float(window.view.x(np.array((tick,)))[0])


def ticks(layout: Layout, rig: bpy.types.Object, frame: float) -> float:
    fps = context.scene.render.fps / context.scene.render.fps_base
    return float(layout.ticks_at(np.array(((frame - properties.character(rig).frame_start) / fps,)))[0])


def test_the_row_shows_the_keys_and_comes_with_the_tweaks(dancer: Any) -> None:
    rig = dancer
    with editing():
        assert layout_of(rig).tweaks is None
        window = windows.window_of(context.space_data)
        assert window is not None
        high = Stripes.of(layout_of(rig), window.view).height
        assert operators.takt.tweak() == {"FINISHED"}
        key(rig, FIRST, BONES[0])
        found = layout_of(rig)
        assert found.tweaks == pytest.approx([ticks(found, rig, FIRST)])
        assert Stripes.of(found, window.view).height > high
        key(rig, LAST, BONES[1])
        now = layout_of(rig).tweaks
        assert now is not None and len(now) == 2


@pytest.mark.parametrize("is_copy", [False, True], ids=["moved", "copied"])
def test_all_keys_of_a_moment_are_pulled_to_a_beat_and_tied_there(tweaked: Any, is_copy: bool) -> None:
    rig = tweaked
    with editing():
        layout = layout_of(rig)
        x, y = place(layout, 0)
        hand = Hand(TAKT_OT_score_tweak)
        assert hand.press(x, y, shift=is_copy) == {"RUNNING_MODAL"}
        to = round(ticks(layout, rig, 62))
        hand.move(x_of(to) + 1.0, y, shift=is_copy)
        assert hand.let_go(x_of(to) + 1.0, y) == {"FINISHED"}
        now = layout_of(rig)
        assert now.tweaks is not None and np.abs(now.tweaks - to).min() < 1e-3
        assert len(now.tweaks) == (3 if is_copy else 2)
        action: Any = next(action for _, action in tweaks.layers_of(rig))
        at = frames_of(rig)[np.argmin(np.abs(now.tweaks - to))]
        curves = [curve for curve in action.layers[0].strips[0].channelbags[0].fcurves
                  if any(abs(point.co[0] - at) < 0.01 for point in curve.keyframe_points)]
        assert {curve.data_path.split('"')[1] for curve in curves} == set(BONES)
        assert all(_is_eased_out(curve, at) for curve in curves if BONES[1] in curve.data_path)


def _is_eased_out(curve: Any, at: float) -> bool:
    """Tell whether Takt has made a key behind one, by which it fades."""
    return any(at < point.co[0] < at + 12 for point in curve.keyframe_points if point.type == "GENERATED")


def test_with_ctrl_keys_snap_to_whole_frames_and_escape_leaves_all(tweaked: Any) -> None:
    rig = tweaked
    with editing():
        layout = layout_of(rig)
        x, y = place(layout, 0)
        before = frames_of(rig).copy()
        hand = Hand(TAKT_OT_score_tweak)
        hand.press(x, y)
        hand.move(x + 37.0, y)
        assert hand.escape() == {"CANCELLED"}
        np.testing.assert_array_equal(frames_of(rig), before)
        hand.press(x, y)
        window = windows.window_of(context.space_data)
        assert window is not None
        hand.move(x + 37.0, y, ctrl=True)
        assert hand.let_go(x + 37.0, y) == {"FINISHED"}
        now = layout_of(rig)
        assert now.tweaks is not None
        scene, moved = context.scene, frames_of(rig)[np.argmin(np.abs(now.tweaks - window.view.tick_at(x + 37.0)))]
        exact = frame_at(rig, scene, now, window.view.tick_at(x + 37.0))
        assert 0.05 < abs(exact - round(exact)) and moved == round(exact) and moved not in before


def test_a_click_goes_there_and_beside_the_diamonds_is_left_to_others(tweaked: Any) -> None:
    rig = tweaked
    with editing():
        x, y = place(layout_of(rig), 1)
        hand = Hand(TAKT_OT_score_tweak)
        context.scene.frame_set(3)
        hand.press(x, y)
        assert hand.let_go(x, y) == {"CANCELLED"} and context.scene.frame_current == LAST
        assert hand.press(x + 30.0, y) == {"PASS_THROUGH"} and hand.press(x, y + 60.0) == {"PASS_THROUGH"}


def test_keys_below_the_mouse_are_deleted_and_come_back_with_undo(tweaked: Any) -> None:
    rig = tweaked
    name = rig.name
    with editing():
        operators.ed.undo_push(message="before")
        hand = Hand(TAKT_OT_score_delete_tweak)
        x, y = place(layout_of(rig), 0)
        assert hand.press(x + 30.0, y) == {"PASS_THROUGH"}
        assert hand.press(x, y) == {"FINISHED"}
        assert frames_of(rig) == pytest.approx([LAST]) and "8 keys" in hand.said[0]
        operators.ed.undo_push(message="deleted")
        operators.ed.undo()
        rig = bpy.data.objects[name]
        assert frames_of(rig) == pytest.approx([FIRST, LAST])


def test_what_lies_where_keys_are_pulled_to_gives_way(tweaked: Any) -> None:
    rig = tweaked
    values = key_values(rig, FIRST)
    assert tweak_moments.move(rig, np.array((float(FIRST),)), np.array((float(LAST),))) == 8
    tweaks.look(rig, context.scene)
    assert frames_of(rig) == pytest.approx([LAST])
    assert key_values(rig, LAST) == pytest.approx(values)


def key_values(rig: bpy.types.Object, frame: float) -> list[float]:
    """Return the values of all keys of a hand at a frame, sorted."""
    action: Any = next(action for _, action in tweaks.layers_of(rig))
    return sorted(point.co[1] for curve in action.layers[0].strips[0].channelbags[0].fcurves
                  for point in curve.keyframe_points if abs(point.co[0] - frame) < 0.01 and point.type != "GENERATED")


@pytest.mark.parametrize("gesture", [TAKT_OT_score_drag, TAKT_OT_score_shelf, TAKT_OT_score_box_select,
                                     TAKT_OT_score_tweak])
def test_closed_in_the_middle_a_gesture_leaves_nothing_behind(tweaked: Any, gesture: Any) -> None:
    """Blender calls cancel where a window is closed or another file opened."""
    text = properties.character(tweaked).text
    assert text is not None
    with editing():
        layout_of(tweaked)
        window = windows.window_of(context.space_data)
        assert window is not None
        windows.show_in_front(bpy.context, lambda _theme: Picture(()))
        texts.propose(text, "<pha/>")
        gesture.cancel(SimpleNamespace(), bpy.context)
        assert window.front is None and not texts.is_proposed()
