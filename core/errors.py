"""Errors that core raises. Each message says what, what was found, what is allowed, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class TaktError(Exception):
    """Base of every error that core raises on purpose."""


class CancelledError(TaktError):
    """Work that was asked to end before it was done; what it would have returned is lost."""


@dataclass(frozen=True)
class Place:
    """Where something stands in a file; what is not known is None. Lines and columns count from 1."""

    path: Path | None = None
    line: int | None = None
    column: int | None = None
    byte: int | None = None

    def __str__(self) -> str:
        text = "score" if self.path is None else str(self.path)
        if self.line is not None:
            text += f":{self.line}"
            if self.column is not None:
                text += f":{self.column}"
        elif self.byte is not None:
            text += f" (byte {self.byte})"
        return text


@dataclass(frozen=True)
class Problem:
    """One finding about a file, to be shown beside its place: an error, a warning, or a note.

    is_note: a warning that asks for nothing to be done. is_missed: a warning that a motion does not do what its score
    asks for in the scene. missing: the name of what cannot be played, where all else can. gone: the folder without
    which it cannot be found.
    """

    message: str
    place: Place = Place()
    is_warning: bool = False
    is_note: bool = False
    is_missed: bool = False
    missing: str = ""
    gone: str = ""

    def __str__(self) -> str:
        kind = "note: " if self.is_note else "warning: " if self.is_warning else ""
        return f"{self.place}: {kind}{self.message}"

    def said_beside(self, path: Path) -> str:
        """Say it where a file is named already: of a finding about that one, only where in it.

        >>> Problem("no line MOTION", Place(Path("a.bvh"), 12)).said_beside(Path("a.bvh"))
        'line 12: no line MOTION'
        """
        if self.place.path != path:
            return str(self)
        line, byte = self.place.line, self.place.byte
        where = f"line {line}: " if line is not None else f"byte {byte}: " if byte is not None else ""
        return where + self.message

    def said_with_place(self) -> str:
        """Say it where a file is named already, and what is wrong counts more than where in the file.

        >>> Problem("the file is cut off", Place(Path("a.glb"), byte=12)).said_with_place()
        'the file is cut off (byte 12)'
        """
        line, byte = self.place.line, self.place.byte
        if line is not None:
            return f"{self.message} (line {line})"
        if byte is not None:
            return f"{self.message} (byte {byte})"
        return self.message


def once_per_folder(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return problems with one in place of all that follow from a folder of clips that is gone.

    Calls that lack a clip follow from it unless another file is missing, too, and they do not name the folder.

    >>> loads = [Problem(f"no file for {name}", missing=name, gone="/clips") for name in ("walk", "sit")]
    >>> [each.message for each in once_per_folder([*loads, Problem("no walk.left", missing="walk.left")])]
    ['the folder /clips is gone: bring it back, or choose another folder of clips']
    """
    folders = dict.fromkeys(problem.gone for problem in problems if problem.gone)
    if not folders or len(problems) < 2:
        return tuple(problems)
    others = {problem.missing for problem in problems if problem.message.startswith("<load>") and not problem.gone}
    found = list[Problem]()
    for problem in problems:
        names = any(folder in problem.message for folder in folders)
        if problem.gone in folders:
            del folders[problem.gone]
            found.append(Problem(f"the folder {problem.gone} is gone: bring it back, or choose another folder of clips",
                                 problem.place, problem.is_warning, missing=problem.missing, gone=problem.gone))
        elif not (problem.gone or (problem.missing and problem.missing not in others and (names or not others))):
            found.append(problem)
    return tuple(found)


class FileError(TaktError):
    """A file that cannot be read: every problem found, in the order of the file."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__("\n".join(map(str, problems)))

    @classmethod
    def at(cls, message: str, path: Path | None = None, line: int | None = None,
           column: int | None = None, byte: int | None = None) -> FileError:
        """Make the error from a single problem."""
        return cls(Problem(message, Place(path, line, column, byte)))


class NoClipError(FileError):
    """A sound file that holds no clip, such as a model; the message says what it lacks."""


class NeedsBlenderError(FileError):
    """A file that Blender can read, but core alone cannot. It may be sound, so nobody keeps this error."""


class ScoreError(FileError):
    """A score that can be read as XML but does not mean anything playable."""


class EditError(TaktError):
    """An edit of a score that is refused; the message says why."""


class SkeletonMismatchError(TaktError):
    """Two skeletons that do not fit; the message names bones of both sides."""


class BindError(TaktError):
    """A mesh that cannot be bound to a skeleton."""


def some_of(names: Sequence[str], most: int = 8) -> str:
    """List names for a message: at most so many of them, and how many more there are.

    >>> some_of(("hips", "spine", "head"), 2), some_of(("hips", "spine"), 2)
    ('hips, spine and 1 more', 'hips, spine')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def quoted(text: str, longest: int = 60) -> str:
    """Quote text out of a file for a message; a long one is cut, so that no message grows with the file.

    >>> quoted("left_step"), len(quoted("a" * 1_000_000))
    ("'left_step'", 63)
    """
    return repr(text if len(text) <= longest else text[:longest] + "…")
