"""Vertex groups as core's influences, both ways.

Blender has no bulk access to vertex groups. The fastest way, which also keeps shape keys and all other data:
`foreach_get` and `foreach_set` of each vertex's own few weights, driven by `map` instead of a Python loop
(100,000 vertices of 4 weights: reading 0.15 s, writing 0.2 s; through BMesh 0.27 s and 0.28 s).
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter
from typing import Any, cast

import bpy
import numpy as np

from ...core.maths.arrays import BoolArray, FloatArray, IntArray
from ...core.skinning.influences import Influences


@dataclass(frozen=True, eq=False)
class _Memberships:
    """All memberships of a mesh's vertices in groups, vertex by vertex, in Blender's order.

    counts: (V,) groups of each vertex. groups, weights: (sum of counts,).
    """

    counts: IntArray
    groups: IntArray
    weights: FloatArray

    @property
    def vertices(self) -> IntArray:
        """The vertex of each membership."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


def read_influences(mesh_object: bpy.types.Object, bone_names: Sequence[str], limit: int = 0) -> Influences:
    """Return the influences on the vertices: the weights in the groups of bones, normalised as in Blender.

    bone_names: the group of each joint; an empty name marks a joint that does not deform.
    limit: number of strongest influences to keep for each vertex; 0 keeps all.
    Weights of 0 are ignored; a vertex in none of the groups gets a row of zeros.
    """
    table = _read_memberships(mesh_object)
    joint_of_group = _joints_of_groups(mesh_object, bone_names)
    # Memberships may point past the last group if another user of the mesh data has more groups.
    joints = np.append(joint_of_group, -1)[np.minimum(table.groups, len(joint_of_group))]
    used = (joints >= 0) & (table.weights > 0.0)
    return _padded(table.vertices[used], joints[used], table.weights[used], len(table.counts), limit)


def read_share_left(mesh_object: bpy.types.Object, names: Sequence[str]) -> FloatArray:
    """Return for each vertex, (V,), the weight that the groups of these names leave to others, 0 to 1."""
    vertices = len(cast(bpy.types.Mesh, mesh_object.data).vertices)
    if not any(name in mesh_object.vertex_groups for name in names):
        return np.ones(vertices)
    table = _read_memberships(mesh_object)
    is_named = np.append(_joints_of_groups(mesh_object, names) >= 0, False)
    weights = np.where(is_named[np.minimum(table.groups, len(is_named) - 1)], table.weights, 0.0)
    return np.clip(1.0 - np.bincount(table.vertices, weights, minlength=vertices), 0.0, 1.0)


def read_selection(mesh_object: bpy.types.Object) -> BoolArray:
    """Return which vertices, (V,), are selected, in Edit Mode or by Weight Paint's masking."""
    vertices = cast(bpy.types.Mesh, mesh_object.data).vertices
    selected = np.empty(len(vertices), dtype=np.bool_)
    vertices.foreach_get("select", selected)
    return selected


def write_selection(mesh_object: bpy.types.Object, selected: BoolArray) -> None:
    """Select only these vertices, (V,), without edges and faces, as in Edit Mode's vertex select mode."""
    mesh = cast(bpy.types.Mesh, mesh_object.data)
    for elements in (mesh.edges, mesh.polygons):
        elements.foreach_set("select", np.zeros(len(elements), dtype=np.bool_))
    mesh.vertices.foreach_set("select", np.ascontiguousarray(selected))
    mesh.update()


def vertex_count(mesh_object: bpy.types.Object) -> int:
    """Return the number of vertices of the object's mesh."""
    return len(cast(bpy.types.Mesh, mesh_object.data).vertices)


def is_locked(mesh_object: bpy.types.Object, name: str) -> bool:
    """Return whether the object has a group of that name whose weights are locked."""
    group = mesh_object.vertex_groups.get(name)
    return group is not None and group.lock_weight


def write_influences(mesh_object: bpy.types.Object, bone_names: Sequence[str], influences: Influences,
                     share: FloatArray | None = None, where: BoolArray | None = None) -> None:
    """Create or replace the groups of the bones; all other groups keep their weights exactly.

    The object must be in Object Mode and own its mesh. Existing groups keep their index.
    bone_names: the group of each joint of the influences.
    share: (V,) sum of each vertex's weights, if locked groups take the rest; None: 1.
    where: (V,) the vertices to write; None: all. The others keep all their weights.
    """
    vertices = len(influences.joints)
    chosen = np.arange(vertices) if where is None else np.flatnonzero(where)
    before = _read_memberships(mesh_object)
    groups = [mesh_object.vertex_groups.get(name) or mesh_object.vertex_groups.new(name=name) for name in bone_names]
    others = _clear(mesh_object, before, groups, chosen)
    owner, joint, weights = _by_vertex(influences, chosen)
    if share is not None:
        weights = weights * share[owner]
    order = np.argsort(joint.astype(np.uint16), kind="stable")  # 16 bits sort in linear time
    starts = np.searchsorted(joint[order], np.arange(len(groups) + 1))
    members = owner[order].tolist()
    for index, group in enumerate(groups):
        group.add(members[starts[index]:starts[index + 1]], 1.0, "REPLACE")
    # Now every vertex lists its other groups first, then the new ones in the order of the joints.
    _set_weights(mesh_object, chosen, others, owner, weights)
    cast(bpy.types.Mesh, mesh_object.data).update_tag()


def _clear(mesh_object: bpy.types.Object, before: _Memberships, groups: Sequence[bpy.types.VertexGroup],
           chosen: IntArray) -> _Memberships:
    """Remove the chosen vertices from the groups; return the remaining memberships."""
    is_chosen = np.zeros(len(before.counts), dtype=np.bool_)
    is_chosen[chosen] = True
    owner = before.vertices
    is_removed = np.isin(before.groups, [group.index for group in groups]) & is_chosen[owner]
    for group in groups:
        members = owner[is_removed & (before.groups == group.index)]
        if len(members):
            group.remove(members.tolist())
    if is_removed.all():
        return _Memberships(np.zeros_like(before.counts), before.groups[:0], before.weights[:0])
    return _read_memberships(mesh_object) if is_removed.any() else before  # removing reorders the rest


def _set_weights(mesh_object: bpy.types.Object, chosen: IntArray, others: _Memberships, owner: IntArray,
                 weights: FloatArray) -> None:
    """Set all weights of the chosen vertices: those of their other groups, then the new ones, (N,) with owners."""
    every_owner = np.concatenate((others.vertices, owner))
    order = np.argsort(every_owner, kind="stable")
    flat = np.concatenate((others.weights, weights))[order].astype(np.float32)
    counts = np.bincount(every_owner, minlength=len(others.counts))
    starts = np.cumsum(counts) - counts
    lists = list(map(attrgetter("groups"), cast(bpy.types.Mesh, mesh_object.data).vertices))
    for count in np.unique(counts[chosen]):
        if count:
            alike = chosen[counts[chosen] == count]
            if count == 1:
                alike = alike[flat[starts[alike]] != 1.0]  # a weight of 1 was set when it was added
            rows = flat[starts[alike, None] + np.arange(count)]
            _for_each(bpy.types.bpy_prop_collection.foreach_set, map(lists.__getitem__, alike.tolist()), "weight", rows)


def _read_memberships(mesh_object: bpy.types.Object) -> _Memberships:
    vertices = cast(bpy.types.Mesh, mesh_object.data).vertices
    if not mesh_object.vertex_groups:
        return _Memberships(np.zeros(len(vertices), np.int64), np.zeros(0, np.int64), np.zeros(0))
    lists = list(map(attrgetter("groups"), vertices))
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    starts = np.cumsum(counts) - counts
    groups = np.empty(int(counts.sum()), dtype=np.int64)
    weights = np.empty(len(groups))
    for count in np.unique(counts):
        if count:
            alike = np.flatnonzero(counts == count)
            picked = [lists[i] for i in alike.tolist()]
            indices = starts[alike, None] + np.arange(count)
            for values, name, dtype in ((groups, "group", np.int32), (weights, "weight", np.float32)):
                rows = np.empty((len(alike), count), dtype=dtype)
                _for_each(bpy.types.bpy_prop_collection.foreach_get, picked, name, rows)
                values[indices] = rows
    return _Memberships(counts, groups, weights)


def _for_each(access: Any, lists: Iterable[Any], name: str, rows: "np.ndarray[Any, Any]") -> None:
    """Call foreach_get or foreach_set of each list with its row; `map` is three times as fast as a loop."""
    deque(map(access, lists, repeat(name), rows), maxlen=0)


def _joints_of_groups(mesh_object: bpy.types.Object, bone_names: Sequence[str]) -> IntArray:
    joint_of = {name: joint for joint, name in enumerate(bone_names) if name}
    return np.array([joint_of.get(group.name, -1) for group in mesh_object.vertex_groups], dtype=np.int64)


def _by_vertex(influences: Influences, chosen: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return vertex, joint and weight (N,) of all influences of the chosen vertices, joints ascending in each."""
    joints, weights = np.take(influences.joints, chosen, axis=0), np.take(influences.weights, chosen, axis=0)
    order = np.argsort(joints, axis=1, kind="stable")
    joints, weights = np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1)
    used = weights > 0.0
    return np.repeat(chosen, used.sum(axis=1)), joints[used], weights[used]


def _padded(owner: IntArray, joints: IntArray, weights: FloatArray, vertices: int, limit: int) -> Influences:
    """Pack memberships, vertex after vertex, into rows: the strongest first, equal ones in the order of the joints."""
    counts = np.bincount(owner, minlength=vertices)
    rank = np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]
    width = max(1, int(counts.max(initial=0)))
    packed_joints = np.zeros((vertices, width), dtype=np.int64)
    packed_weights = np.zeros((vertices, width))
    packed_joints[owner, rank] = joints
    packed_weights[owner, rank] = weights
    by_joint = np.argsort(packed_joints, axis=1, kind="stable")
    by_strength = np.argsort(-np.take_along_axis(packed_weights, by_joint, axis=1), axis=1, kind="stable")
    order = np.take_along_axis(by_joint, by_strength, axis=1)
    packed_joints = np.take_along_axis(packed_joints, order, axis=1)
    packed_weights = np.take_along_axis(packed_weights, order, axis=1)
    if limit:
        packed_joints, packed_weights = packed_joints[:, :limit], packed_weights[:, :limit]
    total = packed_weights.sum(axis=1, keepdims=True)
    return Influences(packed_joints, np.divide(packed_weights, total, out=np.zeros_like(packed_weights),
                                               where=total > 0.0))
