"""Users of an Action besides the armature for which it was made; an Action with other users must not change.

Other slots of an Action belong to other objects, such as a face: playing one of them is not a use.
"""

from collections.abc import Iterator

import bpy


def object_slot(action: bpy.types.Action) -> bpy.types.ActionSlot | None:
    """Return the slot of an Action for objects, None if it has none."""
    return next((slot for slot in action.slots if slot.target_id_type == "OBJECT"), None)


def is_used_elsewhere(action: bpy.types.Action, armature_object: bpy.types.Object, *,
                      may_lie_in_strips: bool = False) -> bool:
    """Return whether anything but its armature plays an Action that Takt made: strips, objects, constraints.

    The armature's own strips in the NLA count too, unless the Action may lie there: a user who pushes an Action down
    wants to keep it. A score that calls the Action as a clip does not count, since it follows.
    """
    animation, slot = armature_object.animation_data, object_slot(action)
    known = 1 + (animation is not None and animation.action == action)  # the character's own settings are one user
    if slot is None or action.users - action.use_fake_user <= known:
        return False
    return any(_plays(ob, action, slot, is_own=ob == armature_object,
                      are_strips_own=may_lie_in_strips and ob == armature_object) for ob in bpy.data.objects)


def is_pushed_down(action: bpy.types.Action, armature_object: bpy.types.Object) -> bool:
    """Return whether strips of the NLA play an Action, with no Action above them, or one of them is in tweak mode."""
    animation = armature_object.animation_data
    if animation is None or not (animation.action is None or animation.use_tweak_mode):
        return False
    return any(strip.action == action for strip in strips_of(animation, are_heard=True))


def strips_of(animation: bpy.types.AnimData, *, are_heard: bool = False) -> Iterator[bpy.types.NlaStrip]:
    """Yield strips, including nested ones; are_heard: only if neither they nor their tracks are muted."""
    for track in animation.nla_tracks:
        if not (are_heard and track.mute):
            waiting = list(track.strips)
            while waiting:
                strip = waiting.pop()
                if not (are_heard and strip.mute):
                    yield strip
                    waiting += strip.strips


def strips_end(ob: bpy.types.Object) -> float:
    """Return the last frame of an object's strips in the NLA, or 0 without any."""
    animation = ob.animation_data
    return 0.0 if animation is None else max((strip.frame_end for strip in strips_of(animation)), default=0.0)


def _plays(ob: bpy.types.Object, action: bpy.types.Action, slot: bpy.types.ActionSlot, *, is_own: bool,
           are_strips_own: bool) -> bool:
    animation = ob.animation_data
    if animation is not None:
        if not is_own and animation.action == action and animation.action_slot == slot:
            return True
        if not are_strips_own and any(strip.action == action and strip.action_slot == slot
                                      for strip in strips_of(animation)):
            return True
    bones = ob.pose.bones if ob.pose is not None else ()
    return any(isinstance(constraint, bpy.types.ActionConstraint) and constraint.action == action
               for owner in (ob, *bones) for constraint in owner.constraints)
