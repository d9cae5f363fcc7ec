"""The classic encoding of X3D (`.x3dv`), and VRML 97 (`.wrl`), whose text it took over.

Fields are known by how their values are written, so that no table of all nodes is needed. H-Anim 1 declares its nodes
as prototypes; their instances are read as the nodes of later versions.
Source: ISO/IEC 19776-2:2015, X3D encodings, part 2; ISO/IEC 14772-1:1997, VRML97, annex A.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ..errors import quoted
from .token_text import TokenText
from .x3d_scene import MAX_DEPTH, MAX_NODES, Child, LeftOut, Node, Scene, Use, Value, route

MAX_CHARACTERS: Final = 64 * 2**20
STANDARD: Final = frozenset(("Humanoid", "Joint", "Segment", "Site", "Displacer"))
"""Prototypes that H-Anim 1 itself declares."""
_HEADER: Final = re.compile(r"#(X3D V[34]\.\d|VRML V2\.0) utf8", re.IGNORECASE)
_GAP: Final = re.compile(r"(?:[\s,]++|#[^\n]*+)*+")
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]|[^\s,\[\]{}"#]++', re.DOTALL)
_NUMBERS: Final = re.compile(r"(?:(?:[+\-.\d][\w.+\-]*+|(?i:nan|inf|infinity)\b)(?:[\s,]++|#[^\n]*+)*+)++")
_LIST: Final = re.compile(r'(?:[^\]"#]++|#[^\n]*+|"(?:[^"\\]|\\.)*+")*+', re.DOTALL)
_PLAIN: Final = re.compile(r'(?:[^\[\]{}"#]++|#[^\n]*+|"(?:[^"\\]|\\.)*+")*+', re.DOTALL)
"""A part of the text without brackets."""
_WORD: Final = re.compile(r"[^\W\d][^\s,\[\]{}\"#.]*", re.ASCII)
_TRUTHS: Final = frozenset(("TRUE", "FALSE", "true", "false"))
_LINES: Final = {"PROFILE": 1, "COMPONENT": 1, "META": 2}
"""Statements that do not concern motion, and their number of words."""


def read(data: bytes, path: Path | None) -> Scene:
    """Read an X3D file in the classic encoding, or one of VRML 97; raise FileError with the line if it is neither."""
    scene = Scene(path)
    if len(data) > MAX_CHARACTERS:
        raise scene.error(f"{len(data)} bytes of text; at most {MAX_CHARACTERS} are read", 1)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if "\n" not in text:
        text = text.replace("\r", "\n")
    if _HEADER.match(text) is None:
        raise scene.error(f"a file of X3D or VRML 97 begins with '#X3D V3.3 utf8' or '#VRML V2.0 utf8', not with "
                          f"{quoted(text.partition(chr(10))[0].strip())}", 1)
    _Parser(text, scene).read()
    return scene


class _Parser(TokenText):
    """Goes through a text token by token, and over lists of numbers at once."""

    GAP, TOKEN = _GAP, _TOKEN

    def __init__(self, text: str, scene: Scene) -> None:
        super().__init__(text, scene.error)
        self._scene, self._count = scene, 0

    def read(self) -> None:
        """Read all statements into the scene."""
        while token := self._next():
            self._statement(token, "", self._scene.roots, 0)

    def _word(self, wanted: str) -> str:
        token = self._next()
        if not _WORD.match(token):
            self._wanted(token, wanted)
        return token

    def _statement(self, token: str, field: str, siblings: list[Child], depth: int) -> None:
        """Read a statement whose first token has been read; nodes are added to `siblings` with their field."""
        if token in ("PROTO", "EXTERNPROTO"):
            self._prototype(token)
        elif token == "ROUTE":
            self._route()
        elif token == "UNIT":
            self._unit()
        elif token in _LINES:
            for _ in range(_LINES[token]):
                self._next()
        elif token in ("IMPORT", "EXPORT"):
            self._next()
            self._skip_gap()
            if self._text.startswith("AS", self._at):
                self._next()
                self._next()
        else:
            self._node(token, field, siblings, depth)

    def _prototype(self, keyword: str) -> None:
        name, line = self._word("a prototype's name"), self._here()
        if name not in STANDARD:
            self._scene.left_out.append(LeftOut(keyword, name, line))
        self._skip_block("[")
        if keyword == "PROTO":
            self._skip_block("{")
        elif self._peek() == "[":
            self._skip_block("[")
        else:
            self._next()

    def _skip_block(self, opening: str) -> None:
        """Skip a block between brackets, with all blocks in it."""
        token = self._next()
        if token != opening:
            self._wanted(token, opening)
        depth = 1
        while depth:
            found = _PLAIN.match(self._text, self._at)
            self._at = found.end() if found else self._at
            token = self._text[self._at:self._at + 1]
            if not token or token == '"':
                self._wanted("", "]" if opening == "[" else "}")
            depth += 1 if token in "[{" else -1
            self._at += 1

    def _route(self) -> None:
        line = self._here()
        source, _, sent = self._word("a node and its field, as in Clock.fraction_changed").partition(".")
        word = self._next()
        if word != "TO":
            self._wanted(word, "TO")
        target, _, taken = self._word("a node and its field, as in Turn.set_fraction").partition(".")
        self._scene.add_route(route(source, sent, target, taken, line))

    def _unit(self) -> None:
        category, _, line = self._word("a category"), self._next(), self._here()
        node = Node("UNIT", "", line, {"conversionFactor": Value(self._next(), line)})
        self._scene.units[category] = float(self._scene.vector(node, "conversionFactor", (1.0,))[0])

    def _node(self, token: str, field: str, siblings: list[Child], depth: int) -> None:
        """Read a node, or its USE, whose first token has been read."""
        if token == "USE":
            siblings.append(Child(field, Use(self._word("a node's DEF"), self._here())))
            return
        name = ""
        if token == "DEF":
            name, token = self._word("a node's DEF"), self._next()
        if not _WORD.match(token):
            self._wanted(token, "a node")
        line = self._here()
        if token in ("Script", "Inline"):
            self._leave_out(token, name, line)
            return
        self._count += 1
        if self._count > MAX_NODES:
            self._fail(f"more than {MAX_NODES} nodes; no more are read")
        if depth > MAX_DEPTH:
            self._fail(f"nodes nested more than {MAX_DEPTH} deep")
        bracket = self._next()
        if bracket != "{":
            self._wanted(bracket, f"{{ after {quoted(token)}")
        node = Node(token, name, line)
        siblings.append(Child(field, node))
        if name:
            self._scene.define(node)
        while (word := self._next()) != "}":
            if word in ("ROUTE", "PROTO", "EXTERNPROTO"):
                self._statement(word, "", node.children, depth + 1)
            elif _WORD.match(word):
                self._field(node, word, depth)
            else:
                self._wanted(word, f"a field of {quoted(token)} or }}")

    def _leave_out(self, kind: str, name: str, line: int) -> None:
        begin = self._at
        self._skip_block("{")
        url = re.search(r'url[\s,\[]*+"([^"]*+)"', self._text[begin:self._at]) if kind == "Inline" else None
        self._scene.left_out.append(LeftOut(kind, url[1] if url else name, line))

    def _field(self, node: Node, name: str, depth: int) -> None:
        """Read the value of a field."""
        first = self._peek()
        line = self._here()
        if first == "[":
            self._at += 1
            self._list(node, name, depth)
        elif first == '"':
            node.fields[name] = Value(self._next(), line)
        elif found := _NUMBERS.match(self._text, self._at):
            node.fields[name] = Value(found[0], line)
            self._at = found.end()
        else:
            word = self._next()
            if word in _TRUTHS:
                node.fields[name] = Value(word, line)
            elif word == "IS":
                self._word("a prototype's field")
            elif word != "NULL":
                if not _WORD.match(word):
                    self._wanted(word, f"what {quoted(name)} holds")
                self._node(word, name, node.children, depth + 1)

    def _list(self, node: Node, name: str, depth: int) -> None:
        """Read a list between square brackets, of which the first has been read."""
        first, line = self._peek(), self._here()
        is_of_nodes = _WORD.match(first) and not _NUMBERS.match(self._text, self._at)
        if not is_of_nodes or self._text.startswith(tuple(_TRUTHS), self._at):
            found = _LIST.match(self._text, self._at)
            end = found.end() if found else self._at
            if not self._text.startswith("]", end):
                self._at = end
                self._wanted("", "]")
            node.fields[name] = Value(self._text[self._at:end], line)
            self._at = end + 1
            return
        while (token := self._next()) != "]":
            self._statement(token, name, node.children, depth + 1)
