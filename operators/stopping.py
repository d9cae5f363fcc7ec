"""Stop operators that run in the background before the extension is switched off."""

from collections.abc import Collection, Iterable
from typing import Any

import bpy

from ..bridge.guard import guarded


def stop_running(classes: Collection[type], windows: Iterable[Any]) -> None:
    """Stop running operators of these classes in windows, as if the windows were closed.

    Blender drops such an operator with its class without calling it: its thread would continue, and the status bar
    would show its text forever.
    """
    for window in windows:
        for operator in [each for each in window.modal_operators if type(each) in classes and hasattr(each, "cancel")]:
            _stop(operator, window)


@guarded(None)
def _stop(operator: Any, window: Any) -> None:
    context: Any = bpy.context
    with context.temp_override(window=window):
        operator.cancel(bpy.context)
