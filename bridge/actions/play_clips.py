"""Play clips of files on an armature without a score: each becomes an Action of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import bpy
import numpy as np
from bpy.props import BoolProperty

from ...core.clips.clip import Clip
from ...core.errors import FileError, TaktError
from ...core.formats import FORMATS, endings, format_of
from ...core.library.library import Library
from ...core.library.reading import Reading
from ...core.library.store import ClipStore
from ...core.maths import rotations as rot
from ...core.maths.arrays import BoolArray, FloatArray
from ...core.playing.alone import standing
from ...core.playing.stage import Playable
from ...core.retargeting.comparing.bvh_space import AUTO, BvhSpace
from ...core.retargeting.outcome import Outcome
from ...core.retargeting.retarget import Retargeted, retarget, with_contacts
from ...core.retargeting.skin_points import SkinPoints
from ...core.skeletons.hanim import UP
from ...core.skeletons.maps import SkeletonMap
from ...core.skeletons.skeleton import Skeleton
from .. import axes, libraries, properties
from ..files import clips
from ..meshes import skin_points
from ..rigs import armature, bone_rules, constraints, joint_map
from . import action, clip_of_action, timeline
from .channels import clip_channels

MOST_BYTES: Final = 2**28
"""Greatest size of clips kept while others are read, in bytes; those of one folder are played once."""


@dataclass(frozen=True)
class ClipSettings:
    """How an armature plays clips of files.

    keep_contacts: hands keep touching each other or the body, and arms stay outside of the trunk. lock_feet: foot lock
    in clips of another body. mute_constraints: mute constraints that move bones of the clip. begins_at_rest: clips
    begin where the character stands, not where their files have them. bvh_up, bvh_forward: axes of BVH files; AUTO for
    the character's setting. second_files: by clip file, the file that the user has chosen beside it, such as a model.
    """

    keep_contacts: bool = True
    lock_feet: bool = True
    mute_constraints: bool = False
    begins_at_rest: bool = False
    bvh_up: str = AUTO
    bvh_forward: str = AUTO
    second_files: Mapping[Path, Path] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, eq=False)
class ClipPlayer:
    """An armature that plays clips of files, with its data read once for all of them.

    target, target_map: its skeleton and the map of it. turn: (4,) from H-Anim's axes to its own. skin: (J,) bones that
    deform. points: samples of the meshes that are bound to it.
    """

    armature_object: bpy.types.Object
    library: Library
    target: Skeleton
    target_map: SkeletonMap
    turn: FloatArray
    skin: BoolArray
    points: SkinPoints | None
    settings: ClipSettings

    @classmethod
    def of(cls, armature_object: bpy.types.Object, files: Iterable[Path], settings: ClipSettings,
           store: ClipStore | None = None) -> ClipPlayer:
        """Prepare an armature for clips of some files. store: cache of clips that were read before.

        Raises TaktError if a map file beside one of the files is damaged, or if both axes of BVH files are parallel.
        """
        character = properties.character(armature_object)
        space = BvhSpace(character.bvh_up if settings.bvh_up == AUTO else settings.bvh_up,
                         character.bvh_forward if settings.bvh_forward == AUTO else settings.bvh_forward)
        folders = dict.fromkeys(path.resolve().parent for path in files)
        seconds = {path.resolve(): second for path, second in settings.second_files.items()}
        library = Library([*folders], further=libraries.folders(), reading=Reading("", clips.formats(), seconds, space),
                          maps=joint_map.kept_map(armature_object), store=store or ClipStore(MOST_BYTES))
        target = armature.read_skeleton(armature_object)
        return cls(armature_object, library, target, library.skeleton_map(target),
                   axes.armature_from_hanim(armature_object), armature.read_skin(armature_object),
                   skin_points.read_points(armature_object), settings)

    def read(self, path: Path) -> dict[str, Clip]:
        """Return the clips of a file by name; a file's only clip has the file's name.

        Raises FileError if the file cannot be read or holds none.
        """
        found = self.library.clips_of_file(path.resolve())[0]
        if not found:
            raise TaktError(f"{path.name} holds no clips")
        if len(found) == 1:
            return {stem_of(path): found[0]}
        return {clip.name or f"{stem_of(path)} {number}": clip for number, clip in enumerate(found, start=1)}

    def warnings(self, path: Path) -> tuple[str, ...]:
        """Return the problems of a file whose clips can still be read."""
        found = self.library.clips_of_file(path.resolve())[1]
        return tuple(problem.message for problem in found if not problem.is_note)

    def retargeted(self, clip: Clip) -> Retargeted:
        """Return a clip retargeted to the armature's skeleton; raise SkeletonMismatchError if that cannot be done."""
        source_map = self.library.skeleton_map(clip.skeleton)
        done = retarget(clip, self.target, self.turn, source_map=source_map, target_map=self.target_map, skin=self.skin,
                        points=self.points, without_first_pose=True, keep_contacts=self.settings.keep_contacts,
                        begins_at_rest=self.settings.begins_at_rest)
        return with_contacts(done, clip, source_map) if self.settings.lock_feet and not done.is_own else done

    def played(self, done: Retargeted) -> Playable:
        """Return the motion that the armature plays for a clip, with foot lock if the clip is of another body."""
        if not self.settings.lock_feet or done.is_own:
            return done.clip
        up = self.target_map.up(rot.rotate(self.turn, UP))
        return standing(done.clip, self.target_map, up, self.points, done.doubles)

    def write(self, path: Path, name: str, clip: Playable, scene: bpy.types.Scene, *, is_played: bool
              ) -> bpy.types.Action:
        """Make an Action of a file's clip on the armature's skeleton, from the scene's first frame on.

        The Action made earlier from it is rewritten, unless it was changed. is_played: assign it to the armature, and
        extend the scene's range to it.
        """
        channels = clip_channels(clip, scene, scene.frame_start, bone_rules.read_rules(self.armature_object))
        before = clip_of_action.earlier(self.armature_object, path, name)
        new = action.write_new_action(self.armature_object, name, channels, before)
        clip_of_action.mark(new, path, name)
        moved = [clip.skeleton.names[joint] for joint in np.flatnonzero(clip.moved).tolist()]
        names = moved if self.settings.mute_constraints else []
        if not is_played:
            constraints.mute_once_played(self.armature_object, names, new)
        else:
            action.assign(self.armature_object, new, channels)
            constraints.mute(self.armature_object, names, new)
            timeline.hold_instead(self.armature_object, scene, channels.last_frame)
        return new

    def play_file(self, path: Path, called: str, scene: bpy.types.Scene, *, is_played: bool) -> list[Outcome]:
        """Make an Action of each clip of a file, and return their outcomes; the first is played, if is_played.

        called: the file's name in the outcomes. A problem of a file or a clip affects only that one.
        """
        try:
            found = self.read(path)
        except TaktError as error:
            return [Outcome(called, problem=_in_one_line(error, path))]
        outcomes = []
        for name, clip in found.items():
            try:
                done = self.retargeted(clip)
            except TaktError as error:
                outcomes.append(Outcome(called, name, problem=_in_one_line(error, path)))
                continue
            new = self.write(path, name, self.played(done), scene, is_played=is_played)
            is_played = False
            outcome = Outcome.of(called, new.name, done)
            outcomes.append(replace(outcome, notes=(*self.warnings(path), *outcome.notes)))
        return outcomes


def keep_contacts_property() -> Any:
    """Return the property for kept contacts, for operators that play clips."""
    return BoolProperty(name="Keep Contacts", default=True,
                        description="Keep hands touching each other, trunk, head or thighs as in the clip, and keep "
                                    "arms out of a stouter trunk")


def lock_feet_property() -> Any:
    """Return the property for foot lock, for operators that play clips."""
    return BoolProperty(name="Foot Lock", default=True,
                        description="Hold feet in place during the contacts of the clip. Off: keeps foot skating")


def mute_constraints_property() -> Any:
    """Return the property for muted constraints, for operators that play clips."""
    return BoolProperty(name="Mute Constraints", default=True,
                        description="Mute constraints that would move bones differently from the clip, as those of "
                                    "IK. Off: they act again")


def begins_at_rest_property() -> Any:
    """Return the property for the clip's place, for operators that play clips."""
    return BoolProperty(name="Begin at Character", default=False,
                        description="Move the clip over the ground so that it begins at the character. Off: it plays "
                                    "at the position in its file")


def name_among(names: Iterable[str], asked: str) -> str | None:
    """Return the requested name, or the only one with that last part, since FBX puts the armature's name before it.

    >>> name_among(["Rig|walk", "Rig|run"], "walk"), name_among(["A|walk", "B|walk"], "walk")
    ('Rig|walk', None)
    """
    known = list(names)
    meant = [name for name in known if name.rpartition("|")[2] == asked]
    return asked if asked in known else meant[0] if len(meant) == 1 else None


def stem_of(path: Path) -> str:
    """Return a file's name without the ending of its format."""
    entry = format_of(path)
    ending = max((e for e in entry.endings if path.name.lower().endswith(e)), key=len) if entry else path.suffix
    return path.name[:len(path.name) - len(ending)]


def files_in(paths: Iterable[Path], *, is_recursive: bool = False) -> list[Path]:
    """Return the clip files among paths, and those in folders among them; sorted by name, each once.

    is_recursive: also in folders within these, each after the files beside it.
    """
    found: dict[Path, None] = {}
    for path in paths:
        inside = _inside(path, is_recursive) if path.is_dir() else [path]
        found |= dict.fromkeys(p for p in inside if not path.is_dir() or (p.is_file() and format_of(p)))
    return list(found)


def _inside(folder: Path, is_recursive: bool) -> Iterator[Path]:
    inside = sorted(folder.iterdir())
    yield from inside
    for path in inside if is_recursive else ():
        if path.is_dir() and not path.is_symlink():  # a link may lead back here
            yield from _inside(path, is_recursive)


def folders_within(paths: Iterable[Path]) -> list[Path]:
    """Return the folders within those paths that are folders."""
    return [inside for path in dict.fromkeys(paths) if path.is_dir() for inside in sorted(path.iterdir())
            if inside.is_dir()]


def names_of(files: Sequence[Path]) -> dict[Path, str]:
    """Return the names of files for a table: from several folders, their paths below the common folder."""
    folders = {str(path.resolve().parent) for path in files}
    if len(folders) < 2:
        return {path: path.name for path in files}
    try:
        top = os.path.commonpath(folders)
    except ValueError:  # on two drives
        return {path: str(path) for path in files}
    return {path: path.resolve().relative_to(top).as_posix() for path in files}


def file_endings() -> tuple[str, ...]:
    """Return the endings of all files with clips."""
    return endings(FORMATS)


def _in_one_line(error: TaktError, path: Path) -> str:
    """Return the problems of a file in one line, without its name."""
    problems = error.problems if isinstance(error, FileError) else ()
    said = " ".join(each.said_beside(path.resolve()) for each in problems) or str(error)
    return " ".join(said.split())
