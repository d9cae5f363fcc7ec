"""The default method: nearest bones as seen through the inside of the body, blended over its surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..skinning.influences import Influences
from .between import between_limbs
from .binding import Binding
from .bone_lines import bone_lines
from .cloth import along_limbs, thinness
from .clusters import Clusters
from .decimation import decimated
from .diffusion import Graph
from .enclosed import enclosing_parts, owned_alone
from .input import BindInput
from .joints import stretched, within_reach, without_slight
from .loose import Parts, carried, held_bones, told_apart
from .rigid import compactness, stiffened, walls
from .settings import BindCancelledError, BindSettings, Progress
from .solid import SAMPLE_STEP, Solid, cell_size
from .sources import Skin, find_sources
from .stumps import held_stumps
from .surface import Surface, connected, with_centres
from .welding import COINCIDENT, weld, welded

_HOLD = 1.6
"""Weight of a bone's heat source in its own zone, as a multiple of 1/distance², at smoothing 1."""

_NEAREST = 1e-3
_LEAST_AREA = 1e-6
"""Distances and areas are at least these shares of the body's size and of its mean area."""

_FARTHEST = 1e4
"""Bones farther away than so many units of the body's frame are moved to there."""

_STRAY, _STRAY_PERCENT = 3.0, 99.0
"""Stray vertices would coarsen the grid for all others. So vertices farther away than this factor times the extent of
nearly all others and all bones are moved to that distance."""

_MOST_POINTS, _MOST_CLUSTERS = 20000, 6000
"""Denser meshes are joined to about so many points, and these to about so many clusters."""

_ROUNDS_EXPECTED = 60


def bind_inside_distance(body: BindInput, settings: BindSettings | None = None,
                         progress: Progress | None = None) -> Influences:
    """Return the influences that `bind_inside` finds."""
    return bind_inside(body, settings, progress).influences


def bind_inside(body: BindInput, settings: BindSettings | None = None, progress: Progress | None = None) -> Binding:
    """Bind by nearness as seen through the inside of all meshes together, blended over their surface.

    Every vertex gets weights; coincident vertices get the same ones. The result does not depend on position,
    rotation, scale or the order of vertices. `progress` is called with the share of the work done; when it
    answers False, BindCancelledError is raised.

    1. Coincident vertices become one point, and everything is moved into the body's own frame.
    2. All parts make one solid (`Solid`); bones get lines that do not depend on where a file put tails (`bone_lines`).
    3. Each point of the surface belongs to the bone nearest to it through the inside (`find_sources`).
    4. With the surface's Laplacian L, areas A and distances d to those bones P, solve
       (L + c A/d²) W = c A/d² P: bone heat (Baran and Popović 2007), which blends over about d, but with a
       source everywhere, so that it always has a solution.
    5. Weights are sharpened by a power; parts that hold no bone follow the skin they lie on (`carried`), and those
       that are mostly one bone's follow it alone (`stiffened`).
    6. The strongest weights are kept, the others fade out (`Influences.fading`).

    Raises BindCancelledError only; what cannot be bound is refused by BindInput.
    """
    settings, body = settings or BindSettings(), _without_strays(body)
    meter = _Meter(progress)
    point_of, points, frame = welded(body, settings.weld_seams)
    mesh = decimated(points, point_of[body.face_vertices], body.face_sizes, _MOST_POINTS)
    corners = with_centres(mesh.points, mesh.face_vertices, mesh.face_sizes)
    surface = Surface.of_faces(*corners)
    meter.at(0.2)
    cell = cell_size(surface.points, settings.resolution)
    solid = Solid.build(surface.points, *surface.samples(SAMPLE_STEP * cell), cell)
    meter.at(0.3)
    heads, tails = (np.clip(frame.to_local(ends), -_FARTHEST, _FARTHEST) for ends in (body.heads, body.tails))
    size = float(np.linalg.norm(np.ptp(surface.points, axis=0)))
    lines = bone_lines(body.bone_names, body.bone_parents, heads, tails, solid, size, body.is_chosen)
    segments, parents = lines.segments, lines.parents
    clusters = Clusters.of(surface, _MOST_CLUSTERS)
    meter.at(0.4)
    part = _parts(surface, clusters, settings.weld_seams)
    part_of_points, bones = part[clusters.label], len(body.bone_names)
    held = held_bones(surface, part_of_points, segments, bones, solid)
    compact = compactness(surface, part_of_points)
    owner, segments = enclosing_parts(segments, surface, part_of_points, compact, held)
    if (owner >= 0).any():
        held = held_bones(surface, part_of_points, segments, bones, solid)
    segments, held = held_stumps(segments, parents, surface, part_of_points, held)
    skin = Skin.over(solid, clusters.points, clusters.normals, clusters.areas, size)
    skin = replace(skin, walls=walls(held, compact)[part] if len(held) > 1 else None)
    sources = find_sources(skin, segments, parents, solid, size, meter.round, lines.reach, told_apart(held))
    meter.at(0.6)
    widths = stretched(sources.distances, sources.shares, lines.parting, parents)
    weights = _blended(clusters, sources.shares, widths, size, settings, meter)
    weights = within_reach(weights, sources.from_bones, clusters.points, heads, sources.radii, parents,
                           sources.past_joints)
    weights = owned_alone(without_slight(weights, lines.parting, parents), owner[part])
    meter.at(0.9)
    lengths, areas = np.zeros(bones), _areas(clusters)
    np.maximum.at(lengths, segments.bones, segments.lengths)
    weights, cloth = carried(weights, replace(clusters, areas=areas), Parts(part, held, thinness(compact)),
                             sources.distances, lengths)
    if len(held) > 1:
        along = along_limbs(weights, clusters.points, areas, part, cloth, segments, parents)
        weights = between_limbs(weights, areas, part, held, parents, cloth, along)
        weights = stiffened(weights, areas, part, held, compact)
    runs = []
    for used, rows in clusters.spread(weights, points, clusters.label[mesh.label]):
        kept = Influences.fading(rows, settings.influences, settings.prune_below)
        runs.append(Influences(used[kept.joints] * (kept.weights > 0.0), kept.weights))
        meter.round()
    meter.at(1.0)
    return Binding(_at_vertices(runs, point_of), lines.roles)


def _without_strays(body: BindInput) -> BindInput:
    """Return a body whose stray vertices are moved closer to its bones, along the line to the bones' middle."""
    ends = np.concatenate((body.heads, body.tails))
    middle = ends.mean(axis=0)

    def lengths(vectors: FloatArray) -> FloatArray:
        return np.asarray(np.hypot(np.hypot(vectors[:, 0], vectors[:, 1]), vectors[:, 2]))  # which overflows last

    away = lengths(body.vertices - middle)
    usual = max(float(np.percentile(away, _STRAY_PERCENT)), float(lengths(ends - middle).max()))
    if away.max() <= _STRAY * usual:
        return body
    nearer = np.minimum(_STRAY * usual / np.maximum(away, np.finfo(np.float64).tiny), 1.0)
    return replace(body, vertices=middle + (body.vertices - middle) * nearer[:, None])


def _blended(clusters: Clusters, shares: FloatArray, widths: FloatArray, size: float, settings: BindSettings,
             meter: _Meter) -> FloatArray:
    """Return shares (C, B) blended over the surface, over about widths (C,), and sharpened; rows sum to 1."""
    weights = shares
    if settings.smoothing > 0.0 and size > 0.0:
        areas = _areas(clusters)
        distance = np.maximum(widths, _NEAREST * size) * settings.smoothing
        graph = Graph.build(len(areas), *clusters.links)
        weights = graph.solve(_HOLD * areas / distance**2, shares, meter.round)
    weights = np.maximum(weights, 0.0) ** settings.hardness
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _areas(clusters: Clusters) -> FloatArray:
    mean = float(clusters.areas.mean()) or 1.0  # a mesh without area, as of points alone
    return np.maximum(clusters.areas, _LEAST_AREA * mean)


def _parts(surface: Surface, clusters: Clusters, welded: bool) -> IntArray:
    """Return which connected part each cluster belongs to, (C,); coincident points are connected."""
    first, second, _ = clusters.links
    if not welded:
        point_of = weld(surface.points, COINCIDENT)
        there = np.empty(int(point_of.max()) + 1, dtype=np.int64)
        there[point_of] = clusters.label
        first, second = np.concatenate((first, clusters.label)), np.concatenate((second, there[point_of]))
    return connected(len(clusters.points), first, second)


def _at_vertices(runs: Sequence[Influences], point_of: IntArray) -> Influences:
    """Return the influences of V vertices, (V, K), from those of points, in runs of different K; point_of: (V,)."""
    width = max(run.joints.shape[1] for run in runs)
    joints, weights = (
        np.take(np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]), point_of, 0)
        for parts in ([run.joints for run in runs], [run.weights for run in runs]))
    return Influences(joints, weights)


class _Meter:
    """Reports the share of the work done, and raises BindCancelledError if the listener wants to stop."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._done = 0.0

    def at(self, done: float) -> None:
        self._done = done
        if self._progress is not None and not self._progress(done):
            raise BindCancelledError("the binding was cancelled")

    def round(self) -> None:
        self.at(self._done + (0.9 - self._done) / _ROUNDS_EXPECTED)
