"""Convert a skeleton with its clips from one format into another."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..core.clips.clip_file import ClipFile
from ..core.errors import TaktError, quoted
from ..core.formats import FORMATS, endings, format_of
from ..core.retargeting.comparing.bvh_space import in_hanim_space
from ..core.skeletons.maps import find_map
from .scores import add_bvh, bvh_space, check_unread, read_named_clips
from .skeleton_files import DEFAULT_FPS, add_fps, add_hanim_motion, write_clip_file, writer_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("source", metavar="IN", type=Path, help=f"the file to read: {', '.join(endings(read=True))}")
    parser.add_argument("target", metavar="OUT", type=Path,
                        help=f"the file to write; its ending names the format: {', '.join(endings(written=True))}")
    written = [entry for entry in FORMATS.values() if entry.write]
    single, framed = (", ".join(ending for entry in some for ending in entry.endings) for some in (
        [entry for entry in written if not entry.holds.many_clips],
        [entry for entry in written if not entry.holds.free_keys]))
    parser.add_argument("--clip", metavar="NAME", help=f"take only this clip; {single} holds no more than one")
    add_fps(parser, f"of {framed} (default: the clip's own where its keys are evenly spaced, else {DEFAULT_FPS:g})")
    add_hanim_motion(parser)
    add_bvh(parser)


def run(options: argparse.Namespace) -> int:
    """Read, convert, write."""
    writer_of(options.target)
    check_unread(options.target, options.source)
    file = read_named_clips(options.source)
    if options.clip is not None:
        file = _only(file, options.clip)
    file = _in_metres(file, options)
    for warning in (*file.warnings, *write_clip_file(options.target, file, options.fps,
                                                           options.hanim_motion)):
        print(f"takt: warning: {warning}", file=sys.stderr)
    return 0


def _in_metres(file: ClipFile, options: argparse.Namespace) -> ClipFile:
    """Return the file in H-Anim's axes and metres, if its own format names neither and the new one wants them."""
    read, written = format_of(options.source), format_of(options.target)
    if read is None or written is None or read.says_space or not written.in_metres:
        return file
    made = [in_hanim_space(clip, find_map(clip.skeleton), bvh_space(options)) for clip in file.played]
    return ClipFile(made[0][0].skeleton, tuple(clip for clip, _, _ in made),
                    warnings=(*file.warnings, *dict.fromkeys(said for _, _, said in made))) if made else file


def _only(file: ClipFile, name: str) -> ClipFile:
    clip = next((clip for clip in file.played if clip.name == name), None)
    if clip is None:
        there = ", ".join(quoted(clip.name) for clip in file.clips) or "none"
        raise TaktError(f"there is no clip {quoted(name)}; there are {there}")
    return ClipFile(clip.skeleton, (clip,), warnings=file.warnings, places=file.places)
