"""Maps from a rig's joints to those of H-Anim (ISO/IEC 19774), by which clips fit all characters."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ...errors import SkeletonMismatchError
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from .. import hanim
from ..posture import measure_posture
from ..skeleton import Skeleton

SURE: Final = 0.6
"""From this certainty on a map is used; below it, someone is asked."""

_SAME_DIRECTION = 0.64
"""Cosine of about 50°."""
_SAME_UP = 0.25
"""Tolerance between a body's angles from upright along two directions: if they are that near, the stated direction
counts. At 45° from each, that is within 3° of the middle.
"""
_ROUNDING = 1e-9

ESSENTIAL: Final[tuple[str, ...]] = (hanim.ROOT, "skullbase", *(
    f"{side}_{joint}" for joint in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist") for side in "lr"))
"""What every humanoid has; the spine, which is shared out, comes on top."""


@dataclass(frozen=True, eq=False)
class SkeletonMap:
    """The map of one skeleton: the H-Anim joint of each of its joints.

    meant: (J names) the H-Anim joint of each joint, or None.
    certainties: one for each joint, 0 to 1; 0 for a joint without a meaning.
    turn: (4,) right-angled rotation from H-Anim's axes to the skeleton's, or None if the body does not show it.
    warnings: what looked wrong. is_checked: the user has confirmed the map, or the joints have H-Anim's own names.
    has_given_axes: the user has chosen the turn, which then overrides the body. may_stand: limbs were found, but the
    body does not stand at rest; in another pose it may. without: joints that every humanoid has, but that this body
    certainly lacks, as a bust has no legs.
    pose: (J, 4) the reference pose that the user has set, as rotations from rest in the skeleton's model axes; None: it
    is detected (see retargeting/reference.py).
    """

    skeleton: Skeleton
    meant: tuple[str | None, ...]
    certainties: tuple[float, ...]
    turn: FloatArray | None = None
    warnings: tuple[str, ...] = ()
    is_checked: bool = False
    has_given_axes: bool = False
    may_stand: bool = False
    pose: FloatArray | None = None
    without: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.pose is not None and self.pose.shape != (len(self.skeleton), 4):
            raise SkeletonMismatchError(f"a reference pose of shape {self.pose.shape} for {len(self.skeleton)} joints")
        if len(self.meant) != len(self.skeleton) or len(self.certainties) != len(self.skeleton):
            raise SkeletonMismatchError(f"a map of {len(self.meant)} joints for skeleton {self.skeleton.name!r}, "
                                        f"which has {len(self.skeleton)}")
        seen: dict[str, str] = {}
        for joint, name in zip(self.skeleton.names, self.meant, strict=True):
            if name is not None and name not in hanim.PARENTS:
                raise SkeletonMismatchError(f"{joint!r} is said to be {name!r}, which is no joint of H-Anim")
            if name is not None and name in seen:
                raise SkeletonMismatchError(f"both {seen[name]!r} and {joint!r} are said to be {name}; one can be")
            seen[name or ""] = joint

    def up(self, stated: FloatArray) -> FloatArray:
        """Return the direction up (3,) in the skeleton's model space: as stated, unless the body shows another.

        The body shows another if it rests more upright along an axis of its own. So an object that is tilted, as on a
        slope, tilts its motion, but an object that is tilted to compensate leaning bones does not.
        """
        if self.turn is None or not self.is_sure:
            return stated
        seen, stated = rot.rotate(self.turn, hanim.UP), stated / np.linalg.norm(stated)
        rests = self._rests_up
        if rests is None:
            return stated if seen @ stated > _SAME_DIRECTION else seen
        nearly = _SAME_UP * (1.0 - rests @ seen) + _ROUNDING
        return stated if rests @ stated > rests @ seen - nearly else seen

    @cached_property
    def _rests_up(self) -> FloatArray | None:
        """The direction up (3,) of the body at rest, or in its set reference pose; None if it cannot be measured."""
        rests = self.skeleton if self.pose is None else self.skeleton.in_pose(self.pose)
        posture = measure_posture(rests.rest_world[None, :, :, 3], self.joint_of)
        return None if posture is None else posture.axes[0, :, 1]

    @cached_property
    def digest(self) -> bytes:
        """A digest that is equal for two maps of one skeleton that differ at most in warnings."""
        turn, pose = (b"" if values is None else values.tobytes() for values in (self.turn, self.pose))
        said = (self.meant, self.certainties, self.is_checked, self.has_given_axes, self.may_stand, turn, pose,
                sorted(self.without))
        return hashlib.blake2b(repr(said).encode(), digest_size=16).digest()

    @cached_property
    def joint_of(self) -> dict[str, int]:
        """The index of the joint for each H-Anim joint that the skeleton has."""
        return {name: joint for joint, name in enumerate(self.meant) if name is not None}

    @cached_property
    def leg_length(self) -> float:
        """The length of its legs at rest, thigh and shin: the mean of those that are known, 0 if none is."""
        legs = [[self.joint_of.get(f"{side}_{part}", -1) for part in ("hip", "knee", "ankle")] for side in "lr"]
        known = self.skeleton.rest_world[[leg for leg in legs if min(leg) >= 0], :, 3]
        return float(np.linalg.norm(np.diff(known, axis=1), axis=2).sum(axis=1).mean()) if len(known) else 0.0

    @property
    def is_humanoid(self) -> bool:
        """Whether any human joint was found."""
        return bool(self.joint_of)

    @property
    def certainty(self) -> float:
        """The certainty of the whole map, 0 to 1: the mean over the joints of every humanoid that this body has."""
        if self.is_checked:
            return 1.0
        return float(np.mean([self.certainties[self.joint_of[name]] if name in self.joint_of else 0.0
                              for name in ESSENTIAL if name not in self.without]))

    @property
    def is_sure(self) -> bool:
        """Whether the map may be used without asking the user."""
        return self.certainty >= SURE

    @property
    def missing(self) -> tuple[str, ...]:
        """The joints that every humanoid has and that were not found, though this body may have them."""
        return tuple(name for name in ESSENTIAL if name not in self.joint_of and name not in self.without)


def fingerprint(skeleton: Skeleton) -> str:
    """Return 12 hexadecimal digits that are the same for rigs with the same names and hierarchy, in any order.

    >>> import numpy as np
    >>> a = Skeleton.from_arrays(["hips", "tail"], [-1, 0], np.eye(4)[[0, 0]], np.zeros((2, 3)))
    >>> fingerprint(a)
    '0148141a2454'
    """
    above = [skeleton.names[p] if p >= 0 else "" for p in skeleton.parents.tolist()]
    lines = sorted(f"{name}\t{parent}" for name, parent in zip(skeleton.names, above, strict=True))
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:12]
