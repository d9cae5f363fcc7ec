"""OGRE's binary skeleton files (`.skeleton`), [Serializer_v1.10] and [Serializer_v1.80], both byte orders.

Layout: u16 0x1000, the version line, then chunks of u16 id, u32 length (with these 6 bytes) and payload.
The length cannot be used to find the next chunk: that of a bone does not include its name. Like OGRE, the reader goes
by what each chunk holds. Source: OGRE's SkeletonSerializer.
"""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from ..clips.clip import Clip
from ..errors import FileError, Place, TaktError, quoted
from ..maths.arrays import FloatArray
from .format import Format
from .ogre import (
    MAX_BONES,
    AnimationRecord,
    Base,
    BlendMode,
    BoneRecord,
    Link,
    OgreSkeleton,
    Records,
    TrackRecord,
    assemble,
    key_table,
    name_of,
)
from .ogre_links import linked_clips

Version = Literal["1.10", "1.80"]
ByteOrder = Literal["LITTLE", "BIG"]

HEADER: Final = 0x1000
BLEND_MODE: Final = 0x1010
BONE: Final = 0x2000
PARENT: Final = 0x3000
ANIMATION: Final = 0x4000
BASE: Final = 0x4010
TRACK: Final = 0x4100
KEY: Final = 0x4110
LINK: Final = 0x5000

_CHUNK_BYTES = 6
_BONE_BYTES = 36
"""A bone's stated length without scale; its name is not counted."""
_KEY_BYTES = 38
"""A key's length without scale."""
_FIRST_LOOK = 64
"""Number of keys examined first to measure a run of keys of the same length; then it doubles each time."""

_VERSIONS: Final[dict[str, Version]] = {"[Serializer_v1.10]": "1.10", "[Serializer_v1.80]": "1.80"}
_BLEND_MODES: Final[tuple[BlendMode, ...]] = ("AVERAGE", "CUMULATIVE")
_ORDERS: Final[dict[ByteOrder, str]] = {"LITTLE": "<", "BIG": ">"}
_WXYZ_FROM_XYZW = [3, 0, 1, 2]
_XYZW_FROM_WXYZ = [1, 2, 3, 0]


def read(data: bytes, path: Path | None = None) -> OgreSkeleton:
    """Read a binary skeleton.

    data: the whole file; path: for messages and the skeleton's name.
    Raises FileError with the byte where something does not fit.
    """
    return assemble(_Reader(data, path).records(), name_of(path))


class _Reader:
    """Walks through the chunks once, from the first byte to the last."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        self._data, self._path, self._at = data, path, 0
        self._order = "<"
        self._bones: list[BoneRecord] = []
        self._parents: list[tuple[int, int, Place]] = []
        self._animations: list[AnimationRecord] = []
        self._links: list[Link] = []
        self._blend_mode: BlendMode = "AVERAGE"
        self._runs: list[tuple[int, np.ndarray]] = []
        self._keys = 0

    def records(self) -> Records:
        """Read everything."""
        self._read_header()
        inside = 0
        while self._at < len(self._data):
            inside = self._read_chunk(inside)
        return Records(self._bones, self._parents, self._animations, self._decoded_keys(), self._place_of_key,
                       tuple(self._links), self._blend_mode)

    def _read_header(self) -> None:
        if len(self._data) < 2:
            raise self._error(f"a file of {len(self._data)} bytes; an OGRE skeleton begins with 0x1000", 0)
        found = {b"\x00\x10": "<", b"\x10\x00": ">"}.get(self._data[:2])
        if found is None:
            raise self._error(f"this is no OGRE skeleton: it begins with bytes {self._data[:2].hex(' ')}, "
                              f"where 00 10 (or 10 00) is wanted", 0)
        self._order, self._at = found, 2
        version = self._string("the version")
        if version not in _VERSIONS:
            raise self._error(f"version {quoted(version)}; read are {' and '.join(_VERSIONS)}. "
                              f"OgreXMLConverter or OgreMeshUpgrader of OGRE writes one of these", 2)

    def _read_chunk(self, inside: int) -> int:
        """Read the chunk that begins here; return which chunk may contain the next: ANIMATION, TRACK, or 0 for none."""
        start = self._at
        chunk, length = self._unpack("HI", "a chunk's header")
        if chunk in (ANIMATION, TRACK, KEY) and start + length > len(self._data):
            raise self._error(f"chunk 0x{chunk:04x} says that it is {length} bytes long, but the file ends after "
                              f"{len(self._data) - start}; it is cut off or damaged", start)
        if (chunk in (BASE, TRACK) and not inside) or (chunk == KEY and inside != TRACK):
            raise self._error(f"chunk 0x{chunk:04x} stands outside of "
                              f"{'a track' if chunk == KEY else 'an animation'}", start)
        if chunk == KEY:
            self._read_keys(start)
            return TRACK
        if chunk == TRACK:
            bone, = self._unpack("H", "a track")
            self._animations[-1].tracks.append(TrackRecord(bone, self._keys, self._keys, self._place(start)))
            return TRACK
        if chunk == ANIMATION:
            name = self._string("an animation's name")
            seconds, = self._unpack("f", "an animation")
            self._animations.append(AnimationRecord(name, seconds, None, [], self._place(start)))
            return ANIMATION
        if chunk == BASE:
            base = Base(self._string("a base animation's name"), *self._unpack("f", "a base animation"))
            if not np.isfinite(base.time_s):
                raise self._error(f"a base key time of {base.time_s}; a finite one is wanted", start)
            self._animations[-1] = self._animations[-1]._replace(base=base)
            return ANIMATION
        self._read_skeleton_chunk(chunk, length, start)
        return 0

    def _read_skeleton_chunk(self, chunk: int, length: int, start: int) -> None:
        if chunk == BONE:
            name = self._string("a bone's name")
            handle, *numbers = self._unpack("H7f", f"bone {quoted(name)}")
            scale = self._unpack("3f", f"the scale of bone {quoted(name)}") if length > _BONE_BYTES else (1.0, 1.0, 1.0)
            x, y, z, w = numbers[3:]
            self._bones.append(BoneRecord(handle, name, numbers[:3], (w, x, y, z), scale, self._place(start)))
        elif chunk == PARENT:
            child, parent = self._unpack("HH", "a parent")
            self._parents.append((child, parent, self._place(start)))
        elif chunk == LINK:
            link = Link(self._string("a linked skeleton's name"), *self._unpack("f", "a link"))
            if not np.isfinite(link.scale):
                raise self._error(f"a linked skeleton's scale of {link.scale}; a finite one is wanted", start)
            self._links.append(link)
        elif chunk == BLEND_MODE:
            mode, = self._unpack("H", "the blend mode")
            if mode >= len(_BLEND_MODES):
                raise self._error(f"blend mode {mode}; 0 (average) and 1 (cumulative) are known", start)
            self._blend_mode = _BLEND_MODES[mode]
        else:
            raise self._error(f"chunk 0x{chunk:04x} is unknown in an OGRE skeleton; the file is damaged, or written "
                              f"by something newer", start)

    def _read_keys(self, start: int) -> None:
        """Read a run of keys of the same length, all at once, as a view of the file."""
        length = struct.unpack_from(f"{self._order}I", self._data, start + 2)[0]
        record = _key_dtype(self._order, has_scale=length > _KEY_BYTES)
        room = (len(self._data) - start) // record.itemsize
        if room == 0:
            raise self._error("the file ends inside a key; it is cut off", start)
        run, look = 1, _FIRST_LOOK
        while run < room:
            part = np.frombuffer(self._data, record, min(look, room - run), start + run * record.itemsize)
            same = (part["id"] == KEY) & (part["length"] == length)
            if not same.all():
                run += int(np.argmin(same))
                break
            run, look = run + len(part), 2 * look
        self._runs.append((start, np.frombuffer(self._data, record, run, start)))
        self._keys += run
        self._at = start + run * record.itemsize
        tracks = self._animations[-1].tracks
        tracks[-1] = tracks[-1]._replace(last=self._keys)

    def _decoded_keys(self) -> FloatArray:
        """Return all keys as (N, 11): time, rotation wxyz, translation, scale."""
        keys = np.ones((self._keys, 11))
        first = 0
        with np.errstate(invalid="ignore"):  # signalling NaNs, which are refused later with their place
            for _, run in self._runs:
                part = keys[first:first + len(run)]
                part[:, 0], part[:, 1:5] = run["time"], run["rotation"][:, _WXYZ_FROM_XYZW]
                part[:, 5:8] = run["translation"]
                if run.itemsize > _KEY_BYTES:
                    part[:, 8:11] = run["scale"]
                first += len(run)
        return keys

    def _place_of_key(self, key: int) -> Place:
        first = 0
        for start, run in self._runs:
            if key < first + len(run):
                return self._place(start + (key - first) * run.itemsize)
            first += len(run)
        raise IndexError(key)

    def _unpack(self, layout: str, what: str) -> tuple[Any, ...]:
        form = struct.Struct(self._order + layout)
        if self._at + form.size > len(self._data):
            raise self._error(f"the file ends inside {what}: {form.size} bytes are wanted, "
                              f"{len(self._data) - self._at} are left", self._at)
        values = form.unpack_from(self._data, self._at)
        self._at += form.size
        return values

    def _string(self, what: str) -> str:
        """Read up to the next line feed. Old exporters wrote Latin-1, new ones UTF-8."""
        end = self._data.find(b"\n", self._at)
        if end < 0:
            raise self._error(f"the file ends inside {what}: no line feed ends it", self._at)
        raw = self._data[self._at:end].removesuffix(b"\r")
        self._at = end + 1
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            return raw.decode("latin-1")

    def _place(self, byte: int) -> Place:
        return Place(self._path, byte=byte)

    def _error(self, message: str, byte: int) -> FileError:
        return FileError.at(message, self._path, byte=byte)


@cache
def _key_dtype(order: str, *, has_scale: bool) -> np.dtype[np.void]:
    fields: list[tuple[str, str] | tuple[str, str, tuple[int]]] = [
        ("id", f"{order}u2"), ("length", f"{order}u4"), ("time", f"{order}f4"),
        ("rotation", f"{order}f4", (4,)), ("translation", f"{order}f4", (3,))]
    return np.dtype([*fields, ("scale", f"{order}f4", (3,))] if has_scale else fields)


def write(ogre: OgreSkeleton, version: Version = "1.80", byte_order: ByteOrder = "LITTLE") -> bytes:
    """Write a binary skeleton; numbers become float32.

    Version 1.10 cannot hold a blend mode and bases: a skeleton that has them is refused.
    Raises TaktError if a name contains a line feed, if a handle or number does not fit, or if version 1.10 cannot hold
    the content.
    """
    if version == "1.10" and (ogre.blend_mode != "AVERAGE" or ogre.bases):
        raise TaktError("[Serializer_v1.10] holds neither the cumulative blend mode nor base animations; "
                        "write version 1.80")
    out = _Writer(_ORDERS[byte_order])
    header = struct.pack(f"{out.order}H", HEADER) + out.string(f"[Serializer_v{version}]")
    return header + b"".join((*out.skeleton(ogre, version), *(out.animation(ogre, clip) for clip in ogre.clips),
                              *(out.chunk(LINK, out.string(link.skeleton) + out.floats((link.scale,)))
                                for link in ogre.links)))


class _Writer:
    """Makes chunks in one byte order."""

    def __init__(self, order: str) -> None:
        self.order = order

    def chunk(self, number: int, payload: bytes, uncounted: int = 0) -> bytes:
        return struct.pack(f"{self.order}HI", number, _CHUNK_BYTES + len(payload) - uncounted) + payload

    def string(self, text: str) -> bytes:
        if "\n" in text:
            raise TaktError(f"the name {quoted(text)} holds a line feed, which ends a name in an OGRE file; rename it")
        return text.encode("utf-8") + b"\n"

    def floats(self, values: npt.ArrayLike) -> bytes:
        return _float32(values).astype(f"{self.order}f4").tobytes()

    def short(self, value: int) -> bytes:
        if not 0 <= value < MAX_BONES:
            raise TaktError(f"a bone's handle of {value}; 0 to {MAX_BONES - 1} fit into an OGRE file")
        return struct.pack(f"{self.order}H", value)

    def skeleton(self, ogre: OgreSkeleton, version: Version) -> list[bytes]:
        """Write the blend mode, bones in the order of their handles, and parents."""
        skeleton, handles = ogre.skeleton, ogre.handles
        chunks = []
        if version != "1.10":
            chunks.append(self.chunk(BLEND_MODE, self.short(_BLEND_MODES.index(ogre.blend_mode))))
        order = np.argsort(handles, kind="stable")
        for joint in order:
            name, scale = self.string(skeleton.names[joint]), skeleton.rest_scales[joint]
            numbers = (*skeleton.rest_translations[joint], *skeleton.rest_rotations[joint][_XYZW_FROM_WXYZ],
                       *(() if (scale == 1.0).all() else scale))
            chunks.append(self.chunk(BONE, name + self.short(int(handles[joint])) + self.floats(numbers), len(name)))
        chunks.extend(self.chunk(PARENT, self.short(int(handles[joint])) + self.short(int(handles[parent])))
                      for joint in order if (parent := skeleton.parents[joint]) >= 0)
        return chunks

    def animation(self, ogre: OgreSkeleton, clip: Clip) -> bytes:
        payload = self.string(clip.name) + self.floats((clip.duration_s,))
        if base := ogre.bases.get(clip.name):
            payload += self.chunk(BASE, self.string(base.clip) + self.floats((base.time_s,)))
        tracks = (self.chunk(TRACK, self.short(int(ogre.handles[joint])) + self.keys(keys))
                  for joint, keys in key_table(clip))
        return self.chunk(ANIMATION, payload + b"".join(tracks))

    def keys(self, keys: FloatArray) -> bytes:
        """Write a track's keys (K, 11) in runs of one length: keys without a scale are shorter."""
        scaled = (keys[:, 8:11] != 1.0).any(axis=1)
        edges = np.flatnonzero(np.diff(scaled)) + 1
        chunks = []
        for part, has_scale in zip(np.split(keys, edges), scaled[[0, *edges]], strict=True):
            record = np.zeros(len(part), _key_dtype(self.order, has_scale=bool(has_scale)))
            record["id"], record["length"] = KEY, record.itemsize
            numbers = _float32(part)
            record["time"], record["rotation"] = numbers[:, 0], numbers[:, 1:5][:, _XYZW_FROM_WXYZ]
            record["translation"] = numbers[:, 5:8]
            if has_scale:
                record["scale"] = numbers[:, 8:11]
            chunks.append(record.tobytes())
        return b"".join(chunks)


def _float32(values: npt.ArrayLike) -> npt.NDArray[np.float32]:
    wide = np.asarray(values, dtype=np.float64)
    if (np.abs(wide) > np.finfo(np.float32).max).any():
        raise TaktError(f"the number {np.abs(wide).max():g} does not fit into an OGRE file; "
                        f"float32 ends at {np.finfo(np.float32).max:g}")
    return wide.astype(np.float32)


FORMAT: Final = Format("OGRE", "OGRE", (".skeleton",), read=lambda source: read(source.data, source.path),
                       write=lambda file, _fps: write(OgreSkeleton.of_file(file)), follow_links=linked_clips)
