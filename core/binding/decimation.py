"""Fewer points for dense meshes, before anything is computed: points in one cell of a grid are joined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray, distinct
from .surface import connected

_TRIES = 6
_FACES_PER_POINT = 0.5
"""A piece with fewer faces for each point is thin: a closed surface has one or two, and a card that became a line has
none."""

_FEWEST = 0.4
_WORTH_IT = 0.5
"""Points are joined only if the result has at least this share of the wanted number, and at most this share of the old
number."""


@dataclass(frozen=True, eq=False)
class Decimated:
    """A mesh of C points (C, 3) that replaces one of P points. label: (P,) the new point of each old one."""

    label: IntArray
    points: FloatArray
    face_vertices: IntArray
    face_sizes: IntArray


def decimated(points: FloatArray, face_vertices: IntArray, face_sizes: IntArray, most: int) -> Decimated:
    """Join points (P, 3) until there are about `most`, and drop faces whose points are all joined: vertex clustering.

    face_vertices (L,), face_sizes (F,): as in BindInput. Points that lie in one cell of a grid, and that edges connect
    within it, become one point, their mean. So both sides of thin parts, lips and fingers stay apart (Rossignac and
    Borrel 1993 join whole cells). A mesh stays as it is if it has no more than `most` points. It also stays if it has
    so many loose pieces that little is saved, or is so uneven that few points would be left.
    """
    kept = Decimated(np.arange(len(points)), points, face_vertices, face_sizes)
    if len(points) <= most or not len(face_sizes):
        return kept
    label = _cells(points, face_vertices, face_sizes, most)
    other = face_vertices[_following(face_sizes)]
    within = label[face_vertices] == label[other]
    label = connected(len(points), np.compress(within, face_vertices), np.compress(within, other))
    label = _with_thin_pieces(label, face_vertices, face_sizes)
    count = int(label.max()) + 1
    if not _FEWEST * most <= count <= _WORTH_IT * len(points):
        return kept
    number = np.bincount(label, minlength=count)
    means = np.stack([np.bincount(label, column, count) for column in points.T], axis=1) / number[:, None]
    corners = label[face_vertices]
    spans = _spanning(corners, face_sizes)
    return Decimated(label, means, corners[np.repeat(spans, face_sizes)], face_sizes[spans])


def _with_thin_pieces(label: IntArray, face_vertices: IntArray, face_sizes: IntArray) -> IntArray:
    """Return labels (P,) in which pieces that lost most of their faces, such as buttons, are not joined."""
    corners = label[face_vertices]
    spans = _spanning(corners, face_sizes)
    first = np.cumsum(face_sizes) - face_sizes
    count = int(label.max()) + 1
    following = corners[_following(face_sizes)]
    apart = np.flatnonzero(corners != following)
    piece = connected(count, corners[apart], following[apart])
    faces = np.bincount(piece[corners[first[spans]]], minlength=count)
    thin = faces < _FACES_PER_POINT * np.bincount(piece, minlength=count)
    alone = np.flatnonzero(thin[piece[label]])
    label = label.copy()
    label[alone] = count + np.arange(len(alone))
    return np.unique(label, return_inverse=True)[1].reshape(-1) if len(alone) else label


def _spanning(corners: IntArray, face_sizes: IntArray) -> BoolArray:
    """Return which faces, (F,), still have three or more corners that differ from the next one."""
    differs = corners != corners[_following(face_sizes)]
    return np.asarray(np.add.reduceat(differs.astype(np.int64), np.cumsum(face_sizes) - face_sizes) >= 3)


def _cells(points: FloatArray, face_vertices: IntArray, face_sizes: IntArray, most: int) -> IntArray:
    """Return the cell of each point, (P,), in a grid around the origin of which about `most` cells hold points."""
    following = face_vertices[_following(face_sizes)]
    squared = 0.0
    for column in np.ascontiguousarray(points.T):  # rows of three would be gathered many times as slowly
        along = column[face_vertices] - column[following]
        squared += float(along @ along)
    edge = float(np.sqrt(squared / len(following)))
    cell = edge * float(np.sqrt(len(points) / most))
    key = np.zeros(len(points), dtype=np.int64)
    for _ in range(_TRIES):
        if cell == 0.0:
            break
        key = np.zeros(len(points), dtype=np.int64)
        for column in points.T:
            index = np.rint(column / cell).astype(np.int64)
            index -= index.min()
            key = key * (index.max() + 1) + index
        found = len(distinct(key))
        if found <= most:
            break
        cell *= 1.02 * float(np.sqrt(found / most))
    return key


def _following(face_sizes: IntArray) -> IntArray:
    """Return for each face corner (L,) the corner after it in its face."""
    ends = np.cumsum(face_sizes)
    following = np.arange(1, int(ends[-1]) + 1)
    following[ends - 1] = ends - face_sizes
    return following
