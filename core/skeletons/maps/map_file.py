"""Skeleton maps as small text files that a person can read and mend.

    Takt skeleton map
    rig = 3f2a9c01d4e7
    up = +Z
    front = -Y

    mixamorig:Hips = HumanoidRoot
    mixamorig:LeftUpLeg = l_hip
    prop_bone =

    Reference pose
    mixamorig:LeftArm = 0.9239 0 0 -0.3827, 1 0 0

A line is `bone = joint of H-Anim`; if nothing follows the sign, the bone has no joint in H-Anim. Blank lines and lines
that begin with # are ignored. `up` and `front` name the skeleton's axes, and are optional. So is the reference pose:
rotations of bones from rest, as quaternions w x y z in H-Anim's axes; other bones rotate with their parents. After each
rotation, the direction of the bone at rest may follow, in the same axes. It is needed since skeletons with the same
names may have different rest poses, such as a T-pose and an A-pose. A reference pose is valid for one of them only.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from ...errors import FileError, quoted
from ...maths import rotations as rot
from ...maths.arrays import FloatArray
from .. import hanim
from ..skeleton import Skeleton
from .find import find_map
from .skeleton_map import SkeletonMap, fingerprint

SUFFIX: Final = ".map"
_FIRST_LINE: Final = "Takt skeleton map"
_MOST_BLANKS: Final = 100
"""Blanks before the first line of a map, at most."""
_POSE_LINE: Final = "Reference pose"
_SAME_RAD: Final = 1e-6
"""A joint that turns by less against its parent turns as its parent."""
_SAME_REST_RAD: Final = np.radians(5.0)
"""Bones of one rest pose differ by less, from one body to the next."""
_AXES: Final = {f"{sign}{name}": (1.0 if sign == "+" else -1.0) * np.eye(3)[i]
                for i, name in enumerate("XYZ") for sign in "+-"}


@dataclass(frozen=True, eq=False)
class SavedMap:
    """The contents of a map file.

    rig: the fingerprint; meant: the H-Anim joint of each joint name, or None; turn: (4,) or None. pose: rotations (4,)
    from rest by joint name, in H-Anim's axes, if a reference pose is set; other joints rotate with their parents.
    rest: directions (3,) of bones by joint name, in the rest pose for which the reference pose was set, if known.
    """

    rig: str
    meant: dict[str, str | None]
    turn: FloatArray | None
    pose: dict[str, FloatArray] = field(default_factory=dict)
    rest: dict[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def from_map(cls, found: SkeletonMap) -> SavedMap:
        """Return the part of a map that is saved; a reference pose is saved only if the map's axes are known."""
        rig, meant = fingerprint(found.skeleton), dict(zip(found.skeleton.names, found.meant, strict=True))
        if found.pose is None or found.turn is None:
            return cls(rig, meant, found.turn)
        pose, bones = _saved_pose(found, found.pose, found.turn), _bones(found.skeleton, found.turn)
        return cls(rig, meant, found.turn, pose, {name: bones[name] for name in pose if name in bones})

    def fits(self, skeleton: Skeleton) -> bool:
        """Return whether the map was made for a skeleton with the same names and hierarchy."""
        return self.rig == fingerprint(skeleton)

    def of(self, skeleton: Skeleton) -> SkeletonMap:
        """Return the map of a skeleton that it fits; the file's axes count only if the body does not show its own.

        In a clip file, the same rig may have other axes than when the map was made. If its rest pose differs, the
        reference pose is left out.
        """
        meant = tuple(self.meant.get(name) for name in skeleton.names)
        seen = find_map(skeleton).turn
        turn = self.turn if seen is None else seen
        has_pose = turn is not None and bool(self.pose) and self._rests_so(skeleton, turn)
        return SkeletonMap(skeleton, meant, tuple(float(name is not None) for name in meant), turn, is_checked=True,
                           pose=self._pose(skeleton, turn) if has_pose and turn is not None else None)

    def _rests_so(self, skeleton: Skeleton, turn: FloatArray) -> bool:
        there = _bones(skeleton, turn)
        return all(there[name] @ bone > np.cos(_SAME_REST_RAD) for name, bone in self.rest.items() if name in there)

    def _pose(self, skeleton: Skeleton, turn: FloatArray) -> FloatArray:
        turns = np.tile(rot.IDENTITY, (len(skeleton), 1))
        for joint, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents.tolist(), strict=True)):
            own = self.pose.get(name)
            if own is not None:
                turns[joint] = rot.multiply(rot.multiply(turn, own), rot.conjugate(turn))
            elif parent >= 0:
                turns[joint] = turns[parent]
        return turns


def write_map(found: SkeletonMap) -> str:
    """Write a map as text."""
    lines = [_FIRST_LINE, f"rig = {fingerprint(found.skeleton)}"]
    if found.turn is not None:
        lines += [f"up = {_axis_name(found.turn, 1)}", f"front = {_axis_name(found.turn, 2)}"]
    lines += ["", *(f"{joint} = {name or ''}".rstrip()
                    for joint, name in zip(found.skeleton.names, found.meant, strict=True))]
    if found.pose is not None and found.turn is not None:
        saved = SavedMap.from_map(found)
        lines += ["", _POSE_LINE, *(f"{joint} = {_numbers(turn)}" + (f", {_numbers(saved.rest[joint])}"
                                                                     if joint in saved.rest else "")
                                    for joint, turn in saved.pose.items())]
    return "\n".join(lines) + "\n"


def _numbers(values: FloatArray) -> str:
    return " ".join(f"{value:.9g}" for value in values)


def _saved_pose(found: SkeletonMap, pose: FloatArray, turn: FloatArray) -> dict[str, FloatArray]:
    turns = rot.multiply(rot.multiply(rot.conjugate(turn), pose), turn)
    parents = found.skeleton.parents
    as_parent = np.where((parents >= 0)[:, None], turns[parents], rot.IDENTITY)
    own = np.flatnonzero(rot.angle_between(turns, as_parent) > _SAME_RAD)
    return {found.skeleton.names[joint]: turns[joint] for joint in own.tolist()}


def _bones(skeleton: Skeleton, turn: FloatArray) -> dict[str, FloatArray]:
    """Return by name where joints' bones point at rest (3,), in H-Anim's axes: to the middle of their children."""
    at, parents = skeleton.rest_world[..., 3], skeleton.parents
    below = np.flatnonzero(parents >= 0)
    ways = np.zeros((len(skeleton), 3))
    np.add.at(ways, parents[below], at[below] - at[parents[below]])
    long = np.linalg.norm(ways, axis=1)
    ways = rot.rotate(rot.conjugate(turn), ways / np.maximum(long, 1e-30)[:, None])
    return {skeleton.names[joint]: ways[joint] for joint in np.flatnonzero(long > 0.0).tolist()}


def is_map(data: bytes) -> bool:
    """Return whether a file begins like a skeleton map: other programs use the ending .map too.

    >>> is_map(b'Takt skeleton map'), is_map(b'{"version": 3}')
    (True, False)
    """
    first = data[:len(codecs.BOM_UTF8) + _MOST_BLANKS + len(_FIRST_LINE)].removeprefix(codecs.BOM_UTF8).lstrip(b" \t")
    return first.startswith(_FIRST_LINE.encode())


def read_map(data: bytes, path: Path | None = None) -> SavedMap:
    """Read a map; raise FileError with the number of a line that is wrong."""
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise FileError.at("is not UTF-8; save the map as UTF-8", path, byte=error.start) from error
    if not lines or lines[0].strip() != _FIRST_LINE:
        raise FileError.at(f"found {quoted(lines[0] if lines else '')}, expected {quoted(_FIRST_LINE)}", path, 1)
    head: dict[str, str] = {}
    meant: dict[str, str | None] = {}
    joints: dict[str, str] = {}
    pose: dict[str, FloatArray] | None = None
    rest: dict[str, FloatArray] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip() or line.startswith("#"):
            continue
        if line.strip() == _POSE_LINE:
            pose = {}
            continue
        name, sign, value = line.rpartition("=")
        name, value = name.strip(), value.strip()
        if not sign or not name:
            raise FileError.at(f"found {quoted(line)}, expected BONE = JOINT", path, number)
        if pose is not None:
            turned, comma, bone = value.partition(",")
            pose[name] = rot.normalized(_vector(turned, "a quaternion w x y z", 4, path, number))
            if comma:
                way = _vector(bone, "a direction x y z", 3, path, number)
                rest[name] = way / np.linalg.norm(way)
            continue
        if name in ("rig", "up", "front") and not meant and name not in head:
            head[name] = value
            if name != "rig" and value not in _AXES:
                raise FileError.at(f"{name} is {quoted(value)}, expected one of {', '.join(_AXES)}", path, number)
            continue
        joint = hanim.canonical(value)
        if value and joint is None:
            raise FileError.at(f"{quoted(value)} is no joint of H-Anim; expected one such as l_knee or skullbase, or "
                               "nothing", path, number)
        if name in meant or (joint is not None and joint in joints):
            raise FileError.at(f"{quoted(name)} is here twice; remove one of its lines" if name in meant else
                               f"{joint} is here twice, for {quoted(joints[joint or ''])} too; one bone can be it",
                               path, number)
        meant[name] = joint
        joints[joint or ""] = name
    if "rig" not in head:
        raise FileError.at("the line 'rig = FINGERPRINT' is missing", path, 1)
    return SavedMap(head["rig"], meant, _turn(head, path), pose or {}, rest)


def _vector(text: str, wanted: str, count: int, path: Path | None, line: int) -> FloatArray:
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.zeros(0)
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(values))  # infinite where squares of its numbers are
    if values.shape != (count,) or not 0.0 < length < float("inf"):
        raise FileError.at(f"found {quoted(text.strip())}, expected {wanted}", path, line)
    return values


def _turn(head: dict[str, str], path: Path | None) -> FloatArray | None:
    if "up" not in head or "front" not in head:
        return None
    up, front = _AXES[head["up"]], _AXES[head["front"]]
    if up @ front != 0.0:
        raise FileError.at(f"up = {head['up']} and front = {head['front']} lie on one line; they must be at right "
                           "angles", path)
    return rot.from_matrix(np.stack((np.cross(up, front), up, front), axis=1))


def _axis_name(turn: FloatArray, axis: int) -> str:
    direction = rot.rotate(turn, np.eye(3)[axis])
    return max(_AXES, key=lambda name: float(_AXES[name] @ direction))
