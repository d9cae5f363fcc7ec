"""Characters of X3D and COLLADA opened in Blender: they stand, look and play as their files say."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.axes import BLENDER_FROM_HANIM
from takt.bridge.files import character_files
from takt.core.errors import quoted
from takt.core.formats import x3d
from takt.core.formats.character import Character, CharacterFile
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.blender.test_export_performance import dancer as dancer
from takt.tests.blender.test_export_performance import frames, seconds, skin
from takt.tests.blender.test_import_ogre import png
from takt.tests.core import collada_files
from takt.tests.core.test_rite_mesh import GOOD
from takt.tests.core.test_several_characters import people, two_legs
from takt.tests.core.x3d_files import Route, clock, driven, humanoid, in_xml, joint, turning

VERTEX_M = 2e-4
"""Greatest distance of a vertex from where its file puts it; Blender keeps times as float32 frames."""
context: Any = bpy.context
takt: Any = bpy.ops.takt  # type: ignore[attr-defined]


def opened(path: Path) -> tuple[Any, list[Any]]:
    """Import a file; return the armature and the meshes that were made."""
    before = set(bpy.data.objects)
    assert takt.import_character(filepath=str(path)) == {"FINISHED"}
    made = [ob for ob in bpy.data.objects if ob not in before]
    return next(ob for ob in made if ob.type == "ARMATURE"), [ob for ob in made if ob.type == "MESH"]


def vertices(ob: Any) -> FloatArray:
    """Return where a mesh has its vertices, in the world."""
    mesh = ob.evaluated_get(context.evaluated_depsgraph_get()).to_mesh()
    flat = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    matrix = np.array(ob.matrix_world, dtype=np.float64)
    return flat.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def played(character: Character, mesh: int, time_s: float) -> FloatArray:
    """Return where a mesh's vertices are in a character's first clip, in Blender's axes."""
    skeleton, found = character.skeleton, character.meshes[mesh]
    world = world_from_pose(skeleton, character.clips[0].sample(np.array((time_s,))))[0]
    square = np.tile(np.eye(4), (2, len(skeleton), 1, 1))
    square[0, :, :3], square[1, :, :3] = world, skeleton.rest_world
    palette = square[0] @ np.linalg.inv(square[1])
    points = np.column_stack((found.positions, np.ones(len(found.positions))))
    moved = np.einsum("vj,jab,vb->va", found.influences.dense(len(skeleton)), palette, points)
    return rot.rotate(BLENDER_FROM_HANIM, (moved @ character.placed.T)[:, :3])


def assert_plays(meshes: dict[str, Any], file: CharacterFile, samples: int = 5) -> None:
    (character,) = file.characters
    fps = context.scene.render.fps / context.scene.render.fps_base
    for time in np.linspace(0.0, character.clips[0].duration_s, samples).tolist():
        frame = context.scene.frame_start + time * fps
        context.scene.frame_set(int(frame), subframe=frame - int(frame))
        for number, mesh in enumerate(character.meshes):
            np.testing.assert_allclose(vertices(meshes[mesh.name]), played(character, number, time), atol=VERTEX_M)


@pytest.mark.parametrize("hanim_motion", [False, True])
def test_the_sample_comes_back_as_it_went(dancer: Any, tmp_path: Path, hanim_motion: bool) -> None:
    path = tmp_path / "dance.x3d"
    assert takt.export_performance(filepath=str(path), hanim_motion=hanim_motion) == {"FINISHED"}
    (clip,) = x3d.read(path.read_bytes(), path).clips
    times = {frame: seconds(frame, dancer) for frame in frames(dancer, clip)}
    wanted = {}
    own_materials = {slot.material.name for child in dancer.children for slot in child.material_slots if slot.material}
    for frame in times:
        context.scene.frame_set(frame)
        wanted[frame] = rot.rotate(BLENDER_FROM_HANIM, skin(dancer))
    rig, meshes = opened(path)
    assert len(meshes) == 1 and meshes[0].find_armature() == rig and meshes[0].parent == rig
    fps = context.scene.render.fps / context.scene.render.fps_base
    for frame, time in times.items():
        at = context.scene.frame_start + time * fps
        context.scene.frame_set(int(at), subframe=at - int(at))
        np.testing.assert_allclose(vertices(meshes[0])[:len(wanted[frame])], wanted[frame], atol=1e-3)
    slots = {slot.material.name: slot.material for slot in meshes[0].material_slots}
    images = {node.image.name: node.image for material in slots.values() for node in material.node_tree.nodes
              if node.type == "TEX_IMAGE"}
    assert len(images) == 1 and all(image.packed_file and image.size[0] > 1 for image in images.values())
    assert set(slots) == {f"{name}.001" for name in own_materials}  # the sample's own are still there
    assert {bone.name for bone in rig.data.bones} == {bone.name for bone in dancer.data.bones}


def test_collada_plays_as_its_skin_says(tmp_path: Path) -> None:
    path = tmp_path / "leg.dae"
    path.write_bytes(collada_files.dressed(up="Z_UP", meter=0.0254))
    (tmp_path / "coat.png").write_bytes(png())
    _, made = opened(path)
    meshes = {ob.name: ob for ob in made}
    assert sorted(meshes) == ["Hat", "Left", "Right"]
    assert_plays(meshes, character_files.read_characters(path))
    coat = meshes["Left"].data.materials[0]
    image = next(node.image for node in coat.node_tree.nodes if node.type == "TEX_IMAGE")
    assert Path(bpy.path.abspath(image.filepath)).name == "coat.png" and image.size[0] == 1
    np.testing.assert_allclose(meshes["Right"].data.materials[0].diffuse_color, (1.0, 0.21404, 0.0, 1.0), atol=1e-4)
    uvs = [tuple(each.vector) for each in meshes["Left"].data.uv_layers[0].uv]
    assert max(v for _, v in uvs) == 1.0


def test_an_import_is_undone_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "leg.dae"
    path.write_bytes(collada_files.dressed())
    bpy.ops.ed.undo_push(message="before")
    assert takt.import_character("EXEC_DEFAULT", True, filepath=str(path)) == {"FINISHED"}
    assert bpy.data.armatures
    bpy.ops.ed.undo()
    assert not bpy.data.armatures and not bpy.data.meshes and not bpy.data.actions


def test_a_texture_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "coat.png").write_bytes(png())
    (inside / "linked.png").symlink_to(tmp_path / "coat.png")
    for name in ("../coat.png", str(tmp_path / "coat.png"), "linked.png", f"file://{tmp_path}/coat.png"):
        path = inside / "leg.dae"
        path.write_bytes(collada_files.dressed(texture=name))
        file = character_files.read_characters(path)
        assert character_files.images_of(file, inside) == ({}, [f"Not found beside the file: {quoted(name)}"])


def test_what_is_no_character_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    for name, text, message in (
            ("a.dae", b"<COLLADA>", "the file ends here, within <COLLADA> of line 1"),
            ("a.doc", b"", "no file with characters"), ("b.dae", b"<COLLADA/>", "has no joints"),
            ("a.x3d", b"<X3D><Scene/></X3D>", "no HAnimHumanoid")):
        (tmp_path / name).write_bytes(text)
        with pytest.raises(RuntimeError, match=message):
            takt.import_character(filepath=str(tmp_path / name))
    assert not bpy.data.objects


def test_files_can_be_dropped_into_the_viewport() -> None:
    handler: Any = bpy.types.FileHandler.bl_rna_get_subclass_py("TAKT_FH_character")
    assert set(handler.bl_file_extensions.split(";")) == {
        ".x3d", ".x3dv", ".wrl", ".wrz", ".x3dz", ".x3dvz", ".dae", ".ram"}


@pytest.mark.parametrize("name", ["people.x3d", "legs.dae"])
def test_several_characters_stand_and_play_each_for_itself(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(people() if name == "people.x3d" else two_legs())
    file = character_files.read_characters(path)
    assert takt.import_character(filepath=str(path)) == {"FINISHED"}
    rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    assert len(rigs) == len(file.characters) == (3 if name == "people.x3d" else 2)
    fps = context.scene.render.fps / context.scene.render.fps_base
    for character in file.characters:
        place = rot.rotate(BLENDER_FROM_HANIM, character.placed[:3, 3])
        rig = min(rigs, key=lambda rig: float(np.linalg.norm(np.array(rig.matrix_world.translation) - place)))
        rigs.remove(rig)
        assert rig.animation_data is not None and rig.animation_data.action is not None
        meshes = {ob.name.partition(".")[0]: ob for ob in rig.children}
        for time in (0.0, 0.5):
            frame = context.scene.frame_start + time * fps
            context.scene.frame_set(int(frame), subframe=frame - int(frame))
            for number, mesh in enumerate(character.meshes):
                is_moved = mesh.influences.weights.sum(axis=1) > 0.0
                np.testing.assert_allclose(vertices(meshes[mesh.name])[is_moved],
                                           played(character, number, time)[is_moved], atol=VERTEX_M)


@pytest.mark.parametrize(("clips", "said"), [(0, "2 bones; the file has no animation for it"), (1, "2 bones, 1 clip"),
                                             (2, "2 bones, 2 clips")])
def test_what_was_made_is_said(clips: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes, routes = [humanoid(joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0))))], list[Route]()
    for number in range(clips):
        nodes += [clock(f"T{number}", 1.0), turning(f"R{number}", (0, 1), [(0, 1, 0, 0.0), (0, 1, 0, 1.0)])]
        routes += driven(f"T{number}", f"R{number}", "h_l_hip", "rotation")
    path = tmp_path / "a.x3d"
    path.write_bytes(in_xml(nodes, routes))
    opened(path)
    assert f"Info: 'h': 0 vertices, {said}\n" in capsys.readouterr().out


def test_scales_along_axes_that_bones_do_not_have_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leg = joint("humanoid_root", (0, 1, 0), joint("l_hip", (0.1, 0.9, 0), scale="1 3 1", scaleOrientation="0 0 1 0.5"))
    path = tmp_path / "a.x3d"
    path.write_bytes(in_xml([humanoid(leg), clock("T", 1.0), turning("R", (0,), [(0, 1, 0, 0.0)])],
                            driven("T", "R", "h_humanoid_root", "rotation")))
    opened(path)
    assert "only a part of that can be seen: 'l_hip'" in capsys.readouterr().out


def test_a_model_of_rite_comes_with_its_mesh(tmp_path: Path) -> None:
    path = tmp_path / "walker.ram"
    path.write_text(GOOD, encoding="utf-8")
    rig, (body,) = opened(path)
    assert len(body.data.vertices) == 4 and len(body.data.polygons) == 2 and body.data.uv_layers
    bones = set(rig.data.bones.keys())
    assert {group.name for group in body.vertex_groups} == bones == {"pelvis", "l_hip", "left knee"}
    assert body.find_armature() == rig and [each.name for each in body.data.materials] == ["cloth", "skin.ras"]
