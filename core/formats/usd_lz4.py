"""The compression of USD's crate files: blocks of LZ4; integers as differences of few bytes, packed by LZ4 again.

Source: OpenUSD, pxr/base/tf/fastCompression and pxr/usd/sdf/integerCoding; LZ4 block format (Y. Collet, 2011).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..maths.arrays import IntArray

_WIDTHS: Final = {4: (0, 1, 2, 4), 8: (0, 2, 4, 8)}
"""Bytes of a step by its code, for integers of 4 and 8 bytes."""


def decompressed(data: bytes, most: int) -> bytes:
    """Return the decompressed bytes of a buffer, at most `most`.

    If the first byte is 0, one block follows; if it is n, n blocks follow, each after its length. Raises ValueError if
    the buffer is damaged, or would be longer.
    """
    if not data:
        raise ValueError("nothing is there")
    if data[0] == 0:
        return block(data[1:], most)
    found, at = b"", 1
    for _ in range(data[0]):
        length = int.from_bytes(data[at:at + 4], "little")
        found += block(data[at + 4:at + 4 + length], most - len(found))
        at += 4 + length
    return found


def block(data: bytes, most: int) -> bytes:
    r"""Return the decompressed bytes of a block of LZ4, at most `most`; raise ValueError if it is damaged.

    >>> block(b"\x32abc\x03\x00\x10d", 100)
    b'abcabcabcd'
    """
    found, at, end = bytearray(), 0, len(data)
    try:
        while at < end:
            token = data[at]
            at += 1
            length = token >> 4
            if length == 15:
                length, at = _longer(data, at, length)
            if length > end - at:
                raise ValueError("it ends within a text")
            found += data[at:at + length]
            at += length
            if at >= end:
                break
            back = data[at] | data[at + 1] << 8
            at += 2
            length = token & 15
            if length == 15:
                length, at = _longer(data, at, length)
            length += 4
            if not 0 < back <= len(found):
                raise ValueError("it refers to data before its beginning")
            if length + len(found) > most:
                raise ValueError(f"it holds more than {most} bytes")
            begin = len(found) - back
            found += found[begin:begin + length] if back >= length else (found[begin:] * (length // back + 1))[:length]
    except IndexError:
        raise ValueError("it is cut off") from None
    if len(found) > most:
        raise ValueError(f"it holds more than {most} bytes")
    return bytes(found)


def _longer(data: bytes, at: int, length: int) -> tuple[int, int]:
    """Return a length that continues in further bytes, and the offset at which these end."""
    while data[at] == 255:
        length += 255
        at += 1
    return length + data[at], at + 1


def integers(data: bytes, count: int, width: int = 4) -> IntArray:
    """Return the (count,) integers of a compressed buffer; width: bytes of each, 4 or 8.

    Each is the previous one plus a difference. Code 0 stands for the most common difference; codes 1 to 3 for others,
    in more and more bytes. Raises ValueError if the buffer is damaged.
    """
    codes_size = (2 * count + 7) // 8
    raw = np.frombuffer(decompressed(data, width + codes_size + width * count), np.uint8)
    if len(raw) < width + codes_size:
        raise ValueError(f"{len(raw)} bytes hold no {count} integers")
    kind = np.dtype(f"<i{width}")
    codes = ((raw[width:width + codes_size, None] >> np.array((0, 2, 4, 6), np.uint8)) & 3).ravel()[:count]
    sizes = np.array(_WIDTHS[width])[codes]
    places = np.cumsum(sizes) - sizes + width + codes_size
    if count and places[-1] + sizes[-1] != len(raw):
        raise ValueError(f"{len(raw)} bytes hold no {count} integers")
    steps = np.full(count, raw[:width].copy().view(kind)[0], np.int64)
    for size in _WIDTHS[width][1:]:
        own = np.flatnonzero(sizes == size)
        steps[own] = raw[places[own, None] + np.arange(size)].view(f"<i{size}")[:, 0]
    with np.errstate(over="ignore"):
        return np.cumsum(steps).astype(kind).astype(np.int64)
