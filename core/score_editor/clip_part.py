"""The part of its clip that a block plays, as shares of the clip and in seconds."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..pha.document import number
from ..pha.values import seconds, spelled_within
from .change import given
from .layout import Layout

EXACT: Final = 1e-4
"""Share of a clip by which a written end may differ from the intended one, so that its number stays short."""


class ClipPart(NamedTuple):
    """A part of a clip, from begin to end, as shares of its length; clip_s: length of the whole clip.

    in_seconds: the attributes that the text gives in seconds.
    """

    begin: float
    end: float
    clip_s: float
    in_seconds: frozenset[str]

    @classmethod
    def of(cls, layout: Layout, box: int) -> ClipPart | None:
        """Return the part that a box plays, or None if it plays no clip or an expression gives the part."""
        clip_s, ends, in_seconds = float(layout.boxes.clip_s[box]), list[float](), set[str]()
        if not clip_s > 0.0:
            return None
        for name, default in (("from", "0"), ("to", "1")):
            text = given(layout, box, name) or default
            share, own_s = number(text), seconds(text)
            if own_s is not None:
                in_seconds.add(name)
                share = own_s / clip_s
            if share is None:
                return None
            ends.append(share)
        begin, end = ends
        return cls(begin, end, clip_s, frozenset(in_seconds)) if 0.0 <= begin < end else None

    def written(self, name: str, share: float) -> str:
        """Return the text for a share as an attribute: in seconds if the text gives it in seconds now."""
        if name in self.in_seconds:
            return f"{spelled_within(share * self.clip_s, EXACT * self.clip_s)}s"
        return spelled_within(share, EXACT)
