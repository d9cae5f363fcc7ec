"""Base of operators that write much: they continue step by step, until they end or Esc is pressed."""

import time
from collections.abc import Generator
from typing import Any

import bpy

from ..bridge.reports import Told, refuse, tell
from ..bridge.steps import finished
from ..core.errors import TaktError
from .long_work import LongWork

_AT_ONCE_S = 0.05
"""Time of work between two checks for the user's input."""
_TIMER_S = 0.01
Steps = Generator[float, None, list[Told]]
"""Yields the share of the work done, and returns messages. If it is closed before its end, nothing is changed."""


class WorksInSteps(LongWork):
    """A base class beside Blender's own: it takes the steps of a generator, and can be stopped between them."""

    _steps: Steps | None = None
    _done = 0.0

    def take_all(self, context: bpy.types.Context, steps: Steps) -> "set[Any]":
        """Take all steps at once, waiting: for scripts and the adjust panel."""
        with self._waiting(context) as show:
            try:
                return self._told(finished(steps, show))
            except TaktError as error:
                return refuse(self._operator, str(error))

    def begin(self, context: bpy.types.Context, steps: Steps) -> "set[Any]":
        """Continue whenever Blender has time; without a window take all steps at once."""
        if _runs_without_window(context):
            return self.take_all(context, steps)
        self._steps = steps
        return self._go_on(context, _TIMER_S)

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> "set[Any]":
        """Take some steps, and show the progress; Esc stops and restores everything."""
        if event.type == "ESC":
            self.cancel(context)
            return self._cancelled()
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
        self._show(context, self._done)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Stop: Blender calls it when the window is closed or another file opened."""
        if self._steps is not None:  # otherwise nothing has started
            self._steps.close()
            self._clear(context)

    def _told(self, told: list[Told]) -> "set[Any]":
        tell(self._operator, told)
        return {"FINISHED"}

    def _clear(self, context: bpy.types.Context) -> None:
        self._steps = None
        super()._clear(context)


def _runs_without_window(context: bpy.types.Context) -> bool:
    return bpy.app.background or context.window is None
