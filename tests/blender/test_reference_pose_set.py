"""The skeleton map in the interface: plain names, doubt first, and the reference pose that a person sets."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from takt.bridge import axes, properties
from takt.bridge.rigs import armature, joint_map
from takt.core.clips.clip import Clip
from takt.core.formats import bvh
from takt.core.maths import rotations as rot
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import read_map, write_map
from takt.core.skeletons.skeleton import world_from_pose
from takt.panels.skeleton_map import TAKT_UL_joints
from takt.samples.character import build_character
from takt.tests.blender.test_play_clip import LIMB_DEG, apart_deg
from takt.tests.core.rewriting import Rewriting, movements, rewritten
from takt.tests.core.rigs import RIGS, with_model_axes

takt: Any = cast(Any, bpy.ops).takt
BENDS = {"l_shoulder": 0.9, "r_shoulder": -0.7, "l_hip": 0.5, "r_knee": 0.6, "vl5": 0.5}


def bend(rig: Any, sign: float) -> None:
    """Turn some bones about an axis of their own."""
    for name, angle in BENDS.items():
        bone = rig.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = Quaternion((0.3, 0.2, 1.0), sign * angle)
    bpy.context.view_layer.update()


def trunk_deg(rig: Any, clip: Clip) -> float:
    """Return by how much the trunk leans away from the clip's in its middle."""
    scene = bpy.context.scene
    time_s = 10.0 / scene.render.fps
    scene.frame_set(scene.frame_start + 10)
    at = world_from_pose(clip.skeleton, clip.sample(np.array((time_s,))))[0, ..., 3]
    there = rot.rotate(axes.BLENDER_FROM_HANIM, at)
    here, names = armature.read_pose_world(rig)[..., 3], armature.read_skeleton(rig).index_of
    ways = [places[names_of["skullbase"]] - places[names_of["vl5"]]
            for places, names_of in ((there, clip.skeleton.index_of), (here, names))]
    return float(np.degrees(np.arccos(ways[0] @ ways[1] / np.linalg.norm(ways[0]) / np.linalg.norm(ways[1]))))


def take_pose_as_rest() -> None:
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.armature_apply(selected=False)
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.fixture
def rig() -> Any:
    """The sample's armature, crooked at rest; its pose is straight."""
    made: Any = build_character(bpy.context)[0]
    bpy.context.view_layer.objects.active = made
    bend(made, 1.0)
    take_pose_as_rest()
    bend(made, -1.0)
    return made


def test_a_crooked_character_plays_straight_once_its_reference_pose_is_set(rig: Any, tmp_path: Path) -> None:
    clip = movements()[0]
    source = with_model_axes(rewritten(clip, Rewriting(fps=24.0)).clip)
    (tmp_path / "walk.bvh").write_bytes(bvh.write(source, 1.0 / 24.0))
    path = str(tmp_path / "walk.bvh")
    takt.play_clip(filepath=path)
    assert trunk_deg(rig, clip) > 5.0
    takt.find_map()
    rig.animation_data_clear()
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    bend(rig, -1.0)
    assert takt.set_reference_pose(source="CURRENT") == {"FINISHED"}
    character = properties.character(rig)
    assert character.has_reference_pose and character.reference_pose == "one that was set by hand"
    assert takt.play_clip(filepath=path, lock_feet=False) == {"FINISHED"}
    assert apart_deg(rig, clip, range(1, 20)).max() < LIMB_DEG
    assert trunk_deg(rig, clip) < LIMB_DEG
    saved = read_map(write_map(joint_map.of_list(rig)).encode())
    assert set(BENDS) <= set(saved.pose)
    again = saved.of(armature.read_skeleton(rig))
    kept = joint_map.of_list(rig).pose
    assert again.pose is not None and kept is not None
    assert np.abs(np.abs(np.sum(again.pose * kept, axis=1)) - 1.0).max() < 1e-5


def test_the_pose_that_is_set_is_not_that_of_a_clip_whose_bones_have_the_same_names(rig: Any, tmp_path: Path) -> None:
    clip = movements()[0]
    (tmp_path / "walk.bvh").write_bytes(bvh.write(with_model_axes(clip), 1.0 / 24.0))
    takt.find_map()
    assert takt.set_reference_pose(source="CURRENT") == {"FINISHED"}
    assert takt.play_clip(filepath=str(tmp_path / "walk.bvh"), lock_feet=False) == {"FINISHED"}
    assert trunk_deg(rig, clip) < LIMB_DEG


def test_the_pose_of_a_frame(rig: Any) -> None:
    for name in BENDS:
        rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=7)
        rig.pose.bones[name].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
        rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=1)
    bpy.context.scene.frame_set(1)
    takt.find_map()
    takt.set_reference_pose(source="FRAME", frame=7)
    assert bpy.context.scene.frame_current == 1
    assert properties.character(rig).reference_pose == "that of frame 7"
    pose = joint_map.of_list(rig).pose
    assert pose is not None
    turned = 2.0 * np.arccos(np.clip(np.abs(pose[:, 0]), 0.0, 1.0))
    names = list(armature.read_skeleton(rig).names)
    assert abs(turned[names.index("r_knee")] - BENDS["r_knee"]) < 1e-3


def test_the_rest_pose_forgets_what_was_set_and_one_undo_brings_it_back(rig: Any) -> None:
    name = rig.name
    takt.find_map()
    window = bpy.context.window_manager.windows[0]
    with bpy.context.temp_override(window=window, screen=window.screen):
        takt.set_reference_pose(source="CURRENT")
        bpy.ops.ed.undo_push(message="set")
        takt.set_reference_pose("EXEC_DEFAULT", True, source="REST")
        assert not properties.character(bpy.data.objects[name]).has_reference_pose
        assert joint_map.of_list(bpy.data.objects[name]).pose is None
        bpy.ops.ed.undo()
    assert properties.character(bpy.data.objects[name]).has_reference_pose


def test_a_pose_in_which_the_body_does_not_stand_is_refused(rig: Any) -> None:
    for side in "lr":
        rig.pose.bones[f"{side}_hip"].rotation_quaternion = Quaternion((1.0, 0.0, 0.0), 1.8)
    takt.find_map()
    before = joint_map.key(rig)
    with pytest.raises(RuntimeError, match="the body does not stand in this pose: let it stand upright"):
        takt.set_reference_pose(source="CURRENT")
    assert joint_map.key(rig) == before


def test_who_does_not_stand_at_rest_is_known_by_names_and_plays_once_its_reference_pose_is_set(
        tmp_path: Path) -> None:
    rig: Any = build_character(bpy.context)[0]
    bpy.context.view_layer.objects.active = rig
    raise_legs(rig, 2.8)
    take_pose_as_rest()
    raise_legs(rig, -2.8)
    for joint, name in RIGS["VRM"].items():
        if joint in rig.data.bones:
            rig.data.bones[joint].name = name
    path = tmp_path / "walk.bvh"
    path.write_bytes(bvh.write(with_model_axes(movements()[0]), 1.0 / 24.0))
    with pytest.raises(RuntimeError, match="Find Joints and Set Reference Pose"):
        takt.play_clip(filepath=str(path))
    takt.find_map()
    meant = {joint.name: joint.meant for joint in properties.character(rig).joints}
    assert (meant["leftUpperLeg"], meant["rightHand"]) == ("l_hip", "r_wrist")
    takt.set_reference_pose(source="CURRENT")
    assert takt.play_clip(filepath=str(path)) == {"FINISHED"}
    bpy.context.scene.frame_set(10)
    places = armature.read_pose_world(rig)[..., 3]
    index_of = armature.read_skeleton(rig).index_of
    assert places[index_of["leftFoot"], 2] < places[index_of["hips"], 2] - 0.5


def raise_legs(rig: Any, angle: float) -> None:
    for side in "lr":
        bone = rig.pose.bones.get(f"{side}_hip")
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = Quaternion((1.0, 0.0, 0.0), angle)
    bpy.context.view_layer.update()


def test_a_motion_depends_on_the_pose_that_is_set(rig: Any) -> None:
    takt.find_map()
    before = joint_map.key(rig)
    takt.set_reference_pose(source="CURRENT")
    assert joint_map.key(rig) != before


def test_bones_in_doubt_come_first_and_those_that_mean_nothing_last(rig: Any) -> None:
    takt.find_map()
    joints = properties.character(rig).joints
    joints[3].certainty, joints[5].certainty = 0.3, 0.2
    joints[0].meant = properties.NO_JOINT
    asked = SimpleNamespace(filter_name="", bitflag_filter_item=1)
    flags, places = TAKT_UL_joints.filter_items(cast(Any, asked), None, properties.character(rig), "joints")
    assert flags == [] and sorted(places) == list(range(len(joints)))
    assert (places[3], places[5], places[0]) == (0, 1, len(joints) - 1)
    assert places[1] < places[2] < places[4]


def test_joints_have_plain_names_and_h_anims_in_the_tooltip() -> None:
    items = cast(Any, properties.TaktJoint.bl_rna.properties["meant"]).enum_items
    assert items["l_shoulder"].name == "Left Upper Arm" and "l_shoulder" in items["l_shoulder"].description
    assert {item.identifier for item in items} == {properties.NO_JOINT, *hanim.PARENTS}
