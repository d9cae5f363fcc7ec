"""Write the whole motion of a score as one clip."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..core.clips.clip_file import ClipFile
from ..core.errors import TaktError
from ..core.formats import endings
from ..core.playing.bake import bake
from .scores import add_playing, check_unread, findings, play_programme, read_programme
from .skeleton_files import DEFAULT_FPS, add_fps, add_hanim_motion, write_clip_file, writer_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("score", metavar="score.pha", type=Path, help="the score to play")
    written = endings(written=True)
    parser.add_argument("target", metavar="OUT", type=Path, nargs="?",
                        help=f"the file to write; its ending names the format: {', '.join(written)}")
    parser.add_argument("--to", choices=[ending[1:] for ending in written],
                        help="the format instead of OUT, for a new file beside the score that is named as it is")
    parser.add_argument("--name", help="what the clip is called (default: the score's file)")
    add_fps(parser, f"of the keys (default: {DEFAULT_FPS:g})")
    add_hanim_motion(parser)
    add_playing(parser)


def run(options: argparse.Namespace) -> int:
    """Play, sample, write."""
    target = _target(options)
    writer_of(target)
    programme, library = read_programme(options.score, options)
    check_unread(target, *library.clip_files, *(each.path for each in programme.documents), options.skeleton)
    motion = play_programme(programme, library, options)
    fps = options.fps or DEFAULT_FPS
    clip = bake(motion, fps, options.name or options.score.name.removesuffix(".pha"))
    warnings = write_clip_file(target, ClipFile(motion.skeleton, (clip,)), fps, options.hanim_motion)
    for line in (*findings(motion, options.score, options), *(f"takt: warning: {warning}" for warning in warnings)):
        print(line, file=sys.stderr)
    return 0


def _target(options: argparse.Namespace) -> Path:
    """Return the path of the file to write.

    Raises TaktError if neither, or both, of OUT and --to are given, or if a file named by --to exists.
    """
    if (options.target is None) == (options.to is None):
        raise TaktError("name the file to write, as in dance.x3d, or a format, as in --to x3d; not both")
    target: Path = options.target or options.score.with_name(f"{options.score.name.removesuffix('.pha')}.{options.to}")
    if options.to and target.exists():
        raise TaktError(f"{str(target)!r} is there already; to overwrite it, name it as OUT instead of --to")
    return target
