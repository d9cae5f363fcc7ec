"""The place of new elements in a score's text, and their layout there. All offsets count units of a Text."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..errors import EditError
from . import layout
from .text import Span, Text


class Change(NamedTuple):
    """A range of units and the bytes that replace it."""

    span: Span
    new: bytes


class Gap(NamedTuple):
    """A gap between elements, into which new ones go.

    number: of the element before which they come; neighbours: the elements before and behind, in the same parent.
    span: the replaced range; before, behind: texts around the new elements; indentation: of the new elements, None if
    they follow something on its line.
    """

    number: int
    neighbours: tuple[int, ...]
    span: Span
    before: str
    behind: str
    indentation: str | None

    @classmethod
    def of(cls, text: Text, parent: int, index: int) -> Gap:
        """Return the gap before the child with that index; raise EditError if there are fewer children."""
        children = list(text.children(parent))
        if not 0 <= index <= len(children):
            raise EditError(f"found {len(children)} elements in <{text.shape.tags[parent]}>, expected at least {index}")
        number = children[index] if index < len(children) else text.after(parent)
        neighbours = tuple(children[max(index - 1, 0):index + 1])
        is_on_line = 0 < index < len(children) and _begins_line(text, children[index]) and not _begins_line(
            text, children[index - 1])
        if index and not is_on_line:
            before = layout.extent(text, children[index - 1])
            return cls(number, neighbours, *_behind(text, before, is_first=index == 1))
        if children:
            return cls(number, neighbours, *_in_front(text, layout.extent(text, children[index])))
        return cls(number, neighbours, *_inside(text, parent))

    def filled(self, text: Text, new: bytes) -> list[Change]:
        """Return the changes that insert new elements there."""
        return [Change(self.span, encoded(text, self.before) + new + encoded(text, self.behind))]


_Surroundings = tuple[Span, str, str, str | None]


def _begins_line(text: Text, element: int) -> bool:
    """Return whether an element, or a comment that belongs to it, is the first on its line."""
    return layout.indentation(text, layout.extent(text, element).start) is not None


def _behind(text: Text, neighbour: layout.Extent, is_first: bool) -> _Surroundings:
    indentation, at = layout.indentation(text, neighbour.start), Span(neighbour.end, neighbour.end)
    if indentation is None:
        return at, layout.blanks_before(text, neighbour.start), "", None
    lines = 1 if is_first or not layout.has_blank_line_before(text, neighbour) else 2
    return at, layout.line_break(text, neighbour.start) * lines + indentation, "", indentation


def _in_front(text: Text, neighbour: layout.Extent) -> _Surroundings:
    indentation = layout.indentation(text, neighbour.start)
    at = neighbour.start if neighbour.line_start is None else neighbour.line_start
    if indentation is None:
        return Span(at, at), "", layout.blanks_before(text, neighbour.start), None
    return Span(at, at), indentation, layout.line_break(text, neighbour.start), indentation


def _inside(text: Text, parent: int) -> _Surroundings:
    """Return the texts around the first child of an element that has no children yet."""
    tag, close, own = text.tag(parent), text.closes[parent], layout.indentation(text, text.starts[parent])
    line_break = layout.line_break(text, close)
    before, behind, inner = "", "", None
    if own is not None:
        inner = own + layout.step(text)
        before, behind = line_break + inner, line_break + own
    if tag.is_empty:
        return tag.closing, f">{before}", f"{behind}</{text.shape.tags[parent]}>", inner
    closing = layout.indentation(text, close)
    if closing is not None and close - len(closing) >= tag.closing.end:
        inner = closing + layout.step(text)
        at = close - len(closing)
        return Span(at, at), inner, line_break, inner
    return Span(close, close), before, behind, inner


def laid_out(fragment: Text, text: Text, there: Gap) -> str:
    """Return a fragment, read within an element of its own, with the gap's indentation and line breaks."""
    start, end = fragment.tag(0).closing.end, fragment.closes[0]
    inner = layout.reindented(fragment.units, start, end, "", there.indentation or "")
    new = fragment.encoding.decode(composed(fragment, start, end, inner))
    return re.sub("\r\n|\r|\n", lambda _: layout.line_break(text, there.span.start), new)


def composed(text: Text, start: int, end: int, changes: list[tuple[Span, str]]) -> bytes:
    """Return the bytes of a part of a text after ranges in it are replaced."""
    width, parts = text.encoding.width, []
    for span, new in changes:
        parts += [text.data[start * width:span.start * width], encoded(text, new)]
        start = span.end
    return b"".join((*parts, text.data[start * width:end * width]))


def encoded(text: Text, new: str) -> bytes:
    """Return new text in the encoding of the old one; characters that it lacks become character references.

    Raises EditError if a reference is not possible, as in a comment.
    """
    try:
        return text.encoding.encode(new)
    except UnicodeEncodeError as error:
        if re.search(r"<!--|<!\[CDATA\[|<\?", new):
            raise EditError(f"the file's encoding has no {new[error.start]!r}; save the score as UTF-8 first") from None
        return text.encoding.encode(new, "xmlcharrefreplace")
