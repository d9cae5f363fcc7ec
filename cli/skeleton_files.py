"""Skeletons with clips written to files, by the ending of the name."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from ..core.clips.clip import Clip
from ..core.errors import TaktError, quoted
from ..core.formats import bvh, ogre_binary, ogre_xml
from ..core.formats.ogre import OgreSkeleton
from .scores import read_number

DEFAULT_FPS = 30.0
_ENDINGS = (".skeleton.xml", ".skeleton", ".bvh")
_SAME_GAP = 1e-3
"""Gaps between keys that differ by less than this share count as even."""


def add_fps(parser: argparse.ArgumentParser, says: str) -> None:
    """Add the option of frames per second."""
    parser.add_argument("--fps", metavar="N", type=number, help=f"frames per second {says}")


def check_ending(path: Path) -> str:
    """Return the ending that names the format of a file to write; raise TaktError where it names none."""
    ending = next((e for e in _ENDINGS if path.name.lower().endswith(e)), None)
    if ending is None:
        raise TaktError(f"{str(path)!r} does not name a format that can be written; "
                        f"let it end in {', '.join(sorted(_ENDINGS))}")
    return ending


def write_skeleton(path: Path, ogre: OgreSkeleton, fps: float | None) -> tuple[str, ...]:
    """Write a file and return warnings about what its format cannot hold; fps None: the clip's own.

    Raises TaktError before anything is written where the file cannot be made.
    """
    ending, warnings = check_ending(path), []
    if ending == ".bvh":
        if len(ogre.clips) != 1:
            there = ", ".join(quoted(clip.name) for clip in ogre.clips) or "none"
            raise TaktError(f".bvh holds exactly one clip; choose one by --clip NAME; there are {there}")
        clip = ogre.played[0]
        if len(clip.scales) or (ogre.skeleton.rest_scales != 1.0).any():
            warnings.append("scales are left out, which .bvh does not know")
        data = bvh.write(clip, 1.0 / (fps or _own_fps(clip)))
    else:
        data = ogre_xml.write(ogre) if ending == ".skeleton.xml" else ogre_binary.write(ogre)
    path.write_bytes(data)
    return tuple(warnings)


def _own_fps(clip: Clip) -> float:
    """Return the frames per second at which a clip is keyed, DEFAULT_FPS where its keys are not evenly spaced."""
    times = np.unique(np.concatenate([t.times_s for t in (clip.rotations, clip.translations, clip.scales)]))
    gaps = np.diff(times)
    if not len(gaps) or np.ptp(gaps) > _SAME_GAP * gaps.max():
        return DEFAULT_FPS
    return float(1.0 / gaps.mean())


def number(text: str) -> float:
    """Read frames per second."""
    value = read_number(text)
    if not (math.isfinite(value) and 0.0 < value <= 10_000.0):
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 10000")
    return value
