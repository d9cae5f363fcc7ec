"""What lies before the score while something is done with the mouse: words, what is carried, where it would go."""

import numpy as np

from ...core.score_editor.drop import Drop
from ...core.score_editor.layout import Layout
from ...core.score_editor.picture import Pen
from ...core.score_editor.stripes import TITLE_PX, Stripes
from ...core.score_editor.theme import Theme
from ...core.score_editor.view import View
from .canvas import measured

_PAD_PX, _AWAY_PX, _LINE_PX = 6.0, 18.0, 3.0


def draw_tip(pen: Pen, words: str, mouse: tuple[float, float], view: View, theme: Theme, *,
             is_refusal: bool = False) -> None:
    """Write lines of words above the mouse, or below it where there is no room; never beside the view."""
    lines = words.splitlines()
    if not lines:
        return
    size, pad, away = theme.size_px * view.scale, _PAD_PX * view.scale, _AWAY_PX * view.scale
    step = 1.5 * size
    wide, high = max(measured(line, size) for line in lines), step * len(lines)
    left = float(np.clip(mouse[0] - wide / 2.0, pad, max(view.width - wide - pad, pad)))
    low = mouse[1] + away if mouse[1] + away + high + 2.0 * pad < view.height else mouse[1] - away - high
    edge = theme.error if is_refusal else theme.mixed(0.7)
    pen.rectangle((left - pad, low - pad, left + wide + pad, low + high + pad / 2.0), theme.mixed(-0.1, 0.95),
                  radius=3.0 * view.scale, outline=edge, outline_px=view.scale)
    for number, line in enumerate(lines):
        pen.text(line, left, low + high - (number + 0.85) * step, size, theme.text)


def draw_ghost(pen: Pen, layout: Layout, box: int, mouse: tuple[float, float], grab: float, view: View,
               theme: Theme) -> None:
    """Draw a box that is carried; grab: how many ticks right of its beginning it was taken."""
    left = mouse[0] - grab * view.px_per_tick
    right = left + float(layout.boxes.length[box]) * view.px_per_tick
    half = TITLE_PX * view.scale * 0.6
    pen.rectangle((left, mouse[1] - half, right, mouse[1] + half), (*theme.text[:3], 0.35), radius=3.0 * view.scale,
                  outline=theme.text, outline_px=view.scale)
    pen.text(layout.boxes.titles[box], max(left, view.left) + 5.0 * view.scale, mouse[1] - 4.0 * view.scale,
             theme.size_px * view.scale, theme.text)


def draw_gap(pen: Pen, layout: Layout, gap: Drop, view: View, theme: Theme) -> None:
    """Draw a line where something would go."""
    stripes = Stripes.of(layout, view)
    low, high = stripes.boxes(np.array((gap.lane,)), np.array((gap.depth,)))
    pen.upright_lines(view.x(np.array((gap.tick,))), float(low[0]), float(high[0]), theme.text, _LINE_PX * view.scale)
