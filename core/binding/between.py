"""Parts that lie between limbs, such as a rib between two arms, a brooch or a beard: they move with neither limb."""

from __future__ import annotations

import numpy as np

from ..maths.arrays import FloatArray, IntArray, smoothstep
from ..skeletons.hierarchy import children_of, parents_first
from .loose import means_of_parts

_ALIKE = 4.0
"""If two limbs have shares x < y of a part, each loses (x/y) to this power of its share there."""

_PASSING, _AT_HOME = 0.4, 0.7
"""Shares of all the skin that a bone moves. The bone only passes a part with less than the first share. A part with
more than the second one belongs to it, such as a cape or a skirt."""

_BEGINNING, _ALONG = 0.1, 0.4
"""Shares of a limb. Cloth along less than the first lies at the limb's start, and is left to others. Cloth along more
than the second stays with the limb."""

_LITTLE = 0.02
"""Weight of the common parent among the bones that get the limbs' losses, as a share of these. The parent gets all of
them if no other bone moves the part."""

_TINY = float(np.finfo(np.float64).tiny)


def between_limbs(weights: FloatArray, areas: FloatArray, part: IntArray, held: FloatArray,
                  parents: IntArray, cloth: FloatArray, along: FloatArray) -> FloatArray:
    """Return weights (C, B) in which limbs with equal shares of a part leave it to other bones, unless it holds them.

    areas (C,) > 0 and part (C,) of each point; held (M, B) as `held_bones`; parents (B,), −1 for a root; cloth (M,) how
    far a part is cloth, 0 to 1, and along (M, B) as `along_limbs`. A rib is as near to the left arm as to the right
    one. Weighted by distance, it would tear when one of them moves. Equal shares of siblings and their descendants go
    to the other bones that move the part, or to the siblings' parent. Of cloth, they go to the parent alone. Cloth that
    runs along such limbs keeps their weights, such as a cape behind two legs. Rows sum to 1, before and after.

    >>> rib_and_arms = np.array([[0.2, 0.4, 0.4], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> between_limbs(rib_and_arms, np.array([1.0, 9.0, 9.0]), np.arange(3), np.zeros((3, 3)),
    ...               np.array([-1, 0, 0]), np.zeros(3), np.zeros((3, 3))).round(9).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    mean, total = means_of_parts(weights, areas, part, len(held))
    moved = mean * total[:, None]
    home = moved / np.maximum(moved.sum(axis=0), _TINY)
    passing = np.where(held > 0.0, 0.0, 1.0 - smoothstep(home, _PASSING, _AT_HOME))
    kept, risen, beside = _kept(mean * passing, parents, along)
    passing *= 1.0 - smoothstep(cloth * beside, _BEGINNING, _ALONG)[:, None]
    kept = 1.0 - passing * (1.0 - kept)
    rest = (1.0 - cloth)[:, None] * mean * kept + _LITTLE * risen
    rest /= np.maximum(rest.sum(axis=1, keepdims=True), _TINY)
    result = weights * kept[part]
    return np.asarray(result + np.maximum(1.0 - result.sum(axis=1, keepdims=True), 0.0) * rest[part])


def _kept(share: FloatArray, parents: IntArray, along: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what bones keep of their shares (M, B) of parts, 0 to 1, and how much their parents gain, (M, B).

    Also how far, (M,), the limbs that lose something run along (M, B) the part, on average.
    """
    order = parents_first(parents)
    limb, kept, risen = share.copy(), np.ones_like(share), np.zeros_like(share)
    beside = np.zeros(len(share))
    for bone in reversed(order):
        if parents[bone] >= 0:
            limb[:, parents[bone]] += limb[:, bone]
    children = children_of(parents)
    for bone in order:
        own = children[bone]
        if len(own) > 1:
            alike = _likeness(limb[:, own])
            lost = alike * limb[:, own]
            risen[:, bone] = lost.sum(axis=1)
            beside += (lost * along[:, own]).sum(axis=1)
            kept[:, own] = 1.0 - alike
        kept[:, own] *= kept[:, [bone]]
    return kept, risen, beside / np.maximum(risen.sum(axis=1), _TINY)


def _likeness(limbs: FloatArray) -> FloatArray:
    """Return how alike each of K shares (M, K) and the nearest other of its row are, 0 to 1: its neighbour in order."""
    order = np.argsort(limbs, axis=1, kind="stable")
    rising = np.take_along_axis(limbs, order, axis=1)
    ratio = (rising[:, :-1] / np.maximum(rising[:, 1:], _TINY)) ** _ALIKE
    none = np.zeros((len(limbs), 1))
    best = np.maximum(np.hstack((none, ratio)), np.hstack((ratio, none)))
    found = np.empty_like(limbs)
    np.put_along_axis(found, order, best, axis=1)
    return found
