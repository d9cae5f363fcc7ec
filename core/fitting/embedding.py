"""Which ends of a body are its head, hands and feet: the embedding of the pattern with the least penalty."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray, quotient
from .ends import SAMPLES, Ends, gromov

_UNEVEN: Final = 2.0
_TRUNK: Final = 4.0
_SHORTEST_TRUNK: Final = 0.1
_HEAD_AT: Final = 1.5
_LONG_ARMS: Final = 1.0
_ASKEW: Final = 0.6
_OFF_PLANE: Final = 2.0
_MOST_SPATIAL: Final = 1.2
_LEFT_OUT: Final = 1.5
_UP: Final = 0.15
_SHEET: Final = 0.4
_THIN_LEGS: Final = 0.35
_STRAIGHT_FEET: Final = 0.25
_THIN_HEAD: Final = 0.35
_LONG_HEAD: Final = 0.5
"""Penalties for each kind of mismatch; lengths count as shares of the longest path through the body."""

_LEG_OF_ARM: Final = 1.2
_HEAD_OF_ARM: Final = 2.0
"""Cross-sections of a leg and of a head, in multiples of an arm's, from which on humanoids get no penalty."""

_ROUND: Final = 0.6
"""Roundness below which a limb is a sheet."""

_ALONG: Final = np.array((0.3, 0.45, 0.6, 0.75))
"""Shares of a free limb at which cross-sections are compared."""

_TOE: Final = 0.12
_SHIN: Final = 0.25, 0.5
"""Shares of the free limb from its tip: the end of the toes; the stretch of the shin."""

SHARED: Final = 0.7
"""Share of a limb: ends that separate nearer to its tip are ends of one limb."""

_CLEAR: Final = 0.25
_SHAPES: Final = ("thin legs", "thin head", "sheets")
_NO_DOUBT: Final = 0.4
_ALIEN: Final = 0.8
"""The lead over any other embedding that makes one certain. The penalty for shapes of limbs and head up to which it is
fully certain, and from which on it is not certain at all."""

_AS_FINGERS: Final = 0.14
_ILL_FITTING: Final = 0.8
"""An embedding with at least these penalties, for a thin head and in total, is a hand."""

NOT_HUMANOID: Final = 1.3
"""A penalty from which on there is no humanoid."""


@dataclass(frozen=True)
class Embedding:
    """The numbers of the ends that are head, hands and feet; hands and feet are in the same order of sides.

    penalty: cost of mismatches, 0 for the pattern itself; from about 1 on the body is no humanoid. trunk: distance
    between the fork of the hands and that of the feet, as a share of the longest path through the body. certain: 0 to
    1, by how much worse any other choice of head, hands and feet is, and by the shapes of limbs and head. others: the
    numbers of ends that belong to no limb.
    """

    head: int
    hands: tuple[int, int]
    feet: tuple[int, int]
    penalty: float
    trunk: float
    certain: float
    others: tuple[int, ...]


def embed(ends: Ends, up: FloatArray) -> Embedding | None:
    """Return the best embedding of head, hands and feet into the ends of a body, or None if there are fewer than five.

    Every choice is tried, and the one with the least penalty is taken. Baran and Popović (2007, section 3.2) do so for
    the vertices of their graph. For the penalties see `penalties`. up: (3,) the likely direction of the head.
    """
    count = len(ends.points)
    if count < 5:
        return None
    choices = _choices(count)
    costs = penalties(ends, choices, up)
    total = np.sum(list(costs.values()), axis=0)
    best = int(total.argmin())
    head, one, other, foot, far = choices[best].tolist()
    trunk = float(_trunks(ends.ways / ends.ways.max(), choices[best:best + 1])[0])
    if float(costs["thin head"][best]) > _AS_FINGERS and float(total[best]) > _ILL_FITTING:
        total = total + NOT_HUMANOID
    rival = float(total[_differ(ends.ways / ends.ways.max(), choices, best)].min(initial=np.inf))
    clear = min((rival - float(total[best])) / _CLEAR, 1.0)
    shape = sum(float(costs[name][best]) for name in _SHAPES)
    fits = np.clip((_ALIEN - shape) / (_ALIEN - _NO_DOUBT), 0.0, 1.0)
    others = tuple(end for end in range(count) if end not in choices[best])
    return Embedding(head, (one, other), (foot, far), float(total[best]), trunk, clear * float(fits), others)


def _differ(way: FloatArray, choices: IntArray, best: int) -> BoolArray:
    """Return which choices (C, 5) have another head, hands or feet than the best one, ignoring sides.

    Ends that share most of a limb, such as fingers of a hand, or horns of a head, count as the same.
    """
    h, a, b, c, d = choices[best]
    lie = [way[h, a], way[a, h], way[b, h], way[c, h], way[d, h]]
    others = [a, h, h, h, h]
    free = [gromov(way, *some) for some in ((h, a, b), (a, h, b), (b, h, a), (c, d, h), (d, c, h))]
    every = np.arange(len(way))
    elsewhere = np.array([(way[end] + lie[k] - way[others[k]][every]) / 2.0 > SHARED * free[k]
                          for k, end in enumerate((h, a, b, c, d))])
    same = ~elsewhere
    hands = (same[1, choices[:, 1]] & same[2, choices[:, 2]]) | (same[1, choices[:, 2]] & same[2, choices[:, 1]])
    feet = (same[3, choices[:, 3]] & same[4, choices[:, 4]]) | (same[3, choices[:, 4]] & same[4, choices[:, 3]])
    return np.asarray(~(same[0, choices[:, 0]] & hands & feet))


def _choices(count: int) -> IntArray:
    """Return all choices (C, 5) of a head, two hands, and the feet on the same sides."""
    rows = []
    for hands in combinations(range(count), 2):
        rest = [end for end in range(count) if end not in hands]
        rows += [(head, *hands, *feet) for head in rest for feet in permutations([e for e in rest if e != head], 2)]
    return np.array(rows, dtype=np.int64)


def penalties(ends: Ends, choices: IntArray, up: FloatArray) -> dict[str, FloatArray]:
    """Return the penalties (C,) of each choice (C, 5) of head, hands and feet, by their reason.

    Lengths through the inside, which do not depend on the pose: limbs of a pair that differ; hands and feet without a
    trunk between them; a head that is not at the hands' end of the trunk; hands farther from the head than feet; a head
    longer than arms. Shapes: legs thinner than arms, hands with an angle like feet, a head as thin as an arm, sheets.
    Space: pairs that are not mirrored in one plane, a head that points away from `up` (3,). Mass: cells that belong to
    no limb.
    """
    way = ends.ways / ends.ways.max()
    h, a, b, c, d = choices.T
    trunk = _trunks(way, choices)
    from_hands, from_feet = gromov(way, h, a, b), gromov(way, h, c, d)
    uneven = (np.abs(way[h, a] - way[h, b]) + np.abs(way[h, c] - way[h, d]) + np.abs(way[a, c] - way[b, d])
              + np.abs(way[a, d] - way[b, c]))
    arms = (way[h, a] + way[h, b] - way[h, c] - way[h, d]) / 2.0
    arm = np.minimum(gromov(way, a, h, b), gromov(way, b, h, a))
    return {"uneven": _UNEVEN * uneven / 2.0,
            "long arms": _LONG_ARMS * np.maximum(arms, 0.0),
            "no trunk": _TRUNK * np.maximum(_SHORTEST_TRUNK - trunk, 0.0),
            "head on the wrong end": _HEAD_AT * np.abs(from_feet - from_hands - np.maximum(trunk, 0.0)),
            "long head": _LONG_HEAD * np.maximum(from_hands - arm, 0.0),
            **_shapes(ends, choices),
            **_spatial(ends, choices, up),
            "left out": _LEFT_OUT * _left_out(ends, choices)}


def _trunks(way: FloatArray, choices: IntArray) -> FloatArray:
    """Return the distance (C,) between the forks of hands and feet, from distances (T, T), by the four-point condition.

    It is negative if they are not at two ends of a trunk (Buneman 1974).
    """
    _, a, b, c, d = choices.T
    across = (way[a, c] + way[b, d] + way[a, d] + way[b, c]) / 4.0
    return np.asarray(across - (way[a, b] + way[c, d]) / 2.0)


def _left_out(ends: Ends, choices: IntArray) -> FloatArray:
    """Return the share of the body (C,) in branches that lead to no chosen end."""
    way = ends.ways / ends.ways.max()
    count = len(way)
    every = np.arange(count)[:, None]
    branch = np.min([gromov(way, every, one, other) for one, other in combinations(choices.T, 2)], axis=0)
    return np.asarray(ends.masses[every, (branch * (SAMPLES - 1)).astype(np.int64)].sum(axis=0)
                      - ends.masses[choices, 0].sum(axis=1))


def _shapes(ends: Ends, choices: IntArray) -> dict[str, FloatArray]:
    """Return the penalties (C,) for the shapes of limbs and of the head."""
    way = ends.ways / ends.ways.max()
    h, a, b, c, d = choices.T
    grid = np.linspace(0.0, 1.0, SAMPLES)
    areas, roundness, points = ends.areas_at(grid), ends.roundness_at(grid), ends.points_at(grid)
    free = np.stack([gromov(way, one, other, third) for one, other, third in
                     ((h, a, b), (a, h, b), (b, h, a), (c, d, h), (d, c, h))], axis=1)

    def at(values: FloatArray, column: int, share: float) -> FloatArray:
        index = np.clip(np.rint(share * free[:, column] * (SAMPLES - 1)), 0, SAMPLES - 1).astype(np.int64)
        return np.asarray(values[choices[:, column], index])

    wide = [np.mean([np.log(at(areas, column, share)) for share in _ALONG], axis=0) for column in range(5)]
    arm, leg = (wide[1] + wide[2]) / 2.0, (wide[3] + wide[4]) / 2.0
    skull = np.max([np.log(at(areas, 0, share)) for share in _ALONG], axis=0)
    flat = [np.maximum(1.0 - np.mean([at(roundness, column, share) for share in _ALONG], axis=0) / _ROUND, 0.0)
            for column in range(5)]
    straight = []
    for column in range(1, 5):
        tip = at(points, column, _TOE) - ends.points[choices[:, column]]
        shin = at(points, column, _SHIN[1]) - at(points, column, _SHIN[0])
        straight.append(np.maximum((_unit(tip) * _unit(shin)).sum(axis=1), 0.0))
    angled = (straight[2] + straight[3] - straight[0] - straight[1]) / 2.0
    return {"thin legs": _THIN_LEGS * np.clip(np.log(_LEG_OF_ARM) - (leg - arm), 0.0, 1.5),
            "thin head": _THIN_HEAD * np.clip(np.log(_HEAD_OF_ARM) - (skull - arm), 0.0, 2.0),
            "straight feet": _STRAIGHT_FEET * np.maximum(angled, -0.5),
            "sheets": _SHEET * np.sum(flat, axis=0)}


def _spatial(ends: Ends, choices: IntArray, up: FloatArray) -> dict[str, FloatArray]:
    """Return the penalties (C,) for pairs that are not mirrored, no more than `_MOST_SPATIAL`, and for a low head."""
    h, a, b, c, d = choices.T
    size = float(ends.ways.max())
    arms, legs = (ends.roots[a, b], ends.roots[b, a]), (ends.roots[c, d], ends.roots[d, c])
    across, beside = arms[1] - arms[0], legs[1] - legs[0]
    normal = _unit(_unit(across) + _unit(beside))
    upper, lower = (arms[0] + arms[1]) / 2.0, (legs[0] + legs[1]) / 2.0
    head = ends.points[h]
    off = np.abs(((head - lower) * normal).sum(axis=1)) + np.abs(((upper - lower) * normal).sum(axis=1))
    mirror = _ASKEW * (1.0 - (_unit(across) * _unit(beside)).sum(axis=1)) + _OFF_PLANE * off / size
    return {"not mirrored": np.minimum(mirror, _MOST_SPATIAL),
            "head down": _UP * (1.0 - (_unit(head - lower) * up).sum(axis=1)) / 2.0}


def _unit(vectors: FloatArray) -> FloatArray:
    return quotient(1.0, np.linalg.norm(vectors, axis=-1))[..., None] * vectors
