"""The skeletons of a USD layer with their animations, by UsdSkel.

A skeleton rests in the pose in which it was bound. Each of its clips is an animation: the one that it is bound to, and
further ones of the file that move its joints. Joints that an animation leaves out keep their rest transforms.
Source: OpenUSD, UsdSkel manual: Skeleton, SkelAnimation, SkelBindingAPI; UsdSkelMakeTransform.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..clips.clip_file import ClipFile
from ..errors import FileError, NoClipError, quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from .gltf_tree import GltfTree, Transforms, bodies, decomposed, unit
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
from .usd_checks import check_keys, check_known, check_layer, check_matrices, check_paths, check_prim
from .usd_layer import Layer, Prim
from .usd_tree import Space, local_matrices, moved, space_of

_SOURCE: Final = "skel:animationSource"
_PARTS: Final = (("translation", "translations", 3), ("rotation", "rotations", 4), ("scale", "scales", 3))
MAX_JOINTS: Final = 20_000
"""Greatest number of joints of all skeletons."""
_LEAST_SPENT: Final = 200
"""Least numbers for which each joint of a skeleton counts, and each track of one in a clip."""
_ANIMATION_SPENT: Final = 25_000


def clips_of_layer(layer: Layer) -> ClipFile:
    """Return the skeletons of a layer with their clips; the file's skeleton is that of the first clip, if there is one.

    Raises FileError, with the place, for content that cannot be read, and if there is no skeleton.
    """
    space = space_of(layer)
    check_layer(layer)
    rigs = tuple(_rigs(layer, space))
    if not rigs:
        raise NoClipError(*layer.error("has no Skeleton of UsdSkel: there is nothing to play" + (
            "; what references, payloads and variants bring in is not read" if layer.left_out else ""), 1).problems)
    scene = _Scene(layer, space, rigs)
    found = [scene.animation(prim) for prim in scene.animations()]
    moving = moving_nodes(scene.tree, found)
    bound = bound_transforms(scene.tree, set[int]().union(*scene.joints), scene.inverse)
    linear = linear_of(scene.tree)

    def error(message: str) -> FileError:
        return layer.error(message, 1)

    figures = [NodeBody.of(scene.tree, joints, linear, *bound, {})
               for joints in bodies(scene.tree, scene.joints, moving, error)]
    clips = [clip for _, clip in clips_of(found, figures, error)]
    places = places_of(scene.tree, figures)
    warnings = layer.warnings() + distortions_of(clips, places)
    if not clips:
        warnings += ("has no animation that moves a skeleton; its skeleton can play",)
    return ClipFile(clips[0].skeleton if clips else figures[0].skeleton, named_apart(clips), warnings=warnings,
                    places=places)


@dataclass(frozen=True, eq=False)
class _Rig:
    """A skeleton of J joints as the layer has it, in metres.

    joints: their paths, parents before children; parents: (J,), −1 for none. rest: (J, 4, 4) in the parents' space;
    bind: (J, 4, 4) in the skeleton's; None where the layer has none.
    """

    prim: Prim
    joints: tuple[str, ...]
    parents: IntArray
    rest: FloatArray
    bind: FloatArray | None
    names: tuple[str, ...]


def _rigs(layer: Layer, space: Space) -> Iterator[_Rig]:
    """Yield the skeletons that a layer defines."""
    total = 0
    for prim in layer.prims.values():
        if prim.kind == "Skeleton" and all(each.is_defined for each in layer.around(prim)):
            joints = _names(layer, prim, "joints")
            total += len(joints)
            if total > MAX_JOINTS:
                raise layer.error(f"up to {prim.path} there are {total} joints; at most {MAX_JOINTS} are read", prim.at)
            if joints:
                check_prim(layer, prim)
                check_paths(layer, prim, joints)
                yield _rig(layer, prim, joints, space)


def _names(layer: Layer, prim: Prim, name: str) -> tuple[str, ...]:
    attribute = prim.attributes.get(name)
    return layer.words(attribute.default) if attribute is not None and attribute.default is not None else ()


def _rig(layer: Layer, prim: Prim, joints: tuple[str, ...], space: Space) -> _Rig:
    index = {path: joint for joint, path in enumerate(joints)}
    if len(index) < len(joints):
        twice = next(path for joint, path in enumerate(joints) if index[path] != joint)
        raise layer.error(f"{prim.path} has the joint {quoted(twice)} twice", prim.at)
    layer.spend(_LEAST_SPENT * len(joints), prim.at)
    above = [_parent(path, index) for path in joints]
    order = sorted(range(len(joints)), key=lambda joint: joints[joint].count("/"))
    new = {joint: number for number, joint in enumerate(order)}
    parents = np.array([new.get(above[joint], -1) for joint in order])
    matrices = {name: _matrices(layer, prim, name, joints, space) for name in ("restTransforms", "bindTransforms")}
    bind = matrices["bindTransforms"]
    bind = bind[order] if bind is not None else None
    rest = matrices["restTransforms"]
    if rest is not None:
        rest = rest[order]
    elif bind is not None:
        rest = np.where((parents >= 0)[:, None, None], np.linalg.pinv(bind[parents]) @ bind, bind)
    else:
        rest = np.tile(np.eye(4), (len(joints), 1, 1))
    given = _names(layer, prim, "jointNames")
    named = given if len(given) == len(joints) else tuple(path.rpartition("/")[2] for path in joints)
    return _Rig(prim, tuple(joints[joint] for joint in order), parents, rest, bind,
                tuple(named[joint] or f"Joint_{joint}" for joint in order))


def _parent(path: str, index: Mapping[str, int]) -> int:
    """Return the joint whose path is the nearest above that of another, −1 for none."""
    while path:
        path = path.rpartition("/")[0]
        if path in index:
            return index[path]
    return -1


def _matrices(layer: Layer, prim: Prim, name: str, joints: Sequence[str], space: Space) -> FloatArray | None:
    """Return matrices (J, 4, 4) of a skeleton, which the layer writes row by row for row vectors."""
    attribute = prim.attributes.get(name)
    if attribute is None or attribute.default is None:
        return None
    rows = layer.numbers(attribute.default, 16)
    if len(rows) != len(joints):
        raise layer.error(f"{prim.path}: {name} holds {len(rows)} matrices for {len(joints)} joints; as many are "
                          "wanted", attribute.default.at)
    check_matrices(layer, prim, name, rows.reshape(-1, 4, 4), joints, space.unit_m)
    found: FloatArray = rows.reshape(-1, 4, 4).swapaxes(1, 2).copy()
    found[:, :3, 3] *= space.unit_m
    found[:, 3] = (0.0, 0.0, 0.0, 1.0)
    return found


class _Scene:
    """The nodes of a layer's skeletons: the prims around them, and their joints.

    tree: its first node is the parent of all others, and makes Y the up axis. joints: the nodes of each skeleton.
    inverse: their inverse bind matrices, by node.
    """

    def __init__(self, layer: Layer, space: Space, rigs: Sequence[_Rig]) -> None:
        self._layer, self._space, self._rigs = layer, space, rigs
        self._names, self._parents, self._local = ["Scene"], [-1], [np.eye(4)]
        self._local[0][:3, :3] = rot.to_matrix(space.turn)
        self._prims: dict[str, int] = {}
        self._moving: dict[int, tuple[FloatArray, Transforms]] = {}
        self.inverse: dict[int, FloatArray] = {-1: np.eye(4), 0: np.eye(4)}
        self.joints: list[set[int]] = []
        self._node_of: list[dict[str, int]] = []
        for rig in rigs:
            self._add_rig(rig)
        self.tree = self._tree()

    def _add(self, name: str, parent: int, matrix: FloatArray) -> int:
        self._names.append(name)
        self._parents.append(parent)
        self._local.append(matrix)
        return len(self._names) - 1

    def _add_rig(self, rig: _Rig) -> None:
        node = 0
        for prim in reversed(list(self._layer.around(rig.prim))):
            if prim.path not in self._prims:
                times, matrices = local_matrices(self._layer, prim, self._space)
                self._prims[prim.path] = self._add(prim.name, node, matrices[0])
                if len(times):
                    self._moving[self._prims[prim.path]] = times, decomposed(matrices)
            node = self._prims[prim.path]
        self.inverse[node] = np.eye(4)
        nodes = list[int]()
        for joint, name in enumerate(rig.names):
            above = int(rig.parents[joint])
            nodes.append(self._add(name, nodes[above] if above >= 0 else node, rig.rest[joint]))
        if rig.bind is not None:
            self.inverse.update(zip(nodes, np.linalg.pinv(rig.bind), strict=True))
        self.joints.append(set(nodes))
        self._node_of.append(dict(zip(rig.joints, nodes, strict=True)))

    def _tree(self) -> GltfTree:
        children: list[list[int]] = [[] for _ in self._names]
        for node, parent in enumerate(self._parents[1:], start=1):
            children[parent].append(node)
        order, stack = list[int](), [0]
        while stack:
            order.append(stack.pop())
            stack.extend(reversed(children[order[-1]]))
        return GltfTree(tuple(self._names), tuple(order), np.array(self._parents), decomposed(np.array(self._local)),
                    frozenset())

    def animations(self) -> list[Prim]:
        """Return the animations of the layer: those that skeletons are bound to first."""
        bound = [prim for rig in self._rigs if (prim := self._bound(rig)) is not None]
        others = [prim for prim in self._layer.prims.values() if prim.kind == "SkelAnimation"
                  and all(each.is_defined for each in self._layer.around(prim))]
        return list(dict.fromkeys((*bound, *others)))

    def _bound(self, rig: _Rig) -> Prim | None:
        """Return the animation that a skeleton is bound to, itself or by a prim around it."""
        around = self._layer.around(rig.prim)
        targets = next((prim.targets[_SOURCE] for prim in around if prim.targets.get(_SOURCE)), ())
        found = self._layer.prims.get(targets[0]) if targets else None
        return found if found is not None and found.kind == "SkelAnimation" else None

    def animation(self, prim: Prim) -> Animation:
        """Return an animation's motion of its skeletons' joints, and that of the prims around them."""
        self._layer.spend(_ANIMATION_SPENT, prim.at)
        check_prim(self._layer, prim)
        bound_to = [self._bound(rig) for rig in self._rigs]
        own = [number for number, each in enumerate(bound_to) if each is prim] or [
            number for number, each in enumerate(bound_to) if each is None or len(self._rigs) == 1]
        found: dict[str, list[Channels]] = {path: [] for path in CHANNELS}
        spans = list[FloatArray]()
        for number in own:
            self._add_channels(prim, number, found, spans)
        for node, (times, transforms) in self._moving.items():
            for path, values in zip(CHANNELS, transforms, strict=True):
                found[path].append(Channels(np.array((node,)), times, values[:, None]))
            spans.append(times)
        times = np.concatenate([np.zeros(0), *spans])
        begins, ends = (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)
        for path, channels in found.items():  # a constant value has its key where the clip begins
            found[path] = [each if len(each.times) else each._replace(times=np.array((begins,))) for each in channels]
        return Animation(prim.name, found, begins, ends)

    def _add_channels(self, prim: Prim, number: int, found: dict[str, list[Channels]], spans: list[FloatArray]) -> None:
        """Add an animation's motion of one skeleton to the channels of each property, and its times to spans."""
        node_of = self._node_of[number]
        joints = _names(self._layer, prim, "joints") or self._rigs[number].joints
        known = [column for column, path in enumerate(joints) if path in node_of]
        nodes = np.array([node_of[joints[column]] for column in known], np.int64)
        if not known:
            return
        check_known(self._layer, prim, len(known), [path for path in joints if path not in node_of])
        size = float(np.linalg.norm(self._rigs[number].rest[:, :3, 3], axis=1).max()) / self._space.unit_m
        for path, name, width in _PARTS:
            attribute = prim.attributes.get(name)
            values = moved(self._layer, attribute, width, self._space, len(joints)) if attribute is not None else None
            if values is None:
                continue
            self._layer.spend(_LEAST_SPENT * len(nodes), prim.at)
            own = values.values[:, known]
            check_keys(self._layer, prim, name, [joints[column] for column in known], values.times * self._space.rate,
                       own, size)
            if path == "translation":
                own = own * self._space.unit_m
            elif path == "rotation":
                own = rot.continuous(unit(own))
            found[path].append(Channels(nodes, values.times, own))
            spans.append(values.times)
