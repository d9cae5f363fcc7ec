"""Add animations to a glTF file that holds a skinned character at rest.

A joint that is at rest has the transform of its node. A pose relative to that is applied in the node's own axes:

    translation = t + rotate(q, own translation),   rotation = q · own rotation,   scale = own scale

Source: Khronos Group, glTF 2.0 specification, sections 3.11 (animations) and 4 (GLB).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .gltf_data import chunks_of, packed

_FLOAT: Final = 5126
_ROUNDING: Final = 1e-5
"""By how much scales at rest may differ from 1, as Blender's matrices of float32 do."""
_REST: Final[Mapping[str, FloatArray]] = {"translation": np.zeros((1, 3)), "rotation": rot.IDENTITY[None],
                                         "scale": np.ones((1, 3))}


class Animation(NamedTuple):
    """Poses of joints at times.

    times_s: (F,), ascending. channels: by name of joint and "translation", "rotation" or "scale", values (F, 3) or
    wxyz (F, 4) relative to the joint at rest, in its own axes.
    """

    name: str
    times_s: FloatArray
    channels: Mapping[tuple[str, str], FloatArray]


def with_animations(data: bytes, animations: Sequence[Animation], path: Path,
                    beside: bytes | None = None) -> tuple[bytes, bytes | None] | None:
    """Return a file with animations, and what is beside it.

    None if the file has no joint of a name, or several, or joints that are scaled at rest.

    data: of a .glb, or of a .gltf with the bytes of its one buffer beside it. path: for messages.
    Each animation has channels for all that any of them moves, so that none keeps what another has posed.
    Raises FileError if the file cannot be read.
    """
    text, binary = chunks_of(data, path)
    document: dict[str, Any] = json.loads(text)
    added = _Added(document, (binary if beside is None else beside) or b"")
    moved = dict.fromkeys(key for each in animations for key in each.channels)
    nodes = _nodes(document, {joint for joint, _ in moved})
    if nodes is None:
        return None
    document["animations"] = [_animation(added, each, [*moved], nodes) for each in animations]
    buffer = added.data()
    document["buffers"][0]["byteLength"] = len(buffer)
    return (packed(document, buffer), None) if beside is None else (json.dumps(document, indent=1).encode(), buffer)


class _Added:
    """A document whose only buffer gets more data."""

    def __init__(self, document: dict[str, Any], binary: bytes) -> None:
        self._document, self._parts = document, [binary, b"\0" * (-len(binary) % 4)]
        self._length = sum(map(len, self._parts))

    def accessor(self, values: FloatArray, kind: str, *, has_bounds: bool = False) -> int:
        """Add values (F, C) as an accessor; return its number."""
        data = np.ascontiguousarray(values, dtype="<f4")
        views, accessors = self._document["bufferViews"], self._document["accessors"]
        views.append({"buffer": 0, "byteOffset": self._length, "byteLength": data.nbytes})
        bounds = {"min": [float(data.min())], "max": [float(data.max())]} if has_bounds else {}
        accessors.append({"bufferView": len(views) - 1, "componentType": _FLOAT, "count": len(data), "type": kind,
                          **bounds})
        self._parts.append(data.tobytes())
        self._length += data.nbytes
        return len(accessors) - 1

    def data(self) -> bytes:
        """Return the buffer with all that was added."""
        return b"".join(self._parts)


def _animation(added: _Added, animation: Animation, moved: Sequence[tuple[str, str]],
               nodes: Mapping[str, tuple[int, FloatArray, FloatArray]]) -> dict[str, Any]:
    ends = animation.times_s[[0, -1]]
    at_all = added.accessor(animation.times_s, "SCALAR", has_bounds=True)
    at_ends = added.accessor(ends, "SCALAR", has_bounds=True)
    channels, samplers = list[dict[str, Any]](), list[dict[str, Any]]()
    for joint, path in moved:
        node, place, turn = nodes[joint]
        own = animation.channels.get((joint, path), _REST[path])
        if np.array_equal(own, np.broadcast_to(own[:1], own.shape)):
            own = np.repeat(own[:1], 2, axis=0)
        if path == "translation":
            own = place + rot.rotate(turn, own)
        elif path == "rotation":
            own = np.roll(rot.normalized(rot.multiply(turn, own)), -1, axis=1)
        output = added.accessor(own, "VEC4" if path == "rotation" else "VEC3")
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": at_ends if len(own) == 2 else at_all, "output": output, "interpolation": "LINEAR"})
    return {"name": animation.name, "channels": channels, "samplers": samplers}


def _nodes(document: Mapping[str, Any], joints: set[str]) -> dict[str, tuple[int, FloatArray, FloatArray]] | None:
    """Return the number of each joint's node, with its translation and rotation (wxyz); None: see with_animations."""
    found = dict[str, tuple[int, FloatArray, FloatArray]]()
    for number in dict.fromkeys(joint for skin in document.get("skins", ()) for joint in skin["joints"]):
        node = document["nodes"][number]
        if (name := node.get("name")) not in joints:
            continue
        if name in found or "matrix" in node or not np.allclose(node.get("scale", 1.0), 1.0, rtol=0.0, atol=_ROUNDING):
            return None
        x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
        found[name] = number, np.array(node.get("translation", (0.0, 0.0, 0.0))), np.array((w, x, y, z))
    return found if joints == found.keys() else None
