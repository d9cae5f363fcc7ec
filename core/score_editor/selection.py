"""Find blocks again after their text was edited by hand, by their contents instead of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

import numpy as np

from ..maths.arrays import IntArray
from ..pha.text import Text
from .layout import BoxId, Layout

_MOST_COMPARED = 4_000_000
"""Greatest number of compared pairs of elements; if more have changed at once, only equal elements at both ends are
matched."""
Ranges = tuple[int, int, int, int]
"""Begin and end in one list, and begin and end in another."""


def followed(selected: Iterable[BoxId], before: Layout, after: Layout, cursor: int | None = None) -> frozenset[BoxId]:
    """Return the boxes in a new layout that are the same as selected boxes of an earlier one, if they still exist.

    A box is the same if its element and all boxes around it are. So the second call of a procedure remains the same box
    when another call is written above it. cursor: the byte of the edited text at which the user typed.
    """
    numbers = _Numbers(before, after, cursor)
    same: dict[int, int] = {}
    siblings = _siblings(after)

    def number(box: int) -> int:
        """Return the new number of an earlier box, or −1 if it is gone."""
        if box not in same:
            outer, boxes = int(before.boxes.parent[box]), before.boxes
            around = -1 if outer < 0 else number(outer)
            document, element = numbers.of(int(boxes.document[box]), int(boxes.element[box]))
            found = siblings.get((around, document, element), []) if outer < 0 or around >= 0 else []
            alike = numbers.siblings.get((outer, int(boxes.document[box]), int(boxes.element[box])), [])
            at = alike.index(box)
            same[box] = found[at] if at < len(found) else -1
        return same[box]

    kept = (number(box) for box in before.found(frozenset(selected)).tolist())
    return frozenset(after.id_of(box) for box in kept if box >= 0)


class _Numbers:
    """The elements of one layout's files in another layout; each file is compared when it is first needed."""

    def __init__(self, before: Layout, after: Layout, cursor: int | None) -> None:
        self._before, self._after, self._cursor = before, after, cursor
        self._known: dict[int, tuple[int, IntArray]] = {}
        self.siblings = _siblings(before)

    def of(self, document: int, element: int) -> tuple[int, int]:
        """Return the new numbers of the file and of the element, −1 if either is gone."""
        if document not in self._known:
            own = self._before.documents[document]
            found = next((number for number, other in enumerate(self._after.documents)
                          if (number == 0) == (document == 0) and (document == 0 or other.path == own.path)), -1)
            after = own.text if found < 0 else self._after.documents[found].text
            self._known[document] = found, numbers_after(own.text, after, None if document else self._cursor)
        found, numbers = self._known[document]
        return found, int(numbers[element])


def _siblings(layout: Layout) -> dict[tuple[int, int, int], list[int]]:
    """Return the boxes of each element within each parent box, in order of time."""
    boxes, found = layout.boxes, dict[tuple[int, int, int], list[int]]()
    rows = np.stack((boxes.parent, boxes.document, boxes.element), axis=-1).tolist()
    for box in np.lexsort((boxes.occurrence,)).tolist():
        found.setdefault(tuple(rows[box]), []).append(box)
    return found


def numbers_after(before: Text, after: Text, cursor: int | None = None) -> IntArray:
    """Return for each element of a text its number in a new text, (N,), or −1 if it is gone.

    Elements with the same content are matched first, in their order; between two matches those with the same name; and
    between these all, if the tags are unchanged. cursor: the byte of the new text at which the user typed: of several
    elements with the same content, those after it are the old ones.

    >>> before = Text.of('<a><call name="left"/><call name="right"/></a>')
    >>> numbers_after(before, Text.of('<a><wait/><call name="left" duration="2"/><call name="right"/></a>')).tolist()
    [0, 2, 3]
    >>> numbers_after(before, Text.of('<a><call name="right"/></a>')).tolist()
    [0, -1, 1]
    """
    numbers = np.full(len(before), -1)
    if before == after:
        return np.arange(len(before))
    behind = None if cursor is None else sum(start * after.encoding.width >= cursor for start in after.starts)
    left: list[Ranges] = [(0, len(before), 0, len(after))]
    for says in (_whole, _named):
        old, new = says(before), says(after)
        changed: list[Ranges] = []
        for first, last, begin, end in left:
            pairs = [(first + one, begin + other)
                     for one, other in _alike(old[first:last], new[begin:end], behind if says is _whole else None)]
            for one, other in pairs:
                numbers[one] = other
            changed += _between(pairs, (first, last, begin, end))
        left = changed
    for first, last, begin, end in left:
        if before.shape.tags[first:last] == after.shape.tags[begin:end]:
            numbers[first:last] = np.arange(begin, end)
    return numbers


def _whole(text: Text) -> list[Hashable]:
    return [(tag, *sorted(given.items())) for tag, given in zip(text.shape.tags, text.shape.attributes, strict=True)]


def _named(text: Text) -> list[Hashable]:
    return [(tag, given.get("name")) for tag, given in zip(text.shape.tags, text.shape.attributes, strict=True)]


def _between(pairs: Sequence[tuple[int, int]], ranges: Ranges) -> Iterator[Ranges]:
    """Yield the ranges between pairs that are empty on neither side."""
    first, last, begin, end = ranges
    for one, other in (*pairs, (last, end)):
        if one > first and other > begin:
            yield first, one, begin, other
        first, begin = one + 1, other + 1


def _alike(old: Sequence[Hashable], new: Sequence[Hashable], behind: int | None) -> list[tuple[int, int]]:
    """Return the pairs of numbers of items that both lists have in the same order, as many as possible.

    behind: at most so many of the last items are matched, but these before any others.
    """
    most = min(len(old), len(new))
    last = 0 if behind is None else _common(lambda at: old[-1 - at] == new[-1 - at], min(most, behind))
    first = _common(lambda at: old[at] == new[at], most - last)
    last += _common(lambda at: old[-1 - last - at] == new[-1 - last - at], most - first - last)
    pairs = [(at, at) for at in range(first)]
    pairs += [(first + one, first + other)
              for one, other in _longest(old[first:len(old) - last], new[first:len(new) - last])]
    return pairs + [(len(old) - at, len(new) - at) for at in range(last, 0, -1)]


def _common(is_same: Callable[[int], bool], most: int) -> int:
    return next((at for at in range(most) if not is_same(at)), most)


def _longest(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the longest common subsequence of two lists as pairs of numbers."""
    if not old or not new or len(old) * len(new) > _MOST_COMPARED:
        return []
    kinds: dict[Hashable, int] = {}
    one, other = (np.array([kinds.setdefault(each, len(kinds)) for each in side]) for side in (old, new))
    length = np.zeros((len(one) + 1, len(other) + 1), np.int32)  # of the first i and the first j
    for i, kind in enumerate(one, 1):
        taken = np.maximum(length[i - 1, 1:], length[i - 1, :-1] + (other == kind))
        length[i, 1:] = np.maximum.accumulate(taken)
    pairs, i, j = list[tuple[int, int]](), len(one), len(other)
    while i and j:
        if length[i, j] == length[i - 1, j]:
            i -= 1
        elif length[i, j] == length[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]
