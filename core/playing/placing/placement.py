"""Headings and positions on the ground, and their composition.

A placement is a rotation about the up axis by yaw (radians), then a shift in the ground plane, then a rise of the
ground. The shift is a complex number over the plane's two axes. So placements compose over whole arrays by adding
angles and rises and by rotating complex numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from ...errors import TaktError
from ...maths import rotations as rot
from ...maths.arrays import FloatArray, IntArray
from ...skeletons.skeleton import Pose, Skeleton

_STRAIGHT_RAD = 1e-12
SWAY_RAD: Final = np.radians(10.0)
"""A loop that turns by less than this counts as straight: hips sway so far, and clips begin anywhere in the sway."""
ComplexArray = npt.NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Placement:
    """Headings yaw_rad (N,), shifts over the ground (N,) as complex numbers, and rises of the ground (N,)."""

    yaw_rad: FloatArray
    shift: ComplexArray
    rise: FloatArray = field(default_factory=lambda: np.zeros(()))

    def __matmul__(self, first: Placement) -> Placement:
        """Return the placement that applies `first`, then this one."""
        return Placement(self.yaw_rad + first.yaw_rad, self.shift + np.exp(1j * self.yaw_rad) * first.shift,
                         self.rise + first.rise)

    def inverse(self) -> Placement:
        """Return the inverse placement."""
        return Placement(-self.yaw_rad, -np.exp(-1j * self.yaw_rad) * self.shift, -self.rise)

    def at(self, index: IntArray | slice | int | tuple[slice, None]) -> Placement:
        """Index the arrays."""
        rise = np.broadcast_to(self.rise, np.shape(self.yaw_rad))
        return Placement(np.asarray(self.yaw_rad[index]), np.asarray(self.shift[index]), np.asarray(rise[index]))

    @cached_property
    def numbers(self) -> FloatArray:
        """Return the numbers in which placed poses are linear, (N, 8).

        Cosine and sine of half the heading and of all of it, the shift's two components, 1, and the rise.
        """
        cosine, sine = np.cos(0.5 * self.yaw_rad), np.sin(0.5 * self.yaw_rad)
        ones = np.ones(np.shape(cosine))
        return np.stack((cosine, sine, cosine * cosine - sine * sine, 2.0 * cosine * sine, self.shift.real,
                         self.shift.imag, ones, self.rise * ones), axis=-1)

    def power(self, times: IntArray) -> Placement:
        """Return a single placement applied n times, for n (N,) of any sign.

        Its shift is multiplied by 1 + z + … + zⁿ⁻¹ = exp(i(n−1)θ/2) · sin(nθ/2) / sin(θ/2), with z = exp(iθ). The right
        side is exact for small headings θ, too.
        """
        half = np.remainder(float(self.yaw_rad) + np.pi, 2.0 * np.pi) / 2.0 - np.pi / 2.0
        total = times.astype(np.complex128)
        if abs(half) > _STRAIGHT_RAD:
            total = np.exp(1j * half * (times - 1)) * np.sin(half * times) / np.sin(half)
        return Placement(self.yaw_rad * times, self.shift * total, self.rise * times)


class Root:
    """The root joint of a skeleton above its ground.

    joint: its index; its ancestors must be at rest, otherwise use a Bearing. up: unit vector (3,) of model space.
    ground: (3, 3) from model space to coordinates along up, east and north. Raises TaktError if up has no length.
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
        self.ground = ground = np.stack((self.up, east, np.cross(self.up, east)))
        self._to, self._from = ground @ world[:, :3], np.linalg.inv(ground @ world[:, :3])
        self._start = ground @ world[:, 3] + self._to @ skeleton.rest_translations[joint]
        self._frame = skeleton.rest_world_rotations[joint]
        self._terms = self._placing(rot.rotate(rot.conjugate(self._frame), self.up))

    def placement(self, rotations: FloatArray, translations: FloatArray) -> Placement:
        """Return heading and position of root poses (N, 4), (N, 3), which are relative to rest in the parent's space.

        The heading is the twist about up of the root's model-space rotation relative to its rest. An upside-down root
        has no heading and counts as facing forward.
        """
        turned = rot.multiply(rot.multiply(self._frame, rotations), rot.conjugate(self._frame))
        return Placement(self.heading(turned), self._ground(translations))

    def heading(self, turned: FloatArray) -> FloatArray:
        """Return the headings (N,) of rotations (N, 4) from rest in model space."""
        twist = rot.twist(turned, self.up)
        yaw: FloatArray = 2.0 * np.arctan2(twist[..., 1:] @ self.up, twist[..., 0])
        return yaw

    def placed(self, rotations: FloatArray, translations: FloatArray, by: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Move the root's poses (N, 4), (N, 3) over the ground by the numbers (N, 8) of placements."""
        own = np.empty((len(rotations), 8))
        own[:, :4], own[:, 4:7], own[:, 7] = rotations, translations, 1.0
        found = ((own @ self._terms).reshape(-1, 7, 8) @ by[..., None])[..., 0]
        return found[:, :4], found[:, 4:]

    def _placing(self, local_up: FloatArray) -> FloatArray:
        """Return the matrix (8, 56) that places a pose, given as a quaternion, a translation and 1.

        A placed pose has seven numbers. Each is linear in the pose's eight numbers and in the placement's eight, so
        that the result has 7 · 8 columns. local_up: up in the root's axes.
        """
        terms, start = np.zeros((8, 7, 8)), self._start * (0.0, 1.0, 1.0)
        terms[0, :4, :4] = np.eye(4)
        terms[1, :4, :4] = rot.multiply(np.append(0.0, local_up), np.eye(4)).T
        for term, turn in ((2, ((0, 0, 0), (0, 1, 0), (0, 0, 1))), (3, ((0, 0, 0), (0, 0, -1), (0, 1, 0)))):
            terms[term, 4:, 4:] = self._from @ turn @ np.column_stack((self._to, start))
        terms[4, 4:, 7], terms[5, 4:, 7] = self._from[:, 1], self._from[:, 2]
        terms[6, 4:, 4:] = self._from @ np.column_stack((np.diag((1.0, 0.0, 0.0)) @ self._to, -start))
        terms[7, 4:, 7] = self._from[:, 0]
        return terms.transpose(2, 1, 0).reshape(8, 56)

    def turned(self, translations: FloatArray, yaw_rad: FloatArray) -> FloatArray:
        """Rotate offsets of the root's translations, (..., 3), about up by yaw_rad (...)."""
        above = translations @ self._to.T
        ground = np.exp(1j * yaw_rad) * (above[..., 1] + 1j * above[..., 2])
        above[..., 1], above[..., 2] = ground.real, ground.imag
        return np.asarray(above @ self._from.T)

    def away(self, translations: FloatArray) -> FloatArray:
        """Return the horizontal offset of translations (N, 3) from rest, east and north (N, 2)."""
        return np.asarray((translations @ self._to.T)[..., 1:])

    def back(self, translations: FloatArray, away: FloatArray) -> FloatArray:
        """Return translations (N, 3) minus horizontal offsets (N, 2)."""
        position = translations @ self._to.T
        position[..., 1:] -= away
        return np.asarray(position @ self._from.T)

    def _ground(self, translations: FloatArray) -> ComplexArray:
        position = translations @ self._to.T + self._start
        return np.asarray(position[..., 1] + 1j * position[..., 2])


class Bearing:
    """Position and heading of a joint whose ancestors may move.

    chain: (N,) from the topmost joint that ever leaves rest down to the joint. skeleton: theirs. up: (3,) in its model
    space.
    """

    def __init__(self, skeleton: Skeleton, chain: IntArray, up: FloatArray) -> None:
        self.skeleton, self.chain, self.up = skeleton, chain, up
        self._root = Root(skeleton, int(chain[-1]), up)

    def placement(self, pose: Pose) -> Placement:
        """Return heading and position in poses (N, J, …)."""
        joint = self._root.joint
        if len(self.chain) == 1:
            return self._root.placement(pose.rotations[:, joint], pose.translations[:, joint])
        turned, position = self._in_model(pose)
        return Placement(self._root.heading(turned), self._over_ground(position) @ np.array((1.0, 1j)))

    def away(self, pose: Pose) -> FloatArray:
        """Return the joint's horizontal offset from rest in poses (N, J, …), east and north (N, 2)."""
        if len(self.chain) == 1:
            return self._root.away(pose.translations[:, self._root.joint])
        return self._over_ground(self._in_model(pose)[1] - self.skeleton.rest_world[self._root.joint, :, 3])

    def in_frame(self, points: FloatArray, at: Placement) -> FloatArray:
        """Return points (N, P, 3) of model space in the frames of placements (N,): up, and two axes by the heading."""
        above = points @ self._root.ground.T
        ground = np.exp(-1j * at.yaw_rad)[:, None] * (above[..., 1] + 1j * above[..., 2] - at.shift[:, None])
        return np.stack((above[..., 0], ground.real, ground.imag), axis=-1)

    def moved(self, points: FloatArray, by: Placement) -> FloatArray:
        """Move points (..., 3) of the model over the ground by placements (...), which broadcast."""
        axes = self._root.ground
        above = points @ axes.T
        ground = np.exp(1j * by.yaw_rad) * (above[..., 1] + 1j * above[..., 2]) + by.shift
        return np.asarray(np.stack((above[..., 0] + by.rise, ground.real, ground.imag), axis=-1) @ axes)

    def over_ground(self, points: FloatArray) -> ComplexArray:
        """Return the horizontal positions of points (N, 3) of model space, (N,)."""
        return np.asarray(self._over_ground(points) @ np.array((1.0, 1j)))

    def _over_ground(self, position: FloatArray) -> FloatArray:
        return np.asarray((position @ self._root.ground.T)[..., 1:])

    def _in_model(self, pose: Pose) -> tuple[FloatArray, FloatArray]:
        """Return the joint's rotations (N, 4) from rest and its positions (N, 3), both in model space."""
        skeleton, chain = self.skeleton, self.chain
        parent = int(skeleton.parents[chain[0]])
        rotations = skeleton.rest_world_rotations[parent] if parent >= 0 else rot.IDENTITY
        world = skeleton.rest_world[parent] if parent >= 0 else np.eye(4)[:3]
        for joint in chain.tolist():
            turned = rot.multiply(skeleton.rest_rotations[joint], pose.rotations[:, joint])
            linear = rot.to_matrix(turned) * (skeleton.rest_scales[joint] * pose.scales[:, joint])[:, None]
            local = skeleton.rest_translations[joint] + pose.translations[:, joint]
            position = (world[..., :3] @ local[..., None])[..., 0] + world[..., 3]
            world = np.concatenate((world[..., :3] @ linear, position[..., None]), axis=-1)
            rotations = rot.multiply(rotations, turned)
        return rot.multiply(rotations, rot.conjugate(skeleton.rest_world_rotations[chain[-1]])), world[..., 3]


@dataclass(frozen=True, eq=False)
class Travel:
    """How a character travels through S segments.

    starts: (C,) placements of the clips' first poses, the identity for clips that do not move the root. stations:
    (S + 1,) placements at which segments begin, and at which one after the last would. turns_rad: (S,) heading change
    at the seam after each segment; nonzero only in a loop that is straightened. lap: the placement from one round of
    the loop to the next.
    """

    starts: Placement
    stations: Placement
    turns_rad: FloatArray
    lap: Placement

    @classmethod
    def through(cls, starts: Placement, ends: Placement, rest: Placement, moves: npt.NDArray[np.bool_],
                clip: IntArray, loop_s: FloatArray | None = None) -> Travel:
        """Chain segments that play clips (S,). starts, ends, moves: (C,). rest: one placement.

        moves: (C,) whether each clip moves the root; others do not travel. The stations are Qₖ₊₁ = Qₖ · S⁻¹ · E · T,
        with the start S and the end E of the segment's clip: each clip's own travel, S⁻¹E, begins where the one before
        ended. The first segment begins where its clip is authored. loop_s: (S,) durations of the transitions of a
        loop; None without loop. A loop that turns by less than SWAY_RAD is straightened by the turns T at its seams;
        otherwise T is the identity.
        """
        travel = starts.inverse() @ ends
        yaw = np.where(moves, travel.yaw_rad, 0.0)[clip]
        step = np.where(moves, travel.shift, 0.0)[clip]
        rise = np.where(moves, travel.rise, 0.0)[clip]
        turns = (np.zeros(len(clip)) if loop_s is None else
                 _straightening(float(yaw.sum()), moves[np.roll(clip, -1)], loop_s))
        origin = starts.at(clip[0]) if moves[clip[0]] else rest
        heading = float(origin.yaw_rad) + np.concatenate(((0.0,), np.cumsum(yaw + turns)))
        position = complex(origin.shift) + np.concatenate(((0.0,), np.cumsum(np.exp(1j * heading[:-1]) * step)))
        high = float(origin.rise) + np.concatenate(((0.0,), np.cumsum(rise)))
        stations = Placement(heading, position, high)
        own = Placement(*(np.where(moves, each, 0.0) for each in (starts.yaw_rad, starts.shift, starts.rise)))
        return cls(own, stations, turns, stations.at(-1) @ stations.at(0).inverse())


def _straightening(yaw_rad: float, enters: npt.NDArray[np.bool_], transitions_s: FloatArray) -> FloatArray:
    """Return the turns at S seams, in radians, that straighten a loop which turns by yaw_rad; 0 if it turns far.

    enters: (S,) whether the clip after each seam moves the root; other seams get no turn. Longer transitions turn more.

    >>> enters, transitions_s = np.array((True, False, True)), np.array((0.1, 0.2, 0.3))
    >>> np.degrees(_straightening(np.radians(356.0), enters, transitions_s)).round(6).tolist()
    [1.0, 0.0, 3.0]
    >>> np.degrees(_straightening(np.radians(15.0), enters, transitions_s)).tolist()
    [0.0, 0.0, 0.0]
    """
    turn = float(np.remainder(yaw_rad + np.pi, 2.0 * np.pi) - np.pi)
    if abs(turn) >= SWAY_RAD or not enters.any():
        return np.zeros(len(enters))
    lasts = np.where(enters, transitions_s, 0.0)
    weights = lasts if lasts.any() else enters.astype(np.float64)
    return np.asarray(-turn * weights / weights.sum())
