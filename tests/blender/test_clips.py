"""Clips that Blender reads for scores: Actions, .blend, glTF, FBX; and BVH against Blender's own importer."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge import axes, properties, versions
from takt.bridge.actions import curves
from takt.bridge.files import clips, second_blender
from takt.bridge.frame_rate import frames_per_second
from takt.bridge.rigs import armature
from takt.bridge.scores import score
from takt.core.clips.clip import Clip
from takt.core.clips.clip_file import ClipFile
from takt.core.errors import FileError
from takt.core.formats import FORMATS, bvh, endings
from takt.core.formats.format import Format, Source
from takt.core.library.clip_files import read_clip_file
from takt.core.library.store import ClipStore
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.retargeting.comparing.upright import turned
from takt.core.retargeting.retarget import retarget
from takt.core.skeletons.skeleton import Skeleton, world_from_pose
from takt.samples.skeleton import build_skeleton
from takt.tests.beside import real_file
from takt.tests.blender.dancing import perform

SAME_MOTION_DEG = 0.1
"""BVH and glTF of one clip; both files hold rounded numbers."""
IMPORTER_DEG = 0.01
POSE = 1e-5
SKIN = 2e-4


@pytest.fixture(scope="module", autouse=True)
def _second_blender_runs_on() -> Iterator[None]:
    """Let one second Blender serve all tests here, since it starts slowly. Each test reads its files anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(second_blender, "unregister", second_blender._kept.clear)
        yield
    second_blender.unregister()


def everything() -> list[str]:
    return sorted(f"{name}.{block.name}" for name in dir(bpy.data)
                  if isinstance(found := getattr(bpy.data, name), bpy.types.bpy_prop_collection) for block in found)


def turns(clip: Clip, times: Any) -> FloatArray:
    """Return each joint's rotation in the model, (F, J, 4)."""
    pose, skeleton = clip.sample(times, "SLERP"), clip.skeleton
    world = rot.multiply(skeleton.rest_rotations, pose.rotations)
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            world[:, joint] = rot.multiply(world[:, parent], world[:, joint])
    return world


def read(path: Path) -> tuple[Clip, ...]:
    return read_clip_file(path, clips.formats()).played


@pytest.mark.parametrize("name", ["dance_charleston", "dance_body_roll", "dance_reach_hip", "jumping_jacks", "bow",
                                  "victory"])
def test_bvh_and_gltf_of_one_clip_are_one_motion(name: str) -> None:
    before, scene = everything(), bpy.context.scene
    (of_gltf,) = read(real_file("clips", f"{name}.glb"))
    assert everything() == before and bpy.context.scene == scene
    (of_bvh,) = read(real_file("clips", f"{name}.bvh"))
    body = build_skeleton()
    one, other = (retarget(clip, body).clip for clip in (of_gltf, of_bvh))
    times = np.linspace(0.0, min(one.duration_s, other.duration_s), 40)
    apart = np.degrees(rot.angle_between(turns(one, times), turns(other, times)))
    assert apart.max() < SAME_MOTION_DEG
    assert one.duration_s == pytest.approx(other.duration_s, abs=0.01)
    places = [world_from_pose(body, clip.sample(times))[..., 3] for clip in (one, other)]
    assert np.abs(places[0] - places[1]).max() < 0.005


def test_blenders_importer_reads_bvh_as_we_do() -> None:
    path = real_file("clips", "cmu_01_01.bvh")
    bpy.ops.import_anim.bvh(filepath=str(path), use_fps_scale=False, rotate_mode="QUATERNION", axis_up="Y",
                            axis_forward="-Z", frame_start=1)
    rig, scene = cast(Any, bpy.context.object), cast(Any, bpy.context.scene)
    file = bvh.read(path.read_bytes(), path)
    clip, frames = file.clip, np.arange(0, 2752, 250)
    # Blender lays the file's axes (Y up) into its own by a turn about X.
    ours = rot.multiply(axes.BLENDER_FROM_HANIM, turns(clip, frames * file.frame_time_s))
    for row, frame in enumerate(frames.tolist()):
        scene.frame_set(frame + 1)
        for joint, name in enumerate(clip.skeleton.names):
            bone = rig.pose.bones[name]
            turned = np.array((rig.matrix_world @ bone.matrix @ bone.bone.matrix_local.inverted()).to_quaternion())
            whole = rot.multiply(rot.normalized(turned.astype(np.float64)), axes.BLENDER_FROM_HANIM)
            assert np.degrees(rot.angle_between(whole, ours[row, joint])) < IMPORTER_DEG, (frame, name)


@pytest.fixture
def rig() -> bpy.types.Object:
    """Three bones in a row and one beside, tilted as FBX files are."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for i, name in enumerate(("a", 'b "quoted"', "c.001", "aim")):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = (0.1 * i, i, 0.0), (0.1 * i, i + 1.0, 0.3), 0.4 * i
        bone.parent = data.edit_bones[i - 1] if 0 < i < 3 else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def keyed(rig: bpy.types.Object, modes: Any = ("QUATERNION", "ZXY", "AXIS_ANGLE", "XYZ"), *,
          scales: bool = True) -> Any:
    """Key all rotation modes, with curves that are not straight, and scale and location."""
    random = np.random.default_rng(3)
    for bone, mode in zip(rig.pose.bones, modes, strict=True):
        bone.rotation_mode = mode
        channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
        for frame in (1, 9, 20):
            setattr(bone, channel, random.uniform(-0.8, 0.8, size=4 if "QUAT" in mode or "ANGLE" in mode else 3))
            bone.location, bone.scale = random.uniform(-0.3, 0.3, 3), random.uniform(0.8, 1.2, 3)
            for path in (channel, "location", "scale") if scales else (channel, "location"):
                bone.keyframe_insert(path, frame=frame)
    action = rig.animation_data.action
    action.name = "Wave"
    return action


def shown(rig: bpy.types.Object, frame: float) -> FloatArray:
    cast(Any, bpy.context.scene).frame_set(int(frame), subframe=frame % 1)
    return armature.read_pose_world(rig.evaluated_get(bpy.context.evaluated_depsgraph_get()))


def played_on_itself(rig: bpy.types.Object, name: str) -> tuple[Clip, Skeleton]:
    found = clips.clips_of_action(rig)(name)
    assert found is not None
    done = retarget(found[0], armature.read_skeleton(rig), axes.armature_from_hanim(rig))
    assert done.is_own
    return done.clip, done.clip.skeleton


@pytest.mark.parametrize("tilt", [(0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (0.3, 0.2, 1.0)])
def test_an_action_comes_back_on_its_own_armature(rig: bpy.types.Object, tilt: tuple[float, float, float]) -> None:
    rig.rotation_euler = tilt
    keyed(rig)
    bpy.context.view_layer.update()
    clip, skeleton = played_on_itself(rig, "Wave")
    assert clip.duration_s == pytest.approx(19 / 24)
    for frame in (1, 4, 9, 13, 20):
        world = world_from_pose(skeleton, clip.sample(np.array(((frame - 1) / 24,))))[0]
        np.testing.assert_allclose(world, shown(rig, frame), atol=POSE)


def test_constraints_have_their_say(rig: bpy.types.Object) -> None:
    constraint = cast(Any, rig.pose.bones["c.001"].constraints.new("COPY_ROTATION"))
    constraint.target, constraint.subtarget = rig, "aim"
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    aim = rig.pose.bones["aim"]
    for frame, value in ((1, (1, 0, 0, 0)), (11, (0.8, 0.6, 0, 0))):
        aim.rotation_quaternion = value
        aim.keyframe_insert("rotation_quaternion", frame=frame)
    rig.animation_data.action.name = "Aim"
    before = everything()
    clip, skeleton = played_on_itself(rig, "Aim")
    assert everything() == before
    for frame in (1, 6, 11):
        world = world_from_pose(skeleton, clip.sample(np.array(((frame - 1) / 24,))))[0]
        np.testing.assert_allclose(world, shown(rig, frame), atol=POSE)


@pytest.mark.parametrize("is_led", [False, True])
def test_a_rig_goes_on_playing_its_own_action_after_its_bones_were_switched(rig: bpy.types.Object, tmp_path: Path,
                                                                            is_led: bool) -> None:
    keyed(rig, scales=False)
    for bone in rig.pose.bones:
        bone.scale = (1.0, 1.0, 1.0)
    if is_led:
        rig.pose.bones[-1].constraints.new("COPY_LOCATION").target = rig
    wanted = [shown(rig, frame) for frame in (1, 5, 9, 14, 20)]
    path = tmp_path / "own.pha"
    path.write_text('<pha tickLength="1"><load src="Wave"/><procedure name="main">'
                    f'<call name="Wave" duration="{19 / 24}"/></procedure></pha>')
    operators = cast(Any, bpy.ops).takt
    for again in (lambda: operators.import_pha(filepath=str(path), rotations="QUATERNION"),
                  operators.rebuild, operators.rebuild):
        assert again() == {"FINISHED"}
        np.testing.assert_allclose([shown(rig, frame) for frame in (1, 5, 9, 14, 20)], wanted, atol=1e-4)
    assert {bone.rotation_mode for bone in rig.pose.bones} == {"QUATERNION"}


def along_x(rig: bpy.types.Object, keys: Any, interpolation: Any = "LINEAR") -> tuple[Any, Any]:
    """Key one bone's way along its x at frames; return the Action and the curve."""
    bone = rig.pose.bones["a"]
    for frame, value in keys:
        bone.location.x = value
        bone.keyframe_insert("location", index=0, frame=frame)
    action: Any = rig.animation_data.action
    (curve,) = action.layers[0].strips[0].channelbags[0].fcurves
    for key in curve.keyframe_points:
        key.interpolation = interpolation
    return action, curve


def assert_clip_shows(rig: bpy.types.Object, action: Any, frames: Any) -> None:
    """Compare the clip's poses with Blender's at frames from the start of the Action's range to its end."""
    clip, skeleton = played_on_itself(rig, action.name)
    start, end = frames[0], frames[-1]
    assert clip.duration_s == pytest.approx((end - start) / 24)
    for frame in frames:
        world = world_from_pose(skeleton, clip.sample(np.array(((frame - start) / 24,))))[0]
        np.testing.assert_allclose(world, shown(rig, frame), atol=POSE, err_msg=str(frame))


@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
@pytest.mark.parametrize(("start", "end"), [(10, 20), (0, 10), (7, 13), (-6, 4), (14, 30), (25, 31), (-9, -3),
                                            (20, 20)])
def test_a_manual_frame_range_is_what_plays(rig: bpy.types.Object, interpolation: str, start: int, end: int) -> None:
    action, _ = along_x(rig, ((0, 0.0), (12, 10.0), (20, 20.0)), interpolation)
    action.use_frame_range, action.frame_start, action.frame_end = True, start, end
    straight_between = (start + 0.25, start + 0.5) if interpolation == "LINEAR" and end > start else ()
    assert_clip_shows(rig, action, [start, *straight_between, *range(start + 1, end + 1)])


@pytest.mark.parametrize(("start", "end"), [(0, 20), (-10, 30), (25, 40)])
def test_curves_that_go_on_beyond_their_keys_do_so_in_the_clip(rig: bpy.types.Object, start: int, end: int) -> None:
    action, curve = along_x(rig, ((0, 0.0), (12, 10.0), (20, 20.0)))
    action.use_frame_range, action.frame_start, action.frame_end = True, start, end
    curve.extrapolation = "LINEAR"
    assert_clip_shows(rig, action, range(start, end + 1))
    curve.extrapolation = "CONSTANT"
    curve.modifiers.new("CYCLES")
    assert_clip_shows(rig, action, range(start, end + 1))


def test_an_action_is_found_by_its_name_alone(rig: bpy.types.Object) -> None:
    keyed(rig)
    assert clips.clips_of_action(rig)("Waves") is None
    other = bpy.data.actions.new("Empty")
    assert clips.clips_of_action(rig)(other.name) == ()


def test_a_blend_file_is_read_and_nothing_of_it_stays(rig: bpy.types.Object, tmp_path: Path) -> None:
    keyed(rig)
    skeleton, shows = armature.read_skeleton(rig), shown(rig, 9)
    path = tmp_path / "moves.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    for block in (rig, rig.animation_data.action):
        cast(Any, bpy.data.objects if block == rig else bpy.data.actions).remove(block)
    before = everything()
    (clip,) = read(path)
    assert everything() == before and clip.name == "Wave"
    done = retarget(clip, skeleton, axes.BLENDER_FROM_HANIM)
    np.testing.assert_allclose(world_from_pose(skeleton, done.clip.sample(np.array((8 / 24,))))[0], shows, atol=POSE)
    assert read(path)[0] is clip  # of a content that was read before


@pytest.mark.parametrize("ending", [".glb", ".fbx", ".blend"])
def test_clips_are_called_as_in_their_file_whatever_the_open_file_holds(rig: bpy.types.Object, tmp_path: Path,
                                                                        ending: str) -> None:
    path = tmp_path / f"swing{ending}"
    swinging(rig)
    EXPORTS[ending](str(path))
    action = cast(Any, rig.animation_data).action
    name, action.name = rig.name, "Played"
    rig.name = "Body"
    alone = [clip.name for clip in read(path)]
    rig.name, action.name = name, alone[0]
    bpy.data.actions.new(f"{alone[0]}.001")
    before = everything()
    assert [clip.name for clip in read(path)] == alone
    assert everything() == before and (rig.name, action.name) == (name, alone[0])


def test_fbx_of_a_clip_is_the_same_motion(rig: bpy.types.Object, tmp_path: Path) -> None:
    keyed(rig, ("XYZ",) * 4, scales=False)  # FBX knows no shear, which uneven scales of turned bones give
    path = tmp_path / "moves.fbx"
    for bone in rig.pose.bones:  # without a mesh, FBX takes the pose at hand for rest: let that be rest
        bone.location, bone.rotation_euler, bone.scale = (0, 0, 0), (0, 0, 0), (1, 1, 1)
        bone.keyframe_insert("rotation_euler", frame=40)
        bone.keyframe_insert("location", frame=40)
    cast(Any, bpy.context.scene).frame_set(40)
    bpy.ops.export_scene.fbx(filepath=str(path), object_types={"ARMATURE"}, add_leaf_bones=False, bake_anim_step=1.0,
                             bake_anim_simplify_factor=0.0, bake_anim_use_all_actions=False,
                             bake_anim_use_nla_strips=False)
    before = everything()
    found = read(path)
    assert everything() == before
    skeleton = armature.read_skeleton(rig)
    done = retarget(found[0], skeleton, axes.armature_from_hanim(rig))
    ours, _ = played_on_itself(rig, "Wave")
    times = np.linspace(0.0, 39 / 24, 40)
    assert np.degrees(rot.angle_between(turns(done.clip, times), turns(ours, times))).max() < 0.5


@pytest.mark.parametrize("ending", [".glb", ".gltf", ".fbx", ".blend"])
@pytest.mark.parametrize("data", [b"", b"rubbish", b"glTF\x02\0\0\0\xff\xff\xff\x7f", b"Kaydara FBX Binary  \0\x1a\0"])
def test_damaged_files_are_refused_and_leave_nothing(tmp_path: Path, ending: str, data: bytes) -> None:
    path = tmp_path / f"bad{ending}"
    path.write_bytes(data)
    before, scene = everything(), bpy.context.scene
    with pytest.raises(FileError, match=rf"bad\{ending}[: ]"):
        read(path)
    assert everything() == before and bpy.context.scene == scene


def test_a_new_format_stands_in_the_interface_and_may_be_read_by_blender(monkeypatch: pytest.MonkeyPatch
                                                                         ) -> None:
    made_up = Format("MADE_UP", "Made-up", (".mup",))
    monkeypatch.setitem(FORMATS, "MADE_UP", made_up)
    shown = properties.load_format_property().keywords["items"]
    assert [item[0] for item in shown] == [properties.ANY_FORMAT, *endings()] and shown[-1][0] == ".mup"
    read, of_fbx = (cast(Any, clips.formats()[name].read).read for name in ("MADE_UP", "FBX"))
    assert made_up.read is None and read is of_fbx
    assert clips.formats()["BVH"] is FORMATS["BVH"]


def swinging(rig: bpy.types.Object) -> None:
    """Key one bone from frame 1 to 31, straight."""
    bone = rig.pose.bones["a"]
    bone.rotation_mode = "QUATERNION"
    for frame, turn in ((1, (1.0, 0.0, 0.0, 0.0)), (31, (0.8, 0.6, 0.0, 0.0))):
        bone.rotation_quaternion = turn
        bone.keyframe_insert("rotation_quaternion", frame=frame)


def test_an_fbx_file_of_two_armatures_has_a_clip_for_each(rig: bpy.types.Object, tmp_path: Path) -> None:
    swinging(rig)
    other = cast(Any, rig.copy())
    bpy.context.collection.objects.link(other)
    other.name, other.animation_data.action = "Other", rig.animation_data.action.copy()
    for curve in (c for bag in curves.bags(other.animation_data.action) for c in bag.fcurves):
        curve.data_path = curve.data_path.replace('"a"', '"c.001"')
    EXPORTS[".fbx"](str(tmp_path / "two.fbx"))
    found = read(tmp_path / "two.fbx")
    assert sorted((clip.name, clip.skeleton.name) for clip in found) == [("Other|Scene", "Other"), ("Rig|Scene", "Rig")]
    turned = {clip.skeleton.name: {clip.skeleton.names[joint] for joint in clip.rotations.joints.tolist()
                                   if np.ptp(turns_of(clip, joint)) > 0.1} for clip in found}
    assert turned == {"Rig": {"a"}, "Other": {"c.001"}}


def test_an_fbx_file_of_strips_has_each_motion_once(rig: Any, tmp_path: Path) -> None:
    swinging(rig)
    swing = rig.animation_data.action
    swing.name = "swing"
    back = swing.copy()
    back.name = "back"
    for curve in (c for bag in curves.bags(back) for c in bag.fcurves):
        for key in curve.keyframe_points:
            key.co.y = 1.0 - key.co.y
    rig.animation_data.action = None
    for action in (swing, back):
        rig.animation_data.nla_tracks.new().strips.new(action.name, 1, action)
    path = tmp_path / "strips.fbx"
    bpy.ops.export_scene.fbx(filepath=str(path), object_types={"ARMATURE"})
    with clips._visit() as visit:
        clips._load(path, visit)
        there = [block for block in visit.new() if block in {action.session_uid for action in bpy.data.actions}]
    found = read(path)
    assert len(there) == 4 and sorted(clip.name for clip in found) == ["Rig|back", "Rig|swing"]


def turns_of(clip: Clip, joint: int) -> FloatArray:
    """Return by how much a joint is turned at both ends, (2,)."""
    ends = clip.sample(np.array((0.0, clip.duration_s))).rotations[:, joint]
    return rot.angle_between(ends, rot.IDENTITY)


@pytest.mark.parametrize("ending", [".fbx", ".blend"])
@pytest.mark.parametrize("is_moved", [True, False])
def test_what_moves_the_armature_itself_moves_its_bones_in_the_clip(rig: Any, tmp_path: Path, ending: str,
                                                                    is_moved: bool) -> None:
    swinging(rig)
    rig.location, rig.rotation_euler, rig.scale = (0.3, -0.2, 0.1), (0.2, 0.1, 1.0), (2.0, 2.0, 2.0)
    for frame in (1, 16, 31):
        turned = (frame - 1) / 30.0 * is_moved
        rig.location, rig.rotation_euler = (0.3 + 3.0 * turned, -0.2, 0.1), (0.2, 0.1, 1.0 + 2.0 * turned)
        for channel in ("location", "rotation_euler", "scale"):
            rig.keyframe_insert(channel, frame=frame)
    scene = cast(Any, bpy.context.scene)
    set_fps(scene, 24)
    scene.frame_set(1)
    assert EXPORTS[ending](str(tmp_path / f"moved{ending}")) == {"FINISHED"}
    clip = next(clip for clip in read(tmp_path / f"moved{ending}") if "a" in clip.skeleton.index_of)
    assert ("Rig" in clip.skeleton.index_of) == is_moved
    bones = [clip.skeleton.index_of[name] for name in ("a", "c.001")]
    ours = world_from_pose(clip.skeleton, clip.sample(np.arange(31) / 24.0))[..., 3][:, bones]
    theirs = np.array([[rig.matrix_world @ shown_bone(rig, name, frame) for name in ("a", "c.001")]
                       for frame in range(1, 32)])
    lengths, ways = ([np.linalg.norm(places[0, 0] - places[0, 1]) for places in (ours, theirs)],
                     [np.linalg.norm(places[:, 1] - places[:1, 1], axis=1) for places in (ours, theirs)])
    np.testing.assert_allclose(ways[0] / lengths[0], ways[1] / lengths[1], atol=0.01)
    assert ways[1].max() > 0.1


@pytest.mark.parametrize("tilt", [(0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0), (0.3, 0.2, 1.0)])
@pytest.mark.parametrize("is_moved", [True, False])
def test_what_an_action_does_to_the_armature_itself_its_topmost_bones_do(rig: Any, tilt: tuple[float, float, float],
                                                                         is_moved: bool) -> None:
    """They begin where they are without, whatever the object does now."""
    keyed(rig, scales=False)
    random = np.random.default_rng(5)
    rig.scale = (2.0, 2.0, 2.0)
    for bone in rig.pose.bones:
        bone.scale = (1.0, 1.0, 1.0)
    for frame in (1, 9, 20):
        rig.location = random.uniform(-3.0, 3.0, 3) if is_moved else (1.0, 2.0, 3.0)
        rig.rotation_euler = np.add(tilt, random.uniform(-1.0, 1.0, 3) * (frame > 1) * is_moved)
        for channel in ("location", "rotation_euler"):
            rig.keyframe_insert(channel, frame=frame)
    frames, scene = (1, 5, 9, 14, 20), cast(Any, bpy.context.scene)
    scene.frame_set(1)
    own = played_on_itself(rig, "Wave")[0]
    found = world_from_pose(own.skeleton, own.sample((np.array(frames) - 1.0) / frames_per_second(scene)))
    wanted, bases = [], []
    for frame in frames:
        bones = shown(rig, frame)
        bases.append(np.array(rig.matrix_basis, dtype=np.float64))
        wanted.append((np.linalg.inv(bases[0]) @ bases[-1])[:3] @ np.concatenate(
            (bones, np.broadcast_to((0.0, 0.0, 0.0, 1.0), (len(bones), 1, 4))), axis=1))
    np.testing.assert_allclose(found, wanted, atol=POSE)
    assert (np.ptp(np.array(bases)[:, :3, 3], axis=0).max() > 0.1) == is_moved
    rig.location, now = (7.0, 8.0, 9.0), played_on_itself(rig, "Wave")[0]
    np.testing.assert_allclose(now.translations.values, own.translations.values, atol=POSE)


def test_where_an_action_shifts_the_armature_alone_its_heading_is_the_one_that_it_has(rig: Any) -> None:
    swinging(rig)
    for frame in (1, 31):
        rig.location = (0.0, 0.1 * (frame - 1), 0.0)
        rig.keyframe_insert("location", frame=frame)
    store, ways = ClipStore(), []
    for heading_rad in (0.0, np.pi / 2):
        rig.rotation_euler = (0.0, 0.0, heading_rad)
        bpy.context.view_layer.update()
        (clip,) = cast(Any, clips.clips_of_action(rig, store))(rig.animation_data.action.name)
        clip = turned(clip, axes.armature_from_hanim(rig))
        places = world_from_pose(clip.skeleton, clip.sample(np.array((0.0, clip.duration_s))))[:, 0, :, 3]
        ways.append(places[1] - places[0])
    np.testing.assert_allclose(ways, ((0.0, 3.0, 0.0), (3.0, 0.0, 0.0)), atol=POSE)


def shown_bone(rig: Any, name: str, frame: int) -> Any:
    """Return where a bone begins at a frame, in armature space."""
    cast(Any, bpy.context.scene).frame_set(frame)
    return rig.pose.bones[name].head.copy()


def set_fps(scene: Any, fps: int, base: float = 1.0) -> None:
    scene.render.fps, scene.render.fps_base = fps, base
    scene.frame_start, scene.frame_end = 1, 31


EXPORTS = {".glb": lambda path: cast(Any, bpy.ops.export_scene).gltf(filepath=path),
           ".fbx": lambda path: cast(Any, bpy.ops.export_scene).fbx(filepath=path, bake_anim_use_all_actions=False,
                                                                    bake_anim_use_nla_strips=False),
           ".bvh": lambda path: cast(Any, bpy.ops.export_anim).bvh(filepath=path, frame_start=1, frame_end=31),
           ".blend": lambda path: bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)}
IMPORTS = {".glb": lambda path: cast(Any, bpy.ops.import_scene).gltf(filepath=path),
           ".fbx": lambda path: cast(Any, bpy.ops.import_scene).fbx(filepath=path, anim_offset=0.0),
           ".bvh": lambda path: cast(Any, bpy.ops.import_anim).bvh(filepath=path, update_scene_fps=True)}


@pytest.mark.parametrize("is_carried", [False, True])
@pytest.mark.parametrize("ending", [".glb", ".fbx", ".blend"])
def test_clips_keep_the_skin_of_their_file(rig: Any, tmp_path: Path, ending: str, is_carried: bool) -> None:
    """Where each vertex is, by the joint that moves it, also below a joint for the motion of the armature itself."""
    corners = np.array([(0.3, 0.1, 0.2), (0.5, 0.9, -0.3), (-0.1, 1.4, 0.1), (0.2, 2.5, 0.4)])
    data = bpy.data.meshes.new("Skin")
    data.from_pydata(corners.tolist(), [], [(0, 1, 2), (1, 2, 3)])
    mesh = bpy.data.objects.new("Skin", data)
    bpy.context.collection.objects.link(mesh)
    mesh.parent = rig
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    for bone, vertices in (("a", [0, 1]), ("c.001", [2, 3])):
        mesh.vertex_groups.new(name=bone).add(vertices, 1.0, "REPLACE")
    swinging(rig)
    if is_carried:
        rig.keyframe_insert("location", frame=1)
        rig.location.x = 5.0
        rig.keyframe_insert("location", frame=31)
        cast(Any, bpy.context.scene).frame_set(1)
    path = tmp_path / f"skin{ending}"
    EXPORTS[ending](str(path))
    clip = next(clip for clip in read(path) if "a" in clip.skeleton.index_of)
    assert clip.skin is not None and ("Rig" in clip.skeleton.index_of) == is_carried
    for bone, wanted in (("a", corners[:2]), ("c.001", corners[2:])):
        joint = clip.skeleton.index_of[bone]
        found = clip.skin.of_joints(clip.skeleton, np.arange(len(clip.skeleton)) == joint)
        there = np.linalg.norm(wanted - np.array(rig.data.bones[bone].head_local), axis=1)
        here = np.linalg.norm(found - clip.skeleton.rest_world[joint, :, 3], axis=1)
        for one, other in ((here, there), (there, here)):  # exporters double vertices
            assert np.abs(one[:, None] - other).min(axis=1).max() < SKIN


@pytest.mark.parametrize(("fps", "base"), [(24, 1.0), (60, 1.0), (25, 1.0), (30, 1.001), (120, 1.0)])
@pytest.mark.parametrize("ending", EXPORTS)
def test_a_clip_lasts_as_long_as_its_file_says(rig: bpy.types.Object, tmp_path: Path, ending: str, fps: int,
                                               base: float) -> None:
    scene, path = cast(Any, bpy.context.scene), tmp_path / f"swing{ending}"
    swinging(rig)
    set_fps(scene, fps, base)
    assert EXPORTS[ending](str(path)) == {"FINISHED"}
    set_fps(scene, 30)
    (clip,) = read(path)
    if ending == ".glb":
        base = 1.0 / base  # Blender writes a glTF's seconds so
    assert clip.duration_s == pytest.approx(30 * base / fps, rel=1e-4)
    assert (scene.render.fps, scene.render.fps_base) == (30, 1.0)


@pytest.mark.parametrize("fps", [24, 60])
@pytest.mark.parametrize("ending", IMPORTS)
def test_a_clip_lasts_as_long_as_blender_plays_it(rig: bpy.types.Object, tmp_path: Path, ending: str,
                                                  fps: int) -> None:
    scene, path = cast(Any, bpy.context.scene), tmp_path / f"swing{ending}"
    swinging(rig)
    set_fps(scene, fps)
    EXPORTS[ending](str(path))
    bpy.data.actions.remove(cast(Any, rig.animation_data.action))
    bpy.data.objects.remove(rig)
    IMPORTS[ending](str(path))
    first, last = cast(Any, bpy.data.actions[0].frame_range)
    (clip,) = read(path)
    assert clip.duration_s == pytest.approx((last - first) * scene.render.fps_base / scene.render.fps, rel=1e-4)


def test_in_a_blend_file_the_armatures_own_scene_has_the_clock(rig: bpy.types.Object, tmp_path: Path) -> None:
    path = tmp_path / "three.blend"
    swinging(rig)
    set_fps(bpy.context.scene, 60)
    for name in ("A scene before", "The scene after"):
        set_fps(bpy.data.scenes.new(name), 10)
    EXPORTS[".blend"](str(path))
    assert [clip.duration_s for clip in read(path)] == pytest.approx([0.5])


def test_a_blend_file_without_an_armature_is_said_to_have_none(rig: bpy.types.Object, tmp_path: Path) -> None:
    swinging(rig)
    for action in bpy.data.actions:
        action.use_fake_user = True
    bpy.data.objects.remove(rig)
    EXPORTS[".blend"](str(tmp_path / "actions.blend"))
    with pytest.raises(FileError, match="has no armature"):
        read(tmp_path / "actions.blend")


@pytest.mark.parametrize(("running", "waits"), [
    ([], False), (["TRANSFORM_OT_translate"], True), (["TAKT_OT_player", "SCULPT_OT_brush_stroke"], True),
    (["TAKT_OT_player", "TAKT_OT_bend_in_turn"], False)])
def test_clips_wait_until_a_tool_of_blenders_own_has_ended(running: list[str], waits: bool) -> None:
    windows: Any = [SimpleNamespace(modal_operators=[]),
                    SimpleNamespace(modal_operators=[SimpleNamespace(bl_idname=name) for name in running])]
    assert clips.must_wait(windows) == waits


def test_what_waits_to_be_performed_waits_for_them_too(rig: bpy.types.Object, monkeypatch: pytest.MonkeyPatch,
                                                       tmp_path: Path) -> None:
    """Actions are read in the main thread, when no tool of Blender's own is running; all else goes on beside it."""
    name = keyed(rig).name
    (tmp_path / "wave.pha").write_text(f'<pha tickLength="1"><load src="{name}"/><procedure name="main">'
                                       f'<call name="{name}" duration="2"/></procedure></pha>')
    kept, told, timers = properties.character(rig), list[str](), list[Any]()
    kept.text = bpy.data.texts.load(str(tmp_path / "wave.pha"))
    monkeypatch.setattr(bpy.app.timers, "register", timers.append)
    with score.while_drawing(lambda: told.append("performed")):
        assert score.shown(rig) is None and score.shown(rig) is None
    perform, = timers
    monkeypatch.setattr(clips, "must_wait", lambda windows: True)
    began = time.monotonic()
    while time.monotonic() < began + 0.5:
        assert perform() > 0.0 and score.is_waiting(rig)
    monkeypatch.setattr(clips, "must_wait", lambda windows: False)
    while perform() is not None:
        assert not told and time.monotonic() < began + 30.0
    assert told == ["performed"] and score.shown(rig) is not None and score.played_actions(rig) == {name}


@pytest.mark.parametrize(("ending", "has_second"), [(".fbx", True), (".blend", False), (".blend", True)])
def test_files_that_blender_opens_are_read_in_its_main_thread(rig: bpy.types.Object, monkeypatch: pytest.MonkeyPatch,
                                                              tmp_path: Path, ending: str, has_second: bool) -> None:
    """Also for a score that is performed beside it, as when a file is opened whose editor shows one.

    A second Blender reads .blend files where one can be started.
    """
    monkeypatch.setattr(second_blender.CALLED, "cannot_start", not has_second)
    swinging(rig)
    EXPORTS[ending](str(tmp_path / f"moves{ending}"))
    (clip,) = read(tmp_path / f"moves{ending}")
    (tmp_path / "swing.pha").write_text(f'<pha tickLength="1"><load src="moves"/><procedure name="main">'
                                        f'<call name="{clip.name}" duration="2"/></procedure></pha>')
    properties.character(rig).text = bpy.data.texts.load(str(tmp_path / "swing.pha"))
    timers, threads = list[Any](), list[threading.Thread]()
    monkeypatch.setattr(bpy.app.timers, "register", timers.append)
    read_clips = clips.read_file_clips

    def observed(source: Source) -> ClipFile:
        threads.append(threading.current_thread())
        return read_clips(source)

    monkeypatch.setattr(clips, "read_file_clips", observed)
    with score.while_drawing(lambda: None):
        assert score.shown(rig) is None
    perform(timers[0])
    reads_here = ending == ".fbx" or not has_second
    assert score.shown(rig) is not None and threads == [threading.main_thread()] * reads_here


@pytest.mark.parametrize(("assigned", "seen"), [("", "Second"), ("First", "First"), ("Second", "Second")])
def test_of_several_slots_an_armature_has_its_own(rig: bpy.types.Object, assigned: str, seen: str) -> None:
    """The slot by which the armature plays the Action, else the one of its name, however many curves others have."""
    rig.name = "Second"
    action, bone = bpy.data.actions.new("two"), rig.pose.bones[0].name
    angles = {"First": 0.25, "Second": 0.5}
    for name, angle in angles.items():
        bag = versions.ensure_channelbag(action, action.slots.new(id_type="OBJECT", name=name))
        turn = rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), np.array(angle))
        for component, value in enumerate(turn.tolist()):
            curve = bag.fcurves.new(f'pose.bones["{bone}"].rotation_quaternion', index=component)
            curve.keyframe_points.insert(1.0, value)
        if name == "First":
            further = bag.fcurves.new(f'pose.bones["{rig.pose.bones[1].name}"].location', index=0)
            further.keyframe_points.insert(1.0, 0.0)
    rig.pose.bones[0].rotation_mode = "QUATERNION"
    if assigned:
        rig.animation_data_create().action = action
        rig.animation_data.action_slot = next(slot for slot in action.slots if slot.name_display == assigned)
    skeleton = armature.read_skeleton(rig)
    clip = curves.read_clip(curves.fit(action, rig), skeleton, 24.0)
    turned = clip.sample(np.zeros(1), "SLERP").rotations[0, skeleton.index_of[bone]]
    assert rot.angle_between(turned, rot.IDENTITY) == pytest.approx(angles[seen], abs=1e-6)
