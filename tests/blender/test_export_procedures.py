"""Procedures as Actions and as animations of a file: named, as long, moving as in Blender; nothing else changes."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.actions import curves_digest, procedure_actions
from takt.bridge.actions.procedure_actions import Wanted
from takt.tests.blender.dancing import NAMES, STEPS, Wait, evaluated, play, text_of

operators: Any = bpy.ops
LENGTHS = {"pair": 60, "main": 137}
"""In frames, at 24 a second."""


@pytest.fixture
def dancer(rig: Any, library: Path) -> Any:
    """A character that plays a score, with a mesh that one bone moves."""
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata([(0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0)], [], [(0, 1, 2)])
    body = bpy.data.objects.new("Body", mesh)
    bpy.context.collection.objects.link(body)
    body.vertex_groups.new(name="l_hip").add([0, 1, 2], 1.0, "REPLACE")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    play(library / "dance.pha")
    return rig


def heads(rig: Any, frame: int) -> Any:
    """Return where the bones begin in the world, (J, 3)."""
    return np.array(rig.matrix_world) @ np.concatenate(
        (evaluated(rig, frame)[:, :, 3], np.ones((len(NAMES), 1))), axis=1).T


def as_it_is(rig: Any) -> dict[str, Any]:
    """Return what an export must leave alone."""
    animation, scene = rig.animation_data, bpy.context.scene
    found = {action.name: (curves_digest.digest_of_all_keys(action), action.users, action.use_fake_user)
             for action in bpy.data.actions}
    return {"actions": found, "action": animation.action, "slot": animation.action_slot,
            "mixed": (animation.action_blend_type, animation.action_influence, animation.use_nla),
            "tracks": [(track.name, track.mute, track.is_solo, [strip.action for strip in track.strips])
                       for track in animation.nla_tracks],
            "selected": [ob.name for ob in bpy.context.view_layer.objects.selected],
            "active": bpy.context.view_layer.objects.active, "mode": rig.mode,
            "scene": (scene.frame_current, scene.frame_start, scene.frame_end),
            "pose": [tuple(np.ravel(bone.matrix_basis)) for bone in rig.pose.bones],
            "modes": [bone.rotation_mode for bone in rig.pose.bones]}


def test_each_procedure_is_an_action_of_its_name_and_length_and_is_filled_anew(dancer: Any) -> None:
    before = as_it_is(dancer)
    assert operators.takt.procedure_actions() == {"FINISHED"}
    now = as_it_is(dancer)
    made: Any = {name: bpy.data.actions[name] for name in LENGTHS}
    assert {name: tuple(action.frame_range) for name, action in made.items()} == {
        name: (0.0, length) for name, length in LENGTHS.items()}
    assert all(action.use_fake_user for action in made.values())
    assert set(now.pop("actions")) == set(before.pop("actions")) | set(LENGTHS) and now == before
    assert operators.takt.procedure_actions() == {"FINISHED"}
    assert len(bpy.data.actions) == len(LENGTHS) + 1
    made["pair"].layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[2].co.y += 0.5
    assert operators.takt.procedure_actions(which="CHOSEN") == {"FINISHED"}
    assert "pair.001" not in bpy.data.actions  # main is the chosen one
    assert operators.takt.procedure_actions(as_assets=True) == {"FINISHED"}
    assert "pair.001" in bpy.data.actions and bpy.data.actions["main"].asset_data is not None


def test_in_place_the_root_stays_and_a_loop_ends_as_it_begins(dancer: Any) -> None:
    ways = []
    for in_place in (False, True):
        assert operators.takt.procedure_actions(in_place=in_place) == {"FINISHED"}
        dancer.animation_data.action = bpy.data.actions["main"]
        roots = np.stack([heads(dancer, frame)[:2, 0] for frame in range(LENGTHS["main"] + 1)])
        ways.append(float(np.ptp(roots, axis=0).max()))
    assert ways[1] < 1e-5 < 0.05 < ways[0]
    scene: Any = bpy.context.scene
    loop = procedure_actions.sample(dancer, scene, "pair", Wanted(is_in_place=True, is_loop=True)).channels
    assert loop is not None
    for _, _, values, _ in loop.curves:
        ends = np.abs(values[-1] - values[0]), np.abs(values[-1] + values[0])
        assert np.minimum(*ends).max() < 2e-3


@pytest.mark.parametrize("ending", [".glb", ".gltf", ".fbx"])
def test_a_file_has_them_by_name_as_long_and_moving_as_in_blender(dancer: Any, tmp_path: Path, ending: str) -> None:
    assert operators.takt.procedure_actions() == {"FINISHED"}
    dancer.animation_data.action = None
    wanted = {}
    for name, length in LENGTHS.items():
        dancer.animation_data.action = bpy.data.actions[name]
        dancer.animation_data.action_slot = bpy.data.actions[name].slots[0]
        wanted[name] = np.stack([heads(dancer, frame) for frame in range(length + 1)])
    operators.object.mode_set(mode="POSE")
    track = dancer.animation_data.nla_tracks.new()
    track.strips.new("mine", 3, bpy.data.actions["pair"])
    track.is_solo = True
    bpy.context.scene.frame_set(17)
    before, path = as_it_is(dancer), tmp_path / f"out{ending}"
    assert operators.takt.export_procedures(filepath=str(path)) == {"FINISHED"}
    assert as_it_is(dancer) == before
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []
    operators.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    reader = operators.import_scene.fbx if ending == ".fbx" else operators.import_scene.gltf
    assert reader(filepath=str(path)) == {"FINISHED"}
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    found: Any = {action.name.rpartition("|")[2]: action for action in bpy.data.actions}
    assert found.keys() == LENGTHS.keys()
    for name, action in found.items():
        first, last = action.frame_range
        assert last - first == pytest.approx(LENGTHS[name], abs=0.5)
        for track in rig.animation_data.nla_tracks:
            track.mute = True
        rig.animation_data.action, rig.animation_data.action_slot = action, action.slots[0]
        now = np.stack([heads(rig, round(first) + frame) for frame in range(LENGTHS[name] + 1)])
        height = float(np.ptp(wanted[name][0], axis=1).max())
        np.testing.assert_allclose(now, wanted[name], atol=1e-4 * height)


def test_what_cannot_be_written_is_refused_and_one_bad_procedure_costs_only_itself(
        dancer: Any, tmp_path: Path, wait: Wait, capfd: pytest.CaptureFixture[str]) -> None:
    before = as_it_is(dancer)
    for path, said in ((tmp_path / "no" / "out.glb", "there is no folder"), (tmp_path / "out.obj", "has to end in")):
        with pytest.raises(RuntimeError, match=said):
            operators.takt.export_procedures(filepath=str(path))
    assert as_it_is(dancer) == before and list(tmp_path.glob("out*")) == []
    text_of(dancer).from_string(STEPS.replace("<pha", '<pha version="2"').replace(
        '<procedure name="pair">', '<procedure name="bad"><param name="n" default="0"/><call name="left" '
        'duration="1 / n"/></procedure><procedure name="pair">'))
    capfd.readouterr()
    assert operators.takt.export_procedures(filepath=str(tmp_path / "out.glb")) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "Warning: bad: " in said and "Wrote 2 animations" in said
    text_of(dancer).from_string("<pha tickLength='1'/>")
    with pytest.raises(RuntimeError):
        operators.takt.export_procedures(filepath=str(tmp_path / "none.glb"))
    assert not (tmp_path / "none.glb").exists()
