"""The description of a clip file format: its name and endings, what it can hold, and how it is read and written.

To add a format, add a file with such an entry, and name it in the list in this folder's `__init__.py`. The library, the
command line, Blender's interface, messages and the table in docs/formats.md follow.
"""

from __future__ import annotations

import logging
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from ..clips.clip import Clip
from ..clips.clip_file import ClipFile
from ..errors import FileError, TaktError, quoted
from .character import CharacterFile
from .misnamed import misnamed

MAX_BYTES: Final = 256 * 2**20
"""Greatest size of a file; larger ones are not read."""
TAKE_ANOTHER: Final = "export the file again, or take another copy of it"
"""The advice in messages about damaged files."""
_RAW: Final = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError,
               EOFError, struct.error, zlib.error)
"""Errors that damaged bytes can raise within a reader that does not expect them."""
_log: Final = logging.getLogger(__name__)
_Found = TypeVar("_Found")


@dataclass(frozen=True, eq=False)
class Source:
    """A whole file. path: for messages, and for names that the file does not state.

    beside: the second file beside it, for a format that needs one.
    named: returns the bytes of a file that this one names by a relative path; raises FileError if it cannot.
    """

    data: bytes
    path: Path
    beside: Source | None = None
    named: Callable[[str], bytes] | None = None


Read = Callable[[Source], ClipFile]
"""Raises FileError, with the place, for what cannot be read."""
ReadCharacters = Callable[[Source], CharacterFile]
"""Raises FileError, with the place, for what cannot be read."""
Write = Callable[[ClipFile, float], bytes]
"""Takes the file and frames per second, for formats that know frames only. Raises TaktError for what cannot be
written."""
FindLinked = Callable[[str], ClipFile | None]
"""Returns the file that another one names, or None if it does not exist."""
FollowLinks = Callable[[ClipFile, str, FindLinked], tuple[tuple[Clip, ...], tuple[str, ...]]]
"""Takes a file, its name, and a function that finds other files; returns the clips that its links bring in, and
warnings."""


@dataclass(frozen=True)
class _Checked(Generic[_Found]):
    """A reader that raises FileError for all that damaged bytes can raise; the rest is logged.

    begins: the possible beginnings of files of the format; files that begin otherwise are refused before they are read.
    """

    label: str
    begins: tuple[str, ...]
    read: Callable[[Source], _Found]

    def __call__(self, source: Source) -> _Found:
        if self.begins and (other := misnamed(source.data, self.label, self.begins, source.path)) is not None:
            raise other
        try:
            return self.read(source)
        except TaktError:
            raise
        except _RAW as error:
            _log.warning("%s: %s", source.path, self.label, exc_info=True)
            what = f"{type(error).__name__}: {quoted(str(error))}"
            raise FileError.at(f"this file is damaged, or holds what Takt cannot read as {self.label} ({what}); "
                               f"{TAKE_ANOTHER}", source.path) from error


@dataclass(frozen=True)
class Holds:
    """What files of a format can hold, in addition to a skeleton with a clip of rotations.

    own_axes: joints may be rotated and scaled at rest; otherwise all joints have the model's axes at rest.
    free_keys: keys may be at any time; otherwise there are evenly spaced frames.
    """

    many_clips: bool = True
    translations: bool = True
    scales: bool = True
    own_axes: bool = True
    free_keys: bool = True


@dataclass(frozen=True)
class Format:
    """A format of files with clips.

    identifier: in upper case; it never changes.
    endings: of file names, in lower case and with their dot.
    read: None if Blender reads the format, through bridge; write: None if it is not written.
    beside: the ending of a second file that each file needs, or "". fits_beside: takes the bytes of both files, and
    returns whether the second may be the one that the first needs; None if any may.
    says_space: its files or its specification state the up axis, the forward axis and the unit; otherwise these are
    detected from the body at rest.
    in_metres: its specification requires H-Anim's axes and metres.
    follow_links: for files that also play the clips of other files.
    read_characters: None if meshes are not read, or are read by other means.
    left_out: returns the joints that a file's clips move but that cannot be written; None if all can.
    unmoved: returns the joints whose rotations can be written, but not their translations; None if all can.
    begins: all its files begin with one of these, after blanks, in upper or lower case; () if that does not hold.
    Both readers raise FileError, even if damaged bytes raise another error inside them.
    """

    identifier: str
    label: str
    endings: tuple[str, ...]
    holds: Holds = Holds()
    read: Read | None = None
    write: Write | None = None
    beside: str = ""
    fits_beside: Callable[[bytes, bytes], bool] | None = None
    says_space: bool = True
    in_metres: bool = False
    follow_links: FollowLinks | None = None
    read_characters: ReadCharacters | None = None
    left_out: Callable[[ClipFile], tuple[str, ...]] | None = None
    unmoved: Callable[[ClipFile], tuple[str, ...]] | None = None
    begins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for ending in (*self.endings, *filter(None, (self.beside,))):
            if not ending.startswith(".") or ending != ending.lower():
                raise TaktError(f"the format {self.identifier} has the ending {ending!r}; a dot and lower case are "
                                "wanted")
        for name in ("read", "read_characters"):
            reader = getattr(self, name)
            if reader is not None and not isinstance(reader, _Checked):
                object.__setattr__(self, name, _Checked(self.label, self.begins, reader))

    @property
    def needs_blender(self) -> bool:
        """Whether the format can be read only inside Blender."""
        return self.read is None
