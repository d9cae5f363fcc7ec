"""Work on arrays outside of Blender's main thread, so that the window stays responsive and Esc works."""

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
"""Whether Blender may crash where an operator is called with another context while a Python thread runs.

It lets go of Python's lock for the operator, and then looks members of the context up in the dictionary of the
override. Whether the lock is to be taken for that it asks `_PyRuntime.gilstate.tstate_current`, which before Python
3.12 says whether any thread has it, not whether this one does.
"""
_QUIET_WITHIN_S: Final = 0.5
"""So long the interface may stand still for an operator that can be done without."""
_running: WeakSet["BackgroundWork[Any]"] = WeakSet()


@contextmanager
def operator_context(**members: Any) -> Iterator[None]:
    """Override the context as `temp_override` does, so that operators may be called; start no work within it."""
    if OVERRIDES_NEED_QUIET:
        for work in list(_running):
            work.has_ended(None)
    with bpy.context.temp_override(**members):
        yield


def is_quiet_soon() -> bool:
    """Wait a moment, and return whether `operator_context` would not wait for running work."""
    until_s = time.monotonic() + _QUIET_WITHIN_S
    return not OVERRIDES_NEED_QUIET or all(work.has_ended(max(until_s - time.monotonic(), 0.0))
                                           for work in list(_running))


class BackgroundWork(Generic[Result]):
    """A function that runs in a thread. It must not touch Blender's data.

    The function gets a callable that takes the share of work done and returns whether to continue.
    cost_s: processor time that it took, once it has ended.
    """

    def __init__(self, function: Callable[[Callable[[float], bool]], Result]) -> None:
        """Start it."""
        self.done, self.cost_s = 0.0, 0.0
        self._function = function
        self._is_cancelled = threading.Event()
        self._result: Result | None = None
        self._error: Exception | None = None
        _running.add(self)
        self._thread = threading.Thread(target=self._run, name="Takt", daemon=True)
        self._thread.start()

    def has_ended(self, within_s: float | None = 0.0) -> bool:
        """Wait at most this long, None: without limit, and return whether it has ended."""
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Ask it to end soon; its result is lost."""
        self._is_cancelled.set()

    def end(self) -> None:
        """Ask it to end, and wait until it has, so that it does not outlive Blender."""
        self._is_cancelled.set()
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

    def _go_on(self, done: float) -> bool:
        self.done = done
        return not self._is_cancelled.is_set()
