"""The sample library's clips as files, the same byte for byte on every machine."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ..core.clips.clip import Clip
from ..core.formats import ogre_binary, ogre_xml
from ..core.formats.ogre import OgreSkeleton
from . import helix
from .clips import MODULES, build_clips

LIBRARY = Path(__file__).resolve().parent / "library"
NUMBER = re.compile(r'"(-?\d+\.\d+(?:e[+-]?\d+)?)"')


def modules() -> dict[str, tuple[Clip, ...]]:
    """Return the library's clips by the path of their file below it."""
    return {**{path: build_clips(path) for path in MODULES}, helix.MODULE: helix.build_clips()}


def files() -> dict[str, bytes]:
    """Return the library's clip files by their path below it."""
    made: dict[str, bytes] = {}
    for path, clips in modules().items():
        skeleton = clips[0].skeleton
        ogre = OgreSkeleton(skeleton, clips, np.arange(len(skeleton)))
        made[path] = _rounded(ogre_xml.write(ogre)) if path.endswith(".xml") else ogre_binary.write(ogre)
    return made


def _rounded(xml: bytes) -> bytes:
    """Round to five digits, a hundredth of a millimetre: small files, identical on every machine."""
    def shorten(match: re.Match[str]) -> str:
        return f'"{round(float(match[1]), 5) + 0.0:g}"'
    declaration, rest = xml.decode().split("\n", 1)
    return (declaration + "\n" + NUMBER.sub(shorten, rest).replace("\t", " ")).encode()


def write_files(folder: Path) -> None:
    """Write the library's clips below a folder."""
    for path, data in files().items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        print(f"{target}: {len(data):,} bytes")
