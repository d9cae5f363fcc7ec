"""The score of a character: kept as a Text, performed on the armature's skeleton."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ..core.errors import FileError, TaktError
from ..core.library.files import read_file
from ..core.library.library import Library
from ..core.maths import rotations as rot
from ..core.pha.document import parse
from ..core.playing.motion import Motion
from ..core.playing.score import Settings, perform
from ..core.retargeting.bvh_space import BvhSpace
from . import armature, axes, clips, joint_map, libraries, limits, properties

_MAX_PERFORMANCES = 64
_TILT_DIGITS = 4
_LOOK_AGAIN_S = 0.1
_values = attrgetter(*properties.SETTING_NAMES)
_SETTINGS = frozenset(field.name for field in fields(Settings))
_UP = np.array((0.0, 1.0, 0.0))
"""Up, in H-Anim's axes."""
_Key = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class _Performance:
    """What came of a score: the motion, or the error that stood in the way."""

    motion: Motion | None
    error: TaktError | None = None


_performances: OrderedDict[_Key, _Performance] = OrderedDict()
"""By all that they depend on, so that characters who do the same share one motion."""
_last: dict[int, _Key] = {}
"""What each character played last, by the session's number of its object."""
_texts: set[int] = set()
"""The session's numbers of the Texts that were performed."""
_revision: tuple[int, Hashable] = (0, None)


_waiting: dict[_Key, tuple[int, Hashable, Mapping[str, object]]] = {}
"""What was wanted while something was drawn: the number of the armature's object, what rest_key gave, the changes."""
_when_performed: Callable[[], None] | None = None


def perform_score(text: str, filepath: str, settings: properties.ScoreSettings,
                  armature_object: bpy.types.Object) -> Motion:
    """Make the motion that a score means for an armature.

    filepath: where the score came from, "" where it was written in Blender.
    Raises TaktError, with every problem and its place, where the score cannot be played.
    """
    return _perform(text, filepath, _chosen(settings), armature_object)


def motion_of(armature_object: bpy.types.Object, rest: Hashable = None, **changes: object) -> Motion | None:
    """Return the motion of the score kept with an armature, None where there is none or it cannot be played.

    Cheap to ask for at every frame: the score is performed again only when its text, its settings or the
    skeleton have changed. Files in the library count as unchanged until `forget` is called.
    rest: what `rest_key` gave, from callers who know that the bones have not changed since.
    changes: settings that count instead of those kept with the armature.
    """
    return _performance(armature_object, rest, changes).motion


def revision() -> int:
    """Return a number that is another one whenever any character's score may have come to mean something else.

    So one look tells for all characters whether `motion_of` has to be asked. Their bones are not looked at, nor are
    settings with an animation of their own.
    """
    global _revision
    seen = (properties.changes(), libraries.folders(),
            *(text.as_string() for text in bpy.data.texts if text.session_uid in _texts))
    if seen != _revision[1]:
        _revision = _revision[0] + 1, seen
    return _revision[0]


def error_of(armature_object: bpy.types.Object) -> TaktError | None:
    """Return why the score kept with an armature could not be played when it was last tried, None where it could."""
    known = _performances.get(_last.get(armature_object.session_uid, ()))
    return None if known is None else known.error


def is_waiting(armature_object: bpy.types.Object) -> bool:
    """Tell whether the score kept with an armature, changed or not, will be performed as soon as nothing is drawn."""
    return any(uid == armature_object.session_uid for uid, *_ in _waiting.values())


def keep(armature_object: bpy.types.Object, motion: Motion) -> None:
    """Let a motion that was just made from what is kept with the armature be found by `motion_of`."""
    key = _key(armature_object, rest_key(armature_object), {})
    _last[armature_object.session_uid] = key
    _remember(key, _Performance(motion))


def keep_procedures(character: properties.TaktCharacter) -> None:
    """List the score's own procedures, any of which can be played, with their lengths."""
    assert character.text is not None
    document = parse(character.text.as_string())
    character.procedures.clear()
    for procedure in document.procedures:
        kept = character.procedures.add()
        kept.name, kept.ticks = procedure.name, procedure.ticks
        kept.seconds = kept.ticks * document.tick_s


@contextmanager
def while_drawing(then: Callable[[], None]) -> Iterator[None]:
    """Perform nothing meanwhile, but right afterwards, and call `then` when that is done.

    Clips of Blender's own files and Actions are read by bringing objects into the file, which must not be done from
    within a drawing.
    """
    global _when_performed
    before, _when_performed = _when_performed, then
    try:
        yield
    finally:
        _when_performed = before


def _perform_waiting(then: Callable[[], None]) -> float | None:
    """Perform what was wanted while something was drawn; return in how many seconds to try again, None when done."""
    manager = bpy.context.window_manager
    if manager is not None and clips.must_wait(manager.windows):
        return _LOOK_AGAIN_S
    wanted = list(_waiting.values())
    _waiting.clear()
    objects = {ob.session_uid: ob for ob in bpy.data.objects}
    for uid, rest, changes in wanted:
        if uid in objects:
            motion_of(objects[uid], rest, **changes)
    properties.count_change()
    then()
    return None


def forget(armature_object: bpy.types.Object | None = None) -> None:
    """Read the files anew the next time, for one armature (and those that do the same) or for all."""
    properties.count_change()
    if armature_object is None:
        _performances.clear()
        _last.clear()
        _texts.clear()
        return
    text = properties.character(armature_object).text
    for key in [key for key in _performances if text is not None and key[0] == text.as_string()]:
        del _performances[key]


def rest_key(armature_object: bpy.types.Object) -> Hashable:
    """Return what two armatures have in common if they have the same bones in the same rest pose, equally tilted."""
    bones = cast(bpy.types.Armature, armature_object.data).bones
    rest = np.empty(len(bones) * 16, dtype=np.float32)
    bones.foreach_get("matrix_local", rest)
    tilt = axes.armature_from_hanim(armature_object).round(_TILT_DIGITS) + 0.0  # no negative zeros
    return hash((tuple(bone.name for bone in bones), rest.tobytes(), tilt.tobytes(),
                 armature.read_skin(armature_object).tobytes()))


def read_text(filepath: str) -> str:
    """Return the text of a score's file; raise TaktError where it cannot be read."""
    path = Path(bpy.path.abspath(filepath))
    try:
        return read_file(path, path.resolve()).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError.at("is not UTF-8; save the score as UTF-8", path, byte=error.start) from error


def time_s(armature_object: bpy.types.Object, scene: bpy.types.Scene, frame: float) -> float:
    """Return the time in the score at a frame of the scene, which may have a fraction."""
    return (frame - properties.character(armature_object).frame_start) / frames_per_second(scene)


def frames_per_second(scene: bpy.types.Scene) -> float:
    """Return the scene's frames in a second."""
    return scene.render.fps / scene.render.fps_base


def _performance(armature_object: bpy.types.Object, rest: Hashable, changes: Mapping[str, object]) -> _Performance:
    character = properties.character(armature_object)
    if character.text is None:
        _last.pop(armature_object.session_uid, None)
        return _Performance(None)
    _texts.add(character.text.session_uid)
    key = _key(armature_object, rest or rest_key(armature_object), changes)
    if not changes:
        _last[armature_object.session_uid] = key
    known = _performances.get(key)
    if known is not None:
        _performances.move_to_end(key)
        return known
    if _when_performed is not None:
        if not _waiting:
            bpy.app.timers.register(partial(_perform_waiting, _when_performed))
        _waiting[key] = armature_object.session_uid, rest, changes
        return _Performance(None)
    try:
        chosen = {**_chosen(character), **changes}
        performance = _Performance(_perform(character.text.as_string(), character.filepath, chosen, armature_object))
    except TaktError as error:
        performance = _Performance(None, error)
    _remember(key, performance)
    return performance


def _remember(key: _Key, performance: _Performance) -> None:
    _performances[key] = performance
    while len(_performances) > _MAX_PERFORMANCES:
        _performances.popitem(last=False)


def _key(armature_object: bpy.types.Object, rest: Hashable, changes: Mapping[str, object]) -> _Key:
    """Return all that a motion depends on, but for the files of the library."""
    character = properties.character(armature_object)
    assert character.text is not None
    return (character.text.as_string(), character.filepath, libraries.folders(), *_values(character), rest,
            joint_map.key(armature_object), limits.key(armature_object) if character.joint_limits else None,
            *changes.items())


def _chosen(settings: properties.ScoreSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in properties.SETTING_NAMES}


def _perform(text: str, filepath: str, chosen: Mapping[str, Any], armature_object: bpy.types.Object) -> Motion:
    path = Path(bpy.path.abspath(filepath)) if filepath else None
    roots = [Path(bpy.path.abspath(chosen["library"]))] if chosen["library"] else []
    settings = Settings(**{name: value for name, value in chosen.items() if name in _SETTINGS})
    load_format = "" if chosen["load_format"] == properties.ANY_FORMAT else chosen["load_format"]
    library = Library(roots, further=libraries.folders(), load_format=load_format, formats=clips.formats(),
                      other_clips=clips.clips_of_action(armature_object),
                      maps=joint_map.kept_map(armature_object),
                      bvh=BvhSpace(chosen["bvh_up"], chosen["bvh_forward"]))
    turn = axes.armature_from_hanim(armature_object)
    return perform(text, path, library, armature.read_skeleton(armature_object), settings, turn=turn,
                   up=rot.rotate(turn, _UP),
                   limits=limits.read_limits(armature_object) if chosen["joint_limits"] else None,
                   skin=armature.read_skin(armature_object))
