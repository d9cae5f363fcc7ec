"""Base of operators with long work: it runs in the background, with progress, until it ends or Esc is pressed."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import bpy

from ..bridge.background import BackgroundWork
from ..bridge.reports import GreyWithReason, refuse
from ..core.errors import CancelledError, TaktError
from .long_work import LongWork

_NO_PROGRESS_BEFORE_S = 0.4
"""Work that ends within this time shows no progress bar."""
_POLL_S = 0.1

Result = TypeVar("Result")
Work = Callable[[Callable[[float], bool]], Result]


def _is_editing() -> bool:
    """Return whether an object is in Edit Mode, where undo would not revert what is written meanwhile."""
    return any(ob.mode == "EDIT" for ob in bpy.data.objects)


class WorksInBackground(LongWork, GreyWithReason, Generic[Result]):
    """A base class beside Blender's own: it reads, computes on arrays in a thread, and writes the result.

    `read` and `write` are implemented by the operator, and run in Blender's main thread; both may raise TaktError.
    """

    _work: BackgroundWork[Result]

    def read(self, context: bpy.types.Context) -> "Work[Result]":
        """Check and read everything; return the work, which must not touch Blender's data."""
        raise NotImplementedError

    def write(self, context: bpy.types.Context, result: Result) -> "set[Any]":
        """Write and report the result, if nothing relevant has changed since it was read."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Do all at once, waiting: for scripts and the adjust panel."""
        with self._waiting(context) as show:

            def tell(done: float) -> bool:
                show(done)
                return True

            try:
                return self.write(context, self.read(context)(tell))
            except TaktError as error:
                return self._refuse(str(error))

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Start; unless it ends at once, continue in the background."""
        if bpy.app.background:  # without a window no event would poll the work
            return self.execute(context)
        try:
            self._work = BackgroundWork(self.read(context))
        except TaktError as error:
            return self._refuse(str(error))
        if self._work.has_ended(within_s=_NO_PROGRESS_BEFORE_S):
            return self._end(context)
        going_on = self._go_on(context, _POLL_S)
        self._show(context, self._work.done)
        return going_on

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Show the progress until it has ended or Esc is pressed; the result is written outside of Edit Mode."""
        if event.type == "ESC":
            self._work.cancel()
            self._clear(context)
            return self._cancelled()
        if not self._work.has_ended():
            self._show(context, self._work.done)
        elif _is_editing():
            self._show_waits(context)
        elif event.type == "TIMER":
            self._clear(context)
            return self._end(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop the work: Blender calls it when the window is closed or another file opened."""
        self._work.end()
        self._clear(context)

    def _refuse(self, error: str) -> "set[Any]":
        return refuse(self._operator, error)

    def _end(self, context: bpy.types.Context) -> "set[Any]":
        try:
            return self.write(context, self._work.result())
        except CancelledError:
            return {"CANCELLED"}
        except TaktError as error:
            return self._refuse(str(error))
