"""What goes on beside the interface is stopped before the extension is switched off."""

from collections.abc import Collection, Iterable
from typing import Any

import bpy

from ..bridge.guard import guarded


def stop_running(classes: Collection[type], windows: Iterable[Any]) -> None:
    """Stop operators of these classes whose modal is called in windows, as if these were closed.

    Blender forgets such an operator with its class and asks it nothing: its thread would go on, and the status bar
    would tell of it for ever.
    """
    for window in windows:
        for operator in [each for each in window.modal_operators if type(each) in classes and hasattr(each, "cancel")]:
            _stop(operator, window)


@guarded(None)
def _stop(operator: Any, window: Any) -> None:
    context: Any = bpy.context
    with context.temp_override(window=window):
        operator.cancel(bpy.context)
