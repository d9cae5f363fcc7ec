"""Handles of a fitted skeleton over the viewports: positions of its joints, with their certainty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..bridge.guard import guarded
from ..core.fitting import FittedSkeleton
from ..core.fitting.problem import GUESSED
from ..core.maths.arrays import BoolArray, FloatArray
from .flat import draw_boxes

_RADIUS_PX: Final = 6.0
_SMALL: Final = 0.55
"""Radius of a handle in pixels at a UI scale of 1; factor on it for fingers and other short bones."""

_SHORT: Final = 0.03
"""Share of the skeleton's size: shorter bones have small handles."""

_SIDES: Final = 24
_RING: Final = 1.7
"""Radius of the ring, in radii of its handle. Its arc shows the joint's certainty, a full turn for 100 %."""

_LINE_PX, _TEXT_PX, _PAD_PX, _BESIDE_PX = 2.0, 12.0, 4.0, 14.0
_FONT: Final = 0
_BONE, _BACK, _WORDS = (0.85, 0.85, 0.85, 0.7), (0.05, 0.05, 0.05, 0.8), (1.0, 1.0, 1.0, 1.0)
_SURE, _GUESS = np.array((0.25, 0.65, 1.0, 1.0)), np.array((1.0, 0.55, 0.1, 1.0))
_MOVED, _HOVERED = np.array((1.0, 0.95, 0.4, 1.0)), np.array((1.0, 1.0, 1.0, 1.0))


@dataclass(eq=False)
class Handles:
    """The drawn skeleton in the world, the names of its bones, which joints were moved (J,), and the hovered one."""

    fitted: FittedSkeleton
    names: tuple[str, ...]
    moved: BoolArray
    hovered: int = -1


@dataclass(frozen=True, eq=False)
class Lens:
    """The projection of a viewport: clip_from_world (4, 4), its width and height in pixels."""

    clip_from_world: FloatArray
    width: float
    height: float

    @classmethod
    def of(cls, region: bpy.types.Region, view: bpy.types.RegionView3D) -> "Lens":
        """Return the projection of a viewport."""
        return cls(np.array(view.perspective_matrix, dtype=np.float64), float(region.width), float(region.height))

    def pixels(self, points: FloatArray) -> FloatArray:
        """Return the pixels (N, 2) from the lower left at which points (N, 3) are seen; NaN behind the eye."""
        clip = np.append(points, np.ones((len(points), 1)), axis=1) @ self.clip_from_world.T
        seen = np.where(clip[:, 3:] > 0.0, clip[:, 3:], np.nan)
        return np.asarray((clip[:, :2] / seen + 1.0) / 2.0 * (self.width, self.height))

    def at_depth_of(self, pixel: FloatArray, point: FloatArray) -> FloatArray:
        """Return the point (3,) that is seen at a pixel (2,), at the same depth as another point (3,)."""
        clip = self.clip_from_world @ np.append(point, 1.0)
        seen = np.append(pixel / (self.width, self.height) * 2.0 - 1.0, clip[2] / clip[3])
        there = np.linalg.solve(self.clip_from_world, np.append(seen, 1.0))
        return np.asarray(there[:3] / there[3])

    def ray(self, pixel: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return two points (3,) that are seen at a pixel (2,), the nearer one first."""
        seen = pixel / (self.width, self.height) * 2.0 - 1.0
        ends = np.linalg.solve(self.clip_from_world, np.array(((*seen, -1.0, 1.0), (*seen, 1.0, 1.0))).T).T
        near, far = ends[:, :3] / ends[:, 3:]
        return near, far


_shown: list[Handles] = []
"""The handles of each running Fit Skeleton."""

_handle: Any = None


def shown() -> tuple[Handles, ...]:
    """Return the drawn handles."""
    return tuple(_shown)


def show(handles: Handles) -> None:
    """Draw handles in all viewports until `hide`; changes of them show in the next drawing."""
    global _handle
    _shown.append(handles)
    if _handle is None:
        _handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL")
    redraw()


def hide(*handles: Handles) -> None:
    """Stop drawing these handles; others stay."""
    global _handle
    _shown[:] = [each for each in _shown if each not in handles]
    if not _shown and _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None
    redraw()


def redraw() -> None:
    """Tag the viewports for redraw."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def nearest(handles: Handles, lens: Lens, pixel: FloatArray) -> int:
    """Return the joint whose handle is under a pixel (2,), or −1."""
    away = np.linalg.norm(lens.pixels(handles.fitted.positions) - pixel, axis=1)
    within = away <= _RING * _radii(handles.fitted) * _scale()
    return int(np.where(within, away, np.inf).argmin()) if within.any() else -1


def _scale() -> float:
    return float(bpy.context.preferences.system.ui_scale) if bpy.context.preferences else 1.0


def _radii(fitted: FittedSkeleton) -> FloatArray:
    size = float(np.ptp(fitted.positions, axis=0).max())
    is_short = np.linalg.norm(fitted.ends - fitted.positions, axis=1) < _SHORT * size
    return np.asarray(np.where(is_short, _SMALL, 1.0) * _RADIUS_PX)


@guarded(None)
def _draw() -> None:
    region, view = bpy.context.region, bpy.context.region_data
    if region is not None and isinstance(view, bpy.types.RegionView3D):
        for handles in _shown:
            draw(handles, Lens.of(region, view), _scale())


def draw(handles: Handles, lens: Lens, scale: float) -> None:
    """Draw bones as lines, joints as discs with rings, and the name of the one under the mouse."""
    fitted = handles.fitted
    at, ends = lens.pixels(fitted.positions), lens.pixels(fitted.ends)
    gpu.state.blend_set("ALPHA")
    try:
        lines = np.stack((at, ends), axis=1)
        radii, colours = _radii(fitted) * scale, _colours(handles)
        seen = np.flatnonzero(np.isfinite(at).all(axis=1))
        shapes = [(shape, colour) for joint in seen.tolist() for shape, colour in (
            (_disc(at[joint], radii[joint] + scale), np.array(_BACK)), (_disc(at[joint], radii[joint]), colours[joint]),
            (_ring(at[joint], _RING * radii[joint], 1.5 * scale, float(fitted.certainty[joint])), colours[joint]))]
        bones = _bars(lines[np.isfinite(lines).all(axis=(1, 2))], _LINE_PX * scale)
        _draw_triangles([(bones, np.array(_BONE)), *shapes])
        if handles.hovered in seen:
            _draw_words(_said(handles, handles.hovered), at[handles.hovered], scale)
    finally:
        gpu.state.blend_set("NONE")


def _colours(handles: Handles) -> FloatArray:
    """Return the colour of each joint (J, 4): orange for a guess, yellow for one that was moved, else blue."""
    colours = np.where(handles.fitted.certainty[:, None] < GUESSED, _GUESS, _SURE)
    colours = np.where(handles.moved[:, None], _MOVED, colours)
    if handles.hovered >= 0:
        colours[handles.hovered] = _HOVERED
    return colours


def _said(handles: Handles, joint: int) -> str:
    certain = handles.fitted.certainty[joint]
    how = "moved" if handles.moved[joint] else f"{certain:.0%} certain" + (", a guess" if certain < GUESSED else "")
    return f"{handles.names[joint]}: {how}"


def _bars(lines: FloatArray, width: float) -> FloatArray:
    """Return the triangles (N, 2) of lines (L, 2, 2) with a width."""
    along = lines[:, 1] - lines[:, 0]
    across = np.stack((-along[:, 1], along[:, 0]), axis=1)
    across *= width / 2.0 / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-6)
    one, other, end, far = (lines[:, 0] - across, lines[:, 0] + across, lines[:, 1] + across, lines[:, 1] - across)
    return np.stack((one, other, end, one, end, far), axis=1).reshape(-1, 2)


def _ring(at: FloatArray, radius: float, width: float, share: float) -> FloatArray:
    """Return the triangles (N, 2) of an arc around a point (2,), clockwise from the top, over a share of a turn."""
    angles = np.pi / 2.0 - 2.0 * np.pi * share * np.linspace(0.0, 1.0, _SIDES + 1)
    points = at + radius * np.stack((np.cos(angles), np.sin(angles)), axis=1)
    return _bars(np.stack((points[:-1], points[1:]), axis=1), width)


def _disc(at: FloatArray, radius: float) -> FloatArray:
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
    rim = at + radius * np.stack((np.cos(angles), np.sin(angles)), axis=1)
    return np.stack((np.broadcast_to(at, (_SIDES, 2)), rim[:-1], rim[1:]), axis=1).reshape(-1, 2)


def _draw_triangles(shapes: Sequence[tuple[FloatArray, FloatArray]]) -> None:
    """Fill triangles (N, 2) of each shape with its colour (4,), one shape after the other."""
    program = gpu.shader.from_builtin("FLAT_COLOR")
    positions: Any = np.ascontiguousarray(np.concatenate([points for points, _ in shapes]), dtype=np.float32)
    shades: Any = np.ascontiguousarray(np.concatenate([np.tile(colour, (len(points), 1)) for points, colour in shapes]),
                                       dtype=np.float32)
    batch_for_shader(program, "TRIS", {"pos": positions, "color": shades}).draw(program)


def _draw_words(words: str, at: FloatArray, scale: float) -> None:
    blf.size(_FONT, _TEXT_PX * scale)
    width, height = blf.dimensions(_FONT, words)
    left, bottom, pad = at[0] + _BESIDE_PX * scale, at[1] - height / 2.0, _PAD_PX * scale
    draw_boxes(np.array(((left - pad, bottom - pad, left + width + pad, bottom + height + pad),)), np.array((_BACK,)))
    blf.color(_FONT, *_WORDS)
    blf.position(_FONT, left, bottom, 0.0)
    blf.draw(_FONT, words)
