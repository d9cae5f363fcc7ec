"""Write the whole motion of a score as one clip: .skeleton, .skeleton.xml or .bvh."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..core.formats.ogre import OgreSkeleton
from ..core.playing.bake import bake
from .scores import add_playing, findings, read_motion
from .skeleton_files import DEFAULT_FPS, add_fps, check_ending, write_skeleton


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("score", metavar="score.pha", type=Path, help="the score to play")
    parser.add_argument("target", metavar="OUT", type=Path, help="the file to write; its ending names the format")
    parser.add_argument("--name", help="what the clip is called (default: the score's file)")
    add_fps(parser, f"of the keys (default: {DEFAULT_FPS:g})")
    add_playing(parser)


def run(options: argparse.Namespace) -> int:
    """Play, sample, write."""
    check_ending(options.target)
    _, motion = read_motion(options)
    fps = options.fps or DEFAULT_FPS
    clip = bake(motion, fps, options.name or options.score.name.removesuffix(".pha"))
    warnings = write_skeleton(options.target, OgreSkeleton.of(motion.skeleton, (clip,)), fps)
    for line in (*findings(motion, options.score), *(f"takt: warning: {warning}" for warning in warnings)):
        print(line, file=sys.stderr)
    return 0
