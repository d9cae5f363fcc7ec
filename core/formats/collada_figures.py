"""The skeletons of a COLLADA file: those of its skins and of its joint nodes.

Joints rest in the pose in which their skins were bound.
Source: Khronos Group, COLLADA 1.4.1 specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..clips.clip import Clip
from ..errors import NoClipError, quoted
from ..maths.arrays import FloatArray
from .collada_data import ColladaData, child, children
from .collada_motion import animations
from .collada_tree import SceneNodes, scene_nodes
from .gltf_tree import Places, bodies
from .node_clips import NodeBody, bound_transforms, clips_of, linear_of, moving_nodes
from .xml import Element


@dataclass(frozen=True, eq=False)
class Worn:
    """A skin in the scene. instance: the element that places it there; joints: (N,) the nodes of its joints.

    inverse: (N, 4, 4) inverse bind matrices, in metres, or None if the file has none.
    """

    instance: Element
    skin: Element
    joints: tuple[int, ...]
    inverse: FloatArray | None


@dataclass(frozen=True, eq=False)
class Figures:
    """The skeletons of a file, and its clips, each with the number of its skeleton; linear: see linear_of."""

    scene: SceneNodes
    bodies: tuple[NodeBody, ...]
    clips: tuple[tuple[int, Clip], ...]
    worn: tuple[Worn, ...]
    linear: FloatArray
    warnings: tuple[str, ...]


def figures(document: ColladaData) -> Figures:
    """Find the skeletons of a document and their clips; raise FileError if there is nothing that could move."""
    scene, path = scene_nodes(document), document.path
    found, warnings = animations(document, scene, path.stem if path is not None else "")
    worn, places = tuple(_worn(document, scene)), Places.of(scene.tree)
    inverse: dict[int, FloatArray] = {-1: np.eye(4), 0: np.eye(4)}
    for skin in worn:
        if skin.inverse is not None:
            inverse.update(zip(skin.joints, skin.inverse, strict=True))
    skinned = [joints for joints in (*(places.linked(skin.joints) for skin in worn), *_joint_trees(scene)) if joints]
    moving = moving_nodes(scene.tree, found)
    bound = bound_transforms(scene.tree, set[int]().union(*skinned), inverse)
    linear = linear_of(scene.tree)
    error = partial(document.error, element=document.root)
    made = tuple(NodeBody.of(scene.tree, joints, linear, *bound, {})
                 for joints in bodies(scene.tree, skinned, moving, error))
    if not made:
        nothing = document.error("has no joints, and no animation that moves a tree of nodes as large as a body",
                                 document.root)
        raise NoClipError(*nothing.problems)
    return Figures(scene, made, tuple(clips_of(found, made, error)), worn, linear, warnings)


def _worn(data: ColladaData, scene: SceneNodes) -> Iterator[Worn]:
    """Yield each skin in the scene, once for each skeleton that it names."""
    nodes_of, seen = scene.by_id(), set[tuple[int, ...]]()
    for element in scene.elements.values():
        for instance in children(element, "instance_controller"):
            skin = child(data.find(instance.attributes.get("url", ""), instance), "skin")
            joints = child(skin, "joints")
            if skin is None or joints is None:
                continue
            sources = data.inputs(joints)
            if "JOINT" not in sources:
                raise data.error("<joints> has no input JOINT", joints)
            roots = [node for each in children(instance, "skeleton")
                     for node in nodes_of.get(each.text.removeprefix("#"), ())]
            if (id(skin), *roots) in seen:
                continue
            seen.add((id(skin), *roots))
            nodes = _named(data, scene, data.names(sources["JOINT"]), roots, joints)
            matrices = None
            if "INV_BIND_MATRIX" in sources:
                matrices = data.rows(sources["INV_BIND_MATRIX"])
                if matrices.shape != (len(nodes), 16):
                    raise data.error(f"{len(nodes)} joints, but {len(matrices)} inverse bind matrices of "
                                     f"{matrices.shape[1]} numbers; one of 16 each is wanted", joints)
                matrices = matrices.reshape(-1, 4, 4).copy()
                matrices[:, :3, 3] *= scene.unit_m
            yield Worn(instance, skin, tuple(nodes), matrices)


def _named(data: ColladaData, scene: SceneNodes, names: list[str], roots: list[int], asking: Element) -> list[int]:
    """Return the nodes that joints' names refer to: by sid below the skin's skeletons, else anywhere, else by id."""
    within = set(roots)
    for node in scene.tree.order:
        if int(scene.tree.parents[node]) in within:
            within.add(node)
    found: dict[str, int] = {}
    for key, nodes in (("sid", sorted(within)), ("sid", list(scene.elements)), ("id", list(scene.elements)),
                       ("name", list(scene.elements))):
        for node in nodes:
            called = scene.elements[node].attributes.get(key) if node in scene.elements else None
            if called is not None:
                found.setdefault(called, node)
    missing = next((name for name in names if name not in found), None)
    if missing is not None:
        raise data.error(f"a skin names the joint {quoted(missing)}; no node has that sid, id or name", asking)
    return [found[name] for name in names]


def _joint_trees(scene: SceneNodes) -> list[set[int]]:
    """Return the nodes that say they are joints, tree by tree."""
    joints = {node for node, element in scene.elements.items() if element.attributes.get("type") == "JOINT"}
    found: dict[int, set[int]] = {}
    for node, top in scene.tree.tops(joints).items():
        found.setdefault(top, set()).add(node)
    return list(found.values())
