"""Takt for other add-ons: let a character play a score, and read its motion, without buttons and context.

    from bl_ext.user_default.takt import api

    motion = api.play(bpy.data.objects["Hero"], "/scores/dance.pha", values={"turns": 3.0})
    matrices = motion.sample([0.0, 0.5, 1.0])

If something cannot be done, TaktError is raised, with a message for users, before anything is changed. The names here
are stable; all other modules of Takt may change with each version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .bridge import paths, properties
from .bridge.actions import procedure_actions
from .bridge.actions import write_motion as _write_motion
from .bridge.actions.procedure_actions import Sampled, Wanted
from .bridge.active_character import armature_problem, score_problem
from .bridge.files import engine_files
from .bridge.scene import held_props
from .bridge.scores import linked_texts, performing, variation
from .bridge.scores import score as _score
from .bridge.steps import finished
from .bridge.tweaking import tweaked_motion
from .core.errors import TaktError
from .core.playing.motion import Motion as _Motion
from .core.skeletons.skeleton import world_from_pose

__all__ = ("Contact", "Motion", "Segment", "TaktError", "export", "make_actions", "motion", "play", "procedures")
_SIDES = {"l": "left", "r": "right"}
Score = str | PathLike[str] | bpy.types.Text
"""A file, or a Text of the open .blend."""


@dataclass(frozen=True)
class Segment:
    """A piece of a motion: one clip, from begin_s to end_s.

    clip: its full name, None if the pose is held or lanes play. procedures: those that led to it, the outermost
    first. transition_s: how long the transition to the next segment is.
    """

    clip: str | None
    procedures: tuple[str, ...]
    begin_s: float
    end_s: float
    transition_s: float


@dataclass(frozen=True)
class Contact:
    """A time in which a foot is in contact with the ground; side: "left" or "right"."""

    side: str
    begin_s: float
    end_s: float


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of a character, from 0 to duration_s.

    bones: the names of the armature's bones. layout: the segments, one after another. contacts: of the feet, in order
    of time; empty if Foot Lock is off. warnings: what the motion does not do as the score says, and why, each with its
    place in the score; notes are left out.
    """

    bones: tuple[str, ...]
    duration_s: float
    is_loop: bool
    layout: tuple[Segment, ...]
    contacts: tuple[Contact, ...]
    warnings: tuple[str, ...]
    _motion: _Motion = field(repr=False)

    def sample(self, times_s: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the bones at times (F,), in seconds: matrices armature_from_bone (F, B, 4, 4), as PoseBone.matrix.

        Before 0 and after duration_s the ends are held; a loop repeats. Raises TaktError if times are not finite.
        """
        pose = self._motion.sample(np.asarray(times_s, dtype=np.float64))
        world = np.zeros((*pose.rotations.shape[:2], 4, 4))
        world[..., :3, :], world[..., 3, 3] = world_from_pose(self._motion.skeleton, pose), 1.0
        return world


def play(character: bpy.types.Object, score: Score | None = None, *, procedure: str | None = None,
         values: Mapping[str, float | bool] | None = None, seed: int | None = None,
         cast: Mapping[str, bpy.types.Object | bpy.types.Collection] | None = None) -> Motion:
    """Let an armature play a score, write its Action, and return the motion.

    score: None for its current one, which then plays as before, apart from the arguments here. procedure: of the
    score; None for main of a score that is given, else for the one that plays already. values: of the procedure's
    parameters. seed: for the score's picks. cast: the objects that play its roles, and collections that play floors.
    Settings such as Root Motion stay as the armature has them. No undo step is made, since an operator that calls this
    makes its own.
    """
    _check(armature_problem(character))
    settings = properties.character(character)
    kept = _Kept.of(settings)
    try:
        if score is not None:
            _choose(settings, score, procedure or "main")
        elif procedure is not None:
            settings.procedure = procedure
            properties.mark_version(settings)
        _check(score_problem(character))
        _perform(character)
        _score.keep_lists(character)
        variation.set_values(settings, values or {})
        variation.set_cast(settings, cast or {})
        if seed is not None:
            settings.seed = seed
        found, scene = _perform(character), _scene()
        channels = _write_motion.sampling(character, scene, found)(None)
    except TaktError:
        kept.give_back(character)
        raise
    finished(_write_motion.writing(character, scene, found, channels, is_aside=False,
                                  is_new_score=score is not None))
    return _of(character, tweaked_motion.shown(character, scene, found))


def motion(character: bpy.types.Object, *, procedure: str | None = None) -> Motion:
    """Return the motion of an armature by its score, with tweaks, or by another of its procedures; changes nothing."""
    _check(score_problem(character))
    if procedure is None:
        return _of(character, tweaked_motion.shown(character, _scene(), _perform(character)))
    found = _score.motion_of(character, procedure=procedure)
    if found is None:
        settings = properties.character(character)
        assert settings.text is not None  # was checked above
        again = performing.perform_score(settings.text.as_string(), properties.score_path(settings), settings,
                                         character, {"procedure": procedure})
        raise again.error or TaktError("there is nothing to play")
    return _of(character, found)


def procedures(character: bpy.types.Object) -> tuple[str, ...]:
    """Return the names of the procedures of an armature's score that can be started."""
    _check(score_problem(character))
    return tuple(procedure_actions.names_of(character))


def make_actions(character: bpy.types.Object, names: Sequence[str] | None = None, *, in_place: bool = False,
                 loop: bool = False) -> list[bpy.types.Action]:
    """Make an Action of each procedure, or of those named, and return them; see Make Actions of Procedures.

    in_place: the character does not travel. loop: the end of each leads back to its beginning. Raises TaktError,
    and makes none, if any of them cannot be played.
    """
    return [procedure_actions.write(character, each) for each in _sampled(character, names, Wanted(in_place, loop))]


def export(character: bpy.types.Object, path: str | PathLike[str], names: Sequence[str] | None = None, *,
           in_place: bool = False, loop: bool = False) -> None:
    """Write an armature, its meshes, and an animation of each procedure, or of those named, as .glb, .gltf or .fbx.

    in_place, loop: see make_actions. Raises TaktError, and writes nothing, if any of them cannot be played or the
    file cannot be written.
    """
    engine_files.checked(Path(path))
    sampled = engine_files.holdable(_sampled(character, names, Wanted(in_place, loop)))
    _refuse(sampled)
    engine_files.write(Path(path), character, _scene(), sampled)


def _sampled(character: bpy.types.Object, names: Sequence[str] | None, wanted: Wanted) -> list[Sampled]:
    _check(score_problem(character))
    sampled = [procedure_actions.sample(character, _scene(), name, wanted)
               for name in (procedures(character) if names is None else names)]
    _refuse(sampled)
    return sampled


def _refuse(sampled: Sequence[Sampled]) -> None:
    _check("\n".join(f"'{each.procedure}' cannot be played: {each.problem}" for each in sampled if each.problem))


def _perform(character: bpy.types.Object) -> _Motion:
    found = _score.motion_of(character)
    if found is None:
        raise _score.error_of(character) or TaktError("there is nothing to play")
    return found


def _choose(settings: properties.TaktCharacter, score: Score, procedure: str) -> None:
    performing.look_at_files()
    if isinstance(score, bpy.types.Text):
        settings.text, settings.filepath = score, score.filepath
    else:
        path = Path(score).resolve()
        settings.text, settings.filepath = linked_texts.open_text(path), paths.kept(str(path))
    settings.procedure, settings.version = procedure, properties.VERSION


@dataclass(frozen=True, eq=False)
class _Kept:
    """The values of a character's settings before `play` changes them."""

    simple: Mapping[str, Any]
    parameters: Mapping[str, tuple[float, bool]]
    cast: Mapping[str, tuple[bpy.types.Object | None, bpy.types.Collection | None]]

    @classmethod
    def of(cls, settings: properties.TaktCharacter) -> _Kept:
        names = ("text", "filepath", "procedure", "seed", "version")
        return cls({name: getattr(settings, name) for name in names},
                   {each.name: (each.number, each.truth) for each in settings.parameters},
                   {role.name: (role.target, role.collection) for role in settings.cast})

    def give_back(self, character: bpy.types.Object) -> None:
        settings = properties.character(character)
        for name, value in self.simple.items():
            setattr(settings, name, value)
        for each in settings.parameters:
            each.number, each.truth = self.parameters.get(each.name, (each.number, each.truth))
        for role in settings.cast:
            role.target, role.collection = self.cast.get(role.name, (None, None))
        if settings.text is not None:
            _score.motion_of(character)
            _score.keep_lists(character)


def _of(character: bpy.types.Object, found: _Motion) -> Motion:
    sequence, layout = found.sequence, found.layout
    rows = zip(sequence.clip.tolist(), sequence.path.tolist(), layout.begin_s.tolist(), layout.end_s.tolist(),
               found.transitions_s.tolist(), strict=True)
    segments = tuple(Segment(sequence.clips[clip] if 0 <= clip < len(sequence.clips) else None, sequence.paths[path],
                             begin, end, transition) for clip, path, begin, end, transition in rows)
    contacts = [Contact(_SIDES[side], begin, end) for side, spans in (() if found.feet is None else found.feet.held_s)
                for begin, end in (spans if found.clock is None else found.clock.shown(spans)).tolist()]
    problems = *found.problems, *held_props.problems(character, _scene(), found)
    return Motion(tuple(found.skeleton.names), found.duration_s, found.is_loop, segments,
                  tuple(sorted(contacts, key=lambda each: each.begin_s)),
                  tuple(str(each) for each in problems if each.is_warning and not each.is_note), found)


def _scene() -> bpy.types.Scene:
    scene = bpy.context.scene
    assert scene is not None  # there is always one
    return scene


def _check(problem: str) -> None:
    if problem:
        raise TaktError(problem)
