"""Improve existing weights: reading and solving; `binding` writes the result.

`read_task` accesses Blender's data in its main thread; `solve` uses only arrays.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import cast

import bpy
import numpy as np

from ...core.binding import BINDING_METHODS, DEFAULT_METHOD, BindInput, BindSettings, Progress
from ...core.binding.faults import Faults, cured, find_faults, worsened
from ...core.binding.inpainting import inpainted
from ...core.binding.sweep import Sweep, sweep
from ...core.binding.transfer import transferred
from ...core.errors import BindError
from ...core.maths.arrays import BoolArray, FloatArray
from ...core.skinning.influences import Influences
from ..rigs import armature
from . import bend, binding, groups
from .armature_modifiers import attach
from .binding import BindScope, BindTask, Bound, MeshTask

_FAULTS_SHARE, _CURE_SHARE = 0.5, 0.9
"""Shares of the work that are done when the default method has bound the body, and when faults are found."""


@dataclass(frozen=True, eq=False)
class BoundBody:
    """N vertices of bound meshes with their weights (N, B), rows of any sum, and all bones that deform."""

    body: BindInput
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class ImproveTask:
    """The input of an improvement: the first `changed` of `bind`'s meshes are changed, the others only read."""

    bind: BindTask
    bound: BoundBody
    changed: int


@dataclass(frozen=True, eq=False)
class Improved:
    """The result: the meshes' tasks with the chosen vertices, their influences, and the count of each kind."""

    tasks: tuple[MeshTask, ...]
    bound: tuple[Bound, ...]
    counts: tuple[int, ...]


def read_bound(mesh_objects: Sequence[bpy.types.Object], armature_object: bpy.types.Object) -> BoundBody:
    """Read meshes and their weights; raise BindError if nothing moves them."""
    body = binding.read_bind_input(mesh_objects, armature_object)
    rows = [groups.read_influences(ob, body.bone_names).dense(len(body.bone_names)) for ob in mesh_objects]
    weights = np.concatenate(rows)
    if not weights.any():
        raise BindError("No vertex has weights yet: Auto-bind to Skeleton first")
    first = np.arange(len(body.vertices)) < len(weights)  # mirror images follow
    return BoundBody(body.only(first), weights)


def read_task(changed: Sequence[bpy.types.Object], others: Sequence[bpy.types.Object],
              armature_object: bpy.types.Object, scope: BindScope) -> ImproveTask:
    """Read meshes to change, and others that are only read; raise BindError if nothing can be improved."""
    meshes = [*changed, *others]
    return ImproveTask(binding.read_task(meshes, armature_object, scope), read_bound(meshes, armature_object),
                       len(changed))


def report(bound: BoundBody, progress: Progress) -> Sweep:
    """Bend all joints and count what looks broken."""
    return sweep(bound.body, bound.weights, progress=progress)


@dataclass(frozen=True, eq=False)
class Filled:
    """Weights (V, B) of a body, the vertices of each kind, and their faults, if these were searched."""

    weights: FloatArray
    kinds: tuple[BoolArray, ...]
    faults: Faults | None = None


_Fill = Callable[[ImproveTask, FloatArray, FloatArray, BindInput, Progress], Filled]


def solve(task: ImproveTask, what: str, settings: BindSettings, progress: Progress) -> Improved:
    """Find the new weights; `what` is one of IMPROVEMENTS."""
    names = task.bound.body.bone_names
    count = len(task.bound.body.vertices)
    rows: list[Influences] = []
    filled: list[Filled] = []
    for number, body in enumerate(task.bind.bodies):
        def part_done(share: float, before: int = number) -> bool:
            return progress((before + share) / len(task.bind.bodies))

        def bound_done(share: float) -> bool:
            return part_done(_FAULTS_SHARE * share)

        found = BINDING_METHODS[DEFAULT_METHOD].bind(body, settings, bound_done).influences
        fresh = found.dense(len(body.bone_names))[:count]
        own = task.bound.weights[:, [names.index(name) for name in body.bone_names]]
        total = own.sum(axis=1, keepdims=True)
        own = np.divide(own, total, out=np.zeros_like(own), where=total > 0.0)
        filled.append(IMPROVEMENTS[what].fill(task, own, fresh, body.only(np.arange(len(body.vertices)) < count),
                                              part_done))
        rows.append(Influences.fading(filled[-1].weights, settings.influences, settings.prune_below))
    kinds = [one.kinds for one in filled]
    faults = filled[0].faults
    return _split(task, rows, kinds if faults is None else _where_better(task, rows, kinds, faults, progress))


def _split(task: ImproveTask, rows: Sequence[Influences], kinds: Sequence[tuple[BoolArray, ...]]) -> Improved:
    """Return the result for each mesh, from those of the bodies, and the number of vertices of each kind."""
    tasks, bound = [], []
    counts = np.zeros(len(kinds[0]), dtype=np.int64)
    first = 0
    for mesh_task in task.bind.meshes[:task.changed]:
        own = slice(first, first + len(mesh_task.share))
        first = own.stop
        may = mesh_task.chosen & (mesh_task.share > 0.0)
        some = [kind[own] & may for kind in kinds[mesh_task.body]]
        counts += [int(kind.sum()) for kind in some]
        tasks.append(replace(mesh_task, chosen=np.logical_or.reduce(some)))
        influences = rows[mesh_task.body]
        bound.append(Bound(task.bind.bodies[mesh_task.body].bone_names,
                           Influences(influences.joints[own], influences.weights[own])))
    return Improved(tuple(tasks), tuple(bound), tuple(counts.tolist()))


def _where_better(task: ImproveTask, rows: Sequence[Influences], kinds: Sequence[tuple[BoolArray, ...]],
                  faults: Faults, progress: Progress) -> list[tuple[BoolArray, ...]]:
    """Return the vertices of each kind, without those that the bend test would report as more broken than before."""
    names, after = task.bound.body.bone_names, task.bound.weights.copy()
    first = 0
    for mesh in task.bind.meshes[:task.changed]:
        own = slice(first, first + len(mesh.share))
        first = own.stop
        body = task.bind.bodies[mesh.body]
        columns = [names.index(name) for name in body.bone_names]
        new = rows[mesh.body].dense(len(columns))[own] * mesh.share[:, None]
        some = np.logical_or.reduce([kind[own] for kind in kinds[mesh.body]]) & mesh.chosen & (mesh.share > 0.0)
        after[own][np.ix_(some, columns)] = new[some]
    left = ~worsened(task.bound.body, task.bound.weights, after, faults.owners, lambda _: progress(_CURE_SHARE),
                     faults.swept)
    return [tuple(kind & left for kind in some) for some in kinds]


def _cure(task: ImproveTask, own: FloatArray, fresh: FloatArray, body: BindInput,
          progress: Progress) -> Filled:
    def bending(share: float) -> bool:
        return progress(_FAULTS_SHARE + (_CURE_SHARE - _FAULTS_SHARE) * share)

    columns = np.array([task.bound.body.bone_names.index(name) for name in body.bone_names])
    faults = find_faults(task.bound.body, task.bound.weights, columns[fresh.argmax(axis=1)], bending)
    free = replace(faults, foreign=faults.foreign[:, columns])
    stray = faults.flying & ~faults.unbound
    kinds = faults.unbound, stray, free.any & ~faults.unbound & ~stray
    return Filled(cured(body, own, free, fresh), kinds, faults)


def _replace_selected(task: ImproveTask, own: FloatArray, fresh: FloatArray, body: BindInput,
                      _progress: Progress) -> Filled:
    chosen = np.concatenate([np.zeros(len(mesh.share), np.bool_) if number >= task.changed else mesh.chosen
                             for number, mesh in enumerate(task.bind.meshes)])
    return Filled(inpainted(body, own, ~chosen & (own.sum(axis=1) > 0.0), fresh), (chosen,))


def _dress(task: ImproveTask, own: FloatArray, fresh: FloatArray, body: BindInput,
           _progress: Progress) -> Filled:
    garment = np.arange(len(own)) < sum(len(mesh.share) for mesh in task.bind.meshes[:task.changed])
    rows, known = transferred(body, own, garment)
    return Filled(inpainted(body, rows, known, fresh, reach=None), (garment & known, garment & ~known))


@dataclass(frozen=True)
class Improvement:
    """A kind of improvement, as shown in the interface.

    fill: finds weights for all vertices, and masks of those to write, one for each word of `kinds`. If it limits the
    bones of vertices, those that would look more broken than before in the bend test are left unchanged.
    """

    label: str
    description: str
    kinds: tuple[str, ...]
    fill: _Fill


IMPROVEMENTS: dict[str, Improvement] = {
    "FAULTS": Improvement(
        "Faults", "Mend only faults: vertices without weights, vertices that fly off when joints bend, and patches "
                  "that follow a far limb", ("unbound", "flying", "leaking"), _cure),
    "SELECTED": Improvement(
        "Selected Vertices", "Replace the weights of the selected vertices, so that they meet those around them "
        "without a step", ("selected",), _replace_selected),
    "CLOTHES": Improvement(
        "Clothes", "Copy the weights of the armature's other meshes to the selected clothes where they lie close, and "
                   "continue them over the rest", ("on the body", "beyond it"), _dress),
}


def write(meshes: Sequence[bpy.types.Object], armature_object: bpy.types.Object, found: Improved,
          earlier: Sequence[Collection[bpy.types.Object]]) -> None:
    """Write the weights of the chosen vertices, and attach their meshes to the armature instead of the earlier ones."""
    bend.forget_report(armature_object)
    for mesh_object, task, bound, left in zip(meshes, found.tasks, found.bound, earlier, strict=True):
        if task.chosen.any():
            groups.write_influences(mesh_object, bound.bone_names, bound.influences, task.share, task.chosen)
            attach(mesh_object, armature_object, left)


def bound_meshes(context: bpy.types.Context, armature_object: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the visible meshes that the armature moves by vertex groups."""
    assert context.scene is not None
    names = set(armature.read_deforming_bones(armature_object).names)
    return [ob for ob in context.scene.objects
            if ob.type == "MESH" and ob.find_armature() == armature_object and ob.visible_get()
            and len(cast(bpy.types.Mesh, ob.data).vertices) and any(group.name in names for group in ob.vertex_groups)]
