"""Elements as text to be inserted elsewhere: copied calls with their comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..pha import layout as spacing
from ..pha.document import number
from ..pha.insertion import Gap
from ..pha.text import Text, with_line_feeds
from ..pha.values import times_of


def outermost(text: Text, elements: Iterable[int]) -> tuple[int, ...]:
    """Return the elements that lie within none of the others, ascending."""
    found: list[int] = []
    for element in sorted(elements):
        if not found or element >= text.after(found[-1]):
            found.append(element)
    return tuple(found)


def fragment(text: Text, elements: Sequence[int]) -> str:
    """Return elements and their comments as text, one below the other, without indentation."""
    parts = []
    for element in elements:
        own = spacing.extent(text, element)
        indentation = spacing.indentation(text, own.start) or ""
        lines = with_line_feeds(text.decoded(own.start, own.end)).split("\n")
        parts.append("\n".join(line.removeprefix(indentation) for line in lines))
    return "\n".join(parts)


def number_at(text: Text, parent: int, index: int) -> int:
    """Return the number that an element will have when it is inserted before the child with that index."""
    return Gap.of(text, parent, index).number


def numbers(inserted: str, first: int) -> tuple[int, ...]:
    """Return the numbers of the outermost elements of a fragment, whose first element has the number `first`."""
    read = Text.of(f"<x>{inserted}</x>")
    return tuple(first + child - 1 for child in read.children(0))


def ticks(fragment: Text) -> float:
    """Return the length of the calls and pauses of a fragment in ticks, or 0 if plain numbers do not give it."""
    whole = 0.0
    for child in fragment.children(0):
        given = fragment.shape.attributes[child]
        duration, repeat = number(given.get("duration", "")), number(times_of(given))
        if duration is None or repeat is None:
            return 0.0
        whole += duration * repeat
    return whole
