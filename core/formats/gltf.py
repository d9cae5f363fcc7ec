"""glTF 2.0 (.glb, .gltf): the skeletons of its skins, and its animations as their clips.

The rest pose is the one in which the skin was bound, by its inverse bind matrices. Joints that an animation does not
move are where their nodes are. Nodes between joints and their common ancestor are joints too, and so are ancestors that
an animation moves. Of the ancestors above these, only the tilt counts. In files without skins, which contain only
motion, the nodes that move are the joints. VRM's table of human bones gives the meaning of joints (vrm.py). Only meshes
that joints move are read (gltf_skin.py); morph targets and materials are not. Source: Khronos Group, glTF 2.0
specification, 3.5.2 (transforms), 3.7.3 (skins), 3.11 and appendix C (animations).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from ..clips.clip_file import ClipFile
from ..errors import NoClipError, quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from .format import Format, Holds, Source
from .gltf_data import Entry, GltfData
from .gltf_skin import skin_of
from .gltf_tree import GltfTree, bodies, skin_joints, unique, unit
from .node_clips import (
    CHANNELS,
    Animation,
    Channels,
    NodeBody,
    bound_transforms,
    clips_of,
    linear_of,
    moving_nodes,
    named_apart,
    places_of,
)
from .placed import distortions_of
from .vrm import human_bones, with_between
from .vrma_write import left_out, unmoved
from .vrma_write import write as write_vrma

MAX_ANIMATIONS: Final = 2000
MAX_CHANNELS: Final = 200_000
"""Greatest number of channels of all animations."""
_SAME: Final = 1e-5
"""Tolerance in numbers of keys: smaller excess is rounding."""
_STEP_S: Final = 1.0 / 60.0
"""Longest time between the keys that replace a spline with own keys farther apart than a film's frames."""
_FRAME_S: Final = 1.0 / 23.0
_JUMP_S: Final = 1e-5
"""Duration of a step from one value to the next, and the time before its key at which it ends: times are float32."""


def read(source: Source) -> ClipFile:
    """Read a glTF file: a skeleton for each body in it, and a clip for each animation and each body that it moves.

    A clip begins at the animation's first key. Splines are evaluated with their tangents, as in the specification.
    Raises FileError, with the place in the JSON, for content that cannot be read, and if no animation moves a body.
    """
    data = GltfData(source)
    tree = GltfTree.of(data)
    animations = list(_animations(data, len(tree.names)))
    moving = moving_nodes(tree, animations)
    bones = human_bones(data, tree)
    skinned = skin_joints(data, tree) + ([with_between(tree, bones)] if bones else [])
    bound = bound_transforms(tree, set[int]().union(*skinned), _inverse_binds(data, tree))
    linear = linear_of(tree)
    found = [NodeBody.of(tree, joints, linear, *bound, bones)
             for joints in bodies(tree, skinned, moving, data.top.error)]
    skins = [skin_of(data, {node: joint for joint, node in enumerate(body.nodes.tolist())}, body.size)
             for body in found]
    clips = [replace(clip, skin=skins[body]) for body, clip in clips_of(animations, found, data.top.error)]
    if not clips and bones and found:
        return ClipFile(found[0].skeleton, warnings=("has no animation; its skeleton can play", *data.notes))
    if not clips:
        raise NoClipError.at("has no animation that moves the joints of a skin, or a tree of nodes as large as a body",
                             source.path)
    places = places_of(tree, found)
    return ClipFile(clips[0].skeleton, named_apart(clips), warnings=(*data.notes, *distortions_of(clips, places)),
                    places=places)


def _animations(data: GltfData, nodes: int) -> Iterator[Animation]:
    entries = data.top.entries("animations", MAX_ANIMATIONS)
    _refuse_more_channels(entries)
    names = unique(entry.text("name") or f"Anim_{i}" for i, entry in enumerate(entries))
    for name, entry in zip(names, entries, strict=True):
        samplers, known = entry.entries("samplers"), set[tuple[int, str]]()
        alike: dict[tuple[str, str, int], list[tuple[int, Entry]]] = {}
        spans: dict[int, tuple[float, float]] = {}
        for channel in entry.entries("channels"):
            target, sampler = channel.entry("target"), samplers[channel.count("sampler", below=len(samplers))]
            node, path = target.count("node", nodes, nodes + 1), target.text("path")
            if node == nodes or path not in (*CHANNELS, "weights") or (node, path) in known:
                continue
            number = sampler.count("input")
            if number not in spans:
                times = data.accessor(sampler, "input", 1)
                if not len(times):
                    raise sampler.error("has no keys")
                spans[number] = float(times.min()), float(times.max())
            if path in CHANNELS:
                known.add((node, path))
                alike.setdefault((path, sampler.text("interpolation", "LINEAR"), number), []).append((node, sampler))
        found: dict[str, list[Channels]] = {path: [] for path in CHANNELS}
        for (path, kind, _), group in alike.items():
            found[path].append(_channels(data, group, path, kind))
        if known:
            begins, ends = zip(*spans.values(), strict=True)
            yield Animation(name, found, min(begins), max(ends))


def _refuse_more_channels(animations: Sequence[Entry]) -> None:
    """Raise FileError if animations have too many channels, before any is read."""
    left = MAX_CHANNELS
    for entry in animations:
        left -= entry.length("channels")
        if left < 0:
            raise entry.error(f"up to here the animations have more than {MAX_CHANNELS} channels; no more are read")


def _channels(data: GltfData, samplers: Sequence[tuple[int, Entry]], path: str, kind: str) -> Channels:
    """Read keys with linear interpolation, grouped for nodes whose keys have the same times and interpolation."""
    times, width = data.accessor(samplers[0][1], "input", 1)[:, 0], CHANNELS[path]
    rows = {"LINEAR": 1, "STEP": 1, "CUBICSPLINE": 3}.get(kind, 0)
    each = []
    for _, sampler in samplers:
        values = data.accessor(sampler, "output", width)
        if not rows or len(values) != rows * len(times):
            raise sampler.error(f"{len(times)} keys and {len(values)} values do not belong together, or {quoted(kind)} "
                                "is none of LINEAR, STEP, CUBICSPLINE")
        each.append(values.reshape(len(times), rows, width))
    values = np.stack(each, axis=1)
    if len(falls := np.flatnonzero(times[1:] < times[:-1])):
        data.note(f"accessors[{samplers[0][1].count('input')}]: in the times of keys {times[falls[0] + 1]:g} comes "
                  f"after {times[falls[0]]:g}; the keys are sorted")
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
    if path == "rotation":
        values = _facing(values[..., [3, 0, 1, 2]], rows // 2)
    if kind == "CUBICSPLINE":
        gaps = np.diff(times)
        steps = np.where(gaps <= _FRAME_S, 1.0, np.ceil(gaps / _STEP_S - _SAME)).clip(1, 2**40)
        for _, sampler in samplers:
            data.spend(int(steps.sum()) * width, sampler)
        times, flat = _along_splines(times, values, steps.astype(np.int64))
    else:
        times, flat = _in_steps(times, values[:, :, 0]) if kind == "STEP" else (times, values[:, :, 0])
    nodes = np.array([node for node, _ in samplers])
    return Channels(nodes, times, rot.continuous(unit(flat)) if path == "rotation" else flat)


def _facing(values: FloatArray, own: int) -> FloatArray:
    """Return quaternions of keys, and their tangents, with signs by which splines take the shorter arc.

    Blender's exporter writes neighbours with opposite signs. Between these, a spline would rotate limbs by almost a
    full turn. values: (K, N, R, 4), of which row `own` is the key's value.
    """
    is_turned = (rot.continuous(values[:, :, own]) * values[:, :, own]).sum(axis=2) < 0.0
    return values * np.where(is_turned, -1.0, 1.0)[..., None, None]


def _in_steps(times: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Hold values (K, N, C) until just before the next key, so that the new one is there however times are rounded."""
    begins = np.append(times[:1], np.maximum(times[1:] - _JUMP_S, times[:-1]))
    before = np.maximum(begins[1:] - _JUMP_S, begins[:-1])
    after = np.arange(1, len(times))
    return np.insert(begins, after, before), np.insert(values, after, values[:-1], axis=0)


def _along_splines(times: FloatArray, values: FloatArray, steps: IntArray) -> tuple[FloatArray, FloatArray]:
    """Add keys on cubic Hermite splines.

    values: (K, N, 3, C): the tangent before each key, its value, the tangent after it; tangents per second.
    steps: (K − 1,) the number of keys from each key up to the next.
    """
    first = np.repeat(np.arange(len(steps)), steps)
    share = (np.arange(len(first)) - np.repeat(np.cumsum(steps) - steps, steps)) / steps[first]
    gaps = np.diff(times)[first]
    gap, t, here, there = gaps[:, None, None], share[:, None, None], values[first], values[first + 1]
    between = ((2.0 * t**3 - 3.0 * t**2 + 1.0) * here[:, :, 1] + gap * (t**3 - 2.0 * t**2 + t) * here[:, :, 2]
               + (3.0 * t**2 - 2.0 * t**3) * there[:, :, 1] + gap * (t**3 - t**2) * there[:, :, 0])
    return np.append(times[first] + share * gaps, times[-1]), np.concatenate((between, values[-1:, :, 1]))


def _inverse_binds(data: GltfData, tree: GltfTree) -> dict[int, FloatArray]:
    """Return the inverse bind matrices (4, 4) by node, from all skins; −1 stands for the space around all nodes."""
    inverse: dict[int, FloatArray] = {-1: np.eye(4)}
    for skin in data.top.entries("skins"):
        listed = skin.counts("joints", len(tree.names))
        if not skin.has("inverseBindMatrices"):
            continue
        matrices = data.accessor(skin, "inverseBindMatrices", 16)
        if len(matrices) < len(listed):
            raise skin.error(f"has {len(listed)} joints, but {len(matrices)} inverse bind matrices")
        if skin.has("skeleton"):
            root = skin.count("skeleton", below=len(tree.names))
            inverse.setdefault(int(tree.parents[root]) if root in listed else root, np.eye(4))
        inverse.update(zip(listed, matrices[:len(listed)].reshape(-1, 4, 4).swapaxes(1, 2), strict=True))
    return inverse


_BEGINS: Final = "{", "glTF"
FORMAT: Final = Format("GLTF", "glTF", (".glb", ".gltf"), read=read, begins=_BEGINS)
VRM: Final = Format("VRM", "VRM", (".vrm",), read=read, begins=_BEGINS)
VRMA: Final = Format("VRMA", "VRM Animation", (".vrma",), Holds(many_clips=False, scales=False), read=read,
                     write=lambda file, fps: write_vrma(file), in_metres=True, begins=_BEGINS,
                     left_out=left_out, unmoved=unmoved)
