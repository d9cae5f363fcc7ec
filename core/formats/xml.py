"""XML read safely into a small frozen tree, each element with its line and column.

Document type declarations, and with them entities, are refused: neither scores nor OGRE files need them, and every
entity bomb and every access to another file uses them. Formats whose files begin with a declaration that only names
a standard may allow that. It is skipped, and no file is ever fetched for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from xml.parsers import expat

from ..errors import FileError, Place, quoted
from . import xml_slips

MAX_KEPT_BYTES = 64 * 2**20
"""Greatest size of documents kept as a whole tree; those whose bulk a Taker or Rows takes may be larger."""
MAX_ELEMENTS = 500_000
MAX_ROWS = 2_000_000
"""Greatest number of rows that are taken one by one, see Rows."""
MAX_DEPTH = 100
_CUT_OFF = frozenset(expat.errors.codes[each] for each in (
    expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN, expat.errors.XML_ERROR_PARTIAL_CHAR,
    expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION))
MAX_TAG_BYTES = 12 * 2**20
"""Greatest size of a tag with its attributes, or of a comment: older versions of expat scan it again for each piece."""
_PIECE = 2**20
MAX_NAME = 1_000
"""Greatest number of characters in the name of an element or an attribute."""


StartHandler = Callable[[str, dict[str, str]], None]
EndHandler = Callable[[str], None]


class Documents(NamedTuple):
    """What the documents of a format may hold.

    max_elements, max_bytes: more are refused. may_name_standard: a document type declaration without declarations of
    its own is skipped. is_programs: programs write them, so that one that ends too early was cut off, not mistyped.
    """

    max_elements: int = MAX_ELEMENTS
    max_bytes: int = MAX_KEPT_BYTES
    may_name_standard: bool = False
    is_programs: bool = False


PLAIN: Final = Documents()
"""Documents that people write, without a document type."""


class Taker(Protocol):
    """Takes the content of certain elements as the parser reports it; none of it is kept or counted as elements.

    tag_path: the tags from the root to these elements.
    """

    tag_path: tuple[str, ...]

    def begin(self, where: Callable[[], tuple[int, int]], done: Callable[[], None]) -> tuple[StartHandler, EndHandler]:
        """Return the functions to call at each start and end from here on; call `done` at the element's own end.

        where: returns the line and column of the parser, which now are those of the element.
        """


class Rows(NamedTuple):
    """Takes certain children of certain elements one by one; they are neither kept nor counted as elements.

    tag_paths: the tags from the root to these elements; tags: those of the children. take: called with an element's
    line and column, and one of its children.
    """

    tag_paths: frozenset[tuple[str, ...]]
    tags: frozenset[str]
    take: Callable[[tuple[int, int], Element], None]


class Element(NamedTuple):
    """An element with its place; text is what is directly inside it, outer white space removed."""

    tag: str
    attributes: dict[str, str]
    children: tuple[Element, ...]
    line: int
    column: int
    text: str = ""

    def place(self, path: Path | None) -> Place:
        """Return where the element begins, lines and columns from 1."""
        return Place(path, self.line, self.column)


def parse(data: bytes | str, path: Path | None = None, documents: Documents = PLAIN, *, taker: Taker | None = None,
          rows: Rows | None = None) -> Element:
    """Read a whole XML document and return its root element.

    data: the file's bytes in any encoding that expat knows, or text, whose encoding declaration is ignored. path: only
    for messages. taker, rows: for documents too large to be kept whole. Comments and processing instructions are left
    out. Raises FileError, with line and column, if the document is not well-formed, declares a document type, or
    exceeds its format's limits, MAX_DEPTH or MAX_NAME.

    >>> root = parse('<pha tickLength="0.8"><call name="bow"/></pha>')
    >>> root.attributes["tickLength"], root.children[0].tag, root.children[0].column
    ('0.8', 'call', 23)
    """
    if len(data) > documents.max_bytes:
        raise FileError.at(f"{len(data)} bytes of XML; at most {documents.max_bytes} are read", path)
    encoding = None
    if isinstance(data, str):
        data, encoding = data.encode("utf-8", "replace"), "utf-8"
    parser = expat.ParserCreate(encoding)
    tree = _Tree(parser, path, documents, taker, rows)
    try:
        feed(parser, data, path)
    except FileError:
        if documents.is_programs and parser.ErrorCode in _CUT_OFF and tree.within:
            raise FileError.at(f"the file ends here, within {tree.within}: it is cut off", path,
                               1 + data.count(b"\n")) from None
        raise
    finally:
        tree.let_go()
    return tree.root()


def feed(parser: expat.XMLParserType, data: bytes, path: Path | None) -> None:
    """Let a parser read a whole document; raise FileError, with its place, where it is not well-formed."""
    pieces = memoryview(data)
    try:
        for begin in range(0, max(len(data), 1), _PIECE):
            end = begin + _PIECE
            parser.Parse(pieces[begin:end], end >= len(data))
            if end - parser.CurrentByteIndex > MAX_TAG_BYTES + _PIECE and end < len(data):
                raise FileError.at(f"a tag or comment of more than {MAX_TAG_BYTES} bytes; no longer ones are read",
                                   path, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
    except expat.ExpatError as error:
        raise _not_well_formed(data, path, error) from None
    except (LookupError, ValueError) as error:  # Python's codecs raise these for an unknown encoding
        raise FileError.at(f"the encoding that the XML declares cannot be read ({error}); save it as UTF-8",
                           path, 1) from None


def _not_well_formed(data: bytes, path: Path | None, error: expat.ExpatError) -> FileError:
    """Return the error for a document that is not well-formed, in plain words for common slips."""
    line, column = error.lineno, error.offset + 1
    if len(data) <= xml_slips.MOST_BYTES:
        text = xml_slips.decoded(data)
        slip = xml_slips.first_slip(text, xml_slips.offset_of(text, line, column))
        if slip is None:
            slip = xml_slips.wrong_byte(data)
        if slip is not None:
            return FileError.at(slip.message, path, *xml_slips.place_of(text, slip.at))
    return FileError.at(f"this is not well-formed XML: {expat.ErrorString(error.code)}", path, line, column)


class Refusals:
    """The errors for refused content of well-formed documents, with the parser's place in the file."""

    def __init__(self, parser: expat.XMLParserType, path: Path | None, may_name_standard: bool = False) -> None:
        self._parser, self._path, self._may_name_standard = parser, path, may_name_standard
        parser.StartDoctypeDeclHandler = self._doctype

    def too_many(self, limit: int, what: str = "elements") -> FileError:
        """Return the error for more elements than the limit."""
        return self._at(f"more than {limit} {what}; no more are read")

    def too_deep(self) -> FileError:
        """Return the error for an element within too many others."""
        return self._at(f"elements nested more than {MAX_DEPTH} deep")

    def too_long(self, names: Iterable[str]) -> FileError:
        """Return the error for the first of some names that is too long."""
        return self._at(too_long(next(name for name in names if len(name) > MAX_NAME)))

    def _doctype(self, _root: str, _system: str | None, _public: str | None, declares: bool) -> None:
        if self._may_name_standard and not declares:
            return
        raise self._at("a document type declaration (DOCTYPE) is not read, nor are entities that it declares; remove "
                       "it")

    def _at(self, message: str) -> FileError:
        return FileError.at(message, self._path, self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1)


def too_long(name: str) -> str:
    """Return the message for a name of an element or an attribute that is too long."""
    return f"the name {quoted(name)} is {len(name)} characters long; at most {MAX_NAME} are read"


class _Open:
    """An element whose end has not come yet."""

    __slots__ = ("attributes", "children", "column", "line", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int, column: int) -> None:
        self.tag, self.attributes, self.line, self.column = tag, attributes, line, column
        self.children: list[Element] = []
        self.text: list[str] | None = None


class _Tree:
    """Collects what the parser reports."""

    def __init__(self, parser: expat.XMLParserType, path: Path | None, documents: Documents, taker: Taker | None,
                 rows: Rows | None) -> None:
        self._parser, self._max_elements, self._taker, self._rows = parser, documents.max_elements, taker, rows
        self._refusals = Refusals(parser, path, documents.may_name_standard)
        self._table_tags = {path[-1] for path in rows.tag_paths} if rows else set[str]()
        self._table: _Open | None = None
        self._count = self._count_before_row = self._taken = 0
        self._stack = [_Open("", {}, 1, 1)]
        parser.buffer_text = True
        self._take_back()

    def _take_back(self) -> None:
        parser = self._parser
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text

    def let_go(self) -> None:
        """Release the parser and its memory now, not with the next garbage collection."""
        parser = self._parser
        parser.StartElementHandler = parser.EndElementHandler = parser.CharacterDataHandler = None
        parser.StartDoctypeDeclHandler = None

    def root(self) -> Element:
        return self._stack[0].children[0]

    @property
    def within(self) -> str:
        """The innermost open element, in words for messages; "" for none."""
        last = self._stack[-1]
        return f"<{last.tag}> of line {last.line}" if len(self._stack) > 1 else ""

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > self._max_elements:
            raise self._refusals.too_many(self._max_elements)
        if len(self._stack) > MAX_DEPTH:
            raise self._refusals.too_deep()
        if len(tag) > MAX_NAME or (attributes and max(map(len, attributes)) > MAX_NAME):
            raise self._refusals.too_long((tag, *attributes))
        if self._stack[-1] is self._table:
            self._count_before_row = self._count - 1
        parser = self._parser
        self._stack.append(_Open(tag, attributes, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1))
        taker = self._taker
        if taker and len(self._stack) == len(taker.tag_path) + 1 and self._tag_path() == taker.tag_path:
            self._hand_over(taker)
        elif tag in self._table_tags and self._rows and self._tag_path() in self._rows.tag_paths:
            self._table = self._stack[-1]

    def _tag_path(self) -> tuple[str, ...]:
        return tuple(element.tag for element in self._stack[1:])

    def _hand_over(self, taker: Taker) -> None:
        def done() -> None:
            self._take_back()
            self._end(taker.tag_path[-1])

        parser = self._parser
        parser.StartElementHandler, parser.EndElementHandler = taker.begin(self._where, done)
        parser.CharacterDataHandler = None

    def _where(self) -> tuple[int, int]:
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _end(self, tag: str) -> None:
        done, parent = self._stack.pop(), self._stack[-1]
        element = Element(tag, done.attributes, tuple(done.children), done.line, done.column,
                          "".join(done.text).strip() if done.text else "")
        if parent is self._table and self._rows and tag in self._rows.tags:
            self._taken += 1
            if self._taken > MAX_ROWS:
                raise self._refusals.too_many(MAX_ROWS, "rows in tables")
            self._rows.take((parent.line, parent.column), element)
            self._count = self._count_before_row
        else:
            parent.children.append(element)

    def _text(self, text: str) -> None:
        if not text.isspace():
            here = self._stack[-1]
            if here.text is None:
                here.text = []
            here.text.append(text)
