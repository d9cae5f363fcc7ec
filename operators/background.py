"""Operators whose work takes long: it goes on beside the interface, with progress, until it ends or Esc is pressed."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import bpy

from ..bridge.background import BackgroundWork
from ..bridge.reports import GreyWithReason, refuse
from ..core.errors import CancelledError, TaktError
from .long_work import LongWork

_NO_PROGRESS_BEFORE_S = 0.4
"""What is done by then needs no progress bar."""
_POLL_S = 0.1

Result = TypeVar("Result")
Work = Callable[[Callable[[float], bool]], Result]


def _is_editing() -> bool:
    """Return whether something is in Edit Mode, whose undo would not take back what is written meanwhile."""
    return any(ob.mode == "EDIT" for ob in bpy.data.objects)


class WorksInBackground(LongWork, GreyWithReason, Generic[Result]):
    """An operator's base beside Blender's own: it reads, computes on arrays in a thread, and writes the result.

    `read` and `write` are the operator's, and run in Blender's main thread; both may raise TaktError.
    """

    _work: BackgroundWork[Result]

    def read(self, context: bpy.types.Context) -> "Work[Result]":
        """Check everything, read it, and return the work, which must not touch Blender's data."""
        raise NotImplementedError

    def write(self, context: bpy.types.Context, result: Result) -> "set[Any]":
        """Write what was found, if all is still as it was when it was read, and report it."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Do all of it at once: for scripts and the adjust panel, which wait."""
        with self._waiting(context) as show:

            def tell(done: float) -> bool:
                show(done)
                return True

            try:
                return self.write(context, self.read(context)(tell))
            except TaktError as error:
                return self._refuse(str(error))

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> "set[Any]":
        """Begin; unless it is done in an instant, go on beside the interface."""
        if bpy.app.background:  # no event would poll the work
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
        """Show how far it is, until it has ended or Esc is pressed; what it found is written outside of Edit Mode."""
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
