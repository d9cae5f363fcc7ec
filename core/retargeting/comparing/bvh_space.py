"""Properties that BVH files do not state: the up axis, the facing direction and the unit.

The body at rest shows all three, unless the user chooses others. Clips are converted to H-Anim's axes (Y up, facing +Z)
and metres, as clips of other files are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...clips.clip import Clip
from ...errors import TaktError
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from ...skeletons.hanim import UP
from ...skeletons.maps import SkeletonMap
from .reference import find_reference
from .upright import resting, scaled, turned

AUTO: Final = "AUTO"
AXES: Final[dict[str, tuple[str, str]]] = {
    AUTO: ("Automatic", "Detected from how the body stands in the file"),
    **{sign + name: (f"{'−' if sign else '+'}{name}", f"The file's axis {'−' if sign else '+'}{name}")
       for sign in ("", "-") for name in "XYZ"}}
"""Choices of the up axis and the facing direction: label and description by identifier."""
UNITS: Final[dict[str, tuple[str, float]]] = {
    "METRES": ("metres", 1.0),
    "CENTIMETRES": ("centimetres", 0.01),
    "MILLIMETRES": ("millimetres", 0.001),
    "INCHES": ("inches", 0.0254),
    "CMU": ("the CMU database's unit", 0.0254 / 0.45),
}
"""Label and metres by identifier. CMU's skeletons are in inches divided by 0.45 (mocap.cs.cmu.edu)."""
_BODY_M: Final = 1.45
"""Distance from the ankles to the base of the skull of an adult, in metres."""
_USUAL: Final = {"Y": "Z", "Z": "-Y", "X": "Z", "-X": "Z", "-Y": "Z", "-Z": "-Y"}
"""Default facing direction by up axis, if the body does not show it."""


@dataclass(frozen=True)
class BvhSpace:
    """Axes and unit of BVH files: identifiers of AXES and UNITS, AUTO to take those that the body shows.

    Raises TaktError if an identifier is unknown, or if up and forward are parallel.
    """

    up: str = AUTO
    forward: str = AUTO
    unit: str = AUTO

    def __post_init__(self) -> None:
        for value, known in ((self.up, AXES), (self.forward, AXES), (self.unit, {AUTO, *UNITS})):
            if value not in known:
                raise TaktError(f"BVH files cannot be in {value!r}; there are {', '.join(known)}")
        if AUTO not in (self.up, self.forward) and self.up[-1] == self.forward[-1]:
            raise TaktError(f"BVH Up {self.up} and BVH Forward {self.forward} lie on one line; they must be at right "
                            "angles")


def in_hanim_space(clip: Clip, found: SkeletonMap, space: BvhSpace) -> tuple[Clip, SkeletonMap, str]:
    """Return a clip of a BVH file in H-Anim's axes and metres, its map, and a sentence on the axes and unit used.

    found: the map of the clip's skeleton; if it is unsure, the file counts as already in H-Anim's axes and metres.
    space: axes that the user has chosen are those of the motion. If the rest pose lies down in them, it is turned
    upright.
    """
    reference = find_reference(clip, found).map
    is_seen = reference.is_sure and reference.turn is not None
    is_stated = space.up != AUTO or space.forward != AUTO
    up, forward = _axes(reference.turn if is_seen and reference.turn is not None else rot.IDENTITY, space)
    unit = _unit(reference) if space.unit == AUTO else space.unit
    label, metres = UNITS[unit]
    turn = _turn(up, forward)
    stands = is_stated and found.is_sure and found.turn is not None
    stood = resting(clip, rot.multiply(turn, rot.conjugate(found.turn))) if stands and found.turn is not None else clip
    new = scaled(turned(stood, rot.conjugate(turn)), metres)
    chosen = [value for value in (space.up, space.forward, space.unit) if value != AUTO]
    why = "as chosen" if len(chosen) == 3 else "found from the body" if is_seen else "for want of a body that shows it"
    if chosen and len(chosen) < 3:
        why = f"partly chosen, else {why}"
    new_map = replace(reference, skeleton=new.skeleton, turn=rot.IDENTITY if is_seen or is_stated else found.turn,
                      has_given_axes=is_stated, pose=None if found.pose is None else rot.multiply(
                          rot.multiply(rot.conjugate(turn), found.pose), turn))
    return new, new_map, f"{AXES[up][0]} is up, facing {AXES[forward][0]}, in {label}: {why}"


def _axes(seen: FloatArray, space: BvhSpace) -> tuple[str, str]:
    """Return identifiers of the up axis and the facing direction: those chosen, else those that the body shows."""
    up = _axis(rot.rotate(seen, UP)) if space.up == AUTO else space.up
    forward = _axis(rot.rotate(seen, np.array((0.0, 0.0, 1.0)))) if space.forward == AUTO else space.forward
    if up[-1] == forward[-1]:
        if space.forward == AUTO:
            return up, _USUAL[up]
        return ("Y" if forward[-1] != "Y" else "Z"), forward
    return up, forward


def _axis(direction: FloatArray) -> str:
    axis = int(np.argmax(np.abs(direction)))
    return ("-" if direction[axis] < 0.0 else "") + "XYZ"[axis]


def _direction(axis: str) -> FloatArray:
    return np.asarray(np.eye(3)["XYZ".index(axis[-1])] * (-1.0 if axis.startswith("-") else 1.0))


def _turn(up: str, forward: str) -> FloatArray:
    """Return the rotation (4,) from H-Anim's axes to given ones."""
    y, z = _direction(up), _direction(forward)
    return rot.from_matrix(np.stack((np.cross(y, z), y, z), axis=1))


def _unit(found: SkeletonMap) -> str:
    """Return the unit in which the body is nearest to an adult's size."""
    joints = [found.joint_of.get(name, -1) for name in ("skullbase", "l_ankle", "r_ankle")]
    if not found.is_sure or min(joints) < 0:
        return "METRES"
    head, *ankles = found.skeleton.rest_world[joints, :, 3]
    size = float(np.linalg.norm(head - np.mean(ankles, axis=0)))
    return min(UNITS, key=lambda unit: abs(np.log(max(size, 1e-30) * UNITS[unit][1] / _BODY_M)))
