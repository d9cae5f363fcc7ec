"""Draw the waveform of a score's music under the ruler."""

from __future__ import annotations

import numpy as np

from ..music.waveform import Waveform
from .layout import Layout
from .picture import Layer, Pen, clipped
from .stripes import Stripes
from .theme import Theme
from .view import View

_COLUMN_PX, _PAD_PX = 2.0, 6.0


def sound_layer(waveform: Waveform | None, layout: Layout, view: View, theme: Theme,
                trouble: str = "") -> Layer:
    """Draw the waveform of a score's music along its ticks, with its name; None: it is not known (yet).

    trouble: why there is none, shown after the music's name.

    Where the score's tempo changes, the waveform is stretched with the ticks. It is drawn above the picture.
    """
    pen, stripes, music = Pen(), Stripes.of(layout, view), layout.music
    if stripes.music is None or music is None:
        return pen.layer()
    (low, high), px = stripes.music, view.scale
    if waveform is not None:
        edges = np.arange(view.left, view.width + _COLUMN_PX * px, _COLUMN_PX * px)
        ticks = view.first_tick + (edges - view.left) / view.px_per_tick
        columns = waveform.columns(layout.seconds(ticks) + music.offset_s)
        middle, half = (low + high) / 2.0, (high - low) / 2.0 - px
        tops = np.maximum(np.clip(columns[:, 1], -1.0, 1.0) * half, px / 2.0)
        feet = np.minimum(np.clip(columns[:, 0], -1.0, 1.0) * half, -px / 2.0)
        boxes = np.stack((edges[:-1], middle + feet, edges[:-1] + (_COLUMN_PX - 0.5) * px, middle + tops), axis=-1)
        heard = (columns != 0.0).any(axis=1)
        pen.rectangles(boxes[heard], (*theme.fills(*_GREEN)[0, :3].tolist(), 1.0))
    said = f"{music.src} {trouble}".rstrip()
    name = clipped(said, view.width - view.left - 2.0 * _PAD_PX * px, theme.size_px * px, theme.measure)
    size, left, base = theme.size_px * px, view.left + _PAD_PX * px, high - 1.2 * theme.size_px * px
    if name:
        pen.rectangle((left - 3.0 * px, base - 0.35 * size, left + theme.measure(name, size) + 3.0 * px, high - px),
                      theme.mixed(0.03, 0.75), radius=2.0 * px, outline=theme.error, outline_px=px * bool(trouble))
        pen.text(name, left, base, size, theme.mixed(1.0 if trouble else 0.8))
    return pen.layer()


_GREEN = np.array((2,)), np.array((4,)), np.array((True,))
"""A colour of the boxes, as light as the innermost ones."""
