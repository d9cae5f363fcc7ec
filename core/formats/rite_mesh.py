"""The mesh of RiTE's model (.ram): vertices, normals, texture coordinates, triangles and weights.

Only the shapes of records are published (see rite_model). Vertices and normals have the same shape: normals begin after
a heading, or where the IDs start again. Shaders are in files of their own; only their names are kept.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..skeletons.skeleton import Skeleton
from .character import Character, CharacterFile, Look, SkinnedMesh, influences_of, unit_normals
from .format import Format, Source
from .rite_model import Line, Model, Reader

_UVS, _POINTS, _WEIGHTS, _TRIANGLES = 3, 4, 5, 11
"""The number of words in each kind of record."""


def read(data: bytes, path: Path) -> CharacterFile:
    """Read a model with its mesh, in the file's own axes and unit, which the file does not state.

    Raises FileError with the line where a record is damaged, or uses something that does not exist.
    """
    skeleton, _ = Model(data, path).read()
    mesh = _Mesh(data, path).read(skeleton)
    warnings = () if mesh is not None else ("The model has no triangles: only its skeleton is imported",)
    return CharacterFile((Character(path.stem, skeleton, () if mesh is None else (mesh,), ()),), warnings)


class _Mesh(Reader):
    """Reads the records of a mesh, gathered by their shapes first."""

    def __init__(self, data: bytes, path: Path) -> None:
        """Take a whole file; path: for messages."""
        super().__init__(data, path)
        self._text_lines = self._text.split("\n")

    def read(self, skeleton: Skeleton) -> SkinnedMesh | None:
        """Return the mesh, or None if there are no triangles."""
        points, others = self._records()
        if not others[_TRIANGLES]:
            return None
        tables = [self._table(block, 3) for block in (*points, [], [])[:2]]
        uvs = self._table(others[_UVS], 2)
        lines = others[_TRIANGLES]
        corners = self._whole_numbers(lines, [line.words[2:] for line in lines], 9).reshape(-1, 3, 3)
        vertex = self._rows(lines, corners[:, 0], tables[0][0], "vertex")
        normals = unit_normals(tables[1][1])[self._rows(lines, corners[:, 1], tables[1][0], "normal")] if len(
            tables[1][0]) else None
        coordinates = uvs[1][self._rows(lines, corners[:, 2], uvs[0], "texture coordinate")] if len(uvs[0]) else None
        shaders = [line.words[1].strip('"') for line in lines]
        names, material = np.unique(shaders, return_inverse=True)
        weights = self._weights(others[_WEIGHTS], tables[0][0], skeleton)
        return SkinnedMesh(self._path.stem, tables[0][1], vertex, material.astype(np.int64),
                           tuple(Look(str(name)) for name in names), coordinates, normals,
                           influences_of(*weights, len(tables[0][0])))

    def _records(self) -> tuple[list[list[Line]], dict[int, list[Line]]]:
        """Return the blocks of points, and the other records by their number of words."""
        points, others = list[list[Line]](), {_UVS: list[Line](), _WEIGHTS: list[Line](), _TRIANGLES: list[Line]()}
        last = None
        for line in self._lines(frozenset()):
            if len(line.words) == _POINTS:
                if last is None or not self._goes_on(last, line):
                    points.append([])
                if len(points) > 2:  # vertices and normals
                    raise self._unfitting(line, "vertices, then normals, and no third block of such lines")
                points[-1].append(line)
                last = line
            elif len(line.words) in others:
                others[len(line.words)].append(line)
        return points, others

    def _goes_on(self, last: Line, line: Line) -> bool:
        """Tell whether a point belongs to the same block as the last: no heading is between, and the IDs ascend."""
        between = self._text_lines[last.number:line.number - 1]
        return not any(map(str.strip, between)) and self._whole(line, line.words[0]) > self._whole(last, last.words[0])

    def _table(self, lines: list[Line], count: int) -> tuple[IntArray, FloatArray]:
        """Return the IDs of records, (R,), ascending, and their numbers, (R, count)."""
        if not lines:
            return np.zeros(0, np.int64), np.zeros((0, count))
        ids = self._whole_numbers(lines, [line.words[:1] for line in lines], 1)[:, 0]
        values = np.array([self._numbers(line, line.words[1:], count) for line in lines])
        order = np.argsort(ids, kind="stable")
        again = np.flatnonzero(np.diff(ids[order]) == 0)
        if len(again):
            raise self._unfitting(lines[int(order[again[0] + 1])], "another ID for each record of a block")
        return ids[order], values[order]

    def _whole_numbers(self, lines: list[Line], words: list[list[str]], count: int) -> IntArray:
        bad = next((line for line, row in zip(lines, words, strict=True)
                    if not all(re.fullmatch(r"\d{1,9}", word) for word in row)), None)
        if bad is not None:
            raise self._unfitting(bad, "whole numbers from 0 on")
        return np.array(words, dtype=np.int64).reshape(-1, count)

    def _rows(self, lines: list[Line], wanted: IntArray, ids: IntArray, what: str) -> IntArray:
        """Return the rows of records by their IDs (N,) or (N, C)."""
        at = np.minimum(np.searchsorted(ids, wanted), max(len(ids) - 1, 0))
        is_wrong = (ids[at] != wanted) if len(ids) else np.ones(wanted.shape, np.bool_)
        if is_wrong.any():
            first = np.argwhere(is_wrong)[0]
            raise self._unfitting(lines[int(first[0])], f"a {what} that there is: "
                                                        f"{int(wanted[tuple(first)])} is none")
        return np.asarray(at, np.int64)

    def _weights(self, lines: list[Line], ids: IntArray, skeleton: Skeleton) -> tuple[IntArray, IntArray, FloatArray]:
        """Return vertices, joints and weights, each (A,)."""
        names = [line.words[3].strip('"') for line in lines]
        for line, name in zip(lines, names, strict=True):
            if name not in skeleton.index_of:
                raise self._unfitting(line, f"a joint of the model: {name!r} is none")
        vertices = self._whole_numbers(lines, [line.words[1:2] for line in lines], 1)[:, 0]
        values = np.array([self._numbers(line, line.words[4:], 1)[0] for line in lines])
        return (self._rows(lines, vertices, ids, "vertex"),
                np.array([skeleton.index_of[name] for name in names], np.int64), values.reshape(-1))


def _read(source: Source) -> CharacterFile:
    return read(source.data, source.path)


FORMAT: Final = Format("RITE_MODEL", "RiTE", (".ram",), read_characters=_read)
"""Format of characters only: it has no clips, so it is not among the formats of clips."""
