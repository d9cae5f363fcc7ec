"""Takt's Action in a strip of the NLA, below an Action that the animator has assigned.

So animators can layer: the score's Action lies in a track, and their own Action above it, usually with *Combine*. The
Action in the strip follows the score like an assigned one, and the Action above it stays unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import bpy

from .. import properties
from .action_users import object_slot, strips_of

TRACK: Final = "Takt"
"""The name of the track that Rebuild makes where an Action of the animator's is assigned."""
_SAME_FRAME = 1e-3


def has_own_action(armature_object: bpy.types.Object) -> bool:
    """Return whether an armature has an Action that Takt did not make; false while a strip is in tweak mode."""
    animation = armature_object.animation_data
    if animation is None or animation.action is None or animation.use_tweak_mode:
        return False
    assigned = animation.action
    is_of_takt = getattr(assigned, properties.OF_SCORE) or getattr(assigned, properties.KEYS_WRITTEN)
    return assigned != properties.character(armature_object).action and not is_of_takt


def plays_below(armature_object: bpy.types.Object) -> bool:
    """Return whether an unmuted strip plays Takt's Action of the score below an Action of the animator's.

    If the character has tweaks, this also holds while none of their layers is assigned.
    """
    action, animation = properties.character(armature_object).action, armature_object.animation_data
    if action is None or animation is None or animation.use_tweak_mode:
        return False
    has_tweaks = any(layer.action is not None for layer in properties.character(armature_object).tweaks)
    if not (has_own_action(armature_object) or (has_tweaks and animation.action is None)):
        return False
    return any(strip.action == action for strip in strips_of(animation, are_heard=True))


def plays_below_tweaks(armature_object: bpy.types.Object) -> bool:
    """Return whether a strip plays Takt's Action of the score, with nothing assigned above it but a layer of tweaks."""
    animation = armature_object.animation_data
    if animation is None or not plays_below(armature_object):
        return False
    return animation.action is None or any(layer.action == animation.action
                                           for layer in properties.character(armature_object).tweaks)


def is_own_action_assigned(armature_object: bpy.types.Object) -> bool:
    """Return whether the armature plays the Action that Takt made for it, or has neither.

    While an NLA strip is in tweak mode, only that strip plays its Action.
    """
    animation = armature_object.animation_data
    assigned = None if animation is None else animation.action
    is_tweaked = animation is not None and animation.use_tweak_mode
    return assigned == properties.character(armature_object).action and not is_tweaked


def is_score_heard(armature_object: bpy.types.Object) -> bool:
    """Return whether the armature plays Takt's Action, or has none yet, also below an Action of the animator's."""
    return is_own_action_assigned(armature_object) or plays_below(armature_object)


class Below(NamedTuple):
    """Strips that play Takt's Action, and for each whether it plays all of it; taken before the Action is written."""

    strips: list[bpy.types.NlaStrip]
    are_whole: list[bool]

    @classmethod
    def of(cls, armature_object: bpy.types.Object, action: bpy.types.Action | None) -> Below:
        """Return the armature's strips that play an Action."""
        animation = armature_object.animation_data
        if animation is None or action is None:
            return cls([], [])
        found, end = [strip for strip in strips_of(animation) if strip.action == action], action.frame_range[1]
        return cls(found, [abs(strip.action_frame_end - end) < _SAME_FRAME for strip in found])

    def play(self, armature_object: bpy.types.Object, action: bpy.types.Action, last_frame: float) -> bool:
        """Let the strips play the written Action, whole ones to its last frame; return whether there are any.

        A track is made if the NLA is empty. Otherwise nothing can be put below the animator's own tracks.
        An override cannot change its library's tracks, so copies of them are added above.
        """
        slot, animation = object_slot(action), armature_object.animation_data
        assert slot is not None and animation is not None
        if not self.strips and (emptied := _emptied(armature_object)) is not None:
            return Below([emptied], [True]).play(armature_object, action, last_frame)
        # Tracks of an appended character say that they are an override's, too.
        if armature_object.override_library is not None and any(
                track.is_override_data and strip in self.strips for track in animation.nla_tracks
                for strip in track.strips):
            _play_again(animation, self.strips, action, last_frame)
            return True
        for strip, is_whole in zip(self.strips, self.are_whole, strict=True):
            if strip.action != action:
                strip.action, strip.action_slot = action, slot
            if is_whole:
                strip.action_frame_end = last_frame
        if self.strips or len(animation.nla_tracks):
            return bool(self.strips)
        track = animation.nla_tracks.new()
        track.name = TRACK
        strip = track.strips.new(action.name, int(action.frame_range[0]), action)
        strip.action_slot, strip.action_frame_end = slot, last_frame
        return True


def _emptied(armature_object: bpy.types.Object) -> bpy.types.NlaStrip | None:
    """Return Takt's strip whose Action was deleted: the lowest without an Action, below tweaks or in Takt's track."""
    animation, has_tweaks = armature_object.animation_data, bool(properties.character(armature_object).tweaks)
    assert animation is not None
    return next((strip for track in animation.nla_tracks if has_tweaks or track.name == TRACK for strip in track.strips
                 if strip.type == "CLIP" and strip.action is None), None)


def _play_again(animation: bpy.types.AnimData, strips: Sequence[bpy.types.NlaStrip], action: bpy.types.Action,
                last_frame: float) -> None:
    """Copy the tracks from the first one with one of these strips on; the copies play another Action there."""
    tracks = list(animation.nla_tracks)
    first = next(number for number, track in enumerate(tracks) if any(strip in strips for strip in track.strips))
    for track in tracks[first:]:
        copy = animation.nla_tracks.new()
        copy.name, copy.mute = TRACK if track == tracks[first] else track.name, track.mute
        for strip in track.strips:
            is_own = strip in strips
            played = action if is_own else strip.action
            if played is None:
                continue
            made = copy.strips.new(strip.name, int(strip.frame_start), played)
            made.action_slot = object_slot(played)
            for name in ("blend_type", "influence", "extrapolation", "mute", "action_frame_start", "action_frame_end"):
                setattr(made, name, getattr(strip, name))
            if is_own:
                made.action_frame_end = last_frame
