"""The keys of an Action of tweaks as arrays: read, moved in time, removed and restored, eased at their ends.

Keys that Takt makes have Blender's type *Generated*; they ease a tweak in or out, or repeat it in another call. All
others are the animator's. If the user sets a key over a generated one, Blender changes its value but keeps the type. So
each generated key stores Takt's value a second time, in a property that is otherwise unused. If the two values differ,
the key is the animator's.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

import bpy
import numpy as np

from ...core.maths.arrays import BoolArray, FloatArray, IntArray
from ...core.playing.stored import Stored
from .. import versions
from ..rigs.armature import bone_property

GENERATED: Final = 5
"""Keyframe.type GENERATED as foreach_get returns it."""
_AUTO_CLAMPED: Final = 4
"""Keyframe.handle_left_type AUTO_CLAMPED, likewise: a curve is flat at its last key."""
_BEZIER: Final = 2
_COLUMNS: Final[Mapping[str, tuple[int, Any]]] = {
    "co": (2, np.float32), "handle_left": (2, np.float32), "handle_right": (2, np.float32),
    "interpolation": (1, np.uint8), "easing": (1, np.uint8), "handle_left_type": (1, np.uint8),
    "handle_right_type": (1, np.uint8), "type": (1, np.uint8), "amplitude": (1, np.float32), "back": (1, np.float32),
    "period": (1, np.float32)}
"""All properties of a key: number of components, and type."""
_HANDLES = ("handle_left", "handle_right")
_HANDLE_TYPES = ("handle_left_type", "handle_right_type")
_PLACES = ("co", *_HANDLES)
CHOICES: Final = ("type", "interpolation", "easing", "handle_left_type", "handle_right_type")
_BACK: Final = 3
"""Keyframe.interpolation BACK, the only one that reads `back`."""
_UNMARKED: Final = np.array((0.0, 1.70158))
"""Blender's default for `back`."""
_FREE, _ALIGNED = 0, 3
"""Keyframe.handle_left_type: handles that the user has placed."""
_STILL: Final[Mapping[str, float]] = {"location": 0.0, "rotation_quaternion": 0.0, "rotation_euler": 0.0,
                                      "rotation_axis_angle": 0.0, "scale": 1.0}
"""Neutral values by properties of a bone."""
_WIDTHS: Final[Mapping[str, int]] = {"location": 3, "rotation_quaternion": 4, "rotation_euler": 3,
                                     "rotation_axis_angle": 4, "scale": 3}
"""Numbers of channels of these properties."""
_MOST_CHANNELS: Final = 1 << 16
"""Most channels of any other property."""
_FARTHEST: Final = 1e7
_LARGEST: Final = 1e9
"""Stored frames and values beyond these are none that an animator has set."""
_PATH: Final = re.compile(r'(?:(?:^|(?<=.)\.)[^\W\d]\w*|\["(?:\\.|(?!"\]).)*"\]|\[\d+\])+', re.DOTALL)
"""Names with points between them, and items in brackets. As in bone_property, quotes within them need no backslash."""
_OF_BONE: Final = re.compile(r'pose\.bones\["(?:\\.|(?!"\]).)+"\][.\[]', re.DOTALL)
_SAME_VALUE: Final = 1e-6
_SAME: Final = 1e-4
"""Differences of frames and values below this vanish in float32."""
_KEYFRAME: Final = 0
"""Keyframe.type KEYFRAME as foreach_get returns it."""
_LEAST_EASE: Final = 0.1
"""Least frames between a key and the key that eases it: Blender would merge nearer ones, and lose the animator's."""
_BESIDE_WHOLE: Final = 0.03
"""Frames by which keys that ease are beside whole frames, where the animator sets keys: Blender would take a key there
for this one, and one that changes nothing could not be told from it."""
SAME_FRAME: Final = 0.01
"""Keys nearer than this are at one moment."""

_NONE_KNOWN: Final[Mapping[tuple[str, int], Any]] = {}


@dataclass(frozen=True, eq=False)
class CurveKeys:
    """K keys of C curves, grouped by curve, sorted by frame.

    names: data path and index of each curve. curve: (K,) index into these. columns: arrays (K,) or (K, 2) by the names
    of Blender's properties.
    """

    names: tuple[tuple[str, int], ...]
    curve: IntArray
    columns: Mapping[str, Any]

    @property
    def frames(self) -> FloatArray:
        """The keys' frames, (K,)."""
        return np.asarray(self.columns["co"][:, 0], dtype=np.float64)

    @property
    def are_own(self) -> BoolArray:
        """Which keys are the animator's, (K,)."""
        return np.asarray(self.columns["type"] != GENERATED)

    def claimed(self) -> CurveKeys:
        """Return the keys, where a channel's keys at a frame are the animator's if one was set over a generated key."""
        values = self.columns["co"][:, 1]
        marks = np.where(self.columns["interpolation"] == _BACK, self.columns["period"], self.columns["back"])
        is_new = ~self.are_own & (np.abs(values - marks) > _SAME_VALUE)
        if not is_new.any():
            return self
        is_new &= ~((np.abs(marks[:, None] - _UNMARKED).min(axis=1) < _SAME_VALUE) & self.are_still)
        paths = {path: number for number, path in enumerate(dict.fromkeys(path for path, _ in self.names))}
        path = np.array([paths[name] for name, _ in self.names], dtype=np.int64)[self.curve]
        chosen = ~self.are_own & is_in(path, self.frames, path[is_new], self.frames[is_new])
        return self.as_own(chosen)

    def as_own(self, chosen: BoolArray) -> CurveKeys:
        """Return the keys with some (K,) marked as the animator's."""
        return self._with(type=np.where(chosen & ~self.are_own, _KEYFRAME, self.columns["type"]).astype(np.uint8))

    @property
    def are_still(self) -> BoolArray:
        """Which keys have neutral values, (K,)."""
        values = self.columns["co"][:, 1]
        still = np.array([still_value(*name) for name in self.names], dtype=np.float64)[self.curve]
        either = np.isinf(still)
        away = np.where(either, np.abs(values) - 1.0, values - np.where(either, 0.0, still))
        return np.asarray(np.abs(away) < _SAME_VALUE)

    def has_fixed(self, side: str) -> BoolArray:
        """Return which keys have a handle that the user placed, (K,). side: handle_left or handle_right."""
        kinds = self.columns[f"{side}_type"]
        return np.asarray((kinds == _FREE) | (kinds == _ALIGNED))

    def have_fixed(self) -> BoolArray:
        """Return which curves have any such handle, (C,)."""
        return np.bincount(self.curve[self.has_fixed("handle_left") | self.has_fixed("handle_right")],
                           minlength=len(self.names)) > 0

    def copied(self, frames: FloatArray, stretch: FloatArray) -> CurveKeys:
        """Return copies of the keys at frames (K,) for other calls, as generated keys in the same order.

        stretch: (K,) factors for handle lengths.
        """
        columns, values = dict(self.columns), self.columns["co"][:, 1]
        for name in _PLACES:
            columns[name] = np.stack((frames + (columns[name][:, 0] - self.frames) * stretch, columns[name][:, 1]),
                                     axis=1).astype(np.float32)
        is_back = columns["interpolation"] == _BACK
        columns["back"] = np.where(is_back, columns["back"], values).astype(np.float32)
        columns["period"] = np.where(is_back, values, columns["period"]).astype(np.float32)
        columns["type"] = np.full(len(self), GENERATED, dtype=np.uint8)
        return CurveKeys(self.names, self.curve, columns)

    def are_copies(self, frames: FloatArray, of: FloatArray) -> BoolArray:
        """Return which keys (K,) are copies. frames: (N,) of copies. of: (N,) frames of the animator's keys.

        A key at such a frame that only eases another key is no copy: a copy's curve has a key at the animator's frame.
        """
        def are_at(moments: FloatArray) -> BoolArray:
            return np.asarray(np.abs(self.frames[:, None] - moments) <= SAME_FRAME)

        has_key = np.zeros((len(self.names), len(frames)), dtype=np.bool_)
        np.logical_or.at(has_key, self.curve, are_at(of) & self.are_own[:, None])
        return np.asarray((are_at(frames) & has_key[self.curve]).any(axis=1) & ~self.are_own)

    def _with(self, **columns: Any) -> CurveKeys:
        return CurveKeys(self.names, self.curve, {**self.columns, **columns})

    def are_in(self, keys: CurveKeys) -> BoolArray:
        """Return which of the animator's keys (K,) of the same curves are at frames of these keys."""
        return np.asarray(keys.are_own & is_in(keys.curve, keys.frames, self.curve, self.frames))

    def __len__(self) -> int:
        return len(self.curve)

    def is_like(self, other: CurveKeys) -> bool:
        """Return whether other keys are the same, in the same curves."""
        return (self.names == other.names and np.array_equal(self.curve, other.curve)
                and all(np.array_equal(values, other.columns[name]) for name, values in self.columns.items()))

    def at(self, chosen: BoolArray | IntArray) -> CurveKeys:
        """Return some keys, or all in another order; curves without keys keep their names."""
        if chosen.dtype == np.bool_:
            if chosen.all():
                return self
            chosen = np.flatnonzero(chosen)
        return CurveKeys(self.names, self.curve.take(chosen), {name: values.take(chosen, axis=0) for name, values in
                                                               self.columns.items()})

    def in_order(self) -> CurveKeys:
        """Return the keys sorted by curve and frame; keys at one frame keep their order."""
        frames = self.columns["co"][:, 0]
        if not ((np.diff(self.curve) > 0) | ((np.diff(self.curve) == 0) & (np.diff(frames) >= 0.0))).all():
            return self.at(np.lexsort((frames, self.curve)))
        return self

    def moved(self, frames: FloatArray, stretch: FloatArray) -> CurveKeys:
        """Return the keys at other frames (K,). stretch: (K,) factors for handle lengths."""
        columns, old = dict(self.columns), self.columns["co"][:, 0].copy()
        for name in _PLACES:
            place = columns[name].copy()
            place[:, 0] = frames + (place[:, 0] - old) * stretch
            columns[name] = place
        return CurveKeys(self.names, self.curve, columns).in_order()

    def joined(self, others: CurveKeys) -> CurveKeys:
        """Return these keys and others."""
        names, curve = self.names, others.curve
        if others.names != names:
            names = tuple(dict.fromkeys((*names, *others.names)))
            number = {name: at for at, name in enumerate(names)}
            curve = np.array([number[name] for name in others.names], dtype=np.int64)[curve]
        columns = {name: np.concatenate((values, others.columns[name])) for name, values in self.columns.items()}
        return CurveKeys(names, np.concatenate((self.curve, curve)), columns).in_order()

    def eased(self, segments: IntArray, ease_in: float, ease_out: float, holds: bool) -> CurveKeys:
        """Return the animator's keys with generated ones around each row of blocks; see core's Placed.eased.

        Curves without a known neutral value stay unchanged: see still_value. segments: (K,) the block of each key.
        ease_in, ease_out: in frames.
        """
        if not len(self):
            return self
        ease_in, ease_out = max(ease_in, _LEAST_EASE), max(ease_out, _LEAST_EASE)
        frames, is_other = self.frames, np.diff(self.curve) != 0
        is_apart = (np.abs(np.diff(segments)) > 1) & (np.diff(frames) > ease_in + ease_out) & (not holds)
        is_cut = is_other | is_apart
        first = np.flatnonzero(np.append(True, is_cut))
        last = np.flatnonzero(np.append(is_cut, True)[:0 if holds else None])
        near, offset = np.concatenate((first, last)), np.repeat((-ease_in, ease_out), (len(first), len(last)))
        still = np.array([still_value(*name) for name in self.names], dtype=np.float32)[self.curve[near]]
        is_known = ~np.isnan(still)
        near, offset, still = near[is_known], offset[is_known], still[is_known]
        columns = {name: self.columns[name][near] for name in ("easing", "amplitude", "period")}
        # Take the nearer one of the two quaternions of no rotation.
        values = np.where(np.isinf(still), np.copysign(1.0, self.columns["co"][near, 1]), still)
        beside = frames[near] + offset
        is_whole = np.abs(beside - np.round(beside)) < _BESIDE_WHOLE
        beside = np.where(is_whole, np.round(beside) + np.copysign(_BESIDE_WHOLE, offset), beside)
        columns |= dict.fromkeys(_PLACES, np.stack((beside, values), axis=1).astype(np.float32))
        columns["back"] = values.astype(np.float32)
        for name, value in (("type", GENERATED), ("interpolation", _BEZIER), ("handle_left_type", _AUTO_CLAMPED),
                            ("handle_right_type", _AUTO_CLAMPED)):
            columns[name] = np.full(len(near), value, dtype=np.uint8)
        return self.joined(CurveKeys(self.names, self.curve[near], columns))

    def seen(self, names: Collection[tuple[str, int]], *, has_handles: bool) -> dict[tuple[str, int], Seen]:
        """Return what will be read of curves once they have these keys.

        Curves with handles that the user has placed are left out: Blender corrects such handles.
        """
        columns = {name: np.ascontiguousarray(self.columns[name]) for name in ("type", *_HANDLE_TYPES, "co")}
        ends = np.cumsum([0, *np.bincount(self.curve, minlength=len(self.names))]).tolist()
        fixed = self.have_fixed().tolist()

        def of(begin: int, end: int) -> Seen:
            return Seen.of(lambda name: columns[name][begin:end], has_handles=has_handles)

        return {name: of(begin, end) for name, (begin, end), is_fixed in zip(self.names, pairwise(ends), fixed,
                                                                             strict=True)
                if name in names and not is_fixed}

    def to_data(self) -> dict[str, Any]:
        """Return the keys as values that JSON can hold."""
        used, curve = np.unique(self.curve, return_inverse=True)
        return {"curves": [self.names[at] for at in used.tolist()], "curve": curve.tolist(),
                "columns": {name: values.tolist() for name, values in self.columns.items()}}

    @classmethod
    def from_data(cls, data: Any, place: str = "keys") -> CurveKeys:
        """Return the keys that to_data stored; raises DamagedError for other data. place: where they are stored."""
        stored = Stored(data, place)
        names = tuple(_curve_name(*each.items(2)) for each in stored["curves"].items())
        if len(set(names)) < len(names):
            raise stored["curves"].wrong("each curve only once")
        curve = [each.whole(0, len(names) - 1) for each in stored["curve"].items()]
        columns = {}
        for name, (width, kind) in _COLUMNS.items():
            rows = stored["columns"][name].items(len(curve))
            columns[name] = np.array(_checked(name, rows), dtype=kind).reshape((-1, 2) if width == 2 else -1)
        return cls(names, np.array(curve, dtype=np.int64), columns)


def _checked(name: str, rows: Sequence[Stored]) -> list[Any]:
    """Return the values of a property of keys."""
    if name in CHOICES:
        allowed = _allowed(name)
        return [each.one_of(allowed) for each in rows]
    if _COLUMNS[name][0] == 1:
        return [each.number(-_LARGEST, _LARGEST) for each in rows]
    pairs = [each.items(2) for each in rows]
    return [(frame.number(-_FARTHEST, _FARTHEST), value.number(-_LARGEST, _LARGEST)) for frame, value in pairs]


@cache
def _allowed(name: str) -> tuple[int, ...]:
    """Return the numbers that a choice of a key may have, ascending."""
    choices = cast(bpy.types.EnumProperty, bpy.types.Keyframe.bl_rna.properties[name]).enum_items
    return tuple(sorted(each.value for each in choices))


def _curve_name(path: Stored, index: Stored) -> tuple[str, int]:
    """Return a curve's data path and index, each of which Blender can have given it."""
    name = path.text()
    if not _PATH.fullmatch(name) or ("pose.bones[".startswith(name.split('"')[0]) and not _OF_BONE.match(name)):
        raise path.wrong("the path of a property")
    found = bone_property(name)
    last = found[1] if found is not None else ""
    if last not in _WIDTHS and any(each.startswith(last) for each in _WIDTHS if last):
        raise path.wrong("the path of a property")
    return name, index.whole(0, _WIDTHS.get(last, _MOST_CHANNELS) - 1)


def still_value(path: str, index: int) -> float:
    """Return the neutral value of a channel; infinity means that both 1 and −1 are neutral, NaN that none is known.

    None is known for channels that no score plays, such as the object's own location: its keys are absolute.
    """
    found = bone_property(path)
    if found is None or found[1] not in _STILL:
        return np.nan
    return np.inf if (found[1], index) == ("rotation_quaternion", 0) else _STILL[found[1]]


class Seen(NamedTuple):
    """What was read of a curve's keys: some of their columns by name, and their checksum."""

    columns: Mapping[str, Any]
    checksum: int

    @classmethod
    def of(cls, column: Callable[[str], Any], *, has_handles: bool) -> Seen:
        """Take keys from a function that returns their columns; has_handles: with handles, if any is the user's."""
        columns = {name: column(name) for name in (("type", *_HANDLE_TYPES) if has_handles else ("type",))}
        types = b"".join(columns[name].tobytes() for name in _HANDLE_TYPES) if has_handles else b""
        columns |= {name: column(name) for name in (_PLACES if _FREE in types or _ALIGNED in types else ("co",))}
        checksum = 0
        for values in columns.values():
            checksum = zlib.crc32(values, checksum)
        return cls(columns, checksum)


def seen(points: Any, *, has_handles: bool) -> Seen:
    """Return what is read of a curve's keys to see whether they have changed."""
    ranges = [(points, (0, len(points)))]
    return Seen.of(lambda name: _column(name, ranges), has_handles=has_handles)


def read(bag: bpy.types.ActionChannelbag, known: Mapping[tuple[str, int], Seen] = _NONE_KNOWN) -> CurveKeys:
    """Return the keys of all curves. known: what was just read of some of them.

    If the user has placed no handle of a curve, its handles are returned on their keys. Blender computes such handles
    itself, and reading their positions would take longer than all the rest.
    """
    curves: list[Any] = list(bag.fcurves)
    points = [curve.keyframe_points for curve in curves]
    counts = [len(each) for each in points]
    ends = np.cumsum([0, *counts]).tolist()
    ranges = [*zip(points, pairwise(ends), strict=True)]
    names = tuple((curve.data_path, curve.array_index) for curve in curves)
    there = [known[name].columns for name in names if name in known]
    columns = {name: np.concatenate([each[name] for each in there])
               if there and len(there) == len(names) and all(name in each for each in there) else _column(name, ranges)
               for name in _COLUMNS if name not in _HANDLES}
    keys = CurveKeys(names, np.repeat(np.arange(len(curves)), counts), columns)
    placed = [each for each, is_placed in zip(ranges, keys.have_fixed().tolist(), strict=True) if is_placed]
    for name in _HANDLES:
        columns[name] = columns["co"].copy()
        _column(name, placed, columns[name])
    return keys.in_order()


def _column(name: str, ranges: list[tuple[Any, tuple[int, int]]], into: Any = None) -> Any:
    """Return a property of the keys of curves, each of which has a range of the rows. into: an array to fill."""
    width, kind = _COLUMNS[name]
    if into is None:
        rows = ranges[-1][1][1] if ranges else 0
        into = np.empty((rows, width) if width > 1 else rows, dtype=kind)
    flat = into.reshape(-1)
    for points, (begin, end) in ranges:
        if begin < end:
            points.foreach_get(name, flat[begin * width:end * width])
    return into


def write(bag: bpy.types.ActionChannelbag, before: CurveKeys, after: CurveKeys) -> set[tuple[str, int]]:
    """Give the curves these keys and no others; missing curves are created. before: the keys that they have.

    Return the curves that changed.
    """
    are_other = changed(before, after).tolist()
    if not any(are_other):
        return set()
    counts = np.bincount(after.curve, minlength=len(after.names))
    ends = np.cumsum([0, *counts]).tolist()
    are_as_many = before.names == after.names and np.array_equal(before.curve, after.curve)
    columns = {name: np.ascontiguousarray(values).ravel() for name, values in after.columns.items()
               if not (are_as_many and np.array_equal(values, before.columns[name]))}
    there: dict[tuple[str, int], Any] = {(curve.data_path, curve.array_index): curve for curve in bag.fcurves}
    fixed = after.have_fixed().tolist()
    for name, (begin, end), is_other, is_fixed in zip(after.names, pairwise(ends), are_other, fixed, strict=True):
        if not is_other:
            continue
        curve = there.get(name) or versions.add_fcurve(bag, *name, bone_of(name[0]))
        points: Any = curve.keyframe_points
        if len(points) != end - begin:
            points.clear()
            points.add(end - begin)
        for column, values in columns.items():
            width = _COLUMNS[column][0]
            if is_fixed or column not in _HANDLES:  # others follow from the keys
                points.foreach_set(column, values[begin * width:end * width])
        curve.update()
    return {name for name, is_other in zip(after.names, are_other, strict=True) if is_other}


def changed(before: CurveKeys, after: CurveKeys) -> BoolArray:
    """Return which curves (C,) of `after` have other keys, in float32 as Blender stores; automatic handles are ignored.

    All of them if curves, or numbers of keys, differ.
    """
    if before.names != after.names or not np.array_equal(before.curve, after.curve):
        return np.ones(len(after.names), dtype=np.bool_)
    are_other = np.zeros(len(after), dtype=np.bool_)
    for name in CHOICES:
        are_other |= before.columns[name] != after.columns[name]
    for name in _PLACES:
        is_seen = np.True_ if name == "co" else after.has_fixed(name)
        if not is_seen.any():
            continue
        is_away = (np.abs(before.columns[name] - after.columns[name]) >= _SAME).any(axis=1) & is_seen
        are_other |= is_away
    return np.bincount(after.curve[are_other], minlength=len(after.names)) > 0


def is_in(kind: IntArray, frames: FloatArray, kinds: IntArray, moments: FloatArray,
          tolerance: float = SAME_FRAME) -> BoolArray:
    """Return which frames (K,), each of a kind, are at moments (M,) of the same kind."""
    number = np.concatenate((kind, kinds))
    if number.max(initial=0) >= len(number):
        number = np.unique(number, return_inverse=True)[1]
    starts = number * 1e7  # kinds do not overlap
    return is_near(starts[:len(kind)] + frames, starts[len(kind):] + moments, tolerance)


def is_near(frames: FloatArray, moments: FloatArray, tolerance: float = SAME_FRAME) -> BoolArray:
    """Return which frames (K,) are at any of some moments."""
    if not len(moments):
        return np.zeros(len(frames), dtype=np.bool_)
    moments = np.sort(moments)
    after = np.minimum(np.searchsorted(moments, frames), len(moments) - 1)
    near = np.minimum(np.abs(moments[after] - frames), np.abs(moments[np.maximum(after - 1, 0)] - frames))
    return np.asarray(near <= tolerance)


def own_frames(keys: CurveKeys) -> FloatArray:
    """Return the distinct frames of the animator's keys, ascending."""
    frames = np.unique(keys.frames[keys.are_own])
    return np.asarray(frames[np.append(True, np.diff(frames) > SAME_FRAME)[:len(frames)]])


def bone_of(path: str) -> str:
    return path.split('"')[1] if '"' in path else ""
