"""Files with clips, read by the format that their ending names."""

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
    """Read a file with clips as it is: its links to other files are not followed, its axes and unit stay.

    formats: by identifier, as FORMATS.
    real: what path resolves to, where symbolic links may be followed; else one is refused.
    Raises FileError where no format has its ending, the file that it wants beside it is missing, or it cannot be read.
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
    """Return the files that read_clip_file reads: the one itself, and the one that its format wants beside it.

    Raises FileError where that one is missing.
    """
    entry = format_of(path, formats)
    return (path, files.file_beside(path, entry.beside)) if entry and entry.beside else (path,)


def files_named(path: Path, file: ClipFile) -> tuple[Path, ...]:
    """Return the further files that were read with one, since it names them, as a glTF file its buffers."""
    return tuple(path.parent / name for name in file.named)
