"""Write skeletons with clips to files, in the format of the name's ending."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..core.clips.clip import Clip
from ..core.clips.clip_file import ClipFile
from ..core.clips.placing import placed, rigid
from ..core.errors import TaktError, quoted
from ..core.formats import endings, format_of, x3d
from ..core.formats.format import Format, Write
from ..core.formats.x3d_write import X3dFile
from ..core.library.fitted import fitted
from ..core.library.whole_files import write_whole
from .scores import read_number

DEFAULT_FPS = 30.0
_SAME_GAP = 1e-3
"""Gaps between keys that differ by less than this share count as even."""


def add_fps(parser: argparse.ArgumentParser, says: str) -> None:
    """Add the option of frames per second."""
    parser.add_argument("--fps", metavar="N", type=number, help=f"frames per second {says}")


def add_hanim_motion(parser: argparse.ArgumentParser) -> None:
    """Add the option for HAnimMotion in X3D."""
    parser.add_argument("--hanim-motion", action="store_true",
                        help="into .x3d or .x3dv, write HAnimMotion, in evenly spaced frames, instead of "
                             "interpolators, which every player knows")


def writer_of(path: Path) -> tuple[Format, Write]:
    """Return the format for the ending of a file to write; raise TaktError if there is none."""
    entry = format_of(path)
    if entry is None or entry.write is None:
        raise TaktError(f"{str(path)!r} does not name a format that can be written; "
                        f"let it end in {', '.join(sorted(endings(written=True)))}")
    return entry, entry.write


def write_clip_file(path: Path, file: ClipFile, fps: float | None, hanim_motion: bool = False) -> tuple[str, ...]:
    """Write a file and return warnings about what its format cannot hold; fps None: the clip's own.

    hanim_motion: write HAnimMotion into X3D.
    Raises TaktError, before anything is written, if the file cannot be made.
    """
    entry, write = writer_of(path)
    if hanim_motion and entry not in x3d.WITH_SKIN:
        there = " and ".join(each.endings[0] for each in x3d.WITH_SKIN)
        raise TaktError(f"--hanim-motion is for {there} alone; {path.name!r} has no such motion")
    places = {skeleton: rigid(place) for skeleton, place in file.places.items()}
    if places and entry not in x3d.WITH_SKIN:
        file = file.with_clips([placed(clip, places[clip.skeleton]) for clip in file.played])
    made, warnings = _fitted(file, entry)
    if entry in x3d.WITH_SKIN:
        place = places.get(file.clips[0].skeleton if file.clips else file.skeleton)
        made = X3dFile(made.skeleton, made.clips, as_frames=hanim_motion, place=place)
    if fps is None:
        fps = DEFAULT_FPS if entry.holds.free_keys and not hanim_motion else _own_fps(file.clips)
    write_whole(path, write(made, fps))
    return warnings


def _fitted(file: ClipFile, entry: Format) -> tuple[ClipFile, tuple[str, ...]]:
    """Return a file reduced to what a format can hold, and warnings; raise TaktError if the user has to choose."""
    holds, name = entry.holds, entry.endings[0]
    if not holds.many_clips and len(file.clips) != 1:
        there = ", ".join(quoted(clip.name) for clip in file.clips) or "none"
        raise TaktError(f"{name} holds exactly one clip; choose one by --clip NAME; there are {there}")
    other = next((clip for clip in file.played if clip.skeleton is not file.skeleton), None)
    if other is not None:
        raise TaktError(f"{name} holds one skeleton, but clip {quoted(other.name)} is of another than "
                        f"{quoted(file.played[0].name)}; choose one by --clip NAME")
    return fitted(file, entry)


def _own_fps(clips: Sequence[Clip]) -> float:
    """Return the frame rate of the clips' keys, or DEFAULT_FPS if they are not evenly spaced."""
    times = np.unique(np.concatenate([t.times_s for clip in clips
                                      for t in (clip.rotations, clip.translations, clip.scales)]))
    gaps = np.diff(times)
    if not len(gaps) or np.ptp(gaps) > _SAME_GAP * gaps.max():
        return DEFAULT_FPS
    return float(1.0 / gaps.mean())


def number(text: str) -> float:
    """Return frames per second from an option; raises ArgumentTypeError if they are not valid."""
    value = read_number(text)
    if not (math.isfinite(value) and 0.0 < value <= 10_000.0):
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 10000")
    return value
