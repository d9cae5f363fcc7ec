"""The prims around the skeletons of a USD layer as nodes with transforms, which may move.

A prim's local matrix is the product of its transform operations in their order; lengths become metres, Y up.
Source: OpenUSD, UsdGeomXformable and UsdGeomXformOp; UsdGeom manual, stage up axis and linear units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from ..clips.keyed import interpolated
from ..errors import quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, merged
from .gltf_tree import unit
from .usd_layer import WIDTHS, Attribute, Layer, Prim

METRES: Final = 0.01
"""Metres in a unit if the layer does not state it."""
_TURNS: Final = {"Z": rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), -np.pi / 2)}
_FRAME_S, _STEP_S, _MOST = 1.0 / 23.0, 1.0 / 60.0, 100_000
"""Keys farther apart than the first time, a film's frame, get more keys between them, at most the second time apart;
and the greatest number of keys."""
_LEAST_SPENT: Final = 100
_LATEST: Final = 1e9
_OPERATIONS: Final = frozenset(("translate", "scale", "orient", "transform"))


class Space(NamedTuple):
    """A layer's space. turn: (4,) from its axes to Y up; unit_m: metres in its unit; rate: time codes per second."""

    turn: FloatArray
    unit_m: float
    rate: float


def space_of(layer: Layer) -> Space:
    """Return the axes, unit and rate of a layer; raise FileError for a unit or rate of 0."""
    up = layer.words(layer.metadata["upAxis"])[:1] if "upAxis" in layer.metadata else ("Y",)
    metres = layer.number("metersPerUnit", METRES)
    rate = layer.number("timeCodesPerSecond", layer.number("framesPerSecond", 24.0))
    for name, value in (("metersPerUnit", metres), ("timeCodesPerSecond", rate)):
        if not 1e-9 <= value <= 1e9:
            raise layer.error(f"{name} is {value:g}; a number greater than 0 is wanted", layer.metadata[name].at
                              if name in layer.metadata else 0)
    return Space(_TURNS.get(up[0] if up else "Y", rot.IDENTITY), metres, rate)


@dataclass(frozen=True, eq=False)
class Moved:
    """A value over time: times (F,) in seconds, empty if constant; values (F, N, C), or (1, N, C) if constant."""

    times: FloatArray
    values: FloatArray

    def at(self, times: FloatArray) -> FloatArray:
        """Return the values at times (K,): constant beyond the ends, and between keys linear or by the shorter arc."""
        if not len(self.times):
            return np.repeat(self.values, len(times), axis=0)
        return interpolated(self.times, self.values, times)


def moved(layer: Layer, attribute: Attribute, width: int, space: Space, count: int | None = None) -> Moved | None:
    """Return the value of an attribute over time, or None if it has none.

    count: the number of values needed at each time; a sample with another count repeats the previous one, since USD
    does not interpolate it. Raises FileError if all samples have other counts.
    """
    if attribute.samples:
        found = layer.table(attribute.samples, width)
        wanted = count if count is not None else len(found[0])
        ascending, first = np.unique(attribute.times, return_index=True)
        kept = [number for number in first.tolist() if len(found[number]) == wanted]
        if kept and len(kept) < len(first):
            layer.note(f"{len(first) - len(kept)} of {len(first)} samples do not hold {wanted} values, as the others "
                       "do, and are left out; the file may be damaged")
        if not kept:
            raise layer.error(f"holds {len(found[0])} values of {width} numbers, where {wanted} are wanted",
                              attribute.samples[0].at)
        if not np.abs(ascending).max() <= _LATEST:
            raise layer.error(f"has a sample at {ascending[np.abs(ascending).argmax()]:g}; time codes up to "
                              f"{_LATEST:g} are read", attribute.samples[0].at)
        return Moved(attribute.times[kept] / space.rate, np.array([found[number] for number in kept]))
    if attribute.default is None:
        return None
    value = layer.numbers(attribute.default, width)
    if count is not None and len(value) != count:
        raise layer.error(f"holds {len(value)} values of {width} numbers, where {count} are wanted",
                          attribute.default.at)
    return Moved(np.zeros(0), value[None])


def local_matrices(layer: Layer, prim: Prim, space: Space) -> tuple[FloatArray, FloatArray]:
    """Return the times (F,) at which a prim's transform is sampled, in seconds, none if constant; and its matrices."""
    found = list(_operations(layer, prim, space))
    times = merged(np.zeros(0), *(each.times for _, each, _ in found))
    if len(times):
        gaps = np.diff(times)
        parts = np.where(gaps > _FRAME_S, np.ceil(gaps / _STEP_S), 1.0).clip(1.0, 10.0 * _MOST).astype(np.int64)
        if parts.sum() <= _MOST and len(found) > 1:
            first = np.repeat(np.arange(len(gaps)), parts)
            number = np.arange(len(first)) - np.repeat(np.cumsum(parts) - parts, parts)
            times = np.append(times[first] + number * (gaps / parts)[first], times[-1:])
    whole = np.eye(4)
    for kind, each, is_inverted in found:
        layer.spend(_LEAST_SPENT + 16 * len(times), prim.at)
        matrices = _matrices(kind, each.at(times if len(times) else np.zeros(1))[:, 0], space.unit_m)
        whole = whole @ (np.linalg.pinv(matrices) if is_inverted else matrices)
    return times, np.broadcast_to(whole, (max(len(times), 1), 4, 4))


def _operations(layer: Layer, prim: Prim, space: Space) -> Iterator[tuple[str, Moved, bool]]:
    """Yield the transform operations of a prim, outermost first: kind, values, and whether these are inverted."""
    order = prim.attributes.get("xformOpOrder")
    names = layer.words(order.default) if order is not None and order.default is not None else ()
    for name in names:
        own = name.removeprefix("!invert!")
        attribute = prim.attributes.get(own)
        kind = own.split(":")[1] if own.startswith("xformOp:") else ""
        if attribute is None or not (kind in _OPERATIONS or kind.startswith("rotate")):
            continue
        width = WIDTHS.get(attribute.kind, 0)
        if width not in (1, 3, 4, 16):
            raise layer.error(f"{quoted(own)} has the type {quoted(attribute.kind)}, which is no transform", prim.at)
        found = moved(layer, attribute, width, space, 1)
        if found is not None:
            yield kind, found, own != name


def _matrices(kind: str, values: FloatArray, unit_m: float) -> FloatArray:
    """Return the matrices (F, 4, 4) of an operation, of whose values (F, C) rotations are in degrees."""
    matrices = np.tile(np.eye(4), (len(values), 1, 1))
    if kind == "transform" and values.shape[1] == 16:
        matrices = values.reshape(-1, 4, 4).swapaxes(1, 2).copy()
        matrices[:, :3, 3] *= unit_m
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
    elif kind == "translate" and values.shape[1] == 3:
        matrices[:, :3, 3] = unit_m * values
    elif kind == "scale" and values.shape[1] == 3:
        matrices[:, range(3), range(3)] = values
    elif kind == "orient" and values.shape[1] == 4:
        matrices[:, :3, :3] = rot.to_matrix(unit(values))
    elif kind.startswith("rotate"):
        axes = kind.removeprefix("rotate")
        if values.shape[1] in (1, 3) and len(axes) == values.shape[1] and set(axes) <= set("XYZ"):
            for axis in axes:  # the axis named first rotates first
                column = "XYZ".index(axis) if len(axes) == 3 else 0
                turn = rot.from_axis_angle(np.eye(3)["XYZ".index(axis)], np.radians(values[:, column]))
                matrices[:, :3, :3] = rot.to_matrix(turn) @ matrices[:, :3, :3]
    return matrices
