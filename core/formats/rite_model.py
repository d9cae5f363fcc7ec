"""RiTE's text files, line by line, and the skeleton of its model (.ram).

A joint's absolute rotation is its parent's · orientation · rotation.
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

from ..errors import FileError, quoted
from ..maths import rotations as rot
from ..maths.arrays import FloatArray
from ..skeletons.skeleton import Skeleton

MAX_JOINTS: Final = 10_000
_MAX_NUMBER: Final = float(np.finfo(np.float32).max)
_WORD: Final = re.compile(r'"[^"]*"|\S+')
_JOINT_LINES: Final = {"parent": 1, "orientation": 4, "translation": 3, "rotation": 4}
OTHER_RECORDS: Final = {3: "texture coordinates", 4: "a vertex or normal", 5: "a weight", 11: "a triangle"}
"""Records of a mesh, by how many words they have."""


class Line(NamedTuple):
    """A line of a file, and its words."""

    number: int
    words: list[str]


@dataclass(eq=False)
class _Joint:
    name: str
    line: int
    said: dict[str, FloatArray] = field(default_factory=dict)


class Reader:
    """Reads lines of words; lines that are not records are headings."""

    def __init__(self, data: bytes, path: Path) -> None:
        """Take a whole file; path: for messages."""
        try:
            self._text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            self._text = data.decode("latin-1")
        self._path = path

    def _lines(self, keywords: frozenset[str]) -> Iterator[Line]:
        """Yield records: lines that begin with a number, or with a keyword and something after it."""
        for number, line in enumerate(self._text.split("\n"), start=1):
            words = _WORD.findall(line)
            if words and ((words[0] in keywords and len(words) > 1) or re.match(r"[-+.]?\d", words[0])):
                yield Line(number, words)

    def _numbers(self, line: Line, words: Sequence[str], count: int) -> FloatArray:
        try:
            numbers = np.array([float(word) for word in words], dtype=np.float64)
        except ValueError:
            numbers = np.zeros(0)
        if len(numbers) != count or not (np.abs(numbers) <= _MAX_NUMBER).all():
            raise self._unfitting(line, f"{count} finite number{'s' * (count > 1)}")
        return numbers

    def _whole(self, line: Line, word: str) -> int:
        if not re.fullmatch(r"-?\d{1,9}", word):
            raise self._unfitting(line, f"a whole number for {quoted(word)}")
        return int(word)

    def _rotation(self, line: Line, words: Sequence[str]) -> FloatArray:
        """Turn x y z w into a unit quaternion wxyz."""
        q = self._numbers(line, words, 4)[[3, 0, 1, 2]]
        length = float(np.linalg.norm(q))
        if not length > 0.0:
            raise self._unfitting(line, "a rotation that is not all zeros")
        return q / length

    def _unfitting(self, line: Line, wanted: str) -> FileError:
        return self._error(f"found {quoted(' '.join(line.words))}, expected {wanted}", line.number)

    def _error(self, message: str, line: int) -> FileError:
        return FileError.at(message, self._path, line)


class Model(Reader):
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
            elif len(line.words) not in OTHER_RECORDS:
                raise self._unfitting(line, f"a joint, {', '.join(OTHER_RECORDS.values())}")
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
