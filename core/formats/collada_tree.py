"""The nodes of a COLLADA scene: a tree whose top turns the file's axes into Y up, and stacks of transforms.

A node's local matrix is the product of its transforms in the order of the file; lengths become metres.
Source: Khronos Group, COLLADA 1.4.1 specification, 5: node, matrix, rotate, scale, translate, lookat; asset.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np

from ..errors import quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from .collada_data import ColladaData, child, children
from .gltf_tree import GltfTree, decomposed
from .xml import Element

MAX_NODES: Final = 5_000
MAX_DEPTH: Final = 200
KINDS: Final = {"matrix": 16, "translate": 3, "rotate": 4, "scale": 3, "lookat": 9}
"""The kinds of transforms of nodes, and their numbers of values."""
_THINGS: Final = frozenset(("instance_geometry", "instance_camera", "instance_light", "instance_controller"))
_TURNS: Final = {"X_UP": rot.from_axis_angle(np.array((0.0, 0.0, 1.0)), np.pi / 2), "Y_UP": rot.IDENTITY,
                 "Z_UP": rot.from_axis_angle(np.array((1.0, 0.0, 0.0)), -np.pi / 2)}
"""Rotations from a file's axes to Y up: with Z up, −Y is the front; with X up, −Y is the right."""


@dataclass(frozen=True, eq=False)
class Transform:
    """One transform of a node. sid: the name that channels use for it, or ""; values: as written in the file."""

    kind: str
    sid: str
    values: FloatArray


@dataclass(frozen=True, eq=False)
class SceneNodes:
    """The nodes of a scene; the first is the parent of all others.

    elements: of each node except the first. transforms: of each node. unit_m: the file's unit in metres.
    """

    tree: GltfTree
    elements: dict[int, Element]
    transforms: list[list[Transform]]
    unit_m: float

    def by_id(self) -> dict[str, list[int]]:
        """Return the nodes of each id, which are several if it is instanced."""
        found: dict[str, list[int]] = {}
        for node, element in self.elements.items():
            if "id" in element.attributes:
                found.setdefault(element.attributes["id"], []).append(node)
        return found


def scene_nodes(data: ColladaData) -> SceneNodes:
    """Read the scene that a document shows; raise FileError, with the line, for nodes that contain themselves."""
    asset = child(data.root, "asset")
    unit, axis = child(asset, "unit"), child(asset, "up_axis")
    unit_m = data.number(unit, "meter", 1.0) if unit is not None else 1.0
    if not 0.0 < unit_m <= 1e9 and unit is not None:
        raise data.error(f"<unit> meter is {unit_m:g}; metres greater than 0 are wanted", unit)
    names, parents, transforms, elements = ["Scene"], [-1], list[list[Transform]]([[]]), dict[int, Element]()
    things = set[int]()
    stack: list[tuple[Element, int, int]] = [(node, 0, 1) for node in reversed(_top_nodes(data))]
    while stack:
        element, above, depth = stack.pop()
        if len(names) > MAX_NODES:
            raise data.error(f"more than {MAX_NODES} nodes; no more are read", element)
        if depth > MAX_DEPTH:
            raise data.error(f"<node> {quoted(element.attributes.get('id', ''))}: nodes are more than {MAX_DEPTH} "
                             "deep, or one is in itself", element)
        node = len(names)
        attributes = element.attributes
        names.append(attributes.get("name") or attributes.get("sid") or attributes.get("id") or f"Node_{node}")
        parents.append(above)
        elements[node] = element
        transforms.append(_transforms(data, element))
        if any(each.tag in _THINGS for each in element.children):
            things.add(node)
        below = [data.find(each.attributes.get("url", ""), each) if each.tag == "instance_node" else each
                 for each in element.children if each.tag in ("node", "instance_node")]
        stack.extend((each, node, depth + 1) for each in reversed(below) if each.tag == "node")
    local = np.array([local_matrix(each, unit_m) for each in transforms])
    local[0, :3, :3] = rot.to_matrix(_TURNS.get(axis.text if axis is not None else "Y_UP", rot.IDENTITY))
    tree = GltfTree(tuple(names), tuple(range(len(names))), np.array(parents), decomposed(local), frozenset(things))
    return SceneNodes(tree, elements, transforms, unit_m)


def _top_nodes(data: ColladaData) -> list[Element]:
    """Return the nodes of the visual scene that the file names, or of the first one."""
    scene = child(child(data.root, "scene"), "instance_visual_scene")
    if scene is not None:
        return children(data.find(scene.attributes.get("url", ""), scene), "node")
    return children(next(data.libraries("visual_scenes"), None), "node")


def _transforms(data: ColladaData, element: Element) -> list[Transform]:
    return [Transform(each.tag, each.attributes.get("sid", ""), data.numbers(each, KINDS[each.tag]))
            for each in element.children if each.tag in KINDS]


def local_matrix(transforms: list[Transform], unit_m: float) -> FloatArray:
    """Return the product of transforms as matrices (..., 4, 4), in metres; the values of each may be (..., N)."""
    own = [_matrix(each.kind, each.values, unit_m) for each in transforms]
    return reduce(np.matmul, own) if own else np.eye(4)


def _matrix(kind: str, values: FloatArray, unit_m: float) -> FloatArray:
    """Return the matrices (..., 4, 4) of one transform."""
    if kind == "matrix":
        matrices = values.reshape(*values.shape[:-1], 4, 4).copy()
        matrices[..., :3, 3] *= unit_m
        matrices[..., 3, :] = (0.0, 0.0, 0.0, 1.0)
        return matrices
    matrices = np.broadcast_to(np.eye(4), (*values.shape[:-1], 4, 4)).copy()
    if kind == "translate":
        matrices[..., :3, 3] = values * unit_m
    elif kind == "rotate":
        matrices[..., :3, :3] = rot.to_matrix(rot.from_axis_angle(values[..., :3], np.radians(values[..., 3])))
    elif kind == "scale":
        matrices[..., range(3), range(3)] = values
    else:
        matrices[..., :3, 3] = values[..., :3] * unit_m
        back = values[..., :3] - values[..., 3:6]
        right = rot.cross(values[..., 6:9], back)
        axes = np.stack((right, rot.cross(back, right), back), axis=-1)
        length = np.linalg.norm(axes, axis=-2, keepdims=True)
        matrices[..., :3, :3] = np.where(length > 0.0, axes / np.where(length > 0.0, length, 1.0), np.eye(3))
    return matrices
