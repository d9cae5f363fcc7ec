"""Boxes of the score editor: one for each call that leads to segments, from its first to its last segment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, fields, replace
from enum import IntEnum

import numpy as np

from ..maths.arrays import FloatArray, IntArray
from ..pha.document import Call, Document
from ..pha.grammar import AIMS
from ..pha.nodes import Node
from ..pha.origins import Places, Runs
from ..pha.segments import Segments
from .names import short

_MIRRORED, _REVERSED = " ⇄", " ←"


class Kind(IntEnum):
    """What a box stands for."""

    CLIP = 0
    PROCEDURE = 1
    WAIT = 2
    TOGETHER = 3
    LOOP = 4
    CONDITION = 5
    PICK = 6


_KINDS = {"loop": Kind.LOOP, "if": Kind.CONDITION, "elif": Kind.CONDITION, "else": Kind.CONDITION, "pick": Kind.PICK,
          "call": Kind.PROCEDURE}


@dataclass(frozen=True, eq=False)
class Boxes:
    """N boxes: outer boxes before inner ones, boxes of one depth in order of time.

    begin, length: (N,) ticks. scale: (N,) ticks of the layout per tick of the procedure that contains the call. lane:
    (N,). depth: (N,) number of boxes around a box in its lane. parent: (N,) the innermost box around it, which may be
    in another lane, or −1. kind: (N,) Kind. repeat: (N,) number of repetitions. document, element: (N,) the element of
    the box. occurrence: (N,) number of the box among those of the same element, in order of time. colour: (N,) one
    number for all boxes within the same outermost procedure, wherever it plays; 0 outside of procedures. speed: (N,) of
    a clip, relative to its natural one. clip_s: (N,) natural duration of the whole clip. Both are NaN without a clip,
    or if unknown. titles: N texts.
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
    occurrence: IntArray
    colour: IntArray
    speed: FloatArray
    clip_s: FloatArray
    titles: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def end(self) -> FloatArray:
        """End of each box, (N,) ticks."""
        return self.begin + self.length

    @classmethod
    def none(cls) -> Boxes:
        """Return no boxes."""
        times, numbers = np.zeros(0), np.zeros(0, np.int64)
        return cls(*(times,) * 3, *(numbers,) * 9, times, times, ())

    def at(self, order: IntArray) -> Boxes:
        """Return the boxes with these indices, in this order; parents that are left out become −1."""
        new, titles = np.full(len(self) + 1, -1), self.titles
        new[order] = np.arange(len(order))
        columns = {field.name: getattr(self, field.name)[order] for field in fields(self) if field.name != "titles"}
        columns["parent"] = new[columns["parent"]]
        return Boxes(**columns, titles=tuple([titles[i] for i in order.tolist()]))

    @classmethod
    def joined(cls, parts: list[Boxes]) -> Boxes:
        """Return several sets of boxes as one; their parents must already be indices into the joined set."""
        columns = {field.name: np.concatenate([getattr(part, field.name) for part in parts])
                   for field in fields(cls) if field.name != "titles"}
        return cls(**columns, titles=tuple([title for part in parts for title in part.titles]))


def boxes_of(played: Segments, tick_s: float) -> tuple[Boxes, IntArray, IntArray]:
    """Return the boxes of rows of one score, row by row, in ticks from its beginning.

    tick_s: seconds of a tick. All repetitions of a call are one box. Also returns the number of boxes of each row, and
    the innermost box of each segment, all rows together. The extents of procedures are found from their segments,
    innermost procedures first.
    """
    origins, calls, segments = played.origins, played.origins.places.calls, len(played)
    made, runs, inner = origins.segments, origins.procedures, origins.procedures.within >= 0
    row_of, kind_of, speed, clip_s = played.row, *_kinds_and_speeds(played)
    first, last = _reached(made, runs)
    within = np.concatenate((made.within, runs.within[inner])).astype(np.int64)
    call = np.concatenate((made.call, runs.call[inner])).astype(np.int64)
    keys, one, box_of = np.unique(within * len(calls) + call, return_index=True, return_inverse=True)
    begins, ends, repeat = (np.zeros(len(keys), np.int64) for _ in range(3))
    begins[:] = segments
    np.minimum.at(begins, box_of, np.concatenate((np.arange(segments), first[inner])))
    np.maximum.at(ends, box_of, np.concatenate((np.arange(segments), last[inner])))
    np.maximum.at(repeat, box_of, np.concatenate((made.repetition, runs.repetition[inner])) + 1)
    within, call = within[one], call[one]
    box_of_run = np.full(len(inner), -1)
    box_of_run[inner] = box_of[segments:]
    zero, is_leaf, leaf = np.zeros(len(keys), np.int64), one < segments, np.minimum(one, segments - 1)
    begin = played.start_s[begins] / tick_s
    boxes = Boxes(begin, played.end_s[ends] / tick_s - begin, origins.tick_s[within] / tick_s, zero, zero,
                  box_of_run[within], _kinds(calls, call, np.where(is_leaf, kind_of[leaf], Kind.PROCEDURE)),
                  repeat, origins.places.module_of[call], origins.places.elements[call], zero, zero,
                  np.where(is_leaf, speed[leaf], np.nan), np.where(is_leaf, clip_s[leaf], np.nan),
                  _titles([calls[row] for row in call.tolist()]))
    box_of_segment, row = box_of[:segments], row_of[begins]
    if any(origins.places.within):
        boxes, kept, like = _with_elements_around(boxes, origins.places, within, call)
        box_of_segment, row = kept[box_of_segment], row[like]
    boxes = replace(boxes, depth=_depths(boxes.parent))
    order = np.lexsort((-boxes.length, boxes.begin, boxes.depth, row))
    position = np.empty(len(boxes), np.int64)
    position[order] = np.arange(len(boxes))
    return boxes.at(order), np.bincount(row, minlength=len(played.edges) - 1), position[box_of_segment]


def _kinds_and_speeds(played: Segments) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return for each segment its kind of box, its speed, and the natural length of its clip; see Boxes."""
    clips, clip = len(played.clips), played.clip
    kind = np.where(clip < 0, Kind.WAIT, np.where(clip >= clips, Kind.TOGETHER, Kind.CLIP))
    natural_s = np.array([*(played.clip_s.get(name, np.nan) for name in played.clips), np.nan])
    return kind, played.speeds(), natural_s[np.where(kind == Kind.CLIP, clip, -1)]


def numbered(boxes: Boxes, documents: tuple[Document, ...]) -> Boxes:
    """Return boxes with their occurrence and colour numbers.

    Procedures are numbered in the order of their definitions, so that moving a block never changes colours.
    """
    same = boxes.document * (int(boxes.element.max(initial=0)) + 1) + boxes.element
    order = np.lexsort((boxes.begin, same))
    starts = np.flatnonzero(np.diff(same[order], prepend=-1))
    occurrence = np.empty(len(boxes), np.int64)
    occurrence[order] = np.arange(len(boxes)) - np.repeat(starts, np.diff(starts, append=len(boxes)))
    return replace(boxes, occurrence=occurrence, colour=_colours(boxes, documents))


def ancestors(parent: IntArray, box: int) -> Iterator[int]:
    """Yield the boxes around a box, the innermost first."""
    while parent[box] >= 0:
        box = int(parent[box])
        yield box


def _with_elements_around(boxes: Boxes, places: Places, within: IntArray,
                          call: IntArray) -> tuple[Boxes, IntArray, IntArray]:
    """Add boxes for conditions, choices and loops whose rounds differ.

    within, call: (N,) the run and the row in `places` of each box. Calls whose repetitions differ become one box. Also
    returns the new index of each box, and for each new box the index of the old box that it is, or that it contains.
    """
    numbers: dict[tuple[object, ...], int] = {}
    nodes: list[Node] = []
    parent, inner, rounds = boxes.parent.tolist(), list[int](), list[int]()
    kept = np.arange(len(boxes))
    for box, row in enumerate(call.tolist()):
        if not places.within[row]:
            continue
        key: tuple[object, ...] = (int(within[box]),)
        outer = parent[box]
        for node, number in places.within[row]:
            key = (*key, node)
            if key not in numbers:
                numbers[key] = len(boxes) + len(nodes)
                nodes.append(node)
                inner.append(box)
                parent.append(outer)
                rounds.append(0)
            outer = numbers[key]
            rounds[outer - len(boxes)] = max(rounds[outer - len(boxes)], number + 1)
            key = (*key, number)
            if node is places.calls[row]:
                kept[box] = outer
        parent[box] = outer
    if not nodes:
        return boxes, kept, kept
    like = boxes.at(np.array(inner))
    added = replace(like, kind=np.array([_KINDS[node.tag] for node in nodes]), repeat=np.array(rounds),
                    element=np.array([node.element for node in nodes]), speed=np.full(len(nodes), np.nan),
                    clip_s=np.full(len(nodes), np.nan), titles=_titles(nodes))
    whole = replace(Boxes.joined([boxes, added]), parent=np.array(parent))
    left = np.append(kept, np.arange(len(boxes), len(whole)))
    whole = _enclosing(replace(whole, parent=np.where(whole.parent < 0, -1, left[whole.parent])), len(boxes))
    stays = np.flatnonzero(left == np.arange(len(whole)))
    position = np.full(len(whole), -1)
    position[stays] = np.arange(len(stays))
    return whole.at(stays), position[kept], np.append(np.arange(len(boxes)), inner)[stays]


def _enclosing(boxes: Boxes, first: int) -> Boxes:
    """Extend all boxes from the index `first` on over the boxes inside them."""
    begin, end = boxes.begin.copy(), boxes.end
    outer = boxes.parent
    for depth in range(int(_depths(outer).max(initial=0)), 0, -1):
        inside = np.flatnonzero((_depths(outer) == depth) & (outer >= first))
        np.minimum.at(begin, outer[inside], begin[inside])
        np.maximum.at(end, outer[inside], end[inside])
    return replace(boxes, begin=begin, length=end - begin)


def _depths(parent: IntArray) -> IntArray:
    """Return the number of boxes around each box, (N,). parent: (N,) see Boxes."""
    depth, outer = np.zeros(len(parent), np.int64), parent.copy()
    while (inside := outer >= 0).any():
        depth += inside
        outer[inside] = parent[outer[inside]]
    return depth


def colours_of_procedures(documents: Iterable[Document]) -> dict[str, int]:
    """Return the colour number of each procedure, from 1; clips outside of procedures have colour 0."""
    names = dict.fromkeys(procedure.name for document in documents for procedure in document.procedures)
    return {name: number for number, name in enumerate(names, 1)}


def _colours(boxes: Boxes, documents: tuple[Document, ...]) -> IntArray:
    numbers = colours_of_procedures(documents)
    colour, depth = np.zeros(len(boxes) + 1, np.int64), _depths(boxes.parent)
    order = np.lexsort((boxes.begin, depth))
    for inside in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
        colour[inside] = colour[boxes.parent[inside]]
        for box in inside[(colour[inside] == 0) & (boxes.kind[inside] == Kind.PROCEDURE)].tolist():
            colour[box] = numbers.setdefault(_bare(boxes.titles[box]), len(numbers) + 1)
    return colour[:-1]


def _bare(title: str) -> str:
    """Return a title without arguments, and without the signs for mirrored and reversed."""
    return title.removesuffix(_REVERSED).removesuffix(_MIRRORED).partition("(")[0]


def _levels(runs: Runs) -> list[tuple[int, int]]:
    """Return for each depth the index of its first run, and of the first run after it; runs are sorted by depth."""
    levels = [(0, int(np.searchsorted(runs.within, 0)))]
    while levels[-1][1] < len(runs.within):
        levels.append((levels[-1][1], int(np.searchsorted(runs.within, levels[-1][1]))))
    return levels


def _reached(made: Runs, runs: Runs) -> tuple[IntArray, IntArray]:
    """Return the first and the last segment of each run, (R,)."""
    segments = np.arange(len(made.within))
    first, last = np.full(len(runs.within), len(segments)), np.full(len(runs.within), -1)
    np.minimum.at(first, made.within, segments)
    np.maximum.at(last, made.within, segments)
    for begin, end in _levels(runs)[:0:-1]:
        np.minimum.at(first, runs.within[begin:end], first[begin:end])
        np.maximum.at(last, runs.within[begin:end], last[begin:end])
    return first, last


def _kinds(calls: tuple[Call | Node, ...], call: IntArray, kind: IntArray) -> IntArray:
    """Return the kinds of boxes, with LOOP for loops. kind: (N,) with PROCEDURE for these; changed in place."""
    for box in np.flatnonzero(kind == Kind.PROCEDURE).tolist():
        one = calls[int(call[box])]
        if isinstance(one, Node) and one.tag == "loop":
            kind[box] = Kind.LOOP
    return kind


_WAYS = {"at": "@", "to": "→", "along": "~"}
"""Signs in titles for where a call goes in the scene, by attribute."""


_AIMED_AT = {"look": "at", "reach": "for", "hold": "prop", "meet": "person"}
"""The attribute that names what an element aims at, by tag."""


def _titles(calls: SequenceOf[Call | Node]) -> tuple[str, ...]:
    """Return the titles of boxes. Most of them are just the name of a call, which is fast."""
    return tuple([short(call.texts["name"]) if isinstance(call, Node) and call.plain is not None else _title(call)
                  for call in calls])


def _title(call: Call | Node) -> str:
    """Return the title of a box: a name with its arguments, a test, or the kind of element."""
    if isinstance(call, Call):
        return short(call.name)
    tag, expressions = call.tag, call.expressions
    if tag in AIMS:
        return f"{tag} {expressions[_AIMED_AT[tag]].text}"
    if tag != "call":
        return f"{tag} {expressions['test'].text}" if "test" in expressions else tag
    name = short(call.name)
    if call.children:
        name += f"({', '.join(f'{key}={value.text}' for key, value in call.children[0].expressions.items())})"
    name += "".join([f" {sign} {expressions[word].text}" for word, sign in _WAYS.items()
                     if word in expressions and expressions[word].names])
    return name + _MIRRORED * ("mirror" in expressions) + _REVERSED * ("reverse" in expressions)
