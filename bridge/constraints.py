"""Constraints that move an armature's bones: which bones they move, and muting them while Takt's Action plays these.

While Blender has windows, a timer gives back what is muted for an Action that plays no longer (see following). Without
one no timer runs: then it is done before a frame is evaluated. Files are put right as they are opened and saved.
"""

from collections.abc import Collection, Iterable
from typing import Final

import bpy
from bpy.app import handlers

from . import properties, versions
from .armature import bone_property

_TRANSFORM = ("location", "scale", "rotation")
"""How the names of the properties begin that transform a bone."""
_BOUNDS = frozenset(("LIMIT_DISTANCE", "LIMIT_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE"))
"""Types that keep a bone within bounds, but do not move it."""

_BEFORE_EVALUATION: Final = (handlers.frame_change_pre, handlers.depsgraph_update_pre)


def controlled_bones(armature_object: bpy.types.Object, *, unmuted: bool = False) -> tuple[str, ...]:
    """Return the bones that constraints or drivers move, whatever is keyed.

    unmuted: also those that they would move if `mute` had not muted them.
    """
    assert armature_object.pose is not None
    muted = {(entry.bone, entry.name) for entry in properties.character(armature_object).muted if unmuted}
    controlled = {bone.name for owner in armature_object.pose.bones for constraint in owner.constraints
                  if _acts(constraint) or (owner.name, constraint.name) in muted for bone in _moved(owner, constraint)}
    animation = armature_object.animation_data
    for driver in animation.drivers if animation else ():
        found = bone_property(driver.data_path)
        if found is not None and found[1].startswith(_TRANSFORM):
            controlled.add(found[0])
    return tuple(bone.name for bone in armature_object.pose.bones if bone.name in controlled)


def mute(armature_object: bpy.types.Object, names: Collection[str], action: bpy.types.Action) -> int:
    """Mute the constraints that keep bones of these names from being played by an Action; return how many those are.

    Muted are constraints that move such a bone or one of its ancestors, and constraints that hold a descendant of it
    back: those that tie the descendant to a bone of the armature whose nearest played ancestor is another one.
    Constraints that only set bounds are left alone, and those muted before act again. What is muted is remembered with
    the armature, for `follow_action`.
    """
    assert armature_object.pose is not None
    unmute(armature_object)
    played = set(names)
    with_ancestors = {bone.name for name in played for own in (armature_object.pose.bones[name],)
                      for bone in (own, *own.parent_recursive)}
    nearest_played = {bone.name: next((own.name for own in (bone, *bone.parent_recursive) if own.name in played), "")
                      for bone in armature_object.pose.bones}

    def holds_back(owner: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> bool:
        nearest = nearest_played[owner.name]
        return nearest != "" and any(target == armature_object and nearest_played.get(name) != nearest
                                     for target, name in _targets(constraint))

    character = properties.character(armature_object)
    for owner in armature_object.pose.bones:
        for constraint in owner.constraints:
            if constraint.type not in _BOUNDS and _acts(constraint) and (
                    holds_back(owner, constraint)
                    or any(bone.name in with_ancestors for bone in _moved(owner, constraint))):
                constraint.mute = True
                entry = character.muted.add()
                entry.bone, entry.name = owner.name, constraint.name
    character.are_muted = bool(character.muted)
    setattr(action, properties.MUTES, character.are_muted)
    return len(character.muted)


def unmute(armature_object: bpy.types.Object) -> None:
    """Let all constraints act again that `mute` muted, and forget which those were."""
    character = properties.character(armature_object)
    if character.are_muted:
        _set(armature_object, is_muted=False)
    character.muted.clear()


def follow_action(armature_object: bpy.types.Object) -> None:
    """Let constraints act while another Action is assigned than those that they were muted for."""
    character = properties.character(armature_object)
    if character.muted and character.are_muted != _plays_muting(armature_object.animation_data):
        _set(armature_object, is_muted=not character.are_muted)


def register() -> None:
    """Begin to follow Actions where no timer does."""
    for when in (handlers.load_post, handlers.save_pre):
        when.append(_follow_in_file)
    for when in _BEFORE_EVALUATION if bpy.app.background else ():
        when.append(_follow_in_scene)


def unregister() -> None:
    """Follow no longer."""
    for when in (handlers.load_post, handlers.save_pre, *_BEFORE_EVALUATION):
        for handler in (_follow_in_file, _follow_in_scene):
            if handler in when:
                when.remove(handler)


@handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs do not say its type
def _follow_in_file(*_: object) -> None:
    _follow(bpy.data.objects)


@handlers.persistent  # type: ignore[untyped-decorator]  # Blender's stubs do not say its type
def _follow_in_scene(scene: bpy.types.Scene, *_: object) -> None:
    _follow(scene.objects)


def _follow(objects: Iterable[bpy.types.Object]) -> None:
    for ob in objects:
        # Asked for settings that it has not, an object would get some.
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


def _plays_muting(animation: bpy.types.AnimData | None) -> bool:
    """Tell whether an Action is assigned, or lies in the NLA, while which constraints are muted."""
    if animation is None:
        return False
    strips = [strip.action for track in animation.nla_tracks if not track.mute for strip in track.strips
              if not strip.mute]
    return any(action is not None and getattr(action, properties.MUTES) for action in (animation.action, *strips))


def _acts(constraint: bpy.types.Constraint) -> bool:
    return not constraint.mute and constraint.enabled and constraint.influence > 0.0


def _targets(constraint: bpy.types.Constraint) -> "list[tuple[bpy.types.Object | None, str]]":
    """Return the objects that a constraint looks at, each with the name of its bone."""
    if isinstance(constraint, bpy.types.ArmatureConstraint):
        return [(target.target, target.subtarget) for target in constraint.targets]
    return [(getattr(constraint, f"{kind}target", None), getattr(constraint, f"{kind}subtarget", ""))
            for kind in ("", "pole_")]


def _moved(owner: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> "list[bpy.types.PoseBone]":
    """Return the bones that a constraint moves: chains of IK reach up from their owner."""
    chain = [owner, *owner.parent_recursive]
    if isinstance(constraint, bpy.types.KinematicConstraint):
        first = 0 if constraint.use_tail else 1
        return chain[first:constraint.chain_count + first] if constraint.chain_count else chain[first:]
    if isinstance(constraint, bpy.types.SplineIKConstraint):
        return chain[:constraint.chain_count]
    return [owner]
