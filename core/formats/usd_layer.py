"""A USD layer in any encoding: prims with attributes and relationships.

The value of an attribute is read only when it is needed. Other layers are not read: the contents of references,
payloads, sublayers and variants are left out, with a warning.
Source: OpenUSD, Glossary (layer, prim, specifier, time sample); Sdf and Usd manuals, release 25.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from ..errors import FileError, quoted, some_of
from ..maths.arrays import FloatArray

MAX_PRIMS: Final = 20_000
MAX_DEPTH: Final = 100
MAX_VALUES: Final = 20_000_000
"""Numbers of a file; more are refused."""
MAX_NUMBER: Final = 1e15
_NAMED: Final = 3
_MOST_NOTES: Final = 20
WIDTHS: Final = {"float": 1, "double": 1, "half": 1, "int": 1, "float3": 3, "double3": 3, "half3": 3, "vector3f": 3,
                 "vector3d": 3, "quatf": 4, "quatd": 4, "quath": 4, "matrix4d": 16}


class Held(NamedTuple):
    """A value in a layer, in a form that depends on the encoding. at: its line or byte."""

    what: object
    at: int


@dataclass(eq=False)
class Attribute:
    """An attribute. default: its value if it has no time samples; samples: by time code, in the order of the file."""

    kind: str = ""
    default: Held | None = None
    times: FloatArray = field(default_factory=lambda: np.zeros(0))
    samples: Sequence[Held] = ()


@dataclass(eq=False)
class Prim:
    """A prim. path: from the root, such as /Root/Body; kind: its type; is_defined: not just an override or a class.

    targets: the paths that each relationship leads to. at: its line, or byte.
    """

    path: str
    kind: str
    is_defined: bool
    at: int
    attributes: dict[str, Attribute] = field(default_factory=dict)
    targets: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.path.rpartition("/")[2]


class Layer(ABC):
    """A whole file. prims: by path, parents first. left_out: what is not read, by kind."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.prims: dict[str, Prim] = {}
        self.metadata: dict[str, Held] = {}
        self.left_out: dict[str, list[str]] = {}
        self.notes: dict[str, None] = {}
        self._left, self._added = MAX_VALUES, 0

    @abstractmethod
    def error(self, message: str, at: int) -> FileError:
        """Return the error for something that is wrong at a line, or byte."""

    @abstractmethod
    def numbers(self, held: Held, width: int) -> FloatArray:
        """Return numbers as (N, width), quaternions wxyz; raise FileError if they are not numbers or not whole rows."""

    def table(self, held: Sequence[Held], width: int) -> list[FloatArray]:
        """Return the numbers of many values, (N, width) for each."""
        return [self.numbers(each, width) for each in held]

    @abstractmethod
    def words(self, held: Held) -> tuple[str, ...]:
        """Return names or texts; raise FileError if there is something else."""

    def note(self, text: str) -> None:
        """Store a warning about a fault that does not prevent reading the rest."""
        if len(self.notes) < _MOST_NOTES:
            self.notes[text] = None

    def spend(self, values: int, at: int) -> None:
        """Count numbers that are made from the file; raise FileError if there are too many."""
        self._left -= values
        if self._left < 0:
            raise self.error(f"here the file has more than {MAX_VALUES} numbers, and no more are read", at)

    def number(self, name: str, default: float) -> float:
        """Return a number of the layer's metadata."""
        return float(self.numbers(self.metadata[name], 1)[0, 0]) if name in self.metadata else default

    def add(self, prim: Prim) -> None:
        """Add a prim; raise FileError if there are too many, or if it is nested too deeply."""
        self._added += 1
        if self._added > MAX_PRIMS:
            raise self.error(f"more than {MAX_PRIMS} prims; no more are read", prim.at)
        if prim.path.count("/") > MAX_DEPTH:
            raise self.error(f"prims nested more than {MAX_DEPTH} deep", prim.at)
        self.prims[prim.path] = prim

    def around(self, prim: Prim) -> Iterator[Prim]:
        """Yield a prim and its ancestors, upwards."""
        path = prim.path
        while path:
            if path in self.prims:
                yield self.prims[path]
            path = path.rpartition("/")[0]

    def warnings(self) -> tuple[str, ...]:
        """Return a sentence about each kind of left-out content, and the stored warnings."""
        return (*(f"left out: {kind} of {some_of([quoted(each) for each in dict.fromkeys(names)], _NAMED)}; "
                  "other layers are not read" for kind, names in self.left_out.items()), *self.notes)
