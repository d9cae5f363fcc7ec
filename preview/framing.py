"""The camera of a film without one: it frames the characters so that they fill two thirds of the height."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import bpy
import numpy as np

from ..bridge.frame_rate import frames_per_second
from ..bridge.meshes.mesh import transformed
from ..bridge.rigs.armature import read_skeleton
from ..bridge.scores.score import time_s
from ..core.maths.arrays import FloatArray
from ..core.playing.stage import Playable
from ..core.skeletons.skeleton import world_from_pose
from .character import bound_meshes
from .corners import read_array
from .floor import Floor

_LENS_RAD = float(np.radians(28.0))
"""Vertical angle of view."""
_FILLED = 2.0 / 3.0
_BESIDE_RAD, _ABOVE_RAD = float(np.radians(18.0)), float(np.radians(7.0))
_NEAREST, _FARTHEST = 0.05, 60.0
"""Distances of the camera, in heights of the figures."""
_CALM_S = 0.6
"""Smoothing time of the camera."""
_HEIGHT_OF_HUMAN_M = 1.75
_STAYS = 0.25
"""Share of the figures' height; smaller vertical movements are not followed."""
Plays = Callable[[bpy.types.Object], Playable | None]
"""Returns what an armature plays."""


@dataclass(frozen=True, eq=False)
class Framing:
    """The content to frame. followed: (F, 3), points that the camera follows; on_floor: (F, 3), below the characters;
    height_m, reach_m: their height, and their extent to the sides."""

    followed: FloatArray
    on_floor: FloatArray
    height_m: float
    reach_m: float

    @property
    def scale(self) -> float:
        """The size of the characters relative to humans."""
        return self.height_m / _HEIGHT_OF_HUMAN_M

    def floor(self, frame: int) -> Floor:
        """Return the floor below the characters at a frame."""
        return Floor(self.on_floor[frame], self.reach_m + self.height_m, self.scale)

    def view(self, frame: int, width: int, height: int) -> tuple[FloatArray, FloatArray]:
        """Return view from world and clip from view, (4, 4), for a picture of this size in pixels."""
        back = np.array((np.sin(_BESIDE_RAD), -np.cos(_BESIDE_RAD), 0.0)) * np.cos(_ABOVE_RAD)
        back[2] = np.sin(_ABOVE_RAD)
        right = np.cross((0.0, 0.0, 1.0), back)
        right /= np.linalg.norm(right)
        axes = np.stack((right, np.cross(back, right), back))
        slope = np.tan(_LENS_RAD / 2.0) * np.array((width / height, 1.0))
        away = max(self.height_m / (2.0 * slope[1] * _FILLED), self.reach_m / slope[0])
        eye = self.followed[frame] + (0.0, 0.0, self.height_m / 2.0) + away * back
        view = np.eye(4)
        view[:3, :3], view[:3, 3] = axes, -axes @ eye
        near, far = _NEAREST * self.height_m, _FARTHEST * self.height_m
        clip = np.zeros((4, 4))
        clip[0, 0], clip[1, 1] = 1.0 / slope
        clip[2, 2:], clip[3, 2] = ((far + near) / (near - far), 2.0 * far * near / (near - far)), -1.0
        return view, clip


def frame_characters(scene: bpy.types.Scene, armatures: Sequence[bpy.types.Object], plays: Plays,
                     frames: Sequence[int]) -> Framing:
    """Return the framing of characters with their motions, in these frames of the scene."""
    corners, roots = [], []
    for armature in armatures:
        skeleton, playing = read_skeleton(armature), plays(armature)
        world = np.array(armature.matrix_world, dtype=np.float64)
        rest = world[:3, :3] @ skeleton.rest_world[0, :, 3] + world[:3, 3]
        root = np.tile(rest, (len(frames), 1))
        if playing is not None:
            times = np.array([time_s(armature, scene, frame) for frame in frames])
            root = world_from_pose(skeleton, playing.sample(times))[:, 0, :, 3] @ world[:3, :3].T + world[:3, 3]
        corners.append(np.concatenate([_corners_at_rest(mesh) for mesh in bound_meshes(scene, armature)]))
        roots.append(np.column_stack((root[:, :2], root[:, 2] - rest[2])))
    return framing(corners, roots, frames_per_second(scene))


def framing(corners: Sequence[FloatArray], roots: Sequence[FloatArray], fps: float) -> Framing:
    """Return the framing of characters.

    corners: of each one's bounding box at rest, (N, 3). roots: the path of each one's root, (F, 3): x, y, and its
    height relative to rest. The camera follows up and down only if that is far.

    >>> box = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.2, 0.2) for z in (0.0, 1.8)])
    >>> framing([box], [np.zeros((5, 3))], fps=24.0).height_m
    1.8
    """
    heights = np.concatenate(corners)[:, 2]
    floor, height = float(heights.min()), float(np.ptp(heights))
    together = np.mean(roots, axis=0)
    spread = max(float(np.abs(root - together)[:, 0].max()) for root in roots)
    up = together[:, 2]
    together[:, 2] = np.sign(up) * np.maximum(np.abs(up) - _STAYS * height, 0.0)
    on_floor = np.column_stack((together[:, :2], np.full(len(together), floor)))
    followed = calm(together, fps)
    followed[:, 2] += floor
    return Framing(followed, on_floor, height, spread + height / 2.0)


def calm(path: FloatArray, fps: float) -> FloatArray:
    """Return a path (F, 3) smoothed for a camera."""
    reach = max(int(3.0 * _CALM_S * fps), 1)
    kernel = np.exp(-(np.arange(-reach, reach + 1) / (_CALM_S * fps)) ** 2 / 2.0)
    padded = np.pad(path, ((reach, reach), (0, 0)), mode="edge")
    return np.stack([np.convolve(column, kernel / kernel.sum(), mode="valid") for column in padded.T], axis=1)


def _corners_at_rest(mesh_object: bpy.types.Object) -> FloatArray:
    """Return the bounding box of a mesh before its bones move it, in the world, (8, 3)."""
    points = read_array(cast(bpy.types.Mesh, mesh_object.data).vertices, "co", 3).astype(np.float64)
    if not len(points):
        points = np.zeros((1, 3))
    box = np.stack(np.meshgrid(*zip(points.min(axis=0), points.max(axis=0), strict=True)), axis=-1).reshape(-1, 3)
    return transformed(np.array(mesh_object.matrix_world, dtype=np.float64), box)
