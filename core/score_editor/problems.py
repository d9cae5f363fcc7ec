"""Which boxes problems are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import Problem
from .layout import BoxId, Layout


def problems_of_boxes(layout: Layout, problems: Iterable[Problem],
                      lines: Mapping[int, int] | None = None) -> dict[BoxId, Problem]:
    """Return the gravest problem of each box that has any, by the first box of its element.

    A problem concerns the element that begins at its place, or the innermost element around it that has a box; else all
    elements that begin on its line. lines: for each line of the problems' text, its number in the layout's text;
    missing lines are left out. None: both are equal.
    """
    found = dict[BoxId, Problem]()
    numbers = {document.path: number for number, document in reversed(list(enumerate(layout.documents)))}
    for problem in sorted(problems, key=_gravity):
        number, line = numbers.get(problem.place.path or layout.documents[0].path), problem.place.line
        if lines is not None and line is not None and not number:
            line = lines.get(line)
        if number is None or line is None:
            continue
        text = layout.documents[number].text
        on_line = text.elements_on(line)
        exact = [_around(layout, number, element) for element in on_line
                 if text.place(element).column == problem.place.column]
        found |= {box: problem for element in exact or on_line
                  if layout.find(box := BoxId(number, element)) is not None}
    return found


def _around(layout: Layout, document: int, element: int) -> int:
    """Return an element if it has a box, else the innermost element around it that has one, or the root."""
    depths = layout.documents[document].text.shape.depths
    while element and layout.find(BoxId(document, element)) is None:
        depth = depths[element]
        element = next(at for at in range(element - 1, -1, -1) if depths[at] < depth)
    return element


def _gravity(problem: Problem) -> tuple[bool, bool, bool]:
    return not problem.is_warning, problem.is_missed, not problem.is_note
