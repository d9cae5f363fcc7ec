"""Write the whole motion of a score as one clip."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..core.clips.clip_file import ClipFile
from ..core.formats import endings
from ..core.playing.bake import bake
from .scores import add_playing, check_unread, findings, play_programme, read_programme
from .skeleton_files import DEFAULT_FPS, add_fps, add_hanim_motion, write_clip_file, writer_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("score", metavar="score.pha", type=Path, help="the score to play")
    parser.add_argument("target", metavar="OUT", type=Path,
                        help=f"the file to write; its ending names the format: {', '.join(endings(written=True))}")
    parser.add_argument("--name", help="what the clip is called (default: the score's file)")
    add_fps(parser, f"of the keys (default: {DEFAULT_FPS:g})")
    add_hanim_motion(parser)
    add_playing(parser)


def run(options: argparse.Namespace) -> int:
    """Play, sample, write."""
    writer_of(options.target)
    programme, library = read_programme(options.score, options)
    check_unread(options.target, *library.clip_files, *(each.path for each in programme.documents), options.skeleton)
    motion = play_programme(programme, library, options)
    fps = options.fps or DEFAULT_FPS
    clip = bake(motion, fps, options.name or options.score.name.removesuffix(".pha"))
    warnings = write_clip_file(options.target, ClipFile(motion.skeleton, (clip,)), fps, options.hanim_motion)
    for line in (*findings(motion, options.score), *(f"takt: warning: {warning}" for warning in warnings)):
        print(line, file=sys.stderr)
    return 0
