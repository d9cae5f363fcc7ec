"""Whether a body would fall: how far its centre of mass is beside the feet on which it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...clips.contacts import FootContacts
from ...clips.posed import PosedJoints
from ...maths.arrays import FloatArray
from ...skeletons.maps import SkeletonMap
from .off_ground import is_within

_DIRECTIONS: Final = 16
_MASSES: Final = {"hip": 0.181, "knee": 0.070, "ankle": 0.035, "shoulder": 0.140, "elbow": 0.021, "wrist": 0.013}
"""Share of the body's mass at each joint. The mass of a segment is divided between its ends by the position of its
centre. After Winter, Biomechanics and Motor Control of Human Movement, table 4.1."""
_OF_HEAD: Final = 0.081


def beyond_feet(clip: Clip, found: SkeletonMap, contacts: Mapping[str, FootContacts], up: FloatArray,
                times: FloatArray) -> FloatArray:
    """Return how far a body's centre of mass is beside the feet on which it stands, (F,); infinite without any.

    found: the map of the clip's skeleton. contacts: of its feet, by side. up: (3,) unit. times: (F,).
    """
    joints = found.joint_of
    mass = {joints[f"{side}_{name}"]: each for side in "lr" for name, each in _MASSES.items()
            if f"{side}_{name}" in joints}
    mass |= {joints["skullbase"]: _OF_HEAD} if "skullbase" in joints else {}
    of_feet = [(joints[f"{side}_{part}"], side) for side in contacts for part in ("ankle", "metatarsal")
               if f"{side}_{part}" in joints]
    if not of_feet:
        return np.full(len(times), np.inf)
    wanted = np.array([*mass, *(joint for joint, _ in of_feet)])
    posed = PosedJoints.of_tracks(clip.skeleton, clip.rotations, clip.translations, wanted)
    ahead = np.eye(3)[np.abs(up).argmin()]
    ahead = ahead - (ahead @ up) * up
    axes = np.stack((ahead / np.linalg.norm(ahead), np.cross(up, ahead) / np.linalg.norm(ahead)))
    turn = np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS)
    over = posed.placed(times)[1] @ axes.T @ np.stack((np.cos(turn), np.sin(turn)))  # along each direction, (F, N, D)
    weights = np.array([*mass.values()])
    centre = np.einsum("fnd,n->fd", over[:, :len(mass)], weights / weights.sum())
    stands = np.stack([is_within(times, contacts[side].stands) for _, side in of_feet], axis=1)
    farthest = np.where(stands[..., None], over[:, len(mass):], -np.inf).max(axis=1)
    return np.asarray((centre - farthest).max(axis=1))
