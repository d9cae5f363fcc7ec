"""The user's own tags: a text file beside the clips, one sorted line for each clip, so that versions can be compared.

    # Takt tags 1
    feet.Steps.left: favourite, stage left
    mocap.walk_01: slow, for the king

The name is that by which a score calls the clip from this folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..errors import FileError, TaktError, quoted
from ..library.files import read_file
from ..library.whole_files import write_whole

NAME: Final = "takt.tags"
FAVOURITE: Final = "favourite"
_FIRST: Final = "# Takt tags "
_VERSION: Final = 1
_MAX_LINE: Final = 2_000
_TRIES: Final = 100

Tags = Mapping[str, tuple[str, ...]]
"""Tags of clips, by the clips' names."""


def parse(data: bytes, path: Path | None = None) -> Tags:
    r"""Read tags. Raises FileError if it is not such a file, is of a newer version, or has a damaged line.

    >>> dict(parse(b"# Takt tags 1\na.walk: slow, favourite\n"))
    {'a.walk': ('slow', 'favourite')}
    """
    found, damaged = _parsed(data, path)
    if damaged:
        raise damaged[0]
    return found


def _parsed(data: bytes, path: Path | None) -> tuple[Tags, list[FileError]]:
    """Return the tags of all valid lines, and the errors of the others."""
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise FileError.at(f"is no text in UTF-8 (byte {error.start}), expected tags", path) from error
    first = lines[0] if lines else ""
    if not first.startswith(_FIRST) or not first.removeprefix(_FIRST).strip().isdecimal():
        raise FileError.at(f"begins with {quoted(first[:80])}, expected {quoted(_FIRST + str(_VERSION))}", path, 1)
    if int(first.removeprefix(_FIRST)) > _VERSION:
        raise FileError.at(f"is of version {first.removeprefix(_FIRST).strip()}, of a newer Takt; this one reads "
                           f"version {_VERSION} and leaves the file alone", path, 1)
    found, damaged = dict[str, tuple[str, ...]](), list[FileError]()
    for number, line in enumerate(lines[1:], 2):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, tags = line.rpartition(": ")
        if not colon or len(line) > _MAX_LINE:
            damaged.append(FileError.at(f"found {quoted(line[:80])}, expected a clip's name, a colon, and tags with "
                                        "commas between them", path, number))
        else:
            found[name] = tuple(dict.fromkeys(tag.strip() for tag in tags.split(",") if tag.strip()))
    return found, damaged


def text_of(tags: Tags, comments: Sequence[str] = ()) -> bytes:
    """Return the contents of the file for these tags, after comments; clips without tags are left out."""
    lines = (f"{name}: {', '.join(said)}" for name, said in sorted(tags.items()) if said)
    return "\n".join((f"{_FIRST}{_VERSION}", *comments, *lines, "")).encode()


def _comments(data: bytes) -> list[str]:
    """Return the user's comments in a file that can be read."""
    return [line for line in data.decode("utf-8-sig").splitlines()[1:] if line.startswith("#")]


def read_lines(folder: Path) -> tuple[Tags, list[FileError]]:
    """Return the tags of a folder's clips and the errors of damaged lines."""
    data = _held(folder / NAME)
    return ({}, []) if data is None else _parsed(data, folder / NAME)


def with_tags(folder: Path, name: str, tags: tuple[str, ...]) -> None:
    """Set the tags of a clip in a folder; the file is written completely or not at all. Comments stay, at its top.

    A file that would hold nothing is removed, or not written at all.
    Raises TaktError if a tag is not valid, FileError if the file is damaged, of a newer version, or cannot be written.
    """
    for tag in tags:
        if any(each in tag for each in ",:\n\r") or not tag.strip():
            raise TaktError(f"{quoted(tag)} cannot be a tag: leave out colons, commas and line breaks")
    path, wanted = folder / NAME, tuple(dict.fromkeys(tag.strip() for tag in tags))
    before: bytes | None = None

    def is_same() -> None:
        if _held(path) != before:
            raise _ChangedMeanwhileError.at("is being written by others again and again; try once more", path)

    for left in reversed(range(_TRIES)):  # another program may write the file at the same time
        before = _held(path)
        known, comments = ({}, []) if before is None else (parse(before, path), _comments(before))
        now: Tags = {**known, name: wanted}
        try:
            if comments or any(now.values()) or not _is_removed(path, before, is_same):
                write_whole(path, text_of(now, comments), is_same)
            return
        except _ChangedMeanwhileError:
            if not left:
                raise


def _is_removed(path: Path, before: bytes | None, is_same: Callable[[], None]) -> bool:
    """Remove a file that holds nothing any longer, and return whether it is gone."""
    if before is None:
        return True
    is_same()
    with suppress(OSError):  # as in a folder that nobody may change
        path.unlink()
        return True
    return False


def _held(path: Path) -> bytes | None:
    """Return the contents of a file, or None if there is no such file."""
    return read_file(path) if path.is_file() else None


class _ChangedMeanwhileError(FileError):
    """Another program has written the file since it was read."""
