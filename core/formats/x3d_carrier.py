"""Convert moving Transforms around an X3D humanoid to one joint above its own.

With C(t) the product of the matrices around the humanoid, that joint does C(0)⁻¹ · C(t) in the humanoid's space.
Source: ISO/IEC 19775-1:2023, X3D, 10.4.4 (Transform).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from ..clips.keyed import interpolated
from ..errors import quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .gltf_tree import decomposed
from .placed import is_uneven
from .x3d_body import Body, local_matrix, turns
from .x3d_scene import Node, Scene

FRAME_S: Final = 1.0 / 23.0
"""Keys that are farther apart are no frames of a film."""
_PARTS: Final = 8
"""Number of parts into which the time between keys is divided, since a rotation about a distant point follows an
arc."""
_STEP_S: Final = 1e-5
"""Time by which the first of two keys at one time is moved before the second."""
_SAME: Final = 1e-6
_SHEAR: Final = 1e-3
"""Share of the scale below which shear is not reported."""
_SPENT: Final = 48
_LEAST_SPENT: Final = 20_000
"""Numbers that each matrix counts for, and each body that a sensor carries."""


class Keys(NamedTuple):
    """Keys of one property of a node: times (K,), values (K, C); rotations are wxyz."""

    times: FloatArray
    values: FloatArray


def carried(scene: Scene, body: Body, moves: Mapping[tuple[int, str], Keys]) -> dict[tuple[int, str], Keys]:
    """Return the motion of a body's carrier, joint 0, from the moves of the nodes around it, by their ids.

    Translations are in the humanoid's space and unit. Raises FileError if the file has too many keys.
    """
    around = {id(node) for node in body.carriers}
    times = _times([keys for (node, _), keys in moves.items() if node in around])
    scene.spend(_LEAST_SPENT + _SPENT * len(times) * len(body.carriers), body.humanoid.line)
    first, whole = np.eye(4), np.tile(np.eye(4), (len(times), 1, 1))
    for node in body.carriers:
        first = first @ _matrices(scene, node, np.zeros(1), {})[0]
        whole = whole @ _matrices(scene, node, times, moves)
    relative = np.linalg.pinv(first) @ whole
    found = decomposed(relative)
    rebuilt = rot.to_matrix(found.rotations) * found.scales[:, None, :]
    if np.abs(rebuilt - relative[:, :3, :3]).max() > _SHEAR * np.abs(found.scales).max():
        uneven = next((node for node in body.carriers if is_uneven(local_matrix(scene, node))), body.carriers[0])
        scene.note(f"{uneven.said} shears {quoted(body.name)}, by an uneven scale and a turn around it, which joints "
                   "cannot be; the shear is left out", uneven.line)
    values = {"translation": found.translations, "rotation": rot.continuous(found.rotations), "scale": found.scales}
    if np.abs(found.scales - 1.0).max() < _SAME:
        del values["scale"]
    return {(0, taken): Keys(times, each) for taken, each in values.items()}


def _times(moves: Sequence[Keys]) -> FloatArray:
    """Return the times of all keys, times just before steps, and times between keys that are far apart."""
    steps = [times[1:][np.diff(times) <= 0.0] - _STEP_S for times, _ in moves]
    times = np.unique(np.concatenate([np.zeros(1), *steps, *(times for times, _ in moves)]).clip(0.0))
    gaps = np.diff(times)
    parts = np.append(np.where(gaps > FRAME_S, _PARTS, 1), 1)
    before = np.repeat(np.arange(len(times)), parts)
    share = (np.arange(len(before)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[before]
    return np.asarray(times[before] + share * np.append(gaps, 0.0)[before])


def _matrices(scene: Scene, node: Node, times: FloatArray, moves: Mapping[tuple[int, str], Keys]) -> FloatArray:
    """Return the matrices (F, 4, 4) of a Transform at times (F,)."""
    def at(taken: str, still: FloatArray) -> FloatArray:
        keys = moves.get((id(node), taken))
        return np.tile(still, (len(times), 1)) if keys is None else interpolated(keys.times, keys.values, times)

    way = rot.to_matrix(turns(scene, node, "scaleOrientation")[0])
    scales = at("scale", scene.vector(node, "scale", (1.0, 1.0, 1.0)))
    center = scene.vector(node, "center", (0.0, 0.0, 0.0))
    found = np.tile(np.eye(4), (len(times), 1, 1))
    found[:, :3, :3] = rot.to_matrix(at("rotation", turns(scene, node, "rotation")[0])) @ way * scales[:, None] @ way.T
    found[:, :3, 3] = at("translation", scene.vector(node, "translation", (0.0, 0.0, 0.0))) + center
    found[:, :3, 3] -= found[:, :3, :3] @ center
    return found
