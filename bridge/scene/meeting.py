"""Characters whose hands meet: their motions, and their relative transforms over time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator

import bpy
import numpy as np

from ...core.maths.arrays import FloatArray
from ...core.playing.meeting import Partner
from ...core.playing.motion import Motion
from ...core.playing.scene.cast import Unfit
from .. import properties
from ..frame_rate import frames_per_second
from ..rigs import object_courses, person
from ..scores import performing
from ..scores.performing import Performance

_UNPLAYABLE = Unfit("has a score that cannot be played, so there is nobody to meet: mend it")


def partners(armature_object: bpy.types.Object, motion: Motion,
             alone: Callable[[bpy.types.Object], Performance]) -> dict[str, Partner | Unfit]:
    """Return the characters that a motion meets, by role names; those without a score are left out.

    alone: performs the score of an armature without meeting hands.
    """
    met, found = {meet.role for meet in motion.meets}, dict[str, Partner | Unfit]()
    for role, other in _cast(armature_object):
        if role.name in met:
            performance = alone(other)
            found[role.name] = _UNPLAYABLE if performance.motion is None else Partner(
                performance.motion, _played_by(armature_object, other), _later_s(armature_object, other),
                *_course(armature_object, other))
    return found


def key(armature_object: bpy.types.Object, motion: Motion | None = None) -> tuple[Hashable, ...]:
    """Return a value that stays equal while the characters that a character meets move the same way.

    motion: the character's motion. Without it, the roles stored by `keep` are used. Changes of skins are not seen, so
    that no mesh is read.
    """
    met = None if motion is None else {meet.role for meet in motion.meets}
    return tuple(_key(armature_object, role.name, other) for role, other in _cast(armature_object)
                 if (role.meets if met is None else role.name in met))


def keep(character: properties.TaktCharacter, motion: Motion) -> None:
    """Store which roles a character meets."""
    met = {meet.role for meet in motion.meets}
    for role in character.cast:
        if role.meets != (role.name in met):
            role.meets = role.name in met


def those_who_meet(other: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Yield the characters of a scene whose hands meet those of another, by what `keep` has stored."""
    for each in scene.objects:
        if each.type == "ARMATURE" and properties.character(each).text is not None and any(
                role.meets and one == other for role, one in _cast(each)):
            yield each


def _key(armature_object: bpy.types.Object, role: str, other: bpy.types.Object) -> Hashable:
    times_s, matrices = _course(armature_object, other)
    course = hashlib.blake2b(times_s.tobytes() + matrices.tobytes(), digest_size=16).digest()
    said, _, _, *others = performing.dependencies(other, skin=0)  # without files: a folder may move with its .blend
    return role, course, _later_s(armature_object, other), _played_by(armature_object, other), said, *others


def _cast(armature_object: bpy.types.Object) -> Iterator[tuple[properties.TaktRole, bpy.types.Object]]:
    """Yield the roles that other characters with scores play, and their armatures."""
    for role in properties.character(armature_object).cast:
        other = None if role.target is None or not role.is_here else person.armature_of(role.target)
        if other is not None and other != armature_object and properties.character(other).text is not None:
            yield role, other


def _played_by(armature_object: bpy.types.Object, other: bpy.types.Object) -> frozenset[str]:
    """Return the roles of another's score that a character plays."""
    return frozenset(role.name for role, one in _cast(other) if one == armature_object)


def _later_s(armature_object: bpy.types.Object, other: bpy.types.Object) -> float:
    scene = bpy.context.scene
    first, others = (properties.character(each).frame_start for each in (armature_object, other))
    return 0.0 if scene is None else (first - others) / frames_per_second(scene)


def _course(armature_object: bpy.types.Object, other: bpy.types.Object) -> tuple[FloatArray, FloatArray]:
    """Return times (N,) of a character's clock, and matrices (N, 3, 4) from another's model space to its own."""
    scene = bpy.context.scene
    assert scene is not None  # a character is in one
    first = properties.character(armature_object).frame_start
    ours, theirs = object_courses.links(armature_object), object_courses.links(other)
    frames = object_courses.frames_of([*ours, *theirs], first, scene.frame_end)
    model_from_world = np.linalg.pinv(np.nan_to_num(object_courses.world_over(ours, frames)))
    matrices = (model_from_world @ object_courses.world_over(theirs, frames)).round(object_courses.DIGITS) + 0.0
    return (frames - first) / frames_per_second(scene), np.ascontiguousarray(matrices[:, :3])
