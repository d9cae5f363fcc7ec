"""Lines over the characters: the skeleton and the paths of bones' ends."""

from collections.abc import Sequence
from typing import Any

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ..core.maths.arrays import FloatArray
from ..core.playing.motion import Motion
from ..core.skinning import Palette
from .draw import CameraView
from .roles import DrawnRole, Posed

_BONE = (0.02, 0.02, 0.02, 0.9)
_BONE_INSIDE = (0.95, 0.95, 0.95, 1.0)
_ACTIVE_BONE = (1.0, 0.66, 0.1, 1.0)
_PATH_BEFORE = np.array((0.34, 0.71, 0.91, 1.0))
_PATH_AFTER = np.array((0.90, 0.62, 0.0, 1.0))
_PATH_FRAME_S = 1.0 / 30.0
_PATH_POINTS = 8192
"""Greatest number of points of a path; in a longer motion, points are farther apart."""
_PATH_REACH_S = 1.5
_AT_ONCE = 512


def posed_points(palette: Palette, points: FloatArray) -> FloatArray:
    """Return the positions (..., J, 3) of one rest point per bone (J, 3) moved by its bone."""
    matrices = palette.matrices
    return np.asarray((matrices[..., :3] @ points[:, :, None])[..., 0] + matrices[..., 3])


def draw_skeleton(role: DrawnRole, posed: Posed, view: CameraView) -> None:
    """Draw every bone as a line from its head to its end, in front of everything, and highlight the active one."""
    lines = bones_in_world(role, posed)
    colours = np.tile(np.array(_BONE_INSIDE), (*lines.shape[:2], 1))
    active = role.character.active_bone(role.armature)
    if active >= 0:
        colours[active] = _ACTIVE_BONE
    draw_lines(lines, np.broadcast_to(np.array(_BONE), colours.shape), 4.0, view)
    draw_lines(lines, colours, 2.0, view)


def bones_in_world(role: DrawnRole, posed: Posed) -> FloatArray:
    """Return both ends of each bone, (J, 2, 3), in the world."""
    skeleton = role.character.skeleton
    assert skeleton is not None
    heads = posed_points(posed.palette, skeleton.rest_world[..., 3])
    tails = posed_points(posed.palette, role.character.tails)
    return _in_world(role, np.stack((heads, tails), axis=1))


def path_of(role: DrawnRole, motion: Motion, bones: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return times (F,) over a whole motion and the positions of bones' ends, (F, B, 3), in armature space."""
    count = int(np.clip(np.ceil(motion.duration_s / _PATH_FRAME_S), 1, _PATH_POINTS)) + 1
    times = np.linspace(0.0, motion.duration_s, count)
    points = np.empty((count, len(bones), 3))
    skeleton, chosen = role.character.skeleton, list(bones)
    assert skeleton is not None
    for begin in range(0, count, _AT_ONCE):
        palette = Palette.from_pose(skeleton, motion.sample(times[begin:begin + _AT_ONCE]))
        stretches = None if palette.stretches is None else palette.stretches[:, chosen]
        part = Palette(palette.rotations[:, chosen], palette.positions[:, chosen], stretches)
        points[begin:begin + _AT_ONCE] = posed_points(part, role.character.tails[chosen])
    return times, points


def draw_path(role: DrawnRole, times: FloatArray, points: FloatArray, view: CameraView) -> None:
    """Draw a path around the current time: the past in one colour, the future in another, fading out."""
    near = np.flatnonzero(np.abs(times - role.time_s) <= _PATH_REACH_S)
    if len(near) < 2:
        return
    world = _in_world(role, points[near])
    middle = (times[near[1:]] + times[near[:-1]]) / 2.0 - role.time_s
    colours = np.where((middle < 0.0)[:, None], _PATH_BEFORE, _PATH_AFTER)
    colours[:, 3] = 1.0 - 0.85 * np.abs(middle) / _PATH_REACH_S
    for bone in range(world.shape[1]):
        lines = np.stack((world[:-1, bone], world[1:, bone]), axis=1)
        draw_lines(lines, np.repeat(colours[:, None], 2, axis=1), 2.0, view)


def draw_lines(lines: FloatArray, colours: FloatArray, width_px: float, view: CameraView) -> None:
    """Draw lines (N, 2, 3) of the world with colours (N, 2, 4) at their ends."""
    program = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
    positions: Any = lines.reshape(-1, 3).astype(np.float32)
    ends: Any = np.ascontiguousarray(colours, dtype=np.float32).reshape(-1, 4)
    batch = batch_for_shader(program, "LINES", {"pos": positions, "color": ends})
    pushed: Any = gpu.matrix.push_pop()  # the stubs lack its __enter__
    pushed_projection: Any = gpu.matrix.push_pop_projection()
    with pushed, pushed_projection:
        gpu.matrix.load_matrix(Matrix(view.view_from_world.tolist()))
        gpu.matrix.load_projection_matrix(Matrix(view.clip_from_view.tolist()))
        program.bind()
        program.uniform_float("viewportSize", (view.width, view.height))
        program.uniform_float("lineWidth", width_px)
        batch.draw(program)


def _in_world(role: DrawnRole, points: FloatArray) -> FloatArray:
    world = np.array(role.armature.matrix_world, dtype=np.float64)
    return np.asarray(points @ world[:3, :3].T + world[:3, 3] + np.array(role.offset))
