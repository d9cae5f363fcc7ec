"""Which ends of a body are its head, hands and feet: the embedding of the pattern with the least penalty."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray, IntArray, quotient

_UNEVEN: Final = 2.0
_TRUNK: Final = 4.0
_SHORTEST_TRUNK: Final = 0.1
_HEAD_AT: Final = 1.5
_LONG_ARMS: Final = 1.5
_ASKEW: Final = 0.8
_OFF_PLANE: Final = 2.0
_MOST_SPATIAL: Final = 1.2
_THIN_HEAD: Final = 0.35
_LEFT_OUT: Final = 0.9
_UP: Final = 0.25
_SHEET: Final = 0.5
"""What each kind of mismatch costs; lengths count as shares of the longest way through the body."""


@dataclass(frozen=True, eq=False)
class Ends:
    """T ends of a body.

    points: (T, 3); ways: (T, T) between them through the inside; lengths: (T,) how far they reach out; volumes: (T,) of
    what lies near each; depths: (T,) of the deepest cell near each, in cells.
    """

    points: FloatArray
    ways: FloatArray
    lengths: FloatArray
    volumes: FloatArray
    depths: FloatArray


@dataclass(frozen=True)
class Embedding:
    """Numbers of the ends that are the head, the hands, and the feet; hands and feet of one side stand alike.

    penalty: what mismatches cost, 0 for the pattern itself; about 1 and more is no humanoid. trunk: the way between
    where the hands part and where the feet do, as a share of the longest way through the body.
    """

    head: int
    hands: tuple[int, int]
    feet: tuple[int, int]
    penalty: float
    trunk: float


def embed(ends: Ends, up: FloatArray) -> Embedding | None:
    """Return the best embedding of head, hands and feet into the ends of a body; None where there are fewer than five.

    Every choice is tried, and the one with the least penalty taken, as Baran and Popović (2007, section 3.2) do for the
    vertices of their graph. Penalised are: limbs of a pair that differ in length, hands and feet that have no trunk
    between them, a head that does not sit on the hands' end of it, pairs that are not mirrored in one plane, a head
    thinner than the hands, hands farther from the head than the feet, long ends left out, and a head that points away
    from `up` (3,).
    """
    count = len(ends.points)
    if count < 5:
        return None
    choices = _choices(count)
    total = _intrinsic(ends, choices) + _spatial(ends, choices, up) + _left_out(ends, choices, count)
    best = int(total.argmin())
    head, one, other, foot, far = choices[best].tolist()
    trunk = float(_trunks(ends.ways / ends.ways.max(), choices[best:best + 1])[0])
    return Embedding(head, (one, other), (foot, far), float(total[best]), trunk)


def _choices(count: int) -> IntArray:
    """Return all choices (C, 5) of a head, two hands, and the feet on the same sides."""
    rows = []
    for hands in combinations(range(count), 2):
        rest = [end for end in range(count) if end not in hands]
        rows += [(head, *hands, *feet) for head in rest for feet in permutations([e for e in rest if e != head], 2)]
    return np.array(rows, dtype=np.int64)


def _intrinsic(ends: Ends, choices: IntArray) -> FloatArray:
    """Return the penalties (C,) for lengths through the inside, which do not depend on the pose."""
    way = ends.ways / ends.ways.max()
    h, a, b, c, d = choices.T
    uneven = (np.abs(way[h, a] - way[h, b]) + np.abs(way[h, c] - way[h, d]) + np.abs(way[a, c] - way[b, d])
              + np.abs(way[a, d] - way[b, c]))
    trunk = _trunks(way, choices)
    from_hands = (way[h, a] + way[h, b] - way[a, b]) / 2.0
    from_feet = (way[h, c] + way[h, d] - way[c, d]) / 2.0
    volume = ends.volumes
    thin = 1.0 - np.minimum(quotient(2.0 * volume[h], volume[a] + volume[b]), 1.0)
    sheets = sum(np.where(ends.depths[end] < 2.0, 1.0, 0.0) for end in (h, a, b, c, d)) / 5.0
    arms = (way[h, a] + way[h, b] - way[h, c] - way[h, d]) / 2.0
    return np.asarray(_UNEVEN * uneven / 2.0 + _LONG_ARMS * np.maximum(arms, 0.0)
                      + _TRUNK * np.maximum(_SHORTEST_TRUNK - trunk, 0.0)
                      + _HEAD_AT * np.abs(from_feet - from_hands - np.maximum(trunk, 0.0))
                      + _THIN_HEAD * thin + _SHEET * sheets)


def _trunks(way: FloatArray, choices: IntArray) -> FloatArray:
    """Return the way (C,) between where hands and where feet meet, from ways (T, T), by the four-point condition.

    It is negative where they do not lie at two ends of a trunk (Buneman 1974).
    """
    _, a, b, c, d = choices.T
    across = (way[a, c] + way[b, d] + way[a, d] + way[b, c]) / 4.0
    return np.asarray(across - (way[a, b] + way[c, d]) / 2.0)


def _spatial(ends: Ends, choices: IntArray, up: FloatArray) -> FloatArray:
    """Return the penalties (C,) for pairs that are not mirrored, no more than `_MOST_SPATIAL`, and for a low head."""
    h, a, b, c, d = (ends.points[column] for column in choices.T)
    size = float(ends.ways.max())
    hands, feet = b - a, d - c
    n_hands, n_feet = _unit(hands), _unit(feet)
    cosine = (n_hands * n_feet).sum(axis=1)
    normal = _unit(hands + feet)
    upper, lower = (a + b) / 2.0, (c + d) / 2.0
    off = np.abs(((h - lower) * normal).sum(axis=1)) + np.abs(((upper - lower) * normal).sum(axis=1))
    mirror = np.minimum(_ASKEW * (1.0 - cosine) + _OFF_PLANE * off / size, _MOST_SPATIAL)
    return np.asarray(mirror + _UP * (1.0 - (_unit(h - lower) * up).sum(axis=1)) / 2.0)


def _left_out(ends: Ends, choices: IntArray, count: int) -> FloatArray:
    """Return the penalties (C,) for ends that are in no limb, by how far they reach out."""
    lengths = ends.lengths[:count] / float(ends.ways.max())
    return np.asarray(_LEFT_OUT * (lengths.sum() - lengths[choices].sum(axis=1)))


def _unit(vectors: FloatArray) -> FloatArray:
    return quotient(1.0, np.linalg.norm(vectors, axis=-1))[..., None] * vectors
