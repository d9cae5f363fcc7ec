"""Operators whose work takes long: it goes on beside the interface, with progress, until it ends or Esc is pressed."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import bpy

from ..bridge.background import BackgroundWork
from ..bridge.reports import GreyWithReason, refuse
from ..core.errors import CancelledError, TaktError

_NO_PROGRESS_BEFORE_S = 0.4
"""What is done by then needs no progress bar."""
_POLL_S = 0.1
_PERCENT = 100.0

Result = TypeVar("Result")
Work = Callable[[Callable[[float], bool]], Result]


class WorksInBackground(GreyWithReason, Generic[Result]):
    """An operator's base beside Blender's own: it reads, computes on arrays in a thread, and writes the result.

    `read` and `write` are the operator's, and run in Blender's main thread; both may raise TaktError.
    """

    doing = "Working"
    """What the status bar says meanwhile."""

    _work: BackgroundWork[Result]
    _timer: bpy.types.Timer | None = None

    def read(self, context: bpy.types.Context) -> "Work[Result]":
        """Check everything, read it, and return the work, which must not touch Blender's data."""
        raise NotImplementedError

    def write(self, context: bpy.types.Context, result: Result) -> "set[Any]":
        """Write what was found, if all is still as it was when it was read, and report it."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> "set[Any]":
        """Do all of it at once: for scripts and the adjust panel, which wait."""
        manager = context.window_manager
        assert manager is not None

        def tell(done: float) -> bool:
            manager.progress_update(_PERCENT * done)
            return True

        manager.progress_begin(0.0, _PERCENT)
        try:
            return self.write(context, self.read(context)(tell))
        except TaktError as error:
            return self._refuse(str(error))
        finally:
            manager.progress_end()

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
        manager: Any = context.window_manager
        manager.modal_handler_add(self)
        self._timer = manager.event_timer_add(_POLL_S, window=context.window)
        manager.progress_begin(0.0, _PERCENT)
        self._show_progress(context)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Show how far it is, until it has ended or Esc is pressed."""
        if event.type == "ESC":
            self._work.cancel()
            self._clear(context)
            self._operator.report({"INFO"}, f"{self.doing} cancelled, nothing has changed")
            return {"CANCELLED"}
        if event.type == "TIMER" and self._work.has_ended():
            self._clear(context)
            return self._end(context)
        self._show_progress(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop the work: Blender calls it when the window is closed or another file opened."""
        self._work.end()
        self._clear(context)

    @property
    def _operator(self) -> Any:
        return self

    def _refuse(self, error: str) -> "set[Any]":
        return refuse(self._operator, error)

    def _end(self, context: bpy.types.Context) -> "set[Any]":
        try:
            return self.write(context, self._work.result())
        except CancelledError:
            return {"CANCELLED"}
        except TaktError as error:
            return self._refuse(str(error))

    def _show_progress(self, context: bpy.types.Context) -> None:
        assert context.window_manager is not None and context.workspace is not None
        context.window_manager.progress_update(_PERCENT * self._work.done)
        context.workspace.status_text_set(f"{self.doing}: {self._work.done:.0%}   Esc: Cancel")

    def _clear(self, context: bpy.types.Context) -> None:
        manager = context.window_manager
        assert manager is not None
        if self._timer is not None:
            manager.event_timer_remove(self._timer)
            self._timer = None
            manager.progress_end()
            if context.workspace is not None:
                context.workspace.status_text_set(None)
