"""Cache the results of functions for equal arguments, such as the equal bodies of many files in a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def once_for_equal(most: int) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that caches a pure function's results for equal arguments; the last `most` results are kept.

    Arguments: arrays; dataclasses, without fields that are not compared; mappings, tuples and lists of these; and
    values that differ in their repr. Keyword arguments are not supported.

    >>> made = []
    >>> total = once_for_equal(2)(lambda values: made.append(values) or float(values.sum()))
    >>> total(np.ones(3)), total(np.ones(3)), total(np.ones(4)), len(made)
    (3.0, 3.0, 4.0, 2)
    """
    def once(make: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        plain: Callable[..., Result] = make
        kept = lru_cache(maxsize=most)(lambda arguments: plain(*arguments.values))

        @wraps(make)
        def known(*arguments: Arguments.args, **_: Arguments.kwargs) -> Result:
            return kept(_Values(arguments))

        return known

    return once


class _Values:
    """Arguments that count as equal if their digests are equal."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        found = hashlib.blake2b(digest_size=16)
        _add(found, values)
        self.values, self._digest = values, found.digest()

    def __hash__(self) -> int:
        return hash(self._digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Values) and other._digest == self._digest


def _add(found: hashlib.blake2b, value: Any) -> None:
    """Add a value to a digest, so that different values have different digests."""
    if isinstance(value, np.ndarray):
        found.update(f"{value.dtype}{value.shape}".encode())
        found.update(value.tobytes())
    elif is_dataclass(value):
        parts = tuple(getattr(value, each.name) for each in fields(value)
                      if each.init and each.compare)
        _add(found, (type(value).__qualname__, *parts))
    elif isinstance(value, Mapping):
        _add(found, ("mapping", *(part for item in value.items() for part in item)))
    elif isinstance(value, tuple | list) and not all(isinstance(part, str | float | int | None) for part in value):
        found.update(f"{len(value)}(".encode())
        for part in value:
            _add(found, part)
    else:
        found.update(f"{sorted(value) if isinstance(value, frozenset) else value!r};".encode())
