"""A score performed in a thread of its own: files that were never read before take longer than a drawing may.

Thread rules: the thread gets a Task without references to Blender's data, and writes only to the store of clips, which
has a lock of its own. Actions, and files that only Blender opens, must be read in the main thread. If the thread needs
one, it ends with NeedsBlender. Then `result`, called in the main thread, reads it and starts a new thread, which finds
everything that was read before in the store. Editors use the resulting library in the main thread, where Actions are
read at once.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from ...core.clips.clip import Clip
from ...core.clips.clip_file import ClipFile
from ...core.errors import FileError, TaktError
from ...core.formats import FORMATS
from ...core.formats.format import Format, Source
from ...core.library.clip_files import files_named, files_read, read_clip_file
from ..background import BackgroundWork
from ..files import clips
from ..files.clip_store import CLIPS
from . import performing
from .performing import Performance, Task

_BEGINNING = np.zeros(1)
_log = logging.getLogger(__name__)


class NeedsBlender(Exception):  # noqa: N818  # a request, not a failure
    """The main thread must read something first: its name, and the function that reads it."""

    def __init__(self, what: str, read: Callable[[], None]) -> None:
        super().__init__(f"only Blender's main thread can read {what}")
        self.what, self.read = what, read


class Stopped(Exception):  # noqa: N818  # a request, not a failure
    """The result is no longer wanted."""


class BackgroundPerformance:
    """A score that is being performed for an armature.

    reading: the name of the file that is being read, "" if there is none.
    """

    def __init__(self, task: Task, armature_uid: int) -> None:
        """Start the thread."""
        self.reading = ""
        self._task, self._armature_uid = task, armature_uid
        self._actions: dict[str, tuple[Clip, ...] | None] = {}
        self._read_by_blender = set[str]()
        self._begin()

    def result(self, within_s: float = 0.0) -> Performance | None:
        """Wait at most this long; return the result, or None while the thread runs. Call it in the main thread."""
        if not self._work.has_ended(within_s):
            return None
        try:
            performance, resolved = self._work.result()
        except NeedsBlender as needed:
            return self._read_in_blender(needed)
        except Exception as error:  # else any error would recur at each drawing
            _log.exception("A score could not be performed")
            return Performance(None, TaktError(f"This is a mistake in Takt, please report it: {error!r}"))
        performing.keep_resolved(self._task, performance.actions, resolved)
        return performance

    @property
    def cost_s(self) -> float:
        """Return the processor time used, once the thread has ended."""
        return self._work.cost_s

    def cancel(self) -> None:
        """Stop after the file that is being read, without waiting for that."""
        self._work.cancel()

    def end(self) -> None:
        """Stop after the file that is being read, and wait for that."""
        self._work.end()

    def _begin(self) -> None:
        names = frozenset(bpy.data.actions.keys())
        self._work = BackgroundWork(partial(self._perform, names))

    def _read_in_blender(self, needed: NeedsBlender) -> Performance | None:
        manager = bpy.context.window_manager
        if manager is not None and clips.must_wait(manager.windows):
            return None
        if needed.what in self._read_by_blender:
            return Performance(None, TaktError(
                f"{needed.what} is too large to be kept, or is being written; click Rebuild"))
        self._read_by_blender.add(needed.what)
        try:
            needed.read()
        except FileError:
            pass  # the store keeps the error, and the thread reports it with its line in the score
        except TaktError as error:
            return Performance(None, error)
        self._begin()
        return None

    def _perform(self, names: frozenset[str],
                 go_on: Callable[[float], bool]) -> tuple[Performance, performing.Resolved | None]:
        performance, resolved = performing.perform(self._task, partial(self._find_action, names), self._formats(go_on))
        if performance.motion is not None and go_on(1.0):
            performance.motion.sample(_BEGINNING)  # compute what is computed once, so that it delays no drawing
        return performance, resolved

    def _find_action(self, names: frozenset[str], name: str) -> tuple[Clip, ...] | None:
        if name in names and name not in self._actions:
            if not _is_main_thread():
                raise NeedsBlender(f"the Action '{name}'", partial(self._read_action, name))
            self._read_action(name)
        return self._actions.get(name)

    def _read_action(self, name: str) -> None:
        armature_object = next((ob for ob in bpy.data.objects if ob.session_uid == self._armature_uid), None)
        self._actions[name] = None if armature_object is None else clips.clips_of_action(armature_object, CLIPS)(name)

    def _formats(self, go_on: Callable[[float], bool]) -> Mapping[str, Format]:
        """Return all clip formats; readers report the file being read, and raise NeedsBlender for Blender's files.

        Blender's own readers are not included: outside the main thread, they crash Blender.
        """
        def read(entry: Format, source: Source) -> ClipFile:
            if not go_on(0.0):
                raise Stopped
            self.reading = source.path.name
            if entry.needs_blender:
                if (found := clips.read_elsewhere(source)) is not None:
                    return found
                if _is_main_thread():  # the caller is an editor, perhaps during a drawing
                    raise FileError.at("is not read yet; click Rebuild", source.path)
                raise NeedsBlender(str(source.path), partial(_read_file, source.path))
            assert entry.read is not None
            return entry.read(source)

        return {name: replace(entry, read=partial(read, entry)) for name, entry in FORMATS.items()}


def _is_main_thread() -> bool:
    """Return whether the caller is not the thread, but a user of the resulting library."""
    return threading.current_thread() is threading.main_thread()


def _read_file(path: Path) -> None:
    """Read a file that only Blender opens into the store."""
    formats = clips.formats()
    CLIPS.read(files_read(path, formats), lambda: read_clip_file(path, formats),
               named=partial(files_named, path))
