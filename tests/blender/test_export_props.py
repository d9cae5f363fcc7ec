"""What hangs on a character's bones is in its files, where Blender has it; what a format cannot hold is named."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.axes import BLENDER_FROM_HANIM
from takt.bridge.files import ogre_files
from takt.core.formats import FORMATS
from takt.core.formats.character import joined
from takt.core.formats.format import Source
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skinning.influences import Influences
from takt.core.skinning.linear import skin_linear
from takt.core.skinning.palette import Palette

SAME_M = 2e-5
PROPS = ("Hat", "Sword", "Gem")
context: Any = bpy.context
takt: Any = bpy.ops.takt  # type: ignore[attr-defined]


def cube(name: str, place: tuple[float, float, float]) -> Any:
    """Add a small cube."""
    data = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.15) for z in (-0.2, 0.1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    data.from_pydata(corners, [], faces)
    ob = bpy.data.objects.new(name, data)
    ob.location = place
    context.collection.objects.link(ob)
    return ob


@pytest.fixture
def rig() -> Any:
    """Make three bones that turn, a cube that they deform, and things that hang on them, while they are posed."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    context.collection.objects.link(rig)
    context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for number, name in enumerate(("Root", "Arm", "Hand")):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = (0.1 * number, 0.0, float(number)), (0.1, 0.2, number + 1.0), 0.3
        bone.parent, above = above, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, axis in (("Arm", 1), ("Hand", 2)):
        posed = rig.pose.bones[name]
        posed.rotation_mode = "XYZ"
        for frame, angle in ((1, 0.4), (25, -0.8)):
            posed.rotation_euler[axis] = angle
            posed.keyframe_insert("rotation_euler", frame=frame)
    context.scene.frame_set(7)
    body = cube("Body", (0.0, 0.0, 1.0))
    body.vertex_groups.new(name="Arm").add(range(8), 1.0, "REPLACE")
    body.parent = rig
    body.modifiers.new("Armature", "ARMATURE").object = rig
    hat, sword, holder, gem = cube("Hat", (0.3, 0.1, 0.2)), cube("Sword", (0.0, 0.7, 2.0)), bpy.data.objects.new(
        "Holder", None), cube("Gem", (0.1, 0.2, 0.3))
    context.collection.objects.link(holder)
    hat.rotation_euler, hat.scale = (0.3, 0.2, 0.1), (1.0, 2.0, 0.5)
    for ob in (hat, holder):
        ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", "Hand"
    gem.parent = holder
    constraint = sword.constraints.new("CHILD_OF")
    constraint.target, constraint.subtarget = rig, "Arm"
    context.view_layer.update()
    return rig


def places(name: str) -> FloatArray:
    """Return where Blender has an object's vertices, in H-Anim's axes."""
    ob = bpy.data.objects[name].evaluated_get(context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(ob.data.vertices), np.float32)
    ob.data.vertices.foreach_get("co", flat)
    matrix = np.array(ob.matrix_world, dtype=np.float64)
    return rot.rotate(rot.conjugate(BLENDER_FROM_HANIM), flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])


def farthest(names: tuple[str, ...], points: FloatArray) -> float:
    """Return how far the farthest vertex of some objects is from the nearest point."""
    own = np.concatenate([places(name) for name in names])
    return float(np.linalg.norm(own[:, None] - points[None], axis=-1).min(axis=1).max())


def check(rig: Any, clip: Any, influences: Influences, positions: FloatArray) -> None:
    first = rig.animation_data.action.frame_range[0]
    for frame in (1, 9, 25):
        context.scene.frame_set(frame)
        pose = clip.sample(np.array(((frame - first) / 24.0,)))
        moved, _ = skin_linear(Palette.from_pose(clip.skeleton, pose), influences, positions, positions)
        assert farthest(("Body", *PROPS), moved[0]) < SAME_M, frame


@pytest.mark.parametrize("ending", ["x3d", "x3dv"])
def test_x3d_has_what_hangs_on_bones(rig: Any, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rig.{ending}"
    assert takt.export_performance(filepath=str(path)) == {"FINISHED"}
    reader = FORMATS["X3D" if ending == "x3d" else "X3D_CLASSIC"].read_characters
    assert reader is not None
    (character,) = reader(Source(path.read_bytes(), path)).characters
    assert {mesh.name for mesh in character.meshes} == {"Body", *PROPS}
    (clip,), whole = character.clips, joined("All", character.meshes)
    assert len(whole.positions) == 8 * 4 and len(whole.triangles) == 12 * 4
    check(rig, clip, whole.influences, whole.positions)


def test_ogre_has_what_hangs_on_bones(rig: Any, tmp_path: Path) -> None:
    path = tmp_path / "rig.mesh"
    assert takt.export_ogre(filepath=str(path), clips="ACTIONS") == {"FINISHED"}
    character = ogre_files.read_character(path)
    assert character.influences is not None
    (clip,) = character.clips
    check(rig, clip, character.influences, character.mesh.positions)


def odd_ones(rig: Any) -> None:
    """Hang on the rig what not all formats can hold."""
    cube("Banner", (0.0, 0.0, 3.0)).parent = rig
    ribbon = bpy.data.objects.new("Ribbon", bpy.data.curves.new("Ribbon", "CURVE"))
    other = bpy.data.objects.new("Other", bpy.data.armatures.new("Other"))
    group = bpy.data.collections.new("Group")
    flowers = bpy.data.objects.new("Flowers", None)
    flowers.instance_type, flowers.instance_collection = "COLLECTION", group
    for ob in (ribbon, other, flowers):
        context.collection.objects.link(ob)
        ob.parent, ob.parent_type, ob.parent_bone = rig, "BONE", "Hand"
    flag = cube("Flag", (0.0, 0.0, 0.0))
    flag.parent = other
    flag.modifiers.new("Armature", "ARMATURE").object = other
    bell = cube("Bell", (0.0, 0.0, 0.0))
    bell.parent, bell.parent_type = bpy.data.objects["Body"], "VERTEX"
    bpy.data.objects["Gem"].modifiers.new("Solid", "SOLIDIFY")
    bpy.data.objects["Hat"].keyframe_insert("location", frame=1)
    hidden = cube("Hidden", (0.0, 0.0, 0.0))
    hidden.parent = rig
    hidden.hide_set(True)
    context.view_layer.update()


def test_what_a_format_cannot_hold_is_named(rig: Any, tmp_path: Path, capfd: Any) -> None:
    odd_ones(rig)
    takt.export_performance(filepath=str(tmp_path / "rig.x3d"))
    said = capfd.readouterr().out
    for text in ("'Ribbon' is a curve and is left out: convert it to a mesh", "'Gem' is written without its modifiers",
                 "'Flowers' is an instance of a collection and is left out", "'Flag' is deformed by 'Other', another",
                 "'Bell' follows vertices and is left out: parent it to a bone",
                 "'Hat' has keys of its own, which are not written: it stays on 'Hand' as it is now"):
        assert f"Warning: {text}" in said, said
    assert "Hidden" not in said and "Banner" not in said
    reader = FORMATS["X3D"].read_characters
    assert reader is not None
    (character,) = reader(Source((tmp_path / "rig.x3d").read_bytes(), tmp_path / "rig.x3d")).characters
    (banner,) = (mesh for mesh in character.meshes if not mesh.influences.weights.any())
    assert banner.name == "Banner" and len(banner.positions) == 8
    assert farthest(("Banner",), banner.positions) < SAME_M
    takt.export_ogre(filepath=str(tmp_path / "rig.mesh"), clips="NONE")
    said = capfd.readouterr().out
    assert "Warning: 'Banner' hangs on the armature itself, which OGRE's meshes cannot hold" in said
    assert "Warning: 'Ribbon' is a curve" in said
