"""The skin of an armature, as a few points of its bound meshes; read again when a mesh has changed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final, TypeVar, cast

import bpy
import numpy as np

from ...core.maths.arrays import FloatArray, IntArray
from ...core.retargeting.skin_points import SkinPoints
from ...core.skeletons.skeleton import Skeleton
from ...core.skeletons.skin_sample import SkinSample
from .. import changes
from ..rigs import armature
from . import groups
from .mesh import armature_from_object, transformed

_INFLUENCES: Final = 4
_MOST_BYTES: Final = 1 << 28
"""Greatest size of all cached points: enough for thousands of characters. A fixed number would fail in a scene with one
character more: each check would then discard what the next one needs.
"""
_QUICK_VERTICES: Final = 50_000
"""Number of vertices that are read in a third of a second."""
Array = TypeVar("Array", FloatArray, IntArray)
_points: OrderedDict[Hashable, SkinPoints | None] = OrderedDict()
"""Points by all that they depend on; for meshes and their weights, that is the number of `changes`."""
_last: dict[int, tuple[Hashable, int]] = {}
"""The key of an armature's points, and their checksum, by the session_uid of its object."""
_bound: tuple[Hashable, dict[int, list[bpy.types.Object]]] = (None, {})
"""The meshes that armatures deform, by the session_uid of the armatures, and the numbers of `changes` for which they
are valid."""


def read_points(armature_object: bpy.types.Object) -> SkinPoints | None:
    """Return points of all meshes that the armature deforms, in armature space at rest, or None if there are none.

    The joints are the armature's bones, in their order. Shape keys and modifiers are ignored. While a mesh is being
    sculpted, painted or edited, its earlier points are returned.
    """
    meshes, uid = _bound_meshes(armature_object), armature_object.session_uid
    key = _last[uid][0] if uid in _last and _are_worked_on(meshes) else None
    if key not in _points:
        meshes = [mesh for mesh in meshes if mesh.mode != "EDIT"]
        key = _key(armature_object, meshes)
    if key not in _points:
        _points[key] = _read(armature_object, meshes)
        while len(_points) > 1 and sum(map(_size, _points.values())) > _MOST_BYTES:
            _points.popitem(last=False)
    found = _points[key]
    _last[uid] = key, 0 if found is None else found.checksum
    _points.move_to_end(key)
    return found


def _are_worked_on(meshes: list[bpy.types.Object]) -> bool:
    return any(mesh.mode != "OBJECT" for mesh in meshes)


def _size(points: SkinPoints | None) -> int:
    return 0 if points is None else points.size


def skinned_bones(armature_object: bpy.types.Object) -> set[str]:
    """Return the names of the bones that move points of the skin; without a skin, those of all deforming bones."""
    bones, points = cast(bpy.types.Armature, armature_object.data).bones, read_points(armature_object)
    if points is None:
        return {bone.name for bone in bones if bone.use_deform}
    return {bones[joint].name for joint in np.unique(points.joints[points.weights > 0.0]).tolist()}


def checksum(armature_object: bpy.types.Object) -> int:
    """Return a checksum of the points of the skin, which stays the same when the file is opened again; 0: none."""
    points = read_points(armature_object)
    return 0 if points is None else points.checksum


def known_checksum(armature_object: bpy.types.Object) -> int | None:
    """Return `checksum` without reading meshes, for timers: None if they were never read.

    For large meshes that were edited since, the earlier value is returned.
    """
    if (last := _last.get(armature_object.session_uid)) is None:
        return None
    meshes = _bound_meshes(armature_object)
    vertices = sum(len(cast(bpy.types.Mesh, mesh.data).vertices) for mesh in meshes)
    if _are_worked_on(meshes) or vertices > _QUICK_VERTICES or _key(armature_object, meshes) == last[0]:
        return last[1]
    return checksum(armature_object)


def forget() -> None:
    """Clear the cache, so that all meshes are read again."""
    global _bound
    _points.clear()
    _last.clear()
    _bound = None, {}


def _bound_meshes(armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    global _bound
    if not armature_object.matrix_world.determinant():
        return []  # an object with a scale of 0 has no points
    now = changes.of_scenes(), changes.of_scores(), len(bpy.data.objects)
    if _bound[0] != now or not all(map(_is_there, _bound[1].get(armature_object.session_uid, ()))):
        _bound = now, _meshes_by_armature()
    return _bound[1].get(armature_object.session_uid, [])


def _meshes_by_armature() -> dict[int, list[bpy.types.Object]]:
    found: dict[int, list[bpy.types.Object]] = {}
    for ob in bpy.data.objects:
        if ob.type == "MESH":
            armatures = {modifier.object.session_uid for modifier in ob.modifiers
                         if isinstance(modifier, bpy.types.ArmatureModifier) and modifier.use_vertex_groups
                         and modifier.object is not None}
            for uid in armatures:
                found.setdefault(uid, []).append(ob)
    return found


def _is_there(ob: bpy.types.Object) -> bool:
    """Return whether an object still exists."""
    try:
        return bool(ob.session_uid)
    except ReferenceError:
        return False


def _key(armature_object: bpy.types.Object, meshes: list[bpy.types.Object]) -> Hashable:
    data = [cast(bpy.types.Mesh, mesh.data) for mesh in meshes]
    bones = cast(bpy.types.Armature, armature_object.data).bones
    is_deforming = np.empty(len(bones), dtype=np.bool_)
    bones.foreach_get("use_deform", is_deforming)
    return (tuple(bones.keys()), is_deforming.tobytes(),
            *((own.session_uid, changes.of_data((own.session_uid,)), len(own.vertices),
               tuple(mesh.vertex_groups.keys()), armature_from_object(mesh, armature_object).round(6).tobytes())
              for mesh, own in zip(meshes, data, strict=True)))


def _vertices(mesh_object: bpy.types.Object) -> FloatArray:
    mesh = cast(bpy.types.Mesh, mesh_object.data)
    coordinates = np.empty(len(mesh.vertices) * 3, dtype=np.float32)
    mesh.vertices.foreach_get("co", coordinates)
    return coordinates.reshape(-1, 3).astype(np.float64)


def read_sample(armature_object: bpy.types.Object, skeleton: Skeleton) -> SkinSample | None:
    """Return vertices of the meshes that an armature deforms, as clips store them, or None if there are none.

    skeleton: of the clips: the armature's bones, perhaps below further joints. Nothing is cached.
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
