"""The encoding of a score's bytes, as expat reads it, so that new text is written in the same encoding."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

import numpy as np

from ..maths.arrays import BoolArray

_OWN = {"utf-8": "utf-8", "us-ascii": "ascii", "iso-8859-1": "latin-1"}
"""Encodings with one byte per unit that expat knows; all others are given to it as a table of 256 characters."""
_UNDEFINED = "\ufffe"
"""The character by which Python's codecs mark a byte that is no character."""


@dataclass(frozen=True)
class Encoding:
    """An encoding of a document.

    codec: Python's name; width: bytes of a unit, 2 for UTF-16, else 1; table: the character of each of the 256
    bytes if expat reads single bytes, else empty.
    """

    codec: str
    width: int = 1
    table: str = ""

    @classmethod
    def of(cls, data: bytes, declared: str | None) -> Encoding:
        """Return the encoding of a document that expat could read.

        declared: from its XML declaration. A byte order mark takes precedence, as in expat.
        """
        if data[:2] == b"\xff\xfe" or (data[1:2] == b"\0" and data[:1] != b"\0"):
            return cls("utf-16-le", 2)
        if data[:2] == b"\xfe\xff" or data[:1] == b"\0":
            return cls("utf-16-be", 2)
        own = _OWN.get((declared or "utf-8").lower())
        if own:
            return cls(own)
        table = bytes(range(256)).decode(declared or "", "replace")
        return cls("charmap", table=table.replace("\ufffd", _UNDEFINED))

    def encode(self, text: str, errors: str = "strict") -> bytes:
        """Return the bytes of a text, without a byte order mark; raise UnicodeEncodeError if a character has none.

        errors: as in Python; with "xmlcharrefreplace", references replace characters that cannot be encoded.
        """
        if self.table:
            return codecs.charmap_encode(text, errors, codecs.charmap_build(self.table))[0]
        return text.encode(self.codec, errors)

    def decode(self, data: bytes) -> str:
        """Return the text of some bytes."""
        if self.table:
            return str(codecs.charmap_decode(data, "replace", self.table)[0])
        return data.decode(self.codec, "replace")

    def character_starts(self, data: bytes) -> BoolArray:
        """Return for each unit of a document whether a character begins there."""
        if self.codec == "utf-8":
            return np.asarray((np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80)
        if self.width == 2:
            order = "<u2" if self.codec == "utf-16-le" else ">u2"
            return np.asarray((np.frombuffer(data, dtype=order) & 0xFC00) != 0xDC00)
        return np.ones(len(data), dtype=np.bool_)

    def units(self, data: bytes) -> bytes:
        """Return one byte for each unit of a document: ASCII as it is, and 0x80 or more for anything else."""
        if self.width == 1:
            return data
        order = "<u2" if self.codec == "utf-16-le" else ">u2"
        units: bytes = np.minimum(np.frombuffer(data, dtype=order), 0x80).astype(np.uint8).tobytes()
        return units
