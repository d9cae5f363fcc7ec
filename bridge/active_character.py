"""The character of operators and panels, and why it cannot play a score."""

import re
from pathlib import Path
from typing import ClassVar, cast

import bpy

from . import migrations, properties
from .reports import GreyWithReason

_GENERIC = re.compile(r"(armature|skeleton|rig|metarig|root|bip01|scene|object)[ _]?(object|root)?(\.\d{3,})?", re.I)
"""Default names that files give armatures."""
_MODES_THAT_ALLOW_ACTIONS = frozenset({"OBJECT", "POSE"})


def active_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active object if it is an armature, or the armature that deforms it."""
    active = getattr(context, "active_object", None)  # without a window a context has none
    return active if active is None or active.type == "ARMATURE" else active.find_armature()


def name_of_character(armature_object: bpy.types.Object) -> str:
    """Return an armature's name, or, if that is a default name, the name of its largest mesh."""
    if not _GENERIC.fullmatch(armature_object.name):
        return armature_object.name
    meshes = [child for child in armature_object.children_recursive if child.type == "MESH"]
    largest = max(meshes, key=lambda mesh: len(cast(bpy.types.Mesh, mesh.data).vertices), default=armature_object)
    return largest.name


def armature_problem(armature_object: bpy.types.Object | None, *, is_changed: bool = True) -> str:
    """Return why the armature cannot play a score, or ""; fast enough for every redraw.

    is_changed: whether it is to be written; for reading, a linked one is valid too.
    """
    if armature_object is None:
        return "Make a character's armature the active object"
    if armature_object.type != "ARMATURE":
        return f"'{armature_object.name}' is not an armature: choose the character's armature"
    if not len(cast(bpy.types.Armature, armature_object.data).bones):
        return f"'{armature_object.name}' has no bones" + _whose_file_is_missing(armature_object)
    if armature_object.mode not in _MODES_THAT_ALLOW_ACTIONS:
        return f"'{armature_object.name}' is being edited: go to Object Mode or Pose Mode first"
    if is_changed and not armature_object.is_editable:
        return (f"'{armature_object.name}' is linked from another file; "
                "make it local or a library override (Object > Library Override > Make)")
    return ""


def _whose_file_is_missing(armature_object: bpy.types.Object) -> str:
    """Return what to do if bones are missing because their .blend is."""
    data = armature_object.data
    library = None if data is None else data.library
    if data is None or library is None or not data.is_missing:
        return ""
    return f", since '{Path(library.filepath).name}' is missing: find it (File > External Data > Find Missing Files)"


def score_problem(armature_object: bpy.types.Object | None, *, is_changed: bool = True) -> str:
    """Return why there is no score to play, or ""; fast enough for every redraw. See armature_problem()."""
    reason = armature_problem(armature_object, is_changed=is_changed)
    if not reason and armature_object is not None and properties.character(armature_object).text is None:
        reason = f"'{armature_object.name}' has no score: import one or choose a text"
    if not reason and armature_object is not None and migrations.is_newer(armature_object):
        reason = f"'{armature_object.name}' was saved by a newer Takt: update Takt, or import its score again"
    return reason


class ForArmature(GreyWithReason):
    """An operator that needs an armature. is_changed: whether it writes to it, so that a linked one is refused."""

    is_changed: ClassVar[bool] = True

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is none."""
        return armature_problem(active_armature(context), is_changed=cls.is_changed)


class ForScore(GreyWithReason):
    """An operator that needs an armature with a score."""

    @classmethod
    def problem(cls, context: bpy.types.Context) -> str:
        """Return why there is none."""
        return score_problem(active_armature(context))
