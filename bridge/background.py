"""Computations outside Blender's main thread, so that the window stays responsive and Esc works."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

import bpy

from ..core.errors import TaktError

Result = TypeVar("Result")
OVERRIDES_NEED_QUIET: Final = sys.version_info < (3, 12)
"""Whether Blender may crash if an operator is called with a context override while a Python thread runs.

Blender releases Python's lock for the operator, and then looks up members of the context in the override's dictionary.
To decide whether it needs the lock, it asks `_PyRuntime.gilstate.tstate_current`. Before Python 3.12 that says whether
any thread holds the lock, not whether this one does.
"""
_QUIET_WITHIN_S: Final = 0.5
"""Longest time for which the interface may wait for an operator that is not essential."""
_running: WeakSet["BackgroundWork[Any]"] = WeakSet()
_pausing = threading.Condition()
_quiet_wanted = 0
"""Number of callers that ask for quiet."""


@contextmanager
def operator_context(**members: Any) -> Iterator[None]:
    """Override the context as `temp_override` does, so that operators may be called; start no work within it."""
    if not OVERRIDES_NEED_QUIET:
        with bpy.context.temp_override(**members):
            yield
        return
    with _quiet():
        for work in list(_running):
            work.is_still(None)
        with bpy.context.temp_override(**members):
            yield


def is_quiet_soon() -> bool:
    """Wait a moment, and return whether `operator_context` could start without waiting for running work."""
    if not OVERRIDES_NEED_QUIET:
        return True
    until_s = time.monotonic() + _QUIET_WITHIN_S
    with _quiet():
        return all(work.is_still(max(until_s - time.monotonic(), 0.0)) for work in list(_running))


def is_quiet_wanted() -> bool:
    """Return whether work that may pause should do so. Such work polls its callable, and waits there."""
    return _quiet_wanted > 0


@contextmanager
def _quiet() -> Iterator[None]:
    global _quiet_wanted
    with _pausing:
        _quiet_wanted += 1
    try:
        yield
    finally:
        with _pausing:
            _quiet_wanted -= 1
            _pausing.notify_all()


class BackgroundWork(Generic[Result]):
    """A function that runs in a thread. It must not touch Blender's data.

    The function gets a callable that takes the share of work done and returns whether to continue. may_pause: that
    callable waits while an `operator_context` needs quiet. Within such a context this work may be cancelled, but not
    waited for. cost_s: processor time used, once it has ended.
    """

    def __init__(self, function: Callable[[Callable[[float], bool]], Result], *, may_pause: bool = False) -> None:
        """Start it."""
        self.done, self.cost_s = 0.0, 0.0
        self._may_pause, self._is_paused = may_pause, False
        self._function = function
        self._is_cancelled, self._is_done = threading.Event(), False
        self._result: Result | None = None
        self._error: Exception | None = None
        _running.add(self)
        self._thread = threading.Thread(target=self._run, name="Takt", daemon=True)
        self._thread.start()

    def has_ended(self, within_s: float | None = 0.0) -> bool:
        """Wait at most this long, None for no limit, and return whether it has ended."""
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def is_still(self, within_s: float | None) -> bool:
        """Wait at most this long, None for no limit, and return whether it has ended or paused."""
        if not self._may_pause:
            return self.has_ended(within_s)
        with _pausing:
            _pausing.wait_for(lambda: self._is_paused or self._is_done, within_s)
            is_paused = self._is_paused
        return is_paused or self.has_ended(0.0 if within_s is not None else None)

    def cancel(self) -> None:
        """Ask it to end soon; its result is lost."""
        with _pausing:
            self._is_cancelled.set()
            _pausing.notify_all()

    def end(self) -> None:
        """Ask it to end, and wait until it has, so that it does not outlive Blender."""
        self.cancel()
        self._thread.join()

    def result(self) -> Result:
        """Return the function's result, or raise its exception; only after its end."""
        if self._error is not None:
            raise self._error
        if self._result is None:
            raise TaktError("the work has not ended yet")
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._function(self._go_on)
        except Exception as error:  # raised again by result()
            self._error = error
        finally:
            self.cost_s = time.thread_time()
            _running.discard(self)
            with _pausing:
                self._is_done = True
                _pausing.notify_all()

    def _go_on(self, done: float) -> bool:
        self.done = done
        if self._may_pause and _quiet_wanted:
            with _pausing:
                self._is_paused = True
                _pausing.notify_all()
                _pausing.wait_for(lambda: not _quiet_wanted or self._is_cancelled.is_set())
                self._is_paused = False
        return not self._is_cancelled.is_set()
