"""Edits of a score's text, as values: only the edited bytes change, and each edit can be undone.

An edit names elements by their numbers in the text to which it is applied. Comments directly above an element, or
after it on its line, belong to it; indentation and line breaks follow the neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

from ..errors import EditError, FileError, quoted
from . import layout
from .insertion import Change, Gap, composed, encoded, laid_out
from .lineage import TracedShape, matched, through
from .splicing import spliced
from .text import MAX_ATTRIBUTES, Shape, Span, Text
from .values import is_expression, is_plain

_NO_CHARACTER = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SAFE_NAME = re.compile("[A-Za-z_][A-Za-z0-9_.-]{0,99}")
_MOST_UNREAD = 10_000
"""Greatest number of characters of a value that is written without reading it again."""
_ESCAPES = {"&": "&amp;", "<": "&lt;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


class Edit(Protocol):
    """A change of a text, as a value."""

    def plan(self, text: Text, wanted: Shape) -> list[Change]:
        """Return the changes of a text, and change `wanted`, its shape, to the shape after the edit.

        Raises EditError if the edit makes no sense.
        """


class Replacement(NamedTuple):
    """Bytes at an offset, and the bytes that replace them."""

    start: int
    old: bytes
    new: bytes


@dataclass(frozen=True)
class Patch:
    """Replacements of bytes, at offsets counted before any is replaced. The inverse of an edit is a patch."""

    replacements: tuple[Replacement, ...]

    def inverse(self) -> Patch:
        """Return the patch that undoes this one."""
        shift, back = 0, []
        for start, old, new in self.replacements:
            back.append(Replacement(start + shift, new, old))
            shift += len(new) - len(old)
        return Patch(tuple(back))


Trace = list[int] | tuple[Text, Text]


@dataclass(frozen=True)
class Edited:
    """A text after edits; patches: the changes of bytes, in order.

    traces: for each group of edits the earlier number of each element, or the texts before and after it, if these are
    still to be compared.
    """

    text: Text
    patches: tuple[Patch, ...]
    traces: tuple[Trace, ...] = field(default=(), repr=False, compare=False)

    @cached_property
    def origin(self) -> list[int]:
        """The number of each element in the text before all edits, or NEW if it was inserted."""
        found = list(range(len(self.text)))
        for trace in reversed(self.traces):
            found = through(matched(*trace) if isinstance(trace, tuple) else trace, found)
        return found

    @property
    def inverse(self) -> tuple[Patch, ...]:
        """The patches that restore the first text, byte for byte."""
        return tuple(patch.inverse() for patch in reversed(self.patches))


def apply(text: Text, *edits: Edit | Patch) -> Edited:
    """Apply edits one after the other; each names elements of the text that the one before it returned.

    Each result is parsed and must have exactly the wanted shape, unless only values of attributes differ, which leaves
    nothing to check. Raises EditError, with the reason, if an edit makes no sense or has another result; the given text
    does not change.

    >>> text = Text.of('<pha tickLength="1"><procedure name="main"> <call name="bow" duration="2"/></procedure></pha>')
    >>> edited = apply(text, SetAttribute(2, "duration", "3"))
    >>> str(edited.text)[20:]
    '<procedure name="main"> <call name="bow" duration="3"/></procedure></pha>'
    >>> apply(edited.text, *edited.inverse).text == text
    True
    """
    patches, traces = [], list[Trace]()
    for group in _groups(edits):
        patch, wanted = _planned(text, group)
        try:
            new = _with_attributes(text, group, patch, wanted) or _parsed(text, patch)
        except FileError as error:
            raise EditError(f"{_said(group)} would leave what cannot be read: {error}") from None
        if wanted is not None and new.shape != wanted:
            raise EditError(f"{_said(group)} would not be read as it was meant; check that its names are allowed in "
                            "XML")
        patches.append(patch)
        traces.append((text, new) if wanted is None else wanted.origin)
        text = new
    return Edited(text, tuple(patches), tuple(traces))


def element(tag: str, /, **attributes: str) -> str:
    """Return an empty element as text.

    >>> element("call", name="bow & rise", duration="2")
    '<call name="bow &amp; rise" duration="2"/>'
    """
    return f"<{tag}{_attributes(attributes.items())}/>"


@dataclass(frozen=True)
class SetAttribute:
    """Set an attribute's value, or add the attribute after the others.

    over_expression: whether a number, or yes or no, may replace an expression.
    """

    element: int
    name: str
    value: str
    over_expression: bool = False

    def plan(self, text: Text, wanted: Shape) -> list[Change]:
        """Return the changes; see Edit."""
        _check_number(text, self.element)
        attributes = wanted.attributes[self.element]
        self._check(text.shape.tags[self.element], attributes.get(self.name))
        wanted.attributes[self.element] = {**attributes, self.name: self.value}
        tag = text.tag(self.element)
        there = tag.attributes.get(self.name)
        if there is not None:
            quote = text.decoded(there.value.end, there.value.end + 1)
            same = attributes[self.name] == self.value
            return [] if same else [Change(there.value, encoded(text, _escaped(self.value, quote)))]
        last = list(tag.attributes.values())[-1:]
        quote = text.decoded(last[0].value.end, last[0].whole.end) if last else '"'
        white = text.decoded(last[0].whole.start, last[0].name.start) if last else " "
        at = last[0].whole.end if last else tag.name.end
        new = f"{white}{self.name}={quote}{_escaped(self.value, quote)}{quote}"
        return [Change(Span(at, at), encoded(text, new))]

    def _check(self, tag: str, old: str | None) -> None:
        found = _NO_CHARACTER.search(self.value)
        if found:
            raise EditError(f"{self.name}: the character {found[0]!r} cannot stand in XML; leave it out")
        if old is not None and is_expression(tag, self.name, old) and is_plain(self.value) and not self.over_expression:
            raise EditError(f"{self.name} is {quoted(old or '')}, which is calculated; ask before {self.value} "
                            "replaces it")


@dataclass(frozen=True)
class RemoveAttribute:
    """Remove an attribute, with the white space before it."""

    element: int
    name: str

    def plan(self, text: Text, wanted: Shape) -> list[Change]:
        """Return the changes; see Edit."""
        _check_number(text, self.element)
        there = text.tag(self.element).attributes.get(self.name)
        if there is None:
            raise EditError(f"<{text.shape.tags[self.element]}> has no attribute {quoted(self.name)}")
        wanted.attributes[self.element] = {name: value for name, value in wanted.attributes[self.element].items()
                                           if name != self.name}
        return [Change(there.whole, b"")]


@dataclass(frozen=True)
class Insert:
    """Insert new elements before the child with that index.

    fragment: their text with comments, not indented; line breaks and indentation are adapted to the neighbours.
    """

    parent: int
    index: int
    fragment: str

    def plan(self, text: Text, wanted: Shape) -> list[Change]:
        """Return the changes; see Edit."""
        _check_number(text, self.parent)
        there = Gap.of(text, self.parent, self.index)
        try:
            read = Text.of(f"<x>{self.fragment.strip()}</x>")
        except FileError as error:
            raise EditError(f"{quoted(self.fragment)} cannot be put in: {error.problems[0].message}") from None
        if len(read) == 1 or read.shape.words[0]:
            raise EditError(f"{quoted(self.fragment)} cannot be put in: expected elements and nothing else")
        new = read.shape.copy()
        new.cut(0, 1)
        wanted.put(there.number, new, text.shape.depths[self.parent])
        return there.filled(text, encoded(text, laid_out(read, text, there)))


@dataclass(frozen=True)
class Remove:
    """Remove an element."""

    element: int

    def plan(self, text: Text, wanted: Shape) -> list[Change]:
        """Return the changes; see Edit."""
        _check_number(text, self.element, is_root_allowed=False)
        wanted.cut(self.element, text.after(self.element))
        return [Change(layout.owned(text, self.element), b"")]


@dataclass(frozen=True)
class Move:
    """Move an element before the child with that index; parent and index are those before the move."""

    element: int
    parent: int
    index: int

    def plan(self, text: Text, wanted: Shape) -> list[Change]:
        """Return the changes; see Edit."""
        _check_number(text, self.element, is_root_allowed=False)
        _check_number(text, self.parent)
        end = text.after(self.element)
        if self.element <= self.parent < end:
            raise EditError(f"<{text.shape.tags[self.element]}> cannot be moved into itself")
        there = Gap.of(text, self.parent, self.index)
        if self.element in there.neighbours:
            return []
        moved = wanted.cut(self.element, end)
        at = there.number - (len(moved.tags) if there.number > self.element else 0)
        wanted.put(at, moved, text.shape.depths[self.parent] + 1 - text.shape.depths[self.element])
        own = layout.extent(text, self.element)
        old = layout.indentation(text, own.start)
        inner = [] if old is None or there.indentation is None else layout.reindented(
            text.units, own.start, own.end, old, there.indentation)
        return [Change(layout.owned(text, self.element), b""),
                *there.filled(text, composed(text, own.start, own.end, inner))]


@dataclass(frozen=True)
class Wrap:
    """Put `count` neighbours, from the child with that index on, into a new element."""

    parent: int
    index: int
    count: int
    tag: str
    attributes: tuple[tuple[str, str], ...] = ()

    def plan(self, text: Text, wanted: Shape) -> list[Change]:
        """Return the changes; see Edit."""
        _check_number(text, self.parent)
        children = list(text.children(self.parent))
        chosen = children[self.index:self.index + self.count] if self.index >= 0 else []
        _check_no_words(text, self.parent)
        if not chosen or len(chosen) != self.count:
            raise EditError(f"found {len(children)} elements in <{text.shape.tags[self.parent]}>, expected "
                            f"{self.count} from the one of index {self.index} on")
        first, last = layout.extent(text, chosen[0]), layout.extent(text, chosen[-1])
        depth, taken = text.shape.depths[self.parent] + 1, wanted.cut(chosen[0], text.after(chosen[-1]))
        wanted.put(chosen[0], taken, 1)
        wanted.put(chosen[0], Shape([depth], [self.tag], [dict(self.attributes)], [""]))
        start_tag, end_tag = f"<{self.tag}{_attributes(self.attributes)}>", f"</{self.tag}>"
        own = layout.indentation(text, first.start)
        if own is None:
            return [Change(Span(first.start, first.start), encoded(text, start_tag)),
                    Change(Span(last.end, last.end), encoded(text, end_tag))]
        step, line_break = layout.step(text), layout.line_break(text, first.start)
        inner = layout.reindented(text.units, first.start, last.end, own, own + step)
        return [Change(Span(first.start, first.start), encoded(text, start_tag + line_break + own + step)),
                *(Change(span, encoded(text, new)) for span, new in inner),
                Change(Span(last.end, last.end), encoded(text, line_break + own + end_tag))]


@dataclass(frozen=True)
class Unwrap:
    """Replace an element by its children; its comments stay too."""

    element: int

    def plan(self, text: Text, wanted: Shape) -> list[Change]:
        """Return the changes; see Edit."""
        _check_number(text, self.element, is_root_allowed=False)
        _check_no_words(text, self.element)
        end, tag = text.after(self.element), text.tag(self.element)
        inside = wanted.cut(self.element + 1, end)
        wanted.cut(self.element, self.element + 1)
        wanted.put(self.element, inside, -1)
        if not inside.tags:
            return [Change(layout.owned(text, self.element), b"")]
        start, close = text.starts[self.element], text.closes[self.element]
        first_tag = layout.line_of(text, start, tag.closing.end)
        last_tag = layout.line_of_end(text, close, text.end(self.element))
        own, inner = (layout.indentation(text, text.starts[i]) for i in (self.element, self.element + 1))
        moved = [] if own is None or inner is None else layout.reindented(
            text.units, tag.closing.end, close, inner, own)
        return [Change(first_tag, b""), *(Change(span, encoded(text, new)) for span, new in moved),
                Change(last_tag, b"")]


def _groups(edits: tuple[Edit | Patch, ...]) -> Iterator[list[Edit | Patch]]:
    """Group edits that can be applied at once: on attributes of different elements, since these renumber nothing."""
    group: list[Edit | Patch] = []
    seen: set[int] = set()
    for edit in edits:
        number = edit.element if isinstance(edit, SetAttribute | RemoveAttribute) else None
        if group and (number is None or not seen or number in seen):
            yield group
            group, seen = [], set()
        group.append(edit)
        if number is not None:
            seen.add(number)
    if group:
        yield group


def _planned(text: Text, group: list[Edit | Patch]) -> tuple[Patch, TracedShape | None]:
    """Return the byte changes of a group of edits, and the shape that is expected after them, or None for any."""
    if isinstance(group[0], Patch):
        if any(text.data[at:at + len(old)] != old for at, old, _ in group[0].replacements):
            raise EditError("the text has changed where this edit was; it cannot be taken back or done again")
        return group[0], None
    wanted = TracedShape.of(text.shape)
    changes = [change for edit in group if not isinstance(edit, Patch) for change in edit.plan(text, wanted)]
    width, replacements, at = text.encoding.width, [], 0
    for span, new in sorted(changes, key=lambda change: change.span):
        if span.start < at:
            raise EditError(f"{_said(group)} would change the same bytes twice")
        old = text.data[span.start * width:span.end * width]
        if old != new:
            replacements.append(Replacement(span.start * width, old, new))
        at = span.end
    return Patch(tuple(replacements)), wanted


def _patched(data: bytes, patch: Patch) -> bytes:
    parts, at = [], 0
    for start, old, new in patch.replacements:
        parts += [data[at:start], new]
        at = start + len(old)
    return b"".join((*parts, data[at:]))


def _parsed(text: Text, patch: Patch) -> Text:
    """Return the text after a patch, parsed only where it has changed, if possible; raise FileError as Text.of does."""
    data = _patched(text.data, patch)
    places = [(start, start + len(old)) for start, old, _ in patch.replacements]
    found = spliced(text, data, places[0][0], places[-1][1]) if places else None
    return found or text.with_data(data)


def _with_attributes(text: Text, group: list[Edit | Patch], patch: Patch, wanted: Shape | None) -> Text | None:
    """Return the text after edits of attributes alone, without parsing it; None if it must be parsed."""
    if wanted is None or not all(_is_safe(text, edit) for edit in group):
        return None
    if sum(map(len, wanted.attributes)) > MAX_ATTRIBUTES:
        return None
    ends = [start + len(old) for start, old, _ in patch.replacements]
    longer = [len(new) - len(old) for _, old, new in patch.replacements]
    return text.with_attributes(_patched(text.data, patch), Shape(*wanted), ends, longer)


def _is_safe(text: Text, edit: Edit | Patch) -> bool:
    """Return whether an edit of an attribute is certainly read as it is meant; all values are, since they are escaped.

    A value or name that may exceed a limit is not.
    """
    if isinstance(edit, RemoveAttribute):
        return True
    if not isinstance(edit, SetAttribute) or len(edit.value) > _MOST_UNREAD:
        return False
    return edit.name in text.shape.attributes[edit.element] or _SAFE_NAME.fullmatch(edit.name) is not None


def _check_number(text: Text, element: int, is_root_allowed: bool = True) -> None:
    if not 0 <= element < len(text):
        raise EditError(f"found {len(text)} elements, expected one of the number {element}")
    if element == 0 and not is_root_allowed:
        raise EditError(f"<{text.shape.tags[0]}> is the whole score and stays where it is")


def _check_no_words(text: Text, element: int) -> None:
    if text.shape.words[element]:
        raise EditError(f"<{text.shape.tags[element]}> holds the text {quoted(text.shape.words[element])}; remove that "
                        "first")


def _attributes(attributes: Iterable[tuple[str, str]]) -> str:
    return "".join(f' {name}="{_escaped(value, chr(34))}"' for name, value in attributes)


def _escaped(value: str, quote: str) -> str:
    """Return an attribute's value escaped for this kind of quotes."""
    escaped = "".join(_ESCAPES.get(character, character) for character in value)
    return escaped.replace(quote, "&quot;" if quote == '"' else "&apos;")


def _said(group: list[Edit | Patch]) -> str:
    return quoted(repr(group[0]), 200) if len(group) == 1 else f"{len(group)} edits"
