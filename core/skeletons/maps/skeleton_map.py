"""Which joint of a rig is which joint of H-Anim (ISO/IEC 19774), the common tongue of clips and characters."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
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
_SAME_UP = 0.08
"""Of two directions a body is as upright along, within about 3° of the middle, the stated one counts."""

ESSENTIAL: Final[tuple[str, ...]] = (hanim.ROOT, "skullbase", *(
    f"{side}_{joint}" for joint in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist") for side in "lr"))
"""What every humanoid has; the spine, which is shared out, comes on top."""


@dataclass(frozen=True, eq=False)
class SkeletonMap:
    """What the joints of one skeleton are.

    meant: (J names) the H-Anim joint of each, None where it has none.
    certainties: one for each joint, 0 to 1; 0 where it means nothing.
    turn: (4,) right-angled rotation from H-Anim's axes to the skeleton's; None where the body does not show it.
    warnings: what looked odd. is_checked: a person has confirmed it, or the joints have H-Anim's own names.
    has_given_axes: a person has chosen the turn, whatever the body shows. may_stand: limbs were found, but the body
    does not stand at rest; in another pose it may. without: joints that every humanoid has, but this body has not, as
    a bust has no legs; their absence is certain.
    pose: (J, 4) the reference pose that a person has set, as turns from rest in the skeleton's model axes; None: it is
    found (see retargeting/reference.py).
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
        """Return which way is up (3,) in the skeleton's model space: as stated, unless the body shows another.

        It does where it rests more upright along an axis of its own: an object that is tilted, as on a slope, tilts
        what it plays, but one that is tilted because its bones lean does not.
        """
        if self.turn is None or not self.is_sure:
            return stated
        seen, stated = rot.rotate(self.turn, hanim.UP), stated / np.linalg.norm(stated)
        rests = self._rests_up
        if rests is None:
            return stated if seen @ stated > _SAME_DIRECTION else seen
        return stated if rests @ stated > rests @ seen - _SAME_UP else seen

    @cached_property
    def _rests_up(self) -> FloatArray | None:
        """Which way the body is up as it rests, or in the pose that is set, (3,); None where it cannot be measured."""
        rests = self.skeleton if self.pose is None else self.skeleton.in_pose(self.pose)
        posture = measure_posture(rests.rest_world[None, :, :, 3], self.joint_of)
        return None if posture is None else posture.axes[0, :, 1]

    @cached_property
    def digest(self) -> bytes:
        """The same for two maps of one skeleton that say the same, warnings aside."""
        turn, pose = (b"" if values is None else values.tobytes() for values in (self.turn, self.pose))
        said = (self.meant, self.certainties, self.is_checked, self.has_given_axes, self.may_stand, turn, pose,
                sorted(self.without))
        return hashlib.blake2b(repr(said).encode(), digest_size=16).digest()

    @cached_property
    def joint_of(self) -> dict[str, int]:
        """The joint of each H-Anim joint that the skeleton has."""
        return {name: joint for joint, name in enumerate(self.meant) if name is not None}

    @property
    def is_humanoid(self) -> bool:
        """Whether anything of a human was found."""
        return bool(self.joint_of)

    @property
    def certainty(self) -> float:
        """How certain the map is as a whole, 0 to 1: the mean over what every humanoid has, if this one has it."""
        if self.is_checked:
            return 1.0
        return float(np.mean([self.certainties[self.joint_of[name]] if name in self.joint_of else 0.0
                              for name in ESSENTIAL if name not in self.without]))

    @property
    def is_sure(self) -> bool:
        """Whether the map may be used without asking."""
        return self.certainty >= SURE

    @property
    def missing(self) -> tuple[str, ...]:
        """The joints that every humanoid has and that were not found, though this body may have them."""
        return tuple(name for name in ESSENTIAL if name not in self.joint_of and name not in self.without)

    def corrected(self, meant: Mapping[str, str | None]) -> SkeletonMap:
        """Return the map with some joints (by name) meaning something else, as a person said.

        A meaning that another joint had leaves that one. Raises SkeletonMismatchError for names that are not there.
        """
        unknown = [name for name in meant if name not in self.skeleton.index_of]
        if unknown:
            raise SkeletonMismatchError(f"skeleton {self.skeleton.name!r} has no joint {', '.join(map(repr, unknown))}")
        given = {name: joint for joint, name in meant.items() if name is not None}
        new = tuple(meant[joint] if joint in meant else None if given.get(name or "") else name
                    for joint, name in zip(self.skeleton.names, self.meant, strict=True))
        sure = tuple(0.0 if name is None else 1.0 if joint in meant else certainty
                     for joint, name, certainty in zip(self.skeleton.names, new, self.certainties, strict=True))
        return SkeletonMap(self.skeleton, new, sure, self.turn, (), is_checked=True, pose=self.pose)


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
