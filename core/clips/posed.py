"""Pose some joints of a clip at many times, without posing the whole skeleton.

Only these joints and their ancestors are computed. All frames of a joint lie side by side in memory. So several numbers
are computed at once, and the data of a few joints in some hundred frames stays in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..maths.formulas import product, rotated
from ..skeletons.skeleton import Skeleton
from .clip import Clip
from .posed_rows import JointRows, Keys, keys_of_rows, rows_of
from .tracks import Tracks

_NUMBERS_AT_ONCE: Final = 65_536
"""Number of joints times frames that are processed together: the data stays in the processor's cache, with few calls.
"""
_FEWEST_AT_ONCE: Final = 128


@dataclass(frozen=True, eq=False)
class PosedJoints:
    """Some joints of a clip, with their ancestors.

    joints: (N,) the requested joints of the clip's skeleton. rows: the R rows of these joints and their ancestors.
    Loops are closed as in Clip.sample.

    >>> skeleton = Skeleton.from_arrays("ab", [-1, 0], rot.identities(2), np.array(((0.0, 1.0, 0), (0, 2.0, 0))))
    >>> turns = rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), np.array((0.0, np.pi)))
    >>> tracks = Tracks.uniform(np.zeros(1, np.int64), np.array((0.0, 1.0)), turns[:, None])
    >>> clip = Clip("", skeleton, 1.0, tracks, Tracks.empty(3), Tracks.empty(3))
    >>> posed = PosedJoints.of(clip, np.array((1,)))
    >>> posed.heights(np.array((0.0, 0.5, 1.0)), np.array((0.0, 1.0, 0.0))).round(6).tolist()
    [[3.0], [1.0], [-1.0]]
    >>> posed.world(np.array((0.5,)))[0, 0, :, 3].round(6).tolist()
    [-2.0, 1.0, 0.0]
    """

    clip: Clip
    joints: IntArray
    rows: JointRows
    is_spherical: bool = False

    @classmethod
    def of_tracks(cls, skeleton: Skeleton, rotations: Tracks, translations: Tracks, joints: IntArray) -> PosedJoints:
        """Return joints (N,) of a skeleton that only these tracks move."""
        return cls.of(Clip("", skeleton, 0.0, rotations, translations, Tracks.empty(3)), joints)

    @classmethod
    def of(cls, clip: Clip, joints: IntArray, *, is_spherical: bool = False) -> PosedJoints:
        """Return joints (N,) of a clip, in any order. is_spherical: rotate at constant speed between keys."""
        joints = np.asarray(joints, dtype=np.int64)
        return cls(clip, joints, rows_of(clip.skeleton, joints.tobytes()), is_spherical)

    def heights(self, times_s: FloatArray, up: FloatArray) -> FloatArray:
        """Return the heights (F, N) of the joints along up (3,) at times (F,)."""
        heights = np.empty((len(self.joints), len(times_s)))
        for run in self.runs(len(times_s)):
            heights[:, run] = self._rows(times_s[run], up)[3].take(self.rows.wanted, axis=0)
        return heights.T

    def height_rows(self, times_s: FloatArray, up: FloatArray) -> FloatArray:
        """Return rows upᵀ · model_from_joint at times (F,), (4, N, F): frames last; see skeleton.height_rows."""
        return self._rows(times_s, up).take(self.rows.wanted, axis=1)

    def _rows(self, times_s: FloatArray, up: FloatArray) -> FloatArray:
        """Return rows of all joints, (4, R, F); see height_rows."""
        own, positions = self._linear(times_s), self._positions(times_s)
        rows = np.empty((4, len(self.rows.kept), len(times_s)))
        for depth, level in enumerate(self.rows.levels):
            above = rows[:, self.rows.above[depth]] if depth else np.append(up, 0.0)[:, None, None]
            np.einsum("inf,ijnf->jnf", above[:3], own[:, :, level], out=rows[:3, level])
            np.einsum("inf,inf->nf", above[:3], positions[depth], out=rows[3, level])
            rows[3, level] += above[3]
        return rows

    def world(self, times_s: FloatArray) -> FloatArray:
        """Return matrices model_from_joint at times (F,), (F, N, 3, 4), whose frames lie side by side in memory."""
        world = np.empty((3, 4, len(self.joints), len(times_s)))
        for run in self.runs(len(times_s)):
            world[..., run] = self._matrices(times_s[run]).take(self.rows.wanted, axis=2)
        return world.transpose(3, 2, 0, 1)

    def placed(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rotations model_from_joint, (F, N, 4), and positions in the model, (F, N, 3), at times (F,)."""
        if self._is_scaled:
            world = self.world(times_s)
            linear = world[..., :3]
            return rot.from_exact_matrix(linear / np.linalg.norm(linear, axis=-2, keepdims=True)), world[..., 3]
        turns, positions = (np.empty((width, len(self.joints), len(times_s))) for width in (4, 3))
        for run in self.runs(len(times_s)):
            found = self._model(times_s[run])
            turns[..., run], positions[..., run] = (each.take(self.rows.wanted, axis=1) for each in found)
        return turns.T, positions.T

    def runs(self, frames: int) -> Iterator[slice]:
        """Return runs of frames of a size that is fast to compute at once."""
        count = max(_NUMBERS_AT_ONCE // max(len(self.rows.kept), 1), _FEWEST_AT_ONCE)
        return (slice(start, min(start + count, frames)) for start in range(0, frames, count))

    def _model(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rotations model_from_joint, (4, R, F), and positions in the model, (3, R, F), without scales."""
        turns, moves = self._turns(times_s), self._positions(times_s)
        positions = np.empty((3, len(self.rows.kept), len(times_s)))
        positions[:, self.rows.levels[0]] = moves[0]
        for depth, level in enumerate(self.rows.levels[1:], start=1):
            above, own = turns[:, self.rows.above[depth]], positions[:, level]
            _write(own, rotated((*above,), (*moves[depth],)))
            own += positions[:, self.rows.above[depth]]
            _write(turns[:, level], product((*above,), (*turns[:, level],)))
        return turns, positions

    def _matrices(self, times_s: FloatArray) -> FloatArray:
        """Return matrices model_from_joint at times (F,), (3, 4, R, F)."""
        own, positions = self._linear(times_s), self._positions(times_s)
        world = np.empty((3, 4, len(self.rows.kept), len(times_s)))
        for depth, level in enumerate(self.rows.levels):
            linear, position = world[:, :3, level], world[:, 3, level]
            if not depth:
                linear[...], position[...] = own[:, :, level], positions[0]
                continue
            above = world[:, :, self.rows.above[depth]]
            np.einsum("ijnf,jknf->iknf", above[:, :3], own[:, :, level], out=linear)
            np.einsum("ijnf,jnf->inf", above[:, :3], positions[depth], out=position)
            position += above[:, 3]
        return world

    def _linear(self, times_s: FloatArray) -> FloatArray:
        """Return matrices from the parents' axes at times (F,), (3, 3, R, F)."""
        own = np.empty((3, 3, len(self.rows.kept), len(times_s)))
        rot.write_matrix(np.moveaxis(self._turns(times_s), 0, -1), own.transpose(2, 3, 0, 1))
        if self._is_scaled:
            own *= self._scales(times_s)
        return own

    def _turns(self, times_s: FloatArray) -> FloatArray:
        """Return rotations from the parents' axes at times (F,), (4, R, F)."""
        turns = np.empty((4, len(self.rows.kept), len(times_s)))
        turns[:, self._still] = self.rows.rest_rotations[:, self._still, None]
        for keys in self._turning:
            turns[:, keys.rows] = keys.at(times_s, is_spherical=self.is_spherical)
        return turns

    def _positions(self, times_s: FloatArray) -> list[FloatArray]:
        """Return positions in the parents' axes at times (F,), (3, N, F) for each level, or (3, N, 1) if none moves."""
        rest = self.rows.rest_translations
        moving = np.empty((3, self._moving_rows, len(times_s)))
        moving[:] = rest[:, :self._moving_rows]
        for keys in self._moving:
            moving[:, keys.rows] += keys.at(times_s, is_spherical=False)
        return [(moving if level.stop <= self._moving_rows else rest)[:, level] for level in self.rows.levels]

    def _scales(self, times_s: FloatArray) -> FloatArray:
        """Return scales at times (F,), (3, R, F), or (3, R, 1) where none changes."""
        rest = self.rows.rest_scales
        if not self._scaling:
            return rest
        scales = np.empty((3, len(self.rows.kept), len(times_s)))
        scales[:] = rest
        for keys in self._scaling:
            scales[:, keys.rows] *= keys.at(times_s, is_spherical=False)
        return scales

    @cached_property
    def _is_scaled(self) -> bool:
        return bool(self._scaling) or self.rows.rest_scaled

    @cached_property
    def _turning(self) -> tuple[Keys, ...]:
        """Keys of rotations in the parents' axes; rotating by rest keeps linear interpolation linear."""
        return self._keys("rotations")

    @cached_property
    def _moving(self) -> tuple[Keys, ...]:
        return self._keys("translations")

    @cached_property
    def _moving_rows(self) -> int:
        """The number of rows down to the deepest level with a joint that moves."""
        last = int(self.rows.row[self.clip.translations.joints].max(initial=-1))
        return next((level.stop for level in self.rows.levels if level.stop > last), 0) if last >= 0 else 0

    @cached_property
    def _scaling(self) -> tuple[Keys, ...]:
        return self._keys("scales")

    @cached_property
    def _still(self) -> IntArray:
        """The rows of joints that do not rotate."""
        is_still = np.ones(len(self.rows.kept), dtype=np.bool_)
        for keys in self._turning:
            is_still[keys.rows] = False
        return np.flatnonzero(is_still)

    def _keys(self, channel: str) -> tuple[Keys, ...]:
        """Return the keys of the clip's rotations, translations or scales, grouped by equal key times."""
        tracks = self.clip.derived(_closed, channel) if self.clip.is_looping else getattr(self.clip, channel)
        return keys_of_rows(tracks, self.rows, is_turned=channel == "rotations")


def _closed(clip: Clip, channel: str) -> Tracks:
    """Return the tracks of a channel, closed if the clip is looping."""
    tracks: Tracks = getattr(clip, channel)
    return tracks.closed(clip.duration_s)


def of_frames(world: FloatArray, frames: IntArray) -> FloatArray:
    """Return matrices (F, N, 3, 4) of some frames, lying in memory as PosedJoints.world has them."""
    return world.transpose(2, 3, 1, 0).take(frames, axis=3).transpose(3, 2, 0, 1)


def joined_frames(worlds: Sequence[FloatArray]) -> FloatArray:
    """Return matrices (F, N, 3, 4) of several runs of frames, lying in memory as PosedJoints.world has them."""
    joined: FloatArray = np.concatenate([world.transpose(2, 3, 1, 0) for world in worlds], axis=3)
    return joined.transpose(3, 2, 0, 1)


def _write(out: FloatArray, rows: Iterable[FloatArray]) -> None:
    """Write arrays (N, F), one for each number, into an array (C, N, F)."""
    for own, row in zip(out, rows, strict=True):
        own[...] = row
