"""Common parts of operators with long work: a timer while they run in the background, and progress."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..bridge.language import say
from ..bridge.reports import report

_PERCENT = 100.0


class LongWork:
    """A base class beside Blender's own."""

    doing = "Working"
    """The text of the status bar during the work."""

    _timer: bpy.types.Timer | None = None
    _said = ""

    @property
    def _operator(self) -> Any:
        return self

    @contextmanager
    def _waiting(self, context: bpy.types.Context) -> Iterator[Callable[[float], None]]:
        """Show progress at the mouse pointer while Blender waits; yields a function for the share of work done."""
        manager = context.window_manager
        assert manager is not None
        manager.progress_begin(0.0, _PERCENT)
        try:
            yield lambda done: manager.progress_update(_PERCENT * done)
        finally:
            manager.progress_end()

    def _go_on(self, context: bpy.types.Context, every_s: float) -> "set[Any]":
        """Start the operator's modal, called at least this often."""
        self._wake(context, every_s)
        manager: Any = context.window_manager
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def _wake(self, context: bpy.types.Context, every_s: float) -> None:
        """Have a running modal called at least this often, and show progress."""
        manager: Any = context.window_manager
        self._timer = manager.event_timer_add(every_s, window=context.window)
        manager.progress_begin(0.0, _PERCENT)

    def _show(self, context: bpy.types.Context, done: float) -> None:
        """Show the share of work done."""
        self._say(context, done, f"{self.doing}: {done:.0%}   Esc: Cancel")

    def _show_waits(self, context: bpy.types.Context) -> None:
        """Show what the user must do so that the result can be written."""
        self._say(context, 1.0, f"{self.doing}: leave Edit Mode, then the result is written   Esc: Cancel")

    def _say(self, context: bpy.types.Context, done: float, said: str) -> None:
        assert context.window_manager is not None
        if said == self._said:  # otherwise each event would redraw the window
            return
        self._said = said
        context.window_manager.progress_update(_PERCENT * done)
        if context.workspace is not None:
            context.workspace.status_text_set(say(said))

    def _cancelled(self) -> "set[Any]":
        """Report that Esc was pressed."""
        report(self._operator, {"INFO"}, f"{self.doing} cancelled, nothing has changed")
        return {"CANCELLED"}

    def _clear(self, context: bpy.types.Context) -> None:
        """End the timer and the progress, if there are any."""
        self._said = ""
        if self._timer is None:
            return
        manager = context.window_manager
        assert manager is not None
        manager.event_timer_remove(self._timer)
        self._timer = None
        manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)
