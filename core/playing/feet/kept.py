"""Feet in contact keep their height and rotation when tweaks move the joints above them.

Horizontally a foot in contact is held in its foothold. Its height and rotation come from the clip, as it rolls from
heel to toes. So a tweak of the body or of a leg changes neither. A tweak of the ankle, or of joints below it, does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...skeletons.skeleton import Pose
from .lock import FeetLock


class Kept(NamedTuple):
    """How far L feet have to be raised in F frames to be as high as without tweaks.

    rise: (L, F). share: (F,) 0…1 how far tweaks move feet; it weights the limits for soles.
    """

    rise: FloatArray
    share: FloatArray


def keep(lock: FeetLock, pose: Pose, plain: FloatArray, near: FloatArray) -> Kept:
    """Undo tweaks' rotation of the ankles of poses (F, J, …), and return how far feet have to be raised.

    plain: (4, L, F, 4, 4) their limbs, see FeetLock.limbs, without tweaks of the joints above the feet. near: (L, F) 1
    during contacts, fading to 0 before and after.
    """
    now, are_scaled = lock.limbs(pose)
    away = plain[3, ..., :3, 3] - now[3, ..., :3, 3]
    frames, wanted = (_unscaled(each[2, ..., :3, :3]) if are_scaled else each[2, ..., :3, :3] for each in (now, plain))
    back = frames.swapaxes(-1, -2)
    turned_back = back @ wanted
    turns = rot.slerp(rot.IDENTITY, (rot.from_matrix if are_scaled else rot.from_exact_matrix)(turned_back), near)
    for leg, turn in zip(lock.legs, turns, strict=True):
        pose.rotations[:, leg.ankle] = rot.multiply(pose.rotations[:, leg.ankle], turn)
    apart = (now[3, ..., :3, 3] - now[2, ..., :3, 3])[..., None]
    turned = (frames @ rot.rotate(turns, (back @ apart)[..., 0])[..., None] - apart)[..., 0]
    share = np.minimum(np.sqrt(np.einsum("lfi,lfi->lf", away, away)) / lock.sizes[..., 0], 1.0).max(axis=0)
    return Kept(near * (away - turned)[..., 2], share)


def _unscaled(frames: FloatArray) -> FloatArray:
    """Return frames (..., 3, 3) with columns of length 1."""
    return np.asarray(frames / np.maximum(np.linalg.norm(frames, axis=-2, keepdims=True), 1e-30))
