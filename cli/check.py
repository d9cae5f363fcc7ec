"""Find every mistake in scores and in what they load and include; the exit code is 1 where there is any.

A score that lasts longer than Blender plays counts as one.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from ..core.errors import FileError, Problem, TaktError
from ..core.library.library import Library
from ..core.pha.document import Document
from ..core.playing.score import LONGEST_S
from .scores import add_playing, counted, findings, play_programme, read_programme


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("scores", metavar="score.pha", type=Path, nargs="+", help="the scores to check")
    add_playing(parser)


def run(options: argparse.Namespace) -> int:
    """Check each score; print FILE:LINE:COLUMN of all problems."""
    return max([_check(path, options) for path in options.scores])


def _check(path: Path, options: argparse.Namespace) -> int:
    try:
        programme, library = read_programme(path, options)
        if options.procedure == "main" and "main" not in programme.own:
            print(*programme.problems, f"{path}: a library of {counted(len(programme.own), 'procedure')}", sep="\n")
            return 0
        motion = play_programme(programme, library, options, longest_s=LONGEST_S)
    except FileError as error:
        print(*error.problems, sep="\n")
        return 1
    except TaktError as error:
        print(f"{path}: {error}")
        return 1
    missing = _missing_music(programme.document, library)
    print(*missing, *findings(motion, path),
          f"{path}: {counted(len(motion.sequence), 'segment')}, {motion.duration_s:.2f} s", sep="\n")
    return 1 if missing else 0


def _missing_music(document: Document, library: Library) -> tuple[Problem, ...]:
    """Return the problems of a score's sound file, at its line."""
    if document.music is None:
        return ()
    try:
        library.sound_path(document.music.src)
    except FileError as error:
        return tuple(replace(problem, place=document.place(document.music)) for problem in error.problems)
    return ()
