"""The binary encoding of USD: crate files (`.usdc`).

A file is a table of sections: tokens; fields, each a token with a value; sets of fields; paths, as a tree; specs, each
a path with a set of fields. A value is 64 bits: flags, a type, and the value itself or its place in the file. Source:
OpenUSD, pxr/usd/sdf/crateFile, crateValueInliners and crateDataTypes.h, versions 0.4 to 0.12.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

import numpy as np

from ..errors import FileError, quoted
from ..maths.arrays import FloatArray, IntArray
from .usd_layer import MAX_DEPTH, MAX_NUMBER, Attribute, Held, Layer, Prim
from .usd_lz4 import decompressed, integers

MAGIC: Final = b"PXR-USDC"
_SECTIONS: Final = ("TOKENS", "STRINGS", "FIELDS", "FIELDSETS", "PATHS", "SPECS")
_MAX_COUNT: Final = 300_000
"""Greatest number of entries of a section."""
_MAX_PACKED: Final = 2 * 2**20
"""Greatest number of compressed bytes of a file, apart from sections that are not read, and of unpacked bytes."""
_MAX_UNPACKED: Final = 64 * 2**20
_IS_ARRAY, _IS_INLINED, _IS_COMPRESSED, _PAYLOAD = 1 << 63, 1 << 62, 1 << 61, (1 << 48) - 1
_INT, _INT64, _UINT64, _HALF, _FLOAT, _DOUBLE = 3, 5, 6, 7, 8, 9
_STRING, _TOKEN, _ASSET, _MATRIX4D, _SPECIFIER = 10, 11, 12, 15, 42
_PATH_LIST, _TOKENS, _DOUBLES, _BLOCK = 34, 41, 48, 51
_NUMBERS: Final = {_INT: ("<i4", 1), 4: ("<u4", 1), _INT64: ("<i8", 1), _UINT64: ("<u8", 1), _HALF: ("<f2", 1),
                   _FLOAT: ("<f4", 1), _DOUBLE: ("<f8", 1), 14: ("<f8", 9), _MATRIX4D: ("<f8", 16), 16: ("<f8", 4),
                   17: ("<f4", 4), 18: ("<f2", 4), 23: ("<f8", 3), 24: ("<f4", 3), 25: ("<f2", 3), 56: ("<f8", 1)}
"""Types of numbers: how each is stored, and its number of components."""
_KINDS: Final = {"token": 11, "string": 10, "int": 3, "half": 7, "float": 8, "double": 9, "matrix4d": 15, "quatd": 16,
                 "quatf": 17, "quath": 18} | {
    f"{word}3{letter}": kind for letter, kind in (("d", 23), ("f", 24), ("h", 25))
    for word in ("point", "normal", "vector", "color")} | {"double3": 23, "float3": 24, "half3": 25}
"""The types of values by the types of attributes."""
_QUATERNIONS: Final = frozenset((16, 17, 18))
_FEW: Final = 16
"""Shorter arrays are never compressed."""
_ATTRIBUTE, _PRIM, _ROOT, _RELATIONSHIP, _VARIANT = 1, 6, 7, 8, 10
_LAST_KIND: Final = 11
"""The last kind of specs."""
_BRING_IN: Final = ("references", "payload", "inheritPaths", "subLayers", "specializes")


class CrateLayer(Layer):
    """A crate file. Its values are held as 64 bits each."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        super().__init__(path)
        self._data, self._packed, self._unpacked = data, _MAX_PACKED, _MAX_UNPACKED
        self._ends: dict[str, int] = {}
        if data[:8] != MAGIC:
            raise self.error(f"a crate file begins with {MAGIC.decode()}, not with {quoted(repr(data[:8]))}", 0)
        self.version = (data[8:9] or b"\0")[0], (data[9:10] or b"\0")[0]
        if not (0, 4) <= self.version < (0, 99):
            raise self.error(f"this crate file is of version {self.version[0]}.{self.version[1]}; 0.4 and later are "
                             "read", 8)
        if any(data[11:16]) or any(data[24:88]):
            self.note("bytes 11 to 88 should be 0 except for one number, and are not; the file may be damaged")
        sections = self._sections()
        self._tokens = self._read_tokens(sections["TOKENS"])
        at = sections["STRINGS"]
        self._strings = self._array(at + 8, "<u4", self._count(at, 4))
        self._ended("STRINGS", at + 8 + 4 * len(self._strings))
        fields = self._read_fields(sections["FIELDS"])
        sets, end = self._packed_integers(sections["FIELDSETS"] + 8, self._count(sections["FIELDSETS"]))
        self._ended("FIELDSETS", end)
        self._paths, self._is_property = self._read_paths(sections["PATHS"])
        self._read_specs(sections["SPECS"], fields, sets)

    def error(self, message: str, at: int) -> FileError:
        """Return the error for something that is wrong at a byte."""
        return FileError.at(message, self.path, byte=at)

    def numbers(self, held: Held, width: int) -> FloatArray:
        """Return numbers as (N, width), quaternions wxyz; raise FileError if they are not numbers or not whole rows."""
        rep = int(str(held.what))
        kind, payload = rep >> 48 & 255, rep & _PAYLOAD
        if kind == _DOUBLES:
            return self._numbers(payload + 8, "<f8", self._count(payload, 8), held)[:, None]
        if kind not in _NUMBERS:
            raise self.error(f"holds a value of type {kind}, where numbers are wanted", held.at)
        stored, own = _NUMBERS[kind]
        if own != width:
            raise self.error(f"holds values of {own} numbers; {width} are wanted", held.at)
        if rep & _IS_ARRAY:
            found = self._number_array(rep, stored, own, held)
        elif rep & _IS_INLINED:
            found = self._inlined(kind, payload, own)
        else:
            found = self._numbers(payload, stored, own, held).reshape(1, own)
        if not np.abs(found).max(initial=0.0) <= MAX_NUMBER:
            raise self.error(f"holds what is no number up to {MAX_NUMBER:g}", held.at)
        return found[:, (3, 0, 1, 2)] if kind in _QUATERNIONS else found

    def words(self, held: Held) -> tuple[str, ...]:
        """Return names or texts; raise FileError if there is something else."""
        rep = int(str(held.what))
        kind, payload = rep >> 48 & 255, rep & _PAYLOAD
        if rep & _IS_INLINED and kind in (_STRING, _TOKEN, _ASSET):
            return (self._string(payload) if kind == _STRING else self._token(payload),)
        if kind == _TOKENS or (kind in (_TOKEN, _STRING) and rep & _IS_ARRAY):
            if not payload:
                return ()
            count, at = self._size(payload) if rep & _IS_ARRAY else (self._count(payload, 4), payload + 8)
            self.spend(count, held.at)
            index = self._array(at, "<u4", count).tolist()
            return tuple(self._string(each) if kind == _STRING else self._token(each) for each in index)
        raise self.error(f"holds a value of type {kind}, where names are wanted", held.at)

    def _cut(self, at: int, what: str) -> FileError:
        return self.error(f"{what} would stand here, beyond the file's {len(self._data)} bytes; it is cut off, or "
                          "damaged", at)

    def _array(self, at: int, stored: str, count: int) -> IntArray:
        """Return an array of `count` numbers that is stored as it is."""
        if at < 0 or at + count * np.dtype(stored).itemsize > len(self._data):
            raise self._cut(at, f"{count} numbers")
        return np.frombuffer(self._data, stored, count, at)

    def _numbers(self, at: int, stored: str, count: int, held: Held) -> FloatArray:
        self.spend(count, held.at)
        return self._array(at, stored, count).astype(np.float64)

    def _count(self, at: int, size: int = 0) -> int:
        """Read a count of items. size: bytes of each, if they follow uncompressed."""
        if at < 0 or at + 8 > len(self._data):
            raise self._cut(at, "a number")
        (count,) = struct.unpack_from("<Q", self._data, at)
        if count > (len(self._data) // size if size else _MAX_COUNT):
            raise self.error(f"{count} of something would follow; the file has {len(self._data)} bytes, and at most "
                             f"{_MAX_COUNT} are read", at)
        return int(count)

    def _sections(self) -> dict[str, int]:
        """Return where each section begins."""
        at = self._offset(16)
        found = {}
        for number in range(self._count(at, 32)):
            entry = at + 8 + 32 * number
            if entry + 32 > len(self._data):
                raise self._cut(entry, "a section")
            name = self._data[entry:entry + 16].rstrip(b"\0").decode("ascii", "replace")
            found[name], size = self._offset(entry + 16), self._offset(entry + 24)
            if found[name] < 0 or size < 0 or found[name] + size > len(self._data):
                raise self._cut(entry + 16, f"section {quoted(name)} of {size} bytes from byte {found[name]} on")
            self._ends[name] = found[name] + size
        missing = next((name for name in _SECTIONS if name not in found), None)
        if missing is not None:
            raise self.error(f"has no section {missing}; it is cut off, or damaged", at)
        return found

    def _ended(self, section: str, at: int) -> None:
        """Raise FileError if a section does not end at the end of its contents."""
        if self._ends[section] != at:
            raise self.error(f"what section {section} holds ends here, but it is said to end at byte "
                             f"{self._ends[section]}; the file is damaged", at)

    def _offset(self, at: int) -> int:
        if at < 0 or at + 8 > len(self._data):
            raise self._cut(at, "a number")
        return int(struct.unpack_from("<q", self._data, at)[0])

    def _taken(self, at: int, size: int, unpacked: int) -> bytes:
        """Return compressed bytes; raise FileError if the file has too many."""
        if at + size > len(self._data):
            raise self._cut(at, f"{size} compressed bytes")
        self._packed -= size
        self._unpacked -= unpacked
        if self._packed < 0 or self._unpacked < 0:
            raise self.error(f"up to here the file has more than {_MAX_PACKED} compressed bytes, or they hold more "
                             f"than {_MAX_UNPACKED}; no more are read", at)
        return self._data[at:at + size]

    def _unpack(self, at: int, size: int, length: int) -> bytes:
        """Return the decompressed bytes of a buffer of some size."""
        packed = self._taken(at, size, length)
        try:
            return decompressed(packed, length)
        except ValueError as error:
            raise self.error(f"a compressed part cannot be read: {error}", at) from None

    def _packed_integers(self, at: int, count: int, width: int = 4) -> tuple[IntArray, int]:
        """Return the decompressed integers, (count,), and the byte at which the compressed ones end."""
        size = self._count(at, 1)
        packed = self._taken(at + 8, size, (width + 1) * count)
        try:
            return integers(packed, count, width), at + 8 + size
        except ValueError as error:
            raise self.error(f"compressed integers cannot be read: {error}", at) from None

    def _read_tokens(self, at: int) -> list[str]:
        count, length, size = self._count(at), self._offset(at + 8), self._count(at + 16, 1)
        text = self._unpack(at + 24, size, max(length, 0))
        words = text.split(b"\0")
        if len(words) != count + 1 or words[-1] or len(text) != length:
            raise self.error(f"{len(words) - 1} tokens in {len(text)} bytes, where {count} in {length} are wanted", at)
        self._ended("TOKENS", at + 24 + size)
        try:
            return text.decode("utf-8").split("\0")[:-1]
        except UnicodeDecodeError as error:
            word = text[:error.start].rpartition(b"\0")[2] + text[error.start:].partition(b"\0")[0]
            raise self.error(f"the token {quoted(repr(word))} is not UTF-8; the file is damaged", at) from None

    def _read_fields(self, at: int) -> list[tuple[str, int]]:
        """Return the name and the value of each field."""
        count = self._count(at)
        tokens, end = self._packed_integers(at + 8, count)
        size = self._count(end, 1)
        values = self._unpack(end + 8, size, 8 * count)
        if len(values) != 8 * count:
            raise self.error(f"{len(values)} bytes of values for {count} fields; 8 each are wanted", end)
        self._ended("FIELDS", end + 8 + size)
        return list(zip(map(self._token, tokens.tolist()), np.frombuffer(values, "<u8", count).tolist(), strict=True))

    def _token(self, number: int) -> str:
        if not 0 <= number < len(self._tokens):
            raise self.error(f"names token {number}; there are {len(self._tokens)}", 0)
        return self._tokens[number]

    def _string(self, number: int) -> str:
        if not 0 <= number < len(self._strings):
            raise self.error(f"names string {number}; there are {len(self._strings)}", 0)
        return self._token(int(self._strings[number]))

    def _read_paths(self, at: int) -> tuple[list[str], list[bool]]:
        """Return the paths by their indices, and which of them are paths of properties."""
        count, written = self._count(at), self._count(at + 8)
        numbers, end = self._packed_integers(at + 16, written)
        names, end = self._packed_integers(end, written)
        jumps, end = self._packed_integers(end, written)
        self._ended("PATHS", end)
        paths, is_property = [""] * count, [False] * count
        stack = [(0, "")] if written else []
        for _ in range(written):
            if not stack:
                break
            here, above = stack.pop()
            number, name, jump = int(numbers[here]), int(names[here]), int(jumps[here])
            if not 0 <= number < count or paths[number] or above.count("/") > 2 * MAX_DEPTH:
                raise self.error(f"path {number} of {count}, below {quoted(above)}; it is damaged, there twice, or too "
                                 "deep", at)
            if not above:
                paths[number] = "/"
            else:
                is_property[number] = name < 0
                paths[number] = above.rstrip("/") + ("." if name < 0 else "/") + self._token(abs(name))
            if jump >= 0:
                stack.append((here + (jump or 1), above))
            if jump == -1 or jump > 0:
                stack.append((here + 1, paths[number]))
            if stack and stack[-1][0] >= written:
                raise self.error(f"the tree of paths goes on beyond its {written} entries", at)
        if stack or sum(map(bool, paths)) != written:
            raise self.error(f"{written} paths are wanted, but their tree has {sum(map(bool, paths))}", at)
        return paths, is_property

    def _read_specs(self, at: int, fields: list[tuple[str, int]], sets: IntArray) -> None:
        """Make prims, attributes and relationships from the specs."""
        count = self._count(at)
        paths, end = self._packed_integers(at + 8, count)
        first, end = self._packed_integers(end, count)
        kinds, end = self._packed_integers(end, count)
        self._ended("SPECS", end)
        ends = np.append(np.flatnonzero(sets == -1), len(sets))
        outside = (paths < 0) | (paths >= len(self._paths)) | (first < 0) | (first >= len(sets))
        if outside.any():
            raise self.error(f"spec {int(np.argmax(outside))} refers to a path or to fields that do not exist", at)
        wrong = (first > 0) & (sets[first - 1] != -1) | (kinds < 1) | (kinds > _LAST_KIND)
        if wrong.any() or len(np.unique(paths)) != count:
            raise self.error("specs have the same path, an unknown kind, or fields that overlap with those of others; "
                             "the file is damaged", at)
        until = ends[np.searchsorted(ends, first)]
        self.spend(int((until - first).sum()), at)
        specs = sorted(zip((self._paths[each] for each in paths.tolist()), first.tolist(), until.tolist(),
                           kinds.tolist(), strict=True))
        for path, begin, end_of, kind in specs:
            numbers = sets[begin:end_of]
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(fields):
                raise self.error(f"a set of fields names field {numbers.max()}; there are {len(fields)}", at)
            self._spec(path, kind, dict(map(fields.__getitem__, numbers.tolist())), at)

    def _spec(self, path: str, kind: int, fields: dict[str, int], at: int) -> None:
        for name in _BRING_IN:
            if name in fields:
                self.left_out.setdefault(name, []).append(path)
        if kind == _ROOT:
            self.metadata = {name: Held(rep, at) for name, rep in fields.items()}
        elif kind == _VARIANT or "{" in path:
            if kind == _VARIANT:
                self.left_out.setdefault("variants", []).append(path)
        elif kind == _PRIM:
            specifier = fields.get("specifier", 0)
            typed = (self.words(Held(fields["typeName"], at)) if "typeName" in fields else ()) or ("",)
            self.add(Prim(path, typed[0], specifier >> 48 & 255 == _SPECIFIER and specifier & _PAYLOAD == 0
                          and "specifier" in fields, at))
        elif kind in (_ATTRIBUTE, _RELATIONSHIP):
            owner, _, name = path.rpartition(".")
            prim = self.prims.get(owner)
            if prim is None:
                return
            if kind == _RELATIONSHIP:
                prim.targets[name] = self._targets(fields["targetPaths"], at) if "targetPaths" in fields else ()
            else:
                typed = (self.words(Held(fields["typeName"], at)) if "typeName" in fields else ()) or ("",)
                default = Held(fields["default"], at) if self._has_value(fields.get("default", 0)) else None
                prim.attributes[name] = found = Attribute(typed[0], default, *(
                    self._samples(fields["timeSamples"]) if "timeSamples" in fields else ()))
                self._check_type(path, found)

    def _check_type(self, path: str, attribute: Attribute) -> None:
        """Store a warning about values that have another type than their attribute."""
        wanted = _KINDS.get(attribute.kind.removesuffix("[]"))
        held = (*attribute.samples, *filter(None, (attribute.default,)))
        reps = [int(str(each.what)) for each in held] if wanted is not None else []
        is_array = attribute.kind.endswith("[]")
        wrong = next((rep for rep in reps if rep >> 48 & 255 != wanted or bool(rep & _IS_ARRAY) != is_array), None)
        if wrong is not None:
            self.note(f"{path} is of type {quoted(attribute.kind)}, but one of its values is not; the file may be "
                      "damaged")

    @staticmethod
    def _has_value(rep: int) -> bool:
        return rep >> 48 & 255 not in (0, _BLOCK)

    def _targets(self, rep: int, at: int) -> tuple[str, ...]:
        """Return the paths of a relationship: explicit, added, prepended and appended ones."""
        place, found = rep & _PAYLOAD, list[str]()
        if rep >> 48 & 255 != _PATH_LIST or place >= len(self._data):
            raise self.error(f"a relationship has a value of type {rep >> 48 & 255}; paths are wanted", at)
        flags, place = self._data[place], place + 1
        for flag in (2, 4, 32, 64):
            if flags & flag:
                count = self._count(place, 4)
                self.spend(count, place)
                for number in self._array(place + 8, "<u4", count).tolist():
                    if number >= len(self._paths):
                        raise self.error(f"names path {number}; there are {len(self._paths)}", place)
                    found.append(self._paths[number])
                place += 8 + 4 * count
        return tuple(found)

    def _samples(self, rep: int) -> tuple[FloatArray, list[Held]]:
        """Return the time codes of samples, and the value at each, without samples that have no value."""
        place = rep & _PAYLOAD
        of_times = self._offset(place) + place
        times = self.numbers(Held(self._rep(of_times), of_times), 1)[:, 0]
        if (np.diff(times) <= 0.0).any():
            late = int(np.argmax(np.diff(times) <= 0.0))
            raise self.error(f"time code {times[late + 1]:g} comes after {times[late]:g}; they are to increase: the "
                             "file is damaged", of_times)
        at = of_times + 8
        values = at + self._offset(at)
        count = self._count(values, 8)
        if count != len(times):
            raise self.error(f"{len(times)} times for {count} samples; as many are wanted", values)
        self.spend(count, values)
        reps = self._array(values + 8, "<u8", count).tolist()
        kept = [number for number, each in enumerate(reps) if self._has_value(each)]
        return times[kept], [Held(reps[number], values + 8 + 8 * number) for number in kept]

    def _rep(self, at: int) -> int:
        if at < 0 or at + 8 > len(self._data):
            raise self._cut(at, "a value")
        return int(struct.unpack_from("<Q", self._data, at)[0])

    def _size(self, at: int) -> tuple[int, int]:
        """Return the length of an array, and the byte at which its values begin."""
        if self.version < (0, 5):
            at += 4
        if self.version < (0, 7):
            return int(self._array(at, "<u4", 1)[0]), at + 4
        return self._count(at, 1), at + 8

    def _number_array(self, rep: int, stored: str, own: int, held: Held) -> FloatArray:
        """Return an array of numbers, (N, own)."""
        place = rep & _PAYLOAD
        if not place:
            return np.empty((0, own))
        count, at = self._size(place)
        if not rep & _IS_COMPRESSED or count < _FEW or own > 1:
            return self._numbers(at, stored, count * own, held).reshape(count, own)
        self.spend(count, held.at)
        if stored[1] != "f":
            return self._packed_integers(at, count, int(stored[2]))[0].astype(np.float64)[:, None]
        code = self._data[at:at + 1]
        if code == b"i":
            return self._packed_integers(at + 1, count)[0].astype(np.float64)[:, None]
        if code != b"t":
            raise self.error(f"numbers are compressed by {quoted(repr(code))}; b'i' and b't' are known", at)
        (size,) = self._array(at + 1, "<u4", 1).tolist()
        table = self._numbers(at + 5, stored, size, held)
        index, _ = self._packed_integers(at + 5 + size * np.dtype(stored).itemsize, count)
        if len(index) and not 0 <= index.min() <= index.max() < size:
            raise self.error(f"numbers name entry {index.max()} of a table; it has {size}", at)
        return table[index][:, None]

    def _inlined(self, kind: int, payload: int, own: int) -> FloatArray:
        """Return a value that is stored in its 64 bits, (1, own)."""
        raw = payload.to_bytes(8, "little")
        if kind == _MATRIX4D:  # only its diagonal
            return np.diag(np.frombuffer(raw, "<i1", 4).astype(np.float64)).reshape(1, 16)
        if own > 1:
            return np.frombuffer(raw, "<i1", own).astype(np.float64)[None] if own <= 6 else np.zeros((1, own))
        stored = {_DOUBLE: "<f4", 56: "<f4", _INT64: "<i4", _UINT64: "<u4"}.get(kind, _NUMBERS[kind][0])
        return np.frombuffer(raw, stored, 1).astype(np.float64)[None]
