"""Elements of a score that did not play this time: branches whose tests failed, choices that were not picked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..maths.arrays import IntArray
from ..pha.document import Document
from ..pha.grammar import BLOCK, GRAMMAR
from ..pha.text import Text
from .boxes import Boxes

_TELLING = {tag: next((name for name, each in GRAMMAR[tag].attributes.items() if each.default is None), "")
            for tag in BLOCK if tag != "let"}
"""Elements that may play, and the attribute that tells most of each: the first that must be given."""

_CHOICES = frozenset(("if", "loop", "pick"))


class Untaken(NamedTuple):
    """An element that plays nothing within a block that plays, and the place in the layout where it would be."""

    tick: float
    lane: int
    depth: int
    document: int
    element: int
    title: str


def untaken(boxes: Boxes, documents: tuple[Document, ...]) -> tuple[Untaken, ...]:
    """Return the elements within played blocks that did not play, once for each block, in the order of the boxes."""
    if not any(_chooses(document, boxes.element[boxes.document == number])
               for number, document in enumerate(documents)):
        return ()
    home = np.zeros(len(boxes), np.int64)
    for number, document in enumerate(documents):
        own = boxes.document == number
        home[own] = _parents(document.text)[boxes.element[own]]
    found: list[Untaken] = []
    groups: dict[tuple[int, int, int, int], list[int]] = {}
    keys = np.stack((boxes.parent, boxes.lane, boxes.document, home), axis=-1).tolist()
    for box in np.lexsort((boxes.begin, boxes.depth)).tolist():
        groups.setdefault(tuple(keys[box]), []).append(box)
    elements, ends = boxes.element.tolist(), boxes.end.tolist()
    for (_, lane, home_of, element), inside in groups.items():
        if documents[home_of].version == 2:
            there = {elements[box]: ends[box] for box in reversed(inside)}  # the first of several
            begin, depth = float(boxes.begin[inside[0]]), int(boxes.depth[inside[0]])
            missing = _missing(documents[home_of].text, element, there, begin)
            found += [Untaken(tick, lane, depth, home_of, child, title) for tick, child, title in missing]
    return tuple(found)


def _chooses(document: Document, played: IntArray) -> bool:
    """Return whether a score has choices, or elements that never play."""
    if document.version != 2 or not len(played):
        return False
    tags = document.text.shape.tags
    return not _CHOICES.isdisjoint(tags) or any(
        tags[element] in _TELLING for element in set(range(len(tags))).difference(played.tolist()))


def _missing(text: Text, element: int, there: Mapping[int, float], tick: float) -> Iterator[tuple[float, int, str]]:
    """Yield the children of an element that could play but do not: their tick, number and title.

    there: children that play, with the end of each; tick: begin of the first.
    """
    for child in text.children(element):
        tag = text.shape.tags[child]
        if child in there:
            tick = there[child]
        elif tag in _TELLING:
            said = text.shape.attributes[child].get(_TELLING[tag], "")
            yield tick, child, said if tag == "call" else f"{tag} {said}".strip()


def _parents(text: Text) -> IntArray:
    """Return the parent of each element, −1 for the root."""
    parents, above = np.full(len(text), -1), list[int]()
    for element, depth in enumerate(text.shape.depths):
        del above[depth:]
        parents[element] = above[-1] if above else -1
        above.append(element)
    return parents
