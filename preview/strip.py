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
class Place:
    """Where a strip lies in its region, in pixels; begin and end of the time it shows; rows above each other."""

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
        """Return the time at a place."""
        return float(np.clip((x - self.left) / self.width, 0.0, 1.0)) * self.duration_s

    def row_at(self, y: float) -> int:
        """Return the row at a place, counted upwards."""
        return min(max(int((y - self.bottom) / self.row), 0), self.rows - 1)

    def x(self, time_s: float) -> float:
        """Return the place of a time."""
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

    place: Place
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

    def placed(self, context: bpy.types.Context) -> Place:
        """Return where it lies in the context's region: at the bottom, beside toolbar, sidebar and adjust panel."""
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
        return Place(left + margin, margin, max(right - left - 2.0 * margin, 1.0), _ROW_PX * scale,
                     self.timeline.rows, self.motion.duration_s)

    def words_at(self, time_s: float) -> str:
        """Return what plays at a time: the way through the procedures, and the clip."""
        sequence = self.motion.sequence
        segment = self.motion.segment_at(time_s)
        path = " › ".join(sequence.paths[int(sequence.path[segment])])
        return f"{time_s:.2f} s   {path} › {sequence.clips[int(sequence.clip[segment])]}"

    def calls_at(self, place: Place, x: float, y: float) -> tuple[Step, ...]:
        """Return the calls that led to what is shown at a place, the innermost last; none where nothing is."""
        return self.timeline.calls_at(self.motion, place.time_s(x), place.row_at(y))

    def draw(self, place: Place, theme: Theme, now_s: float, fragment: tuple[float, float] | None,
             hover: tuple[float, str] | None) -> None:
        """Draw it, the playhead, and words above what the mouse points at, by its x; what is not played is dimmed."""
        blend: Any = gpu.state.blend_get()
        gpu.state.blend_set("ALPHA")
        if self._drawn is None or (self._drawn.place, self._drawn.theme) != (place, theme):
            self._drawn = _Drawn(place, theme, triangles(*self._filled(place, theme)), self._labels(place))
        draw_batch(self._drawn.batch)
        _set_font(place)
        for label in self._drawn.labels:
            _draw_text(*label, theme.text)
        if fragment is not None:
            edges = np.array([(place.x(a), place.bottom, place.x(b), place.top)
                              for a, b in ((0.0, fragment[0]), (fragment[1], place.duration_s))])
            draw_boxes(edges, np.tile(np.array((*theme.ground[:3], _DIMMED)), (2, 1)))
        _draw_playhead(place, theme, now_s)
        if hover is not None:
            _draw_tag(hover[1], hover[0], place.top + 1.6 * place.row, place, theme.ground, theme.text)
        gpu.state.blend_set(blend)

    def _filled(self, place: Place, theme: Theme) -> tuple[FloatArray, FloatArray]:
        """Return all that is filled, back to front: corners (N, 2) of triangles and their colours (N, 4)."""
        line, edge = self.timeline, _EDGE_PX * place.px
        frame = np.array(((place.left - edge, place.bottom - edge, place.left + place.width + edge, place.top + edge),))
        shades = np.where((line.segments % 2 == 0)[:, None], theme.clip, theme.other_clip)
        boxes = np.concatenate((frame, place.boxes(line.clip_boxes), place.boxes(line.procedure_boxes)))
        colours = np.concatenate((np.array((theme.ground,)), shades,
                                  np.tile(np.array(theme.procedure), (len(line.procedure_boxes), 1))))
        weights = self._weight_corners(place)
        return (np.concatenate((box_corners(boxes), weights)),
                np.concatenate((np.repeat(colours, 6, axis=0), np.tile(np.array(_TRANSITION), (len(weights), 1)))))

    def _weight_corners(self, place: Place) -> FloatArray:
        """Return what lies below each transition's weight curve."""
        curves = self.timeline.weights
        if not len(curves):
            return np.zeros((0, 2))
        x = place.left + curves[..., 0] * place.width / max(place.duration_s, 1e-9)
        y = place.bottom + np.stack((np.full_like(curves[..., 1], TRANSITION_ROW), curves[..., 1]), axis=-1) * place.row
        low, high = np.stack((x, y[..., 0]), axis=-1), np.stack((x, y[..., 1] - place.px), axis=-1)
        corners = np.stack((low[:, :-1], low[:, 1:], high[:, 1:], low[:, :-1], high[:, 1:], high[:, :-1]), axis=2)
        return np.asarray(corners.reshape(-1, 2))

    def _labels(self, place: Place) -> list[Label]:
        """Return the names that fit into their boxes, or their beginnings."""
        _set_font(place)
        line, sequence = self.timeline, self.motion.sequence
        clips = [sequence.clips[i].rpartition(".")[2] for i in sequence.clip[line.segments].tolist()]
        return [*_fitted_labels(place.boxes(line.clip_boxes), clips, place),
                *_fitted_labels(place.boxes(line.procedure_boxes), line.names, place)]


def _fitted_labels(boxes: FloatArray, names: Sequence[str], place: Place) -> list[Label]:
    indent, found = 3.0 * place.px, []
    rooms = boxes[:, 2] - boxes[:, 0] - 2.0 * indent
    narrowest = blf.dimensions(_FONT, "i" * _FEWEST_LETTERS)[0]
    for box in np.flatnonzero(rooms > narrowest).tolist():
        words = fitted(names[box], float(rooms[box]), lambda text: float(blf.dimensions(_FONT, text)[0]))
        if words:
            found.append((words, float(boxes[box, 0]) + indent, float(boxes[box, 1]) + place.row * 0.27))
    return found


def fitted(name: str, room: float, width_of: Callable[[str], float]) -> str:
    """Return a name, or as much of its beginning as fits into a room; "" where that would say too little."""
    for letters in range(len(name), min(_FEWEST_LETTERS, len(name)) - 1, -1):
        words = name[:letters] + ("…" if _FEWEST_BEFORE_DOTS <= letters < len(name) else "")
        if width_of(words) <= room:
            return words
    return ""


def _draw_playhead(place: Place, theme: Theme, now_s: float) -> None:
    """Draw a line at the time that is, and the time above it."""
    now_s = min(max(now_s, 0.0), place.duration_s)
    x, half, edge = place.x(now_s), place.px, _EDGE_PX * place.px
    draw_boxes(np.array(((x - half, place.bottom - edge, x + half, place.top + edge),)), np.array((theme.playhead,)))
    _draw_tag(f"{now_s:.2f}", x, place.top + 0.45 * place.row, place, theme.playhead, theme.playhead_text)


def _draw_tag(words: str, x: float, bottom: float, place: Place, ground: Colour, text: Colour) -> None:
    """Write words on a ground of their own, in their middle at x, but never beside the strip."""
    _set_font(place)
    width, pad = blf.dimensions(_FONT, words)[0], 4.0 * place.px
    left = min(max(x - width / 2.0, place.left), place.left + place.width - width)
    draw_boxes(np.array(((left - pad, bottom - pad, left + width + pad, bottom + 0.75 * place.row),)),
               np.array((ground,)))
    _draw_text(words, left, bottom, text)


def _set_font(place: Place) -> None:
    blf.size(_FONT, _TEXT_PX * place.px)


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
