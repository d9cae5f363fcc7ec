"""Props in hands: constraints that Takt puts on them, keyed over the frames, and takes off with its Action.

A prop's own keys, constraints and parents stay as they are, for what is keyed are drivers of Takt's constraints: while
a hand leads it, a Child Of on the hand's bone; while it lies, limits of its location and rotation.
"""

from __future__ import annotations

from typing import Any, Final

import bpy
import numpy as np
from mathutils import Matrix

from ..core.errors import TaktError, quoted
from ..core.maths.arrays import FloatArray
from ..core.playing.motion import Motion
from ..core.playing.scene.carried import Carried, Phase
from . import object_courses, properties
from .constraint_names import PREFIX, is_takts
from .frame_rate import frames_per_second
from .object_courses import links, world_over
from .reports import Told

_NO_SIZE: Final = 1e-9


def write(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> list[Told]:
    """Let the props of a motion go with its hands, in place of those of the motion before; return what is to be said.

    Where a role's object cannot be held, only that is left out.
    """
    take_off(armature_object)
    character, told, taken = properties.character(armature_object), list[Told](), set[bpy.types.Object]()
    for name, carried in motion.carried.items():
        role = character.cast.get(name)
        prop = None if role is None else role.target
        if prop is None:
            continue
        try:
            _check(prop, armature_object, taken)
            _put_on(prop, armature_object, scene, motion, carried)
            taken.add(prop)
            character.held.add().prop = prop
        except TaktError as error:
            told.append(("WARNING", f"The role {quoted(name)}: {error}"))
    return told


def take_off(armature_object: bpy.types.Object) -> None:
    """Take Takt's constraints off the props that an armature's hands hold."""
    for prop, constraint in _held_by(armature_object):
        constraint.driver_remove("influence")
        prop.constraints.remove(constraint)
    properties.character(armature_object).held.clear()


def leave(armature_object: bpy.types.Object) -> None:
    """Let the constraints stay on the props, as the user's own from now on."""
    for _, constraint in _held_by(armature_object):
        constraint.name = constraint.name.removeprefix(PREFIX)
    properties.character(armature_object).held.clear()


def follow(armature_object: bpy.types.Object, *, plays: bool) -> None:
    """Let props go with hands only while Takt's Action plays; plays: whether it does."""
    for _, constraint in _held_by(armature_object):
        if constraint.mute == plays:
            constraint.mute = not plays


def _held_by(armature_object: bpy.types.Object) -> list[tuple[bpy.types.Object, bpy.types.Constraint]]:
    """Return the props that an armature's hands hold, each with one of Takt's constraints on it.

    A copy of an armature lists what its original holds, but does not hold it.
    """
    props = {entry.prop for entry in properties.character(armature_object).held if entry.prop is not None}
    return [(prop, each) for prop in props if _holder(prop) == armature_object
            for each in prop.constraints if is_takts(each)]


def _holder(prop: bpy.types.Object) -> bpy.types.Object | None:
    """Return the armature whose hands hold an object."""
    return next((each.target for each in prop.constraints
                 if isinstance(each, bpy.types.ChildOfConstraint) and is_takts(each)), None)


def _check(prop: bpy.types.Object, armature_object: bpy.types.Object, taken: set[bpy.types.Object]) -> None:
    """Raise TaktError where hands cannot hold an object. taken: what they hold already."""
    name = quoted(prop.name)
    if prop in taken:
        raise TaktError(f"{name} plays another role that a hand holds: choose another object")
    if not prop.is_editable:
        raise TaktError(f"{name} is linked from another file, so no hand can hold it: make it local, or override it")
    holder = _holder(prop)
    if holder is not None and holder != armature_object:
        raise TaktError(f"{quoted(holder.name)} holds {name} already, and only one character holds a prop: choose "
                        "another object for one of them")
    if why := object_courses.held_by(prop):
        raise TaktError(f"{name} is moved by {why}, so no hand can hold it: bake its motion into keys (Object > "
                        "Animation > Bake Action), or take that off")


def _put_on(prop: bpy.types.Object, armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion,
            carried: Carried) -> None:
    for constraint in [each for each in prop.constraints if is_takts(each)]:  # of a character that has gone
        prop.constraints.remove(constraint)
    character, fps = properties.character(armature_object), frames_per_second(scene)
    begin = motion.shown(np.array([phase.begin_s for phase in carried.phases])) * fps + character.frame_start
    own = links(prop)
    placed, bodies = world_over(own, begin), world_over(links(armature_object), begin)
    if abs(np.linalg.det(placed[0, :3, :3])) < _NO_SIZE * max(float(np.abs(placed[0, :3, :3]).max()), _NO_SIZE) ** 3:
        raise TaktError(f"{quoted(prop.name)} is scaled to nothing, so no hand can hold it: clear its scale (Alt S)")
    is_still = not any(link.curves for link in own)
    first = np.linalg.inv(bodies[0]) @ placed[0]
    for number, phase in enumerate(carried.phases):
        until = float(begin[number + 1]) if number + 1 < len(begin) else None
        body, span = bodies[number], (float(begin[number]), until)
        world = body @ _square(phase.moved) @ first
        if not (is_still and phase.hand):
            _fix(prop, world, span)
        if phase.hand:
            before = placed[0] if is_still else world
            to_hand = np.linalg.inv(body @ _square(phase.hand_at)) @ world @ np.linalg.inv(before)
            _lead(prop, armature_object, _bone(motion, phase), to_hand, span)


def _bone(motion: Motion, phase: Phase) -> str:
    return motion.skeleton.names[motion.hand_joint(phase.hand)]


def _fix(prop: bpy.types.Object, world: FloatArray, span: tuple[float, float | None]) -> None:
    """Let an object stay at a matrix (4, 4) of the world over a span of frames."""
    place, turn, _ = Matrix(world.tolist()).decompose()
    angles = turn.to_euler("XYZ")
    for kind, values in (("LIMIT_LOCATION", (place.x, place.y, place.z)),
                         ("LIMIT_ROTATION", (angles.x, angles.y, angles.z))):
        limit: Any = _new(prop, kind, span)
        limit.owner_space = "WORLD"
        for axis, value in zip("xyz", values, strict=True):
            if kind == "LIMIT_ROTATION":
                setattr(limit, f"use_limit_{axis}", True)
            for end in ("min", "max"):
                if kind == "LIMIT_LOCATION":
                    setattr(limit, f"use_{end}_{axis}", True)
                setattr(limit, f"{end}_{axis}", value)
        if kind == "LIMIT_ROTATION":
            limit.euler_order = "XYZ"


def _lead(prop: bpy.types.Object, armature_object: bpy.types.Object, bone: str, to_hand: FloatArray,
          span: tuple[float, float | None]) -> None:
    """Let an object go with a bone over a span of frames; to_hand: (4, 4) from the world to the bone as it begins."""
    child_of: Any = _new(prop, "CHILD_OF", span)
    child_of.target, child_of.subtarget = armature_object, bone
    child_of.set_inverse_pending = False
    child_of.inverse_matrix = Matrix(to_hand.tolist())


def _new(prop: bpy.types.Object, kind: Any, span: tuple[float, float | None]) -> bpy.types.Constraint:
    """Return a new constraint that acts from one frame up to another, for good where there is none."""
    constraint = prop.constraints.new(kind)
    constraint.name = f"{PREFIX}{kind.replace('_', ' ').title()}"
    curve: Any = constraint.driver_add("influence")
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    curve.driver.type, curve.driver.expression = "SCRIPTED", "frame"
    curve.keyframe_points.clear()
    begin, end = span
    for frame, value in ((begin - 1.0, 0.0), (begin, 1.0), *(() if end is None else ((end, 0.0),))):
        point = curve.keyframe_points.insert(frame, value, options={"FAST"})
        point.interpolation = "CONSTANT"
    curve.update()
    return constraint


def _square(affine: FloatArray) -> FloatArray:
    return np.vstack((affine, (0.0, 0.0, 0.0, 1.0)))
