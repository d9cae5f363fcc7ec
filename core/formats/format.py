"""What a format of clip files is: its name and endings, what it can hold, how it is read and written.

Adding a format is one file with such an entry, which the list in this folder's `__init__.py` names. The library, the
command, Blender's interface, messages and the table in docs/formats.md follow.
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
"""Of one file; larger ones are not read."""
TAKE_ANOTHER: Final = "export the file again, or take another copy of it"
"""What messages about damaged files advise."""
_RAW: Final = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError,
               EOFError, struct.error, zlib.error)
"""What damaged bytes can raise within a reader that expects none such there."""
_log: Final = logging.getLogger(__name__)
_Found = TypeVar("_Found")


@dataclass(frozen=True, eq=False)
class Source:
    """A whole file. path: for messages, and for names that the file does not say.

    beside: the file that lies beside it, for a format that wants one.
    named: returns the bytes of a file that this one names, by its path from there; raises FileError where it cannot.
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
"""Returns the file that another names, None where it is not there."""
FollowLinks = Callable[[ClipFile, str, FindLinked], tuple[tuple[Clip, ...], tuple[str, ...]]]
"""Takes a file, its name, and what finds other files; returns the clips that its links bring in, and warnings."""


@dataclass(frozen=True)
class _Checked(Generic[_Found]):
    """A reader that raises FileError for all that damaged bytes can raise; the rest is logged.

    begins: of files of the format; one that begins otherwise is refused before it is read.
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
    """What files of a format can hold, besides a skeleton with a clip of rotations.

    own_axes: joints may be turned and scaled at rest; else the axes of all joints at rest are the model's.
    free_keys: keys at any time; else there are frames, evenly spaced.
    """

    many_clips: bool = True
    translations: bool = True
    scales: bool = True
    own_axes: bool = True
    free_keys: bool = True


@dataclass(frozen=True)
class Format:
    """A format of files with clips.

    identifier: in upper case, never changed.
    endings: of file names, in lower case and with their dot.
    read: None where Blender reads it, which bridge gives; write: None where it is not written.
    beside: the ending of a second file that each of these needs; "" where it needs none.
    says_space: its files or its specification say which axis is up, which is forward, and the unit; else these are
        found out from the body at rest.
    in_metres: its specification wants H-Anim's axes and metres.
    follow_links: for files that also play the clips of other files.
    read_characters: None where meshes are not read, or by other means.
    left_out: returns the joints that a file's clips move and that cannot be written; None where all are.
    unmoved: returns the joints of which a file's clips have translations that cannot be written, though their rotations
        can; None where all can.
    begins: what all its files begin with, one of these, after blanks and in upper or lower case; () where not so.
    Both readers raise FileError, also where damaged bytes would raise something else in them.
    """

    identifier: str
    label: str
    endings: tuple[str, ...]
    holds: Holds = Holds()
    read: Read | None = None
    write: Write | None = None
    beside: str = ""
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
        """Whether it is read inside Blender only."""
        return self.read is None
