"""Tweaks in a character's motion: as drawn, and as the score's Action has to hold it below them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final, NamedTuple

import bpy
import numpy as np

from ...core.playing.differences import Differences
from ...core.playing.motion import Motion
from ...core.playing.tweaked import below_feet, of_followed, tweaked, without_layers
from .. import properties
from ..actions import curves
from ..actions.action_users import strips_of
from ..frame_rate import frames_per_second
from ..scores import score
from .tweaks import checksum, has_tweaks, layers_of

_MOST_SHOWN: Final = 2
"""Motions cached per character: the one it plays, and one to compare."""
_Layers = tuple[tuple[Differences, ...], ...]


class _Shown(NamedTuple):
    """A motion with tweaks. layers: those before foot lock, and those after it."""

    motion: Motion
    layers: _Layers
    tweaked: Motion

    def has(self, layers: _Layers) -> bool:
        """Return whether these are its layers."""
        return [*map(len, layers)] == [*map(len, self.layers)] and all(
            one.is_like(other) for some, others in zip(layers, self.layers, strict=True)
            for one, other in zip(some, others, strict=True))


_shown: dict[int, list[_Shown]] = {}
"""Last motions shown, by the session_uid of the armature's object, so that their caches survive."""
_digests: dict[int, tuple[Motion, tuple[object, ...], str]] = {}
"""Last results of `digest` and what they were computed from, likewise."""


def below(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion,
          read: Mapping[str, bpy.types.Action] | None = None) -> Motion:
    """Return the motion for the score's Action: Blender adds the tweaks to it and shows the tweaked motion.

    read: Actions to read in place of those of the tweaks, by the full names of these.
    """
    parts, last = _parts(armature_object, scene, motion, read or {})
    return without_layers(tweaked(motion, parts, last), (*parts, *last)) if parts or last else motion


def _parts(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion,
           read: Mapping[str, bpy.types.Action]) -> _Layers:
    """Return the differences of layers that change what is below them: those before foot lock, and those after it."""
    return (below_feet(motion, _differences(armature_object, scene, motion, read, are_last=False)),
            of_followed(motion, _differences(armature_object, scene, motion, read, are_last=True)))


def shown(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> Motion:
    """Return a motion with a character's tweaks, as drawn; the same value while motion and tweaks are the same."""
    if not has_tweaks(armature_object):
        return motion
    layers = tuple(tuple(_differences(armature_object, scene, motion, {}, are_last=last)) for last in (False, True))
    known = _shown.get(armature_object.session_uid, [])
    found = next((each for each in known if each.motion is motion and each.has(layers)), None)
    if found is None:
        found = _Shown(motion, layers, tweaked(motion, *layers))
        _shown[armature_object.session_uid] = [found, *known[:_MOST_SHOWN - 1]]
    return found.tweaked


def digest(armature_object: bpy.types.Object) -> str:
    """Return a value that changes if tweaks change the score's Action below them; "" if they do not affect it."""
    known, scene, uid = score.known_performance(armature_object), bpy.context.scene, armature_object.session_uid
    if known is None or known.motion is None or scene is None or not has_tweaks(armature_object):
        return ""
    weights = [influence(armature_object, action) for _, action in layers_of(armature_object)]
    seen = known.motion, (checksum(armature_object), tuple(weights), properties.character(armature_object).frame_start)
    last = _digests.get(uid)
    if last is None or last[0] is not seen[0] or last[1] != seen[1]:
        _digests[uid] = last = *seen, _digest(armature_object, scene, known.motion)
    return last[2]


def _digest(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion) -> str:
    first, last = _parts(armature_object, scene, motion, {})
    parts, found = (*first, *last), 0
    for part in parts:
        for tracks in (part.rotations, part.translations, part.scales):
            found = zlib.crc32(tracks.times_s.tobytes() + tracks.values.tobytes() + tracks.joints.tobytes(), found)
        found = zlib.crc32(part.weights.tobytes(), found)
    return f"{found:08x}" if parts else ""


def _differences(armature_object: bpy.types.Object, scene: bpy.types.Scene, motion: Motion,
                 read: Mapping[str, bpy.types.Action], *, are_last: bool) -> list[Differences]:
    """Return what the active layers add to a motion."""
    found = []
    for layer, action in layers_of(armature_object):
        weight = influence(armature_object, action)
        if layer.is_last == are_last and weight > 0.0:
            tracks = curves.tracks_of(read.get(action.name_full, action), armature_object, motion.skeleton,
                                      frames_per_second(scene), properties.character(armature_object).frame_start)
            found.append(Differences(*tracks, np.full(len(motion.skeleton), weight)))
    return found


def influence(armature_object: bpy.types.Object, action: bpy.types.Action) -> float:
    """Return the influence of an Action of tweaks, 0 to 1: as assigned, or as its NLA strip says.

    While an NLA track is solo, only that track counts, as in Blender; the assigned Action does not.
    """
    animation = armature_object.animation_data
    if animation is None:
        return 0.0
    alone = [track for track in animation.nla_tracks if track.is_solo] if animation.use_nla else []
    if alone:
        found = [strip.influence for track in alone for strip in track.strips
                 if strip.action == action and not (strip.mute or track.mute)]
        return float(found[-1]) if found else 0.0
    if animation.action == action and not animation.use_tweak_mode:
        return float(animation.action_influence)
    strips = [strip for strip in strips_of(animation, are_heard=True) if strip.action == action]
    return float(strips[-1].influence) if strips and animation.use_nla else 0.0


def register() -> None:
    """Draw motions with tweaks."""
    score.show_with(_as_drawn)


def unregister() -> None:
    """Draw motions without tweaks."""
    score.show_with(None)
    _shown.clear()
    _digests.clear()


def _as_drawn(armature_object: bpy.types.Object, motion: Motion) -> Motion:
    scene = bpy.context.scene
    return motion if scene is None else shown(armature_object, scene, motion)
