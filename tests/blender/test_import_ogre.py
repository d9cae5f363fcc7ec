"""OGRE's characters opened in Blender: where everything stands, and that they play as OGRE plays them."""

import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from takt.bridge.axes import BLENDER_FROM_HANIM
from takt.bridge.files import ogre_files
from takt.core.clips.clip import Clip
from takt.core.formats import ogre_binary, ogre_mesh_binary, ogre_mesh_xml, ogre_xml
from takt.core.formats.ogre import Link, OgreSkeleton
from takt.core.formats.ogre_mesh import Whole
from takt.core.maths import rotations as rot
from takt.core.maths.arrays import FloatArray
from takt.core.skeletons.skeleton import world_from_pose
from takt.tests.beside import real_file
from takt.tests.core.ogre_cases import sinbad, small
from takt.tests.core.scores import FIGURE, X, Y, turning, walking
from takt.tests.core.test_ogre_mesh import UVS, XYZ, xml

VERTEX_UNITS = 2e-4
"""Greatest distance of a vertex from where OGRE's own mathematics put it, in a character ten units tall. Most of it
comes from times, which Blender keeps as float32 frames."""
FLOAT32 = 1e-6
SCRIPT = """material Skin { technique { pass { diffuse 1 0.5 0 1 } } }
material Coat { technique { pass { texture_unit { texture coat.png } } } }"""
context: Any = bpy.context


def png() -> bytes:
    """Make a picture of one red point."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00")) + chunk(b"IEND", b""))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a character of two materials and four bones with two clips; return its mesh."""
    clips = (turning("wave", X, (0.0, 0.9, -0.4)), walking("walk", (1.0, 2.0), yaw_rad=1.0),
             turning("nod", Y, (0.2, 0.5), ("spine",)))
    (tmp_path / "small.skeleton").write_bytes(ogre_binary.write(OgreSkeleton.of(FIGURE, clips)))
    (tmp_path / "looks.material").write_text(SCRIPT)
    (tmp_path / "coat.png").write_bytes(png())
    (tmp_path / "hero.mesh.xml").write_bytes(xml())
    return tmp_path / "hero.mesh.xml"


def opened(path: Path) -> tuple[Any, Any]:
    """Import a file; return armature and mesh objects."""
    assert bpy.ops.takt.import_ogre(filepath=str(path)) == {"FINISHED"}  # type: ignore[attr-defined]
    found = {ob.type: ob for ob in bpy.data.objects}
    return found.get("ARMATURE"), found.get("MESH")


def vertices(mesh_object: Any) -> FloatArray:
    mesh = mesh_object.evaluated_get(context.evaluated_depsgraph_get()).to_mesh()
    flat = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def skinned(whole: Whole, ogre: OgreSkeleton, clip: Clip, time_s: float) -> FloatArray:
    """Return where OGRE puts the vertices: linear blend skinning with the poses of its own skeleton."""
    def square(matrices: FloatArray) -> FloatArray:
        return np.concatenate((matrices, np.tile((0.0, 0.0, 0.0, 1.0), (len(matrices), 1, 1))), axis=1)

    posed = world_from_pose(ogre.skeleton, clip.sample(np.array((time_s,))).at(0))
    palette = square(posed) @ np.linalg.inv(square(ogre.skeleton.rest_world))
    weights = whole.influences(ogre.skeleton, ogre.handles).dense(len(ogre.skeleton))
    points = np.column_stack((whole.positions, np.ones(len(weights))))
    moved = np.einsum("vj,jab,vb->va", weights, palette[:, :3], points, optimize=True)
    still = weights.sum(axis=1) == 0.0
    return rot.rotate(BLENDER_FROM_HANIM, np.where(still[:, None], whole.positions, moved))  # which nothing moves


def assert_plays(armature: Any, mesh_object: Any, whole: Whole, ogre: OgreSkeleton, samples: int = 4) -> None:
    scene = context.scene
    fps = scene.render.fps / scene.render.fps_base
    for clip in ogre.played:
        action = bpy.data.actions[clip.name]
        armature.animation_data.action = action
        armature.animation_data.action_slot = action.slots[0]
        for bone in armature.pose.bones:
            bone.matrix_basis.identity()
        for time in np.linspace(0.0, clip.duration_s, samples).tolist():
            frame = scene.frame_start + time * fps
            scene.frame_set(int(frame), subframe=frame - int(frame))
            np.testing.assert_allclose(vertices(mesh_object), skinned(whole, ogre, clip, time), atol=VERTEX_UNITS,
                                       err_msg=f"{clip.name} at {time}")


def test_mesh(path: Path) -> None:
    _, mesh_object = opened(path)
    mesh = mesh_object.data
    assert len(mesh.vertices) == 8 and len(mesh.polygons) == 3
    np.testing.assert_allclose(vertices(mesh_object)[:4], XYZ[:, (0, 2, 1)] * (1, -1, 1), atol=FLOAT32)
    corner = next(loop.index for loop in mesh.loops if loop.vertex_index % 4 == 2)
    np.testing.assert_allclose(mesh.uv_layers[0].uv[corner].vector, UVS[2] * (1, -1) + (0, 1), atol=FLOAT32)
    # The file's normals stand: that of the third vertex points up there and here.
    np.testing.assert_allclose(mesh.corner_normals[corner].vector, (0, 0, 1), atol=1e-3)


def test_weights(path: Path) -> None:
    _, mesh_object = opened(path)
    names = [group.name for group in mesh_object.vertex_groups]
    assert names == list(FIGURE.names)
    found = [{names[g.group]: round(g.weight, 5) for g in v.groups} for v in mesh_object.data.vertices]
    assert found == [{}, {}, {}, {"l_arm": 1.0}, {"hip": 0.25, "spine": 0.75}, {}, {"l_arm": 1.0}, {}]
    armature = mesh_object.find_armature()
    assert armature is not None and mesh_object.parent == armature


def test_materials(path: Path) -> None:
    _, mesh_object = opened(path)
    skin, coat = mesh_object.data.materials
    assert (skin.name, coat.name) == ("Skin", "Coat")
    np.testing.assert_allclose(skin.diffuse_color, (1.0, 0.21404, 0.0, 1.0), atol=1e-4)  # 0.5 as screens show it
    image = next(node.image for node in coat.node_tree.nodes if node.type == "TEX_IMAGE")
    assert Path(bpy.path.abspath(image.filepath)).name == "coat.png" and image.size[0] == 1
    shader = next(node for node in coat.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    assert shader.inputs["Base Color"].is_linked
    assert [polygon.material_index for polygon in mesh_object.data.polygons] == [0, 1, 1]


def test_clips(path: Path) -> None:
    context.scene.render.fps = 24
    armature, _ = opened(path)
    actions: dict[str, Any] = {action.name: action for action in bpy.data.actions}
    assert list(actions) == ["nod", "walk", "wave"]
    assert armature.animation_data.action == actions["wave"]
    assert all(action.use_fake_user for action in actions.values())
    assert tuple(actions["walk"].frame_range) == (1.0, 25.0)


def test_plays_as_ogre_plays(path: Path) -> None:
    armature, mesh_object = opened(path)
    ogre = ogre_binary.read((path.parent / "small.skeleton").read_bytes())
    assert_plays(armature, mesh_object, ogre_mesh_xml.read(path.read_bytes()).whole(), ogre)


def test_sinbad() -> None:
    skeleton_path = sinbad()
    armature, mesh_object = opened(real_file("ogre", "Sinbad.mesh"))
    assert (len(armature.data.bones), len(mesh_object.data.vertices), len(bpy.data.actions)) == (69, 5534, 13)
    assert len(mesh_object.data.polygons) == 7612  # none was refused
    assert_plays(armature, mesh_object, ogre_mesh_binary.read(real_file("ogre", "Sinbad.mesh").read_bytes()).whole(),
                 ogre_binary.read(skeleton_path.read_bytes()))


def test_sinbad_can_be_bound_anew() -> None:
    sinbad()
    _, mesh_object = opened(real_file("ogre", "Sinbad.mesh"))
    before = [{g.group: g.weight for g in v.groups} for v in mesh_object.data.vertices]
    assert bpy.ops.takt.auto_bind() == {"FINISHED"}  # type: ignore[attr-defined]  # both are selected
    after = [{g.group: g.weight for g in v.groups} for v in mesh_object.data.vertices]
    assert before != after and all(after)


def test_skeleton_alone(path: Path) -> None:
    armature, mesh_object = opened(path.with_name("small.skeleton"))
    assert mesh_object is None and [bone.name for bone in armature.data.bones] == list(FIGURE.names)
    assert len(bpy.data.actions) == 3
    lengths = [bone.length for bone in armature.data.bones]
    assert min(lengths) > 0.01


def test_an_xml_skeleton_beside_the_mesh_is_found(path: Path) -> None:
    binary = path.with_name("small.skeleton")
    (path.parent / "small.skeleton.xml").write_bytes(ogre_xml.write(ogre_binary.read(binary.read_bytes())))
    binary.unlink()
    assert opened(path)[0] is not None


def test_a_missing_skeleton_is_no_error(path: Path) -> None:
    path.with_name("small.skeleton").unlink()
    armature, mesh_object = opened(path)
    assert armature is None and len(mesh_object.data.vertices) == 8


def test_a_link_to_another_folder_is_not_followed(path: Path) -> None:
    inner = path.parent / "inner"
    inner.mkdir()
    moved = inner / path.name
    moved.write_text(path.read_text().replace("small.skeleton", "../small.skeleton"))
    assert opened(moved)[0] is None


@pytest.mark.parametrize(("name", "data", "message"), [
    ("hero.mesh.xml", b"<mesh><submeshes>", "<submeshes> is not closed"),
    ("small.skeleton", b"\x00\x10[Serializer_v9]\n", "version"),
    ("small.skeleton", ogre_binary.write(small())[:60], "the file ends inside bone"),
])
def test_broken_files_make_nothing(path: Path, name: str, data: bytes, message: str) -> None:
    path.with_name(name).write_bytes(data)
    before = len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.materials), len(bpy.data.armatures)
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.takt.import_ogre(filepath=str(path))  # type: ignore[attr-defined]
    assert (len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.materials), len(bpy.data.armatures)) == before


def test_a_foreign_ending_is_refused(path: Path) -> None:
    with pytest.raises(RuntimeError, match="no OGRE file that can be imported"):
        bpy.ops.takt.import_ogre(filepath=str(path.with_name("coat.png")))  # type: ignore[attr-defined]


def test_clips_of_linked_skeletons_come_too(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From beside the file alone; their translations scaled."""
    main, far = path.with_name("small.skeleton"), walking("far", (1.0, 2.0))
    ogre = ogre_binary.read(main.read_bytes())
    main.write_bytes(ogre_binary.write(replace(ogre, links=(Link("more.skeleton", 2.0), Link("gone.skeleton", 1.0)))))
    path.with_name("more.skeleton").write_bytes(ogre_binary.write(OgreSkeleton.of(FIGURE, (far,))))
    armature, mesh_object = opened(path)
    assert [action.name for action in bpy.data.actions] == ["far", "nod", "walk", "wave"]
    assert "linked skeleton 'gone.skeleton' is not there" in capsys.readouterr().out
    tracks = far.translations
    twice = Clip("far", FIGURE, 1.0, far.rotations, replace(tracks, values=tracks.values * 2.0), far.scales)
    whole = ogre_mesh_xml.read(path.read_bytes()).whole()
    assert_plays(armature, mesh_object, whole, OgreSkeleton.of(FIGURE, (twice,)))


def test_names_and_what_the_viewport_shows(path: Path) -> None:
    armature, mesh_object = opened(path)
    assert (mesh_object.name, armature.name) == ("hero", "hero Rig")
    coat = mesh_object.data.materials["Coat"].node_tree
    assert coat.nodes.active.type == "TEX_IMAGE"
    bpy.ops.takt.import_ogre(filepath=str(path.with_name("small.skeleton")))  # type: ignore[attr-defined]
    assert "small" in bpy.data.objects


def test_all_its_files_can_be_dropped(path: Path) -> None:
    """Of a name with two endings, as hero.mesh.xml, Blender's file handlers see the last."""
    handler: Any = bpy.types.FileHandler.bl_rna_get_subclass_py("TAKT_FH_ogre")
    assert set(handler.bl_file_extensions.split(";")) == {Path(f"x{ending}").suffix for ending in ogre_files.ENDINGS}
    foreign = path.with_name("page.xml")
    foreign.write_text("<html/>")
    with pytest.raises(RuntimeError, match=r"no OGRE file that can be imported; \.mesh, \.mesh\.xml"):
        bpy.ops.takt.import_ogre(filepath=str(foreign))  # type: ignore[attr-defined]
