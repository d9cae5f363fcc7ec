"""Score editors without a screen: an area shown as one, laid out as its first drawing would."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, SimpleNamespace
from typing import Any

import bpy

from takt.bridge.scores import score_blocks, score_tree
from takt.core.score_editor.layout import BoxId, Layout
from takt.core.score_editor.stripes import Stripes
from takt.preview.score_editor import windows

context: Any = bpy.context


@contextmanager
def editing() -> Iterator[Layout]:
    """Turn an area into a score editor, and be in it."""
    window = context.window_manager.windows[0]
    area = max(window.screen.areas, key=lambda each: each.width * each.height)
    area.ui_type = score_tree.TaktScoreTree.bl_idname
    score_tree.give_trees()
    with context.temp_override(window=window, screen=window.screen, area=area, region=main_region(area)):
        yield looked_into()


def looked_into() -> Layout:
    """Do what a drawing leads to."""
    armature_object = score_tree.character_of(score_tree.tree_of(bpy.context), bpy.context)
    assert armature_object is not None
    layout = score_blocks.refresh(armature_object).layout
    assert layout is not None
    windows.look_into(bpy.context, layout)
    return layout


def main_region(area: bpy.types.Area) -> bpy.types.Region:
    return next(region for region in area.regions if region.type == "WINDOW")


def choose(layout: Layout, *titles: str) -> None:
    """Select the first box of each title."""
    tree = score_tree.tree_of(bpy.context)
    assert tree is not None
    score_tree.select(tree, layout, [named(layout, title) for title in titles])


def named(layout: Layout, title: str) -> BoxId:
    return layout.id_of(layout.boxes.titles.index(title))


class Hand:
    """A hand at the mouse, where there is none: an operator's invoke and modal get what Blender would tell them."""

    def __init__(self, operator: type[bpy.types.Operator]) -> None:
        self.said: list[str] = []
        self._seen = _Seen()
        methods = {name: value for name, value in vars(operator).items() if isinstance(value, FunctionType)}
        self._operator: Any = type("Held", (), methods)()
        self._operator.report = lambda _kinds, words: self.said.append(words)
        self._operator.options = SimpleNamespace(is_invoke=True)

    def fill_in(self, **properties: Any) -> None:
        """Set the operator's properties."""
        vars(self._operator).update(properties)

    def press(self, x: float, y: float, **keys: bool) -> "set[str]":
        return self._tell("invoke", "LEFTMOUSE", "PRESS", x, y, keys)

    def move(self, x: float, y: float, **keys: bool) -> "set[str]":
        return self._tell("modal", "MOUSEMOVE", "NOTHING", x, y, keys)

    def let_go(self, x: float = 0.0, y: float = 0.0, **keys: bool) -> "set[str]":
        return self._tell("modal", "LEFTMOUSE", "RELEASE", x, y, keys)

    def escape(self) -> "set[str]":
        return self._tell("modal", "ESC", "PRESS", 0.0, 0.0, {})

    def undo(self) -> "set[str]":
        return self._tell("modal", "Z", "PRESS", 0.0, 0.0, {"ctrl": True})

    def _tell(self, method: str, kind: str, value: str, x: float, y: float, keys: dict[str, bool]) -> "set[str]":
        event = SimpleNamespace(type=kind, value=value, mouse_region_x=x, mouse_region_y=y,
                                ctrl=keys.get("ctrl", False), shift=keys.get("shift", False), oskey=False)
        result: set[str] = getattr(self._operator, method)(self._seen, event)
        return result


class _Seen:
    """Blender's context, but for the manager of windows, which takes only its own operators."""

    def __init__(self) -> None:
        self.window_manager = SimpleNamespace(modal_handler_add=lambda operator: True,
                                              windows=context.window_manager.windows)

    def __getattr__(self, name: str) -> Any:
        return getattr(bpy.context, name)


def edge_of(layout: Layout, box: int) -> tuple[float, float]:
    """Return a pixel at the right edge of a box, in the title."""
    window = windows.window_of(context.space_data)
    assert window is not None
    boxes, here, view = layout.boxes, slice(box, box + 1), window.view
    _, high = Stripes.of(layout, view).boxes(boxes.lane[here], boxes.depth[here])
    return float(view.x(boxes.end[here])[0]) - 1.0, float(high[0]) - 16.0
