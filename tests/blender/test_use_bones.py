"""Bones that Auto-bind leaves idle: shown, switched on for the next binding, and left to Auto-bind again."""

from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge import versions
from takt.bridge.meshes import idle_bones
from takt.tests.rigged import bind, linked, make_tube, select, weights

NAMES = ("lower", "middle", "upper", "handslot")


def character() -> tuple[Any, Any]:
    """A tube with four bones, the last of which its name leaves out."""
    armature = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", armature)
    bpy.context.collection.objects.link(rig)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for height, name in enumerate(NAMES):
        bone = armature.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, height), (0, 0, height + 1)
        bone.parent = armature.edit_bones[NAMES[height - 1]] if height else None
    bpy.ops.object.mode_set(mode="OBJECT")
    body = make_tube()
    select(rig, body)
    return rig, body


def press(operator: str, **values: Any) -> None:
    assert getattr(cast(Any, bpy.ops).takt, operator)(**values) == {"FINISHED"}


def moved_by(body: Any, name: str) -> bool:
    return name in body.vertex_groups and bool(weights(body, name).any())


def test_show_selects_the_idle_bones_in_pose_mode_even_hidden_ones() -> None:
    rig, body = character()
    bind()
    assert idle_bones.last_idle(rig) == [("named as controls or ends", ["handslot"])]
    pose_bone = rig.pose.bones["handslot"]
    (pose_bone if bpy.app.version >= (5, 0, 0) else pose_bone.bone).hide = True
    select(body)
    press("select_idle_bones")
    assert bpy.context.active_object == rig and rig.mode == "POSE"
    assert [bone.name for bone in idle_bones.selected_bones(rig)] == ["handslot"]
    assert not (pose_bone if bpy.app.version >= (5, 0, 0) else pose_bone.bone).hide


@pytest.mark.parametrize("in_pose_mode", [False, True])
def test_bones_that_are_switched_on_get_their_place_at_the_next_binding(in_pose_mode: bool) -> None:
    rig, body = character()
    bind()
    assert not moved_by(body, "handslot")
    if in_pose_mode:
        press("select_idle_bones")
    press("use_bones")
    bpy.ops.object.mode_set(mode="OBJECT")
    select(rig, body)
    bind()
    high = np.array([v.co.z > 3.4 for v in body.data.vertices])
    assert (weights(body, "handslot")[high] > 0.9).all()
    assert idle_bones.last_idle(rig) == []
    press("use_bones", used=False)
    bind()
    assert not moved_by(body, "handslot")


def test_only_those_selected_in_pose_mode_are_switched_on() -> None:
    rig, _ = character()
    bind()
    press("select_idle_bones")
    versions.select_only([rig.pose.bones["middle"]], rig)
    press("use_bones")
    assert [bone.name for bone in idle_bones.chosen_bones(rig)] == ["middle"]


def test_what_is_switched_on_is_kept_through_renaming_edit_mode_and_saving(tmp_path: Path) -> None:
    rig, _ = character()
    bind()
    press("use_bones")
    rig.data.bones["handslot"].name = "grip"
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    assert [bone.name for bone in idle_bones.chosen_bones(bpy.data.objects["Rig"])] == ["grip"]


def test_undo_takes_it_back() -> None:
    character()
    bind()
    bpy.ops.ed.undo_push(message="before")
    press("use_bones")
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    assert not idle_bones.chosen_bones(bpy.data.objects["Rig"])
    bpy.ops.ed.redo()
    assert [bone.name for bone in idle_bones.chosen_bones(bpy.data.objects["Rig"])] == ["handslot"]


def test_bones_without_deform_are_named() -> None:
    rig, _ = character()
    bind()
    rig.data.bones["handslot"].use_deform = False
    assert idle_bones.last_idle(rig) == []
    bpy.ops.object.mode_set(mode="POSE")
    versions.select_only([rig.pose.bones["handslot"]], rig)
    with pytest.raises(RuntimeError, match="Deform is off for handslot: switch it on"):
        bpy.ops.takt.use_bones()  # type: ignore[attr-defined]
    assert not idle_bones.chosen_bones(rig)


def test_buttons_are_grey_with_a_reason() -> None:
    rig, _ = character()
    select(rig)
    for operator, reason in (("select_idle_bones", "left no bone without vertices"),
                             ("use_bones", "Select bones in Pose Mode")):
        with pytest.raises(RuntimeError, match=reason):
            getattr(cast(Any, bpy.ops).takt, operator)()


def test_linked_bones_are_not_changed(tmp_path: Path) -> None:
    rig, _ = character()
    rig = linked(rig, tmp_path)
    select(rig)
    with pytest.raises(RuntimeError, match="is linked from another file"):
        bpy.ops.takt.use_bones()  # type: ignore[attr-defined]
