"""Buffers compressed by meshopt, as glTF files have them: numbers, not triangles.

Elements are stored byte position by byte position as differences from the previous element, in groups of 16. Each group
has as many bits per difference as it needs. If all bits of a difference are set, its value follows after the group as a
whole byte. Source: Khronos Group, KHR_meshopt_compression, appendices A (mode 0, versions 0 and 1) and B (filters 2 and
3); version 0 is EXT_meshopt_compression.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..maths.arrays import IntArray

_Bytes = NDArray[np.uint8]
_GROUP: Final = 16
_LITERAL: Final = 8
_BITS: Final = {0: ((0, 2, 4, 8),), 1: ((0, 1, 2, 4), (1, 2, 4, 8))}
"""Bits of a difference, by version, control mode, and the two bits in the header of its group."""
_ALL_ZERO, _AS_THEY_ARE = 2, 3
"""Control modes of a byte position that has no groups."""
_SMALLEST_TAIL: Final = {0: 32, 1: 24}
MAX_GROUPS: Final = 3_000_000
"""Greatest number of groups of a buffer; no more are read."""
_AT_ONCE: Final = 2**14
"""Number of groups that are unpacked at once."""
_LONGEST_RUN: Final = _GROUP * (2 * _LITERAL + _GROUP)
"""Upper bound of the bytes of 16 groups."""
_TOO_SHORT: Final = "it ends too early: the file is cut off or damaged"


class _Groups(NamedTuple):
    """The places of N groups of differences.

    at: the byte of each group; bits: of each difference; position: the byte within elements; number: the index of the
    16 elements.
    """

    at: IntArray
    bits: _Bytes
    position: IntArray
    number: IntArray


def decompressed(data: bytes, count: int, stride: int, kind: str = "NONE") -> bytes:
    """Return the decompressed elements, count × stride bytes.

    stride: bytes of an element, a multiple of 4 up to 256. kind: the filter, one of FILTERS.
    Raises ValueError, with the reason, for data that is damaged or has another filter.
    """
    if not 4 <= stride <= 256 or stride % 4:
        raise ValueError(f"byteStride is {stride}; a multiple of 4 up to 256 is wanted")
    if kind not in FILTERS:
        raise ValueError(f"filter is {kind!r}; one of {', '.join(FILTERS)} is read")
    version = data[0] - 0xa0 if data else -1
    if version not in _BITS:
        raise ValueError("its first byte is none of 0xa0 and 0xa1: these are no compressed numbers")
    tail = stride + stride // 4 * version
    end = len(data) - max(tail, _SMALLEST_TAIL[version])
    source = np.frombuffer(data, np.uint8)
    differences = np.zeros((stride, -(-count // _GROUP) * _GROUP), np.uint8)
    _unpack(source, differences, _groups(data, count, stride, version, end))
    first = source[len(data) - tail:][:stride]
    channels = source[len(data) - stride // 4:] if version else np.zeros(stride // 4, np.uint8)
    elements = np.empty((count, stride), np.uint8)
    for channel, mode in enumerate(channels.tolist()):
        own = slice(4 * channel, 4 * channel + 4)
        elements[:, own] = _summed(differences[own, :count], first[own], mode)
    return FILTERS[kind](elements).tobytes()


def _groups(data: bytes, count: int, stride: int, version: int, end: int) -> _Groups:
    """Find all groups, without those that have no differences; end: of the data before its tail.

    Each group begins where the previous one ends, so a loop is needed; it does as little as possible.
    """
    at, most = 1, min(8192 // stride // _GROUP * _GROUP, 256)
    lengths, headers = _lengths(data), _HEADERS[version]
    ats, sizes = array("q"), bytearray()
    add = ats.append
    runs = array("q")  # of each: the byte position, the index of its first 16 elements, the number of its groups
    for start in range(0, count, most):
        elements = min(most, count - start)
        groups = -(-elements // _GROUP)
        controls = data[at:at + stride // 4 * version]
        at += stride // 4 * version
        if at > end:
            raise ValueError(_TOO_SHORT)
        for position in range(stride):
            control = controls[position // 4] >> position % 4 * 2 & 3 if version else 0
            if control == _ALL_ZERO:
                continue
            runs.extend((position, start // _GROUP, groups))
            if len(sizes) + groups > MAX_GROUPS:
                raise ValueError(f"it has more than {MAX_GROUPS} groups of {_GROUP} differences; no more are read")
            if control == _AS_THEY_ARE:
                ats.extend(range(at, at + groups * _GROUP, _GROUP))
                sizes += bytes((_LITERAL,)) * groups
                at += elements
                continue
            header, at, bits_of = at, at - (-groups // 4), headers[control]
            if at > end:
                raise ValueError(_TOO_SHORT)
            sizes_of = bits_of[data[header]] if groups <= 4 else b"".join([bits_of[byte] for byte in data[header:at]])
            for bits in sizes_of[:groups]:
                add(at)
                at += lengths[bits][at]
            sizes += sizes_of[:groups]
            if at > end:
                raise ValueError(_TOO_SHORT)
    if at != end:
        raise ValueError(f"its {count} elements end at byte {at}, but {end} is where they should: it is damaged")
    of_run, first, number = np.array(runs, np.int64).reshape(-1, 3).T
    within = np.arange(len(sizes)) - np.repeat(np.cumsum(number) - number, number)
    all_bits = np.frombuffer(bytes(sizes), np.uint8)
    used = all_bits > 0
    return _Groups(np.array(ats)[used], all_bits[used], np.repeat(of_run, number)[used],
                   (np.repeat(first, number) + within)[used])


def _lengths(data: bytes) -> Mapping[int, bytes]:
    """Return the size of a group that begins at a byte, by its bits: its differences and the whole bytes after them.

    The table is long enough for all groups that begin before the end, and for one more run.
    """
    size = len(data) + _LONGEST_RUN
    found = {0: bytes(size), _LITERAL: bytes((2 * _LITERAL,)) * size}
    padded = np.concatenate((np.frombuffer(data, np.uint8), np.zeros(_LONGEST_RUN + _GROUP, np.uint8)))
    for bits, sentinels in _SENTINELS.items():
        before = np.concatenate((np.zeros(1, np.uint32), np.cumsum(sentinels[padded], dtype=np.uint32)))
        found[bits] = (2 * bits + before[2 * bits:2 * bits + size] - before[:size]).astype(np.uint8).tobytes()
    return found


def _unpack(source: _Bytes, differences: _Bytes, groups: _Groups) -> None:
    """Write the differences (stride, elements) of groups, all groups with the same bits at once."""
    padded = np.concatenate((source, np.zeros(2 * _GROUP, np.uint8)))
    whole = differences.reshape(len(differences), -1, _GROUP)
    for bits in np.unique(groups.bits).tolist():
        same = np.flatnonzero(groups.bits == bits)
        for begin in range(0, len(same), _AT_ONCE):
            some = same[begin:begin + _AT_ONCE]
            at = groups.at[some]
            values = padded[at[:, None] + np.arange(2 * bits)]
            if bits < _LITERAL:
                values = _FIELDS[bits][values].reshape(-1, _GROUP)
                is_behind = values == (1 << bits) - 1
                behind = at[:, None] + 2 * bits + np.cumsum(is_behind, axis=1) - 1
                values = np.where(is_behind, padded[behind], values)
            whole[groups.position[some], groups.number[some]] = values


def _summed(differences: _Bytes, first: _Bytes, mode: int) -> _Bytes:
    """Return the bytes (N, 4) of a channel from its differences (4, N); first: (4,) the bytes of the first base."""
    kind = {0: "u1", 1: "<u2", 2: "<u4"}.get(mode & 15, "")
    if not kind or (mode >> 4 and kind != "<u4"):
        raise ValueError(f"a channel has the mode {mode}, which there is not: it is damaged")
    steps: NDArray[Any] = np.ascontiguousarray(differences.T).view(kind)
    found: NDArray[Any]
    if kind == "<u4":
        back = (32 - (mode >> 4)) % 32
        steps = steps << np.uint32(back) | steps >> np.uint32(-back % 32)
        found = np.bitwise_xor.accumulate(steps, axis=0) ^ first.copy().view(kind)
    else:
        steps = steps >> 1 ^ -(steps & 1).astype(kind)
        found = np.cumsum(steps, axis=0, dtype=kind) + first.copy().view(kind)
    return found.astype(kind).view(np.uint8)


def _rotations(elements: _Bytes) -> NDArray[Any]:
    """Return quaternions xyzw, 16 bits each, from three stored components and the index of the largest one."""
    stored = elements.view("<i2").astype(np.float64)
    largest = stored[:, 3].astype(np.int64)
    small = stored[:, :3] / (largest | 3)[:, None] / np.sqrt(2.0)
    found = np.empty_like(stored)
    rows, places = np.arange(len(found))[:, None], (largest[:, None] + np.arange(4)) % 4
    found[rows, places] = np.column_stack((np.sqrt(np.maximum(1.0 - (small * small).sum(axis=1), 0.0)), small))
    return np.rint(found * 32767.0).astype("<i2")


def _floats(elements: _Bytes) -> NDArray[Any]:
    """Return floats out of a mantissa of 24 bits and an exponent of 8."""
    stored = elements.view("<i4")
    return np.asarray(np.ldexp(((stored << 8) >> 8).astype(np.float64), stored >> 24), dtype="<f4")


FILTERS: Final[Mapping[str, Callable[[_Bytes], NDArray[Any]]]] = {
    "NONE": lambda elements: elements, "QUATERNION": _rotations, "EXPONENTIAL": _floats}
"""The filters of elements, by name, with the functions that invert them."""
_FIELDS: Final = {bits: np.array([[byte >> (shift if bits == 1 else 8 - bits - shift) & (1 << bits) - 1
                                   for shift in range(0, 8, bits)] for byte in range(256)], np.uint8)
                  for bits in (1, 2, 4)}
"""By the bits of a difference, the differences in each byte."""
_SENTINELS: Final = {bits: (fields == (1 << bits) - 1).sum(axis=1).astype(np.uint8) for bits, fields in _FIELDS.items()}
"""The number of these differences with all bits set."""
_HEADERS: Final = {version: [[bytes(choices[byte >> shift & 3] for shift in range(0, 8, 2)) for byte in range(256)]
                             for choices in modes] for version, modes in _BITS.items()}
"""The bits of four groups, by version, control mode and the byte of the header that describes them."""
