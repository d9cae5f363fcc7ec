"""The roles of a picture: each character itself, its ghosts, its copies, and its double in a comparison.

All poses of a picture are computed together; each motion is sampled once.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import bpy
import numpy as np

from ..bridge.rigs.armature import read_pose_world
from ..core.maths.arrays import FloatArray
from ..core.playing.ahead import Ahead
from ..core.playing.stage import Playable
from ..core.skinning import Palette
from .character import PreviewCharacter
from .instances import Rows, Tint, palette_of, palette_rows, sampled_rows

Bones = Literal["", "BEHIND", "IN_FRONT"]
"""How bones are shown: hidden, covered by what is in front of them, or in front of everything."""


@dataclass(slots=True, eq=False)
class DrawnRole:
    """One figure that is drawn.

    motion: None for the armature's own pose. number: distinguishes the roles of one character; 0 is the character
    itself. at_rest: whether the rest pose is shown instead. offset: (3,) displacement from the character, in the world.
    tint: linear colour and alpha of a ghost, instead of the surface's own; None for other roles. outline: colour of
    outline and wires; None for no outline. method: skinning method; None for the modifier's. shown_bone: the bone whose
    weights are shown, or −1.
    """

    character: PreviewCharacter
    armature: bpy.types.Object
    meshes: Sequence[bpy.types.Object]
    motion: Playable | None
    time_s: float
    number: int = 0
    at_rest: bool = False
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    tint: Tint | None = None
    outline: Tint | None = None
    method: str | None = None
    shown_bone: int = -1
    bones: Bones = ""

    @property
    def key(self) -> tuple[int, int]:
        """Its key in dictionaries."""
        return self.character.uid, self.number

    @property
    def is_ghost(self) -> bool:
        """Whether it is transparent."""
        return self.tint is not None

    def method_of(self, mesh: bpy.types.Object) -> str:
        """Return the skinning method for one of its meshes."""
        return self.character.methods.get(mesh.session_uid, "LINEAR") if self.method is None else self.method


@dataclass(slots=True, eq=False)
class Posed:
    """A role's pose as rows for the GPU. bones: the number of bones."""

    rows: Rows
    bones: int

    @property
    def palette(self) -> Palette:
        """The palette of its bones, (J, …)."""
        return palette_of(self.rows, self.bones)

    @property
    def rows_per_bone(self) -> int:
        """The number of rows of each bone."""
        return len(self.rows) // max(self.bones, 1)


@dataclass(frozen=True, eq=False)
class Groups:
    """Roles that can be posed together.

    members: the indices of the roles of each group. alone: the motions of the roles, if each has one of its own; else
    ().
    """

    members: Sequence[list[int]]
    alone: Sequence[Playable]

    @classmethod
    def of(cls, roles: Sequence[DrawnRole]) -> "Groups":
        """Group roles. The groups stay valid if only the roles' times change."""
        found: dict[Hashable, list[int]] = {}
        for index, role in enumerate(roles):
            is_still = role.motion is None or role.at_rest
            found.setdefault((role.character.uid, role.at_rest) if is_still else id(role.motion), []).append(index)
        motions = [role.motion for role in roles if role.motion is not None and not role.at_rest]
        return cls([*found.values()], motions if len(motions) == len(roles) == len(found) else ())


def pose_roles(roles: Sequence[DrawnRole], ahead: Ahead | None = None, has_time: Callable[[], bool] = lambda: True,
               groups: Groups | None = None) -> tuple[list[Posed], bool]:
    """Return the pose of each role, and whether all are current.

    ahead: cache of poses of motions at frames. has_time: returns whether there is time to sample another motion. A role
    that could not be sampled gets its last pose, or that of its armature. groups: those of these roles; None to find
    them.
    """
    groups = groups or Groups.of(roles)
    if groups.alone and ahead is not None:
        found = ahead.at_each(groups.alone, [role.time_s for role in roles], has_time)
        return [Posed(_last_rows(role, ahead) if rows is None else rows, _count(role))
                for role, rows in zip(roles, found, strict=True)], not any(rows is None for rows in found)
    posed: dict[int, Posed] = {}
    are_late = False
    for group in groups.members:
        first = roles[group[0]]
        motion, count = first.motion, _count(first)
        rows: Sequence[Rows] | None = None
        if motion is not None and not first.at_rest:
            rows = _rows(motion, [roles[i].time_s for i in group], ahead, has_time)
            if rows is None and ahead is not None:
                are_late, rows = True, ahead.shown(motion, len(group))
        if rows is None:
            rows = [palette_rows(_palette_of_pose(first))] * len(group)
        for i, each in zip(group, rows, strict=True):
            posed[i] = Posed(each, count)
    return [posed[i] for i in range(len(roles))], not are_late


def _rows(motion: Playable, times_s: list[float], ahead: Ahead | None,
          has_time: Callable[[], bool]) -> Sequence[Rows] | None:
    """Return the rows of a motion at F times; None if they are not cached and there is no time to sample them."""
    if ahead is None:
        return [*sampled_rows(motion, np.array(times_s))]
    if len(times_s) > 1:
        return ahead.at(motion, np.array(times_s), may_sample=has_time())
    found = ahead.at_one(motion, times_s[0], may_sample=has_time())
    return None if found is None else [found]


def _last_rows(role: DrawnRole, ahead: Ahead) -> Rows:
    """Return the rows that a role with a motion of its own showed last, or those of its armature's pose."""
    assert role.motion is not None
    shown = ahead.shown(role.motion, 1)
    return palette_rows(_palette_of_pose(role)) if shown is None else shown[0]


def _count(role: DrawnRole) -> int:
    """Return the number of a role's bones."""
    assert role.character.skeleton is not None  # `refresh` has read it
    return len(role.character.skeleton.names)


def _palette_of_pose(role: DrawnRole) -> Palette:
    skeleton = role.character.skeleton
    assert skeleton is not None
    pose: FloatArray = skeleton.rest_world if role.at_rest else read_pose_world(role.armature)
    return Palette.from_matrices(pose, skeleton.rest_world)
