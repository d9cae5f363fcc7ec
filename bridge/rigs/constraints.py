"""Constraints that move an armature's bones, and muting them while Takt's Action plays these bones.

With a window, a timer unmutes constraints of an Action that no longer plays (see following). Without
a window, this is done before a frame is evaluated. Files are corrected when they are opened and saved.
"""

from collections.abc import Collection, Iterable
from typing import Final

import bpy
from bpy.app import handlers

from .. import properties, versions
from ..guard import guarded
from . import drivers

_BOUNDS = frozenset(("LIMIT_DISTANCE", "LIMIT_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE"))
"""Types that keep a bone within bounds, but do not move it."""

_Named = tuple[str, str]
"""A bone and one of its constraints, by their names."""
_BEFORE_EVALUATION: Final = (handlers.frame_change_pre, handlers.depsgraph_update_pre)


def controlled_bones(armature_object: bpy.types.Object, *, unmuted: bool = False) -> tuple[str, ...]:
    """Return the bones that constraints move, whatever is keyed.

    unmuted: include those with constraints that `mute` has muted.
    """
    assert armature_object.pose is not None
    muted = {(entry.bone, entry.name) for entry in properties.character(armature_object).muted if unmuted}
    controlled = {bone.name for owner in armature_object.pose.bones for constraint in owner.constraints
                  if _acts(constraint) or (owner.name, constraint.name) in muted for bone in _moved(owner, constraint)}
    return tuple(bone.name for bone in armature_object.pose.bones if bone.name in controlled)


def mute(armature_object: bpy.types.Object, names: Collection[str], action: bpy.types.Action) -> int:
    """Mute the constraints that keep these bones from playing an Action; return their number.

    These are constraints that move such a bone or one of its ancestors, and constraints that hold a descendant
    back: those that tie it to a bone of the armature whose nearest played ancestor is another one.
    Constraints that only set limits are left alone, as are those that a driver mutes or enables. So are all that the
    user has added since the first Action came, or has enabled again; those muted before are enabled. The muted ones are
    stored with the Action and with the armature, for `follow_action`.
    """
    _note_freed(armature_object)
    found = _to_mute(armature_object, names, action)
    unmute(armature_object)
    _remember(action, found)
    _mute_also(armature_object, found)
    return len(found)


def mute_once_played(armature_object: bpy.types.Object, names: Collection[str], action: bpy.types.Action) -> None:
    """Mute the constraints that `mute` mutes, but only once an Action starts to play."""
    _note_freed(armature_object)
    _remember(action, _to_mute(armature_object, names, action))


def forget_met(armature_object: bpy.types.Object) -> None:
    """Let the next Action consider all constraints again, including those that the user added."""
    character = properties.character(armature_object)
    character.met.clear()
    character.has_met = False


def unmute(armature_object: bpy.types.Object) -> None:
    """Enable all constraints that `mute` has muted, and clear the list of them."""
    character = properties.character(armature_object)
    if character.are_muted:
        _set(armature_object, is_muted=False)
    character.muted.clear()


def follow_action(armature_object: bpy.types.Object) -> None:
    """Mute exactly those constraints that prevent the current Actions from playing."""
    character = properties.character(armature_object)
    _note_freed(armature_object)
    wanted = _wanted(armature_object) - _freed(character)
    muted = _listed(character) if character.are_muted else set()
    if muted - wanted:
        _set(armature_object, is_muted=False)
        muted = set()
    new = [found for found in wanted - muted if _is_acting(armature_object, *found)]
    if new:
        if not character.are_muted:
            character.muted.clear()
        _mute_also(armature_object, new)


def register() -> None:
    """Register the handlers that replace the timer: on loading and saving, and without a window."""
    for when in (handlers.load_post, handlers.save_pre):
        when.append(_follow_in_file)
    for when in _BEFORE_EVALUATION if bpy.app.background else ():
        when.append(_follow_in_scene)


def unregister() -> None:
    """Unregister the handlers."""
    for when in (handlers.load_post, handlers.save_pre, *_BEFORE_EVALUATION):
        for handler in (_follow_in_file, _follow_in_scene):
            if handler in when:
                when.remove(handler)


@handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs do not say its type
@guarded(None)
def _follow_in_file(*_: object) -> None:
    _follow(bpy.data.objects)


@handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs do not say its type
@guarded(None)
def _follow_in_scene(scene: bpy.types.Scene, *_: object) -> None:
    _follow(scene.objects)


def _follow(objects: Iterable[bpy.types.Object]) -> None:
    for ob in objects:
        # Reading settings of an object without any would create them.
        if ob.type == "ARMATURE" and ob.pose is not None and versions.saved_settings(ob, properties.NAME) is not None:
            follow_action(ob)


def _set(armature_object: bpy.types.Object, *, is_muted: bool) -> None:
    assert armature_object.pose is not None
    character = properties.character(armature_object)
    for entry in character.muted:
        bone = armature_object.pose.bones.get(entry.bone)
        constraint = bone.constraints.get(entry.name) if bone else None
        if constraint is not None:
            constraint.mute = is_muted
    character.are_muted = is_muted


def _to_mute(armature_object: bpy.types.Object, names: Collection[str], action: bpy.types.Action) -> list[_Named]:
    """Return the constraints that may be muted for an Action; for the first Action all of them are considered.

    In a file in which Takt muted some before it stored which it had considered, these count as the considered ones.
    """
    assert armature_object.pose is not None
    character = properties.character(armature_object)
    if names and not character.has_met:
        has_muted = bool(getattr(action, properties.MUTES) or character.muted)
        known = _told(action) | _listed(character) if has_muted else {
            (bone.name, constraint.name) for bone in armature_object.pose.bones for constraint in bone.constraints}
        for bone, name in sorted(known):
            entry = character.met.add()
            entry.bone, entry.name = bone, name
        character.has_met = True
    met = {(entry.bone, entry.name) for entry in character.met if not entry.is_free}
    return [each for each in _in_the_way(armature_object, names) if each in met]


def _note_freed(armature_object: bpy.types.Object) -> None:
    """Store which muted constraints the user has enabled again."""
    character = properties.character(armature_object)
    freed = {(entry.bone, entry.name) for entry in character.muted
             if character.are_muted and _is_acting(armature_object, entry.bone, entry.name)}
    if not freed:
        return
    for entry in character.met:
        if (entry.bone, entry.name) in freed:
            entry.is_free = True
    for bone, name in freed - _freed(character):
        entry = character.met.add()
        entry.bone, entry.name, entry.is_free = bone, name, True
    for at in reversed(range(len(character.muted))):
        if (character.muted[at].bone, character.muted[at].name) in freed:
            character.muted.remove(at)


def _freed(character: properties.TaktCharacter) -> set[_Named]:
    return {(entry.bone, entry.name) for entry in character.met if entry.is_free}


def _in_the_way(armature_object: bpy.types.Object, names: Collection[str]) -> list[_Named]:
    """Return the constraints that keep these bones from being played, even if muted for another Action; see mute."""
    assert armature_object.pose is not None
    played = set(names)
    with_ancestors = {bone.name for name in played for own in (armature_object.pose.bones[name],)
                      for bone in (own, *own.parent_recursive)}
    nearest_played = {bone.name: next((own.name for own in (bone, *bone.parent_recursive) if own.name in played), "")
                      for bone in armature_object.pose.bones}
    character = properties.character(armature_object)
    muted = _listed(character) if character.are_muted else set()
    driven = drivers.driven_paths(armature_object)

    def holds_back(owner: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> bool:
        nearest = nearest_played[owner.name]
        return nearest != "" and any(target == armature_object and nearest_played.get(name) != nearest
                                     for target, name in _targets(constraint))

    return [(owner.name, constraint.name) for owner in armature_object.pose.bones for constraint in owner.constraints
            if constraint.type not in _BOUNDS and (_acts(constraint) or (owner.name, constraint.name) in muted)
            and (holds_back(owner, constraint)
                 or any(bone.name in with_ancestors for bone in _moved(owner, constraint)))
            and not drivers.is_muted_by(driven, constraint)]


def _remember(action: bpy.types.Action, found: Collection[_Named]) -> None:
    """Store with an Action the constraints to mute while it plays."""
    setattr(action, properties.MUTES, bool(found))
    setattr(action, properties.MUTED, "\n".join("\t".join(each) for each in found))


def _mute_also(armature_object: bpy.types.Object, found: Collection[_Named]) -> None:
    """Add constraints to the list of muted ones."""
    character = properties.character(armature_object)
    for bone, name in found:
        entry = character.muted.add()
        entry.bone, entry.name = bone, name
    _set(armature_object, is_muted=bool(character.muted))


def _listed(character: properties.TaktCharacter) -> set[_Named]:
    return {(entry.bone, entry.name) for entry in character.muted}


def _is_acting(armature_object: bpy.types.Object, bone: str, name: str) -> bool:
    assert armature_object.pose is not None
    owner = armature_object.pose.bones.get(bone)
    constraint = None if owner is None else owner.constraints.get(name)
    return constraint is not None and not constraint.mute


def _wanted(armature_object: bpy.types.Object) -> set[_Named]:
    """Return the constraints to mute for the Actions that are assigned or in the NLA.

    Actions of older files only say that there are some; these are in the armature's list.
    """
    animation = armature_object.animation_data
    if animation is None:
        return set()
    strips = [strip.action for track in animation.nla_tracks if not track.mute for strip in track.strips
              if not strip.mute]
    found = set[_Named]()
    for action in (animation.action, *strips):
        if action is not None and getattr(action, properties.MUTES):
            found |= _told(action) or _listed(properties.character(armature_object))
    return found


def _told(action: bpy.types.Action) -> set[_Named]:
    """Return the constraints that an Action stores as muted while it plays."""
    told = str(getattr(action, properties.MUTED))
    return {(bone, name) for bone, _, name in (line.partition("\t") for line in told.split("\n"))} if told else set()


def _acts(constraint: bpy.types.Constraint) -> bool:
    return not constraint.mute and constraint.enabled and constraint.influence > 0.0


def _targets(constraint: bpy.types.Constraint) -> "list[tuple[bpy.types.Object | None, str]]":
    """Return the target objects of a constraint, each with the name of its bone."""
    if isinstance(constraint, bpy.types.ArmatureConstraint):
        return [(target.target, target.subtarget) for target in constraint.targets]
    return [(getattr(constraint, f"{kind}target", None), getattr(constraint, f"{kind}subtarget", ""))
            for kind in ("", "pole_")]


def _moved(owner: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> "list[bpy.types.PoseBone]":
    """Return the bones that a constraint moves; for IK the chain above its owner."""
    chain = [owner, *owner.parent_recursive]
    if isinstance(constraint, bpy.types.KinematicConstraint):
        first = 0 if constraint.use_tail else 1
        return chain[first:constraint.chain_count + first] if constraint.chain_count else chain[first:]
    if isinstance(constraint, bpy.types.SplineIKConstraint):
        return chain[:constraint.chain_count]
    return [owner]
