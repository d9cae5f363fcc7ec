"""Convert a character for OGRE: skeleton with clips, meshes with weights, materials. In H-Anim's axes and metres."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ...core.clips.clip import Clip
from ...core.formats import ogre_binary, ogre_material_write, ogre_mesh_write, ogre_xml
from ...core.formats.ogre import OgreSkeleton
from ...core.formats.ogre_material import OgreMaterial
from ...core.formats.ogre_mesh import MOST_INFLUENCES, Geometry, OgreMesh, Submesh, Weights
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray, IntArray
from ...core.playing.bake import bake
from ...core.playing.stage import Playable
from ...core.retargeting.comparing.upright import scaled
from ...core.skeletons.skeleton import Skeleton
from ...core.skinning.influences import Influences
from .. import axes, versions
from ..meshes import mesh
from ..rigs import armature
from . import clips, recorded, written_character
from .written_meshes import WrittenMesh, written_meshes

_PLAIN = "Plain"
"""The name of the material for faces without a material."""
_CORNER_DIGITS = 6


@dataclass(frozen=True, eq=False)
class WrittenOgre:
    """Files by name, paths of their images, and warnings."""

    files: Mapping[str, bytes]
    images: tuple[Path, ...]
    warnings: tuple[str, ...]


def read_clips(armature_object: bpy.types.Object, motion: Playable | None, name: str, actions: Iterable[str],
               fps: float) -> tuple[Skeleton, tuple[Clip, ...], tuple[str, ...]]:
    """Return a character's skeleton and its clips: its score's motion under a name, and Actions.

    Also returns warnings about Actions that are left out, since they move none of its bones.
    """
    skeleton = _in_file_axes(armature_object, armature.read_skeleton(armature_object))
    found, warnings = list[Clip](), list[str]()
    if motion is not None:
        found.append(recorded.in_hanim_axes(armature_object, bake(motion, fps, name)))
    look_up = clips.clips_of_action(armature_object)
    for action in actions:
        held = look_up(action) or ()
        own = [clip for clip in held if clip.skeleton.names == skeleton.names]
        found += [scaled(clip, axes.unit_m(armature_object)) for clip in own]
        if not own:
            warnings.append(f"the Action '{action}' moves no bones of this character and is left out")
    unique = {clip.name: clip for clip in found}
    made = tuple(Clip(called, skeleton, clip.duration_s, clip.rotations, clip.translations, clip.scales,
                      clip.is_looping) for called, clip in unique.items())
    return skeleton, made, tuple(warnings)


def read_character(armature_object: bpy.types.Object, skeleton: Skeleton, held: tuple[Clip, ...], stem: str,
                   forms: Iterable[str]) -> WrittenOgre:
    """Return the files of a character: STEM.skeleton, STEM.mesh and STEM.material.

    forms: BINARY, XML or both. Raises TaktError if something cannot be written.
    """
    submeshes, geometries, materials = list[Submesh](), list[Geometry](), dict[str, OgreMaterial]()
    images: dict[Path, None] = {}
    packed, warnings = dict[str, bytes](), list[str]()
    meshes, said = written_meshes(armature_object)
    warnings += said
    for mesh_written in meshes:
        ob = mesh_written.object
        if mesh_written.is_still:
            warnings.append(f"'{ob.name}' hangs on the armature itself, which OGRE's meshes cannot hold, and is left "
                            "out: parent it to a bone")
            continue
        influences = mesh_written.influences(armature_object, skeleton.names)
        if many := int(((influences.weights > 0.0).sum(axis=1) > MOST_INFLUENCES).sum()):
            warnings.append(f"'{ob.name}': {many:,} vertices follow more than {MOST_INFLUENCES} bones; only the "
                            f"{MOST_INFLUENCES} strongest weights of each are written, as OGRE allows no more")
        for material, geometry, triangles in _parts(armature_object, mesh_written, influences):
            look, image = _look(material)
            materials[look.name] = look
            if isinstance(image, Path):
                images[image] = None
            elif image is not None and look.texture is not None:
                packed[look.texture] = image
            elif look.texture is not None:
                warnings.append(f"the image of '{look.name}' is in no file and is not written: save or pack it")
            submeshes.append(Submesh(ob.name, look.name, len(geometries), triangles))
            geometries.append(geometry)
    ogre = OgreSkeleton.of(skeleton, held)
    files = dict(packed)
    whole = OgreMesh(tuple(geometries), tuple(submeshes), f"{stem}.skeleton")
    for form in forms:
        ending = "" if form == "BINARY" else ".xml"
        files[f"{stem}.skeleton{ending}"] = ogre_binary.write(ogre) if form == "BINARY" else ogre_xml.write(ogre)
        if submeshes:
            files[f"{stem}.mesh{ending}"] = (ogre_mesh_write.write_binary(whole) if form == "BINARY" else
                                             ogre_mesh_write.write_xml(whole))
    if materials:
        files[f"{stem}.material"] = ogre_material_write.write(materials.values()).encode()
    if not submeshes:
        warnings.append("no visible mesh is bound to the character: the skeleton alone was written")
    return WrittenOgre(files, tuple(images), tuple(warnings))


def _in_file_axes(armature_object: bpy.types.Object, skeleton: Skeleton) -> Skeleton:
    back = rot.conjugate(axes.armature_from_hanim(armature_object))
    size = axes.unit_m(armature_object)
    moved = skeleton.turned(back)
    return Skeleton(moved.names, moved.parents, moved.rest_rotations, moved.rest_translations * size,
                    moved.rest_scales, moved.name, moved.meant)


def _parts(armature_object: bpy.types.Object, written: WrittenMesh,
           influences: Influences) -> list[tuple[bpy.types.Material | None, Geometry, IntArray]]:
    """Return the faces of each material of a mesh with vertices of their own.

    Corners at one vertex that differ in normal or texture coordinates become vertices of their own.
    """
    mesh_object, matrix = written.object, written.matrix
    data = cast(Any, mesh_object.data)
    back = rot.conjugate(axes.armature_from_hanim(armature_object))
    size = axes.unit_m(armature_object)
    points = size * rot.rotate(back, mesh.transformed(matrix, mesh.read_mesh(mesh_object).vertices))
    data.calc_loop_triangles()
    corners, material, vertex = (np.empty(count, np.int32) for count in (
        3 * len(data.loop_triangles), len(data.loop_triangles), len(data.loops)))
    data.loop_triangles.foreach_get("loops", corners)
    data.loop_triangles.foreach_get("material_index", material)
    data.loops.foreach_get("vertex_index", vertex)
    normals = np.empty(3 * len(data.loops), np.float32)
    data.corner_normals.foreach_get("vector", normals)
    own = normals.reshape(-1, 3).astype(np.float64) @ np.linalg.pinv(matrix[:3, :3])
    own = rot.rotate(back, own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-30))
    uvs: FloatArray | None = None
    if data.uv_layers.active is not None:
        flat = np.empty(2 * len(data.loops), np.float32)
        data.uv_layers.active.uv.foreach_get("vector", flat)
        uvs = flat.reshape(-1, 2) * np.array((1.0, -1.0)) + np.array((0.0, 1.0))  # v points down in OGRE
    slots = [slot.material for slot in mesh_object.material_slots] or [None]
    found = []
    for index in np.unique(np.minimum(material, len(slots) - 1)).tolist():
        loops = corners.reshape(-1, 3)[np.minimum(material, len(slots) - 1) == index].ravel()
        keys = [vertex[loops, None].astype(np.float64), np.round(own[loops], _CORNER_DIGITS)]
        keys += [] if uvs is None else [np.round(uvs[loops], _CORNER_DIGITS)]
        _, first, which = np.unique(np.concatenate(keys, axis=1), axis=0, return_index=True, return_inverse=True)
        kept = loops[first]
        joints, weights = influences.joints[vertex[kept]], influences.weights[vertex[kept]]
        rows, columns = np.nonzero(weights > 0.0)
        table = Weights(rows, joints[rows, columns], weights[rows, columns])
        found.append((slots[index], Geometry(points[vertex[kept]], own[kept], None if uvs is None else uvs[kept],
                                             table), which.reshape(-1, 3)))
    return found


def _look(material: bpy.types.Material | None) -> tuple[OgreMaterial, Path | bytes | None]:
    """Return a material's sRGB colour, or its image with its path or packed bytes."""
    if material is None:
        return OgreMaterial(_PLAIN, (0.8, 0.8, 0.8)), None
    tree = versions.shader_tree(material)
    image = next((node.image for node in cast(Any, tree).nodes if node.type == "TEX_IMAGE" and node.image), None
                 ) if tree is not None else None
    red, green, blue = (_encoded(value) for value in written_character.colour_of(material))
    if image is None:
        return OgreMaterial(material.name, (red, green, blue)), None
    path = Path(bpy.path.abspath(image.filepath, library=image.library)) if image.filepath else None
    name = path.name if path is not None else image.name if "." in image.name else f"{image.name}.png"
    look = OgreMaterial(material.name, (1.0, 1.0, 1.0), name)
    if image.packed_file is not None:
        return look, bytes(image.packed_file.data)
    return look, path if path is not None and path.is_file() else None


def _encoded(value: float) -> float:
    """Convert a linear value to sRGB."""
    return 12.92 * value if value <= 0.0031308 else float(1.055 * value ** (1.0 / 2.4) - 0.055)
