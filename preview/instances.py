"""The instances of a picture, as rows of one texture.

An instance is a mesh in a pose. The texture contains a record for each instance, then the palettes of bones. So all
instances are uploaded at once, and those that share a mesh are drawn in one call. shaders/instance.glsl reads the
texture.
"""

from collections.abc import Sequence
from typing import Any, cast

import gpu
import numpy as np
import numpy.typing as npt

from ..core.maths.arrays import FloatArray
from ..core.playing.stage import Playable
from ..core.playing.tweaked_bodies import Bodies
from ..core.playing.untweaked import Untweaked
from ..core.skinning import Palette
from .shader import RECORD, RECORD_ROWS, ROWS_WIDTH

Rows = npt.NDArray[np.float32]
"""R texels, (R, 4)."""
Tint = tuple[float, float, float, float]
WHITE: Tint = (1.0, 1.0, 1.0, 1.0)


def palette_rows(palette: Palette) -> Rows:
    """Return a palette as rows, (..., J · rows_per_bone, 4).

    A bone has a row for its quaternion, as xyzw, a row for its position, and three rows for its stretch, if any.
    """
    batch, joints = palette.rotations.shape[:-2], palette.rotations.shape[-2]
    rows = np.zeros((*batch, joints, rows_per_bone(palette), 4), dtype=np.float32)
    rows[..., 0, :3], rows[..., 0, 3] = palette.rotations[..., 1:], palette.rotations[..., 0]
    rows[..., 1, :3] = palette.positions
    if palette.stretches is not None:
        rows[..., 2:, :] = palette.stretches
    return rows.reshape(*batch, -1, 4)


def rows_per_bone(palette: Palette) -> int:
    """Return the number of rows of each bone."""
    return 2 if palette.stretches is None else 5


def palette_of(rows: Rows, joints: int) -> Palette:
    """Return the palette (..., J, …) from rows (..., R, 4): the inverse of palette_rows, with float32's precision."""
    own = rows.reshape(*rows.shape[:-2], joints, -1, 4)
    rotations = own[..., 0, (3, 0, 1, 2)].astype(np.float64)
    stretches = own[..., 2:, :].astype(np.float64) if own.shape[-2] > 2 else None
    return Palette(rotations, own[..., 1, :3].astype(np.float64), stretches)


def sampled_rows(motion: Playable, times_s: FloatArray) -> Rows:
    """Return the rows (F, R, 4) of a motion's palettes at times (F,)."""
    return palette_rows(Palette.from_pose(motion.skeleton, motion.sample(times_s)))


def tweaked_rows(plain: Untweaked, rows: Sequence[Rows], times_s: FloatArray) -> Rows | None:
    """Return rows (F, R, 4) at times (F,) with the tweaks that are added last to a motion.

    rows: F of the motion without tweaks, (R, 4) each. Returns None if the tweaked motion must be sampled instead: where
    that is faster, and for bones that stretch.
    """
    skeleton = plain.motion.skeleton
    if any(len(each) != 2 * len(skeleton) for each in rows):
        return None
    palette = palette_of(np.stack(rows), len(skeleton))
    is_added = plain.add(Bodies(skeleton, palette.rotations, palette.positions), times_s)
    return palette_rows(palette) if is_added else None


def placement_rows(world_from_armature: FloatArray, world_from_mesh: FloatArray) -> Rows:
    """Return the record of an instance (RECORD_ROWS, 4) with the values that follow from two matrices (4, 4)."""
    armature_from_mesh: FloatArray = np.asarray(np.linalg.solve(world_from_armature, world_from_mesh), dtype=np.float64)
    record = np.zeros((RECORD_ROWS, 4), dtype=np.float32)
    for name, matrix in (("ARMATURE_FROM_MESH", armature_from_mesh), ("WORLD_FROM_ARMATURE", world_from_armature)):
        record[RECORD[name]:RECORD[name] + 3] = matrix[:3]
        # Normals need the inverse transpose; the pseudo-inverse also serves an object that is scaled flat.
        record[RECORD[f"{name}_NORMAL"]:RECORD[f"{name}_NORMAL"] + 3, :3] = np.linalg.pinv(matrix[:3, :3]).T
    record[RECORD["TRAITS"], 0] = -1.0 if np.linalg.det(world_from_mesh[:3, :3]) < 0.0 else 1.0
    return record


def instance_rows(placements: Sequence[Rows], offsets: Sequence[Sequence[float]], tints: Sequence[Tint],
                are_tinted: Sequence[bool], bones: Sequence[tuple[int, int, int, int]],
               colours: Sequence[Tint] | Tint = WHITE) -> Rows:
    """Return the records of N instances, (N · RECORD_ROWS, 4).

    placements: from placement_rows. offsets: in the world. are_tinted: whether a tint replaces the surface's colour.
    bones: the row BONES of each record, see instance.glsl. colours: of objects, in the colour mode OBJECT.
    """
    records = np.concatenate(placements).reshape(-1, RECORD_ROWS, 4)
    world = RECORD["WORLD_FROM_ARMATURE"]
    records[:, world:world + 3, 3] += np.array(offsets, dtype=np.float32)
    records[:, RECORD["TINT"]] = tints
    records[:, RECORD["TRAITS"], 1] = are_tinted
    records[:, RECORD["BONES"]] = bones
    records[:, RECORD["COLOUR"]] = colours
    return records.reshape(-1, 4)


def texture_of(parts: Sequence[Rows]) -> gpu.types.GPUTexture:
    """Copy rows to the GPU, part after part."""
    return RowsForGpu().texture_of(parts)


class RowsForGpu:
    """Copies rows to the GPU again and again. The memory is reused while the texture's size stays the same."""

    def __init__(self) -> None:
        self._texels: Rows = np.zeros((0, 4), dtype=np.float32)
        self._data: gpu.types.Buffer | None = None

    def texture_of(self, parts: Sequence[Rows]) -> gpu.types.GPUTexture:
        """Copy rows to the GPU, part after part."""
        count = sum(map(len, parts))
        height = -(-count // ROWS_WIDTH)
        if self._data is None or len(self._texels) != height * ROWS_WIDTH:
            self._texels = np.zeros((height * ROWS_WIDTH, 4), dtype=np.float32)
            self._data = gpu.types.Buffer("FLOAT", self._texels.size, cast(Any, self._texels.ravel()))
        np.concatenate(parts, out=self._texels[:count])
        return gpu.types.GPUTexture((ROWS_WIDTH, height), format="RGBA32F", data=self._data)
