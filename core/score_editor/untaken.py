"""What a score holds but did not play this time: branches whose tests did not hold, choices that were not picked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..maths.arrays import IntArray
from ..pha.document import Document
from ..pha.text import Text
from .boxes import Boxes

_TELLING = {"if": "test", "elif": "test", "else": "", "loop": "times", "call": "name", "together": "",
            "wait": "duration", "pick": ""}
"""Elements that may play, and the attribute that tells most of each."""


class Untaken(NamedTuple):
    """An element that plays nothing where a block plays in which it stands; where in the layout it would be."""

    tick: float
    lane: int
    depth: int
    document: int
    element: int
    title: str


def untaken(boxes: Boxes, documents: tuple[Document, ...]) -> tuple[Untaken, ...]:
    """Return what the played blocks of a layout hold besides, once for each of them, in the order of the boxes."""
    if not any(document.version == 2 for document in documents) or not len(boxes):
        return ()
    parents = [_parents(document.text) for document in documents]
    home = np.array([int(parents[document][element]) for document, element in
                     zip(boxes.document.tolist(), boxes.element.tolist(), strict=True)])
    found: list[Untaken] = []
    groups: dict[tuple[int, int, int, int], list[int]] = {}
    for box in np.lexsort((boxes.begin, boxes.depth)).tolist():
        key = int(boxes.parent[box]), int(boxes.lane[box]), int(boxes.document[box]), int(home[box])
        groups.setdefault(key, []).append(box)
    for (_, lane, document, element), inside in groups.items():
        text = documents[document].text
        if documents[document].version == 2:
            found += _beside(boxes, inside, text, lane, document, element)
    return tuple(found)


def _beside(boxes: Boxes, inside: list[int], text: Text, lane: int, document: int, element: int) -> list[Untaken]:
    there: dict[int, int] = {}
    for box in inside:
        there.setdefault(int(boxes.element[box]), box)
    tick, depth = float(boxes.begin[inside[0]]), int(boxes.depth[inside[0]])
    found = []
    for child in text.children(element):
        tag = text.shape.tags[child]
        if child in there:
            tick = float(boxes.end[there[child]])
        elif tag in _TELLING:
            said = text.shape.attributes[child].get(_TELLING[tag], "")
            title = said if tag == "call" else f"{tag} {said}".strip()
            found.append(Untaken(tick, lane, depth, document, child, title))
    return found


def _parents(text: Text) -> IntArray:
    """Return the parent of each element, −1 for the root."""
    parents, above = np.full(len(text), -1), list[int]()
    for element, depth in enumerate(text.shape.depths):
        del above[depth:]
        parents[element] = above[-1] if above else -1
        above.append(element)
    return parents
