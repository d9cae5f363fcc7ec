"""The roles of one picture: each character itself, its ghosts, its copies, its double in a comparison.

All poses of one drawing are computed together: one sampling for each motion, however many roles play it; what one role
alone plays is sampled ahead.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import bpy
import numpy as np

from ..bridge.armature import read_pose_world
from ..core.maths.arrays import FloatArray
from ..core.playing.stage import Playable
from ..core.skeletons.skeleton import Skeleton
from ..core.skinning import Palette
from .character import Character
from .instances import PlayedRows, Rows, Tint, palette_rows, rows_per_bone

Bones = Literal["", "BEHIND", "IN_FRONT"]
"""Not at all; hidden by what is before them; before everything."""


@dataclass(slots=True, eq=False)
class Role:
    """One figure that is drawn.

    number: tells the roles of one character apart, 0 is the character itself. motion: None: as the armature is
    posed; at_rest: in the rest pose instead. offset: (3,) where in the world it stands beside the character.
    tint: of a ghost, a linear colour and its alpha, in place of the surface's own. outline: the colour of its outline
    and its wires, None: no outline. method: of skinning, None: the modifier's. shown_bone: whose weights show, or −1.
    bones: how the bones are shown, if they are.
    """

    character: Character
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
        """What it is found by."""
        return self.character.uid, self.number

    @property
    def is_ghost(self) -> bool:
        """Whether one sees through it."""
        return self.tint is not None

    def method_of(self, mesh: bpy.types.Object) -> str:
        """Return the skinning method for one of its meshes."""
        return self.character.methods.get(mesh.session_uid, "LINEAR") if self.method is None else self.method


@dataclass(slots=True, eq=False)
class Posed:
    """A role's pose as rows for the GPU. together: the palettes of all posed with it, (F, J, …), its own at index;
    index None: its own palette alone."""

    rows: Rows
    together: Palette
    index: int | None = None

    @property
    def palette(self) -> Palette:
        """What its bones do, (J, …)."""
        return self.together if self.index is None else self.together.at(self.index)

    @property
    def rows_per_bone(self) -> int:
        """How many of the rows each bone takes."""
        return rows_per_bone(self.together)


def pose_roles(roles: Sequence[Role]) -> list[Posed]:
    """Return what the bones of each role do."""
    posed: dict[int, Posed] = {}
    for group in _grouped(roles):
        first = roles[group[0]]
        skeleton = first.character.skeleton
        assert skeleton is not None  # refreshed before
        if first.motion is None or first.at_rest:
            palette = _palette_of_pose(first, skeleton)
            found = Posed(palette_rows(palette), palette)
            posed |= dict.fromkeys(group, found)
            continue
        times, ahead, at = [roles[i].time_s for i in group], first.character.played, 0
        if len(times) == 1 and ahead is not None:  # as in a crowd in which each plays a motion of its own
            played, at = ahead.at(first.motion, times[0])
        else:
            played = PlayedRows.of(skeleton, first.motion, np.array(times))
        posed |= {i: Posed(played.rows[index], played.palette, index) for index, i in enumerate(group, at)}
    return [posed[i] for i in range(len(roles))]


def _grouped(roles: Sequence[Role]) -> Iterable[list[int]]:
    """Return the indices of roles that can be posed together."""
    groups: dict[Hashable, list[int]] = {}
    for index, role in enumerate(roles):
        is_still = role.motion is None or role.at_rest
        groups.setdefault((role.character.uid, role.at_rest) if is_still else id(role.motion), []).append(index)
    return groups.values()


def _palette_of_pose(role: Role, skeleton: Skeleton) -> Palette:
    pose: FloatArray = skeleton.rest_world if role.at_rest else read_pose_world(role.armature)
    return Palette.from_matrices(pose, skeleton.rest_world)
