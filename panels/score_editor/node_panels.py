"""Hide the node editor's own panels in the sidebar of score editors, where they are of no use.

The tab *Tool* remains, since its panel has no poll.
"""

from collections.abc import Iterator
from typing import Any

import bpy

from ...bridge.scores import score_tree

_NATIVE: list[tuple[Any, Any]] = []
"""Panels, and the function by which each tells whether it is drawn, while ours is in its place."""


def register() -> None:
    """Replace the panels' polls, so that they are not drawn beside a score."""
    for panel in list(_panels()):
        _NATIVE.append((panel, vars(panel)["poll"]))
        panel.poll = classmethod(_asking_first(panel.poll))


def unregister() -> None:
    """Restore the panels' polls."""
    for panel, poll in _NATIVE:
        panel.poll = poll
    _NATIVE.clear()


def _panels() -> Iterator[Any]:
    """Yield Blender's own panels in the sidebar of node editors that have a poll."""
    known: list[Any] = bpy.types.Panel.__subclasses__()
    while known:
        panel = known.pop()
        known += panel.__subclasses__()
        if (panel.__module__.startswith("bl_ui.") and "poll" in vars(panel) and panel.is_registered
                and (panel.bl_space_type, panel.bl_region_type) == ("NODE_EDITOR", "UI")):
            yield panel


def _asking_first(native: Any) -> Any:
    def poll(_panel: Any, context: bpy.types.Context) -> bool:
        return not score_tree.is_score_editor(context.space_data) and bool(native(context))

    return poll
