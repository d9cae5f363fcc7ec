"""The skin of a glTF body: the positions of its vertices relative to the joints that move them most.

Source: Khronos Group, glTF 2.0 specification, 3.7.3 (skins): a vertex v moves as its joint's matrix times the inverse
bind matrix times v, which is where v is in the joint's space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..errors import FileError
from ..maths.arrays import FloatArray, IntArray
from ..skeletons.skin_sample import SkinSample, evenly
from .gltf_data import Entry, GltfData


def skin_of(data: GltfData, joint_of: Mapping[int, int], size: float = 1.0) -> SkinSample | None:
    """Return some vertices of all meshes that a body's joints move, or None if none can be read.

    joint_of: the body's joints by their nodes; size: the scale of the body. Motion plays without a skin, so no fault in
    it is an error.
    """
    try:
        parts = [part for node in data.top.entries("nodes") if node.has("mesh") and node.has("skin")
                 for part in _parts(data, node, joint_of)]
    except FileError:
        return None
    if not parts:
        return None
    joints, offsets = (np.concatenate(each) for each in zip(*parts, strict=True))
    kept = evenly(joints)
    return SkinSample(joints[kept], size * offsets[kept])


def _parts(data: GltfData, node: Entry, joint_of: Mapping[int, int]) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield joints (V,) and offsets (V, 3) of the vertices of each part of a node's mesh."""
    meshes, skins = data.top.entries("meshes"), data.top.entries("skins")
    skin = skins[node.count("skin", below=len(skins))]
    own = skin.counts("joints", len(data.top.entries("nodes")))
    inverse = np.tile(np.eye(4), (len(own), 1, 1))
    if skin.has("inverseBindMatrices"):
        inverse = data.accessor(skin, "inverseBindMatrices", 16)[:len(own)].reshape(-1, 4, 4).swapaxes(1, 2)
    numbers = np.array([joint_of.get(each, -1) for each in own])
    for primitive in meshes[node.count("mesh", below=len(meshes))].entries("primitives"):
        values = primitive.entry("attributes")
        if not all(values.has(name) for name in ("POSITION", "JOINTS_0", "WEIGHTS_0")):
            continue
        positions, joints, weights = (data.accessor(values, name, width) for name, width in
                                      (("POSITION", 3), ("JOINTS_0", 4), ("WEIGHTS_0", 4)))
        if not len(positions) == len(joints) == len(weights) or joints.max(initial=0) >= len(inverse):
            raise values.error("positions, joints and weights do not belong together")
        strongest = np.take_along_axis(joints, weights.argmax(axis=1)[:, None], axis=1)[:, 0].astype(np.int64)
        used = np.flatnonzero((numbers[strongest] >= 0) & (weights.max(axis=1, initial=0.0) > 0.0))
        bound = inverse[strongest[used]]
        yield numbers[strongest[used]], (bound[:, :3, :3] @ positions[used, :, None])[..., 0] + bound[:, :3, 3]
