"""Breakdown: a pose between two others of the same performance, which the animator keys as a tweak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray
from ...core.playing.motion import Motion
from .. import properties
from ..frame_rate import frames_per_second
from . import tweak_moments

_PATHS = ("location", "scale")
_OF_ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
"""Rotation properties by rotation mode; all other modes are Euler angles."""


def key_poses(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> FloatArray:
    """Return the frames (K,), ascending, between which poses are broken down: ends of blocks, and keys of tweaks."""
    times_s = np.unique(np.concatenate((motion.layout.begin_s, motion.layout.end_s)))
    if motion.clock is not None:
        times_s = motion.clock.shown(times_s)
    frames = np.rint(properties.character(armature_object).frame_start + times_s * frames_per_second(scene))
    own = tweak_moments.frames_of(armature_object)
    return np.unique(frames if own is None else np.concatenate((frames, np.rint(own))))


def around(frames: FloatArray, frame: float) -> tuple[int, int] | None:
    """Return the nearest two of the frames (K,) before and after a frame, None if it is not between two.

    >>> around(np.array((1.0, 25.0, 49.0)), 30.0), around(np.array((1.0, 25.0, 49.0)), 25.0)
    ((25, 49), (1, 49))
    """
    before, after = frames[frames < frame], frames[frames > frame]
    return (int(before[-1]), int(after[0])) if len(before) and len(after) else None


@dataclass(frozen=True, eq=False)
class Poses:
    """The poses of B bones: at the earlier frame, at the later frame, and now.

    positions, rotations, scales: (3, B, …), as in the bones' channels.
    """

    bones: tuple[bpy.types.PoseBone, ...]
    positions: FloatArray
    rotations: FloatArray
    scales: FloatArray

    @classmethod
    def of(cls, bones: Sequence[bpy.types.PoseBone], scene: bpy.types.Scene, earlier: int, later: int) -> Poses:
        """Read the poses at two frames, and the current one, which is shown again afterwards."""
        frame, subframe = scene.frame_current, scene.frame_subframe
        now: list[Any] = [bone.matrix_basis.decompose() for bone in bones]  # includes poses without keys
        found = []
        for at in (earlier, later):
            scene.frame_set(at)
            found.append([bone.matrix_basis.decompose() for bone in bones])
        scene.frame_set(frame, subframe=subframe)
        parts = [np.array([[tuple(bone[part]) for bone in pose] for pose in (*found, now)]) for part in range(3)]
        poses = cls(tuple(bones), *parts)
        poses.give_back()
        return poses

    def show(self, share: float) -> None:
        """Move the bones between the two moments: 0 is the earlier, 1 the later; other values extrapolate."""
        rotations = rot.slerp(self.rotations[0], self.rotations[1], np.full(len(self.bones), share))
        self._put(self.positions[0] + share * (self.positions[1] - self.positions[0]), rotations,
                  self.scales[0] + share * (self.scales[1] - self.scales[0]))

    def give_back(self) -> None:
        """Restore the bones."""
        self._put(self.positions[2], self.rotations[2], self.scales[2])

    def key(self, frame: float) -> None:
        """Key the channels in which the two moments differ, or in which the bones differ from both."""
        for number, bone in enumerate(self.bones):
            paths = [path for path, values in zip(_PATHS, (self.positions, self.scales), strict=True)
                     if np.ptp(values[:, number], axis=0).max() > 1e-6]
            if rot.angle_between(self.rotations[0, number], self.rotations[1:, number]).max() > 1e-6:
                paths.append(_OF_ROTATIONS.get(bone.rotation_mode, "rotation_euler"))
            for path in paths:
                bone.keyframe_insert(path, frame=frame, group=bone.name)

    def _put(self, positions: FloatArray, rotations: FloatArray, scales: FloatArray) -> None:
        for bone, position, rotation, scale in zip(self.bones, positions.tolist(), rotations.tolist(), scales.tolist(),
                                                   strict=True):
            bone.matrix_basis = Matrix.LocRotScale(position, Quaternion(rotation), scale)
