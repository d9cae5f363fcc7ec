"""Elements as text that can be put in elsewhere: copied calls, with the comments that belong to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..pha import layout as spacing
from ..pha.document import number
from ..pha.insertion import Gap
from ..pha.text import Text


def outermost(text: Text, elements: Iterable[int]) -> tuple[int, ...]:
    """Return those elements that lie in none of the others, ascending."""
    found: list[int] = []
    for element in sorted(elements):
        if not found or element >= text.after(found[-1]):
            found.append(element)
    return tuple(found)


def fragment(text: Text, elements: Sequence[int]) -> str:
    """Return elements and the comments that go with each, one below the other, without their indentation."""
    parts = []
    for element in elements:
        own = spacing.extent(text, element)
        indentation = spacing.indentation(text, own.start) or ""
        lines = text.decoded(own.start, own.end).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        parts.append("\n".join(line.removeprefix(indentation) for line in lines))
    return "\n".join(parts)


def number_at(text: Text, parent: int, index: int) -> int:
    """Return the number that an element gets which is put before the child of that index."""
    return Gap.of(text, parent, index).number


def numbers(inserted: str, first: int) -> tuple[int, ...]:
    """Return the numbers of the outermost elements of a fragment whose first element has that number."""
    read = Text.of(f"<x>{inserted}</x>")
    return tuple(first + child - 1 for child in read.children(0))


def ticks(fragment: Text) -> float:
    """Return how long the calls and pauses of a fragment last, 0 if it does not say so by numbers alone."""
    whole = 0.0
    for child in fragment.children(0):
        given = fragment.shape.attributes[child]
        duration, repeat = number(given.get("duration", "")), number(given.get("repeat", "1"))
        if duration is None or repeat is None:
            return 0.0
        whole += duration * repeat
    return whole
