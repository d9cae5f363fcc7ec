"""A score on the rig that Blender's own Rigify makes of its human: what most animators have in their files."""

import importlib
import os
from pathlib import Path
from typing import Any

import addon_utils
import bpy
import mathutils
import numpy as np
import pytest

from takt.bridge import properties
from takt.bridge.scores import score
from takt.bridge.tweaking import tweaked_motion, tweaks
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.samples.clip_files import LIBRARY
from takt.tests.beside import missing
from takt.tests.blender.dancing import play, rebuild

NEAR = 1e-4
"""Of the rig's height, and of the length of one of a bone's axes."""
DANCE = Path(__file__).resolve().parents[2] / "samples" / "library" / "dance.pha"
FRAMES = range(1, 1728, 37)
STEP = """<pha tickLength="1"><load src="feet.Steps"/><procedure name="main"><call name="left_step" duration="1"/>
<call name="right_step" duration="1"/></procedure></pha>"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the metarig and the rig that Rigify made of it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addons: Any = addon_utils
    if addons.enable("rigify", default_set=True) is None:
        missing("this Blender comes without the add-on Rigify")
    operators: Any = bpy.ops
    try:
        importlib.import_module("rigify").register_rig_parameters()
        operators.object.armature_human_metarig_add()
        operators.pose.rigify_generate()
        path = tmp_path_factory.mktemp("rigify") / "human.blend"
        bpy.ops.wm.save_as_mainfile(filepath=os.fspath(path))
    finally:
        addons.disable("rigify", default_set=True)
    return path


def appended(made: Path, name: str) -> Any:
    libraries: Any = bpy.data.libraries
    with libraries.load(os.fspath(made)) as (_, into):
        into.objects = [name]
    ob = into.objects[0]
    bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.context.view_layer.update()
    return ob


@pytest.fixture
def rig(made: Path) -> Any:
    return appended(made, "rig")


def posed(rig: Any, frame: int) -> dict[str, FloatArray]:
    bpy.context.scene.frame_set(frame)
    bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return {bone.name: np.array(bone.matrix, dtype=np.float64) for bone in bones}


def keyed(rig: Any) -> set[str]:
    motion = score.motion_of(rig)
    assert motion is not None
    return {motion.skeleton.names[joint] for joint in np.flatnonzero(motion.moved)}


def parts(rig: Any) -> dict[str, str]:
    """Return for each deforming bone the one with which it has to go: as Rigify names them, ORG-head leads DEF-head."""
    mapped = {name for name in keyed(rig) if name.startswith("DEF-")}
    found = {}
    for bone in (bone for bone in rig.data.bones if bone.use_deform):
        above = [each.name for each in (bone, *bone.parent_recursive)]
        found[bone.name] = next(part for name in above for part in (name, f"DEF-{name.removeprefix('ORG-')}")
                                if part in mapped)
    return found


def test_all_that_deforms_goes_with_the_body(rig: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Face, pelvis and breast are children of bones beside those that are played; the face turns with the head."""
    play(DANCE, mute_constraints=True)
    said = capsys.readouterr().out
    assert "Clips do not move" in said and "Warning" not in said and len(said.splitlines()) < 8, said
    motion, part_of = score.motion_of(rig), parts(rig)
    assert motion is not None and len(part_of) > 150 and part_of["DEF-nose"] == "DEF-spine.006"
    rest = {bone.name: np.array(bone.matrix_local, dtype=np.float64) for bone in rig.data.bones}
    height = max(place[2, 3] for place in rest.values())
    frame_s = bpy.context.scene.render.fps_base / bpy.context.scene.render.fps
    times = (np.array(FRAMES) - 1) * frame_s
    world = world_from_pose(motion.skeleton, motion.sample(times))
    turned = []
    for row, frame in enumerate(FRAMES):
        found = posed(rig, frame)
        for name in keyed(rig):
            assert found[name][:3] == pytest.approx(world[row, motion.skeleton.index_of[name]], abs=NEAR), (name, frame)
        for name, part in part_of.items():
            wanted = found[part] @ np.linalg.solve(rest[part], rest[name])
            apart = np.linalg.norm(found[name][:3, 3] - wanted[:3, 3])
            assert apart < NEAR * height and np.abs(found[name] - wanted)[:3, :3].max() < 10 * NEAR, (name, frame)
        turned.append(found["DEF-nose"][:3, 1])
    assert np.ptp(turned, axis=0).max() > 0.5


def test_controls_of_the_face_go_on_leading_it(rig: Any) -> None:
    """By their children, and by constraints within the face."""
    play(DANCE, mute_constraints=True)
    for control, led in (("jaw_master", "DEF-jaw"), ("nose.001", "DEF-nose")):
        before = posed(rig, 300)[led]
        rig.pose.bones[control].location = (0.0, 0.02, 0.02)
        assert np.abs(posed(rig, 300)[led] - before).max() > 0.01, control


def test_tweaks_of_controls_that_move_nothing_are_told_of(rig: Any) -> None:
    """Those of limbs, poles too, lead what the score plays, and their constraints are muted; those of the face act."""
    play(DANCE, mute_constraints=True)
    operators: Any = bpy.ops
    scene: Any = bpy.context.scene
    assert operators.takt.tweak() == {"FINISHED"}
    bones = rig.pose.bones
    for name, idle in (("jaw_master", ""), ("DEF-forearm.L", ""), ("hand_ik.L", "hand_ik.L"),
                       ("upper_arm_fk.R", "hand_ik.L, upper_arm_fk.R"),
                       ("upper_arm_ik_target.L", "hand_ik.L, upper_arm_fk.R, upper_arm_ik_target.L")):
        before = posed(rig, 300)
        bones[name].location, bones[name].scale = (0.0, 0.02, 0.02), (1.2, 1.2, 1.2)
        assert bones[name].keyframe_insert("location", frame=300) and bones[name].keyframe_insert("scale", frame=300)
        tweaks.look(rig, scene)
        said = tweaks.problem(rig)
        assert (f"has keys of control bones, {idle}, whose" in said) if idle else said == "", (name, said)
        assert not idle or said.endswith("such as DEF-hand.L in the bone collection DEF")
        after = posed(rig, 300)
        moved = max(np.abs(after[bone.name] - before[bone.name]).max() for bone in rig.data.bones if bone.use_deform)
        assert (moved > 0.01) == (not idle), name


def test_all_constraints_are_given_back(rig: Any) -> None:
    def state() -> dict[tuple[str, str], bool]:
        return {(bone.name, each.name): each.mute for bone in rig.pose.bones for each in bone.constraints}

    before = state()
    play(DANCE, mute_constraints=True)
    assert sum(state().values()) > sum(before.values()) + 100
    properties.character(rig).mute_constraints = False
    rebuild()
    assert state() == before
    rig.animation_data.action = None
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
    rest = {bone.name: np.array(bone.matrix_local) for bone in rig.data.bones}
    assert all(place == pytest.approx(rest[name], abs=1e-3) for name, place in posed(rig, 1).items()
               if rig.data.bones[name].use_deform)


def test_the_metarig_plays_too(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metarig = appended(made, "metarig")
    play(DANCE)
    said = capsys.readouterr().out
    assert "Warning" not in said, said
    found, before = posed(metarig, 300), {bone.name: np.array(bone.matrix_local) for bone in metarig.data.bones}
    assert {"hand.L", "foot.R", "spine.006"} <= keyed(metarig)
    for name, part in (("nose", "spine.006"), ("pelvis.L", "spine"), ("heel.02.R", "foot.R")):
        wanted = found[part] @ np.linalg.solve(before[part], before[name])
        assert found[name] == pytest.approx(wanted, abs=NEAR)


@pytest.mark.parametrize(("control", "bone"), [
    ("torso", "DEF-spine"), ("chest", "DEF-spine.002"), ("head", "DEF-spine.006"), ("foot_ik.R", "DEF-foot.R"),
    ("forearm_fk.L", "DEF-forearm.L"), ("thigh_ik.L", "DEF-thigh.L"), ("f_index.01_master.R", "DEF-f_index.01.R")])
def test_a_control_that_moves_nothing_is_told_by_the_bone_to_key_instead(
        rig: Any, control: str, bone: str, tmp_path: Path) -> None:
    """And a key of that bone moves it."""
    path = tmp_path / "short.pha"
    path.write_text(STEP, encoding="utf-8")
    play(path, library=os.fspath(LIBRARY), mute_constraints=True)
    operators: Any = bpy.ops
    scene: Any = bpy.context.scene
    assert operators.takt.tweak() == {"FINISHED"}
    assert rig.pose.bones[control].keyframe_insert("location", frame=20)
    tweaks.look(rig, scene)
    assert f"such as {bone} in" in tweaks.problem(rig), tweaks.problem(rig)
    before = posed(rig, 20)[bone]
    other = rig.pose.bones[bone]
    other.rotation_quaternion = other.rotation_quaternion @ mathutils.Quaternion((1.0, 0.0, 0.0), 0.3)
    assert other.keyframe_insert("rotation_quaternion", frame=20)
    tweaks.look(rig, scene)
    assert np.abs(posed(rig, 20)[bone] - before).max() > 0.1


@pytest.mark.parametrize("is_last", [False, True])
def test_the_body_stays_in_one_piece_where_bones_are_tweaked_that_others_follow(rig: Any, is_last: bool) -> None:
    """Rigify's limbs and face hang on bones beside those of the spine, which the score lets follow these."""
    play(DANCE, mute_constraints=True)
    operators: Any = bpy.ops
    scene: Any = bpy.context.scene
    assert operators.takt.tweak() == {"FINISHED"}
    properties.character(rig).tweaks[0].is_last = is_last
    carried = {"DEF-spine.001": ("DEF-shoulder.L", "DEF-breast.R", "DEF-nose", "DEF-spine.006"),
               "DEF-spine.006": ("DEF-nose", "DEF-jaw"), "torso": ()}
    before = posed(rig, 300)
    for name in carried:
        bone = rig.pose.bones[name]
        bone.rotation_quaternion = bone.rotation_quaternion @ mathutils.Quaternion((1.0, 0.0, 0.0), 0.4)
        assert bone.keyframe_insert("rotation_quaternion", frame=300)
    rebuild()
    after = posed(rig, 300)
    for name in carried:
        turned = np.abs(after[name] - before[name])[:3, :3].max()
        assert turned > 0.1, name
    bent, looked = (after[name] @ np.linalg.inv(before[name]) for name in ("DEF-spine.001", "DEF-spine.006"))
    for name in carried["DEF-spine.001"][:2]:
        assert after[name] == pytest.approx(bent @ before[name], abs=1e-3), name
    for name in carried["DEF-spine.006"]:
        assert after[name] == pytest.approx(looked @ before[name], abs=1e-3), name
    for name in ("DEF-spine", "DEF-thigh.L", "DEF-pelvis.R"):
        assert after[name] == pytest.approx(before[name], abs=1e-3), name
    assert "keys of control bones, torso, whose" in tweaks.problem(rig)
    motion = score.motion_of(rig)
    assert motion is not None
    drawn = tweaked_motion.shown(rig, scene, motion)
    world = world_from_pose(drawn.skeleton, drawn.sample(np.array((299 / 24.0,))))
    for name in ("DEF-hand.L", "DEF-foot.R", "DEF-spine.006", "DEF-nose", "torso"):
        if name in drawn.skeleton.index_of:
            assert world[0, drawn.skeleton.index_of[name]] == pytest.approx(after[name][:3], abs=1e-3), name
