"""The boxes of one row of segments: each call that made some of them, from its first to its last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..pha.nodes import Node
from ..pha.origins import Runs
from ..pha.sequence import Sequence


class Kind(IntEnum):
    """What a box stands for."""

    CLIP = 0
    PROCEDURE = 1
    WAIT = 2
    TOGETHER = 3
    LOOP = 4
    CONDITION = 5
    PICK = 6


@dataclass(frozen=True, eq=False)
class Boxes:
    """N boxes, outer ones before those within them, beside each other in order of time.

    begin, length: (N,) ticks; scale: (N,) how many of these a tick of the procedure is long in which the call stands.
    lane: (N,); depth: (N,) how many boxes are around it; parent: (N,) the innermost of these, −1: none.
    kind: (N,) Kind; repeat: (N,) how many times in a row, each as long as the others.
    document, element: (N,) the element that made it; place: (N,) which of the boxes of this element it is, in order of
    time. colour: (N,) one number for all that lies within the same outermost box, and wherever its procedure plays.
    titles: N names.
    """

    begin: FloatArray
    length: FloatArray
    scale: FloatArray
    lane: IntArray
    depth: IntArray
    parent: IntArray
    kind: IntArray
    repeat: IntArray
    document: IntArray
    element: IntArray
    place: IntArray
    colour: IntArray
    titles: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def end(self) -> FloatArray:
        """Where each ends, (N,) ticks."""
        return self.begin + self.length

    def at(self, order: IntArray) -> Boxes:
        """Return some of them, or all in another order; parents that are left out are −1."""
        new = np.full(len(self) + 1, -1)
        new[order] = np.arange(len(order))
        columns = {field.name: getattr(self, field.name)[order] for field in fields(self) if field.name != "titles"}
        columns["parent"] = new[columns["parent"]]
        return Boxes(**columns, titles=tuple(self.titles[i] for i in order.tolist()))


def boxes_of(sequence: Sequence, tick_s: float) -> Boxes:
    """Return the boxes of a row, in ticks of tick_s seconds from its beginning.

    All repetitions of a call are one box. Works over whole arrays: runs of procedures reach as far as their segments,
    found from the innermost outwards.
    """
    origins = sequence.origins
    made, runs, places = origins.segments, origins.procedures, origins.places
    levels = _levels(runs)
    first, last = _reached(made, runs, levels)
    run_level = np.repeat(np.arange(len(levels)), [end - begin for begin, end in levels])
    within = np.concatenate((made.within, runs.within[1:])).astype(np.int64)
    call = np.concatenate((made.call, runs.call[1:])).astype(np.int64)
    rows = len(places.calls)
    keys, one, box_of = np.unique(within * rows + call, return_index=True, return_inverse=True)
    begins, ends = np.full(len(keys), len(sequence)), np.zeros(len(keys), np.int64)
    np.minimum.at(begins, box_of, np.concatenate((np.arange(len(sequence)), first[1:])))
    np.maximum.at(ends, box_of, np.concatenate((np.arange(len(sequence)), last[1:])))
    repeat = np.zeros(len(keys), np.int64)
    np.maximum.at(repeat, box_of, np.concatenate((made.repetition, runs.repetition[1:])) + 1)
    within, call = within[one], call[one]
    box_of_run = np.concatenate(((-1,), box_of[len(sequence):]))
    depth = run_level[within]
    edges = np.append(sequence.start_s, sequence.duration_s) / tick_s
    kind, title = _kinds(sequence, call, np.where(one < len(sequence), one, -1))
    document, element = places.module_of[call], places.elements[call]
    zero = np.zeros(len(keys), np.int64)
    boxes = Boxes(edges[begins], edges[ends + 1] - edges[begins], origins.tick_s[within] / tick_s, zero, depth,
                  box_of_run[within], kind, repeat, document, element, zero, zero, title)
    return numbered(boxes.at(np.lexsort((begins, depth))))


def numbered(boxes: Boxes) -> Boxes:
    """Tell which of the boxes of its element each is, and what is to have one colour."""
    same = boxes.document * (int(boxes.element.max(initial=0)) + 1) + boxes.element
    order = np.lexsort((boxes.begin, same))
    starts = np.flatnonzero(np.diff(same[order], prepend=-1))
    place = np.empty(len(boxes), np.int64)
    place[order] = np.arange(len(boxes)) - np.repeat(starts, np.diff(starts, append=len(boxes)))
    colour = _colours(boxes)
    return Boxes(**{field.name: getattr(boxes, field.name) for field in fields(boxes)} | {
        "place": place, "colour": colour})


def _colours(boxes: Boxes) -> IntArray:
    """Return a number for each outermost procedure, in the order in which they first play, and 0 for what is none."""
    numbers: dict[str, int] = {}
    colour = np.zeros(len(boxes), np.int64)
    outermost = np.flatnonzero(boxes.parent < 0)
    for box in outermost[np.argsort(boxes.begin[outermost], kind="stable")].tolist():
        if boxes.kind[box] == Kind.PROCEDURE:
            colour[box] = numbers.setdefault(boxes.titles[box], len(numbers) + 1)
    for depth in range(1, int(boxes.depth.max(initial=0)) + 1):
        deep = np.flatnonzero(boxes.depth == depth)
        colour[deep] = colour[boxes.parent[deep]]
    return colour


def _levels(runs: Runs) -> list[tuple[int, int]]:
    """Return from where to where the runs of each depth are; those of one depth come after those around them."""
    levels = [(0, 1)]
    while levels[-1][1] < len(runs.within):
        levels.append((levels[-1][1], int(np.searchsorted(runs.within, levels[-1][1]))))
    return levels


def _reached(made: Runs, runs: Runs, levels: list[tuple[int, int]]) -> tuple[IntArray, IntArray]:
    """Return the first and the last segment of each run, (R,)."""
    segments = np.arange(len(made.within))
    first, last = np.full(len(runs.within), len(segments)), np.full(len(runs.within), -1)
    np.minimum.at(first, made.within, segments)
    np.maximum.at(last, made.within, segments)
    for begin, end in levels[:0:-1]:
        np.minimum.at(first, runs.within[begin:end], first[begin:end])
        np.maximum.at(last, runs.within[begin:end], last[begin:end])
    return first, last


def _kinds(sequence: Sequence, call: IntArray, segment: IntArray) -> tuple[IntArray, tuple[str, ...]]:
    """Return the kind and the title of boxes; segment: one that the call itself made, −1: none."""
    calls = sequence.origins.places.calls
    clip = np.where(segment < 0, 0, sequence.clip[segment])
    kind = np.where(segment < 0, Kind.PROCEDURE, Kind.CLIP)
    kind[clip < 0], kind[clip >= len(sequence.clips)] = Kind.WAIT, Kind.TOGETHER
    titles = []
    for box, row in enumerate(call.tolist()):
        one = calls[row]
        if isinstance(one, Node) and one.tag == "loop":
            kind[box] = Kind.LOOP
        titles.append(_title(one.name if one.name else one.tag if isinstance(one, Node) else ""))
    return kind, tuple(titles)


def _title(name: str) -> str:
    return name.rpartition(".")[2] or name


def ancestors(parent: IntArray, box: int) -> Iterator[int]:
    """Yield the boxes around a box, the innermost first."""
    while parent[box] >= 0:
        box = int(parent[box])
        yield box
