"""Values in a score's text: the names that an element needs, those in scope there, and sums of expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..errors import EditError
from .document import number
from .expressions import ExpressionError, read_expression, shown
from .grammar import GRAMMAR, PARTS, RESTS, Kind, is_word
from .text import Text

_MOST_DECIMALS = 12
_NAME_IN_TEXT = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_ATOM = re.compile(r"[A-Za-z_]\w*(\([^()]*\))?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


def expressions(text: Text, element: int) -> dict[str, str]:
    """Return the attributes of an element that hold expressions, without those in seconds, as in 1.5s."""
    rule = GRAMMAR.get(text.shape.tags[element])
    found = {}
    for name, value in text.shape.attributes[element].items() if rule else ():
        attribute = rule.attributes.get(name) if rule else None
        kind = attribute.kind if attribute else rule.open_kind if rule else None
        if kind is not None and kind.is_expression and not is_word(kind, value) and not (
                kind in PARTS and seconds(value) is not None):
            found[name] = value
    return found


def lengths(text: Text, element: int) -> dict[str, str]:
    """Return the attributes of an element that are in ticks."""
    rule = GRAMMAR.get(text.shape.tags[element])
    return {name: value for name, value in text.shape.attributes[element].items()
            if rule and name in rule.attributes and rule.attributes[name].kind is Kind.LENGTH}


def is_expression(tag: str, name: str, value: str) -> bool:
    """Return whether an attribute holds an expression that is more than a number, yes or no, or seconds.

    >>> is_expression("call", "duration", "bars * 2"), is_expression("call", "duration", "4")
    (True, False)
    """
    rule = GRAMMAR.get(tag)
    attribute = rule.attributes.get(name) if rule else None
    kind = attribute.kind if attribute else rule.open_kind if rule else None
    return kind is not None and kind.is_expression and not is_word(kind, value) and not is_plain(value)


def is_plain(value: str) -> bool:
    """Return whether a value is a number, yes or no, or seconds."""
    return number(value) is not None or seconds(value) is not None or value.strip() in ("yes", "no")


def seconds(text: str) -> float | None:
    """Return the number of a value in seconds, as in 1.5s, or None if it is something else.

    >>> seconds("1.5s"), seconds("0.5"), seconds("times")
    (1.5, None, None)
    """
    stripped = text.strip()
    return number(stripped[:-1]) if stripped.endswith("s") else None


def names_in(expression: str) -> frozenset[str]:
    """Return the names whose values an expression needs; empty if it cannot be read.

    >>> sorted(names_in("min(bars, 2e1) + times"))
    ['bars', 'times']
    """
    try:
        return read_expression(expression).names
    except ExpressionError:
        return frozenset()


def with_names(expression: str, names: Mapping[str, str]) -> str:
    """Return an expression with names replaced by other expressions; calculated if no names remain.

    >>> with_names("2 * n + i", {"n": "a + 1", "i": "k"}), with_names("2 * n", {"n": "3"})
    ('2 * (a + 1) + k', '6')
    """
    if not names_in(expression) & names.keys():
        return expression
    new = _NAME_IN_TEXT.sub(lambda found: _closed(names[found[0]]) if found[0] in names else found[0], expression)
    try:
        return new if names_in(new) else shown(read_expression(new).value({}))
    except ExpressionError:
        return new


def spelled(value: float) -> str:
    """Return a number as text that is read as the same number.

    >>> spelled(4.0), spelled(0.1 + 0.2)
    ('4', '0.30000000000000004')
    """
    return repr(value).removesuffix(".0")


def spelled_within(value: float, resolution: float) -> str:
    """Return a number as text with the fewest decimals that are accurate to half of the resolution.

    >>> spelled_within(2.9999999, 1e-6), spelled_within(3.14159, 0.02), spelled_within(40.0, 0.5)
    ('3', '3.14', '40')
    """
    for decimals in range(_MOST_DECIMALS):
        words = f"{value:.{decimals}f}"
        if abs(float(words) - value) <= resolution / 2.0 and (float(words) > 0.0 or value <= 0.0):
            return words.rstrip("0").rstrip(".") if decimals else words
    return spelled(value)


def product(expression: str, factor: str) -> str:
    """Return the product of two expressions; calculated if both are numbers.

    >>> product("2", "1.5"), product("bars + 1", "2"), product("bars", "1")
    ('3', '(bars + 1) * 2', 'bars')
    """
    left, right = number(expression), number(factor)
    if right == 1.0:
        return expression
    if left == 1.0:
        return factor
    if left is not None and right is not None:
        return spelled(left * right)
    return f"{_closed(expression)} * {_closed(factor)}"


def ratio(expression: str, divisor: str) -> str:
    """Return the ratio of two expressions; calculated if both are numbers.

    >>> ratio("2", "4"), ratio("bars", "bars"), ratio("bars", "4")
    ('0.5', '1', 'bars / 4')
    """
    left, right = number(expression), number(divisor)
    if right == 1.0:
        return expression
    if left is not None and right:
        return spelled(left / right)
    return "1" if expression.strip() == divisor.strip() else f"{_closed(expression)} / {_closed(divisor)}"


def total(expressions: Iterable[str]) -> str:
    """Return the sum of expressions, with its numbers added up.

    >>> total(["1", "2"]), total(["bars", "1", "0.5"]), total([])
    ('3', 'bars + 1.5', '0')
    """
    plain, others = 0.0, []
    for expression in expressions:
        value = number(expression)
        if value is None:
            others.append(expression)
        else:
            plain += value
    if len(others) == 1 and not plain:
        return others[0]
    return " + ".join([*map(_closed, others), *([spelled(plain)] if plain or not others else [])])


def elements_below(text: Text, elements: Iterable[int]) -> Iterator[int]:
    """Yield elements and all their descendants."""
    for element in elements:
        yield from range(element, text.after(element))


def defined(text: Text, element: int) -> str:
    """Return the name of the value that an element defines, or "" if it defines none."""
    attributes, tag = text.shape.attributes[element], text.shape.tags[element]
    return attributes.get("index" if tag == "loop" else "name", "") if tag in ("loop", "let", "param") else ""


def names_needed(text: Text, elements: Iterable[int]) -> dict[str, None]:
    """Return the names that elements use but do not define, in the order of the text."""
    needed, own = dict[str, None](), set[str]()
    for element in elements_below(text, elements):
        for expression in expressions(text, element).values():
            needed.update(dict.fromkeys(sorted(names_in(expression))))
        own.add(defined(text, element))
    return {name: None for name in needed if name not in own}


def names_in_scope(text: Text, element: int) -> dict[str, int]:
    """Return the parameters, lets and indices that have a value at an element, each with the element that defines it.

    Values that a file defines for all its procedures are left out.
    """
    found = dict[str, int]()
    inner = element
    while (parent := text.parent(inner)) > 0:
        before = [child for child in text.children(parent) if child < inner and text.shape.tags[child] in
                  ("let", "param")]
        own = [parent] if text.shape.tags[parent] == "loop" else []
        for definition in (*before, *own):
            if defined(text, definition):
                found.setdefault(defined(text, definition), definition)
        inner = parent
    return found


def ticks_of(text: Text, elements: Iterable[int]) -> str:
    """Return the total length of neighbours in a block, as an expression in the names around them.

    Raises EditError if that depends on conditions, picks or the index of a loop.
    """
    lets: dict[str, str] = {}
    parts, waiting = [], list(elements)
    while waiting:
        element = waiting.pop(0)
        if text.shape.tags[element] == "let":
            attributes = text.shape.attributes[element]
            lets[attributes.get("name", "")] = with_names(attributes.get("value", "0"), lets)
        elif text.shape.tags[element] == "if":
            branches = [element]
            while waiting and text.shape.tags[waiting[0]] in ("elif", "else"):
                branches.append(waiting.pop(0))
            parts.append(with_names(_ticks_of_branches(text, branches), lets))
        else:
            parts.append(with_names(_ticks_of_one(text, element), lets))
    return total(parts)


def _ticks_of_branches(text: Text, branches: list[int]) -> str:
    ticks = {ticks_of(text, text.children(branch)) for branch in branches}
    if text.shape.tags[branches[-1]] != "else":
        ticks.add("0")
    if len(ticks) > 1:
        raise EditError("how long it lasts depends on a condition; take the whole branch, or calls inside of it")
    return ticks.pop()


def times_of(attributes: Mapping[str, str]) -> str:
    """Return how many times a call's duration plays: once for `fit`, whose duration is that of all rounds.

    >>> times_of({"repeat": "3"}), times_of({"repeat": "fit"}), times_of({})
    ('3', '1', '1')
    """
    repeat = attributes.get("repeat", "1")
    return "1" if is_word(Kind.REPEAT, repeat) else repeat


def _ticks_of_one(text: Text, element: int) -> str:
    tag, attributes = text.shape.tags[element], text.shape.attributes[element]
    if tag == "call":
        return product(attributes.get("duration", "0"), times_of(attributes))
    if tag in ("reach", "meet"):
        return total((attributes.get("duration", "0"), attributes.get("hold", "0")))
    if tag in RESTS or (tag == "together" and "duration" in attributes):
        return attributes.get("duration", "0")
    inside = list(text.children(element))
    if tag == "loop":
        once = ticks_of(text, inside)
        if attributes.get("index", "") in names_in(once):
            raise EditError("how long it lasts depends on the index of a loop; take the whole loop's inside instead")
        return product(once, attributes.get("times", "0"))
    each = [ticks_of(text, text.children(lane)) if tag == "together" else _ticks_of_one(text, lane) for lane in inside]
    if tag not in ("together", "pick"):
        raise EditError(f"how long <{tag}> lasts is not known")
    if tag == "together":
        plain = [value for value in map(number, each) if value is not None]
        if len(plain) == len(each):
            return spelled(max(plain))
        return each[0] if len(each) == 1 else f"max({', '.join(each)})"
    if len(set(each)) > 1:
        raise EditError("how long it lasts depends on a pick, whose choices are not equally long")
    return each[0]


def _closed(expression: str) -> str:
    """Return an expression, in parentheses if it is more than a name, a number or a call of a function."""
    stripped = expression.strip()
    return stripped if _ATOM.fullmatch(stripped) else f"({stripped})"
