"""A text of which one piece has changed: only the elements there are parsed, all others are taken over."""

from __future__ import annotations

from bisect import bisect_left

from ..errors import FileError
from ..formats.xml import MAX_DEPTH
from .text import MAX_ATTRIBUTES, MAX_ELEMENTS, Shape, Text

_ROOT, _END = b"<x>", b"</x>"


def spliced(text: Text, data: bytes, first: int, last: int) -> Text | None:
    """Return the document of other bytes, which differ only in place of the bytes from `first` up to `last`.

    Parses the children, of the innermost element around these bytes, that they touch: since XML is nested, what stands
    before and behind them means what it did. Returns None if the whole must be parsed: if the bytes are not within an
    element, hold words, cannot be read, exceed a limit, or are not UTF-8.

    >>> text = Text.of('<pha><call name="bow"/><wait/></pha>')
    >>> new = spliced(text, b'<pha><call name="bow"/><loop><wait/></loop></pha>', 23, 30)
    >>> new.shape == Text.of(str(new)).shape, new.starts, new.children(2)
    (True, [0, 5, 23, 29], [3])
    """
    around = _around(text, first, last) if text.encoding.codec == "utf-8" else None
    if around is None or text.shape.words[around]:
        return None
    children, starts = text.children(around), text.starts
    low = bisect_left(children, first, key=starts.__getitem__)
    if low and text.end(children[low - 1]) > first:
        low -= 1
    high = bisect_left(children, last, low, key=starts.__getitem__)
    begin = text.end(children[low - 1]) if low else text.tag(around).closing.end
    end = starts[children[high]] if high < len(children) else text.closes[around]
    longer, after = len(data) - len(text.data), text.after(around)
    old = slice(*(children[at] if at < len(children) else after for at in (low, high)))
    try:
        new = Text.of((_ROOT + data[begin:end + longer] + _END).decode())
    except (FileError, UnicodeDecodeError):
        return None  # the message about the whole tells the place
    if new.shape.words[0] or max(new.shape.depths) + text.shape.depths[around] >= MAX_DEPTH:
        return None
    found = _with_elements(text, data, around, old, new, begin)
    is_small = len(found) <= MAX_ELEMENTS and sum(map(len, found.shape.attributes)) <= MAX_ATTRIBUTES
    return found if is_small else None


def _around(text: Text, first: int, last: int) -> int | None:
    """Return the innermost element between whose tags some bytes are, or None."""
    element = bisect_left(text.starts, first) - 1
    while element >= 0:
        tag = text.tag(element)
        if not tag.is_empty and tag.closing.end <= first and last <= text.closes[element]:
            return element
        element = text.parent(element)
    return None


def _with_elements(text: Text, data: bytes, around: int, old: slice, new: Text, begin: int) -> Text:
    """Return a text with other elements within one.

    around: that element; old: the numbers of the elements; new: what replaces them, in a root; begin: its first byte.
    """
    longer, shift, deeper = len(data) - len(text.data), begin - len(_ROOT), text.shape.depths[around]
    depths, tags, attributes, words = text.shape.copy()
    depths[old] = [depth + deeper for depth in new.shape.depths[1:]]
    tags[old], attributes[old], words[old] = new.shape.tags[1:], new.shape.attributes[1:], new.shape.words[1:]
    starts, closes = (
        [*before[:old.start], *[at + shift for at in inside[1:]], *[at + longer for at in before[old.stop:]]]
        for before, inside in ((text.starts, new.starts), (text.closes, new.closes)))
    outer = around
    while outer >= 0:
        closes[outer] += longer
        outer = text.parent(outer)
    shape = Shape(depths, tags, attributes, words)
    found = Text(data, text.path, text.encoding, shape, starts, closes, text.is_string)
    vars(found)["inside"] = _inside(text, around, old, new)
    return found


def _inside(text: Text, around: int, old: slice, new: Text) -> dict[int, list[int]]:
    """Return the children of each element that has any, see _with_elements."""
    first, last, before = old.start, old.stop, old.start - 1
    more = len(new) - 1 - (last - first)
    found = {element + (more if element >= last else 0): children if children[-1] < first else [
        child + more if child >= last else child for child in children if not first <= child < last]
        for element, children in text.inside.items() if not first <= element < last}
    inner = {element + before: [child + before for child in children] for element, children in new.inside.items()}
    own = inner.pop(before, [])
    kept = found.pop(around, [])
    at = bisect_left(kept, first)
    if own or kept:
        found[around] = kept[:at] + own + kept[at:]
    return found | inner
