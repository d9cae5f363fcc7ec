"""Bones of many characters, drawn as lines in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import gpu
import numpy as np

from ..core.maths.arrays import FloatArray
from .corners import Float32Array
from .shader import BONES

BoneEnds = tuple[Float32Array, int]
"""A character's bones: their heads and tails at rest, (J, 2, 3), in armature space, and the number of an instance that
has their pose."""


def bone_ends(heads: FloatArray, tails: FloatArray) -> Float32Array:
    """Return both ends of bones, (J, 2, 3), from heads and tails, (J, 3)."""
    return np.stack((heads, tails), axis=1).astype(np.float32)


@dataclass(eq=False)
class BoneLines:
    """Bones on the GPU. They are uploaded again only if the characters or their order change."""

    _uploaded: Sequence[BoneEnds] = ()
    _batch: gpu.types.GPUBatch | None = None

    def batch(self, bones: Sequence[BoneEnds]) -> gpu.types.GPUBatch:
        """Return the batch that draws all these bones at once."""
        if self._batch is None or (bones is not self._uploaded and not _are_same(bones, self._uploaded)):
            self._batch, self._uploaded = _batch(bones), bones
        return self._batch


def _are_same(a: Sequence[BoneEnds], b: Sequence[BoneEnds]) -> bool:
    return len(a) == len(b) and all(ends is other and number == other_number
                                    for (ends, number), (other, other_number) in zip(a, b, strict=True))


def _batch(bones: Sequence[BoneEnds]) -> gpu.types.GPUBatch:
    """Upload two vertices for each bone, each with the numbers of its bone and its instance."""
    counts = [len(ends) for ends, _ in bones]
    vertices: dict[str, Any] = {
        "position": np.concatenate([ends.reshape(-1, 3) for ends, _ in bones]),
        "bone": np.repeat(np.concatenate([np.arange(count) for count in counts]), 2).astype(np.int32)[:, None],
        "instance": np.repeat([number for _, number in bones], 2 * np.array(counts)).astype(np.int32)[:, None]}
    layout = gpu.types.GPUVertFormat()
    for kind, name in BONES.attributes:
        layout.attr_add(id=name, comp_type="I32" if kind == "INT" else "F32", len=vertices[name].shape[1],
                        fetch_mode="INT" if kind == "INT" else "FLOAT")
    buffer = gpu.types.GPUVertBuf(layout, len(vertices["position"]))
    for name, values in vertices.items():
        buffer.attr_fill(name, cast(Any, np.ascontiguousarray(values)))
    return gpu.types.GPUBatch(type="LINES", buf=buffer)
