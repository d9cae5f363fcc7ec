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

from . import rotations as rot
from .arrays import FloatArray, IntArray
from .clip import Clip
from .errors import TaktError
from .skeleton import Skeleton

RootMode = Literal["CONTINUE", "AS_AUTHORED", "IN_PLACE"]
ROOT_MODES: dict[RootMode, tuple[str, str]] = {
    "CONTINUE": ("Continue", "Each clip starts where the one before ended on the ground, heading included"),
    "AS_AUTHORED": ("As authored", "Each clip plays where its file says"),
    "IN_PLACE": ("In place", "The root stays above its place of rest"),
}
_STRAIGHT_RAD = 1e-12
ComplexArray = npt.NDArray[np.complex128]


def root_joint(clips: Sequence[Clip]) -> int | None:
    """Return the topmost joint that any of the clips translates, else the topmost that any turns, else None."""
    skeleton = clips[0].skeleton
    depth = np.empty(len(skeleton), dtype=np.int64)
    for level, joints in enumerate(skeleton.levels):
        depth[joints] = level
    for kind in ("translations", "rotations"):
        joints = np.unique(np.concatenate([getattr(clip, kind).joints for clip in clips]))
        if len(joints):
            return int(joints[np.argmin(depth[joints])])
    return None


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
        self._east = east / np.linalg.norm(east)
        self._north = np.cross(self.up, self._east)
        parent = int(skeleton.parents[joint])
        world = skeleton.rest_world[parent] if parent >= 0 else np.eye(4)[:3]
        self._linear, self._origin = world[:, :3], world[:, 3]
        self._inverse = np.linalg.inv(self._linear)
        self._frame = skeleton.rest_world_rotations[joint]
        self._rest = skeleton.rest_translations[joint]

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
        turn = rot.from_axis_angle(self.up, by.yaw_rad)
        local_turn = rot.multiply(rot.multiply(rot.conjugate(self._frame), turn), self._frame)
        position = rot.rotate(turn, self._position(translations)) + self._vector(by.shift)
        return rot.multiply(local_turn, rotations), (position - self._origin) @ self._inverse.T - self._rest

    def in_place(self, translations: FloatArray) -> FloatArray:
        """Return translations (N, 3) without what leads over the ground."""
        away = self._ground(translations) - self._ground(np.zeros(3))
        return np.asarray(translations - self._vector(away) @ self._inverse.T)

    def _position(self, translations: FloatArray) -> FloatArray:
        return np.asarray((self._rest + translations) @ self._linear.T + self._origin)

    def _ground(self, translations: FloatArray) -> ComplexArray:
        position = self._position(translations)
        return np.asarray(position @ self._east + 1j * (position @ self._north))

    def _vector(self, shift: ComplexArray) -> FloatArray:
        return np.asarray(shift.real[..., None] * self._east + shift.imag[..., None] * self._north)


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
