"""The motion of COLLADA nodes: channels that animate numbers of their transforms, evaluated along curves.

Source: Khronos Group, COLLADA 1.4.1 specification, 4-25 (curve interpolation), 5: animation, channel, sampler;
D. Kochanek, R. Bartels, Interpolating splines with local tension, continuity, and bias control (1984).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..clips.keyed import interpolated
from ..errors import quoted, some_of
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray, merged
from .collada_data import ColladaData, children
from .collada_tree import KINDS, SceneNodes, Transform, local_matrix
from .gltf_tree import Transforms, decomposed
from .node_clips import CHANNELS, Animation, Channels
from .xml import Element

_STEP_S: Final = 1.0 / 60.0
"""Longest time between the keys that replace a curve with own keys farther apart than a film's frames."""
_FRAME_S: Final = 1.0 / 23.0
_JUMP_S: Final = 1e-5
"""Duration of a step from one value to the next."""
_HALVINGS: Final = 40
_TARGET: Final = re.compile(r"([^/]+)/(?:.*/)?([^/.()]+)(?:\.(\w+)|\((\d+)\)(?:\((\d+)\))?)?")
_MEMBERS: Final = {"X": 0, "Y": 1, "Z": 2, "W": 3, "ANGLE": 3}
_CURVED: Final = frozenset(("BEZIER", "HERMITE", "TCB", "CARDINAL"))
_SAME: Final = 1e-6
MAX_CLIPS: Final = 2000
_MOST_KEYS: Final = 200_000
"""Greatest number of keys that replace a curve, for an hour; longer curves are linear between their own keys."""
_LEAST_SPENT: Final = 2000
"""Least numbers for which a node's motion in a clip counts, so that a few keys are not read for thousands of nodes."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Keys of one channel: times (K,), values (K, D), and the interpolation from each key to the next (K names).

    before, after: (K, D, 2) the control points, time and value, before and after each key, for curves that have any.
    """

    times: FloatArray
    values: FloatArray
    kinds: tuple[str, ...]
    before: FloatArray
    after: FloatArray

    def at(self, times: FloatArray) -> FloatArray:
        """Return the values (F, D) at times (F,); the ends are held."""
        if np.array_equal(times, self.times) and (np.diff(times) > 0.0).all():
            return self.values
        if len(self.times) == 1:
            return np.repeat(self.values, len(times), axis=0)
        segment = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        begin, end = self.times[segment], self.times[segment + 1]
        gap = end - begin
        share = np.divide(times - begin, gap, out=np.ones(len(times)), where=gap > 0.0).clip(0.0, 1.0)
        here, there = self.values[segment], self.values[segment + 1]
        found = here + share[:, None] * (there - here)
        kinds = np.array(self.kinds)[segment]
        is_step = (kinds == "STEP") & (share < 1.0)
        found[is_step] = here[is_step]
        bent = np.flatnonzero(np.isin(kinds, tuple(_CURVED)) & (share > 0.0) & (share < 1.0))
        if len(bent):
            found[bent] = self._bent(segment[bent], times[bent])
        return found

    def _bent(self, segment: IntArray, times: FloatArray) -> FloatArray:
        """Return values (F, D) of cubic Bézier curves at times (F,)."""
        dims = self.values.shape[1]
        points = np.empty((len(segment), dims, 4, 2))
        points[:, :, 0, 0], points[:, :, 0, 1] = self.times[segment, None], self.values[segment]
        points[:, :, 3, 0], points[:, :, 3, 1] = self.times[segment + 1, None], self.values[segment + 1]
        points[:, :, 1], points[:, :, 2] = self.after[segment], self.before[segment + 1]
        low, high = np.zeros((len(segment), dims)), np.ones((len(segment), dims))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2.0
            is_late = _bezier(points[..., 0], middle) > times[:, None]
            high, low = np.where(is_late, middle, high), np.where(is_late, low, middle)
        return _bezier(points[..., 1], (low + high) / 2.0)


def _bezier(points: FloatArray, share: FloatArray) -> FloatArray:
    """Return the values (...) of cubic Bézier curves of four points (..., 4) at shares (...)."""
    rest = 1.0 - share
    return np.asarray(rest**3 * points[..., 0] + 3.0 * rest**2 * share * points[..., 1]
                      + 3.0 * rest * share**2 * points[..., 2] + share**3 * points[..., 3])


@dataclass(frozen=True, eq=False)
class _Channel:
    """A curve that sets all numbers of a transform of some nodes, or one. place: the index of the transform."""

    nodes: tuple[int, ...]
    place: int
    member: int | None
    curve: Curve


def animations(data: ColladaData, scene: SceneNodes, name: str) -> tuple[list[Animation], tuple[str, ...]]:
    """Return the animations, one for each animation clip of the file, or one for all; and warnings.

    name: of the one animation, if the file has no animation clips.
    """
    channels, unknown = dict[int, list[_Channel]](), list[str]()
    for top in data.libraries("animations"):
        channels[id(top)] = list(_channels(data, scene, top, unknown))
    found, moves = [], _Moves(data, scene)
    for number, clip in enumerate(data.libraries("animation_clips")):
        own = [channel for each in children(clip, "instance_animation")
               for channel in channels.get(id(data.find(each.attributes.get("url", ""), each)), ())]
        if number == MAX_CLIPS:
            raise data.error(f"more than {MAX_CLIPS} animation clips; no more are read", clip)
        if own:
            called = clip.attributes.get("name") or clip.attributes.get("id") or f"Clip_{number}"
            begins, ends = data.number(clip, "start", 0.0), data.number(clip, "end", -1.0)
            found.append(moves.animation(own, called, (begins, ends if ends > begins else None), clip))
    everything = [channel for own in channels.values() for channel in own]
    if not found and everything:
        found = [moves.animation(everything, name, (None, None), data.root)]
    warnings = (f"left out: what moves {some_of([quoted(each) for each in dict.fromkeys(unknown)], 3)}, which is no "
                "transform of a node",) if unknown else ()
    return found, warnings


def _channels(data: ColladaData, scene: SceneNodes, top: Element, unknown: list[str]) -> Iterator[_Channel]:
    """Yield the channels of an animation and of those in it; targets that are no transforms go to unknown."""
    nodes_of = scene.by_id()
    stack, known = [top], dict[int, Curve]()
    while stack:
        animation = stack.pop()
        stack.extend(children(animation, "animation"))
        for channel in children(animation, "channel"):
            target = channel.attributes.get("target", "")
            found = _TARGET.fullmatch(target)
            nodes = tuple(nodes_of.get(found[1], ())) if found is not None else ()
            place = _place(scene.transforms[nodes[0]], found[2]) if nodes and found is not None else -1
            if found is None or place < 0:
                unknown.append(target)
                continue
            transform = scene.transforms[nodes[0]][place]
            member = _member(data, channel, found, transform)
            sampler = data.find(channel.attributes.get("source", ""), channel)
            if id(sampler) not in known:
                known[id(sampler)] = _curve(data, sampler)
            curve, width = known[id(sampler)], KINDS[transform.kind] if member is None else 1
            if curve.values.shape[1] != width:
                raise data.error(f"<channel> target {quoted(target)} takes {width} numbers, but its curve has "
                                 f"{curve.values.shape[1]}", channel)
            yield _Channel(nodes, place, member, curve)


def _place(transforms: Sequence[Transform], sid: str) -> int:
    """Return the index of the transform that a channel names, −1 for none; a single matrix needs no name."""
    if len(transforms) == 1 and transforms[0].kind == "matrix" and not transforms[0].sid:
        return 0
    return next((number for number, each in enumerate(transforms) if each.sid == sid), -1)


def _member(data: ColladaData, channel: Element, found: re.Match[str], transform: Transform) -> int | None:
    """Return the index of the number of a transform that a target names; None for all numbers."""
    if found[3] is None and found[4] is None:
        return None
    if found[5] is not None:
        number = 4 * int(found[4][:3]) + int(found[5][:3])
    else:
        number = int(found[4][:3]) if found[4] is not None else _MEMBERS.get(found[3], -1)
    if not 0 <= number < KINDS[transform.kind]:
        raise data.error(f"<channel> target {quoted(found[0])} names no number of <{transform.kind}>", channel)
    return number


def _curve(data: ColladaData, sampler: Element) -> Curve:
    """Read the keys of a sampler."""
    sources = data.inputs(sampler)
    for wanted in ("INPUT", "OUTPUT"):
        if wanted not in sources:
            raise data.error(f"<sampler> has no input {wanted}", sampler)
    times, values = data.rows(sources["INPUT"])[:, 0], data.rows(sources["OUTPUT"])
    if len(times) != len(values) or not len(times):
        raise data.error(f"<sampler> has {len(times)} times and {len(values)} values; as many of both are wanted, and "
                         "at least 1", sampler)
    kinds = data.names(sources["INTERPOLATION"]) if "INTERPOLATION" in sources else ["LINEAR"]
    if 1 < len(kinds) != len(times):
        data.note(f"<sampler> has {len(times)} keys, but its INTERPOLATION {len(kinds)} names", sampler)
    kinds += kinds[-1:] * (len(times) - len(kinds)) or ["LINEAR"] * (not kinds)
    if len(falls := np.flatnonzero(np.diff(times) < 0.0)):
        data.note(f"in the times of <sampler> {times[falls[0] + 1]:g} comes after {times[falls[0]]:g}; its keys are "
                  "sorted", sampler)
    order = np.argsort(times, kind="stable")
    times, values, kinds = times[order], values[order], [kinds[number] for number in order.tolist()]
    before, after = (_control_points(data, sources, times, values, kinds, order) if _CURVED.intersection(kinds) else
                     2 * (np.zeros((0, values.shape[1], 2)),))
    return Curve(times, values, tuple(kinds), before, after)


def _control_points(data: ColladaData, sources: dict[str, Element], times: FloatArray, values: FloatArray,
                    kinds: Sequence[str], order: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the control points (K, D, 2) before and after each key, of time and value."""
    keys, dims = values.shape
    gaps = np.diff(times)
    third = np.concatenate(((0.0,), gaps / 3.0)), np.concatenate((gaps / 3.0, (0.0,)))
    found = []
    for which, (name, sign) in enumerate((("IN_TANGENT", -1.0), ("OUT_TANGENT", 1.0))):
        points = np.empty((keys, dims, 2))
        points[..., 0], points[..., 1] = (times + sign * third[which])[:, None], values
        given = data.rows(sources[name]) if name in sources else None
        if given is not None and len(given) != keys:
            data.note(f"{name} has {len(given)} tangents for {keys} keys, and is left out", sources[name])
        given = given[order] if given is not None and len(given) == keys else None
        for kind in set(kinds) & _CURVED:
            own = [number for number in range(keys) if kinds[number - 1 if which == 0 and number else number] == kind]
            if kind in ("TCB", "CARDINAL") or given is None:
                slopes = _slopes(data, sources, times, values, which, kind == "TCB")
                points[own, :, 1] = values[own] + sign * slopes[own] * third[which][own, None]
            elif given.shape[1] == 2 * dims:
                points[own] = given[own].reshape(-1, dims, 2)
                if kind == "HERMITE":
                    points[own] = np.stack((np.broadcast_to(times[own, None], (len(own), dims)), values[own]), axis=2
                                           ) + sign * points[own] / 3.0
            elif given.shape[1] == dims:
                points[own, :, 1] = values[own] + sign * given[own] / 3.0 if kind == "HERMITE" else given[own]
            else:
                raise data.error(f"{name} has {given.shape[1]} numbers for each key of {dims}; as many are wanted, or "
                                 "twice as many", sources[name])
        found.append(points)
    return found[0], found[1]


def _slopes(data: ColladaData, sources: dict[str, Element], times: FloatArray, values: FloatArray, which: int,
            is_tcb: bool) -> FloatArray:
    """Return slopes (K, D) per second before (which 0) or after (1) each key, of splines through the keys."""
    def given(name: str) -> FloatArray:
        rows = data.rows(sources[name])[:, :1] if is_tcb and name in sources else np.empty((0, 1))
        return rows if len(rows) == len(times) else np.zeros((len(times), 1))

    tension, continuity, bias = (given(name) for name in ("TENSION", "CONTINUITY", "BIAS"))
    gaps = np.diff(times)[:, None]
    steps = np.divide(np.diff(values, axis=0), gaps, out=np.zeros((len(gaps), values.shape[1])), where=gaps > 0.0)
    earlier, later = (np.concatenate(each) if len(steps) else np.zeros_like(values) for each in
                      ((steps[:1], steps), (steps, steps[-1:])))
    turn = continuity if which else -continuity
    return np.asarray((1.0 - tension) * ((1.0 + bias) * (1.0 + turn) * earlier + (1.0 - bias) * (1.0 - turn) * later)
                      / 2.0)


class _Moves:
    """The motion of nodes by channels, evaluated once for all clips."""

    def __init__(self, data: ColladaData, scene: SceneNodes) -> None:
        self._data, self._scene = data, scene
        self._known: dict[tuple[int, ...], tuple[FloatArray, Transforms]] = {}

    def animation(self, channels: Sequence[_Channel], name: str, span: tuple[float | None, float | None],
                  asking: Element) -> Animation:
        """Return the motion of channels from the begin to the end of a clip; None: those of the channels."""
        by_node: dict[int, dict[tuple[int, int | None], _Channel]] = {}
        for channel in channels:  # if two set one number, the last counts
            for node in channel.nodes:
                by_node.setdefault(node, {})[channel.place, channel.member] = channel
        begins, ends = (given if given is not None else pick(float(pick(channel.curve.times)) for channel in channels)
                        for given, pick in zip(span, (min, max), strict=True))
        found: dict[str, list[Channels]] = {path: [] for path in CHANNELS}
        for node, own in by_node.items():
            full, moves = self._of_node(node, list(own.values()), asking)
            times = full
            if times[0] < begins or times[-1] > ends:
                times = np.concatenate(((begins,), times[(times > begins) & (times < ends)], (ends,)))
            self._data.spend(10 * len(times) + _LEAST_SPENT, asking)
            for path, values, local in zip(CHANNELS, moves, self._scene.tree.local, strict=True):
                if not _is_still(values, local[node]):
                    found[path].append(Channels(np.array((node,)), times, interpolated(full, values, times)[:, None]))
        return Animation(name, found, begins, ends)

    def _of_node(self, node: int, channels: Sequence[_Channel], asking: Element) -> tuple[FloatArray, Transforms]:
        """Return the times (F,) at which a node is sampled, and its transforms, (F, …)."""
        key = (node, *map(id, channels))
        if key not in self._known:
            times = _times(channels)
            self._data.spend(16 * len(times), asking)
            transforms = _at(self._scene.transforms[node], channels, times)
            whole = decomposed(np.broadcast_to(local_matrix(transforms, self._scene.unit_m), (len(times), 4, 4)))
            self._known[key] = times, whole._replace(rotations=rot.continuous(whole.rotations))
        return self._known[key]


def _is_still(values: FloatArray, still: FloatArray) -> bool:
    """Tell whether values (F, C) always equal those of the node itself, (C,)."""
    same = rot.aligned(values, still) if len(still) == 4 else values
    return bool(np.abs(same - still).max() <= _SAME * max(1.0, float(np.abs(still).max())))


def _times(channels: Sequence[_Channel]) -> FloatArray:
    """Return the times at which a node is sampled: those of keys, and more between keys that are far apart."""
    times = merged(*(channel.curve.times for channel in channels))
    jumps = [channel.curve.times[1:] - _JUMP_S for channel in channels if "STEP" in channel.curve.kinds]
    is_baked = all(channel.member is None and set(channel.curve.kinds) == {"LINEAR"} for channel in channels
                   ) and len(channels) == 1
    if not is_baked:
        gaps = np.diff(times)
        parts = np.where(gaps > _FRAME_S, np.ceil(gaps / _STEP_S), 1.0).clip(1.0, 10.0 * _MOST_KEYS).astype(np.int64)
        if parts.sum() <= _MOST_KEYS:
            first = np.repeat(np.arange(len(gaps)), parts)
            number = np.arange(len(first)) - np.repeat(np.cumsum(parts) - parts, parts)
            times = np.append(times[first] + number * (gaps / parts)[first], times[-1:])
    return merged(times, *jumps) if jumps else times


def _at(transforms: Sequence[Transform], channels: Sequence[_Channel], times: FloatArray) -> list[Transform]:
    """Return a node's transforms at times (F,), with the values of channels, as values (F, N)."""
    moved = list(transforms)
    for channel in channels:
        transform = moved[channel.place]
        values = np.array(np.broadcast_to(transform.values, (len(times), KINDS[transform.kind])))
        if channel.member is None:
            values = channel.curve.at(times)
        else:
            values[:, channel.member] = channel.curve.at(times)[:, 0]
        moved[channel.place] = Transform(transform.kind, transform.sid, values)
    return moved
