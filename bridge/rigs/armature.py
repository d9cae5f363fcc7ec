"""Armatures as core's skeletons and poses.

Armature space is the space of the armature object's data: Z up, in the armature's own unit, before the
object's transform. Joints come in the order of `Armature.bones`, in which parents come before children.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import bpy
import numpy as np

from ...core.maths import rotations as rot
from ...core.maths.arrays import BoolArray, FloatArray, IntArray
from ...core.skeletons.skeleton import Pose, Skeleton

_BONE_PATH = re.compile(r'^pose\.bones\["((?:\\.|(?!"\]).)*)"\]\.(\w+)$')
"""Blender's importer of FBX does not escape quotes within a bone's name."""
_SMALLEST_AXIS = 1e-12
"""A pose matrix whose axis is shorter than this has no direction; the bone then counts as not rotated."""


@dataclass(frozen=True, eq=False)
class DeformingBones:
    """The B deforming bones of an armature, at rest, in armature space.

    names: B bone names. parents: (B,) the nearest ancestor that deforms, −1 if there is none.
    heads, tails: (B, 3).
    """

    names: tuple[str, ...]
    parents: IntArray
    heads: FloatArray
    tails: FloatArray


def read_skeleton(armature_object: bpy.types.Object) -> Skeleton:
    """Return all bones with their rest pose, roots in armature space, the others in their parent's.

    Bones have no scale at rest. Pending edits of Edit Mode are not included.
    """
    bones = _armature(armature_object).bones
    names = tuple(bone.name for bone in bones)
    index_of = {name: index for index, name in enumerate(names)}
    parents = np.array([index_of[bone.parent.name] if bone.parent else -1 for bone in bones], dtype=np.int64)
    local = _local_from_world(_read_matrices(bones, "matrix_local"), parents)
    return Skeleton.from_arrays(names, parents, rot.from_matrix(local[:, :3, :3]), local[:, :3, 3],
                                name=armature_object.name)


@lru_cache(maxsize=4096)
def bone_property(data_path: str) -> tuple[str, str] | None:
    """Return the bone and the property that an F-curve or a driver moves, or None if it does not move a bone."""
    found = _BONE_PATH.match(data_path)
    return None if found is None else (re.sub(r"\\(.)", r"\1", found[1]), found[2])


def read_skin(armature_object: bpy.types.Object) -> BoolArray:
    """Return which bones deform, (J,)."""
    bones = _armature(armature_object).bones
    deforms = np.empty(len(bones), dtype=np.bool_)
    bones.foreach_get("use_deform", deforms)
    return deforms


def with_skin(armature_object: bpy.types.Object) -> set[str]:
    """Return the bones that move skin: those that deform, and their ancestors."""
    return {each.name for bone in _armature(armature_object).bones if bone.use_deform
            for each in (bone, *bone.parent_recursive)}


def read_rest_world(armature_object: bpy.types.Object) -> FloatArray:
    """Return the matrices armature_from_bone (J, 3, 4) at rest, with Blender's rounding."""
    return np.ascontiguousarray(_read_matrices(_armature(armature_object).bones, "matrix_local")[:, :3])


def read_pose_world(armature_object: bpy.types.Object) -> FloatArray:
    """Return the matrices armature_from_bone (J, 3, 4) of the current pose, including constraints and drivers.

    Reads Blender's last evaluation (`context.view_layer.update()` updates it).
    """
    bones = _armature(armature_object).bones
    pose = armature_object.pose
    if pose is None or len(pose.bones) != len(bones):  # Blender has not evaluated the armature yet
        return read_rest_world(armature_object)
    world = _read_matrices(pose.bones, "matrix")
    index_of = {bone.name: index for index, bone in enumerate(pose.bones)}  # find() is a linear search
    order = [index_of[bone.name] for bone in bones]
    return np.ascontiguousarray(world[order][:, :3])


def read_pose(armature_object: bpy.types.Object, skeleton: Skeleton) -> Pose:
    """Return the current pose relative to rest, as (J, …), including constraints and drivers.

    skeleton: of this armature, from `read_skeleton`.
    It is computed from the posed matrices as if every bone inherited its parent's whole transform, so that
    core's `world_from_pose` returns these matrices. Shear, from unevenly scaled parents, is left out.
    """
    world = np.zeros((len(skeleton), 4, 4))
    world[:, :3] = read_pose_world(armature_object)
    world[:, 3, 3] = 1.0
    local = _local_from_world(world, skeleton.parents)
    scales = np.linalg.norm(local[:, :3, :3], axis=1)
    directions = local[:, :3, :3] / np.maximum(scales, _SMALLEST_AXIS)[:, None, :]
    mirrored = np.linalg.det(directions) < 0.0
    scales[mirrored] *= -1.0
    directions[mirrored] *= -1.0
    flat = (np.abs(scales) < _SMALLEST_AXIS).any(axis=1)
    rest = rot.to_matrix(skeleton.rest_rotations)
    directions[flat] = rest[flat]
    rotations = rot.from_matrix(np.swapaxes(rest, 1, 2) @ directions)
    return Pose(rotations, local[:, :3, 3] - skeleton.rest_translations, scales)


def read_deforming_bones(armature_object: bpy.types.Object, left_out: Collection[str] = ()) -> DeformingBones:
    """Return the bones that deform, at rest, without those whose names are left out."""
    bones = [bone for bone in _armature(armature_object).bones if bone.use_deform and bone.name not in left_out]
    index_of = {bone.name: index for index, bone in enumerate(bones)}
    parents = [next((index_of[p.name] for p in bone.parent_recursive if p.name in index_of), -1) for bone in bones]
    heads = np.array([bone.head_local for bone in bones], dtype=np.float64).reshape(-1, 3)
    tails = np.array([bone.tail_local for bone in bones], dtype=np.float64).reshape(-1, 3)
    return DeformingBones(tuple(index_of), np.array(parents, dtype=np.int64), heads, tails)


def _armature(armature_object: bpy.types.Object) -> bpy.types.Armature:
    return cast(bpy.types.Armature, armature_object.data)


def _read_matrices(bones: "bpy.types.bpy_prop_collection[bpy.types.Bone] | "
                          "bpy.types.bpy_prop_collection[bpy.types.PoseBone]", name: str) -> FloatArray:
    """Return a 4×4 matrix property of all bones, (J, 4, 4); foreach_get returns matrices column by column."""
    flat = np.empty(len(bones) * 16, dtype=np.float32)
    bones.foreach_get(name, flat)
    return flat.reshape(-1, 4, 4).swapaxes(1, 2).astype(np.float64)


def _local_from_world(world: FloatArray, parents: IntArray) -> FloatArray:
    """Return parent_from_joint (J, 4, 4); a root's parent is the space itself. A flattened parent counts as rest."""
    children = np.flatnonzero(parents >= 0)
    local = world.copy()
    local[children] = np.linalg.pinv(world[parents[children]]) @ world[children]
    return local
