"""Operators that write much: they go on step by step beside the interface, until they end or Esc is pressed."""

import time
from collections.abc import Generator
from typing import Any

import bpy

from ..bridge.reports import Told, refuse, tell
from ..bridge.steps import finished
from ..core.errors import TaktError

_AT_ONCE_S = 0.05
"""So long it works between two looks at what the user does."""
_TIMER_S = 0.01
_PERCENT = 100.0
Steps = Generator[float, None, list[Told]]
"""Yields the share that is done, returns what is to be said. Closed before its end, it leaves nothing changed."""


class WorksInSteps:
    """An operator's base beside Blender's own: it takes the steps of a generator, and can be stopped between them."""

    doing = "Working"
    """What the status bar says meanwhile."""

    _steps: Steps | None = None
    _timer: bpy.types.Timer | None = None
    _done = 0.0
    _said = ""

    def take_all(self, context: bpy.types.Context, steps: Steps) -> "set[Any]":
        """Take all steps at once: for scripts and the adjust panel, which wait."""
        manager = context.window_manager
        assert manager is not None
        manager.progress_begin(0.0, _PERCENT)
        try:
            return self._told(finished(steps, lambda done: manager.progress_update(_PERCENT * done)))
        except TaktError as error:
            return refuse(self._operator, str(error))
        finally:
            manager.progress_end()

    def begin(self, context: bpy.types.Context, steps: Steps) -> "set[Any]":
        """Go on from now on whenever Blender has time; without a window take all steps at once."""
        if _runs_without_window(context):
            return self.take_all(context, steps)
        manager: Any = context.window_manager
        self._steps = steps
        self._timer = manager.event_timer_add(_TIMER_S, window=context.window)
        manager.progress_begin(0.0, _PERCENT)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Take some steps, and show how far it is; Esc stops, and everything is as it was."""
        if event.type == "ESC":
            self.cancel(context)
            self._operator.report({"INFO"}, f"{self.doing} cancelled, nothing has changed")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        assert self._steps is not None
        until_s = time.perf_counter() + _AT_ONCE_S
        try:
            self._done = next(self._steps)
            while time.perf_counter() < until_s:
                self._done = next(self._steps)
        except StopIteration as end:
            self._clear(context)
            return self._told(end.value)
        except TaktError as error:
            self._clear(context)
            return refuse(self._operator, str(error))
        except BaseException:
            self._clear(context)
            raise
        self._show_progress(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop: Blender calls it when the window is closed or another file opened."""
        if self._steps is not None:  # else nothing has begun
            self._steps.close()
            self._clear(context)

    @property
    def _operator(self) -> Any:
        return self

    def _told(self, told: list[Told]) -> "set[Any]":
        tell(self._operator, told)
        return {"FINISHED"}

    def _show_progress(self, context: bpy.types.Context) -> None:
        assert context.window_manager is not None
        said = f"{self.doing}: {self._done:.0%}   Esc: Cancel"
        if said == self._said:  # else each timer would have the window drawn
            return
        self._said = said
        context.window_manager.progress_update(_PERCENT * self._done)
        if context.workspace is not None:
            context.workspace.status_text_set(said)

    def _clear(self, context: bpy.types.Context) -> None:
        manager = context.window_manager
        assert manager is not None
        self._steps, self._said = None, ""
        if self._timer is not None:
            manager.event_timer_remove(self._timer)
            self._timer = None
            manager.progress_end()
            if context.workspace is not None:
                context.workspace.status_text_set(None)


def _runs_without_window(context: bpy.types.Context) -> bool:
    return bpy.app.background or context.window is None
