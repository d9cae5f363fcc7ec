"""Read decimal numbers from text, whole arrays at a time.

Eight digits lie in eight bytes. Read as one integer, a few products and shifts turn all eight into their value at
once: neighbouring digits become numbers up to 99, these up to 9,999, these up to 99,999,999 (D. Lemire, Number Parsing
at a Gigabyte per Second, 2021, section 5). A number of up to 15 digits, without its point, is exact in float64, and so
is the power of ten by which it is divided: the quotient is rounded once, as the correct one is (section 3).
"""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..maths.arrays import FloatArray

_WORD: Final = 8
_MOST_DIGITS: Final = 15
_ZEROS: Final = np.uint64(0x3030303030303030)
_TENS: Final = 10.0 ** np.arange(_MOST_DIGITS + 1)
_WHOLE_TENS: Final = 10 ** np.arange(_WORD + 1, dtype=np.uint64)
_LAST: Final = np.array([(1 << 64) - (1 << 8 * (_WORD - kept)) if kept else 0 for kept in range(_WORD + 1)], np.uint64)
"""Masks of the last bytes of eight, by their number."""
_Words = NDArray[np.uint64]
_Bytes = NDArray[np.uint8]


def numbers(text: str) -> FloatArray | None:
    r"""Read all numbers of a text, (N,), separated by white space; return None if it contains anything else.

    The values equal those of Python's float, to the last bit.

    >>> numbers("1.5 -20\n.25 1e3").tolist(), numbers("1.5 x")
    ([1.5, -20.0, 0.25, 1000.0], None)
    """
    found = _plain_decimals(text)
    if found is not None:
        return found
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


def _plain_decimals(text: str) -> FloatArray | None:
    """Read numbers that all have at most eight digits before and after the point; return None if one has more.

    The result is also None if one is written in another way: with an exponent, or a plus.
    """
    if not text.isascii():
        return None
    data = np.frombuffer(b" " * _WORD + text.encode() + b" ", np.uint8)
    is_blank = (data == ord(" ")) | (data - np.uint8(ord("\t")) <= ord("\r") - ord("\t"))
    edges = np.flatnonzero(is_blank[1:] != is_blank[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    is_negative = data[starts] == ord("-")
    starts = starts + is_negative
    points = _points(data, starts, ends)
    if points is None:
        return None
    before, behind = points - starts, np.maximum(ends - points - 1, 0)
    digits = before + behind
    if not len(starts):
        return np.empty(0)
    if before.max() > _WORD or behind.max() > _WORD or digits.max() > _MOST_DIGITS or digits.min() < 1:
        return None
    words: _Words = np.ndarray((len(data) - _WORD + 1,), "<u8", data, strides=(1,))  # eight bytes from each byte on
    whole, part = _value(words[points - _WORD], before), _value(words[ends - _WORD], behind)
    if whole is None or part is None:
        return None
    found = (whole * _WHOLE_TENS[behind] + part).astype(np.float64) / _TENS[behind]
    return np.asarray(np.where(is_negative, -found, found))


def _points(data: _Bytes, starts: NDArray[Any], ends: NDArray[Any]) -> NDArray[Any] | None:
    """Return the position of each number's point, or its end if it has none; None if a number has two points."""
    points = np.flatnonzero(data == ord("."))
    if not len(points):
        return ends
    if len(points) == len(ends) and ((points >= starts) & (points < ends)).all():
        return points
    number = np.searchsorted(ends, points, side="right")
    if (number[1:] == number[:-1]).any():
        return None
    found = ends.copy()
    found[number] = points
    return found


def _value(words: _Words, count: NDArray[Any]) -> _Words | None:
    """Return the values of the last `count` digits of eight characters; None if one of these is no digit."""
    kept = (words ^ _ZEROS) & _LAST[count]
    if ((kept + np.uint64(0x0606060606060606) | kept) & np.uint64(0xF0F0F0F0F0F0F0F0)).any():
        return None
    pairs = kept * np.uint64(2561) >> np.uint64(8) & np.uint64(0x00FF00FF00FF00FF)
    fours = pairs * np.uint64(6553601) >> np.uint64(16) & np.uint64(0x0000FFFF0000FFFF)
    return np.asarray(fours * np.uint64(42949672960001) >> np.uint64(32))
