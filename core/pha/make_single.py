"""Give one use of a procedure a copy of its own, so that changes there do not affect other uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..errors import EditError, quoted
from .document import number
from .edits import Edit, Edited, Insert, RemoveAttribute, SetAttribute, apply
from .open_scores import Meaning, Name, Scores, calls_of, check_meaning, meaning, procedure_names
from .refactoring import procedure_element, source_of, then
from .text import Text
from .values import elements_below


class CallAt(NamedTuple):
    """A call by its file and element, and the number of one of its repetitions, from 0, or None for all."""

    path: Path | None
    element: int
    repetition: int | None = None


class Single(NamedTuple):
    """The result: the changed texts, with the file and element of the procedure that plays only there."""

    edited: dict[Path | None, Edited]
    path: Path | None
    procedure: int


@dataclass(frozen=True)
class MakeSingle:
    """Make the procedure at the end of a chain of calls play only there: copy procedures that play elsewhere too.

    calls: from the one in a started procedure down to that of the chosen procedure. Each procedure on the way is copied
    after itself under a new name, which is called here. One that the played score inherits is overridden
    in it instead, by a copy with the same name.
    """

    calls: tuple[CallAt, ...]

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        return self.single(scores).edited

    def single(self, scores: Scores) -> Single:
        """Return the changed texts, and the procedure that then plays only there; raise EditError as apply does."""
        if not self.calls:
            raise EditError("found no call, expected the calls that lead to a procedure")
        own = scores.open_path(self.calls[0].path)
        expected = {path: meaning(programme) for path, programme in scores.programmes(own).items()}
        work = _Work(scores, scores, own, expected)
        view, path, element = own, own, self.calls[0].element
        for call, inner in zip(self.calls, (*self.calls[1:], None), strict=True):
            view, path, procedure, original = work.step(view, path, element, call.repetition)
            element = procedure if inner is None else procedure + inner.element - original
        check_meaning(work.now, work.expected, work.copies)
        return Single(work.edited, path, element)


@dataclass(eq=False)
class _Work:
    """Scores while copies are made in them.

    before, now: scores before and after the changes so far; own: the played one. expected: targets of calls in the end;
    copies: each with the original.
    """

    before: Scores
    now: Scores
    own: Path | None
    expected: dict[Path | None, Meaning]
    edited: dict[Path | None, Edited] = field(default_factory=dict)
    copies: dict[Name, Name] = field(default_factory=dict)

    def step(self, view: Path | None, path: Path | None, element: int,
             repetition: int | None) -> tuple[Path | None, Path | None, int, int]:
        """Make the target of one call play only there.

        Returns the view in which it runs, the file and the element of its procedure. Last comes the original number of
        that element, or of the element that it copies.
        """
        programme = self.now.programme(self.own)
        call = next((call for call in calls_of(programme) if call.document.path == path and call.element == element),
                    None)
        target = next((target for target in call.targets if target.view == view), None) if call else None
        if call is None or target is None or target.name.is_clip:
            raise EditError("found no call of a procedure there")
        callee = target.name
        known = self.copies.get(callee, callee)
        texts = {document.path: document.text for document in programme.documents}
        first = self.before.texts.get(known.path, texts[known.path])
        original = procedure_element(first, known.name)
        text, home = texts[callee.path], target.runs_in
        if callee.path != home and Name(home, callee.name) not in procedure_names(programme):
            return home, home, self._copy(text, callee, home, callee.name), original
        is_repeated = repetition is not None and number(call_attribute(self.now.text(path), element, "repeat")) != 1.0
        if not is_repeated and self._uses(callee) == 1:
            return home, callee.path, procedure_element(text, callee.name), original
        if is_repeated and repetition is not None:
            element = self._single_out(path, element, repetition, call.procedure)
        new = self._new_name(callee.name)
        called = new if callee.path != home else call.name.removesuffix(callee.name) + new
        self._edit(path, SetAttribute(element, "name", called))
        return home, home, self._copy(self.now.text(home) if callee.path == home else text, callee, home, new), original

    def _uses(self, callee: Name) -> int:
        """Return how many calls in the open scores lead to a procedure."""
        return len({(call.document.path, call.element) for programme in self.now.programmes(self.own).values()
                    for call in calls_of(programme) if callee in {target.name for target in call.targets}})

    def _new_name(self, name: str) -> str:
        taken = {each.name for programme in self.now.programmes(self.own).values()
                 for each in procedure_names(programme)}
        return next(new for i in range(2, len(taken) + 3) if (new := f"{name}_{i}") not in taken)

    def _copy(self, text: Text, callee: Name, path: Path | None, new: str) -> int:
        """Copy a procedure under a new name, after itself or at the end of a score that inherits it; return it."""
        procedure = _without_picks(text, callee)
        children = list(self.now.text(path).children(0))
        index = children.index(procedure) + 1 if path == callee.path else len(children)
        self._edit(path, Insert(0, index, source_of(text, procedure, procedure)))
        copied = list(self.now.text(path).children(0))[index]
        if new != callee.name:
            self._edit(path, SetAttribute(copied, "name", new))
        name = Name(path, new)
        self.copies[name] = self.copies.get(callee, callee)
        for known in self.expected.values():
            if callee in known:
                known[name] = known[callee]
        return copied

    def _single_out(self, path: Path | None, element: int, repetition: int, caller: Name) -> int:
        """Make three calls of a repeated one: the repetitions before one, that one, and those after it."""
        text = self.now.text(path)
        attributes, parent = text.shape.attributes[element], text.parent(element)
        repeat = number(attributes.get("repeat", "1"))
        if repeat is None or not 0 <= repetition < repeat:
            raise EditError(f"found the repetition {repetition}, expected one of a known number of them, from 0")
        if text.shape.tags[parent] == "pick":
            raise EditError("the call is a choice of a pick; move it out of the pick, so that a repetition of it can "
                            "change alone")
        calls = [call.element for programme in (self.now.programme(self.own),) for call in calls_of(programme)
                 if call.procedure == caller]
        index, source = list(text.children(parent)).index(element), source_of(text, element, element)
        counts = (repetition, 1, round(repeat) - repetition - 1)
        there = [count for count in counts if count]
        size, here = text.after(element) - element, element
        for _ in there[1:]:
            self._edit(path, Insert(parent, index + 1, source))
        for at, count in enumerate(there):
            number_now = element + at * size
            here = number_now if at == (1 if repetition else 0) else here
            self._edit(path, *([SetAttribute(number_now, "repeat", str(count))] if count > 1 else [
                RemoveAttribute(number_now, "repeat")]))
            if at + 1 < len(there) and "transition" in attributes:
                self._edit(path, RemoveAttribute(number_now, "transition"))
        row = calls.index(element)
        for known in self.expected.values():
            if caller in known:
                rows = known[caller]
                known[caller] = (*rows[:row], *[rows[row]] * len(there), *rows[row + 1:])
        return here

    def _edit(self, path: Path | None, *edits: Edit) -> None:
        path = self.now.open_path(path)
        done = then(self.edited[path], *edits) if path in self.edited else apply(self.now.text(path), *edits)
        self.edited[path] = done
        self.now = self.now.with_texts({path: done})


def call_attribute(text: Text, element: int, name: str) -> str:
    """Return an attribute of a call, or 1 if it has none."""
    return text.shape.attributes[element].get(name, "1")


def _without_picks(text: Text, name: Name) -> int:
    """Return the element of a procedure; raise EditError if a copy of it would choose differently."""
    procedure = procedure_element(text, name.name)
    if any(text.shape.tags[each] == "pick" for each in elements_below(text, [procedure])):
        raise EditError(f"{quoted(name.name)} holds a pick, and a copy of it would choose differently")
    return procedure
