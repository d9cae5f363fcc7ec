"""Read a scene for fitting a skeleton, and add the armature.

`read_task` and `add_armature` access Blender's data in its main thread; `solve`, `fit` and `bound_to`,
between them, use only arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.binding import DEFAULT_METHOD, BindSettings, Progress
from ...core.errors import TaktError
from ...core.fitting import BodyKind, FittedSkeleton, FittingProblem, fit_skeleton
from ...core.fitting.correction import Correction
from ...core.fitting.naming import NAMINGS
from ...core.maths.arrays import FloatArray, IntArray
from . import binding, mesh, shape
from .binding import BindResult, BindTask, MeshTask

_FITTING_TAKES: Final = 0.4
"""Share of the work that fitting takes if the meshes are bound as well."""

_STANDS: Final = float(np.sqrt(0.5))
"""Cosine between the scene's up and that of a body, above which it stands."""

_SHORTEST: Final = 1e-4
"""Shortest bone, as a share of the skeleton's size: Blender drops shorter ones."""


@dataclass(frozen=True, eq=False)
class FitTask:
    """The input of fitting from the scene, in world space.

    part: (V,) the mesh of each vertex; uids, counts: session uid and number of vertices of each mesh.
    """

    problem: FittingProblem
    part: IntArray
    uids: tuple[int, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class FitResult:
    """A skeleton, the names of its bones, and the result of binding, if any.

    origin: (3,) the armature's origin; world_from_armature: (3, 3) its rotation.
    """

    fitted: FittedSkeleton
    bone_names: tuple[str, ...]
    origin: FloatArray
    world_from_armature: FloatArray
    task: BindTask | None
    bound: BindResult | None

    @property
    def is_turned(self) -> bool:
        """Return whether the body lies in the scene, so that the armature is rotated to make it stand."""
        return not np.array_equal(self.world_from_armature, np.eye(3))


def read_task(mesh_objects: Sequence[bpy.types.Object], kind: BodyKind = "auto") -> FitTask:
    """Read meshes as one body of a kind; raise TaktError if it has no inside."""
    matrices = [np.array(ob.matrix_world, dtype=np.float64) for ob in mesh_objects]
    body, part = binding.read_body(mesh_objects, matrices, _as_shown)
    problem = FittingProblem(body.vertices, body.face_vertices, body.face_sizes, kind=kind)
    return FitTask(problem, part, tuple(ob.session_uid for ob in mesh_objects),
                   tuple(len(cast(bpy.types.Mesh, ob.data).vertices) for ob in mesh_objects))


def _as_shown(mesh_object: bpy.types.Object) -> mesh.MeshArrays:
    """Read a mesh with its shape keys, which the armature will deform."""
    with shape.keyed(mesh_object) as found:
        return mesh.read_mesh(found)


def solve(task: FitTask, naming: str, is_bound: bool, moved: str = "", progress: Progress | None = None) -> FitResult:
    """Fit, and bind to the result if wanted; does not touch Blender's data.

    moved: joints that the user has moved, as text from `Correction.as_text`. `progress` is called with the share of
    work done; if it returns False, BindCancelledError is raised.
    """
    share = _FITTING_TAKES if is_bound else 1.0
    found = fit(task, None if progress is None else lambda done: progress(share * done))
    fitted = Correction.from_text(found, moved).fitted()
    return bound_to(task, fitted, naming, is_bound, None if progress is None else
                    lambda done: progress(share + (1.0 - share) * done))


def fit(task: FitTask, progress: Progress | None = None) -> FittedSkeleton:
    """Fit a skeleton without binding."""
    return fit_skeleton(task.problem, progress)


def bound_to(task: FitTask, fitted: FittedSkeleton, naming: str, is_bound: bool,
             progress: Progress | None = None) -> FitResult:
    """Name the bones of a fitted skeleton, and bind to it if wanted."""
    names = tuple(NAMINGS[naming].name_of(joint) for joint in fitted.names)
    root = fitted.positions[0]
    turn = upright(fitted.up, fitted.front)
    lowest = float((task.problem.vertices @ turn[:, 2]).min())
    origin = root + (lowest - float(root @ turn[:, 2])) * turn[:, 2]  # on the ground, below the root
    if not is_bound:
        return FitResult(fitted, names, origin, turn, None, None)
    problem = task.problem
    local = replace(fitted, positions=fitted.positions - origin, ends=fitted.ends - origin)
    body = local.body_bound_to(problem.vertices - origin, problem.face_vertices, problem.face_sizes, task.part, names)
    meshes = tuple(MeshTask(uid, 0, np.ones(count), np.ones(count, dtype=np.bool_))
                   for uid, count in zip(task.uids, task.counts, strict=True))
    bind_task = BindTask((body,), meshes)
    bound = binding.solve(bind_task, DEFAULT_METHOD, BindSettings(), progress)
    return FitResult(fitted, names, origin, turn, bind_task, bound)


def upright(up: FloatArray, front: FloatArray) -> FloatArray:
    """Return the rotation (3, 3) of an armature in which a body with these up and front vectors, (3,), stands.

    It is the identity for a body that stands in the scene, or leans by less than 45°. For a lying body, the axes of the
    armature are those of the scene nearest to its own: Z up, and -Y to its front.
    """
    if up[2] > _STANDS:
        return np.eye(3)
    axes = np.concatenate((np.eye(3), -np.eye(3)))
    above = axes[int((axes @ up).argmax())]
    level = axes[axes @ above == 0.0]
    ahead = level[int((level @ front).argmax())]
    return np.stack((np.cross(above, ahead), -ahead, above), axis=1) + 0.0


def still_there(task: FitTask) -> list[bpy.types.Object]:
    """Return the meshes that were read; raise TaktError if they have changed or were deleted since."""
    objects = {ob.session_uid: ob for ob in bpy.data.objects}
    meshes = [objects.get(uid) for uid in task.uids]
    for ob, count in zip(meshes, task.counts, strict=True):
        if ob is None or len(cast(bpy.types.Mesh, ob.data).vertices) != count:
            raise TaktError("The meshes were changed while the skeleton was being fitted; fit it again")
    return [ob for ob in meshes if ob is not None]


def add_armature(context: bpy.types.Context, result: FitResult, name: str) -> bpy.types.Object:
    """Add the armature of a fitted skeleton to the scene, make it active, and select it alone."""
    layer, collection = context.view_layer, context.collection
    if layer is None or collection is None:
        raise TaktError("There is no view layer to add an armature to; open a scene first")
    data = bpy.data.armatures.new(name)
    rig = bpy.data.objects.new(name, data)
    try:
        collection.objects.link(rig)
        rig.matrix_world = Matrix.Translation(result.origin.tolist()) @ Matrix(
            result.world_from_armature.tolist()).to_4x4()
        for ob in context.selected_objects:
            ob.select_set(False)
        layer.objects.active = rig
        rig.select_set(True)
        bpy.ops.object.mode_set(mode="EDIT")
        try:
            _add_bones(data, result)
        finally:
            bpy.ops.object.mode_set(mode="OBJECT")
    except Exception:
        bpy.data.armatures.remove(data)  # this removes the object too
        raise
    rig.show_in_front = True
    layer.update()
    return rig


def _add_bones(data: bpy.types.Armature, result: FitResult) -> None:
    """Add the bones in Edit Mode; their X axes are the bend axes of knees and elbows."""
    fitted = result.fitted.turned(result.world_from_armature.T)
    origin = result.world_from_armature.T @ result.origin
    heads, tails = fitted.positions - origin, fitted.ends - origin
    shortest = _SHORTEST * float(np.linalg.norm(np.ptp(heads, axis=0)))
    bones: list[Any] = []
    moves_skin = fitted.moves_skin
    for joint, name in enumerate(result.bone_names):
        bone = data.edit_bones.new(name)
        bone.use_deform = bool(moves_skin[joint])
        along = tails[joint] - heads[joint]
        tail = tails[joint] if np.linalg.norm(along) > shortest else heads[joint] + shortest * 10.0 * fitted.up
        bone.head, bone.tail = Vector(heads[joint].tolist()), Vector(tail.tolist())
        bone.align_roll(Vector(np.cross(fitted.bend_axes[joint], tail - heads[joint]).tolist()))
        parent = int(fitted.parents[joint])
        if parent >= 0:
            bone.parent = bones[parent]
            bone.use_connect = bool(np.linalg.norm(tails[parent] - heads[joint]) < shortest)
        bones.append(bone)
