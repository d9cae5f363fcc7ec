"""Measure how a body stands in a pose by its anatomy only: legs below hips, head above, toes and knees in front."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths.arrays import BoolArray, FloatArray
from . import hanim

STANDS: Final = 0.6
"""From this uprightness on a body stands: no part of trunk and legs is more than 53° from where it belongs."""
_NOWHERE: Final = 1e-4
"""Share of the body's size: joints no farther apart are in one place, and show no direction."""
_STEPS_RAD: Final = (float(np.radians(6.0)), float(np.radians(12.0)))
"""Feet of which one is tipped by more than the first, or legs of which one is farther in front by more than the second,
are in the middle of a step: bodies that were made to stand so differ by half a degree."""


@dataclass(frozen=True, eq=False)
class Posture:
    """How a body stands in F poses.

    axes: (F, 3, 3) matrices model_from_body: its left, up and front as columns, measured on hips, shoulders, legs.
    upright: (F,) cosine of the largest of these angles: of the trunk to the legs' direction, of thighs and shins to the
    vertical, of hips and shoulders to the sideways direction, of toes to the front; −1 at worst.
    directions: (F, P, 3) whose mean is up: along the trunk, from the hips, and along the legs, from feet to hips.
    """

    axes: FloatArray
    upright: FloatArray
    directions: FloatArray

    def along(self, frame: int, up: FloatArray) -> FloatArray:
        """Return the axes (3, 3) of one pose with another direction up (3,), a unit vector."""
        left = self.axes[frame, :, 0] - (self.axes[frame, :, 0] @ up) * up
        left /= max(float(np.linalg.norm(left)), np.finfo(np.float64).tiny)
        return np.stack((left, up, np.cross(left, up)), axis=-1)


def measure_posture(positions: FloatArray, joint_of: Mapping[str, int]) -> Posture | None:
    """Measure poses by the positions (F, J, 3) of joints; return None if too few joints are known.

    joint_of: the joints by their names in H-Anim. The model's axes and its rest pose are not used.
    """
    if not joint_of:
        return None
    at = {name: positions[:, joint] for name, joint in joint_of.items()}
    nowhere = _NOWHERE * np.ptp(list(at.values()), axis=0).max(axis=-1, keepdims=True)
    across = [_unit(at[f"l_{part}"] - at[f"r_{part}"], nowhere) for part in ("hip", "shoulder") if _has(at, part)]
    trunk, legs = _trunk(at), _legs(at)
    if not across or (trunk is None and not legs):
        return None
    hips = _middle(at, "hip")
    directions = [] if trunk is None else [_unit(trunk, nowhere)]
    if legs and hips is not None:
        directions.append(_unit(hips - _lowest(at), nowhere))
    up = _unit(np.sum(directions, axis=0))
    left = np.sum(across, axis=0)
    left = _unit(left - _dot(left, up)[:, None] * up)
    front = np.cross(left, up)
    angles = [_dot(direction, directions[0]) for direction in directions[1:]]
    angles += [_dot(_unit(-leg, nowhere), up) for leg in legs]
    angles += [_dot(direction, left) for direction in across]
    if toes := [at[f"{side}_metatarsal"] - at[f"{side}_ankle"] for side in "lr"
                if {f"{side}_metatarsal", f"{side}_ankle"} <= set(at)]:
        level = np.sum(toes, axis=0) - _dot(np.sum(toes, axis=0), up)[:, None] * up
        angles.append(_dot(_unit(level, nowhere), front))
    return Posture(np.stack((left, up, front), axis=-1), np.min(angles, axis=0),
                   np.stack(directions, axis=1))


def is_in_step(positions: FloatArray, joint_of: Mapping[str, int], posture: Posture) -> BoolArray:
    """Return a mask (F,) of poses in which the soles are not both level.

    That is, one foot is tipped; if toes are unknown, the legs are apart. positions, joint_of: as for measure_posture,
    which gave the posture.
    """
    at = {name: positions[:, joint] for name, joint in joint_of.items()}

    def tipped(a: str, b: str) -> FloatArray | None:
        """Return the angle (F,) between two segments about the sideways direction."""
        if not (_has(at, a) and _has(at, b)):
            return None
        seen = [np.einsum("fji,fj->fi", posture.axes, at[f"{side}_{b}"] - at[f"{side}_{a}"]) for side in "lr"]
        left, right = (np.arctan2(each[:, 2], each[:, 1]) for each in seen)
        return np.asarray(np.abs((left - right + np.pi) % (2.0 * np.pi) - np.pi))

    feet = tipped("ankle", "metatarsal")
    if feet is not None:
        return np.asarray(feet > _STEPS_RAD[0])
    legs = [angles for angles in (tipped("hip", "knee"), tipped("knee", "ankle")) if angles is not None]
    return np.asarray(np.max(legs, axis=0) > _STEPS_RAD[1]) if legs else np.zeros(len(positions), np.bool_)


def _has(at: Mapping[str, FloatArray], part: str) -> bool:
    return f"l_{part}" in at and f"r_{part}" in at


def _middle(at: Mapping[str, FloatArray], part: str) -> FloatArray | None:
    return (at[f"l_{part}"] + at[f"r_{part}"]) / 2.0 if _has(at, part) else None


def _trunk(at: Mapping[str, FloatArray]) -> FloatArray | None:
    """Return the direction from the hips up to the shoulders, else to the head."""
    low, high = _middle(at, "hip"), _middle(at, "shoulder")
    low, high = at.get(hanim.ROOT) if low is None else low, at.get("skullbase") if high is None else high
    return None if low is None or high is None else high - low


def _legs(at: Mapping[str, FloatArray]) -> list[FloatArray]:
    """Return the directions along thighs and shins, downwards."""
    return [at[f"{side}_{b}"] - at[f"{side}_{a}"] for side in "lr" for a, b in (("hip", "knee"), ("knee", "ankle"))
            if {f"{side}_{a}", f"{side}_{b}"} <= set(at)]


def _lowest(at: Mapping[str, FloatArray]) -> FloatArray:
    """Return the middle of the ankles, or of the knees where not both ankles are known."""
    part = "ankle" if _has(at, "ankle") else "knee"
    return np.asarray(np.mean([at[f"{side}_{part}"] for side in "lr" if f"{side}_{part}" in at], axis=0))


def _unit(directions: FloatArray, nowhere: FloatArray | float = _NOWHERE) -> FloatArray:
    """Return directions (F, 3) with length one; those that are no longer than nowhere (F, 1) become zero."""
    length = np.linalg.norm(directions, axis=-1, keepdims=True)
    return np.where(length > nowhere, directions / np.maximum(length, np.finfo(np.float64).tiny), 0.0)


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.sum(a * b, axis=-1))
