"""The map of an armature's bones: found, corrected in a list, stored with the armature, saved in a library."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import cast

import bpy
import numpy as np

from ...core.errors import TaktError
from ...core.library.library import Library
from ...core.library.whole_files import write_whole
from ...core.maths import rotations as rot
from ...core.maths.arrays import FloatArray
from ...core.pha.document import parse
from ...core.retargeting.comparing.reference import turn_in_pose, uprightness
from ...core.skeletons.maps import SUFFIX, SavedMap, SkeletonMap, find_map, map_in_any_pose, write_map
from ...core.skeletons.posture import STANDS
from ...core.skeletons.skeleton import Pose
from .. import libraries, properties
from ..files.clip_store import CLIPS
from . import armature


def fill(armature_object: bpy.types.Object) -> SkeletonMap:
    """Find the map, or take it from a map file of the library, and put it into the list."""
    found = _found(armature_object)
    _list(armature_object, found)
    return found


def _found(armature_object: bpy.types.Object) -> SkeletonMap:
    found = _library(armature_object).skeleton_map(armature.read_skeleton(armature_object))
    if found.may_stand and not found.is_humanoid and (named := map_in_any_pose(found.skeleton)).is_humanoid:
        found = replace(named, warnings=(*named.warnings, "it does not stand in its rest pose: pose it upright, "
                                                          "then click Set Reference Pose"))
    return found


def _list(armature_object: bpy.types.Object, found: SkeletonMap) -> None:
    character = properties.character(armature_object)
    properties.mark_version(character)
    character.joints.clear()
    for bone, name, certainty in zip(found.skeleton.names, found.meant, found.certainties, strict=True):
        joint = character.joints.add()
        joint.name, joint.certainty = bone, 1.0
        joint.meant, joint.certainty = name or properties.NO_JOINT, certainty
    _keep_pose(armature_object, found, found.pose, "that of the map file")
    character.is_map_checked = found.is_checked


def set_pose(armature_object: bpy.types.Object, pose: Pose | None, words: str = "") -> SkeletonMap:
    """Store a pose (J, …) as the character's reference pose; None: the automatic one is used again.

    words: the pose's name. Raises TaktError if the body does not stand in it.
    """
    is_listed = len(properties.character(armature_object).joints) > 0
    listed = of_list(armature_object) if is_listed else _found(armature_object)
    turns = None if pose is None else listed.skeleton.turns_of(pose)
    if turns is not None and uprightness(listed, turns) < STANDS:
        raise TaktError("the body does not stand in this pose: let it stand upright, its legs below the hips and its "
                        "head above them" if listed.is_humanoid else
                        "which bones are hips, legs and arms is not known: choose their joints in the list first")
    if not is_listed:
        _list(armature_object, listed)
        listed = of_list(armature_object)
    _keep_pose(armature_object, listed, turns, words)
    properties.character(armature_object).is_map_checked = True
    return of_list(armature_object)


def _keep_pose(armature_object: bpy.types.Object, found: SkeletonMap, turns: FloatArray | None, words: str) -> None:
    character = properties.character(armature_object)
    for joint, turn in zip(character.joints, rot.identities(len(found.skeleton)) if turns is None else turns,
                           strict=True):
        joint.turn = turn.tolist()
    if turns is None:
        lies = found.is_humanoid and uprightness(found) < STANDS
        words = "the rest pose" + ", in which the body does not stand" * lies
    character.reference_pose = words
    character.has_reference_pose = turns is not None


def of_list(armature_object: bpy.types.Object) -> SkeletonMap:
    """Return the map in the list; raise TaktError if it gives two bones the same joint."""
    skeleton = CLIPS.skeleton(armature.read_skeleton(armature_object))  # find_map remembers it
    said = {joint.name: joint for joint in properties.character(armature_object).joints}
    meant = [None if bone not in said or said[bone].meant == properties.NO_JOINT else said[bone].meant
             for bone in skeleton.names]
    certainties = tuple(0.0 if name is None else said[bone].certainty
                        for bone, name in zip(skeleton.names, meant, strict=True))
    character = properties.character(armature_object)
    listed = SkeletonMap(skeleton, tuple(meant), certainties, find_map(skeleton).turn,
                         is_checked=character.is_map_checked)
    if listed.turn is None:
        listed = replace(listed, turn=turn_in_pose(listed, rot.identities(len(skeleton))))
    if not character.has_reference_pose:
        return listed
    pose = np.array([said[bone].turn if bone in said else rot.IDENTITY for bone in skeleton.names],
                    dtype=np.float64).reshape(-1, 4)
    turn = turn_in_pose(listed, pose) if listed.turn is None else listed.turn
    return replace(listed, pose=rot.normalized(pose), turn=turn)


def kept_map(armature_object: bpy.types.Object) -> tuple[SavedMap, ...]:
    """Return the map in the list, if the user has checked it, in the form for a library."""
    character = properties.character(armature_object)
    bones = cast(bpy.types.Armature, armature_object.data).bones
    if not character.is_map_checked or not len(character.joints) or not len(bones):
        return ()
    return (SavedMap.from_map(of_list(armature_object)),)


def place_of_file(armature_object: bpy.types.Object) -> Path | None:
    """Return the file for the list: in the first folder of the character's library, or None if it has none."""
    roots = _library(armature_object).roots
    return roots[0] / _file_name(armature_object) if roots else None


def proposed_file(armature_object: bpy.types.Object) -> Path:
    """Return a file for the list of a character without a library: beside the .blend."""
    return Path(bpy.path.abspath("//") or Path.home()) / _file_name(armature_object)


def _file_name(armature_object: bpy.types.Object) -> str:
    safe = "".join(c if c.isalnum() or c in " -_." else "_" for c in armature_object.name).strip(" .")
    return f"{safe or 'skeleton'}{SUFFIX}"


def save(armature_object: bpy.types.Object, path: Path) -> None:
    """Write the list as a map file.

    Raises TaktError if the list gives two bones the same joint, or the file cannot be written.
    """
    write_whole(path, write_map(of_list(armature_object)).encode())


def key(armature_object: bpy.types.Object) -> Hashable:
    """Return a key of everything here on which a motion depends."""
    character = properties.character(armature_object)
    if not character.is_map_checked:
        return ()
    pose = tuple(tuple(joint.turn) for joint in character.joints) if character.has_reference_pose else ()
    return tuple((joint.name, joint.meant) for joint in character.joints), pose


def _library(armature_object: bpy.types.Object) -> Library:
    character = properties.character(armature_object)
    library = Library([Path(libraries.absolute(character.library, armature_object))] if character.library else [],
                      further=libraries.folders(character.folders), store=CLIPS)
    if character.text is None or library.roots:
        return library
    own = properties.score_path(character)
    path = Path(own) if own else None
    try:
        return library.beside(parse(character.text.as_string(), path))
    except TaktError:  # a score with mistakes has no library
        return library
