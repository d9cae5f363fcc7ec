"""Pictures of a character: where the camera stands, the ground."""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]
Array = npt.NDArray[np.floating[Any]]

_LENS_RAD = float(np.radians(32.0))
_ABOVE_RAD = np.radians(12.0)
_BESIDE_RAD = float(np.radians(20.0))
_NEAR_M, _FAR_M = 0.1, 100.0
_TILE_M = 0.5
_FOG_M = 9.0
_SHADOW_M, _SHADOW = 0.34, 0.35
_BACKDROP = np.array((0.86, 0.88, 0.91))
_TILES = np.array(((0.70, 0.73, 0.78), (0.64, 0.67, 0.73)))


@dataclass(frozen=True)
class Camera:
    """A camera that looks at what it is to show: width and height in pixels, and the matrices for drawing."""

    width: int
    height: int
    view_from_world: Array
    clip_from_view: Array

    @classmethod
    def framing(cls, low: Array, high: Array, width: int, height: int, beside_rad: float = _BESIDE_RAD,
                lens_rad: float = _LENS_RAD) -> "Camera":
        """Return a camera in front of a box (Blender's front: −Y), slightly to the side and above, as near as possible.

        lens_rad: the angle of view from below to above.

        With the camera at (x, y, d) along its own axes, a corner (p, z) is in view where |p − x| ≤ slope · (d − z),
        and likewise for y: two bounds on d for each direction, which meet where the camera is nearest.
        """
        back = np.array((np.sin(beside_rad), -np.cos(beside_rad), 0.0)) * np.cos(_ABOVE_RAD)
        back[2] = np.sin(_ABOVE_RAD)
        right = np.cross((0.0, 0.0, 1.0), back)
        right /= np.linalg.norm(right)
        axes = np.stack((right, np.cross(back, right), back))
        slope = np.tan(lens_rad / 2.0) * np.array((width / height, 1.0))
        corners = np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3) @ axes.T
        upper = (corners[:, :2] + slope * corners[:, 2:]).max(axis=0)
        lower = (corners[:, :2] - slope * corners[:, 2:]).min(axis=0)
        position = np.append((upper + lower) / 2.0, ((upper - lower) / (2.0 * slope)).max())
        view = np.eye(4)
        view[:3, :3], view[:3, 3] = axes, -position
        depth = _NEAR_M - _FAR_M
        clip = np.array(((1.0 / slope[0], 0.0, 0.0, 0.0), (0.0, 1.0 / slope[1], 0.0, 0.0),
                         (0.0, 0.0, (_FAR_M + _NEAR_M) / depth, 2.0 * _FAR_M * _NEAR_M / depth), (0.0, 0.0, -1.0, 0.0)))
        return cls(width, height, view, clip)

    def ground(self, feet: Array) -> Array:
        """Return the background behind characters above points (..., 2): tiles of half a metre, shadows, (H, W, 3).

        Behind the characters the tiles fade into the backdrop; above the horizon there is only the backdrop.
        """
        back = self.view_from_world[:3, :3].astype(np.float32)
        x = (np.arange(self.width, dtype=np.float32) + 0.5) / self.width * 2.0 - 1.0
        y = 1.0 - (np.arange(self.height, dtype=np.float32) + 0.5) / self.height * 2.0
        x, y = x / np.float32(self.clip_from_view[0, 0]), y / np.float32(self.clip_from_view[1, 1])
        first = int(np.searchsorted(-(y * back[1, 2] - back[2, 2]), 1e-3))  # rays fall below the horizon; no roll
        rays = x[None, :, None] * back[0, :2] + y[first:, None, None] * back[1, :2] - back[2, :2]
        eye = (-self.view_from_world[:3, :3].T @ self.view_from_world[:3, 3]).astype(np.float32)
        away = rays * (eye[2] / -(y[first:] * back[1, 2] - back[2, 2]))[:, None, None]
        tile = np.floor((eye[:2] + away) / _TILE_M).astype(np.int32).sum(axis=-1) % 2
        points = feet.reshape(-1, 2).astype(np.float32)
        forth = -back[2, :2] / np.hypot(*back[2, :2])
        fog = np.clip((eye[:2] - points.mean(axis=0) + away) @ forth / _FOG_M, 0.0, 1.0)[..., None]
        shadow = np.ones((*away.shape[:2], 1), dtype=np.float32)
        for foot in points:
            aside = (eye[:2] - foot + away) / _SHADOW_M
            shadow *= 1.0 - _SHADOW * np.exp(-(aside[..., 0] ** 2 + aside[..., 1] ** 2))[..., None]
        picture = np.tile(_BACKDROP.astype(np.float32), (self.height, self.width, 1))
        picture[first:] = _TILES.astype(np.float32)[tile] * shadow * (1.0 - fog) + _BACKDROP.astype(np.float32) * fog
        return picture


def over(picture: Picture, ground: Array) -> Picture:
    """Lay an RGBA picture over a ground; return RGB."""
    alpha = picture[..., 3:] / 255.0
    return np.asarray(picture[..., :3] * alpha + ground * 255.0 * (1.0 - alpha), dtype=np.uint8)


def strip(pictures: list[Picture], is_inside: list[bool]) -> Picture:
    """Set pictures side by side, with a band below those that lie inside the transition."""
    columns = []
    for picture, inside in zip(pictures, is_inside, strict=True):
        column = np.full((picture.shape[0] + 12, picture.shape[1] + 4, 3), 255, dtype=np.uint8)
        column[12:, 2:-2] = picture
        column[2:10] = (235, 120, 40) if inside else (215, 218, 222)
        columns.append(column)
    return np.concatenate(columns, axis=1)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence what Blender itself prints, a line for each frame."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  # a name, not a path
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
