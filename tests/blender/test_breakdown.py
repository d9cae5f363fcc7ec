"""Breakdown: poses between two blocks or keys, set as tweaks."""

from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import score
from takt.bridge.tweaking import breakdown
from takt.operators.breakdown import TAKT_OT_breakdown
from takt.tests.blender.dancing import Wait
from takt.tests.blender.test_tweaks import KNEE, own_frames, set_key, shown, tweak, tweaked

__all__ = ["tweaked"]  # a fixture of another file
operators: Any = bpy.ops
context: Any = bpy.context


@pytest.fixture
def posing(tweaked: Any) -> Any:
    """The dancer in Pose Mode, with one bone selected."""
    context.view_layer.objects.active = tweaked
    operators.object.mode_set(mode="POSE")
    for bone in tweaked.pose.bones:
        select(bone, is_selected=bone.name == KNEE)
    return tweaked


def select(bone: Any, *, is_selected: bool) -> None:
    (bone if hasattr(bone, "select") else bone.bone).select = is_selected


def moments(rig: Any, frame: int) -> tuple[int, int]:
    """Return between which frames a pose at a frame lies."""
    motion = score.motion_of(rig)
    assert motion is not None
    found = breakdown.around(breakdown.key_poses(rig, context.scene, motion), frame)
    assert found is not None
    return found


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 1.4, -0.5])
def test_the_pose_is_between_two_blocks_and_a_tweak(posing: Any, wait: Wait, share: float) -> None:
    frame = 40
    earlier, later = moments(posing, frame)
    first, last, before = (shown(posing, at)[0] for at in (earlier, later, frame))
    assert first.rotation_difference(last).angle > 0.02
    context.scene.frame_set(frame)
    assert operators.takt.breakdown(share=share) == {"FINISHED"}
    wait(0.5)
    assert [round(at) for at in own_frames(posing.animation_data.action)] == [frame]
    found = shown(posing, frame)[0]
    arc = first.rotation_difference(last)
    arc = -arc if arc.w < 0.0 else arc
    axis, angle = arc.to_axis_angle()
    wanted = first @ type(first)(axis, share * angle)
    assert found.rotation_difference(wanted).angle % 6.283185 == pytest.approx(0.0, abs=2e-3)
    assert found.rotation_difference(before).angle > 1e-3


def test_keys_of_tweaks_are_moments_too(posing: Any, wait: Wait) -> None:
    earlier, later = moments(posing, 40)
    set_key(posing, 36)
    wait(0.5)
    assert moments(posing, 40) == (36, later) and moments(posing, 36) == (earlier, later)


def test_nothing_else_is_changed_and_undo_takes_it_back(posing: Any, wait: Wait) -> None:
    other = next(bone for bone in posing.pose.bones if bone.name not in (KNEE, "x_tail"))
    context.scene.frame_set(40)
    before = np.array(other.matrix_basis)
    assert operators.takt.breakdown(share=0.5) == {"FINISHED"} and context.scene.frame_current == 40
    wait(0.5)
    assert np.abs(np.array(other.matrix_basis) - before).max() < 1e-6
    paths = {curve.data_path for curve in posing.animation_data.action.layers[0].strips[0].channelbags[0].fcurves}
    assert all(KNEE in path for path in paths) and paths


def test_it_says_what_is_missing(posing: Any, wait: Wait) -> None:
    context.scene.frame_set(-20)
    with pytest.raises(RuntimeError, match="not between two blocks or keys"):
        operators.takt.breakdown()
    for bone in posing.pose.bones:
        select(bone, is_selected=False)
    assert not operators.takt.breakdown.poll()
    operators.object.mode_set(mode="OBJECT")
    assert not operators.takt.breakdown.poll()
    tweak()  # begins nothing: keys land in the layer already
    assert len(properties.character(posing).tweaks) == 1


def test_closed_in_the_middle_it_leaves_the_pose_as_it_was(posing: Any) -> None:
    """Blender calls cancel where a window is closed or another file opened."""
    context.scene.frame_set(40)
    before, bone = posing.pose.bones[KNEE].matrix_basis.copy(), posing.pose.bones[KNEE]
    poses = breakdown.Poses.of([bone], context.scene, *moments(posing, 40))
    poses.show(1.0)
    assert bone.matrix_basis != before
    cleared: list[Any] = []
    running: Any = SimpleNamespace(_poses=poses, _clear=cleared.append)
    TAKT_OT_breakdown.cancel(running, context)
    assert cleared == [context]
    np.testing.assert_allclose(np.array(bone.matrix_basis), np.array(before), atol=1e-6)
