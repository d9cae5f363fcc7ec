"""The elements of version 2 as nodes: expressions are read, and all is checked against the grammar."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from ..errors import quoted
from .expressions import NUMBER, Expression, ExpressionError, is_name, read_expression
from .grammar import GRAMMAR, HANDS, MISSING, MODES, MOST, PARTS, PLAYED, ROLE_KINDS, Attribute, Kind, is_word
from .naming import near
from .text import Text

Report = Callable[[int, str], None]
"""Called with an element's number in its text, and what is wrong with it."""
_NOTHING = read_expression("0")
MAX_CHARACTERS: Final = 400_000
"""Greatest number of characters of all expressions of a file."""
MAX_PARAMS: Final = 1_000
"""Greatest number of parameters of a procedure."""
_PLAIN = 20
"""Number of characters of an element's values, up to which its expressions are too short to be counted."""
_LONGEST_KEPT = 200
"""Number of characters of an element's values, up to which its attributes are cached for the next reading."""
_CHOICES: Final[Mapping[Kind, Sequence[str]]] = {Kind.MODE: MODES, Kind.ROLE_KIND: ROLE_KINDS,
                                                Kind.HAND: HANDS}
_AT_MOST_ONE = ("with", "music")
_IN_ORDER = frozenset({"elif", "else", "param", *_AT_MOST_ONE})
"""Elements that may not stand everywhere, or not more than once."""
_OPEN = Attribute(Kind.VALUE, "")
"""The attribute for names that the author has chosen."""


class Attributes(NamedTuple):
    """The values of an element's attributes, and their mistakes; see Node."""

    texts: Mapping[str, str]
    expressions: Mapping[str, Expression]
    in_seconds: frozenset[str]
    names: frozenset[str]
    plain: tuple[float, float] | None
    problems: tuple[str, ...]

    @classmethod
    def of(cls, tag: str, texts: Mapping[str, str], expressions: Mapping[str, Expression],
           in_seconds: frozenset[str] = frozenset(), problems: tuple[str, ...] = ()) -> Attributes:
        """Return attributes with what follows from them."""
        names = frozenset[str]().union(*(expression.names for expression in expressions.values()))
        numbers = [expressions[name].constant if name in expressions else nothing
                   for name, nothing in (("duration", None), ("transition", math.nan))]
        is_plain = tag == "call" and expressions.keys() <= {"duration", "transition"} and "repeat" not in texts
        duration, transition = numbers
        if not is_plain or not isinstance(duration, float) or not isinstance(transition, float) or (
                duration < 0.0 or transition < 0.0):
            return cls(texts, expressions, in_seconds, names, None, problems)
        return cls(texts, expressions, in_seconds, names, (duration, transition), problems)


class Node(NamedTuple):
    """An element, equal to itself alone; element: its number in the text.

    texts: attributes without expressions; expressions: attributes with expressions. Missing attributes are in neither.
    in_seconds: the names of expressions that were written in seconds, as in 1.5s.
    names: of all values that its expressions need. plain: duration and transition (NaN: none) of a call without
    children, if both are plain numbers that can be played, and it says nothing else; else None.
    """

    tag: str
    texts: Mapping[str, str]
    expressions: Mapping[str, Expression]
    children: tuple[Node, ...]
    element: int
    in_seconds: frozenset[str]
    names: frozenset[str]
    plain: tuple[float, float] | None

    @classmethod
    def of(cls, tag: str, read: Attributes, children: tuple[Node, ...], element: int) -> Node:
        """Return an element with attributes that have been read."""
        return cls(tag, read.texts, read.expressions, children, element, read.in_seconds, read.names,
                   None if children else read.plain)

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def name(self) -> str:
        """The name of its target or definition; "" if it has none."""
        return self.texts.get("name", "")

    @property
    def transition(self) -> Expression | None:
        """The length of the transition after it, if given."""
        return self.expressions.get("transition")


Node.__hash__ = object.__hash__  # type: ignore[method-assign]  # written in C: each reading looks up all elements


def shifted(node: Node, by: int) -> Node:
    """Return an element with its number, and those of all within it, increased."""
    tag, texts, expressions, children, element, in_seconds, names, plain = node
    if children:  # no deeper than elements may be nested
        children = tuple([shifted(child, by) for child in children])
    row = tag, texts, expressions, children, element + by, in_seconds, names, plain
    return tuple.__new__(Node, row)  # as Node(*row), in less time


class BlockReader:
    """Reads elements as nodes and reports mistakes."""

    def __init__(self, text: Text, report: Report, known: Mapping[int, tuple[Node, ...]] | None = None,
                 known_nodes: Mapping[int, Node] | None = None, most: int | None = None) -> None:
        """report: called for each mistake; known: children of elements without mistakes.

        known_nodes: elements without mistakes. most: number of mistakes after which the search ends.
        """
        self._text, self._tell, self._known, self._left = text, report, known or {}, most
        self._known_nodes = known_nodes or {}
        self._characters, self._is_over = 0, False
        _, self._tags, self._attributes, self._words = text.shape

    def node(self, element: int) -> Node:
        """Read an element with its descendants; mistakes are reported, and replaced by harmless values."""
        tags = self._tags
        tag, given = tags[element], self._attributes[element]
        rule = GRAMMAR[tag]
        if self._is_over:
            nothing = _known_attributes(tag, ())
            return Node.of(tag, nothing, (), element)
        length = sum(map(len, given.values()))
        read = (_known_attributes if length <= _LONGEST_KEPT else _read_attributes)(tag, tuple(given.items()))
        if length > _PLAIN:
            self._count_characters(element, read)
        if element in self._known:
            return Node.of(tag, read, self._known[element], element)
        inside = self._text.children(element) if element else self.top
        if inside or self._words[element]:
            self._check_children(element, inside)
        for message in read.problems:
            self._report(element, message)
        known, allowed = self._known_nodes, rule.children
        children = tuple([known.get(child) or self.node(child) for child in inside
                          if tags[child] in allowed]) if inside else ()
        if len(children) < rule.least:
            wanted = " or ".join(f"<{child}>" for child in rule.children[:6])
            self._report(element, f"<{tag}>: found nothing to play in it, expected at least one {wanted}")
        return Node.of(tag, read, children, element)

    def _report(self, element: int, message: str) -> None:
        self._tell(element, message)
        if self._left is not None:
            self._left -= 1
            self._is_over = self._is_over or self._left < 0

    def _count_characters(self, element: int, read: Attributes) -> None:
        """Count the characters of expressions; report the first one above the limit."""
        self._characters += sum(len(each.text) for each in read.expressions.values() if each.constant is None)
        if self._characters > MAX_CHARACTERS:
            self._is_over = True
            self._report(element, f"<{self._tags[element]}>: up to here the expressions have more than "
                                  f"{MAX_CHARACTERS} characters, expected fewer: give what comes often a name by <let>")

    @cached_property
    def top(self) -> Sequence[int]:
        """The elements below `pha`; if there are more of a kind than MOST, that is reported and they are left out."""
        inside = self._text.children(0)
        for tag, (most, advice) in MOST.items():
            same = [child for child in inside if self._tags[child] == tag] if len(inside) > most else []
            if len(same) > most:
                self._report(same[most], f"found {len(same)} <{tag}>, expected at most {most}: {advice}")
                self._is_over = True
        return () if self._is_over else inside

    def _check_children(self, element: int, inside: Sequence[int]) -> None:
        tags, tag, words = self._tags, self._tags[element], self._words[element]
        allowed = GRAMMAR[tag].children
        if words:
            self._report(element, f"<{tag}>: found the text {quoted(words)}, expected only elements")
        kinds, has_weights = {tags[child] for child in inside}, tag == "pick"
        if kinds.issubset(allowed) and kinds.isdisjoint(_IN_ORDER) and (
                has_weights or not any("weight" in self._attributes[child] for child in inside)):
            return
        before, has_played, params, met = "", False, 0, set[str]()
        for child in inside:
            name = tags[child]
            if self._is_over:
                return
            if name not in allowed:
                wanted = " or ".join(f"<{each}>" for each in allowed) or "nothing inside"
                self._report(child, f"found <{name[:60]}> in <{tag}>, expected {wanted}{near(name, allowed)}")
            elif name in ("elif", "else") and before not in ("if", "elif"):
                self._report(child, f"found <{name}> after {f'<{before}>' if before else 'nothing'}, expected it right "
                                    "after an <if> or <elif>")
            elif name == "param" and has_played:
                self._report(child, "found <param> after what plays, expected parameters before anything else")
            elif name in _AT_MOST_ONE and name in met:
                self._report(child, f"found a second <{name}> in <{tag}>, expected at most one")
            if not has_weights and name in PLAYED and "weight" in self._attributes[child]:
                self._report(child, f"<{name}> weight: found one outside of a <pick>, where it means nothing; expected "
                                    "none")
            before, has_played, params = name, has_played or name != "param", params + (name == "param")
            met.add(name)
        if params > MAX_PARAMS:
            self._report(element, f"<{tag}>: found {params} <param>, expected at most {MAX_PARAMS}")
            self._is_over = True


def _read_attributes(tag: str, given: tuple[tuple[str, str], ...]) -> Attributes:
    """Read attributes, given as names and values."""
    rule = GRAMMAR[tag]
    texts: dict[str, str] = {}
    expressions: dict[str, Expression] = {}
    in_seconds = set()
    problems: list[str] = []
    for name, text in given:
        if rule.open_kind is not None and is_name(name):
            attribute = _OPEN
        elif name in rule.attributes:
            attribute = rule.attributes[name]
        else:
            wanted = " or ".join(rule.attributes) or "names of parameters" * (rule.open_kind is not None) or "none"
            problems.append(f"<{tag}>: found an unknown attribute {quoted(name)}, expected {wanted}"
                            f"{near(name, rule.attributes)}")
            continue
        if not attribute.kind.is_expression:
            texts[name] = text
            if not _fits(text, attribute.kind):
                problems.append(f"<{tag}> {name}: found {quoted(text)}, expected {attribute.kind.value}"
                                f"{near(text, _CHOICES.get(attribute.kind, ()))}")
            continue
        stripped = text.strip()
        if not stripped:
            problems.append(f"<{tag}> {name}: found nothing, expected {attribute.kind.value}")
            expressions[name] = _NOTHING
            continue
        if is_word(attribute.kind, stripped):
            texts[name] = stripped
            continue
        is_in_seconds = attribute.kind in PARTS and stripped.endswith("s") and NUMBER.fullmatch(stripped[:-1])
        if is_in_seconds:
            in_seconds.add(name)
        try:
            expressions[name] = _read(stripped[:-1] if is_in_seconds else text)
        except ExpressionError as error:
            problems.append(f"<{tag}> {name}: {error}")
            expressions[name] = _NOTHING
    for name, attribute in rule.attributes.items():
        if attribute.default is None and name not in texts and name not in expressions:
            problems.append(_missing(tag, name, attribute.kind, texts))
            if attribute.kind.is_expression:
                expressions[name] = _NOTHING
            else:
                texts[name] = ""
    return Attributes.of(tag, texts, expressions, frozenset(in_seconds), tuple(problems))


def _missing(tag: str, name: str, kind: Kind, texts: Mapping[str, str]) -> str:
    """Return the message for an attribute that is missing beside others, given without expressions."""
    beside, word, message = MISSING.get((tag, name), ("", "", ""))
    return message if word and texts.get(beside) == word else f"<{tag}> {name}: found none, expected {kind.value}"


@lru_cache(maxsize=8192)
def _known_attributes(tag: str, given: tuple[tuple[str, str], ...]) -> Attributes:
    """Return cached attributes: most of a score's attributes do not change from one reading to the next."""
    return _read_attributes(tag, given)


def _fits(text: str, kind: Kind) -> bool:
    if kind is Kind.NEW_NAME:
        return is_name(text)
    return text in _CHOICES[kind] if kind in _CHOICES else bool(text.strip())


@lru_cache(maxsize=4096)
def _read(text: str) -> Expression:
    return read_expression(text)
