"""The skin of an armature, as a few points of the meshes that are bound to it; read again when a mesh has changed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, TypeVar, cast

import bpy
import numpy as np

from ..core.maths.arrays import Float32Array, FloatArray, IntArray
from ..core.retargeting.skin_points import SkinPoints
from ..core.skeletons.skeleton import Skeleton
from ..core.skeletons.skin_sample import SkinSample
from . import armature, changes, groups
from .mesh import armature_from_object, transformed

_INFLUENCES: Final = 4
_MOST_BYTES: Final = 1 << 28
"""Of all points that are kept: thousands of characters. A fixed number of them fails where a scene has one more: each
look then throws out what the next one asks for."""
Array = TypeVar("Array", FloatArray, IntArray)
_points: OrderedDict[Hashable, SkinPoints | None] = OrderedDict()
"""What was read, by all that it depends on; of edited weights only the number that `changes` keeps, while it hears."""


def read_points(armature_object: bpy.types.Object) -> SkinPoints | None:
    """Return points of all meshes that the armature deforms, in armature space at rest; None where there are none.

    The joints are the armature's bones, in their order. Shape keys and modifiers are not seen.
    """
    meshes = _bound_meshes(armature_object)
    key = _key(armature_object, meshes)
    if key not in _points:
        _points[key] = _read(armature_object, meshes)
        while len(_points) > 1 and sum(map(_size, _points.values())) > _MOST_BYTES:
            _points.popitem(last=False)
    _points.move_to_end(key)
    return _points[key]


def _size(points: SkinPoints | None) -> int:
    return 0 if points is None else points.size


def skinned_bones(armature_object: bpy.types.Object) -> set[str]:
    """Return the names of the bones that move points of the skin; without any skin those of all that deform."""
    bones, points = cast(bpy.types.Armature, armature_object.data).bones, read_points(armature_object)
    if points is None:
        return {bone.name for bone in bones if bone.use_deform}
    return {bones[joint].name for joint in np.unique(points.joints[points.weights > 0.0]).tolist()}


def checksum(armature_object: bpy.types.Object) -> int:
    """Return a number that is the same for equal points of the skin, also when the file is opened again; 0: none."""
    points = read_points(armature_object)
    return 0 if points is None else points.checksum


def forget() -> None:
    """Read all meshes anew when they are asked for next."""
    _points.clear()


def _bound_meshes(armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    if not armature_object.matrix_world.determinant():
        return []  # scaled to nothing, it shows no shape
    return [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.mode != "EDIT" and any(
        isinstance(modifier, bpy.types.ArmatureModifier) and modifier.object == armature_object
        and modifier.use_vertex_groups for modifier in ob.modifiers)]


def _key(armature_object: bpy.types.Object, meshes: list[bpy.types.Object]) -> Hashable:
    data = [cast(bpy.types.Mesh, mesh.data) for mesh in meshes]
    bones = cast(bpy.types.Armature, armature_object.data).bones
    return (tuple((bone.name, bone.use_deform) for bone in bones), changes.of_data(mesh.session_uid for mesh in data),
            *((mesh.session_uid, hash(_coordinates(mesh).tobytes()), tuple(group.name for group in mesh.vertex_groups),
               armature_from_object(mesh, armature_object).round(6).tobytes()) for mesh in meshes))


def _coordinates(mesh_object: bpy.types.Object) -> Float32Array:
    mesh = cast(bpy.types.Mesh, mesh_object.data)
    coordinates = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", coordinates)
    return coordinates


def _vertices(mesh_object: bpy.types.Object) -> FloatArray:
    return _coordinates(mesh_object).reshape(-1, 3).astype(np.float64)


def read_sample(armature_object: bpy.types.Object, skeleton: Skeleton) -> SkinSample | None:
    """Return vertices of the meshes that an armature deforms, as its clips keep them; None where there are none.

    skeleton: of the clips: the armature's bones, perhaps below further joints. Nothing is kept for the next time.
    """
    points = _read(armature_object, _bound_meshes(armature_object))
    if points is None:
        return None
    own = armature.read_skeleton(armature_object)
    sample = points.sample(own)
    return SkinSample(np.array([skeleton.index_of[name] for name in own.names])[sample.joints], sample.offsets)


def _read(armature_object: bpy.types.Object, meshes: list[bpy.types.Object]) -> SkinPoints | None:
    names = [bone.name if bone.use_deform else "" for bone in cast(bpy.types.Armature, armature_object.data).bones]
    parts = []
    for mesh in meshes:
        influences = groups.read_influences(mesh, names, _INFLUENCES)
        positions = transformed(armature_from_object(mesh, armature_object), _vertices(mesh))
        parts.append((positions, _padded(influences.joints), _padded(influences.weights)))
    if not parts:
        return None
    positions, joints, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    found = SkinPoints.of(positions, joints, weights)
    return found if len(found.positions) else None


def _padded(values: Array) -> Array:
    return np.pad(values, ((0, 0), (0, _INFLUENCES - values.shape[1])))
