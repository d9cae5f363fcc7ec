"""takt.bend_test and takt.show_zones: what they show, and that they leave nothing behind."""

from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.meshes import bend
from takt.operators.bend_test import TAKT_OT_bend_in_turn
from takt.preview import life
from takt.tests.characters import context, evaluated, own_character
from takt.tests.rigged import select

ANGLE_TOLERANCE_RAD = 1e-4
TIMER: Any = SimpleNamespace(type="TIMER")
ROTATIONS = {"bone1": ("QUATERNION", "rotation_quaternion", (0.9, 0.1, -0.3, 0.2)),
             "bone2": ("XZY", "rotation_euler", (0.1, 2.9, -0.7)),
             "bone3": ("AXIS_ANGLE", "rotation_axis_angle", (0.7, 0.1, 0.2, 3.0))}


def posed_character() -> tuple[Any, Any]:
    rig, body = own_character()
    for name, (mode, attribute, values) in ROTATIONS.items():
        bone = rig.pose.bones[name]
        bone.rotation_mode = mode
        setattr(bone, attribute, values)
        bone.location, bone.scale = (0.01, 0.02, 0.03), (1.1, 0.9, 1.0)
    select(rig)
    return rig, body


def channels(rig: Any) -> list[Any]:
    return [(bone.name, bone.rotation_mode, *bone.rotation_quaternion, *bone.rotation_euler,
             *bone.rotation_axis_angle, *bone.location, *bone.scale) for bone in rig.pose.bones]


def press(**options: Any) -> None:
    assert bpy.ops.takt.bend_test(**options) == {"FINISHED"}  # type: ignore[attr-defined]
    bpy.context.view_layer.update()


def test_bends_every_joint_by_the_angle_and_puts_the_pose_back_exactly() -> None:
    rig, body = posed_character()
    before, straight, places = channels(rig), pose(rig), evaluated(body)
    press(angle=0.5)
    for name in ROTATIONS:
        turned = straight[name].to_quaternion().inverted() @ pose(rig)[name].to_quaternion()
        assert turned.angle == pytest.approx(0.5, abs=ANGLE_TOLERANCE_RAD)
    assert pose(rig)["bone0"] == straight["bone0"]
    assert np.abs(evaluated(body) - places).max() > 0.1
    press()
    assert channels(rig) == before and list(rig.keys()) == ["names"]
    np.testing.assert_array_equal(evaluated(body), places)


def pose(rig: Any) -> dict[str, Any]:
    return {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}


def test_keys_stay_and_animated_bones_follow_them_on_another_frame() -> None:
    rig, _ = posed_character()
    bone = rig.pose.bones["bone1"]
    for frame, values in ((1, (1, 0, 0, 0)), (11, (0, 1, 0, 0))):
        bone.rotation_quaternion = values
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    scene = bpy.context.scene
    scene.frame_set(1)
    before = channels(rig)
    press()
    scene.frame_set(11)
    press()
    assert tuple(bone.rotation_quaternion) == (0, 1, 0, 0)
    scene.frame_set(1)
    assert channels(rig) == before


def test_undo_takes_the_bending_back() -> None:
    rig, _ = posed_character()
    before = channels(rig)
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.takt.bend_test("EXEC_DEFAULT", True)  # type: ignore[attr-defined]
        assert bend.is_bent(rig)
        bpy.ops.ed.undo()
    rig = bpy.data.objects["Own rig"]
    assert not bend.is_bent(rig) and channels(rig) == before


def test_a_saved_test_can_be_put_back_after_loading(tmp_path: Any) -> None:
    rig, _ = posed_character()
    before = channels(rig)
    press()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "bent.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "bent.blend"))
    press()
    assert channels(bpy.data.objects["Own rig"]) == before


def test_bones_gone_meanwhile_do_not_matter() -> None:
    rig, _ = posed_character()
    press()
    rig.data.bones["bone3"].name = "renamed"
    press()
    assert not bend.is_bent(rig)


def test_says_why_nothing_can_be_bent() -> None:
    rig, _ = posed_character()
    rig.data.pose_position = "REST"
    with pytest.raises(RuntimeError, match="'Own rig' is shown in its rest position: switch it to Pose Position"):
        press()
    rig.data.pose_position = "POSE"
    for bone in rig.pose.bones:
        bone.constraints.new("COPY_ROTATION")
    with pytest.raises(RuntimeError, match="'Own rig' has no joint to bend"):
        press()


def test_rotation_modes_come_back_as_well() -> None:
    rig, _ = posed_character()
    before = channels(rig)
    press()
    rig.pose.bones["bone1"].rotation_mode = "XYZ"
    press()
    kept, now = before[1], channels(rig)[1]
    assert now[:6] == kept[:6]  # name, mode, and the four numbers of the quaternion


def test_in_turn_each_bone_goes_and_comes_back_exactly() -> None:
    rig, _ = posed_character()
    before = channels(rig)
    bend.keep(rig, bend.bendable(rig), 1.0)
    for name in ROTATIONS:
        bend.bend(rig, name, 0.3)
    bend.put_back(rig, context.scene)
    assert channels(rig) == before


def test_zones_are_one_click_away_and_gone_with_the_next() -> None:
    rig, body = posed_character()
    press_zones()
    assert life.is_running() and life.picture() == "ZONES"
    press_zones()
    assert not life.is_running() and life.picture() == "SHADED"
    life.start([rig])
    press_zones()
    assert life.is_running() and life.picture() == "ZONES"
    life.stop()
    life.show("SHADED")
    body.modifiers.clear()
    with pytest.raises(RuntimeError, match="Select a character whose meshes are bound"):
        press_zones()


def press_zones() -> None:
    assert bpy.ops.takt.show_zones() == {"FINISHED"}  # type: ignore[attr-defined]


def test_in_turn_joints_that_slow_drawing_skips_do_not_stay_bent() -> None:
    rig, _ = posed_character()
    names = [bone.name for bone in bend.bendable(rig)]
    bend.keep(rig, bend.bendable(rig), 1.0)
    before = pose(rig)
    running: Any = SimpleNamespace(_names=names, _bent="", angle=0.5)
    shown: Any = SimpleNamespace(workspace=SimpleNamespace(status_text_set=lambda text: None))
    for number in (0, 2):
        TAKT_OT_bend_in_turn._pose(running, shown, rig, number, 0.25)
    after = pose(rig)
    turned = [name for name in names if before[name].to_quaternion().rotation_difference(
        after[name].to_quaternion()).angle > ANGLE_TOLERANCE_RAD]
    assert turned == [names[2]]


class Turning(SimpleNamespace):
    """The operator as Blender runs it in a window, of which there is none here."""

    modal: Any = TAKT_OT_bend_in_turn.modal
    cancel: Any = TAKT_OT_bend_in_turn.cancel
    _pose: Any = TAKT_OT_bend_in_turn._pose
    _bent_armature: Any = TAKT_OT_bend_in_turn._bent_armature


def turning(rig: Any) -> tuple[Any, Any]:
    """Begin with the first joint; return the operator and the context it runs in."""
    bend.keep(rig, bend.bendable(rig), 1.0)
    running = Turning(_armature_uid=rig.session_uid, _names=[bone.name for bone in bend.bendable(rig)], _bent="",
                      angle=0.5, _timer=SimpleNamespace(time_duration=0.1))
    in_window: Any = SimpleNamespace(
        scene=context.scene, workspace=SimpleNamespace(status_text_set=lambda text: None),
        window_manager=SimpleNamespace(event_timer_remove=lambda timer: None))
    assert running.modal(in_window, TIMER) == {"RUNNING_MODAL"}
    return running, in_window



def test_in_turn_ends_when_the_armature_is_removed_meanwhile() -> None:
    rig, _ = posed_character()
    running, in_window = turning(rig)
    bpy.data.objects.remove(rig)
    assert running.modal(in_window, TIMER) == {"CANCELLED"}


def test_in_turn_ends_when_the_pose_was_put_back_meanwhile() -> None:
    rig, _ = posed_character()
    before = channels(rig)
    running, in_window = turning(rig)
    bend.put_back(rig, context.scene)
    assert running.modal(in_window, TIMER) == {"CANCELLED"}
    assert channels(rig) == before


def test_in_turn_goes_on_after_an_undo_and_without_bones_gone_meanwhile() -> None:
    rig, _ = posed_character()
    before = channels(rig)
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window, screen=window.screen):
        bpy.ops.ed.undo_push(message="before")
        running, in_window = turning(rig)
        bpy.ops.ed.undo_push(message="bent")
        rig.location.x = 1.0
        bpy.ops.ed.undo_push(message="moved")
        bpy.ops.ed.undo()  # frees the object and makes it anew
    rig = bpy.data.objects["Own rig"]
    assert rig.location.x == 0.0 and bend.is_bent(rig)
    rig.data.bones[running._names[0]].name = "renamed"
    running._timer.time_duration = 0.7
    assert running.modal(in_window, TIMER) == {"RUNNING_MODAL"}
    running._timer.time_duration = 100.0
    assert running.modal(in_window, TIMER) == {"CANCELLED"}
    assert channels(rig)[2:] == before[2:] and not bend.is_bent(rig)
