"""Long values taken out of XML before it is parsed, and put back where they were.

Older versions of expat look at a tag from its beginning for every further megabyte of it, so that one of 64 MiB takes
seconds. Values without references, in ASCII, need no parser; line numbers stay as they are.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

_LONG: Final = 2**20
_MARK: Final = "takt:long-value:"
_QUOTES: Final = np.array((ord('"'), ord("'")), np.uint8)
_NEEDS_PARSER: Final = (b"<", b"&", b"\0")


class Shortened(NamedTuple):
    """A document without its long values. cut: these, by what stands for them."""

    data: bytes
    cut: dict[str, str]

    def whole(self, value: str) -> str:
        """Return a value with what was taken out of it."""
        if self.cut and _MARK in value:
            for mark, text in self.cut.items():
                value = value.replace(mark, text)
        return value


def shortened(data: bytes) -> Shortened:
    """Take values of more than a megabyte out of a document in an encoding that ASCII is a part of."""
    if len(data) <= _LONG or b"\0" in data[:4] or _MARK.encode() in data:
        return Shortened(data, {})
    every = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero((every == _QUOTES[0]) | (every == _QUOTES[1]))
    parts, cut, done = list[bytes](), dict[str, str](), 0
    for begin, end in _gaps(quotes):
        value = data[begin:end]
        lines = value.count(b"\n")
        if value.isascii() and 4 * lines < len(value) and not any(each in value for each in _NEEDS_PARSER):
            mark = f"{_MARK}{len(cut)};"
            cut[mark] = value.decode("ascii")
            parts += [data[done:begin], mark.encode() + b"\n" * lines]
            done = end
    return Shortened(b"".join((*parts, data[done:])), cut) if cut else Shortened(data, {})


def _gaps(quotes: np.ndarray) -> list[tuple[int, int]]:
    """Return where what stands between quotes begins and ends, if it is long."""
    rows = np.flatnonzero(np.diff(quotes) > _LONG)
    return list(zip((quotes[rows] + 1).tolist(), quotes[rows + 1].tolist(), strict=True))
