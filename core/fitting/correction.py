"""Joints of a fitted skeleton that the user has moved, and those that follow them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .problem import FittedSkeleton

_SHOWN: Final = 0.8
"""Certainty from which on the mesh shows a joint, so that it stays when its neighbours are moved."""

_IN_BETWEEN: Final = frozenset(("vl5", "vl1", "vt6", "elbow", "knee"))
"""Parts whose joints lie on the line between their neighbours if the mesh shows no bend."""

_FOLLOW: Final[Mapping[str, tuple[tuple[str, float], ...]]] = {
    "HumanoidRoot": (("l_hip", 0.5), ("r_hip", 0.5)),
    "l_sternoclavicular": (("l_shoulder", 0.5), ("r_shoulder", 0.5)),
    "r_sternoclavicular": (("l_shoulder", 0.5), ("r_shoulder", 0.5)),
    "l_metatarsal": (("l_ankle", 0.37),), "r_metatarsal": (("r_ankle", 0.37),)}
"""Joints that follow others by a share of their displacement: the ball of the foot lies between ankle and toes."""

_FINGER: Final = re.compile(r"([lr]_(?:thumb|index|middle|ring|pinky))([23])")
_CHAIN: Final = re.compile(r"(.*?)_?\d+")
_SAME: Final = 1e-9
"""Share of the skeleton's size: a bone ends at a joint this near to its end."""


@dataclass(frozen=True, eq=False)
class Correction:
    """A fitted skeleton and its joints that the user has moved.

    moved: by name, the vector (3,) from the found to the new position, in the mesh's space. Raises TaktError if it
    names an unknown joint, or a vector is not finite.
    """

    found: FittedSkeleton
    moved: Mapping[str, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, vector in self.moved.items():
            if name not in self.found.names:
                raise TaktError(f"joint '{name}' was moved, but is not among the {len(self.found.names)} joints found")
            if np.shape(vector) != (3,) or not np.isfinite(vector).all():
                raise TaktError(f"joint '{name}' was moved by {vector}, expected three numbers")

    def with_moved(self, name: str, to: FloatArray, is_mirrored: bool = True) -> Correction:
        """Return the correction with a joint moved to a point (3,).

        is_mirrored: the joint of the other side is moved symmetrically, and joints of the middle stay in the middle.
        """
        way = to - self.found.position(name)
        moved = dict(self.moved)
        if is_mirrored:
            across = np.cross(self.found.up, self.found.front)
            other = other_side(name)
            if other == name:
                way = way - way @ across * across
            elif other in self.found.names:
                moved[other] = way - 2.0 * (way @ across) * across
        moved[name] = way
        return replace(self, moved=moved)

    def without(self, name: str, is_mirrored: bool = True) -> Correction:
        """Return the correction with a joint, and that of the other side, back at their found positions."""
        back = {name, other_side(name)} if is_mirrored else {name}
        return replace(self, moved={joint: way for joint, way in self.moved.items() if joint not in back})

    def fitted(self) -> FittedSkeleton:
        """Return the skeleton with the moved joints, and with other joints adapted to these.

        Joints that the mesh does not show follow (`_ways`); those that it shows stay. Bones that end at a joint still
        end there; bend axes turn with their bones. Moved joints have full certainty.
        """
        if not self.moved:
            return self.found
        found, ways = self.found, _ways(self.found, self.moved)
        ends = found.ends.copy()
        for joint, parent in enumerate(found.parents.tolist()):
            size = float(np.ptp(found.positions, axis=0).max())
            if parent >= 0 and np.linalg.norm(found.ends[parent] - found.positions[joint]) <= _SAME * size:
                ends[parent] = found.positions[joint] + ways[joint]
        positions = found.positions + ways
        turns = rot.shortest_arc(found.ends - found.positions, ends - positions)
        certainty = found.certainty.copy()
        certainty[[found.names.index(name) for name in self.moved]] = 1.0
        return replace(found, positions=positions, ends=ends, bend_axes=rot.rotate(turns, found.bend_axes),
                       certainty=certainty)

    def as_text(self) -> str:
        """Return the moved joints as JSON, or "" if there are none."""
        return json.dumps({name: [float(x) for x in way] for name, way in self.moved.items()}) if self.moved else ""

    @classmethod
    def from_text(cls, found: FittedSkeleton, text: str) -> Correction:
        """Return the correction from the text of `as_text`; raise TaktError if it cannot be read."""
        try:
            moved = {str(name): np.array(way, dtype=np.float64) for name, way in json.loads(text or "{}").items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise TaktError(f"what was moved cannot be read: {error}; expected joints with three numbers each, as "
                            '{"l_elbow": [0, 0, 0.1]}') from error
        return cls(found, moved)


def other_side(name: str) -> str:
    """Return the name of the joint on the other side; a joint in the middle has its own.

    >>> other_side("l_elbow"), other_side("vl5")
    ('r_elbow', 'vl5')
    """
    return {"l_": "r_", "r_": "l_"}.get(name[:2], name[:2]) + name[2:]


def _ways(found: FittedSkeleton, moved: Mapping[str, FloatArray]) -> FloatArray:
    """Return the displacement of each joint, (J, 3), if some are moved.

    Each joint's displacement is a weighted sum of those of others; all of them solve these equations together. A joint
    in between follows its neighbours, the nearer one more, so that a chain of joints stays evenly spaced.
    """
    count = len(found.names)
    weights, known = np.zeros((count, count)), np.zeros((count, 3))
    for joint, name in enumerate(found.names):
        if name in moved:
            known[joint] = moved[name]
        else:
            for other, weight in _followed(found, joint):
                weights[joint, other] = weight
    return np.asarray(np.linalg.solve(np.eye(count) - weights, known))


def _followed(found: FittedSkeleton, joint: int) -> list[tuple[int, float]]:
    """Return the joints that a joint follows, with the share of each; empty if it stays."""
    name = found.names[joint]
    if name in _FOLLOW:
        return [(found.names.index(other), share) for other, share in _FOLLOW[name] if other in found.names]
    if finger := _FINGER.fullmatch(name):
        return [(found.names.index(f"{finger[1]}{int(finger[2]) - 1}"), 1.0)]
    following = [child for child in np.flatnonzero(found.parents == joint).tolist()
                 if _is_next(name, found.names[child])]
    parent = int(found.parents[joint])
    if parent < 0 or len(following) != 1 or found.certainty[joint] >= _SHOWN:
        return []
    before, after = (float(np.linalg.norm(found.positions[joint] - found.positions[other]))
                     for other in (parent, following[0]))
    total = before + after
    return [(parent, after / total), (following[0], before / total)] if total > 0.0 else [(parent, 1.0)]


def _is_next(name: str, child: str) -> bool:
    """Return whether a joint stands between its parent and a child of it."""
    side, part = (name[:2], name[2:]) if name[:2] in ("l_", "r_") else ("", name)
    if part in _IN_BETWEEN:
        return child[:2] == side if side else child[:2] not in ("l_", "r_")
    chain, other = _CHAIN.fullmatch(name), _CHAIN.fullmatch(child)
    return chain is not None and other is not None and chain[1] == other[1] and chain[1] not in ("vl", "vt", "vc") \
        and not re.fullmatch(r"[lr]_(?:thumb|index|middle|ring|pinky)", chain[1])
