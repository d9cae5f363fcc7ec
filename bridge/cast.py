"""The cast of a score: which objects of the scene play its roles, as core takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Mapping
from typing import cast

import bpy
import numpy as np

from ..core.errors import TaktError, quoted
from ..core.maths.arrays import FloatArray
from ..core.playing.scene.cast import Moving, SceneFloor, ScenePath, ScenePlace, Target, Unfit
from . import changes, floors, object_courses, person, properties
from .curve_points import points_along
from .frame_rate import frames_per_second

_DIGITS = 6
"""What moves by less than the last of these has not moved."""
_HEAD_DIGITS = 4
"""Of heads, so that two who look at each other come to rest."""
_NO_LENGTH = 1e-6
_FARTHEST = 1e9
"""Blender's units; nothing can be counted with what is farther away."""
_MOST_CHARACTERS = 256
_characters: dict[tuple[int, int, str], tuple[Hashable, Target]] = {}
"""Who plays roles for whom, as what, and where: with the numbers of `changes` for which that is valid."""
_AHEAD = np.array((0.0, -1.0, 0.0))
"""An object faces along its own −Y, as Blender's characters do."""


def keep(character: properties.TaktCharacter, roles: Mapping[str, str]) -> None:
    """List the roles of a score with their kinds; those that it no longer has keep what plays them."""
    for name, kind in roles.items():
        known = character.cast.get(name)
        if known is not None and (known.kind, known.is_here) == (kind, True):
            continue
        role = character.cast.add() if known is None else known
        role.name, role.kind, role.is_here = name, kind, True
    for role in character.cast:
        if role.is_here and role.name not in roles:
            role.is_here = False


def read(armature_object: bpy.types.Object) -> tuple[tuple[str, Target], ...]:
    """Return what plays the roles, by their names, in the armature's space over the score's frames."""
    return tuple(_targets(armature_object))


def key(armature_object: bpy.types.Object) -> Hashable:
    """Return what is the same as long as the cast goes the same way; None while there is none."""
    found = read(armature_object)
    if not found:
        return None
    digest = hashlib.blake2b(digest_size=16)
    for name, target in found:
        if isinstance(target, SceneFloor):
            digest.update(name.encode() + target.digest)
            continue
        if not isinstance(target, Moving):
            digest.update(repr((name, target)).encode())
            continue
        digest.update(repr((name, target.still, target.note)).encode())
        for numbers in (target.times_s, target.model_from_own, target.heads):
            if numbers is not None:
                digest.update(numbers.tobytes())
    return digest.digest()


def copy(source: properties.TaktCharacter, to: properties.TaktCharacter) -> None:
    """Let one character's cast be another's too."""
    keep(to, {role.name: role.kind for role in source.cast if role.is_here})
    for role in source.cast:
        if role.is_here:
            to.cast[role.name].target = role.target


def _targets(armature_object: bpy.types.Object) -> Iterator[tuple[str, Target]]:
    roles = [role for role in properties.character(armature_object).cast if role.is_here and role.target is not None]
    scene = bpy.context.scene
    if not roles or scene is None:
        return
    for role in roles:
        assert role.target is not None
        reader = _target if person.armature_of(role.target) is None else _known_target
        yield role.name, reader(role.target, role.kind, armature_object, scene)


def _known_target(target: bpy.types.Object, kind: str, armature_object: bpy.types.Object,
                  scene: bpy.types.Scene) -> Target:
    """Return the same as _target, of a character, whose many curves are read only when something has changed."""
    which = armature_object.session_uid, target.session_uid, kind
    now = (changes.of_scores(), changes.of_scenes(), changes.of_all_data(), scene.session_uid, scene.frame_end,
           frames_per_second(scene), properties.character(armature_object).frame_start)
    known = _characters.get(which)
    if known is None or known[0] != now:
        if len(_characters) >= _MOST_CHARACTERS:
            _characters.clear()
        known = _characters[which] = now, _target(target, kind, armature_object, scene)
    return known[1]


def _target(target: bpy.types.Object, kind: str, armature_object: bpy.types.Object, scene: bpy.types.Scene) -> Target:
    """Return what an object is as a role of a kind over the score's frames, and Unfit where it cannot be that."""
    try:
        _check_kind(target, kind, armature_object)
        return _over_time(target, kind, armature_object, scene)
    except TaktError as error:
        return Unfit(str(error))


def _check_kind(target: bpy.types.Object, kind: str, armature_object: bpy.types.Object) -> None:
    """Raise TaktError where an object cannot play a role of a kind, by what it is."""
    name = quoted(target.name)
    if properties.is_of_character(target, armature_object):
        what = "the character" if target == armature_object else f"the body of {quoted(armature_object.name)}"
        raise TaktError(f"{name} is {what} itself, which cannot go to itself: choose another object")
    above = target.parent
    while above is not None:
        if above == armature_object:
            raise TaktError(f"{name} hangs on the character and goes where that goes: choose another object, or clear "
                            "its parent")
        above = above.parent
    if kind == "person" and person.armature_of(target) is None:
        raise TaktError(f"{name} is of the type {target.type.title()}, expected a character: choose an armature, or a "
                        "mesh that one deforms")
    for needed, wanted in (("path", "CURVE"), ("floor", "MESH")):
        if kind == needed and target.type != wanted:
            raise TaktError(f"{name} is of the type {target.type.title()}, expected a {wanted.lower()}: choose one")


def _over_time(target: bpy.types.Object, kind: str, armature_object: bpy.types.Object,
               scene: bpy.types.Scene) -> Target:
    """Return where an object is over the score's frames; raise TaktError where nobody knows."""
    fps, first = frames_per_second(scene), properties.character(armature_object).frame_start
    own, ours, up_to_head = object_courses.links(target), object_courses.links(armature_object), person.head(target)
    frames = object_courses.frames_of([*own, *ours, *up_to_head], first, scene.frame_end)
    notes = [note for chain in (own, ours) for link in chain if (note := _note(link.owner))]
    model_from_world = np.linalg.pinv(_world(armature_object, ours, frames))
    matrices = (model_from_world @ _world(target, own, frames)).round(_DIGITS) + 0.0
    heads = None
    if up_to_head:
        head = model_from_world @ object_courses.world_over(up_to_head, frames)
        heads = head[:, :3, 3].round(_HEAD_DIGITS) + 0.0
    if kind == "floor":
        if len(frames) > 1:
            notes.append(f"{quoted(target.name)} or {quoted(armature_object.name)} is animated, and counts as a floor "
                         "where it is as the score begins: clear its animation")
        return floors.floor(target, matrices[0], notes[0] if notes else "")
    still, note = _still(target, kind, matrices[0, :3]), notes[0] if notes else ""
    if len(frames) > 1:
        return Moving(still, (frames - first) / fps, matrices[:, :3], heads, note)
    return _placed(still, matrices[0], None if heads is None else heads[0], note)


def _world(ob: bpy.types.Object, chain: list[object_courses.Link], frames: FloatArray) -> FloatArray:
    """Return an object's matrices (F, 4, 4) in the world; raise TaktError where nothing can be counted with them."""
    found = object_courses.world_over(chain, frames)
    if not (np.abs(found) < _FARTHEST).all():
        raise TaktError(f"the location, rotation or scale of {quoted(ob.name)} is not a number, or beyond "
                        f"{_FARTHEST:.0g}: clear them (Object > Clear)")
    return found


def _note(owner: bpy.types.Object | bpy.types.PoseBone) -> str:
    """Return what is to be said of how something moves, "" for nothing; raise TaktError where nobody knows."""
    held = "" if isinstance(owner, bpy.types.PoseBone) else object_courses.held_by(owner)
    if isinstance(owner, bpy.types.PoseBone) or not held:
        return ""
    if not object_courses.is_evaluated(owner):
        raise TaktError(f"{quoted(owner.name)} is moved by {held}, and is not in the current scene, or disabled or "
                        "excluded there, so nobody knows where it is: enable it (it may be hidden by its eye)")
    return (f"{quoted(owner.name)} is moved by {held}, so it counts where it is at the current frame: bake its motion "
            "into keys (Object > Animation > Bake Action)") if object_courses.is_animated(owner) else ""


def _still(target: bpy.types.Object, kind: str, matrix: FloatArray) -> ScenePlace | ScenePath:
    """Return what an object is in its own axes; matrix: (3, 4) from these. Raises TaktError where it is nothing."""
    if kind == "path":
        points = points_along(cast(bpy.types.Curve, target.data))
        if len(points) < 2:  # a way has a beginning and an end
            raise TaktError(f"the curve {quoted(target.name)} has {len(points) or 'no'} point{'s' * (not len(points))} "
                            "in its first spline, expected two at least: draw it in Edit Mode")
        if not np.isfinite(points).all():
            raise TaktError(f"the curve {quoted(target.name)} has a point that is not finite: delete it in Edit Mode")
        return ScenePath(tuple(map(_point, points)))
    if kind == "place" and not np.linalg.norm(matrix[:, :3] @ _AHEAD) > _NO_LENGTH:
        raise TaktError(f"{quoted(target.name)} is scaled to nothing, so it faces nowhere: clear its scale (Alt S), or "
                        "that of its parent")
    return ScenePlace((0.0, 0.0, 0.0), _point(_AHEAD))


def _placed(still: ScenePlace | ScenePath, matrix: FloatArray, head: FloatArray | None,
            note: str) -> ScenePlace | ScenePath:
    """Return the same in the model; matrix: (4, 4)."""
    if isinstance(still, ScenePath):
        return ScenePath(tuple(map(_point, np.array(still.points) @ matrix[:3, :3].T + matrix[:3, 3])), note)
    ahead = matrix[:3, :3] @ _AHEAD
    size = float(np.linalg.norm(ahead))
    return ScenePlace(_point(matrix[:3, 3]), _point(ahead / size if size > _NO_LENGTH else _AHEAD),
                      None if head is None else _point(head), note)


def _point(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (values.round(_DIGITS) + 0.0).tolist()
    return x, y, z
