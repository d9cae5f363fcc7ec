"""Bones that move no vertex: why, and which of them the user should look at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray
from ..skinning.influences import Influences
from .conventions import claims
from .input import BindInput
from .partners import partner_groups
from .roles import Role, Roles


@dataclass(frozen=True)
class IdleBones:
    """Names of bones that move no vertex, in the order of the bones.

    by_role: all of them, by role; bones of role DEFORMS have no vertex near enough. lost: bones of role DEFORMS or
    CONTROLS whose partner on the other side moves vertices. empty: bones of these two roles in chains of two or more of
    them, or all bones of these roles if they are more than half of the bones that should deform. between: bones of role
    DEFORMS whose parent and one of whose children move vertices: the mesh may be larger than the skeleton, or beside
    it.
    """

    by_role: tuple[tuple[Role, tuple[str, ...]], ...] = ()
    lost: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    between: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all bones that move no vertex, role by role."""
        return tuple(name for _, names in self.by_role for name in names)

    def without(self, moving: Collection[str]) -> IdleBones:
        """Return the idle bones without those that move vertices of other meshes.

        >>> found = IdleBones(((Role.DEFORMS, ("arm", "leg")),), ("arm",), ("leg",)).without(["arm"])
        >>> found.names, found.lost, found.empty
        (('leg',), (), ('leg',))
        """
        def kept(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(name for name in names if name not in moving)

        return IdleBones(tuple((role, kept(names)) for role, names in self.by_role if kept(names)), kept(self.lost),
                         kept(self.empty), kept(self.between))


def find_idle(body: BindInput, influences: Influences, roles: Roles | None = None) -> IdleBones:
    """Find the bones of a body that have no influence on its vertices.

    roles: those in which the method saw the bones; None if it ignores roles.

    >>> body = BindInput.from_arrays([[0, 0, 0]], [], ["leg.L", "leg.R"], [-1, -1], [[0, 0, 0], [9, 0, 0]],
    ...                              [[0, 0, 1], [9, 0, 1]])
    >>> find_idle(body, Influences(np.zeros((1, 1), dtype=np.int64), np.ones((1, 1)))).lost
    ('leg.R',)
    """
    count = len(body.bone_names)
    used = np.zeros(count, dtype=np.bool_)
    used[influences.joints[influences.weights > 0.0]] = True
    role = [roles.of(bone) if roles is not None else Role.DEFORMS for bone in range(count)]
    by_role = [(one, _names(body, ~used & np.array([each is one for each in role]))) for one in Role]
    missed = ~used & np.array([each in (Role.DEFORMS, Role.CONTROLS) for each in role])
    lost = np.zeros(count, dtype=np.bool_)
    size = float(np.linalg.norm(np.ptp(body.heads, axis=0)))
    for group in partner_groups(body.bone_names, claims(body.bone_names), body.bone_parents, body.heads, size):
        lost[group] = missed[group] & used[group].any()
    empty = _chained(body, missed)
    if 2 * missed.sum() > (missed | used).sum():
        empty = missed
    above = (body.bone_parents >= 0) & used[body.bone_parents]
    carries = np.bincount(body.bone_parents[used & (body.bone_parents >= 0)], minlength=count) > 0
    between = ~used & above & carries & np.array([each is Role.DEFORMS for each in role])
    return IdleBones(tuple((one, names) for one, names in by_role if names), _names(body, lost), _names(body, empty),
                     _names(body, between))


def _names(body: BindInput, some: BoolArray) -> tuple[str, ...]:
    return tuple(body.bone_names[bone] for bone in np.flatnonzero(some))


def _chained(body: BindInput, some: BoolArray) -> BoolArray:
    """Return which of some bones (B,) have a parent or a child among them."""
    linked = np.flatnonzero(some & (body.bone_parents >= 0))
    linked = linked[some[body.bone_parents[linked]]]
    found = np.zeros_like(some)
    found[linked] = found[body.bone_parents[linked]] = True
    return found
