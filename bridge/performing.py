"""Performing: the score kept with an armature made into a motion of its skeleton, and all that this depends on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ..core.clips.clip import Clip
from ..core.errors import TaktError
from ..core.library.library import FindClips, Library
from ..core.maths import rotations as rot
from ..core.pha.document import parse
from ..core.pha.programme import Programme, resolve
from ..core.playing.motion import Motion
from ..core.playing.score import Settings, play
from ..core.retargeting.bvh_space import BvhSpace
from ..core.skeletons.maps import SavedMap
from . import armature, axes, clips, joint_map, libraries, limits, properties
from .clip_store import CLIPS


@dataclass(frozen=True, eq=False)
class Performance:
    """The result of performing a score: the motion, or the error that prevented it.

    actions: the names of the Actions that the score plays.
    """

    motion: Motion | None
    error: TaktError | None = None
    actions: frozenset[str] = frozenset()


_MAX_PROGRAMMES = 16
_programmes: OrderedDict[tuple[Hashable, ...], tuple[Programme, Library]] = OrderedDict()
"""Resolved scores, by all that they depend on but the files, which count as unchanged until `look_at_files`."""
_TILT_DIGITS = 4
_values = attrgetter(*properties.SETTING_NAMES)
_SETTINGS = frozenset(field.name for field in fields(Settings))
_UP = np.array((0.0, 1.0, 0.0))
"""Up, in H-Anim's axes."""


def perform_score(text: str, filepath: str, settings: properties.ScoreSettings, armature_object: bpy.types.Object,
                  instead: Mapping[str, object] | None = None) -> Performance:
    """Make the motion that a score means for an armature.

    filepath: where the score came from, "" where it was written in Blender.
    instead: settings that count instead of those given.
    Raises TaktError, with every problem and its line, where the score cannot be played.
    """
    chosen: dict[str, Any] = {name: getattr(settings, name) for name in properties.SETTING_NAMES}
    chosen |= instead or {}
    programme, library, actions = _resolved(text, filepath, chosen, armature_object)
    turn = axes.armature_from_hanim(armature_object)
    motion = play(programme, armature.read_skeleton(armature_object),
                  Settings(**{name: value for name, value in chosen.items() if name in _SETTINGS}), turn=turn,
                  up=rot.rotate(turn, _UP), maps=library.skeleton_map,
                  limits=limits.read_limits(armature_object) if chosen["joint_limits"] else None,
                  skin=armature.read_skin(armature_object), store=CLIPS)
    return Performance(motion, actions=actions)


def look_at_files() -> None:
    """Let the next performances check which files have changed; the others are not read again."""
    _programmes.clear()


def dependencies(armature_object: bpy.types.Object) -> tuple[Hashable, ...]:
    """Return all that the motion of the score kept with an armature depends on, but for the clips that it plays.

    The score's text comes first.
    """
    character = properties.character(armature_object)
    assert character.text is not None
    return (character.text.as_string(), character.filepath, libraries.folders(), *_values(character),
            rest_key(armature_object), joint_map.key(armature_object),
            limits.key(armature_object) if character.joint_limits else None)


def rest_key(armature_object: bpy.types.Object) -> Hashable:
    """Return what two armatures have in common if they have the same bones in the same rest pose, equally tilted."""
    bones = cast(bpy.types.Armature, armature_object.data).bones
    rest = np.empty(len(bones) * 16, dtype=np.float32)
    bones.foreach_get("matrix_local", rest)
    tilt = axes.armature_from_hanim(armature_object).round(_TILT_DIGITS) + 0.0  # no negative zeros
    return hash((tuple(bone.name for bone in bones), rest.tobytes(), tilt.tobytes(),
                 armature.read_skin(armature_object).tobytes()))


def _resolved(text: str, filepath: str, chosen: Mapping[str, Any],
              armature_object: bpy.types.Object) -> tuple[Programme, Library, frozenset[str]]:
    """Return a score with all its names looked up, the library that found them, and the names of Actions among them.

    A score that plays Actions is looked up each time, since nobody tells when these change.
    """
    key = (text, filepath, libraries.folders(), joint_map.key(armature_object),
           *(chosen[name] for name in ("library", "load_format", "bvh_up", "bvh_forward")))
    if key in _programmes:
        _programmes.move_to_end(key)
        return *_programmes[key], frozenset()
    find_action, actions = clips.clips_of_action(armature_object, CLIPS), set[str]()

    def find(name: str) -> tuple[Clip, ...] | None:
        own = find_action(name)
        if own is not None:
            actions.add(name)
        return own

    document = parse(text, Path(bpy.path.abspath(filepath)) if filepath else None)
    library = _library(chosen, joint_map.kept_map(armature_object), find).beside(document)
    found = resolve(document, library), library
    if not actions:
        _programmes[key] = found
        while len(_programmes) > _MAX_PROGRAMMES:
            _programmes.popitem(last=False)
    return *found, frozenset(actions)


def _library(chosen: Mapping[str, Any], maps: Sequence[SavedMap], find_action: FindClips) -> Library:
    roots = [Path(bpy.path.abspath(chosen["library"]))] if chosen["library"] else []
    load_format = "" if chosen["load_format"] == properties.ANY_FORMAT else chosen["load_format"]
    return Library(roots, further=libraries.folders(), load_format=load_format, formats=clips.formats(),
                   other_clips=find_action, maps=maps, bvh=BvhSpace(chosen["bvh_up"], chosen["bvh_forward"]),
                   store=CLIPS)
