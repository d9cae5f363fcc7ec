"""Commands that change how calls play: split, play side by side, make a single copy, set values."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from ..pha.document import number
from ..pha.edits import Edit, RemoveAttribute, SetAttribute
from ..pha.make_single import CallAt, MakeSingle
from ..pha.open_scores import Scores
from ..pha.rearranging import SplitCall, WrapTogether
from ..pha.refactoring import as_version_2
from .boxes import Kind, ancestors
from .change import Edits, Proposal, asked_before, locked
from .commands import Chosen, selected_elements
from .hints import short
from .layout import BoxId, Layout

_AT_EDGE = 1e-6
_NEEDS_VERSION_2 = frozenset(("mirror", "reverse", "from", "to", "weight"))


def split(layout: Layout, box: int, tick: float, scores: Scores) -> Proposal:
    """Propose to split the call of a clip in two at a tick."""
    boxes = layout.boxes
    refusal = locked(layout.documents[int(boxes.document[box])], scores)
    if not refusal and boxes.kind[box] != Kind.CLIP:
        refusal = f"{boxes.titles[box]} is no clip; only a clip can be split"
    repetition, share = _within(layout, box, tick)
    if not refusal and not _AT_EDGE < share < 1.0 - _AT_EDGE:
        refusal = f"the playhead is not within {boxes.titles[box]}"
    if refusal:
        return Proposal(refusal=refusal)
    change = SplitCall(_path(layout, box), int(boxes.element[box]), share, repetition)
    return Proposal(change, f"{boxes.titles[box]} split at {share:.0%}")


def beside(layout: Layout, selected: frozenset[BoxId], body: str, scores: Scores) -> Proposal:
    """Propose that the selected calls play at once: the first on the whole body, the others on a part of it.

    If only one call is selected, it plays beside the one before it.
    """
    chosen, refusal = _neighbours(layout, selected, scores)
    if chosen is None:
        return Proposal(refusal=refusal)
    parent = chosen.text.parent(chosen.elements[0])
    first = list(chosen.text.children(parent)).index(chosen.elements[0])
    change = WrapTogether(chosen.text.path, parent, first, (("", 1), (body, len(chosen.elements) - 1)))
    words = ("beside each other: " + body.replace("_", " "), slower_beside(layout, selected, scores))
    return Proposal(change, "; ".join(filter(None, words)), selects=())


def slower_beside(layout: Layout, selected: frozenset[BoxId], scores: Scores) -> str:
    """Return which calls play slower beside the others, so that all end together, as a sentence; "" if none does."""
    chosen, _ = _neighbours(layout, selected, scores)
    boxes = layout.boxes
    if chosen is None:
        return ""
    places = [np.flatnonzero((boxes.document == chosen.document) & (boxes.element == element))
              for element in chosen.elements]
    if not all(map(len, places)):
        return ""
    calls = [int(found[0]) for found in places]
    lasts = float(boxes.length[calls[0]]), float(boxes.length[calls[1:]].sum())
    if abs(lasts[0] - lasts[1]) <= _AT_EDGE * max(lasts):
        return ""
    shorter = calls[:1] if lasts[0] < lasts[1] else calls[1:]
    who = boxes.titles[shorter[0]] if len(shorter) == 1 else f"{len(shorter)} calls"
    return f"played slower: {who}, over {short(max(lasts))} ticks instead of {short(min(lasts))}"


def _neighbours(layout: Layout, selected: frozenset[BoxId], scores: Scores) -> tuple[Chosen | None, str]:
    """Return the calls that would play side by side, or None and the reason why they cannot."""
    chosen, refusal = selected_elements(layout, selected, scores)
    if chosen is None:
        return None, refusal
    children = list(chosen.text.children(chosen.text.parent(chosen.elements[0])))
    first, count = children.index(chosen.elements[0]), len(chosen.elements)
    if tuple(children[first:first + count]) != chosen.elements:
        return None, "only calls that follow each other can play beside each other"
    if count == 1:
        first, count = first - 1, 2
    if first < 0:
        return None, "there is no call before this one to play beside"
    return replace(chosen, elements=tuple(children[first:first + count])), ""


def make_single(layout: Layout, box: int, scores: Scores) -> Proposal:
    """Propose a copy, for this box alone, of the procedure that contains it, or of the one that it calls."""
    boxes = layout.boxes
    around = [i for i in ancestors(boxes.parent, box) if boxes.kind[i] == Kind.PROCEDURE]
    chain = around[::-1] or [box] * bool(boxes.kind[box] == Kind.PROCEDURE)
    if not chain:
        return Proposal(refusal=f"{boxes.titles[box]} stands in the played procedure itself, which plays only once")
    refusal = locked(layout.documents[int(boxes.document[chain[0]])], scores)
    if refusal:
        return Proposal(refusal=refusal)
    middle = float(boxes.begin[box] + boxes.length[box] / 2.0)
    calls = tuple(CallAt(_path(layout, i), int(boxes.element[i]), _within(layout, i, middle)[0]) for i in chain)
    return Proposal(MakeSingle(calls), f"{boxes.titles[chain[-1]]}: a copy for this call alone", selects=())


def set_value(layout: Layout, selected: frozenset[BoxId], name: str, value: str, scores: Scores) -> Proposal:
    """Propose a value, as text, for an attribute of the selected calls; "" removes the attribute.

    The user is asked before a number replaces an expression. A score whose version lacks the attribute is raised to
    version 2.
    """
    chosen, refusal = selected_elements(layout, selected, scores)
    if chosen is None:
        return Proposal(refusal=refusal)
    given = [chosen.text.shape.attributes[element].get(name) for element in chosen.elements]
    edits: list[Edit] = []
    if value and (name in _NEEDS_VERSION_2 or number(value) is None):
        edits += as_version_2(chosen.text)
    for element, old in zip(chosen.elements, given, strict=True):
        if value and value != old:
            edits.append(SetAttribute(element, name, value, over_expression=True))
        elif not value and old is not None:
            edits.append(RemoveAttribute(element, name))
    said = f"{name} {value or 'not given'}"
    question = next(filter(None, (asked_before(name, old, value) for old in given)), "")
    return Proposal(Edits(chosen.text, tuple(edits)) if edits else None, said, question=question)


def _within(layout: Layout, box: int, tick: float) -> tuple[int, float]:
    """Return the repetition of a box in which a tick lies, and its position there from 0 to 1."""
    boxes = layout.boxes
    repetitions = (tick - float(boxes.begin[box])) / float(boxes.length[box]) * int(boxes.repeat[box])
    repetition = min(max(int(repetitions), 0), int(boxes.repeat[box]) - 1)
    return repetition, repetitions - repetition


def _path(layout: Layout, box: int) -> Path | None:
    return layout.documents[int(layout.boxes.document[box])].text.path
