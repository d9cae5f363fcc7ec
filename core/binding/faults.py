"""Faults of given weights: vertices without weights, vertices that leave their neighbours, and leaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from .diffusion import Graph
from .inpainting import inpainted
from .input import BindInput
from .settings import Progress
from .surface import Surface, connected
from .sweep import Sweep, far_bones, sweep
from .welding import welded_surface

_AROUND = 0.02
"""Share of the body's size: the distance over which the weights of neighbours determine a vertex's owner."""

_MOST_ASIDE = 0.1
"""A patch that is larger than this share of its piece of skin belongs to its own bone."""

_SLIGHT = 0.01
"""Vertices with weights below this share of their sum do not belong to a patch."""

_LEAST_AREA = 1e-6


@dataclass(frozen=True, eq=False)
class Faults:
    """What is wrong with the weights of V vertices on B bones.

    unbound, flying, leaking: (V,) which vertices have no weights, leave their neighbours when joints bend, or move with
    a far limb. foreign: (V, B) the weights to remove: patches on far limbs in which some vertex leaks. owners: (V, N)
    the bones that each vertex may belong to. swept: the result of `sweep` with these owners.
    """

    unbound: BoolArray
    flying: BoolArray
    leaking: BoolArray
    foreign: BoolArray
    owners: IntArray
    swept: Sweep

    @property
    def any(self) -> BoolArray:
        """Return which vertices, (V,), have one of the faults, or belong to a patch that leaks elsewhere."""
        return self.unbound | self.flying | self.leaking | self.foreign.any(axis=1)


def find_faults(body: BindInput, weights: FloatArray, owners: IntArray, progress: Progress | None = None) -> Faults:
    """Find the faults of weights (V, B); rows may have any sum.

    owners: (V,) the bone that each vertex should belong to, as another binding sees it. A vertex leaks if it moves with
    a far bone. That bone is three or more links away from both the owner and the bone that moves most of the skin
    around the vertex. Small patches of a far bone do not count for that skin. If a patch of the far bone's skin reaches
    a vertex near which the bone is not far, the weights are intended: the patch does not leak. Flying and leaking are
    those of `sweep`. `progress` is called with the share of the work done; when it answers False, BindCancelledError is
    raised. Raises TaktError where shapes do not fit.
    """
    point_of, surface, _ = welded_surface(body)
    are_far = far_bones(body.bone_parents)
    around = np.where(_aside(surface, point_of, weights, are_far[:, owners].T), 0.0, weights)
    owners = np.column_stack((_owners_around(surface, point_of, around), owners))
    found = sweep(body, weights, owners, progress)
    far = np.asarray(are_far[:, owners].all(axis=2)).T
    leaking = found.leaking_in > 0
    foreign = _patches(surface, point_of, weights, far, leaking)
    unbound, leaking = weights.sum(axis=1) <= 0.0, leaking & foreign.any(axis=1)
    return Faults(unbound, found.flying_in > 0, leaking, foreign, owners, found)


def cured(body: BindInput, weights: FloatArray, faults: Faults, prior: FloatArray) -> FloatArray:
    """Return weights (V, B), rows summing to 1, without those faults; rows without faults are only normalised.

    prior: (V, B) weights for unbound and flying vertices, as another binding finds them. Leaking vertices keep their
    other weights. Both are blended with the weights around them (`inpainted`).
    """
    total = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0)
    left = np.where(faults.foreign, 0.0, weights)
    kept = left.sum(axis=1, keepdims=True)
    own = faults.foreign.any(axis=1) & (kept[:, 0] > 0.0) & ~faults.flying
    alone = np.where(own[:, None], left / np.where(kept > 0.0, kept, 1.0), prior)
    return inpainted(body, weights, (total[:, 0] > 0.0) & ~faults.any, alone)


def worsened(body: BindInput, before: FloatArray, after: FloatArray, owners: IntArray,
             progress: Progress | None = None, was: Sweep | None = None) -> BoolArray:
    """Return the vertices, (V,), whose weights (V, B) should stay as before, since the cure makes them worse.

    Patches of changed vertices and their neighbours are judged as wholes: the sweep's counts of broken, flying and
    leaking vertices must not rise. owners: (V, N) the bones that each vertex may belong to, as in `Faults`. Without
    them, a patch on a wrong limb would look right by its own weights. Vertices that were unbound before do not count.
    was: the sweep of the weights before, with these owners, if it is known.
    """
    point_of, surface, _ = welded_surface(body)
    first, second, _ = surface.edges()
    changed = (before != after).any(axis=1)
    at_points = np.bincount(point_of, changed, len(surface.points)) > 0.0
    near = at_points.copy()
    near[first] |= at_points[second]
    near[second] |= at_points[first]
    both = near[first] & near[second]
    patch = connected(len(near), first[both], second[both])[point_of]
    was, now = was or sweep(body, before, owners, progress), sweep(body, after, owners, progress)
    bound = before.any(axis=1)
    worse = np.zeros(len(near), dtype=np.bool_)
    for old, new in ((was.broken, now.broken), (was.flying_in, now.flying_in), (was.leaking_in, now.leaking_in)):
        worse |= np.bincount(patch, np.where(bound, new - old, 0), len(near)) > 0.0
    return np.asarray(changed & bound & worse[patch])


def _aside(surface: Surface, point_of: IntArray, weights: FloatArray, far: BoolArray) -> BoolArray:
    """Return which weights (V, B) are those of a small patch on which their bone is far, (V, B), from every point.

    The bone also moves other skin, from which it is not far. The patch is only a small part of its connected piece of
    the surface.
    """
    result = np.zeros(weights.shape, dtype=np.bool_)
    edges = surface.edges()[:2]
    piece = connected(len(surface.points), *edges)
    piece_area = np.bincount(piece, surface.areas)
    moved = weights > _SLIGHT * weights.sum(axis=1, keepdims=True)
    for bone in np.flatnonzero((far & moved).any(axis=0) & (moved & ~far).any(axis=0)).tolist():
        patch, near = _patches_of_bone(edges, point_of, moved[:, bone], far[:, bone])
        area = np.bincount(patch, surface.areas)
        whole = np.zeros(len(area))
        np.maximum.at(whole, patch, piece_area[piece])
        within = (area < _MOST_ASIDE * whole) & (np.bincount(patch, near) == 0.0)
        result[:, bone] = moved[:, bone] & within[patch[point_of]]
    return result


def _patches_of_bone(edges: tuple[IntArray, IntArray], point_of: IntArray, moved: BoolArray,
                     far: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return the patch of each point, (P,), in the skin that a bone moves; and where the bone moves near points, (P,).

    edges: the points at both ends. point_of: (V,) the point of each vertex. moved, far: (V,) which vertices the bone
    moves, and which it is far from. Each point that the bone does not move is a patch of its own.
    """
    count = int(point_of.max(initial=-1)) + 1
    at_points, near = (np.bincount(point_of, some, count) > 0.0 for some in (moved, moved & ~far))
    both = at_points[edges[0]] & at_points[edges[1]]
    return connected(count, edges[0][both], edges[1][both]), near


def _patches(surface: Surface, point_of: IntArray, weights: FloatArray, far: BoolArray,
             leaking: BoolArray) -> BoolArray:
    """Return which weights (V, B) belong to leaking patches on which their bone is far from every point."""
    result = np.zeros(weights.shape, dtype=np.bool_)
    edges = surface.edges()[:2]
    moved = weights > _SLIGHT * weights.sum(axis=1, keepdims=True)
    for bone in np.flatnonzero((far & moved)[leaking].any(axis=0)).tolist():
        patch, near = _patches_of_bone(edges, point_of, moved[:, bone], far[:, bone])
        touched = np.bincount(patch[point_of], leaking & moved[:, bone]) > 0.0
        foreign = touched & (np.bincount(patch, near) == 0.0)
        result[:, bone] = foreign[patch[point_of]] & (weights[:, bone] > 0.0)
    return result


def _owners_around(surface: Surface, point_of: IntArray, weights: FloatArray) -> IntArray:
    """Return which bone moves most of the skin around each vertex, (V,)."""
    at_points = np.zeros((len(surface.points), weights.shape[1]))
    at_points[point_of] = weights
    areas = np.maximum(surface.areas, _LEAST_AREA * (float(surface.areas.mean()) or 1.0))
    size = float(np.linalg.norm(np.ptp(surface.points, axis=0))) or 1.0
    graph = Graph.build(len(areas), *surface.edges())
    return np.asarray(graph.solve(areas / (_AROUND * size) ** 2, at_points).argmax(axis=1)[point_of])
