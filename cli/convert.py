"""Convert a skeleton with its clips between OGRE's .skeleton, OGRE's .skeleton.xml and .bvh."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..core.errors import TaktError, quoted
from ..core.formats import read_skeleton
from ..core.formats.ogre import OgreSkeleton
from .scores import read_named
from .skeleton_files import add_fps, check_ending, write_skeleton


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what this command takes."""
    parser.add_argument("source", metavar="IN", type=Path, help="the file to read")
    parser.add_argument("target", metavar="OUT", type=Path, help="the file to write; its ending names the format")
    parser.add_argument("--clip", metavar="NAME", help="take only this clip; .bvh holds no more than one")
    add_fps(parser, "of .bvh (default: the clip's own where its keys are evenly spaced, else 30)")


def run(options: argparse.Namespace) -> int:
    """Read, convert, write."""
    check_ending(options.target)
    if options.target.exists() and options.source.exists() and options.target.samefile(options.source):
        raise TaktError(f"{str(options.target)!r} is the file to read; give OUT another name")
    ogre = read_skeleton(read_named(options.source), options.source)
    if options.clip is not None:
        ogre = _only(ogre, options.clip)
    for warning in write_skeleton(options.target, ogre, options.fps):
        print(f"takt: warning: {warning}", file=sys.stderr)
    return 0


def _only(ogre: OgreSkeleton, name: str) -> OgreSkeleton:
    clip = next((clip for clip in ogre.played if clip.name == name), None)
    if clip is None:
        there = ", ".join(quoted(clip.name) for clip in ogre.clips) or "none"
        raise TaktError(f"there is no clip {quoted(name)}; there are {there}")
    return OgreSkeleton(ogre.skeleton, (clip,), ogre.handles, ogre.blend_mode)
