"""A score on rigs that people have: the sample character under Mixamo's names, in T-pose; the list of its joints."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from takt.benchmarks.join_measures import planted
from takt.bridge import axes, properties
from takt.bridge.rigs import armature, joint_map
from takt.bridge.scores import score
from takt.core.clips.clip import Clip, Tracks
from takt.core.errors import TaktError
from takt.core.formats import bvh
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray, runs
from takt.core.retargeting.comparing.upright import scaled, turned
from takt.core.skeletons import hanim
from takt.core.skeletons.maps import find_map
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.panels import skeleton_map
from takt.samples.character import build_character
from takt.samples.clips import build_clips
from takt.samples.skeleton import build_skeleton
from takt.tests.beside import DATA
from takt.tests.core.rigs import RIGS, with_model_axes

MEAN_DEG, WORST_DEG = 2.0, 8.0
LEG_M = 0.825
REAL_DANCE = DATA / "clips" / "dance_charleston.glb"
SCORE = """<?xml version="1.0"?>
<pha tickLength="0.7">
  <load src="steps.Walk"/>
  <load src="dances.Dance"/>
  <load src="Hello"/>
  <procedure name="main">
    <call name="steps.Walk" duration="2" repeat="2"/>
    <call name="dances.Dance" duration="3"/>
    <call name="Hello" duration="2"/>
  </procedure>
</pha>
"""
LIMBS = [(f"{side}_{a}", f"{side}_{b}") for side in "lr" for a, b in
         (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"), ("elbow", "wrist"))]


def mixamo_in_t_pose(bind: Callable[[Any, Any], None] | None = None) -> Any:
    """Return the sample's armature with Mixamo's names, its arms stretched out at rest.

    bind: binds the body, which is then stretched out too; armature and mesh are returned.
    """
    made: tuple[Any, Any] = build_character(bpy.context)
    rig, mesh = made
    if bind is not None:
        bind(rig, mesh)
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()
    for side, angle in (("l", -90.0), ("r", 90.0)):
        turn_in_front(rig, f"{side}_shoulder", np.radians(angle))
    if bind is not None:
        mesh.data = bpy.data.meshes.new_from_object(mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()))
        mesh.modifiers.clear()
        mesh.vertex_groups.clear()
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.armature_apply(selected=False)
    bpy.ops.object.mode_set(mode="OBJECT")
    for joint, name in RIGS["Mixamo"].items():
        cast(Any, rig.data).bones[joint].name = name
    for bone in list(cast(Any, rig.data).bones):
        if hanim.canonical(bone.name):
            bone.name = f"extra_{bone.name}"
    return rig if bind is None else (rig, mesh)


def step_clip() -> Clip:
    return build_clips("feet/Steps.skeleton.xml")[0]


def flat(clip: Clip) -> Clip:
    """Return a clip of the sample; BVH wants no more."""
    return Clip(clip.name, clip.skeleton, clip.duration_s, clip.rotations, clip.translations, Tracks.empty(3))


def fill_library(folder: Path) -> None:
    """Write a BVH of the sample's steps and a glTF of another armature's dance; the score beside them."""
    (folder / "steps").mkdir()
    (folder / "dances").mkdir()
    walk = step_clip()
    (folder / "steps" / "Walk.bvh").write_bytes(bvh.write(flat(walk), 1 / 30))
    if REAL_DANCE.exists():
        shutil.copy(REAL_DANCE, folder / "dances" / "Dance.glb")
    else:
        (folder / "dances" / "Dance.bvh").write_bytes(bvh.write(flat(walk), 1 / 30))
    (folder / "show.pha").write_text(SCORE, encoding="utf-8")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library of mixed sources."""
    fill_library(tmp_path)
    return tmp_path


@pytest.fixture
def hello() -> bpy.types.Object:
    """A second armature with its own Action."""
    return greeter()


def greeter() -> bpy.types.Object:
    """Add the sample as it is, that has waved its hand in an Action."""
    rig, _ = build_character(bpy.context)
    rig.name = "Greeter"
    for frame, raised, bent in ((1, 0.0, 0.0), (10, 1.5, 1.2), (14, 1.5, 0.6), (18, 1.5, 1.2), (24, 0.1, 0.1)):
        for joint, angle in (("r_shoulder", raised), ("r_elbow", bent)):
            turn_in_front(rig, joint, angle)
            rig.pose.bones[joint].keyframe_insert("rotation_euler", frame=frame)
    cast(Any, rig.animation_data.action).name = "Hello"
    return rig


def turn_in_front(rig: Any, joint: str, angle_rad: float) -> None:
    """Turn a bone from rest about the axis from front to back; it has Euler angles from then on."""
    bone = rig.pose.bones[joint]
    bone.rotation_mode = "XYZ"
    bone.matrix_basis = Matrix()
    bpy.context.view_layer.update()
    head = bone.head.copy()
    bone.matrix = (Matrix.Translation(head) @ Matrix.Rotation(angle_rad, 4, "Y") @ Matrix.Translation(-head)
                   @ bone.matrix)
    bpy.context.view_layer.update()


def directions(places: FloatArray, joint_of: dict[str, int]) -> FloatArray:
    """Return unit vectors along limbs from places (F, J, 3): (F, limbs, 3)."""
    ways = np.stack([places[:, joint_of[b]] - places[:, joint_of[a]] for a, b in LIMBS], axis=1)
    return np.asarray(ways / np.linalg.norm(ways, axis=-1, keepdims=True))


def test_a_score_of_mixed_sources_plays_on_mixamos_rig_in_one_go(library: Path, hello: bpy.types.Object) -> None:
    rig = mixamo_in_t_pose()
    found = find_map(armature.read_skeleton(rig))
    assert found.is_sure and found.joint_of["l_elbow"] == armature.read_skeleton(rig).index_of["mixamorig:LeftForeArm"]
    counts = len(bpy.data.objects), len(bpy.data.armatures), len(bpy.data.scenes)
    assert bpy.ops.takt.import_pha(filepath=str(library / "show.pha"),  # type: ignore[attr-defined]
                                   lock_feet=False) == {"FINISHED"}
    assert counts == (len(bpy.data.objects), len(bpy.data.armatures), len(bpy.data.scenes))
    motion = score.motion_of(rig)
    assert motion is not None
    dance = "dance_charleston" if REAL_DANCE.exists() else "Dance"
    assert [clip.name for clip in motion.clips] == ["Walk", dance, "Hello"]
    scene = cast(Any, bpy.context.scene)
    body = build_skeleton()
    walk = step_clip()
    apart = []
    for frame in range(scene.frame_start, int(0.8 * 1.4 * 24)):
        time = (frame - scene.frame_start) / 24
        if time >= motion.layout.window_begin_s[0]:
            break
        scene.frame_set(frame)
        shown = armature.read_pose_world(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()))[None, :, :, 3]
        share = time / (motion.layout.end_s[0] - motion.layout.begin_s[0])
        there = world_from_pose(body, walk.sample(np.array((share * walk.duration_s,)), "SLERP"))[..., 3]
        ours = directions(rot.rotate(rot.conjugate(axes.BLENDER_FROM_HANIM), shown), found.joint_of)
        theirs = directions(there, body.index_of)
        apart.append(np.degrees(np.arccos(np.clip(np.sum(ours * theirs, axis=-1), -1.0, 1.0))))
    assert len(apart) > 10 and np.mean(apart) < MEAN_DEG and np.max(apart) < WORST_DEG


def test_the_list_is_filled_corrected_used_and_saved(library: Path, hello: bpy.types.Object) -> None:
    rig = mixamo_in_t_pose()
    operators: Any = bpy.ops.takt  # type: ignore[attr-defined]
    assert operators.find_map() == {"FINISHED"}
    kept = properties.character(rig)
    row = {joint.name: joint for joint in kept.joints}
    assert row["mixamorig:LeftForeArm"].meant == "l_elbow" and row["mixamorig:LeftForeArm"].certainty > 0.9
    assert row["extra_sacroiliac"].meant == properties.NO_JOINT
    assert not kept.is_map_checked
    assert operators.import_pha(filepath=str(library / "show.pha")) == {"FINISHED"}
    before = score.motion_of(rig)
    row["mixamorig:RightArm"].meant = properties.NO_JOINT
    assert kept.is_map_checked and score.motion_of(rig) is not before
    after = score.motion_of(rig)
    assert after is not None and not after.clips[2].rotations.joints.tolist().count(
        armature.read_skeleton(rig).index_of["mixamorig:RightArm"])
    assert operators.save_map() == {"FINISHED"}
    saved = (library / f"{rig.name}.map").read_text(encoding="utf-8")
    assert "mixamorig:LeftForeArm = l_elbow\nmixamorig:LeftHand = l_wrist" in saved
    assert "mixamorig:RightArm =\n" in saved
    kept.joints.clear()
    kept.is_map_checked = False
    assert operators.find_map() == {"FINISHED"} and kept.is_map_checked
    assert {j.name: j.meant for j in kept.joints}["mixamorig:RightArm"] == properties.NO_JOINT


def test_bones_that_neither_names_nor_shape_show_are_mapped_by_hand(library: Path, hello: bpy.types.Object) -> None:
    """A character with unnamed bones and one longer shin is refused with what to do, and plays once that is done."""
    rig = mixamo_in_t_pose()
    joint_map.fill(rig)
    truth = [joint.meant for joint in properties.character(rig).joints]
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("mixamorig:LeftFoot", "mixamorig:LeftToeBase"):
        bone = rig.data.edit_bones[name]
        bone.use_connect = False
        bone.translate(Vector((0.0, 0.0, -0.2)))
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.data.bones:
        bone.name = "Bone"
    operators: Any = bpy.ops.takt  # type: ignore[attr-defined]
    assert operators.find_map() == {"FINISHED"}
    rows = properties.character(rig).joints
    assert [row.meant for row in rows] == [properties.NO_JOINT] * len(truth)
    with pytest.raises(RuntimeError, match=r"which bones of the skeleton are legs and arms\. If it has two of each, "
                                           r"Find Joints and choose them in the list"):
        operators.import_pha(filepath=str(library / "show.pha"))
    for row, meant in zip(rows, truth, strict=True):
        row.meant = meant
    listed = joint_map.of_list(rig)
    assert listed.turn is not None and rot.angle_between(listed.turn, axes.BLENDER_FROM_HANIM) < 1e-6
    motion = score.motion_of(rig)
    assert motion is not None and all(problem.is_note for problem in motion.problems)
    assert all(clip.moved[listed.joint_of["l_elbow"]] for clip in motion.clips)


def test_a_joint_that_one_bone_is_made_another_is_no_longer(hello: bpy.types.Object) -> None:
    rig = mixamo_in_t_pose()
    joint_map.fill(rig)
    character, name = properties.character(rig), rig.name
    row = {joint.name: joint for joint in character.joints}
    left, right = row["mixamorig:LeftUpLeg"], row["mixamorig:RightUpLeg"]
    before = {joint.name: joint.meant for joint in character.joints}
    operators, window = cast(Any, bpy.ops), cast(Any, bpy.context).window_manager.windows[0]
    with bpy.context.temp_override(window=window, screen=window.screen):
        operators.ed.undo_push(message="before")
        left.meant = "r_hip"
        operators.ed.undo_push(message="Joint")
        after = {joint.name: joint.meant for joint in character.joints}
        assert {bone for bone in before if before[bone] != after[bone]} == {left.name, right.name}
        assert (left.meant, right.meant, character.is_map_checked) == ("r_hip", properties.NO_JOINT, True)
        said = ["LeftUpLeg is Right Thigh now, no longer RightUpLeg: choose what this one is, or –"]
        assert skeleton_map.losses(character) == said
        joint_map.of_list(rig)  # is not refused
        operators.ed.undo()
        character = properties.character(bpy.data.objects[name])
        assert {joint.name: joint.meant for joint in character.joints} == before
        assert not skeleton_map.losses(character)
        operators.ed.redo()
    character = properties.character(bpy.data.objects[name])
    row = {joint.name: joint for joint in character.joints}
    assert skeleton_map.losses(character) == said and row["mixamorig:LeftUpLeg"].meant == "r_hip"
    row["mixamorig:RightUpLeg"].meant = "l_hip"
    assert not skeleton_map.losses(character) and not any(joint.lost for joint in character.joints)


def test_a_list_that_says_something_twice_is_refused(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As files may, and those of before did."""
    monkeypatch.setattr(properties, "_take", lambda *_: None)
    rig = mixamo_in_t_pose()
    joint_map.fill(rig)
    row = {joint.name: joint for joint in properties.character(rig).joints}
    row["mixamorig:RightArm"].meant = "l_shoulder"
    with pytest.raises(TaktError, match=r"both 'mixamorig:LeftArm' and 'mixamorig:RightArm' are said to be l_shoulder"):
        joint_map.of_list(rig)
    with pytest.raises(RuntimeError, match="are said to be l_shoulder"):
        bpy.ops.takt.import_pha(filepath=str(library / "show.pha"))  # type: ignore[attr-defined]


@pytest.mark.parametrize(("chosen", "said", "is_lying"), [
    ({}, "+Z is up, facing −Y, in centimetres: found from the body", False),
    ({"bvh_up": "Y"}, "+Y is up, facing +Z, in centimetres: partly chosen", True)])
def test_axes_of_a_bvh_file_are_told_and_can_be_chosen(
        tmp_path: Path, chosen: Any, said: str, is_lying: bool, capsys: pytest.CaptureFixture[str]) -> None:
    rig = mixamo_in_t_pose()
    clip = scaled(turned(flat(step_clip()), axes.BLENDER_FROM_HANIM), 100.0)
    (tmp_path / "Walk.bvh").write_bytes(bvh.write(with_model_axes(clip), 1 / 30))
    (tmp_path / "walk.pha").write_text('<pha tickLength="1"><load src="Walk"/><procedure name="main">'
                                       '<call name="Walk" duration="1"/></procedure></pha>', encoding="utf-8")
    operators: Any = bpy.ops.takt  # type: ignore[attr-defined]
    assert operators.import_pha(filepath=str(tmp_path / "walk.pha"), **chosen) == {"FINISHED"}
    assert f"Walk.bvh: {said}" in capsys.readouterr().out
    cast(Any, bpy.context.scene).frame_set(1)
    head, hips = (np.array(rig.pose.bones[f"mixamorig:{name}"].head) for name in ("Head", "Hips"))
    assert (abs((head - hips)[2]) < 0.2) == is_lying
    operators.rebuild()
    assert properties.character(rig).bvh_up == chosen.get("bvh_up", "AUTO")


@pytest.mark.parametrize(("kept", "given", "is_lying"), [
    ("AUTO", {}, False), ("Y", {}, True), ("AUTO", {"bvh_up": "Y"}, True), ("Y", {"bvh_up": "Z"}, False)])
def test_axes_of_a_bvh_file_can_be_chosen_without_a_score(tmp_path: Path, kept: str, given: Any, is_lying: bool
                                                          ) -> None:
    """Play Clip and Retarget Clips use the character's setting, and what is given to them goes before it."""
    rig = mixamo_in_t_pose()
    clip = scaled(turned(flat(step_clip()), axes.BLENDER_FROM_HANIM), 100.0)
    (tmp_path / "Walk.bvh").write_bytes(bvh.write(with_model_axes(clip), 1 / 30))
    properties.character(rig).bvh_up = kept
    operators: Any = bpy.ops.takt  # type: ignore[attr-defined]
    for play in (lambda: operators.play_clip(filepath=str(tmp_path / "Walk.bvh"), **given),
                 lambda: operators.retarget_clips(directory=str(tmp_path), **given)):
        assert play() == {"FINISHED"}
        if rig.animation_data.action is None:
            rig.animation_data.action = bpy.data.actions["Walk"]
        cast(Any, bpy.context.scene).frame_set(1)
        head, hips = (np.array(rig.pose.bones[f"mixamorig:{name}"].head) for name in ("Head", "Hips"))
        assert (abs((head - hips)[2]) < 0.2) == is_lying
        rig.animation_data_clear()
        for action in list(bpy.data.actions):
            bpy.data.actions.remove(action)


def test_without_a_library_a_map_is_saved_where_one_says(tmp_path: Path) -> None:
    rig = mixamo_in_t_pose()
    joint_map.fill(rig)
    operators: Any = bpy.ops.takt  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match="there is no library to save the map in: name a file"):
        operators.save_map()
    assert operators.save_map(filepath=str(tmp_path / "hero")) == {"FINISHED"}
    assert "mixamorig:LeftForeArm = l_elbow" in (tmp_path / "hero.map").read_text(encoding="utf-8")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert joint_map.place_of_file(rig) is None
    assert joint_map.proposed_file(rig) == tmp_path / f"{rig.name}.map"


def test_a_rig_that_is_not_certain_asks(library: Path, hello: bpy.types.Object) -> None:
    rig = mixamo_in_t_pose()
    for bone in list(cast(Any, rig.data).bones):
        side = "Left" if "Left" in bone.name else "Right" if "Right" in bone.name else ""
        if side:  # whoever rigged this mixed up the sides
            bone.name = bone.name.replace(side, "?")
            bone.name = bone.name.replace("?", "right" if side == "Left" else "left")
    before = len(bpy.data.actions)
    said = r"certainty.*named left are on the right side.*Correct and save the skeleton map"
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.takt.import_pha(filepath=str(library / "show.pha"))  # type: ignore[attr-defined]
    assert len(bpy.data.actions) == before
    skeleton: Skeleton = armature.read_skeleton(rig)
    assert not find_map(skeleton).is_sure


def test_locked_feet_stand_in_the_action(library: Path) -> None:
    """The first foot to stand slides no more than a hundredth of the leg, whatever the score does to the clip."""
    rig = mixamo_in_t_pose()
    (library / "steps.pha").write_text(SCORE.split("<procedure")[0].replace('<load src="Hello"/>', "") +
                                       '<procedure name="main"><call name="steps.Walk" duration="2" repeat="3"/>'
                                       "</procedure></pha>", encoding="utf-8")
    scene = cast(Any, bpy.context.scene)
    slides = {}
    for lock in (False, True):
        operators: Any = bpy.ops.takt  # type: ignore[attr-defined]
        assert operators.import_pha(filepath=str(library / "steps.pha"), lock_feet=lock) == {"FINISHED"}
        places = []
        for frame in range(scene.frame_start, scene.frame_end + 1):
            scene.frame_set(frame)
            toes: list[Any] = [rig.pose.bones[f"mixamorig:{side}ToeBase"].head for side in ("Left", "Right")]
            places.append([tuple(toe) for toe in toes])
        feet = np.array(places)
        motion = score.motion_of(rig)  # what the preview plays
        assert motion is not None
        at = [motion.skeleton.index_of[f"mixamorig:{side}ToeBase"] for side in ("Left", "Right")]
        played = world_from_pose(motion.skeleton, motion.sample(np.arange(len(feet)) / 24))[..., 3][:, at]
        np.testing.assert_allclose(feet, played, atol=1e-4)
        if not lock:
            times = np.arange(len(feet)) / 24
            stands = [planted(feet[:, i], times, np.array((0.0, 0, 1)), LEG_M) for i in range(2)]
        slides[lock] = [np.linalg.norm(feet[a:b, i, :2] - feet[a:b, i, :2].mean(axis=0), axis=1).max()
                        for i in range(2) for a, b in runs(stands[i])]
    assert len(slides[True]) >= 2 and max(slides[True]) <= 0.01 * LEG_M
    assert max(slides[False]) > max(slides[True])


PARENTED = Matrix.Rotation(0.6, 4, "Z") @ Matrix.Diagonal((1.0, 2.0, 1.0, 1.0)) @ Matrix.Rotation(-0.3, 4, "Z")
UNEVEN, MIRRORED = "is scaled unevenly or sheared: limbs", "is mirrored: left and right"


@pytest.mark.parametrize(("own", "parent", "said"), [
    (Matrix.Translation((3, 1, 2)) @ Matrix.Rotation(2.0, 4, "Z") @ Matrix.Scale(0.01, 4), Matrix(), ()),
    (Matrix.Diagonal((1.0, 1.0, 2.5, 1.0)), Matrix(), (UNEVEN,)), (Matrix.Rotation(0.7, 4, "Z"), PARENTED, (UNEVEN,)),
    (Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0)), Matrix(), (MIRRORED,)),
    (Matrix.Diagonal((1.0, -0.5, 1.0, 1.0)), PARENTED, (UNEVEN, MIRRORED)),
    (Matrix.Diagonal((0.0, 0.0, 0.0, 1.0)), Matrix(), ())])
def test_the_objects_transform_changes_nothing_in_its_own_space_and_what_it_does_is_said(
        library: Path, own: Matrix, parent: Matrix, said: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    rig = mixamo_in_t_pose()
    (library / "walk.pha").write_text(SCORE.split("<load")[0] + '<load src="steps.Walk"/><procedure name="main">'
                                      '<call name="steps.Walk" duration="2"/></procedure></pha>', encoding="utf-8")
    poses = []
    for transforms in ((Matrix(), Matrix()), (own, parent)):
        carrier = bpy.data.objects.new("Carrier", None)
        cast(Any, bpy.context.collection).objects.link(carrier)
        rig.parent = carrier
        carrier.matrix_basis, rig.matrix_basis = transforms[1], transforms[0]
        bpy.context.view_layer.update()
        capsys.readouterr()
        bpy.ops.takt.import_pha(filepath=str(library / "walk.pha"))  # type: ignore[attr-defined]
        out = capsys.readouterr().out
        cast(Any, bpy.context.scene).frame_set(9)
        poses.append(armature.read_pose_world(rig))
    assert [text for text in (UNEVEN, MIRRORED) if f"'{rig.name}' {text}" in out] == list(said)
    assert not said or "apply its scale, or its parent's" in out
    np.testing.assert_allclose(poses[1], poses[0], atol=1e-5)


def test_up_is_where_the_world_has_it_whatever_the_objects_transform() -> None:
    """For skeletons that are no bodies, which show nothing themselves."""
    rng = np.random.default_rng(7)
    ob = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    cast(Any, bpy.context.collection).objects.link(ob)
    for matrix in (*rng.normal(size=(40, 3, 3)), np.diag((1.0, 1, -1)), np.diag((-1.0, -1, -1)), np.eye(3)):
        ob.matrix_basis = Matrix(matrix.tolist()).to_4x4()
        bpy.context.view_layer.update()
        world = np.array(ob.matrix_world)[:3, :3]
        up = world @ rot.rotate(axes.armature_from_hanim(ob), np.array((0.0, 1.0, 0.0)))
        np.testing.assert_allclose(up / np.linalg.norm(up), (0.0, 0.0, 1.0), atol=1e-4)


def test_constraints_in_the_way_are_named(library: Path, hello: bpy.types.Object,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    rig = mixamo_in_t_pose()
    rig.pose.bones["mixamorig:LeftForeArm"].constraints.new("LIMIT_ROTATION")
    rig.pose.bones["mixamorig:RightForeArm"].constraints.new("LIMIT_ROTATION").mute = True
    bpy.ops.takt.import_pha(filepath=str(library / "show.pha"))  # type: ignore[attr-defined]
    out = capsys.readouterr().out
    assert "see Mute Constraints below Action: mixamorig:LeftForeArm\n" in out
