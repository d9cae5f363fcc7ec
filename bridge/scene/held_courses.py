"""Holds of a prop: which hands hold it and when, read from Takt's constraints, and its transforms over the frames."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import bpy
import numpy as np
from mathutils import Euler, Matrix

from ...core.maths.arrays import FloatArray
from .. import properties
from ..rigs import object_courses
from ..rigs.constraint_names import is_takts

_NUMBERED: Final = re.compile(r".* (\d+)(\.\d+)?$")
_FOR_GOOD: Final = float("inf")


@dataclass(frozen=True, eq=False)
class Hold:
    """Takt's constraints on a prop that belong to one character, in their order.

    number: identifies the hold in the constraints' names. holder: the character's armature, None if it was deleted.
    """

    number: str
    constraints: list[bpy.types.Constraint] = field(default_factory=list)

    @property
    def holder(self) -> bpy.types.Object | None:
        """Return the armature whose hands hold the prop."""
        return next((each.target for each in self.constraints
                     if isinstance(each, bpy.types.ChildOfConstraint)), None)

    def span(self) -> tuple[float, float]:
        """Return the first and last frame at which hands move the prop."""
        spans = [span_of(each) for each in self.constraints
                 if isinstance(each, bpy.types.ChildOfConstraint) and each.subtarget]
        return min((begin for begin, _ in spans), default=_FOR_GOOD), max((end for _, end in spans), default=-_FOR_GOOD)


def holds_of(prop: bpy.types.Object) -> list[Hold]:
    """Return the holds of an object, in the order in which their constraints act."""
    found = dict[str, Hold]()
    for each in prop.constraints:
        if is_takts(each):
            number = number_of(each)
            found.setdefault(number, Hold(number)).constraints.append(each)
    return [*found.values()]


def real_holds(prop: bpy.types.Object) -> list[Hold]:
    """Return the holds of an object. A copy of a prop has none: characters do not list it among their props."""
    return [hold for hold in holds_of(prop) if hold.holder is None or any(
        entry.prop == prop for entry in properties.character(hold.holder).held)]


def number_of(constraint: bpy.types.Constraint) -> str:
    """Return the number shared by one character's constraints; "" for a constraint of an older file."""
    found = _NUMBERED.match(constraint.name)
    return "" if found is None else found.group(1)


def span_of(constraint: bpy.types.Constraint) -> tuple[float, float]:
    """Return the frames between which one of Takt's constraints acts; an empty span if its driver is missing."""
    curve = driver_of(constraint)
    points: list[Any] = [] if curve is None else [point.co for point in curve.keyframe_points]
    begin = next((x for x, y in points if y > 0.5), _FOR_GOOD)
    return begin, next((x for x, y in points if x > begin and y < 0.5), _FOR_GOOD)


def driver_of(constraint: bpy.types.Constraint) -> bpy.types.FCurve | None:
    """Return the driver that switches a constraint on and off."""
    owner: Any = constraint.id_data
    animation = owner.animation_data
    return None if animation is None else animation.drivers.find(f'constraints["{constraint.name}"].influence')


def earlier(prop: bpy.types.Object, armature_object: bpy.types.Object) -> list[Hold]:
    """Return the holds of a prop that act before a character's; all of them if the character does not hold it."""
    holds = real_holds(prop)
    own = next((number for number, each in enumerate(holds) if each.holder == armature_object), len(holds))
    return [each for each in holds[:own] if each.holder is not None]


def links(holds: Sequence[Hold]) -> list[object_courses.Link]:
    """Return the objects whose motion moves the hands that hold a prop."""
    return [link for hold in holds for each in hold.constraints
            if isinstance(each, bpy.types.ChildOfConstraint) and each.target is not None and not each.mute
            for link in object_courses.links(each.target, each.subtarget)]


def world_over(prop: bpy.types.Object, frames: FloatArray, holds: Sequence[Hold]) -> FloatArray:
    """Return the matrices (F, 4, 4) of a prop in world space at frames (F,), with only the given holds in effect."""
    world = object_courses.world_over(object_courses.links(prop), frames).copy()
    for each in (each for hold in holds for each in hold.constraints if not each.mute):
        begin, end = span_of(each)
        during = (frames >= begin) & (frames < end)
        if during.any():
            world[during] = _constrained(each, world[during], frames[during])
    return world


def _constrained(constraint: Any, world: FloatArray, frames: FloatArray) -> FloatArray:
    if constraint.type == "CHILD_OF":
        hand = object_courses.world_over(object_courses.links(constraint.target, constraint.subtarget), frames)
        return np.asarray(hand @ np.array(constraint.inverse_matrix, dtype=np.float64) @ world)
    found = world.copy()
    if constraint.type == "LIMIT_LOCATION":
        found[:, :3, 3] = constraint.min_x, constraint.min_y, constraint.min_z
        return found
    if constraint.type == "LIMIT_SCALE":
        found[:, :3, 0] *= constraint.max_x / np.maximum(np.linalg.norm(world[:, :3, 0], axis=1, keepdims=True), 1e-30)
        return found
    turn = np.array(Euler((constraint.min_x, constraint.min_y, constraint.min_z), "XYZ").to_matrix())
    for number, each in enumerate(world):
        _, _, scale = Matrix(each.tolist()).decompose()
        found[number, :3, :3] = turn * np.abs(np.array(scale))  # as in Blender, the constraint removes mirroring
    return found
