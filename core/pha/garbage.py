"""Switch Python's search for cycles off while many objects are made that all stay in use.

The search goes through all objects whenever their number has grown by a quarter: a fifth of the time for a score of
50,000 calls. None of the objects made there are part of a cycle.
"""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")
_LOCK: Final = threading.Lock()
_running: list[bool] = []
"""For each call that runs, in any thread, whether the search was on when it began."""


def without_search_for_cycles(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that runs without the search; after the last such function it is on again, if it was on."""
    @functools.wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with _LOCK:
            _running.append(gc.isenabled() or any(_running))
            gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            with _LOCK:
                was_on = _running.pop()
                if was_on and not _running:
                    gc.enable()

    return run
