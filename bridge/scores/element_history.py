"""What edits in this session have told of texts: which element of each was which before.

What is typed, or was changed by another session, is found by likeness; see core/pha/lineage.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from ...core.pha.edits import Edited
from ...core.pha.lineage import NEW
from ...core.pha.text import Text

_MOST = 256
"""Edits that are kept: a drag tries one for each movement of the mouse."""
_edits: OrderedDict[tuple[int, int], tuple[str, str, Edited]] = OrderedDict()
"""By the hashes of the text before and the one after it, with both."""


def note(before: Mapping[Path | None, Text], edited: Mapping[Path | None, Edited]) -> None:
    """Keep what edits do to texts, by their paths."""
    for path, each in edited.items():
        old, new = _plain(str(before[path])), _plain(str(each.text))
        _edits[hash(old), hash(new)] = old, new, each
        _edits.move_to_end((hash(old), hash(new)))
    while len(_edits) > _MOST:
        _edits.popitem(last=False)


def origin(old: str, new: str) -> list[int] | None:
    """Return for each element of a text its number in the one before, also where the edit was undone; None: unknown."""
    old, new = _plain(old), _plain(new)
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
    """Keep nothing any longer."""
    _edits.clear()


def _plain(text: str) -> str:
    """Return a text with the line breaks that Blender's Texts have."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
