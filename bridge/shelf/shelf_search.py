"""Search of a library's folders for the shelf: files, their contents and the classes of their clips.

It runs in a background thread. All files are listed first, so that each has its place. Then they are read one after the
other, then the classes of their clips are found. Files that only Blender reads are read by a second Blender as soon as
a shelf shows them (`shown_files.py`). For many files little is kept: neither clips nor whole figures.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final

import numpy as np

from ...core.classes import tags_file
from ...core.classes.after import EndPose, end_poses
from ...core.classes.matching import fingerprint
from ...core.classes.measures import followed, measure
from ...core.classes.rules import classify
from ...core.clips.clip import Clip
from ...core.clips.clip_file import ClipFile
from ...core.errors import FileError, NeedsBlenderError, NoClipError, TaktError
from ...core.formats import FORMATS, endings, of_blender
from ...core.formats.format import Format
from ...core.library.clip_files import files_read, read_clip_file
from ...core.library.contents import contents, folders_within
from ...core.library.files import candidates, read_file
from ...core.library.library import SCORE_SUFFIX, Library
from ...core.library.store import stamp
from ...core.maths.arrays import FloatArray
from ...core.pha.document import Document, Procedure, parse
from ...core.pha.expansion import length_s
from ...core.pha.programme import Programme, resolve
from ...core.retargeting.comparing.reference import find_reference
from ...core.score_editor.commands import Playable
from ...core.score_editor.figures import Figure, figure_of
from ...core.score_editor.shelf import DAMAGED, NO_CLIP, found_by
from ...core.skeletons.maps import find_map
from ..background import BackgroundWork
from ..files import clips
from ..files.clip_store import CLIPS
from ..files.second_blender import MOST_UNASKED_BYTES
from .library_files import File, files_of, taken_over
from .shown_files import ShownFiles

UNKNOWN_TICKS: Final = 4.0
"""Duration assumed for a procedure if nothing tells it."""
MANY_FILES: Final = 500
"""With more files, clips are read but not kept, and figures are kept at their key pose only."""
_MOST_WRONG: Final = 3
"""Most problems shown of missing folders and unreadable tags."""
_PAUSE_S: Final = 0.002
"""Pause for the interface after each file."""
_SETTLED_AFTER: Final = 200
"""With many files, garbage collection leaves out what is known after so many more."""
_SHOWN: Final = attrgetter("shown")
_FIRST_FILES, _GROWTH = 400, 4
"""Number of files that are first shown while folders are searched, and the factor by which it then grows."""
_FIRST_PAUSE_S: Final = 0.1
"""Pause for the interface to show the files before the first is read."""


@dataclass(frozen=True, eq=False)
class Known:
    """The known classes of a clip: of its content, motion, beginning and end."""

    words: tuple[str, ...]
    moments: FloatArray
    start: EndPose
    end: EndPose

    @classmethod
    def of(cls, clip: Clip, name: str) -> Known | None:
        """Classify a clip, or return None if its skeleton is no body."""
        body = followed(clip, find_map(clip.skeleton))
        if body is None:
            return None
        found = classify(measure(body, is_looping=clip.is_looping), f"{name} {clip.name}")
        return cls(found.words, fingerprint(body).astype(np.float32), *end_poses(body))


class Search:
    """A search of a library's folders in a thread, which writes only its results and the store of clips.

    All files are listed first, then read one after the other, so that each has its place from the beginning; of many,
    the first are shown before the others are found. is_listed: whether all are found. moment: the state of the files
    that it sees; see performing.moment. newer: a search of a later state, or of other folders too, not listed yet.
    before: an earlier search, whose results are shown of each file until it is read again.
    version: grows with every result, structure with every change of the chips' order. known: classes of clips.
    own_tags: the user's tags of clips, by name. wrong: missing folders and unreadable tags.
    """

    def __init__(self, roots: tuple[Path, ...], moment: object, before: Search | None = None) -> None:
        """Start."""
        self.moment = moment
        self._before = before
        self.newer: Search | None = None
        self.files: dict[str, File] = {}
        self.figures: dict[Playable, Figure] = {}
        self.known: dict[Playable, Known] = {}
        self.own_tags: dict[str, tuple[str, ...]] = {}
        self._tags_at: dict[str, tuple[str, str]] = {}
        self.wrong = ""
        self.without_src: tuple[str, ...] = ()
        self.left_out = self.version = self.structure = 0
        self.is_listed = False
        self._playables: tuple[int, tuple[Playable, ...]] = 0, ()
        self.roots = roots
        self.work = BackgroundWork(self._look, may_pause=True)
        self.shown = ShownFiles(self._unread, self._read_shown)

    @property
    def latest(self) -> Search:
        """The search that was started last."""
        return self.newer or self

    def end(self) -> None:
        """Stop searching."""
        self.shown.end()
        self.work.end()
        if not self._keeps:
            gc.unfreeze()

    def _settle(self) -> None:
        """Exclude the current objects from garbage collection until the end, if there are very many files.

        A full collection looks at every object, and nothing else runs meanwhile: with 20,000 clips, for 50 ms.
        """
        if not self._keeps:
            gc.collect(1)
            gc.freeze()

    def _look(self, go_on: Callable[[float], bool]) -> bool:
        before, self._before = self._before, None
        found = contents(self.roots, (*endings(), SCORE_SUFFIX),
                         tell=self._show_first if before is None else lambda _: None)
        self.without_src, self.left_out = found.unnamed, found.left_out
        self._show(found.files)
        if before is None:
            self.is_listed = True
            time.sleep(_FIRST_PAUSE_S)
        else:
            self._take_over(before)
            before = None  # so that its contents can be freed
        self._read_tags(found.files)
        self.is_listed = True
        self.version += 1
        files = list(self.files.values())
        for looked, what in enumerate((self._read, self._classify)):
            for number, file in enumerate(files):
                if not go_on((looked + number / len(files)) / 2.0):
                    return False
                try:
                    what(file, FORMATS)
                except NeedsBlenderError:
                    if file.held and file.stamp != _stamp_of(file):
                        file.forget()
                        self.version += 1
                        self.structure += 1
                    self._look_at_beginning(file)
                if number % _SETTLED_AFTER == 0:
                    self._settle()
                time.sleep(_PAUSE_S)
        return True

    def _take_over(self, before: Search) -> None:
        """Take over what an earlier search knows of the same files."""
        figures, known = before.figures.copy(), before.known.copy()
        for old, new in taken_over(self.files.values(), list(before.files.values())):
            if old in figures:
                self.figures[new] = figures[old]
            if old in known:
                self.known[new] = known[old]
        self.version += 1

    def _show_first(self, found: Mapping[str, str]) -> None:
        """Show the files found so far whenever they have become several times as many."""
        if len(found) >= max(_FIRST_FILES, _GROWTH * len(self.files)):
            self._show(found.items())

    def _show(self, found: Iterable[tuple[str, str]]) -> None:
        """Show files; those shown already stay the same."""
        self.files = files_of(found, self.files, settles_from=MANY_FILES)
        self.version += 1
        self.structure += 1

    def _read_tags(self, files: Iterable[tuple[str, str]]) -> None:
        """Read the tags of all folders; those of outer folders override, and of these the first."""
        gone = [root for root in self.roots if not root.is_dir()]
        wrong = [str(FileError.at("is no folder, expected one with clips in it", root)) for root in gone]
        inner = sorted(folders_within(files).items(), key=lambda each: -each[1].count("."))
        for folder, prefix in (*inner, *((str(root), "") for root in reversed(self.roots) if root not in gone)):
            try:
                found, damaged = tags_file.read_lines(Path(folder))
            except (FileError, OSError) as error:
                wrong.append(str(error))
            else:
                wrong += map(str, damaged)
                self.own_tags |= {f"{prefix}{name}": tags for name, tags in found.items()}
                self._tags_at |= {f"{prefix}{name}": (folder, prefix) for name in found}
        self.wrong = "; ".join(wrong[:_MOST_WRONG])

    def tagged_as(self, clip: Playable) -> str:
        """Return the name that tags use for a clip: its full name, or its file's if only that has tags."""
        is_by_file = clip.full_name not in self.own_tags and clip.src in self.own_tags
        return clip.src if is_by_file else clip.full_name

    def place_of_tags(self, clip: Playable) -> tuple[str, str, str] | None:
        """Return the folder of a clip's tags, the prefix of its clips' names, and the name; None without a folder."""
        name, file = self.tagged_as(clip), self.files.get(clip.src)
        if name in self._tags_at:
            return *self._tags_at[name], name
        root = next((root for root in self.roots if file is not None and file.path.is_relative_to(root)), None)
        return None if root is None else (str(root), "", name)

    def take_tags(self, src: str, name: str, place: tuple[str, str, str], tags: tuple[str, ...]) -> None:
        """Show new tags of a clip that were written."""
        self.own_tags, self._tags_at = self.own_tags | {name: tags}, self._tags_at | {name: place[:2]}
        file = self.files.get(src)
        if file is not None and file.held:
            file.hold(tuple(self._with_tags(each) for each in file.held))
        self.version += 1

    def _classify(self, file: File, formats: Mapping[str, Format]) -> None:
        """Find the classes of a file's clips."""
        if file.held and file.held[0].is_clip:
            try:
                self._find_classes(file, self._file(file.path, formats))
            except NeedsBlenderError:
                raise
            except (TaktError, OSError):
                pass  # its contents were read, its classes stay unknown

    def _find_classes(self, file: File, found: ClipFile) -> None:
        is_told = False
        with suppress(TaktError):
            for clip in found.played:
                if (known := clip.derived(Known.of, file.src)) is not None:
                    self.known[self._playable(file.src, clip)] = known
                    is_told = True
        if is_told and file.held:
            file.hold(tuple(self._with_tags(each) for each in file.held))
            self.version += 1

    def _file(self, path: Path, formats: Mapping[str, Format]) -> ClipFile:
        return clip_file_of(path, formats, keeps=self._keeps)

    @property
    def _keeps(self) -> bool:
        """Whether clips are kept in memory: for many files they would be too many."""
        return len(self.files) <= MANY_FILES

    def _playable(self, src: str, clip: Clip) -> Playable:
        return self._with_tags(playable_of(src, clip))

    def _with_tags(self, playable: Playable) -> Playable:
        known = self.known.get(playable)
        own = self.own_tags.get(playable.full_name, self.own_tags.get(playable.src, ()))
        return _searched(replace(playable, is_favourite=tags_file.FAVOURITE in own,
                                 tags=(*own, *(() if known is None else known.words))))

    def _read(self, file: File, formats: Mapping[str, Format]) -> ClipFile | None:
        """Read a file's contents, or store why it cannot be read; raise NeedsBlenderError if it may be sound.

        Returns the file's clips, or None if it has none.
        """
        found, counted = None, len(file.shown)
        try:
            self._follow_link(file)
            now = _stamp_of(file)
            if file.where.endswith(SCORE_SUFFIX):
                held = tuple(procedures_of(file.src, file.path, self.roots))
            else:
                found = self._file(file.path, formats)
                for clip in found.played:
                    if len(clip.skeleton):
                        self.figures[playable_of(file.src, clip)] = self._figure(clip)
                held = tuple(map(self._with_tags, playables_of(file.src, found)))
            if dotted := file.chip.dotted:
                held = tuple(replace(each, dotted=dotted) for each in held)
            if found is not None and not held:
                raise NoClipError.at("has a skeleton, but no motion", file.path)
            file.hold(held)
            file.stamp = now
        except NeedsBlenderError:
            raise
        except (FileError, OSError) as error:
            said = error.problems[0].said_with_place() if isinstance(error, FileError) else str(error)
            file.fail((NO_CLIP if isinstance(error, NoClipError) else DAMAGED) + said)
        self.version += 1
        self.structure += len(file.shown) != counted
        return found

    def _unread(self, srcs: Sequence[str] | None) -> Iterator[File]:
        """Yield unread files that only Blender reads: those with given srcs, or all that are not too large."""
        wanted = self.files.values() if srcs is None else map(self.files.get, srcs)
        for file in wanted:
            if (file is not None and file.held is None and not file.problem
                    and file.where.endswith(of_blender.ENDINGS) and (srcs is not None or _is_small(file))):
                yield file

    def _read_shown(self, file: File, is_stopped: Callable[[], bool]) -> None:
        """Read a file in a second Blender, and find the classes of its clips; see ShownFiles."""
        found = self._read(file, clips.formats_shown(is_stopped, keeps=self._keeps))
        if found is not None:
            self._find_classes(file, found)

    def _follow_link(self, file: File) -> None:
        """Take the file that a score finds by a link; raise FileError if the link is broken or leaves the library."""
        if not file.path.is_symlink():
            return
        found = [path for root in self.roots for path in candidates(root, file.src, (*endings(), SCORE_SUFFIX))]
        if not found:
            raise FileError.at("is a link that leads nowhere", file.path)
        file.where = str(found[0])

    def _look_at_beginning(self, file: File) -> None:
        """Store at once if a file that only Blender reads does not begin as its format does."""
        if (other := of_blender.misnamed_at_once(file.path)) is not None:
            file.fail(DAMAGED + other.problems[0].message)
            self.version += 1

    def _figure(self, clip: Clip) -> Figure:
        figure = clip.derived(figure_of_file)
        if self._keeps:
            return figure
        still = figure.strokes[figure.telling:figure.telling + 1].astype(np.float32)
        return Figure(still, figure.wide, figure.is_far, 0)  # type: ignore[arg-type]  # half as many bytes

    def read(self, src: str) -> File | None:
        """Read a file that was unread or failed before; None if there is no such file."""
        file = self.files.get(src)
        if file is not None and file.held is None:
            self._read(file, clips.formats())
            with suppress(NeedsBlenderError):
                self._classify(file, clips.formats())
        return file

    def playables(self) -> tuple[Playable, ...]:
        """Return the chips of all files in their order; rebuilt as soon as more is known."""
        version = self.version
        if self._playables[0] != version:
            self._playables = version, tuple(chain.from_iterable(map(_SHOWN, self.files.values())))
        return self._playables[1]

    def take_read(self, loaded: Iterable[str]) -> None:
        """Take files that the score loads: its layout has read them, also those that only Blender can read."""
        for src in loaded:
            file = self.files.get(src)
            if file is not None and file.held is None and not file.problem:
                with suppress(NeedsBlenderError):
                    self._read(file, FORMATS)


def _stamp_of(file: File) -> tuple[int, ...]:
    """Return a stamp that differs after a file was changed, empty if the file is gone."""
    with suppress(OSError):
        return stamp(file.path)
    return ()


def _is_small(file: File) -> bool:
    with suppress(OSError):
        return file.path.stat().st_size <= MOST_UNASKED_BYTES
    return False


def _searched(playable: Playable) -> Playable:
    """Return a chip with the words by which it is found."""
    return replace(playable, found_by=found_by(playable))


def procedures_of(src: str, path: Path, roots: tuple[Path, ...]) -> list[Playable]:
    """Return the procedures of a score file that others can call, with the durations known without Blender."""
    document, programme = parse(read_file(path), path), None
    if not all(procedure.ticks for procedure in document.procedures):
        with suppress(TaktError):
            programme = resolve(document, Library(roots, store=CLIPS))
    return [Playable(src, procedure.name, length_of(procedure, document, programme), is_clip=False)
            for procedure in document.procedures if procedure.name != "main"]


def length_of(procedure: Procedure, document: Document, programme: Programme | None = None) -> float:
    """Return a procedure's own duration, an assumed one if nothing tells it."""
    if not procedure.ticks and programme is not None:
        with suppress(TaktError):
            return length_s(programme, procedure.name)
    return (procedure.ticks or UNKNOWN_TICKS) * document.tick_s


def clip_file_of(path: Path, formats: Mapping[str, Format] = FORMATS, *, keeps: bool = True) -> ClipFile:
    """Return a file with clips; raise NeedsBlenderError if they are unknown and these formats do not read them.

    keeps: they are kept in the store of clips.
    """
    def never() -> ClipFile:
        raise LookupError(path)

    if not keeps:
        with suppress(LookupError):
            return CLIPS.read(files_read(path, formats), never)
        return read_clip_file(path, formats)
    return CLIPS.read(files_read(path, formats), lambda: read_clip_file(path, formats))


def playables_of(src: str, file: ClipFile) -> list[Playable]:
    """Return the chips of a file's clips for the shelf."""
    return [replace(playable_of(src, clip), cut_off=file.cut_off, is_one_of_many=len(file.played) > 1)
            for clip in file.played]


def playable_of(src: str, clip: Clip) -> Playable:
    """Return the chip of a file's clip for the shelf."""
    return Playable(src, clip.name, clip.duration_s)


def figure_of_file(clip: Clip) -> Figure:
    """Return the figure of a clip of a file, upright as in its motion, whatever its rest pose."""
    reference = find_reference(clip, find_map(clip.skeleton))
    return figure_of(reference.clip, reference.map)


def figure_of_clip(clip: Clip) -> Figure:
    """Return the figure of a clip."""
    return figure_of(clip, find_map(clip.skeleton))
