"""What the bones of an armature are: found, corrected in a list, kept with the armature, saved in a library."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

import bpy

from ..core.errors import FileError, TaktError
from ..core.library.library import Library
from ..core.pha.document import parse
from ..core.skeletons.maps import SUFFIX, SavedMap, SkeletonMap, find_map, fingerprint, write_map
from . import armature, libraries, properties
from .clip_store import CLIPS


def fill(armature_object: bpy.types.Object) -> SkeletonMap:
    """Find out what the bones are, or take it from a map file of the library, and put it into the list."""
    found = _library(armature_object).skeleton_map(armature.read_skeleton(armature_object))
    character = properties.character(armature_object)
    properties.mark_version(character)
    character.joints.clear()
    for bone, name, certainty in zip(found.skeleton.names, found.meant, found.certainties, strict=True):
        joint = character.joints.add()
        joint.name, joint.certainty = bone, 1.0
        joint.meant, joint.certainty = name or properties.NO_JOINT, certainty
    character.is_map_checked = found.is_checked
    return found


def of_list(armature_object: bpy.types.Object) -> SkeletonMap:
    """Return the map that the list says; raise TaktError where it gives two bones the same meaning."""
    skeleton = CLIPS.skeleton(armature.read_skeleton(armature_object))  # find_map remembers it
    said = {joint.name: joint for joint in properties.character(armature_object).joints}
    meant = [None if bone not in said or said[bone].meant == properties.NO_JOINT else said[bone].meant
             for bone in skeleton.names]
    certainties = tuple(0.0 if name is None else said[bone].certainty
                        for bone, name in zip(skeleton.names, meant, strict=True))
    return SkeletonMap(skeleton, tuple(meant), certainties, find_map(skeleton).turn,
                       is_checked=properties.character(armature_object).is_map_checked)


def kept_map(armature_object: bpy.types.Object) -> tuple[SavedMap, ...]:
    """Return the map in the list, if someone has checked it, as what a library wants."""
    character = properties.character(armature_object)
    if not character.is_map_checked or not len(character.joints):
        return ()
    listed = of_list(armature_object)
    return (SavedMap(fingerprint(listed.skeleton), dict(zip(listed.skeleton.names, listed.meant, strict=True)),
                     listed.turn),)


def save(armature_object: bpy.types.Object) -> Path:
    """Write the list as a map file into the character's library; return its path.

    Raises TaktError where there is no library, the list gives two bones the same meaning, or the file cannot be
    written.
    """
    listed, roots = of_list(armature_object), _library(armature_object).roots
    if not roots:
        raise TaktError("there is no library to save the map in; import a score, or name the library's folder")
    safe = "".join(c if c.isalnum() or c in " -_." else "_" for c in armature_object.name).strip(" .") or "skeleton"
    path = roots[0] / f"{safe}{SUFFIX}"
    try:
        path.write_text(write_map(listed), encoding="utf-8")
    except OSError as error:
        raise FileError.at(f"cannot be written: {error.strerror}", path) from error
    return path


def key(armature_object: bpy.types.Object) -> Hashable:
    """Return what a motion depends on of all this."""
    character = properties.character(armature_object)
    return tuple((joint.name, joint.meant) for joint in character.joints) if character.is_map_checked else ()


def _library(armature_object: bpy.types.Object) -> Library:
    character = properties.character(armature_object)
    library = Library([Path(bpy.path.abspath(character.library))] if character.library else [],
                      further=libraries.folders(), store=CLIPS)
    if character.text is None or library.roots:
        return library
    path = Path(bpy.path.abspath(character.filepath)) if character.filepath else None
    try:
        return library.beside(parse(character.text.as_string(), path))
    except TaktError:  # a score with mistakes has no library yet
        return library
