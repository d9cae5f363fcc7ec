"""Extract: whatever was changed in the score's Action becomes tweaks, or a message names it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import properties, versions
from takt.bridge.scores import following
from takt.bridge.tweaking import tweaks
from takt.operators.extract_tweaks import TAKT_OT_extract_tweaks
from takt.tests.blender.dancing import NAMES, STEPS, Wait, curves, evaluated, play, rebuild

operators: Any = bpy.ops
LIFT: Any = Quaternion((0.3, 0.5, 1.0), 0.6)
FRAMES = range(1, 138)


@pytest.fixture
def dancer(rig: Any, library: Path, wait: Wait) -> Any:
    wait(0.2)
    play(library / "dance.pha")
    wait(1.0)
    return rig


def poses(dancer: Any) -> np.ndarray:
    return np.array([evaluated(dancer, frame) for frame in FRAMES])


def curves_of(dancer: Any, name: str, channel: str) -> list[Any]:
    return [curve for curve in curves(dancer) if curve.data_path == f'pose.bones["{name}"].{channel}']


def remove_keys(dancer: Any, name: str, channel: str, *, which: Callable[[float], bool]) -> None:
    for curve in curves_of(dancer, name, channel):
        for key in reversed([key for key in curve.keyframe_points if which(key.co.x)]):
            curve.keyframe_points.remove(key)


def delete(dancer: Any) -> None:
    remove_keys(dancer, "l_knee", "rotation_quaternion", which=lambda frame: 40 <= frame <= 60)


def delete_the_end(dancer: Any) -> None:
    remove_keys(dancer, "HumanoidRoot", "location", which=lambda frame: frame > 100)


def thin(dancer: Any) -> None:
    remove_keys(dancer, "r_hip", "rotation_quaternion", which=lambda frame: (frame - 1) % 10 != 0)


def thin_scale(dancer: Any) -> None:
    remove_keys(dancer, "l_knee", "scale", which=lambda frame: (frame - 1) % 10 != 0)


def raise_all(dancer: Any) -> None:
    for key in curves_of(dancer, "HumanoidRoot", "location")[1].keyframe_points:
        key.co.y += 0.3


def turn(dancer: Any, mode: str) -> None:
    knee = dancer.pose.bones["l_knee"]
    knee.rotation_mode = mode
    channel = "rotation_axis_angle" if mode == "AXIS_ANGLE" else "rotation_euler"
    for frame, angle in ((1, 0.0), (60, 1.0), (100, -0.5)):
        setattr(knee, channel, (angle, 0.2, 0.4, 0.1)[:4 if mode == "AXIS_ANGLE" else 3])
        assert knee.keyframe_insert(channel, frame=frame)


def turn_by_euler(dancer: Any) -> None:
    turn(dancer, "YXZ")


def turn_evenly_by_euler(dancer: Any) -> None:
    """Let Blender interpolate angles linearly over many frames, which is no even turn."""
    turn(dancer, "XYZ")
    for number, curve in enumerate(curves_of(dancer, "l_knee", "rotation_euler")):
        for key in curve.keyframe_points:
            key.co.y, key.interpolation = 0.02 * key.co.x * (number - 1.5), "LINEAR"


def turn_by_axis(dancer: Any) -> None:
    turn(dancer, "AXIS_ANGLE")


def turn_another(dancer: Any) -> None:
    """Key Euler angles of a bone that the score does not move, beside another edit."""
    delete(dancer)
    tail = dancer.pose.bones["x_tail"]
    tail.rotation_mode = "ZXY"
    for frame, angle in ((10, 0.0), (60, 1.0), (100, -0.5)):
        tail.rotation_euler = (angle, 0.2, 0.4)
        assert tail.keyframe_insert("rotation_euler", frame=frame)


EDITS = (delete, delete_the_end, thin, thin_scale, raise_all, turn_by_euler, turn_evenly_by_euler,
         turn_by_axis, turn_another)


@pytest.mark.parametrize("keys", ["EVERY_FRAME", "KEYS"])
@pytest.mark.parametrize("edit", EDITS)
def test_tweaks_give_the_edited_pose_at_every_frame(dancer: Any, wait: Wait, edit: Callable[[Any], None],
                                                    keys: str) -> None:
    properties.character(dancer).key_mode = keys
    rebuild()
    wait(1.0)
    before, source = poses(dancer), dancer.animation_data.action
    edit(dancer)
    wait(1.0)
    wanted = poses(dancer)
    if np.abs(wanted - before).max() < 1e-3:
        pytest.skip("these keys were not needed")
    assert operators.takt.extract_tweaks() == {"FINISHED"}
    wait(1.0)
    assert dancer.animation_data.action != source and source.use_fake_user
    np.testing.assert_allclose(poses(dancer), wanted, atol=1e-3)
    rebuild()
    np.testing.assert_allclose(poses(dancer), wanted, atol=1e-3)


def test_what_was_not_changed_becomes_no_tweak(dancer: Any, wait: Wait) -> None:
    for keys in ("EVERY_FRAME", "KEYS"):
        properties.character(dancer).key_mode = keys
        rebuild()
        curves(dancer)[0].color_mode = "AUTO_RGB"  # counts as an edit, and moves nothing
        with pytest.raises(RuntimeError, match="does not differ from the score"):
            operators.takt.extract_tweaks()


def test_a_loop_that_was_not_changed_becomes_no_tweak(dancer: Any) -> None:
    kept = properties.character(dancer)
    kept.loop, kept.root_motion = True, "IN_PLACE"
    rebuild()
    curves(dancer)[0].color_mode = "AUTO_RGB"
    with pytest.raises(RuntimeError, match="does not differ from the score"):
        operators.takt.extract_tweaks()


def add_other_keys(dancer: Any) -> None:
    """Key a custom property, a constraint and the object itself."""
    tail = dancer.pose.bones["x_tail"]
    pull = tail.constraints.new("COPY_LOCATION")
    pull.target = bpy.data.objects.new("Goal", None)
    for frame, much in ((20, 0.0), (40, 0.8)):
        dancer["glow"] = pull.influence = much
        dancer.location.x = 3.0 * much
        for owner, path in ((dancer, '["glow"]'), (pull, "influence"), (dancer, "location")):
            assert owner.keyframe_insert(path, frame=frame)


def other_values(dancer: Any) -> list[tuple[float, ...]]:
    found = list[tuple[float, ...]]()
    for frame in (10, 25, 30, 50):
        bpy.context.scene.frame_set(frame)
        influence = dancer.pose.bones["x_tail"].constraints[0].influence
        found.append((dancer["glow"], influence, dancer.location.x))
    return found


def test_keys_that_pose_no_bone_go_along(dancer: Any, wait: Wait) -> None:
    add_other_keys(dancer)
    delete(dancer)
    wait(1.0)
    wanted = other_values(dancer)
    assert len({each[0] for each in wanted}) == 4
    assert operators.takt.extract_tweaks() == {"FINISHED"}
    wait(1.0)
    np.testing.assert_allclose(other_values(dancer), wanted, atol=1e-5)
    properties.character(dancer).text.from_string(STEPS.replace('duration="0.7"', 'duration="1.7"'))
    wait(1.0)
    assert not following.is_older(dancer)
    np.testing.assert_allclose(other_values(dancer), wanted, atol=1e-5)


def test_keys_of_an_own_action_that_pose_no_bone_are_named(dancer: Any, wait: Wait,
                                                           capsys: pytest.CaptureFixture[str]) -> None:
    add_other_keys(dancer)
    delete(dancer)
    wait(1.0)
    assert operators.takt.keep_mine() == {"FINISHED"}
    assert operators.takt.extract_tweaks() == {"FINISHED"}
    assert "Keys that pose no bone are left out: x_tail, glow, location" in told_in_order(capsys)


def told_in_order(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was reported; names of what poses no bone in one order."""
    said = capsys.readouterr().out
    for line in said.splitlines():
        head, colon, names = line.rpartition(": ")
        if "pose no bone" in head and sorted(names.split(", ")) == ["glow", "location", "x_tail"]:
            said = said.replace(line, f"{head}{colon}x_tail, glow, location")
    return said


def test_muted_curves_of_a_bone_that_the_score_does_not_move_are_named(dancer: Any, wait: Wait,
                                                                       capsys: pytest.CaptureFixture[str]) -> None:
    turn_another(dancer)
    for curve in curves_of(dancer, "x_tail", "rotation_euler"):
        curve.mute = True
    assert operators.takt.extract_tweaks() == {"FINISHED"}
    assert "Muted or missing curves are left out: x_tail\n" in capsys.readouterr().out


@pytest.mark.parametrize("edit", ["muted", "one muted", "removed"])
def test_bones_with_muted_or_missing_curves_are_named(dancer: Any, wait: Wait, edit: str,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    delete(dancer)
    hip = curves_of(dancer, "r_hip", "rotation_quaternion")
    for curve in hip[:1] if edit == "one muted" else hip:
        if edit == "removed":
            curves(dancer).remove(curve)
        else:
            curve.mute = True
    wait(1.0)
    assert operators.takt.extract_tweaks() == {"FINISHED"}
    assert "Muted or missing curves are left out: r_hip\n" in capsys.readouterr().out
    assert {curve.data_path for curve in curves(dancer)} == {'pose.bones["l_knee"].rotation_quaternion'}


def test_panel_and_extract_say_which_keys_stay_at_their_frames(dancer: Any, wait: Wait) -> None:
    context: Any = bpy.context
    wait(1.0)
    assert not following.told_of_own_keys(dancer)
    add_other_keys(dancer)
    bpy.context.view_layer.update()
    wait(1.0)
    said = following.told_of_own_keys(dancer)
    assert all(name in said for name in ("glow", "location", "x_tail")) and "stay at their frames" in said
    assert TAKT_OT_extract_tweaks.problem(context) == said
    for curve in [curve for curve in curves(dancer) if "glow" in curve.data_path]:
        curves(dancer).remove(curve)
    dancer.animation_data.action.update_tag()
    bpy.context.view_layer.update()
    wait(1.0)
    assert "glow" not in following.told_of_own_keys(dancer)


def test_bake_names_the_strips_that_it_leaves_out(dancer: Any, wait: Wait, capsys: pytest.CaptureFixture[str]) -> None:
    assert operators.takt.tweak() == {"FINISHED"}
    mine = bpy.data.actions.new("mine")
    slot = mine.slots.new(id_type="OBJECT", name="Rig")
    versions.ensure_channelbag(mine, slot).fcurves.new('["mood"]').keyframe_points.insert(1, 0.5)
    strip = dancer.animation_data.nla_tracks.new().strips.new("mine", 1, mine)
    assert operators.takt.bake_tweaks() == {"FINISHED"}
    assert "Bake leaves out what is neither the score's nor tweaks: mine" in capsys.readouterr().out
    strip.mute = True
    assert operators.takt.bake_tweaks() == {"FINISHED"}
    assert "leaves out" not in capsys.readouterr().out and [*tweaks.layers_of(dancer)] and len(NAMES) == 5
