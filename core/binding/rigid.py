"""Pieces that move as one: if one bone moves a part nearly alone, it moves the part alone."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray, IntArray, smoothstep
from .loose import means_of_parts
from .surface import Surface

_MOSTLY, _HALF, _HARDLY = 0.7, 0.4, 0.3
"""The share of its strongest bone from which on a part becomes stiff: for a soft part, one of an assembly, a compact
one."""

_SOME_PARTS, _MANY_PARTS = 30, 100
"""Numbers of parts: up to the first, a body is no assembly of hard parts; from the second on it is, like a machine."""

_WHOLLY = 0.2
"""Shares greater than the thresholds above by this much make a part fully stiff."""

_LEAD = 0.1
"""The strongest bone is chosen if its share exceeds the second one by this; for equal shares, none is chosen."""

_SHEET, _BLOB = 0.4, 0.7
"""Compactness of parts that bend with the skin they lie on, such as belts, and of parts that do not, such as eyes."""

_SOLID = 0.2
"""Compactness from which on a part of an assembly counts as hard; cards of hair and feathers have less."""

_ITS_OWN = 2.0 / 3.0
"""For a hard part of an assembly, the weight of the bones that it holds, against that of the nearest bones."""

_PARTLY, _WELL = 0.4, 0.8
"""Shares of a bone that a part holds: one that holds a second bone well bends between the two."""

_RUNS_THROUGH = 0.2
"""A part that holds this share of a bone is not closed to it."""

_LOW = 0.1
"""How far a piece is closed to other pieces' bones: as a full wall has a factor of 10, they cost twice as much."""

_TINY = float(np.finfo(np.float64).tiny)


def stiffened(weights: FloatArray, areas: FloatArray, part: IntArray, held: FloatArray,
              compact: FloatArray) -> FloatArray:
    """Return weights (C, B) in which parts follow one bone alone, as far as it already moves them nearly alone.

    areas (C,) > 0 and part (C,) of each point; held (M, B) as `held_bones`, and compact (M,) as `compactness`.
    Stiffness has no threshold. If the mean weights of a part are mostly bone b, its weights w become (1 − t) w + t b. t
    rises from 0 to 1 with that bone's share of the mean. In an assembly of hard parts, the bones that lie in a part
    count more than those near it. A part that holds two bones bends.

    >>> mostly_one = np.array([[0.9, 0.1], [1.0, 0.0], [0.5, 0.5]])
    >>> stiffened(mostly_one, np.ones(3), np.array([0, 0, 1]), np.zeros((2, 2)), np.zeros(2)).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]
    """
    count, loose = len(held), ~held.any(axis=1)
    mean, _ = means_of_parts(weights, areas, part, count)
    assembly = smoothstep(np.float64(count), _SOME_PARTS, _MANY_PARTS) * smoothstep(compact, 0.0, _SOLID)
    own = (_ITS_OWN * assembly * ~loose)[:, None]
    mean = (1.0 - own) * mean + own * held / np.maximum(held.sum(axis=1, keepdims=True), _TINY)
    soft = _MOSTLY + (_HALF - _MOSTLY) * assembly
    from_share = soft + (_HARDLY - soft) * loose * smoothstep(compact, _SHEET, _BLOB)
    first, second = _greatest_two(mean)
    stiff = smoothstep(first, from_share, from_share + _WHOLLY) * smoothstep(first - second, 0.0, _LEAD)
    stiff = (stiff * (1.0 - smoothstep(_greatest_two(held)[1], _PARTLY, _WELL)))[part]
    result = weights * (1.0 - stiff[:, None])
    result[np.arange(len(part)), mean.argmax(axis=1)[part]] += stiff
    return np.asarray(result)


def walls(held: FloatArray, compact: FloatArray) -> FloatArray:
    """Return how far parts are closed to bones that other parts keep to themselves: (M, B), 0 to 1.

    held (M, B) as `held_bones`, compact (M,) as `compactness`. A compact part that holds one bone and no other, such as
    an eye, keeps it: the skin around an eye does not turn with it. A part that a bone runs through is not closed to
    that bone, such as a ball between two pieces of a puppet. Pieces are also closed to other pieces' bones
    (`_of_other_pieces`).

    >>> face_and_eye = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> walls(face_and_eye, np.array([0.9, 0.9]))[:, 2].tolist()
    [1.0, 0.0]
    """
    alone = 1.0 - smoothstep(_greatest_two(held)[1], _PARTLY, _WELL)
    kept = smoothstep(held, _PARTLY, _WELL) * (smoothstep(compact, _SHEET, _BLOB) * alone)[:, None]
    kept = np.maximum(kept.max(axis=0) - held / _RUNS_THROUGH, 0.0)
    return np.asarray(np.maximum(kept, _of_other_pieces(held, compact)))


def _of_other_pieces(held: FloatArray, compact: FloatArray) -> FloatArray:
    """Return how far parts that hold bones are closed to bones of parts with which they share no bone: (M, B).

    Pieces of a robot or of a jointed doll are cut where they turn. The rim of a thigh's piece is near the pelvis bone,
    but moves with the thigh. Pieces that share a bone, such as a shirt and the arms in its sleeves, are one limb. Parts
    that hold no bone are not closed to any bone. The values are low, since two pieces may still be one body. In an
    assembly of hard parts they are as high as those of `walls`.
    """
    well = smoothstep(held, _PARTLY, _WELL)
    own = np.flatnonzero(well.any(axis=1))
    result = np.zeros(held.shape)
    for piece in own.tolist():
        shared = np.minimum(well[own], well[piece]).max(axis=1)
        apart = np.where(own == piece, 0.0, 1.0 - shared)
        result[piece] = (well[own] * apart[:, None]).max(axis=0) * well[piece].max()
    assembly = smoothstep(np.float64(len(held)), _SOME_PARTS, _MANY_PARTS) * smoothstep(compact, 0.0, _SOLID)
    return np.asarray(np.maximum(result - held / _WELL, 0.0) * (_LOW + (1.0 - _LOW) * assembly)[:, None])


def _greatest_two(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the greatest and second greatest values of rows (M, B), (M,) each; 0 for values that a row lacks."""
    ordered = np.sort(rows, axis=1)
    return ordered[:, -1], ordered[:, -2] if rows.shape[1] > 1 else np.zeros(len(rows))


def compactness(surface: Surface, part: IntArray) -> FloatArray:
    """Return how compact each part is, (M,): 1 for a ball, near 0 for a sheet, a long band, a ring, half a shell.

    part: (P,) which each of the surface's points belongs to, 0 … M − 1. It is the part's sphericity (Wadell 1935:
    the area of a ball of its volume, over its own), times how far its surface is closed. The volume V is the least
    eigenvalue of ∫ (x − c) nᵀ dA, which is V I where the surface is closed.
    """
    own = part[surface.triangles[:, 0]]
    count = int(part.max()) + 1
    flows = surface.face_normals * surface.face_areas[:, None]
    centres = surface.points[surface.triangles].mean(axis=1)
    area = np.maximum(np.bincount(own, surface.face_areas, count), _TINY)
    middle, flow = (np.stack([np.bincount(own, values[:, axis], count) for axis in range(3)], axis=1)
                    for values in (centres * surface.face_areas[:, None], flows))
    offsets = centres - (middle / area[:, None])[own]
    moment = np.empty((count, 3, 3))
    for row, column in np.ndindex(3, 3):
        moment[:, row, column] = np.bincount(own, offsets[:, row] * flows[:, column], count)
    volume = np.linalg.eigvalsh(0.5 * (moment + moment.transpose(0, 2, 1)))[:, 0]
    sphericity = (36.0 * np.pi) ** (1.0 / 3.0) * np.maximum(volume, 0.0) ** (2.0 / 3.0) / area
    return np.asarray(sphericity * (1.0 - np.minimum(np.linalg.norm(flow, axis=1) / area, 1.0)))
