"""Second Blenders that read files: a damaged .blend can only crash their process, and the window need not wait.

One reads the .blend files that scores call; another the .blend and FBX files that the shelf shows. Each is started for
the first file, kept for further ones, and ends by itself when none has been asked for in a minute. What they read is
kept by the content of the file: for this session in memory, clips of FBX files also on the disk. Any thread may ask.
"""

import functools
import hashlib
import json
import logging
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import bpy

from ...core.clips.clip_file import ClipFile
from ...core.clips.packed_file import unpack
from ...core.errors import FileError, NoClipError, Place, Problem, TaktError
from ...core.formats.format import Source
from ...core.library.disk_cache import DiskCache
from ...core.library.store import ClipStore

_PACKAGE: Final = __name__.rpartition(".bridge.")[0]
MARK: Final = "takt-blend-server "
"""The beginning of each answer of a second Blender."""
MOST_S: Final = 120.0
"""Longest time for reading one file."""
MOST_BYTES: Final = 4 * 2**30
"""Greatest memory of a second Blender, in bytes, if the system can limit it."""
UNASKED_S: Final = 30.0
"""Longest time for reading a file that is only shown on the shelf."""
MOST_UNASKED_BYTES: Final = 2**26
"""Greatest size of files, in bytes, that are read only to be shown on the shelf."""
_START_S: Final = 60.0
_POLL_S: Final = 0.02
_AWAKE_S: Final = 1.0
"""If this process was stopped, as on a computer that sleeps, at most this much counts as waiting, since both processes
were stopped."""
_KEPT_BYTES: Final = 2**28
_ROOT: Final = Path(os.path.realpath(__file__)).parents[2]
_CODE: Final = """
import importlib.util, sys
root = {root!r}
spec = importlib.util.spec_from_file_location("takt", root + "/__init__.py", submodule_search_locations=[root])
package = sys.modules["takt"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(package)
from takt.bridge.files import blend_server
blend_server.serve({most_bytes})
"""
_ENDED: Final = ("the file is damaged: the Blender that read it has crashed. Open it in Blender by itself, and save it "
                 "anew")
_TOO_LONG: Final = "reading it takes longer than {:.0f} s; the file may be damaged"
_DISK_BYTES: Final = 2**28
_CACHE_VERSION: Final = 1
"""Version of the cached clips, increased when reading of files changes."""

_log = logging.getLogger(__name__)
_kept = ClipStore(_KEPT_BYTES)
peak_bytes = 0
"""The greatest memory, in bytes, that a second Blender has reported."""


class StoppedError(Exception):
    """Reading was given up since it is not wanted now; the file may be read later."""


class SecondBlender:
    """A Blender that reads files, started when it is needed; one thread at a time is served."""

    def __init__(self) -> None:
        """Set the initial state; no process is started yet."""
        self.running: _Process | None = None
        self.cannot_start = False
        self._lock = threading.Lock()

    def read(self, path: Path, most_s: float, is_stopped: Callable[[], bool] = lambda: False) -> bytes | None:
        """Return the packed clips of a file, None if no second Blender can be started.

        is_stopped: is called repeatedly; once it returns True, the second Blender ends, and StoppedError is raised.
        Raises FileError if the file cannot be read, takes too long or too much memory, or crashes the second Blender.
        """
        global peak_bytes
        with self._lock:
            try:
                answer, data = self._answer(path, most_s, is_stopped)
            except StoppedError:
                self.end()
                raise
            if answer is None:
                return None
            peak_bytes = max(peak_bytes, answer.get("peak", 0))
            if "problems" in answer:
                kind = NoClipError if answer.get("has_none") else FileError
                raise kind(*(Problem(message, Place(path)) for message in answer["problems"]))
            return data

    def end(self) -> None:
        """End the process, if there is one."""
        running, self.running = self.running, None
        if running is not None:
            running.end()

    def _answer(self, path: Path, most_s: float,
                is_stopped: Callable[[], bool]) -> tuple[Mapping[str, Any] | None, bytes]:
        for _ in range(2):  # a process may end just now, after its idle time
            process = self._started(is_stopped)
            if process is None:
                return None, b""
            answer = process.ask(path, most_s, is_stopped)
            if answer is not None:
                return answer, b"" if "problems" in answer else process.answer_file.read_bytes()
            self.end()
        raise FileError.at(_ENDED, path)

    def _started(self, is_stopped: Callable[[], bool]) -> "_Process | None":
        if self.cannot_start:
            return None
        if self.running is None or not self.running.is_alive():
            self.end()
            try:
                self.running = _Process(command(), is_stopped)
            except OSError as error:
                self.cannot_start = True
                _log.warning("No second Blender can be started, so .blend files are read in this one until Blender is "
                             "restarted: %s", error)
        return self.running


CALLED: Final = SecondBlender()
"""Reads files that a score calls, or that the user waits for."""
SHOWN: Final = SecondBlender()
"""Reads files that a shelf shows."""


def read(source: Source) -> ClipFile | None:
    """Read the clips of a .blend in a second Blender; return None if none can be started.

    Raises FileError if it cannot be read, takes too long or too much memory, or crashes the Blender that reads it.
    """
    if CALLED.cannot_start:
        return None

    def make() -> ClipFile | None:
        data = CALLED.read(source.path, MOST_S)
        return None if data is None else unpack(data)

    return _kept.made(_Content.of(source).key, make)


def read_shown(source: Source, is_stopped: Callable[[], bool], *, keeps: bool) -> ClipFile | None:
    """Read the clips of a file that a shelf shows, as read does; keeps: in memory too, not only on the disk.

    Raises StoppedError if is_stopped says so before it is done; else as read.
    """
    content = _Content.of(source)
    found = _known(content)
    if found is not None:
        return found
    data = SHOWN.read(source.path, UNASKED_S, is_stopped)
    if data is None:
        return None
    if content.lasts:
        _on_disk().keep(content.name, data)
    file = unpack(data)
    return _kept.made(content.key, lambda: file) if keeps else file


def known(source: Source) -> ClipFile | None:
    """Return the clips of a file whose content a second Blender has read before, or None."""
    return _known(_Content.of(source))


class _Content(NamedTuple):
    """The content of a file, by its digest, and the file's folder.

    lasts: the content alone decides which clips are read; a .blend may have parts of other files.
    """

    digest: bytes
    folder: Path
    lasts: bool

    @classmethod
    def of(cls, source: Source) -> "_Content":
        """Take the content of a file."""
        return cls(hashlib.blake2b(source.data, digest_size=16).digest(), source.path.parent,
                   source.path.suffix.lower() == ".fbx")

    @property
    def key(self) -> tuple[object, ...]:
        """The key of its clips in memory. A .blend names parts of other files from its folder."""
        return "blend", self.digest, self.folder

    @property
    def name(self) -> str:
        """The name of its clips on the disk; another one for each version of Blender."""
        version = f"{_CACHE_VERSION} {bpy.app.version}".encode()
        return hashlib.blake2b(self.digest, digest_size=16, key=version).hexdigest()


def _known(content: _Content) -> ClipFile | None:
    found: ClipFile | None = _kept.found(content.key)
    if found is None and content.lasts:
        data = _on_disk().find(content.name)
        with suppress(TaktError):  # damaged on the disk: it is read anew
            found = None if data is None else unpack(data)
    return found


def _on_disk() -> DiskCache:
    return DiskCache(cache_folder(), _DISK_BYTES)


@functools.cache
def cache_folder() -> Path | None:
    """Return the folder of clips that are kept between sessions, or None."""
    try:
        return Path(bpy.utils.extension_path_user(_PACKAGE, path="clips"))
    except ValueError:  # this is no extension here
        return None


def command() -> list[str]:
    """Return the command that starts a Blender for reading files; raise OSError if there is none."""
    code = _CODE.format(root=str(_ROOT), most_bytes=MOST_BYTES)
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "--background", "--factory-startup", "--disable-autoexec", "-noaudio",
                "--python-exit-code", "1", "--python-expr", code]
    if Path(sys.executable).stem.lower().startswith("python"):  # Blender as a Python module
        return [sys.executable, "-c", code]
    raise OSError("this Blender is a part of another program")


def unregister() -> None:
    """End the second Blenders, and clear the cache."""
    for each in (CALLED, SHOWN):
        each.end()
        each.cannot_start = False
    _kept.clear()


class _Process:
    """A running second Blender. Raises OSError if it does not start."""

    def __init__(self, command: list[str], is_stopped: Callable[[], bool]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="takt-", ignore_cleanup_errors=True)
        folder = self._folder.name
        self.answer_file = Path(folder) / "clips.npz"
        # It loads nothing of the user's, and files left by a crash are in a temporary folder.
        settings = dict.fromkeys(("BLENDER_USER_RESOURCES", "TMPDIR", "TEMP", "TMP"), folder)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder,
            env=os.environ | settings, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))
        self._answers: queue.Queue[Mapping[str, Any] | None] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, name="Takt: second Blender", daemon=True)
        self._listener.start()
        try:
            is_ready = self._answer_soon(is_stopped) is not None
        except StoppedError:
            self.end()
            raise
        if not is_ready:
            why = f"has not started within {_START_S:.0f} s" if self.is_alive() else "does not start in the background"
            self.end()
            raise OSError(f"'{command[0]}' {why}")

    def is_alive(self) -> bool:
        """Return whether the process has not ended yet."""
        return self._process.poll() is None

    def ask(self, path: Path, most_s: float, is_stopped: Callable[[], bool]) -> Mapping[str, Any] | None:
        """Return the answer for a file, or None if the process had ended before it began.

        Raises FileError, and StoppedError.
        """
        assert self._process.stdin is not None
        request = json.dumps({"path": str(path.absolute()), "to": str(self.answer_file)})
        try:
            self._process.stdin.write(request.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return None
        if self._answer_soon(is_stopped) is None:
            return None
        try:
            answer = self._answer(most_s, is_stopped)
        except TimeoutError as error:
            self.end()
            raise FileError.at(_TOO_LONG.format(most_s), path) from error
        if answer is None:
            self.end()
            raise FileError.at(_ENDED, path)
        return answer

    def end(self) -> None:
        """Kill the process at once, and end the thread that listens to it."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._listener.join(_START_S)
        self._folder.cleanup()

    def _answer_soon(self, is_stopped: Callable[[], bool]) -> Mapping[str, Any] | None:
        """Return an answer that needs no work, or None if it does not come."""
        with suppress(TimeoutError):
            return self._answer(_START_S, is_stopped)
        return None

    def _answer(self, within_s: float, is_stopped: Callable[[], bool]) -> Mapping[str, Any] | None:
        """Return the next answer, or None if the process has ended; raise TimeoutError if none comes in time."""
        waited_s, last_s = 0.0, time.monotonic()
        while waited_s < within_s:
            with suppress(queue.Empty):
                return self._answers.get(timeout=_POLL_S)
            if is_stopped():
                raise StoppedError
            now_s = time.monotonic()
            waited_s, last_s = waited_s + min(now_s - last_s, _AWAKE_S), now_s
        raise TimeoutError(f"no answer within {within_s:.0f} s")

    def _listen(self) -> None:
        assert self._process.stdout is not None
        mark = MARK.encode()
        with suppress(ValueError, OSError):
            for line in self._process.stdout:
                if line.startswith(mark):
                    self._answers.put(json.loads(line[len(mark):]))
        self._answers.put(None)
