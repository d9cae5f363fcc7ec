"""Read a scene for binding, and write the result.

`read_task` and `write` access Blender's data in its main thread; `solve`, between them, uses only arrays.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import cast

import bpy
import numpy as np

from ...core.binding import BINDING_METHODS, Binding, BindInput, BindSettings, Progress
from ...core.binding.report import BindReport, find_unusual
from ...core.errors import BindError
from ...core.maths.arrays import BoolArray, FloatArray, IntArray
from ...core.skinning.influences import Influences
from ..rigs import armature
from ..versions import is_selected
from . import bend, groups, idle_bones, mesh
from .armature_modifiers import attach
from .bind_selection import SKELETON_CHANGED


@dataclass(frozen=True)
class BindScope:
    """Which weights a binding may change. All others stay exactly as they are.

    Groups that stay, because they are locked or their bones are not selected, keep their share of a vertex;
    the others share the rest.
    """

    only_selected_vertices: bool = False
    only_selected_bones: bool = False
    keep_locked_groups: bool = True
    keep_existing: bool = False
    """Whether vertices that have weights of the armature's bones keep them."""


@dataclass(frozen=True, eq=False)
class MeshTask:
    """The task for one mesh of N vertices.

    body: index of the body with which it is bound. share: (N,) sum of its new weights. chosen: (N,) the vertices to be
    written.
    """

    uid: int
    body: int
    share: FloatArray
    chosen: BoolArray


@dataclass(frozen=True, eq=False)
class BindTask:
    """The input of a binding from the scene. There is one body for each different set of free bones."""

    bodies: tuple[BindInput, ...]
    meshes: tuple[MeshTask, ...]


@dataclass(frozen=True, eq=False)
class Bound:
    """The influences of all vertices of one mesh, on joints of these names."""

    bone_names: tuple[str, ...]
    influences: Influences


@dataclass(frozen=True, eq=False)
class BindResult:
    """The result of a binding: for each mesh, and a report of anything unusual."""

    bound: tuple[Bound, ...]
    report: BindReport


def read_task(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object,
              scope: BindScope) -> BindTask:
    """Read the meshes to bind; raise BindError if nothing can be bound."""
    names = armature.read_deforming_bones(armature_object).names
    unselected = _unselected_bones(armature_object, names) if scope.only_selected_bones else frozenset()
    kept_of = [unselected | (_locked(mesh_object, names) if scope.keep_locked_groups else frozenset())
               for mesh_object in mesh_objects]
    sets = list(dict.fromkeys(kept_of))
    tasks = []
    for mesh_object, kept in zip(mesh_objects, kept_of, strict=True):
        if len(kept) == len(names):
            raise BindError(f"No group of '{mesh_object.name}' is free: those of the selected bones are locked; unlock "
                            "some of them, or select other bones" if unselected else
                            f"All groups of '{mesh_object.name}' are locked; unlock those to be made anew")
        share = groups.read_share_left(mesh_object, sorted(kept))
        chosen = groups.read_selection(mesh_object) if scope.only_selected_vertices else np.ones(len(share), np.bool_)
        if scope.keep_existing:
            chosen = chosen & (groups.read_share_left(mesh_object, names) == 1.0)
        tasks.append(MeshTask(mesh_object.session_uid, sets.index(kept), share, chosen))
    _check_scope(tasks, scope)
    return BindTask(tuple(read_bind_input(mesh_objects, armature_object, kept) for kept in sets), tuple(tasks))


def _unselected_bones(armature_object: bpy.types.Object, names: Sequence[str]) -> frozenset[str]:
    assert armature_object.pose is not None
    unselected = frozenset(name for name in names if not is_selected(armature_object.pose.bones[name]))
    if len(unselected) == len(names):
        raise BindError(f"No deforming bone of '{armature_object.name}' is selected; select some in Pose Mode, "
                        "or switch Only Selected Bones off")
    return unselected


def _locked(mesh_object: bpy.types.Object, names: Sequence[str]) -> frozenset[str]:
    return frozenset(name for name in names if groups.is_locked(mesh_object, name))


def _check_scope(tasks: Sequence[MeshTask], scope: BindScope) -> None:
    """Raise BindError if there is nothing to be written."""
    if scope.keep_existing and not any(task.chosen.any() for task in tasks):
        raise BindError("All of these vertices have weights, which Keep Existing keeps; switch it off to bind anew")
    if not any(task.chosen.any() for task in tasks):
        raise BindError("No vertex is selected; select some in Edit Mode, or switch Only Selected Vertices off")
    if not any((task.share[task.chosen] > 0.0).any() for task in tasks):
        raise BindError("The groups that stay hold the whole weight of every vertex, and leave nothing to the others; "
                        "bind more bones, or unlock more groups")


def solve(task: BindTask, method: str, settings: BindSettings, progress: Progress | None = None) -> BindResult:
    """Find the weights of all meshes, which form one body; does not touch Blender's data.

    `progress` is called with the share of work done; if it returns False, BindCancelledError is raised.
    """
    found: list[Binding] = []
    for number, body in enumerate(task.bodies):
        def part_done(share: float, before: int = number) -> bool:
            return progress is None or progress((before + share) / len(task.bodies))

        found.append(BINDING_METHODS[method].bind(body, settings, part_done))
    bound = []
    first = 0
    for mesh_task in task.meshes:
        influences, own = found[mesh_task.body].influences, slice(first, first + len(mesh_task.share))
        bound.append(Bound(task.bodies[mesh_task.body].bone_names,
                           Influences(influences.joints[own], influences.weights[own])))
        first = own.stop
    return BindResult(tuple(bound), find_unusual(task.bodies[0], found[0].influences, found[0].roles))


def still_there(task: BindTask, armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the meshes that were read; raise BindError if they or the bones have changed or were deleted since."""
    if any(_other_bones(body, armature_object) for body in task.bodies):
        raise BindError(SKELETON_CHANGED)
    objects = {ob.session_uid: ob for ob in bpy.data.objects}
    meshes = [objects.get(mesh_task.uid) for mesh_task in task.meshes]
    for ob, mesh_task in zip(meshes, task.meshes, strict=True):
        if ob is None or len(cast(bpy.types.Mesh, ob.data).vertices) != len(mesh_task.share):
            raise BindError("The meshes were changed while they were being bound; bind them again")
    return [ob for ob in meshes if ob is not None]


def _other_bones(body: BindInput, armature_object: bpy.types.Object) -> bool:
    """Return whether any of the bones that were read has another name or place now; new bones are ignored."""
    names = armature.read_deforming_bones(armature_object).names
    now = armature.read_deforming_bones(armature_object, set(names) - set(body.bone_names))
    return now.names != body.bone_names or not (
        np.array_equal(now.heads, body.heads) and np.array_equal(now.tails, body.tails))


def write(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object, task: BindTask,
          result: BindResult, earlier: Sequence[Collection[bpy.types.Object]]) -> int:
    """Write the weights into vertex groups and let the armature move the meshes.

    earlier: for each mesh the armatures that no longer move it. Returns the number of their removed groups.
    """
    bend.forget_report(armature_object)
    idle_bones.keep(armature_object, result.report.idle)
    removed = 0
    for mesh_object, mesh_task, bound, left in zip(mesh_objects, task.meshes, result.bound, earlier, strict=True):
        if mesh_task.chosen.any():
            groups.write_influences(mesh_object, bound.bone_names, bound.influences, mesh_task.share,
                                    None if mesh_task.chosen.all() else mesh_task.chosen)
        removed += attach(mesh_object, armature_object, left)
    return removed


def read_bind_input(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object,
                    left_out: Collection[str] = ()) -> BindInput:
    """Return meshes, as they are in the scene, and deforming bones at rest, all in armature space.

    The vertices of all meshes are followed by those of their mirror images, which complete half bodies.
    left_out: names of bones that are ignored. Raises BindError if a coordinate is not finite.
    """
    bones = armature.read_deforming_bones(armature_object, left_out)
    body, part = read_body(mesh_objects, [mesh.armature_from_object(ob, armature_object) for ob in mesh_objects])
    return BindInput(body.vertices, body.face_vertices, body.face_sizes, part, bones.names, bones.parents, bones.heads,
                     bones.tails, chosen=_chosen(armature_object, bones.names))


def read_body(mesh_objects: Sequence[bpy.types.Object], space_from_object: Sequence[FloatArray],
              read: Callable[[bpy.types.Object], mesh.MeshArrays] = mesh.read_mesh
              ) -> tuple[mesh.MeshArrays, IntArray]:
    """Return meshes as one, in a space given by a matrix (4, 4) for each object, and each vertex's mesh (V,).

    read: reads a mesh without changing the number of vertices. The vertices of all meshes are followed by those of
    their mirror images. Raises BindError if a coordinate is not finite.
    """
    meshes = [read(mesh_object) for mesh_object in mesh_objects]
    for mesh_object, arrays in zip(mesh_objects, meshes, strict=True):
        _check_finite(mesh_object, arrays.vertices)
    images = [mesh.mirror_images(mesh_object, own) for mesh_object, own in zip(mesh_objects, meshes, strict=True)]
    part = [*range(len(meshes)), *(number for number, some in enumerate(images) for _ in some)]
    meshes += chain.from_iterable(images)
    vertices = [mesh.transformed(space_from_object[number], arrays.vertices)
                for number, arrays in zip(part, meshes, strict=True)]
    counts = [len(points) for points in vertices]
    first = np.cumsum([0, *counts])
    whole = mesh.MeshArrays(
        vertices=np.concatenate(vertices),
        face_vertices=np.concatenate([m.face_vertices + start for m, start in zip(meshes, first, strict=False)]),
        face_sizes=np.concatenate([m.face_sizes for m in meshes]))
    return whole, np.repeat(part, counts)


def _chosen(armature_object: bpy.types.Object, names: Sequence[str]) -> BoolArray:
    chosen = {bone.name for bone in idle_bones.chosen_bones(armature_object)}
    return np.array([name in chosen for name in names], dtype=np.bool_)


def _check_finite(mesh_object: bpy.types.Object, points: FloatArray) -> None:
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        raise BindError(f"Mesh '{mesh_object.name}' has {len(bad)} vertices whose coordinates are not finite, "
                        f"the first is vertex {bad[0]}; delete or mend them")
