"""The parts of glTF files: JSON, whose values are checked when they are read, and accessors to numbers in buffers.

Source: Khronos Group, glTF 2.0 specification, sections 3.6 (binary data) and 4 (GLB).
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NoReturn
from urllib.parse import unquote

import numpy as np

from ..errors import FileError, quoted
from ..maths.arrays import FloatArray
from . import meshopt
from .format import MAX_BYTES, TAKE_ANOTHER, Source

MAX_VALUES: Final = 20_000_000
"""Greatest number of values of a file; more are refused."""
MAX_ENTRIES: Final = 200_000
"""Greatest length of a list of objects."""
MAX_JSON: Final = 5_000_000
"""Greatest number of brackets, commas and colons in the JSON: objects and lists take many times the memory of their
text."""
_MOST_NOTES: Final = 20
_MAGIC: Final = b"glTF"
_JSON_AT: Final = 20
"""The byte at which a GLB file's JSON begins."""
_MAX_NUMBER: Final = float(np.finfo(np.float32).max)
_TYPES: Final = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_COMPONENTS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_COMPRESSIONS: Final = ("EXT_meshopt_compression", "KHR_meshopt_compression")


@dataclass(frozen=True)
class Entry:
    """An object of the JSON. where: its place, such as nodes[3]; path: the file's. Each method raises FileError."""

    values: Mapping[str, Any]
    where: str
    path: Path

    def error(self, message: str) -> FileError:
        """Return the error for a fault in this object."""
        return FileError.at(f"{self.where or 'glTF'}: {message}", self.path)

    def _wrong(self, key: str, wanted: str) -> NoReturn:
        raise self.error(f"{key} is {quoted(json.dumps(self.values.get(key)))}, {wanted} is wanted")

    def has(self, key: str) -> bool:
        """Return whether a key has a value."""
        return self.values.get(key) is not None

    def text(self, key: str, default: str = "") -> str:
        """Return a text, or the default if there is none."""
        found = self.values.get(key, default)
        return found if isinstance(found, str) else self._wrong(key, "a text")

    def count(self, key: str, default: int | None = None, below: int = MAX_VALUES + 1) -> int:
        """Return a whole number, at least 0."""
        found = self.values.get(key, default)
        if type(found) is not int or not 0 <= found < below:
            self._wrong(key, f"a whole number from 0 to {below - 1}")
        return found

    def counts(self, key: str, below: int) -> list[int]:
        """Return a list of different whole numbers, at least 0; empty if the key is missing."""
        found = self.values.get(key, [])
        if (not isinstance(found, list) or not all(type(each) is int and 0 <= each < below for each in found)
                or len(set(found)) < len(found)):
            self._wrong(key, f"a list of different whole numbers from 0 to {below - 1}")
        return found

    def numbers(self, key: str, default: Sequence[float]) -> FloatArray:
        """Return as many numbers as the default has."""
        found = self.values.get(key, default)
        if (not isinstance(found, Sequence) or len(found) != len(default) or not all(
                isinstance(each, int | float) and abs(each) <= _MAX_NUMBER for each in found)):
            self._wrong(key, f"{len(default)} finite numbers")
        return np.array(found, dtype=np.float64)

    def entry(self, key: str) -> Entry:
        """Return an object, or an empty one if there is none."""
        found = self.values.get(key, {})
        if not isinstance(found, dict):
            self._wrong(key, "an object")
        return Entry(found, f"{self.where}.{key}" if self.where else key, self.path)

    def length(self, key: str) -> int:
        """Return the length of a list, or 0 if there is none."""
        found = self.values.get(key)
        return len(found) if isinstance(found, list) else 0

    def entries(self, key: str, most: int = MAX_ENTRIES) -> list[Entry]:
        """Return a list of objects; an empty list if there is no such key."""
        found = self.values.get(key, [])
        if isinstance(found, list) and len(found) > most:
            raise self.error(f"has {len(found)} {key}; at most {most} are read")
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            self._wrong(key, "a list of objects")
        start = f"{self.where}.{key}" if self.where else key
        return [Entry(each, f"{start}[{i}]", self.path) for i, each in enumerate(found)]


class GltfData:
    """A whole file: its JSON, and the numbers of its accessors. Raises FileError for content that cannot be read."""

    def __init__(self, source: Source) -> None:
        self._source = source
        text, self._binary = chunks_of(source.data, source.path)
        begins = _JSON_AT if source.data[:4] == _MAGIC else None
        self.top = Entry(_parsed(text, source.path, begins), "", source.path)
        version = self.top.entry("asset").text("version")
        if not version:
            raise FileError.at("this is no glTF: its JSON has no asset.version, where '2.0' is wanted", source.path, 1)
        if version.partition(".")[0] != "2":
            raise self.top.error(f"asset.version is {quoted(version)}; 2.0 is read")
        self._buffers: dict[str, bytes] = {}
        self._buffer_bytes = 0
        self._decompressed: dict[str, bytes] = {}
        self._read: dict[int, FloatArray] = {}
        self._left = MAX_VALUES
        self.notes: dict[str, None] = {}

    @cached_property
    def _accessors(self) -> list[Entry]:
        return self.top.entries("accessors")

    @cached_property
    def _views(self) -> list[Entry]:
        return self.top.entries("bufferViews")

    def accessor(self, entry: Entry, key: str, components: int) -> FloatArray:
        """Return the finite numbers (N, components) of an entry's accessor; normalised integers as numbers up to 1."""
        index = entry.count(key, below=len(self._accessors))
        if index not in self._read:
            self._read[index] = self._decoded(self._accessors[index])
        values = self._read[index]
        self.spend(values.size, entry)
        if values.shape[1] != components:
            accessor = self._accessors[index]
            raise accessor.error(f"type is {quoted(accessor.text('type'))}, but {components} components are wanted by "
                                 f"{entry.where}")
        return values

    def note(self, text: str) -> None:
        """Store a warning about a fault that does not prevent reading the rest."""
        if len(self.notes) < _MOST_NOTES:
            self.notes[text] = None

    def spend(self, values: int, entry: Entry) -> None:
        """Count numbers that are made from the file; raise FileError if there are too many."""
        self._left -= values
        if self._left < 0:
            raise entry.error(f"here the file has more than {MAX_VALUES} numbers, and no more are read; shorten its "
                              "animations")

    def _decoded(self, accessor: Entry) -> FloatArray:
        kind, components = self._kind(accessor), _COMPONENTS.get(accessor.text("type"), 0)
        count = accessor.count("count")
        if not components:
            raise accessor.error(f"type is {quoted(accessor.text('type'))}; one of {', '.join(_COMPONENTS)} is wanted")
        self.spend(count * components, accessor)
        values = (self._elements(accessor, kind, count, components) if accessor.has("bufferView")
                  else np.zeros((count, components), kind))
        if accessor.has("sparse"):
            values = self._with_changes(accessor, values)
        with np.errstate(invalid="ignore"):  # NaNs are refused below
            numbers = values.astype(np.float64)
        if accessor.values.get("normalized") is True and kind.kind != "f":
            numbers = np.maximum(numbers / np.iinfo(kind).max, -1.0)
        if not (np.abs(numbers) <= _MAX_NUMBER).all():
            raise accessor.error("holds numbers that are not finite")
        return numbers

    def _with_changes(self, accessor: Entry, values: Any) -> Any:
        """Return values (N, C) with those that a sparse accessor replaces."""
        sparse = accessor.entry("sparse")
        count, rows = sparse.count("count", below=len(values) + 1), sparse.entry("indices")
        indices = self._elements(rows, self._kind(rows), count, 1)[:, 0].astype(np.int64)
        if len(indices) and not 0 <= indices.min() <= indices.max() < len(values):
            raise rows.error(f"an index is beyond the accessor's {len(values)} elements")
        values = values.copy()
        values[indices] = self._elements(sparse.entry("values"), values.dtype, count, values.shape[1])
        return values

    def _kind(self, entry: Entry) -> np.dtype[Any]:
        kind = entry.count("componentType")
        if kind not in _TYPES:
            raise entry.error(f"componentType is {kind}; one of {', '.join(map(str, _TYPES))} is wanted")
        return np.dtype(_TYPES[kind])

    def _elements(self, entry: Entry, kind: np.dtype[Any], count: int, components: int) -> Any:
        """Return the elements (N, C) of an accessor, or of a part of a sparse one."""
        view = self._views[entry.count("bufferView", below=len(self._views))]
        (data, start), length = self._data(view), view.count("byteLength", below=2**40)
        own = entry.count("byteOffset", 0, below=2**40)
        width = kind.itemsize * components
        stride = view.count("byteStride", 0) or width
        needed = own + stride * (count - 1) + width if count else 0
        if needed > length or start + length > len(data) or stride < width:
            raise entry.error(f"{count} elements of {width} bytes do not fit into {view.where}, which has {length} "
                              f"bytes, in a buffer of {len(data)}")
        return np.ndarray((count, components), kind, data, start + own if count else 0, (stride, kind.itemsize))

    def _data(self, view: Entry) -> tuple[bytes, int]:
        """Return the bytes that contain a view, decompressed if necessary, and the offset at which the view begins."""
        data = self._buffer(view)
        if data is not None:
            return data, view.count("byteOffset", 0, below=2**40)
        used = next((name for name in _COMPRESSIONS if view.entry("extensions").has(name)), None)
        if used is None:
            raise view.error(f"buffer {view.count('buffer')} has no data")
        if view.where not in self._decompressed:
            self._decompressed[view.where] = self._decompress(view.entry("extensions").entry(used))
        return self._decompressed[view.where], 0

    def _decompress(self, view: Entry) -> bytes:
        """Return the decompressed bytes of a view, by the entry that describes its compression."""
        data, mode = self._buffer(view), view.text("mode")
        start, length = view.count("byteOffset", 0, below=2**40), view.count("byteLength", below=2**40)
        if data is None or start + length > len(data):
            raise view.error(f"{length} bytes at {start} are not in buffer {view.count('buffer')}")
        count, stride = view.count("count"), view.count("byteStride")
        if mode != "ATTRIBUTES":
            raise view.error(f"mode is {quoted(mode)}; ATTRIBUTES is wanted for numbers")
        self.spend(count * stride // 4, view)
        try:
            return meshopt.decompressed(data[start:start + length], count, stride, view.text("filter", "NONE"))
        except ValueError as error:
            raise view.error(str(error)) from error

    def _buffer(self, view: Entry) -> bytes | None:
        """Return the bytes of the buffer that a view names; None if the buffer has no bytes of its own.

        Buffers that name the same file share it, and all together are no larger than a file may be.
        """
        index = view.count("buffer")
        if index >= len(self._buffer_entries):
            raise view.error(f"buffer is {index}, but there are {len(self._buffer_entries)}")
        buffer = self._buffer_entries[index]
        uri = buffer.text("uri")
        if not uri:
            return self._binary if index == 0 else None
        if uri not in self._buffers:
            data = self._loaded(buffer, uri)
            self._buffer_bytes += len(data)
            if self._buffer_bytes > MAX_BYTES:
                raise buffer.error(f"up to here the buffers have {self._buffer_bytes} bytes; at most {MAX_BYTES} are "
                                   "read")
            self._buffers[uri] = data
        return self._buffers[uri]

    @cached_property
    def _buffer_entries(self) -> list[Entry]:
        return self.top.entries("buffers")

    def _loaded(self, buffer: Entry, uri: str) -> bytes:
        """Return the bytes of a buffer's file, or those in the JSON."""
        if not uri.startswith("data:"):
            if self._source.named is None:
                raise buffer.error(f"the file {quoted(uri)} is not at hand")
            return self._source.named(unquote(uri))
        try:
            return base64.b64decode(uri.partition(",")[2])
        except (binascii.Error, ValueError) as error:
            raise buffer.error(f"uri holds damaged base64; {TAKE_ANOTHER}") from error


def chunks_of(data: bytes, path: Path) -> tuple[bytes, bytes | None]:
    """Return a file's JSON, and the binary data of a GLB file."""
    if data[:4] != _MAGIC:
        return data, None
    chunks: list[tuple[bytes, bytes]] = []
    at = 12
    while len(chunks) < 2 and at + 8 <= len(data):
        length, kind = struct.unpack_from("<I4s", data, at)
        if at + 8 + length > len(data):
            raise FileError.at(f"the file is cut off: a chunk of {length} bytes begins here, but "
                               f"{len(data) - at - 8} are left", path, byte=at)
        chunks.append((kind, data[at + 8:at + 8 + length]))
        at += 8 + length
    if not chunks or chunks[0][0] != b"JSON":
        raise FileError.at("a GLB file begins with a chunk of JSON; this one does not", path, byte=min(len(data), 12))
    return chunks[0][1], next((body for kind, body in chunks[1:] if kind == b"BIN\0"), None)


def packed(document: Mapping[str, Any], binary: bytes) -> bytes:
    """Return a GLB file."""
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


def _parsed(text: bytes, path: Path, begins: int | None) -> Mapping[str, Any]:
    """Return the content of JSON; begins: the byte at which it begins in a binary file, None if it is the file."""
    def error(message: str, at: int, found: str = "") -> FileError:
        said = f"the JSON of this file is damaged here: {message}; {TAKE_ANOTHER}"
        if found:
            said = f"the JSON of this file is damaged here: {message}, found {found}; {TAKE_ANOTHER}"
        if begins is not None:
            return FileError.at(said, path, byte=begins + at)
        line = text.count(b"\n", 0, at) + 1
        return FileError.at(said, path, line, at - text.rfind(b"\n", 0, at))

    size = sum(map(text.count, (b"[", b"{", b",", b":")))
    if size > MAX_JSON:
        raise FileError.at(f"its JSON has {size} brackets, commas and colons; at most {MAX_JSON} are read", path)
    try:
        words = text.decode("utf-8-sig")
        found = json.loads(words)
    except UnicodeDecodeError as wrong:
        raise error(f"byte {text[wrong.start]:#04x} is no text (UTF-8)", wrong.start) from wrong
    except json.JSONDecodeError as wrong:
        found = quoted(words[wrong.pos:wrong.pos + 1]) if wrong.pos < len(words) else "the end"
        raise error(wrong.msg, len(words[:wrong.pos].encode()), found) from wrong
    except (ValueError, RecursionError) as wrong:  # numbers of thousands of digits, endlessly nested lists
        raise error("a number is too long, or too many brackets are in each other", 0) from wrong
    if not isinstance(found, dict):
        raise FileError.at("is no glTF: a JSON object is wanted", path, 1)
    return found
