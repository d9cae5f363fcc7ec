"""Procedures of a score as Actions of their own: each begins at frame 0 and has its procedure's name."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import bpy
import numpy as np

from ...core.errors import FileError, Problem, TaktError, some_of
from ...core.pha.programme import GAP
from ...core.playing.motion import Motion
from .. import properties
from ..frame_rate import frames_per_second
from ..reports import Told, in_brief
from ..rigs import bone_rules, constraints
from ..scores import performing, texts
from ..tweaking import tweaked_motion
from . import action, clip_of_action, long_actions
from .channels import Channels, whole_frames

MOST: Final = 1_000
"""Greatest number of procedures of a score that become Actions."""
_SHOWN: Final = 5


class Wanted(NamedTuple):
    """Options for procedures: whether the root stays in place, and whether each leads back to its beginning."""

    is_in_place: bool = False
    is_loop: bool = False


class Sampled(NamedTuple):
    """A sampled procedure that is not written yet; problem: why it cannot be, or ""."""

    procedure: str
    channels: Channels | None = None
    moved: tuple[str, ...] = ()
    is_loop: bool = False
    problem: str = ""


def names_of(armature_object: bpy.types.Object) -> list[str]:
    """Return the procedures of a character's score that can be started, including those with mistakes.

    Raises TaktError if the score cannot be read, or has none.
    """
    _, names, faulty = _readable(armature_object)
    if not names and not faulty:
        raise TaktError("the score has no procedures: write one, or choose another score")
    return list(dict.fromkeys((*names, *faulty)))[:MOST]


def sample(armature_object: bpy.types.Object, scene: bpy.types.Scene, procedure: str, wanted: Wanted) -> Sampled:
    """Sample a procedure; a mistake affects only this one. The procedure that the character plays keeps its tweaks."""
    try:
        motion = _motion(armature_object, scene, procedure, wanted)
        channels = whole_frames(motion, frames_per_second(scene), bone_rules.read_rules(armature_object))
    except TaktError as error:
        return Sampled(procedure, problem=in_brief(error))
    return Sampled(procedure, channels, tuple(motion.skeleton.names[joint] for joint in np.flatnonzero(motion.moved)),
                   motion.is_loop)


def sampled_of(armature_object: bpy.types.Object, scene: bpy.types.Scene, names: Sequence[str],
               wanted: Wanted) -> Generator[float, None, list[Sampled]]:
    """Sample procedures, one at each step; raise TaktError if none of them can be played."""
    sampled = list[Sampled]()
    for name in names:
        sampled.append(sample(armature_object, scene, name, wanted))
        yield len(sampled) / len(names)
    if all(each.problem for each in sampled):
        raise TaktError("no procedure can be played: "
                        + some_of([f"{each.procedure}: {each.problem}" for each in sampled], _SHOWN))
    return sampled


def problems_of(sampled: Sequence[Sampled]) -> list[Told]:
    """Return warnings about procedures that cannot be played."""
    return [("WARNING", f"{each.procedure}: {each.problem}") for each in sampled if each.problem]


def write(armature_object: bpy.types.Object, sampled: Sampled) -> bpy.types.Action:
    """Make an Action of a sampled procedure, or rewrite the one made earlier from it if it was not changed."""
    assert sampled.channels is not None
    path = _source(armature_object)
    before = clip_of_action.earlier(armature_object, path, sampled.procedure)
    made = action.write_new_action(armature_object, sampled.procedure, sampled.channels, before)
    made.use_cyclic = sampled.is_loop
    clip_of_action.mark(made, path, sampled.procedure)
    mutes = properties.character(armature_object).mute_constraints
    constraints.mute_once_played(armature_object, sampled.moved if mutes else (), made)
    return made


def _readable(armature_object: bpy.types.Object) -> tuple[str, tuple[str, ...], Mapping[str, Problem]]:
    character = properties.character(armature_object)
    assert character.text is not None  # the caller has checked it
    return performing.procedure_names(texts.said(character.text), character, armature_object)


def _motion(armature_object: bpy.types.Object, scene: bpy.types.Scene, procedure: str, wanted: Wanted) -> Motion:
    character = properties.character(armature_object)
    said, names, faulty = _readable(armature_object)
    if procedure in faulty and procedure not in names:
        raise FileError(faulty[procedure])
    instead: dict[str, object] = {"procedure": procedure, "loop": wanted.is_loop}
    if wanted.is_in_place:
        instead["root_motion"] = "IN_PLACE"
    found = performing.perform_score(said, properties.score_path(character), character, armature_object, instead)
    motion = found.motion
    if motion is None:
        raise found.error or TaktError("it plays nothing")
    if found.error is not None and GAP in motion.sequence.played_clips():
        raise found.error
    if too_long := long_actions.problem(motion, frames_per_second(scene)):
        raise TaktError(too_long)
    return tweaked_motion.shown(armature_object, scene, motion) if procedure == character.procedure else motion


def _source(armature_object: bpy.types.Object) -> Path:
    """Return the name by which an Action stores its score: that of its file, or of its Text."""
    character = properties.character(armature_object)
    assert character.text is not None
    return Path(properties.score_path(character) or character.text.name)
