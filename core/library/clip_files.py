"""Files with clips, read by the format that their ending names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..clips.clip_file import ClipFile
from ..errors import FileError
from ..formats import endings, format_of
from ..formats.format import Read, Source
from . import files

Readers = Mapping[str, Read]
"""By a format's identifier: how it is read instead of as it says itself. Such a reader gets the one file alone."""


def read_clip_file(path: Path, readers: Readers | None = None, *, real: Path | None = None) -> ClipFile:
    """Read a file with clips, as it stands: links that it has are not followed, its axes and unit stay.

    real: where path leads to, when that is known to be wanted; a symbolic link is refused otherwise.
    Raises FileError where no format has its ending, the file that it wants beside it is missing, or it cannot be read.
    """
    entry = format_of(path)
    given = (readers or {}).get(entry.identifier) if entry else None
    read = given or (entry.read if entry else None)
    if entry is None:
        raise FileError.at(f"clips of this kind cannot be read; endings that can: {', '.join(endings())}", path)
    if read is None:
        raise FileError.at(f"{entry.label} files are read inside Blender only; without it: "
                           f"{', '.join(endings(read=True))}", path)
    others = [] if given else files_read(path)[1:]
    beside = next((Source(files.read_file(other), other) for other in others), None)
    return read(Source(files.read_file(path, real), path, beside))


def files_read(path: Path) -> tuple[Path, ...]:
    """Return the files that read_clip_file reads: the one itself, and the one that its format wants beside it.

    Raises FileError where that one is missing.
    """
    entry = format_of(path)
    return (path, files.file_beside(path, entry.beside)) if entry and entry.beside else (path,)
