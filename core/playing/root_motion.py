"""Root motion: what becomes of a character's way over the ground when clips follow each other.

A placement is a heading and a place on the ground: a rotation about the up axis by yaw (radians), then a
shift in the ground plane, kept as a complex number over the plane's two axes. Placements therefore compose
by adding angles and turning complex numbers, over whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..clips.clip import Clip
from ..errors import TaktError
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.skeleton import Pose, Skeleton

RootMode = Literal["CONTINUE", "AS_AUTHORED", "IN_PLACE"]
ROOT_MODES: dict[RootMode, tuple[str, str]] = {
    "CONTINUE": ("Continue", "Each clip starts where the one before ended on the ground, heading included"),
    "AS_AUTHORED": ("As Authored", "Each clip plays where its file says"),
    "IN_PLACE": ("In Place", "The root stays above its place of rest"),
}
_STRAIGHT_RAD = 1e-12
_STILL = 1e-4
_NONE = np.zeros(0, dtype=np.int64)
ComplexArray = npt.NDArray[np.complex128]


def root_joint(clips: Sequence[Clip], followers: IntArray = _NONE) -> int | None:
    """Return the topmost joint that any of the clips shifts, else the topmost that any turns, else None.

    followers: joints that only go where others go.

    Of several at one height it is the one that carries most joints. Files key joints that never move, too: what
    stays within _STILL of the way of the joint that goes farthest counts as not shifted.
    """
    skeleton = clips[0].skeleton
    below = np.ones(len(skeleton), dtype=np.int64)
    depth = np.zeros(len(skeleton), dtype=np.int64)
    for level, joints in reversed(tuple(enumerate(skeleton.levels))):
        depth[joints] = level
        inner = joints[skeleton.parents[joints] >= 0]
        np.add.at(below, skeleton.parents[inner], below[inner])
    for joints in (_shifted(clips), np.unique(np.concatenate([clip.rotations.joints for clip in clips]))):
        joints = np.setdiff1d(joints, followers)
        if len(joints):
            return int(joints[np.lexsort((-below[joints], depth[joints]))[0]])
    return None


def _shifted(clips: Sequence[Clip]) -> IntArray:
    """Return the joints that any clip shifts on the way; where none does, those that any holds away from rest."""
    ways = np.zeros(len(clips[0].skeleton))
    for tracks in (clip.translations for clip in clips if len(clip.translations)):
        low, high = (reach.reduceat(tracks.values, tracks.starts[:-1], axis=0) for reach in (np.minimum, np.maximum))
        ways[tracks.joints] = np.maximum(ways[tracks.joints], np.linalg.norm(high - low, axis=1))
    if ways.max(initial=0.0) <= 0.0:
        return np.unique(np.concatenate([clip.translations.joints for clip in clips]))
    return np.flatnonzero(ways > _STILL * ways.max())


def beside_root(clips: Sequence[Clip], root: int) -> IntArray:
    """Return the topmost moved joints that neither hang on the root nor carry it, as feet led by IK often do.

    They go where the root goes.
    """
    skeleton = clips[0].skeleton
    moved = np.any([clip.moved for clip in clips], axis=0)
    led = np.zeros(len(skeleton), dtype=np.bool_)
    above = root
    while above >= 0:
        moved[above], above = False, int(skeleton.parents[above])
    led[root] = True
    found = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        led[joint] |= parent >= 0 and led[parent]
        if moved[joint] and not led[joint]:
            led[joint] = True
            found.append(joint)
    return np.array(found, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Placement:
    """Headings yaw_rad (N,) and shifts over the ground (N,), one complex number each."""

    yaw_rad: FloatArray
    shift: ComplexArray

    def __matmul__(self, first: Placement) -> Placement:
        """Do `first`, then this."""
        return Placement(self.yaw_rad + first.yaw_rad, self.shift + np.exp(1j * self.yaw_rad) * first.shift)

    def inverse(self) -> Placement:
        """Return what undoes this."""
        return Placement(-self.yaw_rad, -np.exp(-1j * self.yaw_rad) * self.shift)

    def at(self, index: IntArray | slice | int) -> Placement:
        """Index the arrays."""
        return Placement(np.asarray(self.yaw_rad[index]), np.asarray(self.shift[index]))

    def power(self, times: IntArray) -> Placement:
        """Repeat a single placement n times, for n (N,) of any sign.

        The shifts add up as 1 + z + … + zⁿ⁻¹ = exp(i(n−1)θ/2) · sin(nθ/2) / sin(θ/2), which keeps its digits
        for small headings θ too.
        """
        half = np.remainder(float(self.yaw_rad) + np.pi, 2.0 * np.pi) / 2.0 - np.pi / 2.0
        total = times.astype(np.complex128)
        if abs(half) > _STRAIGHT_RAD:
            total = np.exp(1j * half * (times - 1)) * np.sin(half * times) / np.sin(half)
        return Placement(self.yaw_rad * times, self.shift * total)


class Root:
    """The root joint of a skeleton above its ground.

    joint: its index; up: unit vector (3,) of model space. The joint's ancestors are taken to be at rest.
    Raises TaktError where up is no direction.
    """

    def __init__(self, skeleton: Skeleton, joint: int, up: FloatArray) -> None:
        length = float(np.linalg.norm(up))
        if np.shape(up) != (3,) or not (np.isfinite(length) and length > 0.0):
            raise TaktError(f"up is {up}; a direction (3,) is wanted")
        self.joint = joint
        self.up = np.asarray(up, dtype=np.float64) / length
        across = np.eye(3)[np.argmin(np.abs(self.up))]
        east = across - (across @ self.up) * self.up
        east /= np.linalg.norm(east)
        parent = int(skeleton.parents[joint])
        world = skeleton.rest_world[parent] if parent >= 0 else np.eye(4)[:3]
        # Coordinates of a position in model space: along up, east, and north.
        ground = np.stack((self.up, east, np.cross(self.up, east)))
        self._to, self._from = ground @ world[:, :3], np.linalg.inv(ground @ world[:, :3])
        self._start = ground @ world[:, 3] + self._to @ skeleton.rest_translations[joint]
        self._frame = skeleton.rest_world_rotations[joint]
        self._local_up = rot.rotate(rot.conjugate(self._frame), self.up)

    def placement(self, rotations: FloatArray, translations: FloatArray) -> Placement:
        """Read heading and place from the root's poses (N, 4), (N, 3), relative to rest in the parent's space.

        The heading is the twist about up of the root's model-space rotation relative to its rest; a root
        upside down has none and counts as facing forward.
        """
        turned = rot.multiply(rot.multiply(self._frame, rotations), rot.conjugate(self._frame))
        twist = rot.twist(turned, self.up)
        yaw: FloatArray = 2.0 * np.arctan2(twist[..., 1:] @ self.up, twist[..., 0])
        return Placement(yaw, self._ground(translations))

    def placed(self, rotations: FloatArray, translations: FloatArray, by: Placement) -> tuple[FloatArray, FloatArray]:
        """Move the root's poses (N, 4), (N, 3) over the ground by placements (N,)."""
        half = np.asarray(by.yaw_rad, dtype=np.float64)[..., None] / 2.0
        turn = np.concatenate((np.cos(half), np.sin(half) * self._local_up), axis=-1)
        position = translations @ self._to.T + self._start
        ground = np.exp(1j * by.yaw_rad) * (position[..., 1] + 1j * position[..., 2]) + by.shift
        position[..., 1], position[..., 2] = ground.real, ground.imag
        return rot.multiply(turn, rotations), (position - self._start) @ self._from.T

    def away(self, translations: FloatArray) -> FloatArray:
        """Return how far translations (N, 3) lead over the ground from rest, east and north (N, 2)."""
        return np.asarray((translations @ self._to.T)[..., 1:])

    def back(self, translations: FloatArray, away: FloatArray) -> FloatArray:
        """Return translations (N, 3) without a way over the ground (N, 2)."""
        position = translations @ self._to.T
        position[..., 1:] -= away
        return np.asarray(position @ self._from.T)

    def _ground(self, translations: FloatArray) -> ComplexArray:
        position = translations @ self._to.T + self._start
        return np.asarray(position[..., 1] + 1j * position[..., 2])


@dataclass(frozen=True, eq=False)
class Travel:
    """How a character travels through S segments.

    starts: placements (C,) of the clips' first poses (the identity for clips that do not move the root).
    stations: (S + 1,) where the root stands before, between and after the segments.
    lap: one placement, from one round of the whole to the next.
    """

    starts: Placement
    stations: Placement
    lap: Placement

    @classmethod
    def through(cls, starts: Placement, ends: Placement, rest: Placement, moves: npt.NDArray[np.bool_],
                clip: IntArray) -> Travel:
        """Chain segments that play clips (S,); starts, ends, moves: (C,); rest: one placement.

        Qₖ₊₁ = Qₖ · S⁻¹ · E: each clip's own way, S⁻¹E, is walked from where the one before ended. The first
        segment begins where its clip is authored. A clip that leaves the root alone walks nowhere.
        """
        way = starts.inverse() @ ends
        yaw = np.where(moves, way.yaw_rad, 0.0)[clip]
        step = np.where(moves, way.shift, 0.0)[clip]
        origin = starts.at(clip[0]) if moves[clip[0]] else rest
        heading = float(origin.yaw_rad) + np.concatenate(((0.0,), np.cumsum(yaw)))
        place = complex(origin.shift) + np.concatenate(((0.0,), np.cumsum(np.exp(1j * heading[:-1]) * step)))
        stations = Placement(heading, place)
        own = Placement(np.where(moves, starts.yaw_rad, 0.0), np.where(moves, starts.shift, 0.0))
        return cls(own, stations, stations.at(-1) @ stations.at(0).inverse())


class RootWay:
    """Applies root motion to poses.

    In CONTINUE the poses at the clips' ends are kept at the origin, facing forward, and carried to the station
    between their segments; a clip's own poses are carried by what leads from its start to the station before it.
    """

    def __init__(self, mode: RootMode, clips: Sequence[Clip], moved: BoolArray, clip: IntArray,
                 starts: Sequence[Pose], ends: Sequence[Pose], up: FloatArray, followers: IntArray = _NONE) -> None:
        """Take clips, what they move (C, J), and which of them the segments play, (S,).

        starts, ends: (C + 1, J, …) the poses at the clips' first and last instants and shortly after and before,
        with rest in the last row. They are changed to what place_seam wants. followers: see root_joint.
        """
        if mode not in ROOT_MODES:
            raise TaktError(f"there is no root motion {mode!r}; there are {', '.join(ROOT_MODES)}")
        joint = root_joint(clips, followers)
        self._mode: RootMode = "AS_AUTHORED" if joint is None else mode
        if joint is None or mode == "AS_AUTHORED":
            return
        self._root = root = Root(clips[0].skeleton, joint, up)
        self._beside = tuple(Root(clips[0].skeleton, int(other), up) for other in beside_root(clips, joint))
        self._moves = moved[:, joint]
        if mode == "IN_PLACE":
            for pose in (*starts, *ends):
                self._keep_in_place(pose)
            return
        places = []
        for poses in (starts, ends):
            place = root.placement(poses[0].rotations[:, joint], poses[0].translations[:, joint])
            for pose in poses:
                self._carry(pose, place.inverse())
            places.append(place)
        first, last = places
        travel = Travel.through(first.at(slice(-1)), last.at(slice(-1)), first.at(-1), self._moves, clip)
        self._stations, self._lap = travel.stations, travel.lap
        self._ways = travel.stations.at(slice(-1)) @ travel.starts.at(clip).inverse()

    @property
    def lap_yaw_rad(self) -> float:
        """By how much one round of the whole turns the heading, −π to π."""
        if self._mode != "CONTINUE":
            return 0.0
        return float(np.remainder(self._lap.yaw_rad + np.pi, 2.0 * np.pi) - np.pi)

    def prepare(self, pose: Pose, clip: IntArray) -> None:
        """Take clip poses (F, J, …) as authored to what the later steps expect."""
        if self._mode == "IN_PLACE":
            self._keep_in_place(pose)
        elif self._mode == "CONTINUE" and not self._moves.all():
            still = ~self._moves[clip]
            rest = self._root.placement(rot.identities(), np.zeros(3)).inverse()
            for root in (self._root, *self._beside):
                pose.rotations[still, root.joint], pose.translations[still, root.joint] = root.placed(
                    pose.rotations[still, root.joint], pose.translations[still, root.joint], rest)

    def place_segments(self, pose: Pose, segment: IntArray, rounds: IntArray) -> None:
        """Carry clip poses to where their segments stand."""
        if self._mode == "CONTINUE":
            self._carry(pose, self._lapped(self._ways.at(segment), rounds))

    def place_seam(self, poses: Sequence[Pose], seam: IntArray, rounds: IntArray) -> None:
        """Carry end poses (W, J, …) to the station after each seam's segment."""
        if self._mode == "CONTINUE":
            place = self._lapped(self._stations.at(seam + 1), rounds)
            for pose in poses:
                self._carry(pose, place)

    def repeat(self, pose: Pose, rounds: IntArray) -> None:
        """Carry poses (F, J, …) of the first round to where later rounds (F,) are."""
        if self._mode == "CONTINUE" and rounds.any():
            self._carry(pose, self._lap.power(rounds))

    def _lapped(self, place: Placement, rounds: IntArray) -> Placement:
        return self._lap.power(rounds) @ place if rounds.any() else place

    def _carry(self, pose: Pose, by: Placement) -> None:
        for root in (self._root, *self._beside):
            joint = root.joint
            pose.rotations[:, joint], pose.translations[:, joint] = root.placed(
                pose.rotations[:, joint], pose.translations[:, joint], by)

    def _keep_in_place(self, pose: Pose) -> None:
        away = self._root.away(pose.translations[:, self._root.joint])
        for root in (self._root, *self._beside):
            pose.translations[:, root.joint] = root.back(pose.translations[:, root.joint], away)
