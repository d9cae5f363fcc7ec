"""VRM: avatars in glTF with a table of human bones, and VRMA: motion for all such avatars.

The table of bones gives the H-Anim joints of the skeleton, without further checks. From motion files (`.vrma`), only
the bones and the nodes between them are read; expressions and gaze are left out.
Source: VRM Consortium, VRM 0.x, VRMC_vrm-1.0 and VRMC_vrm_animation-1.0 specifications (humanoid).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..skeletons import hanim
from ..skeletons.hierarchy import path_to_root
from .gltf_data import Entry, GltfData
from .gltf_tree import GltfTree

TRUNK: Final = ("spine", "chest", "upperChest")
"""Bones of the trunk from the hips up; the first always exists."""
REQUIRED: Final = ("hips", "spine", "head", *(f"{side}{bone}" for side in ("left", "right") for bone in (
    "UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand")))
"""Bones that every VRM humanoid has."""
_LIMBS: Final = {"UpperLeg": "hip", "LowerLeg": "knee", "Foot": "ankle", "Toes": "metatarsal",
                 "Shoulder": "sternoclavicular", "UpperArm": "shoulder", "LowerArm": "elbow", "Hand": "wrist"}
_FINGERS: Final = {"Index": "index", "Middle": "middle", "Ring": "ring", "Little": "pinky"}
_LINKS: Final = {"Proximal": 1, "Intermediate": 2, "Distal": 3}
_THUMB: Final = {"Metacarpal": 1, "Proximal": 2, "Distal": 3}
_THUMB_0: Final = {"Proximal": 1, "Intermediate": 2, "Distal": 3}
_TORSO: Final = hanim.SPINE[:17]


def _bones(thumb: dict[str, int]) -> dict[str, str]:
    """Return the H-Anim joint of each bone; for the trunk, it depends on the number of bones."""
    found = {"hips": hanim.ROOT, "neck": "vc7", "head": "skullbase", "jaw": "temporomandibular",
             "leftEye": "l_eyeball_joint", "rightEye": "r_eyeball_joint"}
    for side, letter in (("left", "l"), ("right", "r")):
        found |= {f"{side}{bone}": f"{letter}_{joint}" for bone, joint in _LIMBS.items()}
        found |= {f"{side}Thumb{link}": f"{letter}_thumb{number}" for link, number in thumb.items()}
        found |= {f"{side}{finger}{link}": f"{letter}_{joint}{number}" for finger, joint in _FINGERS.items()
                  for link, number in _LINKS.items()}
    return found


BONES: Final = _bones(_THUMB)
"""The H-Anim joint of each bone of VRM 1 and VRMA, except those of the trunk."""
_BONES_0: Final = _bones(_THUMB_0)


def human_bones(data: GltfData, tree: GltfTree) -> dict[int, str]:
    """Return the H-Anim joint of each node in a file's table of bones; empty if it has no table.

    Raises FileError, with the place in the JSON, for nodes that do not exist.
    """
    extensions = data.top.entry("extensions")
    newer = next((extensions.entry(name) for name in ("VRMC_vrm_animation", "VRMC_vrm") if extensions.has(name)), None)
    if newer is not None:
        table = newer.entry("humanoid").entry("humanBones")
        given = [(bone, table.entry(bone)) for bone in table.values]
        return _meant(given, BONES, len(tree.names))
    if extensions.has("VRM"):
        listed = extensions.entry("VRM").entry("humanoid").entries("humanBones")
        return _meant([(entry.text("bone"), entry) for entry in listed], _BONES_0, len(tree.names))
    return {}


def _meant(given: Sequence[tuple[str, Entry]], bones: dict[str, str], nodes: int) -> dict[int, str]:
    node_of: dict[str, int] = {}
    for bone, entry in given:
        node = entry.count("node", below=nodes)
        if bone in bones or bone in TRUNK:
            if node in node_of.values() and node_of.get(bone) != node:
                raise entry.error(f"node {node} is another bone already")
            node_of.setdefault(bone, node)
    names = bones | spine_names([bone for bone in TRUNK if bone in node_of])
    return {node: names[bone] for bone, node in node_of.items()}


def spine_names(trunk: Sequence[str]) -> dict[str, str]:
    """Assign joints of the movable spine below the neck to bones of the trunk, from the lowest.

    >>> spine_names(["spine", "chest"])
    {'spine': 'vl5', 'chest': 'vt9'}
    """
    return {bone: _TORSO[number * len(_TORSO) // len(trunk)] for number, bone in enumerate(trunk)}


def with_between(tree: GltfTree, bones: dict[int, str]) -> set[int]:
    """Return the nodes of bones, and those between them and the hips."""
    found = set(bones)
    for node in bones:
        found.update(_up_to(tree, node, bones))
    return found


def _up_to(tree: GltfTree, node: int, bones: dict[int, str]) -> Iterator[int]:
    """Yield the ancestors of a node below its next bone, if there is one."""
    path = path_to_root(tree.parents, node)[1:]
    last = next((number for number, above in enumerate(path) if above in bones), -1)
    yield from path[:max(last, 0)]
