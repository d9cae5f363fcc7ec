"""Explain errors in XML that parsers reject, for people who write it by hand.

A parser says where it could not go on. Here the text is scanned once more up to the first slip, with regard to open
tags and to common omissions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..errors import quoted, some_of

MOST_BYTES: Final = 2**22
"""Greatest size of a document written by hand; larger ones are not searched for slips."""
_MOST_OPEN: Final = 5
"""Greatest number of open tags that are named."""
_NAME: Final = re.compile(r"[^\W\d][\w.\-:]*|:[\w.\-:]*")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_REFERENCE: Final = re.compile(r"&(?:#\d+|#x[0-9a-fA-F]+|amp|lt|gt|quot|apos);")
_ENTITY: Final = re.compile(r"&[\w.\-]+;")
_WORDS: Final = re.compile(r"[^<&]+")
_END_TAG: Final = re.compile(r"</([^\W\d][\w.\-:]*)[ \t\r\n]*>")
_NO_XML: Final = "this is not XML: there is no <tag> in it"
_CURLY: Final = "“”„‟«»‘’‚‹›"
_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_DECLARED: Final = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml [^>]*encoding")
_DECLARATION: Final = re.compile(r"""<\?xml\s+version\s*=\s*("1\.\d+"|'1\.\d+')
                                  (\s+encoding\s*=\s*("[A-Za-z][\w.\-]*"|'[A-Za-z][\w.\-]*'))?
                                  (\s+standalone\s*=\s*("(yes|no)"|'(yes|no)'))?\s*\?>""", re.VERBOSE)
_XML: Final = re.compile(r"<\?xml\b(?![\-.:])", re.IGNORECASE)
_INSTRUCTION: Final = re.compile(r"<\?[^\W\d][\w.\-:]*(?=[ \t\r\n]|\?>)")
_USUAL: Final = '<?xml version="1.0" encoding="UTF-8"?>'
_DOCTYPE: Final = re.compile(r"""<!DOCTYPE(?:[ \t\r\n]+(?:[\w.\-:]+|"[^"<>]*"|'[^'<>]*'))+[ \t\r\n]*>""")
"""A document type declaration without declarations of its own."""
_TAG: Final = re.compile(r"<[^\W\d]")


class Slip(NamedTuple):
    """An error message, and the offset in the text where the error can be corrected."""

    at: int
    message: str


class _Found(Exception):  # noqa: N818  # not what anybody is told
    """A slip, and the offset up to which the text was scanned when it was found."""

    def __init__(self, at: int, message: str, seen: int | None = None) -> None:
        self.slip, self.seen = Slip(at, message), at if seen is None else seen


class _Open(NamedTuple):
    name: str
    at: int


def decoded(data: bytes) -> str:
    """Return a damaged document as text; bytes that are invalid in its encoding are replaced, never dropped."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or (len(data) > 1 and 0 in data[:2]):
        little = data[:2] == b"\xff\xfe" or (data[:1] != b"\xfe" and data[1] == 0)
        return data.decode("utf-16-le" if little else "utf-16-be", "replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def first_slip(text: str, reached: int) -> Slip | None:
    """Return the first error of a document, or None if it is of an unknown kind.

    reached: the offset at which the parser stopped; slips after it did not stop it.

    >>> first_slip('<pha><call name=bow/></pha>', 16).message
    'the value of name is not in quotes; write name="…"'
    """
    if text.startswith("<", reached):  # for a tag with a slip, some parsers only tell where it begins
        end = text.find(">", reached)
        reached = end if end >= 0 else len(text)
    try:
        _Scan(text, reached, 1 if text.startswith("\ufeff") else 0).run()
    except _Found as found:
        return found.slip if found.seen <= reached else None
    return None


def wrong_byte(data: bytes) -> Slip | None:
    """Return the first byte of a document that is not UTF-8, which XML has if it names no other encoding."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or _DECLARED.match(data):
        return None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return Slip(len(data[:error.start].decode()), "what stands here is not written in UTF-8, and the file names no "
                                                      "other encoding; save it as UTF-8")
    return None


def place_of(text: str, at: int) -> tuple[int, int]:
    """Return line and column of an offset, from 1."""
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def offset_of(text: str, line: int, column: int) -> int:
    """Return the offset of a line and a column, from 1."""
    ends = [end.end() for end in re.finditer("\r\n|\r|\n", text)]
    begin = ends[line - 2] if 1 < line <= len(ends) + 1 else 0
    return min(begin + column - 1 + (begin == 0 and text.startswith("\ufeff")), len(text))


@dataclass
class _Scan:
    """Scans a text as far as the parser came. open: the tags that wait for their end."""

    text: str
    reached: int
    at: int
    open: list[_Open] = field(default_factory=list)
    root: str = ""

    def run(self) -> None:
        """Raise _Found at the first slip."""
        begin = self.at
        while self.at < len(self.text):
            if self.at > self.reached:
                return
            if self.text.startswith("<", self.at):
                self._markup(begin)
            else:
                self._words()
        if self.open:
            tag, *outer = reversed(self.open)
            names = some_of([f"<{each.name}> of line {self._line(each.at)}" for each in outer], _MOST_OPEN)
            ends = "".join(f"</{each.name}>" for each in (tag, *outer)[:_MOST_OPEN])
            raise _Found(tag.at, f"<{tag.name}> is not closed{f', nor is {names}' if outer else ''}: the text ends "
                                 f"without {ends}", len(self.text))
        if not self.root:
            raise _Found(begin, _NO_XML, len(self.text))

    def _line(self, at: int) -> int:
        return place_of(self.text, at)[0]

    def _words(self) -> None:
        """Pass the text between tags."""
        if self.text.startswith("&", self.at):
            self._reference(self.at)
            return
        found = _WORDS.match(self.text, self.at)
        assert found is not None  # it is neither < nor &
        self._check_characters(*found.span())
        if not self.open and not found[0].isspace():
            at = self.at + len(found[0]) - len(found[0].lstrip())
            if not self.root and not _TAG.search(self.text, at):
                raise _Found(at, _NO_XML)
            words = quoted(found[0].strip().splitlines()[0], 30)
            where = f"after </{self.root}>, where the file's contents end" if self.root else "before the first tag"
            raise _Found(at, f"{words} stands {where}; remove it")
        self.at = found.end()

    def _reference(self, at: int) -> None:
        """Pass a character reference or entity, which begins with &."""
        found = _REFERENCE.match(self.text, at)
        if found is None:
            entity = _ENTITY.match(self.text, at)
            raise _Found(at, f"{quoted(entity[0])} is not known here; write the character itself" if entity else
                         "a & is written &amp; here")
        self.at = found.end()

    def _check_characters(self, start: int, end: int) -> None:
        if found := _FORBIDDEN.search(self.text, start, end):
            raise _Found(found.start(), f"the character {found[0]!r} cannot stand in XML; remove it")

    def _markup(self, begin: int) -> None:
        """Pass a tag, a comment or the like."""
        text, at = self.text, self.at
        if text.startswith("<!--", at):
            self._comment()
        elif text.startswith("<![CDATA[", at):
            self._past("]]>", "the part <![CDATA[ that begins here")
        elif text.startswith("<?", at):
            self._instruction(begin)
        elif text.startswith("</", at):
            self._end_tag()
        elif not self.root and (doctype := _DOCTYPE.match(text, at)):
            self.at = doctype.end()  # a reader without support for it has refused it already
        elif text.startswith("<!", at):
            raise _Found(at, "<! begins nothing that is read here, but comments <!-- … -->")
        else:
            self._start_tag()

    def _instruction(self, begin: int) -> None:
        if _XML.match(self.text, self.at):
            if self.at > begin:
                raise _Found(self.at, "<?xml …?> must be the very first in a file; remove what stands before it, or it")
            if _DECLARATION.match(self.text, self.at) is None:
                raise _Found(self.at, f"what begins here is written {_USUAL}")
        elif _INSTRUCTION.match(self.text, self.at) is None:
            raise _Found(self.at, f"<? begins nothing that is read here; a file may begin with {_USUAL}")
        self._past("?>", "the instruction <? that begins here")

    def _past(self, end: str, what: str) -> None:
        found = self.text.find(end, self.at)
        if found < 0:
            raise _Found(self.at, f"{what} is not ended by {end}")
        self.at = found + len(end)

    def _comment(self) -> None:
        start = self.at
        dashes = self.text.find("--", start + 4)
        if dashes >= 0 and not self.text.startswith(">", dashes + 2):
            end = self.text.find("-->", start + 4)
            if end >= 0 and self.text.find("<!--", start + 4, end) < 0:
                raise _Found(dashes, "-- cannot stand within a comment, only in --> at its end")
            raise _Found(start, "the comment that begins here is not ended by -->", dashes)
        self._past("-->", "the comment that begins here")

    def _end_tag(self) -> None:
        text, at = self.text, self.at
        found = _END_TAG.match(text, at)
        if found is None:
            raise _Found(at, "an end tag is written </name>, with no space before the name and nothing behind it")
        name = found[1]
        if not self.open:
            raise _Found(at, f"</{name}> closes nothing: no tag is open here"
                         + (f", and <{self.root}> has ended before" if self.root else ""))
        top = self.open[-1]
        if top.name == name:
            self.open.pop()
        elif any(each.name == name for each in self.open):
            raise _Found(top.at, f"<{top.name}> is not closed where </{name}> comes, in line {self._line(at)}; end its "
                                 f"tag with />, or write </{top.name}> before", at)
        else:
            raise _Found(at, f"</{name}> closes nothing: <{top.name}> of line {self._line(top.at)} is open here; write "
                             f"</{top.name}>, or remove it")
        self.at = found.end()

    def _start_tag(self) -> None:
        text, at = self.text, self.at
        found = _NAME.match(text, at + 1)
        if found is None:
            if at + 1 == len(text):
                raise _Found(at, "the text ends within a tag, behind its <")
            raise _Found(at, "a name must follow < at once; where the character is meant, write &lt;")
        tag = _Open(found[0], at)
        if self.root and not self.open:
            raise _Found(at, f"<{tag.name}> comes after </{self.root}>: a single element must hold all others")
        self.root = self.root or tag.name
        self.at = found.end()
        names = set[str]()
        while not self._is_ended(tag):
            self._attribute(tag, names)

    def _is_ended(self, tag: _Open) -> bool:
        """Pass white space; return whether the end of the start tag comes, and pass it."""
        text, before = self.text, self.at
        at = self.at = _SPACE.match(text, self.at).end()  # type: ignore[union-attr]  # it matches anywhere
        if text.startswith("/>", at):
            self.at += 2
            return True
        if text.startswith(">", at):
            self.at += 1
            self.open.append(tag)
            return True
        if at == len(text):
            raise _Found(tag.at, f"the tag <{tag.name}> is not ended by > or />")
        if text[at] == "<":
            raise _Found(tag.at, f"the tag <{tag.name}> is not ended by > or /> before the next < in line "
                                 f"{self._line(at)}", at)
        if text[at] == "/":
            raise _Found(at, f"the tag <{tag.name}> has a / without a > behind it; it ends with />")
        found = _NAME.match(text, at)
        if found is None:
            more = "; attributes have spaces between them" if text[at] in ",;" else ""
            raise _Found(at, f"{quoted(text[at])} has no place in the tag <{tag.name}>{more}")
        if at == before:
            raise _Found(at, f"a space is missing before {found[0]}")
        return False

    def _attribute(self, tag: _Open, names: set[str]) -> None:
        """Pass an attribute, at whose name the scan is."""
        text, start = self.text, self.at
        name = _NAME.match(text, start)[0]  # type: ignore[index]  # it was seen
        at = _SPACE.match(text, start + len(name)).end()  # type: ignore[union-attr]  # it matches anywhere
        if not text.startswith("=", at):
            meant = name.removesuffix(":")
            wrong = f"{name} has no value" if meant == name else f"the value of {meant} stands behind a colon, not ="
            raise _Found(start, f'{wrong}; write {meant}="…"', at)
        at = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]  # it matches anywhere
        mark = text[at:at + 1]
        if mark not in ('"', "'") or not mark:
            curly = f" but in {mark}, which is no straight one" if mark and mark in _CURLY else ""
            raise _Found(at if mark else tag.at, f'the value of {name} is not in quotes{curly}; write {name}="…"', at)
        end = text.find(mark, at + 1)
        self._value(name, at, end)
        if name in names:
            raise _Found(start, f"<{tag.name}> has the attribute {name} twice; remove one")
        names.add(name)
        self.at = end + 1

    def _value(self, name: str, at: int, end: int) -> None:
        """Check the value of an attribute: its quotes at two offsets, the second one −1 where it is missing."""
        text = self.text
        open_ended = f"the value of {name} has no quote {text[at]} at its end"
        below = text.find("<", at, end if end >= 0 else len(text))
        if end < 0 or (below >= 0 and re.search(r"[>\n\r]", text[at:below])):
            raise _Found(at, open_ended, at if end < 0 else below)
        if below >= 0:
            raise _Found(below, f"a < is written &lt; in the value of {name}")
        behind = text[end + 1:end + 2]
        if text[at + 1:end].rstrip().endswith("=") and behind and behind not in " \t\r\n/>":
            raise _Found(at, open_ended, end)
        self._check_characters(at, end)
        for found in re.finditer("&", text[at:end]):
            self._reference(at + found.start())
