"""Which element of a text was which one before, as recorded from the edits of this session.

Typed changes, and those of other sessions, are matched by similarity; see core/pha/lineage.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from ...core.pha.edits import Edited
from ...core.pha.lineage import NEW
from ...core.pha.text import Text, with_line_feeds

_MOST = 256
"""Number of edits that are kept. A drag makes one for each movement of the mouse."""
_edits: OrderedDict[tuple[int, int], tuple[str, str, Edited]] = OrderedDict()
"""Edits by the hashes of the text before and after; each with both texts, since hashes may be equal by chance."""


def note(before: Mapping[Path | None, Text], edited: Mapping[Path | None, Edited]) -> None:
    """Record edits. before: the texts by path. edited: the edits by path."""
    for path, each in edited.items():
        old, new = with_line_feeds(str(before[path])), with_line_feeds(str(each.text))
        _edits[hash(old), hash(new)] = old, new, each
        _edits.move_to_end((hash(old), hash(new)))
    while len(_edits) > _MOST:
        _edits.popitem(last=False)


def origin(old: str, new: str) -> list[int] | None:
    """Return for each element of a new text its number in the old one, NEW if it has none; None if no edit is known.

    The edit may have led from the old text to the new one, or, before it was undone, from the new one to the old one.
    """
    old, new = with_line_feeds(old), with_line_feeds(new)
    known = _edits.get((hash(old), hash(new)))
    if known is not None and known[:2] == (old, new):
        return known[2].origin
    known = _edits.get((hash(new), hash(old)))
    if known is None or known[:2] != (new, old):
        return None
    forth = known[2].origin
    back = [NEW] * (1 + max(forth, default=0))
    for after, before in enumerate(forth):
        if before != NEW:
            back[before] = after
    return back + [NEW] * (len(Text.of(new)) - len(back))


def forget() -> None:
    """Drop all recorded edits."""
    _edits.clear()
