"""What can be wrong with tweaks: a message says what to do, and nothing is lost.

Files of another version or damaged, two characters that share an Action, and paths that cannot be written are tested in
test_tweaks.py; an export without any procedure in test_engine_files.py.
"""

import shutil
from pathlib import Path
from typing import Any

import bpy
import pytest

from takt.bridge.actions.curves import tracks_of
from takt.bridge.rigs.armature import read_skeleton
from takt.bridge.tweaking import tweak_waiting, tweaks
from takt.core.pha.edits import SetAttribute
from takt.tests.blender.dancing import STEPS, Wait, rebuild, text_of
from takt.tests.blender.test_tweaks import KNEE, curves_of, edit, is_lifted, own_frames, set_key, tweaked
from takt.tests.blender.test_tweaks_elsewhere import file, keys, opened

__all__ = ["file", "tweaked"]  # fixtures of other files
operators: Any = bpy.ops


@pytest.mark.parametrize("rebuilds", [True, False])
def test_a_bone_that_the_rig_has_no_longer_is_told_of_and_its_keys_are_kept(tweaked: Any, wait: Wait,
                                                                           rebuilds: bool) -> None:
    set_key(tweaked, 20)
    set_key(tweaked, 20, name="r_hip")
    wait(0.5)
    operators.object.mode_set(mode="EDIT")
    bones = tweaked.data.edit_bones
    bones.remove(bones[KNEE])
    operators.object.mode_set(mode="OBJECT")
    if rebuilds:
        rebuild()
        tweaks.look(tweaked, bpy.context.scene)  # type: ignore[arg-type]
    else:
        wait(1.0)
    assert f"has keys of bones that 'Rig' has not, {KNEE}: they are kept" in tweaks.problem(tweaked)
    edit(tweaked, SetAttribute(6, "duration", "5"))
    paths = {curve.data_path.split('"')[1] for curve in curves_of(tweaked.animation_data.action)}
    assert paths == {KNEE, "r_hip"} and own_frames(tweaked.animation_data.action) == [pytest.approx(39.0)]


def test_keys_of_a_bone_that_was_deleted_after_the_skeleton_was_read_are_left_out(tweaked: Any) -> None:
    set_key(tweaked, 20)
    set_key(tweaked, 20, name="r_hip")
    skeleton, action = read_skeleton(tweaked), tweaked.animation_data.action
    operators.object.mode_set(mode="EDIT")
    bones = tweaked.data.edit_bones
    bones.remove(bones[KNEE])
    operators.object.mode_set(mode="OBJECT")
    rotations, *_ = tracks_of(action, tweaked, skeleton, 24.0, 1.0)
    assert [skeleton.names[joint] for joint in rotations.joints] == ["r_hip"]


def test_a_block_that_is_gone_from_another_file_waits_and_comes_back(tweaked: Any, wait: Wait, library: Path) -> None:
    call = '<call name="right" duration="2"/>'
    procedure = f'<procedure name="turn">{call}</procedure>'
    other = library / "turns.pha"
    with_it = f'<pha tickLength="1"><load src="feet.Steps"/>{procedure}</pha>'
    other.write_text(with_it)
    calls = '<call name="turns.turn" duration="2"/><call name="left" duration="1"/>'
    text_of(tweaked).from_string(STEPS.replace('<load', '<include src="turns"/>\n  <load').replace(
        '<call name="right" duration="0.7"/>', calls))
    rebuild()
    wait(1.0)
    set_key(tweaked, 145)
    wait(0.5)
    assert tweaks.problem(tweaked) == "" and is_lifted(tweaked, 145)
    other.write_text(with_it.replace(procedure, procedure.replace(call, 2 * '<call name="left" duration="1"/>')))
    rebuild()
    wait(0.5)
    assert "'right' (l_knee)" in tweak_waiting.words(tweaked) and "press Undo" in tweak_waiting.words(tweaked)
    other.write_text(with_it)
    rebuild()
    wait(0.5)
    assert not tweak_waiting.words(tweaked)
    assert own_frames(tweaked.animation_data.action) == [145.0] and is_lifted(tweaked, 145)


@pytest.mark.parametrize("is_renamed", (False, True))
def test_keys_in_a_block_of_another_file_stay_if_that_file_moves(
        tweaked: Any, wait: Wait, library: Path, tmp_path: Path, is_renamed: bool) -> None:
    """The library may lie elsewhere now, or the file may have another name there."""
    (library / "turns.pha").write_text('<pha tickLength="1"><load src="feet.Steps"/>'
                                       '<procedure name="turn"><call name="right" duration="2"/></procedure></pha>')
    text = STEPS.replace('<load', '<include src="turns"/>\n  <load').replace(
        '<call name="right" duration="0.7"/>', '<call name="turn" duration="2"/>')
    text_of(tweaked).from_string(text)
    rebuild()
    wait(1.0)
    set_key(tweaked, 145)
    wait(0.5)
    assert tweaks.problem(tweaked) == "" and is_lifted(tweaked, 145)
    there = library if is_renamed else tmp_path / "elsewhere" / "library"
    if is_renamed:
        (library / "turns.pha").rename(library / "whirls.pha")
        text_of(tweaked).from_string(text.replace('src="turns"', 'src="whirls"'))
    else:
        shutil.copytree(library, there)
        (library / "turns.pha").unlink()
        tweaked.takt.library = str(there)
    rebuild()
    wait(0.5)
    assert not tweak_waiting.words(tweaked)
    assert own_frames(tweaked.animation_data.action) == [145.0] and is_lifted(tweaked, 145)


def test_keys_in_an_action_of_a_library_stay_and_it_is_said_why(file: Path, wait: Wait) -> None:
    rig = opened(file, is_linked=True).override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = rig
    wait(1.0)
    rebuild()
    wait(0.5)
    assert keys(rig) == [100.0]
    assert "is linked, so its keys stay where they are: make it local first" in tweaks.problem(rig)


def test_curves_of_samples_are_told_of(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 73)
    wait(0.5)
    assert tweaks.problem(tweaked) == ""
    curve: Any = curves_of(tweaked.animation_data.action)[0]
    curve.convert_to_samples(1, 100)
    edit(tweaked, SetAttribute(6, "duration", "5"))
    assert "has curves of samples" in tweaks.problem(tweaked) and "Samples to Keys" in tweaks.problem(tweaked)


def test_keys_of_locked_curves_go_along_and_are_locked_still(tweaked: Any, wait: Wait) -> None:
    set_key(tweaked, 73)
    wait(0.5)
    for curve in curves_of(tweaked.animation_data.action):
        curve.lock = True
    edit(tweaked, SetAttribute(6, "duration", "5"))
    action = tweaked.animation_data.action
    assert own_frames(action) == [pytest.approx(145.0)] and is_lifted(tweaked, 145)
    assert all(curve.lock for curve in curves_of(action))


def test_keys_of_a_control_bone_with_muted_constraints_are_told_of(tweaked: Any, wait: Wait) -> None:
    operators.object.mode_set(mode="EDIT")
    control = tweaked.data.edit_bones.new("knee_ik")
    control.head, control.tail, control.use_deform = (0.0, 0.0, 0.0), (0.0, 0.0, 0.1), False
    operators.object.mode_set(mode="POSE")
    constraint = tweaked.pose.bones[KNEE].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget, constraint.mute = tweaked, "knee_ik", True
    scene: Any = bpy.context.scene
    rebuild()
    set_key(tweaked, 20)
    tweaks.look(tweaked, scene)
    assert tweaks.problem(tweaked) == ""  # its own bone deforms
    control = tweaked.pose.bones["knee_ik"]
    control.location.x = 0.1
    assert control.keyframe_insert("location", frame=20)
    tweaks.look(tweaked, scene)
    assert "has keys of control bones, knee_ik, whose constraints are muted" in tweaks.problem(tweaked)
    assert "key the bones that deform the mesh instead" in tweaks.problem(tweaked)
    constraint.mute = False
    edit(tweaked, SetAttribute(6, "duration", "5"))
    assert tweaks.problem(tweaked) == ""  # now it moves the knee
