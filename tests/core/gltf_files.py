"""glTF files made by hand: a tree of nodes, skins and animations, packed as GLB, with data URIs or separate buffers."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_KINDS = {"f4": 5126, "i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125}


@dataclass(eq=False)
class Made:
    """A glTF file in the making; each method returns the index of what it adds."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    skins: list[dict[str, Any]] = field(default_factory=list)
    animations: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    views: list[dict[str, Any]] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    binary: bytearray = field(default_factory=bytearray)

    def view(self, data: bytes, **more: Any) -> int:
        """Put bytes into the buffer."""
        self.binary += b"\0" * (-len(self.binary) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data), **more})
        self.binary += data
        return len(self.views) - 1

    def accessor(self, values: Any, kind: str = "f4", *, is_sparse: bool = False, padding: int = 0) -> int:
        """Put numbers (N, C) into the buffer; integers as normalised; sparse: all of them as changes of zeros."""
        rows = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        stored = rows if kind[0] == "f" else np.rint(rows * np.iinfo(kind).max)
        data = np.ascontiguousarray(stored.astype(f"<{kind}"))
        entry: dict[str, Any] = {"componentType": _KINDS[kind], "count": len(rows), "type": _TYPES[rows.shape[1]]}
        if kind[0] != "f":
            entry["normalized"] = True
        if is_sparse:
            order = np.arange(len(rows), dtype="<u2")
            entry["sparse"] = {"count": len(rows), "indices": {"bufferView": self.view(order.tobytes()),
                                                               "componentType": _KINDS["u2"]},
                               "values": {"bufferView": self.view(data.tobytes())}}
        else:
            padded = b"".join(row.tobytes() + b"\xff" * padding for row in data)
            more = {"byteStride": data.itemsize * rows.shape[1] + padding} if padding else {}
            entry["bufferView"] = self.view(padded, **more)
        if rows.shape[1] == 1:
            entry |= {"min": [float(rows.min())], "max": [float(rows.max())]}
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def node(self, name: str, below: int = -1, **how: Any) -> int:
        """Add a node."""
        self.nodes.append({"name": name, **{key: np.asarray(value).tolist() for key, value in how.items()}})
        if below >= 0:
            self.nodes[below].setdefault("children", []).append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def skin(self, joints: Sequence[int], bound: Any = None, **more: Any) -> int:
        """Add a skin, with a mesh of one triangle for it; bound: (J, 4, 4) world matrices of the joints."""
        skin: dict[str, Any] = {"joints": list(joints), **more}
        if bound is not None:
            inverse = np.linalg.inv(np.asarray(bound)).swapaxes(1, 2).reshape(-1, 16)
            skin["inverseBindMatrices"] = self.accessor(inverse)
        self.skins.append(skin)
        corners = self.accessor(np.eye(3))
        self.accessors[corners] |= {"min": [0.0] * 3, "max": [1.0] * 3}
        self.accessors.append({"componentType": _KINDS["u1"], "count": 3, "type": "VEC4",
                               "bufferView": self.view(bytes(12))})
        weights = self.accessor([(1.0, 0.0, 0.0, 0.0)] * 3)
        self.meshes.append({"primitives": [{"attributes": {
            "POSITION": corners, "JOINTS_0": weights - 1, "WEIGHTS_0": weights}}]})
        self.nodes.append({"name": f"Skin{len(self.skins)}", "mesh": len(self.meshes) - 1, "skin": len(self.skins) - 1})
        return len(self.skins) - 1

    def animation(self, name: str, channels: Mapping[tuple[int, str], tuple[int, int, str]]) -> None:
        """Add an animation; channels: by node and property the accessors of times and values, and the interpolation."""
        samplers = [{"input": times, "output": values, "interpolation": kind}
                    for times, values, kind in channels.values()]
        self.animations.append({"name": name, "samplers": samplers, "channels": [
            {"sampler": i, "target": {"node": node, "path": path}} for i, (node, path) in enumerate(channels)]})

    def document(self, uri: str = "") -> dict[str, Any]:
        """Return the JSON; uri: of the buffer."""
        children = {child for node in self.nodes for child in node.get("children", ())}
        buffer: dict[str, Any] = {"byteLength": len(self.binary), **({"uri": uri} if uri else {})}
        parts = {"nodes": self.nodes, "skins": self.skins, "animations": self.animations, "meshes": self.meshes,
                 "accessors": self.accessors, "bufferViews": self.views}
        return {"asset": {"version": "2.0"}, "buffers": [buffer], "scene": 0,
                "scenes": [{"nodes": [i for i in range(len(self.nodes)) if i not in children]}],
                **{key: part for key, part in parts.items() if part}}

    def glb(self) -> bytes:
        """Return a binary file."""
        return packed(json.dumps(self.document()).encode(), bytes(self.binary))

    def gltf(self, uri: str = "") -> bytes:
        """Return a text file, whose buffer is in it unless a name is given."""
        data = "data:application/octet-stream;base64," + base64.b64encode(self.binary).decode()
        return json.dumps(self.document(uri or data)).encode()


def figure(forwards: float = 0.1) -> Made:
    """Return a small skin of joints in a row, of which two turn and the first one moves, so far forwards."""
    made = Made()
    root = made.node("Figure")
    joints = [made.node("hips", root, translation=(0.0, 1.0, 0.0))]
    for name in ("spine", "chest", "neck", "head"):
        joints.append(made.node(name, joints[-1], translation=(0.0, 0.2, 0.0)))
    made.skin(joints, [_moved_up(1.0 + 0.2 * i) for i in range(len(joints))])
    times = made.accessor([0.0, 0.5, 1.0])
    turns = made.accessor([(0.0, 0.0, 0.0, 1.0), (0.6, 0.0, 0.0, 0.8), (0.0, 0.0, 0.0, 1.0)])
    moves = made.accessor([(0.0, 1.0, 0.0), (0.0, 0.9, forwards), (0.0, 1.0, 0.0)])
    made.animation("Bow", {(joints[1], "rotation"): (times, turns, "LINEAR"),
                           (joints[3], "rotation"): (times, turns, "STEP"),
                           (joints[0], "translation"): (times, moves, "LINEAR")})
    return made


def _moved_up(height: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[1, 3] = height
    return matrix


def packed(text: bytes, binary: bytes) -> bytes:
    """Return a GLB file of JSON and binary data."""
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks
