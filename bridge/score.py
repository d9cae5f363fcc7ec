"""The score of a character: kept as a Text, performed on the armature's skeleton."""

from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import bpy
import numpy as np

from ..core import rotations as rot
from ..core.errors import FileError, TaktError
from ..core.motion import Motion
from ..core.pha.library import Library, read_file
from ..core.score import Settings, perform
from . import armature, axes, clips, joint_map, properties

_MAX_PERFORMANCES = 64
_UP = np.array((0.0, 1.0, 0.0))
"""Up, in H-Anim's axes."""
_Key = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class _Performance:
    """What came of a score: the motion, or the error that stood in the way."""

    key: _Key
    motion: Motion | None
    error: TaktError | None = None


_performances: OrderedDict[int, _Performance] = OrderedDict()
"""The last performance of each character, by the session's number of its object."""


def perform_score(text: str, filepath: str, settings: properties.ScoreSettings,
                  armature_object: bpy.types.Object) -> Motion:
    """Make the motion that a score means for an armature.

    filepath: where the score came from, "" where it was written in Blender.
    Raises TaktError, with every problem and its place, where the score cannot be played.
    """
    path = Path(bpy.path.abspath(filepath)) if filepath else None
    roots = [Path(bpy.path.abspath(settings.library))] if settings.library else []
    chosen: Any = {name: getattr(settings, name) for name in properties.SETTING_NAMES if name != "library"}
    library = Library(roots, readers=clips.READERS, other_clips=clips.clips_of_action(armature_object),
                      maps=joint_map.kept_map(armature_object))
    turn = axes.armature_from_hanim(armature_object)
    return perform(text, path, library, armature.read_skeleton(armature_object), Settings(**chosen), turn=turn,
                   up=rot.rotate(turn, _UP))


def motion_of(armature_object: bpy.types.Object) -> Motion | None:
    """Return the motion of the score kept with an armature, None where there is none or it cannot be played.

    Cheap to ask for at every frame: the score is performed again only when its text, its settings or the
    skeleton have changed. Files in the library count as unchanged until `forget` is called.
    """
    return _performance(armature_object).motion


def error_of(armature_object: bpy.types.Object) -> TaktError | None:
    """Return why the score kept with an armature could not be played when it was last tried, None where it could."""
    known = _performances.get(armature_object.session_uid)
    return None if known is None else known.error


def keep(armature_object: bpy.types.Object, motion: Motion) -> None:
    """Let a motion that was just made from what is kept with the armature be found by `motion_of`."""
    character = properties.character(armature_object)
    assert character.text is not None
    _remember(armature_object, _Performance(_key(character.text.as_string(), character, armature_object), motion))


def forget(armature_object: bpy.types.Object | None = None) -> None:
    """Read the files anew the next time, for one armature or for all."""
    if armature_object is None:
        _performances.clear()
    else:
        _performances.pop(armature_object.session_uid, None)


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


def _performance(armature_object: bpy.types.Object) -> _Performance:
    character = properties.character(armature_object)
    if character.text is None:
        return _Performance((), None)
    text = character.text.as_string()
    key = _key(text, character, armature_object)
    known = _performances.get(armature_object.session_uid)
    if known is not None and known.key == key:
        return known
    try:
        motion = perform_score(text, character.filepath, character, armature_object)
        performance = _Performance(key, motion)
    except TaktError as error:
        performance = _Performance(key, None, error)
    _remember(armature_object, performance)
    return performance


def _remember(armature_object: bpy.types.Object, performance: _Performance) -> None:
    _performances[armature_object.session_uid] = performance
    _performances.move_to_end(armature_object.session_uid)
    while len(_performances) > _MAX_PERFORMANCES:
        _performances.popitem(last=False)


def _key(text: str, character: properties.TaktCharacter, armature_object: bpy.types.Object) -> _Key:
    """Return all that a motion depends on, but for the files of the library."""
    bones = cast(bpy.types.Armature, armature_object.data).bones
    rest = np.empty(len(bones) * 16, dtype=np.float32)
    bones.foreach_get("matrix_local", rest)
    names = tuple(bone.name for bone in bones)
    return (text, character.filepath, *(getattr(character, name) for name in properties.SETTING_NAMES), names,
            rest.tobytes(), joint_map.key(armature_object))
