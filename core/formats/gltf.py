"""glTF 2.0 (.glb, .gltf): the skeletons of its skins, and its animations as their clips.

The rest pose is the one in which the skin was bound, as its inverse bind matrices tell; joints that an animation does
not move are where their nodes are. Nodes between joints and their common ancestor are joints too, and so are ancestors
that an animation moves; of the ancestors above these only the tilt counts. In files without skins, of motion alone, the
nodes that move are the joints. Of meshes only those that joints move are looked at (gltf_skin.py); morph targets and
materials are not.
Source: Khronos Group, glTF 2.0 specification, 3.5.2 (transforms), 3.7.3 (skins), 3.11 and appendix C (animations).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from ..clips.clip import Clip
from ..clips.clip_file import ClipFile
from ..clips.keyed import packed
from ..errors import FileError, quoted
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.skeleton import Skeleton
from .format import Format, Source
from .gltf_data import Entry, GltfData
from .gltf_skin import skin_of
from .gltf_tree import Transforms, Tree, bodies, decomposed, skin_joints, unique, unit

MAX_ANIMATIONS: Final = 2000
MAX_CHANNELS: Final = 200_000
"""Of all animations."""
MAX_CLIPS: Final = 5_000
"""Of all bodies: one for each animation that moves it."""
_SAME: Final = 1e-5
"""Differences of rotations and scales, and of translations as shares of the largest, that are rounding."""
_UNSCALED: Final = 1e-4
"""Scales that differ from 1 by less move nothing by more than a fifth of a millimetre of a person: exporters that take
matrices apart write them, and all that is done with a scaled clip takes longer."""
_STEP_S: Final = 1.0 / 60.0
"""Longest time between keys that stand for a spline whose own keys are further apart than a film's frames."""
_FRAME_S: Final = 1.0 / 23.0
_JUMP_S: Final = 1e-5
"""How long a step from one value to the next takes, and how long before its key it is done: times are float32."""
_UP: Final = np.array((0.0, 1.0, 0.0))
_CHANNELS: Final = {"translation": 3, "rotation": 4, "scale": 3}


class _Channels(NamedTuple):
    """What an animation does with a property of N nodes: times (K,) ascend, values (K, N, C); rotations are wxyz."""

    nodes: IntArray
    times: FloatArray
    values: FloatArray


@dataclass(frozen=True, eq=False)
class _Animation:
    """An animation of a file. channels: by property, each node in one; begins, ends: its first key and its last one."""

    name: str
    channels: Mapping[str, Sequence[_Channels]]
    begins: float
    ends: float

    @cached_property
    def columns(self) -> Mapping[str, Mapping[int, tuple[int, int]]]:
        """By property, in which channels, and where among their nodes, each node is."""
        return {path: {node: (number, column) for number, each in enumerate(same)
                       for column, node in enumerate(each.nodes.tolist())} for path, same in self.channels.items()}

    @property
    def nodes(self) -> set[int]:
        """The nodes that have keys."""
        return set[int]().union(*self.columns.values())


def read(source: Source) -> ClipFile:
    """Read a glTF file: a skeleton for each body in it, and a clip for each animation and each body that it moves.

    A clip begins at the animation's first key. Between the keys of splines their tangents count, as the specification
    says. Raises FileError, with the place in the JSON, for what cannot be read, and where no animation moves a body.
    """
    data = GltfData(source)
    tree = Tree.of(data)
    animations = list(_animations(data, len(tree.names)))
    moving = _moving(tree, animations)
    skinned = skin_joints(data, tree)
    bound = _bound(data, tree, set[int]().union(*skinned))
    linear = _linear(tree)
    found = [_Body.of(tree, joints, linear, *bound) for joints in bodies(data, tree, skinned, moving)]
    skins = [skin_of(data, {node: joint for joint, node in enumerate(body.nodes.tolist())}) for body in found]
    moved = [(animation, body) for animation in animations for body in _moved_by(animation, found)]
    if len(moved) > MAX_CLIPS:
        raise data.top.error(f"has {len(animations)} animations that move {len(found)} bodies, {len(moved)} clips; at "
                             f"most {MAX_CLIPS} are read")
    clips = [replace(found[body].clip(animation), skin=skins[body]) for animation, body in moved]
    if not clips:
        raise FileError.at("has no animation that moves the joints of a skin, or a tree of nodes as large as a body",
                           source.path)
    names = unique(clip.name for clip in clips)
    return ClipFile(clips[0].skeleton, tuple(replace(clip, name=name) for clip, name in zip(clips, names, strict=True)))


def _moved_by(animation: _Animation, bodies: Sequence[_Body]) -> list[int]:
    """Return the numbers of the bodies of which an animation has keys for any joint."""
    nodes = np.array(sorted(animation.nodes))
    return [number for number, body in enumerate(bodies) if np.isin(body.nodes, nodes).any()]


def _animations(data: GltfData, nodes: int) -> Iterator[_Animation]:
    left = MAX_CHANNELS
    entries = data.top.entries("animations", MAX_ANIMATIONS)
    names = unique(entry.text("name") or f"Anim_{i}" for i, entry in enumerate(entries))
    for name, entry in zip(names, entries, strict=True):
        samplers, known = entry.entries("samplers"), set[tuple[int, str]]()
        alike: dict[tuple[str, str, int], list[tuple[int, Entry]]] = {}
        spans: dict[int, tuple[float, float]] = {}
        channels = entry.entries("channels")
        left -= len(channels)
        if left < 0:
            raise entry.error(f"up to here the animations have more than {MAX_CHANNELS} channels; no more are read")
        for channel in channels:
            target, sampler = channel.entry("target"), samplers[channel.count("sampler", below=len(samplers))]
            node, path = target.count("node", nodes, nodes + 1), target.text("path")
            if node == nodes or path not in (*_CHANNELS, "weights") or (node, path) in known:
                continue
            number = sampler.count("input")
            if number not in spans:
                times = data.accessor(sampler, "input", 1)
                if not len(times):
                    raise sampler.error("has no keys")
                spans[number] = float(times.min()), float(times.max())
            if path in _CHANNELS:
                known.add((node, path))
                alike.setdefault((path, sampler.text("interpolation", "LINEAR"), number), []).append((node, sampler))
        found: dict[str, list[_Channels]] = {path: [] for path in _CHANNELS}
        for (path, kind, _), group in alike.items():
            found[path].append(_channels(data, group, path, kind))
        if known:
            begins, ends = zip(*spans.values(), strict=True)
            yield _Animation(name, found, min(begins), max(ends))


def _channels(data: GltfData, samplers: Sequence[tuple[int, Entry]], path: str, kind: str) -> _Channels:
    """Read keys between which motion goes straight, of nodes whose keys have the same times and are joined alike."""
    times, width = data.accessor(samplers[0][1], "input", 1)[:, 0], _CHANNELS[path]
    rows = {"LINEAR": 1, "STEP": 1, "CUBICSPLINE": 3}.get(kind, 0)
    each = []
    for _, sampler in samplers:
        values = data.accessor(sampler, "output", width)
        if not rows or len(values) != rows * len(times):
            raise sampler.error(f"{len(times)} keys and {len(values)} values do not belong together, or {quoted(kind)} "
                                "is none of LINEAR, STEP, CUBICSPLINE")
        each.append(values.reshape(len(times), rows, width))
    values = np.stack(each, axis=1)
    if (times[1:] < times[:-1]).any():
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
    return _Channels(nodes, times, rot.continuous(unit(flat)) if path == "rotation" else flat)


def _facing(values: FloatArray, own: int) -> FloatArray:
    """Give the quaternions of neighbouring keys, and their tangents, signs with which splines go the short way.

    Blender's exporter writes neighbours of opposite signs; between these a spline would turn limbs all the way round.
    values: (K, N, R, 4), of which row own is the key's value.
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
    """Put keys onto Hermite's cubic splines.

    values: (K, N, 3, C): the tangent before each key, its value, the tangent after it; tangents per second.
    steps: (K − 1,) how many keys there are from each one up to the next.
    """
    first = np.repeat(np.arange(len(steps)), steps)
    share = (np.arange(len(first)) - np.repeat(np.cumsum(steps) - steps, steps)) / steps[first]
    gaps = np.diff(times)[first]
    gap, t, here, there = gaps[:, None, None], share[:, None, None], values[first], values[first + 1]
    between = ((2.0 * t**3 - 3.0 * t**2 + 1.0) * here[:, :, 1] + gap * (t**3 - 2.0 * t**2 + t) * here[:, :, 2]
               + (3.0 * t**2 - 2.0 * t**3) * there[:, :, 1] + gap * (t**3 - t**2) * there[:, :, 0])
    return np.append(times[first] + share * gaps, times[-1]), np.concatenate((between, values[-1:, :, 1]))


def _moving(tree: Tree, animations: Iterable[_Animation]) -> frozenset[int]:
    """Return the nodes that an animation gives other transforms than their own."""
    moving = set[int]()
    for animation in animations:
        for local, same in zip(tree.local, (animation.channels[path] for path in _CHANNELS), strict=True):
            for channels in same:
                moving.update(channels.nodes[_differ(channels.values, local[channels.nodes])].tolist())
    return frozenset(moving)


def _differ(values: FloatArray, ones: FloatArray) -> BoolArray:
    """Tell which of some values (K, N, C) ever differ from others (N, C); quaternions of opposite signs do not."""
    if values.shape[2] == 4:
        values = values * np.where(np.einsum("knc,nc->kn", values, ones) < 0.0, -1.0, 1.0)[..., None]
    return np.asarray(np.abs(values - ones).max(axis=(0, 2)) > _SAME * np.maximum(np.abs(ones).max(axis=1), 1.0))


def _bound(data: GltfData, tree: Tree, joints: Collection[int]) -> tuple[list[int], Transforms]:
    """Return the nodes (N,) of those joints of which inverse bind matrices tell where they were when skins were bound.

    And their transforms then, (N, …).
    """
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
    known = [node for node in tree.order if node in joints and {node, int(tree.parents[node])} <= inverse.keys()]
    above, own = (np.array([inverse[node] for node in nodes]).reshape(-1, 4, 4)
                  for nodes in (tree.parents[known].tolist(), known))
    return known, decomposed(above @ np.linalg.pinv(own))


@dataclass(frozen=True, eq=False)
class _Body:
    """A skeleton of J joints in H-Anim's axes.

    nodes: (J,) the node of each joint. rest: the joints' transforms at rest, in the file; own: those of their nodes.
    turn: (4,) from the file's axes to H-Anim's.
    """

    skeleton: Skeleton
    nodes: IntArray
    rest: Transforms
    own: Transforms
    turn: FloatArray

    @classmethod
    def of(cls, tree: Tree, joints: Collection[int], linear: FloatArray, known: Sequence[int],
           bound: Transforms) -> _Body:
        """Build the skeleton of some nodes.

        linear: see _linear; bound: the transforms of known nodes when skins were bound.
        """
        kept = [node for node in tree.order if node in joints]
        index = {node: joint for joint, node in enumerate(kept)}
        own = Transforms(*(part[kept] for part in tree.local))
        rows = [(index[node], row) for row, node in enumerate(known) if node in index]
        rest = Transforms(*(part.copy() for part in own))
        for part, other in zip(rest, bound, strict=True):
            part[[joint for joint, _ in rows]] = other[[row for _, row in rows]]
        is_none = (np.abs(rest.scales) < _SAME) | (np.abs(rest.scales - 1.0) < _UNSCALED)
        rest = rest._replace(scales=np.where(is_none, 1.0, rest.scales))
        above = int(tree.parents[kept[0]])
        skeleton = Skeleton.from_arrays(unique(tree.names[node] for node in kept),
                                        [index.get(int(tree.parents[node]), -1) for node in kept],
                                        rest.rotations, rest.translations, rest.scales,
                                        tree.names[above] if above >= 0 else "Armature")
        turn = _upright(linear[above]) if above >= 0 else rot.IDENTITY
        return cls(skeleton.turned(turn), np.array(kept), rest, own, turn)

    def clip(self, animation: _Animation) -> Clip:
        """Return what an animation does with the skeleton."""
        tracks = [packed(sorted(self._rows(animation, path, own, rest), key=itemgetter(0)), width)
                  for (path, width), own, rest in zip(_CHANNELS.items(), self.own, self.rest, strict=True)]
        return Clip(animation.name, self.skeleton, animation.ends - animation.begins, tracks[1], tracks[0], tracks[2])

    def _rows(self, animation: _Animation, path: str, own: FloatArray,
              rest: FloatArray) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Yield joints with times (K,) and values (K, C) of a property, of which they have own at first, rest at rest.

        Joints without keys have one where their nodes are not as they rest.
        """
        is_still, found, columns = _differ(own[None], rest), [], dict[int, list[tuple[int, int]]]()
        for joint, node in enumerate(self.nodes.tolist()):
            if node in animation.columns[path]:
                number, column = animation.columns[path][node]
                columns.setdefault(number, []).append((column, joint))
                is_still[joint] = False
        for number, pairs in sorted(columns.items()):
            own_columns, joints = np.array(pairs).T
            _, times, values = animation.channels[path][number]
            found.append((joints, times - animation.begins, values[:, own_columns]))
        still = np.flatnonzero(is_still)
        for joints, times, values in (*found, (still, np.zeros(1), own[None, still])):
            relative = self._relative(joints, path, values).swapaxes(0, 1).copy()
            for joint, track in zip(joints.tolist(), relative, strict=True):
                if path != "scale" or np.abs(track - 1.0).max() >= _UNSCALED:
                    yield joint, times, track

    def _relative(self, joints: IntArray, path: str, values: FloatArray) -> FloatArray:
        """Return values of a property (K, N, C) relative to the rest of joints (N,)."""
        if path == "rotation":
            return rot.multiply(rot.conjugate(self.rest.rotations[joints]), values)
        if path == "scale":
            return np.asarray(values / self.rest.scales[joints])
        moved, is_root = values - self.rest.translations[joints], self.skeleton.parents[joints] < 0
        moved[:, is_root] = rot.rotate(self.turn, moved[:, is_root])
        return moved


def _linear(tree: Tree) -> FloatArray:
    """Return what turns and scales from each node's space to the file's, (N, 3, 3)."""
    found = rot.to_matrix(tree.local.rotations) * tree.local.scales[:, None, :]
    with np.errstate(over="ignore", invalid="ignore"):  # what scales so much has no axes any longer
        for node in tree.order:
            if tree.parents[node] >= 0:
                found[node] = found[tree.parents[node]] @ found[node]
    is_finite = np.asarray(np.isfinite(found).all(axis=(1, 2), keepdims=True))
    return np.where(is_finite, found, np.eye(3))


def _upright(linear: FloatArray) -> FloatArray:
    """Return the turn (4,) that sets a space upright, by the shortest arc; linear: (3, 3) from it to the file's.

    Its heading stays as it is, as that of Blender's armatures does.
    """
    return rot.shortest_arc(np.linalg.pinv(linear) @ _UP, _UP)


FORMAT: Final = Format("GLTF", "glTF", (".glb", ".gltf"), read=read)
