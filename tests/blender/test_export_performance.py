"""The performance of a character written into files, as it plays in Blender."""

from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np
import pytest

from takt.bridge.axes import BLENDER_FROM_HANIM
from takt.core.clips.clip import Clip
from takt.core.formats import x3d, x3d_xml
from takt.core.library.clip_files import read_clip_file
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons import hanim
from takt.core.skeletons.skeleton import world_from_pose

JOINTS_M, SKIN_M = 1e-4, 1e-3
"""Greatest distances from where Blender has joints and skin."""
TIMES = 20
context: Any = bpy.context
takt: Any = bpy.ops.takt  # type: ignore[attr-defined]


@pytest.fixture
def dancer() -> Any:
    """Add the sample, as small frames that play."""
    assert takt.add_sample() == {"FINISHED"}
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    context.view_layer.objects.active = rig
    assert takt.rebuild(write_long=True) == {"FINISHED"}
    return rig


def seconds(frame: float, rig: Any) -> float:
    return float((frame - rig.takt.frame_start) * context.scene.render.fps_base / context.scene.render.fps)


def frames(rig: Any, clip: Clip) -> list[int]:
    last = int(clip.duration_s * context.scene.render.fps / context.scene.render.fps_base)
    return [int(rig.takt.frame_start) + frame for frame in np.linspace(0, last, TIMES).round().astype(int).tolist()]


def joints(rig: Any) -> dict[str, FloatArray]:
    """Return where bones begin, in H-Anim's axes, by the names of version 1."""
    back = rot.conjugate(BLENDER_FROM_HANIM)
    return {bone.name: rot.rotate(back, np.array(rig.matrix_world @ bone.head)) for bone in rig.pose.bones}


def skin(rig: Any) -> FloatArray:
    """Return where Blender has the vertices of all meshes of a rig, in H-Anim's axes."""
    found = []
    for ob in context.scene.objects:
        if ob.type == "MESH" and ob.visible_get() and ob.find_armature() == rig:
            modifiers = [m for m in ob.modifiers if m.type != "ARMATURE" and m.show_viewport]
            for modifier in modifiers:
                modifier.show_viewport = False
            shown = ob.evaluated_get(context.evaluated_depsgraph_get())
            mesh = shown.to_mesh()
            flat = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
            mesh.vertices.foreach_get("co", flat)
            points = flat.reshape(-1, 3).astype(np.float64)
            matrix = np.array(ob.matrix_world)
            found.append(points @ matrix[:3, :3].T + matrix[:3, 3])
    return rot.rotate(rot.conjugate(BLENDER_FROM_HANIM), np.concatenate(found))


@pytest.mark.parametrize("hanim_motion", [False, True])
def test_joints_and_skin_are_where_blender_has_them(dancer: Any, tmp_path: Path, hanim_motion: bool) -> None:
    path = tmp_path / "dance.x3d"
    assert takt.export_performance(filepath=str(path), hanim_motion=hanim_motion) == {"FINISHED"}
    scene = x3d_xml.read(path.read_bytes(), path)
    (clip,) = x3d.clips_of(scene).clips
    humanoid = next(child.node for child in scene.roots if getattr(child.node, "kind", "") == "HAnimHumanoid")
    coordinate, _ = next(scene.children(cast(Any, humanoid), frozenset(("Coordinate",)), "skinCoord"))
    points = scene.numbers(coordinate, "point", 3)
    nodes = {scene.full_name(node) or scene.text(node, "name"): node for node in scene.named.values()
             if node.kind == "HAnimJoint"}
    rest = clip.skeleton.rest_world
    worst_joint = worst_skin = 0.0
    for frame in frames(dancer, clip):
        context.scene.frame_set(frame)
        world = world_from_pose(clip.skeleton, clip.sample(np.array((seconds(frame, dancer),))))[0]
        of_blender = {hanim.canonical(name) or name: place for name, place in joints(dancer).items()}
        moved = points.copy()
        for joint, name in enumerate(clip.skeleton.names):
            place = of_blender[hanim.canonical(name) or name]
            worst_joint = max(worst_joint, float(np.abs(world[joint, :, 3] - place).max()))
            index = scene.numbers(nodes[name], "skinCoordIndex", 1)[:, 0].astype(int)
            weights = scene.numbers(nodes[name], "skinCoordWeight", 1)
            at = (points[index] - rest[joint, :, 3]) @ world[joint, :, :3].T + world[joint, :, 3]
            np.add.at(moved, index, (at - points[index]) * weights)
        own = skin(dancer)  # points behind these are vertices with further texture coordinates
        worst_skin = max(worst_skin, float(np.abs(moved[:len(own)] - own).max()))
    assert worst_joint < JOINTS_M and worst_skin < SKIN_M


@pytest.mark.parametrize("ending", [".bvh", ".vrma", ".skeleton"])
def test_the_performance_is_written_in_each_format(dancer: Any, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"dance{ending}"
    assert takt.export_performance(filepath=str(path)) == {"FINISHED"}
    (clip,) = read_clip_file(path).clips
    assert clip.duration_s > 10.0
    context.scene.frame_set(dancer.takt.frame_start)
    place = joints(dancer)["HumanoidRoot"]
    name = "hips" if ending == ".vrma" else "HumanoidRoot"
    world = world_from_pose(clip.skeleton, clip.sample(np.zeros(1)))[0, clip.skeleton.index_of[name], :, 3]
    np.testing.assert_allclose(world, place, atol=JOINTS_M)


def test_a_file_of_no_format_is_refused(dancer: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"'dance.doc' does not name a format that can be written"):
        takt.export_performance(filepath=str(tmp_path / "dance.doc"))
    assert list(tmp_path.iterdir()) == []


def written(path: Path, **more: Any) -> Clip:
    assert takt.export_performance(filepath=str(path), **more) == {"FINISHED"}
    (clip,) = read_clip_file(path).clips
    return clip


def test_what_the_user_sees_is_written(dancer: Any, tmp_path: Path, capfd: Any) -> None:
    """Another Action, keys edited by hand, or else the score; and what is chosen."""
    path, own = tmp_path / "dance.skeleton", dancer.takt.action
    of_score = written(path)
    assert of_score.duration_s > 10.0 and "Wrote the score into" in capfd.readouterr().out
    walk = bpy.data.actions.new("Walk")
    dancer.animation_data.action = walk
    for frame, angle in ((5, 0.0), (17, 0.5)):
        dancer.pose.bones["l_knee"].rotation_quaternion = (np.cos(angle), np.sin(angle), 0.0, 0.0)
        dancer.pose.bones["l_knee"].keyframe_insert("rotation_quaternion", frame=frame)
    walked = written(path)
    assert walked.duration_s == pytest.approx(0.5) and "Wrote the Action 'Walk' into" in capfd.readouterr().out
    angles = 2.0 * np.arccos(np.abs(walked.sample(np.array((0.0, 0.5))).rotations[:, walked.skeleton.index_of["l_knee"],
                                                                                  0]))
    np.testing.assert_allclose(angles, (0.0, 1.0), atol=1e-4)
    assert written(path, motion="ACTION").duration_s == pytest.approx(0.5)
    capfd.readouterr()
    assert written(path, motion="SCORE").duration_s == of_score.duration_s
    assert "the character plays the Action 'Walk'" in capfd.readouterr().out
    dancer.animation_data.action = own
    curve = next(curve for curve in own.layers[0].strips[0].channelbags[0].fcurves if "l_knee" in curve.data_path)
    curve.keyframe_points[0].co.y += 0.5
    written(path)
    assert f"Wrote the Action '{own.name}' into" in capfd.readouterr().out
    dancer.takt.text = None
    dancer.animation_data.action = walk
    assert written(path).duration_s == pytest.approx(0.5)
    with pytest.raises(RuntimeError, match="has no score"):
        written(path, motion="SCORE")
    dancer.animation_data.action = None
    written(path)
    assert "Wrote the pose of the current frame into" in capfd.readouterr().out


@pytest.mark.parametrize("motion", ["SHOWN", "SCORE", "ACTION"])
def test_a_linked_character_is_written_as_in_its_own_file(dancer: Any, tmp_path: Path, motion: str) -> None:
    """Nothing is written to it, so it need be neither local nor overridden."""
    here = written(tmp_path / "here.skeleton", motion=motion)
    name, names, fps = dancer.name, [each.name for each in bpy.data.objects], context.scene.render.fps
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    context.scene.render.fps = fps
    libraries: Any = bpy.data.libraries
    with libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = names  # its meshes belong to it
    for each in wanted.objects:
        context.collection.objects.link(each)
    linked = next(each for each in wanted.objects if each.name == name)
    context.view_layer.objects.active = linked
    there = written(tmp_path / "there.skeleton", motion=motion)
    assert linked.library is not None
    assert there.duration_s == pytest.approx(here.duration_s)
    for of_it, of_own in zip((there.rotations, there.translations), (here.rotations, here.translations), strict=True):
        assert np.abs(of_it.values - of_own.values).max() < 1e-6
    assert takt.export_ogre(filepath=str(tmp_path / "dancer.mesh"), clips="SCORE") == {"FINISHED"}
    first = str(tmp_path / "other")
    Path(first).mkdir()
    with pytest.raises(RuntimeError, match="'Dancer' is linked; choose one of its own folders"):
        takt.save_clip(source="FRAMES", name="turn", first=1, last=10, folder=first)
    assert not list(Path(first).iterdir())
    (danced,) = read_clip_file(tmp_path / "dancer.skeleton").clips
    assert danced.duration_s == pytest.approx(here.duration_s, abs=0.1)
