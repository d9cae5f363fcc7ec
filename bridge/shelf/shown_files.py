"""Files that only Blender reads, read by a second Blender while a shelf shows their chips.

Visible files come first, then the others. Reading continues only while a shelf is drawn. The second Blender ends by
itself when it has had no requests for a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, Protocol, TypeVar

from ...core.errors import NeedsBlenderError
from ..background import BackgroundWork, is_quiet_wanted
from ..files.second_blender import StoppedError

_SHOWN_S: Final = 2.0
"""A shelf that was not drawn for this long counts as hidden; while files are read, it is drawn more often."""
_PAUSE_S: Final = 0.002
"""Pause for the interface after each file."""


class _Unread(Protocol):
    src: str


FileT = TypeVar("FileT", bound=_Unread)
IsStopped = Callable[[], bool]


class ShownFiles(Generic[FileT]):
    """Reading of the files that a shelf shows, in a thread that runs only while there are any.

    unread: yields the unread files of some srcs in their order, or all for None. read: reads one. It raises
    StoppedError as soon as the callable that it gets says so, NeedsBlenderError if no file can be read here.
    """

    def __init__(self, unread: Callable[[Sequence[str] | None], Iterator[FileT]],
                 read: Callable[[FileT, IsStopped], None]) -> None:
        """Start with nothing to read."""
        self._unread, self._read = unread, read
        self._seen: Sequence[str] = ()
        self._seen_s = 0.0
        self._tried: set[str] = set()
        self._cannot, self._is_ended = False, False
        self._work: BackgroundWork[bool] | None = None

    def show(self, srcs: Sequence[str]) -> bool:
        """Read the unread ones of these files, which are visible, then others; return whether reading starts now."""
        self._seen, self._seen_s = srcs, time.monotonic()
        if self._cannot or self._is_ended or self.is_reading() or all(src in self._tried for src in srcs):
            return False
        self._work = BackgroundWork(self._go, may_pause=True)
        return True

    def is_reading(self) -> bool:
        """Return whether files are being read."""
        return self._work is not None and not self._work.has_ended()

    def end(self) -> None:
        """Stop reading."""
        self._is_ended = True
        if self._work is not None:
            self._work.end()

    def _go(self, go_on: Callable[[float], bool]) -> bool:
        rest = self._unread(None)
        while go_on(0.0) and time.monotonic() - self._seen_s < _SHOWN_S:
            file = self._next(self._unread(self._seen)) or self._next(rest)
            if file is None:
                return True
            try:
                self._read(file, lambda: self._is_ended or is_quiet_wanted())
                self._tried.add(file.src)
            except StoppedError:
                rest = self._unread(None)
            except NeedsBlenderError:
                self._cannot = True
                return False
            time.sleep(_PAUSE_S)
        return False

    def _next(self, files: Iterator[FileT]) -> FileT | None:
        return next((file for file in files if file.src not in self._tried), None)
