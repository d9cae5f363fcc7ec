"""The new number of each element after a change: known for edits, found by comparison for typed texts.

A moved, renamed or otherwise changed element stays the same one. A removed one is gone, even if a similar one is in
its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from .text import Shape, Text

NEW = -1
"""In place of an element's old number: the element is new."""
_MOST_COMPARED = 4_000_000
"""Greatest number of pairs of children that are compared for a common order; beyond it, only equal children at both
ends are matched."""


class TracedShape(Shape):
    """A shape that keeps each element's number before the shape was changed, or NEW if it was inserted."""

    origin: list[int]

    @classmethod
    def of(cls, shape: Shape) -> TracedShape:
        """Return a copy of a shape, without changes yet."""
        made = cls(*shape.copy())
        made.origin = list(range(len(shape.tags)))
        return made

    def cut(self, start: int, end: int) -> TracedShape:
        """Remove elements, and return them."""
        taken = TracedShape(*super().cut(start, end))
        taken.origin = self.origin[start:end]
        del self.origin[start:end]
        return taken

    def put(self, at: int, elements: Shape, deeper: int = 0) -> None:
        """Insert elements before the one with a number; elements that were cut keep their old numbers."""
        super().put(at, elements, deeper)
        self.origin[at:at] = elements.origin if isinstance(elements, TracedShape) else [NEW] * len(elements.tags)


def through(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Return each element's number before two changes, or NEW; first, second: the numbers before each change.

    >>> through([0, 2, NEW], [0, 1, 2, NEW])
    [0, 2, -1, -1]
    """
    return [NEW if element < 0 else first[element] for element in second]


def matched(old: Text, new: Text) -> list[int]:
    """Return for each element of a typed text its number in the old text, or NEW.

    Elements are compared from the root inwards. Of the children of two equal elements, matches are searched in this
    order: same content in the same order; same content elsewhere among them; same tag and name; same tag, if as many
    stand between the same neighbours. The rest is matched with equal content elsewhere, if the counts agree. So a call
    that was put into a procedure is found there, and the call of that procedure in its place is new. No two elements
    have the same origin.

    >>> old = Text.of("<pha><call name='bow'/><call name='kick'/></pha>")
    >>> matched(old, Text.of("<pha><wait/><call name='kick'/><call name='bow' duration='2'/></pha>"))
    [0, -1, 2, 1]
    """
    return _Matching(old, new).origin()


class _Matching:
    """Two texts, with the matches of elements that were found so far."""

    def __init__(self, old: Text, new: Text) -> None:
        known: dict[object, int] = {}
        self._old, self._new = old, new
        self._old_says, self._new_says = _says(old, known), _says(new, known)
        self._origin = [NEW] * len(new)
        self._is_taken = [False] * len(old)
        self._in_place: list[tuple[int, int]] = []

    def origin(self) -> list[int]:
        """Return the origin of each new element."""
        self._same(0, 0)
        for old, new in self._left_elsewhere():
            self._same(old, new)
        for old, new in self._in_place:
            if not self._is_taken[old] and self._origin[new] == NEW:
                self._take(old, new)
        return self._origin

    def _same(self, old: int, new: int) -> None:
        """Match two elements, and look for matches within them."""
        waiting = [(old, new)]
        while waiting:
            old, new = waiting.pop()
            if self._old_says[old] == self._new_says[new]:
                self._take_all(old, new)
            else:
                self._take(old, new)
                waiting += self._children(old, new)

    def _take(self, old: int, new: int) -> None:
        self._origin[new], self._is_taken[old] = old, True

    def _take_all(self, old: int, new: int) -> None:
        """Match elements with the same content, and all within them."""
        for offset in range(self._old.after(old) - old):
            if not self._is_taken[old + offset] and self._origin[new + offset] == NEW:
                self._take(old + offset, new + offset)

    def _children(self, old: int, new: int) -> list[tuple[int, int]]:
        """Return the matching children of two elements."""
        before = [child for child in self._old.children(old) if not self._is_taken[child]]
        after = [child for child in self._new.children(new) if self._origin[child] == NEW]
        pairs = _in_order([self._old_says[child] for child in before], [self._new_says[child] for child in after])
        pairs += _anywhere(before, after, pairs, self._old_says, self._new_says)
        left, right = _without(before, after, pairs)
        pairs += [(left[i][0], right[k][0]) for i, k in _in_order([_key(self._old, child) for _, child in left],
                                                                  [_key(self._new, child) for _, child in right])]
        found = [(before[i], after[k]) for i, k in pairs]
        for i, k in self._between_neighbours(before, after, pairs):
            pair = before[i], after[k]
            # A call in the place of another one counts as that call renamed, unless that call is found elsewhere.
            waits = self._old.shape.tags[pair[0]] == "call" and all(
                text.after(element) == element + 1 for text, element in zip((self._old, self._new), pair, strict=True))
            (self._in_place if waits else found).append(pair)
        return found

    def _between_neighbours(self, before: list[int], after: list[int],
                            pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return pairs of elements of one tag that stand between the same neighbours, if the counts agree."""
        found, begin = [], (-1, -1)
        taken = {k for _, k in pairs}
        for end in (*sorted(pairs), (len(before), len(after))):
            left, right = range(begin[0] + 1, end[0]), range(begin[1] + 1, end[1])
            tags = [self._old.shape.tags[before[i]] for i in left], [self._new.shape.tags[after[k]] for k in right]
            if left and tags[0] == tags[1] and taken.isdisjoint(right):
                found += list(zip(left, right, strict=True))
            begin = end
        return found

    def _left_elsewhere(self) -> list[tuple[int, int]]:
        """Return pairs of unmatched elements with the same content in other places, if the counts agree."""
        left, right = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
        for element, says in enumerate(self._old_says):
            if not self._is_taken[element]:
                left[says].append(element)
        for element, says in enumerate(self._new_says):
            if self._origin[element] == NEW:
                right[says].append(element)
        found = [pair for says, olds in left.items() if len(olds) == len(right.get(says, ()))
                 for pair in zip(olds, right[says], strict=True)]
        return sorted(found)


def _says(text: Text, known: dict[object, int]) -> list[int]:
    """Return a number for each element, equal for elements with the same content, including descendants.

    known: the numbers given so far.
    """
    shape, says = text.shape, [0] * len(text)
    for element in range(len(text) - 1, -1, -1):
        given = shape.attributes[element]
        key = (shape.tags[element], shape.words[element], tuple(sorted(given.items())) if given else (),
               tuple(says[child] for child in text.children(element)))
        says[element] = known.setdefault(key, len(known))
    return says


def _key(text: Text, element: int) -> tuple[str, str | None]:
    return text.shape.tags[element], text.shape.attributes[element].get("name")


def _in_order(before: Sequence[object], after: Sequence[object]) -> list[tuple[int, int]]:
    """Return pairs of equal values in the same order, as many as possible: those at both ends first."""
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    pairs = [(i, i) for i in range(start)]
    left, right = before[start:len(before) - end], after[start:len(after) - end]
    if left and right and len(left) * len(right) <= _MOST_COMPARED:
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        pairs += [(start + block.a + at, start + block.b + at) for block in matcher.get_matching_blocks()
                  for at in range(block.size)]
    return pairs + [(len(before) - at, len(after) - at) for at in range(end, 0, -1)]


def _anywhere(before: list[int], after: list[int], pairs: Iterable[tuple[int, int]], old_says: list[int],
              new_says: list[int]) -> list[tuple[int, int]]:
    """Return pairs of unmatched children with the same content, in order."""
    left, right = _without(before, after, pairs)
    there = defaultdict[int, list[int]](list)
    for k, child in reversed(right):
        there[new_says[child]].append(k)
    return [(i, there[old_says[child]].pop()) for i, child in left if there[old_says[child]]]


def _without(before: list[int], after: list[int],
             pairs: Iterable[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the unmatched ones, each with its index."""
    taken = list(zip(*pairs, strict=True)) or [(), ()]
    own = [set(taken[0]), set(taken[1])]
    return ([(i, child) for i, child in enumerate(before) if i not in own[0]],
            [(k, child) for k, child in enumerate(after) if k not in own[1]])
