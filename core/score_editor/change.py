"""The change of texts that a gesture proposes, tried before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import EditError, FileError, ScoreError
from ..pha.document import Document, number, read
from ..pha.edits import Edit, Edited, SetAttribute, apply
from ..pha.expansion import expand
from ..pha.garbage import without_search_for_cycles
from ..pha.open_scores import Scores
from ..pha.programme import Programme
from ..pha.refactoring import Refactoring
from ..pha.sequence import Sequence
from ..pha.text import Text
from ..pha.values import is_plain
from ..playing.score import Settings
from .layout import Layout


@dataclass(frozen=True)
class Edits:
    """Edits of one text, which must not have changed since they were made."""

    text: Text = field(repr=False)
    edits: tuple[Edit, ...]

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """Return the text that changes; raise EditError if it has changed in between, or if an edit is refused."""
        path = scores.open_path(self.text.path)
        if scores.text(path) != self.text:
            raise EditError("the text has changed in between; try again")
        return {path: apply(self.text, *self.edits)}


@dataclass(frozen=True)
class Proposal:
    """The change that a gesture would make if it ended here.

    change: None: nothing. hint: words to show at the mouse. refusal: why it cannot be done, or "". question: asked
    before it is done, or "". selects: documents and elements to select afterwards, with their numbers after the change;
    None: the selection stays.
    """

    change: Refactoring | None = None
    hint: str = ""
    refusal: str = ""
    question: str = ""
    selects: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True, eq=False)
class Candidate:
    """The result of a change. edited: the changed texts, each with the edits that undo the change."""

    edited: Mapping[Path | None, Edited]
    programme: Programme
    sequence: Sequence


@without_search_for_cycles
def attempt(scores: Scores, path: Path | None, change: Refactoring, settings: Settings | None = None,
            before: Document | None = None) -> Candidate:
    """Try a change of open scores and expand the score that is then played.

    path: of the played score; settings: of its expansion; before: its last document, so that less has to be read.
    Raises EditError with the reason if the change is refused or the score could not be played afterwards. The scores
    stay as they are.
    """
    settings = settings or Settings()
    edited = change.apply(scores)
    if not any(each.patches for each in edited.values()):
        raise EditError("this changes nothing")
    changed = scores.with_texts(edited)
    try:
        programme = changed.resolve(read(changed.text(path), before))
        sequence = expand(programme, settings.procedure, settings.loop, values=dict(settings.values),
                          seed=settings.seed)
    except (ScoreError, FileError) as error:
        problems = [problem for problem in error.problems if not problem.is_warning]
        raise EditError(f"this would break the score: {problems[0].message}") from None
    return Candidate(edited, programme, sequence)


def emptied(scores: Scores, path: Path | None, change: Refactoring,
            procedure: str) -> Mapping[Path | None, Edited] | None:
    """Return the result of a change that leaves the played procedure empty, with no other mistake.

    None if something still plays, or there are other mistakes. Raises EditError if the change is refused.
    """
    edited = change.apply(scores)
    changed = scores.with_texts(edited)
    if not is_empty(changed.text(path), procedure):
        return None
    try:
        changed.resolve(read(changed.text(path)))
    except ScoreError as error:
        return edited if _says_one_thing(error) else None
    except FileError:
        return None
    return edited


def is_empty(text: Text, procedure: str) -> bool:
    """Return whether a score has an empty procedure of this name.

    >>> text = Text.of('<pha tickLength="1"><procedure name="main"></procedure></pha>')
    >>> is_empty(text, "main"), is_empty(text, "other")
    (True, False)
    """
    shape = text.shape
    return any(shape.tags[element] == "procedure" and shape.attributes[element].get("name") == procedure
               and not list(text.children(element)) for element in text.children(0))


def holds_nothing_yet(error: Exception, source: str, procedure: str) -> bool:
    """Return whether a score's only error is that its played procedure is empty, as in a new score.

    >>> source = '<pha tickLength="1"><procedure name="main"></procedure></pha>'
    >>> problems = tuple(read(Text.of(source)).problems)
    >>> [holds_nothing_yet(ScoreError(*found), source, "main") for found in (problems, problems * 2)]
    [True, False]
    """
    return isinstance(error, ScoreError) and _says_one_thing(error) and is_empty(Text.of(source), procedure)


def _says_one_thing(error: ScoreError) -> bool:
    """Return whether there is exactly one mistake, not counting files and clips that are missing."""
    return sum(not problem.missing for problem in error.problems) == 1


def locked(document: Document, scores: Scores) -> str:
    """Return why a document cannot be changed, or "" if it can."""
    path = scores.open_path(document.path)
    if path in scores.texts:
        return ""
    name = "another file" if path is None else path.name
    return f"this is in {name}, which is included: open it in the sidebar (N) to change it"


def given(layout: Layout, box: int, name: str) -> str | None:
    """Return the text of an attribute of a box's element, or None if it has none."""
    boxes = layout.boxes
    text = layout.documents[int(boxes.document[box])].text
    return text.shape.attributes[int(boxes.element[box])].get(name)


def setting(layout: Layout, box: int, name: str, value: str, hint: str) -> Proposal:
    """Propose a value for an attribute of a box's element; ask before a number replaces an expression."""
    boxes = layout.boxes
    text = layout.documents[int(boxes.document[box])].text
    old = given(layout, box, name)
    if old == value:
        return Proposal(hint=hint)
    edit = SetAttribute(int(boxes.element[box]), name, value, over_expression=True)
    return Proposal(Edits(text, (edit,)), hint, question=asked_before(name, old, value))


def asked_before(name: str, old: str | None, value: str) -> str:
    """Return the question to ask before a number replaces an expression, or "" if none is needed.

    >>> asked_before("duration", "2 * bars", "4"), asked_before("duration", "2", "4")
    ('duration is “2 * bars”, an expression; replace it by 4?', '')
    """
    if old is None or is_plain(old) or number(value) is None:
        return ""
    return f"{name} is “{old}”, an expression; replace it by {value}?"


def uses_in_words(layout: Layout, box: int) -> str:
    """Return in how many places the procedure around a box plays, as words; "" if only in one."""
    boxes = layout.boxes
    number_of_uses = len(set(boxes.parent[layout.occurrences_of(box)].tolist()))
    if number_of_uses < 2:
        return ""
    text = layout.documents[int(boxes.document[box])].text
    element = int(boxes.element[box])
    while text.shape.depths[element] > 1:
        element = text.parent(element)
    name = text.shape.attributes[element].get("name", "")
    return f" · in {name}, which plays in {number_of_uses} places"
