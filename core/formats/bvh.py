"""BVH (Biovision Hierarchy): a skeleton with offsets, and Euler angles in degrees for every frame.

A joint's rotation is the product of its rotation channels in the order of the file; position channels
replace its OFFSET. All rest axes are the model's. The file says neither axes nor units: they stay as
they are. Source: M. Meredith, S. Maddock, Motion Capture File Formats Explained (2001).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
from .bvh_write import LONGEST_FRAME_S as LONGEST_FRAME_S
from .bvh_write import write as write
from .decimals import numbers
from .format import Format, Holds, Source
from .frame_time import LEAST_S, exact_frame_time

MAX_JOINTS: Final = 10_000
_MAX_NUMBER: Final = float(np.finfo(np.float32).max)
_FARTHEST: Final = 1e6
"""Greatest distance from the origin, in total bone lengths: beyond it, Blender's numbers do not resolve a body's
joints."""
_MOST_TURNED: Final = 3.6e8
"""Greatest angle in degrees: a million turns."""
MAX_FRAMES: Final = 2_000_000
MAX_VALUES: Final = 50_000_000
"""Greatest number of frames, and of numbers in all frames; no more are read."""
_MOST_PARTS: Final = 30 * MAX_JOINTS
"""Greatest number of lines and braces before MOTION."""
_AT_ONCE: Final = 2**17
"""Number of characters that are converted to numbers at once."""
_TURNS_AT_ONCE: Final = 2**14
"""Frames × joints that are computed at once, so that they stay in the processor's cache."""
_MOTION: Final = re.compile(r"^[ \t]*MOTION[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)
_PARTS: Final = re.compile(r"[{}]|[^{}\s][^{}\n]*|\s+")
_LINES: Final = re.compile(r"[^\s][^\n]*|\s+")
_HEAD: Final = re.compile(r"\s*Frames[ \t]*+:[ \t]*+(\S+)\s*"
                          r"Frame[ \t]*+Time[ \t]*+:[ \t]*+(\S+?)[ \t]*+(m?s)?[ \t]*+(?:\r?\n|$)", re.IGNORECASE)
_MOST_HEAD: Final = 1000
"""Number of characters after MOTION in which a decimal comma shows that all numbers have commas."""
_COMMA: Final = re.compile(r"(?<![^\s:])[+-]?\d+,\d+(?![\d,.])")
_COMMENTS: Final = ("#", "//", ";")
_CHANNELS: Final = {f"{axis}{kind}".lower(): (kind, i) for kind in ("position", "rotation")
                    for i, axis in enumerate("XYZ")}


@dataclass(frozen=True, eq=False)
class Bvh:
    """The contents of a BVH file.

    ends: the offset of the End Site below a joint, by the joint's name.
    warnings: sentences about faults in the file that lose no data.
    cut_off: the warning that frames are missing at its end, or "" if none are.
    """

    clip: Clip
    frame_time_s: float
    ends: Mapping[str, FloatArray] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    cut_off: str = ""


class _Channel(NamedTuple):
    joint: int
    kind: str
    axis: int


class _Line(NamedTuple):
    number: int
    text: str


def read(data: bytes, path: Path | None = None) -> Bvh:
    """Read a BVH file.

    data: the whole file; path: for messages, and its name is the clip's.
    Raises FileError with the line where something is missing, is not a number, or contradicts what was announced. These
    are read with a warning: more or fewer frames than were announced, an incomplete last frame (which is left out),
    frame times in milliseconds, UTF-16, decimal commas, and joints without a unique name.
    """
    return _Reader(data, path).read()


class _Reader:
    """Reads line by line up to the frames, and those all at once."""

    def __init__(self, data: bytes, path: Path | None) -> None:
        text, encoding = _decoded(data)
        self._text = text if "\n" in text else text.replace("\r", "\n")
        motion = _MOTION.search(self._text)
        head = motion.end() if motion is not None else len(self._text)
        has_commas = _COMMA.search(self._text, head, head + _MOST_HEAD) is not None
        self._path = path
        self._names: dict[str, int] = {}
        self._parents: list[int] = []
        self._offsets: dict[int, FloatArray] = {}
        self._ends: dict[int, FloatArray] = {}
        self._again: dict[str, int] = {}
        self._channels: list[_Channel] = []
        self._with_channels: set[int] = set()
        self._cut_off = ""
        self._warnings = [f"it is in {encoding}; other programs want UTF-8"] if encoding else []
        if has_commas:
            self._text = re.sub(r"(?<=\d),(?=\d)", ".", self._text)
            self._warnings.append("its numbers have decimal commas instead of points")

    def read(self) -> Bvh:
        start = _MOTION.search(self._text)
        if start is None:
            raise self._error("no line MOTION: this is no BVH file, or it is cut off", self._text.count("\n") + 1)
        self._read_hierarchy(self._text[:start.start()])
        values, frame_time = self._read_motion(start.end())
        name = "" if self._path is None else self._path.stem
        names = list(self._names)
        skeleton = Skeleton.from_arrays(names, self._parents, rot.identities(len(names)), np.array(
            [self._offsets.get(joint, np.zeros(3)) for joint in range(len(names))]), name=name)
        return Bvh(self._clip(name, skeleton, values, frame_time), frame_time,
                   {names[joint]: offset for joint, offset in self._ends.items()}, tuple(self._warnings), self._cut_off)

    def _read_hierarchy(self, text: str) -> None:
        parts = self._parts(text)
        line = next((part for part in parts if not part.text.startswith(_COMMENTS)), _Line(1, ""))
        if line.text.upper() != "HIERARCHY":
            raise self._error(f"a BVH file begins with HIERARCHY, not with {quoted(line.text)}", line.number)
        open_joints: list[tuple[int, bool]] = []  # joint, and whether its End Site is open
        pending: tuple[int, bool] | None = None
        for line in parts:
            keyword, _, rest = line.text.partition(" ") if "\t" not in line.text else line.text.partition("\t")
            keyword = keyword.upper()
            if line.text == "{" and pending is not None:
                open_joints.append(pending)
                pending = None
            elif line.text == "}" and open_joints and pending is None:
                open_joints.pop()
            elif pending is not None:
                raise self._error(f"found {quoted(line.text)} where {{ is wanted", line.number)
            elif keyword in ("ROOT", "JOINT") and (keyword == "ROOT") == (not open_joints):
                pending = (self._add_joint(rest.strip(), open_joints[-1][0] if open_joints else -1, line.number), False)
            elif keyword in ("END", "ENDSITE") and open_joints and not open_joints[-1][1]:
                pending = (open_joints[-1][0], True)
            elif keyword == "OFFSET" and open_joints:
                joint, is_end = open_joints[-1]
                (self._ends if is_end else self._offsets)[joint] = self._vector(rest, line.number)
            elif keyword == "CHANNELS" and open_joints and not open_joints[-1][1]:
                self._add_channels(open_joints[-1][0], rest.split(), line.number)
            elif line.text.split() == ["CHANNELS", "0"] and open_joints:
                pass  # of an End Site
            else:
                raise self._error(f"{quoted(line.text)} does not belong here", line.number)
        if open_joints or pending is not None or not self._names:
            what = "a brace is not closed" if self._names else "there is no ROOT"
            raise self._error(f"the hierarchy is not complete: {what}", line.number)
        if not self._channels:
            raise self._error("no joint has CHANNELS: there is nothing to play", line.number)

    def _parts(self, text: str) -> Iterator[_Line]:
        """Yield braces and the other parts of lines, each with its line number."""
        number = 1
        for count, found in enumerate(_PARTS.finditer(text)):
            part = found[0].strip()
            if part:
                if count > _MOST_PARTS:
                    raise self._error(f"more than {_MOST_PARTS} lines and braces before MOTION; no more are read",
                                      number)
                yield _Line(number, part)
            number += found[0].count("\n")

    def _add_joint(self, name: str, parent: int, line: int) -> int:
        if len(self._names) == MAX_JOINTS:
            raise self._error(f"more than {MAX_JOINTS} joints; no more are read", line)
        self._parents.append(parent)
        return self._names.setdefault(self._own_name(name, line), len(self._names))

    def _own_name(self, name: str, line: int) -> str:
        """Return the name of a joint, or a new one if it is empty or another joint has it."""
        if name and name not in self._names:
            return name
        number = self._again.get(name, 0) + 1
        while (new := f"{name or 'joint'}.{number:03}") in self._names:
            number += 1
        if not self._again:
            what = f"a second joint named {quoted(name)}" if name else "a joint without a name"
            self._warnings.append(f"line {line}: {what}; it is called {quoted(new)}")
        self._again[name] = number
        return new

    def _add_channels(self, joint: int, words: list[str], line: int) -> None:
        known = [_CHANNELS.get(word.lower()) for word in words[1:]]
        if not words or not words[0].isdecimal() or int(words[0][:9]) != len(known) or None in known:
            raise self._error(f"CHANNELS {quoted(' '.join(words))}: the number of channels and as many of Xposition, "
                              f"Yposition, Zposition, Xrotation, Yrotation, Zrotation are wanted", line)
        found = [_Channel(joint, *channel) for channel in known if channel is not None]
        moves = [channel.axis for channel in found if channel.kind == "position"]
        if len(set(moves)) < len(moves) or len(found) - len(moves) > 3 or joint in self._with_channels:
            raise self._error(f"CHANNELS {quoted(' '.join(words))}: each position once, at most three rotations, and "
                              f"one CHANNELS in a joint are wanted", line)
        self._with_channels.add(joint)
        self._channels += found

    def _read_motion(self, start: int) -> tuple[FloatArray, float]:
        """Return the values of all channels in every frame, (F, C), and the time between frames, in seconds."""
        found = _HEAD.match(self._text, start)
        if found is None:
            raise self._error("after MOTION the lines 'Frames: COUNT' and 'Frame Time: SECONDS' are wanted",
                              self._line_at(start))
        line = self._line_at(found.start(1))
        frames = int(found[1][:12]) if found[1].isdecimal() else 0
        if frames < 1:
            raise self._error(f"Frames is {quoted(found[1])}; a whole number of at least 1 is wanted", line)
        frame_time = _number(found[2])
        try:
            seconds = self._in_seconds(found[2], frame_time or 0.0, found[3])
        except ValueError:
            raise self._error(f"Frame Time is {quoted(found[2])}; seconds greater than {LEAST_S:g} are wanted",
                              self._line_at(found.start(2))) from None
        values = self._read_frames(found.end(), frames)
        self._refuse_senseless(values, found.end())
        return values, seconds

    def _refuse_senseless(self, values: FloatArray, start: int) -> None:
        """Raise FileError for positions too far away to be seen, and for angles too large to be precise."""
        bones = [offset for joint, offset in self._offsets.items() if self._parents[joint] >= 0]
        size = sum(float(np.linalg.norm(offset)) for offset in (*bones, *self._ends.values()))
        most = [_MOST_TURNED if channel.kind == "rotation" else _FARTHEST * size or np.inf
                for channel in self._channels]
        if (values.max(axis=0) <= most).all() and (values.min(axis=0) >= np.negative(most)).all():
            return
        wrong = np.flatnonzero(np.abs(values) > most)
        index = int(wrong[0])
        for number, line in enumerate(self._text[start:].split("\n"), start=self._line_at(start)):
            words = line.split()
            if index < len(words):
                what = "an angle" if self._channels[int(wrong[0]) % len(most)].kind == "rotation" else "a position"
                raise self._error(f"{quoted(words[index])} is beyond any sense as {what}", number)
            index -= len(words)

    def _in_seconds(self, written: str, frame_time: float, unit: str | None) -> float:
        """Return a frame time in seconds; one longer than LONGEST_FRAME_S is taken for milliseconds."""
        if (unit or "").lower() != "ms" and (unit or frame_time <= LONGEST_FRAME_S):
            return exact_frame_time(written)
        self._warnings.append(f"Frame Time is {frame_time:g}, which is read as milliseconds; seconds are wanted there")
        return exact_frame_time(written, 0.001)

    def _read_frames(self, start: int, frames: int) -> FloatArray:
        """Return the values of all channels in every frame, (F, C)."""
        end = len(self._text)
        values = self._numbers(start, end)
        if values is None or values.size != frames * len(self._channels) or not _are_usual(values):
            first_line = self._line_at(start)
            last = self._text.rstrip()
            begin = max(last.rfind("\n") + 1, start)
            is_partial = 0 < len(last[begin:].split()) < len(self._channels)
            if is_partial:
                end, values = begin, self._numbers(start, begin)
            there = self._count_frames(start, end, first_line, values)
            message = f"Frames announces {frames} frames, but there are {there}"
            if values is None or not there:
                raise self._error(message, first_line)
            if there < frames or is_partial:
                self._cut_off = (f"line {self._line_at(len(last))}: the file is cut off: Frames announces {frames} "
                                 f"frames, and {there} are whole")
                self._warnings.append(self._cut_off)
            elif there > frames:
                self._warnings.append(f"{message}; all of them are read")
        values = values.reshape(-1, len(self._channels))
        if len(values) > MAX_FRAMES:
            raise self._error(f"{len(values)} frames; at most {MAX_FRAMES} are read: cut the motion into several files",
                              self._line_at(start))
        return values

    def _numbers(self, start: int, end: int) -> FloatArray | None:
        """Read all numbers of a part of the text, (N,), or return None if it has other content.

        It is read in pieces, so that other threads can run in between.
        """
        pieces, at, count = [], start, 0
        while at < end:
            stop = self._text.find("\n", at + _AT_ONCE, end) + 1 or end
            piece = numbers(self._text[at:stop])
            if piece is None:
                return None
            pieces.append(piece)
            at, count = stop, count + len(piece)
            if count > MAX_VALUES:
                raise self._error(f"more than {MAX_VALUES} numbers in all frames; no more are read: cut the motion "
                                  "into several files", self._line_at(at))
        return np.concatenate(pieces) if pieces else np.empty(0)

    def _count_frames(self, start: int, end: int, first_line: int, values: FloatArray | None) -> int:
        """Return the number of frames in a part of the text, one on each line; raise FileError for other lines.

        It is called only for damaged files.
        """
        channels, lines = len(self._channels), sum(1 for _ in self._lines(start, end, first_line))
        row = 0
        if values is not None and values.size == lines * channels:
            wrong = np.flatnonzero(~(np.abs(values) <= _MAX_NUMBER)) // channels
            row = int(wrong[0]) if len(wrong) else lines
        for at, (number, line) in enumerate(self._lines(start, end, first_line)):
            words = line.split()
            bad = next((word for word in words if _number(word) is None), None) if at >= row else None
            if bad is not None:
                raise self._error(f"{quoted(bad)} is no finite number", number)
            if len(words) != channels:
                raise self._error(f"a frame of {len(words)} numbers; the {channels} channels of the hierarchy want "
                                  f"one each", number)
        return lines

    def _lines(self, start: int, end: int, number: int) -> Iterator[_Line]:
        """Yield the lines of a part of the text that are not blank; number: of its first line."""
        for found in _LINES.finditer(self._text, start, end):
            if not found[0].isspace():
                yield _Line(number, found[0])
            number += found[0].count("\n")

    def _clip(self, name: str, skeleton: Skeleton, values: FloatArray, frame_time: float) -> Clip:
        times = np.arange(len(values), dtype=np.float64) * frame_time
        turning = _slots(self._channels, "rotation")
        q = np.empty((len(turning), len(values), 4))
        frames = max(_TURNS_AT_ONCE // max(len(turning), 1), 1)
        for start in range(0, len(values), frames) if turning else ():
            run = slice(start, start + frames)
            _turn(values[run], list(turning.values()), q[:, run])
        starts = np.arange(len(turning) + 1) * len(values)
        moving: dict[int, FloatArray] = {}
        for column, channel in enumerate(self._channels):
            if channel.kind == "position":
                joint = channel.joint
                moves = moving.setdefault(joint, np.zeros((len(values), 3)))
                moves[:, channel.axis] = values[:, column] - skeleton.rest_translations[joint, channel.axis]
        translations = Tracks.uniform(np.array(list(moving)), times, np.stack(list(moving.values()), axis=1)
                                      ) if moving else Tracks.empty(3)
        rotations = Tracks(np.array(list(turning)), starts, np.tile(times, len(turning)),
                           rot.continuous(q.reshape(-1, 4), starts)) if turning else Tracks.empty(4)
        return Clip(name, skeleton, float(times[-1]), rotations, translations, Tracks.empty(3))

    def _vector(self, text: str, line: int) -> FloatArray:
        numbers = [_number(word) for word in text.split()]
        if len(numbers) != 3 or None in numbers:
            raise self._error(f"OFFSET {quoted(text.strip())}; three finite numbers are wanted", line)
        return np.array(numbers, dtype=np.float64)

    def _line_at(self, position: int) -> int:
        return self._text.count("\n", 0, position) + 1

    def _error(self, message: str, line: int) -> FileError:
        return FileError.at(message, self._path, line)


def _slots(channels: list[_Channel], kind: str) -> dict[int, list[tuple[int, int]]]:
    """Return three (column, axis) for each joint that has channels of this kind; column −1: no such channel."""
    slots: dict[int, list[tuple[int, int]]] = {}
    for column, channel in enumerate(channels):
        if channel.kind == kind:
            slots.setdefault(channel.joint, []).append((column, channel.axis))
    return {joint: found + [(-1, 0)] * (3 - len(found)) for joint, found in slots.items()}


def _turn(values: FloatArray, slots: list[list[tuple[int, int]]], out: FloatArray) -> None:
    """Write rotations (J, F, 4) from channel values, (F, C), into out. slots: of each joint, see _slots.

    Let (w, u, v, t) be a quaternion with u along a joint's axis k, and v, t along the next two axes. Times the rotation
    (cos h, sin h about k) it is (w·cos h − u·sin h, u·cos h + w·sin h, v·cos h + t·sin h, t·cos h − v·sin h).
    """
    halves = np.radians(values.T) / 2.0
    alike: dict[tuple[int, ...], list[int]] = {}
    for joint, channels in enumerate(slots):
        alike.setdefault(tuple(axis for _, axis in channels), []).append(joint)
    for axes, joints in alike.items():
        q = np.zeros((4, len(joints), len(values)))
        q[0] = 1.0
        for slot, axis in enumerate(axes):
            columns = [slots[joint][slot][0] for joint in joints]
            half = np.where(np.array(columns)[:, None] >= 0, halves[columns], 0.0)
            cos, sin = np.cos(half), np.sin(half)
            along, after, last = (1 + (axis + i) % 3 for i in range(3))
            w, u, v, t = q[0], q[along], q[after], q[last]
            q[0], q[along], q[after], q[last] = (w * cos - u * sin, u * cos + w * sin, v * cos + t * sin,
                                                 t * cos - v * sin)
        out[joints] = np.moveaxis(q, 0, -1)


def _are_usual(values: FloatArray) -> bool:
    """Tell whether values are finite, and within the range of single precision."""
    return not values.size or bool(values.min() >= -_MAX_NUMBER and values.max() <= _MAX_NUMBER)


def _decoded(data: bytes) -> tuple[str, str]:
    """Return the text of a file, and the name of its encoding if that is not the expected one."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace"), "UTF-16"
    for encoding, zeros in (("utf-16-le", data[1:8:2]), ("utf-16-be", data[0:8:2])):
        if len(data) >= 8 and not any(zeros):  # in UTF-16, every other byte of plain letters is 0
            return data.decode(encoding, "replace"), "UTF-16"
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return data.decode("latin-1"), ""


def _number(word: str) -> float | None:
    try:
        value = float(word) if "_" not in word else np.nan
    except ValueError:
        return None
    return value if abs(value) <= _MAX_NUMBER else None


def _read(source: Source) -> ClipFile:
    found = read(source.data, source.path)
    return ClipFile(found.clip.skeleton, (found.clip,), warnings=found.warnings, cut_off=found.cut_off)


FORMAT: Final = Format("BVH", "BVH", (".bvh",), Holds(many_clips=False, scales=False, own_axes=False, free_keys=False),
                       read=_read, write=lambda file, fps: write(file.played[0], 1.0 / fps), says_space=False)
