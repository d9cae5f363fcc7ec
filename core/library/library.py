"""A library: folders in which scores, clips and skeleton maps are found by their src."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..clips.clip import Clip
from ..clips.clip_file import ClipFile
from ..errors import FileError, Problem, quoted, some_of
from ..formats import format_of
from ..formats.format import Format
from ..pha.document import Document, parse
from ..pha.naming import near
from ..retargeting.comparing.bvh_space import in_hanim_space
from ..skeletons.maps import SUFFIX as MAP_SUFFIX
from ..skeletons.maps import SavedMap, SkeletonMap, find_map, fingerprint, is_map, read_map
from ..skeletons.skeleton import Skeleton
from . import files
from .clip_files import files_named, files_read, read_clip_file
from .reading import Reading
from .store import ClipStore, key_of_shape

SCORE_SUFFIX = ".pha"
SOUND_ENDINGS = (".wav", ".ogg", ".flac", ".mp3")
LEVELS_UP = 5
"""Folders, from a score's own upwards, among which its library is looked for."""
_MAX_MAPS = _MAX_WANTED = 1_000
_ENDINGS_SHOWN = 6

FindClips = Callable[[str], tuple[Clip, ...] | None]


@dataclass(frozen=True, eq=False)
class _Played:
    """All clips of a file, with those of linked files; links: what each name of another file led to."""

    clips: tuple[Clip, ...]
    warnings: tuple[str, ...]
    links: tuple[tuple[str, ClipFile | None], ...]


class Library:
    """Root folders that contain every src; a library looks up each file and each src once.

    It always looks up score files and missing files itself, even if it shares the lookups of another library; see
    moment.

    roots: folders, searched in this order. If there are none, beside() finds one for a score.
    further: folders searched after the roots, and after the one that beside() finds.
    reading: how clip files are read.
    other_clips: called last, for a src that no file has (returns None if unknown); it gives Blender's Actions.
    maps: take precedence over map files in the roots.
    store: caches the clips that are read, for other libraries too. moment: any object. Libraries with the same moment
    share what the first of them found: which clips exist, in which files, and their state at that time. None: each
    library looks for itself.
    """

    def __init__(self, roots: Sequence[Path] = (), *, further: Sequence[Path] = (), reading: Reading | None = None,
                 other_clips: FindClips | None = None, maps: Sequence[SavedMap] = (), store: ClipStore | None = None,
                 moment: object = None) -> None:
        self._reading = reading or Reading()
        self._endings, self._among = self._reading.endings, self._reading.endings_in_order
        self._further = tuple(Path(os.path.realpath(root)) for root in further)
        self._has_given_roots = bool(roots)
        self.roots = (*(Path(os.path.realpath(root)) for root in roots), *self._further)
        self._other_clips = other_clips
        self._modules: dict[Path, Document] = {}
        self._others: dict[str, tuple[Clip, ...] | None] = {}
        self._found: dict[str, tuple[Path, ...]] = {}
        self._elsewhere: dict[str, str] = {}  # the src of a file that was found deeper, by the one that it was found by
        self._clips: dict[Path, tuple[tuple[Clip, ...], tuple[Problem, ...]]] = {}
        self.store, self._moment = store or ClipStore(), moment
        self._maps_in_hanim: dict[Skeleton, SkeletonMap] = {}
        self._given_maps, self._maps = tuple(maps), tuple(maps)
        self._has_read_maps = False
        self._damaged_maps: tuple[Problem, ...] = ()
        self._beside: dict[Path, Library] = {}

    @property
    def clip_files(self) -> tuple[Path, ...]:
        """The files whose clips the library has returned."""
        return tuple(self._clips)

    def with_other_clips(self, other_clips: FindClips) -> Library:
        """Return this library with other clips that are not in files; both libraries share the clips that they read.

        Included scores are read again.
        """
        new = copy(self)
        new._other_clips, new._others, new._modules = other_clips, {}, {}
        return new

    def beside(self, document: Document) -> Library:
        """Return this library, or if it has no roots, one with the root that fits the score.

        The root is the nearest folder, from the score's own upwards, in which every src of the score leads to a file.
        If there is none, it is the folder in which most do.
        """
        if self._has_given_roots or document.path is None:
            return self
        folder = Path(os.path.realpath(document.path)).parent
        folders = (folder, *folder.parents)[:LEVELS_UP]
        scores = (*((document.extends,) if document.extends is not None else ()), *document.includes)
        wanted: list[tuple[str, tuple[str, ...]]] = [(source.src, (SCORE_SUFFIX,)) for source in scores]
        wanted += [(i.src, self._endings) for i in document.loads]
        wanted += [(document.music.src, SOUND_ENDINGS)] if document.music is not None else []
        root = self._fitting(folders, wanted[:_MAX_WANTED])
        if root not in self._beside:
            self._beside[root] = Library(
                (root,), further=self._further, reading=self._reading, other_clips=self._other_clips,
                maps=self._given_maps, store=self.store, moment=self._moment)
        return self._beside[root]

    def _fitting(self, folders: Sequence[Path], wanted: Sequence[tuple[str, tuple[str, ...]]]) -> Path:
        """Return the first folder from which the fewest src lead nowhere."""
        fewest, best = len(wanted) + 1, folders[0]
        for root in folders:
            missing = sum(not self.store.seen(("is there", root, *which), partial(files.is_there, root, *which),
                                              self._moment) for which in wanted)
            if missing < fewest:
                fewest, best = missing, root
            if not missing:
                break
        return best

    def src_of(self, path: Path | None) -> str | None:
        """Return the src of a score file, or None if it is in no root."""
        return None if path is None or not path.name.endswith(SCORE_SUFFIX) else self._src_below_root(path)

    def src_of_playable(self, path: Path, *, is_new: bool = False) -> str | None:
        """Return the src of a score or a clip file, or None if no src leads to this file.

        is_new: the file does not exist yet.
        """
        real, among = self.identity(path), (*self._endings, SCORE_SUFFIX)
        ending = max((ending for ending in among if real.name.endswith(ending)), key=len, default=None)
        root = next((root for root in self.roots if real != root and real.is_relative_to(root)), None)
        if ending is None or root is None:
            return None
        src = ".".join(real.relative_to(root).parts).removesuffix(ending)
        alike = (SCORE_SUFFIX,) if ending == SCORE_SUFFIX else self._endings
        try:
            found = [file for at in self.roots[:self.roots.index(root)] for file in files.candidates(at, src, alike)]
            if is_new:
                has_dots = src.count(".") >= len(real.relative_to(root).parts)
                before = alike if has_dots else alike[:alike.index(ending)]
                found += [f for f in files.candidates(root, src, before) if has_dots or f.parent == real.parent]
                found.append(real)
            else:
                found += files.candidates(root, src, alike)
        except FileError:
            return None
        return src if found and found[0] == real else None

    def src_of_sound(self, path: Path) -> str:
        """Return the src of a sound file.

        Raises FileError if no root contains it, or if its ending or its name is not allowed in a src.
        """
        if path.suffix.lower() not in SOUND_ENDINGS:
            raise FileError.at(f"is no sound that a score can name; endings that can: {', '.join(SOUND_ENDINGS)}", path)
        src = self._src_below_root(path)
        if src is None:
            roots = ", ".join(str(root) for root in self.roots) or "none is set"
            raise FileError.at(f"lies outside the score's library ({roots}); copy it beside the score", path)
        if not any(self.identity(path) in files.candidates(root, src, SOUND_ENDINGS) for root in self.roots):
            raise FileError.at("has a name that a score cannot write; rename it, without dots before its ending", path)
        return src

    def sound_path(self, src: str) -> Path:
        """Return the sound file of a src; raise FileError if it is missing or outside the library."""
        for root in self.roots:
            for path in files.candidates(root, src, SOUND_ENDINGS):
                return path
        raise self._not_found(src, SOUND_ENDINGS)

    def _src_below_root(self, path: Path) -> str | None:
        real = self.identity(path)
        for root in self.roots:
            if real != root and real.is_relative_to(root):
                return ".".join(real.relative_to(root).with_suffix("").parts)
        return None

    def identity(self, path: Path) -> Path:
        """Return the real path of a file, which is the same for all paths that lead to it."""
        return Path(os.path.realpath(path))

    def module_path(self, src: str) -> Path:
        """Return the score file of a src; raise FileError if it is missing or outside the library."""
        for root in self.roots:
            for path in files.candidates(root, src, (SCORE_SUFFIX,)):
                return path
        if len(deeper := self._deeper(src, (SCORE_SUFFIX,))) == 1:
            return deeper[0][0]
        raise self._not_found(src, (SCORE_SUFFIX,))

    def module(self, path: Path) -> Document:
        """Read a score file that module_path returned."""
        if path not in self._modules:
            self._modules[path] = parse(files.read_file(path), path)
        return self._modules[path]

    def clips(self, src: str) -> tuple[tuple[Clip, ...], tuple[Problem, ...]]:
        """Return all clips of a src, and problems with them (without a place in a score).

        Raises FileError if there is no such file or it cannot be read.
        """
        found = self._files_of(src)
        if not found:
            clips = self._others_of(src)
            if clips is None:
                raise self._not_found(src, self._among)
            return clips, ()
        path = found[0]
        clips, said = self.clips_of_file(path)
        if (own := self._elsewhere.get(src)) is not None:
            said += (_warning(f"<load> src: {quoted(src)} is not there and is taken from {path}; in this library its "
                              f"name is {quoted(own)}"),)
        if len(found) > 1:
            others = ", ".join(str(p) for p in found[1:6])
            said += (_warning(f"<load> src: {quoted(src)} is taken from {path}; there are also {others}"),)
        return clips, said

    def _files_of(self, src: str) -> tuple[Path, ...]:
        """Return the files that a src leads to; none where other clips are called so, whose names need be no paths."""
        found = self._found.get(src)
        if not found:  # perhaps it is there by now
            try:
                found = self.store.seen(("files", self.roots, src, self._among),
                                        partial(self._candidates, src, self._among), self._moment)
            except FileError:
                if self._others_of(src) is None:
                    raise
                found = ()
            if not found and self._others_of(src) is None and len(deeper := self._deeper(src, self._among)) == 1:
                found = deeper[0]
                self._elsewhere[src] = self.src_of_playable(found[0]) or src
            self._found[src] = found
        return found

    def _others_of(self, src: str) -> tuple[Clip, ...] | None:
        if src not in self._others:
            self._others[src] = self._other_clips(src) if self._other_clips else None
        return self._others[src]

    def clips_of_file(self, path: Path) -> tuple[tuple[Clip, ...], tuple[Problem, ...]]:
        """Return all clips of a file, and problems with them (without a place in a score).

        path: a real path, in any folder; files that it links to must be in a root. Raises FileError if it cannot be
        read.
        """
        known = self._clips.get(path)
        if known is None:
            known = self._read(path)
            if all(problem.is_note for problem in known[1]):  # else perhaps it was mended when it is asked for again
                self._clips[path] = known
        return known

    @property
    def damaged_maps(self) -> tuple[Problem, ...]:
        """Warnings about map files in the roots that cannot be read, and are therefore ignored."""
        self._look_for_maps()
        return self._damaged_maps

    def skeleton_map(self, skeleton: Skeleton) -> SkeletonMap:
        """Return a skeleton's map to H-Anim: from a map file in one of the roots, else detected."""
        if skeleton in self._maps_in_hanim:
            return self._maps_in_hanim[skeleton]
        self._look_for_maps()
        rig = self.store.made(("rig", skeleton), partial(fingerprint, skeleton)) if self._maps else ""
        saved = next((saved for saved in self._maps if saved.rig == rig), None)
        if saved is None:
            return self._found_map(skeleton)
        turn = None if saved.turn is None else saved.turn.tobytes()
        pose = tuple((name, values.tobytes()) for said in (saved.pose, saved.rest) for name, values in said.items())
        return self.store.made(("map", skeleton, turn, pose, *saved.meant.items()), partial(saved.of, skeleton))

    def _found_map(self, skeleton: Skeleton) -> SkeletonMap:
        """Return what joints are by names and shape, found once for all files with the same skeleton."""
        def of_its_shape() -> SkeletonMap:
            found = self.store.made(("map", key_of_shape(skeleton)), partial(find_map, skeleton))
            return found if found.skeleton is skeleton else replace(found, skeleton=skeleton)

        return self.store.made(("map", skeleton), of_its_shape)

    def _look_for_maps(self) -> None:
        if not self._has_read_maps:
            found, self._damaged_maps = self.store.seen(("maps", self.roots), self._read_maps, self._moment)
            self._maps, self._has_read_maps = (*self._given_maps, *found), True

    def _read_maps(self) -> tuple[tuple[SavedMap, ...], tuple[Problem, ...]]:
        """Return the maps in all roots, and what is wrong with those that are damaged; other files .map are no maps."""
        found, damaged = [], []
        for path in (path for root in self.roots for path in sorted(root.glob("*" + MAP_SUFFIX))[:_MAX_MAPS]):
            try:
                data = files.read_file(path)
                if is_map(data):
                    found.append(read_map(data, path))
            except FileError as error:
                damaged += [replace(problem, message=f"{problem.message}; the map is left out", is_warning=True)
                            for problem in error.problems]
        return tuple(found), tuple(damaged)

    def _candidates(self, src: str, among: tuple[str, ...]) -> tuple[Path, ...]:
        return tuple(path for root in self.roots for path in files.candidates(root, src, among))

    def _deeper(self, src: str, among: tuple[str, ...]) -> tuple[tuple[Path, ...], ...]:
        """Return the files of a src in each folder below the roots that has some, looked up once for a moment."""
        moment = self._moment
        if moment is None:
            return files.deeper(self.roots, src, among)
        key = "deeper", self.roots, src, among
        return self.store.made(key, lambda: (moment, files.deeper(self.roots, src, among)),
                               lambda seen: seen[0] is moment)[1]

    def _read(self, path: Path) -> tuple[tuple[Clip, ...], tuple[Problem, ...]]:
        """Return all clips of a file and of those that it links, and problems with them."""
        entry = format_of(path, self._reading.formats)
        if entry is None:
            raise FileError.at(f"clips of this kind cannot be read; endings that can: {', '.join(self._endings)}", path)
        played = self._played(self._file(path), path, entry)
        said = tuple(_warning(f"{path.name}: {warning}") for warning in played.warnings)
        if entry.says_space:
            return played.clips, said
        clips, notes = self._turn_to_hanim(played.clips, path)
        return clips, said + notes

    def _played(self, file: ClipFile, path: Path, entry: Format) -> _Played:
        """Return a file's clips, the same ones as before as long as all its links lead to the same files."""
        def holds(played: _Played) -> bool:
            return all(self._file_linked(path.parent, name) is found for name, found in played.links)

        return self.store.made(("played", file, path), lambda: self._linked(file, path, entry), holds)

    def _linked(self, file: ClipFile, path: Path, entry: Format) -> _Played:
        if entry.follow_links is None:
            return _Played(file.played, file.warnings, ())
        links: dict[str, ClipFile | None] = {}

        def find(name: str) -> ClipFile | None:
            links[name] = self._file_linked(path.parent, name)
            return links[name]

        more, missing = entry.follow_links(file, path.name, find)
        return _Played((*file.played, *more), (*file.warnings, *missing), tuple(links.items()))

    def _file_linked(self, folder: Path, name: str) -> ClipFile | None:
        path = files.linked_file(folder, name, self.roots)
        return None if path is None else self._file(path)

    def _file(self, path: Path) -> ClipFile:
        second = self._reading.second_files.get(path)

        def read() -> ClipFile:
            return read_clip_file(path, self._reading.formats, beside=second)

        def named(file: ClipFile) -> tuple[Path, ...]:
            return files_named(path, file)

        return self.store.read(files_read(path, self._reading.formats, second), read, self._moment, named)

    def _turn_to_hanim(self, clips: Sequence[Clip], path: Path) -> tuple[tuple[Clip, ...], tuple[Problem, ...]]:
        """Bring the clips of a file that says neither its axes nor its unit into H-Anim's axes and metres."""
        moved, said = [], []
        for clip in clips:
            found = self.skeleton_map(clip.skeleton)
            new, new_map, says = self.store.made(("in_hanim_space", clip, found.digest, self._reading.bvh),
                                                 partial(in_hanim_space, clip, found, self._reading.bvh))
            self._maps_in_hanim[new.skeleton] = new_map
            moved.append(new)
            said.append(Problem(f"{path.name}: {says}", is_warning=True, is_note=True))
        return tuple(moved), tuple(said)

    def _not_found(self, src: str, among: tuple[str, ...]) -> FileError:
        files.parts_of(src)
        roots = ", ".join(map(str, self.roots)) or "no library at all: name its folder, or save the score beside it"
        bare = files.without_ending(src, among)
        found = " or ".join(own for paths in self._deeper(src, among) if (own := self.src_of_playable(paths[0])))
        beside = [there for root in self.roots for there in files.sources_beside(root, bare, among)]
        hint = f"; did you mean {found}?" if found else near(
            bare, [there for there in beside if there != src])  # a link to nothing is listed
        gone = [root for root in self.roots if not root.is_dir()]
        if gone and not hint:
            return FileError(Problem(f"found no file for {quoted(src)}: the folder {gone[0]} is gone; bring it back, "
                                     "or choose another folder of clips", gone=str(gone[0])))
        return FileError.at(f"found no file for {quoted(src)}{hint or '.'} A file was expected below {roots}: "
                            f"{src.replace('.', '/')[:200]} ending in {some_of(among, _ENDINGS_SHOWN)}")


def _warning(message: str) -> Problem:
    return Problem(message, is_warning=True)
