"""Elements of a score that did not play this time: branches whose tests failed, choices that were not picked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..maths.arrays import BoolArray, IntArray
from ..pha.document import Document
from ..pha.grammar import BLOCK, GRAMMAR
from ..pha.text import Text
from ..pha.values import is_plain
from .boxes import Boxes

_TELLING = {tag: next((name for name, each in GRAMMAR[tag].attributes.items() if each.default is None), "")
            for tag in BLOCK if tag != "let"}
"""Elements that may play; by tag, the attribute shown in the title: the first one that is mandatory."""

_CHOICES = frozenset(("if", "pick"))


class Untaken(NamedTuple):
    """An element that does not play, inside a block that does, and the place in the layout where it would be."""

    tick: float
    lane: int
    depth: int
    document: int
    element: int
    title: str


def untaken(boxes: Boxes, documents: tuple[Document, ...]) -> tuple[Untaken, ...]:
    """Return elements inside played blocks that did not play, once per block, in the order of the boxes."""
    if not any(_chooses(document, boxes.element[boxes.document == number])
               for number, document in enumerate(documents)):
        return ()
    home, group, is_complete = _groups(boxes, documents)
    found: list[Untaken] = []
    groups: dict[int, list[int]] = {}
    order = np.lexsort((boxes.begin, boxes.depth))
    for box in order[~is_complete[group[order]]].tolist():
        groups.setdefault(int(group[box]), []).append(box)
    elements, ends = boxes.element.tolist(), boxes.end.tolist()
    for inside in groups.values():
        there = {elements[box]: ends[box] for box in reversed(inside)}  # the first box of each element counts
        first, document = inside[0], int(boxes.document[inside[0]])
        missing = _missing(documents[document].text, int(home[first]), there, float(boxes.begin[first]))
        found += [Untaken(tick, int(boxes.lane[first]), int(boxes.depth[first]), document, child, title)
                  for tick, child, title in missing]
    return tuple(found)


def _groups(boxes: Boxes, documents: tuple[Document, ...]) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the element around that of each box, (N,), and the group of each box, (N,).

    Boxes of one group have the same parent box, lane, document and element around theirs. Also returns, for each of the
    groups, whether all elements play that could.
    """
    home, telling = np.zeros(len(boxes), np.int64), np.zeros(len(boxes), np.int64)
    for number, document in enumerate(documents):
        own = boxes.document == number
        if own.any():
            parents = _parents(document.text)
            counts = _telling_children(document, parents)
            home[own] = parents[boxes.element[own]]
            telling[own] = counts[home[own]]
    group = boxes.parent + 1
    for more in (boxes.lane, boxes.document, home):
        if more.any():
            _, group = np.unique(group * (int(more.max()) + 1) + more, return_inverse=True)
    elements = int(boxes.element.max(initial=0)) + 1
    played = np.unique(group * elements + boxes.element) // elements
    number_told = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    number_told[group] = telling
    return home, group, np.bincount(played, minlength=len(number_told)) >= number_told


def _chooses(document: Document, played: IntArray) -> bool:
    """Return whether a document has choices, or elements that never play. played: the elements that play."""
    if document.version != 2 or not len(played):
        return False
    shape, is_left = document.text.shape, np.ones(len(document.text), np.bool_)
    is_left[played] = False
    if not _CHOICES.isdisjoint(shape.tags):
        return True
    if any(shape.tags[element] in _TELLING for element in np.flatnonzero(is_left).tolist()):
        return True
    return any(tag == "loop" and not is_plain(given.get("times", "1"))
               for tag, given in zip(shape.tags, shape.attributes, strict=True))


def _missing(text: Text, element: int, there: Mapping[int, float], tick: float) -> Iterator[tuple[float, int, str]]:
    """Yield the children of an element that could play but do not, each as its tick, number and title.

    there: the children that play, with the tick at which each ends. tick: begin of the first child.
    """
    for child in text.children(element):
        tag = text.shape.tags[child]
        if child in there:
            tick = there[child]
        elif tag in _TELLING:
            said = text.shape.attributes[child].get(_TELLING[tag], "")
            yield tick, child, said if tag == "call" else f"{tag} {said}".strip()


def _telling_children(document: Document, parents: IntArray) -> IntArray:
    """Return how many children of each element could play; 0 in version 1, where all do."""
    text = document.text
    if document.version != 2:
        return np.zeros(len(text), np.int64)
    may_play = np.array([tag in _TELLING for tag in text.shape.tags], np.bool_)
    may_play[0] = False
    return np.bincount(parents[may_play], minlength=len(text))


def _parents(text: Text) -> IntArray:
    """Return the parent of each element, −1 for the root."""
    parents, inside = np.full(len(text), -1), text.inside
    children = np.fromiter(chain.from_iterable(inside.values()), np.int64, len(text) - 1)
    parents[children] = np.repeat(np.fromiter(inside, np.int64, len(inside)), [*map(len, inside.values())])
    return parents
