"""Take long values out of XML before it is parsed, and put them back afterwards.

Older versions of expat look at a tag from its beginning for every further megabyte of it, so that one of 64 MiB takes
seconds. Values without references, in ASCII, need no parser; line numbers stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

_LONG: Final = 2**20
_MARK: Final = "takt:long-value:"
_STEP: Final = _LONG // 2
_QUOTES: Final = (b'"', b"'")
_NEEDS_PARSER: Final = (b"<", b"&", b"\0")


class Shortened(NamedTuple):
    """A document without its long values. cut: these values, by their placeholders."""

    data: bytes
    cut: dict[str, str]

    def whole(self, value: str) -> str:
        """Return a value with its placeholders replaced by the original values."""
        if self.cut and _MARK in value:
            for mark, text in self.cut.items():
                value = value.replace(mark, text)
        return value


def shortened(data: bytes) -> Shortened:
    """Take values of more than a megabyte out of a document in an encoding that includes ASCII."""
    if len(data) <= _LONG or b"\0" in data[:4] or _MARK.encode() in data:
        return Shortened(data, {})
    parts, cut, done = list[bytes](), dict[str, str](), 0
    for begin, end in _gaps(data):
        value = data[begin:end]
        lines = value.count(b"\n")
        if value.isascii() and 4 * lines < len(value) and not any(each in value for each in _NEEDS_PARSER):
            mark = f"{_MARK}{len(cut)};"
            cut[mark] = value.decode("ascii")
            parts += [data[done:begin], mark.encode() + b"\n" * lines]
            done = end
    return Shortened(b"".join((*parts, data[done:])), cut) if cut else Shortened(data, {})


def _gaps(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each long value between quotes."""
    begin = 0
    for at in range(0, len(data), _STEP):
        first = [found for each in _QUOTES if (found := data.find(each, at, at + _STEP)) >= 0]
        if first:
            if min(first) - begin > _LONG:
                yield begin, min(first)
            begin = 1 + max(data.rfind(each, at, at + _STEP) for each in _QUOTES)
