"""Make Blender objects of the skeletons, meshes and materials of files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ...core.clips.clip import Clip
from ...core.errors import TaktError
from ...core.formats.character import Character, Look, SkinnedMesh
from ...core.maths import rotations as rot
from ...core.retargeting.lost_scales import lost_scales
from ...core.retargeting.retarget import retarget
from ...core.skeletons.bone_tails import bone_tails
from ...core.skeletons.skeleton import Skeleton
from .. import versions
from ..actions import clip_actions
from ..axes import BLENDER_FROM_HANIM
from ..meshes import armature_modifiers, groups
from ..rigs import armature

_RIG = " Rig"
_LONGEST_NAME = 63
"""Longest name of a bone in Blender, in bytes."""


def make_armature(context: bpy.types.Context, name: str, skeleton: Skeleton) -> bpy.types.Object:
    """Make an armature with the joints of a file's skeleton (Y up) as bones, in Object Mode and active."""
    assert context.collection is not None and context.view_layer is not None
    data = bpy.data.armatures.new(name)
    armature_object = bpy.data.objects.new(name, data)
    context.collection.objects.link(armature_object)
    context.view_layer.objects.active = armature_object
    turned = skeleton.turned(BLENDER_FROM_HANIM)
    heads = turned.rest_world[:, :, 3]
    tails, z_axes = bone_tails(turned)
    bpy.ops.object.mode_set(mode="EDIT")
    bones: list[bpy.types.EditBone] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        bone = data.edit_bones.new(skeleton.names[joint])
        bone.head, bone.tail = heads[joint].tolist(), tails[joint].tolist()
        bone.align_roll(z_axes[joint].tolist())
        if parent >= 0:
            bone.parent = bones[parent]
        bones.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature_object


def check_names(skeleton: Skeleton) -> None:
    """Raise TaktError if Blender would truncate a bone's name."""
    for name in skeleton.names:
        if len(name.encode("utf-8")) > _LONGEST_NAME:
            raise TaktError(f"The bone '{name[:40]}…' has a name of {len(name.encode('utf-8'))} bytes; Blender's bones "
                            f"can have {_LONGEST_NAME}: rename it")


def made_of(name: str, vertices: int, bones: int, clips: int) -> str:
    """Return a summary of a character that was made from a file."""
    if clips == 1:
        return f"'{name}': {vertices:,} vertices, {bones} bones, 1 clip"
    if clips:
        return f"'{name}': {vertices:,} vertices, {bones} bones, {clips} clips"
    if bones:
        return f"'{name}': {vertices:,} vertices, {bones} bones; the file has no animation for it"
    return f"'{name}': {vertices:,} vertices; the file has no skeleton for it"


def write_clips(context: bpy.types.Context, armature_object: bpy.types.Object, clips: Sequence[Clip]) -> int:
    """Write clips of a file's skeleton as Actions of the armature made from it; return their number."""
    assert context.scene is not None
    skeleton = armature.read_skeleton(armature_object)
    fitted = [retarget(clip, skeleton, BLENDER_FROM_HANIM).clip for clip in clips]
    return len(clip_actions.write_clips(armature_object, fitted, context.scene))


def scaled_in_part(armature_object: bpy.types.Object, clips: Sequence[Clip]) -> tuple[str, ...]:
    """Return the bones that clips of a file scale along axes other than their own."""
    return lost_scales(clips, armature.read_skeleton(armature_object), BLENDER_FROM_HANIM)


def make_character(context: bpy.types.Context, character: Character, images: Mapping[Look, Path | bytes]
                   ) -> tuple[list[bpy.types.Object], int]:
    """Make an armature and its meshes, bound to it; return them, the armature last, and the number of its clips.

    images: the image of each look that has one.
    """
    armature_object = make_armature(context, f"{character.name.removesuffix(_RIG)}{_RIG}", character.skeleton)
    clips = write_clips(context, armature_object, character.clips)
    looks = dict.fromkeys(look for mesh in character.meshes for look in mesh.looks)
    known: dict[Path | bytes, bpy.types.Image] = {}
    materials = {look: make_material(look, images.get(look), known) for look in looks}
    made = []
    for mesh in character.meshes:
        made.append(make_mesh(context, mesh, [materials[look] for look in mesh.looks]))
        groups.write_influences(made[-1], character.skeleton.names, mesh.influences)
        armature_modifiers.attach(made[-1], armature_object)
    turn = np.eye(4)
    turn[:3, :3] = rot.to_matrix(BLENDER_FROM_HANIM)
    cast(Any, armature_object).matrix_world = (turn @ character.placed @ turn.T).T.tolist()
    return [*made, armature_object], clips


def make_mesh(context: bpy.types.Context, mesh: SkinnedMesh, materials: Sequence[bpy.types.Material]
              ) -> bpy.types.Object:
    """Make a mesh with the file's vertices in their order, its normals and texture coordinates."""
    assert context.collection is not None
    data = bpy.data.meshes.new(mesh.name)
    corners = mesh.triangles.ravel()
    data.vertices.add(len(mesh.positions))
    data.vertices.foreach_set("co", rot.rotate(BLENDER_FROM_HANIM, mesh.positions).astype(np.float32).ravel())
    data.loops.add(len(corners))
    data.loops.foreach_set("vertex_index", corners.astype(np.int32))
    data.polygons.add(len(mesh.triangles))
    data.polygons.foreach_set("loop_start", np.arange(0, len(corners), 3, dtype=np.int32))
    data.polygons.foreach_set("material_index", mesh.material.astype(np.int32))
    if mesh.uvs is not None:
        layer: Any = data.uv_layers.new(name="UVMap")
        layer.uv.foreach_set("vector", mesh.uvs.astype(np.float32).ravel())
    for material in materials:
        data.materials.append(material)
    data.update(calc_edges=True)
    data.validate()
    if mesh.normals is not None and len(data.loops) == len(corners):  # otherwise Blender has removed faces
        normals = rot.rotate(BLENDER_FROM_HANIM, mesh.normals.reshape(-1, 3))
        cast(Any, data).normals_split_custom_set(normals.tolist())
    mesh_object = bpy.data.objects.new(mesh.name, data)
    context.collection.objects.link(mesh_object)
    return mesh_object


def make_material(look: Look, image: Path | bytes | None, known: dict[Path | bytes, bpy.types.Image]
                  ) -> bpy.types.Material:
    """Make a material with a plain colour, or with an image from a file or from bytes.

    known: images that were made already; a new one is added.
    """
    material = bpy.data.materials.new(look.name or "Material")
    shader = versions.principled_node(material)
    colour = (*look.colour, 1.0)
    cast(Any, material).diffuse_color = colour
    cast(Any, shader.inputs["Base Color"]).default_value = colour
    if image and material.node_tree is not None:
        node = material.node_tree.nodes.new("ShaderNodeTexImage")
        if image not in known:
            known[image] = _image(material.name, image)
        cast(bpy.types.ShaderNodeTexImage, node).image = known[image]
        node.location = (-300.0, 300.0)
        material.node_tree.nodes.active = node  # the viewport shows this one in texture mode
        material.node_tree.links.new(shader.inputs["Base Color"], node.outputs["Color"])
    return material


def _image(name: str, image: Path | bytes) -> bpy.types.Image:
    """Load an image, or pack its bytes into the .blend."""
    if isinstance(image, Path):
        return bpy.data.images.load(str(image), check_existing=True)
    packed = bpy.data.images.new(name, 1, 1)
    packed.pack(data=cast(Any, image), data_len=len(image))
    packed.source = "FILE"
    return packed
