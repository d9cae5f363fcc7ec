"""Read long lists of numbers from text at once."""

from __future__ import annotations

import re
import warnings
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray

_MAX_NUMBER: Final = float(np.finfo(np.float32).max)
_AT_ONCE: Final = 2**16
"""Number of characters that are converted to numbers at once, so that other threads can run in between."""
_SHORT: Final = 400
"""Number of characters of a short text."""
_GAP: Final = re.compile(r"[\s,]+")
_COMMENT: Final = re.compile(r"#[^\n]*")


def words(written: str) -> list[str]:
    """Return the words of a text that are separated by blanks and commas.

    >>> words(" l_hip, r_hip  l_knee ")
    ['l_hip', 'r_hip', 'l_knee']
    """
    return [word for word in _GAP.split(written) if word]


def numbers_in(text: str) -> FloatArray | None:
    r"""Read all numbers of a text, (N,); return None if it has other content, or a number beyond single precision.

    Numbers are separated by blanks, commas, and comments from # to the end of the line.

    >>> numbers_in("1, 2.5 # three\n -3e1").tolist(), numbers_in("1 nan"), numbers_in("1_0")
    ([1.0, 2.5, -30.0], None, None)
    """
    if "#" in text:
        text = _COMMENT.sub(" ", text)
    if len(text) <= _SHORT:
        return _few(text)
    pieces, at = [np.empty(0)], 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            while at < len(text):
                gap = _GAP.search(text, at + _AT_ONCE)
                stop = gap.end() if gap else len(text)
                piece = text[at:stop].replace(",", " ")
                if not piece.isspace():
                    pieces.append(np.fromstring(piece, dtype=np.float64, sep=" "))
                at = stop
        except (DeprecationWarning, ValueError):
            return None
    return _finite(np.concatenate(pieces))


def _few(text: str) -> FloatArray | None:
    """Read a short text, which is faster word by word."""
    try:
        return _finite(np.array([float(word) for word in words(text)])) if "_" not in text else None
    except ValueError:
        return None


def _finite(flat: FloatArray) -> FloatArray | None:
    return flat if (np.abs(flat) <= _MAX_NUMBER).all() else None


def wrong_word(text: str, line: int) -> tuple[str, int]:
    r"""Return the first word that is not a finite number, and its line; line: the line on which the text begins.

    >>> wrong_word("1 2\n3 x", 7)
    ('x', 8)
    """
    for number, part in enumerate(text.split("\n"), start=line):
        for word in words(_COMMENT.sub(" ", part)):
            try:
                is_finite = abs(float(word)) <= _MAX_NUMBER and "_" not in word
            except ValueError:
                is_finite = False
            if not is_finite:
                return word, number
    return text.strip()[:5], line
