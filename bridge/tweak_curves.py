"""The keys of an Action of tweaks as arrays: read, moved in time, taken away and put back, eased at their ends.

A key that Takt has made to ease a tweak in or out is of Blender's kind *Generated*; all others are the animator's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import bpy
import numpy as np

from ..core.maths.arrays import BoolArray, FloatArray, IntArray
from . import versions

GENERATED: Final = 5
"""Keyframe.type GENERATED, as foreach_get gives it."""
_AUTO_CLAMPED: Final = 4
"""Keyframe.handle_left_type AUTO_CLAMPED, likewise: a curve goes flat into the key that ends it."""
_BEZIER: Final = 2
_COLUMNS: Final[Mapping[str, tuple[int, Any]]] = {
    "co": (2, np.float32), "handle_left": (2, np.float32), "handle_right": (2, np.float32),
    "interpolation": (1, np.uint8), "easing": (1, np.uint8), "handle_left_type": (1, np.uint8),
    "handle_right_type": (1, np.uint8), "type": (1, np.uint8), "amplitude": (1, np.float32), "back": (1, np.float32),
    "period": (1, np.float32)}
"""All that a key has: how many numbers, and of which kind."""
_PLACES = ("co", "handle_left", "handle_right")
SAME_FRAME: Final = 0.01
"""Keys nearer than this are at one moment."""


@dataclass(frozen=True, eq=False)
class CurveKeys:
    """The K keys of one curve in order of their frames: arrays (K,) or (K, 2) by the names of Blender's properties."""

    path: str
    index: int
    columns: Mapping[str, Any]

    @property
    def frames(self) -> FloatArray:
        """Where the keys are, (K,)."""
        return np.asarray(self.columns["co"][:, 0], dtype=np.float64)

    @property
    def are_own(self) -> BoolArray:
        """Which keys are the animator's, (K,)."""
        return np.asarray(self.columns["type"] != GENERATED)

    def at(self, chosen: BoolArray | IntArray) -> CurveKeys:
        """Return some of the keys, or all in another order."""
        return CurveKeys(self.path, self.index, {name: values[chosen] for name, values in self.columns.items()})

    def moved(self, frames: FloatArray, stretch: FloatArray) -> CurveKeys:
        """Return the keys at other frames (K,), their handles so much (K,) longer, in order of these frames."""
        columns, old = dict(self.columns), self.frames
        for name in _PLACES:
            place = columns[name].copy()
            place[:, 0] = frames + (place[:, 0] - old) * stretch
            columns[name] = place
        return CurveKeys(self.path, self.index, columns).at(np.argsort(frames, kind="stable"))

    def joined(self, others: CurveKeys) -> CurveKeys:
        """Return these keys and others, in order of their frames; of two at one frame the later-named one."""
        columns = {name: np.concatenate((values, others.columns[name])) for name, values in self.columns.items()}
        both = CurveKeys(self.path, self.index, columns)
        return both.at(np.argsort(both.frames, kind="stable"))

    def eased(self, segments: IntArray, ease_in: float, ease_out: float, holds: bool) -> CurveKeys:
        """Return the animator's keys with generated ones around each row of blocks; see core's Placed.eased.

        segments: (K,) in which block each key lies. ease_in, ease_out: in frames.
        """
        frames, count = self.frames, len(self.frames)
        if not count:
            return self
        is_cut = (np.abs(np.diff(segments)) > 1) & (np.diff(frames) > ease_in + ease_out) & (not holds)
        first = np.flatnonzero(np.append(True, is_cut))
        last = np.flatnonzero(np.append(is_cut, True)[:0 if holds else None])
        near, offset = np.concatenate((first, last)), np.repeat((-ease_in, ease_out), (len(first), len(last)))
        made = self.at(near)
        columns = dict(made.columns)
        values = np.zeros(len(near), dtype=np.float32)
        if self.path.endswith("rotation_quaternion") and self.index == 0:
            values = np.copysign(1.0, columns["co"][:, 1])  # the quaternion of no rotation that is nearest
        elif self.path.endswith(".scale"):
            values = np.ones(len(near), dtype=np.float32)
        for name in _PLACES:
            columns[name] = np.stack((frames[near] + offset, values), axis=1).astype(np.float32)
        for name, value in (("type", GENERATED), ("interpolation", _BEZIER), ("handle_left_type", _AUTO_CLAMPED),
                            ("handle_right_type", _AUTO_CLAMPED)):
            columns[name] = np.full(len(near), value, dtype=np.uint8)
        return self.joined(CurveKeys(self.path, self.index, columns))

    def to_data(self) -> dict[str, Any]:
        """Return the keys as what JSON can hold."""
        return {"path": self.path, "index": self.index,
                "columns": {name: values.tolist() for name, values in self.columns.items()}}

    @classmethod
    def from_data(cls, data: Any) -> CurveKeys:
        """Return the keys that to_data gave; raises KeyError, TypeError or ValueError where these are none."""
        columns = {name: np.array(data["columns"][name], dtype=kind).reshape((-1, 2) if width == 2 else -1)
                   for name, (width, kind) in _COLUMNS.items()}
        if len({len(values) for values in columns.values()}) != 1:
            raise ValueError("keys of different numbers")
        return cls(str(data["path"]), int(data["index"]), columns)


def read(bag: bpy.types.ActionChannelbag) -> list[CurveKeys]:
    """Return the keys of all curves that have any."""
    return [_read(curve) for curve in bag.fcurves if len(curve.keyframe_points)]


def _read(curve: bpy.types.FCurve) -> CurveKeys:
    points: Any = curve.keyframe_points
    columns = {}
    for name, (width, kind) in _COLUMNS.items():
        values = np.empty(len(points) * width, dtype=kind)
        points.foreach_get(name, values)
        columns[name] = values.reshape(-1, width) if width > 1 else values
    keys = CurveKeys(curve.data_path, curve.array_index, columns)
    is_in_order = bool((np.diff(columns["co"][:, 0]) >= 0.0).all())
    return keys if is_in_order else keys.at(np.argsort(keys.frames, kind="stable"))


def write(bag: bpy.types.ActionChannelbag, curves: Iterable[CurveKeys]) -> None:
    """Let curves have these keys, and no others; those that are missing are made."""
    for keys in curves:
        curve = bag.fcurves.find(keys.path, index=keys.index)
        if curve is None:
            curve = versions.add_fcurve(bag, keys.path, keys.index, _bone_of(keys.path))
        points: Any = curve.keyframe_points
        if len(points) != len(keys.frames):
            points.clear()
            points.add(len(keys.frames))
        for name, values in keys.columns.items():
            points.foreach_set(name, np.ascontiguousarray(values).ravel())
        curve.update()


def at_moments(curves: Iterable[CurveKeys], moments: FloatArray) -> list[CurveKeys]:
    """Return the keys that lie at any of these frames."""
    found = [keys.at(is_near(keys.frames, moments) & keys.are_own) for keys in curves]
    return [keys for keys in found if len(keys.frames)]


def is_near(frames: FloatArray, moments: FloatArray) -> BoolArray:
    """Tell which frames (K,) are at any of some moments."""
    if not len(moments):
        return np.zeros(len(frames), dtype=np.bool_)
    moments = np.sort(moments)
    after = np.minimum(np.searchsorted(moments, frames), len(moments) - 1)
    near = np.minimum(np.abs(moments[after] - frames), np.abs(moments[np.maximum(after - 1, 0)] - frames))
    return np.asarray(near <= SAME_FRAME)


def own_frames(curves: Iterable[CurveKeys]) -> FloatArray:
    """Return the different frames at which the animator has set keys, ascending."""
    frames = np.unique(np.concatenate([np.zeros(0), *(keys.frames[keys.are_own] for keys in curves)]))
    return np.asarray(frames[np.append(True, np.diff(frames) > SAME_FRAME)[:len(frames)]])


def _bone_of(path: str) -> str:
    return path.split('"')[1] if '"' in path else ""
