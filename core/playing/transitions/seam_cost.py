"""Visible cost of a seam: how far joints are displaced, and for how long, while an offset fades out.

D. Holden, Inertialization Transition Cost, 2022: an offset x with the speed v, pulled back by a critically damped
spring, is x(t) = e^(−yt)·(x + (v + yx)·t). The cost is the area below |x(t)|, which has a closed form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...maths.arrays import BoolArray, FloatArray, IntArray
from ...skeletons.maps import SkeletonMap

HALF_LIFE_S: Final = 0.1
_PULL_PER_S: Final = 2.0 * np.log(2.0) / HALF_LIFE_S
OTHER_FOOT: Final = 0.05
"""Cost of a contact on one side of the seam only, in leg lengths."""
_LEG, _ARM = ("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist")
_SEEN: Final = ("skullbase", *(f"{side}_{part}" for side in "lr" for part in (*_LEG, "metatarsal", *_ARM)))


@dataclass(frozen=True, eq=False)
class Seen:
    """The P joints that count for a seam's cost. sizes: (P,) the length of each joint's limb in model units."""

    joints: IntArray
    sizes: FloatArray

    @classmethod
    def of(cls, body: SkeletonMap) -> Seen:
        """Return the joints of head, arms and legs of a body, or all joints of a skeleton that is no body.

        Hands are measured in arm lengths, all other joints in leg lengths.
        """
        positions, joint_of = body.skeleton.rest_world[..., 3], body.joint_of
        leg, arm = (_limb(positions, joint_of, names) for names in (_LEG, _ARM))
        names = [name for name in _SEEN if name in joint_of]
        if leg <= 0.0:
            size = float(np.ptp(positions, axis=0).max(initial=0.0)) / 2.0 or 1.0
            return cls(np.arange(len(positions)), np.full(len(positions), size))
        is_arm = np.array([name[2:] in _ARM[1:] for name in names])
        return cls(np.array([joint_of[name] for name in names]), np.where(is_arm & (arm > 0.0), arm, leg))


@dataclass(frozen=True, eq=False)
class Edges:
    """A clip at N instants at which it may end, or begin.

    skips_s: (N,) seconds of the clip that each instant skips, negative beyond the clip's end. positions, velocities:
    (N, P, 3) of the joints that count, in the root's frame, in limb lengths and limb lengths per second of the clip.
    planted: (N, 2) contact of each foot. besides: (N,) further cost of each instant, in limb lengths.
    """

    skips_s: FloatArray
    positions: FloatArray
    velocities: FloatArray
    planted: BoolArray
    besides: FloatArray


def seam_costs(out: Edges, into: Edges, out_pace: float, into_pace: float) -> FloatArray:
    """Return the cost of going from each instant of one clip to each of another, (N, M), in limb lengths.

    out_pace, into_pace: seconds of each clip per second of the result. A displacement of all joints by one limb length,
    without speed, costs 1.
    """
    offset = out.positions[:, None] - into.positions[None]
    rate = out.velocities[:, None] * out_pace - into.velocities[None] * into_pace
    other = (out.planted[:, None] != into.planted[None]).sum(axis=-1)
    return np.asarray(kinks(offset, rate) + OTHER_FOOT * other + out.besides[:, None] + into.besides)


def kinks(offset: FloatArray, rate: FloatArray) -> FloatArray:
    """Return the cost of offsets (…, P, 3) with rates of change, (…)."""
    return np.asarray(np.linalg.norm(displacement_area(offset, rate) * (_PULL_PER_S / 2.0), axis=-1).mean(axis=-1))


def displacement_area(offset: FloatArray, rate: FloatArray) -> FloatArray:
    """Return the area below the magnitude of fading offsets (...) with rates (...), each axis by itself, (...).

    ∫ e^(−yt)·(a + bt) dt = −e^(−yt)·(a/y + b/y² + bt/y), with a = x and b = v + yx. The offset changes its sign at
    t = −a/b.

    >>> displacement_area(np.array((1.0, 0.0)), np.zeros(2)).round(6).tolist()
    [0.14427, 0.0]
    """
    y, a, b = _PULL_PER_S, offset, rate + _PULL_PER_S * offset
    turn = np.divide(-a, b, out=np.zeros_like(a), where=(a * b) < 0.0)
    at_start = a / y + b / (y * y)
    at_turn = np.exp(-y * turn) * (at_start + b * turn / y)
    return np.asarray(np.abs(at_start - at_turn) + np.abs(at_turn))


def _limb(positions: FloatArray, joint_of: Mapping[str, int], names: tuple[str, ...]) -> float:
    """Return the length of the longer of the left and the right limb, 0 if there is none."""
    chains = [[joint_of.get(f"{side}_{name}", -1) for name in names] for side in "lr"]
    return max((float(np.linalg.norm(np.diff(positions[chain], axis=0), axis=1).sum())
                for chain in chains if min(chain) >= 0), default=0.0)
