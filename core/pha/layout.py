"""The layout of elements: their comments and white space, their lines, their indentation.

All offsets here count units of a Text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .text import Span, Text

_PIECE = re.compile(rb"""(?P<comment><!--.*?-->)|(?P<other><\?.*?\?>|<!\[CDATA\[.*?\]\]>)"""
                    rb"""|(?P<tag><(?:[^"'>]+|"[^"]*"|'[^']*')*>)|(?P<white>[ \t\r\n]+)(?=<|\Z)|(?P<words>[^<]+)""",
                    re.DOTALL)
_BREAK = re.compile(rb"\r\n|\r|\n")
_BREAK_IN_TAG = re.compile(rb""""[^"]*"|'[^']*'|(\r\n|\r|\n)""")
_REST_OF_LINE = re.compile(rb"[ \t]*(?:(\r\n|\r|\n)|\Z)")
_BLANK_BEFORE = re.compile(rb"(?:(?<=\n)|(?<=\r)(?!\n))[ \t]*(?:\r\n|\r|\n)\Z")
_LONGEST_BLANK = 200
"""Units in which a blank line is looked for."""
DEFAULT_STEP = "  "
"""One level of indentation where a document shows none."""


class Piece(NamedTuple):
    """A part of a document: a comment, a tag, white space between these, words, or something else."""

    kind: str
    start: int
    end: int


class Extent(NamedTuple):
    """An element with its comments: those directly above it, and those behind it on its line.

    start, end: from the first of these to the last. line_start: where its first line starts, None if something else
    is before it on that line; line_end: where the line after it starts, None if something is behind it.
    """

    start: int
    end: int
    line_start: int | None
    line_end: int | None


def extent(text: Text, element: int) -> Extent:
    """Return the extent of an element other than the root."""
    units, around = text.units, _gaps(text, element)
    start = _first_comment(units, around[0], text.starts[element])
    end = _last_comment(units, around[1], text.end(element))
    rest = _REST_OF_LINE.match(units, end)
    return Extent(start, end, _line_start(units, start), rest.end() if rest else None)


def owned(text: Text, element: int) -> Span:
    """Return the range that is removed with an element: its extent, and white space that nothing else needs.

    These are whole lines if nothing else is on them, and a blank line that would follow another one or be the last.
    """
    units, found = text.units, extent(text, element)
    if found.line_start is None:
        return Span(_back_over_blanks(units, found.start), found.end)
    if found.line_end is None:
        return Span(found.start, _on_over_blanks(units, found.end))
    blank = _BLANK_BEFORE.search(units, max(0, found.line_start - _LONGEST_BLANK), found.line_start)
    behind = _REST_OF_LINE.match(units, found.line_end)
    is_last = units.startswith(b"</", _on_over_blanks(units, found.line_end))
    if blank and (is_last or (behind and behind[1])):
        return Span(blank.start(), found.line_end)
    return Span(found.line_start, found.line_end)


def indentation(text: Text, at: int) -> str | None:
    """Return the blanks between the start of a line and an offset in it, or None if anything else is there."""
    start = _line_start(text.units, at)
    return None if start is None else text.decoded(start, at)


def step(text: Text) -> str:
    """Return one level of indentation: that of the root's first indented child."""
    outer = indentation(text, text.starts[0]) or ""
    for child in text.children(0):
        inner = indentation(text, text.starts[child])
        if inner and len(inner) > len(outer) and inner.startswith(outer):
            return inner[len(outer):]
    return DEFAULT_STEP


def line_break(text: Text, at: int) -> str:
    """Return the line break that is nearest before an offset, or else the first one."""
    units = text.units
    last = max(units.rfind(b"\n", 0, at), units.rfind(b"\r", 0, at))
    found = _BREAK.match(units, last - 1 if units[last - 1:last + 1] == b"\r\n" else last) if last >= 0 else None
    found = found or _BREAK.search(units)
    return found[0].decode("ascii") if found else "\n"


def has_blank_line_before(text: Text, found: Extent) -> bool:
    """Return whether there is a blank line before an element's extent."""
    line = found.line_start
    return line is not None and _BLANK_BEFORE.search(text.units, max(0, line - _LONGEST_BLANK), line) is not None


def blanks_before(text: Text, at: int) -> str:
    """Return the spaces and tabs right before an offset."""
    return text.decoded(_back_over_blanks(text.units, at), at)


def line_of(text: Text, start: int, end: int) -> Span:
    """Return the whole line of a tag alone on it; else the tag, and the blanks behind it if it is first on its line."""
    line_start, rest = _line_start(text.units, start), _REST_OF_LINE.match(text.units, end)
    if line_start is None:
        return Span(start, end)
    return Span(line_start, rest.end()) if rest else Span(start, _on_over_blanks(text.units, end))


def line_of_end(text: Text, start: int, end: int) -> Span:
    """Return the line of an end tag alone on it; else the tag, and the white space before if it is first."""
    if _line_start(text.units, start) is None or _REST_OF_LINE.match(text.units, end):
        return line_of(text, start, end)
    while text.units[start - 1] in b" \t\r\n":
        start -= 1
    return Span(start, end)


def reindented(units: bytes, start: int, end: int, old: str, new: str) -> list[tuple[Span, str]]:
    """Return the changes that give part of a document another indentation: ranges, with the replacement of each.

    Lines that begin within a comment, a value or words stay unchanged, as do lines that do not begin with `old`.
    """
    prefix = old.encode("ascii")
    lines = [line for piece in pieces(units, start, end) for line in _lines_within(units, piece) if piece.end < end
             or piece.kind == "tag"]
    return [(Span(line, line + len(old)), new) for line in lines if units.startswith(prefix, line)]


def pieces(units: bytes, start: int, end: int) -> Iterator[Piece]:
    """Yield the pieces of a part of a document, in order."""
    at = start
    while at < end:
        found = _PIECE.match(units, at, end)
        assert found is not None and found.lastgroup is not None  # since expat could read it
        yield Piece(found.lastgroup, at, found.end())
        at = found.end()


def _gaps(text: Text, element: int) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces between an element and its neighbours, or the tags of its parent."""
    parent = text.parent(element)
    siblings = list(text.children(parent))
    at = siblings.index(element)
    begin = text.end(siblings[at - 1]) if at else text.tag(parent).closing.end
    end = text.starts[siblings[at + 1]] if at + 1 < len(siblings) else text.closes[parent]
    return (list(pieces(text.units, begin, text.starts[element])),
            list(pieces(text.units, text.end(element), end)))


def _first_comment(units: bytes, gap: list[Piece], start: int) -> int:
    """Return the start of the comments that are directly above, on lines of their own."""
    first = start
    while gap:
        white = gap.pop() if gap[-1].kind == "white" else None
        breaks = len(_BREAK.findall(units, white.start, white.end)) if white else 0
        if breaks > 1 or not gap or gap[-1].kind != "comment":
            break
        comment = gap.pop()
        if _line_start(units, comment.start) is not None:
            first = comment.start
        elif breaks:
            break
    return first


def _last_comment(units: bytes, gap: list[Piece], end: int) -> int:
    """Return the end of the comments that follow on the same line."""
    for piece in gap:
        has_break = _BREAK.search(units, piece.start, piece.end)
        if piece.kind == "comment":
            end = piece.end
        if has_break or piece.kind not in ("comment", "white"):
            break
    return end


def _line_start(units: bytes, at: int) -> int | None:
    """Return the start of an offset's line, or None if anything but blanks is between."""
    at = _back_over_blanks(units, at)
    return at if at == 0 or units[at - 1] in b"\r\n" else None


def _lines_within(units: bytes, piece: Piece) -> list[int]:
    """Return the starts of lines within white space or a tag, without blank lines."""
    if piece.kind == "white":
        return [found.end() for found in _BREAK.finditer(units, piece.start, piece.end)][-1:]
    if piece.kind == "tag":
        return [found.end() for found in _BREAK_IN_TAG.finditer(units, piece.start, piece.end) if found[1]]
    return []


def _back_over_blanks(units: bytes, at: int) -> int:
    while at and units[at - 1] in b" \t":
        at -= 1
    return at


def _on_over_blanks(units: bytes, at: int) -> int:
    while at < len(units) and units[at] in b" \t":
        at += 1
    return at
