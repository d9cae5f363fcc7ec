"""The timeline strip along the bottom of a viewport: procedures, clips, transitions with their weight curves."""

from dataclasses import dataclass
from typing import Any, cast

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..core.arrays import FloatArray
from ..core.motion import Motion
from ..core.timeline import TRANSITION_ROW, Timeline

_ROW_PX, _MARGIN_PX, _GAP_PX, _TEXT_PX = 15.0, 12.0, 1.0, 10.0
"""At a UI scale of 1."""
_DEPTH = 2
"""So many procedures within each other are shown."""
_TRANSITION = (0.90, 0.62, 0.0, 0.9)
_NARROWEST_LABEL_PX = 24.0
_FONT = 0
_CORNERS = np.array(((0, 1), (2, 1), (2, 3), (0, 1), (2, 3), (0, 3)))
"""Of a box x0, y0, x1, y1, as two triangles."""

Colour = tuple[float, float, float, float]


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

    def contains(self, x: float, y: float) -> bool:
        """Tell whether a point is on the strip."""
        return (self.left <= x <= self.left + self.width and self.bottom <= y <= self.bottom + self.height
                and self.duration_s > 0.0)

    def time_s(self, x: float) -> float:
        """Return the time at a place."""
        return float(np.clip((x - self.left) / self.width, 0.0, 1.0)) * self.duration_s

    def x(self, time_s: float) -> float:
        """Return the place of a time."""
        return self.left + self.width * time_s / max(self.duration_s, 1e-9)

    def boxes(self, boxes: FloatArray) -> FloatArray:
        """Turn boxes (N, 4) of seconds and rows into pixels, with a gap between neighbours."""
        scale = self.width / max(self.duration_s, 1e-9)
        pixels = boxes * (scale, self.row, scale, self.row) + (self.left, self.bottom, self.left, self.bottom)
        pixels[:, 2] = np.maximum(pixels[:, 2] - _GAP_PX, pixels[:, 0] + _GAP_PX)
        pixels[:, 3] -= _GAP_PX
        return np.asarray(pixels)


@dataclass(frozen=True, eq=False)
class Strip:
    """A strip as it is drawn: the motion it shows, laid out."""

    motion: Motion
    timeline: Timeline

    @classmethod
    def of(cls, motion: Motion) -> "Strip":
        """Lay a motion out."""
        return cls(motion, Timeline.of(motion, motion.style.curve, depth=_DEPTH))

    def placed(self, context: bpy.types.Context) -> Place:
        """Return where it lies in the context's region: between the toolbar and the sidebar, at the bottom."""
        assert context.area is not None and context.region is not None and context.preferences is not None
        scale = context.preferences.system.ui_scale
        left, right = 0.0, float(context.region.width)
        for region in context.area.regions:
            if region.type in ("TOOLS", "UI") and region.width > 1 and _overlaps(context, region):
                if region.alignment == "LEFT":
                    left = max(left, float(region.width))
                else:
                    right = min(right, float(context.region.width - region.width))
        margin = _MARGIN_PX * scale
        return Place(left + margin, margin, max(right - left - 2.0 * margin, 1.0), _ROW_PX * scale,
                     self.timeline.rows, self.motion.duration_s)

    def words_at(self, time_s: float) -> str:
        """Return what plays at a time: the way through the procedures, and the clip."""
        sequence = self.motion.sequence
        segment = max(int(np.searchsorted(self.motion.layout.begin_s, time_s, side="right")) - 1, 0)
        path = " › ".join(sequence.paths[int(sequence.path[segment])])
        return f"{time_s:.2f} s   {path} › {sequence.clips[int(sequence.clip[segment])]}"

    def draw(self, place: Place, theme: "Theme", now_s: float, fragment: tuple[float, float] | None,
             hover_x: float | None) -> None:
        """Draw it, the playhead, and what the mouse points at."""
        blend: Any = gpu.state.blend_get()
        gpu.state.blend_set("ALPHA")
        frame = np.array(((place.left - 4, place.bottom - 4, place.left + place.width + 4,
                           place.bottom + place.height + 4),))
        draw_boxes(frame, np.array((theme.ground,)))
        line = self.timeline
        clips = place.boxes(line.clip_boxes)
        shades = np.where((line.segments % 2 == 0)[:, None], theme.clip, theme.other_clip)
        draw_boxes(clips, shades)
        procedures = place.boxes(line.procedure_boxes)
        draw_boxes(procedures, np.tile(np.array(theme.procedure), (len(procedures), 1)))
        self._draw_weights(place)
        names = [self.motion.sequence.clips[i].rpartition(".")[2] for i in self.motion.sequence.clip[line.segments]]
        _draw_labels(clips, names, theme, place.row)
        _draw_labels(procedures, line.names, theme, place.row)
        if fragment is not None:
            edges = np.array([(place.x(a), place.bottom, place.x(b), place.bottom + place.height)
                              for a, b in ((0.0, fragment[0]), (fragment[1], place.duration_s))])
            draw_boxes(edges, np.tile(np.array(theme.ground), (2, 1)))
        _draw_playhead(place, theme, now_s)
        if hover_x is not None:
            self._draw_hover(place, theme, hover_x)
        gpu.state.blend_set(blend)

    def _draw_weights(self, place: Place) -> None:
        """Fill what lies below each transition's weight curve."""
        curves = self.timeline.weights
        if not len(curves):
            return
        x = place.left + curves[..., 0] * place.width / max(place.duration_s, 1e-9)
        y = place.bottom + np.stack((np.full_like(curves[..., 1], TRANSITION_ROW), curves[..., 1]), axis=-1) * place.row
        low, high = np.stack((x, y[..., 0]), axis=-1), np.stack((x, y[..., 1] - _GAP_PX), axis=-1)
        corners = np.stack((low[:, :-1], low[:, 1:], high[:, 1:], low[:, :-1], high[:, 1:], high[:, :-1]), axis=2)
        _draw_triangles(corners.reshape(-1, 2), np.tile(np.array(_TRANSITION), (corners.size // 2, 1)))

    def _draw_hover(self, place: Place, theme: "Theme", x: float) -> None:
        words = self.words_at(place.time_s(x))
        _set_font(place.row)
        width, height = blf.dimensions(_FONT, words)
        left = min(max(x - width / 2.0, place.left), place.left + place.width - width)
        bottom = place.bottom + place.height + place.row * 0.6
        frame = np.array(((left - 6, bottom - 5, left + width + 6, bottom + height + 5),))
        draw_boxes(frame, np.array((theme.ground,)))
        _draw_text(words, left, bottom, theme.text)


@dataclass(frozen=True)
class Theme:
    """Blender's colours as the strip uses them, sRGB."""

    ground: Colour
    clip: Colour
    other_clip: Colour
    procedure: Colour
    text: Colour
    playhead: Colour

    @classmethod
    def of(cls, context: bpy.types.Context) -> "Theme":
        """Take them from the user's theme."""
        assert context.preferences is not None
        look: Any = context.preferences.themes[0].user_interface
        inner = np.array(look.wcol_regular.inner)
        return cls(_rgba(look.wcol_menu_back.inner, 0.85), _rgba(inner, 1.0), _rgba(inner * 0.82, 1.0),
                   _rgba(look.wcol_tab.inner, 1.0), _rgba(look.wcol_regular.text, 1.0),
                   _rgba(look.wcol_regular.inner_sel, 1.0))


def draw_boxes(boxes: FloatArray, colours: FloatArray) -> None:
    """Fill boxes (N, 4) of pixels with colours (N, 4)."""
    if len(boxes):
        _draw_triangles(boxes[:, _CORNERS].reshape(-1, 2), np.repeat(colours, 6, axis=0))


def _draw_triangles(corners: FloatArray, colours: FloatArray) -> None:
    program = gpu.shader.from_builtin("FLAT_COLOR")
    positions: Any = np.ascontiguousarray(corners, dtype=np.float32)
    shades: Any = np.ascontiguousarray(colours, dtype=np.float32)
    batch_for_shader(program, "TRIS", {"pos": positions, "color": shades}).draw(program)


def _draw_playhead(place: Place, theme: Theme, now_s: float) -> None:
    x = place.x(min(max(now_s, 0.0), place.duration_s))
    top = place.bottom + place.height
    draw_boxes(np.array(((x - 1.0, place.bottom - 4, x + 1.0, top + 4), (x - 4.0, top + 1, x + 4.0, top + 6))),
               np.tile(np.array(theme.playhead), (2, 1)))


def _draw_labels(boxes: FloatArray, names: Any, theme: Theme, row: float) -> None:
    """Write names into the boxes that are wide enough for them, or for their beginning."""
    _set_font(row)
    for place in np.flatnonzero(boxes[:, 2] - boxes[:, 0] > _NARROWEST_LABEL_PX).tolist():
        x0, y0, x1, _ = boxes[place]
        name, room = str(names[place]), x1 - x0 - 6.0
        width = blf.dimensions(_FONT, name)[0]
        if width > room:
            name = name[:int(len(name) * room / width)]
        _draw_text(name, x0 + 3.0, y0 + row * 0.27, theme.text)


def _set_font(row: float) -> None:
    blf.size(_FONT, row * _TEXT_PX / _ROW_PX)


def _draw_text(text: str, x: float, y: float, colour: Colour) -> None:
    blf.color(_FONT, *colour)
    blf.position(_FONT, x, y, 0.0)
    blf.draw(_FONT, text)


def _rgba(colour: Any, alpha: float) -> Colour:
    red, green, blue = list(colour)[:3]
    return float(red), float(green), float(blue), alpha


def _overlaps(context: bpy.types.Context, region: bpy.types.Region) -> bool:
    window = cast(bpy.types.Region, context.region)
    return region.x < window.x + window.width and region.x + region.width > window.x


