"""Read clip files in the format that their ending names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..clips.clip_file import ClipFile
from ..errors import FileError
from ..formats import FORMATS, endings, format_of
from ..formats.format import Format, Source
from . import files


def read_clip_file(path: Path, formats: Mapping[str, Format] = FORMATS, *, real: Path | None = None) -> ClipFile:
    """Read a clip file without changes: its links to other files are not followed, its axes and unit are kept.

    formats: by identifier, as FORMATS.
    real: the path with symbolic links resolved, if links may be followed; otherwise a link is refused.
    Raises FileError if no format has the file's ending, if a file that it needs beside it is missing, or if it cannot
    be read.
    """
    entry = format_of(path, formats)
    if entry is None:
        raise FileError.at(f"clips of this kind cannot be read; endings that can: {', '.join(endings(formats))}", path)
    if entry.read is None:
        raise FileError.at(f"{entry.label} files are read inside Blender only; without it: "
                           f"{', '.join(endings(formats, read=True))}", path)
    beside = next((Source(files.read_file(other), other) for other in files_read(path, formats)[1:]), None)
    folder, named = (real or path).parent, dict[str, bytes]()

    def read_named(name: str) -> bytes:
        if name not in named:
            named[name] = b""  # known as named, also where it cannot be read
            named[name] = files.read_named(folder, path, name, beside=sum(map(len, named.values())))
        return named[name]

    file = entry.read(Source(files.read_file(path, real), path, beside, read_named))
    return replace(file, named=tuple(named)) if named else file


def files_read(path: Path, formats: Mapping[str, Format] = FORMATS) -> tuple[Path, ...]:
    """Return the files that read_clip_file reads: the clip file, and the second file that its format needs beside it.

    Raises FileError if the second file is missing.
    """
    entry = format_of(path, formats)
    return (path, files.file_beside(path, entry.beside)) if entry and entry.beside else (path,)


def files_named(path: Path, file: ClipFile) -> tuple[Path, ...]:
    """Return the further files that a file names and that were read with it, such as the buffers of a glTF file."""
    return tuple(path.parent / name for name in file.named)
