"""What a character does without a score of its own, and where it stands, is in the files that are written of it."""

from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge.axes import BLENDER_FROM_HANIM
from takt.core.formats import x3d_xml
from takt.core.formats.x3d_character import characters_of
from takt.core.library.clip_files import read_clip_file
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose

SAME_M = 1e-4
context: Any = bpy.context
takt: Any = bpy.ops.takt  # type: ignore[attr-defined]


@pytest.fixture
def rig() -> Any:
    """Make three bones and a cube that they deform, away from the origin and turned, on an Empty that stands."""
    scene = context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 24, 1, 25
    carrier = bpy.data.objects.new("Carrier", None)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    for ob in (carrier, rig):
        context.collection.objects.link(ob)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for number, name in enumerate(("Root", "Arm", "Hand")):
        bone = cast(Any, rig.data).edit_bones.new(name)
        bone.head, bone.tail, bone.roll = (0.1 * number, 0.0, float(number)), (0.1, 0.2, number + 1.0), 0.3
        bone.parent, above = above, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.parent = carrier
    rig.location, rig.rotation_euler, rig.scale = (2.0, -1.0, 0.5), (0.0, 0.0, 0.6), (1.5, 1.5, 1.5)
    bpy.ops.mesh.primitive_cube_add()
    body = context.object
    body.name, body.parent = "Body", rig
    body.vertex_groups.new(name="Arm").add([*range(8)], 1.0, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    context.view_layer.objects.active = rig
    context.view_layer.update()
    return rig


def key_bones(rig: Any) -> Any:
    """Key a bone from frame 1 to 25; return the Action."""
    for frame, angle in ((1, 0.4), (25, -0.8)):
        rig.pose.bones["Arm"].rotation_quaternion = (np.cos(angle), 0.0, np.sin(angle), 0.0)
        rig.pose.bones["Arm"].keyframe_insert("rotation_quaternion", frame=frame)
    return rig.animation_data.action


def key_carrier(rig: Any) -> None:
    """Let the parent walk and turn."""
    for frame, along, turn in ((1, 0.0, 0.2), (25, 3.0, 1.4)):
        rig.parent.location.y, rig.parent.rotation_euler.z = along, turn
        rig.parent.keyframe_insert("location", frame=frame)
        rig.parent.keyframe_insert("rotation_euler", frame=frame)


def to_nla(rig: Any, action: Any) -> None:
    """Play an Action as a strip alone."""
    slot = rig.animation_data.action_slot
    rig.animation_data.action = None
    strip = rig.animation_data.nla_tracks.new().strips.new("Turn", 1, action)
    strip.action_slot = slot


def distance(rig: Any, path: Path) -> float:
    """Return how far the joints of an X3D file are from Blender's at every fourth frame, in the scene's space."""
    (character,) = characters_of(x3d_xml.read(path.read_bytes(), path)).characters
    (clip,) = character.clips
    worst = 0.0
    for frame in range(1, 26, 4):
        context.scene.frame_set(frame)
        world = world_from_pose(clip.skeleton, clip.sample(np.array(((frame - 1) / 24.0,))))[0, :, :, 3]
        there = world @ character.placed[:3, :3].T + character.placed[:3, 3]
        for joint, name in enumerate(clip.skeleton.names):
            own = rot.rotate(rot.conjugate(BLENDER_FROM_HANIM), np.array(rig.matrix_world @ rig.pose.bones[name].head))
            worst = max(worst, float(np.abs(own - there[joint]).max()))
    return worst


@pytest.mark.parametrize("moving", ["nothing", "bones", "parent", "both", "object", "nla", "nla and parent"])
@pytest.mark.parametrize("hanim_motion", [False, True])
def test_joints_are_where_blender_has_them(rig: Any, tmp_path: Path, moving: str, hanim_motion: bool) -> None:
    if moving in ("bones", "both", "object", "nla", "nla and parent"):
        action = key_bones(rig)
        if moving == "object":
            for frame, height in ((1, 0.5), (25, 2.0)):
                rig.location.z = height
                rig.keyframe_insert("location", frame=frame)
        if moving.startswith("nla"):
            to_nla(rig, action)
    if moving in ("parent", "both", "nla and parent"):
        key_carrier(rig)
    context.scene.frame_set(9)
    path = tmp_path / "dance.x3d"
    assert takt.export_performance(filepath=str(path), hanim_motion=hanim_motion) == {"FINISHED"}
    assert context.scene.frame_current == 9
    assert distance(rig, path) < SAME_M


def test_the_pose_of_a_character_that_nothing_moves_is_written(rig: Any, tmp_path: Path, capfd: Any) -> None:
    rig.pose.bones["Arm"].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    context.view_layer.update()
    path = tmp_path / "pose.skeleton"
    assert takt.export_performance(filepath=str(path)) == {"FINISHED"}
    (clip,) = read_clip_file(path).clips
    turn = clip.sample(np.zeros(1)).rotations[0, clip.skeleton.index_of["Arm"]]
    angle: FloatArray = rot.angle_between(turn, rot.IDENTITY)
    np.testing.assert_allclose(angle, 2.0 * np.arccos(0.8), atol=1e-4)
    assert "Wrote the pose of the current frame into" in capfd.readouterr().out


def test_what_is_lost_is_said(rig: Any, tmp_path: Path, capfd: Any) -> None:
    key_bones(rig)
    body = bpy.data.objects["Body"]
    for name in ("Basis", "Smile", "Blink"):
        body.shape_key_add(name=name)
    rig.scale.z = 3.0
    context.view_layer.update()
    assert takt.export_performance(filepath=str(tmp_path / "dance.x3d")) == {"FINISHED"}
    said = capfd.readouterr().out
    assert "'Body' is written without its 2 shape keys, in the shape of 'Basis'" in said
    assert "'Rig' is scaled unevenly or sheared" in said and "stands at" not in said
    assert takt.export_performance(filepath=str(tmp_path / "dance.bvh")) == {"FINISHED"}
    assert ("'Rig' stands at (2, -1, 0.5) m in the scene, turned by 34.4°; .bvh cannot hold that" in
            capfd.readouterr().out)


def test_a_parent_that_grows_is_said(rig: Any, tmp_path: Path, capfd: Any) -> None:
    for frame, size in ((1, 1.0), (25, 2.0)):
        rig.parent.scale = (size, size, size)
        rig.parent.keyframe_insert("scale", frame=frame)
    assert takt.export_performance(filepath=str(tmp_path / "dance.x3d")) == {"FINISHED"}
    assert "'Rig' changes its size as an object, which is not written" in capfd.readouterr().out


def test_an_action_that_is_asked_for_is_missed(rig: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="'Rig' plays no Action: choose As Shown"):
        takt.export_performance(filepath=str(tmp_path / "dance.x3d"), motion="ACTION")
