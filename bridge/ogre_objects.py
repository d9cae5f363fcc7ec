"""OGRE's skeletons, meshes and materials as Blender's objects."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ..core.formats.ogre_material import OgreMaterial
from ..core.formats.ogre_mesh import Whole
from ..core.maths import rotations as rot
from ..core.skeletons.bone_tails import bone_tails
from ..core.skeletons.skeleton import Skeleton
from . import versions
from .axes import BLENDER_FROM_HANIM


def make_armature(context: bpy.types.Context, name: str, skeleton: Skeleton) -> bpy.types.Object:
    """Make an armature with the joints of a skeleton of a file (Y up) as bones, in Object Mode and active."""
    assert context.collection is not None and context.view_layer is not None
    armature = bpy.data.armatures.new(name)
    armature_object = bpy.data.objects.new(name, armature)
    context.collection.objects.link(armature_object)
    context.view_layer.objects.active = armature_object
    turned = skeleton.turned(BLENDER_FROM_HANIM)
    heads = turned.rest_world[:, :, 3]
    tails, z_axes = bone_tails(turned)
    bpy.ops.object.mode_set(mode="EDIT")
    bones: list[bpy.types.EditBone] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        bone = armature.edit_bones.new(skeleton.names[joint])
        bone.head, bone.tail = heads[joint].tolist(), tails[joint].tolist()
        bone.align_roll(z_axes[joint].tolist())
        if parent >= 0:
            bone.parent = bones[parent]
        bones.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature_object


def make_mesh(context: bpy.types.Context, name: str, whole: Whole,
              materials: Sequence[bpy.types.Material]) -> bpy.types.Object:
    """Make a mesh with the file's vertices in their order, its normals and texture coordinates."""
    assert context.collection is not None
    mesh = bpy.data.meshes.new(name)
    corners = whole.triangles.ravel()
    mesh.vertices.add(len(whole.positions))
    mesh.vertices.foreach_set("co", rot.rotate(BLENDER_FROM_HANIM, whole.positions).astype(np.float32).ravel())
    mesh.loops.add(len(corners))
    mesh.loops.foreach_set("vertex_index", corners.astype(np.int32))
    mesh.polygons.add(len(whole.triangles))
    mesh.polygons.foreach_set("loop_start", np.arange(0, len(corners), 3, dtype=np.int32))
    mesh.polygons.foreach_set("material_index", whole.material.astype(np.int32))
    if whole.uvs is not None:
        layer: Any = mesh.uv_layers.new(name="UVMap")
        # Blender's v points up.
        layer.uv.foreach_set("vector", (whole.uvs[corners] * (1.0, -1.0) + (0.0, 1.0)).astype(np.float32).ravel())
    for material in materials:
        mesh.materials.append(material)
    mesh.update(calc_edges=True)
    mesh.validate()
    if whole.normals is not None:
        cast(Any, mesh).normals_split_custom_set_from_vertices(rot.rotate(BLENDER_FROM_HANIM, whole.normals).tolist())
    mesh_object = bpy.data.objects.new(name, mesh)
    context.collection.objects.link(mesh_object)
    return mesh_object


def make_material(name: str, look: OgreMaterial | None, texture: Path | None) -> bpy.types.Material:
    """Make a material of a plain colour, or of a texture."""
    material = bpy.data.materials.new(name)
    shader = versions.principled_node(material)
    if look is not None and look.diffuse is not None:
        colour = (*(_linear(value) for value in look.diffuse), 1.0)
        cast(Any, material).diffuse_color = colour
        cast(Any, shader.inputs["Base Color"]).default_value = colour
    if texture is not None and material.node_tree is not None:
        image = material.node_tree.nodes.new("ShaderNodeTexImage")
        cast(bpy.types.ShaderNodeTexImage, image).image = bpy.data.images.load(str(texture), check_existing=True)
        image.location = (-300.0, 300.0)
        material.node_tree.nodes.active = image  # which the viewport shows where it shows textures
        material.node_tree.links.new(shader.inputs["Base Color"], image.outputs["Color"])
    return material


def _linear(value: float) -> float:
    """Turn a value as screens show it (sRGB, which OGRE's scripts mean) into a linear one."""
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
