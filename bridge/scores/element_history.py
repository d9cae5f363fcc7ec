"""The history of elements in texts, as told by the edits of this session: the earlier number of each element.

Elements of texts that were typed, or changed in another session, are matched by comparison; see core/pha/lineage.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from ...core.pha.edits import Edited
from ...core.pha.lineage import NEW
from ...core.pha.text import Text

_MOST = 256
"""Greatest number of stored edits: a drag tries one for each movement of the mouse."""
_edits: OrderedDict[tuple[int, int], tuple[str, str, Edited]] = OrderedDict()
"""Edits by the hashes of the texts before and after them, with both texts."""


def note(before: Mapping[Path | None, Text], edited: Mapping[Path | None, Edited]) -> None:
    """Store the results of edits; before: the texts before them; edited: by path."""
    for path, each in edited.items():
        old, new = _plain(str(before[path])), _plain(str(each.text))
        _edits[hash(old), hash(new)] = old, new, each
        _edits.move_to_end((hash(old), hash(new)))
    while len(_edits) > _MOST:
        _edits.popitem(last=False)


def origin(old: str, new: str) -> list[int] | None:
    """Return each element's number in the old text, even after undo of an edit; None if it is unknown."""
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
    """Clear the history."""
    _edits.clear()


def _plain(text: str) -> str:
    """Return a text with line breaks as in Blender's Texts."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
