"""Objects attached to an armature without being bound, such as hats and swords, to a bone or the armature itself."""

from typing import NamedTuple

import bpy

from ..rigs.constraint_names import is_takts

_RIGID = ("CHILD_OF", "COPY_TRANSFORMS", "ARMATURE")
"""Constraints by which an object moves with a bone like a part of it."""
_LONGEST_CHAIN = 64


class Attachment(NamedTuple):
    """The armature and bone to which an object is attached; bone: "" for the armature itself."""

    armature: bpy.types.Object
    bone: str


def attachment_of(ob: bpy.types.Object) -> Attachment | None:
    """Return the armature and the bone to which an object is attached, or None.

    Its constraints are checked first, the last one first; then its parent; then the attachment of its parent.
    """
    for _ in range(_LONGEST_CHAIN):
        attached = _by_constraint(ob)
        if attached is not None:
            return attached
        parent = ob.parent
        if parent is None:
            return None
        if parent.type == "ARMATURE":
            return Attachment(parent, ob.parent_bone if ob.parent_type == "BONE" else "")
        ob = parent
    return None


def _by_constraint(ob: bpy.types.Object) -> Attachment | None:
    """Return the attachment by a constraint; location and rotation copied from one bone count too."""
    copied: dict[Attachment, set[str]] = {}
    for constraint in reversed(ob.constraints):
        if constraint.mute or not constraint.enabled or constraint.influence < 1.0 or is_takts(constraint):
            continue
        targets = _targets(constraint)
        if constraint.type in _RIGID and len(targets) == 1:
            return targets[0]
        if constraint.type in ("COPY_LOCATION", "COPY_ROTATION") and targets:
            kinds = copied.setdefault(targets[0], set())
            kinds.add(constraint.type)
            if len(kinds) == 2:
                return targets[0]
    return None


def _targets(constraint: bpy.types.Constraint) -> list[Attachment]:
    """Return the armatures and bones that a constraint refers to."""
    if isinstance(constraint, bpy.types.ArmatureConstraint):
        pairs = [(target.target, target.subtarget) for target in constraint.targets]
    else:
        pairs = [(getattr(constraint, "target", None), getattr(constraint, "subtarget", ""))]
    return [Attachment(target, bone) for target, bone in pairs if target is not None and target.type == "ARMATURE"]
