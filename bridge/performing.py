"""Performing: what is kept with an armature made into a motion of its skeleton, and all that this depends on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ..core.library.library import Library
from ..core.maths import rotations as rot
from ..core.playing.motion import Motion
from ..core.playing.score import Settings, perform
from ..core.retargeting.bvh_space import BvhSpace
from . import armature, axes, clips, joint_map, libraries, limits, properties

_TILT_DIGITS = 4
_values = attrgetter(*properties.SETTING_NAMES)
_SETTINGS = frozenset(field.name for field in fields(Settings))
_UP = np.array((0.0, 1.0, 0.0))
"""Up, in H-Anim's axes."""


def perform_score(text: str, filepath: str, settings: properties.ScoreSettings, armature_object: bpy.types.Object,
                  instead: Mapping[str, object] | None = None) -> Motion:
    """Make the motion that a score means for an armature.

    filepath: where the score came from, "" where it was written in Blender.
    instead: settings that count instead of those given.
    Raises TaktError, with every problem and its place, where the score cannot be played.
    """
    chosen: dict[str, Any] = {name: getattr(settings, name) for name in properties.SETTING_NAMES}
    chosen |= instead or {}
    path = Path(bpy.path.abspath(filepath)) if filepath else None
    turn = axes.armature_from_hanim(armature_object)
    return perform(text, path, _library(chosen, armature_object), armature.read_skeleton(armature_object),
                   Settings(**{name: value for name, value in chosen.items() if name in _SETTINGS}), turn=turn,
                   up=rot.rotate(turn, _UP),
                   limits=limits.read_limits(armature_object) if chosen["joint_limits"] else None,
                   skin=armature.read_skin(armature_object))


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


def _library(chosen: Mapping[str, Any], armature_object: bpy.types.Object) -> Library:
    roots = [Path(bpy.path.abspath(chosen["library"]))] if chosen["library"] else []
    return Library(roots, further=libraries.folders(),
                   load_format="" if chosen["load_format"] == properties.ANY_FORMAT else chosen["load_format"],
                   formats=clips.formats(), other_clips=clips.clips_of_action(armature_object),
                   maps=joint_map.kept_map(armature_object), bvh=BvhSpace(chosen["bvh_up"], chosen["bvh_forward"]))
