"""Weights at joints: far from a joint, skin stays with the bones on its side; joints that part stretch skin."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.hierarchy import path_to_root

_NEAR, _FAR = 1.5, 3.0
"""Distances from a joint, in radii of the limb that starts there: weights pass fully below the first, and not at all
above the second."""

_EVEN = 2.0
"""A bone at distance d heats with 1/d². Multiplied by d to this power, weights of a thin and of a thick limb count the
same at their border."""

_LESSER = 2.0
"""Far from a joint, weights of the lesser side are multiplied by this power of the ratio of both sides' shares."""

_STRETCHED = 1.4
"""Factor on the blending distance at a joint that parts."""

_SLIGHT = 0.04
"""A smaller share of a point, among both sides of a parting joint, is removed: it would only stretch the skin."""

_TINY = float(np.finfo(np.float64).tiny)


def within_reach(weights: FloatArray, from_bones: FloatArray, points: FloatArray, heads: FloatArray,
                 radii: FloatArray, parents: IntArray, past_joints: FloatArray | None = None) -> FloatArray:
    """Return weights (N, B), reduced where a joint between a bone and a point is far from the point.

    from_bones: (N, B) distances from the bones' lines. points: (N, 3). heads: (B, 3), the joints. radii: (B,) of the
    limbs that start there. parents: (B,), −1 for a root. Rows sum to 1, before and after.

    The heat of a thin limb reaches far into a thick one beside it, such as that of a hanging arm into the chest. A
    bending arm would then pull the whole side of the chest along. So each point belongs to one side of each joint: the
    side whose bones have more than half of the sum of w d². A weight from the other side is multiplied by the greater
    of two factors. One is the square of the ratio of the lesser share to the greater. The other is 1 up to 1.5 radii
    from the joint, and 0 from 3 radii on. If several joints lie between, the least factor counts. At the border itself
    the factor is 1, so there is no step. past_joints: (B,) as in `Sources`; None for not at all. It is for strips of
    one cloth, and for the bones of a palm, which run side by side: their weights blend however far away the joints are.

    >>> arm_beside_chest = np.array([[0.7, 0.3], [0.7, 0.3]])  # the second is four radii away from the arm's joint
    >>> found = within_reach(arm_beside_chest, np.full((2, 2), 0.1), np.array([[0, 0, 0], [0, 0, 0.4]]),
    ...                      np.zeros((2, 3)), np.full(2, 0.1), np.array([-1, 0]))
    >>> found.round(3).tolist()
    [[0.7, 0.3], [0.927, 0.073]]
    """
    order = sorted(range(len(parents)), key=lambda bone: len(path_to_root(parents, bone)))
    away = np.maximum(from_bones, radii)  # where a limb ends, its line meets the skin
    side = np.multiply(weights, away**_EVEN, out=np.zeros_like(weights), where=weights > 0.0).T.copy()
    side /= np.maximum(side.sum(axis=0), _TINY)
    least = np.ones_like(side)  # of the joints on the way down from each bone to where most of the weight is
    passing = np.empty_like(side)
    above = np.ones(len(points))
    for bone in reversed(order):
        away = np.linalg.norm(points - heads[bone], axis=1)
        lesser = np.minimum(side[bone], 1.0 - side[bone])
        passing[bone] = np.maximum(_fading(away, float(radii[bone])), (lesser / (1.0 - lesser))**_LESSER)
        if past_joints is not None:
            passing[bone] = np.maximum(passing[bone], past_joints[bone])
        parent, most = int(parents[bone]), side[bone] > 0.5
        if parent >= 0:
            side[parent] += side[bone]
            least[parent][most] = np.minimum(least[bone], passing[bone])[most]
        else:
            above[most] = least[bone][most]
    for bone in order:
        upward = passing[bone]
        before = np.minimum(passing[parents[bone]], upward) if parents[bone] >= 0 else above
        passing[bone] = np.where(side[bone] > 0.5, least[bone], before)
    kept = weights * passing.T
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))


def stretched(distances: FloatArray, shares: FloatArray, parting: BoolArray, parents: IntArray) -> FloatArray:
    """Return the distances (N,) over which weights blend, larger where bones of parting joints have a share.

    shares: (N, B) as in `Sources`. parting: (B,) as in `BoneLines`. When a leg moves without its foot, both ends of an
    edge between them are far apart. Skin that blends within two rows of vertices would form long spikes.
    """
    bones = parting.copy()
    bones[parents[parting]] = True
    return np.asarray(distances * (1.0 + (_STRETCHED - 1.0) * shares[:, bones].sum(axis=1)))


def without_slight(weights: FloatArray, parting: BoolArray, parents: IntArray) -> FloatArray:
    """Return weights (N, B) without slight shares across joints that part: these would stretch skin far.

    parting: (B,) as in `BoneLines`; parents: (B,). The sum of both sides' weights of a point stays the same.

    >>> shin_and_foot = np.array([[0.97, 0.03], [0.5, 0.5], [0.27, 0.73]])
    >>> without_slight(shin_and_foot, np.array([False, True]), np.array([-1, 0])).round(3).tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]]
    """
    weights = weights.copy()
    for bone in np.flatnonzero(parting).tolist():
        below = [other for other in range(len(parents)) if bone in path_to_root(parents, other)]
        sides = weights[:, below].sum(axis=1), weights[:, parents[bone]]
        share = sides[0] / np.maximum(sides[0] + sides[1], _TINY)
        new = np.clip((share - _SLIGHT) / (1.0 - 2.0 * _SLIGHT), 0.0, 1.0)
        weights[:, below] *= (new / np.maximum(share, _TINY))[:, None]
        weights[:, parents[bone]] = (sides[0] + sides[1]) * (1.0 - new)
    return weights


def _fading(away: FloatArray, radius: float) -> FloatArray:
    """Return 1 up to _NEAR radii, 0 from _FAR on, and smoothly between."""
    width = (_FAR - _NEAR) * radius or 1.0
    share = np.clip((_FAR * radius - away) / width, 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))
