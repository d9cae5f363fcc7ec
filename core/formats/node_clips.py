"""Convert nodes with transforms to bodies, and animations of nodes to clips, for formats of whole scenes.

The rest pose is the one in which the skin was bound, by its inverse bind matrices. Joints that an animation does not
move are where their nodes are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np

from ..clips.clip import Clip
from ..clips.keyed import packed
from ..errors import FileError, quoted, some_of
from ..maths import rotations as rot
from ..maths.arrays import BoolArray, FloatArray, IntArray
from ..skeletons.skeleton import Skeleton
from .gltf_tree import GltfTree, Transforms, decomposed, unique

CHANNELS: Final = {"translation": 3, "rotation": 4, "scale": 3}
"""The properties of a node that can move, and the numbers of components of their values."""
MAX_CLIPS: Final = 5_000
"""Greatest number of clips of all bodies: one for each animation that moves a body."""
_SAME: Final = 1e-5
"""Tolerance for rounding: of rotations and scales, and of translations as shares of the largest."""
_UNSCALED: Final = 1e-4
"""Scales that differ from 1 by less count as 1. They move a person's points by at most a fifth of a millimetre.
Exporters that decompose matrices write them, and scaled clips take longer to process."""
_UP: Final = np.array((0.0, 1.0, 0.0))
_SAID: Final = 8


class Channels(NamedTuple):
    """The keys of a property of N nodes in an animation: times (K,) ascending, values (K, N, C); rotations are wxyz."""

    nodes: IntArray
    times: FloatArray
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Animation:
    """An animation. channels: by property, each node in one; begins, ends: the times of its first and last keys."""

    name: str
    channels: Mapping[str, Sequence[Channels]]
    begins: float
    ends: float

    @cached_property
    def columns(self) -> Mapping[str, Mapping[int, tuple[int, int]]]:
        """The channels of each node and its position among their nodes, by property."""
        return {path: {node: (number, column) for number, each in enumerate(same)
                       for column, node in enumerate(each.nodes.tolist())} for path, same in self.channels.items()}

    @cached_property
    def nodes(self) -> frozenset[int]:
        """The nodes that have keys."""
        return frozenset().union(*self.columns.values())


def clips_of(animations: Sequence[Animation], bodies: Sequence[NodeBody],
             error: Callable[[str], FileError]) -> list[tuple[int, Clip]]:
    """Return a clip, with the body's number, for each animation and each body that it has keys for.

    error: makes the error raised beyond MAX_CLIPS.
    """
    nodes = np.concatenate([body.nodes for body in bodies]) if bodies else np.zeros(0, np.int64)
    owners = np.repeat(np.arange(len(bodies)), [len(body.nodes) for body in bodies])
    moved = [(animation, number) for animation in animations for number in _moved_by(animation, nodes, owners)]
    if len(moved) > MAX_CLIPS:
        raise error(f"has {len(animations)} animations that move {len(bodies)} bodies, {len(moved)} clips; at most "
                    f"{MAX_CLIPS} are read")
    return [(number, bodies[number].clip(animation)) for animation, number in moved]


def _moved_by(animation: Animation, nodes: IntArray, owners: IntArray) -> list[int]:
    """Return the bodies for which an animation has keys; nodes: (N,) of all bodies, owners: (N,) the body of each."""
    has_keys = np.isin(nodes, np.fromiter(animation.nodes, np.int64, len(animation.nodes)))
    return list(np.unique(owners[has_keys]).tolist())


def named_apart(clips: Sequence[Clip]) -> tuple[Clip, ...]:
    """Return clips with unique names: repeated names get a number."""
    names = unique(clip.name for clip in clips)
    return tuple(replace(clip, name=name) for clip, name in zip(clips, names, strict=True))


def of_whom(clips: Sequence[Clip]) -> tuple[str, ...]:
    """Return a sentence that names the skeleton of each clip, or nothing if all clips have the same skeleton."""
    skeletons = {id(clip.skeleton): clip.skeleton.name for clip in clips}
    if len(skeletons) < 2:
        return ()
    said = [f"{quoted(clip.name)} is of {quoted(clip.skeleton.name)}" for clip in clips]
    return (f"has clips of {len(skeletons)} skeletons: {some_of(said, _SAID)}",)


def moving_nodes(tree: GltfTree, animations: Iterable[Animation]) -> frozenset[int]:
    """Return the nodes whose transforms an animation changes."""
    moving = set[int]()
    for animation in animations:
        for local, same in zip(tree.local, (animation.channels[path] for path in CHANNELS), strict=True):
            for channels in same:
                moving.update(channels.nodes[_differ(channels.values, local[channels.nodes])].tolist())
    return frozenset(moving)


def _differ(values: FloatArray, ones: FloatArray) -> BoolArray:
    """Tell which values (K, N, C) ever differ from others (N, C), as (N,); quaternions of opposite signs are equal."""
    if values.shape[2] == 4:
        values = values * np.where(np.einsum("knc,nc->kn", values, ones) < 0.0, -1.0, 1.0)[..., None]
    return np.asarray(np.abs(values - ones).max(axis=(0, 2)) > _SAME * np.maximum(np.abs(ones).max(axis=1), 1.0))


def bound_transforms(tree: GltfTree, joints: Collection[int], inverse: Mapping[int, FloatArray]
                     ) -> tuple[list[int], Transforms]:
    """Return the nodes (N,) of joints whose bind pose is known from inverse bind matrices, and their transforms in it.

    The transforms are (N, …). inverse: (4, 4) by node, −1 for the space around them.
    """
    known = [node for node in tree.order if node in joints and {node, int(tree.parents[node])} <= inverse.keys()]
    above, own = (np.array([inverse[node] for node in nodes]).reshape(-1, 4, 4)
                  for nodes in (tree.parents[known].tolist(), known))
    return known, decomposed(above @ np.linalg.pinv(own))


@dataclass(frozen=True, eq=False)
class NodeBody:
    """A skeleton of J joints in H-Anim's axes.

    nodes: (J,) the node of each joint. rest: the joints' transforms at rest, in the file; own: those of their nodes.
    turn: (4,) from the file's axes to H-Anim's. size: the scale of the nodes around the body.
    """

    skeleton: Skeleton
    nodes: IntArray
    rest: Transforms
    own: Transforms
    turn: FloatArray
    size: float

    @classmethod
    def of(cls, tree: GltfTree, joints: Collection[int], linear: FloatArray, known: Sequence[int], bound: Transforms,
           bones: Mapping[int, str]) -> NodeBody:
        """Build the skeleton of some nodes, with the size that it has in the file.

        linear: see linear_of. bound: the transforms of the `known` nodes in the bind pose. bones: the H-Anim joints of
        nodes, if the file states them.
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
        names = unique(tree.names[node] for node in kept)
        meant = {name: bones[node] for name, node in zip(names, kept, strict=True) if node in bones}
        size = _size(linear[above]) if above >= 0 else 1.0
        skeleton = Skeleton.from_arrays(names,
                                        [index.get(int(tree.parents[node]), -1) for node in kept],
                                        rest.rotations, size * rest.translations, rest.scales,
                                        tree.names[above] if above >= 0 else "Armature", meant)
        turn = _upright(linear[above]) if above >= 0 else rot.IDENTITY
        return cls(skeleton.turned(turn), np.array(kept), rest, own, turn, size)

    def clip(self, animation: Animation) -> Clip:
        """Return the clip of an animation for the skeleton."""
        tracks = [packed(sorted(self._rows(animation, path, own, rest), key=itemgetter(0)), width)
                  for (path, width), own, rest in zip(CHANNELS.items(), self.own, self.rest, strict=True)]
        return Clip(animation.name, self.skeleton, animation.ends - animation.begins, tracks[1], tracks[0], tracks[2])

    def _rows(self, animation: Animation, path: str, own: FloatArray,
              rest: FloatArray) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Yield joints with times (K,) and values (K, C) of a property. own: their first values. rest: values at rest.

        Joints without keys get one if their own value differs from rest.
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
        moved, is_root = self.size * (values - self.rest.translations[joints]), self.skeleton.parents[joints] < 0
        moved[:, is_root] = rot.rotate(self.turn, moved[:, is_root])
        return moved


def places_of(tree: GltfTree, bodies: Iterable[NodeBody]) -> dict[Skeleton, FloatArray]:
    """Return matrices (4, 4) from the model spaces of bodies to the file's scene."""
    found = {}
    for body in bodies:
        matrix, node = np.eye(4), int(tree.parents[body.nodes[0]])
        while node >= 0:
            own = np.eye(4)
            own[:3, :3] = rot.to_matrix(tree.local.rotations[node]) * tree.local.scales[node]
            own[:3, 3] = tree.local.translations[node]
            matrix, node = own @ matrix, int(tree.parents[node])
        matrix[:3, :3] = matrix[:3, :3] @ rot.to_matrix(rot.conjugate(body.turn)) / body.size
        found[body.skeleton] = matrix
    return found


def linear_of(tree: GltfTree) -> FloatArray:
    """Return the linear parts (N, 3, 3), rotation and scale, of the matrices from each node's space to the file's."""
    found = rot.to_matrix(tree.local.rotations) * tree.local.scales[:, None, :]
    with np.errstate(over="ignore", invalid="ignore"):  # such a large scale leaves no axes
        for node in tree.order:
            if tree.parents[node] >= 0:
                found[node] = found[tree.parents[node]] @ found[node]
    is_usable = np.asarray(np.isfinite(found).all(axis=(1, 2)))
    return np.where(is_usable[:, None, None], found, np.eye(3))


def _size(linear: FloatArray) -> float:
    """Return the mean scale of a space; 1 if the space is flat, or if it differs from 1 only by rounding."""
    found = float(np.cbrt(abs(np.linalg.det(linear))))
    return 1.0 if not np.isfinite(found) or found == 0.0 or abs(found - 1.0) < _SAME else found


def _upright(linear: FloatArray) -> FloatArray:
    """Return the rotation (4,) that makes a space upright, by the shortest arc; linear: (3, 3) from it to the file's.

    The heading is kept, as for Blender's armatures.
    """
    return rot.shortest_arc(np.linalg.pinv(linear) @ _UP, _UP)
