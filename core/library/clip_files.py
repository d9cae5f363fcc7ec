"""Read clip files in the format that their ending names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..clips.clip_file import ClipFile
from ..errors import FileError, NeedsBlenderError
from ..formats import FORMATS, endings, format_of
from ..formats.format import Format, Source
from . import files


def read_clip_file(path: Path, formats: Mapping[str, Format] = FORMATS, *, real: Path | None = None,
                   beside: Path | None = None) -> ClipFile:
    """Read a clip file without changes: its links to other files are not followed, its axes and unit are kept.

    formats: by identifier, as FORMATS.
    real: the path with symbolic links resolved, if links may be followed; otherwise a link is refused.
    beside: the second file, if the user has chosen one; see files_read.
    Raises FileError if no format has the file's ending, if a file that it needs beside it is missing, or if it cannot
    be read.
    """
    entry = format_of(path, formats)
    if entry is None:
        raise FileError.at(f"clips of this kind cannot be read; endings that can: {', '.join(endings(formats))}", path)
    if entry.read is None:
        raise NeedsBlenderError.at(f"{entry.label} files are read inside Blender only; without it: "
                                   f"{', '.join(endings(formats, read=True))}", path)
    second = next((Source(files.read_file(other), other) for other in files_read(path, formats, beside)[1:]), None)
    folder, named = (real or path).parent, dict[str, bytes]()

    def read_named(name: str) -> bytes:
        if name not in named:
            named[name] = b""  # known as named, also where it cannot be read
            named[name] = files.read_named(folder, path, name, beside=sum(map(len, named.values())))
        return named[name]

    file = entry.read(Source(files.read_file(path, real), path, second, read_named))
    return replace(file, named=tuple(named)) if named else file


def files_read(path: Path, formats: Mapping[str, Format] = FORMATS, beside: Path | None = None) -> tuple[Path, ...]:
    """Return the files that read_clip_file reads: the clip file, and the second file that its format needs beside it.

    beside: the second file, if the user has chosen one. Raises FileError if the second file is missing, or if several
    files may be it and none is chosen.
    """
    entry = format_of(path, formats)
    if entry is None or not entry.beside:
        return (path,)
    return path, beside or files.file_beside(path, entry.beside, _fits(path, entry))


def choices_beside(path: Path, formats: Mapping[str, Format] = FORMATS) -> tuple[Path, ...]:
    """Return the files among which the user must choose the second file of a clip file; () if there is no choice."""
    entry = format_of(path, formats)
    found = files.files_beside(path, entry.beside, _fits(path, entry)) if entry and entry.beside else ()
    return found if len(found) > 1 else ()


def _fits(path: Path, entry: Format) -> Callable[[Path], bool] | None:
    if entry.fits_beside is None:
        return None
    fits = entry.fits_beside

    def both_fit(other: Path) -> bool:
        try:
            return _both_fit(fits, path, other, *(each.stat().st_mtime_ns for each in (path, other)))
        except (FileError, OSError):
            return False

    return both_fit


@lru_cache(maxsize=1_000)
def _both_fit(fits: Callable[[bytes, bytes], bool], path: Path, other: Path, *_written_ns: int) -> bool:
    """Return whether two files fit; cached until one is written again."""
    return fits(files.read_file(path), files.read_file(other))


def files_named(path: Path, file: ClipFile) -> tuple[Path, ...]:
    """Return the further files that a file names and that were read with it, such as the buffers of a glTF file."""
    return tuple(path.parent / name for name in file.named)
