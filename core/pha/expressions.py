"""Expressions in the attributes of a score: numbers, yes and no, roles, names, arithmetic, comparisons, functions.

Python's parser reads them, and only nodes on a white list are allowed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..errors import TaktError, quoted


@dataclass(frozen=True)
class Role:
    """Someone or something that a score names and the scene casts; kind: from the score's `role`, see grammar."""

    name: str
    kind: str

    def __str__(self) -> str:
        return f"the {self.kind} {quoted(self.name)}"


Value = float | bool | Role
Scope = Mapping[str, Value]
MAX_CHARACTERS: Final = 1_000
MAX_LEVELS: Final = 100

NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS: Final = {"yes": True, "no": False}
_FUNCTIONS: Final[Mapping[str, Callable[..., float]]] = {
    "min": min, "max": max, "round": round, "floor": math.floor, "ceil": math.ceil, "abs": abs}
_TAKE_SEVERAL: Final = frozenset({"min", "max"})
_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}
_COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge}
_RESERVED: Final = frozenset({*_WORDS, "and", "or", "not", "if", "else", "in", "is", "lambda", "None",
                              "True", "False"})
_ELSEWHERE: Final = {"=": "==", "&&": "and", "||": "or", "!": "not", "^": "a product", "**": "a product",
                     "true": "yes", "false": "no"}
"""Operators of other languages, with those of this one."""
_COMPARING: Final = re.compile("[=!<>]=")
_Evaluate = Callable[[Scope], Value]
_NO_NAMES: Final = frozenset[str]()


class ExpressionError(TaktError):
    """An expression that cannot be read, or has no value."""


@dataclass(frozen=True)
class Expression:
    """An expression that has been read.

    names: names whose values it needs. constant: its value, if it is a plain number, yes or no. size: the count of
    numbers, names and operations in it. It is compared and hashed by its text alone.
    """

    text: str
    names: frozenset[str]
    _evaluate: _Evaluate
    constant: Value | None = None
    size: int = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def value(self, scope: Scope) -> Value:
        """Return its value; raise ExpressionError, with the values of its names, if it has none."""
        try:
            return self._evaluate(scope)
        except _NoValueError as error:
            known = ", ".join(f"{name} = {shown(scope[name])}" for name in sorted(self.names) if name in scope)
            where = f" with {known}" if known else ""
            raise ExpressionError(f"found {quoted(self.text)}{where}: {error}") from None

    def number(self, scope: Scope) -> float:
        """Return its value, a number; raise ExpressionError if it is something else."""
        value = self.value(scope)
        if isinstance(value, bool | Role):
            raise ExpressionError(f"found {quoted(self.text)}, which is {_described(value)}, expected a number")
        return value

    def truth(self, scope: Scope) -> bool:
        """Return its value, yes or no; raise ExpressionError if it is something else."""
        value = self.value(scope)
        if not isinstance(value, bool):
            raise ExpressionError(f"found {quoted(self.text)}, which is {_described(value)}, expected yes or no")
        return value

    def role(self, scope: Scope, kinds: Sequence[str]) -> Role:
        """Return its value, a role of one of these kinds; raise ExpressionError if it is something else."""
        value = self.value(scope)
        if not isinstance(value, Role) or value.kind not in kinds:
            named = [f"a {kind}" for kind in kinds]
            either = " or ".join([*filter(None, [", ".join(named[:-1])]), named[-1]])
            raise ExpressionError(f"found {quoted(self.text)}, which is {_described(value)}, expected a role that is "
                                  f"{either}")
        return value


class _NoValueError(Exception):
    """The reason why an expression has no value."""


def read_expression(text: str) -> Expression:
    """Read an expression, or a number as scores write it (`+5`, `007`, `1.`).

    Raises ExpressionError, which says what is allowed, for anything that is not in the language, for more than
    MAX_CHARACTERS characters and for more than MAX_LEVELS levels of nesting.

    >>> read_expression("2 * bars + 1").value({"bars": 4.0})
    9.0
    >>> read_expression("big and i % 2 == 1").value({"big": True, "i": 3.0})
    True
    >>> read_expression("1 / times").value({"times": 0.0})
    Traceback (most recent call last):
    ...
    takt.core.pha.expressions.ExpressionError: found '1 / times' with times = 0: division by zero
    """
    stripped = text.strip()
    if stripped in _WORDS or NUMBER.fullmatch(stripped):
        value = _WORDS[stripped] if stripped in _WORDS else _finite(float(stripped), text)
        return Expression(text, _NO_NAMES, _constant(value), value)
    if is_name(stripped):
        return Expression(text, frozenset((stripped,)), _looked_up(stripped))
    compiler = _Compiler(stripped)
    evaluate = compiler.compiled(_parsed(stripped), MAX_LEVELS)
    return Expression(text, frozenset(compiler.names), evaluate, None, compiler.size)


def is_name(text: str) -> bool:
    """Return whether a value may have this name: letters, digits, underscores, and no word of the language.

    Names of functions are allowed, since functions are followed by parentheses.

    >>> is_name("times"), is_name("2nd"), is_name("yes")
    (True, False, False)
    """
    return _NAME.fullmatch(text) is not None and text not in _RESERVED


def shown(value: Value) -> str:
    """Return a value as a score writes it.

    >>> shown(True), shown(2.0), shown(0.25)
    ('yes', '2', '0.25')
    """
    if isinstance(value, Role):
        return value.name
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.17g}" if value != int(value) or abs(value) >= 1e16 else str(int(value))


def _described(value: Value) -> str:
    """Return a value as it is named in messages."""
    return str(value) if isinstance(value, Role) else shown(value)


def _parsed(text: str) -> ast.expr:
    if len(text) > MAX_CHARACTERS:
        raise ExpressionError(f"found an expression of {len(text)} characters, expected at most {MAX_CHARACTERS}")
    if not text.isascii() or not text.isprintable():
        raise ExpressionError(f"found {quoted(text)}, expected plain letters, digits and signs in one line")
    if _open_at_once(text) > MAX_LEVELS:
        raise _too_deep(text)
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unknown(text) from None


def _open_at_once(text: str) -> int:
    """Return the greatest number of nested parentheses, to limit the depth for the parser."""
    deepest = level = 0
    for character in text if text.count("(") > MAX_LEVELS else "":
        level += (character == "(") - (character == ")")
        deepest = max(deepest, level)
    return deepest


def _too_deep(text: str) -> ExpressionError:
    return ExpressionError(f"found {quoted(text)}, expected at most {MAX_LEVELS} levels of nesting")


def _unknown(text: str) -> ExpressionError:
    return ExpressionError(
        f"found {quoted(text)}, expected numbers, yes, no and names, joined by + - * / // % == != < <= > >= and or "
        f"not, parentheses, or {', '.join(_FUNCTIONS)} with what they take in parentheses{_meant(text)}")


def _meant(text: str) -> str:
    """Return a suggestion for operators of other languages, or ""."""
    written = next((sign for sign in _ELSEWHERE if sign in _COMPARING.sub("", text)), None)
    return "" if written is None else f"; did you mean {_ELSEWHERE[written]} for {written}?"


class _Compiler:
    """Turns a text, read as Python, into a function that evaluates it; names, size: see Expression."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.names = set[str]()
        self.size = 0

    def compiled(self, node: ast.expr, levels: int) -> _Evaluate:
        """Return a function that evaluates a node.

        Raises ExpressionError if the language does not have it, or beyond so many levels.
        """
        if not levels:
            raise _too_deep(self._text)
        self.size += 1

        def inner(part: ast.expr) -> _Evaluate:
            return self.compiled(part, levels - 1)

        match node:
            case ast.Constant(value=int() | float() as value) if NUMBER.fullmatch(self._text, node.col_offset,
                                                                                  node.end_col_offset or 0):
                return _constant(_finite(_as_float(value), self._text))
            case ast.Name(id=name) if name in _WORDS:
                return _constant(_WORDS[name])
            case ast.Name(id=name) if is_name(name):
                self.names.add(name)
                return _looked_up(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = inner(operand)
                return lambda scope: -_number(number(scope))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = inner(operand)
                return lambda scope: not _truth(truth(scope))
            case ast.BoolOp(op=op, values=values):
                return _joined([inner(value) for value in values], decides=isinstance(op, ast.Or))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return _calculated(_ARITHMETIC[type(op)], (inner(left), inner(right)))
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
                return _compared([type(op) for op in ops], [inner(side) for side in (left, *others)])
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS and (
                    len(arguments) == 1 or (name in _TAKE_SEVERAL and arguments)):
                return _calculated(_of_several(_FUNCTIONS[name]), [inner(argument) for argument in arguments])
        raise _unknown(self._text)


def _constant(value: Value) -> _Evaluate:
    return lambda _: value


def _looked_up(name: str) -> _Evaluate:
    def look_up(scope: Scope) -> Value:
        if name not in scope:
            raise _NoValueError(f"there is no {quoted(name)} here")
        return scope[name]

    return look_up


def _joined(parts: list[_Evaluate], *, decides: bool) -> _Evaluate:
    """Return the function for `and` or `or`: the first no decides `and`, the first yes decides `or`."""
    def join(scope: Scope) -> Value:
        for part in parts:
            if _truth(part(scope)) is decides:
                return decides
        return not decides

    return join


def _calculated(function: Callable[..., float], parts: list[_Evaluate] | tuple[_Evaluate, ...]) -> _Evaluate:
    def calculate(scope: Scope) -> Value:
        values = [_number(part(scope)) for part in parts]
        try:
            result = float(function(*values))
        except ZeroDivisionError:
            raise _NoValueError("division by zero") from None
        if not math.isfinite(result):
            raise _NoValueError("the result is larger than a number can be")
        return result

    return calculate


def _of_several(function: Callable[..., float]) -> Callable[..., float]:
    """Return min and max changed to take a single value too; other functions as they are."""
    return (lambda *values: function(values)) if function in (min, max) else function


def _compared(kinds: list[type[ast.cmpop]], sides: list[_Evaluate]) -> _Evaluate:
    steps = [(_COMPARISONS[kind], kind not in (ast.Eq, ast.NotEq), side)
             for kind, side in zip(kinds, sides[1:], strict=True)]

    def compare(scope: Scope) -> Value:
        left = sides[0](scope)
        for holds, is_order, side in steps:
            right = side(scope)
            if _sort(left) is not _sort(right) or (is_order and _sort(left) is not float):
                raise _NoValueError(f"{_described(left)} cannot be compared with {_described(right)}")
            if not holds(left, right):
                return False
            left = right
        return True

    return compare


def _sort(value: Value) -> type:
    """Return the type of values with which a value can be compared."""
    return Role if isinstance(value, Role) else bool if isinstance(value, bool) else float


def _number(value: Value) -> float:
    if isinstance(value, bool | Role):
        raise _NoValueError(f"{_described(value)} stands where a number belongs")
    return value


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise _NoValueError(f"{_described(value)} stands where yes or no belongs")
    return value


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _finite(value: float, text: str) -> float:
    if not math.isfinite(value):
        raise ExpressionError(f"found {quoted(text)}, expected a number of usual size")
    return value
