"""Perform a score: make a motion of an armature's skeleton from it, and collect all that this depends on."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, cast
from weakref import WeakValueDictionary

import bpy
import numpy as np

from ...core.clips.clip import Clip
from ...core.clips.released import read_released
from ...core.errors import FileError, Problem, ScoreError, TaktError, quoted
from ...core.formats.format import Format
from ...core.library.library import FindClips, Library
from ...core.library.reading import Reading
from ...core.maths import rotations as rot
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
from ...core.playing.performer import Performer
from ...core.playing.score import LONGEST_S, Settings, clock_of, play
from ...core.retargeting.comparing.bvh_space import BvhSpace
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

    Both are set if only some clips cannot be played: the motion then stands still for these.
    actions: the names of the Actions that the score plays. procedures: those that can be played, each with its ticks
    and its seconds, known if there is a motion. clips: those that the score's file loads, each with the name that
    calls it and its seconds, or None if the text cannot be read. parameters: of the played procedure, with their
    defaults; has_picks: whether the seed matters. again: performs it with other values. roles: of
    the score and its includes, with their kinds.
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
    """The input of a performance from Blender, read in its main thread, without references to Blender's data.

    So another thread may perform it. beside: contents of open Texts of other files. key: all that its names depend on;
    files_key: its file settings, besides roots. resolved: an earlier result of looking up all its names.
    moment: the time at which folders and files were checked.
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
    performer: Performer
    key: tuple[Hashable, ...]
    files_key: tuple[Hashable, ...]
    resolved: Resolved | None
    moment: object


_MAX_PROGRAMMES = 256
_MAX_LISTED, _MAX_LISTED_CLIPS = 200, 2_000
_programmes: OrderedDict[tuple[Hashable, ...], Resolved] = OrderedDict()
"""Resolved scores, by everything that they depend on except the files."""
_motions: WeakValueDictionary[tuple[Hashable, ...], Motion] = WeakValueDictionary()
"""The last motion of each score and character, by everything that it depends on except the cast."""
_MAX_LIBRARIES = 8
_libraries: dict[tuple[Hashable, ...], Library] = {}
"""The libraries with which scores were read, by everything that they depend on, and the moment."""
_moment = object()
"""The current moment: files of libraries count as unchanged until `look_at_files`."""
_TILT_DIGITS = 4
_values = attrgetter(*properties.SETTING_NAMES)
_SETTINGS = frozenset(field.name for field in fields(Settings))


def perform_score(text: str, filepath: str, settings: properties.ScoreSettings, armature_object: bpy.types.Object,
                  instead: Mapping[str, object] | None = None, formats: Mapping[str, Format] | None = None
                  ) -> Performance:
    """Perform a score for an armature, now.

    filepath: of the score, "" if it was written in Blender.
    instead: settings that replace those given. formats: of clips; by default `clips.formats`.
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
    """Read the input of a performance; raise TaktError if the armature's map gives two bones the same joint."""
    chosen: dict[str, Any] = {name: getattr(settings, name) for name in properties.SETTING_NAMES}
    character = properties.character(armature_object)
    chosen |= {"values": parameters.chosen(character), "seed": character.seed,
               "released": read_released(character.released), "cast": casting.read(armature_object),
               "unit_m": axes.unit_m(armature_object), **(instead or {})}
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
        performer=_performer(armature_object, has_limits=bool(chosen["joint_limits"])), key=key, files_key=files_key,
        resolved=_programmes.get(key), moment=_moment)


def _performer(armature_object: bpy.types.Object, *, has_limits: bool) -> Performer:
    turn = axes.armature_from_hanim(armature_object)
    return Performer(_skeleton(armature_object), rot.rotate(turn, UP), turn,
                     limits.read_limits(armature_object) if has_limits else None, armature.read_skin(armature_object),
                     skin_points.read_points(armature_object))


def _skeleton(armature_object: bpy.types.Object) -> Skeleton:
    """Return an armature's skeleton, the same object as long as its bones are unchanged."""
    return CLIPS.made(("armature", rest_key(armature_object), armature_object.name),
                      partial(armature.read_skeleton, armature_object))


def perform(task: Task, find_action: FindClips, formats: Mapping[str, Format]) -> tuple[Performance, Resolved | None]:
    """Perform a score in any thread; if it cannot be played, return the error with every problem and its line.

    find_action: finds Actions of the open file by name. formats: of clips, with their readers.
    Also returns the value for `keep_resolved`.
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
    """Return the roles of a score and its includes by name, each with its kind."""
    views = programme.calls.views if isinstance(programme.calls, Definitions) else ()
    return {name: role.kind for view in views for name, role in view.roles.items()}


def _play(task: Task, resolved: Resolved, known: Mapping[str, float | bool], values: Values, seed: int) -> Motion:
    """Make the motion of a score; values for which its procedure has no parameter are ignored."""
    taken = tuple((name, value) for name, value in values
                  if name in known and isinstance(value, bool) == isinstance(known[name], bool))
    settings, by = replace(task.settings, values=taken, seed=seed), task.performer
    key = (*resolved, by.skeleton, by.up.tobytes(), by.turn.tobytes(), by.limits, by.points,
           None if by.skin is None else by.skin.tobytes(), replace(settings, cast=()))
    before = _motions.get(key)
    motion = before and before.recast(dict(settings.cast))
    if motion is None:
        motion = play(resolved[0], by, settings, maps=resolved[1].skeleton_map, store=CLIPS, longest_s=LONGEST_S)
    _motions[key] = motion
    return motion


def _read(task: Task, find_action: FindClips, formats: Mapping[str, Format],
          actions: set[str]) -> tuple[Document, Library]:
    """Return the document of a score, and its library, which adds the names of found Actions to the set.

    The library raises FileError for an Action that moves no bones.
    """
    skeleton = cast(Skeleton, task.performer.skeleton)

    def find(name: str) -> tuple[Clip, ...] | None:
        own = find_action(name)
        if own is not None:
            actions.add(name)
        if own == ():
            raise FileError.at(f"the Action {quoted(name)} has no keys for bones of {quoted(skeleton.name)}, nor "
                               "of another armature")
        return own

    if task.resolved is not None:
        return task.resolved[0].document, task.resolved[1]
    document = parse(task.text, task.path)
    return document, _library(task, formats).beside(document).with_other_clips(find)


def _library(task: Task, formats: Mapping[str, Format]) -> Library:
    """Return the library of a task, from a cache for the same moment.

    It holds the clips that it has read; after the store has dropped some, it is made again.
    """
    key = (task.moment, CLIPS.forgotten, task.roots, *task.files_key, *formats.values())
    library = _libraries.get(key)
    if library is None:
        if len(_libraries) >= _MAX_LIBRARIES:
            _libraries.clear()
        library = _libraries[key] = Library(task.roots, further=task.further, maps=task.maps, store=CLIPS,
                                            reading=Reading(task.load_format, formats, bvh=task.bvh),
                                            moment=task.moment)
    return library


def _modules(task: Task, library: Library) -> Scores:
    """Return the modules for the files of a score; open files are read from their Texts.

    An open file that is not XML is an error only for scores that name it.
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
            continue  # resolving reports it
        own = load.src.rpartition(".")[2]
        found += [(load.src if len(held) == 1 else f"{load.src}.{clip.name or own}", _as_kept(clip.duration_s))
                  for clip in held]
    return tuple(found[:_MAX_LISTED_CLIPS])


def _procedures(programme: Programme) -> tuple[tuple[str, float, float], ...]:
    """Return the procedures that can be started, in clock seconds; with required parameters the length is unknown."""
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
    """Return a length with the precision of Blender's properties."""
    return float(np.float32(length))


def keep_resolved(task: Task, actions: frozenset[str], resolved: Resolved | None) -> None:
    """Store a score with all its names looked up for the next performance.

    A score that plays Actions is not stored, since Blender sends no notification when these change.
    """
    if resolved is not None and not actions and task.moment is _moment:
        _programmes[task.key] = resolved
        while len(_programmes) > _MAX_PROGRAMMES:
            _programmes.popitem(last=False)


@dataclass(frozen=True, eq=False)
class Expanded:
    """An expanded score, without a motion.

    sequence: in even time; clock: for changes of tempo; library: for its names; programme: with gaps
    for clips that cannot be read or found.
    """

    sequence: Segments
    clock: Clock | None
    library: Library
    programme: Programme


def expand_score(text: str, character: properties.TaktCharacter, armature_object: bpy.types.Object) -> Expanded:
    """Return the expanded score of a character; raise TaktError as perform_score does, but not for gaps alone."""
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
    """Return a score's text without its faulty procedures, the names of the others, and the faulty ones' mistakes.

    Faulty procedures are removed one after the other until the score can be read; a procedure that calls one of them
    is faulty too. Raises TaktError as perform_score does, if the mistake is outside of its procedures.
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
    """Return the document of a score, even if it cannot be played, and its library; raise TaktError if not a score."""
    task = read_task(text, properties.score_path(character), character, armature_object)
    return _read(task, clips.clips_of_action(armature_object, CLIPS), clips.formats(), set())


def settings_of(character: properties.TaktCharacter, *, is_cast: bool = True) -> Settings:
    """Return the settings of a character's score for core; is_cast: with its cast."""
    armature_object = cast(bpy.types.Object, character.id_data)
    return Settings(**{name: getattr(character, name) for name in properties.SETTING_NAMES if name in _SETTINGS},
                    values=parameters.chosen(character), seed=character.seed,
                    released=read_released(character.released), cast=casting.read(armature_object) if is_cast else (),
                    unit_m=axes.unit_m(armature_object))


def moment() -> object:
    """Return an object that stands for the last check of files: the same until the next check."""
    return _moment


def look_at_files() -> None:
    """Let the next performances check for changed and new files; unchanged ones are not read again."""
    global _moment
    _moment = object()
    _programmes.clear()
    _libraries.clear()
    skin_points.forget()


def dependencies(armature_object: bpy.types.Object, values: Hashable = None,
                 skin: int | None = None) -> tuple[Hashable, ...]:
    """Return all that the motion of an armature's score depends on, except its clips.

    The score's text comes first. values: instead of those of the current frame. skin: its checksum, if no mesh may
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
            *((character.released,) if character.released else ()),  # Actions made before this part existed stay valid
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
