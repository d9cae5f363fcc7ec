"""Tweaks of a character: Actions above the score's, in which an animator's keys are differences tied to the music.

Blender itself combines them: the score's Action lies in an NLA strip, and the Action of the tweaks is assigned above it
with *Combine*. So a key that is set (I, Auto Keying) is stored there as a difference, the pose is seen at once, and all
of Blender's tools work on it. Takt moves the keys in time: each is tied to a moment of the music
(core/playing/ties.py), and moves there whenever the score's Action is written.

Foot lock changes the pose under a tweak. The score's Action holds the tweaked motion after foot lock, minus the tweak.
If no tweak affects the feet, it is the score's motion unchanged.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, cast

import bpy
import numpy as np

from ...core.errors import TaktError, some_of
from ...core.playing.moments import Timeline
from ...core.playing.motion import Motion
from ...core.playing.repeats import over_named
from .. import changes, properties, versions
from ..actions.action_users import object_slot, strips_of
from ..frame_rate import frames_per_second
from ..scores import element_history, score
from . import tweak_controls, tweak_curves, tweak_masks, tweak_placing
from .tweak_controls import bones_of
from .tweak_layout import Layout
from .tweak_placing import bag_of, has_untied_keys, layout_of, place

_Layer = properties.TaktTweaks
_SETTINGS = ("ease_in", "ease_out", "holds", "is_last", "procedure", "body")
"""Settings of a layer that change where keys are, or what they do."""
_NAMES_SHOWN = 6
_ADDED_OTHERWISE = {"ADD", "SUBTRACT", "MULTIPLY"}
"""Blending of Actions and strips in which a quaternion is no turn from the pose below."""
_State = tuple[object, ...]
_Known = defaultdict[int, dict[tuple[str, int], tweak_curves.Seen]]
"""What was just read of curves, by the session_uid of their Action, and by data path and index."""


_seen: dict[int, _State] = {}
"""What `look` last saw of a character, by the session_uid of the armature's object."""
_problems: dict[int, str] = {}
"""Why the tweaks of a character cannot be moved, likewise."""


_timelines: dict[int, tuple[Motion, Timeline]] = {}
"""The blocks of the motion by which keys were last placed, likewise."""


def layers_of(armature_object: bpy.types.Object) -> Iterator[tuple[_Layer, bpy.types.Action]]:
    """Yield the layers of tweaks that have an Action, the lowest first."""
    for layer in properties.character(armature_object).tweaks:
        if layer.action is not None:
            yield layer, layer.action


def has_tweaks(armature_object: bpy.types.Object) -> bool:
    """Return whether a character has any layer of tweaks."""
    return any(True for _ in layers_of(armature_object))


def problem(armature_object: bpy.types.Object) -> str:
    """Return why the tweaks of a character do not move with its score, "" if they do."""
    found = _problems.get(armature_object.session_uid, "")
    return found or next(filter(None, (why(armature_object, action) for _, action in layers_of(armature_object)
                                       for why in (_why_at_other_frames, _why_added_otherwise, _why_sampled))), "")


# In time


def go_along(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> None:
    """Move the keys of all tweaks to their moments in a motion; keys of blocks that are gone wait."""
    _take_single_user_copies(armature_object)
    if has_tweaks(armature_object):
        _place_all(armature_object, scene, motion)


def look(armature_object: bpy.types.Object, scene: bpy.types.Scene) -> None:
    """Tie new keys, ease them, and correct keys that undo has brought back with another layout.

    Only while the score's Action matches the score.
    """
    known: _Known = defaultdict(dict)
    _take_single_user_copies(armature_object)
    if not has_tweaks(armature_object) or _state(armature_object, known) == _seen.get(armature_object.session_uid):
        return
    motion = score.motion_of(armature_object)
    if motion is not None:
        _place_all(armature_object, scene, motion, known)
        changes.score()


def tie(armature_object: bpy.types.Object, scene: bpy.types.Scene, *, is_older: bool) -> None:
    """Tie new keys, and leave all keys where they are.

    is_older: whether the score's Action belongs to an older score. Then keys whose layout is unknown stay untied.
    """
    _take_single_user_copies(armature_object)
    if not has_tweaks(armature_object) or _state(armature_object) == _seen.get(armature_object.session_uid):
        return
    for layer, action in layers_of(armature_object):
        with suppress(TaktError):  # `look` reports it
            if why_it_stays(armature_object, action) or not has_untied_keys(action):
                continue
            layout = layout_of(action)
            motion = None if layout is not None or is_older else score.motion_of(armature_object)
            layout = layout if motion is None else layout_in(armature_object, scene, motion)
            if layout is not None:
                place(layer, action, layout)
    _seen[armature_object.session_uid] = _state(armature_object)


def layout_in(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> Layout:
    """Return when the blocks of a character's motion play."""
    uid = armature_object.session_uid
    if uid not in _timelines or _timelines[uid][0] is not motion:
        _timelines[uid] = motion, Timeline.of(motion)
    return Layout(_timelines[uid][1], properties.character(armature_object).frame_start, frames_per_second(scene))


def _state(armature_object: bpy.types.Object, known: _Known | None = None) -> _State:
    """Return a value that stays equal while no key is set or moved, and keys and score's Action share a layout."""
    own = properties.character(armature_object).action
    return (checksum(armature_object, known), *((action.session_uid, action.is_editable, getattr(
        action, properties.PLACED_BY)) for _, action in layers_of(armature_object)),
            "" if own is None else getattr(own, properties.MADE_FROM))


def _place_all(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion,
               known: _Known | None = None) -> None:
    """Move the keys of all tweaks. known: what was just read of the curves."""
    known = defaultdict(dict) if known is None else known
    found, now = "", layout_in(armature_object, scene, motion)
    for layer, action in layers_of(armature_object):
        reason = why_it_stays(armature_object, action)
        if not reason:
            try:
                place(layer, action, now, known[action.session_uid])
                tweak_masks.apply(layer, action, motion)
                reason = (_why_nowhere(layer, now) or _why_of_nobody(armature_object, action)
                          or tweak_controls.why_unheard(armature_object, action, motion))
            except TaktError as error:
                reason = f"{action.name}: {error}"
        found = found or reason
        _let_strips_reach(armature_object, action, now)
    _problems[armature_object.session_uid] = found
    _seen[armature_object.session_uid] = _state(armature_object, known)


def _why_nowhere(layer: _Layer, now: Layout) -> str:
    """Return why the keys of a layer are in no call of its procedure, "" if they are, or if it has none."""
    document = now.timeline.sequence.origins.places.documents[0]
    if not layer.procedure or over_named(document, layer.procedure) is not None:
        return ""
    names = some_of(tuple(procedure.name for procedure in document.procedures), _NAMES_SHOWN)
    return f"{layer.name}: the score has no procedure '{layer.procedure}', expected one of {names}, or none"


def _why_of_nobody(armature_object: bpy.types.Object, action: bpy.types.Action) -> str:
    """Return which keyed bones the rig lacks, and what to do; "" if it has all."""
    pose = armature_object.pose
    missing = () if pose is None else tuple(name for name in bones_of(action) if name not in pose.bones)
    return "" if not missing else (
        f"'{action.name}' has keys of bones that '{armature_object.name}' has not, {some_of(missing, _NAMES_SHOWN)}: "
        "they are kept, and move nothing; rename bones, or remove these keys")


def _why_at_other_frames(armature_object: bpy.types.Object, action: bpy.types.Action) -> str:
    """Return which strip plays tweaks at other frames than their ties say, and what to do; "" if none does."""
    animation = armature_object.animation_data
    if animation is None or animation.action == action:
        return ""
    strips = [strip for strip in strips_of(animation, are_heard=True) if strip.action == action]
    if not strips or any(_is_in_place(strip) for strip in strips):
        return ""
    start = strips[0].action_frame_start
    return (f"'{action.name}' was moved in the NLA, so its tweaks play at other frames than the score has them: set "
            f"its strip's start to {start:.5g}, and its scale and repeat to 1")


def _why_added_otherwise(armature_object: bpy.types.Object, action: bpy.types.Action) -> str:
    """Return why preview and Bake differ from what Blender shows of a layer, and what to do; "" if they do not."""
    animation = armature_object.animation_data
    if animation is None:
        return ""
    strips = [strip.blend_type for strip in strips_of(animation, are_heard=True) if strip.action == action]
    if not _ADDED_OTHERWISE & {animation.action_blend_type if animation.action == action else "", *strips}:
        return ""
    return (f"'{action.name}' has a blend mode that the preview and Bake ignore: set its Blending to Combine (NLA, "
            "sidebar)")


def _why_sampled(_: bpy.types.Object, action: bpy.types.Action) -> str:
    """Return why curves that were converted to samples do not move, and what to do; "" if there are none."""
    bag = bag_of(action)
    if bag is None or not any(len(curve.sampled_points) for curve in bag.fcurves):
        return ""
    return (f"'{action.name}' has curves of samples, which neither follow the score nor are saved: convert them back "
            "(Graph Editor, Key > Samples to Keys)")


def _is_in_place(strip: bpy.types.NlaStrip) -> bool:
    return strip.scale == 1.0 and strip.repeat == 1.0 and strip.frame_start == strip.action_frame_start


def _let_strips_reach(armature_object: bpy.types.Object, action: bpy.types.Action, now: Layout) -> None:
    """Extend strips that play an Action of tweaks frame by frame to the score's length."""
    animation = armature_object.animation_data
    end = now.frame_start + now.timeline.times(np.array((len(now.timeline) - 1,)), np.ones(1))[0] * now.fps
    first, last = min(float(now.frame_start), action.frame_range[0]), max(float(end), action.frame_range[1])
    for strip in () if animation is None else strips_of(animation):
        if strip.action == action and _is_in_place(strip) and (strip.frame_start, strip.frame_end) != (first, last):
            strip.action_frame_start, strip.frame_start = first, first
            strip.action_frame_end = last


def why_it_stays(armature_object: bpy.types.Object, action: bpy.types.Action) -> str:
    """Return why the keys of an Action of tweaks cannot be moved for a character, "" if they can."""
    if not action.is_editable:
        return f"'{action.name}' is linked, so its keys stay where they are: make it local first (Object > Relations)"
    first = next((ob for ob in bpy.data.objects if ob.type == "ARMATURE"
                  and any(each == action for _, each in layers_of(ob))), armature_object)
    if first != armature_object:
        return (f"'{action.name}' holds the tweaks of '{first.name}' too: make it single-user (the number beside its "
                "name in the Action editor)")
    return ""


def _take_single_user_copies(armature_object: bpy.types.Object) -> None:
    """If the user made a shared Action of tweaks single-user, give its layer the copy."""
    animation, layers = armature_object.animation_data, [*layers_of(armature_object)]
    if animation is None or not layers:
        return
    played = [action for action in (animation.action, *(strip.action for strip in strips_of(animation)))
              if action is not None and getattr(action, properties.OF_TWEAKS)]
    copies = [action for action in dict.fromkeys(played) if all(action != own for _, own in layers)]
    shared = [layer for layer, own in layers if own not in played and own.is_editable
              and why_it_stays(armature_object, own)] if copies else []
    if len(copies) == len(shared) == 1:
        shared[0].action = copies[0]
        shared[0].name = copies[0].name


def checksum(armature_object: bpy.types.Object, known: _Known | None = None) -> int:
    """Return a checksum of a character's tweaks: their keys, and how they are eased.

    known: what was just read of curves; what is read of all others is added.
    """
    found, known = 0, defaultdict(dict) if known is None else known
    for layer, action in layers_of(armature_object):
        found = zlib.crc32(repr([getattr(layer, name) for name in _SETTINGS]).encode(), found)
        bag, seen = bag_of(action), known[action.session_uid]
        for curve in () if bag is None else bag.fcurves:
            path = curve.data_path
            which = path, curve.array_index
            if which not in seen:  # over a procedure, handles are copied too
                seen[which] = tweak_curves.seen(curve.keyframe_points, has_handles=bool(layer.procedure))
            found = zlib.crc32(f"{seen[which].checksum} {path}{curve.mute}".encode(), found)
    return found


# Layers


def begin(armature_object: bpy.types.Object, name: str) -> bpy.types.Action:
    """Push the score's Action, and what is assigned above it, into the NLA, and assign a new Action of tweaks."""
    animation, character = armature_object.animation_data, properties.character(armature_object)
    assert animation is not None and character.action is not None
    push_down(armature_object)
    names = (name, *(f"{name}.{number:03}" for number in range(1, len(bpy.data.actions) + len(character.tweaks) + 2)))
    taken = {layer.name for layer in character.tweaks} | {each.name for each in bpy.data.actions}
    action = bpy.data.actions.new(next(each for each in names if each not in taken))
    slot = action.slots.new(id_type="OBJECT", name=armature_object.name)
    versions.ensure_channelbag(action, slot)
    setattr(action, properties.OF_TWEAKS, True)
    layer = character.tweaks.add()
    layer.name, layer.action = action.name, action
    character.tweaks_index = len(character.tweaks) - 1
    assign(armature_object, action)
    return action


def assign(armature_object: bpy.types.Object, action: bpy.types.Action) -> None:
    """Make new keys go into an Action of tweaks."""
    animation = armature_object.animation_data
    assert animation is not None
    animation.action, animation.action_slot = action, object_slot(action)
    animation.action_blend_type, animation.action_influence, animation.action_extrapolation = "COMBINE", 1.0, "HOLD"
    animation.use_nla = True


def chosen_silent(armature_object: bpy.types.Object) -> bpy.types.Action | None:
    """Return the layer that is chosen in the panel, if it is neither assigned nor in a strip, None otherwise."""
    animation, character = armature_object.animation_data, properties.character(armature_object)
    if not 0 <= character.tweaks_index < len(character.tweaks):
        return None
    action = character.tweaks[character.tweaks_index].action
    is_assigned = animation is not None and animation.action == action
    return None if action is None or is_assigned or is_in_strip(armature_object, action) else action


def is_in_strip(armature_object: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Return whether an Action of tweaks lies in an NLA strip."""
    animation = armature_object.animation_data
    return animation is not None and any(strip.action == action for strip in strips_of(animation))


def track_of(armature_object: bpy.types.Object, action: bpy.types.Action | None) -> bpy.types.NlaTrack | None:
    """Return the uppermost track of the NLA with a strip that plays an Action of tweaks; None if there is none."""
    animation = armature_object.animation_data
    if animation is None or action is None or animation.action == action:
        return None
    return next((track for track in reversed(animation.nla_tracks) if any(strip.action == action for strip in
                                                                          track.strips)), None)


def push_down(armature_object: bpy.types.Object) -> None:
    """Push the assigned Action into an NLA track of its own, above all others, with its current blending."""
    animation = armature_object.animation_data
    if animation is not None and animation.use_tweak_mode:
        animation.use_tweak_mode = False
    action = None if animation is None else animation.action
    if animation is None or action is None:
        return
    track = animation.nla_tracks.new()
    track.name = action.name
    start, slot = action.frame_range[0], animation.action_slot
    strip = track.strips.new(action.name, int(start), action)
    strip.blend_type, strip.influence = animation.action_blend_type, animation.action_influence
    strip.extrapolation = cast(Any, animation.action_extrapolation)
    if slot is not None:
        strip.action_slot = slot
    strip.action_frame_start, strip.frame_start = start, start
    animation.action = None


def forget() -> None:
    """Clear all caches."""
    for kept in (_seen, _problems, _timelines):
        kept.clear()
    tweak_placing.forget()
    element_history.forget()
