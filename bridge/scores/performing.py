"""Performing: the score kept with an armature made into a motion of its skeleton, and all that this depends on."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ...core.clips.clip import Clip
from ...core.clips.released import read_released
from ...core.errors import FileError, Problem, ScoreError, TaktError, quoted
from ...core.formats.format import Format
from ...core.library.library import FindClips, Library
from ...core.maths import rotations as rot
from ...core.maths.arrays import BoolArray, FloatArray
from ...core.pha.definitions import Definitions
from ...core.pha.document import Document, parse
from ...core.pha.expansion import expand, length_s
from ...core.pha.expansion import parameters as parameters_of
from ...core.pha.faulty import without_faulty
from ...core.pha.open_scores import Scores
from ...core.pha.programme import Programme, resolve
from ...core.pha.sequence import Sequence as Segments
from ...core.pha.text import Text
from ...core.playing.clock import Clock
from ...core.playing.motion import Motion
from ...core.playing.score import LONGEST_S, Settings, clock_of, play
from ...core.playing.transitions.limits import Limits
from ...core.retargeting.comparing.bvh_space import BvhSpace
from ...core.retargeting.skin_points import SkinPoints
from ...core.skeletons.hanim import UP
from ...core.skeletons.maps import SavedMap
from ...core.skeletons.skeleton import Skeleton
from .. import axes, libraries, properties
from ..files import clips
from ..files.clip_store import CLIPS
from ..meshes import skin_points
from ..rigs import armature, joint_map, limits
from ..scene import cast as casting
from . import included_texts, parameters, texts
from .parameters import Again, Values


@dataclass(frozen=True, eq=False)
class Performance:
    """The result of performing a score: the motion, or the error that prevented it.

    Both, where only some clips cannot be played: the motion then holds still where they would play.
    actions: the names of the Actions that the score plays. procedures: those that can be played, each with its ticks
    and its seconds, known where there is a motion. clips: those that the score's file loads, each with the name that
    calls it and its seconds, or None if the text cannot be read. parameters: of the procedure that plays, with their
    defaults; has_picks: whether it leaves anything to the seed. again: performs it with other values. roles: those of
    the score and what it includes, with their kinds.
    """

    motion: Motion | None
    error: TaktError | None = None
    actions: frozenset[str] = frozenset()
    procedures: tuple[tuple[str, float, float], ...] = ()
    clips: tuple[tuple[str, float], ...] | None = None
    parameters: Mapping[str, float | bool] = field(default_factory=dict)
    has_picks: bool = False
    again: Again | None = None
    roles: Mapping[str, str] = field(default_factory=dict)


Resolved = tuple[Programme, Library]


@dataclass(frozen=True, eq=False)
class Task:
    """All that a performance needs of Blender, read in its main thread, and nothing of Blender's own.

    So another thread may perform it. beside: what open Texts of other files say. key: all that its names depend on;
    files_key: what its files do, besides roots. resolved: where all its names were looked up before.
    moment: when folders and files were looked at.
    """

    text: str
    path: Path | None
    beside: tuple[tuple[Path, str], ...]
    settings: Settings
    roots: tuple[Path, ...]
    further: tuple[Path, ...]
    load_format: str
    bvh: BvhSpace
    maps: tuple[SavedMap, ...]
    skeleton: Skeleton
    turn: FloatArray
    limits: Limits | None
    skin: BoolArray
    points: SkinPoints | None
    key: tuple[Hashable, ...]
    files_key: tuple[Hashable, ...]
    resolved: Resolved | None
    moment: object


_MAX_PROGRAMMES = 256
_MAX_LISTED, _MAX_LISTED_CLIPS = 200, 2_000
_programmes: OrderedDict[tuple[Hashable, ...], Resolved] = OrderedDict()
"""Resolved scores, by all that they depend on but the files."""
_MAX_LIBRARIES = 8
_libraries: dict[tuple[Hashable, ...], Library] = {}
"""Those that scores were read with, by all that they depend on, and the moment."""
_moment = object()
"""Since when the files of libraries count as unchanged: until `look_at_files`."""
_TILT_DIGITS = 4
_values = attrgetter(*properties.SETTING_NAMES)
_SETTINGS = frozenset(field.name for field in fields(Settings))


def perform_score(text: str, filepath: str, settings: properties.ScoreSettings, armature_object: bpy.types.Object,
                  instead: Mapping[str, object] | None = None, formats: Mapping[str, Format] | None = None
                  ) -> Performance:
    """Make the motion that a score means for an armature, now.

    filepath: where the score came from, "" if it was written in Blender.
    instead: settings that replace those given. formats: of clips, those of `clips.formats` where they are not given.
    """
    try:
        task = read_task(text, filepath, settings, armature_object, instead)
    except TaktError as error:
        return Performance(None, error)
    performance, resolved = perform(task, clips.clips_of_action(armature_object, CLIPS), formats or clips.formats())
    keep_resolved(task, performance.actions, resolved)
    return performance


def read_task(text: str, filepath: str, settings: properties.ScoreSettings, armature_object: bpy.types.Object,
              instead: Mapping[str, object] | None = None) -> Task:
    """Read what a performance needs; raise TaktError if the armature's map contradicts itself."""
    chosen: dict[str, Any] = {name: getattr(settings, name) for name in properties.SETTING_NAMES}
    character = properties.character(armature_object)
    chosen |= {"values": parameters.chosen(character), "seed": character.seed,
               "released": read_released(character.released), "cast": casting.read(armature_object), **(instead or {})}
    further = libraries.folders(character.folders)
    beside = included_texts.said_beside(text, filepath)
    files_key = (filepath, further, joint_map.key(armature_object),
                 *(chosen[name] for name in ("library", "load_format", "bvh_up", "bvh_forward")))
    key = (text, beside, *files_key)
    if key in _programmes:
        _programmes.move_to_end(key)
    return Task(
        text, Path(bpy.path.abspath(filepath)) if filepath else None, beside,
        Settings(**{name: value for name, value in chosen.items() if name in _SETTINGS}),
        roots=(Path(libraries.absolute(chosen["library"], armature_object)),) if chosen["library"] else (),
        further=further,
        load_format="" if chosen["load_format"] == properties.ANY_FORMAT else chosen["load_format"],
        bvh=BvhSpace(chosen["bvh_up"], chosen["bvh_forward"]), maps=joint_map.kept_map(armature_object),
        skeleton=_skeleton(armature_object), turn=axes.armature_from_hanim(armature_object),
        limits=limits.read_limits(armature_object) if chosen["joint_limits"] else None,
        skin=armature.read_skin(armature_object), points=skin_points.read_points(armature_object), key=key,
        files_key=files_key,
        resolved=_programmes.get(key), moment=_moment)


def _skeleton(armature_object: bpy.types.Object) -> Skeleton:
    """Return an armature's skeleton, the same one as long as its bones are the same."""
    return CLIPS.made(("armature", rest_key(armature_object), armature_object.name),
                      partial(armature.read_skeleton, armature_object))


def perform(task: Task, find_action: FindClips, formats: Mapping[str, Format]) -> tuple[Performance, Resolved | None]:
    """Make a motion, in any thread; of a score that cannot be played, the error with every problem and its line.

    find_action: looks Actions of the open file up by name. formats: of clips, with their readers.
    Returns what `keep_resolved` takes.
    """
    actions, listed, gaps, resolved = set[str](), None, None, task.resolved
    try:
        document, library = _read(task, find_action, formats, actions)
        listed = _callable_clips(document, library)
        if resolved is None:
            resolved = resolve(document, _modules(task, library), with_gaps=True), library
            gaps = ScoreError(*resolved[0].gaps) if resolved[0].gaps else None
        known = parameters_of(resolved[0], task.settings.procedure)
        again = partial(_play, task, resolved, known)
        motion = again(task.settings.values, task.settings.seed)
    except TaktError as error:
        procedures = () if resolved is None else _procedures(resolved[0])
        return (Performance(None, gaps or error, frozenset(actions), procedures, listed,
                            roles={} if resolved is None else _roles(resolved[0])), None if gaps else resolved)
    calls = resolved[0].calls
    return (Performance(motion, gaps, frozenset(actions), _procedures(resolved[0]), listed, known,
                        isinstance(calls, Definitions) and bool(calls.picks), again, _roles(resolved[0])),
            None if gaps else resolved)


def _roles(programme: Programme) -> dict[str, str]:
    """Return the roles of a score, also of what it includes, by their names, each with its kind."""
    views = programme.calls.views if isinstance(programme.calls, Definitions) else ()
    return {name: role.kind for view in views for name, role in view.roles.items()}


def _play(task: Task, resolved: Resolved, known: Mapping[str, float | bool], values: Values, seed: int) -> Motion:
    """Make the motion of a score; values that its procedure does not take (any more) are left out."""
    taken = tuple((name, value) for name, value in values
                  if name in known and isinstance(value, bool) == isinstance(known[name], bool))
    return play(resolved[0], task.skeleton, replace(task.settings, values=taken, seed=seed), turn=task.turn,
                up=rot.rotate(task.turn, UP), maps=resolved[1].skeleton_map, limits=task.limits, skin=task.skin,
                points=task.points, store=CLIPS, longest_s=LONGEST_S)


def _read(task: Task, find_action: FindClips, formats: Mapping[str, Format],
          actions: set[str]) -> tuple[Document, Library]:
    """Return what a score says, and its library, which adds the names of the Actions that it finds to the set.

    The library raises FileError for an Action that moves no bones.
    """
    def find(name: str) -> tuple[Clip, ...] | None:
        own = find_action(name)
        if own is not None:
            actions.add(name)
        if own == ():
            raise FileError.at(f"the Action {quoted(name)} has no keys for bones of {quoted(task.skeleton.name)}, nor "
                               "of another armature")
        return own

    if task.resolved is not None:
        return task.resolved[0].document, task.resolved[1]
    document = parse(task.text, task.path)
    return document, _library(task, formats).beside(document).with_other_clips(find)


def _library(task: Task, formats: Mapping[str, Format]) -> Library:
    """Return the library of a task, as it was known before at the same moment.

    It holds the clips that it has read; once the store had to forget some, it is made anew.
    """
    key = (task.moment, CLIPS.forgotten, task.roots, *task.files_key, *formats.values())
    library = _libraries.get(key)
    if library is None:
        if len(_libraries) >= _MAX_LIBRARIES:
            _libraries.clear()
        library = _libraries[key] = Library(task.roots, further=task.further, load_format=task.load_format,
                                            formats=formats, maps=task.maps, bvh=task.bvh, store=CLIPS,
                                            moment=task.moment)
    return library


def _modules(task: Task, library: Library) -> Scores:
    """Return what finds the files of a score: of those that are open, what their Texts say.

    An open file that has no XML concerns only those who name it.
    """
    texts, sources = [], (task.text, *(said for _, said in task.beside))
    for path, said in task.beside:
        try:
            texts.append(Text.of(said, path))
        except FileError:
            if included_texts.is_named(path, sources):
                raise
    return Scores.of(texts, library)


def _callable_clips(document: Document, library: Library) -> tuple[tuple[str, float], ...]:
    """Return the clips that a score's file loads, by the shortest names that always call them, and their seconds."""
    found = []
    for load in document.loads:
        try:
            held, _ = library.clips(load.src)
        except FileError:
            continue  # resolving tells of it
        own = load.src.rpartition(".")[2]
        found += [(load.src if len(held) == 1 else f"{load.src}.{clip.name or own}", _as_kept(clip.duration_s))
                  for clip in held]
    return tuple(found[:_MAX_LISTED_CLIPS])


def _procedures(programme: Programme) -> tuple[tuple[str, float, float], ...]:
    """Return the procedures that can be started, seconds by the clock; one that wants parameters has no own length."""
    found, clock = [], clock_of(programme)
    for name in tuple(programme.own)[:_MAX_LISTED]:
        try:
            seconds = length_s(programme, name)
        except TaktError:
            seconds = 0.0
        shown = seconds if clock is None else float(clock.shown(np.array((seconds,)))[0])
        found.append((name, _as_kept(seconds / programme.document.tick_s), _as_kept(shown)))
    return tuple(found)


def _as_kept(length: float) -> float:
    """Return a length as Blender's properties keep it."""
    return float(np.float32(length))


def keep_resolved(task: Task, actions: frozenset[str], resolved: Resolved | None) -> None:
    """Keep a score with all its names looked up for the next performance.

    A score that plays Actions is looked up each time, since nobody tells when these change.
    """
    if resolved is not None and not actions and task.moment is _moment:
        _programmes[task.key] = resolved
        while len(_programmes) > _MAX_PROGRAMMES:
            _programmes.popitem(last=False)


@dataclass(frozen=True, eq=False)
class Expanded:
    """What a score plays, without a motion.

    sequence: in even time; clock: where its tempo changes; library: where its names come from; programme: with gaps
    where clips cannot be read or found.
    """

    sequence: Segments
    clock: Clock | None
    library: Library
    programme: Programme


def expand_score(text: str, character: properties.TaktCharacter, armature_object: bpy.types.Object) -> Expanded:
    """Return what a score plays on a character; raise TaktError as perform_score does, but not for gaps alone."""
    task, actions = read_task(text, properties.score_path(character), character, armature_object), set[str]()
    document, library = _read(task, clips.clips_of_action(armature_object, CLIPS), clips.formats(), actions)
    settings = task.settings
    programme = (resolve(document, _modules(task, library), with_gaps=True) if task.resolved is None
                 else task.resolved[0])
    keep_resolved(task, frozenset(actions), None if programme.gaps else (programme, library))
    sequence = expand(programme, settings.procedure, settings.loop, values=dict(settings.values), seed=settings.seed)
    return Expanded(sequence, clock_of(programme), library, programme)


def procedure_names(text: str, character: properties.TaktCharacter,
                    armature_object: bpy.types.Object) -> tuple[str, tuple[str, ...], Mapping[str, Problem]]:
    """Return the names of all procedures of a score that can be started, and what it says without its faulty ones.

    These are left out of it one after the other until it can be read, and returned with the mistake in each; whoever
    calls one of them is faulty too. Raises TaktError as perform_score does, where the mistake is in no procedure of it.
    """
    faulty = dict[str, Problem]()
    while True:
        task = read_task(text, properties.score_path(character), character, armature_object)
        try:
            document, library = _read(task, clips.clips_of_action(armature_object, CLIPS), clips.formats(), set())
            programme = (resolve(document, _modules(task, library), with_gaps=True) if task.resolved is None
                         else task.resolved[0])
        except FileError as error:
            text, found = without_faulty(parse(text, task.path), error)
            if not found:
                raise
            faulty = {**found, **faulty}
        else:
            return text, tuple(programme.own), faulty


def read_score(text: str, character: properties.TaktCharacter,
               armature_object: bpy.types.Object) -> tuple[Document, Library]:
    """Return what a score says, whether it can be played or not, and its library; raise TaktError if it is none."""
    task = read_task(text, properties.score_path(character), character, armature_object)
    return _read(task, clips.clips_of_action(armature_object, CLIPS), clips.formats(), set())


def settings_of(character: properties.TaktCharacter, *, is_cast: bool = True) -> Settings:
    """Return how a character plays its score, as core takes it; is_cast: with what plays the roles."""
    armature_object = cast(bpy.types.Object, character.id_data)
    return Settings(**{name: getattr(character, name) for name in properties.SETTING_NAMES if name in _SETTINGS},
                    values=parameters.chosen(character), seed=character.seed,
                    released=read_released(character.released), cast=casting.read(armature_object) if is_cast else ())


def moment() -> object:
    """Return when files were looked at: the same object until they are again."""
    return _moment


def look_at_files() -> None:
    """Let the next performances check which files have changed or come; the others are not read again."""
    global _moment
    _moment = object()
    _programmes.clear()
    _libraries.clear()
    skin_points.forget()


def dependencies(armature_object: bpy.types.Object, values: Hashable = None,
                 skin: int | None = None) -> tuple[Hashable, ...]:
    """Return all that the motion of the score kept with an armature depends on, but for the clips that it plays.

    The score's text comes first. values: instead of those of the current frame. skin: its checksum where no mesh is to
    be read.
    """
    character = properties.character(armature_object)
    assert character.text is not None
    values = values or (parameters.chosen(character), character.seed)
    said, filepath = texts.said(character.text), properties.score_path(character)
    beside = included_texts.said_beside(said, filepath)
    return (said, filepath, libraries.folders(character.folders), values,
            *_values(character), rest_key(armature_object),
            skin_points.checksum(armature_object) if skin is None else skin,
            joint_map.key(armature_object),
            limits.key(armature_object) if character.joint_limits else None,
            *((character.released,) if character.released else ()),  # Actions from before there was such a thing stay
            *(() if (cast_now := casting.key(armature_object)) is None else (cast_now,)),
            *((own.name, text) for own, text in beside))


def rest_key(armature_object: bpy.types.Object) -> Hashable:
    """Return a key that is equal for armatures with the same bones in the same rest pose and with the same tilt."""
    bones = cast(bpy.types.Armature, armature_object.data).bones
    rest = np.empty(len(bones) * 16, dtype=np.float32)
    bones.foreach_get("matrix_local", rest)
    tilt = axes.armature_from_hanim(armature_object).round(_TILT_DIGITS) + 0.0  # no negative zeros
    names = "\n".join(f"{bone.name}\n{'' if bone.parent is None else bone.parent.name}" for bone in bones)
    digest = hashlib.blake2b(names.encode(), digest_size=16)
    for part in (rest, tilt, armature.read_skin(armature_object)):
        digest.update(part.tobytes())
    return digest.digest()
