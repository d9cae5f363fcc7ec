"""Props in hands: Takt adds constraints to them, whose drivers are keyed, and removes these with its Action.

A prop's own keys, constraints and parents stay as they are. While a hand moves the prop, a Child Of on the hand's bone
acts. While the prop lies, limits of its location and rotation act. If a character takes a prop that another one has put
down, its constraints come after the other's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from typing import Any, Final, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix

from ...core.errors import Place, Problem, TaktError, quoted
from ...core.maths.arrays import FloatArray
from ...core.playing.motion import Motion
from ...core.playing.scene.carried import Carried, Phase
from .. import changes, properties
from ..actions.action_users import strips_of
from ..frame_rate import frames_per_second
from ..reports import Told
from ..rigs import object_courses
from ..rigs.constraint_names import PREFIX
from ..rigs.object_courses import links
from . import held_courses
from .held_courses import Hold, holds_of, real_holds

_NO_SIZE: Final = 1e-9
_SAME_FRAME: Final = 0.5
_SHEAR: Final = 1e-4
"""Cosine of the angle between two axes from which an object counts as sheared."""
_FRAME: Final = "frame"
"""The current frame, as a driver's variable."""
_looked_at: dict[int, tuple[int, int]] = {}
"""By an armature's session_uid: the number of objects, and of undos, when copies of its props were last searched."""


class _Plan(NamedTuple):
    """How a character will hold a prop. steps: each adds constraints of the character's own.

    others: the numbers of holds of other characters, which stay; before: of the one before which the new constraints
    act, None if they are the last. keeps_shape: false if the prop is sheared.
    """

    others: set[str]
    before: str | None
    steps: list[Callable[[], None]]
    keeps_shape: bool


def write(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> list[Told]:
    """Let the props of a motion follow its hands, in place of those of the earlier motion; return messages.

    A prop that cannot be held is left out, with a message.
    """
    take_off(armature_object)
    told = list[Told]()
    for prop, plan, found in _plans(armature_object, scene, motion):
        if plan is not None:
            _put_on(prop, plan)
            properties.character(armature_object).held.add().prop = prop
        if found is not None:
            told.append(("WARNING", str(found)))
    if why := problem(armature_object):
        told.append(("WARNING", why))
    return told


def problems(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> list[Problem]:
    """Return what `write` would say of the props of a motion; changes nothing."""
    return [found for _, _, found in _plans(armature_object, scene, motion) if found is not None]


def _plans(armature_object: bpy.types.Object, scene: bpy.types.Scene,
           motion: Motion) -> Iterator[tuple[bpy.types.Object, _Plan | None, Problem | None]]:
    """Yield the props of a motion, how each is held, None if it cannot be, and what is unusual about that, or None."""
    taken = set[bpy.types.Object]()
    for name, carried in motion.carried.items():
        role = properties.character(armature_object).cast.get(name)
        prop = None if role is None else role.target
        if prop is None:
            continue
        try:
            begin = _begins(armature_object, scene, motion, carried)
            _check(prop, armature_object, taken, _span(begin, carried))
            plan = _planned(prop, armature_object, begin, motion, carried)
            taken.add(prop)
            yield prop, plan, None if plan.keeps_shape else Problem(
                f"<hold> the role {quoted(name)}: {quoted(prop.name)} is sheared, and changes its shape where it "
                "is put down: apply the scale of its parent (Ctrl A)", _place(motion, name), is_warning=True)
        except TaktError as error:
            yield prop, None, Problem(f"<hold> the role {quoted(name)}: {error}", _place(motion, name),
                                      is_warning=True)


def _place(motion: Motion, name: str) -> Place:
    """Return the first place in a score where a hand holds a role."""
    return next((each.place for each in motion.sequence.aims if each.aim.holds and each.aim.role == name), Place())


def take_off(armature_object: bpy.types.Object) -> None:
    """Remove Takt's constraints from the props of an armature, and from copies that a user made of them."""
    for prop in bpy.data.objects:
        for hold in holds_of(prop) if prop.is_editable and len(prop.constraints) else ():
            if hold.holder == armature_object:
                _remove(prop, hold)
    properties.character(armature_object).held.clear()


def leave(armature_object: bpy.types.Object) -> None:
    """Turn the constraints into the user's own: Takt no longer changes or removes them."""
    for _, hold in _held_by(armature_object):
        for constraint in hold.constraints:
            constraint.name = constraint.name.removeprefix(PREFIX)
    properties.character(armature_object).held.clear()


def follow(armature_object: bpy.types.Object, *, plays: bool) -> None:
    """Let props follow hands only while Takt's Action plays, assigned or in a strip, at the strip's times.

    plays: whether the assigned Action is Takt's and in effect.
    """
    if not len(properties.character(armature_object).held):
        return
    _mute_copies(armature_object)
    held, strips = _held_by(armature_object), _strips(armature_object)
    expression = _time_in(strips[0]) if strips else _FRAME
    for _, hold in held:
        for constraint in hold.constraints:
            if constraint.mute == (plays or bool(strips)):
                constraint.mute = not constraint.mute
            curve: Any = held_courses.driver_of(constraint)
            if curve is not None and expression and curve.driver.expression != expression:
                curve.driver.expression = expression


def _mute_copies(armature_object: bpy.types.Object) -> None:
    """Mute Takt's constraints on copies of props, if an undo has happened or the number of objects has changed.

    They are removed only with the next Action: while the user still drags a copy, Blender keeps pointers to them.
    """
    uid, now = armature_object.session_uid, (len(bpy.data.objects), changes.of_data(()))
    if _looked_at.get(uid) == now:
        return
    _looked_at[uid] = now
    held = {entry.prop for entry in properties.character(armature_object).held}
    for copy in bpy.data.objects:
        for hold in holds_of(copy) if copy not in held and copy.is_editable and len(copy.constraints) else ():
            if hold.holder == armature_object:
                for constraint in hold.constraints:
                    constraint.mute = True


def problem(armature_object: bpy.types.Object) -> str:
    """Return why props cannot follow the hands, if NLA strips play the Action with another timing; else ""."""
    if not len(properties.character(armature_object).held) or not (strips := _strips(armature_object)):
        return ""
    name = quoted(strips[0].name)
    if not _time_in(strips[0]):
        return (f"The strip {name} is reversed, repeated or has animated time, so props do not follow hands: use "
                "Object > Animation > Bake Action first")
    return (f"{len(strips)} strips play the Action, and what hands hold goes with the first, {name}"
            if len(strips) > 1 else "")


def _strips(armature_object: bpy.types.Object) -> list[bpy.types.NlaStrip]:
    """Return the NLA strips that play an armature's Action, if it is not assigned."""
    animation, own = armature_object.animation_data, properties.character(armature_object).action
    if animation is None or own is None or animation.action == own or not animation.use_nla:
        return []
    return sorted((strip for strip in strips_of(animation, are_heard=True) if strip.action == own),
                  key=attrgetter("frame_start"))


def _time_in(strip: bpy.types.NlaStrip) -> str:
    """Return a driver expression for the Action's frame in a strip; "" if the strip's time is not linear."""
    if strip.use_reverse or strip.use_animated_time or strip.repeat > 1.0:
        return ""
    if strip.scale == 1.0:
        moved = strip.frame_start - strip.action_frame_start
        return _FRAME if moved == 0.0 else f"{_FRAME} - {moved:.6g}"
    return f"({_FRAME} - {strip.frame_start:.6g}) / {strip.scale:.6g} + {strip.action_frame_start:.6g}"


def _held_by(armature_object: bpy.types.Object) -> list[tuple[bpy.types.Object, Hold]]:
    """Return the props that an armature's hands hold, each with Takt's constraints on it.

    A copied armature lists its original's props, but does not hold them.
    """
    props = {entry.prop for entry in properties.character(armature_object).held if entry.prop is not None}
    return [(prop, hold) for prop in props for hold in holds_of(prop) if hold.holder == armature_object]


def _remove(prop: bpy.types.Object, hold: Hold) -> None:
    for constraint in hold.constraints:
        constraint.driver_remove("influence")
        prop.constraints.remove(constraint)


def _check(prop: bpy.types.Object, armature_object: bpy.types.Object, taken: set[bpy.types.Object],
           span: tuple[float, float]) -> None:
    """Raise TaktError if hands cannot hold an object over a span of frames. taken: props that they hold already."""
    name = quoted(prop.name)
    if prop in taken:
        raise TaktError(f"{name} plays another role that a hand holds: choose another object")
    if not prop.is_editable:
        raise TaktError(f"{name} is linked from another file, so no hand can hold it: make it local, or override it")
    for hold in real_holds(prop):
        begin, end = hold.span()
        holder = hold.holder
        if holder not in (None, armature_object) and begin < span[1] - _SAME_FRAME and end > span[0] + _SAME_FRAME:
            assert holder is not None
            own = quoted(armature_object.name)
            raise TaktError(f"{quoted(holder.name)} holds {name} {_frames(begin, end)}, and {own} would "
                            f"{_frames(*span)}: end one hold before the other begins, or choose another object for "
                            "one of them")
    if why := object_courses.held_by(prop):
        raise TaktError(f"{name} is moved by {why}, so no hand can hold it: bake its motion (Object > Animation > Bake "
                        "Action), or remove the cause")


def _frames(begin: float, end: float) -> str:
    return f"from frame {begin:.0f} on" if np.isinf(end) else f"from frame {begin:.0f} to {end:.0f}"


def _begins(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion, carried: Carried) -> FloatArray:
    """Return the frames at which the phases of a prop begin."""
    begin_s = motion.shown(np.array([phase.begin_s for phase in carried.phases]))
    return begin_s * frames_per_second(scene) + properties.character(armature_object).frame_start


def _span(begin: FloatArray, carried: Carried) -> tuple[float, float]:
    """Return the first and last frame at which hands move a prop."""
    last = max(number for number, phase in enumerate(carried.phases) if phase.hand)
    return float(begin[0]), float(begin[last + 1]) if last + 1 < len(begin) else np.inf


def _put_on(prop: bpy.types.Object, plan: _Plan) -> None:
    """Add constraints to an object, in place of those that nobody needs."""
    for gone in [each for each in holds_of(prop) if each.number not in plan.others]:
        _remove(prop, gone)
    count, later = len(prop.constraints), [each for each in holds_of(prop) if each.number == plan.before]
    for step in plan.steps:
        step()
    if later:  # a character that takes it later starts from here
        to = prop.constraints.find(later[0].constraints[0].name)
        for at in range(count, len(prop.constraints)):
            prop.constraints.move(at, to + at - count)


def _planned(prop: bpy.types.Object, armature_object: bpy.types.Object, begin: FloatArray, motion: Motion,
             carried: Carried) -> _Plan:
    """Return how an object is held; raise TaktError if it cannot be."""
    others = {hold.number for hold in real_holds(prop) if hold.holder not in (None, armature_object)}
    end, holds = _span(begin, carried)[1], [each for each in holds_of(prop) if each.number in others]
    earlier = [each for each in holds if each.span()[0] < end - _SAME_FRAME]
    later, steps = holds[len(earlier):], list[Callable[[], None]]()
    placed, bodies = (held_courses.world_over(prop, begin, earlier),
                      object_courses.world_over(links(armature_object), begin))
    if not np.linalg.norm(placed[0, :3, :3]) > _NO_SIZE:  # flat props can be held
        raise TaktError(f"{quoted(prop.name)} is scaled to nothing, so no hand can hold it: clear its scale (Alt S)")
    number = str(1 + max((int(each.number or 0) for each in holds), default=0))
    is_still = not earlier and not any(link.curves for link in links(prop))
    from_world, keeps_shape, stays = np.linalg.inv(bodies[0]), True, is_still and _is_at_rest(armature_object)
    for at, phase in enumerate(carried.phases):
        until = float(begin[at + 1]) if at + 1 < len(begin) else None
        body, span = bodies[at], (float(begin[at]), until)
        moved = body @ _square(phase.moved) @ from_world
        world = moved @ placed[0]
        if not (is_still and phase.hand):
            if _is_sheared(world) and stays:
                steps.append(partial(_lead, prop, armature_object, "", np.linalg.inv(body) @ moved, span, number))
            else:
                keeps_shape = keeps_shape and not _is_sheared(world)
                steps.append(partial(_fix, prop, world, span, number))
        if phase.hand:
            to_hand = np.linalg.inv(body @ _square(phase.hand_at)) @ (moved if is_still else np.eye(4))
            steps.append(partial(_lead, prop, armature_object, _bone(motion, phase), to_hand, span, number))
    return _Plan(others, later[0].number if later else None, steps, keeps_shape)


def _is_at_rest(armature_object: bpy.types.Object) -> bool:
    """Return whether an armature's object does not move."""
    chain = links(armature_object)
    return not any(link.curves for link in chain) and not any(
        isinstance(link.owner, bpy.types.PoseBone) or object_courses.held_by(link.owner) for link in chain)


def _is_sheared(world: FloatArray) -> bool:
    """Return whether the axes of a matrix (4, 4) are not at right angles: a Limit Rotation would change the shape."""
    axes = world[:3, :3]
    sizes = np.outer(*(np.linalg.norm(axes, axis=0),) * 2)
    return bool((np.abs(axes.T @ axes - np.diag(np.diag(sizes))) > _SHEAR * sizes).any())


def _bone(motion: Motion, phase: Phase) -> str:
    return motion.skeleton.names[motion.hand_joint(phase.hand)]


def _fix(prop: bpy.types.Object, world: FloatArray, span: tuple[float, float | None], number: str) -> None:
    """Keep an object at a world-space matrix (4, 4) over a span of frames."""
    upright = _with_all_axes(world)
    is_mirrored = np.linalg.det(upright[:3, :3]) < 0.0
    if is_mirrored:
        upright[:3, 0] *= -1.0
    place, turn, _ = Matrix(upright.tolist()).decompose()
    angles = turn.to_euler("XYZ")
    for kind, values in (("LIMIT_LOCATION", (place.x, place.y, place.z)),
                         ("LIMIT_ROTATION", (angles.x, angles.y, angles.z))):
        limit: Any = _new(prop, kind, span, number)
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
    if is_mirrored:  # a Limit Rotation removes mirroring
        limit = _new(prop, "LIMIT_SCALE", span, number)
        limit.owner_space, limit.use_max_x, limit.max_x = "WORLD", True, -float(np.linalg.norm(world[:3, 0]))


def _with_all_axes(world: FloatArray) -> FloatArray:
    """Return a matrix (4, 4) whose zero axes, two at most, are replaced by directions at right angles to the others."""
    found, sizes = world.copy(), np.linalg.norm(world[:3, :3], axis=0)
    flat = np.flatnonzero(sizes <= _NO_SIZE).tolist()
    if len(flat) == 2:
        known = found[:3, sizes.argmax()] / sizes.max()
        found[:3, flat.pop()] = np.cross(known, np.eye(3)[np.abs(known).argmin()])
    for axis in flat:
        found[:3, axis] = np.cross(found[:3, (axis + 1) % 3], found[:3, (axis + 2) % 3])
    return found


def _lead(prop: bpy.types.Object, armature_object: bpy.types.Object, bone: str, to_hand: FloatArray,
          span: tuple[float, float | None], number: str) -> None:
    """Let an object follow a bone over a span of frames. bone: its name, "" for the armature.

    to_hand: (4, 4) from world space to the bone at the begin of the span.
    """
    child_of: Any = _new(prop, "CHILD_OF", span, number)
    child_of.target, child_of.subtarget = armature_object, bone
    child_of.set_inverse_pending = False
    child_of.inverse_matrix = Matrix(to_hand.tolist())


def _new(prop: bpy.types.Object, kind: Any, span: tuple[float, float | None], number: str) -> bpy.types.Constraint:
    """Return a new constraint that acts over a span of frames; if its end is None, for ever.

    number: identifies the constraints of one character.
    """
    constraint = prop.constraints.new(kind)
    constraint.name = f"{PREFIX}{kind.replace('_', ' ').title()} {number}"
    curve: Any = constraint.driver_add("influence")
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    curve.driver.type, curve.driver.expression = "SCRIPTED", _FRAME
    curve.keyframe_points.clear()
    begin, end = span
    for frame, value in ((begin - 1.0, 0.0), (begin, 1.0), *(() if end is None else ((end, 0.0),))):
        point = curve.keyframe_points.insert(frame, value, options={"FAST"})
        point.interpolation = "CONSTANT"
    curve.update()
    return constraint


def _square(affine: FloatArray) -> FloatArray:
    return np.vstack((affine, (0.0, 0.0, 0.0, 1.0)))
