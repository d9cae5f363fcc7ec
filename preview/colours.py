"""A stable colour for each bone; neighbours can be told apart, also by people with colour blindness."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np

from ..core.maths.arrays import FloatArray, IntArray
from ..core.skeletons.skeleton import Skeleton

_CANDIDATES = (
    "E69F00", "56B4E9", "009E73", "F0E442", "0072B2", "D55E00", "CC79A7",  # Okabe and Ito 2008
    "332288", "88CCEE", "44AA99", "999933", "DDCC77", "CC6677", "882255",  # Tol 2021, "muted"
)
_ENOUGH = 0.16
"""Distance in Oklab from which on two zones that touch are easily distinguished, under lights and shadows."""
_APART = 0.09
"""Least distance in Oklab between two zones that may touch somewhere."""
_CLOSE_BY, _POINTS = 6, 4
"""Number of the nearest bones that may touch; number of points on a bone by which that is measured."""

# Matrices for linear RGB as seen with each kind of full colour blindness (Machado, Oliveira and Fernandes 2009).
_SIGHTS = np.array((
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
))


def bone_colours(skeleton: Skeleton) -> FloatArray:
    """Return a linear RGB colour (J, 3) for each joint.

    A bone's name gives its colour. It may be too close to the colour of its parent, grandparent or an elder sibling, or
    almost equal to that of another bone nearby. Then the bone takes the next colour that is neither, or else the most
    different one.
    """
    distances, points = _distances(), _points_on_bones(skeleton)
    colours = len(_CANDIDATES)
    chosen = np.zeros(len(skeleton), dtype=np.int64)
    children: dict[int, list[int]] = {}
    for joint, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents.tolist(), strict=True)):
        siblings = children.setdefault(parent, [])
        family = list(siblings)
        if parent >= 0:
            family.append(parent)
            if skeleton.parents[parent] >= 0:
                family.append(int(skeleton.parents[parent]))
        around = _close_by(points, joint)
        order = (zlib.crc32(name.encode()) + np.arange(colours)) % colours
        room = np.minimum(distances[order][:, chosen[family]].min(axis=1, initial=np.inf) / _ENOUGH,
                          distances[order][:, chosen[around]].min(axis=1, initial=np.inf) / _APART)
        far_enough = np.flatnonzero(room >= 1.0)
        chosen[joint] = order[far_enough[0] if len(far_enough) else int(np.argmax(room))]
        siblings.append(joint)
    return _candidates()[chosen]


def _points_on_bones(skeleton: Skeleton) -> FloatArray:
    """Return points along each bone at rest, (J, P, 3): from its head to the mean of its children's."""
    heads = skeleton.rest_world[:, :, 3]
    ends, parents = np.zeros_like(heads), skeleton.parents
    child = np.flatnonzero(parents >= 0)
    np.add.at(ends, parents[child], heads[child])
    counts = np.bincount(parents[child], minlength=len(heads))[:, None]
    before = np.where((parents >= 0)[:, None], heads[np.maximum(parents, 0)], heads)
    ends = np.where(counts > 0, ends / np.maximum(counts, 1), heads + (heads - before) / 2.0)
    return np.asarray(heads[:, None] + (ends - heads)[:, None] * np.linspace(0.0, 1.0, _POINTS)[:, None])


def _close_by(points: FloatArray, joint: int) -> IntArray:
    """Return the bones before a joint, in order, that lie closest to it."""
    earlier = points[:joint].reshape(-1, 1, 3)
    apart = np.linalg.norm(earlier - points[joint], axis=-1).reshape(joint, _POINTS * _POINTS).min(axis=1)
    return np.argsort(apart, kind="stable")[:_CLOSE_BY]


@cache
def _candidates() -> FloatArray:
    encoded = np.array([[int(text[i:i + 2], 16) for i in (0, 2, 4)] for text in _CANDIDATES]) / 255.0
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


@cache
def _distances() -> FloatArray:
    """Return the distances of candidates in Oklab, as seen by those who distinguish them worst."""
    seen = np.clip(np.einsum("sij,cj->sci", _SIGHTS, _candidates()), 0.0, 1.0)
    lab = oklab(seen)
    return np.asarray(np.linalg.norm(lab[:, :, None] - lab[:, None], axis=-1).min(axis=0))


def oklab(linear: FloatArray) -> FloatArray:
    """Convert linear RGB (..., 3) to Oklab (Ottosson 2020), where distances are perceived differences."""
    cones = np.cbrt(linear @ np.array(((0.4122214708, 0.5363325363, 0.0514459929),
                                       (0.2119034982, 0.6806995451, 0.1073969566),
                                       (0.0883024619, 0.2817188376, 0.6299787005))).T)
    return np.asarray(cones @ np.array(((0.2104542553, 0.7936177850, -0.0040720468),
                                        (1.9779984951, -2.4285922050, 0.4505937099),
                                        (0.0259040371, 0.7827717662, -0.8086757660))).T)
