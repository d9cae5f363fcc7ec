"""OGRE's binary meshes (`.mesh`), [MeshSerializer_v1.10] to v1.100, both byte orders.

Layout: u16 0x1000, the version line, then chunks of u16 id, u32 length (with these 6 bytes) and payload, one in
another. Like OGRE, the reader relies on each chunk's content; lengths are used only to skip unneeded chunks. Source:
OGRE's MeshSerializerImpl and its predecessors _v1_1 to _v1_8.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..errors import FileError, Place, quoted
from ..maths.arrays import FloatArray
from .ogre_mesh import TRIANGLE_LIST, Geometry, OgreMesh, PartRecord, Weights, assemble, triangles_of

HEADER: Final = 0x1000
MESH: Final = 0x3000
SUBMESH: Final = 0x4000
OPERATION: Final = 0x4010
SUBMESH_WEIGHT: Final = 0x4100
TEXTURE_ALIAS: Final = 0x4200
GEOMETRY: Final = 0x5000
DECLARATION: Final = 0x5100
ELEMENT: Final = 0x5110
BUFFER: Final = 0x5200
BUFFER_DATA: Final = 0x5210
SKELETON: Final = 0x6000
MESH_WEIGHT: Final = 0x7000
NAMES: Final = 0xA000
NAME: Final = 0xA100
_NOT_NEEDED: Final = frozenset({0x8000, 0x9000, 0xB000, 0xC000, 0xD000, 0xE000})
"""Levels of detail, bounds, edge lists, poses, animations, extremes."""
OLD_NORMALS: Final = 0x5100
OLD_COLOURS: Final = 0x5200
OLD_UVS: Final = 0x5300
"""The chunk of texture coordinates inside a geometry in versions 1.10 and 1.20, after its positions."""

VERSIONS: Final = ("1.10", "1.20", "1.30", "1.40", "1.41", "1.8", "1.100")
_OLD: Final = ("1.10", "1.20")
_FLOATS: Final = {0: 1, 1: 2, 2: 3, 3: 4}
"""VertexElementType: how many floats."""
_POSITION, _NORMAL, _UV = 1, 4, 7
"""VertexElementSemantic."""
_CHUNK_BYTES = 6
_FIRST_LOOK = 64
_MOST_DIMENSIONS = 4


def read(data: bytes, path: Path | None = None) -> OgreMesh:
    """Read a binary mesh.

    data: the whole file; path: for messages. Raises FileError with the byte where something does not fit.
    """
    return _Reader(data, path).mesh()


class _Reader:
    """Walks through the chunks once, from the first byte to the last."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        self._data, self._path, self._at = data, path, 0
        self._order, self._version = "<", ""

    def mesh(self) -> OgreMesh:
        """Read everything."""
        self._header()
        start = self._at
        if self._enter(MESH) is None:
            raise self._error("this mesh file holds no mesh: chunk 0x3000 is wanted", start)
        self._unpack("?", "the mesh")
        shared: Geometry | None = None
        weights: list[Weights] = []
        parts: list[PartRecord] = []
        skeleton, names = "", dict[int, str]()
        while (chunk := self._peek()) is not None:
            at = self._at
            if chunk == MESH_WEIGHT:
                weights.append(self._weights(MESH_WEIGHT))
                continue
            length = self._chunk()[1]
            if chunk == GEOMETRY:
                shared = self._geometry(at)
            elif chunk == SUBMESH:
                parts.append(self._submesh(at))
            elif chunk == SKELETON:
                skeleton = self._string("the skeleton's name")
            elif chunk == NAMES:
                names |= self._names()
            elif chunk in _NOT_NEEDED:
                self._pass_over(at, length)
            else:
                raise self._error(f"chunk 0x{chunk:04x} is unknown in an OGRE mesh; the file is damaged, or written by "
                                  "something newer", at)
        if weights and shared is not None:
            shared = Geometry(shared.positions, shared.normals, shared.uvs, _joined(weights))
        return assemble(shared, parts, skeleton, names, Place(self._path))

    def _header(self) -> None:
        found = {b"\x00\x10": "<", b"\x10\x00": ">"}.get(self._data[:2])
        if found is None:
            raise self._error(f"this is no OGRE mesh: it begins with bytes {self._data[:2].hex(' ') or 'none'}, where "
                              "00 10 (or 10 00) is wanted", 0)
        self._order, self._at = found, 2
        version = self._string("the version")
        self._version = version.removeprefix("[MeshSerializer_v").removesuffix("]")
        if self._version not in VERSIONS or version != f"[MeshSerializer_v{self._version}]":
            raise self._error(f"version {quoted(version)}; read are [MeshSerializer_v1.10] to v1.100. OgreXMLConverter "
                              "or OgreMeshUpgrader of OGRE writes one of these", 2)

    def _submesh(self, start: int) -> PartRecord:
        material = self._string("a material's name")
        is_shared, count, is_wide = self._unpack("?I?", "a submesh")
        indices = self._numbers("u4" if is_wide else "u2", count, "the faces").astype(np.int64)
        geometry: Geometry | None = None
        operation, weights = TRIANGLE_LIST, list[Weights]()
        if not is_shared:
            at = self._at
            if self._enter(GEOMETRY) is None:
                raise self._error("a submesh without vertices: chunk 0x5000 is wanted", at)
            geometry = self._geometry(at)
        while (chunk := self._peek()) in (OPERATION, SUBMESH_WEIGHT, TEXTURE_ALIAS):
            if chunk == SUBMESH_WEIGHT:
                weights.append(self._weights(SUBMESH_WEIGHT))
                continue
            self._chunk()
            if chunk == OPERATION:
                operation, = self._unpack("H", "how faces are stored")
            else:
                self._string("a texture's alias")
                self._string("a texture's name")
        if weights and geometry is not None:
            geometry = Geometry(geometry.positions, geometry.normals, geometry.uvs, _joined(weights))
        return PartRecord(material, geometry, triangles_of(indices, operation), Place(self._path, byte=start))

    def _geometry(self, start: int) -> Geometry:
        count, = self._unpack("I", "a geometry")
        return self._old_geometry(count) if self._version in _OLD else self._new_geometry(count, start)

    def _old_geometry(self, count: int) -> Geometry:
        positions = self._floats(count, 3, "positions")
        normals: FloatArray | None = None
        uvs: FloatArray | None = None
        while (chunk := self._peek()) in (OLD_NORMALS, OLD_COLOURS, OLD_UVS):
            at = self._at
            self._chunk()
            if chunk == OLD_NORMALS:
                normals = self._floats(count, 3, "normals")
            elif chunk == OLD_COLOURS:
                self._numbers("u4", count, "colours")
            else:
                dimensions, = self._unpack("H", "texture coordinates")
                if not 1 <= dimensions <= _MOST_DIMENSIONS:
                    raise self._error(f"texture coordinates of {dimensions} dimensions; 1 to {_MOST_DIMENSIONS} are "
                                      "known", at)
                found = self._floats(count, dimensions, "texture coordinates")
                uvs = _as_uv(found) if uvs is None else uvs
        if uvs is not None and self._version == "1.10":
            uvs = np.stack((uvs[:, 0], 1.0 - uvs[:, 1]), axis=1)  # v pointed up there
        return Geometry(positions, normals, uvs)

    def _new_geometry(self, count: int, start: int) -> Geometry:
        elements: dict[tuple[int, int], tuple[int, int, int]] = {}
        buffers: dict[int, npt.NDArray[np.uint8]] = {}
        while (chunk := self._peek()) in (DECLARATION, ELEMENT, BUFFER):
            self._chunk()
            if chunk == ELEMENT:
                source, kind, semantic, offset, index = self._unpack("5H", "a vertex element")
                elements.setdefault((semantic, index), (source, kind, offset))
            elif chunk == BUFFER:
                source, size = self._unpack("HH", "a vertex buffer")
                at = self._at
                if self._enter(BUFFER_DATA) is None:
                    raise self._error("a buffer without data: chunk 0x5210 is wanted", at)
                buffers[source] = self._numbers("u1", count * size, "a vertex buffer").reshape(count, size)

        def values(semantic: int) -> FloatArray | None:
            source, kind, offset = elements.get((semantic, 0), (-1, -1, 0))
            if source not in buffers or kind not in _FLOATS:
                return None
            rows, width = buffers[source], 4 * _FLOATS[kind]
            if offset + width > rows.shape[1]:
                raise self._error(f"a vertex element reaches to byte {offset + width} of a vertex of {rows.shape[1]} "
                                  "bytes", start)
            floats = np.ascontiguousarray(rows[:, offset:offset + width]).view(f"{self._order}f4")
            return self._widened(floats.reshape(count, _FLOATS[kind]))

        positions, normals, uvs = values(_POSITION), values(_NORMAL), values(_UV)
        if positions is None or positions.shape[1] < 3:
            raise self._error("a geometry without positions of three floats; nothing can be shown", start)
        return Geometry(positions[:, :3], None if normals is None or normals.shape[1] < 3 else normals[:, :3],
                        None if uvs is None else _as_uv(uvs))

    def _weights(self, number: int) -> Weights:
        """Read a run of bone assignments at once, as a view of the file."""
        record = np.dtype([("id", f"{self._order}u2"), ("length", f"{self._order}u4"), ("vertex", f"{self._order}u4"),
                           ("bone", f"{self._order}u2"), ("weight", f"{self._order}f4")])
        start, room = self._at, (len(self._data) - self._at) // record.itemsize
        if room == 0:
            raise self._error("the file ends inside a bone assignment; it is cut off", start)
        run, look = 1, _FIRST_LOOK
        while run < room:
            part = np.frombuffer(self._data, record, min(look, room - run), start + run * record.itemsize)
            same = part["id"] == number
            if not same.all():
                run += int(np.argmin(same))
                break
            run, look = run + len(part), 2 * look
        self._at = start + run * record.itemsize
        found = np.frombuffer(self._data, record, run, start)
        return Weights(found["vertex"].astype(np.int64), found["bone"].astype(np.int64),
                       self._widened(found["weight"]))

    def _names(self) -> dict[int, str]:
        names = {}
        while self._peek() == NAME:
            self._chunk()
            number, = self._unpack("H", "a submesh's name")
            names[number] = self._string("a submesh's name")
        return names

    # Bytes

    def _peek(self) -> int | None:
        """Return the chunk that begins here, None at the end of the file."""
        if self._at >= len(self._data):
            return None
        if self._at + _CHUNK_BYTES > len(self._data):
            raise self._error("the file ends inside a chunk's header; it is cut off", self._at)
        return int(struct.unpack_from(f"{self._order}H", self._data, self._at)[0])

    def _chunk(self) -> tuple[int, int]:
        chunk, length = self._unpack("HI", "a chunk's header")
        return int(chunk), int(length)

    def _enter(self, number: int) -> int | None:
        """Enter a chunk and return its length; None if another chunk begins here."""
        return self._chunk()[1] if self._peek() == number else None

    def _pass_over(self, start: int, length: int) -> None:
        if length < _CHUNK_BYTES or start + length > len(self._data):
            raise self._error(f"a chunk says that it is {length} bytes long, but {len(self._data) - start} are left; "
                              "the file is cut off or damaged", start)
        self._at = start + length

    def _unpack(self, form: str, what: str) -> tuple[Any, ...]:
        size = struct.calcsize(f"{self._order}{form}")
        if self._at + size > len(self._data):
            raise self._error(f"the file ends inside {what}; it is cut off", self._at)
        values = struct.unpack_from(f"{self._order}{form}", self._data, self._at)
        self._at += size
        return values

    def _string(self, what: str) -> str:
        end = self._data.find(b"\n", self._at)
        if end < 0:
            raise self._error(f"the file ends inside {what}; it is cut off", self._at)
        text = self._data[self._at:end].removesuffix(b"\r").decode("utf-8", "replace")
        self._at = end + 1
        return text

    def _numbers(self, kind: str, count: int, what: str) -> npt.NDArray[Any]:
        dtype = np.dtype(f"{self._order}{kind}")
        left = len(self._data) - self._at
        if count * dtype.itemsize > left:
            raise self._error(f"{what} take {count * dtype.itemsize} bytes, but {left} are left; the file is cut off "
                              "or damaged", self._at)
        values = np.frombuffer(self._data, dtype, count, self._at)
        self._at += count * dtype.itemsize
        return values

    def _floats(self, rows: int, columns: int, what: str) -> FloatArray:
        return self._widened(self._numbers("f4", rows * columns, what)).reshape(rows, columns)

    def _widened(self, values: npt.NDArray[Any]) -> FloatArray:
        with np.errstate(invalid="ignore"):  # signalling NaNs, which are refused later with their place
            return values.astype(np.float64)

    def _error(self, message: str, byte: int) -> FileError:
        return FileError.at(message, self._path, byte=byte)


def _as_uv(values: FloatArray) -> FloatArray:
    """Return the first two coordinates (V, 2); if there is only one, the second is 0."""
    if values.shape[1] == 1:
        return np.concatenate((values, np.zeros_like(values)), axis=1)
    return values[:, :2]


def _joined(weights: list[Weights]) -> Weights:
    return Weights(np.concatenate([part.vertices for part in weights]),
                   np.concatenate([part.handles for part in weights]),
                   np.concatenate([part.values for part in weights]))
