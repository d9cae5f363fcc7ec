"""The server in a second Blender: it reads files on request, one after another, and ends when unused.

`second_blender` starts it without a window and without the user's settings and add-ons. A damaged file may crash
it, but not the Blender in which the user works.

Requests are lines of JSON: the file to read, and the path for the result (`core/clips/packed_file.py`). Each
answer is a line that begins with MARK, to distinguish it from Blender's own output.
"""

import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

import bpy

from ...core.clips.packed_file import pack
from ...core.errors import FileError, NoClipError, TaktError
from ...core.formats.format import Source
from .. import libraries, properties
from ..meshes import skin_points
from . import clips
from .second_blender import MARK

_IDLE_S: Final = 60.0
"""Time without requests after which it ends."""
_MOST_PEAK: Final = 2**30
"""Bytes of memory: once a file has taken more, another process must read the next file."""


def serve(most_bytes: int) -> None:
    """Answer requests until there are none for a while; most_bytes: limit of memory, if the system supports one."""
    _limit_memory(most_bytes)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    libraries.register()
    properties.register()  # settings of axes are stored in them
    requests = queue.SimpleQueue[str]()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    _say({"ready": True})
    for line in iter(partial(_next_line, requests), ""):
        request = json.loads(line)
        _say({"begun": True})
        _say(_answer(Path(request["path"]), Path(request["to"])))
        if peak_bytes() > _MOST_PEAK:
            break
    sys.stdout.flush()
    os._exit(0)  # skips Blender's own cleanup


def peak_bytes() -> int:
    """Return the peak memory of this process, or 0 if the system does not tell."""
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    return 0


def _answer(path: Path, to: Path) -> Mapping[str, object]:
    problems, has_none = list[str](), False
    skin_points.forget()  # no handlers run here, so it would not notice that another file is open
    try:
        to.write_bytes(pack(clips.read_file_clips(Source(b"", path))))
    except FileError as error:
        problems, has_none = [problem.message for problem in error.problems], isinstance(error, NoClipError)
    except TaktError as error:
        problems = [str(error)]
    except MemoryError:
        problems = ["reading it takes too much memory"]
    except Exception as error:  # a damaged file may raise any
        problems = [f"Blender could not read it: {type(error).__name__}: {error}"]
    return {"peak": peak_bytes()} | ({"problems": problems, "has_none": has_none} if problems else {})


def _listen(requests: "queue.SimpleQueue[str]") -> None:
    """Take requests; end at once, even while a file is read, if the process that started this one has ended."""
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


def _next_line(requests: "queue.SimpleQueue[str]") -> str:
    """Return the next request, or "" if there is none for a while."""
    with contextlib.suppress(queue.Empty):
        return requests.get(timeout=_IDLE_S)
    return ""


def _say(answer: Mapping[str, object]) -> None:
    sys.stdout.flush()
    os.write(1, f"\n{MARK}{json.dumps(answer)}\n".encode())


def _limit_memory(most_bytes: int) -> None:
    """Limit the memory, and suppress crash dumps, if the system supports that."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
