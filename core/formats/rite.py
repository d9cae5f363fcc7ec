"""RiTE's model (.ram) and animation (.raa), both text: a skeleton, and keys of its joints' rotations.

A joint's absolute rotation is its parent's · orientation · rotation; a key replaces `rotation`. The files state no
times: frames are played at FPS, and scores set the duration of clips. A clip is a loop, so it continues from each
joint's last key to its first. Only the joints of a .ram are read here; for the mesh see rite_mesh.
Source: L. Magnusson, Skeletal Animation (2006); only the shapes of the records are published, so headings are ignored
and records are recognised by their shape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.clip_file import ClipFile
from ..errors import quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton
from .format import Format, Holds, Source
from .rite_model import Model, Reader

FPS: Final = 25.0
"""Frames per second; RiTE's own player offers 1 to 50."""
_TRACK: Final = re.compile(rb'^\s*track\s+\S+\s+\S+\s+"([^"\n]*)"', re.MULTILINE)
_JOINT: Final = re.compile(rb'^\s*\d+\s+"([^"\n]*)"', re.MULTILINE)
MAX_FRAME: Final = 10_000_000


@dataclass(eq=False)
class _Track:
    joint: int
    frames: dict[int, FloatArray] = field(default_factory=dict)


def read(animation: bytes, path: Path, model: bytes, model_path: Path) -> Clip:
    """Read an animation for the skeleton of a model.

    animation, model: the whole .raa and .ram files; paths: for messages, and the first one's name is the clip's.
    Raises FileError with the line where a record is missing, fits nowhere, or contradicts the others.
    """
    skeleton, turned = Model(model, model_path).read()
    return _Animation(animation, path).read(skeleton, turned)


class _Animation(Reader):
    """Reads the tracks of a .raa file."""

    def read(self, skeleton: Skeleton, turned: FloatArray) -> Clip:
        """Return the clip; turned: (J, 4) the rotations that keys replace."""
        tracks = [track for track in self._tracks(skeleton) if track.frames]
        if not tracks:
            raise self._error('the animation has no key; expected lines such as track 0 0 "pelvis" and below them '
                              "0 1 0 0 0 1", self._text.count("\n") + 1)
        last = max(max(track.frames) for track in tracks)
        packed = [self._keys(track, last, turned[track.joint]) for track in tracks]
        times, values = (np.concatenate(parts) for parts in zip(*packed, strict=True))
        rotations = Tracks(np.array([track.joint for track in tracks], dtype=np.int64),
                           np.cumsum([0] + [len(times) for times, _ in packed]), times, values)
        return Clip(self._path.stem, skeleton, last / FPS, rotations, Tracks.empty(3), Tracks.empty(3), is_looping=True)

    def _tracks(self, skeleton: Skeleton) -> list[_Track]:
        tracks: dict[int, _Track] = {}
        current: _Track | None = None
        for line in self._lines(frozenset(("track",))):
            if line.words[0] == "track":
                name = line.words[-1].strip('"')
                joint = skeleton.index_of.get(name, -1)
                if len(line.words) != 4 or joint in tracks:
                    raise self._unfitting(line, 'track ID JOINT "NAME", once for each joint')
                if joint < 0:
                    raise self._error(f"the model has no joint {quoted(name)}; it has "
                                      f"{', '.join(skeleton.names[:40])}", line.number)
                current = tracks[joint] = _Track(joint)
                continue
            if current is None or len(line.words) != 6:
                raise self._unfitting(line, "a key ID FRAME X Y Z W below a line track")
            frame = self._whole(line, line.words[1])
            if frame in current.frames or not 1 <= frame <= MAX_FRAME:
                raise self._unfitting(line, f"another frame for each key of a track, from 1 to {MAX_FRAME}")
            current.frames[frame] = self._rotation(line, line.words[2:])
        return [tracks[joint] for joint in sorted(tracks)]

    def _keys(self, track: _Track, last: int, turned: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return times and keys relative to rest; a late first key gets one before it, blended from the loop's last."""
        frames = np.array(sorted(track.frames), dtype=np.float64)
        keys = rot.multiply(rot.conjugate(turned), np.array([track.frames[int(frame)] for frame in frames]))
        if frames[0] > 1.0:
            share = (1.0 + last - frames[-1]) / (frames[0] + last - frames[-1])
            start = rot.slerp(keys[-1], keys[0], share)
            frames, keys = np.append(1.0, frames), np.concatenate((start[None], keys))
        return (frames - 1.0) / FPS, rot.continuous(keys)


def _read(source: Source) -> ClipFile:
    assert source.beside is not None  # FORMAT requires it
    clip = read(source.data, source.path, source.beside.data, source.beside.path)
    return ClipFile(clip.skeleton, (clip,))


def _fits(animation: bytes, model: bytes) -> bool:
    """Return whether a model has all joints that an animation names."""
    return set(_TRACK.findall(animation)) <= set(_JOINT.findall(model))


FORMAT: Final = Format("RITE", "RiTE", (".raa",), Holds(many_clips=False, translations=False, scales=False), read=_read,
                       beside=".ram", fits_beside=_fits)
