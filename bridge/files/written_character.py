"""Convert a character with its motion to H-Anim's axes and metres, for formats that write it."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ...core.clips.clip_file import ClipFile
from ...core.errors import FileError
from ...core.formats import x3d
from ...core.formats.character import Look
from ...core.formats.format import Format
from ...core.formats.x3d_write import X3dFile, X3dSkin
from ...core.library.files import read_file
from ...core.library.fitted import fitted
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray, IntArray
from ...core.playing.bake import bake
from ...core.retargeting.comparing.upright import scaled, turned
from ...core.skinning.influences import Influences
from .. import axes, versions
from ..meshes import mesh
from ..rigs import object_motion
from . import written_place
from .shown_motion import Shown
from .written_meshes import WrittenMesh, written_meshes

_KNOWN_IMAGES = (b"\x89PNG", b"\xff\xd8")


def read_character(armature_object: bpy.types.Object, shown: Shown, fps: float, entry: Format,
                   as_frames: bool = False) -> tuple[ClipFile, tuple[str, ...]]:
    """Return the contents that a format writes for a character with a motion, and warnings about losses.

    If the object moves, by its own keys or with its parents, the topmost joints move along. X3D also gets its place in
    the scene, and its skin: the visible meshes that the armature deforms and those attached to its bones,
    without modifiers. as_frames: in X3D, motion is HAnimMotion.
    Raises TaktError if the motion is too long, or the object's transform cannot be known.
    """
    turn = rot.conjugate(axes.armature_from_hanim(armature_object))
    metres = axes.unit_m(armature_object)
    clip = bake(shown.motion, fps, armature_object.name)
    times, worlds, lost = shown.course(armature_object, clip, fps)
    clip = scaled(turned(object_motion.going_along(clip, times, worlds), turn), metres)
    file, warnings = fitted(ClipFile(clip.skeleton, (clip,)), entry)
    place = written_place.place_of(worlds[0], turn)
    lost = (*lost, *(f"'{armature_object.name}' {each}" for each in axes.distortions(armature_object)))
    if entry not in x3d.WITH_SKIN:
        return file, (*warnings, *lost, *written_place.left_out(armature_object, place, entry))
    meshes, said = written_meshes(armature_object)
    parts = [_Part.of(each, armature_object, clip.skeleton.names) for each in meshes]
    return X3dFile(file.skeleton, file.clips, skin=_Part.skin(parts, turn, metres) if parts else None,
                   as_frames=as_frames, place=place), (*warnings, *lost, *said)


@dataclass(frozen=True, eq=False)
class _Part:
    """The contents of one mesh, in the armature's space: V vertices, T triangles, M materials.

    name: of its object. positions, normals: (V, 3). triangles: (T, 3) vertices, with texture coordinates
    uvs (T, 3, 2), or None. material: (T,) index into the looks.
    """

    name: str
    positions: FloatArray
    normals: FloatArray
    triangles: IntArray
    influences: Influences
    material: IntArray
    looks: tuple[Look, ...]
    uvs: FloatArray | None

    @classmethod
    def of(cls, written: WrittenMesh, armature_object: bpy.types.Object, names: tuple[str, ...]) -> "_Part":
        """Return the contents of a mesh; names: of the bones, joint by joint."""
        mesh_object, matrix = written.object, written.matrix
        data = cast(bpy.types.Mesh, mesh_object.data)
        points = mesh.transformed(matrix, mesh.read_mesh(mesh_object).vertices)
        normals = np.empty(len(points) * 3, dtype=np.float32)
        cast(Any, data).vertex_normals.foreach_get("vector", normals)
        turned_normals = normals.reshape(-1, 3).astype(np.float64) @ np.linalg.pinv(matrix[:3, :3])
        length = np.linalg.norm(turned_normals, axis=1, keepdims=True)
        data.calc_loop_triangles()
        triangles = np.empty(len(data.loop_triangles) * 3, dtype=np.int32)
        data.loop_triangles.foreach_get("vertices", triangles)
        material = np.empty(len(data.loop_triangles), dtype=np.int32)
        data.loop_triangles.foreach_get("material_index", material)
        influences = written.influences(armature_object, names)
        looks = tuple(_look(slot.material) for slot in mesh_object.material_slots) or (_look(None),)
        return cls(mesh_object.name, points, turned_normals / np.where(length > 0.0, length, 1.0),
                   triangles.reshape(-1, 3).astype(np.int64), influences,
                   np.minimum(material.astype(np.int64), len(looks) - 1), looks, _uvs(data))

    @classmethod
    def skin(cls, parts: "list[_Part]", turn: FloatArray, unit_m: float) -> X3dSkin:
        """Return parts joined and converted to H-Anim's axes and metres."""
        first = np.cumsum([0, *(len(part.positions) for part in parts)])
        of_looks = np.cumsum([0, *(len(part.looks) for part in parts)])
        width = max(part.influences.joints.shape[1] for part in parts)

        def padded(rows: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
            return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))

        influences = Influences(np.concatenate([padded(part.influences.joints) for part in parts]),
                                np.concatenate([padded(part.influences.weights) for part in parts]))
        uvs = None if all(part.uvs is None for part in parts) else np.concatenate(
            [np.zeros((len(part.triangles), 3, 2)) if part.uvs is None else part.uvs for part in parts])
        return X3dSkin(unit_m * rot.rotate(turn, np.concatenate([part.positions for part in parts])),
                       rot.rotate(turn, np.concatenate([part.normals for part in parts])),
                       np.concatenate([part.triangles + start for part, start in zip(parts, first, strict=False)]),
                       influences,
                       np.concatenate([part.material + start for part, start in zip(parts, of_looks, strict=False)]),
                       tuple(look for part in parts for look in part.looks), uvs,
                       tuple(part.name for part in parts),
                       np.repeat(np.arange(len(parts)), [len(part.triangles) for part in parts]))


def _uvs(data: bpy.types.Mesh) -> FloatArray | None:
    """Return the active texture coordinates of a mesh's triangles, (T, 3, 2), or None if it has none."""
    layer: Any = data.uv_layers.active
    if layer is None:
        return None
    corners, flat = (np.empty(count, kind) for count, kind in ((3 * len(data.loop_triangles), np.int32),
                                                               (2 * len(data.loops), np.float32)))
    data.loop_triangles.foreach_get("loops", corners)
    layer.uv.foreach_get("vector", flat)
    found: FloatArray = flat.reshape(-1, 2).astype(np.float64)[corners].reshape(-1, 3, 2)
    return found


def _look(material: bpy.types.Material | None) -> Look:
    """Return the colour or the image of a material's base colour, or else the viewport's colour."""
    if material is None:
        return Look("")
    tree = versions.shader_tree(material)
    for node in tree.nodes if tree is not None else ():
        if node.type == "BSDF_PRINCIPLED":
            base: Any = node.inputs["Base Color"]
            if not base.is_linked:
                return Look(material.name, _rgb(base.default_value))
            source = base.links[0].from_node
            if isinstance(source, bpy.types.ShaderNodeTexImage) and source.image is not None:
                return Look(material.name, _rgb(material.diffuse_color), image=_image_bytes(source.image))
    return Look(material.name, _rgb(material.diffuse_color))


def colour_of(material: bpy.types.Material | None) -> tuple[float, float, float]:
    """Return a material's base colour, linear: that of its shader if constant, else the viewport's."""
    return _look(material).colour


def _rgb(values: Any) -> tuple[float, float, float]:
    red, green, blue = tuple(values)[:3]
    return red, green, blue


def _image_bytes(image: bpy.types.Image) -> bytes:
    """Return the bytes of an image: its file's if that is PNG or JPEG, else as PNG; empty if it does not exist."""
    packed = image.packed_file
    data = bytes(cast(Any, packed.data)) if packed is not None else b""
    if not data and image.source == "FILE":
        try:
            data = read_file(Path(bpy.path.abspath(image.filepath, library=image.library)).resolve())
        except FileError:
            return b""
    if data.startswith(_KNOWN_IMAGES):
        return data
    return _as_png(image) if image.has_data else b""


def _as_png(image: bpy.types.Image) -> bytes:
    """Return a copy of an image's pixels as PNG."""
    copy = cast(bpy.types.Image, image.copy())
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "image.png"
            copy.file_format, copy.filepath_raw = "PNG", str(path)
            copy.save()
            return path.read_bytes()
    except (RuntimeError, OSError):  # an image without pixels, or a full disk
        return b""
    finally:
        bpy.data.images.remove(copy)
