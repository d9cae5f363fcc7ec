"""The humanoids of an X3D scene: the skeleton of each, and the node of each joint.

A joint rotates about its center, which is given in the humanoid's space like everything at rest. So all joints rest
with the model's axes, and the offset of a joint from its parent is the difference of their centers:

    parent_from_joint = T(center − parent's center + translation) · R(rotation) · S(scale)

Only joints that are scaled along axes of their own, O(scaleOrientation) · S(scale) · O⁻¹, rest with these axes. The
motion of the joint and of all below it stays the same; with P the O of the parent,

    parent_from_joint = P⁻¹ · T(…) · R(rotation) · O · S(scale),   at rest P⁻¹ · T(…) · O

Source: ISO/IEC 19774-1:2019, H-Anim architecture, 4.8 and 6.3 (Joint), 6.2 (Humanoid); version 1 is ISO/IEC 19774:2006.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..maths import rotations as rot
from ..maths.arrays import FloatArray, IntArray
from ..skeletons import hanim
from ..skeletons.skeleton import Skeleton
from ..skeletons.skin_sample import SkinSample, evenly
from .gltf_tree import unique
from .x3d_scene import MAX_DEPTH, Child, Node, Scene, Use

MAX_JOINTS: Final = 10_000
JOINT: Final = frozenset(("HAnimJoint", "Joint"))
HUMANOID: Final = frozenset(("HAnimHumanoid", "Humanoid"))
_BODY: Final = ("skeleton", "humanoidBody", "children", "")
"""Fields of a humanoid that its root joint is in, by X3D, by H-Anim 1, and by slip."""
SEGMENT: Final = frozenset(("HAnimSegment", "Segment"))
_COORDINATE: Final = frozenset(("Coordinate", "CoordinateDouble"))
_SKINNED: Final = frozenset(("skinCoord",))
TRANSFORM: Final = frozenset(("Transform",))
MOTION: Final = frozenset(("HAnimMotion",))
_ABOVE: Final = TRANSFORM | HUMANOID
"""Nodes whose transform moves the bodies in them."""
_SAME: Final = 1e-6
_UNEVEN: Final = 1e-3
_FARTHEST: Final = 1e9
_LEAST_SPENT: Final = 1000
"""Least numbers for which each joint counts, so that thousands of humanoids do not share thousands of joints."""


@dataclass(frozen=True, eq=False)
class Body:
    """A humanoid of J joints. nodes: of each joint; the first may be the humanoid's own node, if motion moves it.

    carriers: the nodes around the humanoid, from the outermost, if motion moves any of them; nodes[0] stands for all.

    turn: (4,) from the file's axes to H-Anim's, by the tilt of the nodes around the humanoid; unit_m: its unit in
    metres. still: by joint and property, the first value of the node if it differs from rest; rotations are wxyz. ways:
    (J, 4) rotations from the model's axes to those along which each joint is scaled.
    called: the names of joints in the file, which may contain further names for them. placed: matrix (4, 4) from the
    skeleton's model space to the file's scene, in metres.
    """

    name: str
    humanoid: Node
    nodes: tuple[Node, ...]
    skeleton: Skeleton
    turn: FloatArray
    unit_m: float
    still: Mapping[tuple[int, str], FloatArray]
    ways: FloatArray
    called: tuple[str, ...]
    placed: FloatArray
    skin: SkinSample | None = None
    carriers: tuple[Node, ...] = ()


def bodies(scene: Scene, moved: frozenset[int], scaled: frozenset[int]) -> tuple[Body, ...]:
    """Return the humanoids of a scene, in the order of the file.

    moved: ids of nodes that anything moves; scaled: of those whose scale changes.

    Raises FileError, with the line, if joints form no tree, or if weights are for points that do not exist.
    """
    return tuple(_body(scene, humanoid, above, moved, scaled) for humanoid, above in _humanoids(scene))


def _humanoids(scene: Scene) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield each humanoid with the nodes around it, from the outermost; joints without one are in a made-up one."""
    stack: list[tuple[Child, tuple[Node, ...]]] = [(child, ()) for child in reversed(scene.roots)]
    loose: list[Child] = []
    found = False
    while stack:
        child, above = stack.pop()
        if isinstance(child.node, Use):
            continue
        if len(above) > MAX_DEPTH:
            raise scene.error(f"nodes nested more than {MAX_DEPTH} deep", child.node.line)
        if child.node.kind in HUMANOID:
            found = True
            yield child.node, above
        elif child.node.kind in JOINT:
            loose.append(child)
        else:
            stack.extend((each, (*above, child.node)) for each in reversed(child.node.children))
    if loose and not found:
        first = loose[0].node
        yield Node("HAnimHumanoid", "", first.line, children=[Child("skeleton", each.node) for each in loose]), ()


def _body(scene: Scene, humanoid: Node, above: tuple[Node, ...], moved: frozenset[int], scaled: frozenset[int]) -> Body:
    nodes, parents = _joints(scene, humanoid)
    name = scene.full_name(humanoid) or scene.text(humanoid, "name") or humanoid.name or "Humanoid"
    centers = np.array([scene.vector(node, "center", (0.0, 0.0, 0.0)) for node in nodes]).reshape(-1, 3)
    around = [node for node in (*above, humanoid) if node.kind in _ABOVE
              and (node is not humanoid or id(humanoid) not in moved)]
    carrier = next((node for node in around if id(node) in moved), None)
    for top in (humanoid if id(humanoid) in moved else None, carrier):
        if top is not None:
            nodes, parents = [top, *nodes], [-1, *(parent + 1 for parent in parents)]
            centers = np.concatenate((np.zeros((1, 3)), centers))
    turn, unit = _space(scene, humanoid, around)
    offsets = unit * np.array([centers[joint] - centers[parent] if parent >= 0 else centers[joint]
                               for joint, parent in enumerate(parents)]).reshape(-1, 3)
    called = unique(scene.text(node, "name") or node.name or f"Joint_{joint}" for joint, node in enumerate(nodes))
    names = unique(scene.full_name(node) or own for node, own in zip(nodes, called, strict=True))
    by_frames = any("scale" in scene.text(motion, "channels").lower()
                    for motion, _ in scene.children(humanoid, MOTION))
    ways = np.array([_way(scene, node, by_frames or id(node) in scaled) for node in nodes]).reshape(-1, 4)
    back = rot.conjugate(np.where(np.array(parents)[:, None] >= 0, ways[parents], rot.IDENTITY))
    skeleton = Skeleton.from_arrays(names, parents, rot.multiply(back, ways), rot.rotate(back, offsets), name=name,
                                    meant=_meant(names, called)).turned(turn)
    skin = _skin(scene, humanoid, nodes, unit * centers, unit, ways)
    return Body(name, humanoid, tuple(nodes), skeleton, turn, unit, dict(_still(scene, nodes)), ways, tuple(called),
                _placed(scene, around, turn, unit), skin, tuple(around) if carrier is not None else ())


def _way(scene: Scene, node: Node, is_scaled: bool) -> FloatArray:
    """Return the axes (4,) along which a joint is scaled; those of the model if it makes no difference."""
    if "scaleOrientation" not in node.fields or node.kind in TRANSFORM:
        return rot.IDENTITY
    scale = scene.vector(node, "scale", (1.0, 1.0, 1.0))
    return turns(scene, node, "scaleOrientation")[0] if is_scaled or np.ptp(scale) > _SAME else rot.IDENTITY


def _meant(names: list[str], called: list[str]) -> dict[str, str]:
    """Return the H-Anim joints that the file's names tell, where the full names do not tell the same."""
    meant = hanim.canonical_names(called)
    if meant == hanim.canonical_names(names):
        return {}
    return {name: joint for name, joint in zip(names, meant, strict=True) if joint is not None}


def _space(scene: Scene, humanoid: Node, around: list[Node]) -> tuple[FloatArray, float]:
    """Return the rotation (4,) that makes a humanoid upright and keeps its heading, and its unit in metres."""
    whole = np.eye(3) * scene.units.get("length", 1.0)
    for node in around:
        whole = whole @ linear(scene, node)
        if not np.abs(whole).max() <= _FARTHEST:
            raise scene.error(f"{humanoid.said}: what is around it scales it by more than {_FARTHEST:g}", humanoid.line)
    size = np.linalg.norm(whole)
    if size == 0.0:
        return rot.IDENTITY, 1.0
    up = np.linalg.pinv(whole / size) @ hanim.UP
    unit = float(np.cbrt(abs(np.linalg.det(whole))))
    return rot.shortest_arc(up, hanim.UP), unit if unit > 0.0 else 1.0


def _placed(scene: Scene, around: list[Node], turn: FloatArray, unit: float) -> FloatArray:
    """Return the matrix (4, 4) from a skeleton's model space, set upright and in metres, to the file's scene."""
    matrix = np.eye(4)
    for node in around:
        matrix = matrix @ local_matrix(scene, node)
    matrix[:3] *= scene.units.get("length", 1.0)
    matrix[:3, :3] = matrix[:3, :3] @ rot.to_matrix(rot.conjugate(turn)) / unit
    return matrix


def local_matrix(scene: Scene, node: Node) -> FloatArray:
    """Return the matrix (4, 4) of a Transform."""
    matrix, center = np.eye(4), scene.vector(node, "center", (0.0, 0.0, 0.0))
    matrix[:3, :3] = linear(scene, node)
    matrix[:3, 3] = scene.vector(node, "translation", (0.0, 0.0, 0.0)) + center - matrix[:3, :3] @ center
    return matrix


def is_sheared(matrix: FloatArray) -> bool:
    """Return whether the axes of a matrix (4, 4) are not at right angles to each other.

    >>> is_sheared(np.diag((1.0, 2.0, 1.0, 1.0))), is_sheared(np.eye(4) + np.eye(4, k=1))
    (False, True)
    """
    sizes = np.linalg.norm(matrix[:3, :3], axis=0)
    axes = matrix[:3, :3] / np.where(sizes > 0.0, sizes, 1.0)
    return bool(np.abs(np.triu(axes.T @ axes, 1)).max() > _UNEVEN)


def _still(scene: Scene, nodes: list[Node]) -> Iterator[tuple[tuple[int, str], FloatArray]]:
    """Yield the first values of joints that differ from rest, by joint and property."""
    for joint, node in enumerate(nodes):
        if node.kind in TRANSFORM:  # a carrier's own values are its rest
            continue
        for name, rest in (("rotation", rot.IDENTITY), ("translation", np.zeros(3)), ("scale", np.ones(3))):
            if name in node.fields:
                value = turns(scene, node, name)[:1] if name == "rotation" else scene.vector(node, name, rest)[None]
                if len(value) and np.abs(value[0] - rest).max() > _SAME:
                    yield (joint, name), value[0]


def _joints(scene: Scene, humanoid: Node) -> tuple[list[Node], list[int]]:
    """Return the joints of a humanoid, parents before children, and their parents."""
    nodes, parents, index = list[Node](), list[int](), dict[int, int]()
    tops = [(node, line, -1) for node, line in scene.children(humanoid, JOINT, *_BODY)]
    stack = tops[::-1] or [(node, line, -1) for node, line in scene.children(humanoid, JOINT, "joints")][:1]
    while stack:
        node, line, parent = stack.pop()
        if id(node) in index:
            above = parent
            while above >= 0 and nodes[above] is not node:
                above = parents[above]
            what = "is its own ancestor" if above >= 0 else "is a child of two joints"
            raise scene.error(f"{node.said} {what}; a skeleton is a tree, in which each joint stands once", line)
        if len(nodes) == MAX_JOINTS:
            raise scene.error(f"more than {MAX_JOINTS} joints; no more are read", line)
        scene.spend(_LEAST_SPENT, line)
        index[id(node)] = len(nodes)
        below = len(nodes)
        nodes.append(node)
        parents.append(parent)
        stack.extend((child, at, below) for child, at in reversed(list(scene.children(node, JOINT, "children", ""))))
    if not nodes:
        raise scene.error(f"{humanoid.said} has no joints in its field skeleton", humanoid.line)
    return nodes, parents


def linear(scene: Scene, node: Node) -> FloatArray:
    """Return the linear part (3, 3), rotation and scale, of a Transform."""
    turn, way = (rot.to_matrix(turns(scene, node, name)[0]) for name in ("rotation", "scaleOrientation"))
    return np.asarray(turn @ way @ np.diag(scene.vector(node, "scale", (1.0, 1.0, 1.0))) @ way.T)


def turns(scene: Scene, node: Node, name: str) -> FloatArray:
    """Return the rotations (N, 4) of a field of axes and angles, or the identity if it is missing."""
    values = scene.numbers(node, name, 4, (0.0, 0.0, 1.0, 0.0))
    return rot.from_axis_angle(values[:, :3], values[:, 3] * scene.units.get("angle", 1.0))


def _skin(scene: Scene, humanoid: Node, nodes: list[Node], centers: FloatArray, unit: float,
          ways: FloatArray) -> SkinSample | None:
    """Return some vertices of a humanoid's skin, or of its segments; None if it has none."""
    points = next((scene.numbers(node, "point", 3) for node, _ in scene.children(humanoid, _COORDINATE, *_SKINNED)),
                  np.empty((0, 3)))
    strongest, most = np.full(len(points), -1, np.int64), np.zeros(len(points))
    for joint, node in enumerate(nodes):
        if "skinCoordIndex" not in node.fields:
            continue
        index, weights = influences(scene, node, len(points))
        better = weights > most[index]
        strongest[index[better]], most[index[better]] = joint, weights[better]
    used = np.flatnonzero(strongest >= 0)
    seen = set[int]()
    found = [(strongest[used], points[used])] + [
        (np.full(len(own), joint), own) for joint, node in enumerate(nodes) for own in _of_segments(scene, node, seen)]
    joints, places = (np.concatenate(each) for each in zip(*found, strict=True))
    if not len(joints):
        return None
    kept = evenly(joints)
    offsets = unit * places[kept] - centers[joints[kept]]
    return SkinSample(joints[kept], rot.rotate(rot.conjugate(ways[joints[kept]]), offsets))


def influences(scene: Scene, node: Node, points: int) -> tuple[IntArray, FloatArray]:
    """Return the points (N,) that a joint moves, and their weights (N,)."""
    written = scene.numbers(node, "skinCoordIndex", 1)[:, 0]
    line = node.fields["skinCoordIndex"].line
    outside = written[(written < 0.0) | (written >= points)]
    if len(outside):
        raise scene.error(f"{node.said}: skinCoordIndex names point {outside[0]:g}, but skinCoord of the humanoid has "
                          f"{points} points", line)
    index = written.astype(np.int64)
    weights = scene.numbers(node, "skinCoordWeight", 1)[:, 0]
    if len(weights) < len(index):
        if "skinCoordWeight" in node.fields and len(weights):
            raise scene.error(f"{node.said}: skinCoordIndex names {len(index)} points, but skinCoordWeight has "
                              f"{len(weights)} weights; one for each point is wanted", line)
        weights = np.ones(len(index))
    elif len(weights) > len(index):
        scene.note(f"{node.said}: skinCoordWeight has {len(weights)} weights for the {len(index)} points of "
                   "skinCoordIndex; those behind are left out", line)
    return index, weights[:len(index)]


def _of_segments(scene: Scene, joint: Node, seen: set[int]) -> Iterator[FloatArray]:
    """Yield the points (N, 3) of a joint's segments, which lie in the humanoid's space as its center does.

    seen: the ids of nodes whose points were used before; if several segments use a node, it belongs to the first.
    """
    for segment, _ in scene.children(joint, SEGMENT):
        for coordinate, _ in scene.children(segment, _COORDINATE):
            if id(coordinate) not in seen:
                seen.add(id(coordinate))
                yield scene.numbers(coordinate, "point", 3)
