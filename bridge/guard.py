"""Whatever Blender calls by itself, a timer, a handler or a drawing, raises nothing: one report takes its place.

An exception in there would end the timer, or be printed again for each redraw.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Final, ParamSpec, TypeVar

_log = logging.getLogger(__name__)
_P, _R = ParamSpec("_P"), TypeVar("_R")
_MOST_REPORTS: Final = 256
"""So many different mistakes are told; one that differs each time fills neither the console nor the memory."""
_told: set[tuple[str, str]] = set()
"""What was told: the function, and what went wrong."""


def guarded(otherwise: _R) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Let a function raise nothing: its first failure of each kind is logged, and it returns something else.

    otherwise: what it returns then: for a timer the seconds until the next try, None for the last.
    """
    def of(work: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(work)
        def safe(*arguments: _P.args, **named: _P.kwargs) -> _R:
            try:
                return work(*arguments, **named)
            except Exception as problem:
                _tell(f"{work.__module__}.{work.__qualname__}", problem)
                return otherwise

        setattr(safe, IS_GUARDED, True)
        return safe

    return of


IS_GUARDED: Final = "takt_is_guarded"
"""The mark by which a guarded function is known."""


def _tell(where: str, problem: Exception) -> None:
    what = where, f"{type(problem).__name__}: {problem}"
    if what in _told or len(_told) >= _MOST_REPORTS:
        return
    _told.add(what)
    _log.error("%s failed; this is told once", where, exc_info=problem)


def forget() -> None:
    """Tell everything again, as after another .blend was opened."""
    _told.clear()
