"""Clips that play where their skeleton stands in a scene: their root joints are moved there."""

from __future__ import annotations

from dataclasses import replace
from operator import itemgetter

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from .clip import Clip, Tracks
from .keyed import keys_of, packed


def rigid(place: FloatArray) -> FloatArray:
    """Return only the rotation and translation of a matrix (4, 4), as a matrix; mirroring is left out.

    >>> rigid(np.diag((-2.0, 2.0, 2.0, 1.0))).tolist() == np.eye(4).tolist()
    True
    """
    found = place.copy()
    if np.linalg.det(found[:3, :3]) < 0.0:
        found[:3, 0] *= -1.0
    left, _, right = np.linalg.svd(found[:3, :3])
    found[:3, :3] = left @ right
    return found


def placed(clip: Clip, place: FloatArray) -> Clip:
    """Return a clip that plays where its skeleton stands; place: (4, 4), a rigid transform from model space.

    >>> from ..skeletons.skeleton import Skeleton
    >>> body = Skeleton.from_arrays(["hips"], [-1], rot.identities(1), np.array(((1.0, 0.0, 0.0),)))
    >>> still = Clip("still", body, 1.0, Tracks.empty(4), Tracks.empty(3), Tracks.empty(3))
    >>> there = np.array(((0.0, 0, 1, 5), (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 0, 1)))
    >>> pose = placed(still, there).sample(np.zeros(1))
    >>> pose.translations[0, 0].round(3).tolist(), pose.rotations[0, 0].round(3).tolist()
    ([4.0, 0.0, -1.0], [0.707, 0.0, 0.707, 0.0])
    """
    skeleton, turn = clip.skeleton, rot.from_matrix(place[:3, :3])
    rest, places = skeleton.rest_rotations, skeleton.rest_translations

    def turned(joint: int, values: FloatArray) -> FloatArray:
        return rot.multiply(rot.multiply(rot.conjugate(rest[joint]), rot.multiply(turn, rest[joint])), values)

    def shifted(joint: int, values: FloatArray) -> FloatArray:
        return np.asarray(rot.rotate(turn, places[joint] + values) + place[:3, 3] - places[joint])

    tops = np.flatnonzero(skeleton.parents < 0)
    rotations, translations = _with_tops(clip.rotations, tops, rot.IDENTITY), _with_tops(clip.translations, tops,
                                                                                        np.zeros(3))
    return replace(clip, rotations=packed([
        (joint, times, turned(joint, values) if joint in tops else values) for joint, times, values in rotations], 4),
        translations=packed([(joint, times, shifted(joint, values) if joint in tops else values)
                             for joint, times, values in translations], 3))


def _with_tops(tracks: Tracks, tops: IntArray, still: FloatArray) -> list[tuple[int, FloatArray, FloatArray]]:
    """Return tracks with keys for all topmost joints too, sorted by joint; still: values of those without keys."""
    own = [(joint, *keys_of(tracks, index)) for index, joint in enumerate(tracks.joints.tolist())]
    new = [(joint, np.zeros(1), still[None]) for joint in np.setdiff1d(tops, tracks.joints).tolist()]
    return sorted([*own, *new], key=itemgetter(0))
