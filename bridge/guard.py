"""Functions that Blender calls by itself, in timers, handlers and drawings, raise nothing: failures are logged once.

An exception there would end the timer, or be printed again at each redraw.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

_log = logging.getLogger(__name__)
_P = ParamSpec("_P")
_R = TypeVar("_R")
_MOST_REPORTS: Final = 256
"""Number of different errors that are reported; changing messages then fill neither console nor memory."""
_CALLED: Final[Mapping[str, object]] = {
    "draw": None, "draw_header": None, "draw_header_preset": None, "draw_item": None, "draw_prepare": None,
    "setup": None, "test_select": -1, "poll": False, "poll_drop": False, "description": ""}
"""Methods that Blender calls whenever it draws, and their results if they fail."""
_SAME_ARITY: Final[Mapping[int, Callable[[Any], Any]]] = {
    1: lambda call: lambda a: call(a),
    2: lambda call: lambda a, b: call(a, b),
    3: lambda call: lambda a, b, c: call(a, b, c),
    10: lambda call: lambda a, b, c, d, e, f, g, h, i, j: call(a, b, c, d, e, f, g, h, i, j)}
"""Wrappers by number of parameters: Blender counts these, and accepts no method with a variable number."""
_told: set[tuple[str, str]] = set()
"""The failures that were logged: function, and error."""


def guarded(otherwise: object) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorate a function so that it never raises: its first failure of each kind is logged.

    otherwise: its result after a failure. For a timer: the seconds until the next call, or None to end it.
    """
    def of(work: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(work)
        def safe(*arguments: _P.args, **named: _P.kwargs) -> _R:
            try:
                return work(*arguments, **named)
            except Exception as problem:
                _tell(f"{work.__module__}.{work.__qualname__}", problem)
                return cast(_R, otherwise)

        setattr(safe, IS_GUARDED, True)
        return safe

    return of


def guard_class(cls: Any, package: str) -> None:
    """Guard the methods of a class that Blender calls at each drawing, if they belong to Takt.

    A failed method draws a message.
    """
    for name, otherwise in _CALLED.items():
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if owner is None or not owner.__module__.startswith(package):
            continue
        found = vars(owner)[name]
        is_of_class = isinstance(found, classmethod)
        work = found.__func__ if is_of_class else found
        if hasattr(work, IS_GUARDED):
            continue
        safe = _SAME_ARITY[work.__code__.co_argcount](guarded(otherwise)(_saying_so(work) if "draw" in name else work))
        safe.__name__, safe.__qualname__, safe.__doc__, safe.__module__ = (
            work.__name__, work.__qualname__, work.__doc__, work.__module__)
        setattr(safe, IS_GUARDED, True)
        setattr(cls, name, classmethod(safe) if is_of_class else safe)


def _saying_so(work: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a method that draws a message into its layout if it fails."""
    @wraps(work)
    def drawn(*arguments: _P.args, **named: _P.kwargs) -> _R:
        try:
            return work(*arguments, **named)
        except Exception:
            layout: Any = getattr(arguments[0], "layout", None)
            if layout is not None:
                layout.label(text="Takt failed here: see the console", icon="ERROR", translate=False)
            raise

    return drawn


IS_GUARDED: Final = "takt_is_guarded"
"""The attribute that marks a guarded function."""


def _tell(where: str, problem: Exception) -> None:
    what = where, f"{type(problem).__name__}: {problem}"
    if what in _told or len(_told) >= _MOST_REPORTS:
        return
    _told.add(what)
    _log.error("%s failed; this is told once", where, exc_info=problem)


def forget() -> None:
    """Clear the list of logged failures, as after another .blend was opened."""
    _told.clear()
