"""RiTE's model (.ram) and animation (.raa), both text: a skeleton, and keys of its joints' rotations.

A joint's absolute rotation is its parent's · orientation · rotation; a key replaces `rotation`. Nothing is
said about seconds: frames are played at FPS, and scores make clips as long as they like. A clip is a loop, so
it goes on from each joint's last key to its first. Of a .ram only the joints are wanted here.
Source: L. Magnusson, Skeletal Animation (2006); only the shapes of the records are published, so headings are
passed over and records known by their shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from ..clips.clip import Clip, Tracks
from ..clips.clip_file import ClipFile
from ..errors import FileError, quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton
from .format import Format, Holds, Source

FPS: Final = 25.0
"""Frames per second; RiTE's own player offers 1 to 50."""
MAX_JOINTS: Final = 10_000
MAX_FRAME: Final = 10_000_000
_MAX_NUMBER: Final = float(np.finfo(np.float32).max)
_WORD: Final = re.compile(r'"[^"]*"|\S+')
_JOINT_LINES: Final = {"parent": 1, "orientation": 4, "translation": 3, "rotation": 4}
_OTHER_RECORDS: Final = {3: "texture coordinates", 4: "a vertex or normal", 5: "a weight", 11: "a triangle"}
"""Records of a mesh, by how many words they have."""


class _Line(NamedTuple):
    number: int
    words: list[str]


@dataclass(eq=False)
class _Joint:
    name: str
    line: int
    said: dict[str, FloatArray] = field(default_factory=dict)


@dataclass(eq=False)
class _Track:
    joint: int
    frames: dict[int, FloatArray] = field(default_factory=dict)


def read(animation: bytes, path: Path, model: bytes, model_path: Path) -> Clip:
    """Read an animation for the skeleton of a model.

    animation, model: the whole .raa and .ram file; the paths: for messages, and the first one's name is the clip's.
    Raises FileError with the line where a record is missing, fits nowhere, or does not agree with the others.
    """
    skeleton, turned = _Model(model, model_path).read()
    return _Animation(animation, path).read(skeleton, turned)


class _Reader:
    """Lines of words; what is no record is a heading."""

    def __init__(self, data: bytes, path: Path) -> None:
        try:
            self._text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self._text = data.decode("latin-1")
        self._path = path

    def _lines(self, keywords: frozenset[str]) -> Iterator[_Line]:
        """Yield records: what begins with a number, or with a keyword that something follows."""
        for number, line in enumerate(self._text.split("\n"), start=1):
            words = _WORD.findall(line)
            if words and ((words[0] in keywords and len(words) > 1) or re.match(r"[-+.]?\d", words[0])):
                yield _Line(number, words)

    def _numbers(self, line: _Line, words: Sequence[str], count: int) -> FloatArray:
        try:
            numbers = np.array([float(word) for word in words], dtype=np.float64)
        except ValueError:
            numbers = np.zeros(0)
        if len(numbers) != count or not (np.abs(numbers) <= _MAX_NUMBER).all():
            raise self._unfitting(line, f"{count} finite number{'s' * (count > 1)}")
        return numbers

    def _whole(self, line: _Line, word: str) -> int:
        if not re.fullmatch(r"-?\d{1,9}", word):
            raise self._unfitting(line, f"a whole number for {quoted(word)}")
        return int(word)

    def _rotation(self, line: _Line, words: Sequence[str]) -> FloatArray:
        """Turn x y z w into a unit quaternion wxyz."""
        q = self._numbers(line, words, 4)[[3, 0, 1, 2]]
        length = float(np.linalg.norm(q))
        if not length > 0.0:
            raise self._unfitting(line, "a rotation that is not all zeros")
        return q / length

    def _unfitting(self, line: _Line, wanted: str) -> FileError:
        return self._error(f"found {quoted(' '.join(line.words))}, expected {wanted}", line.number)

    def _error(self, message: str, line: int) -> FileError:
        return FileError.at(message, self._path, line)


class _Model(_Reader):
    """Reads the joints of a .ram file."""

    def read(self) -> tuple[Skeleton, FloatArray]:
        """Return the skeleton, and the rotation of each joint that its keys replace, (J, 4)."""
        joints = self._joints()
        if not joints:
            raise self._error('the model has no joint; expected lines such as 0 "pelvis"', self._text.count("\n") + 1)
        order = self._parents_first(joints)
        index = {number: i for i, number in enumerate(order)}
        said = [joints[number].said for number in order]
        turned = np.array([s["rotation"] for s in said])
        rest = rot.multiply(np.array([s["orientation"] for s in said]), turned)
        names = [joints[number].name for number in order]
        return Skeleton.from_arrays(names, [index.get(int(s["parent"][0]), -1) for s in said], rest,
                                    np.array([s["translation"] for s in said]), name=self._path.stem), turned

    def _joints(self) -> dict[int, _Joint]:
        joints: dict[int, _Joint] = {}
        names: set[str] = set()
        current: _Joint | None = None
        for line in self._lines(frozenset(_JOINT_LINES)):
            first, *rest = line.words
            if first in _JOINT_LINES:
                if current is None or first in current.said:
                    raise self._unfitting(line, f'a joint such as 0 "pelvis" before a second {first}')
                current.said[first] = (self._rotation(line, rest) if _JOINT_LINES[first] == 4 else
                                       self._numbers(line, rest, _JOINT_LINES[first]))
                if first == "parent":
                    self._whole(line, rest[0])
            elif len(rest) == 1 and rest[0].startswith('"'):
                current, number = _Joint(rest[0].strip('"'), line.number), self._whole(line, first)
                if number in joints or current.name in names or len(joints) == MAX_JOINTS:
                    raise self._unfitting(line, f"another ID and another name for each of {MAX_JOINTS} joints at most")
                names.add(current.name)
                joints[number] = current
            elif len(line.words) not in _OTHER_RECORDS:
                raise self._unfitting(line, f"a joint, {', '.join(_OTHER_RECORDS.values())}")
        for joint in joints.values():
            if missing := [word for word in _JOINT_LINES if word not in joint.said]:
                raise self._error(f"joint {quoted(joint.name)} has no line {', '.join(missing)}", joint.line)
        return joints

    def _parents_first(self, joints: dict[int, _Joint]) -> list[int]:
        order: dict[int, None] = {}
        for number, joint in joints.items():
            chain: dict[int, None] = {}
            while number != -1 and number not in order:
                if number not in joints or number in chain:
                    wrong = "is its own ancestor" if number in chain else f"has no joint {number} for its parent"
                    raise self._error(f"joint {quoted(joint.name)} {wrong}", joint.line)
                chain[number] = None
                number = int(joints[number].said["parent"][0])
            order |= dict.fromkeys(reversed(chain))
        return list(order)


class _Animation(_Reader):
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
    assert source.beside is not None  # FORMAT asks for it
    clip = read(source.data, source.path, source.beside.data, source.beside.path)
    return ClipFile(clip.skeleton, (clip,))


FORMAT: Final = Format("RITE", "RiTE", (".raa",), Holds(many_clips=False, translations=False, scales=False), read=_read,
                       beside=".ram")
