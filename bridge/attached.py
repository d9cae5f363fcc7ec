"""Objects attached to an armature without being bound to it: hats and swords, on a bone or on the armature itself."""

from typing import NamedTuple

import bpy

_RIGID = ("CHILD_OF", "COPY_TRANSFORMS", "ARMATURE")
"""Constraints by which an object goes along with a bone as if it were a part of it."""
_LONGEST_CHAIN = 64


class Hold(NamedTuple):
    """What an object is attached to; bone: "" for the armature itself."""

    armature: bpy.types.Object
    bone: str


def hold_of(ob: bpy.types.Object) -> Hold | None:
    """Return what moves an object that has no bones of its own to follow, None where no armature does.

    The last constraint that holds it counts, then its parent, then what that one is attached to.
    """
    for _ in range(_LONGEST_CHAIN):
        held = _held_by_constraint(ob)
        if held is not None:
            return held
        parent = ob.parent
        if parent is None:
            return None
        if parent.type == "ARMATURE":
            return Hold(parent, ob.parent_bone if ob.parent_type == "BONE" else "")
        ob = parent
    return None


def _held_by_constraint(ob: bpy.types.Object) -> Hold | None:
    """Return what constraints attach an object to rigidly; copied location and rotation together do so too."""
    copied: dict[Hold, set[str]] = {}
    for constraint in reversed(ob.constraints):
        if constraint.mute or not constraint.enabled or constraint.influence < 1.0:
            continue
        holds = _targets(constraint)
        if constraint.type in _RIGID and len(holds) == 1:
            return holds[0]
        if constraint.type in ("COPY_LOCATION", "COPY_ROTATION") and holds:
            kinds = copied.setdefault(holds[0], set())
            kinds.add(constraint.type)
            if len(kinds) == 2:
                return holds[0]
    return None


def _targets(constraint: bpy.types.Constraint) -> list[Hold]:
    """Return the armatures and bones that a constraint looks at."""
    if isinstance(constraint, bpy.types.ArmatureConstraint):
        pairs = [(target.target, target.subtarget) for target in constraint.targets]
    else:
        pairs = [(getattr(constraint, "target", None), getattr(constraint, "subtarget", ""))]
    return [Hold(target, bone) for target, bone in pairs if target is not None and target.type == "ARMATURE"]
