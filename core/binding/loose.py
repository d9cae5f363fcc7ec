"""Parts that hold no bone, as buttons, eyes, hair and belts: they move with the skin they lie on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray, smoothstep
from .clusters import Clusters
from .diffusion import Graph
from .segments import Segments
from .solid import Solid
from .surface import Surface

SHARES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
"""The shares of each line at which points are tested for being inside a part."""

INSIDE = 0.5
"""A position is inside a surface that winds about it by more than this share of a full sphere."""

_SPACING, _GAP = 0.25, 0.05
"""The squared width over which hosts are averaged is the sum of these shares of a host's area and of the squared
gap."""

_LARGEST = 1.0
"""A part that is no longer than this share of the bones that move it does not bend."""

_REACHING = 3.0
"""A part lies on the skin, such as a sword in a fist, if it touches skin and is this many times as long as the bones
that move it. By distance, other bones would move its far end."""

_ON_SKIN, _ROUND_BONES = 0.4, 0.6
"""Distance from the skin as a share of the distance from the bones. Up to the first value a part lies on the skin. From
the second on it lies around its bones, as a rib, a sleeve or a ring."""

_UNSURE, _SURE = 0.7, 0.9
"""Shares of a part's strongest bone. Between them, a part that lies around bones starts to keep the weights of these
bones."""

_HELD_WELL, _HARDLY = 0.8, 0.2
"""A part that holds at least the first share of a bone and at most the second one of another tells the two apart."""

_MOST_OF_ALL = 0.5
"""A part with more than this share of the surface holds points by the solid instead of by winding."""

_NO_GAP = 0.01
"""If the squared gap is at most this share of a point's area, the skin counts as touching, and nothing is blended."""

Links = tuple[IntArray, IntArray, FloatArray]
"""Pairs of neighbours, (E,) each, and the conductances (E,) between them."""

_AT_ONCE = 1 << 18
_TINY = float(np.finfo(np.float64).tiny)


def held_bones(surface: Surface, part: IntArray, segments: Segments, bones: int, solid: Solid) -> FloatArray:
    """Return how much of each of B bones each part holds, (M, B): 0 to 1.

    part: (P,) that of each of the surface's points, 0 … M − 1. The value is the share of points on the bone's lines
    that the part's surface winds about. The surface may be open (generalised winding numbers, Jacobson, Kavan and
    Sorkine-Hornung 2013). A part that is most of the surface holds the points in its box and in the solid. Of points
    that other parts hold, it only holds those that it winds about. A single part holds everything.
    """
    count = int(part.max()) + 1
    if count == 1:
        return np.ones((1, bones))
    held = np.zeros((count, bones))
    own = part[surface.triangles[:, 0]]
    area = np.bincount(own, surface.face_areas, count)
    on_lines = segments.points_at(np.repeat(SHARES[:, None], len(segments.bones), axis=1)).reshape(-1, 3)
    bone = np.tile(segments.bones, len(SHARES))
    of_bone = np.maximum(np.bincount(bone, minlength=bones), 1)
    low, high = _boxes(surface.points, part, count)
    near = np.ones((count, len(on_lines)), dtype=np.bool_)
    for axis in range(3):
        near &= (on_lines[:, axis] >= low[:, axis, None]) & (on_lines[:, axis] <= high[:, axis, None])
    order = np.argsort(own, kind="stable")
    ends = np.cumsum(np.bincount(own, minlength=count))
    others = np.zeros(len(on_lines), dtype=np.bool_)
    for k in sorted(np.flatnonzero(near.any(axis=1) & (area > 0.0)).tolist(), key=area.__getitem__):
        asked = np.flatnonzero(near[k])
        inside = np.zeros(len(on_lines), dtype=np.bool_)
        if area[k] > _MOST_OF_ALL * area.sum():
            inside[asked] = solid.contains(on_lines[asked])
            asked = np.flatnonzero(inside & others)
        triangles = surface.triangles[order[ends[k - 1] if k else 0:ends[k]]]
        inside[asked] = np.abs(winding(surface.points[triangles], on_lines[asked])) > INSIDE
        others |= inside
        held[k] = np.bincount(bone, inside, bones) / of_bone
    return held


def told_apart(held: FloatArray) -> BoolArray:
    """Return which bones (B, B) are in different skins: some part holds one well and hardly holds the other.

    held (M, B) as `held_bones`. Two legs under a gown are both inside it, but each has skin of its own.

    >>> gown_and_legs = np.array([[1.0, 1.0, 1.0], [0.2, 1.0, 0.0], [0.2, 0.0, 1.0]])
    >>> told_apart(gown_and_legs).tolist()
    [[False, True, True], [True, False, True], [True, True, False]]
    """
    one = (held >= _HELD_WELL).T.astype(np.float64) @ (held <= _HARDLY) > 0.0
    return np.asarray(one | one.T)


def winding(corners: FloatArray, positions: FloatArray) -> FloatArray:
    """Return how often triangles, corners (T, 3, 3), wind about positions (N, 3): 1 inside a closed surface, 0 outside.

    Solid angles by van Oosterom and Strackee (1983).

    >>> tetrahedron = np.array([[0, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 3.0]])
    >>> faces = tetrahedron[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    >>> winding(faces, np.array([[0.5, 0.5, 0.5], [3.0, 3.0, 3.0]])).round(9).tolist()
    [1.0, 0.0]
    """
    total = np.zeros(len(positions))
    step = max(1, _AT_ONCE // max(1, len(positions)))
    for begin in range(0, len(corners), step):
        a, b, c = (corners[None, begin:begin + step, k] - positions[:, None] for k in range(3))
        x, y, z = (np.sqrt((side * side).sum(axis=2)) for side in (a, b, c))
        volume = (a * np.cross(b, c)).sum(axis=2)
        spread = x * y * z + (a * b).sum(axis=2) * z + (b * c).sum(axis=2) * x + (c * a).sum(axis=2) * y
        total += np.arctan2(volume, spread).sum(axis=1) / (2.0 * np.pi)
    return total


@dataclass(frozen=True, eq=False)
class Parts:
    """M parts of a mesh whose surface is C clusters.

    of_cluster: (C,) the part of each cluster. held: (M, B) as `held_bones`; a part that holds no bone is loose. thin:
    (M,) as `thinness`.
    """

    of_cluster: IntArray
    held: FloatArray
    thin: FloatArray


def carried(weights: FloatArray, clusters: Clusters, parts: Parts, from_bones: FloatArray,
            bone_lengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weights (C, B) where loose parts move with the skin they lie on, and how far each part is cloth, (M,).

    clusters: with areas above 0. from_bones: (C,) distances to the bones that would move each cluster. bone_lengths:
    (B,). A loose part follows the other parts if these are nearer than its bones. Each of its points takes the weights
    of the nearest skin.

    A part that is no longer than the bones that move it keeps its shape: it takes one mean of these weights, mostly of
    points where it touches. Thin, longer parts are cloth. Their weights are blended over the distance from the skin, so
    that a cape does not tear between the legs in front of it. A part around one bone, such as a rib or a loose sleeve,
    keeps that bone's weights. What it touches, such as an arm, does not carry it.
    """
    points, areas, links = clusters.points, clusters.areas, clusters.links
    part, held, thin = parts.of_cluster, parts.held, parts.thin
    loose: BoolArray = np.asarray(~held.any(axis=1))
    ours, hosts = np.flatnonzero(loose[part]), np.flatnonzero(~loose[part])
    if not len(ours) or not len(hosts):
        return weights, thin * loose
    taken, gap = _from_nearest(points[ours], points[hosts], areas[hosts], weights[hosts])
    own, count = part[ours], len(loose)
    nearest, bones_at = np.full(count, np.inf), np.full(count, np.inf)
    np.minimum.at(nearest, own, gap)
    np.minimum.at(bones_at, own, from_bones[ours])
    grip = areas[ours] / (gap * gap + areas[ours])
    gripped = np.maximum(np.bincount(own, grip, count), _TINY)
    mean = np.stack([np.bincount(own, grip * column, count) / gripped for column in taken.T], axis=1)
    low, high = _boxes(points[ours], own, count)
    length, bones = np.linalg.norm(high - low, axis=1), mean @ bone_lengths
    rigid = length <= _LARGEST * bones
    touching = (length > _REACHING * bones) & (nearest <= np.sqrt(areas[hosts].mean()))
    stays = (nearest > bones_at) & ~touching
    bent = np.flatnonzero((~(rigid | stays) & (thin > 0.0))[own])
    taken[bent] = _blended(taken[bent], gap[bent] * thin[own[bent]], areas[ours[bent]], ours[bent], links)
    own_mean, own_area = means_of_parts(weights[ours], areas[ours], own, count)
    keeps = ~touching * _round_one_bone(own_mean, *(np.bincount(own, areas[ours] * away, count) / own_area
                                                    for away in (gap, from_bones[ours])))
    result = weights.copy()
    lying, alone = (np.where(rigid[own, None], means[own], each)
                    for means, each in ((mean, taken), (own_mean, weights[ours])))
    result[ours] = lying + keeps[own, None] * (alone - lying)
    result[ours[stays[own]]] = weights[ours[stays[own]]]
    return result, thin * (loose & (stays | ~rigid))


def _round_one_bone(mean: FloatArray, from_skin: FloatArray, from_bones: FloatArray) -> FloatArray:
    """Return how far parts keep the weights of their own bones, (M,) 0 to 1, instead of those of the skin they touch.

    mean: (M, B) the parts' mean weights; from_skin, from_bones: (M,) their mean distances from skin and bones.

    >>> rib, belt = [0.2, 0.3], [0.05, 0.4]
    >>> _round_one_bone(np.array([[1.0, 0.0], [1.0, 0.0]]), *np.array([rib, belt]).T).tolist()
    [1.0, 0.0]
    """
    share = from_skin / np.maximum(from_bones, _TINY)
    return np.asarray(smoothstep(share, _ON_SKIN, _ROUND_BONES) * smoothstep(mean.max(axis=1), _UNSURE, _SURE))


def _blended(weights: FloatArray, widths: FloatArray, areas: FloatArray, nodes: IntArray, links: Links) -> FloatArray:
    """Return weights (N, B) blended over the surface, over about widths (N,), as by heat; links go between nodes."""
    first, second, conductance = links
    if not len(nodes) or not len(first):
        return weights
    at = np.full(1 + max(first.max(), second.max(), nodes.max()), -1)
    at[nodes] = np.arange(len(nodes))
    own = (at[first] >= 0) & (at[second] >= 0)
    graph = Graph.build(len(nodes), at[first[own]], at[second[own]], conductance[own])
    found = np.maximum(graph.solve(areas / np.maximum(widths * widths, _NO_GAP * areas), weights), 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _from_nearest(points: FloatArray, hosts: FloatArray, areas: FloatArray,
                  weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return for points (N, 3) the weights (N, B) of the hosts (H, 3) that are nearest, and how far these are (N,)."""
    taken, gap = np.empty((len(points), weights.shape[1])), np.empty(len(points))
    step = max(1, _AT_ONCE // len(hosts))
    for begin in range(0, len(points), step):
        some = points[begin:begin + step]
        squared = (some * some).sum(axis=1)[:, None] + (hosts * hosts).sum(axis=1) - 2.0 * some @ hosts.T
        nearest = np.argmin(squared, axis=1)
        least = np.maximum(squared[np.arange(len(some)), nearest], 0.0)
        width = _GAP * least + _SPACING * areas[nearest]
        share = np.exp(np.minimum(least[:, None] - squared, 0.0) / width[:, None])
        taken[begin:begin + step] = share @ weights / share.sum(axis=1, keepdims=True)
        gap[begin:begin + step] = np.sqrt(least)
    return taken, gap


def _boxes(points: FloatArray, part: IntArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest coordinates (count, 3) of parts; parts without points get 0."""
    low, high = np.zeros((count, 3)), np.zeros((count, 3))
    order = np.argsort(part, kind="stable")
    present, start = np.unique(part[order], return_index=True)
    low[present] = np.minimum.reduceat(points[order], start)
    high[present] = np.maximum.reduceat(points[order], start)
    return low, high


def means_of_parts(weights: FloatArray, areas: FloatArray, part: IntArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the mean weights (M, B) of parts, and their areas (M,), from those of points: (C, B), and (C,) > 0."""
    total = np.maximum(np.bincount(part, areas, count), _TINY)
    return np.stack([np.bincount(part, areas * column, count) for column in weights.T], axis=1) / total[:, None], total
