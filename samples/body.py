"""The sample character's skin: a cage around the joints, subdivided, and fitted to the figure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..core.maths.arrays import FloatArray, IntArray
from . import figure
from .cage import EYE, HAIR, LIPS, SHOE, SKIN, SUIT, TRIM, build_ball, build_cage, subdivide

PALETTE: dict[int, tuple[str, tuple[float, float, float]]] = {
    SKIN: ("Skin", (0.91, 0.51, 0.34)),
    SUIT: ("Suit", (0.045, 0.155, 0.235)),
    TRIM: ("Trim", (0.93, 0.33, 0.16)),
    SHOE: ("Shoe", (0.93, 0.33, 0.16)),
    HAIR: ("Hair", (0.085, 0.035, 0.030)),
    EYE: ("Eye", (0.012, 0.012, 0.016)),
    LIPS: ("Lips", (0.62, 0.16, 0.14)),
}
BALLS = (("bun", HAIR, 2, (1,)), ("mouth", LIPS, 2, (1,)), ("eye", EYE, 2, (1, -1)), ("brow", HAIR, 1, (1, -1)))
"""Name, material, rounds of subdivision, sides."""
MIRROR = np.array((-1.0, 1.0, 1.0))
ROUNDS = 12
RELAX = 0.4
STEP_M = 0.012
"""No vertex is drawn further towards the skin in one round: a finger's cannot jump to its neighbour."""


@dataclass(frozen=True, eq=False)
class Body:
    """A closed surface: positions (V, 3) in H-Anim's axes, metres; quads (Q, 4), outward; materials (Q,)."""

    positions: FloatArray
    quads: IntArray
    materials: IntArray


@cache
def build_body() -> Body:
    """Return the dancer's body, about 11,000 vertices, exactly symmetric in x, soles at y = 0; must not be changed."""
    points, quads, materials = build_cage()
    for _ in range(2):
        points, quads = subdivide(points, quads)
        materials = np.repeat(materials, 4)
    used, quads = np.unique(quads, return_inverse=True)
    points, quads = points[used], quads.reshape(-1, 4)
    mirror = _mirror_of(points)
    neighbours = _edges(quads)
    left = np.flatnonzero(np.arange(len(points)) <= mirror)
    for turn in range(ROUNDS):
        points = _relaxed(points, quads, neighbours, RELAX if turn < ROUNDS - 2 else 0.15)
        points[left] = _drawn(points[left])
        points = _symmetric(points, mirror)
    for _ in range(3):
        points[left] = _drawn(points[left])
    points = _symmetric(points, mirror)
    points[:, 1] = np.maximum(points[:, 1], 0.0)
    body = _with_balls(Body(points, quads, materials))
    for array in (body.positions, body.quads, body.materials):
        array.flags.writeable = False
    return body


def _with_balls(body: Body) -> Body:
    """Add the bun, the mouth, the eyes and the brows."""
    points, quads, materials = body.positions, body.quads, body.materials
    for name, material, rounds, sides in BALLS:
        centre, radii, up, back = figure.BALLS[name]
        ball, faces = build_ball(rounds)
        ball = ball * radii
        ball += ball[:, :1] ** 2 * (0.0, up, -back) + centre
        for side in sides:
            quads = np.concatenate((quads, (faces if side > 0 else faces[:, ::-1]) + len(points)))
            points = np.concatenate((points, ball * (side, 1.0, 1.0)))
            materials = np.concatenate((materials, np.full(len(faces), material)))
    return Body(points, quads, materials)


def normals(points: FloatArray, quads: IntArray) -> FloatArray:
    """Return unit normals of the vertices, (V, 3), weighted by area."""
    a, b, c, d = np.moveaxis(points[quads], 1, 0)
    out = np.zeros_like(points)
    np.add.at(out, quads.ravel(), np.repeat(np.cross(c - a, d - b), 4, axis=0))
    return np.asarray(out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12))


def _mirror_of(points: FloatArray) -> IntArray:
    """Return for each vertex its mirror image, found before any vertex moves."""
    def order(p: FloatArray) -> IntArray:
        # an odd offset, so that no coordinate lies between two roundings
        r = np.round(p * 1e6 + 0.3137)
        return np.lexsort((r[:, 2], r[:, 1], r[:, 0]))
    mirror = np.empty(len(points), dtype=np.int64)
    mirror[order(points)] = order(points * MIRROR)
    return mirror


def _symmetric(points: FloatArray, mirror: IntArray) -> FloatArray:
    left = np.where((np.arange(len(points)) <= mirror)[:, None], points, points[mirror] * MIRROR)
    left[mirror == np.arange(len(points)), 0] = 0.0
    return left


def _edges(quads: IntArray) -> IntArray:
    pairs = np.stack((quads, np.roll(quads, -1, axis=1)), axis=-1).reshape(-1, 2)
    return np.unique(np.sort(pairs, axis=1), axis=0)


def _relaxed(points: FloatArray, quads: IntArray, edges: IntArray, share: float) -> FloatArray:
    """Move each vertex along the surface towards the middle of its neighbours."""
    sums = np.zeros_like(points)
    np.add.at(sums, edges[:, 0], points[edges[:, 1]])
    np.add.at(sums, edges[:, 1], points[edges[:, 0]])
    step = sums / np.bincount(edges.ravel())[:, None] - points
    normal = normals(points, quads)
    return np.asarray(points + share * (step - np.sum(step * normal, axis=1, keepdims=True) * normal))


def _drawn(points: FloatArray) -> FloatArray:
    """Take one Newton step towards the skin."""
    h = 1e-4
    d = figure.distance(points)
    slope = np.stack([figure.distance(points + h * axis) - d for axis in np.eye(3)], axis=-1) / h
    step = d[:, None] * slope / np.maximum(np.sum(slope**2, axis=1, keepdims=True), 0.05)
    length = np.linalg.norm(step, axis=1, keepdims=True)
    return np.asarray(points - step * np.minimum(1.0, STEP_M / np.maximum(length, 1e-12)))
