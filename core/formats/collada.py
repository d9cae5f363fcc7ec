"""COLLADA (`.dae`): the skeletons of its skins and of its nodes that are joints, with what animations do to them.

Joints rest as they were when their skins were bound. All animations are one clip, unless the file says how they are
divided into clips. Lengths come in metres, Y up.
Source: Khronos Group, COLLADA 1.4.1 specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from ..clips.clip_file import ClipFile
from ..errors import quoted
from ..maths.arrays import FloatArray
from .collada_data import ColladaData, child, children
from .collada_motion import animations
from .collada_tree import SceneNodes, scene_nodes
from .format import Format
from .gltf_tree import Places, bodies
from .node_clips import NodeBody, bound_transforms, clips_of, linear_of, moving_nodes, named_apart
from .xml import Element


def read(data: bytes, path: Path | None = None) -> ClipFile:
    """Read a COLLADA file: a skeleton for each body in it, and a clip for each animation clip and body that it moves.

    path: for messages, and its name is the clip's where the file has none.
    Raises FileError, with the line, for what cannot be read, and where there is nothing that could move.
    """
    document = ColladaData(data, path)
    scene = scene_nodes(document)
    found, warnings = animations(document, scene, path.stem if path is not None else "")
    inverse: dict[int, FloatArray] = {-1: np.eye(4), 0: np.eye(4)}
    skinned = [joints for joints in (*_skins(document, scene, inverse), *_joint_trees(scene)) if joints]
    moving = moving_nodes(scene.tree, found)
    bound = bound_transforms(scene.tree, set[int]().union(*skinned), inverse)
    linear = linear_of(scene.tree)
    error = partial(document.error, element=document.root)
    figures = [NodeBody.of(scene.tree, joints, linear, *bound, {})
               for joints in bodies(scene.tree, skinned, moving, error)]
    clips = [clip for _, clip in clips_of(found, figures, error)]
    if not figures:
        raise document.error("has no joints, and no animation that moves a tree of nodes as large as a body",
                             document.root)
    if not clips:
        warnings += ("has no animation that moves a body; its skeleton can play",)
    return ClipFile(clips[0].skeleton if clips else figures[0].skeleton, named_apart(clips), warnings=warnings)


def _skins(data: ColladaData, scene: SceneNodes, inverse: dict[int, FloatArray]) -> Iterator[set[int]]:
    """Yield the joints of each skin that stands in the scene; their inverse bind matrices go into inverse."""
    nodes_of, places, seen = scene.by_id(), Places.of(scene.tree), set[tuple[int, ...]]()
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
            if "INV_BIND_MATRIX" in sources:
                matrices = data.rows(sources["INV_BIND_MATRIX"])
                if matrices.shape != (len(nodes), 16):
                    raise data.error(f"{len(nodes)} joints, but {len(matrices)} inverse bind matrices of "
                                     f"{matrices.shape[1]} numbers; one of 16 each is wanted", joints)
                matrices = matrices.reshape(-1, 4, 4).copy()
                matrices[:, :3, 3] *= scene.unit_m
                inverse.update(zip(nodes, matrices, strict=True))
            yield places.linked(nodes)


def _named(data: ColladaData, scene: SceneNodes, names: list[str], roots: list[int], asking: Element) -> list[int]:
    """Return the nodes of joints' names: by sid below the skin's skeletons, else anywhere, else by id."""
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


FORMAT: Final = Format("COLLADA", "COLLADA", (".dae",), read=lambda source: read(source.data, source.path))
