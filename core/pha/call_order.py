"""The order in which procedures can be evaluated, and the cycles of calls that prevent it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, TypeVar

Key = TypeVar("Key", bound=Hashable)


_MOST_CYCLES: Final = 100


def innermost_first(starts: Iterable[Key], called: Callable[[Key], Iterable[Key]],
                    report_cycle: Callable[[list[Key]], None]) -> tuple[Key, ...]:
    """Return all procedures that can be reached by calls from `starts`, each after those that it calls.

    called: returns the procedures that one calls. report_cycle: gets the first hundred cycles of calls; if there are
    any, the order is not valid.
    Works without recursion, so any depth is possible.

    >>> innermost_first("a", {"a": "bc", "b": "c", "c": ""}.__getitem__, print)
    ('c', 'b', 'a')
    >>> _ = innermost_first("a", {"a": "b", "b": "a"}.__getitem__, print)
    ['a', 'b']
    """
    is_done: dict[Key, bool] = {}
    order: list[Key] = []
    cycles = 0
    for start in starts:
        if start in is_done:
            continue
        is_done[start] = False
        chain: list[tuple[Key, Iterator[Key]]] = [(start, iter(called(start)))]
        while chain:
            caller, rest = chain[-1]
            target = next(rest, None)
            if target is None:
                is_done[caller] = True
                order.append(caller)
                chain.pop()
            elif target not in is_done:
                is_done[target] = False
                chain.append((target, iter(called(target))))
            elif not is_done[target] and cycles < _MOST_CYCLES:
                cycles += 1
                keys = [key for key, _ in chain]
                report_cycle(keys[keys.index(target):])
    return tuple(order)
