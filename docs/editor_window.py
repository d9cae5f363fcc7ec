"""What the scripts share that photograph or film a score editor: where things are in it."""

from collections.abc import Iterator
from typing import Any

from takt.bridge.scores import score_blocks, score_tree
from takt.core.score_editor.layout import Layout
from takt.core.score_editor.stripes import Stripes
from takt.docs import window
from takt.docs.window import context
from takt.preview.score_editor import windows


def editor() -> Any:
    """Return the area of the score editor."""
    return next(area for _, area in score_tree.areas())


def shown() -> windows.Window:
    """Return what the editor's window shows."""
    found = windows.window_of(editor().spaces.active)
    assert found is not None  # it has been drawn
    return found


def layout_of(armature_object: Any = None) -> Layout:
    """Return the score as it is laid out, that of the active character where none is given."""
    blocks = score_blocks.shown(armature_object or context.object)
    assert blocks is not None and blocks.layout is not None
    return blocks.layout


def stripes() -> Stripes:
    """Return where the rows of the active character's score are."""
    return Stripes.of(layout_of(), shown().view)


def box(title: str) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of the first box of a title, in the editor."""
    boxes, view = layout_of().boxes, shown().view
    number = boxes.titles.index(title)
    here = slice(number, number + 1)
    low, high = stripes().boxes(boxes.lane[here], boxes.depth[here])
    left, right = view.x(boxes.begin[here]), view.x(boxes.end[here])
    return float(left[0]), float(low[0]), float(right[0]), float(high[0])


def chip(name: str) -> tuple[float, float]:
    """Return the middle of the first chip of a name, in the editor."""
    shelf = shown().shelf
    assert shelf is not None
    found = shelf.boxes[[each.name for each in shelf.playables].index(name)]
    return float(found[::2].mean()), float(found[1::2].mean())


def on_screen(x: float, y: float) -> tuple[float, float]:
    """Return where on the screen a pixel of the editor is."""
    region = next(region for region in editor().regions if region.type == "WINDOW")
    return region.x + x + window.LEFT, window.TOP + context.window_manager.windows[0].height - region.y - y


def point(x: float, y: float) -> None:
    """Put the mouse somewhere in the editor."""
    window.mouse(*map(round, on_screen(x, y)))


def select_block(title: str) -> Iterator[None]:
    """Click the first block of a title; Blender draws at each `yield`."""
    left, _, _, high = box(title)
    point(left + 30, high - 8)
    yield
    window.tell("click", "1")
    yield
