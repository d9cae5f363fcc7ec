"""A second Blender that reads .blend files, since a damaged one may crash the process that reads it.

It is started for the first file, kept for further ones, and ends by itself after a minute without requests.
Results are cached by the content of the file. Any thread may use this.
"""

import hashlib
import json
import logging
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import bpy

from ...core.clips.clip_file import ClipFile
from ...core.clips.packed_file import unpack
from ...core.errors import FileError, Place, Problem
from ...core.formats.format import Source
from ...core.library.store import ClipStore

MARK: Final = "takt-blend-server "
"""What each answer of it begins with."""
MOST_S: Final = 120.0
"""So long the reading of one file may take."""
MOST_BYTES: Final = 4 * 2**30
"""And so much memory, where the system can limit that."""
_START_S: Final = 60.0
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
_TOO_LONG: Final = f"reading it takes longer than {MOST_S:.0f} s; the file may be damaged"

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_kept = ClipStore(_KEPT_BYTES)
_running: "_Process | None" = None
_cannot_start = False
peak_bytes = 0
"""The most memory that one of them has told of."""


def read(source: Source) -> ClipFile | None:
    """Read the clips of a .blend in a second Blender; return None if none can be started.

    Raises FileError if it cannot be read, takes too long or too much memory, or crashes the Blender that reads it.
    """
    content = hashlib.blake2b(source.data, digest_size=16).digest()
    # Its folder belongs to it: it may have parts of other files, which it names from there.
    key = "blend", content, source.path.parent
    if _cannot_start:
        return None
    return _kept.made(key, lambda: _read(source.path))


def _read(path: Path) -> ClipFile | None:
    global peak_bytes
    with _lock:
        for _ in range(2):  # a process that was idle may end just now
            process = _started()
            if process is None:
                return None
            answer = process.ask(path)
            if answer is not None:
                break
            end_process()
        else:
            raise FileError.at(_ENDED, path)
        peak_bytes = max(peak_bytes, answer.get("peak", 0))
        if "problems" in answer:
            raise FileError(*(Problem(message, Place(path)) for message in answer["problems"]))
        return unpack(process.answer_file.read_bytes())


def _started() -> "_Process | None":
    global _running, _cannot_start
    if _running is None or not _running.is_alive():
        end_process()
        try:
            _running = _Process(command())
        except OSError as error:
            _cannot_start = True
            _log.warning("No second Blender can be started, so .blend files are read in this one: %s", error)
    return _running


def command() -> list[str]:
    """Return the command that starts a Blender for reading files; raise OSError if there is none."""
    code = _CODE.format(root=str(_ROOT), most_bytes=MOST_BYTES)
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "--background", "--factory-startup", "--disable-autoexec", "-noaudio",
                "--python-exit-code", "1", "--python-expr", code]
    if Path(sys.executable).stem.lower().startswith("python"):  # Blender as a Python module
        return [sys.executable, "-c", code]
    raise OSError("this Blender is a part of another program")


def end_process() -> None:
    """End the second Blender, if there is one."""
    global _running
    if _running is not None:
        _running.end()
    _running = None


def unregister() -> None:
    """End the second Blender, and clear the cache."""
    global _cannot_start
    end_process()
    _kept.clear()
    _cannot_start = False


class _Process:
    """A running second Blender. Raises OSError if it does not start."""

    def __init__(self, command: list[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="takt-", ignore_cleanup_errors=True)
        folder = self._folder.name
        self.answer_file = Path(folder) / "clips.npz"
        # It loads nothing of the user's, and files left by a crash are in a temporary folder.
        settings = dict.fromkeys(("BLENDER_USER_RESOURCES", "TMPDIR", "TEMP", "TMP"), folder)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder,
            env=os.environ | settings, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0))
        self._answers: queue.Queue[Mapping[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, name="Takt: second Blender", daemon=True).start()
        if self._answer_soon() is None:
            self.end()
            raise OSError(f"'{command[0]}' does not start in the background")

    def is_alive(self) -> bool:
        """Return whether it has not ended yet."""
        return self._process.poll() is None

    def ask(self, path: Path) -> Mapping[str, Any] | None:
        """Return the answer for a file, or None if the process had ended before it began. Raises FileError."""
        assert self._process.stdin is not None
        request = json.dumps({"path": str(path.absolute()), "to": str(self.answer_file)})
        try:
            self._process.stdin.write(request.encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            return None
        if self._answer_soon() is None:
            return None
        try:
            answer = self._answer(MOST_S)
        except TimeoutError as error:
            self.end()
            raise FileError.at(_TOO_LONG, path) from error
        if answer is None:
            self.end()
            raise FileError.at(_ENDED, path)
        return answer

    def end(self) -> None:
        """Kill it at once."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def _answer_soon(self) -> Mapping[str, Any] | None:
        """Return an answer that needs no work, or None if it does not come."""
        with suppress(TimeoutError):
            return self._answer(_START_S)
        return None

    def _answer(self, within_s: float) -> Mapping[str, Any] | None:
        """Return its next answer, or None if it has ended; raise TimeoutError if it runs on without an answer."""
        try:
            return self._answers.get(timeout=within_s)
        except queue.Empty:
            raise TimeoutError(f"no answer within {within_s:.0f} s") from None

    def _listen(self) -> None:
        assert self._process.stdout is not None
        mark = MARK.encode()
        with suppress(ValueError, OSError):
            for line in self._process.stdout:
                if line.startswith(mark):
                    self._answers.put(json.loads(line[len(mark):]))
        self._answers.put(None)
