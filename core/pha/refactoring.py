"""Edits across procedures and files that leave what is played as it is: rename, extract, inline.

Each looks up all names as a player would, before and after, and is refused where any call would then mean something
else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from ..clips.clip import Clip
from ..errors import EditError, FileError, Problem, ScoreError, quoted
from .document import Call, Document, Procedure, read
from .edits import Edit, Edited, Insert, Move, SetAttribute, Unwrap, Wrap, apply, element
from .programme import CallTable, Modules, Programme, resolve
from .text import Text

MAX_INLINED = 1_000
"""One call is not replaced by more calls than this."""


class Name(NamedTuple):
    """A procedure by its file and its own name, or a clip by its full name."""

    path: Path | None
    name: str
    is_clip: bool = False


class Row(NamedTuple):
    """What a call means."""

    target: Name
    duration: float
    transition: float | None
    repeat: int


Meaning = dict[Name, tuple[Row, ...]]
"""What the procedures of a programme call."""


@dataclass(frozen=True)
class Scores:
    """Scores that are open for edits, by their paths, and where the other files that they need come from."""

    texts: Mapping[Path | None, Text]
    library: Modules

    @classmethod
    def of(cls, texts: Iterable[Text], library: Modules) -> Scores:
        """Take open texts, each by its own path; at most one has none."""
        return cls({text.path: text for text in texts}, library)

    def beside(self, document: Document) -> Modules:
        """Return what serves a score, with the open texts instead of their files."""
        return Scores(self.texts, self.library.beside(document))

    def src_of(self, path: Path | None) -> str | None:
        """Return the src of a file; for this and all that follows see Modules."""
        return self.library.src_of(path)

    def identity(self, path: Path) -> Path:
        """Return the real path of a file, which is one for all paths that lead to it."""
        return self.library.identity(path)

    def module_path(self, src: str) -> Path:
        """Return the file of a src."""
        return self.library.module_path(src)

    def module(self, path: Path) -> Document:
        """Return the score of a file, as its open text has it where there is one."""
        text = self.texts.get(self.open_path(path))
        return self.library.module(path) if text is None else read(text)

    def clips(self, src: str) -> tuple[tuple[Clip, ...], tuple[Problem, ...]]:
        """Return the clips of a src."""
        return self.library.clips(src)

    def open_path(self, path: Path | None) -> Path | None:
        """Return the path by which a file is open, or else the path itself."""
        if path is None or path in self.texts:
            return path
        own = self.library.identity(path)
        return next((there for there in self.texts if there is not None and self.library.identity(there) == own), path)

    def text(self, path: Path | None) -> Text:
        """Return an open text; raise EditError where it is not open."""
        path = self.open_path(path)
        if path not in self.texts:
            raise EditError(f"{path} would have to change but is not open; open it first")
        return self.texts[path]

    def with_texts(self, changed: Mapping[Path | None, Edited]) -> Scores:
        """Return the same with some texts as they are after edits."""
        return Scores({**self.texts, **{path: edited.text for path, edited in changed.items()}}, self.library)


class Refactoring(Protocol):
    """An edit of open scores, as a value."""

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """Return the texts that change, each with its inverse; raise EditError, saying why, where it is refused."""


@dataclass(frozen=True)
class RenameProcedure:
    """Give a procedure another name, and all calls of it in the open scores."""

    path: Path | None
    name: str
    new: str

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        if not self.new.strip():
            raise EditError("a procedure needs a name")
        own, procedure = _procedure(scores, self.path, self.name)
        edits: dict[Path | None, dict[int, Edit]] = {}
        edits[own] = {procedure.element: SetAttribute(procedure.element, "name", self.new)}
        programmes = _programmes(scores, self.name, own)
        for programme in programmes.values():
            for document, call, target in _calls(programme):
                if target == Name(own, self.name) and call.name.endswith(self.name):
                    name = call.name.removesuffix(self.name) + self.new
                    edits.setdefault(document.path, {})[call.element] = SetAttribute(call.element, "name", name)
        edited = {scores.open_path(path): apply(scores.text(path), *some.values()) for path, some in edits.items()}
        renamed = {Name(own, self.name): Name(own, self.new)}
        expected = {path: {renamed.get(name, name): tuple(row._replace(target=renamed.get(row.target, row.target))
                                                          for row in rows) for name, rows in meaning(programme).items()}
                    for path, programme in programmes.items()}
        _check(scores.with_texts(edited), expected)
        return edited


@dataclass(frozen=True)
class ExtractCalls:
    """Make a new procedure of `count` neighbouring calls, from the child of that index on, and call it instead."""

    path: Path | None
    parent: int
    index: int
    count: int
    name: str

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        own = scores.open_path(self.path)
        text = scores.text(own)
        chosen = list(text.children(self.parent))[self.index:self.index + self.count]
        caller, calls = _chosen_calls(read(text), chosen)
        ticks = Procedure(self.name, calls, 0).ticks
        top, top_level = self.parent, list(text.children(0))
        while text.parent(top):
            top = text.parent(top)
        edited = apply(text, Wrap(self.parent, self.index, self.count, "procedure", (("name", self.name),)),
                       Insert(self.parent, self.index, element("call", name=self.name, duration=spelled(ticks))),
                       Move(chosen[0] + 1, 0, top_level.index(top)))
        expected = {}
        for path, programme in _programmes(scores, caller.name, own).items():
            known = meaning(programme)
            if Name(own, self.name) in known:
                raise EditError(f"{quoted(self.name)} is the name of a procedure already; choose another one")
            if Name(own, caller.name) in known:
                rows, first = known[Name(own, caller.name)], caller.calls.index(calls[0])
                new = Row(Name(own, self.name), ticks, None, 1)
                known[Name(own, self.name)] = rows[first:first + len(calls)]
                known[Name(own, caller.name)] = (*rows[:first], new, *rows[first + len(calls):])
            expected[path] = known
        _check(scores.with_texts({own: edited}), expected)
        return {own: edited}


@dataclass(frozen=True)
class InlineCall:
    """Replace a call by the calls of its procedure; comments come along."""

    path: Path | None
    element: int

    def apply(self, scores: Scores) -> dict[Path | None, Edited]:
        """See Refactoring."""
        own = scores.open_path(self.path)
        text = scores.text(own)
        caller, (call,) = _chosen_calls(read(text), [self.element])
        programmes = _programmes(scores, caller.name, own)
        document, callee, rows = _callee(programmes[own], call)
        if len(rows) * call.repeat > MAX_INLINED:
            raise EditError(f"{len(rows) * call.repeat} calls would replace one; at most {MAX_INLINED} can")
        factor = call.duration / callee.ticks
        scaled = [row._replace(duration=row.duration * factor,
                               transition=None if row.transition is None else row.transition * factor) for row in rows]
        last = scaled[-1] if call.transition is None else scaled[-1]._replace(transition=call.transition)
        copies = [scaled] * (call.repeat - 1) + [[*scaled[:-1], last]]
        names = {} if document.path == own else _full_names(programmes[own])
        fragment = "\n".join(_written(document.text, callee, copy, names) for copy in copies)
        edited = apply(text, Insert(self.element, 0, fragment), Unwrap(self.element))
        expected = {}
        for path, programme in programmes.items():
            known = meaning(programme)
            if Name(own, caller.name) in known:
                at = caller.calls.index(call)
                before, behind = known[Name(own, caller.name)][:at], known[Name(own, caller.name)][at + 1:]
                known[Name(own, caller.name)] = (*before, *(row for copy in copies for row in copy), *behind)
            expected[path] = known
        _check(scores.with_texts({own: edited}), expected)
        return {own: edited}


def meaning(programme: Programme) -> Meaning:
    """Return what each procedure of a programme calls, and how."""
    found: dict[Name, list[Row]] = {}
    for document in programme.documents:
        for procedure in document.procedures:
            found[Name(document.path, procedure.name)] = []
    owners = [Name(document.path, procedure.name) for document in programme.documents
              for procedure in document.procedures for _ in procedure.calls]
    for owner, (_, call, target) in zip(owners, _calls(programme), strict=True):
        found[owner].append(Row(target, call.duration, call.transition, call.repeat))
    return {name: tuple(rows) for name, rows in found.items()}


def spelled(ticks: float) -> str:
    """Write a number so that it is read as the same one.

    >>> spelled(4.0), spelled(0.1 + 0.2)
    ('4', '0.30000000000000004')
    """
    return repr(ticks).removesuffix(".0")


def _calls(programme: Programme) -> list[tuple[Document, Call, Name]]:
    """Return all calls of a programme, and what each leads to."""
    procedures = [Name(document.path, procedure.name) for document in programme.documents
                              for procedure in document.procedures]
    calls = [(document, call) for document in programme.documents
             for procedure in document.procedures for call in procedure.calls]
    targets = programme.calls.target.tolist() if isinstance(programme.calls, CallTable) else []
    return [(document, call, procedures[target] if target >= 0 else Name(None, programme.clip_names[~target], True))
            for (document, call), target in zip(calls, targets, strict=True)]


def _programmes(scores: Scores, name: str, needed: Path | None) -> dict[Path | None, Programme]:
    """Return what each open score means when it is played.

    Raises EditError for mistakes in the score that is needed, and in any that has a call whose name ends with `name`.
    """
    programmes = {}
    for path, text in scores.texts.items():
        document = read(text)
        try:
            programmes[path] = resolve(document, scores)
        except (ScoreError, FileError) as error:
            names = [call.name for procedure in document.procedures for call in procedure.calls]
            if path == needed or any(called.endswith(name) for called in names):
                raise EditError(f"the score has mistakes; correct them first: {error.problems[0]}") from None
    return programmes


def _check(scores: Scores, expected: Mapping[Path | None, Meaning]) -> None:
    """Raise EditError where the open scores no longer mean what is expected."""
    for path, wanted in expected.items():
        try:
            found = meaning(resolve(read(scores.texts[path]), scores))
        except (ScoreError, FileError) as error:
            raise EditError(f"this would break the score: {error.problems[0]}") from None
        if found != wanted:
            name = next((name.name for name in wanted if found.get(name) != wanted[name]), "")
            raise EditError(f"this would change what {quoted(name)} plays" if name else
                            "this would change which procedures there are")


def _procedure(scores: Scores, path: Path | None, name: str) -> tuple[Path | None, Procedure]:
    """Return a procedure of an open score, and the path by which it is open."""
    own = scores.open_path(path)
    procedures = {procedure.name: procedure for procedure in read(scores.text(own)).procedures}
    if name not in procedures:
        raise EditError(f"found no procedure {quoted(name)} in {own or 'the score'}")
    return own, procedures[name]


def _chosen_calls(document: Document, chosen: list[int]) -> tuple[Procedure, tuple[Call, ...]]:
    """Return the calls of some elements, and the procedure in which they stand."""
    errors = [problem for problem in document.problems if not problem.is_warning]
    if errors:
        raise EditError(f"the score has mistakes; correct them first: {errors[0]}")
    for procedure in document.procedures:
        calls = tuple(call for call in procedure.calls if call.element in chosen)
        if calls and len(calls) == len(chosen):
            return procedure, calls
    raise EditError("found no calls there, expected calls that stand one after the other in a procedure")


def _callee(programme: Programme, call: Call) -> tuple[Document, Procedure, tuple[Row, ...]]:
    """Return the procedure that a call of the played file leads to, and what that one calls."""
    target = next(name for document, other, name in _calls(programme)
                  if document is programme.documents[0] and other == call)
    for document in programme.documents:
        for procedure in document.procedures:
            if Name(document.path, procedure.name) == target:
                return document, procedure, meaning(programme)[target]
    raise EditError(f"{quoted(call.name)} is a clip, expected a procedure")


def _full_names(programme: Programme) -> dict[Name, str]:
    """Return the names by which procedures and clips can be called from the played file."""
    names = {Name(None, clip, True): clip for clip in programme.clip_names}
    procedures = [Name(document.path, procedure.name) for document in programme.documents
                  for procedure in document.procedures]
    return {**names, **{name: routine.name for name, routine in zip(procedures, programme.procedures, strict=True)}}


def _written(text: Text, procedure: Procedure, rows: list[Row], names: Mapping[Name, str]) -> str:
    """Return the inside of a procedure as a fragment, its calls with other lengths and, where given, other names."""
    start, end = text.tag(procedure.element).closing.end, text.closes[procedure.element]
    inside = text.decoded(start, end).replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
    read_alone = Text.of(f"<x>{_dedented(inside)}</x>")
    edits: list[Edit] = []
    for child, call, row in zip(read_alone.children(0), procedure.calls, rows, strict=True):
        if call.duration != row.duration:
            edits.append(SetAttribute(child, "duration", spelled(row.duration)))
        if row.transition is not None and call.transition != row.transition:
            edits.append(SetAttribute(child, "transition", spelled(row.transition)))
        if row.target in names:
            edits.append(SetAttribute(child, "name", names[row.target]))
    return str(apply(read_alone, *edits).text).removeprefix("<x>").removesuffix("</x>")


def _dedented(inside: str) -> str:
    """Take the first line's indentation from all lines that begin with it."""
    indentation = inside[:len(inside) - len(inside.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indentation) for line in inside.split("\n"))
