"""What binding reads from a scene, and what ties a bound mesh to its armature."""

from collections.abc import Collection, Sequence

import bpy
import numpy as np
from mathutils import Matrix

from ..core.binding import BindInput
from . import armature, mesh

_SMOOTHERS = frozenset({"SUBSURF", "MULTIRES"})


def read_bind_input(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object,
                    left_out: Collection[str] = ()) -> BindInput:
    """Return meshes, as they stand in the scene, and deforming bones at rest, all in armature space.

    left_out: names of bones that take no part.
    """
    bones = armature.read_deforming_bones(armature_object, left_out)
    meshes = [mesh.read_mesh(mesh_object) for mesh_object in mesh_objects]
    vertices = [mesh.transformed(mesh.armature_from_object(mesh_object, armature_object), arrays.vertices)
                for mesh_object, arrays in zip(mesh_objects, meshes, strict=True)]
    counts = [len(points) for points in vertices]
    first = np.cumsum([0, *counts])
    return BindInput(
        vertices=np.concatenate(vertices),
        face_vertices=np.concatenate([m.face_vertices + start for m, start in zip(meshes, first, strict=False)]),
        face_sizes=np.concatenate([m.face_sizes for m in meshes]),
        part=np.repeat(np.arange(len(meshes)), counts),
        bone_names=bones.names, bone_parents=bones.parents, heads=bones.heads, tails=bones.tails)


def attach(mesh_object: bpy.types.Object, armature_object: bpy.types.Object) -> None:
    """Parent the mesh to the armature without moving it, and let one Armature modifier deform it."""
    _parent(mesh_object, armature_object)
    modifier = next((m for m in mesh_object.modifiers if isinstance(m, bpy.types.ArmatureModifier)
                     and m.object in (armature_object, None)), None)
    if modifier is None:
        modifier = _add_modifier(mesh_object)
    modifier.object = armature_object
    modifier.use_vertex_groups = True


def _parent(mesh_object: bpy.types.Object, armature_object: bpy.types.Object) -> None:
    """Make the armature the parent as Blender does: location, rotation and scale stay, the inverse takes it up.

    world = parent · inverse · basis must stay as it is, shear included.
    """
    if mesh_object.parent == armature_object and mesh_object.parent_type in {"OBJECT", "ARMATURE"}:
        return
    parent_from_world = armature_object.matrix_world.inverted()
    world_from_parented = Matrix() if mesh_object.parent is None else (
        mesh_object.matrix_world @ mesh_object.matrix_basis.inverted_safe())
    mesh_object.parent = armature_object
    mesh_object.parent_type = "OBJECT"
    mesh_object.matrix_parent_inverse = parent_from_world @ world_from_parented


def _add_modifier(mesh_object: bpy.types.Object) -> bpy.types.ArmatureModifier:
    """Add an Armature modifier last, but ahead of subdivision, which is to smooth the bent mesh."""
    modifier = mesh_object.modifiers.new("Armature", "ARMATURE")
    assert isinstance(modifier, bpy.types.ArmatureModifier)
    last = len(mesh_object.modifiers) - 1
    place = next((i for i, m in enumerate(mesh_object.modifiers) if m.type in _SMOOTHERS), last)
    mesh_object.modifiers.move(last, place)
    return modifier
