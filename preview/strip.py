"""The timeline strip along the bottom of a viewport: procedures, clips, transitions with their weight curves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import blf
import bpy
import gpu
import numpy as np

from ..core.maths.arrays import FloatArray
from ..core.pha.origins import Step
from ..core.playing.motion import Motion
from ..core.playing.timeline import TRANSITION_ROW, Timeline
from .flat import box_corners, draw_batch, draw_boxes, triangles

_ROW_PX, _MARGIN_PX, _EDGE_PX, _TEXT_PX = 15.0, 12.0, 4.0, 10.5
"""At a UI scale of 1."""
_DEPTH = 2
"""So many procedures within each other are shown."""
_TRANSITION = (0.90, 0.62, 0.0, 0.9)
_DIMMED = 0.65
_FEWEST_LETTERS, _FEWEST_BEFORE_DOTS = 3, 5
_FONT = 0

Colour = tuple[float, float, float, float]
Label = tuple[str, float, float]
"""Words, and where they begin, in pixels."""


@dataclass(frozen=True)
class StripBounds:
    """The box in its region that a strip fills, in pixels, with so many rows, and how long a time it shows."""

    left: float
    bottom: float
    width: float
    row: float
    rows: int
    duration_s: float

    @property
    def height(self) -> float:
        """Of all rows."""
        return self.row * self.rows

    @property
    def top(self) -> float:
        """Of the highest row."""
        return self.bottom + self.height

    @property
    def px(self) -> float:
        """A pixel at a UI scale of 1."""
        return self.row / _ROW_PX

    def contains(self, x: float, y: float) -> bool:
        """Tell whether a point is on the strip."""
        return (self.left <= x <= self.left + self.width and self.bottom <= y <= self.top
                and self.duration_s > 0.0)

    def time_s(self, x: float) -> float:
        """Return the time that x shows."""
        return float(np.clip((x - self.left) / self.width, 0.0, 1.0)) * self.duration_s

    def row_at(self, y: float) -> int:
        """Return the row at y, counted upwards."""
        return min(max(int((y - self.bottom) / self.row), 0), self.rows - 1)

    def x(self, time_s: float) -> float:
        """Return the x that shows a time."""
        return self.left + self.width * time_s / max(self.duration_s, 1e-9)

    def boxes(self, boxes: FloatArray) -> FloatArray:
        """Turn boxes (N, 4) of seconds and rows into pixels, with a gap between neighbours."""
        scale = self.width / max(self.duration_s, 1e-9)
        pixels = boxes * (scale, self.row, scale, self.row) + (self.left, self.bottom, self.left, self.bottom)
        pixels[:, 2] = np.maximum(pixels[:, 2] - self.px, pixels[:, 0] + self.px)
        pixels[:, 3] -= self.px
        return np.asarray(pixels)


@dataclass(frozen=True)
class Theme:
    """Blender's colours as the strip uses them, sRGB."""

    ground: Colour
    clip: Colour
    other_clip: Colour
    procedure: Colour
    text: Colour
    playhead: Colour
    playhead_text: Colour

    @classmethod
    def of(cls, context: bpy.types.Context) -> "Theme":
        """Take them from the user's theme: what is filled lies between its menus' ground and its buttons."""
        assert context.preferences is not None
        look: Any = context.preferences.themes[0].user_interface
        ground, button = (np.array(look.wcol_menu_back.inner[:3]), np.array(look.wcol_regular.inner[:3]))
        return cls(_rgba(ground, 0.85), _rgba(button, 1.0), _rgba(ground + (button - ground) * 0.75, 1.0),
                   _rgba(ground + (button - ground) * 0.4, 1.0), _rgba(look.wcol_regular.text, 1.0),
                   _rgba(look.wcol_regular.inner_sel, 1.0), _rgba(look.wcol_regular.text_sel, 1.0))


@dataclass(frozen=True, eq=False)
class _Drawn:
    """What stays as it is while time goes by: the boxes and curves on the GPU, and the names in them."""

    bounds: StripBounds
    theme: Theme
    batch: gpu.types.GPUBatch
    labels: list[Label]


@dataclass(eq=False)
class Strip:
    """A strip as it is drawn: the motion it shows, laid out."""

    motion: Motion
    timeline: Timeline
    _drawn: _Drawn | None = None

    @classmethod
    def of(cls, motion: Motion) -> "Strip":
        """Lay a motion out."""
        return cls(motion, Timeline.of(motion, motion.style.curve, depth=_DEPTH))

    def bounds_in(self, context: bpy.types.Context) -> StripBounds:
        """Return its box in the context's region: at the bottom, between toolbar, sidebar and adjust panel."""
        assert context.area is not None and context.region is not None and context.preferences is not None
        scale = context.preferences.system.ui_scale
        left, right = 0.0, float(context.region.width)
        for region in context.area.regions:
            if region.type in ("TOOLS", "UI", "HUD") and region.width > 1 and _overlaps(context, region):
                if region.type == "HUD" or region.alignment == "LEFT":
                    left = max(left, float(region.x + region.width - context.region.x))
                else:
                    right = min(right, float(context.region.width - region.width))
        margin = _MARGIN_PX * scale
        return StripBounds(left + margin, margin, max(right - left - 2.0 * margin, 1.0), _ROW_PX * scale,
                     self.timeline.rows, self.motion.duration_s)

    def words_at(self, time_s: float) -> str:
        """Return what plays at a time: the procedures around it, and the clip."""
        sequence = self.motion.sequence
        segment = self.motion.segment_at(time_s)
        path = " › ".join(sequence.paths[int(sequence.path[segment])])
        return f"{time_s:.2f} s   {path} › {sequence.clips[int(sequence.clip[segment])]}"

    def calls_at(self, bounds: StripBounds, x: float, y: float) -> tuple[Step, ...]:
        """Return the calls that led to what is shown at a point, the innermost last; none where nothing is."""
        return self.timeline.calls_at(self.motion, bounds.time_s(x), bounds.row_at(y))

    def draw(self, bounds: StripBounds, theme: Theme, now_s: float, fragment: tuple[float, float] | None,
             hover: tuple[float, str] | None) -> None:
        """Draw it and the playhead. What is not played is dimmed; hover: the mouse's x, and words above it."""
        blend: Any = gpu.state.blend_get()
        gpu.state.blend_set("ALPHA")
        if self._drawn is None or (self._drawn.bounds, self._drawn.theme) != (bounds, theme):
            self._drawn = _Drawn(bounds, theme, triangles(*self._filled(bounds, theme)), self._labels(bounds))
        draw_batch(self._drawn.batch)
        _set_font(bounds)
        for label in self._drawn.labels:
            _draw_text(*label, theme.text)
        if fragment is not None:
            edges = np.array([(bounds.x(a), bounds.bottom, bounds.x(b), bounds.top)
                              for a, b in ((0.0, fragment[0]), (fragment[1], bounds.duration_s))])
            draw_boxes(edges, np.tile(np.array((*theme.ground[:3], _DIMMED)), (2, 1)))
        _draw_playhead(bounds, theme, now_s)
        if hover is not None:
            _draw_tag(hover[1], hover[0], bounds.top + 1.6 * bounds.row, bounds, theme.ground, theme.text)
        gpu.state.blend_set(blend)

    def _filled(self, bounds: StripBounds, theme: Theme) -> tuple[FloatArray, FloatArray]:
        """Return all that is filled, back to front: corners (N, 2) of triangles and their colours (N, 4)."""
        line, edge = self.timeline, _EDGE_PX * bounds.px
        frame = np.array(((bounds.left - edge, bounds.bottom - edge,
                           bounds.left + bounds.width + edge, bounds.top + edge),))
        shades = np.where((line.segments % 2 == 0)[:, None], theme.clip, theme.other_clip)
        boxes = np.concatenate((frame, bounds.boxes(line.clip_boxes), bounds.boxes(line.procedure_boxes)))
        colours = np.concatenate((np.array((theme.ground,)), shades,
                                  np.tile(np.array(theme.procedure), (len(line.procedure_boxes), 1))))
        weights = self._weight_corners(bounds)
        return (np.concatenate((box_corners(boxes), weights)),
                np.concatenate((np.repeat(colours, 6, axis=0), np.tile(np.array(_TRANSITION), (len(weights), 1)))))

    def _weight_corners(self, bounds: StripBounds) -> FloatArray:
        """Return what lies below each transition's weight curve."""
        curves = self.timeline.weights
        if not len(curves):
            return np.zeros((0, 2))
        x = bounds.left + curves[..., 0] * bounds.width / max(bounds.duration_s, 1e-9)
        rows = np.stack((np.full_like(curves[..., 1], TRANSITION_ROW), curves[..., 1]), axis=-1)
        y = bounds.bottom + rows * bounds.row
        low, high = np.stack((x, y[..., 0]), axis=-1), np.stack((x, y[..., 1] - bounds.px), axis=-1)
        corners = np.stack((low[:, :-1], low[:, 1:], high[:, 1:], low[:, :-1], high[:, 1:], high[:, :-1]), axis=2)
        return np.asarray(corners.reshape(-1, 2))

    def _labels(self, bounds: StripBounds) -> list[Label]:
        """Return the names that fit into their boxes, or their beginnings."""
        _set_font(bounds)
        line, sequence = self.timeline, self.motion.sequence
        clips = [sequence.clips[i].rpartition(".")[2] for i in sequence.clip[line.segments].tolist()]
        return [*_fitted_labels(bounds.boxes(line.clip_boxes), clips, bounds),
                *_fitted_labels(bounds.boxes(line.procedure_boxes), line.names, bounds)]


def _fitted_labels(boxes: FloatArray, names: Sequence[str], bounds: StripBounds) -> list[Label]:
    indent, found = 3.0 * bounds.px, []
    widths = boxes[:, 2] - boxes[:, 0] - 2.0 * indent
    narrowest = blf.dimensions(_FONT, "i" * _FEWEST_LETTERS)[0]
    for box in np.flatnonzero(widths > narrowest).tolist():
        words = fitted(names[box], float(widths[box]), lambda text: float(blf.dimensions(_FONT, text)[0]))
        if words:
            found.append((words, float(boxes[box, 0]) + indent, float(boxes[box, 1]) + bounds.row * 0.27))
    return found


def fitted(name: str, width: float, width_of: Callable[[str], float]) -> str:
    """Return a name, or as much of its beginning as fits into a width; "" where that would say too little."""
    for letters in range(len(name), min(_FEWEST_LETTERS, len(name)) - 1, -1):
        words = name[:letters] + ("…" if _FEWEST_BEFORE_DOTS <= letters < len(name) else "")
        if width_of(words) <= width:
            return words
    return ""


def _draw_playhead(bounds: StripBounds, theme: Theme, now_s: float) -> None:
    """Draw a line at the current time, and the time above it."""
    now_s = min(max(now_s, 0.0), bounds.duration_s)
    x, half, edge = bounds.x(now_s), bounds.px, _EDGE_PX * bounds.px
    draw_boxes(np.array(((x - half, bounds.bottom - edge, x + half, bounds.top + edge),)), np.array((theme.playhead,)))
    _draw_tag(f"{now_s:.2f}", x, bounds.top + 0.45 * bounds.row, bounds, theme.playhead, theme.playhead_text)


def _draw_tag(words: str, x: float, bottom: float, bounds: StripBounds, ground: Colour, text: Colour) -> None:
    """Write words on a box, centred at x but kept within the strip's ends."""
    _set_font(bounds)
    width, pad = blf.dimensions(_FONT, words)[0], 4.0 * bounds.px
    left = min(max(x - width / 2.0, bounds.left), bounds.left + bounds.width - width)
    draw_boxes(np.array(((left - pad, bottom - pad, left + width + pad, bottom + 0.75 * bounds.row),)),
               np.array((ground,)))
    _draw_text(words, left, bottom, text)


def _set_font(bounds: StripBounds) -> None:
    blf.size(_FONT, _TEXT_PX * bounds.px)


def _draw_text(text: str, x: float, y: float, colour: Colour) -> None:
    blf.color(_FONT, *colour)
    blf.position(_FONT, x, y, 0.0)
    blf.draw(_FONT, text)


def _rgba(colour: Any, alpha: float) -> Colour:
    red, green, blue = list(colour)[:3]
    return float(red), float(green), float(blue), alpha


def _overlaps(context: bpy.types.Context, region: bpy.types.Region) -> bool:
    """Tell whether a region lies over the viewport; an adjust panel that has gone keeps its size, in the corner."""
    window = cast(bpy.types.Region, context.region)
    if region.type == "HUD" and region.y <= window.y:
        return False
    return region.x < window.x + window.width and region.x + region.width > window.x
