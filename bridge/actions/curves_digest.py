"""Digests of an Action's curves, which distinguish curves as Takt wrote them from those that the user has changed."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

import bpy
import numpy as np

from ...core.maths.arrays import Float32Array
from .curves import bags
from .keys import LINEAR

Written = dict[tuple[str, int], Float32Array]
"""Keys with linear interpolation by their curve's path and index, frame and value in turn, (2 K,)."""
_NONE_WRITTEN: Final[Mapping[tuple[str, int], Float32Array]] = MappingProxyType({})
_WITH_SETTINGS: Final = "+"
"""Begins the digests that count modifiers and settings of curves; those of older files count keys alone."""
_OF_INTERFACE: Final = frozenset(("rna_type", "active", "is_valid", "show_expanded"))
_names: dict[type, tuple[str, ...]] = {}
"""The properties of each type of modifier that shape a curve."""


def digest_of_all_keys(action: bpy.types.Action, written: Mapping[tuple[str, int], Float32Array] = _NONE_WRITTEN, *,
                       like: str = _WITH_SETTINGS) -> str:
    """Return a digest of all curves of an Action; see digest_of_curves."""
    return " ".join(digest_of_curves(bag, None, written, like=like) for bag in bags(action))


def digest_of_curves(bag: bpy.types.ActionChannelbag, paths: Collection[str] | None,
                     written: Mapping[tuple[str, int], Float32Array] = _NONE_WRITTEN, *,
                     like: str = _WITH_SETTINGS) -> str:
    """Return a digest of the curves of these paths, or of all: of their keys, modifiers, and settings.

    written: keys that were written just now; reading them from Blender would take as long as writing did.
    like: the digest to compare with; that of an older file covers only keys.
    """
    with_settings = like.startswith(_WITH_SETTINGS)
    digest = 0
    for curve in bag.fcurves:
        path = curve.data_path
        if paths is not None and path not in paths:
            continue
        pairs = written.get((path, curve.array_index))
        pairs, joined = _read_keys(curve) if pairs is None else (pairs, bytes((LINEAR,)) * (len(pairs) // 2))
        digest = zlib.crc32(joined, zlib.crc32(pairs.tobytes(), digest))
        if with_settings:
            digest = zlib.crc32(repr(_settings(curve)).encode(), digest)
    return f"{_WITH_SETTINGS if with_settings else ''}{digest:08x}"


def _settings(curve: bpy.types.FCurve) -> tuple[object, ...]:
    """Return the user's settings of a curve, without display and selection, which change while editing."""
    colour = tuple(cast(Any, curve.color)) if curve.color_mode == "CUSTOM" else ()
    modifiers = [_modifier(modifier) for modifier in curve.modifiers] if len(curve.modifiers) else ()
    return curve.mute, curve.lock, curve.extrapolation, curve.color_mode, colour, modifiers


def _modifier(modifier: Any) -> tuple[object, ...]:
    kind = type(modifier)
    if kind not in _names:
        _names[kind] = tuple(each.identifier for each in modifier.bl_rna.properties
                             if each.identifier not in _OF_INTERFACE)
    return tuple(_value(getattr(modifier, name)) for name in _names[kind])


def _value(value: Any) -> object:
    """Return a value of a modifier in a comparable form: arrays and points of an envelope as tuples."""
    if isinstance(value, bpy.types.bpy_prop_collection):
        return tuple((point.frame, point.min, point.max) for point in value)
    return value if isinstance(value, (str, bool, int, float)) else tuple(value)


def _read_keys(curve: bpy.types.FCurve) -> tuple[Float32Array, bytes]:
    """Return a curve's keys, (2 K,), and a byte for each with its interpolation."""
    points: Any = curve.keyframe_points
    pairs, joined = np.empty(2 * len(points), dtype=np.float32), np.empty(len(points), dtype=np.uint8)
    points.foreach_get("co", pairs)
    points.foreach_get("interpolation", joined)
    return pairs, joined.tobytes()
