"""A bounded folder of values that took long to make, which outlives the program."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..errors import FileError
from .whole_files import write_whole

_log = logging.getLogger(__name__)
_ENDING: Final = ".kept"
_told: set[Path] = set()


@dataclass(frozen=True)
class DiskCache:
    """Values by names, each a file; those that were asked for longest ago go first.

    folder: made when the first value is kept; None: nothing is kept. most_bytes: of all files together. Nothing raises:
    a file that cannot be read or written is treated as missing. Several programs may use one folder.
    """

    folder: Path | None
    most_bytes: int

    def find(self, name: str) -> bytes | None:
        """Return the kept value, or None."""
        if self.folder is None:
            return None
        path = self.folder / f"{name}{_ENDING}"
        with suppress(OSError):
            data = path.read_bytes()
            with suppress(OSError):
                os.utime(path)
            return data
        return None

    def keep(self, name: str, data: bytes) -> None:
        """Keep a value, whole or not at all; if the folder cannot be written, that is logged once."""
        if self.folder is None or len(data) > self.most_bytes:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / f"{name}{_ENDING}", data)
            self._remove_oldest()
        except (OSError, FileError) as error:
            if self.folder not in _told:
                _told.add(self.folder)
                _log.warning("What was read of clips is not kept for the next time: %s", error)

    def _remove_oldest(self) -> None:
        assert self.folder is not None
        with os.scandir(self.folder) as entries:
            files = [(entry.stat(follow_symlinks=False), entry.path) for entry in entries
                     if entry.name.endswith(_ENDING)]
        total = sum(status.st_size for status, _ in files)
        for status, path in sorted(files, key=lambda each: each[0].st_mtime_ns):
            if total <= self.most_bytes:
                return
            with suppress(OSError):
                Path(path).unlink()
            total -= status.st_size
