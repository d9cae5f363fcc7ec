"""Procedures of a score as Actions of their own: each begins at frame 0 and is called as its procedure."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import bpy
import numpy as np

from ..core.errors import TaktError
from ..core.playing.motion import Motion
from . import action, bone_rules, clip_of_action, constraints, long_actions, performing, properties, texts
from .channels import Channels, sample_channels
from .frame_rate import frames_per_second
from .reports import in_brief

FIRST_FRAME: Final = 0
MOST: Final = 1_000
"""Procedures of one score that are made into Actions."""


class Wanted(NamedTuple):
    """How procedures are played: whether the root stays in its place, and whether each leads back to its beginning."""

    is_in_place: bool = False
    is_loop: bool = False


class Sampled(NamedTuple):
    """A procedure that is played and not written yet; problem: why it cannot be, "" where it can."""

    procedure: str
    channels: Channels | None = None
    moved: tuple[str, ...] = ()
    problem: str = ""


def names_of(armature_object: bpy.types.Object) -> list[str]:
    """Return the procedures of a character's score that can be started; raise TaktError where it cannot be read."""
    performance = _performed(armature_object, properties.character(armature_object).procedure, Wanted())
    if not performance.procedures:
        raise performance.error or TaktError("the score has no procedures")
    return [name for name, _, _ in performance.procedures][:MOST]


def sample(armature_object: bpy.types.Object, scene: bpy.types.Scene, procedure: str, wanted: Wanted) -> Sampled:
    """Play a procedure; what is wrong with it costs only this one."""
    try:
        motion = _motion(armature_object, scene, procedure, wanted)
    except TaktError as error:
        return Sampled(procedure, problem=in_brief(error))
    rules = bone_rules.read_rules(armature_object)
    channels = sample_channels(motion, frames_per_second(scene), FIRST_FRAME, rules=rules)
    moved = tuple(motion.skeleton.names[joint] for joint in np.flatnonzero(motion.moved).tolist())
    return Sampled(procedure, channels, moved)


def write(armature_object: bpy.types.Object, sampled: Sampled, *, is_new: bool = False) -> bpy.types.Action:
    """Make an Action of what is sampled; the one that was made of it before is filled anew, if nobody has changed it.

    is_new: it is a new one in any case.
    """
    assert sampled.channels is not None
    path = _source(armature_object)
    before = None if is_new else clip_of_action.earlier(armature_object, path, sampled.procedure)
    made = action.write_new_action(armature_object, sampled.procedure, sampled.channels, before)
    if not is_new:
        clip_of_action.mark(made, path, sampled.procedure)
        mutes = properties.character(armature_object).mute_constraints
        constraints.mute_once_played(armature_object, sampled.moved if mutes else (), made)
    return made


def _motion(armature_object: bpy.types.Object, scene: bpy.types.Scene, procedure: str, wanted: Wanted) -> Motion:
    performance = _performed(armature_object, procedure, wanted)
    if performance.motion is None:
        raise performance.error or TaktError("it plays nothing")
    if too_long := long_actions.problem(performance.motion, frames_per_second(scene)):
        raise TaktError(too_long)
    return performance.motion


def _performed(armature_object: bpy.types.Object, procedure: str, wanted: Wanted) -> performing.Performance:
    character = properties.character(armature_object)
    assert character.text is not None  # whoever asks has seen to it
    instead: dict[str, object] = {"procedure": procedure, "loop": wanted.is_loop}
    if wanted.is_in_place:
        instead["root_motion"] = "IN_PLACE"
    return performing.perform_score(texts.said(character.text), properties.score_path(character), character,
                                    armature_object, instead)


def _source(armature_object: bpy.types.Object) -> Path:
    """Return by which name an Action's score is kept: that of its file, or of its Text."""
    character = properties.character(armature_object)
    assert character.text is not None
    return Path(properties.score_path(character) or character.text.name)
