"""The text encoding of USD (`.usda`). Source: OpenUSD, pxr/usd/sdf/usdaFileFormat and textFileFormatParser, 25."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import numpy as np

from ..errors import FileError, quoted
from ..maths.arrays import FloatArray
from .number_text import numbers_in, wrong_word
from .token_text import TokenText
from .usd_layer import MAX_DEPTH, MAX_NUMBER, WIDTHS, Attribute, Held, Layer, Prim

HEADER: Final = b"#usda "
MAX_CHARACTERS: Final = 64 * 2**20
_MAX_STATEMENTS: Final = 100_000
"""Greatest number of statements, including entries of metadata and samples at time codes."""
_GAP: Final = re.compile(r"(?:[\s;]++|#[^\n]*+|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
_TEXT: Final = (r'"""(?:[^"\\]++|\\.|"(?!""))*+"""|' r"'''(?:[^'\\]++|\\.|'(?!''))*+'''|"
                r'"(?:[^"\\\n]++|\\.)*+"|' r"'(?:[^'\\\n]++|\\.)*+'|" r"@@@(?:[^@]++|@(?!@@))*+@@@|@[^@\n]*+@")
_NAME: Final = r"[^\s\[\](){}=,;<>\"'@#:]++"
_TOKEN: Final = re.compile(rf"{_TEXT}|<[^<>\n]*+>|[\[\](){{}}=:,]|{_NAME}(?::{_NAME})*+", re.DOTALL)
_STRING: Final = re.compile(_TEXT, re.DOTALL)
_PLAIN: Final = re.compile(r"(?:[^\[\](){}\"'@#/]++|#[^\n]*+|/(?!\*)|/\*(?:[^*]++|\*(?!/))*+\*/|" + _TEXT + ")*+",
                           re.DOTALL)
"""A part of the text without brackets."""
_NUMBERS: Final = re.compile(r"\[[^\[\]{}\"'@<#/]*+\]|\([^\[\]{}()\"'@<#/]*+\)")
"""A list of only numbers, or of rows of numbers."""
_TIME: Final = re.compile(r"\s*+([+\-.\dA-Za-z]++)\s*+:\s*+")
_WORDS: Final = re.compile(r'"((?:[^"\\]|\\.)*+)"|' r"'((?:[^'\\]|\\.)*+)'")
_OPEN: Final = {"[": "]", "(": ")", "{": "}"}
_SPECIFIERS: Final = frozenset(("def", "over", "class"))
_LISTS: Final = frozenset(("add", "append", "prepend", "delete", "reorder"))
_WAYS: Final = frozenset(("custom", "uniform", "varying", "config"))
_BRING_IN: Final = frozenset(("references", "payload", "payloads", "inherits", "specializes", "subLayers"))


class TextLayer(Layer):
    """A text file. Its values are held as text."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        super().__init__(path)
        if not data.startswith(HEADER):
            raise self.error(f"a text file of USD begins with '#usda 1.0', not with {quoted(repr(data[:8]))}", 1)
        if len(data) > MAX_CHARACTERS:
            raise self.error(f"{len(data)} bytes of text; at most {MAX_CHARACTERS} are read", 1)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error("this is not UTF-8", 1 + data.count(b"\n", 0, error.start)) from None
        _Parser(text, self).read()

    def error(self, message: str, at: int) -> FileError:
        """Return the error for something that is wrong on a line."""
        return FileError.at(message, self.path, at)

    def numbers(self, held: Held, width: int) -> FloatArray:
        """Return numbers as (N, width), quaternions wxyz; raise FileError if they are not numbers or not whole rows."""
        text = _plain(str(held.what))
        flat = numbers_in(text)
        if flat is None:
            word, line = wrong_word(text, held.at)
            raise self.error(f"found {quoted(word)}, which is no finite number", line)
        self.spend(len(flat), held.at)
        if not np.abs(flat).max(initial=0.0) <= MAX_NUMBER:
            raise self.error(f"holds what is no number up to {MAX_NUMBER:g}", held.at)
        if len(flat) % width:
            raise self.error(f"holds {len(flat)} numbers; a multiple of {width} is wanted", held.at)
        return flat.reshape(-1, width)

    def table(self, held: Sequence[Held], width: int) -> list[FloatArray]:
        """Return the numbers of many values, (N, width) for each; they are read at once if all have the same count."""
        texts = [str(each.what) for each in held]
        rows = {text.count("(") for text in texts} if width > 1 else set[int]()
        if len(rows) == 1:
            flat = numbers_in(_plain(" ".join(texts)))
            count = rows.pop()
            if (flat is not None and count and len(flat) == len(texts) * count * width
                    and np.abs(flat).max() <= MAX_NUMBER):
                self.spend(len(flat), held[0].at)
                return list(flat.reshape(len(texts), count, width))
        return super().table(held, width)

    def words(self, held: Held) -> tuple[str, ...]:
        """Return names or texts; raise FileError if there is something else."""
        found = tuple(double or single for double, single in _WORDS.findall(str(held.what)))
        self.spend(len(found), held.at)
        if not found and str(held.what).strip("[] \n\t") != "":
            raise self.error(f"found {quoted(str(held.what))}, where names are wanted", held.at)
        return found


def _plain(text: str) -> str:
    """Return a text with brackets and commas replaced by blanks; str.replace is faster than str.translate."""
    for each in "()[],":
        text = text.replace(each, " ")
    return text


def _time(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


class _Parser(TokenText):
    """Goes through a text statement by statement, and over values at once."""

    GAP, TOKEN = _GAP, _TOKEN

    def __init__(self, text: str, layer: TextLayer) -> None:
        super().__init__(text, layer.error, at=text.find("\n") if "\n" in text else len(text))
        self._layer, self._count = layer, 0

    def read(self) -> None:
        """Read all statements into the layer."""
        if self._peek() == "(":
            self._metadata(None)
        while token := self._next():
            self._statement(token, None)

    def _no_token(self) -> NoReturn:
        found_here = quoted(self._text[self._at:self._at + 20])
        self._fail(f"found {found_here}: a text begins here that has no end, or this is no USD")

    def _want(self, wanted: str, said: str = "") -> None:
        token = self._next()
        if token != wanted:
            self._wanted(token, said or quoted(wanted))

    def _statement(self, token: str, prim: Prim | None) -> None:
        """Read a statement whose first token has been read; prim: the one that contains it."""
        self._one_more()
        if token in _SPECIFIERS:
            self._prim(token, prim)
        elif token == "variantSet":
            name = self._next()
            self._layer.left_out.setdefault("variants", []).append(f"{prim.path if prim else ''} {name}")
            self._want("=")
            self._value()
        elif token == "reorder" and self._text[self._at:].lstrip()[:4] in ("name", "prop"):
            self._next()
            self._want("=")
            self._value()
        elif prim is None:
            self._wanted(token, "def, over or class")
        else:
            self._property(token, prim)

    def _one_more(self) -> None:
        self._count += 1
        if self._count > _MAX_STATEMENTS:
            self._fail(f"more than {_MAX_STATEMENTS} statements, entries and samples; no more are read")

    def _prim(self, specifier: str, around: Prim | None) -> None:
        """Read a prim with all its contents."""
        line, kind, name = self._here(), "", self._next()
        if name[:1] not in "\"'":
            kind, name = name, self._next()
        if name[:1] not in ("\"", "'"):
            self._wanted(name, "a prim's name")
        prim = Prim(f"{around.path if around else ''}/{name[1:-1]}", kind, specifier == "def", line)
        self._layer.add(prim)
        if prim.path.count("/") > MAX_DEPTH:
            self._fail(f"prims nested more than {MAX_DEPTH} deep")
        if self._peek() == "(":
            self._metadata(prim)
        self._want("{")
        while (token := self._next()) != "}":
            if not token:
                self._wanted("", f"}} after {quoted(prim.path)}")
            self._statement(token, prim)

    def _metadata(self, prim: Prim | None) -> None:
        """Read metadata between round brackets; of a prim's, only references to other files are noted."""
        self._want("(")
        while (token := self._next()) != ")":
            self._one_more()
            if not token:
                self._wanted("", ")")
            if _STRING.fullmatch(token) or token == ",":
                continue
            if token in _LISTS:
                token = self._next()
            self._want("=", f"= after {quoted(token)}")
            held = self._value()
            if token in _BRING_IN and str(held.what) not in ("None", "[]"):
                self._layer.left_out.setdefault(token, []).append(prim.path if prim else "the layer")
            if prim is None:
                self._layer.metadata[token] = held
            if self._peek() == ",":
                self._next()

    def _property(self, token: str, prim: Prim) -> None:
        """Read an attribute or a relationship whose first token has been read."""
        while token in _WAYS or token in _LISTS:
            token = self._next()
        name = self._next()
        if not name or name[0] in "[](){}=":
            if name == "[":  # the brackets after the type of an array
                self._want("]")
                token, name = token + "[]", self._next()
            else:
                self._wanted(name, f"the name of a property of type {quoted(token)}")
        own, _, special = name.partition(".")
        held = None
        if self._peek() == "=":
            self._next()
            if special == "timeSamples":
                self._samples(prim, own, token)
                return
            held = self._value()
        if token == "rel":
            if not special and held is not None:
                prim.targets[own] = tuple(re.findall(r"<([^<>]*)>", str(held.what)))
        elif not special:
            attribute = prim.attributes.setdefault(own, Attribute(token))
            attribute.default = None if held is None or held.what == "None" else held
        if self._peek() == "(":
            self._value()

    def _samples(self, prim: Prim, name: str, kind: str) -> None:
        """Read the values of an attribute at time codes."""
        self._want("{")
        times, values, known = list[float](), list[Held](), kind.removesuffix("[]") in WIDTHS
        while True:
            found = _TIME.match(self._text, self._at)
            if found is None:
                if self._peek() == "}":
                    self._next()
                    break
                self._skip_gap()
                found = _TIME.match(self._text, self._at)
                if found is None:
                    self._wanted(self._next(), "a time code, as in 1: (0, 0, 0)")
            self._one_more()
            time = _time(found[1])
            if time is None:
                self._wanted(found[1], "a time code")
            self._at = found.end()
            held = self._value()
            if known and held.what != "None":
                times.append(time)
                values.append(held)
                self._layer.spend(1, held.at)
            if self._text.startswith(",", self._at):
                self._at += 1
        if known:
            attribute = prim.attributes.setdefault(name, Attribute(kind))
            attribute.times, attribute.samples = np.array(times), values

    def _value(self) -> Held:
        """Return a value as it is written."""
        self._skip_gap()
        line, begin = self._here(), self._at
        found = _NUMBERS.match(self._text, begin)
        if found is not None:
            self._at = found.end()
            return Held(found[0], line)
        first = self._text[begin:begin + 1]
        if first not in _OPEN:
            token = self._next()
            if token in ("", *"])}=:,"):
                self._wanted(token, "a value")
            if token[:1] == "@" and self._peek() == "<":  # a layer, and a prim in it
                self._next()
            if token[:1] in "@<" and self._peek() == "(":
                self._value()
            return Held(self._text[begin:self._at], line)
        wanted = [_OPEN[first]]
        self._at += 1
        while wanted:
            plain = _PLAIN.match(self._text, self._at)
            self._at = plain.end() if plain else self._at
            bracket = self._text[self._at:self._at + 1]
            if bracket in _OPEN and bracket:
                wanted.append(_OPEN[bracket])
                if len(wanted) > MAX_DEPTH:
                    self._fail(f"brackets nested more than {MAX_DEPTH} deep")
            elif bracket != wanted.pop():
                self._wanted(bracket, quoted(wanted[-1] if wanted else _OPEN[first]))
            self._at += 1
        return Held(self._text[begin:self._at], line)
