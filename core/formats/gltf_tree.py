"""The nodes of a glTF file, and the joints of each body among them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from ..errors import FileError
from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from .gltf_data import Entry, GltfData

MAX_NODES: Final = 20_000
MAX_SKINS: Final = 1000
MAX_JOINTS: Final = 200_000
"""Greatest number of joints of all skins and bodies together, with the nodes between them."""
_FEWEST: Final = 8
"""Least number of joints of a body; fewer joints belong to the body beside them."""
_EXACT: Final = 1e-6
"""Tolerance of axes from unit length and right angles, for rounding to single precision."""


class Transforms(NamedTuple):
    """Transforms of joints or nodes in their parents' space: translations, scales (..., 3), rotations (..., 4) wxyz."""

    translations: FloatArray
    rotations: FloatArray
    scales: FloatArray


class GltfTree(NamedTuple):
    """The nodes of a file.

    order: parents before children, each followed by all its descendants. parents (N,): −1 for none.
    local: the transforms of nodes without animation, (N, …). are_things: nodes with a mesh, a camera or a light.
    """

    names: tuple[str, ...]
    order: tuple[int, ...]
    parents: IntArray
    local: Transforms
    are_things: frozenset[int]

    @classmethod
    def of(cls, data: GltfData) -> GltfTree:
        """Read the nodes; raise FileError if they do not form trees."""
        entries = data.top.entries("nodes", MAX_NODES)
        parents = np.full(len(entries), -1, dtype=np.int64)
        children = [entry.counts("children", len(entries)) for entry in entries]
        for node, below in enumerate(children):
            for child in below:
                if parents[child] >= 0:
                    raise entries[node].error(f"node {child} is a child of node {parents[child]} already")
                parents[child] = node
        order, stack = list[int](), np.flatnonzero(parents < 0).tolist()[::-1]
        while stack:
            order.append(stack.pop())
            stack.extend(reversed(children[order[-1]]))
        if len(order) < len(entries):
            raise entries[min(set(range(len(entries))) - set(order))].error("is its own ancestor")
        names = tuple(entry.text("name") or f"Node_{i}" for i, entry in enumerate(entries))
        things = (i for i, entry in enumerate(entries) if entry.has("mesh") or entry.has("camera")
                  or entry.entry("extensions").has("KHR_lights_punctual"))
        return cls(names, tuple(order), parents, _local(entries), frozenset(things))

    def tops(self, nodes: Collection[int]) -> dict[int, int]:
        """Return for each of some nodes the uppermost ancestor, or itself, that is reached through these nodes only."""
        top: dict[int, int] = {}
        for node in self.order:
            if node in nodes:
                top[node] = top.get(int(self.parents[node]), node)
        return top


def decomposed(matrices: FloatArray) -> Transforms:
    """Decompose matrices (N, 4, 4) into transforms; a reflection becomes a scale of −1 in all directions."""
    linear = matrices[:, :3, :3]
    scales = np.linalg.norm(linear, axis=1) * np.where(np.linalg.det(linear) < 0.0, -1.0, 1.0)[:, None]
    turns = rot.identities(len(matrices))
    is_whole = scales.all(axis=1)
    turned = linear[is_whole] / scales[is_whole, None]
    is_exact = (np.abs(turned.swapaxes(1, 2) @ turned - np.eye(3)) <= _EXACT).all(axis=(1, 2))
    found = rot.from_exact_matrix(turned)
    found[~is_exact] = rot.from_matrix(turned[~is_exact])
    turns[is_whole] = found
    return Transforms(matrices[:, :3, 3], turns, scales)


def unit(q: FloatArray) -> FloatArray:
    """Scale quaternions to unit length; a zero quaternion becomes the identity."""
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(length > 0.0, q / np.where(length > 0.0, length, 1.0), rot.IDENTITY)


def _local(entries: Sequence[Entry]) -> Transforms:
    """Read the transforms of nodes."""
    def part(key: str, *rest: float) -> FloatArray:
        return np.array([rest if entry.has("matrix") else entry.numbers(key, rest)
                         for entry in entries]).reshape(-1, len(rest))

    turns = unit(np.roll(part("rotation", 0.0, 0.0, 0.0, 1.0), 1, axis=1))
    found = Transforms(part("translation", 0.0, 0.0, 0.0), turns, part("scale", 1.0, 1.0, 1.0))
    rows = [row for row, entry in enumerate(entries) if entry.has("matrix")]
    matrices = np.array([entries[row].numbers("matrix", np.eye(4).ravel().tolist()) for row in rows])
    for values, own in zip(found, decomposed(matrices.reshape(-1, 4, 4).swapaxes(1, 2)), strict=True):
        values[rows] = own
    return found


def skin_joints(data: GltfData, tree: GltfTree) -> list[set[int]]:
    """Return the joints of each skin, with all nodes that lie between them and their deepest common ancestor.

    Raises FileError if there are more than MAX_JOINTS.
    """
    found, places, total = [], Places.of(tree), 0
    for skin in data.top.entries("skins", MAX_SKINS):
        joints = set(skin.counts("joints", len(tree.names)))
        root = {skin.count("skeleton", below=len(tree.names))} if skin.has("skeleton") else set[int]()
        found.append(places.linked(joints, root))
        total += max(len(joints), len(found[-1]))
        if total > MAX_JOINTS:
            raise skin.error(f"up to here the skins have more than {MAX_JOINTS} joints, with the nodes between them; "
                             "no more are read")
    return [joints for joints in found if joints]


class Places(NamedTuple):
    """The positions of N nodes in the tree's order. at: (N,); ends: (N,) the position after their last descendants."""

    at: IntArray
    ends: IntArray

    @classmethod
    def of(cls, tree: GltfTree) -> Places:
        """Find the places of a tree's nodes."""
        sizes = np.ones(len(tree.names) + 1, dtype=np.int64)  # the last one stands for "no parent"
        for node in tree.order[::-1]:
            sizes[tree.parents[node]] += sizes[node]
        at = np.empty(len(tree.names), dtype=np.int64)
        at[list(tree.order)] = np.arange(len(tree.names))
        return cls(at, at + sizes[:-1])

    def below(self, nodes: Collection[int]) -> IntArray:
        """Return the number (N,) of some nodes that are in each node's subtree, including itself."""
        before = np.zeros(len(self.at) + 1, dtype=np.int64)
        before[self.at[list(nodes)] + 1] = 1
        before = np.cumsum(before)
        return before[self.ends] - before[self.at]

    def linked(self, joints: Collection[int], root: Collection[int] = ()) -> set[int]:
        """Return joints with all nodes between them and their deepest common ancestor, or that of the joints and root.

        The common ancestor is included only if it is a joint.
        """
        joints, every = set(joints), {*joints, *root}
        below, all_below = self.below(joints), self.below(every)
        shared = np.flatnonzero(all_below == len(every))
        ancestor = int(shared[self.at[shared].argmax()]) if len(shared) else -1
        between = np.flatnonzero((below > 0) & (all_below < len(every)))
        return {*between.tolist(), *({ancestor} & joints)}


def bodies(tree: GltfTree, skinned: Sequence[set[int]], moving: Collection[int],
           error: Callable[[str], FileError]) -> list[set[int]]:
    """Return the joints of each body, with their ancestors from the uppermost moving one down.

    Skins form one body if they share joints, or if joints of one are descendants of the other's. Without skins, each
    tree of nodes below a moving node is a body, if it is large enough. error: makes the error raised beyond MAX_JOINTS.
    """
    groups = list(skinned) or _moving_trees(tree, moving)
    top_of = tree.tops(set[int]().union(*groups))
    body_of = _joined([{top_of[node] for node in group} for group in groups])
    found: dict[int, set[int]] = {}
    for node, top in top_of.items():
        found.setdefault(body_of[top], set()).add(node)
    large = _with_small_ones(tree, found)
    if not skinned:
        large = [body for body in large if len(body) >= _FEWEST]
    below_moving, carried, total = _below_moving(tree, moving), [], 0
    for body in large:
        carried.append(body | _carriers(tree, body, below_moving))
        total += len(carried[-1])
        if total > MAX_JOINTS:
            raise error(f"its bodies have more than {MAX_JOINTS} joints, with the nodes that carry them; no "
                        "more are read")
    return carried


def _joined(groups: Sequence[Collection[int]]) -> dict[int, int]:
    """Return for each number in groups the least number that it is joined with, directly or through other groups."""
    least: dict[int, int] = {}

    def of(number: int) -> int:
        at = number
        while least[at] != at:
            least[at] = at = least[least[at]]
        return at

    for group in groups:
        for number in group:
            least.setdefault(number, number)
        found = {of(number) for number in group}
        first = min(found, default=0)
        for number in found:
            least[number] = first
    return {number: of(number) for number in least}


def _moving_trees(tree: GltfTree, moving: Collection[int]) -> list[set[int]]:
    """Return the nodes that move, each with its descendants except things without motion, tree by tree."""
    top: dict[int, int] = {}
    for node in tree.order:
        above = top.get(int(tree.parents[node]))
        if node in moving or (above is not None and node not in tree.are_things):
            top[node] = node if above is None else above
    found: dict[int, set[int]] = {}
    for node, uppermost in top.items():
        found.setdefault(uppermost, set()).add(node)
    return list(found.values())


def _with_small_ones(tree: GltfTree, found: dict[int, set[int]]) -> list[set[int]]:
    """Merge bodies of few joints with the largest one below the same node."""
    by_size = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    home: dict[int, set[int]] = {}
    for top, body in by_size:
        parent = int(tree.parents[top])
        if parent in home and len(body) < _FEWEST:
            home[parent] |= body
        else:
            home.setdefault(parent, body)
    merged = {id(body) for body in home.values()}
    return [body for _, body in by_size if id(body) in merged or len(body) >= _FEWEST]


def _below_moving(tree: GltfTree, moving: Collection[int]) -> frozenset[int]:
    """Return the nodes that move, or have an ancestor that does."""
    found = set[int]()
    for node in tree.order:
        if node in moving or int(tree.parents[node]) in found:
            found.add(node)
    return frozenset(found)


def _carriers(tree: GltfTree, body: Collection[int], below_moving: Collection[int]) -> set[int]:
    """Return the ancestors of a body from the uppermost that moves; below_moving: the nodes that it may begin at."""
    found = set[int]()
    for node in {int(tree.parents[node]) for node in body} - set(body):
        while node in below_moving and node not in found:
            found.add(node)
            node = int(tree.parents[node])
    return found


def unique(names: Iterable[str]) -> list[str]:
    """Append numbers to repeated names, as Blender does.

    >>> unique(["a", "b", "a", "a"])
    ['a', 'b', 'a.001', 'a.002']
    """
    taken: dict[str, None] = {}
    numbers: dict[str, int] = {}
    for name in names:
        new = name
        while new in taken:
            numbers[name] = numbers.get(name, 0) + 1
            new = f"{name}.{numbers[name]:03}"
        taken[new] = None
    return list(taken)
