"""Skin weights as a few influences for each vertex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import TaktError
from ..maths.arrays import FloatArray, IntArray

_SUM_TOLERANCE = 1e-6
_FEW = 8
_FADING = 2.0
"""How late weights begin to fade before they vanish: 1 lowers all of them, more leaves large ones alone."""


@dataclass(frozen=True, eq=False)
class Influences:
    """K influences for each of V vertices, the strongest first, padded with weight 0 of joint 0.

    joints: (V, K) joint indices; weights: (V, K), finite, ≥ 0, each row summing to 1 (or to 0 if no joint
    moves the vertex).
    """

    joints: IntArray
    weights: FloatArray

    def __post_init__(self) -> None:
        if self.joints.shape != self.weights.shape or self.joints.ndim != 2:
            raise TaktError(f"joints {self.joints.shape} and weights {self.weights.shape} must both be (V, K)")
        if not np.isfinite(self.weights).all() or (self.weights < 0.0).any():
            raise TaktError("weights must be finite and at least 0")
        total = self.weights.sum(axis=1)
        if not (np.isclose(total, 1.0, atol=_SUM_TOLERANCE) | (total == 0.0)).all():
            raise TaktError("the weights of a vertex must sum to 1")

    @classmethod
    def strongest(cls, weights: FloatArray, limit: int = 0, prune_below: float = 0.0) -> Influences:
        """Keep the strongest weights of a dense (V, J) array, at most `limit` (0: as many as needed).

        Weights below `prune_below` × the row's sum are dropped, except a row's strongest; the rest is
        normalised. Equal weights keep the order of the joints.
        """
        width = weights.shape[1] if limit <= 0 else min(limit, weights.shape[1])
        if width < weights.shape[1]:
            edge = np.partition(weights, weights.shape[1] - width, axis=1)[:, -width]
            kept = np.where(weights >= edge[:, None], weights, 0.0)
        else:
            kept = weights
        order = np.argsort(-kept, axis=1, kind="stable")[:, :width]
        values = np.take_along_axis(kept, order, axis=1)
        total = values.sum(axis=1, keepdims=True)
        keep = values >= prune_below * total
        keep[:, :1] = True
        values = np.where(keep, values, 0.0)
        total = values.sum(axis=1, keepdims=True)
        values = np.divide(values, total, out=np.zeros_like(values), where=total > 0.0)
        used = max(1, int((values > 0.0).any(axis=0).sum()))
        return cls(np.where(values > 0.0, order, 0)[:, :used], values[:, :used])

    @classmethod
    def fading(cls, weights: FloatArray, limit: int = 0, prune_below: float = 0.0) -> Influences:
        """Keep the weights that `strongest` keeps, without a step where the kept ones change from vertex to vertex.

        The edge e of a row is its strongest dropped weight, or prune_below × the row's sum if that is
        greater. Weights above it become w (1 − (e/w)²), which is 0 at the edge; then all are normalised.
        A row without any weight above its edge is cut as `strongest` cuts it.

        >>> Influences.fading(np.array([[0.5, 0.3, 0.2]]), limit=2).weights.round(2).tolist()
        [[0.72, 0.28]]
        """
        width = weights.shape[1] if limit <= 0 else min(limit, weights.shape[1])
        order, values = _descending(weights, width + 1)
        edge = prune_below * weights.sum(axis=1, keepdims=True)
        if width < weights.shape[1]:
            edge = np.maximum(edge, values[:, width:])
            order, values = order[:, :width], values[:, :width]
        share = np.divide(edge, values, out=np.ones_like(values), where=values > edge)
        faded = values * (1.0 - share**_FADING)
        total = faded.sum(axis=1, keepdims=True)
        faded = np.divide(faded, total, out=faded, where=total > 0.0)
        flat = np.flatnonzero(total <= 0.0)
        if len(flat):
            cut = cls.strongest(weights[flat], limit, prune_below)
            some = slice(cut.joints.shape[1])
            order[flat, some], faded[flat, some] = cut.joints, cut.weights
        used = max(1, int((faded > 0.0).any(axis=0).sum()))
        return cls(np.where(faded > 0.0, order, 0)[:, :used], faded[:, :used])

    def dense(self, joints: int) -> FloatArray:
        """Return the weights as (V, joints)."""
        dense = np.zeros((len(self.joints), joints))
        np.add.at(dense, (np.arange(len(dense))[:, None], self.joints), self.weights)
        return dense


def _descending(weights: FloatArray, count: int) -> tuple[IntArray, FloatArray]:
    """Return the joints and values (V, count) of each row's greatest weights; equal ones keep the joints' order."""
    count = min(count, weights.shape[1])
    if count > _FEW:
        order = np.argsort(-weights, axis=1, kind="stable")[:, :count]
        return order, np.take_along_axis(weights, order, axis=1)
    rows, left = np.arange(len(weights)), weights.copy()
    order, values = np.empty((count, len(weights)), dtype=np.int64), np.empty((count, len(weights)))
    for rank in range(count):  # a few passes are faster than sorting rows that are mostly zeros
        left.argmax(axis=1, out=order[rank])
        values[rank] = left[rows, order[rank]]
        left[rows, order[rank]] = -1.0
    return order.T, values.T  # column after column: sums over a few of them are faster
