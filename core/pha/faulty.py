"""Remove procedures with mistakes from a score, so that the others can be played."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import FileError, Problem
from .document import Document


def without_faulty(document: Document, error: FileError) -> tuple[str, Mapping[str, Problem]]:
    """Return a score's text without the procedures with mistakes, and these procedures with their first mistake.

    document: of the error. Removed text is replaced by blanks, so that the rest keeps its lines and columns. If no
    procedure of this file has a mistake, nothing is removed, and no procedure returned.
    """
    text, found, spans = document.text, dict[str, Problem](), []
    starts = [(text.place(each.element).line or 0, text.place(each.element).column or 0)
              for each in document.procedures]
    mistakes = [(problem.place.line or 0, problem.place.column or 0, problem) for problem in error.problems
                if not problem.is_warning and not problem.missing and problem.place.path == document.path]
    for procedure, start in zip(document.procedures, starts, strict=True):
        behind = min((other for other in starts if other > start), default=(float("inf"), 0.0))
        own = next((problem for line, column, problem in mistakes if start <= (line, column) < behind), None)
        if own is not None:
            found.setdefault(procedure.name, own)
            spans.append(text.span(procedure.element))
    parts, at = list[str](), 0
    for span in sorted(spans, key=lambda span: span.start):
        parts.append(text.encoding.decode(text.data[at:span.start]))
        parts.append("".join(letter if letter in "\r\n" else " "
                             for letter in text.encoding.decode(text.data[span.start:span.end])))
        at = span.end
    return "".join((*parts, text.encoding.decode(text.data[at:]))), found
